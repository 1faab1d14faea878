"""The parts of a counted grammar's parses: their posteriors, and the best parse for any parts that nodes and productions count as
(Sima'an 2003, section 4).

The worth of a part over a span is its posterior: the sum over all nodes and productions of that span that count as it. Then

    best(s, t, A) = worth of the node + max over productions and splits of (worth of the production + best of the children)

over those entries of the chart that are part of some parse. Letters and layout as in :mod:`treegauge.parsing.chart_layout`.

A span can have a chain of unary rules over it. No chain repeats a symbol or a shown label (unless every parse does). The chains of
a grammar are listed once; each is worth the sum of its parts and, for constituents, less lam for each label but the first.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from treegauge.compilation import Floats, Ints, helper, kernel
from treegauge.parsing.chain_labels import Chain, ShownLabels, shown_labels
from treegauge.parsing.chart_layout import LOG_SUM, MAX, SUM, cells, dot, one_of
from treegauge.parsing.chart_passes import Outer, grow
from treegauge.parsing.derivations import Grid, grid_rows
from treegauge.parsing.posterior_view import WORD, Best, Constituent, CountedParts, ProductionChild
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
    where, posterior = forest.rule_posteriors
    sources = forest.binary.binary_source[where[:, 2]]
    binary = zip(where[:, 0].tolist(), where[:, 1].tolist(), sources.tolist(), posterior.tolist(), strict=True)
    rows = sorted(row for row in (*_lexical_rules(forest), *_unary_rules(forest), *binary) if row[2] >= 0 and row[3] > 0)
    return [Frame(s, t, forest.grammar.rules[source].production, p) for s, t, source, p in rows]


def _lexical_rules(forest: Forest) -> Iterator[tuple[int, int, int, float]]:
    """Tuples (s, t, index of the grammar's rule, posterior); the index is -1 for rules of the internal binarisation."""
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


TIE = 1e-12


class PartNumbers(NamedTuple):
    """The numbers of the parts that nodes and productions count as, -1 for none; there are ``size`` parts.

    A node X counts as ``node[X]``, the production of a word by X as ``leaf[X]``, unary rule u as ``unary[u]``, and binary rule k as
    ``binary[binary_first[k]:binary_first[k+1]]``. Without ``preterminals`` a node directly above a word does not count.
    """

    size: int
    node: Ints
    leaf: Ints
    unary: Ints
    binary_first: Ints
    binary: Ints
    preterminals: bool


class Chains(NamedTuple):
    """The chains of unary rules above each bottom symbol: X has the chains ``first[X]:first[X+1]``.

    Chain c has the symbol ``top[c]`` at its top and counts as ``part[part_first[c]:part_first[c+1]]``, of which the first
    ``bottom[c]`` belong to the bottom node. Its labels cost ``phrase_price[c]`` over a phrase, ``word_price[c]`` over a single
    word.
    """

    first: Ints
    top: Ints
    part_first: Ints
    part: Ints
    bottom: Ints
    phrase_price: Floats
    word_price: Floats


class LicensedTable(NamedTuple):
    """The best values of a chart's entries: as the bottom of a chain (``inner``), and as the top of one (``best``), with that
    chain's number (``chain``) and the entry at its bottom (``bottom``).

    ``left_row`` and ``right_row`` hold the best values of children as the chart's rows hold their inside values.
    """

    inner: Floats
    best: Floats
    bottom: Ints
    chain: Ints
    left_row: Floats
    right_row: Floats


@helper
def posterior(mode: int, outer: float, weight: float, inner: float) -> float:
    """The posterior of a node or production: the product of its outside, its own weight and what is inside."""
    return np.exp(outer + weight + inner) if mode == LOG_SUM else outer * weight * inner


@helper
def leaf_weight(grid: Grid, s: int, X: int) -> float:
    """The weight of X over word s, in the chart's semiring; +inf if X cannot stand there."""
    for i in range(grid.leaves.first[s], grid.leaves.first[s + 1]):
        if grid.leaves.symbol[i] == X:
            return grid.leaves.weight[i]
    return np.inf


@helper
def add_worth(
    mode: int, e: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, node: Floats, place: Ints, worth: Floats
) -> None:
    """Add the posteriors of the node e and of its lexical and unary productions to the parts they count as.

    ``node[e]`` is the posterior of the node; ``place[X]`` is the entry of X in this cell, or -1.
    """
    X, f = grid.chart.symbol[e], outer.value[e]
    over_word = leaf_weight(grid, s, X) if t == s + 1 else np.inf
    if parts.node[X] >= 0:
        worth[parts.node[X]] += node[e]
    if over_word < np.inf and parts.leaf[X] >= 0:
        worth[parts.leaf[X]] += posterior(mode, f, one_of(mode), over_word)
    c = grid.unary.component[X]
    if c >= 0:
        for i in range(grid.unary.rule_first[c], grid.unary.rule_first[c + 1]):
            u = grid.unary.rule[i]
            below = place[grid.unary.child[u]]
            if grid.unary.parent[u] == X and below >= 0 and parts.unary[u] >= 0:
                worth[parts.unary[u]] += posterior(mode, f, grid.unary_weight[u], grid.chart.value[below])


@helper
def add_binary_worth(mode: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, place: Ints, worth: Floats) -> None:
    """Add the posteriors of all binary rules over [s, t), splits summed out, to the parts they count as."""
    chart, rules = grid.chart, grid.binary
    for i in range(chart.n_lefts[s]):
        B, a = chart.lefts[s, i, 0], chart.left_row[chart.lefts[s, i, 1]]
        for q in range(rules.pair_first[B], rules.pair_first[B + 1]):
            C = rules.pair_right[q]
            lo = max(chart.lefts[s, i, 2], chart.rights[t, C, 1], s + 1)
            hi = min(chart.lefts[s, i, 3], chart.rights[t, C, 2], t - 1)
            if lo > hi or not any_wanted(rules.rule_first[q], rules.rule_first[q + 1], grid, parts, place):
                continue
            x = dot(mode, a, chart.right_row[chart.rights[t, C, 0]], lo, hi, 0.0)
            for k in range(rules.rule_first[q], rules.rule_first[q + 1]):
                e = place[rules.parent[k]]
                if e >= 0:
                    p = posterior(mode, outer.value[e], grid.binary_weight[k], x)
                    for j in range(parts.binary_first[k], parts.binary_first[k + 1]):
                        worth[parts.binary[j]] += p


@helper
def any_wanted(first: int, last: int, grid: Grid, parts: PartNumbers, place: Ints) -> bool:
    """Whether one of the rules ``first:last`` has a parent in the cell and counts as some part."""
    wanted = False
    for k in range(first, last):
        wanted = wanted or (place[grid.binary.parent[k]] >= 0 and parts.binary_first[k] < parts.binary_first[k + 1])
    return wanted


@helper
def rule_worth(k: int, parts: PartNumbers, worth: Floats) -> float:
    """The sum of the worths of the parts that binary rule k counts as."""
    total = 0.0
    for j in range(parts.binary_first[k], parts.binary_first[k + 1]):
        total += worth[parts.binary[j]]
    return total


@helper
def best_of_binary(s: int, t: int, grid: Grid, parts: PartNumbers, worth: Floats, place: Ints, table: LicensedTable) -> None:
    """Fill in the best value that a binary rule gives each entry of the cell; the entry's own node is not counted."""
    chart, rules = grid.chart, grid.binary
    for i in range(chart.n_lefts[s]):
        B, a = chart.lefts[s, i, 0], table.left_row[chart.lefts[s, i, 1]]
        for q in range(rules.pair_first[B], rules.pair_first[B + 1]):
            C = rules.pair_right[q]
            lo = max(chart.lefts[s, i, 2], chart.rights[t, C, 1], s + 1)
            hi = min(chart.lefts[s, i, 3], chart.rights[t, C, 2], t - 1)
            if lo > hi:
                continue
            x = dot(MAX, a, table.right_row[chart.rights[t, C, 0]], lo, hi, 0.0)
            for k in range(rules.rule_first[q], rules.rule_first[q + 1]):
                e = place[rules.parent[k]]
                if e >= 0:
                    table.inner[e] = max(table.inner[e], x + rule_worth(k, parts, worth))


@helper
def words_of_cell(s: int, grid: Grid, parts: PartNumbers, worth: Floats, place: Ints, table: LicensedTable) -> None:
    """Fill in the value of each symbol right above word s."""
    for i in range(grid.leaves.first[s], grid.leaves.first[s + 1]):
        X = grid.leaves.symbol[i]
        if place[X] >= 0:
            table.inner[place[X]] = worth[parts.leaf[X]] if parts.leaf[X] >= 0 else 0.0


@helper
def close_chains(
    s: int, t: int, grid: Grid, parts: PartNumbers, chains: Chains, worth: Floats, place: Ints, table: LicensedTable
) -> None:
    """Find the best chain below each entry of a cell as its top; ``place[X]`` is the entry of X, or -1."""
    is_word = t == s + 1
    for e in range(grid.chart.first[s, t], grid.chart.last[s, t]):
        if table.inner[e] == -np.inf:
            continue
        X = grid.chart.symbol[e]
        for c in range(chains.first[X], chains.first[X + 1]):
            top = place[chains.top[c]]
            if top < 0:
                continue
            begin = chains.part_first[c] + (chains.bottom[c] if is_word and not parts.preterminals else 0)
            value = table.inner[e] - (chains.word_price[c] if is_word else chains.phrase_price[c])
            for i in range(begin, chains.part_first[c + 1]):
                value += worth[chains.part[i]]
            if value > table.best[top] + TIE:
                table.best[top], table.bottom[top], table.chain[top] = value, e, c


@helper
def weigh(
    mode: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, node: Floats, place: Ints, worth: Floats
) -> bool:
    """Fill in ``place``, the entry of each symbol over [s, t) that is in some parse, and the worth of every part over [s, t).

    Returns whether any symbol is in some parse.
    """
    chart, found = grid.chart, False
    for e in range(chart.first[s, t], chart.last[s, t]):
        if posterior(mode, outer.value[e], one_of(mode), chart.value[e]) > 0:
            place[chart.symbol[e]] = e
            found = True
    if not found:
        return False
    worth[:] = 0.0
    for e in range(chart.first[s, t], chart.last[s, t]):
        if place[chart.symbol[e]] >= 0:
            add_worth(mode, e, s, t, grid, outer, parts, node, place, worth)
    if len(parts.binary) > 0 and t > s + 1:
        add_binary_worth(mode, s, t, grid, outer, parts, place, worth)
    return True


@kernel
def best_licensed(mode: int, n: int, grid: Grid, outer: Outer, parts: PartNumbers, chains: Chains, node: Floats) -> LicensedTable:
    """The best value of every entry of the chart that is in some parse."""
    chart, size = grid.chart, len(grid.chart.symbol)
    table = LicensedTable(
        np.full(size, -np.inf),
        np.full(size, -np.inf),
        np.full(size, -1, np.int64),
        np.full(size, -1, np.int64),
        np.full(chart.left_row.shape, -np.inf),
        np.full(chart.right_row.shape, -np.inf),
    )
    place, worth = np.full(len(grid.binary.left_id), -1, np.int64), np.zeros(parts.size)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            if not weigh(mode, s, t, grid, outer, parts, node, place, worth):
                continue
            if d > 1:
                best_of_binary(s, t, grid, parts, worth, place, table)
            else:
                words_of_cell(s, grid, parts, worth, place, table)
            close_chains(s, t, grid, parts, chains, worth, place, table)
            for e in range(chart.first[s, t], chart.last[s, t]):
                X = chart.symbol[e]
                if place[X] < 0:
                    continue
                place[X] = -1
                B, C = grid.binary.left_id[X], grid.binary.right_id[X]
                if B >= 0 and d < n:
                    table.left_row[chart.lefts[s, chart.slot[s, B], 1], t] = table.best[e]
                if C >= 0 and d < n:
                    table.right_row[chart.rights[t, C, 0], s] = table.best[e]
    return table


@kernel
def best_production(
    mode: int, A: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, node: Floats, table: LicensedTable
) -> tuple[int, int]:
    """The best binary rule of A over [s, t) and its split; among equals the first split, then the first rule."""
    place, worth = np.full(len(grid.binary.left_id), -1, np.int64), np.zeros(parts.size)
    weigh(mode, s, t, grid, outer, parts, node, place, worth)
    value, rule, split = -np.inf, -1, -1
    for i in range(grid.binary.by_parent_first[A], grid.binary.by_parent_first[A + 1]):
        k = grid.binary.by_parent[i]
        row_b, row_c, lo, hi = grid_rows(grid, k, s, t)
        weight = rule_worth(k, parts, worth) if lo <= hi else 0.0
        for r in range(lo, hi + 1):
            x = weight + (table.left_row[row_b, r] + table.right_row[row_c, r])
            if x > value + TIE or (r < split and x >= value - TIE):
                value, rule, split = x, k, r
    return rule, split


def best_parse(forest: Forest, counted: CountedParts) -> Best:
    """The parse whose parts have the largest sum of posteriors; parts are numbered once for a grammar and the key of the parts."""
    derived, labels, inside_chart = forest.binary.derived, shown_labels(forest), forest.inside_chart
    if ("parts", *counted.key) not in derived:
        derived["parts", *counted.key] = _part_numbers(forest, labels, counted)
    parts: PartNumbers = derived["parts", *counted.key]
    found = forest.label_posteriors
    node = found.any if parts.preterminals else found.any - found.over_word
    for distinct in (True, False):
        by_bottom = labels.simple_chains(distinct=distinct)
        columns = ("chains", distinct, counted.lam, *counted.key)
        if columns not in derived:
            derived[columns] = _chain_columns(by_bottom, parts, counted.lam)
        chains: Chains = derived[columns]
        table = best_licensed(inside_chart.mode, forest.n, inside_chart.grid, forest.outer, parts, chains, node)
        if table.best[inside_chart.root] > -np.inf:
            every = [chain for above in by_bottom for chain in above]
            steps = _best_steps(forest, table, parts, node, every)
            return Best(forest.tree(steps), float(table.best[inside_chart.root]))
    raise AssertionError("a forest with a parse has one that repeats no symbol in a chain")


def _best_steps(forest: Forest, table: LicensedTable, parts: PartNumbers, node: Floats, chains: Sequence[Chain]) -> list[int]:
    """The steps of the best tree, from its root down; see :mod:`treegauge.parsing.derivations`."""
    inside_chart = forest.inside_chart
    mode, grid = inside_chart.mode, inside_chart.grid
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    steps: list[int] = []
    stack = [(inside_chart.root, 0, forest.n)]
    while stack:
        entry, s, t = stack.pop()
        bottom = int(table.bottom[entry])
        steps.extend(n_symbols + u for u in chains[int(table.chain[entry])].rules)
        X = int(grid.chart.symbol[bottom])
        if t == s + 1:
            steps.append(X)
        else:
            k, r = best_production(mode, X, s, t, grid, forest.outer, parts, node, table)
            steps.append(n_symbols + n_unary + k)
            stack.append((forest.entry(r, t, int(grid.binary.right[k])), r, t))
            stack.append((forest.entry(s, r, int(grid.binary.left[k])), s, r))
    return steps


def _chain_columns(by_bottom: Sequence[Sequence[Chain]], parts: PartNumbers, lam: float) -> Chains:
    first, part_first = [0], [0]
    top: list[int] = []
    part: list[int] = []
    bottom: list[int] = []
    phrase: list[float] = []
    word: list[float] = []
    node, unary = parts.node.tolist(), parts.unary.tolist()
    for above in by_bottom:
        for chain in above:
            numbers = list(dict.fromkeys(node[X] for X in chain.symbols if node[X] >= 0))
            top.append(chain.top)
            lowest, *others = [node[X] for X in chain.symbols if node[X] >= 0] or [-1]
            # If the bottom's label occurs above it too, leaving out the bottom does not remove the label.
            bottom.append(int(lowest >= 0 and (parts.preterminals or lowest not in others)))
            part += numbers + [unary[u] for u in chain.rules if unary[u] >= 0]
            part_first.append(len(part))
            phrase.append(lam * max(0, len(numbers) - 1))
            word.append(lam * (len(numbers) - bottom[-1]))
        first.append(len(top))
    return Chains(
        np.array(first, np.int64), np.array(top, np.int32), np.array(part_first, np.int64), np.array(part, np.int64),
        np.array(bottom, np.int64), np.array(phrase, np.float64), np.array(word, np.float64),
    )  # fmt: skip


def _part_numbers(forest: Forest, labels: ShownLabels, counted: CountedParts) -> PartNumbers:
    """The part numbers of nodes, leaves and rules, as columns of the binarised grammar."""
    binary, ids = forest.binary, dict[Hashable, int]()
    # A symbol that does not show counts as a part of its own.
    keys: dict[str, Hashable] = {
        symbol: (symbol,) if label is None else label
        for symbol, label in zip(binary.symbols[: binary.visible], forest.output_labels, strict=False)
    }

    def number(part: Hashable) -> int:
        return ids.setdefault(part, len(ids))

    def children(rhs: Sequence[str], words: Sequence[bool]) -> list[ProductionChild]:
        return [(x, True) if word else (keys[x], False) for x, word in zip(rhs, words, strict=True)]

    by_rule: dict[int, list[int]] = {}
    for source, rule in enumerate(forest.grammar.rules):
        if len(rule.rhs) > 1 or rule.is_unary:
            by_rule[source] = [number(part) for part in counted.productions(keys[rule.lhs], children(rule.rhs, rule.words))]
    over_word = [counted.productions(key, [WORD]) for key in keys.values()]
    of_binary = [by_rule.get(source, []) for source in binary.binary_source.tolist()]
    none = [-1] * (binary.n_symbols - binary.visible)
    group = labels.group.tolist()
    return PartNumbers(
        node=np.array([number(("node", label)) if counted.nodes and label >= 0 else -1 for label in group], np.int32),
        leaf=np.array([*(number(parts[0]) if parts else -1 for parts in over_word), *none], np.int32),
        unary=np.array([(*by_rule.get(source, ()), -1)[0] for source in binary.unary_source.tolist()], np.int32),
        binary_first=np.concatenate([[0], np.cumsum([len(p) for p in of_binary], dtype=np.int64)]).astype(np.int64),
        binary=np.array([part for p in of_binary for part in p], np.int32),
        preterminals=counted.preterminals,
        size=len(ids),
    )
