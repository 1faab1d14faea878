"""Consensus: the one of several trees of a sentence with the best mean score, by a metric, against all of them.

The trees are samples or k-best parses of one grammar (objective ``mbr``), or the outputs of several parsers (``treegauge
consensus``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError, UsageError, check_name
from treegauge.parsing.posterior_view import Best
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

if TYPE_CHECKING:
    from treegauge.alignment.pairing import Pair
    from treegauge.metrics.metric import Metric
    from treegauge.presets import Preset

Score = Callable[[Tree, Tree], float]
"""The score of a test tree if another tree is the gold tree: ``score(gold, test)``."""


class MetricRate:
    """A rate of a registered metric, sentence by sentence: ``parseval`` for its headline, ``parseval.recall`` for another rate. The
    preset is the metric's own unless given, as in :func:`treegauge.score`.

    >>> trees = [Tree.parse("(S (A (D a) (D b)) (D c))"), Tree.parse("(S (D a) (B (D b) (D c)))")]
    >>> MetricRate("parseval").table(trees).tolist(), MetricRate("parseval.exact_match").table(trees).tolist()
    ([[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    """

    def __init__(self, name: str, preset: str | Preset | None = None) -> None:
        # Imported here, because other objectives do not need the metrics.
        from treegauge.metrics.registry import find_metric
        from treegauge.presets import load_preset

        metric, _, rate = name.partition(".")
        self.metric = find_metric(metric)
        self.rate = rate or self.metric.headline
        check_name(f"rate of {metric}", self.rate, self.metric.rate_names)
        if self.rate in self.metric.undirected:
            raise UsageError(f"no tree is the best by {name}: neither higher nor lower is better")
        self.lower_is_better = self.rate in self.metric.lower_is_better
        self.preset = self.metric.preset_for(load_preset(self.metric.preset if preset is None else preset))

    def table(self, trees: Sequence[Tree]) -> NDArray[np.float64]:
        """The score of each tree (column) if each tree (row) is the gold tree; nan for 0/0, but two trees without anything that
        counts agree: their F1 is 1."""
        rates = _rates_of_all_pairs(self.metric, self.preset, tuple(trees))[:, :, list(self.metric.rate_names).index(self.rate)]
        return np.nan_to_num(rates, nan=1.0) if "f1" in self.rate else rates


@lru_cache(maxsize=4)
def _rates_of_all_pairs(metric: Metric, preset: Preset, trees: tuple[Tree, ...]) -> NDArray[np.float64]:
    """The rates of each tree (second axis) if each tree (first axis) is the gold tree; cached, for other rates of the metric."""
    k = len(trees)
    rows = metric.rows(_all_pairs(Treebank.from_trees(trees), preset))
    columns, _ = metric.float_columns([rows])
    return metric.rates_of_sums(columns[0]).reshape(k, k, -1)


def _all_pairs(bank: Treebank, preset: Preset) -> Pair:
    """All pairs of a gold and a test tree, with the test trees of the first gold tree first.

    The gold tree's tags decide which words count. Gold trees that agree on these words share their prepared test trees.
    """
    from treegauge import alignment
    from treegauge.alignment.words import has_tag

    k = len(bank)
    gold, test = np.repeat(np.arange(k), k), np.tile(np.arange(k), k)
    deleted = has_tag(bank, preset.delete_tags)
    if len({len(bank.words(i)) for i in range(k)}) > 1 or not len(deleted):
        return alignment.pair(bank.take(gold), bank.take(test), preset)
    _, first, kind = np.unique(deleted.reshape(k, -1), axis=0, return_index=True, return_inverse=True)
    n_kinds, kind = len(first), kind.reshape(-1)
    sides = np.append(np.repeat(first, k), np.arange(k)), np.append(np.tile(np.arange(k), n_kinds), np.arange(k))
    once = alignment.pair(bank.take(sides[0]), bank.take(sides[1]), preset)
    if len(once) < len(sides[0]) or n_kinds + 1 >= k:
        return alignment.pair(bank.take(gold), bank.take(test), preset)
    rows = kind[gold] * k + test
    return replace(once, gold=once.gold.take(n_kinds * k + gold), test=once.test.take(rows), index=rows)


def consensus(trees: Sequence[Tree], weights: Sequence[float], score: Score | MetricRate) -> Best:
    """The tree with the best mean score against all given trees, weighted; the first of equal ones. Of error rates the lowest is
    best.

    If a score is 0/0, the other scores decide, and the mean is nan.
    """
    pooled: dict[Tree, float] = {}
    for tree, weight in zip(trees, weights, strict=True):
        pooled[tree] = pooled.get(tree, 0.0) + weight
    candidates, shares = list(pooled), np.array(list(pooled.values()))
    if isinstance(score, MetricRate):
        table = score.table(candidates)
    else:
        table = np.array([[score(gold, test) for test in candidates] for gold in candidates], np.float64)
    defined = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means = (shares @ np.where(defined, table, 0.0)) / (shares @ defined)
    better = -means if isinstance(score, MetricRate) and score.lower_is_better else means
    best = int(np.argmax(np.where(np.isnan(better), -np.inf, better)))
    return Best(candidates[best], float(means[best]) if defined[:, best].all() else math.nan)


def consensus_of_treebanks(
    banks: Sequence[Treebank],
    metric: str = "parseval",
    *,
    preset: str = "collins",
    weights: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[Best, int]]:
    """The best tree of each sentence with its mean score, and the index of the first treebank that has this tree.

    A tree without words is a failed parse, and is ignored unless all trees of the sentence are.

    >>> a, b, c = (Treebank.parse(text) for text in ("(S (NP (D a) (N b)) (V c))", "(S (D a) (VP (N b) (V c)))",
    ...                                              "(S (NP (D a) (N b)) (V c))"))
    >>> [(str(best.tree), round(best.score, 3), first) for best, first in consensus_of_treebanks([b, a, c])]
    [('(S (NP (D a) (N b)) (V c))', 0.833, 1)]
    """
    score = MetricRate(metric, preset)
    for trees in voting_trees(banks, names):
        shares = [1.0 if weights is None else weights[i] for i in trees]
        best = consensus(list(trees.values()), shares, score)
        yield best, next(i for i, tree in trees.items() if tree == best.tree)


def voting_trees(banks: Sequence[Treebank], names: Sequence[str] | None = None) -> Iterator[dict[int, Tree]]:
    """The trees of each sentence by the numbers of their treebanks, without failed parses unless all failed; an error if the
    treebanks do not have the same sentences."""
    names = [f"treebank {i + 1}" for i in range(len(banks))] if names is None else names
    sizes = {len(bank) for bank in banks}
    if len(sizes) > 1:
        listed = ", ".join(f"{name}: {len(bank):,}" for name, bank in zip(names, banks, strict=True))
        raise MismatchError(f"the files have different numbers of sentences ({listed})")
    for number in range(sizes.pop() if sizes else 0):
        trees = [bank[number] for bank in banks]
        voting = [i for i, tree in enumerate(trees) if tree.words]
        for i in voting[1:]:
            if trees[i].words != trees[voting[0]].words:
                pairs = enumerate(zip_longest(trees[i].words, trees[voting[0]].words, fillvalue="(no word)"), 1)
                at, ours, theirs = next((at, *pair) for at, pair in pairs if pair[0] != pair[1])
                words = f"word {at} of {names[i]} is {ours!r}, of {names[voting[0]]} {theirs!r}"
                raise MismatchError(f"sentence {number + 1}: the files have different words: {words}")
        yield {i: trees[i] for i in voting or [0]}
