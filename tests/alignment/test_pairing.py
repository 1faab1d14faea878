"""Which sentence belongs to which: pairing by order and by text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from treegauge.alignment import alignment as pairing
from treegauge.alignment.alignment import pair_in_order

TEXTS = st.lists(st.sampled_from("abcdefg"), max_size=12)


def longest_common(gold: list[str], test: list[str]) -> int:
    """The length of the longest common subsequence, by the textbook's table."""
    best = [[0] * (len(test) + 1) for _ in range(len(gold) + 1)]
    for i, ours in enumerate(gold):
        for j, theirs in enumerate(test):
            best[i + 1][j + 1] = best[i][j] + 1 if ours == theirs else max(best[i][j + 1], best[i + 1][j])
    return best[-1][-1]


@given(TEXTS, TEXTS)
def test_places_grow_and_no_sentence_is_used_twice(gold: list[str], test: list[str]) -> None:
    pairs = pair_in_order(gold, test)
    used = [place for place in pairs if place >= 0]
    assert len(pairs) == len(gold)
    assert used == sorted(set(used))
    assert all(place < len(test) for place in used)


@given(st.lists(st.integers(), unique=True, max_size=15), st.data())
def test_what_is_deleted_and_inserted_among_unique_texts_is_found(gold: list[int], data: st.DataObject) -> None:
    keep = data.draw(st.lists(st.booleans(), min_size=len(gold), max_size=len(gold)))
    test = [text for text, kept in zip(gold, keep, strict=True) if kept]
    pairs = pair_in_order(gold, test)
    assert sum(gold[i] == test[place] for i, place in enumerate(pairs) if place >= 0) == len(test)
    assert [place >= 0 for place in pairs] == keep


@given(TEXTS, TEXTS)
def test_short_lists_are_paired_as_well_as_they_can_be(gold: list[str], test: list[str]) -> None:
    pairs = pair_in_order(gold, test)
    assert sum(place >= 0 and gold[i] == test[place] for i, place in enumerate(pairs)) == longest_common(gold, test)


@given(TEXTS, TEXTS)
def test_long_lists_find_some_pair_wherever_there_is_one(gold: list[str], test: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "_SHORT", 0)
        pairs = pair_in_order(gold, test)
    used = [place for place in pairs if place >= 0]
    assert used == sorted(set(used))
    equal = sum(place >= 0 and gold[i] == test[place] for i, place in enumerate(pairs))
    assert (equal > 0) == bool(longest_common(gold, test))


@pytest.mark.parametrize(
    ("gold", "test", "expected"),
    [
        ("abcd", "abcd", [0, 1, 2, 3]),
        ("abcd", "bcd", [-1, 0, 1, 2]),
        ("abcd", "abc", [0, 1, 2, -1]),
        ("abcd", "acd", [0, -1, 1, 2]),
        ("abc", "abbc", [0, 1, 3]),
        ("abcd", "abxd", [0, 1, 2, 3]),
        ("abcd", "axyd", [0, 1, 2, 3]),
        ("abcd", "axd", [0, -1, -1, 2]),
        ("aaab", "aab", [0, 1, -1, 2]),
        ("", "abc", []),
        ("abc", "", [-1, -1, -1]),
        ("abc", "xyz", [0, 1, 2]),
    ],
)
def test_what_comes_out(gold: str, test: str, expected: list[int]) -> None:
    assert pair_in_order(gold, test) == expected


def test_many_repeated_sentences_do_not_take_quadratic_time() -> None:
    """A quadratic algorithm would take hours here; this one is done at once."""
    gold = ["yes", "no", "well"] * 20_000
    test = [text for i, text in enumerate(gold) if i % 1000 != 500]
    pairs = pair_in_order(gold, test)
    assert sum(place >= 0 for place in pairs) > 0.9 * len(test)
