"""Which of two lists of texts belong together, in order: what is missing, what is extra, what was replaced.

Texts that stand once on each side are anchors, as in the patience diff; the stretches between anchors are paired in the same way.
Where no text is unique, the k-th occurrence on one side goes with the k-th on the other. A short stretch is paired as well as it
can be, by its longest common subsequence; nothing else is quadratic, whatever repeats.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise

__all__ = ["pair_in_order"]

_SHORT = 10_000
"""How many pairs of texts a stretch may have for all of them to be looked at."""

Stretch = tuple[int, int, int, int]
"""``gold[first:last]`` against ``test[first:last]``: two pairs of ends."""


def pair_in_order(gold: Sequence[Hashable], test: Sequence[Hashable]) -> list[int]:
    """For each gold text the place of its test text, or -1; places only grow.

    Between two pairs, equally many gold and test texts without a partner pair up too: they were replaced.

    >>> pair_in_order("abcd", "bcd"), pair_in_order("abcd", "abxd"), pair_in_order("abc", "abbc")
    ([-1, 0, 1, 2], [0, 1, 2, 3], [0, 1, 3])
    """
    pairs = [-1] * len(gold)
    stretches: list[Stretch] = [(0, len(gold), 0, len(test))]
    while stretches:
        g0, g1, t0, t1 = stretches.pop()
        while g0 < g1 and t0 < t1 and gold[g0] == test[t0]:
            pairs[g0] = t0
            g0, t0 = g0 + 1, t0 + 1
        while g0 < g1 and t0 < t1 and gold[g1 - 1] == test[t1 - 1]:
            g1, t1 = g1 - 1, t1 - 1
            pairs[g1] = t1
        if g0 == g1 or t0 == t1:
            continue
        is_short = (g1 - g0) * (t1 - t0) <= _SHORT
        anchors = (_common_subsequence if is_short else _anchors)(gold, test, (g0, g1, t0, t1))
        if anchors:
            ends = [(g0 - 1, t0 - 1), *anchors, (g1, t1)]
            for (g, t), (next_g, next_t) in pairwise(ends):
                stretches.append((g + 1, next_g, t + 1, next_t))
            for g, t in anchors:
                pairs[g] = t
        elif g1 - g0 == t1 - t0:
            pairs[g0:g1] = range(t0, t1)
    return pairs


def _anchors(gold: Sequence[Hashable], test: Sequence[Hashable], stretch: Stretch) -> list[tuple[int, int]]:
    """Pairs of equal texts in the order of both sides; none only if no text occurs on both sides."""
    g0, g1, t0, t1 = stretch
    places: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for g in range(g0, g1):
        places[gold[g]][0].append(g)
    for t in range(t0, t1):
        if test[t] in places:
            places[test[t]][1].append(t)
    unique = [(ours[0], theirs[0]) for ours, theirs in places.values() if len(ours) == len(theirs) == 1]
    if unique:
        return _longest_growing(unique)
    return _longest_growing([pair for ours, theirs in places.values() for pair in zip(ours, theirs, strict=False)])


def _common_subsequence(gold: Sequence[Hashable], test: Sequence[Hashable], stretch: Stretch) -> list[tuple[int, int]]:
    """Pairs of equal texts in the order of both sides, as many as there can be."""
    g0, g1, t0, t1 = stretch
    # longest[g][t]: how many pairs there can be from gold text g0 + g and test text t0 + t on.
    longest = [[0] * (t1 - t0 + 1)]
    for g in range(g1 - 1, g0 - 1, -1):
        below, row = longest[-1], [0]
        for t in range(t1 - t0 - 1, -1, -1):
            row.append(below[t + 1] + 1 if gold[g] == test[t0 + t] else max(below[t], row[-1]))
        longest.append(row[::-1])
    longest.reverse()
    pairs: list[tuple[int, int]] = []
    g, t = g0, t0
    while g < g1 and t < t1:
        if gold[g] == test[t]:
            pairs.append((g, t))
            g, t = g + 1, t + 1
        elif longest[g - g0 + 1][t - t0] >= longest[g - g0][t - t0 + 1]:
            g += 1
        else:
            t += 1
    return pairs


def _longest_growing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A longest subset in which both places grow."""
    pairs.sort()
    smallest_end: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(smallest_end, place)
        before.append(chosen[length - 1] if length else -1)
        smallest_end[length : length + 1] = [place]
        chosen[length : length + 1] = [index]
    longest: list[tuple[int, int]] = []
    index = chosen[-1] if chosen else -1
    while index >= 0:
        longest.append(pairs[index])
        index = before[index]
    return longest[::-1]
