"""The trees to be scored, in blocks that can be read more than once; and their hashes.

Large files are read in a separate thread, a few blocks ahead. To be read again, the blocks of a file are kept, or, in a stream, the
file itself is opened again.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from treegauge import io
from treegauge.errors import InputError, MismatchError, UsageError
from treegauge.io.sources import CHUNK_BYTES, ReadOptions, find_sources
from treegauge.trees.columns import TreebankHash
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


BlockT = TypeVar("BlockT")

SMALLEST_BYTES = 16 << 20
"""Kernels are used for two files of at least this size together; smaller ones are counted sooner than Numba is imported."""
_WORTH_A_THREAD = 1 << 18
"""The number of words in a block from which on it is worth starting a thread to hash it."""


class MemoryTrees:
    """Trees that are in memory already."""

    name = "<trees>"
    paths: tuple[str, ...] = ()
    can_be_read_again = True

    def __init__(self, bank: Treebank) -> None:
        self._bank = bank

    def blocks(self) -> Iterator[Treebank]:
        """The trees, all in one block."""
        yield self._bank

    def whole(self) -> Treebank:
        """All trees as one treebank."""
        return self._bank

    def line_by_line(self) -> None:
        """None: in memory, a failed parse is already an empty tree."""
        return

    def close(self) -> None:
        """Do nothing: there is no file to close."""


class FileTrees:
    """The trees of some files, as one treebank; with ``keep``, blocks are kept once read, otherwise files are read again."""

    def __init__(self, paths: Sequence[str], options: ReadOptions, *, keep: bool) -> None:
        self.name = paths[0]
        self.paths: tuple[str, ...] = tuple(paths)
        self.can_be_read_again = keep or "-" not in paths
        self._options, self._keep = options, keep
        self._kept: list[Treebank] = []
        self._rest: Generator[Treebank] | None = None
        self._is_complete = False

    def blocks(self) -> Iterator[Treebank]:
        """The trees, block by block, from the beginning."""
        if not self._keep:
            self.close()
        if self._rest is None and not self._is_complete:
            self._rest = _open_blocks(self.paths, self._options)
        yield from self._kept
        try:
            while self._rest is not None and (block := next(self._rest, None)) is not None:
                if self._keep:
                    self._kept.append(block)
                yield block
            self._is_complete = self._keep
        except InputError:
            self.close()
            raise
        self.close()

    def whole(self) -> Treebank:
        """All trees as one treebank."""
        return Treebank.concatenate(list(self.blocks()) or [Treebank.from_trees([])])

    def line_by_line(self) -> FileTrees | None:
        """The same file with a sentence on each line, so that a blank line is a failed parse; None for other kinds of input."""
        bracketed = self._options.format in ("auto", "bracketed")
        if self._options.lines or not bracketed or len(self.paths) > 1 or "-" in self.paths:
            return None
        return FileTrees(self.paths, replace(self._options, lines=True), keep=self._keep)

    def close(self) -> None:
        """Stop reading, and forget the blocks of a file that was not read to its end."""
        if self._rest is not None:
            self._rest.close()
            self._rest = None
            if not self._is_complete:
                self._kept = []


Trees = MemoryTrees | FileTrees


def _are_large(paths: Sequence[str]) -> bool:
    """Whether it is worth reading these files ahead in a thread; it always is for what is not a regular file."""
    return not all(map(os.path.isfile, paths)) or sum(map(os.path.getsize, paths)) > CHUNK_BYTES


def _open_blocks(paths: Sequence[str], options: ReadOptions) -> Generator[Treebank]:
    """The blocks of some files, read ahead in a thread if the files are large."""
    blocks = (block for path in paths for block in io.stream(path, options))
    return read_ahead(blocks) if _are_large(paths) else blocks


def read_ahead(blocks: Iterator[BlockT]) -> Generator[BlockT]:
    """The blocks, each made by another thread while the one before is processed."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, None)
        while (block := coming.result()) is not None:
            coming = pool.submit(next, blocks, None)
            yield block


class Hasher:
    """The hashes of gold and test; those of large files are computed in a thread while sentences are scored."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._hashes = TreebankHash(), TreebankHash()
        self._jobs: list[Future[None]] = []

    def __enter__(self) -> Hasher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, gold: Treebank, test: Treebank) -> None:
        """Add a block of both sides."""
        if self._pool is None:
            if gold.n_tokens + test.n_tokens < _WORTH_A_THREAD:
                for digest, block in zip(self._hashes, (gold, test), strict=True):
                    digest.update(block)
                return
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1)
        self._jobs += [self._pool.submit(digest.update, block) for digest, block in zip(self._hashes, (gold, test), strict=True)]

    def _wait(self) -> None:
        for job in self._jobs:
            job.result()
        self._jobs.clear()

    def mark(self) -> tuple[TreebankHash, TreebankHash]:
        """Both hashes as they are now, to return to."""
        self._wait()
        return self._hashes[0].copy(), self._hashes[1].copy()

    def go_back(self, marks: tuple[TreebankHash, TreebankHash]) -> None:
        self._wait()
        self._hashes = marks[0].copy(), marks[1].copy()

    def digests(self) -> tuple[str, str]:
        """The hashes of gold and test."""
        self._wait()
        return self._hashes[0].hexdigest(), self._hashes[1].hexdigest()


TreebankLike = str | os.PathLike[str] | Tree | Sequence[Any] | Iterator[Any]
"""A path, bracketed text, a Treebank, a Tree, or a sequence or iterator of Tree, of nltk trees or of strings."""


def path_of(trees: TreebankLike) -> str | None:
    """The path, if ``trees`` is one: a path object, or a string that does not begin with a bracket."""
    if isinstance(trees, os.PathLike):
        return os.fspath(trees)
    return trees if isinstance(trees, str) and trees.strip() and not trees.lstrip().startswith("(") else None


def trees_of(trees: TreebankLike, options: ReadOptions, *, keep: bool) -> Trees:
    """The trees that are given in any form; ``keep`` as in :class:`FileTrees`."""
    path = path_of(trees)
    if path is None:
        return MemoryTrees(io.as_treebank(trees, options))
    return FileTrees([source.name for source in find_sources(path)], options, keep=keep)


def paired_files(gold: str, test: str) -> list[tuple[str, str]] | None:
    """The files of two directories or globs, paired by name; None if one side is a single file or standard input."""
    if "-" in (gold, test):
        if gold == test:
            raise UsageError("gold and test cannot both be standard input")
        return None
    if os.path.isfile(gold) or os.path.isfile(test):
        return None
    gold_files, test_files = ([source.name for source in find_sources(path)] for path in (gold, test))
    if not (_is_several(gold) and _is_several(test)):
        return None
    for naming in (_relative_name, _relative_stem):
        ours = {naming(gold, file): file for file in gold_files}
        theirs = {naming(test, file): file for file in test_files}
        unique = len(ours) == len(gold_files) and len(theirs) == len(test_files)
        if unique and set(ours) == set(theirs):
            return [(ours[name], theirs[name]) for name in ours]
    ours, theirs = ({_relative_name(path, file) for file in files} for path, files in ((gold, gold_files), (test, test_files)))
    lines = [f"  only in {gold}: {name}" for name in sorted(ours - theirs)]
    lines += [f"  only in {test}: {name}" for name in sorted(theirs - ours)]
    raise MismatchError("\n".join(["gold and test are paired by file name, but these files have no counterpart:", *lines]))


def _is_several(path: str) -> bool:
    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path))


def _relative_name(folder: str, file: str) -> str:
    """The path of a file relative to its directory, or the base name of a file that a glob found, without compression suffix."""
    name = os.path.relpath(file, folder) if os.path.isdir(folder) else os.path.basename(file)
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    return name


def _relative_stem(folder: str, file: str) -> str:
    return os.path.splitext(_relative_name(folder, file))[0]
