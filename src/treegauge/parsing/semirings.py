"""The kinds of numbers that charts are made of, chosen by a *mode*:

* SUM: probabilities, added. Fast; the caller scales the words so that numbers stay near 1, and repeats in LOG_SUM
  where they do not.
* LOG_SUM: their logarithms: slow, never underflows.
* MAX: logarithms, of which the largest is taken: the best parse.
* MODULAR: whole numbers modulo a prime: counts of parses.

All passes over a chart are written once, for any mode. For SUM and MAX they are put whole into a kernel in which the mode is a
constant, so that only its branches are left: that takes three fifths of the time.
"""

from __future__ import annotations

import numpy as np

from treegauge.parsing.jit import Floats, inline

__all__ = ["LARGEST", "LOG_SUM", "MAX", "MODULAR", "SMALLEST", "SUM", "dot", "one_of", "plus", "times", "zero_of"]

SUM, LOG_SUM, MAX, MODULAR = 0, 1, 2, 3
SMALLEST, LARGEST = 1e-150, 1e150
"""Between these the product of any two numbers is exact to rounding, so no sum has lost a part."""


@inline
def zero_of(mode: int) -> float:
    """The number that means "none" in a mode."""
    return -np.inf if mode in (LOG_SUM, MAX) else 0.0


@inline
def one_of(mode: int) -> float:
    """The number that changes no other in :func:`times`."""
    return 0.0 if mode in (LOG_SUM, MAX) else 1.0


@inline
def dot(mode: int, a: Floats, b: Floats, lo: int, hi: int, modulus: float) -> float:
    """The sum over splits lo .. hi of the products of two rows."""
    if mode == SUM:
        x = 0.0
        for r in range(np.uint64(lo), np.uint64(hi + 1)):
            x += a[r] * b[r]
        return x
    if mode == MODULAR:
        x = 0.0
        for r in range(lo, hi + 1):
            x = (x + a[r] * b[r]) % modulus
        return x
    x = -np.inf
    for r in range(np.uint64(lo), np.uint64(hi + 1)):
        x = max(x, a[r] + b[r])
    if mode == LOG_SUM and x > -np.inf:
        y = 0.0
        for r in range(lo, hi + 1):
            y += np.exp(a[r] + b[r] - x)
        x += np.log(y)
    return x


@inline
def plus(mode: int, x: float, y: float, modulus: float) -> float:
    if mode == SUM:
        return x + y
    if mode == MODULAR:
        return (x + y) % modulus
    if mode == MAX:
        return max(x, y)
    high, low = max(x, y), min(x, y)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@inline
def times(mode: int, x: float, y: float, modulus: float) -> float:
    if mode == SUM:
        return x * y
    if mode == MODULAR:
        return (x * y) % modulus
    return x + y
