"""Chunked sentences from files: CoNLL-2000 columns as they are, any other treebank by Abney's definition of a chunk.

By that definition chunks are non-recursive pieces of phrases, from their beginning up to the head. A chunk
ends with its head word; complements and modifiers after the head make chunks of their own. A preposition takes the
noun chunk after it into one PP chunk, a chain of auxiliaries the main verb into one VP chunk. Before a head, words and phrases
of words only (adjectives, numbers, adverbs) belong to the chunk; a larger phrase there, such as a possessor, is cut off and
stands alone. Words that no chunk takes are Null chunks.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from treegauge.chunks.corpus import NULL, Chunk, ChunkedSentence
from treegauge.errors import InputError
from treegauge.io import stream
from treegauge.io.formats import detect_format
from treegauge.io.sources import ReadOptions, Source, Text, find_sources
from treegauge.normalise.heads import HeadRules, head_rules
from treegauge.normalise.labels import base_label, strip_functions
from treegauge.normalise.pruning import remove_traces
from treegauge.trees import Tree, Treebank

__all__ = ["ChunkFile", "chunk_file", "chunk_trees", "chunked_sentences", "chunks_of_tree", "iob_columns", "read_chunks"]

_CHUNKED = frozenset({"NP", "VP", "PP", "ADJP", "ADVP", "QP", "WHNP", "WHPP", "WHADVP", "WHADJP", "PRT", "INTJ", "NX", "NAC"})
_BEFORE_HEAD = frozenset({"ADJP", "ADVP", "QP", "NX", "NAC", "UCP", "PRT", "CONJP"})
_CLOSED_TO_HEADS = frozenset({"PP", "WHPP"})


def chunk_trees(trees: Iterable[Tree], rules: str | HeadRules = "collins") -> Iterator[ChunkedSentence]:
    """The trees as chunked sentences; traces are removed first, and trees without words left out."""
    for tree in trees:
        plain = remove_traces(tree)
        if plain is not None and plain.width:
            plain = strip_functions(plain)
            yield ChunkedSentence(plain.words, plain.tags, tuple(chunks_of_tree(plain, rules)))


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
    finder = _ChunkFinder(head_rules(rules))
    finder.visit(tree, 0)
    taken = sorted(finder.chunks, key=lambda chunk: chunk.start)
    return list(_with_null(taken, tree.width))


@dataclass
class _Open:
    """A chunk that has begun at a word and waits for its head."""

    category: str
    start: int


class _ChunkFinder:
    """Walk a tree with a stack of (node, first word, the chunk that is open there)."""

    def __init__(self, rules: HeadRules) -> None:
        self.rules = rules
        self.chunks: list[Chunk] = []

    def visit(self, tree: Tree, start: int) -> None:
        stack: list[tuple[Tree, int, _Open | None]] = [(tree, start, None)]
        while stack:
            stack.extend(self._step(*stack.pop()))

    def _step(self, node: Tree, start: int, opened: _Open | None) -> list[tuple[Tree, int, _Open | None]]:
        """Take the chunk material of one node, and say which nodes remain to be visited."""
        label = base_label(node.label)
        if node.is_preterminal:
            if opened is not None:
                self.chunks.append(Chunk(opened.category, opened.start, start + 1))
            return []
        if opened is None and label in _CHUNKED:
            opened = _Open(label, start)
        head = self._last_of_chunk(node, label)
        later: list[tuple[Tree, int, _Open | None]] = []
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

    def _last_of_chunk(self, node: Tree, label: str) -> int:
        """The child in which the chunk ends: the head, but a PP's object or an auxiliary's verb phrase instead of it."""
        head = self.rules.head_index(node)
        if label in _CLOSED_TO_HEADS or label == "VP":
            wanted = ("VP",) if label == "VP" else ("NP", "WHNP", "ADJP", "ADVP", "QP")
            for index, child in enumerate(node.children[head + 1 :], start=head + 1):
                if isinstance(child, Tree) and base_label(child.label) in wanted:
                    return index
                if not _joins(child):
                    break
        return head


def _joins(child: Tree | str) -> bool:
    """Whether something before the head belongs to the chunk: a word, or a modifier made of words only."""
    if isinstance(child, str) or child.is_preterminal:
        return True
    of_words = all(isinstance(below, str) or below.is_preterminal for below in child.children)
    return base_label(child.label) in _BEFORE_HEAD and of_words


def _with_null(chunks: list[Chunk], length: int) -> Iterator[Chunk]:
    place = 0
    for chunk in [*chunks, Chunk("", length, length)]:
        yield from (Chunk(NULL, word, word + 1) for word in range(place, chunk.start))
        if chunk.category:
            yield chunk
        place = chunk.end


def read_chunks(path: str, options: ReadOptions = ReadOptions()) -> list[ChunkedSentence]:
    """The sentences of a file; an empty one is an error, as there is nothing to learn from or to score."""
    with chunk_file(path, options) as sentences:
        return list(sentences)


@contextmanager
def chunk_file(path: str, options: ReadOptions = ReadOptions()) -> Generator[ChunkFile]:
    """The sentences of a file, which can be iterated over repeatedly in constant memory; standard input is buffered on disk."""
    if path != "-":
        yield ChunkFile(path, find_sources(path), options)
        return
    with tempfile.NamedTemporaryFile(prefix="treegauge-") as kept, Source("-").open() as given:
        shutil.copyfileobj(given, kept)
        kept.flush()
        yield ChunkFile(path, [Source("-", stored=kept.name)], options)


class ChunkFile:
    """The sentences of some sources, read again each time: flat trees as they are, others through the definition of a chunk."""

    def __init__(self, name: str, sources: Sequence[Source], options: ReadOptions) -> None:
        self.name = name
        self.sources, self.options = sources, options

    def __iter__(self) -> Iterator[ChunkedSentence]:
        some = False
        for sentence in _chunked(self._trees(), flat=self._is_flat):
            some = True
            yield sentence
        if not some:
            raise InputError("no sentences", path=self.name)

    def _trees(self) -> Iterator[Tree]:
        return (tree for source in self.sources for block in stream(source, self.options) for tree in block if tree.width)

    @cached_property
    def _is_flat(self) -> bool:
        texts = (Text(source, self.options) for source in self.sources)
        return all(detect_format(text, self.options).name == "conll2000" for text in texts) or is_chunked(self._trees())


def chunked_sentences(bank: Treebank) -> list[ChunkedSentence]:
    """The trees of a treebank as chunked sentences: flat ones as they are, others through the definition of a chunk."""
    trees = [tree for tree in bank if tree.width]
    return list(_chunked(trees, flat=is_chunked(trees)))


def _chunked(trees: Iterable[Tree], *, flat: bool) -> Iterator[ChunkedSentence]:
    if not flat:
        return chunk_trees(trees)
    return (ChunkedSentence.from_iob(tree.words, tree.tags, iob_columns(tree)) for tree in trees)


def is_chunked(trees: Treebank | Iterable[Tree]) -> bool:
    """Whether all trees are what CoNLL-2000 columns are read as: S over tags and over chunks of tags.

    >>> is_chunked(Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"))
    True
    >>> is_chunked(Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NN it)))))"))
    False
    """
    return all(
        tree.label == "S" and all(isinstance(child, Tree) and (child.is_preterminal or _is_flat(child)) for child in tree.children)
        for tree in trees
    )


def _is_flat(node: Tree) -> bool:
    return bool(node.children) and all(isinstance(child, Tree) and child.is_preterminal for child in node.children)


def iob_columns(tree: Tree) -> list[str]:
    """The chunk column of a sentence read from CoNLL-2000 columns.

    >>> iob_columns(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"))
    ['B-NP', 'I-NP', 'B-VP', 'O']
    """
    return list(_marks(tree))


def _marks(tree: Tree) -> Iterator[str]:
    for child in tree.children:
        if isinstance(child, str) or child.is_preterminal:
            yield "O"
        else:
            name = child.label.removeprefix("I-")
            yield child.label if child.label.startswith("I-") else f"B-{name}"
            yield from [f"I-{name}"] * (child.width - 1)
