"""The inside pass, the values of a chart bottom up, and the outside pass, top down. Letters and layout as in
:mod:`treegauge.parsing.chart_layout`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Bools, Floats, Ints, helper, inline, kernel
from treegauge.grammar.binarisation import BinaryRules
from treegauge.parsing.chart_layout import (
    LARGEST,
    LOG_SUM,
    MAX,
    SMALLEST,
    SUM,
    Chart,
    Leaves,
    Limit,
    RuleWeights,
    dot,
    one_of,
    plus,
    times,
    zero_of,
)


@helper
def grow(values: Floats, size: int) -> Floats:
    """A copy of ``values`` with room for ``size`` values, and for at least twice as many as before."""
    # A loop, here and in other kernels, because Numba takes seconds to compile an assignment to a slice.
    bigger = np.empty(max(size, 2 * len(values)), values.dtype)
    for i in range(len(values)):
        bigger[i] = values[i]
    return bigger


@helper
def grow_rows(rows: Floats) -> Floats:
    """A copy of ``rows`` with room for twice as many."""
    bigger = np.empty((2 * rows.shape[0], rows.shape[1]), rows.dtype)
    for i in range(rows.shape[0]):
        for r in range(rows.shape[1]):
            bigger[i, r] = rows[i, r]
    return bigger


class Scratch(NamedTuple):
    """A cell under construction: ``symbol[:count[0]]`` are the symbols found so far, in order; ``value[X]`` is the value of X if
    ``found[X]``."""

    found: Bools
    symbol: Ints
    value: Floats
    count: Ints


@helper
def scratch(n_symbols: int) -> Scratch:
    """An empty cell for a grammar with this number of symbols."""
    return Scratch(np.zeros(n_symbols, np.bool_), np.empty(n_symbols, np.int32), np.empty(n_symbols), np.zeros(1, np.int64))


@inline
def add(mode: int, cell: Scratch, X: int, value: float, modulus: float) -> None:
    """Add a value to that of symbol X."""
    if cell.found[X]:
        cell.value[X] = plus(mode, cell.value[X], value, modulus)
    else:
        cell.found[X] = True
        cell.symbol[cell.count[0]] = X
        cell.count[0] += 1
        cell.value[X] = value


@inline
def clear(cell: Scratch) -> None:
    """Empty a cell."""
    for i in range(cell.count[0]):
        cell.found[cell.symbol[i]] = False
    cell.count[0] = 0


@inline
def sum_over_splits(
    mode: int, s: int, t: int, chart: Chart, rules: BinaryRules, binary: Floats, cell: Scratch, modulus: float
) -> None:
    """Add the values of all symbols that binary rules derive over [s, t), pair by pair of children."""
    zero, lefts, rights = zero_of(mode), chart.lefts[s], chart.rights[t]
    for i in range(chart.n_lefts[s]):
        B = np.uint64(lefts[i, 0])
        a = chart.left_row[np.uint64(lefts[i, 1])]
        first, last = lefts[i, 2], lefts[i, 3]
        # Unsigned, because compiled code tests a signed index for being negative.
        for q in range(np.uint64(rules.pair_first[B]), np.uint64(rules.pair_first[B + np.uint64(1)])):
            C = np.uint64(rules.pair_right[q])
            lo = max(first, rights[C, 1])
            hi = min(last, rights[C, 2])
            if lo > hi:
                continue
            x = dot(mode, a, chart.right_row[np.uint64(rights[C, 0])], lo, hi, modulus)
            if x == zero:
                continue
            for k in range(np.uint64(rules.rule_first[q]), np.uint64(rules.rule_first[q + np.uint64(1)])):
                add(mode, cell, rules.parent[k], times(mode, binary[k], x, modulus), modulus)


@inline
def sum_over_parents(
    mode: int, s: int, t: int, chart: Chart, rules: BinaryRules, binary: Floats, limit: Limit, cell: Scratch, modulus: float
) -> None:
    """The same as :func:`sum_over_splits`, rule by rule of the allowed symbols: less work if few are allowed."""
    zero, lefts, rights = zero_of(mode), chart.lefts[s], chart.rights[t]
    for group in range(limit.allowed.shape[2]):
        if not limit.allowed[s, t, group]:
            continue
        for i in range(limit.member_first[group], limit.member_first[group + 1]):
            A = limit.member[i]
            for j in range(rules.by_parent_first[A], rules.by_parent_first[A + 1]):
                k = rules.by_parent[j]
                at = chart.slot[s, rules.left_id[rules.left[k]]]
                C = rules.right_id[rules.right[k]]
                if at < 0 or rights[C, 0] < 0:
                    continue
                lo, hi = max(lefts[at, 2], rights[C, 1]), min(lefts[at, 3], rights[C, 2])
                if lo > hi:
                    continue
                x = dot(mode, chart.left_row[lefts[at, 1]], chart.right_row[rights[C, 0]], lo, hi, modulus)
                if x != zero:
                    add(mode, cell, A, times(mode, binary[k], x, modulus), modulus)


@inline
def parents_are_few(s: int, t: int, chart: Chart, rules: BinaryRules, limit: Limit) -> bool:
    """Whether the symbols allowed over [s, t) have so few rules that :func:`sum_over_parents` is faster."""
    n_rules, n_pairs = 0, 0
    for i in range(chart.n_lefts[s]):
        B = chart.lefts[s, i, 0]
        n_pairs += rules.pair_first[B + 1] - rules.pair_first[B]
    for group in range(limit.allowed.shape[2]):
        if limit.allowed[s, t, group]:
            for i in range(limit.member_first[group], limit.member_first[group + 1]):
                n_rules += rules.by_parent_first[limit.member[i] + 1] - rules.by_parent_first[limit.member[i]]
    return bool(3 * n_rules < n_pairs)


@inline
def is_allowed(limit: Limit, s: int, t: int, X: int) -> bool:
    """Whether symbol X may span [s, t)."""
    return limit.allowed.size == 0 or limit.group[X] < 0 or limit.allowed[s, t, limit.group[X]]


@inline
def all_have_groups(limit: Limit) -> bool:
    """Whether every symbol has a group."""
    lowest = 0
    for k in limit.group:
        lowest = min(lowest, k)
    return lowest == 0


@inline
def any_allowed(limit: Limit, s: int, t: int) -> bool:
    """Whether the symbols of any group may span [s, t)."""
    found = False
    for k in range(limit.allowed.shape[2]):
        found = found or limit.allowed[s, t, k]
    return found


@inline
def close_chains(
    mode: int, s: int, t: int, cell: Scratch, held: Scratch, weights: RuleWeights, limit: Limit, modulus: float
) -> None:
    """Add to a cell all symbols that chains of unary rules derive from its own: e = C b. ``held`` is scratch space for b."""
    n_held, zero, one = 0, zero_of(mode), one_of(mode)
    for i in range(cell.count[0]):
        X = cell.symbol[i]
        c = weights.chain_first[X]
        # A symbol whose only chain is the empty one keeps its value.
        if weights.chain_first[X + 1] - c > 1 or weights.chain[c] != one:
            held.symbol[n_held], held.value[n_held] = X, cell.value[X]
            cell.value[X] = zero
            n_held += 1
    for i in range(n_held):
        below = held.symbol[i]
        if not is_allowed(limit, s, t, below):
            continue
        for c in range(weights.chain_first[below], weights.chain_first[below + 1]):
            value = times(mode, weights.chain[c], held.value[i], modulus)
            if value != zero:
                add(mode, cell, weights.chain_top[c], value, modulus)


@inline
def fill_chart(
    mode: int, n: int, leaves: Leaves, rules: BinaryRules, weights: RuleWeights, limit: Limit, modulus: float
) -> tuple[Chart, int, float, float]:
    """The inside values e(s, t, X) of all spans and symbols (Goodman 1996, section 3.1).

    Returns the chart, the width of the last spans that were filled, and the smallest and the largest value over spans of that
    width. In mode SUM the pass ends early, after the first width with a value outside [SMALLEST, LARGEST].
    """
    zero = zero_of(mode)
    n_symbols, n_left, n_right = len(rules.left_id), len(rules.left_symbol), len(rules.right_symbol)
    first, last = np.zeros((n, n + 1), np.int64), np.zeros((n, n + 1), np.int64)
    symbol, value, size = np.empty(64 * n, np.int32), np.empty(64 * n), 0
    n_lefts, lefts = np.zeros(n, np.int32), np.empty((n, n_left, 4), np.int32)
    slot, rights = np.full((n, n_left), -1, np.int32), np.full((n + 1, n_right, 3), -1, np.int32)
    left_row, right_row = np.empty((8 * n, n + 1)), np.empty((8 * n, n + 1))
    n_left_rows, n_right_rows = 0, 0
    cell, held = scratch(n_symbols), scratch(n_symbols)
    # If every symbol has a group, spans that no group may have are skipped.
    limited = limit.allowed.size > 0 and all_have_groups(limit)
    d, low, high = 0, np.inf, -np.inf
    for d in range(1, n + 1):
        low, high = np.inf, -np.inf
        for s in range(n - d + 1):
            t = s + d
            clear(cell)
            first[s, t] = last[s, t] = size
            if limited and not any_allowed(limit, s, t):
                continue
            if d == 1:
                for i in range(leaves.first[s], leaves.first[s + 1]):
                    add(mode, cell, leaves.symbol[i], leaves.weight[i], modulus)
            else:
                chart = Chart(first, last, symbol, value, n_lefts, lefts, slot, rights, left_row, right_row)
                if limited and parents_are_few(s, t, chart, rules, limit):
                    sum_over_parents(mode, s, t, chart, rules, weights.binary, limit, cell, modulus)
                else:
                    sum_over_splits(mode, s, t, chart, rules, weights.binary, cell, modulus)
            if weights.chained:
                close_chains(mode, s, t, cell, held, weights, limit, modulus)
            if size + cell.count[0] > len(symbol):
                symbol, value = grow(symbol, size + cell.count[0]), grow(value, size + cell.count[0])
            first[s, t] = size
            for i in range(cell.count[0]):
                X = cell.symbol[i]
                v = cell.value[X]
                if not is_allowed(limit, s, t, X):
                    continue
                if v == zero and mode != SUM:
                    continue
                low, high = min(low, v), max(high, v)
                symbol[size], value[size] = X, v
                size += 1
                B, C = rules.left_id[X], rules.right_id[X]
                if B >= 0 and d < n:
                    i_left = slot[s, B]
                    if i_left < 0:
                        if n_left_rows == left_row.shape[0]:
                            left_row = grow_rows(left_row)
                        i_left = n_lefts[s]
                        slot[s, B] = i_left
                        n_lefts[s] += 1
                        lefts[s, i_left, 0], lefts[s, i_left, 1], lefts[s, i_left, 2] = B, n_left_rows, t
                        n_left_rows += 1
                    else:
                        for r in range(lefts[s, i_left, 3] + 1, t):
                            left_row[lefts[s, i_left, 1], r] = zero
                    left_row[lefts[s, i_left, 1], t] = v
                    lefts[s, i_left, 3] = t
                if C >= 0 and d < n:
                    if rights[t, C, 0] < 0:
                        if n_right_rows == right_row.shape[0]:
                            right_row = grow_rows(right_row)
                        rights[t, C, 0], rights[t, C, 2] = n_right_rows, s
                        n_right_rows += 1
                    else:
                        for r in range(s + 1, rights[t, C, 1]):
                            right_row[rights[t, C, 0], r] = zero
                    right_row[rights[t, C, 0], s] = v
                    rights[t, C, 1] = s
            last[s, t] = size
        if mode == SUM and size > 0 and (low < SMALLEST or high > LARGEST):
            break
    chart = Chart(
        first, last, symbol[:size], value[:size], n_lefts, lefts, slot, rights, left_row[:n_left_rows], right_row[:n_right_rows]
    )
    return chart, d, low, high


@kernel
def inside_sum(
    n: int, leaves: Leaves, rules: BinaryRules, weights: RuleWeights, limit: Limit, modulus: float
) -> tuple[Chart, int, float, float]:
    return fill_chart(SUM, n, leaves, rules, weights, limit, modulus)


@kernel
def inside_max(
    n: int, leaves: Leaves, rules: BinaryRules, weights: RuleWeights, limit: Limit, modulus: float
) -> tuple[Chart, int, float, float]:
    return fill_chart(MAX, n, leaves, rules, weights, limit, modulus)


@kernel
def inside_any(
    mode: int, n: int, leaves: Leaves, rules: BinaryRules, weights: RuleWeights, limit: Limit, modulus: float
) -> tuple[Chart, int, float, float]:
    return fill_chart(mode, n, leaves, rules, weights, limit, modulus)


def inside(
    mode: int, n: int, leaves: Leaves, rules: BinaryRules, weights: RuleWeights, limit: Limit, modulus: float
) -> tuple[Chart, int, float, float]:
    """:func:`fill_chart` in the kernel of its mode. Rare modes share a kernel, to save compiling."""
    if mode == SUM:
        return inside_sum(n, leaves, rules, weights, limit, modulus)
    if mode == MAX:
        return inside_max(n, leaves, rules, weights, limit, modulus)
    return inside_any(mode, n, leaves, rules, weights, limit, modulus)


class Outer(NamedTuple):
    """The outside values of a chart's entries, as the top of a chain of unary rules (``top``) or anywhere in one (``value``), and
    those of its rows."""

    top: Floats
    value: Floats
    left_row: Floats
    right_row: Floats


@inline
def outside_of_cell(
    mode: int, s: int, t: int, chart: Chart, rules: BinaryRules, weights: RuleWeights, outer: Outer, dense: Floats
) -> bool:
    """Fill in o and f of the entries of one cell, and f by symbol in ``dense``. Returns whether any of them is in some parse.

    o is the outside value of a symbol as the top of a chain of unary rules, f = C' o that of the symbol anywhere in a chain.
    """
    any_found = False
    zero = zero_of(mode)
    for k in range(chart.first[s, t], chart.last[s, t]):
        X = chart.symbol[k]
        B, C = rules.left_id[X], rules.right_id[X]
        o = outer.top[k]
        if B >= 0 and chart.slot[s, B] >= 0:
            i = chart.slot[s, B]
            if chart.lefts[s, i, 3] >= t:
                o = plus(mode, o, outer.left_row[chart.lefts[s, i, 1], t], 0.0)
        if C >= 0 and chart.rights[t, C, 0] >= 0 and chart.rights[t, C, 1] <= s:
            o = plus(mode, o, outer.right_row[chart.rights[t, C, 0], s], 0.0)
        outer.top[k] = o
        dense[X] = o
        any_found = any_found or o != zero
    if not any_found:
        return False
    for k in range(chart.first[s, t], chart.last[s, t]):
        below, f = chart.symbol[k], zero
        for c in range(weights.chain_first[below], weights.chain_first[below + 1]):
            f = plus(mode, f, times(mode, weights.chain[c], dense[weights.chain_top[c]], 0.0), 0.0)
        outer.value[k] = f
    for k in range(chart.first[s, t], chart.last[s, t]):
        dense[chart.symbol[k]] = outer.value[k]
    return True


@inline
def pass_down(mode: int, s: int, t: int, chart: Chart, rules: BinaryRules, binary: Floats, outer: Outer, dense: Floats) -> None:
    """Pass the outside values of the parents over [s, t) down to the children of their binary rules, pair by pair of children."""
    zero, lefts, rights = zero_of(mode), chart.lefts[s], chart.rights[t]
    for i in range(chart.n_lefts[s]):
        B, row = np.uint64(lefts[i, 0]), np.uint64(lefts[i, 1])
        first, last = lefts[i, 2], min(lefts[i, 3], t - 1)
        if first > last:
            continue
        for q in range(np.uint64(rules.pair_first[B]), np.uint64(rules.pair_first[B + np.uint64(1)])):
            C = np.uint64(rules.pair_right[q])
            lo = max(first, rights[C, 1], s + 1)
            hi = min(last, rights[C, 2])
            if lo > hi:
                continue
            y = zero
            for k in range(np.uint64(rules.rule_first[q]), np.uint64(rules.rule_first[q + np.uint64(1)])):
                y = plus(mode, y, times(mode, binary[k], dense[np.uint64(rules.parent[k])], 0.0), 0.0)
            if y == zero:
                continue
            row_c = np.uint64(rights[C, 0])
            a, b = chart.left_row[row], chart.right_row[row_c]
            outer_a, outer_b = outer.left_row[row], outer.right_row[row_c]
            if mode == SUM:
                for r in range(np.uint64(lo), np.uint64(hi + 1)):
                    outer_a[r] += y * b[r]
                    outer_b[r] += y * a[r]
            else:
                for r in range(lo, hi + 1):
                    outer_a[r] = plus(mode, outer_a[r], y + b[r], 0.0)
                    outer_b[r] = plus(mode, outer_b[r], y + a[r], 0.0)


@inline
def pass_down_by_parents(
    mode: int, s: int, t: int, chart: Chart, rules: BinaryRules, binary: Floats, outer: Outer, dense: Floats
) -> None:
    """The same as :func:`pass_down`, rule by rule of the parents: less work if these are few."""
    zero, lefts, rights = zero_of(mode), chart.lefts[s], chart.rights[t]
    for e in range(chart.first[s, t], chart.last[s, t]):
        A = chart.symbol[e]
        f = dense[A]
        if f == zero:
            continue
        for j in range(rules.by_parent_first[A], rules.by_parent_first[A + 1]):
            k = rules.by_parent[j]
            at = chart.slot[s, rules.left_id[rules.left[k]]]
            C = rules.right_id[rules.right[k]]
            if at < 0 or rights[C, 0] < 0:
                continue
            lo = max(lefts[at, 2], rights[C, 1], s + 1)
            hi = min(lefts[at, 3], rights[C, 2], t - 1)
            if lo > hi:
                continue
            y = times(mode, binary[k], f, 0.0)
            row, row_c = lefts[at, 1], rights[C, 0]
            for r in range(lo, hi + 1):
                outer.left_row[row, r] = plus(mode, outer.left_row[row, r], times(mode, y, chart.right_row[row_c, r], 0.0), 0.0)
                outer.right_row[row_c, r] = plus(mode, outer.right_row[row_c, r], times(mode, y, chart.left_row[row, r], 0.0), 0.0)


@inline
def few_parents(s: int, t: int, chart: Chart, rules: BinaryRules, dense: Floats, zero: float) -> bool:
    """Whether the parents over [s, t) have so few rules that :func:`pass_down_by_parents` is faster."""
    n_rules, n_pairs = 0, 0
    for e in range(chart.first[s, t], chart.last[s, t]):
        A = chart.symbol[e]
        if dense[A] != zero:
            n_rules += rules.by_parent_first[A + 1] - rules.by_parent_first[A]
    for i in range(chart.n_lefts[s]):
        if chart.lefts[s, i, 2] < t:
            B = chart.lefts[s, i, 0]
            n_pairs += rules.pair_first[B + 1] - rules.pair_first[B]
    return bool(2 * n_rules < n_pairs)


@inline
def fill_outer(mode: int, n: int, chart: Chart, rules: BinaryRules, weights: RuleWeights, root: int) -> Outer:
    """The outside values f(s, t, X), divided by the probability of the sentence, so that g = e f (Goodman 1996, section 3.1).

    ``root`` is the entry of the start symbol over the whole sentence; the mode is SUM or LOG_SUM.
    """
    zero = zero_of(mode)
    outer = Outer(
        np.full(len(chart.symbol), zero),
        np.full(len(chart.symbol), zero),
        np.full(chart.left_row.shape, zero),
        np.full(chart.right_row.shape, zero),
    )
    outer.top[root] = -chart.value[root] if mode == LOG_SUM else 1.0 / chart.value[root]
    dense = np.full(len(rules.left_id), zero)
    for d in range(n, 0, -1):
        for s in range(n - d + 1):
            t = s + d
            if outside_of_cell(mode, s, t, chart, rules, weights, outer, dense) and d > 1:
                if few_parents(s, t, chart, rules, dense, zero):
                    pass_down_by_parents(mode, s, t, chart, rules, weights.binary, outer, dense)
                else:
                    pass_down(mode, s, t, chart, rules, weights.binary, outer, dense)
            for k in range(chart.first[s, t], chart.last[s, t]):
                dense[chart.symbol[k]] = zero
    return outer


@kernel
def outside_sum(n: int, chart: Chart, rules: BinaryRules, weights: RuleWeights, root: int) -> Outer:
    return fill_outer(SUM, n, chart, rules, weights, root)


@kernel
def outside_log_sum(n: int, chart: Chart, rules: BinaryRules, weights: RuleWeights, root: int) -> Outer:
    return fill_outer(LOG_SUM, n, chart, rules, weights, root)


def outside(mode: int, n: int, chart: Chart, rules: BinaryRules, weights: RuleWeights, root: int) -> Outer:
    """:func:`fill_outer` in the kernel of its mode."""
    return (outside_sum if mode == SUM else outside_log_sum)(n, chart, rules, weights, root)
