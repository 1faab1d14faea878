"""The best of a trained model's own parses: by the parts that count, or by the product of its rules' posteriors.

Finding the likeliest tree of a grammar with subcategories is NP-hard (Sima'an 1996), so parses are chosen by the posteriors of
their parts, in which the subcategories are summed out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Bools, Floats, Ints, kernel
from treegauge.grammar.latent.rule_rows import BaseGrammar, offsets
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY, PackedForest
from treegauge.parsing.latent.latent_derivations import derivation_of
from treegauge.parsing.posterior_view import WORD, Best, CountedParts, ProductionChild

if TYPE_CHECKING:
    from treegauge.parsing.latent.latent_forest import LatentForest

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
_TIE = 1e-9
"""The weight of tags' posteriors where tags do not count: likelier tags decide between trees that are otherwise equal."""


class RuleParts(NamedTuple):
    """The numbers of the parts of unary and binary rules, those of rule r at ``first[r]:first[r+1]``, and of tags over words (-1:
    none); there are ``size`` parts."""

    unary_first: Int64
    unary: Int64
    binary_first: Int64
    binary: Int64
    tag: Int64
    size: int


def rule_parts(base: BaseGrammar, counted: CountedParts) -> RuleParts:
    """The parts of a base grammar's rules. An inner symbol counts as a label of its own; a unary rule stands for all productions of
    its chain."""
    ids: dict[Hashable, int] = {}

    def child(X: int) -> ProductionChild:
        name: Hashable = (base.title(X),) if base.is_inner[X] else base.names[X]
        return (name, False) if name else WORD

    def numbers(*symbols: tuple[Hashable, Sequence[ProductionChild]]) -> list[int]:
        parts = (part for parent, children in symbols for part in counted.productions(parent, children))
        return [ids.setdefault(part, len(ids)) for part in parts]

    unary = [
        numbers(
            *(
                (upper[0], [lower])
                for upper, lower in pairwise([child(A), *((m, False) for m in base.middles.get((A, B), ())), child(B)])
            )
        )
        for A, B in base.unary.tolist()
    ]
    binary = [numbers((child(A)[0], [child(B), child(C)])) for A, B, C in base.binary.tolist()]
    tag = [
        numbers((name, [WORD])) if is_tag and name else [] for name, is_tag in zip(base.names, base.is_tag.tolist(), strict=True)
    ]
    return RuleParts(
        offsets(np.array([len(own) for own in unary], np.int64)),
        np.array([part for own in unary for part in own], np.int64),
        offsets(np.array([len(own) for own in binary], np.int64)),
        np.array([part for own in binary for part in own], np.int64),
        np.array([(*own, -1)[0] for own in tag], np.int64),
        len(ids),
    )


def best_parse(forest: LatentForest, counted: CountedParts) -> Best:
    """The parse whose parts have the largest sum of posteriors."""
    derived, key = forest.model.derived, ("parts", *counted.key)
    if key not in derived:
        derived[key] = rule_parts(forest.model.base, counted)
    items, edges = _production_worths(forest, derived[key])
    items += (1.0 if counted.nodes and counted.preterminals else _TIE) * _tag_posteriors(forest)
    if counted.nodes:
        of_items, of_edges = _node_worths(forest, counted.lam)
        items, edges = items + of_items, edges + of_edges
    return _best_by_worth(forest, items, np.where(forest.edge_posterior > 0, edges, -np.inf))


def _node_worths(forest: LatentForest, lam: float) -> tuple[Float64, Float64]:
    """The worths of items and of edges by their labels as nodes: each label of a span but the first, and each phrase over one word,
    costs ``lam``."""
    packed, tables = forest.packed_forest, forest.tables
    label = tables.labels.label[packed.symbol]
    g = np.where(label >= 0, forest.posteriors.label[packed.start, packed.end, np.maximum(label, 0)], 0.0)
    items = np.where(packed.high | (label < 0), 0.0, g - np.where(packed.end - packed.start == 1, lam, 0.0))
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    added = np.where(label >= 0, g - lam, 0.0)[owner] + _middle_worth(forest, owner, lam)
    return items, np.where((packed.kind == UNARY) & packed.high[owner], added, 0.0)


def _production_worths(forest: LatentForest, parts: RuleParts) -> tuple[Float64, Float64]:
    """The worths of items (tags over words) and of edges as productions: for each of their parts the posterior of all over the
    same span that count as it."""
    packed = forest.packed_forest
    items, edges = np.zeros(len(packed.symbol)), np.zeros(len(packed.kind))
    if not parts.size:
        return items, edges
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    span = packed.start.astype(np.int64) * (forest.n + 1) + packed.end
    leaf = np.flatnonzero(parts.tag[packed.symbol] >= 0)
    rows = [(leaf, span[leaf], parts.tag[packed.symbol[leaf]], forest.item_posterior[leaf])]
    for kind, first, part in ((UNARY, parts.unary_first, parts.unary), (BINARY, parts.binary_first, parts.binary)):
        own = np.flatnonzero(packed.kind == kind)
        rule = packed.rule[own]
        size = first[rule + 1] - first[rule]
        edge = np.repeat(own, size)
        at = np.arange(len(edge)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(first[rule], size)
        rows.append((edge, span[owner[edge]], part[at], forest.edge_posterior[edge]))
    where, spans, numbers, posterior = (np.concatenate(column) for column in zip(*rows, strict=True))
    _, key = np.unique(spans * parts.size + numbers, return_inverse=True)
    worth = np.bincount(key, posterior)[key] if len(key) else np.zeros(0)
    items[leaf] = worth[: len(leaf)]
    return items, edges + np.bincount(where[len(leaf) :], worth[len(leaf) :], len(edges))


def best_product(forest: LatentForest) -> Best:
    """The parse whose rules have the largest product of posteriors, over all grammars; its score is the logarithm of that."""
    packed, is_tag = forest.packed_forest, forest.tables.rules.is_tag
    with np.errstate(divide="ignore"):
        edges = np.sum(
            [
                np.where(packed.kind == SAME, np.where(each.edge > 0, 0.0, -np.inf), np.log(each.edge))
                for _, each in forest.grammar_passes
            ],
            axis=0,
        )
        items = np.sum([np.where(is_tag[packed.symbol], np.log(each.item), 0.0) for _, each in forest.grammar_passes], axis=0)
        roots = np.sum([np.log(_root_posterior(forest, each.item, each.edge)) for _, each in forest.grammar_passes], axis=0)
    return _best_by_worth(forest, items, edges, roots)


def _middle_worth(forest: LatentForest, owner: NDArray[np.int64], lam: float) -> Float64:
    """For each edge, the sum of g - lam over the labels in the middle of its chain."""
    packed, labels = forest.packed_forest, forest.tables.labels
    worth = np.zeros(len(packed.kind))
    for d in np.flatnonzero(packed.kind == UNARY).tolist():
        u, v = int(packed.rule[d]), int(owner[d])
        if packed.high[v]:
            for X in labels.middle[labels.middle_first[u] : labels.middle_first[u + 1]].tolist():
                worth[d] += float(forest.posteriors.label[packed.start[v], packed.end[v], X]) - lam
    return worth


def _tag_posteriors(forest: LatentForest) -> Float64:
    """For each item, the posterior of its tag; 0 for phrases."""
    packed = forest.packed_forest
    tag = forest.tables.labels.tag[packed.symbol]
    return np.where(tag >= 0, forest.posteriors.tag[packed.start, np.maximum(tag, 0)], 0.0)


def _best_by_worth(forest: LatentForest, items: Float64, edges: Float64, roots: Float64 | None = None) -> Best:
    """The tree of the forest with the largest sum of these values of its items, edges and root."""
    packed = forest.packed_forest
    if roots is None:
        roots = np.where(forest.tables.rules.root[packed.symbol] > 0, 0.0, -np.inf)
    root, value, choice = best_forest_tree(forest.n, packed, forest.tables.rules.is_tag, items, edges, roots)
    if root < 0:
        return Best(forest.best().tree, -math.inf)
    return Best(forest.tree(derivation_of(packed, root, choice)), float(value))


@kernel
def best_forest_tree(
    n: int, forest: PackedForest, is_tag: Bools, item_worth: Floats, edge_worth: Floats, root_worth: Floats
) -> tuple[int, float, Ints]:
    """The tree of the forest with the largest sum of the values of its items, edges and root (-inf: excluded): its root item (-1:
    there is none), its value, and the best edge of each item."""
    value, choice = np.full(len(forest.symbol), -np.inf), np.full(len(forest.symbol), -1, np.int64)
    for v in range(len(forest.symbol) - 1, -1, -1):
        if is_tag[forest.symbol[v]]:
            value[v] = item_worth[v]
            continue
        for d in range(forest.first[v], forest.first[v + 1]):
            if forest.kind[d] < 0 or edge_worth[d] == -np.inf:
                continue
            x = edge_worth[d] + value[forest.left[d]]
            if forest.right[d] >= 0:
                x += value[forest.right[d]]
            if x + item_worth[v] > value[v]:
                value[v] = x + item_worth[v]
                choice[v] = d
    root, best = -1, -np.inf
    for v in range(len(forest.symbol)):
        if forest.start[v] != 0 or forest.end[v] != n:
            break
        if (forest.high[v] or is_tag[forest.symbol[v]]) and value[v] + root_worth[v] > best:
            root, best = v, value[v] + root_worth[v]
    return root, best, choice


def _root_posterior(forest: LatentForest, item: Float64, edge: Float64) -> Float64:
    """The probability that an item is the root: its posterior minus that of the edges that lead to it."""
    packed = forest.packed_forest
    if forest.n > 1:
        return np.where((packed.start == 0) & (packed.end == forest.n) & packed.high, item, 1.0)
    below = np.bincount(packed.left[packed.kind >= 0], edge[packed.kind >= 0], len(item))
    return np.maximum(item - below, 0.0)
