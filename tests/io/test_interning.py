"""The table of names: equal slices, equal numbers, whatever the block sizes and however unlucky the hashes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import treegauge.io.interning as interning
from treegauge.io.interning import Interner, WordView

NAMES = st.lists(
    st.text("ab", min_size=1, max_size=40) | st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), min_size=1, max_size=12),
    max_size=60,
)


def numbers(interner: Interner, names: list[str]) -> list[int]:
    """The numbers of names that stand in one text."""
    encoded = [name.encode() for name in names]
    text = np.frombuffer(b" ".join(encoded), dtype=np.uint8)
    length = np.array([len(name) for name in encoded], dtype=np.int64)
    start = np.cumsum(length + 1) - length - 1
    return interner.ids(WordView(text), start, start + length).tolist()


def first_occurrences(names: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in names:
        found.setdefault(name, len(found))
    return found


@given(st.lists(NAMES, max_size=4))
def test_names_are_numbered_by_first_occurrence_whatever_the_blocks(blocks: list[list[str]]) -> None:
    interner = Interner()
    found = first_occurrences([name for block in blocks for name in block])
    assert [numbers(interner, block) for block in blocks] == [[found[name] for name in block] for block in blocks]
    assert interner.strings == list(found)


def test_a_large_vocabulary_makes_the_table_grow() -> None:
    names = [f"word{number}" for number in range(30_000)] + [f"{number}" for number in range(30_000)]
    interner = Interner()
    assert numbers(interner, names) == list(range(60_000))
    assert numbers(interner, names[::-1]) == list(range(60_000))[::-1]
    assert interner.strings == names


@given(st.lists(NAMES, max_size=3))
def test_strings_with_the_same_hash_are_told_apart(blocks: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "_hash_long", lambda words, start, length: np.full(len(start), 512, dtype=np.uint64))
        interner = Interner()
        for block in blocks:
            ids = numbers(interner, block)
            assert [interner.strings[number] for number in ids] == block
        assert len(set(interner.strings)) == len(interner.strings)


def test_many_strings_with_the_same_hash_outgrow_the_table() -> None:
    names = [f"a-rather-long-word-{number}" for number in range(3000)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interning, "_hash_long", lambda words, start, length: np.full(len(start), 512, dtype=np.uint64))
        interner = Interner()
        assert [interner.strings[number] for number in numbers(interner, [*names, "short", *names])] == [*names, "short", *names]


def test_the_hash_of_a_long_name_is_never_the_word_of_a_short_one() -> None:
    names = [chr(97 + k % 26) * (9 + k) for k in range(200)]
    text = np.frombuffer("".join(names).encode(), dtype=np.uint8)
    length = np.array([len(name) for name in names])
    hashes = interning._hash_long(WordView(text), np.cumsum(length) - length, length)  # pyright: ignore[reportPrivateUsage]
    assert not (hashes & np.uint64(0xFF)).any()
    assert len(set(hashes.tolist())) == len(names)


def test_giant_names() -> None:
    giants = ["x" * 1_000_000, "x" * 1_000_001, "x" * 999_999 + "y"]
    interner = Interner()
    assert numbers(interner, [*giants, *giants]) == [0, 1, 2, 0, 1, 2]
    assert interner.strings == giants


def test_an_added_name_is_no_slice() -> None:
    interner = Interner()
    empty = interner.add("")
    assert empty not in numbers(interner, ["a", "b"])
    assert interner.strings == ["", "a", "b"]


def test_what_is_not_utf8_is_refused() -> None:
    with pytest.raises(UnicodeDecodeError):
        Interner().ids(WordView(np.frombuffer(b"a \xff", dtype=np.uint8)), np.array([0, 2]), np.array([1, 3]))


def test_names_that_are_not_utf8_leave_no_trace() -> None:
    """A block that cannot be read is read again, mended, with the same names: those it had must not count as known."""
    interner = Interner()
    for text, known in ((b"a \xff bb", []), (b"bb a", ["bb", "a"])):
        words = WordView(np.frombuffer(text, dtype=np.uint8))
        start = np.array([place for place in range(len(text)) if place == 0 or text[place - 1] == 32])
        end = np.array([*(start[1:] - 1), len(text)])
        if known:
            assert interner.ids(words, start, end).tolist() == [0, 1]
        else:
            with pytest.raises(UnicodeDecodeError):
                interner.ids(words, start, end)
        assert interner.strings == known
