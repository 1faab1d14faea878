"""Rows of counts in little memory: each column in the narrowest type that holds it, and bit for bit what it was.

A count of brackets or words takes a byte or two instead of eight. A column of fractions, such as the recall of each sentence, has
few different values, so it is a list of these and the place of each sentence's value among them. Where there are many values, or
the cells are no numbers of a fixed size, the column stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK", "CompactColumn", "CompactIndex", "CompactRows", "grid", "narrow"]

Cells = NDArray[Any]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]

BLOCK = 1 << 14
"""The sentences that are spread out at once where rows are worked through block by block."""


def narrow(numbers: Cells) -> Cells:
    """Integers in the narrowest type that holds them.

    >>> narrow(np.array([3, 250])).dtype.name, narrow(np.array([-1, 250])).dtype.name
    ('uint8', 'int16')
    """
    if not len(numbers):
        return numbers.astype(np.uint8)
    least, most = int(numbers.min()), int(numbers.max())
    kind = np.min_scalar_type(most) if least >= 0 else np.promote_types(np.min_scalar_type(least), np.min_scalar_type(-most - 1))
    return numbers if kind.itemsize >= numbers.dtype.itemsize else numbers.astype(kind)


@dataclass(frozen=True, eq=False)
class CompactIndex:
    """The numbers of some sentences, in order: a range where none is left out.

    >>> CompactIndex.of(np.array([4, 5, 6])).numbers, CompactIndex.of(np.array([4, 6])).numbers.dtype.name
    (range(4, 7), 'uint8')
    """

    numbers: range | Cells

    @classmethod
    def of(cls, index: Places) -> CompactIndex:
        first = int(index[0]) if len(index) else 0
        is_range = not len(index) or (int(index[-1]) - first + 1 == len(index) and bool((np.diff(index) == 1).all()))
        return cls(range(first, first + len(index)) if is_range else narrow(index))

    @classmethod
    def concatenate(cls, parts: Sequence[CompactIndex]) -> CompactIndex:
        """The numbers of several one after the other."""
        used = [part.numbers for part in parts if len(part)] or [range(0)]
        ranges = [numbers for numbers in used if isinstance(numbers, range)]
        if len(ranges) == len(used) and all(one.stop == other.start for one, other in pairwise(ranges)):
            return cls(range(ranges[0].start, ranges[-1].stop))
        return cls(narrow(np.concatenate([part.array() for part in parts])))

    def __len__(self) -> int:
        return len(self.numbers)

    def array(self) -> Places:
        """The numbers as integers of 64 bits."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return np.arange(numbers.start, numbers.stop, dtype=np.int64)
        return numbers.astype(np.int64)

    def shifted(self, by: int) -> CompactIndex:
        """Each number so much larger."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return CompactIndex(range(numbers.start + by, numbers.stop + by))
        return CompactIndex(narrow(numbers.astype(np.int64) + by))

    @property
    def nbytes(self) -> int:
        return 0 if isinstance(self.numbers, range) else self.numbers.nbytes


@dataclass(frozen=True, eq=False)
class CompactColumn:
    """One column: the ``cells`` themselves, or, where there are ``values``, the place of each cell's value among them."""

    cells: Cells
    values: Floats | None = None

    @classmethod
    def of(cls, column: Cells) -> CompactColumn:
        """The column, in as little memory as may be."""
        if column.dtype.kind in "iu":
            return cls(narrow(column))
        if column.dtype != np.float64:
            return cls(column)
        counts = _counts(column)
        if counts is not None:
            return cls(counts)
        # Bit patterns, not numbers: nan equals itself so, and -0.0 is not 0.0.
        patterns, places = np.unique(np.ascontiguousarray(column).view(np.int64), return_inverse=True)
        return _coded(patterns.view(np.float64), places)

    @classmethod
    def concatenate(cls, parts: Sequence[CompactColumn]) -> CompactColumn:
        """The cells of several columns one after the other."""
        tables = [part.values for part in parts if part.values is not None]
        if len(tables) < len(parts):
            cells = np.concatenate([part[:] for part in parts])
            return cls.of(cells) if cells.dtype == np.float64 else cls(cells)
        patterns, places = np.unique(np.concatenate(tables).view(np.int64), return_inverse=True)
        cells = np.empty(sum(len(part.cells) for part in parts), dtype=np.min_scalar_type(len(patterns)))
        first = table = 0
        for part, values in zip(parts, tables, strict=True):
            cells[first : first + len(part.cells)] = places[table : table + len(values)].take(part.cells)
            first, table = first + len(part.cells), table + len(values)
        return _coded(patterns.view(np.float64), cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, where: slice) -> Cells:
        """Some of the cells as they were, counts in their narrow type."""
        return self.cells[where] if self.values is None else self.values.take(self.cells[where])

    def take(self, places: Places) -> CompactColumn:
        """The cells at some places."""
        return CompactColumn(self.cells.take(places), self.values)

    @property
    def nbytes(self) -> int:
        return self.cells.nbytes + (0 if self.values is None else self.values.nbytes)

    def on_a_grid(self) -> CompactColumn:
        """The column, rounded as :func:`treegauge.metrics.metric.on_a_grid` says."""
        if self.values is not None:
            # Sentences may have been left out, and with them the largest value.
            used = np.flatnonzero(np.bincount(self.cells, minlength=len(self.values)))
            values = self.values.copy()
            values[used] = _rounded(values[used], len(self))
            return CompactColumn(self.cells, values)
        if self.cells.dtype.kind in "iub":
            largest = max(int(self.cells.max(initial=0)), -int(self.cells.min(initial=0)))
            if largest * max(len(self), 1) < 1 << _MANTISSA - 1:
                return self
        return CompactColumn.of(_rounded(self.cells.astype(np.float64), len(self)))


_MANTISSA = 53


def grid(numbers: Floats, sentences: int) -> float:
    """The power of two by which numbers are multiplied before they are rounded, so that sums over so many sentences are exact."""
    exponent = int(np.frexp(np.abs(numbers).max(initial=0.0) * max(sentences, 1))[1]) - _MANTISSA
    is_count = exponent <= 0 and bool((numbers == np.rint(numbers)).all())
    return float(np.ldexp(1.0, 0 if is_count else -exponent))


def _rounded(column: Floats, sentences: int) -> Floats:
    scale = grid(column, sentences)
    return np.rint(column * scale) / scale


def _counts(column: Floats) -> Cells | None:
    """Floats that are whole numbers as integers; None where one is not, or is -0.0."""
    if not len(column):
        return np.zeros(0, dtype=np.uint8)
    least, most = float(column.min()), float(column.max())
    if not -_LARGEST <= least <= most <= _LARGEST:
        return None
    whole = column.astype(np.int64)
    is_same = whole.astype(np.float64).view(np.int64) == np.ascontiguousarray(column).view(np.int64)
    return narrow(whole) if is_same.all() else None


_LARGEST = float(1 << 31)


def _coded(values: Floats, places: Cells) -> CompactColumn:
    cells = places.astype(np.min_scalar_type(max(len(values) - 1, 0)), copy=False)
    if cells.nbytes + values.nbytes < 8 * len(cells):
        return CompactColumn(cells, values)
    return CompactColumn(values.take(cells))


class CompactRows:
    """Rows of counts as compact columns; blocks of them, and all of them, can be had as they were.

    >>> rows = CompactRows.of(np.array([[3.0, 0.5], [300.0, 0.25]]))
    >>> rows[:1].tolist(), [column.cells.dtype.name for column in rows.columns]
    ([[3.0, 0.5]], ['uint16', 'float64'])
    """

    def __init__(self, columns: Sequence[CompactColumn], dtype: np.dtype[Any], n_rows: int) -> None:
        self.columns, self.dtype, self._n_rows = tuple(columns), dtype, n_rows

    @classmethod
    def of(cls, rows: Cells) -> CompactRows:
        """Rows (sentences, columns); integers of 64 bits are given back as integers of 32, if they fit."""
        columns = [CompactColumn.of(column) for column in rows.T]
        is_wide = rows.dtype == np.int64 and max(int(rows.max(initial=0)), -int(rows.min(initial=0))) > np.iinfo(np.int32).max
        return cls(columns, np.dtype(np.int32) if rows.dtype == np.int64 and not is_wide else rows.dtype, len(rows))

    @classmethod
    def concatenate(cls, parts: Sequence[CompactRows]) -> CompactRows:
        """The rows of several one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = [CompactColumn.concatenate(of_column) for of_column in zip(*(part.columns for part in parts), strict=True)]
        return cls(columns, np.result_type(*(part.dtype for part in parts)), sum(map(len, parts)))

    @classmethod
    def side_by_side(cls, parts: Sequence[CompactRows]) -> CompactRows:
        """The columns of several beside each other; nothing is copied."""
        columns = [column for part in parts for column in part.columns]
        return cls(columns, np.result_type(*(part.dtype for part in parts)), len(parts[0]))

    def __len__(self) -> int:
        return self._n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self), len(self.columns)

    @property
    def nbytes(self) -> int:
        """The memory that the rows take."""
        return sum(column.nbytes for column in self.columns)

    def __getitem__(self, where: slice) -> Cells:
        """Some of the rows as they were."""
        rows = np.empty((len(range(len(self))[where]), len(self.columns)), dtype=self.dtype)
        for number, column in enumerate(self.columns):
            rows[:, number] = column[where]
        return rows

    def only(self, columns: Sequence[int]) -> CompactRows:
        """Some of the columns; nothing is copied."""
        return CompactRows([self.columns[number] for number in columns], self.dtype, len(self))

    def take(self, places: Places) -> CompactRows:
        """The rows at some places."""
        return CompactRows([column.take(places) for column in self.columns], self.dtype, len(places))

    def blocks(self, size: int | None = None) -> Iterator[Cells]:
        """The rows as they were, a block at a time; at least one block, which may be empty."""
        step = size or BLOCK
        return (self[first : first + step] for first in range(0, max(len(self), 1), step))

    def floats(self, where: slice = slice(None)) -> Floats:
        """Some of the rows as floats, a column beside the other in memory, which is quickest to make and to multiply."""
        found = np.empty((len(self.columns), len(range(len(self))[where])))
        for number, column in enumerate(self.columns):
            found[number] = column[where]
        return found.T

    def on_a_grid(self) -> CompactRows:
        """The rows with each column as :func:`treegauge.metrics.metric.on_a_grid` rounds it."""
        return CompactRows([column.on_a_grid() for column in self.columns], np.dtype(np.float64), len(self))
