"""The outside pass: the values of a chart, top down. Letters and layout as in :mod:`treegauge.parsing.chart_layout`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Floats, inline, kernel
from treegauge.grammar.binarisation import BinaryRules
from treegauge.parsing.chart_layout import Chart, RuleWeights
from treegauge.parsing.semirings import LOG_SUM, SUM, plus, times, zero_of


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
