"""Consensus: of several trees the one that scores best against the others, by any metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from treegauge.parsing.best import Best
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["Metric", "Score", "consensus"]

Score = Callable[[Tree, Tree], float]
"""``score(gold, test)``: how well a tree does if another is the right one."""


class Metric:
    """The headline rate of a registered metric, sentence by sentence, under a preset.

    >>> Metric("parseval").table([Tree.parse("(S (A (D a) (D b)) (D c))"), Tree.parse("(S (D a) (B (D b) (D c)))")]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    def __init__(self, name: str, preset: str = "collins") -> None:
        # Metrics are loaded here and not above: who parses for another objective need not wait for them.
        from treegauge.metrics.base import adapted
        from treegauge.metrics.registry import find_metric
        from treegauge.normalise.preset import load_preset

        self.metric = find_metric(name)
        self.preset = adapted(self.metric, load_preset(preset))

    def table(self, trees: Sequence[Tree]) -> NDArray[np.float64]:
        """The score of each tree (column) if each (row) is the right one; nan for 0/0."""
        from treegauge.metrics.preparation import prepare

        k = len(trees)
        gold = Treebank.from_trees([tree for tree in trees for _ in range(k)])
        test = Treebank.from_trees([tree for _ in range(k) for tree in trees])
        rows = self.metric.rows(prepare(gold, test, self.preset))
        headline = self.metric.headline
        return np.array([self.metric.rates(row)[headline] for row in rows], np.float64).reshape(k, k)


def consensus(trees: Sequence[Tree], weights: Sequence[float], score: Score | Metric) -> Best:
    """Of some trees the one with the best mean score against all of them; the first among equals.

    Where a score is 0/0 the choice goes by the others, and the mean is nan.
    """
    pooled: dict[Tree, float] = {}
    for tree, weight in zip(trees, weights, strict=True):
        pooled[tree] = pooled.get(tree, 0.0) + weight
    candidates, shares = list(pooled), np.array(list(pooled.values()))
    if isinstance(score, Metric):
        table = score.table(candidates)
    else:
        table = np.array([[score(gold, test) for test in candidates] for gold in candidates], np.float64)
    defined = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means = (shares @ np.where(defined, table, 0.0)) / (shares @ defined)
    best = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
    return Best(candidates[best], float(means[best]) if defined[:, best].all() else math.nan)
