"""Semirings: the kinds of numbers that charts hold, chosen by a *mode*.

* SUM adds probabilities. It is fast; the caller scales the words so that numbers stay near 1, and falls back on LOG_SUM if they
  do not.
* LOG_SUM adds probabilities given as logarithms. It is slow and never underflows.
* MAX takes the largest of logarithms: the best parse.
* MODULAR counts parses modulo a prime.

Every pass over a chart is written once, for any mode. For SUM and MAX it is compiled with the mode as a constant, so that only the
branches of that mode remain; this takes three fifths of the time.
"""

from __future__ import annotations

import numpy as np

from treegauge.compilation import Floats, inline, inline_in_order

SUM, LOG_SUM, MAX, MODULAR = 0, 1, 2, 3
SMALLEST, LARGEST = 1e-150, 1e150
"""The range in which the product of any two numbers is exact but for rounding, so that no sum loses a summand."""


@inline
def zero_of(mode: int) -> float:
    """The zero of a mode's semiring: the value of what cannot be derived."""
    return -np.inf if mode in (LOG_SUM, MAX) else 0.0


@inline
def one_of(mode: int) -> float:
    """The one of a mode's semiring: :func:`times` by it changes nothing."""
    return 0.0 if mode in (LOG_SUM, MAX) else 1.0


@inline
def dot(mode: int, a: Floats, b: Floats, lo: int, hi: int, modulus: float) -> float:
    """The sum over the splits lo .. hi of the products of two rows."""
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


@inline_in_order
def dot_in_order(a: Floats, b: Floats) -> float:
    """The dot product of two rows of the same length (at least 1), summed from left to right."""
    total = a[0] * b[0]
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


@inline
def add_multiple(w: float, row: Floats, to: Floats) -> None:
    """Add w times a row to another. On slices, whose indices are never negative, such a loop is vectorised."""
    for i in range(len(to)):
        to[i] += w * row[i]
