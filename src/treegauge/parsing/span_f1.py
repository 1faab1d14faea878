"""Expected F1 of trees under a span chart, exactly, and the prices of a constituent at which the best tree changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from treegauge.parsing.span_kernels import size_posteriors
from treegauge.parsing.span_potentials import Potentials

__all__ = ["TreeWorth", "expected_f1", "trees_by_price"]

POINTS = 32
"""Points of the generating function that are worked on at once."""
T = TypeVar("T")


def expected_f1(given: Potentials, trees: Sequence[Mapping[tuple[int, int], Sequence[int]]]) -> list[float]:
    """The mean labelled F1, 2 matches / (both sizes), of each tree against a random tree of the chart.

    A tree is its spans with the numbers of the labels that are right there. The sizes of random trees that have a span come from
    their generating function at n + 1 points, in time O(n^4) for all trees together. nan where both trees may be empty.
    """
    n = given.n
    spans = sorted({span for tree in trees for span in tree})
    number = {span: i for i, span in enumerate(spans)}
    start, end = (np.array([span[k] for span in spans], np.int64) for k in (0, 1))
    points = np.exp(-2j * np.pi * np.arange(n + 1) / (2 * n))
    parts = [size_posteriors(given.inside, n, *given.share, points[k : k + POINTS], start, end) for k in range(0, n + 1, POINTS)]
    sizes, joint = (np.fft.irfft(np.concatenate(series), 2 * n, axis=0) for series in zip(*parts, strict=True))
    found: list[float] = []
    for tree in trees:
        if not tree:
            found.append(math.nan if sizes[0] > 1e-12 else 0.0)
            continue
        weight = 2 / (np.arange(2 * n) + len(tree))
        own = {span: float(given.label_share[span[0], span[1] - 1, list(labels)].sum()) for span, labels in tree.items()}
        found.append(math.fsum(own[span] * float(weight @ joint[:, number[span]]) for span in tree))
    return found


class TreeWorth(NamedTuple):
    """A tree's number of constituents and the sum of their posteriors: what it is worth at any price of a constituent."""

    size: int
    posterior: float

    def worth(self, price: float) -> float:
        """The posteriors less the price of each constituent."""
        return self.posterior - price * self.size


def trees_by_price(best: Callable[[float], tuple[TreeWorth, T]], lowest: float, highest: float) -> list[T]:
    """The best trees at all prices of a constituent between two, found at those prices where the best tree changes.

    ``best`` gives the best tree at a price. Where the lines of two trees meet, either a third is better or there is none between.
    """
    first, last = best(lowest), best(highest)
    found, stack = [first[1], last[1]], [(first[0], last[0])]
    while stack:
        low, high = stack.pop()
        if low.size <= high.size:
            continue
        price = (low.posterior - high.posterior) / (low.size - high.size)
        own, tree = best(price)
        if own.worth(price) > low.worth(price) + 1e-12:
            found.append(tree)
            stack += [(low, own), (own, high)]
    return found
