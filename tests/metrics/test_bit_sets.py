"""The brackets that a system reproduced, as bits of integers, and the counts of two systems from them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from treegauge.metrics.hogenhout import rows_of_bits
from treegauge.metrics.hogenhout.bracket_measures import bits_of


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**70)), max_size=30))
def test_counts_of_two_systems(cells: list[tuple[int, int]]) -> None:
    ours, theirs = (np.array([pair[side] for pair in cells], dtype=object) for side in (0, 1))
    brackets = [80] * len(cells)
    expected = [[(a & b).bit_count(), (a & ~b).bit_count(), (b & ~a).bit_count(), 80 - (a | b).bit_count()] for a, b in cells]
    assert rows_of_bits(ours, theirs, brackets).tolist() == expected


@given(st.lists(st.lists(st.booleans(), max_size=80), max_size=20))
def test_bits_of_masks(masks: list[list[bool]]) -> None:
    flat = np.array([item for mask in masks for item in mask], dtype=np.bool_)
    sets = bits_of(flat, np.array([len(mask) for mask in masks], dtype=np.int64))
    assert sets.tolist() == [sum(1 << bit for bit, item in enumerate(mask) if item) for mask in masks]
