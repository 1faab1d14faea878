"""Decoding objectives of latent-variable grammars.

Finding the likeliest tree of such a grammar is NP-hard (Sima'an 1996), so objectives are defined by posteriors. ``viterbi`` gives
the tree of the likeliest *derivation*; ``max-rule`` the tree whose rules have the largest product of posteriors (Petrov & Klein
2007), multiplied over grammars (Petrov 2010). With ``pre``, preterminals count too; since every word has one, that changes the best
tree only of the objectives that are restricted to trees of the grammar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.compilation import Bools, Floats, Ints, kernel
from treegauge.errors import UnknownName
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.free import best_spans, split_tree, weights_and_labels
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY, PackedForest
from treegauge.parsing.latent.latent_derivations import derivation_of
from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.parsing.objectives import check_options, minimum_risk, viterbi, with_metric
from treegauge.spelling import british
from treegauge.trees.tree import Child, Tree

DEFAULT = "labelled-precision-recall"
Float64 = NDArray[np.float64]


def labelled_precision_recall(forest: LatentForest, *, lam: float | None = None) -> Best:
    """The tree with the largest sum of g - lam over its nodes (default: the model's lam). The root is always kept."""
    lam = forest.model.settings.lam if lam is None else lam
    g = forest.posteriors.label
    weight = np.where(g > 0, np.maximum(g - lam, 0.0), 0.0).sum(axis=2)
    if not weight[0, -1] > 0:
        weight[0, -1] = g[0, -1].max() - lam
    value, split = best_spans(weight, True)
    worth = _labels_above(forest, lam)
    return Best(_free_tree(forest, split, lambda s, t: _chain(forest, s, t, worth)), float(value))


def labelled_recall(forest: LatentForest, *, pre: bool = False, lam: float = 0.5) -> Best:
    """The tree with the most correct labelled constituents in expectation (Goodman 1996, Figure 1).

    The best label of a span of two or more words counts g; further labels of a span, and phrases over one word, count g - lam.
    """
    g = forest.posteriors.label
    best = g.max(axis=2)
    weight = best + np.maximum(np.where(g < best[:, :, None], g - lam, 0.0), 0.0).sum(axis=2)
    words = np.arange(forest.n)
    weight[words, words + 1] = np.maximum(g[words, words + 1] - lam, 0.0).sum(axis=1)
    value, split = best_spans(weight, True)

    worth = _labels_above(forest, lam)

    def labels(s: int, t: int) -> list[str]:
        return _chain(forest, s, t, worth, free=t > s + 1)

    tags = float(forest.posteriors.tag.max(axis=1).sum()) if pre else 0.0
    return Best(_free_tree(forest, split, labels), float(value) + tags)


def bracketed_recall(forest: LatentForest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with the most correct brackets in expectation (Goodman 1996, section 4): a bracket counts the probability that some
    node has its span. Brackets are labelled ``X``, or with ``labels="argmax"`` by their likeliest label."""
    weight = forest.span_labels.some.copy()
    if not pre:
        words = np.arange(forest.n)
        weight[words, words + 1] = 0.0
    value, split = best_spans(weight, False)
    return Best(_free_tree(forest, split, lambda s, t: _one_label(forest, s, t, labels)), float(value))


def general(forest: LatentForest, *, weights: ArrayLike | Callable[[LatentForest], ArrayLike]) -> Best:
    """The tree with the largest sum of given span weights, as in :func:`treegauge.parsing.free.general`. The weights are an
    (n, n+1) array, an (n, n+1, labels) array for the labels of ``forest.span_labels.names``, or a function of the forest."""
    label, weight = weights_and_labels(forest.n, forest.span_labels, weights(forest) if callable(weights) else weights)
    value, split = best_spans(weight, False)
    names, phrases = forest.span_labels.names, frozenset(forest.model.base.labels)

    def labels(s: int, t: int) -> list[str]:
        name = names[int(label[s, t])] if label[s, t] >= 0 else DUMMY
        if t > s + 1:
            return [name]
        return [name] if name in phrases and (weight[s, t] != 0.0 or forest.n == 1) else []

    return Best(_free_tree(forest, split, labels), float(value))


def max_rule(forest: LatentForest) -> Best:
    """The tree whose rules have the largest product of posteriors, multiplied over all grammars (Petrov & Klein 2007; Petrov 2010).
    Its score is the logarithm of that product."""
    packed = _packed_forest(forest)
    with np.errstate(divide="ignore"):
        edges = np.sum(
            [
                np.where(packed.kind == SAME, np.where(each.edge > 0, 0.0, -np.inf), np.log(each.edge))
                for _, each in forest.grammar_passes
            ],
            axis=0,
        )
        items = np.sum(
            [np.where(forest.tables.rules.is_tag[packed.symbol], np.log(each.item), 0.0) for _, each in forest.grammar_passes],
            axis=0,
        )
        roots = np.sum([np.log(_root_posterior(forest, each.item, each.edge)) for _, each in forest.grammar_passes], axis=0)
    return _best_licensed(forest, items, edges, roots)


_TIE = 1e-9
"""The weight of tags' posteriors where tags do not count: likelier tags decide between trees that are otherwise equal."""
_FURTHER = 0.5
"""The default cost of a label beyond the first of its span, and of a phrase over one word."""


def licensed_labelled_recall(forest: LatentForest, *, pre: bool = True, lam: float | None = None) -> Best:
    """The tree of the forest with the largest sum of g over its nodes (M_LR in Sima'an 2003), including preterminals unless
    ``pre`` is false.

    Each further label of a span, and each phrase over one word, costs 0.5; otherwise chains would grow without being correct. With
    ``lam`` every phrase costs ``lam`` instead.
    """
    packed, tables = _packed_forest(forest), forest.tables
    further = _FURTHER if lam is None else lam
    first = np.where(packed.end - packed.start == 1, further, 0.0) if lam is None else lam
    label = tables.labels.label[packed.symbol]
    g = np.where(label >= 0, forest.posteriors.label[packed.start, packed.end, np.maximum(label, 0)], 0.0)
    items = np.where(packed.high | (label < 0), 0.0, g - first)
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    added = np.where(label >= 0, g - further, 0.0)[owner] + _middle_worth(forest, owner, further)
    edges = np.where((packed.kind == UNARY) & packed.high[owner], added, 0.0)
    tags = (1.0 if pre else _TIE) * _tag_posteriors(forest)
    return _best_licensed(forest, items + tags, np.where(forest.edge_posterior > 0, edges, -np.inf))


def _middle_worth(forest: LatentForest, owner: NDArray[np.int64], lam: float) -> Float64:
    """For each edge, the sum of g - lam over the labels in the middle of its chain."""
    packed, labels = _packed_forest(forest), forest.tables.labels
    worth = np.zeros(len(packed.kind))
    for d in np.flatnonzero(packed.kind == UNARY).tolist():
        u, v = int(packed.rule[d]), int(owner[d])
        if packed.high[v]:
            for X in labels.middle[labels.middle_first[u] : labels.middle_first[u + 1]].tolist():
                worth[d] += float(forest.posteriors.label[packed.start[v], packed.end[v], X]) - lam
    return worth


def parent_child(forest: LatentForest) -> Best:
    """The tree of the forest with the most correct parent-child links of binary rules in expectation (M_PCh in Sima'an 2003).

    A link is the parent's span and label, the side of the child, and the child's label. Inner symbols count as labels.
    """
    base = forest.model.base
    left = base.binary[:, 0].astype(np.int64) * base.size + base.binary[:, 1]
    right = base.binary[:, 0].astype(np.int64) * base.size + base.binary[:, 2]
    return _best_licensed(
        forest, _TIE * _tag_posteriors(forest), _posterior_by_span(forest, left) + _posterior_by_span(forest, right)
    )


def frames(forest: LatentForest) -> Best:
    """The tree of the forest with the most correct binary productions in expectation, ignoring splits (M_CFP in Sima'an 2003)."""
    return _best_licensed(
        forest, _TIE * _tag_posteriors(forest), _posterior_by_span(forest, np.arange(len(forest.model.base.binary)))
    )


def _posterior_by_span(forest: LatentForest, part: NDArray[np.int64]) -> Float64:
    """For each edge of a binary rule, the posterior of all edges over the same span whose rules have the same ``part``; 0 for other
    edges, and -inf for pruned ones."""
    packed, posterior = _packed_forest(forest), forest.edge_posterior
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    binary = packed.kind == BINARY
    span = packed.start[owner[binary]].astype(np.int64) * (forest.n + 1) + packed.end[owner[binary]]
    own = part[packed.rule[binary]]
    _, key = np.unique(span * (int(part.max(initial=0)) + 1) + own, return_inverse=True)
    worth = np.zeros(len(packed.kind))
    worth[binary] = np.bincount(key, posterior[binary])[key] if binary.any() else 0.0
    return np.where(posterior > 0, worth, -np.inf)


def _tag_posteriors(forest: LatentForest) -> Float64:
    """For each item, the posterior of its tag; 0 for phrases."""
    packed = _packed_forest(forest)
    tag = forest.tables.labels.tag[packed.symbol]
    return np.where(tag >= 0, forest.posteriors.tag[packed.start, np.maximum(tag, 0)], 0.0)


def _best_licensed(forest: LatentForest, items: Float64, edges: Float64, roots: Float64 | None = None) -> Best:
    """The tree of the forest with the largest sum of these values of its items, edges and root."""
    packed = _packed_forest(forest)
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


def _packed_forest(forest: LatentForest) -> Any:
    assert forest.packed is not None
    return forest.packed[0]


def _root_posterior(forest: LatentForest, item: Float64, edge: Float64) -> Float64:
    """The probability that an item is the root: its posterior minus that of the edges that lead to it."""
    packed = _packed_forest(forest)
    if forest.n > 1:
        return np.where((packed.start == 0) & (packed.end == forest.n) & packed.high, item, 1.0)
    below = np.bincount(packed.left[packed.kind >= 0], edge[packed.kind >= 0], len(item))
    return np.maximum(item - below, 0.0)


def _labels_above(forest: LatentForest, lam: float) -> dict[tuple[int, int], list[int]]:
    """For each span, the labels with a posterior above ``lam``."""
    found: dict[tuple[int, int], list[int]] = {}
    for s, t, X in np.argwhere(forest.posteriors.label > max(lam, 0.0)).tolist():
        found.setdefault((s, t), []).append(X)
    return found


def _chain(forest: LatentForest, s: int, t: int, worth: Mapping[tuple[int, int], list[int]], *, free: bool = False) -> list[str]:
    """The labels over a span, from the top down: those above the threshold, or the likeliest one if the span must have a label."""
    labels = worth.get((s, t), [])
    if not labels and not (free or t - s == forest.n):
        return []
    g, top = forest.posteriors.label[s, t], forest.posteriors.top[s, t]
    if not labels and g.max(initial=0.0) > 0:
        labels = [int(g.argmax())]
    names = forest.model.base.labels
    return [names[X] for X in sorted(labels, key=lambda X: (-top[X] / g[X], X))]


def _one_label(forest: LatentForest, s: int, t: int, labels: str) -> list[str]:
    if t == s + 1 and forest.n > 1:
        return []
    g = forest.posteriors.label[s, t]
    if labels == "argmax" or t - s == forest.n:
        return [forest.model.base.labels[int(g.argmax())]] if g.max(initial=0.0) > 0 else [DUMMY]
    return [DUMMY]


def _free_tree(forest: LatentForest, split: Any, labels: Callable[[int, int], Sequence[str]]) -> Tree:
    """The tree with these splits, the labels of each span as a chain, and over each word its likeliest tag."""
    base = forest.model.base
    tags: list[int] = forest.posteriors.tag.argmax(axis=1).tolist()

    def leaf(i: int) -> Child:
        tag = base.tags[tags[i]]
        return Tree(tag, [forest.words[i]]) if tag else forest.words[i]

    top = split_tree(forest.n, split, leaf, labels)
    whole = top[0] if len(top) == 1 and isinstance(top[0], Tree) else Tree(base.root or DUMMY, top)
    return whole if base.root in (None, whole.label) else Tree(base.root or "", [whole])


LATENT_OBJECTIVES: dict[str, Callable[..., Best]] = {
    "viterbi": viterbi,
    "max-rule": max_rule,
    "labelled-recall": labelled_recall,
    "bracketed-recall": bracketed_recall,
    "general": general,
    "labelled-precision-recall": labelled_precision_recall,
    "labelled-recall-licensed": licensed_labelled_recall,
    "parent-child": parent_child,
    "frames": frames,
    "mbr": minimum_risk,
}
"""The function that finds the best tree for each objective, by name."""


def check_latent_objective(objective: str, options: Mapping[str, Any]) -> tuple[Callable[..., Best], dict[str, Any]]:
    """The function of an objective and its options; an unknown objective or option is an error."""
    name, _, metric = british(objective).partition(":")
    if name not in LATENT_OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective of latent-variable models", objective, [*LATENT_OBJECTIVES, "mbr:METRIC"])
    found, given = LATENT_OBJECTIVES[name], with_metric(metric, options)
    check_options(name, found, given)
    return found, given


def decode_latent(forest: LatentForest, objective: str, **options: Any) -> Best:
    """The best tree of a forest for an objective, with its expected score."""
    found, given = check_latent_objective(objective, options)
    return found(forest, **given)
