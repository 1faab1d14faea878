"""Objectives of latent-variable grammars: what the best tree is best for, over the constituents that trees show.

The likeliest tree of such a grammar is NP-hard to find (Sima'an 1996); posteriors are what one decodes. ``viterbi`` takes the
likeliest *derivation*; ``max-rule`` the tree whose rules have the largest product of posteriors (Petrov & Klein 2007), multiplied
over grammars (Petrov 2010). With ``pre``, preterminals count too: every word has one, so that changes which tree is best only
among the trees of the grammar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import UnknownName
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.free import best_spans, split_tree, weights_and_labels
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY
from treegauge.parsing.latent.derivations import derivation_of
from treegauge.parsing.latent.forest import LatentForest
from treegauge.parsing.latent.shown import best_forest_tree
from treegauge.parsing.objectives import check_options, minimum_risk, viterbi, with_metric
from treegauge.spelling import british
from treegauge.trees.tree import Child, Tree

__all__ = ["DEFAULT", "LATENT_OBJECTIVES", "check_latent_objective", "decode_latent"]

DEFAULT = "labelled-precision-recall"
Float64 = NDArray[np.float64]


def labelled_precision_recall(forest: LatentForest, *, lam: float | None = None) -> Best:
    """The tree with the largest sum over its nodes of g - lam (the model's lam unless given); the root is always kept."""
    lam = forest.model.settings.lam if lam is None else lam
    g = forest.shown.label
    weight = np.where(g > 0, np.maximum(g - lam, 0.0), 0.0).sum(axis=2)
    if not weight[0, -1] > 0:
        weight[0, -1] = g[0, -1].max() - lam
    value, split = best_spans(weight, True)
    worth = _labels_worth(forest, lam)
    return Best(_free_tree(forest, split, lambda s, t: _chain(forest, s, t, worth)), float(value))


def labelled_recall(forest: LatentForest, *, pre: bool = False, lam: float = 0.5) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1).

    The best label of a span of two or more words is free; further labels of a span, and phrases over one word, are worth g - lam.
    """
    g = forest.shown.label
    best = g.max(axis=2)
    weight = best + np.maximum(np.where(g < best[:, :, None], g - lam, 0.0), 0.0).sum(axis=2)
    words = np.arange(forest.n)
    weight[words, words + 1] = np.maximum(g[words, words + 1] - lam, 0.0).sum(axis=1)
    value, split = best_spans(weight, True)

    worth = _labels_worth(forest, lam)

    def labels(s: int, t: int) -> list[str]:
        return _chain(forest, s, t, worth, free=t > s + 1)

    tags = float(forest.shown.tag.max(axis=1).sum()) if pre else 0.0
    return Best(_free_tree(forest, split, labels), float(value) + tags)


def bracketed_recall(forest: LatentForest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, section 4); a bracket is worth the probability that some node
    has its span. Brackets show ``X``, or with ``labels="argmax"`` each its likeliest label."""
    weight = forest.span_labels.some.copy()
    if not pre:
        words = np.arange(forest.n)
        weight[words, words + 1] = 0.0
    value, split = best_spans(weight, False)
    return Best(_free_tree(forest, split, lambda s, t: _one_label(forest, s, t, labels)), float(value))


def general(forest: LatentForest, *, weights: ArrayLike | Callable[[LatentForest], ArrayLike]) -> Best:
    """The tree with the largest sum of any span weights, as :func:`treegauge.parsing.free.general` takes them: an (n, n+1) array,
    an (n, n+1, labels) array for the labels of ``forest.span_labels.names``, or a function of the forest."""
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
    """The tree with the largest product of the posteriors of its rules, and over several grammars the product of those (Petrov &
    Klein 2007; Petrov 2010). Its score is the logarithm of that product."""
    packed = _packed(forest)
    with np.errstate(divide="ignore"):
        edges = np.sum(
            [np.where(packed.kind == SAME, np.where(each.edge > 0, 0.0, -np.inf), np.log(each.edge)) for _, each in forest.found],
            axis=0,
        )
        items = np.sum(
            [np.where(forest.tables.rules.is_tag[packed.symbol], np.log(each.item), 0.0) for _, each in forest.found], axis=0
        )
        roots = np.sum([np.log(_root_posterior(forest, each.item, each.edge)) for _, each in forest.found], axis=0)
    return _licensed(forest, items, edges, roots)


_TIE = 1e-9
"""The factor of tags' posteriors where tags do not count: among equals, the tree with the likelier tags is taken."""
_FURTHER = 0.5
"""The price of a label beyond the first of its span, and of a phrase over one word, unless one is given."""


def licensed_labelled_recall(forest: LatentForest, *, pre: bool = True, lam: float | None = None) -> Best:
    """The tree of the forest with the largest sum of g over its nodes (M_LR in Sima'an 2003), preterminals among them unless
    ``pre`` is false.

    Each further label of a span, and each phrase over one word, pays 0.5, or chains would grow without being right. With ``lam``
    every phrase pays that.
    """
    packed, tables = _packed(forest), forest.tables
    further = _FURTHER if lam is None else lam
    first = np.where(packed.end - packed.start == 1, further, 0.0) if lam is None else lam
    label = tables.labels.label[packed.symbol]
    g = np.where(label >= 0, forest.shown.label[packed.start, packed.end, np.maximum(label, 0)], 0.0)
    items = np.where(packed.high | (label < 0), 0.0, g - first)
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    added = np.where(label >= 0, g - further, 0.0)[owner] + _middle_worth(forest, owner, further)
    edges = np.where((packed.kind == UNARY) & packed.high[owner], added, 0.0)
    tags = (1.0 if pre else _TIE) * _tag_posteriors(forest)
    return _licensed(forest, items + tags, np.where(forest.edge_posterior > 0, edges, -np.inf))


def _middle_worth(forest: LatentForest, owner: NDArray[np.int64], lam: float) -> Float64:
    """For each edge what the labels in the middle of its chain are worth."""
    packed, labels = _packed(forest), forest.tables.labels
    worth = np.zeros(len(packed.kind))
    for d in np.flatnonzero(packed.kind == UNARY).tolist():
        u, v = int(packed.rule[d]), int(owner[d])
        if packed.high[v]:
            for X in labels.middle[labels.middle_first[u] : labels.middle_first[u + 1]].tolist():
                worth[d] += float(forest.shown.label[packed.start[v], packed.end[v], X]) - lam
    return worth


def parent_child(forest: LatentForest) -> Best:
    """The tree of the forest with most right parent-child links of binary rules on average (M_PCh in Sima'an 2003): the parent's
    span and label, which child, and the child's label. Inner symbols count as labels, as in every binarised grammar."""
    base = forest.model.base
    left = base.binary[:, 0].astype(np.int64) * base.size + base.binary[:, 1]
    right = base.binary[:, 0].astype(np.int64) * base.size + base.binary[:, 2]
    return _licensed(forest, _TIE * _tag_posteriors(forest), _summed_by_span(forest, left) + _summed_by_span(forest, right))


def frames(forest: LatentForest) -> Best:
    """The tree of the forest with most right binary productions on average, splits aside (M_CFP in Sima'an 2003)."""
    return _licensed(forest, _TIE * _tag_posteriors(forest), _summed_by_span(forest, np.arange(len(forest.model.base.binary))))


def _summed_by_span(forest: LatentForest, part: NDArray[np.int64]) -> Float64:
    """For each edge of a binary rule the posterior, over its span, of all edges whose rules are the same part; 0 for other
    edges, and -inf for those that are pruned."""
    packed, posterior = _packed(forest), forest.edge_posterior
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    binary = packed.kind == BINARY
    span = packed.start[owner[binary]].astype(np.int64) * (forest.n + 1) + packed.end[owner[binary]]
    own = part[packed.rule[binary]]
    _, key = np.unique(span * (int(part.max(initial=0)) + 1) + own, return_inverse=True)
    worth = np.zeros(len(packed.kind))
    worth[binary] = np.bincount(key, posterior[binary])[key] if binary.any() else 0.0
    return np.where(posterior > 0, worth, -np.inf)


def _tag_posteriors(forest: LatentForest) -> Float64:
    """For each item the posterior of the tag that it shows; 0 for phrases."""
    packed = _packed(forest)
    tag = forest.tables.labels.tag[packed.symbol]
    return np.where(tag >= 0, forest.shown.tag[packed.start, np.maximum(tag, 0)], 0.0)


def _licensed(forest: LatentForest, items: Float64, edges: Float64, roots: Float64 | None = None) -> Best:
    packed = _packed(forest)
    if roots is None:
        roots = np.where(forest.tables.rules.root[packed.symbol] > 0, 0.0, -np.inf)
    root, value, choice = best_forest_tree(
        forest.n,
        packed,
        forest.tables.rules.is_tag,
        items,
        edges,
        roots,
    )
    if root < 0:
        return Best(forest.best().tree, -math.inf)
    return Best(forest.tree(derivation_of(packed, root, choice)), float(value))


def _packed(forest: LatentForest) -> Any:
    assert forest.packed is not None
    return forest.packed[0]


def _root_posterior(forest: LatentForest, item: Float64, edge: Float64) -> Float64:
    """The probability that an item is the root: what its posterior has beside the edges that lead to it."""
    packed = _packed(forest)
    if forest.n > 1:
        return np.where((packed.start == 0) & (packed.end == forest.n) & packed.high, item, 1.0)
    below = np.bincount(packed.left[packed.kind >= 0], edge[packed.kind >= 0], len(item))
    return np.maximum(item - below, 0.0)


def _labels_worth(forest: LatentForest, lam: float) -> dict[tuple[int, int], list[int]]:
    """For each span the labels over it that are more probable than ``lam``."""
    found: dict[tuple[int, int], list[int]] = {}
    for s, t, X in np.argwhere(forest.shown.label > max(lam, 0.0)).tolist():
        found.setdefault((s, t), []).append(X)
    return found


def _chain(forest: LatentForest, s: int, t: int, worth: Mapping[tuple[int, int], list[int]], *, free: bool = False) -> list[str]:
    """The labels over a span that are worth it, the one that most often stands on top first."""
    labels = worth.get((s, t), [])
    if not labels and not (free or t - s == forest.n):
        return []
    g, top = forest.shown.label[s, t], forest.shown.top[s, t]
    if not labels and g.max(initial=0.0) > 0:
        labels = [int(g.argmax())]
    names = forest.model.base.labels
    return [names[X] for X in sorted(labels, key=lambda X: (-top[X] / g[X], X))]


def _one_label(forest: LatentForest, s: int, t: int, labels: str) -> list[str]:
    if t == s + 1 and forest.n > 1:
        return []
    g = forest.shown.label[s, t]
    if labels == "argmax" or t - s == forest.n:
        return [forest.model.base.labels[int(g.argmax())]] if g.max(initial=0.0) > 0 else [DUMMY]
    return [DUMMY]


def _free_tree(forest: LatentForest, split: Any, labels: Callable[[int, int], Sequence[str]]) -> Tree:
    """The tree with these splits, the labels of each span over each other, and over each word its likeliest tag."""
    base = forest.model.base
    tags: list[int] = forest.shown.tag.argmax(axis=1).tolist()

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
"""Objective name -> how its best tree is found."""


def check_latent_objective(objective: str, options: Mapping[str, Any]) -> tuple[Callable[..., Best], dict[str, Any]]:
    """The function of an objective and its options; an error if there is none, or it takes others."""
    name, _, metric = british(objective).partition(":")
    if name not in LATENT_OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective of latent-variable models", objective, [*LATENT_OBJECTIVES, "mbr:METRIC"])
    found, given = LATENT_OBJECTIVES[name], with_metric(metric, options)
    check_options(name, found, given)
    return found, given


def decode_latent(forest: LatentForest, objective: str, **options: Any) -> Best:
    """The best tree of a forest for an objective."""
    found, given = check_latent_objective(objective, options)
    return found(forest, **given)
