"""Rows of counts, and sets of bits, one for each sentence, stored compactly and without loss.

Each column of the rows has the narrowest type that holds it: a count of brackets or words takes a byte or two instead of eight. A
column of fractions, such as the recall of each sentence, has few different values, so it is stored as a list of these values and,
for each sentence, an index into the list. A column with many different values, or with values that are not numbers of a fixed
size, is stored unchanged.

A set of bits, such as the brackets of a sentence that were reproduced, takes as many bytes as its highest bit needs, plus one or
two for their number; a Python integer would take forty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.columns import Int64

AnyArray = NDArray[Any]
Floats = NDArray[np.float64]

BLOCK = 1 << 14
"""The number of sentences that are expanded at once when rows are processed block by block."""


def narrow(numbers: AnyArray) -> AnyArray:
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
    """The numbers of some sentences, in order; a range if none is left out.

    >>> CompactIndex.of(np.array([4, 5, 6])).numbers, CompactIndex.of(np.array([4, 6])).numbers.dtype.name
    (range(4, 7), 'uint8')
    """

    numbers: range | AnyArray

    @classmethod
    def of(cls, index: Int64) -> CompactIndex:
        first = int(index[0]) if len(index) else 0
        is_range = not len(index) or (int(index[-1]) - first + 1 == len(index) and bool((np.diff(index) == 1).all()))
        return cls(range(first, first + len(index)) if is_range else narrow(index))

    @classmethod
    def concatenate(cls, parts: Sequence[CompactIndex]) -> CompactIndex:
        """The numbers of several indices, one after the other."""
        used = [part.numbers for part in parts if len(part)] or [range(0)]
        ranges = [numbers for numbers in used if isinstance(numbers, range)]
        if len(ranges) == len(used) and all(one.stop == other.start for one, other in pairwise(ranges)):
            return cls(range(ranges[0].start, ranges[-1].stop))
        return cls(narrow(np.concatenate([part.array() for part in parts])))

    def __len__(self) -> int:
        return len(self.numbers)

    def array(self) -> Int64:
        """The numbers as integers of 64 bits."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return np.arange(numbers.start, numbers.stop, dtype=np.int64)
        return numbers.astype(np.int64)

    def between(self, first: int, last: int) -> Int64:
        """Those of the numbers that are from ``first`` on and less than ``last``."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return np.arange(max(numbers.start, first), min(numbers.stop, last), dtype=np.int64)
        low, high = np.searchsorted(numbers, [first, last]).tolist()
        return numbers[low:high].astype(np.int64)

    def follows(self, other: CompactIndex) -> bool:
        """Whether both are ranges, and this one begins where the other ends."""
        return isinstance(self.numbers, range) and isinstance(other.numbers, range) and other.numbers.stop == self.numbers.start

    def is_same(self, other: CompactIndex) -> bool:
        """Whether the numbers are the same."""
        ours, theirs = self.numbers, other.numbers
        if isinstance(ours, range) or isinstance(theirs, range):
            return isinstance(ours, range) and isinstance(theirs, range) and ours == theirs
        return np.array_equal(ours, theirs)

    def shift(self, by: int) -> CompactIndex:
        """The index with all numbers increased."""
        numbers = self.numbers
        if isinstance(numbers, range):
            return CompactIndex(range(numbers.start + by, numbers.stop + by))
        return CompactIndex(narrow(numbers.astype(np.int64) + by))

    @property
    def nbytes(self) -> int:
        return 0 if isinstance(self.numbers, range) else self.numbers.nbytes


@dataclass(frozen=True, eq=False)
class CompactColumn:
    """One column: the ``cells`` themselves, or, if there are ``values``, the index of each cell's value among them."""

    cells: AnyArray
    values: Floats | None = None

    @classmethod
    def of(cls, column: AnyArray) -> CompactColumn:
        """The column in the least memory."""
        if column.dtype.kind in "iu":
            return cls(narrow(column))
        if column.dtype != np.float64:
            return cls(column)
        counts = _as_counts(column)
        if counts is not None:
            return cls(counts)
        # Bit patterns rather than numbers, so that nan equals itself, and -0.0 is not 0.0.
        patterns, places = np.unique(np.ascontiguousarray(column).view(np.int64), return_inverse=True)
        return _by_values(patterns.view(np.float64), places)

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
        return _by_values(patterns.view(np.float64), cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, where: slice) -> AnyArray:
        """Some of the cells; counts keep their narrow type."""
        return self.cells[where] if self.values is None else self.values.take(self.cells[where])

    def take(self, places: Int64) -> CompactColumn:
        """The cells at some positions."""
        return CompactColumn(self.cells.take(places), self.values)

    @property
    def nbytes(self) -> int:
        return self.cells.nbytes + (0 if self.values is None else self.values.nbytes)

    def on_a_grid(self) -> CompactColumn:
        """The column, rounded as by :func:`treegauge.metrics.metric.on_a_grid`."""
        if self.values is not None:
            # Sentences may have been left out, so the largest value may not occur any more.
            used = np.flatnonzero(np.bincount(self.cells, minlength=len(self.values)))
            values = self.values.copy()
            values[used] = _round(values[used], len(self))
            return CompactColumn(self.cells, values)
        if self.cells.dtype.kind in "iub":
            largest = max(int(self.cells.max(initial=0)), -int(self.cells.min(initial=0)))
            if largest * max(len(self), 1) < 1 << _MANTISSA - 1:
                return self
        return CompactColumn.of(_round(self.cells.astype(np.float64), len(self)))


_MANTISSA = 53


def grid(numbers: Floats, sentences: int) -> float:
    """The power of two by which numbers are multiplied before rounding, so that sums over this number of sentences are exact."""
    exponent = int(np.frexp(np.abs(numbers).max(initial=0.0) * max(sentences, 1))[1]) - _MANTISSA
    is_count = exponent <= 0 and bool((numbers == np.rint(numbers)).all())
    return float(np.ldexp(1.0, 0 if is_count else -exponent))


def _round(column: Floats, sentences: int) -> Floats:
    scale = grid(column, sentences)
    return np.rint(column * scale) / scale


def _as_counts(column: Floats) -> AnyArray | None:
    """The column as integers; None if a number is not whole, is too large, or is -0.0."""
    if not len(column):
        return np.zeros(0, dtype=np.uint8)
    least, most = float(column.min()), float(column.max())
    if not -_LARGEST <= least <= most <= _LARGEST:
        return None
    whole = column.astype(np.int64)
    is_same = whole.astype(np.float64).view(np.int64) == np.ascontiguousarray(column).view(np.int64)
    return narrow(whole) if is_same.all() else None


_LARGEST = float(1 << 31)


def _by_values(values: Floats, places: AnyArray) -> CompactColumn:
    cells = places.astype(np.min_scalar_type(max(len(values) - 1, 0)), copy=False)
    if cells.nbytes + values.nbytes < 8 * len(cells):
        return CompactColumn(cells, values)
    return CompactColumn(values.take(cells))


class CompactRows:
    """Rows of counts as compact columns; slices give back the rows as they were.

    >>> rows = CompactRows.of(np.array([[3.0, 0.5], [300.0, 0.25]]))
    >>> rows[:1].tolist(), [column.cells.dtype.name for column in rows.columns]
    ([[3.0, 0.5]], ['uint16', 'float64'])
    """

    def __init__(self, columns: Sequence[CompactColumn], dtype: np.dtype[Any], n_rows: int) -> None:
        self.columns, self.dtype, self._n_rows = tuple(columns), dtype, n_rows

    @classmethod
    def of(cls, rows: AnyArray) -> CompactRows:
        """Compact rows from an array (sentences, columns); 64-bit integers are given back as 32-bit integers if they fit."""
        columns = [CompactColumn.of(column) for column in rows.T]
        is_wide = rows.dtype == np.int64 and max(int(rows.max(initial=0)), -int(rows.min(initial=0))) > np.iinfo(np.int32).max
        return cls(columns, np.dtype(np.int32) if rows.dtype == np.int64 and not is_wide else rows.dtype, len(rows))

    @classmethod
    def concatenate(cls, parts: Sequence[CompactRows]) -> CompactRows:
        """The rows of several systems or blocks, one after the other."""
        if len(parts) == 1:
            return parts[0]
        columns = [CompactColumn.concatenate(of_column) for of_column in zip(*(part.columns for part in parts), strict=True)]
        return cls(columns, np.result_type(*(part.dtype for part in parts)), sum(map(len, parts)))

    @classmethod
    def side_by_side(cls, parts: Sequence[CompactRows]) -> CompactRows:
        """The columns of several compact rows, side by side; nothing is copied."""
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
        """The size of the rows in memory."""
        return sum(column.nbytes for column in self.columns)

    def __getitem__(self, where: slice) -> AnyArray:
        """Some of the rows as an array."""
        rows = np.empty((len(range(len(self))[where]), len(self.columns)), dtype=self.dtype)
        for number, column in enumerate(self.columns):
            rows[:, number] = column[where]
        return rows

    def only(self, columns: Sequence[int]) -> CompactRows:
        """Some of the columns; nothing is copied."""
        return CompactRows([self.columns[number] for number in columns], self.dtype, len(self))

    def take(self, places: Int64) -> CompactRows:
        """The rows at some positions."""
        return CompactRows([column.take(places) for column in self.columns], self.dtype, len(places))

    def blocks(self, size: int | None = None) -> Iterator[AnyArray]:
        """The rows as arrays, a block at a time; at least one block, which may be empty."""
        step = size or BLOCK
        return (self[first : first + step] for first in range(0, max(len(self), 1), step))

    def floats(self, where: slice = slice(None)) -> Floats:
        """Some of the rows as floats, in column-major order, which is fastest to fill and to multiply."""
        found = np.empty((len(self.columns), len(range(len(self))[where])))
        for number, column in enumerate(self.columns):
            found[number] = column[where]
        return found.T

    def on_a_grid(self) -> CompactRows:
        """The rows with each column rounded as by :func:`treegauge.metrics.metric.on_a_grid`."""
        return CompactRows([column.on_a_grid() for column in self.columns], np.dtype(np.float64), len(self))


_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)
"""The number of bits of each byte."""


class BitSets:
    """A set of bits for each sentence: ``sizes`` are the numbers of bytes, ``content`` all bytes, the lowest bits first.

    >>> sets = BitSets.of(np.array([0b101, 0, 1 << 9], dtype=object))
    >>> sets.sizes.tolist(), sets.content.tolist(), sets.integers().tolist()
    ([1, 0, 2], [5, 0, 2], [5, 0, 512])
    """

    def __init__(self, sizes: NDArray[Any], content: NDArray[np.uint8]) -> None:
        self.sizes, self.content = sizes, content

    @classmethod
    def of(cls, sets: BitSets | NDArray[Any]) -> BitSets:
        """The sets of the bits of Python integers."""
        if isinstance(sets, BitSets):
            return sets
        integers: list[int] = sets.tolist()
        sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
        content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
        return cls(narrow(np.array(sizes, dtype=np.int64)), np.frombuffer(content, dtype=np.uint8))

    @classmethod
    def of_masks(cls, mask: NDArray[np.bool_], counts: Int64) -> BitSets:
        """The sets of marked items, given the mask of all items and the number of items of each sentence; item i is bit i."""
        items = np.flatnonzero(mask)
        sentence = np.repeat(np.arange(len(counts)), counts)[items]
        bit = items - (np.cumsum(counts) - counts)[sentence]
        sizes = np.zeros(len(counts), dtype=np.int64)
        sizes[sentence] = bit // 8 + 1  # the last assignment stays: that of the highest bit
        bits = np.zeros(8 * int(sizes.sum()), dtype=np.bool_)
        bits[bit + 8 * (np.cumsum(sizes) - sizes)[sentence]] = True
        return cls(narrow(sizes), np.packbits(bits, bitorder="little"))

    @classmethod
    def concatenate(cls, parts: Sequence[BitSets]) -> BitSets:
        """The sets of several blocks, one after the other."""
        return cls(np.concatenate([part.sizes for part in parts]), np.concatenate([part.content for part in parts]))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """The size of the sets in memory."""
        return self.sizes.nbytes + self.content.nbytes

    def blocks(self) -> Iterator[BitSets]:
        """The sets, a block of sentences at a time; nothing is copied."""
        start = 0
        for first in range(0, len(self), BLOCK):
            sizes = self.sizes[first : first + BLOCK]
            end = start + int(sizes.sum(dtype=np.int64))
            yield BitSets(sizes, self.content[start:end])
            start = end

    def take(self, places: Int64) -> BitSets:
        """The sets at some positions."""
        first, _ = self._edges()
        sizes = self.sizes.take(places)
        return BitSets(sizes, self.content.take(_bytes_of(first.take(places), sizes)))

    def integers(self) -> NDArray[Any]:
        """Each set as a Python integer."""
        first, last = self._edges()
        content = self.content.tobytes()
        sets = np.empty(len(self), dtype=object)
        for number, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            sets[number] = int.from_bytes(content[start:end], "little")
        return sets

    def counts(self) -> Int64:
        """The number of bits in each set."""
        return _sums(_ONES.take(self.content), self.sizes)

    def shared(self, other: BitSets) -> Int64:
        """The number of bits that each set shares with the set of the same sentence in ``other``."""
        sizes = np.minimum(self.sizes, other.sizes)
        ours, theirs = (sets.content.take(_bytes_of(sets._edges()[0], sizes)) for sets in (self, other))
        return _sums(_ONES.take(ours & theirs), sizes)

    def _edges(self) -> tuple[Int64, Int64]:
        """The positions of the first byte of each set, and after its last."""
        last = np.cumsum(self.sizes, dtype=np.int64)
        return last - self.sizes, last


def _bytes_of(first: Int64, sizes: NDArray[Any]) -> Int64:
    """The positions of ``sizes[i]`` bytes from ``first[i]`` on, for all i."""
    last = np.cumsum(sizes, dtype=np.int64)
    return np.arange(int(last[-1]) if len(last) else 0) + np.repeat(first - (last - sizes), sizes)


def _sums(numbers: NDArray[np.uint8], sizes: NDArray[Any]) -> Int64:
    """The sums of consecutive stretches of these sizes."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(numbers, dtype=np.int64)])
    last = np.cumsum(sizes, dtype=np.int64)
    return running[last] - running[last - sizes]
