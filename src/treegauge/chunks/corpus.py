"""Sentences cut into chunks: non-recursive pieces of phrases that partition the sentence (Abney 1993); how they are read.

A word outside all chunks is a Null chunk of its own. A chunk candidate (x, i, j) is a category over a span. The spans of a sentence
of n words are numbered (0,1), (0,2) ... (0,n), (1,2) ...; arrays of values for all candidates have a row per span and a column per
category.

CoNLL-2000 columns have chunks; those of any other treebank follow Abney's definition. A chunk extends from the beginning of a
phrase to its head word; complements and modifiers after the head are chunks of their own. A preposition and the noun chunk after it
are one PP chunk, and so are a chain of auxiliaries and the main verb one VP chunk. Before the head, words, and phrases of words
only (adjectives, numbers, adverbs), belong to the chunk; a larger phrase, such as a possessor, is a chunk of its own. Other words
are Null chunks.

:class:`ChunkFile` reads sentences with their chunks, :class:`MarkFile` columns of chunk marks as they are, for conlleval's scores.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, InputError, UsageError, check_name
from treegauge.io import stream
from treegauge.io.conll2000 import chunk_column, is_chunked
from treegauge.io.diagnosis import encoding_error, error_at
from treegauge.io.formats import detect_format
from treegauge.io.sources import ReadOptions, Source, Text, TextPosition, find_sources, is_comment
from treegauge.normalise.heads import HeadRules, head_rules
from treegauge.normalise.labels import base_label, strip_functions
from treegauge.normalise.pruning import remove_traces
from treegauge.tables import concise, number_of
from treegauge.trees import Tree, Treebank
from treegauge.trees.notation import restore_word

T = TypeVar("T")
NULL = "Null"


class Chunk(NamedTuple):
    """A category over the words ``[start, end)``."""

    category: str
    start: int
    end: int


@concise
@dataclass(frozen=True)
class ChunkedSentence:
    """Words, their tags, and the chunks that partition them.

    >>> ChunkedSentence(("the", "cat", "sat"), ("DT", "NN", "VBD"), (Chunk("NP", 0, 2),))
    Traceback (most recent call last):
    treegauge.errors.UsageError: the chunks must partition the sentence: word 3 of 3 is in none
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    def __post_init__(self) -> None:
        place = 0
        for chunk in self.chunks:
            if chunk.start != place or chunk.end <= chunk.start:
                raise UsageError(f"the chunks must partition the sentence: {tuple(chunk)} does not begin at word {place + 1}")
            place = chunk.end
        if place != len(self.words):
            raise UsageError(f"the chunks must partition the sentence: word {place + 1} of {len(self.words)} is in none")
        if len(self.tags) != len(self.words):
            raise UsageError(f"a sentence of {len(self.words)} words has {len(self.tags)} tags")

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    @classmethod
    def from_iob(cls, words: Sequence[str], tags: Sequence[str], iob: Sequence[str]) -> ChunkedSentence:
        """A sentence from its three CoNLL-2000 columns.

        >>> ChunkedSentence.from_iob(["He", "sat", "."], ["PRP", "VBD", "."], ["B-NP", "B-VP", "O"]).chunks[2]
        Chunk(category='Null', start=2, end=3)
        """
        return cls(tuple(words), tuple(tags), tuple(with_null_chunks(chunks_of_iob(iob), len(words))))


SCHEMES = ("conlleval", "bioes")
_OUTSIDE = frozenset({"O", "."})
_NEIGHBOURS_CHANGE = frozenset({("B", "B"), ("I", "B"), ("E", "E"), ("E", "I")})


def chunks_of_iob(iob: Sequence[str], scheme: str = "conlleval") -> list[Chunk]:
    """The chunks of a column of marks such as B-NP, I-NP and O, as conlleval reads it (Tjong Kim Sang and Veenstra 1999).

    IOB1, IOB2, IOE1 and IOE2 need not be told apart: between two words of the same category, a new chunk begins at ``B`` after
    ``B`` or ``I``, and at ``E`` or ``I`` after ``E``; a word of another category always begins a chunk. With the scheme ``bioes``,
    a chunk begins at ``B`` and ``S`` and ends after ``E`` and ``S`` (``L`` and ``U`` are other names of these two). conlleval has
    no rule for ``S``, and reads ``E-NP B-NP`` and ``S-NP S-NP`` as one chunk each.

    >>> chunks_of_iob(["B-NP", "I-NP", "I-VP", "O", "I-NP"])
    [Chunk(category='NP', start=0, end=2), Chunk(category='VP', start=2, end=3), Chunk(category='NP', start=4, end=5)]
    >>> chunks_of_iob(["B-NP", "E-NP", "S-NP"], "bioes")
    [Chunk(category='NP', start=0, end=2), Chunk(category='NP', start=2, end=3)]
    """
    check_name("scheme", scheme, SCHEMES)
    changes = _changes_conlleval if scheme == "conlleval" else _changes_bioes
    chunks: list[Chunk] = []
    before, category, start = "O", "", 0
    for place, mark in enumerate([*iob, "O"]):
        letter, _, name = mark.partition("-")
        name = "" if letter in _OUTSIDE else name
        if before in _OUTSIDE:
            start = place
        elif letter in _OUTSIDE or name != category or changes(before, letter):
            chunks.append(Chunk(category, start, place))
            start = place
        before, category = letter, name
    return chunks


def _changes_conlleval(before: str, letter: str) -> bool:
    return (before, letter) in _NEIGHBOURS_CHANGE or before in ("[", "]") or letter in ("[", "]")


def _changes_bioes(before: str, letter: str) -> bool:
    return letter in ("B", "S", "U") or before in ("E", "S", "L", "U")


def iob_of_chunks(chunks: Iterable[Chunk], length: int) -> list[str]:
    """The IOB2 marks of some chunks; the words of Null chunks are outside.

    >>> iob_of_chunks([Chunk("NP", 0, 2), Chunk("Null", 2, 3)], 3)
    ['B-NP', 'I-NP', 'O']
    """
    marks = ["O"] * length
    for category, start, end in chunks:
        if category != NULL:
            marks[start:end] = [f"B-{category}"] + [f"I-{category}"] * (end - start - 1)
    return marks


def with_null_chunks(chunks: Sequence[Chunk], length: int) -> list[Chunk]:
    """The chunks of a sentence from left to right, with a Null chunk for each word outside them."""
    filled: list[Chunk] = []
    place = 0
    for chunk in [*chunks, Chunk("", length, length)]:
        filled += [Chunk(NULL, word, word + 1) for word in range(place, chunk.start)]
        filled += [chunk] if chunk.category else []
        place = chunk.end
    return filled


def categories_of(sentences: Iterable[ChunkedSentence]) -> tuple[str, ...]:
    """All categories, sorted by name, with Null last, which is always included."""
    found = {chunk.category for sentence in sentences for chunk in sentence.chunks} - {NULL}
    return (*sorted(found), NULL)


def n_spans(n: int) -> int:
    """The number of spans of n words.

    >>> n_spans(4)
    10
    """
    return n * (n + 1) // 2


def span_row(n: int, start: int, end: int) -> int:
    """The number of a span among those of n words.

    >>> [span_row(3, i, j) for i in range(3) for j in range(i + 1, 4)]
    [0, 1, 2, 3, 4, 5]
    """
    return start * n - start * (start - 1) // 2 + end - start - 1


@lru_cache(maxsize=512)
def spans(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Start and end of every span of n words, in order."""
    start, last = np.triu_indices(n)
    return start, last + 1


def span_lengths(n: int) -> NDArray[np.int64]:
    """The length of every span of n words, in order."""
    start, end = spans(n)
    return end - start


def truth(n: int, chunks: Sequence[Chunk], categories: Sequence[str]) -> NDArray[np.bool_]:
    """A mask of the candidates that are true chunks; chunks of categories that are not in ``categories`` are left out."""
    number = {category: index for index, category in enumerate(categories)}
    true = np.zeros((n_spans(n), len(categories)), dtype=np.bool_)
    for chunk in chunks:
        if chunk.category in number:
            true[span_row(n, chunk.start, chunk.end), number[chunk.category]] = True
    return true


_CHUNKED = frozenset({"NP", "VP", "PP", "ADJP", "ADVP", "QP", "WHNP", "WHPP", "WHADVP", "WHADJP", "PRT", "INTJ", "NX", "NAC"})
_BEFORE_HEAD = frozenset({"ADJP", "ADVP", "QP", "NX", "NAC", "UCP", "PRT", "CONJP"})


def chunk_trees(trees: Iterable[Tree]) -> Iterator[ChunkedSentence]:
    """The trees as chunked sentences; traces are removed first, and trees without words are left out."""
    for tree in trees:
        plain = remove_traces(tree)
        if plain is not None and plain.width:
            plain = strip_functions(plain)
            yield ChunkedSentence(plain.words, plain.tags, tuple(chunks_of_tree(plain)))


def chunks_of_tree(tree: Tree, rules: str | HeadRules = "collins") -> list[Chunk]:
    """The chunks of one tree without traces, Null chunks included, from left to right.

    >>> tree = Tree.parse("(S (NP (DT the) (JJ bald) (NN man)) (VP (VBD was) (VP (VBG sitting) "
    ...                   "(PP (IN on) (NP (PRP$ his) (NN suitcase))))) (. .))")
    >>> for category, start, end in chunks_of_tree(tree):
    ...     print(category, *tree.words[start:end])
    NP the bald man
    VP was sitting
    PP on his suitcase
    Null .
    """
    rules = head_rules(rules)
    chunks: list[Chunk] = []
    stack: list[_Visit] = [(tree, 0, None)]
    while stack:
        node, start, opened = stack.pop()
        if not node.is_preterminal:
            stack.extend(_visits_below(node, start, opened, rules))
        elif opened is not None:
            chunks.append(Chunk(opened.category, opened.start, start + 1))
    return with_null_chunks(sorted(chunks, key=lambda chunk: chunk.start), tree.width)


class _Open(NamedTuple):
    """A chunk that has begun at some word and has not reached its head yet."""

    category: str
    start: int


_Visit = tuple[Tree, int, _Open | None]
"""A node to visit, its first word, and the chunk that is open there."""


def _visits_below(node: Tree, start: int, opened: _Open | None, rules: HeadRules) -> list[_Visit]:
    """The nodes below a phrase that remain to be visited."""
    label = base_label(node.label)
    if opened is None and label in _CHUNKED:
        opened = _Open(label, start)
    head = _last_of_chunk(node, label, rules)
    later: list[_Visit] = []
    place = start
    for index, child in enumerate(node.children):
        if isinstance(child, str):
            place += 1
            continue
        if index == head:
            later.append((child, place, opened))
        elif index > head or opened is None or not _joins(child):
            later.append((child, place, None))
            if index < head and opened is not None and not child.is_preterminal:
                opened = _Open(opened.category, place + child.width)
        place += child.width
    return later


def _last_of_chunk(node: Tree, label: str, rules: HeadRules) -> int:
    """The index of the child in which the chunk ends: the head, a preposition's object, or an auxiliary's verb phrase."""
    head = rules.head_index(node)
    if label in ("PP", "WHPP", "VP"):
        wanted = ("VP",) if label == "VP" else ("NP", "WHNP", "ADJP", "ADVP", "QP")
        for index, child in enumerate(node.children[head + 1 :], start=head + 1):
            if isinstance(child, Tree) and base_label(child.label) in wanted:
                return index
            if not _joins(child):
                break
    return head


def _joins(child: Tree | str) -> bool:
    """Whether a child before the head belongs to the chunk: a word, or a modifier that consists of words only."""
    if isinstance(child, str) or child.is_preterminal:
        return True
    of_words = all(isinstance(below, str) or below.is_preterminal for below in child.children)
    return base_label(child.label) in _BEFORE_HEAD and of_words


def read_chunks(path: str, options: ReadOptions = ReadOptions()) -> list[ChunkedSentence]:
    """The sentences of a file; a file without sentences is an error."""
    with chunk_file(path, options) as sentences:
        return list(sentences)


@contextmanager
def chunk_file(path: str, options: ReadOptions = ReadOptions()) -> Generator[ChunkFile]:
    """The sentences of a file, for repeated iteration in constant memory; standard input is buffered on disk."""
    if path != "-":
        yield ChunkFile(path, find_sources(path), options)
        return
    with tempfile.TemporaryDirectory(prefix="treegauge-") as folder:
        stored = os.path.join(folder, "input")
        with Source("-").open() as given, open(stored, "wb") as kept:
            shutil.copyfileobj(given, kept)
        yield ChunkFile(path, [Source("-", stored=stored)], options)


def _at_least_one(sentences: Iterable[T], path: str) -> Iterator[T]:
    """The sentences of a file; none at all are an error."""
    some = False
    for sentence in sentences:
        some = True
        yield sentence
    if not some:
        raise InputError("no sentences", path=path)


class ChunkFile:
    """The sentences of some sources, read again for each iteration: flat trees as they are, others by the definition of a chunk."""

    def __init__(self, name: str, sources: Sequence[Source], options: ReadOptions) -> None:
        self.name = name
        self.sources, self.options = sources, options

    def __iter__(self) -> Iterator[ChunkedSentence]:
        return _at_least_one(_chunked_sentences(self._trees(), flat=self._is_flat), self.name)

    def _trees(self) -> Iterator[Tree]:
        return (tree for source in self.sources for block in stream(source, self.options) for tree in block if tree.width)

    @cached_property
    def _is_flat(self) -> bool:
        texts = (Text(source, self.options) for source in self.sources)
        return all(detect_format(text, self.options).name == "conll2000" for text in texts) or all(map(is_chunked, self._trees()))


def chunked_sentences(bank: Treebank) -> list[ChunkedSentence]:
    """The trees of a treebank as chunked sentences: flat trees as they are, others by the definition of a chunk."""
    trees = [tree for tree in bank if tree.width]
    return list(_chunked_sentences(trees, flat=all(map(is_chunked, trees))))


def _chunked_sentences(trees: Iterable[Tree], *, flat: bool) -> Iterator[ChunkedSentence]:
    if not flat:
        return chunk_trees(trees)
    return (ChunkedSentence.from_iob(tree.words, tree.tags, chunk_column(tree)) for tree in trees)


_BOUNDARY = "-X-"
_MARK = re.compile(r"[O.]|[][BIESULM](-.*)?")
_OF_BIOES = re.compile(rb"[SUL]-\S")
_ADVICE = (
    "The last column is a mark such as B-NP, I-NP or O; in a single file, the last two columns are the gold mark and the test mark."
)


class MarkedSentence(NamedTuple):
    """Words with one column of marks, or, in a file with gold and test marks, with two."""

    words: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]


class MarkFile:
    """The words and marks of a file, read again for each iteration: columns as they are, and the chunks of treebanks as IOB2."""

    def __init__(self, chunks: ChunkFile, n_columns: int = 1) -> None:
        self.name, self.n_columns = chunks.name, n_columns
        self._chunks = chunks

    def __iter__(self) -> Iterator[MarkedSentence]:
        return _at_least_one(self._sentences(), self.name)

    def scheme(self) -> str:
        """``bioes`` if there are S, U or L marks in the columns, otherwise ``conlleval``."""
        options = self._chunks.options
        for source in self._chunks.sources:
            for line in Text(source, options).lines():
                fields = line.split()
                if len(fields) > 1 and any(map(_OF_BIOES.match, fields[-self.n_columns :])) and not is_comment(line, options):
                    return "bioes"
        return "conlleval"

    def _sentences(self) -> Iterator[MarkedSentence]:
        sources, options = self._chunks.sources, self._chunks.options
        if all(_has_marks(Text(source, options), options) for source in sources):
            for source in sources:
                yield from _column_sentences(source, options, self.n_columns)
        elif self.n_columns > 1:
            raise FormatError("this is not a file of columns with gold and test marks", path=self.name, advice=_ADVICE)
        else:
            for sentence in self._chunks:
                yield MarkedSentence(sentence.words, (tuple(iob_of_chunks(sentence.chunks, len(sentence))),))


def _has_marks(text: Text, options: ReadOptions) -> bool:
    """Whether the first line that is not blank ends with a mark, after other columns."""
    if options.format not in ("auto", "conll2000"):
        return False
    lines = (line for line in text.head.split(b"\n") if line.strip() and not is_comment(line, options))
    fields = next(lines, b"").split()
    if fields and fields[0] == _BOUNDARY.encode():
        return True
    return len(fields) > 1 and bool(_MARK.fullmatch(fields[-1].decode("utf-8", "replace")))


def _column_sentences(source: Source, options: ReadOptions, n_columns: int) -> Iterator[MarkedSentence]:
    text = Text(source, options)
    words: list[str] = []
    marks: list[list[str]] = [[] for _ in range(n_columns)]
    width = 0
    for number, line in enumerate(text.lines(), start=1):
        if is_comment(line, options):
            continue
        if (error := encoding_error(line, text.name, TextPosition(number, 0))) is not None:
            raise error
        fields = line.decode("utf-8").split()
        if fields and fields[0] != _BOUNDARY:
            width = width or len(fields)
            _check(fields, width, n_columns, line, text.name, number)
            words.append(restore_word(fields[0]))
            for column, mark in zip(marks, fields[-n_columns:], strict=True):
                column.append(mark)
        elif words:
            yield MarkedSentence(tuple(words), tuple(map(tuple, marks)))
            words, marks = [], [[] for _ in range(n_columns)]
    if words:
        yield MarkedSentence(tuple(words), tuple(map(tuple, marks)))


def _check(fields: list[str], width: int, n_columns: int, line: bytes, path: str, number: int) -> None:
    place = TextPosition(number, 0)
    if len(fields) != width:
        problem = f"{number_of(len(fields), 'column')}, but {width} in the lines before"
        raise error_at(FormatError, problem, path, place, line, 0, _ADVICE)
    if len(fields) <= n_columns:
        problem = f"only {number_of(len(fields), 'column')}: a word and {n_columns} of marks are needed"
        raise error_at(FormatError, problem, path, place, line, 0, _ADVICE)
    for mark in fields[-n_columns:]:
        if not _MARK.fullmatch(mark):
            at = line.rindex(mark.encode("utf-8"))
            raise error_at(FormatError, f"{mark!r} is not a mark of a chunk", path, place, line, at, _ADVICE)
