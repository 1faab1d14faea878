"""Bracketed text read by the compiled scanner, for files that are worth importing Numba.

It reads plain text, which almost all text is; all other text, errors included, is left to
:mod:`treegauge.io.bracketed_columns`, which gives the same columns.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from treegauge.io.bracketed_columns import NameNumbers, Names, TreeColumns
from treegauge.io.scan_kernels import scan
from treegauge.trees.columns import Bytes, Columns, Int32
from treegauge.trees.treebank import Origin


def _kinds() -> Bytes:
    """For each byte its kind for the scanner."""
    kinds = np.zeros(256, dtype=np.uint8)
    kinds[list(b" \t\n\v\f\r")] = 1
    kinds[ord("(")], kinds[ord(")")], kinds[0] = 2, 3, 4
    return kinds


_KINDS = _kinds()
_SEED = np.uint64(int.from_bytes(os.urandom(8), "little") | 1)
_FULL = 2
_FEW = 256


def _eights(data: Bytes) -> NDArray[np.uint64]:
    """The eight bytes from each byte on, as a number; the array shares its memory with the bytes."""
    return np.ndarray((max(len(data) - 7, 0),), np.uint64, data.data, strides=(1,))


class _Table:
    """Strings that the scanner knows, and the number that each has among the names; a last -1 is for -1."""

    def __init__(self, size: int, known: NameNumbers) -> None:
        self._known = known
        pool = np.zeros(16 * size, np.uint8)
        self.arrays = np.zeros((2 * size, 2), np.uint64), np.zeros(size + 1, np.int64), pool, _eights(pool)
        self._numbers: Int32 = np.empty(size + 1, np.int32)
        self._numbers[-1] = -1
        self._count = 0
        self._is_same = True

    def new_strings(self, count: int) -> list[bytes]:
        """The strings up to number ``count`` that have no name yet."""
        _, starts, pool, _ = self.arrays
        first = self._count
        bounds: list[int] = (starts[first : count + 1] - starts[first]).tolist()
        text = pool[starts[first] : starts[count]].tobytes()
        return [text[begin:end] for begin, end in pairwise(bounds)]

    def add(self, new: list[bytes]) -> None:
        """Number new strings among the names."""
        first, self._count = self._count, self._count + len(new)
        self._is_same &= first == len(self._known)
        if self._is_same:
            self._known.strings += new
            self._numbers[first : self._count] = np.arange(first, self._count)
        else:
            self._numbers[first : self._count] = [*map(self._known.numbers.__getitem__, new)]

    def renumber(self, column: Int32) -> Int32:
        """A column with the names' numbers."""
        return column if self._is_same else self._numbers.take(column)


class CompiledScanner:
    """The compiled scanner; it numbers labels and words by ``names``."""

    def __init__(self, names: Names) -> None:
        # Not the names themselves, which have this scanner: large tables must not wait for the garbage collector.
        self._numbers = names.label_numbers, names.word_numbers
        self.is_loose = False
        """Whether a blank stands before a closing bracket of the last text."""
        self._waiting = np.empty((4, 0), np.uint64)
        self._reset(1 << 17)

    def _reset(self, size: int) -> None:
        """Begin with empty tables for this number of words, and a 64th of it labels."""
        self._size = size
        self._labels, self._words = (_Table(n, known) for n, known in zip((size >> 6, size), self._numbers, strict=True))
        self._state = np.zeros(11, np.int64)

    def scan(
        self, text: bytes, path: str, first_line: int, *, is_last: bool, may_nest: bool, utf8: bool = True
    ) -> tuple[TreeColumns, int] | None:
        """The complete trees of a text, and the number of bytes up to their end; None, and no new names, if the text is not plain.

        ``utf8``: text that is not UTF-8 is not plain.
        """
        data = np.frombuffer(text, dtype=np.uint8)
        # Text with more brackets is mostly brackets without labels, and not worth tables for so many names.
        most = (len(text) + _FEW) // 3
        nodes, tokens, trees = np.empty((4, most), np.int32), np.empty((3, most), np.int32), np.empty((3, most), np.int64)
        columns, state = (nodes, tokens, trees), self._state
        if self._waiting.shape[1] < most:
            self._waiting = np.empty((4, 2 * most), np.uint64)
        tables = self._labels.arrays, self._words.arrays, self._waiting
        failed = scan(data, _eights(data), first_line, _KINDS, _SEED, columns, *tables, state)
        if failed == _FULL:
            self._reset(4 * self._size)
            return self.scan(text, path, first_line, is_last=is_last, may_nest=may_nest, utf8=utf8)
        n_labels, n_distinct, used, n_nodes, n_words, n_trees, nested, n_open, loose = state[2:].tolist()
        if failed or not n_trees or (is_last and n_open) or (nested and not may_nest):
            self._reset(self._size)
            return None
        new_labels, new_words = self._labels.new_strings(n_labels), self._words.new_strings(n_distinct)
        if utf8 and not (_is_utf8(new_labels) and _is_utf8(new_words)):
            self._reset(self._size)
            return None
        self.is_loose = bool(loose)
        self._labels.add(new_labels)
        self._words.add(new_words)
        label, start, end, parent = nodes[:, :n_nodes]
        word, tag, above = tokens[:, :n_words]
        labels, words = self._labels, self._words
        found = Columns(labels.renumber(label), start, end, parent, words.renumber(word), labels.renumber(tag), above)
        return TreeColumns(found, trees[0, :n_trees], trees[1, :n_trees], (Origin(path, trees[2, :n_trees]),)), used


def _is_utf8(strings: list[bytes]) -> bool:
    try:
        b" ".join(strings).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
