"""Crossing brackets: spans that overlap while neither holds the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from heapq import heappop, heappush

__all__ = ["count_crossing"]

Span = tuple[int, int]

_FEW = 2000
"""Up to so many pairs, looking at each pair is quicker than sweeping."""


def count_crossing(gold: Collection[Span], test: Collection[Span]) -> int:
    """The number of test spans (a, b) with some gold span (c, d) so that c < a < d < b or a < c < b < d.

    A test span counts once however many gold spans it crosses, and as often as it occurs. Gold spans need not be
    nested in each other: broken input may leave them crossing.

    >>> count_crossing([(0, 2), (2, 5)], [(0, 5), (1, 3), (1, 3), (2, 4)])
    2
    """
    if len(gold) * len(test) <= _FEW:
        return _count_by_pairs(gold, test)
    ends = _nearest_ends(gold, {a for a, _ in test})
    # The mirror image: the largest start left of b among spans that hold b is the smallest end right of -b.
    starts = _nearest_ends([(-d, -c) for c, d in gold], {-b for _, b in test})
    return sum(ends.get(a, b) < b or -starts.get(-b, -a) > a for a, b in test)


def _count_by_pairs(gold: Collection[Span], test: Collection[Span]) -> int:
    # Plain loops: this is the inside of scoring, and generators would double its cost.
    crossing = 0
    for a, b in test:
        for c, d in gold:
            if a < d < b if c < a else a < c < b < d:
                crossing += 1
                break
    return crossing


def _nearest_ends(spans: Iterable[Span], points: Iterable[int]) -> dict[int, int]:
    """For each point p, the smallest end d among spans with c < p < d; points without one are absent."""
    waiting = sorted(spans, reverse=True)
    held: list[int] = []
    nearest: dict[int, int] = {}
    for point in sorted(points):
        while waiting and waiting[-1][0] < point:
            heappush(held, waiting.pop()[1])
        while held and held[0] <= point:
            heappop(held)
        if held:
            nearest[point] = held[0]
    return nearest
