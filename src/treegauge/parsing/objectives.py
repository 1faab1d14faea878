"""Objectives of decoding: one registry. Each objective finds the tree with the largest expected score and returns
both.

"Free" objectives may return a tree that the grammar does not generate; "licensed" ones only choose among its parses.
Where the grammar says that several symbols show as one label, their posteriors are added.

Sima'an's counterexample (2003, section 3): the likeliest of 500 parses is not the one with most right constituents.

>>> import math
>>> from treegauge.grammar import PCFG
>>> from treegauge.parsing import Forest
>>> grammar = PCFG.parse('''S -> "x" "x" [.1] | "x" S [.3] | S "x" [.3] | S S [.1] | A A [.2]
... A -> "x" "x" [1]''')
>>> forest = Forest(grammar, ["x"] * 8)
>>> forest.n_parses, round(math.exp(forest.log_partition), 12)
(500, 0.0453981)
>>> mpp, m_lr, m_cfp = (forest.argmax(name) for name in ("viterbi", "labelled-recall-licensed", "frames"))
>>> print(mpp.tree)
(S (S (A x x) (A x x)) (S (A x x) (A x x)))
>>> [round(math.exp(forest.log_probability(best.tree)), 12) for best in (mpp, m_lr)] == [1 / 250, 81 / 50000]
True
>>> round(forest.expected_score(mpp.tree), 3), round(m_lr.score, 3), round(m_cfp.score, 3)
(2.55, 3.132, 1.94)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing.derivations import Best
from treegauge.parsing.free import bracketed_recall, general, labelled_precision_recall, labelled_recall
from treegauge.parsing.licensed import frames, licensed_labelled_recall, parent_child
from treegauge.spelling import british
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

if TYPE_CHECKING:
    from treegauge.alignment.pairing import Pair
    from treegauge.metrics.metric import Metric
    from treegauge.parsing.forest import Forest
    from treegauge.presets import Preset

__all__ = [
    "OBJECTIVES",
    "MetricRate",
    "Objective",
    "Score",
    "check_objective",
    "check_options",
    "consensus",
    "decode_forest",
    "with_metric",
]

Score = Callable[[Tree, Tree], float]
"""``score(gold, test)``: how well a tree does if another is the right one."""


class MetricRate:
    """A rate of a registered metric, sentence by sentence: ``parseval`` (its headline) or ``parseval.recall``. The preset is the
    metric's own unless given, as in :func:`treegauge.score`.

    >>> trees = [Tree.parse("(S (A (D a) (D b)) (D c))"), Tree.parse("(S (D a) (B (D b) (D c)))")]
    >>> MetricRate("parseval").table(trees).tolist(), MetricRate("parseval.exact_match").table(trees).tolist()
    ([[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 1.0]])
    """

    def __init__(self, name: str, preset: str | Preset | None = None) -> None:
        # Imported here because other objectives do not need the metrics.
        from treegauge.metrics.registry import find_metric
        from treegauge.presets import load_preset

        metric, _, rate = name.partition(".")
        self.metric = find_metric(metric)
        self.rate = rate or self.metric.headline
        if self.rate not in self.metric.rate_names:
            raise UnknownName(f"rate of {metric}", rate, self.metric.rate_names)
        if self.rate in self.metric.undirected:
            raise UsageError(f"no tree is the best by {name}: neither more nor less of it is better")
        self.lower_is_better = self.rate in self.metric.lower_is_better
        self.preset = self.metric.preset_for(load_preset(self.metric.preset if preset is None else preset))

    def table(self, trees: Sequence[Tree]) -> NDArray[np.float64]:
        """The score of each tree (column) if each (row) is the right one; nan for 0/0."""
        rates = _rates_of_all_pairs(self.metric, self.preset, tuple(trees))
        return rates[:, :, list(self.metric.rate_names).index(self.rate)]


@lru_cache(maxsize=4)
def _rates_of_all_pairs(metric: Metric, preset: Preset, trees: tuple[Tree, ...]) -> NDArray[np.float64]:
    """The rates of each tree (second axis) if each (first axis) is the right one; remembered, for other rates of the metric."""
    k = len(trees)
    rows = metric.rows(_all_pairs(Treebank.from_trees(trees), preset))
    columns, _ = metric.float_columns([rows])
    return metric.rates_of_sums(columns[0]).reshape(k, k, -1)


def _all_pairs(bank: Treebank, preset: Preset) -> Pair:
    """Each tree as gold with each as test, in that order; every tree is prepared once for each choice of words that count.

    Which words count goes by the gold tree's tags: trees that agree on that have their test side in common.
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
    """The tree with the best mean score against all given trees (the lowest, by a rate of errors); the first among equals.

    Where a score is 0/0 the choice goes by the others, and the mean is nan.
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


@dataclass(frozen=True)
class Objective:
    """A decoding objective: its name, what it maximises, over which trees, its reference, and its function."""

    name: str
    maximises: str
    licensed: bool
    source: str
    decode: Callable[..., Best]


def with_metric(metric: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an objective, with the metric named after ``mbr:``, if any, as its score; ``preset`` is that of the metric."""
    if not metric:
        return dict(options)
    others = {name: value for name, value in options.items() if name != "preset"}
    return {**others, "score": MetricRate(metric, options.get("preset"))}


def check_objective(objective: str, options: Mapping[str, Any]) -> tuple[Objective, dict[str, Any]]:
    """The objective of a name such as ``frames`` or ``mbr:parseval``, and its options; an error if there is none, or
    it takes others."""
    name, _, metric = british(objective).partition(":")
    if name not in OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective", objective, [*OBJECTIVES, "mbr:METRIC"])
    found, given = OBJECTIVES[name], with_metric(metric, options)
    check_options(name, found.decode, given)
    return found, given


def check_options(name: str, decode: Callable[..., Best], given: Mapping[str, Any]) -> None:
    """Refuse options that an objective does not take, or lacks."""
    takes = inspect.signature(decode).parameters
    wrong = [option for option in given if option not in takes]
    needed = [p.name for p in takes.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in given]
    if wrong or needed:
        what = f"takes no option {wrong[0]!r}" if wrong else f"needs the option {needed[0]!r}"
        raise UsageError(f"objective {name} {what}; its options: {', '.join(list(takes)[1:]) or 'none'}")


def decode_forest(forest: Forest, objective: str, **options: Any) -> Best:
    """The best tree of a forest for an objective."""
    found, given = check_objective(objective, options)
    return found.decode(forest, **given)


def viterbi(forest: Forest) -> Best:
    """The likeliest parse; its expected score is its probability given the sentence, the chance of an exact match."""
    parse = forest.best()
    return Best(parse.tree, math.exp(parse.log_probability - forest.log_partition))


def minimum_risk(
    forest: Forest,
    *,
    score: Score | MetricRate,
    candidates: Literal["samples", "kbest"] = "samples",
    size: int = 100,
    seed: int = 0,
) -> Best:
    """The candidate that scores best on average if the truth is another candidate: consensus by any metric.

    Candidates are ``size`` samples, or the ``size`` best parses weighted by their probability.
    """
    if candidates == "samples":
        trees = forest.sample(size, seed)
        return consensus(trees, [1.0] * len(trees), score)
    parses = forest.kbest(size)
    return consensus([p.tree for p in parses], [math.exp(p.log_probability - forest.log_partition) for p in parses], score)


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("viterbi", "the probability of the whole tree", True, "Goodman 1996; MPP in Sima'an 2003", viterbi),
        Objective("labelled-recall", "right labelled constituents", False, "Goodman 1996, Figure 1", labelled_recall),
        Objective("bracketed-recall", "right brackets", False, "Goodman 1996, section 4", bracketed_recall),
        Objective("general", "any weights of spans", False, "Goodman 1996, General Recall", general),
        Objective(
            "labelled-precision-recall",
            "right constituents less lam per node",
            False,
            "Goodman 1996, section 6",
            labelled_precision_recall,
        ),
        Objective("labelled-recall-licensed", "right labelled constituents", True, "Sima'an 2003, M_LR", licensed_labelled_recall),
        Objective("parent-child", "right parent-child links", True, "Sima'an 2003, M_PCh", parent_child),
        Objective("frames", "right productions", True, "Sima'an 2003, M_CFP", frames),
        Objective("mbr", "any metric, over samples or the k best parses", True, "Kumar & Byrne 2004", minimum_risk),
    )
}
