"""CoNLL-2000 columns, ``word tag chunk``, as trees of two levels.

The columns on the left are the tree on the right::

    He        PRP  B-NP       (S (NP (PRP He))
    reckons   VBZ  B-VP          (VP (VBZ reckons))
    the       DT   B-NP          (NP (DT the) (NN deficit))
    deficit   NN   I-NP          (. .))
    .         .    O

A chunk is a node above the tags of its words; words outside chunks hang from ``S``. A chunk that begins with ``I-X`` where ``B-X``
is usual gets the label ``I-X``, so that writing gives back the same columns. A blank line ends a sentence. Only trees of this shape
can be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import numpy as np

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.diagnosis import encoding_error, error_at
from treegauge.io.label_parts import canonical_label
from treegauge.io.sources import ReadOptions, Text, TextPosition, is_comment
from treegauge.io.writing import tree_lines
from treegauge.tables import number_of
from treegauge.trees.notation import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank

OUTSIDE, SENTENCE_LABEL = "O", "S"
_CHUNK_TAG = re.compile(r"O|[BI]-(?![BI]-).+")
_BLOCK_SENTENCES, _MOST_WORDS = 1 << 12, 1 << 20
_FIELDS_ADVICE = "Each line is a word, its tag and its chunk tag; a blank line ends a sentence."
_TAG_ADVICE = "Chunk tags are O, B-X or I-X, as in B-NP."

_NumberedLines = list[tuple[int, bytes]]


def read_conll2000(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a file of columns, in blocks, and all its errors; or sentences without a parse in place of the errors."""
    sentences = _sentences(text, options)
    while block := list(islice(sentences, _BLOCK_SENTENCES)):
        trees: list[Tree] = []
        lines: list[int] = []
        problems: dict[int, Problem] = {}
        for sentence in block:
            errors = [error for number, line in sentence if (error := _line_error(line, text.name, number)) is not None]
            if errors and options.on_error == "stop":
                yield from errors
                continue
            if errors:
                left_out = b"\n".join(line for _, line in sentence)
                problems[len(trees)] = Problem(errors[0].place, errors[0].problem, errors[0].advice, text=left_out)
            trees.append(Tree("") if errors else _tree(sentence))
            lines.append(sentence[0][0])
        if trees:
            yield replace(Treebank.from_trees(trees), origins=(Origin(text.name, np.array(lines, np.int64), None, problems),))


def _sentences(text: Text, options: ReadOptions) -> Iterator[_NumberedLines]:
    """The numbered lines of each sentence, without comments."""
    sentence: _NumberedLines = []
    for number, line in enumerate(text.lines(), start=1):
        if line.strip():
            if not is_comment(line, options):
                sentence.append((number, line))
        elif sentence:
            yield sentence
            sentence = []
        if len(sentence) > _MOST_WORDS:
            raise FormatError(f"a sentence of more than {_MOST_WORDS:,} words", path=text.name, line=number, advice=_FIELDS_ADVICE)
    if sentence:
        yield sentence


def _line_error(line: bytes, path: str, number: int) -> InputError | None:
    if (error := encoding_error(line, path, TextPosition(number, 0))) is not None:
        return error
    fields = line.split()
    if len(fields) != 3:
        problem = f"{number_of(len(fields), 'column')} instead of 3"
        return error_at(FormatError, problem, path, TextPosition(number, 0), line, 0, _FIELDS_ADVICE)
    tag = fields[2].decode("utf-8")
    if not _CHUNK_TAG.fullmatch(tag):
        return error_at(
            FormatError, f"{tag!r} is not a chunk tag", path, TextPosition(number, 0), line, line.rindex(fields[2]), _TAG_ADVICE
        )
    return None


def _tree(sentence: _NumberedLines) -> Tree:
    """The tree of a sentence; a chunk goes on at I-X after a word in a chunk of the category X."""
    chunks: list[tuple[str, list[Tree]]] = []  # the label of each chunk, empty outside of chunks, and its tagged words
    before = ""
    for _, line in sentence:
        word, tag, mark = (field.decode("utf-8") for field in line.split())
        leaf = Tree(_canonical_label(tag), [restore_word(word)])
        category = "" if mark == OUTSIDE else _canonical_label(mark[2:])
        if mark.startswith("I-") and category == before:
            chunks[-1][1].append(leaf)
        else:
            chunks.append((f"I-{category}" if mark.startswith("I-") else category, [leaf]))
        before = category
    return Tree(SENTENCE_LABEL, [Tree(label, leaves) if label else leaves[0] for label, leaves in chunks])


_canonical_label = lru_cache(maxsize=1 << 14)(canonical_label)
_BLANK = re.compile(r"[ \t\n\r\v\f\0]")
_BRACKETS = {"-LRB-": "(", "-RRB-": ")"}
_SHAPE = (
    "CoNLL-2000 columns hold chunks, not whole trees: a root S over tags and over chunks, and a chunk over tags, as in\n"
    "  (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"
)


def is_chunked(tree: Tree) -> bool:
    """Whether a tree is as if read from CoNLL-2000 columns: an S over tags and over chunks of tags.

    >>> is_chunked(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"))
    True
    >>> is_chunked(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NN it)))))"))
    False
    """
    return tree.label == SENTENCE_LABEL and all(
        isinstance(child, Tree) and (child.is_preterminal or _is_flat(child)) for child in tree.children
    )


def _is_flat(node: Tree) -> bool:
    return bool(node.children) and all(isinstance(child, Tree) and child.is_preterminal for child in node.children)


def chunk_column(tree: Tree) -> list[str]:
    """The chunk column of a sentence read from CoNLL-2000 columns.

    >>> chunk_column(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .))"))
    ['B-NP', 'I-NP', 'B-VP', 'O']
    """
    marks: list[str] = []
    for child in tree.children:
        if isinstance(child, str) or child.is_preterminal:
            marks.append(OUTSIDE)
        else:
            name = child.label.removeprefix("I-")
            marks += [child.label if child.label.startswith("I-") else f"B-{name}", *[f"I-{name}"] * (child.width - 1)]
    return marks


def conll2000_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as columns ``word tag chunk``, each followed by a blank line."""
    return tree_lines(blocks, _columns)


def _columns(tree: Tree, number: int) -> Iterator[str]:
    """The lines of one sentence; WriteError if its tree has another shape."""
    if not tree.width:
        raise WriteError("an empty parse cannot be written as CoNLL-2000 columns, where a sentence has at least one word.")
    if not is_chunked(tree) or not tree.is_continuous:
        raise WriteError(_SHAPE)
    before = ""
    for child in tree.children:
        label = "" if isinstance(child, str) or child.is_preterminal else child.label
        category = label.removeprefix("I-")
        if category.startswith(("B-", "I-")) or (category != label and category in ("", before)):
            raise WriteError(f"the chunk {label!r} cannot be told from its neighbour or from a chunk tag in CoNLL-2000 columns.")
        before = category
    for (word, tag), mark in zip(tree.tagged(), chunk_column(tree), strict=True):
        yield f"{_word(word)} {_label(tag)} {mark if mark == OUTSIDE else mark[:2] + _label(mark[2:])}"
    yield ""


@lru_cache(maxsize=1 << 14)
def _word(word: str) -> str:
    """The word with brackets as ``-LRB-`` and ``-RRB-``, as CoNLL-2000 has them in words, but not in tags."""
    text = _column("word", word).replace("(", "-LRB-").replace(")", "-RRB-")
    if restore_word(text) != word:
        raise WriteError(f"the word {word!r} would be read back as {restore_word(text)!r}.\n  Replace it.")
    return text


@lru_cache(maxsize=1 << 14)
def _label(label: str) -> str:
    text = _BRACKETS.get(label, label)
    if canonical_label(text) != label:
        raise WriteError(f"the label {label!r} would be read back as {canonical_label(text)!r}.\n  Give the node another label.")
    return _column("label", text)


def _column(kind: str, name: str) -> str:
    """The word or label, unless it is empty or has a blank, which is refused."""
    if not name or _BLANK.search(name):
        raise WriteError(
            f"the {kind} {name!r} cannot be written as a CoNLL-2000 column, where blanks separate columns.\n"
            "  Replace the blank, for example by '_'."
        )
    return name
