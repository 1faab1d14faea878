"""Licensed objectives: the best of the grammar's own parses, for any parts that nodes and productions count as.

M_LR counts nodes (s, t, X), M_PCh parent-child links, M_CFP productions with the split summed out (Sima'an 2003, section 4). Each
objective numbers its parts; :mod:`treegauge.parsing.licensed_kernels` finds the parse whose parts have the largest posteriors.

A span can have a chain of unary rules over it. No chain repeats a symbol or a shown label (unless every parse does). The chains of
a grammar are listed once; each is worth the sum of its parts and, for constituents, less lam for each label but the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from treegauge.compilation import Floats
from treegauge.errors import UnknownName
from treegauge.grammar.pcfg import Rule
from treegauge.parsing.chain_labels import Chain, shown_labels
from treegauge.parsing.derivations import Best
from treegauge.parsing.free import LabelChoice
from treegauge.parsing.licensed_kernels import Chains, LicensedTable, PartNumbers, best_licensed, best_production

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest


def licensed_labelled_recall(
    forest: Forest, *, pre: bool = True, labels: LabelChoice | None = None, lam: float | None = None
) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003).

    ``pre`` counts preterminals as constituents, as in the metric ``goodman:pre``. Only this objective does so by default, because
    the paper sums over all nodes; Goodman's metrics and objectives leave preterminals out unless asked.

    Each shown (span, label) counts once, and no chain repeats a shown label. With ``labels="set"`` each label of a span but the
    first, and each phrase over one word, costs ``lam`` (0.5 unless given); with ``labels="one"``, the paper's reading, labels cost
    nothing. The default is ``"set"`` if ``lam`` is given or the grammar's symbols are annotated (shown as other labels), else
    ``"one"``.
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

    A link consists of the parent's span and label and the child's index and label; words are not children, and an only child has no
    index. ``count`` has the values of the metric ``parent-child``: ``binary`` counts the links of productions with two children, as
    in the paper's grammars, ``all`` those of every production.
    """
    _check_count(count, ("all", "binary"))
    return _best_parse(forest, ("links", count), lambda: _link_numbers(forest, count))


def _check_count(count: str, known: Sequence[str]) -> None:
    if count not in known:
        raise UnknownName("value of count", count, known)


def _link_numbers(forest: Forest, count: str) -> PartNumbers:
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

    ``count`` has the values of the metric ``frames``: ``many`` counts productions with two children or more, ``bin`` those with
    two, ``strict`` those with two and no words, ``all`` every production.
    """
    _check_count(count, ("strict", "bin", "many", "all"))
    return _best_parse(forest, ("frames", count), lambda: _frame_numbers(forest, count))


def _frame_numbers(forest: Forest, count: str) -> PartNumbers:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        right = tuple((x, True) if word else (keys[x], False) for x, word in zip(rule.rhs, rule.words, strict=True))
        if len(right) > 1 and _is_counted(rule, count):
            rules[source] = [ids.of((keys[rule.lhs], right))]
        elif rule.is_unary and count == "all":
            alone[source] = ids.of((keys[rule.lhs], right))
    leaf = [ids.of((key, "word")) for key in _label_keys(forest)] if count == "all" else None
    return _part_numbers(forest, ids, rules=rules, alone=alone, leaf=leaf)


def _is_counted(rule: Rule, count: str) -> bool:
    return count in ("many", "all") or (len(rule.rhs) == 2 and (count == "bin" or not any(rule.words)))


class _Numbers:
    """A numbering of parts, in order of first use."""

    def __init__(self) -> None:
        self.ids: dict[object, int] = {}

    def of(self, part: object) -> int:
        return self.ids.setdefault(part, len(self.ids))


def _label_keys(forest: Forest) -> list[object]:
    """The part that each visible symbol counts as: its output label, or the symbol itself if it does not show."""
    symbols = forest.binary.symbols[: forest.binary.visible]
    return [(symbol,) if label is None else label for symbol, label in zip(symbols, forest.output_labels, strict=False)]


def _keys_by_name(forest: Forest) -> dict[str, object]:
    return dict(zip(forest.binary.symbols[: forest.binary.visible], _label_keys(forest), strict=True))


def _best_parse(forest: Forest, key: tuple[object, ...], number: Callable[[], PartNumbers], lam: float = 0.0) -> Best:
    """The parse whose parts have the largest sum of posteriors; ``number`` is called once for a grammar and ``key``."""
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
    """The part numbers of nodes, leaves, rules with two children or more, and unary rules (``alone``), as columns of the binarised
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
