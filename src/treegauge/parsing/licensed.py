"""Licensed objectives: the best of the grammar's own parses, for any parts that nodes and productions count as.

M_LR counts nodes (s, t, X), M_PCh parent-child links, M_CFP productions with the split summed out (Sima'an 2003,
section 4). The caller numbers the parts; here the worth of a part in a span is its posterior, the sum over all nodes
and productions there that count as it, and best(s, t, A) = worth of the node + max over productions and splits of
(worth of the production + best of the children), over the part of the chart that has a parse above it.

Where unary rules form cycles a tree may repeat a node, and each (s, t, X) counts once: a chain that enters a cycle
can go round and collect all of it, so a component of the unary rules is worth the sum of its parts, and its way out
the best of its members'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from treegauge.grammar.pcfg import Rule
from treegauge.parsing.derivations import Best, Grid
from treegauge.parsing.jit import Bools, Floats, Ints, kernel
from treegauge.parsing.outside import Outer
from treegauge.parsing.semirings import LOG_SUM, MAX, dot

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = [
    "LicensedTable",
    "PartNumbers",
    "best_licensed",
    "best_production",
    "frames",
    "licensed_labelled_recall",
    "licensed_steps",
    "parent_child",
]

TIE = 1e-12


class PartNumbers(NamedTuple):
    """Numbers of the parts that things count as, -1 for none. Binary rule k counts as
    ``binary[binary_first[k]:binary_first[k+1]]``.

    ``node[X]`` is for a node, ``leaf[X]`` for the production of a word by X, ``unary[u]`` for a unary rule. Without
    ``preterminals`` a node right above a word is no node. ``cyclic`` are the symbols that derive themselves by unary
    rules.
    """

    size: int
    node: Ints
    leaf: Ints
    unary: Ints
    binary_first: Ints
    binary: Ints
    preterminals: bool
    cyclic: Bools


class LicensedTable(NamedTuple):
    """For every entry of a chart: the best value; whether that has the word right below, if no unary rule follows;
    and where its chain of unary rules leaves its component: at which entry, by which unary rule (-1: none follows).

    ``left_row`` and ``right_row`` hold the best values of children as the chart's rows hold their inside values.
    """

    best: Floats
    over_word: Bools
    exit: Ints
    exit_rule: Ints
    left_row: Floats
    right_row: Floats


@kernel
def posterior(mode: int, outer: float, weight: float, inner: float) -> float:
    return np.exp(outer + weight + inner) if mode == LOG_SUM else outer * weight * inner


@kernel
def one_of(mode: int) -> float:
    return 0.0 if mode == LOG_SUM else 1.0


@kernel
def rows_of(grid: Grid, k: int, s: int, t: int) -> tuple[int, int, int, int]:
    """The rows of a binary rule's children over [s, t), and the range of splits that both have (empty if none)."""
    i = grid.chart.slot[s, grid.binary.left_id[grid.binary.left[k]]]
    C = grid.binary.right_id[grid.binary.right[k]]
    if i < 0 or grid.chart.rights[t, C, 0] < 0:
        return 0, 0, 1, 0
    lo = max(grid.chart.lefts[s, i, 2], grid.chart.rights[t, C, 1], s + 1)
    hi = min(grid.chart.lefts[s, i, 3], grid.chart.rights[t, C, 2], t - 1)
    return grid.chart.lefts[s, i, 1], grid.chart.rights[t, C, 0], lo, hi


@kernel
def leaf_weight(grid: Grid, s: int, X: int) -> float:
    """The weight of X over word s in the chart's numbers; +inf if X cannot stand there."""
    for i in range(grid.leaves.first[s], grid.leaves.first[s + 1]):
        if grid.leaves.symbol[i] == X:
            return grid.leaves.weight[i]
    return np.inf


@kernel
def add_worth(mode: int, e: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, place: Ints, worth: Floats) -> None:
    """Add the posteriors of one entry's node and productions to the parts they count as."""
    X, f = grid.chart.symbol[e], outer.value[e]
    over_word = leaf_weight(grid, s, X) if t == s + 1 else np.inf
    if parts.node[X] >= 0:
        worth[parts.node[X]] += posterior(mode, f, one_of(mode), grid.chart.value[e])
        if over_word < np.inf and not parts.preterminals:
            worth[parts.node[X]] -= posterior(mode, f, one_of(mode), over_word)
    if over_word < np.inf and parts.leaf[X] >= 0:
        worth[parts.leaf[X]] += posterior(mode, f, one_of(mode), over_word)
    c = grid.unary.component[X]
    if c >= 0:
        for i in range(grid.unary.rule_first[c], grid.unary.rule_first[c + 1]):
            u = grid.unary.rule[i]
            below = place[grid.unary.child[u]]
            if grid.unary.parent[u] == X and below >= 0 and parts.unary[u] >= 0:
                worth[parts.unary[u]] += posterior(mode, f, grid.unary_weight[u], grid.chart.value[below])


@kernel
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


@kernel
def any_wanted(first: int, last: int, grid: Grid, parts: PartNumbers, place: Ints) -> bool:
    """Whether one of the rules has a parent in the cell and counts as something."""
    wanted = False
    for k in range(first, last):
        wanted = wanted or (place[grid.binary.parent[k]] >= 0 and parts.binary_first[k] < parts.binary_first[k + 1])
    return wanted


@kernel
def rule_worth(k: int, parts: PartNumbers, worth: Floats) -> float:
    total = 0.0
    for j in range(parts.binary_first[k], parts.binary_first[k + 1]):
        total += worth[parts.binary[j]]
    return total


@kernel
def best_of_binary(s: int, t: int, grid: Grid, parts: PartNumbers, worth: Floats, place: Ints, table: LicensedTable) -> None:
    """The best value that a binary rule gives each entry of the cell; its own node not counted."""
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
                    table.best[e] = max(table.best[e], x + rule_worth(k, parts, worth))


@kernel
def try_word(e: int, s: int, grid: Grid, parts: PartNumbers, worth: Floats, table: LicensedTable) -> None:
    """The word right below an entry, if the symbol can stand over it and nothing else is better."""
    X = grid.chart.symbol[e]
    if leaf_weight(grid, s, X) == np.inf:
        return
    value = worth[parts.leaf[X]] if parts.leaf[X] >= 0 else 0.0
    # A preterminal that does not count takes back its node's worth; in a cycle the node can be passed before.
    if parts.node[X] >= 0 and not parts.preterminals and not parts.cyclic[X]:
        value -= worth[parts.node[X]]
    if value >= table.best[e]:
        table.best[e], table.over_word[e] = value, True


@kernel
def close_components(grid: Grid, parts: PartNumbers, worth: Floats, place: Ints, table: LicensedTable) -> None:
    """Chains of unary rules over one span: each component after those below it; ``place[X]`` is the entry of X, or
    -1."""
    unary = grid.unary
    for c in range(len(unary.member_first) - 1):
        total, value, way_out, way_rule = 0.0, -np.inf, -1, -1
        for i in range(unary.member_first[c], unary.member_first[c + 1]):
            X = unary.member[i]
            if place[X] >= 0:
                total += worth[parts.node[X]] if parts.node[X] >= 0 else 0.0
                if way_out < 0 or table.best[place[X]] > value + TIE:
                    value, way_out = table.best[place[X]], place[X]
        if way_out < 0:
            continue
        for i in range(unary.rule_first[c], unary.rule_first[c + 1]):
            u = unary.rule[i]
            above, below = place[unary.parent[u]], place[unary.child[u]]
            if above < 0 or below < 0:
                continue
            weight = worth[parts.unary[u]] if parts.unary[u] >= 0 else 0.0
            if unary.component[unary.child[u]] == c:
                total += weight
            elif weight + table.best[below] > value + TIE:
                value, way_out, way_rule = weight + table.best[below], above, u
        for i in range(unary.member_first[c], unary.member_first[c + 1]):
            e = place[unary.member[i]]
            if e >= 0:
                table.best[e], table.exit[e], table.exit_rule[e] = total + value, way_out, way_rule


@kernel
def weigh(mode: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, place: Ints, worth: Floats) -> bool:
    """Fill in the worth of every part over [s, t), and ``place``, the entry of each symbol that has a parse above
    it."""
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
            add_worth(mode, e, s, t, grid, outer, parts, place, worth)
    if len(parts.binary) > 0 and t > s + 1:
        add_binary_worth(mode, s, t, grid, outer, parts, place, worth)
    return True


@kernel
def best_licensed(mode: int, n: int, grid: Grid, outer: Outer, parts: PartNumbers) -> LicensedTable:
    """The best value of every entry of the chart that has a parse above it."""
    chart, size = grid.chart, len(grid.chart.symbol)
    table = LicensedTable(
        np.full(size, -np.inf),
        np.zeros(size, np.bool_),
        np.arange(size),
        np.full(size, -1, np.int64),
        np.full(chart.left_row.shape, -np.inf),
        np.full(chart.right_row.shape, -np.inf),
    )
    place, worth = np.full(len(grid.binary.left_id), -1, np.int64), np.zeros(parts.size)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            if not weigh(mode, s, t, grid, outer, parts, place, worth):
                continue
            if d > 1:
                best_of_binary(s, t, grid, parts, worth, place, table)
            for e in range(chart.first[s, t], chart.last[s, t]):
                if d == 1 and place[chart.symbol[e]] >= 0:
                    try_word(e, s, grid, parts, worth, table)
            close_components(grid, parts, worth, place, table)
            for e in range(chart.first[s, t], chart.last[s, t]):
                X = chart.symbol[e]
                if place[X] < 0:
                    continue
                place[X] = -1
                if grid.unary.component[X] < 0 and parts.node[X] >= 0:
                    table.best[e] += worth[parts.node[X]]
                B, C = grid.binary.left_id[X], grid.binary.right_id[X]
                if B >= 0 and d < n:
                    table.left_row[chart.lefts[s, chart.slot[s, B], 1], t] = table.best[e]
                if C >= 0 and d < n:
                    table.right_row[chart.rights[t, C, 0], s] = table.best[e]
    return table


@kernel
def best_production(
    mode: int, A: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, table: LicensedTable
) -> tuple[int, int]:
    """The best binary rule of A over [s, t) and its split; among equals the first split, then the first rule."""
    place, worth = np.full(len(grid.binary.left_id), -1, np.int64), np.zeros(parts.size)
    weigh(mode, s, t, grid, outer, parts, place, worth)
    value, rule, split = -np.inf, -1, -1
    for i in range(grid.binary.by_parent_first[A], grid.binary.by_parent_first[A + 1]):
        k = grid.binary.by_parent[i]
        row_b, row_c, lo, hi = rows_of(grid, k, s, t)
        weight = rule_worth(k, parts, worth) if lo <= hi else 0.0
        for r in range(lo, hi + 1):
            x = weight + (table.left_row[row_b, r] + table.right_row[row_c, r])
            if x > value + TIE or (r < split and x >= value - TIE):
                value, rule, split = x, k, r
    return rule, split


def licensed_steps(mode: int, grid: Grid, outer: Outer, table: LicensedTable, parts: PartNumbers, root: int, n: int) -> list[int]:
    """The steps of the best tree (see :mod:`treegauge.parsing.derivations`), from the entry of its root."""
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    steps: list[int] = []
    stack = [(root, 0, n)]
    while stack:
        entry, s, t = stack.pop()
        way_out, rule = int(table.exit[entry]), int(table.exit_rule[entry])
        X, out = int(grid.chart.symbol[entry]), int(grid.chart.symbol[way_out])
        over_word = rule < 0 and bool(table.over_word[way_out])
        steps.extend(n_symbols + u for u in _cycle_path(grid, parts, X, out, over_word and not parts.preterminals))
        if rule >= 0:
            steps.append(n_symbols + rule)
            stack.append((_entry(grid, s, t, int(grid.unary.child[rule])), s, t))
        elif over_word:
            steps.append(out)
        else:
            k, r = best_production(mode, out, s, t, grid, outer, parts, table)
            steps.append(n_symbols + n_unary + k)
            stack.append((_entry(grid, r, t, int(grid.binary.right[k])), r, t))
            stack.append((_entry(grid, s, r, int(grid.binary.left[k])), s, r))
    return steps


def _entry(grid: Grid, s: int, t: int, X: int) -> int:
    first, last = int(grid.chart.first[s, t]), int(grid.chart.last[s, t])
    return first + grid.chart.symbol[first:last].tolist().index(X)


def _cycle_path(grid: Grid, parts: PartNumbers, start: int, end: int, last_does_not_count: bool) -> list[int]:
    """The unary rules of a path from start to end that visits all of a cycle: its members, and its rules where
    they count."""
    unary = grid.unary
    c = int(unary.component[start])
    if c < 0:
        return []
    rules = [int(u) for u in unary.rule[unary.rule_first[c] : unary.rule_first[c + 1]] if unary.component[unary.child[u]] == c]
    if not rules:
        return []
    members = {int(x) for x in unary.member[unary.member_first[c] : unary.member_first[c + 1]]}
    # A node counts once it has been left by a rule; the last one counts too, unless it is a preterminal left out.
    wanted = {x for x in members if parts.node[x] >= 0}
    unused = {u for u in rules if parts.unary[u] >= 0}
    if not last_does_not_count:
        wanted.discard(end)
    path: list[int] = []
    at = start
    while unused or wanted or at != end:
        goals = wanted | {int(unary.parent[u]) for u in unused} or {end}
        leg = _shortest(grid, rules, at, goals)
        at = int(unary.child[leg[-1]]) if leg else at
        if not leg:
            leg = [next(u for u in sorted(rules, key=lambda u: u not in unused) if int(unary.parent[u]) == at)]
            at = int(unary.child[leg[0]])
        path += leg
        unused.difference_update(leg)
        wanted.difference_update(int(unary.parent[u]) for u in leg)
    return path


def _shortest(grid: Grid, rules: list[int], start: int, goals: set[int]) -> list[int]:
    """The shortest chain of rules from a symbol to one of the goals; empty if it is one itself."""
    came: dict[int, list[int]] = {start: []}
    queue = [start]
    for at in queue:
        if at in goals:
            return came[at]
        for u in rules:
            child = int(grid.unary.child[u])
            if int(grid.unary.parent[u]) == at and child not in came:
                came[child] = [*came[at], u]
                queue.append(child)
    raise AssertionError("the members of a component reach each other")


def licensed_labelled_recall(forest: Forest, *, pre: bool = True) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003). Without ``pre`` preterminals
    do not count."""

    def number() -> PartNumbers:
        ids = _Numbers()
        return _part_numbers(forest, ids, node=[ids.of(key) for key in _label_keys(forest)], preterminals=pre)

    return _best_parse(forest, ("nodes", pre), number)


def parent_child(forest: Forest, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link is the parent's span and label, the child's index and label; words are no children. ``binary`` counts the
    links of productions with two children, ``all`` those of every production, as the metric PC does.
    """
    return _best_parse(forest, ("links", count), lambda: _numbered_links(forest, count))


def _numbered_links(forest: Forest, count: str) -> PartNumbers:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        children = [None if word else keys[x] for x, word in zip(rule.rhs, rule.words, strict=True)]
        if len(children) == 2 or (len(children) > 2 and count == "all"):
            links = [(keys[rule.lhs], i, child) for i, child in enumerate(children) if child is not None]
            rules[source] = [ids.of(link) for link in links]
        elif count == "all" and rule.is_unary:
            alone[source] = ids.of((keys[rule.lhs], "only", children[0]))
    return _part_numbers(forest, ids, rules=rules, alone=alone)


def frames(forest: Forest, *, count: Literal["strict", "bin", "many", "all"] = "bin") -> Best:
    """The parse with most right productions on average, splits aside: M_CFP (Sima'an 2003).

    ``bin`` counts productions with two children, ``strict`` only those of them without words, ``many`` those with
    two or more children (as the metric CF does), ``all`` every production.
    """
    return _best_parse(forest, ("frames", count), lambda: _numbered_frames(forest, count))


def _numbered_frames(forest: Forest, count: str) -> PartNumbers:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        right = tuple((x, True) if word else (keys[x], False) for x, word in zip(rule.rhs, rule.words, strict=True))
        if len(right) > 1 and _counts(rule, count):
            rules[source] = [ids.of((keys[rule.lhs], right))]
        elif rule.is_unary and count == "all":
            alone[source] = ids.of((keys[rule.lhs], right))
    leaf = [ids.of((key, "word")) for key in _label_keys(forest)] if count == "all" else None
    return _part_numbers(forest, ids, rules=rules, alone=alone, leaf=leaf)


def _counts(rule: Rule, count: str) -> bool:
    return count in ("many", "all") or (len(rule.rhs) == 2 and (count == "bin" or not any(rule.words)))


class _Numbers:
    """A numbering of parts, in order of first use."""

    def __init__(self) -> None:
        self.ids: dict[object, int] = {}

    def of(self, part: object) -> int:
        return self.ids.setdefault(part, len(self.ids))


def _label_keys(forest: Forest) -> list[object]:
    """For each visible symbol what it counts as: its output label, or itself if it does not show."""
    symbols = forest.binary.symbols[: forest.binary.visible]
    return [(symbol,) if label is None else label for symbol, label in zip(symbols, forest.output_labels, strict=False)]


def _keys_by_name(forest: Forest) -> dict[str, object]:
    return dict(zip(forest.binary.symbols[: forest.binary.visible], _label_keys(forest), strict=True))


def _best_parse(forest: Forest, key: tuple[object, ...], number: Callable[[], PartNumbers]) -> Best:
    """The best parse where things count as numbered parts; the numbers are made once for a grammar."""
    derived = forest.binary.derived
    if ("parts", *key) not in derived:
        derived["parts", *key] = number()
    parts: PartNumbers = derived["parts", *key]
    inside_chart = forest.inside_chart
    table = best_licensed(inside_chart.mode, forest.n, inside_chart.grid, forest.outer, parts)
    steps = licensed_steps(inside_chart.mode, inside_chart.grid, forest.outer, table, parts, inside_chart.root, forest.n)
    return Best(forest.tree(steps), float(table.best[inside_chart.root]))


def _part_numbers(
    forest: Forest,
    ids: _Numbers,
    *,
    node: Sequence[int] | None = None,
    leaf: Sequence[int] | None = None,
    rules: dict[int, list[int]] | None = None,
    alone: dict[int, int] | None = None,
    preterminals: bool = True,
) -> PartNumbers:
    """The part numbers of nodes, leaves, rules of two or more children and unary rules, in the order of the binarised
    grammar."""
    binary, n_symbols = forest.binary, forest.binary.n_symbols
    by_rule = [(rules or {}).get(source, []) for source in binary.binary_source.tolist()]
    none = [-1] * n_symbols
    return PartNumbers(
        size=len(ids.ids),
        node=np.array([*(node or none), *none][:n_symbols], np.int32),
        leaf=np.array([*(leaf or none), *none][:n_symbols], np.int32),
        unary=np.array([(alone or {}).get(source, -1) for source in binary.unary_source.tolist()], np.int32),
        binary_first=np.concatenate([[0], np.cumsum([len(p) for p in by_rule], dtype=np.int64)]).astype(np.int64),
        binary=np.array([part for p in by_rule for part in p], np.int32),
        preterminals=preterminals,
        cyclic=binary.cyclic,
    )
