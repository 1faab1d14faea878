"""Rows, numbers and sets of bits in little memory are what they were, bit for bit, however they were cut into blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from treegauge.metrics import compact_rows
from treegauge.metrics.compact_rows import BitSets, CompactColumn, CompactIndex, CompactRows, narrow
from treegauge.metrics.hogenhout import rows_of_bits
from treegauge.metrics.metric import on_a_grid, total_of

FLOATS = st.one_of(
    st.floats(allow_nan=True), st.integers(-300, 70_000).map(float), st.sampled_from([0.0, -0.0, 1 / 3, math.inf, 2.0**31 + 1])
)
INTEGERS = st.one_of(st.integers(-5, 300), st.integers(-(2**56), 2**56))  # forty of them add up in 64 bits, as counts do


def patterns(array: NDArray[Any]) -> list[Any]:
    """The bits of an array, in which -0.0 is not 0.0 and nan is itself."""
    return array.view(np.int64).tolist() if array.dtype == np.float64 else array.tolist()


@given(st.lists(st.tuples(FLOATS, FLOATS), max_size=40), st.integers(1, 9))
def test_floats_are_what_they_were(cells: list[tuple[float, float]], size: int) -> None:
    rows = np.array(cells, dtype=np.float64).reshape(-1, 2)
    blocks = [CompactRows.of(rows[first : first + size]) for first in range(0, max(len(rows), 1), size)]
    for compact in (CompactRows.of(rows), CompactRows.concatenate(blocks)):
        assert patterns(compact[:]) == patterns(rows)
        assert patterns(compact.floats(slice(1, 5)).copy("C")) == patterns(rows[1:5])
        places = np.arange(len(rows))[::-2]
        assert patterns(compact.take(places)[:]) == patterns(rows[places])
        assert patterns(np.concatenate(list(compact.blocks(3)))) == patterns(rows)


@given(st.lists(st.tuples(INTEGERS, INTEGERS), min_size=1, max_size=40), st.integers(1, 9))
def test_integers_are_what_they_were(cells: list[tuple[int, int]], size: int) -> None:
    rows = np.array(cells, dtype=np.int64)
    joined = CompactRows.concatenate([CompactRows.of(rows[first : first + size]) for first in range(0, len(rows), size)])
    assert joined[:].tolist() == rows.tolist()
    assert joined.dtype == (np.int32 if np.abs(rows.astype(float)).max() < 2**31 else np.int64)
    assert total_of(joined) == rows.sum(axis=0, dtype=object).tolist()


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 99).map(float)), min_size=1, max_size=60), st.data())
def test_the_grid_is_the_same(cells: list[tuple[float, float]], data: st.DataObject) -> None:
    """Also where sentences were left out, and with them the largest value."""
    rows = np.array(cells, dtype=np.float64)
    places = np.array(data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=30)))
    # Repeated rows, so that the fractions become places in a list of values.
    compact = CompactRows.of(np.repeat(rows, 3, axis=0)).take(3 * places)
    assert patterns(compact.on_a_grid()[:]) == patterns(on_a_grid(rows[places]))


def test_large_counts_are_put_on_the_grid() -> None:
    rows = np.array([[2**52 + 1], [3]], dtype=np.int64)
    assert patterns(CompactRows.of(rows).on_a_grid()[:]) == patterns(on_a_grid(rows))
    assert patterns(CompactRows.of(rows.astype(object)).on_a_grid()[:]) == patterns(on_a_grid(rows))


def test_columns_are_narrow() -> None:
    counts = np.arange(1000) % 200
    fractions = (np.arange(1000) % 7) / 13
    rows = CompactRows.of(np.stack([counts, counts + 100.0, fractions], axis=1))
    assert [column.cells.dtype for column in rows.columns] == [np.uint8, np.uint16, np.uint8]
    assert rows.nbytes == 1000 * (1 + 2 + 1) + 7 * 8
    many = CompactColumn.of(np.random.default_rng(1).random(1000))
    assert many.values is None
    assert many.nbytes == 8000


@pytest.mark.parametrize(
    ("numbers", "kind"), [([0, 255], "uint8"), ([0, 256], "uint16"), ([-1, 127], "int8"), ([-1, 128], "int16")]
)
def test_narrow(numbers: list[int], kind: str) -> None:
    found = narrow(np.array(numbers))
    assert (found.dtype.name, found.tolist()) == (kind, numbers)


@given(st.lists(st.booleans(), max_size=30), st.integers(1, 7), st.integers(0, 300))
def test_the_index_is_what_it_was(used: list[bool], size: int, first: int) -> None:
    index = np.flatnonzero(np.array(used, dtype=np.bool_))
    parts = [CompactIndex.of(index[start : start + size]) for start in range(0, len(index), size)]
    joined = CompactIndex.concatenate([part.shift(first) for part in parts])
    assert joined.array().tolist() == (index + first).tolist()
    assert joined.array().dtype == np.int64
    if all(used):
        assert joined.numbers == range(first, first + len(used)) or not used
        assert joined.nbytes == 0


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**70)), max_size=30), st.integers(1, 7))
def test_sets_of_bits(cells: list[tuple[int, int]], size: int) -> None:
    ours, theirs = (np.array([pair[side] for pair in cells], dtype=object) for side in (0, 1))
    joined = BitSets.concatenate(
        [BitSets.of(ours[first : first + size]) for first in range(0, max(len(ours), 1), size)],
    )
    assert joined.integers().tolist() == ours.tolist()
    backwards = np.arange(len(ours))[::-1]
    assert joined.take(backwards).integers().tolist() == ours[backwards].tolist()
    brackets = [80] * len(cells)
    expected = [[(a & b).bit_count(), (a & ~b).bit_count(), (b & ~a).bit_count(), 80 - (a | b).bit_count()] for a, b in cells]
    assert rows_of_bits(joined, theirs, brackets).tolist() == expected


@given(st.lists(st.lists(st.booleans(), max_size=20), max_size=20))
def test_sets_of_masks(masks: list[list[bool]]) -> None:
    flat = np.array([item for mask in masks for item in mask], dtype=np.bool_)
    sets = BitSets.of_masks(flat, np.array([len(mask) for mask in masks], dtype=np.int64))
    expected = [sum(1 << bit for bit, item in enumerate(mask) if item) for mask in masks]
    assert sets.integers().tolist() == expected
    assert sets.sizes.tolist() == [(integer.bit_length() + 7) // 8 for integer in expected]


def test_blocks_of_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact_rows, "BLOCK", 3)
    sets = BitSets.of(np.array([5, 0, 1 << 30, 7, 1 << 9], dtype=object))
    assert [block.integers().tolist() for block in sets.blocks()] == [[5, 0, 1 << 30], [7, 1 << 9]]
