"""Expected rates of a tree under a grammar: the rates on average, if the right parse is drawn from the grammar's own parses.

ER_LR, ER_PC and ER_CF (Sima'an 2003, equations 4, 6 and 8) are the expected numbers of right constituents, parent-child links and
frames, over the expected number that the right parse has (a constant for binary trees, as in the paper). Only shown labels count.
Expected constituents are exact. Links and frames are exact if every symbol of the grammar shows; otherwise they are estimated from
samples, as is the expected value of any metric.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from treegauge.errors import MismatchError
from treegauge.parsing.forest import Forest
from treegauge.parsing.posterior_view import PosteriorView
from treegauge.parsing.tree_consensus import MetricRate
from treegauge.trees.tree import Tree

SAMPLES = 200
"""The number of sampled parses that estimates are based on."""
PartsOfTree = Callable[[Tree], set[Hashable]]


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


@dataclass(frozen=True)
class ExpectedRates:
    """ER_LR with the precision and F1 of the same constituents, ER_PC, ER_CF, and rates of metrics by name.

    If not ``exact``, the rates of links and frames are means over ``samples`` parses; those in ``metrics`` always are. ``error``
    has the standard error of each rate in ``metrics``.
    """

    labelled_recall: float
    labelled_precision: float
    labelled_f1: float
    parent_child: float
    frames: float
    exact: bool
    samples: int
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    error: dict[str, float] = field(default_factory=dict[str, float])

    def rows(self) -> list[tuple[str, float]]:
        """The rates with their names, in the order in which they are shown."""
        return [
            ("ER_LR", self.labelled_recall),
            ("expected precision", self.labelled_precision),
            ("expected F1", self.labelled_f1),
            ("ER_PC", self.parent_child),
            ("ER_CF", self.frames),
            *self.metrics.items(),
        ]


def expected_counts(forest: PosteriorView, tree: Tree) -> ExpectedCounts:
    """The expected counts of a tree's constituents. Preterminals do not count; each (span, label) counts once.

    >>> from treegauge.grammar import PCFG
    >>> forest = Forest(PCFG.parse('S -> A C [.6] | E A [.4]\\nA -> "x" [1]\\nC -> A A [1]\\nE -> A A [1]'), ["x"] * 3)
    >>> expected_counts(forest, Tree.parse("(S (A x) (C (A x) (A x)))"))
    ExpectedCounts(matched=1.6, test=2, gold=2.0)
    """
    g = {(c.start, c.end, c.label): c.posterior for c in forest.phrase_constituents()}
    own = {(s, t, label) for s, t, label in tree.spans(preterminals=False)}
    return ExpectedCounts(math.fsum(g.get(part, 0.0) for part in own), len(own), math.fsum(g.values()))


def expected_rates(
    forest: PosteriorView,
    tree: Tree,
    *,
    metrics: Iterable[str] = (),
    preset: str | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> ExpectedRates:
    """The expected rates of a tree over the words of a forest. ``metrics`` are names such as ``parseval.recall`` or ``freval``.

    >>> from treegauge.grammar import PCFG
    >>> forest = Forest(PCFG.parse('S -> S S [.5] | "x" [.5]'), ["x"] * 3)
    >>> found = expected_rates(forest, Tree.parse("(S (S x) (S (S x) (S x)))"), metrics=["parseval.exact_match"])
    >>> found.labelled_recall, round(found.frames, 3), found.exact
    (0.75, 0.75, True)
    """
    forest.require_parse()
    if tuple(tree.words) != tuple(forest.words):
        raise MismatchError("the tree has other words than the sentence")
    counts = expected_counts(forest, tree)
    wanted = list(metrics)
    exact = isinstance(forest, Forest) and all(forest.grammar.label(X) is not None for X in forest.grammar.nonterminals)
    drawn = forest.sample(samples, seed) if wanted or not exact else []
    if exact and isinstance(forest, Forest):
        links, frames = (_exact_rate(parts, own) for parts, own in zip(_posteriors(forest), (_links, _frames), strict=True))
    else:
        links, frames = _estimated_rate(drawn, _links), _estimated_rate(drawn, _frames)
    found: dict[str, float] = {}
    error: dict[str, float] = {}
    for name in wanted:
        found[name], error[name] = _metric_mean(tree, drawn, name, preset)
    rates = counts.recall, counts.precision, counts.f1, links(tree), frames(tree)
    return ExpectedRates(*rates, exact, len(drawn), found, error)


def _links(tree: Tree) -> set[Hashable]:
    """The parent-child links of productions with two children or more: span and label of the parent, index and label of the
    child."""
    return {
        (s, t, node.label, i, child.label)
        for node, s, t in tree.nodes_with_spans()
        if len(node.children) > 1
        for i, child in enumerate(node.children)
        if isinstance(child, Tree)
    }


def _frames(tree: Tree) -> set[Hashable]:
    """The productions with two children or more: span, label of the parent, and the children."""
    return {
        (s, t, node.label, tuple((c, True) if isinstance(c, str) else (c.label, False) for c in node.children))
        for node, s, t in tree.nodes_with_spans()
        if len(node.children) > 1
    }


def _posteriors(forest: Forest) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """The posteriors of links and of frames by shown labels. In a parse at most one production with two children or more has a
    span, so posteriors of one span can be added."""
    links: dict[Hashable, float] = {}
    frames: dict[Hashable, float] = {}

    def add(total: dict[Hashable, float], part: Hashable, p: float) -> None:
        total[part] = total.get(part, 0.0) + p

    label = forest.grammar.label
    for s, t, production, p in forest.frames():
        if len(production.rhs) > 1:
            right = tuple(
                (x, True) if word else (label(x), False) for x, word in zip(production.rhs, production.words, strict=True)
            )
            add(frames, (s, t, label(production.lhs), right), p)
            for i, (child, word) in enumerate(right):
                if not word:
                    add(links, (s, t, label(production.lhs), i, child), p)
    return links, frames


def _exact_rate(posterior: dict[Hashable, float], parts: PartsOfTree) -> Callable[[Tree], float]:
    """A function from a tree to its expected rate, by the posteriors of parts."""
    total = math.fsum(posterior.values())
    return lambda tree: math.fsum(posterior.get(part, 0.0) for part in parts(tree)) / total if total > 0 else math.nan


def _estimated_rate(drawn: Sequence[Tree], parts: PartsOfTree) -> Callable[[Tree], float]:
    """A function from a tree to its expected rate, by the parts of sampled trees."""
    seen = [parts(sample) for sample in drawn]
    total = sum(map(len, seen))
    return lambda tree: sum(len(parts(tree) & other) for other in seen) / total if total else math.nan


def _metric_mean(tree: Tree, drawn: Sequence[Tree], name: str, preset: str | None) -> tuple[float, float]:
    """The mean rate of the tree against each sample, and its standard error; samples for which the rate is 0/0 are left out."""
    from treegauge.scoring.evaluation import score

    rate = MetricRate(name, preset)
    result = score(drawn, [tree] * len(drawn), metric=rate.metric, preset=rate.preset)
    assert result.rows is not None
    columns, _ = rate.metric.float_columns([result.rows])
    values = rate.metric.rates_of_sums(columns[0])[:, list(rate.metric.rate_names).index(rate.rate)]
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan, math.nan
    return float(values.mean()), float(values.std() / math.sqrt(len(values)))
