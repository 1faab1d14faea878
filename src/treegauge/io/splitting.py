"""Split points of a treebank: the byte and the line at which every n-th tree begins.

Only brackets are counted, which is many times faster than reading. A file can be cut if it is uncompressed bracketed UTF-8 text
without comments whose brackets balance; any other file is one piece.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from treegauge.io.escapes import has_escapes
from treegauge.io.formats import detect_format
from treegauge.io.sources import CHUNK_BYTES, ByteRange, ReadOptions, Source, Text
from treegauge.trees.columns import Bytes, Int64, Mask

_CHUNK_BYTES = 1 << 22
_OPEN, _CLOSE, _NEWLINE = ord("("), ord(")"), ord("\n")


class Piece(NamedTuple):
    """Consecutive trees: the parts of files that hold them, the number of the first, and how many there are (-1: not known)."""

    sources: tuple[Source, ...]
    first: int
    trees: int


@dataclass(frozen=True)
class SplitFiles:
    """Several files as one treebank, in pieces of equally many trees; the checksum changes when the bytes of the files do.

    If a file cannot be cut, there is one piece, and ``trees`` is -1.
    """

    pieces: tuple[Piece, ...]
    trees: int
    checksum: int


def cut_files(paths: Sequence[str], options: ReadOptions, size: int) -> SplitFiles:
    """Some files in pieces of ``size`` trees."""
    every: list[_Cut] = []
    trees, checksum = 0, 0
    can_be_cut = all(_can_be_cut(path, options) for path in paths)
    for path in paths:
        scanner = _LineCounter(trees, size) if options.lines else _BracketCounter(trees, size)
        end = 0
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                checksum = zlib.crc32(chunk, checksum)
                # An escaped bracket must not be counted, but only reading the whole tree shows whether it is escaped.
                can_be_cut = can_be_cut and (options.lines or not (has_escapes(chunk) or chunk.endswith(b"\\")))
                if can_be_cut:
                    scanner.add(chunk)
                end += len(chunk)
        scanner.end()
        can_be_cut = can_be_cut and scanner.is_balanced
        every += [_Cut(path, number, part) for number, part in _parts(scanner.cuts, trees, end)]
        trees += scanner.trees
    if not can_be_cut:
        return SplitFiles((Piece(tuple(map(Source, paths)), 0, -1),), -1, checksum)
    return SplitFiles(tuple(_pieces(every, trees, size)), trees, checksum)


def _can_be_cut(path: str, options: ReadOptions) -> bool:
    if path == "-" or Source(path).is_compressed or options.comment.strip() or options.on_error == "repair":
        return False
    text = Text(Source(path), options)
    if text.is_recoded or detect_format(text, options).name != "bracketed":
        return False
    with open(path, "rb") as file:
        head = file.read(CHUNK_BYTES)
    return b"\n" in head or b"\r" not in head  # else its lines may be those of an old Macintosh


class _Cut(NamedTuple):
    path: str
    first: int
    part: ByteRange


def _parts(cuts: Sequence[tuple[int, ByteRange]], first: int, end: int) -> Iterator[tuple[int, ByteRange]]:
    """The parts of a file between cuts, each with the number of its first tree; the first begins where the file does."""
    begins = [(first, ByteRange(0, 0)), *(cut for cut in cuts if cut[0] > first)]
    for k, (number, part) in enumerate(begins):
        yield number, part._replace(end=begins[k + 1][1].start if k + 1 < len(begins) else end)


def _pieces(cuts: Sequence[_Cut], trees: int, size: int) -> Iterator[Piece]:
    """The cuts of all files, joined into pieces of ``size`` trees."""
    for number, inside in groupby(cuts, lambda cut: cut.first // size):
        sources = tuple(Source(cut.path, part=cut.part) for cut in inside if cut.part.end > cut.part.start)
        yield Piece(sources, number * size, min(size, trees - number * size))


class _TreeCounter(ABC):
    """Counts trees chunk by chunk, from number ``first`` on, and notes where those begin whose number is a multiple of ``size``."""

    def __init__(self, first: int, size: int) -> None:
        self.trees, self.is_balanced = 0, True
        self.cuts: list[tuple[int, ByteRange]] = []
        self._first, self._size = first, size
        self._offset, self._line, self._characters = 0, 1, 0
        self._depth = 0

    def add(self, chunk: bytes) -> None:
        """Count the trees that begin in the next chunk."""
        data = np.frombuffer(chunk, dtype=np.uint8)
        begins = self._begins(data)
        number = self._first + self.trees
        for k in range(-number % self._size, len(begins), self._size):
            at = int(begins[k])
            line, characters = self._place(chunk, data, at)
            self.cuts.append((number + k, ByteRange(self._offset + at, 0, line, characters)))
        self.trees += len(begins)
        self._line, self._characters = self._place(chunk, data, len(chunk))
        self._offset += len(chunk)

    @abstractmethod
    def _begins(self, data: Bytes) -> Int64:
        """The positions at which trees begin."""

    def end(self) -> None:
        """Note that the file has ended."""
        self.is_balanced = self.is_balanced and self._depth == 0

    def _place(self, chunk: bytes, data: Bytes, at: int) -> tuple[int, int]:
        newlines = chunk.count(b"\n", 0, at)
        begin = chunk.rfind(b"\n", 0, at) + 1
        # A byte 10xxxxxx continues a character that has begun before.
        characters = int(((data[begin:at] & 0xC0) != 0x80).sum())
        return self._line + newlines, characters if newlines else self._characters + characters


class _BracketCounter(_TreeCounter):
    """Trees begin at opening brackets outside all others."""

    def _begins(self, data: Bytes) -> Int64:
        is_open = data == _OPEN
        position = np.flatnonzero(is_open | (data == _CLOSE))
        opens: Mask = is_open[position]
        depth = self._depth + np.cumsum(np.where(opens, 1, -1), dtype=np.int64)
        if len(depth):
            self.is_balanced = self.is_balanced and int(depth.min()) >= 0
            self._depth = int(depth[-1])
        return position[opens & (depth == 1)]


class _LineCounter(_TreeCounter):
    """Each line is a tree."""

    _at_line_begin = True

    def _begins(self, data: Bytes) -> Int64:
        after = np.flatnonzero(data == _NEWLINE) + 1
        begins = np.append(0, after) if self._at_line_begin else after
        self._at_line_begin = bool(len(begins)) and int(begins[-1]) == len(data)
        return begins[begins < len(data)]
