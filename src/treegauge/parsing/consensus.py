"""A metric of the registry as a score of pairs of trees, all pairs at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.base import adapted
from treegauge.metrics.preparation import prepare
from treegauge.metrics.registry import find_metric
from treegauge.normalise.preset import load_preset
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["Metric"]


class Metric:
    """The headline rate of a registered metric, sentence by sentence, under a preset.

    >>> Metric("parseval").table([Tree.parse("(S (A (D a) (D b)) (D c))"), Tree.parse("(S (D a) (B (D b) (D c)))")]).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """

    def __init__(self, name: str, preset: str = "collins") -> None:
        self.metric = find_metric(name)
        self.preset = adapted(self.metric, load_preset(preset))

    def table(self, trees: Sequence[Tree]) -> NDArray[np.float64]:
        """The score of each tree (column) if each (row) is the right one; nan for 0/0."""
        k = len(trees)
        gold = Treebank.from_trees([tree for tree in trees for _ in range(k)])
        test = Treebank.from_trees([tree for _ in range(k) for tree in trees])
        rows = self.metric.rows(prepare(gold, test, self.preset))
        headline = self.metric.headline
        return np.array([self.metric.rates(row)[headline] for row in rows], np.float64).reshape(k, k)
