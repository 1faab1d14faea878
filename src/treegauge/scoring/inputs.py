"""The trees to be scored, in blocks that can be read more than once; and their hashes.

Large files are read in a separate thread, a few blocks ahead. To be read again, the blocks of a file are kept, or, in a stream, the
file itself is opened again.
"""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from treegauge import io
from treegauge.errors import MismatchError, UsageError
from treegauge.io.sources import CHUNK_BYTES, ReadOptions, find_sources
from treegauge.metrics.compact_rows import CompactIndex
from treegauge.trees.columns import HashState, TreebankHash
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Treebank, named_place

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from treegauge.scoring.prefetch import Prefetch

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
        self._rest: Prefetch[Treebank] | Direct | None = None
        self._is_complete = False

    def blocks(self) -> Iterator[Treebank]:
        """The trees, block by block, from the beginning."""
        if not self._keep:
            self.close()
        if self._rest is None and not self._is_complete:
            self._rest = _open_blocks(self.paths, self._options)
        yield from self._kept
        while self._rest is not None and (block := self._rest.take()) is not None:
            if self._keep:
                self._kept.append(block)
            yield block
        self._is_complete = self._keep
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


def _open_blocks(paths: Sequence[str], options: ReadOptions) -> Prefetch[Treebank] | Direct:
    """The blocks of some files, read ahead in a thread if the files are large."""

    def make() -> Iterator[Treebank]:
        return (block for path in paths for block in io.stream(path, options))

    if not _are_large(paths):
        return Direct(make)
    from treegauge.scoring.prefetch import Prefetch

    return Prefetch(make)


class Direct:
    """Blocks read on demand."""

    def __init__(self, make: Callable[[], Iterator[Treebank]]) -> None:
        self._items = make()
        self._error: BaseException | None = None

    def take(self) -> Treebank | None:
        """The next block, or None after the last; an error in reading is raised again on each call."""
        if self._error is not None:
            raise self._error
        try:
            return next(self._items, None)
        except BaseException as error:
            self._error = error
            raise

    def close(self) -> None:
        """Do nothing: there is no thread to stop."""


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

    def mark(self) -> tuple[HashState, HashState]:
        """The current state of both hashes, to return to."""
        self._wait()
        return self._hashes[0].mark(), self._hashes[1].mark()

    def go_back(self, marks: tuple[HashState, HashState]) -> None:
        self._wait()
        for digest, mark in zip(self._hashes, marks, strict=True):
            digest.go_back(mark)

    def digests(self) -> tuple[str, str]:
        """The hashes of gold and test."""
        self._wait()
        return self._hashes[0].hexdigest(), self._hashes[1].hexdigest()


def share_one_heap() -> None:
    """Let all threads allocate from one heap: glibc gives each thread its own, and memory freed in one cannot be used by another.

    This pays for large files only. With another C library it does nothing.
    """
    _call_glibc("mallopt", -8, 1)  # M_ARENA_MAX


def return_free_memory() -> None:
    """Return freed memory to the system, which glibc does not do by itself; with another C library, do nothing."""
    _call_glibc("malloc_trim", 0)


def _call_glibc(name: str, *arguments: int) -> None:
    import ctypes

    try:
        getattr(ctypes.CDLL(None), name)(*arguments)
    except (AttributeError, OSError, TypeError):
        return


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


class PlacesInFile(NamedTuple):
    """The lines and, if there are any, the ids of consecutive sentences of one file; line 0: not read from a file."""

    path: str
    lines: CompactIndex
    ids: tuple[str, ...] | None


class SentencePlaces(Sequence[str]):
    """The place of each sentence, made only when it is asked for; sentences on lines that follow each other take no memory."""

    def __init__(self, files: Iterable[PlacesInFile] = ()) -> None:
        self.files: list[PlacesInFile] = []
        self._ends: list[int] = []
        for places in files:
            self._append(places)

    def add(self, bank: Treebank) -> None:
        """Add the sentences of a block."""
        for origin in bank.origins or (Origin("", np.zeros(len(bank), dtype=np.int64)),):
            self._append(PlacesInFile(origin.path, CompactIndex.of(origin.line), origin.ids))

    def merge(self, other: SentencePlaces) -> None:
        """Add the sentences that follow."""
        for places in other.files:
            self._append(places)

    def _append(self, new: PlacesInFile) -> None:
        if not len(new.lines):
            return
        n_before = len(self)
        last = self.files[-1] if self.files else None
        if last is not None and (last.path, last.ids, new.ids) == (new.path, None, None) and new.lines.follows(last.lines):
            self.files.pop()
            self._ends.pop()
            new = new._replace(lines=CompactIndex.concatenate([last.lines, new.lines]))
            n_before -= len(last.lines)
        self.files.append(new)
        self._ends.append(n_before + len(new.lines))

    def is_same(self, other: SentencePlaces) -> bool:
        """Whether all sentences have the same places, which need not be spelt out for that."""
        if self is other:
            return True
        if self._ends != other._ends:
            return False
        pairs = zip(self.files, other.files, strict=True)
        return all((a.path, a.ids) == (b.path, b.ids) and a.lines.is_same(b.lines) for a, b in pairs)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        file = bisect_right(self._ends, numbers)
        path, lines, ids = self.files[file]
        number = numbers - (self._ends[file - 1] if file else 0)
        line = int(lines.numbers[number])
        return named_place(path, line, None if ids is None else ids[number]) if line else f"tree {numbers + 1}"
