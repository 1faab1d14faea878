"""Sets of bits are what they were, bit for bit, however they were cut into blocks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from treegauge.metrics.hogenhout import rows_of_bits
from treegauge.metrics.metric import BitSets


@given(st.lists(st.tuples(st.integers(0, 2**40), st.integers(0, 2**70)), max_size=30), st.integers(1, 7))
def test_sets_of_bits(cells: list[tuple[int, int]], size: int) -> None:
    ours, theirs = (np.array([pair[side] for pair in cells], dtype=object) for side in (0, 1))
    joined = BitSets.concatenate(
        [BitSets.of(ours[first : first + size]) for first in range(0, max(len(ours), 1), size)],
    )
    assert joined.integers().tolist() == ours.tolist()
    backwards = np.arange(len(ours))[::-1]
    assert joined[backwards].integers().tolist() == ours[backwards].tolist()
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
