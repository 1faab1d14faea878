"""Chunked sentences from files: CoNLL-2000 columns as they stand, any other treebank through Abney's definition of a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from treegauge.chunks.corpus import ChunkedSentence
from treegauge.chunks.derive import chunked
from treegauge.errors import InputError
from treegauge.io import read
from treegauge.io.options import ReadOptions
from treegauge.trees import Tree, Treebank

__all__ = ["chunked_sentences", "iob_columns", "read_chunks"]


def read_chunks(path: str, options: ReadOptions = ReadOptions()) -> list[ChunkedSentence]:
    """The sentences of a file; an empty one is an error, as there is nothing to learn from or to score."""
    sentences = chunked_sentences(read(path, options))
    if not sentences:
        raise InputError("no sentences", path=path)
    return sentences


def chunked_sentences(bank: Treebank) -> list[ChunkedSentence]:
    """The trees of a treebank as chunked sentences: flat ones as they stand, others through the definition of a chunk."""
    trees = [tree for tree in bank if tree.width]
    if is_chunked(trees):
        return [ChunkedSentence.from_iob(tree.words, tree.tags, iob_columns(tree)) for tree in trees]
    return list(chunked(trees))


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
