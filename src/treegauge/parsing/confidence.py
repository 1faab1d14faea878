"""Confidence: the expected F1 of a tree, calibrated on held-out trees.

Expected F1 is 2 E(right constituents) / (constituents of the tree + E(constituents of the right tree)). Posteriors give these
expectations exactly, for every kind of model. Their ratio is the mean F1 against trees drawn from the model if all of these have
the same number of constituents; otherwise it is a ratio of means, not the mean of ratios, which
:meth:`treegauge.parsing.SpanChart.expected_f1` computes. Preterminals and roots that only hold a tree together do not count.

A model may be too sure of itself. A calibration maps the expected F1 p of a tree to the F1 that such trees had on held-out trees,
s(a + b log(p / (1 - p))), where s is the logistic function (Platt 1999). It is fitted by maximum likelihood, each tree weighted by
its constituents and those of the gold tree, so that the weighted mean over the held-out trees is their F1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from treegauge.parsing.posterior_view import TOP, PosteriorView
from treegauge.trees.tree import Tree

FEWEST = 20
"""With fewer trees there is no calibration."""
_LEAST = 0.001
"""Expected F1 is taken to be at least this far from 0 and 1."""
_PRIOR = 1.0
"""The precision of the normal prior of ``offset`` around 0 and of ``slope`` around 1, which matters only if there are few trees."""
_STEPS = 50
_STEEPEST = 50.0
"""No calibration has a larger offset or slope; of such numbers the exponential is finite."""


class ExpectedCounts(NamedTuple):
    """The expected number of right constituents of a tree, the number that it has, and the expected number in the right parse."""

    matched: float
    test: int
    gold: float

    @property
    def recall(self) -> float:
        """Right constituents over those of the right parse; nan for 0/0."""
        return self.matched / self.gold if self.gold > 0 else math.nan

    @property
    def precision(self) -> float:
        return self.matched / self.test if self.test else math.nan

    @property
    def f1(self) -> float:
        total = self.gold + self.test
        return 2 * self.matched / total if total > 0 else math.nan

    @classmethod
    def total(cls, counts: Sequence[ExpectedCounts]) -> ExpectedCounts:
        """The sum over several trees."""
        return cls(math.fsum(c.matched for c in counts), sum(c.test for c in counts), math.fsum(c.gold for c in counts))


def expected_counts(view: PosteriorView, tree: Tree) -> ExpectedCounts:
    """The expected counts of a tree's constituents. Neither preterminals nor the treebank's root count; each (span, label) counts
    once.

    >>> from treegauge.grammar import PCFG
    >>> from treegauge.parsing.forest import Forest
    >>> forest = Forest(PCFG.parse('S -> A C [.6] | E A [.4]\\nA -> "x" [1]\\nC -> A A [1]\\nE -> A A [1]'), ["x"] * 3)
    >>> expected_counts(forest, Tree.parse("(S (A x) (C (A x) (A x)))"))
    ExpectedCounts(matched=1.6, test=2, gold=2.0)
    """
    root = view.treebank_root
    g = {part: p for part, p in view.phrase_posteriors.items() if part[2] != root}
    placeholders = {root} | ({TOP} - set(view.span_labels.names))
    own = {(s, t, label) for s, t, label in tree.spans(preterminals=False) if label not in placeholders}
    return ExpectedCounts(math.fsum(g.get(part, 0.0) for part in own), len(own), math.fsum(g.values()))


class ParseConfidence(NamedTuple):
    """The expected F1 of a tree, and whether it was calibrated on held-out trees."""

    expected_f1: float
    calibrated: bool


class F1Calibration(NamedTuple):
    """A map from expected F1 to the F1 of such trees among ``sentences`` held-out ones.

    >>> F1Calibration(0.0, 1.0, 100)(0.75), round(F1Calibration(-0.5, 0.5, 100)(0.9), 4)
    (0.75, 0.6453)
    """

    offset: float
    slope: float
    sentences: int

    def __call__(self, f1: float) -> float:
        """The calibrated F1."""
        return 1 / (1 + math.exp(-self.offset - self.slope * float(_logit(f1))))


def _logit(f1: Any) -> Any:
    clipped = np.clip(f1, _LEAST, 1 - _LEAST)
    return np.log(clipped / (1 - clipped))


def fit_calibration(trees: Iterable[Tree], expected: Iterable[ExpectedCounts | None], gold: Iterable[Tree]) -> F1Calibration | None:
    """The calibration of trees with these expected counts, by their F1 (PARSEVAL); None if there are too few, or if F1 does not
    rise with expected F1. Sentences without a parse, whose expected counts are None, are left out."""
    from treegauge.metrics.parseval import Parseval
    from treegauge.scoring.evaluation import score

    every = zip(trees, expected, gold, strict=True)
    found = [(counts.f1, tree, right) for tree, counts, right in every if counts is not None and not math.isnan(counts.f1)]
    if len(found) < FEWEST:
        return None
    result = score([right for _, _, right in found], [tree for _, tree, _ in found], metric="parseval")
    assert result.rows is not None
    names = Parseval.columns
    matched, of_gold, of_test = (result.rows[:, names.index(name)].astype(np.float64) for name in ("matched", "gold", "test"))
    made = fit_logistic(np.array([f1 for f1, _, _ in found]), 2 * matched, of_gold + of_test)
    return F1Calibration(*made, len(found)) if made[1] > 0 else None


def fit_logistic(expected: np.ndarray, right: np.ndarray, size: np.ndarray) -> tuple[float, float]:
    """The offset and slope that are most probable given ``right`` of ``size`` at each expected F1, by Newton's method.

    >>> offset, slope = fit_logistic(np.array([0.2, 0.9]), np.array([500.0, 800.0]), np.array([1000.0, 1000.0]))
    >>> [round(F1Calibration(offset, slope, 2)(f1), 2) for f1 in (0.2, 0.9)]
    [0.5, 0.8]
    """
    x, theta, prior = np.stack([np.ones(len(expected)), _logit(expected)]), np.array([0.0, 1.0]), np.array([0.0, 1.0])
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(theta @ x, -30, 30)))
        gradient = x @ (right - size * p) - _PRIOR * (theta - prior)
        step = np.linalg.solve((x * (size * p * (1 - p))) @ x.T + _PRIOR * np.eye(2), gradient)
        theta = theta + step * min(1.0, 2 / max(1e-9, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-10:
            break
    return float(theta[0]), float(theta[1])


def calibration_from_notes(notes: Mapping[str, Any]) -> F1Calibration | None:
    """The calibration that is stored in the notes of a model; None if there is none."""
    try:
        offset, slope, sentences = notes["calibration"]
        made = F1Calibration(float(offset), float(slope), int(sentences))
        return made if abs(made.offset) < _STEEPEST and 0 < made.slope < _STEEPEST else None
    except (KeyError, OverflowError, TypeError, ValueError):
        return None
