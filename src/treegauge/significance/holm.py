"""Holm's correction: p-values of several tests that may be read side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["holm"]


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values (Holm 1979): rejecting those up to .05 makes a false rejection anywhere no likelier than .05.

    The k-th smallest of m is multiplied by m - k + 1, and made no smaller than the one before. Undefined (nan) ones stay out.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [math.nan] * len(p)
    order = sorted((index for index, value in enumerate(p) if not math.isnan(value)), key=lambda index: p[index])
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p[index] * (len(order) - rank)))
        adjusted[index] = largest
    return adjusted
