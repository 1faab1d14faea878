"""Posteriors of the parts of a parse: lists of constituents, parent-child links, frames and anchored rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from treegauge.compilation import Floats, Ints, kernel
from treegauge.parsing.chart_layout import cells
from treegauge.parsing.chart_passes import Outer, grow
from treegauge.parsing.derivations import Grid
from treegauge.parsing.posterior_view import Constituent
from treegauge.parsing.semirings import LOG_SUM, SUM, dot
from treegauge.trees.tree import Production

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest


class Link(NamedTuple):
    """A parent over a span, and one of its children: the child's index (``side``; an only child has ``only``) and label, but not
    its span."""

    start: int
    end: int
    parent: str
    side: int | Literal["only"]
    child: str
    posterior: float


class Frame(NamedTuple):
    """A production over a span, summed over the positions where its children meet."""

    start: int
    end: int
    production: Production
    posterior: float


class AnchoredRule(NamedTuple):
    """A production with the positions of its children: ``boundaries`` are the start, where one child meets the next, and the
    end."""

    boundaries: tuple[int, ...]
    production: Production
    posterior: float


@kernel
def rule_posteriors(mode: int, n: int, grid: Grid, outer: Outer) -> tuple[Ints, Floats]:
    """Rows (s, t, k) of all binary rules k over spans, and the posterior of each, summed over the splits."""
    chart, rules = grid.chart, grid.binary
    where, posterior, size = np.empty((64 * n, 3), np.int64), np.empty(64 * n), 0
    dense = np.full(len(rules.left_id), -np.inf if mode == LOG_SUM else 0.0)
    zero = dense[0]
    for s in range(n):
        for t in range(s + 2, n + 1):
            for e in range(chart.first[s, t], chart.last[s, t]):
                dense[chart.symbol[e]] = outer.value[e]
            for i in range(chart.n_lefts[s]):
                B = chart.lefts[s, i, 0]
                for q in range(rules.pair_first[B], rules.pair_first[B + 1]):
                    C = rules.pair_right[q]
                    lo = max(chart.lefts[s, i, 2], chart.rights[t, C, 1], s + 1)
                    hi = min(chart.lefts[s, i, 3], chart.rights[t, C, 2], t - 1)
                    if lo > hi:
                        continue
                    x = dot(mode, chart.left_row[chart.lefts[s, i, 1]], chart.right_row[chart.rights[t, C, 0]], lo, hi, 0.0)
                    for k in range(rules.rule_first[q], rules.rule_first[q + 1]):
                        f = dense[rules.parent[k]]
                        if f == zero:
                            continue
                        p = np.exp(f + grid.binary_weight[k] + x) if mode == LOG_SUM else f * grid.binary_weight[k] * x
                        if p > 0:
                            if size == len(posterior):
                                bigger = np.empty((2 * size, 3), np.int64)
                                for row in range(size):
                                    bigger[row, 0], bigger[row, 1], bigger[row, 2] = where[row, 0], where[row, 1], where[row, 2]
                                where, posterior = bigger, grow(posterior, 2 * size)
                            where[size, 0], where[size, 1], where[size, 2], posterior[size] = s, t, k, p
                            size += 1
            for e in range(chart.first[s, t], chart.last[s, t]):
                dense[chart.symbol[e]] = zero
    return where[:size], posterior[:size]


def constituents(forest: Forest) -> list[Constituent]:
    """All constituents of positive posterior, sorted by start, end and symbol, without those of the internal binarisation."""
    grid, symbols = forest.inside_chart.grid, forest.binary.symbols
    starts, ends = cells(forest.n, grid.chart)
    shown = (grid.chart.symbol < forest.binary.visible) & (forest.posterior > 0)
    order = np.lexsort((grid.chart.symbol, ends, starts))
    return [
        Constituent(int(starts[k]), int(ends[k]), symbols[grid.chart.symbol[k]], float(forest.posterior[k]))
        for k in order
        if shown[k]
    ]


def frames(forest: Forest) -> list[Frame]:
    """All productions of positive posterior, including lexical and unary ones, sorted by start, end and the grammar's order."""
    rules = forest.grammar.rules
    rows = sorted((s, t, source, p) for s, t, source, p in _all_rules(forest) if source >= 0 and p > 0)
    return [Frame(s, t, rules[source].production, p) for s, t, source, p in rows]


def _all_rules(forest: Forest) -> Iterator[tuple[int, int, int, float]]:
    """Tuples (s, t, index of the grammar's rule, posterior); the index is -1 for rules of the internal binarisation."""
    yield from _lexical_rules(forest)
    yield from _unary_rules(forest)
    where, posterior = forest.rule_posteriors
    sources = forest.binary.binary_source[where[:, 2]]
    yield from zip(where[:, 0].tolist(), where[:, 1].tolist(), sources.tolist(), posterior.tolist(), strict=True)


def _lexical_rules(forest: Forest) -> Iterator[tuple[int, int, int, float]]:
    for s, word in enumerate(forest.words):
        symbols, _, rules = forest.binary.word(word, initial=s == 0)
        sources = dict(zip(symbols.tolist(), rules.tolist(), strict=True))
        for X, p in forest.leaf_posteriors(s):
            yield s, s + 1, sources.get(X, -1), p


def _unary_rules(forest: Forest) -> Iterator[tuple[int, int, int, float]]:
    grid, outer = forest.inside_chart.grid, forest.outer
    if not len(grid.unary.parent):
        return
    log = forest.inside_chart.mode == LOG_SUM
    for s in range(forest.n):
        for t in range(s + 1, forest.n + 1):
            first, last = int(grid.chart.first[s, t]), int(grid.chart.last[s, t])
            place = {X: first + i for i, X in enumerate(grid.chart.symbol[first:last].tolist())}
            for u, (A, B) in enumerate(zip(grid.unary.parent.tolist(), grid.unary.child.tolist(), strict=True)):
                if A in place and B in place:
                    f, w, e = outer.value[place[A]], grid.unary_weight[u], grid.chart.value[place[B]]
                    yield s, t, int(forest.binary.unary_source[u]), float(np.exp(f + w + e) if log else f * w * e)


def links(forest: Forest) -> list[Link]:
    """All parent-child links of positive posterior; a word is not a child."""
    total: dict[tuple[int, int, str, int | Literal["only"], str], float] = {}
    for s, t, production, p in frames(forest):
        for i, (child, word) in enumerate(zip(production.rhs, production.words, strict=True)):
            if not word:
                key = s, t, production.lhs, i if len(production.rhs) > 1 else "only", child
                total[key] = total.get(key, 0.0) + p
    return [Link(*key, p) for key, p in total.items()]


def anchored_rules(forest: Forest) -> Iterator[AnchoredRule]:
    """All productions of positive posterior, with the positions where their children meet."""
    for s, t, source, p in [*_lexical_rules(forest), *_unary_rules(forest)]:
        if source >= 0 and p > 0:
            yield AnchoredRule((s, t), forest.grammar.rules[source].production, p)
    where, _ = forest.rule_posteriors
    grid, binary, log = forest.inside_chart.grid, forest.binary, forest.inside_chart.mode == LOG_SUM
    for s, t, k in where.tolist():
        if binary.binary_source[k] < 0:
            continue
        f = forest.outer.value[forest.entry(s, t, int(grid.binary.parent[k]))]
        for boundaries, inner in _splits(forest, s, t, k):
            p = float(np.exp(f + inner) if log else f * inner)
            if p > 0:
                yield AnchoredRule(boundaries, forest.grammar.rules[binary.binary_source[k]].production, p)


def _splits(forest: Forest, s: int, t: int, k: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """All boundaries that the children of a binarised rule can have, and the inside value for each, including the rule's weight."""
    grid, log = forest.inside_chart.grid, forest.inside_chart.mode != SUM
    pending: list[tuple[tuple[int, ...], int, float]] = [((s,), k, 0.0 if log else 1.0)]
    while pending:
        before, rule, value = pending.pop()
        left, right = int(grid.binary.left[rule]), int(grid.binary.right[rule])
        for r in range(t - 1, before[-1], -1):
            b, c = forest.entry(before[-1], r, left), forest.entry(r, t, right)
            if b < 0 or c < 0:
                continue
            weight, e = grid.binary_weight[rule], grid.chart.value
            longer_rule = _rest_rule(forest, right)
            here = value + weight + e[b] if log else value * weight * e[b]
            if longer_rule >= 0:
                pending.append(((*before, r), longer_rule, here))
            else:
                yield (*before, r, t), float(here + e[c] if log else here * e[c])


def _rest_rule(forest: Forest, symbol: int) -> int:
    """The only rule of a symbol that stands for the rest of a longer rule; -1 for any other symbol."""
    first, last = forest.binary.binary.by_parent_first[symbol : symbol + 2]
    return int(forest.binary.binary.by_parent[first]) if symbol >= forest.binary.visible and last > first else -1
