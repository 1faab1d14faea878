"""Chunked sentences from files: CoNLL-2000 columns as they stand, any other treebank through Abney's definition of a chunk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

from treegauge.chunks.corpus import ChunkedSentence
from treegauge.chunks.derive import chunked
from treegauge.errors import InputError
from treegauge.io import stream
from treegauge.io.formats import detect_format
from treegauge.io.options import ReadOptions
from treegauge.io.sources import Source, find_sources
from treegauge.io.text import Text
from treegauge.trees import Tree, Treebank

__all__ = ["ChunkFile", "chunk_file", "chunked_sentences", "iob_columns", "read_chunks"]


def read_chunks(path: str, options: ReadOptions = ReadOptions()) -> list[ChunkedSentence]:
    """The sentences of a file; an empty one is an error, as there is nothing to learn from or to score."""
    with chunk_file(path, options) as sentences:
        return list(sentences)


@contextmanager
def chunk_file(path: str, options: ReadOptions = ReadOptions()) -> Generator[ChunkFile]:
    """The sentences of a file as often as asked, in memory that does not grow with it; standard input is put on disk meanwhile."""
    if path != "-":
        yield ChunkFile(path, find_sources(path), options)
        return
    with tempfile.NamedTemporaryFile(prefix="treegauge-") as kept, Source("-").open() as given:
        shutil.copyfileobj(given, kept)
        kept.flush()
        yield ChunkFile(path, [Source("-", stored=kept.name)], options)


class ChunkFile:
    """The sentences of some sources, read anew each time: flat trees as they stand, others through the definition of a chunk."""

    def __init__(self, name: str, sources: Sequence[Source], options: ReadOptions) -> None:
        self.name = name
        self._sources, self._options = sources, options

    def __iter__(self) -> Iterator[ChunkedSentence]:
        some = False
        for sentence in _chunked(self._trees(), flat=self._is_flat):
            some = True
            yield sentence
        if not some:
            raise InputError("no sentences", path=self.name)

    def _trees(self) -> Iterator[Tree]:
        return (tree for source in self._sources for block in stream(source, self._options) for tree in block if tree.width)

    @cached_property
    def _is_flat(self) -> bool:
        texts = (Text(source, self._options) for source in self._sources)
        return all(detect_format(text, self._options).name == "conll2000" for text in texts) or is_chunked(self._trees())


def chunked_sentences(bank: Treebank) -> list[ChunkedSentence]:
    """The trees of a treebank as chunked sentences: flat ones as they stand, others through the definition of a chunk."""
    trees = [tree for tree in bank if tree.width]
    return list(_chunked(trees, flat=is_chunked(trees)))


def _chunked(trees: Iterable[Tree], *, flat: bool) -> Iterator[ChunkedSentence]:
    if not flat:
        return chunked(trees)
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
