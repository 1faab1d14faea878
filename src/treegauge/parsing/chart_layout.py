"""The layout of a chart in memory, and the semirings of its numbers.

Letters, after Goodman 1996: there are n words; a span is [s, t), split at r; X, A, B, C are symbols, A -> B C is a rule; e is the
inside and f the outside value, and g = e f the posterior.

For every start s and left child B there is a *row* over the splits r that holds e(s, r, B); for every end t and right child C there
is a row over r that holds e(r, t, C). For a span, each pair (B, C) that is the right-hand side of some rule and whose rows overlap
needs one dot product of two contiguous rows; the pair's rules are then applied to it once, not once per split.

The numbers are those of a *mode*:

* SUM adds probabilities. It is fast; the caller scales the words so that numbers stay near 1, and falls back on LOG_SUM if they
  do not.
* LOG_SUM adds probabilities given as logarithms. It is slow and never underflows.
* MAX takes the largest of logarithms: the best parse.
* MODULAR counts parses modulo a prime.

Every pass over a chart is written once, for any mode. For SUM and MAX it is compiled with the mode as a constant, so that only the
branches of that mode remain; this takes three fifths of the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Bools, Floats, Ints, helper, inline, inline_in_order, kernel


class Leaves(NamedTuple):
    """Symbols over words, with weights: word i owns the entries ``first[i]:first[i+1]``."""

    first: Ints
    symbol: Ints
    weight: Floats


class Limit(NamedTuple):
    """The spans that symbols may have: X may span [s, t) only if ``allowed[s, t, group[X]]``, or anywhere if its group is below 0.

    Group k has the symbols ``member[member_first[k]:member_first[k+1]]``. If ``allowed`` has size 0 there is no limit. Where two
    symbols are allowed, the symbols on a chain of unary rules between them must be allowed too.
    """

    allowed: Bools
    group: Ints
    member_first: Ints
    member: Ints


class RuleWeights(NamedTuple):
    """The weights of binary rules, and the closure of the unary rules if there are any (``chained``), in the numbers of a mode.

    The closure has the columns of :class:`treegauge.grammar.binarisation.Closure`.
    """

    binary: Floats
    chain_first: Ints
    chain_top: Ints
    chain: Floats
    chained: bool


class Chart(NamedTuple):
    """The inside values of a sentence. The cell of span [s, t) holds the entries ``first[s, t]:last[s, t]``, each a symbol and its
    value.

    ``lefts[s, i]`` = (left id, row, first split, last split) describes the i-th left child that starts at s; ``slot[s, left id]``
    is that i, or -1. ``rights[t, right id]`` = (row, first split, last split). Rows are those of ``left_row`` and ``right_row``.
    """

    first: Ints
    last: Ints
    symbol: Ints
    value: Floats
    n_lefts: Ints
    lefts: Ints
    slot: Ints
    rights: Ints
    left_row: Floats
    right_row: Floats


def _find(chart: Chart, s: int, t: int, X: int) -> int:
    """The entry of symbol X in the cell of [s, t), or -1."""
    for k in range(chart.first[s, t], chart.last[s, t]):
        if chart.symbol[k] == X:
            return k
    return -1


find, find_entry = helper(_find), kernel(_find)
"""The same function for kernels and for Python."""


@kernel
def leaf_entries(chart: Chart, leaves: Leaves) -> Ints:
    """The entry of each leaf's symbol over its word, or -1."""
    entries = np.empty(len(leaves.symbol), np.int64)
    for s in range(len(leaves.first) - 1):
        for i in range(leaves.first[s], leaves.first[s + 1]):
            entries[i] = find(chart, s, s + 1, leaves.symbol[i])
    return entries


def cells(n: int, chart: Chart) -> tuple[Ints, Ints]:
    """The start and the end of each entry of a chart."""
    starts, ends = np.empty(len(chart.symbol), np.int64), np.empty(len(chart.symbol), np.int64)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            starts[chart.first[s, s + d] : chart.last[s, s + d]] = s
            ends[chart.first[s, s + d] : chart.last[s, s + d]] = s + d
    return starts, ends


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
