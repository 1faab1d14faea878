"""The numbers of names: equal slices, equal numbers, whatever the block sizes and however unlucky the table of short names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treegauge.io import bracketed_columns
from treegauge.io.bracketed_columns import NameNumbers, TextWords

NAMES = st.lists(
    st.text("ab", min_size=1, max_size=40) | st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=12),
    max_size=60,
)


def numbers(names: NameNumbers, block: list[bytes]) -> list[int]:
    """The numbers of names that stand in one text."""
    length = np.array([len(name) for name in block], dtype=np.int64)
    start = np.cumsum(length + 1) - length - 1
    return names.of(TextWords(b" ".join(block)), start, start + length).tolist()


def check_first_occurrences(blocks: list[list[str]]) -> None:
    names, found = NameNumbers(), dict[bytes, int]()
    for block in [[name.encode() for name in block] for block in blocks]:
        assert numbers(names, block) == [found.setdefault(name, len(found)) for name in block]
    assert names.strings == list(found)


@given(st.lists(NAMES, max_size=4))
def test_names_are_numbered_by_first_occurrence_whatever_the_blocks(blocks: list[list[str]]) -> None:
    check_first_occurrences(blocks)


@given(st.lists(NAMES, max_size=3))
def test_names_that_share_one_slot_are_told_apart(blocks: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bracketed_columns, "_MULTIPLIER", np.uint64(0))
        patch.setattr(bracketed_columns, "_AT_ONCE", 7)
        check_first_occurrences(blocks)


def test_a_large_vocabulary() -> None:
    names = [f"word{number}" for number in range(30_000)] + [f"{number}" for number in range(30_000)]
    check_first_occurrences([names, names[::-1], names])


def test_giant_names() -> None:
    giants = ["x" * 1_000_000, "x" * 1_000_001, "x" * 999_999 + "y", "x" * 8, "x" * 9]
    check_first_occurrences([giants, giants])


def test_an_added_name_is_no_slice() -> None:
    names = NameNumbers()
    assert names.numbers[b""] == 0
    assert numbers(names, [b"a", b"b"]) == [1, 2]
    assert names.strings == [b"", b"a", b"b"]


def test_names_that_are_not_utf8_are_refused_and_leave_no_trace() -> None:
    """A block that cannot be read is read again, mended, with the same names: those it had must not count as known."""
    names = NameNumbers()
    assert numbers(names, [b"known"]) == [0]
    with pytest.raises(UnicodeDecodeError):
        numbers(names, [b"a", b"\xff", b"bb", b"a-long-name"])
    assert names.strings == [b"known"]
    assert numbers(names, [b"a-long-name", b"bb", b"known", b"a"]) == [1, 2, 0, 3]
