"""Licensed objectives: the best of the grammar's own parses, for any parts that nodes and productions count as.

M_LR counts nodes (s, t, X), M_PCh parent-child links, M_CFP productions with the split summed out (Sima'an 2003,
section 4). The caller numbers the parts; here the worth of a part in a span is its posterior, the sum over all nodes
and productions there that count as it, and best(s, t, A) = worth of the node + max over productions and splits of
(worth of the production + best of the children), over the part of the chart that has a parse above it.

Over one span stands a chain of unary rules. No chain repeats a symbol or a shown label (unless every parse does): the chains
of a grammar are listed once, and each is worth the sum of its parts, for constituents less lam for each label but the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from treegauge.errors import UnknownName
from treegauge.grammar.pcfg import Rule
from treegauge.parsing.derivations import Best, Grid
from treegauge.parsing.free import LabelChoice
from treegauge.parsing.jit import Floats, Ints, kernel
from treegauge.parsing.labels import Chain, shown_labels
from treegauge.parsing.outside_pass import Outer
from treegauge.parsing.semirings import LOG_SUM, MAX, dot

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = [
    "Chains",
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
    ``preterminals`` a node directly above a word does not count.
    """

    size: int
    node: Ints
    leaf: Ints
    unary: Ints
    binary_first: Ints
    binary: Ints
    preterminals: bool


class Chains(NamedTuple):
    """The chains of unary rules above each bottom symbol X: ``first[X]:first[X+1]``, each with its top symbol, the parts it counts
    as (those of the bottom node first, ``bottom`` of them), and the price of its labels over a phrase and over a word."""

    first: Ints
    top: Ints
    part_first: Ints
    part: Ints
    bottom: Ints
    phrase_price: Floats
    word_price: Floats


class LicensedTable(NamedTuple):
    """For every entry of a chart: the best value as the bottom of a chain (``inner``) and with the chain below it (``best``), where
    that chain ends (``bottom``, an entry) and which it is (``chain``).

    ``left_row`` and ``right_row`` hold the best values of children as the chart's rows hold their inside values.
    """

    inner: Floats
    best: Floats
    bottom: Ints
    chain: Ints
    left_row: Floats
    right_row: Floats


@kernel
def posterior(mode: int, outer: float, weight: float, inner: float) -> float:
    return np.exp(outer + weight + inner) if mode == LOG_SUM else outer * weight * inner


@kernel
def one_of(mode: int) -> float:
    return 0.0 if mode == LOG_SUM else 1.0


@kernel
def grid_rows(grid: Grid, k: int, s: int, t: int) -> tuple[int, int, int, int]:
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
def add_worth(
    mode: int, e: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, node: Floats, place: Ints, worth: Floats
) -> None:
    """Add the posteriors of one entry's node and productions to the parts they count as; ``node`` are those of the nodes."""
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
                    table.inner[e] = max(table.inner[e], x + rule_worth(k, parts, worth))


@kernel
def words_of_cell(s: int, grid: Grid, parts: PartNumbers, worth: Floats, place: Ints, table: LicensedTable) -> None:
    """The value of each symbol right above a word."""
    for i in range(grid.leaves.first[s], grid.leaves.first[s + 1]):
        X = grid.leaves.symbol[i]
        if place[X] >= 0:
            table.inner[place[X]] = worth[parts.leaf[X]] if parts.leaf[X] >= 0 else 0.0


@kernel
def close_chains(
    s: int, t: int, grid: Grid, parts: PartNumbers, chains: Chains, worth: Floats, place: Ints, table: LicensedTable
) -> None:
    """The best chain above each bottom of a cell; ``place[X]`` is the entry of X, or -1."""
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


@kernel
def weigh(
    mode: int, s: int, t: int, grid: Grid, outer: Outer, parts: PartNumbers, node: Floats, place: Ints, worth: Floats
) -> bool:
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
            add_worth(mode, e, s, t, grid, outer, parts, node, place, worth)
    if len(parts.binary) > 0 and t > s + 1:
        add_binary_worth(mode, s, t, grid, outer, parts, place, worth)
    return True


@kernel
def best_licensed(mode: int, n: int, grid: Grid, outer: Outer, parts: PartNumbers, chains: Chains, node: Floats) -> LicensedTable:
    """The best value of every entry of the chart that has a parse above it."""
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


def licensed_steps(forest: Forest, table: LicensedTable, parts: PartNumbers, node: Floats, chains: Sequence[Chain]) -> list[int]:
    """The steps of the best tree (see :mod:`treegauge.parsing.derivations`), from the entry of its root."""
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
            stack.append((_entry(grid, r, t, int(grid.binary.right[k])), r, t))
            stack.append((_entry(grid, s, r, int(grid.binary.left[k])), s, r))
    return steps


def _entry(grid: Grid, s: int, t: int, X: int) -> int:
    first, last = int(grid.chart.first[s, t]), int(grid.chart.last[s, t])
    return first + grid.chart.symbol[first:last].tolist().index(X)


def licensed_labelled_recall(
    forest: Forest, *, pre: bool = True, labels: LabelChoice | None = None, lam: float | None = None
) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003).

    ``pre`` counts preterminals as constituents, as in the metric ``goodman:pre``; it is the default here, since the paper sums over
    all nodes, and only here: Goodman's metrics and objectives leave preterminals out unless asked.

    Each shown (span, label) counts once, and no chain repeats a shown label. With ``labels="set"`` each label of a span but the
    first, and each phrase over one word, costs ``lam`` (0.5 unless given); with ``labels="one"``, the paper's reading, labels cost
    nothing. The default is the former where symbols are annotated (they show as other labels) or ``lam`` is given.
    """
    if labels not in (None, "one", "set"):
        raise UnknownName("reading of labels", str(labels), ("one", "set"))
    sets = labels == "set" or (labels is None and (lam is not None or bool(forest.grammar.labels)))
    price = (0.5 if lam is None else lam) if sets else 0.0

    def number() -> PartNumbers:
        group = shown_labels(forest).group.tolist()
        ids = _Numbers()
        node = [ids.of(label) if label >= 0 else -1 for label in group]
        return _part_numbers(forest, ids, node=node, preterminals=pre)

    return _best_parse(forest, ("nodes", pre), number, price)


def parent_child(forest: Forest, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link is the parent's span and label, the child's index and label; words are not children, and an only child is at no index.
    ``binary``, as in the paper's grammars, counts the links of productions with two children, ``all`` those of every production,
    as the metric ``parent-child`` does with the same words.
    """
    _check_count(count, ("all", "binary"))
    return _best_parse(forest, ("links", count), lambda: _numbered_links(forest, count))


def _check_count(count: str, known: Sequence[str]) -> None:
    if count not in known:
        raise UnknownName("value of count", count, known)


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


def frames(forest: Forest, *, count: Literal["strict", "bin", "many", "all"] = "many") -> Best:
    """The parse with most right productions on average, splits aside: M_CFP (Sima'an 2003).

    ``many`` counts productions with two children or more, ``bin`` those with two, ``strict`` only those of them without words,
    ``all`` every production, as the metric ``frames`` does with the same words.
    """
    _check_count(count, ("strict", "bin", "many", "all"))
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


def _best_parse(forest: Forest, key: tuple[object, ...], number: Callable[[], PartNumbers], lam: float = 0.0) -> Best:
    """The best parse where things count as numbered parts; the numbers are made once for a grammar."""
    derived, labels, inside_chart = forest.binary.derived, shown_labels(forest), forest.inside_chart
    if ("parts", *key) not in derived:
        derived["parts", *key] = number()
    parts: PartNumbers = derived["parts", *key]
    found = forest.label_posteriors
    node = found.any if parts.preterminals else found.any - found.over_word
    for distinct in (True, False):
        by_bottom = labels.simple_chains(distinct=distinct)
        columns = ("chains", distinct, lam, *key)
        if columns not in derived:
            derived[columns] = _chain_columns(by_bottom, parts, labels.group.tolist(), lam)
        chains: Chains = derived[columns]
        table = best_licensed(inside_chart.mode, forest.n, inside_chart.grid, forest.outer, parts, chains, node)
        if table.best[inside_chart.root] > -np.inf:
            every = [chain for above in by_bottom for chain in above]
            steps = licensed_steps(forest, table, parts, node, every)
            return Best(forest.tree(steps), float(table.best[inside_chart.root]))
    raise AssertionError("a forest with a parse has one that repeats no symbol in a chain")


def _chain_columns(by_bottom: Sequence[Sequence[Chain]], parts: PartNumbers, group: Sequence[int], lam: float) -> Chains:
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
            # A bottom whose label stands above it too is not all there is of that label.
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
    )
