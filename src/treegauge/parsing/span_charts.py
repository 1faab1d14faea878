"""Span charts from elsewhere: the scores that any parser gives to labelled spans, and what they know together.

``scores[i, j, X]`` belongs to label X over the words i .. j, both included, so an array of n words is (n, n,
labels); entries with j < i are ignored. They are log-potentials of a tree-CRF, P(tree) proportional to the
exponential of the sum over its spans (single words too), or posteriors already. In a notebook:

>>> import numpy as np
>>> from treegauge.parsing import decode
>>> scores = np.random.default_rng(1).normal(size=(4, 4, 3))
>>> best = decode(scores, "labelled-recall", labels=["NP", "VP", "S"], words="time flies like arrows".split())
>>> print(best.tree)
(S (VP time) (VP (NP flies) (NP (NP like) (NP arrows))))

A parser with a label for "no constituent" names it with ``null``: then the trees are n-ary.

>>> chart = SpanChart(scores, null=0, labels=["", "VP", "S"], words="time flies like arrows".split())
>>> print(chart.argmax().tree)
(S (VP (VP (VP time) (VP flies)) like) (VP arrows))
>>> print(chart.kbest(1)[0].tree)
(S (VP (VP (VP time) flies) like) arrows)
"""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import NoTree, UnknownName, UsageError
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.forest import Parse
from treegauge.parsing.objectives import with_metric
from treegauge.parsing.posteriors import Constituent
from treegauge.parsing.span_kernels import best_tree, sample_parts
from treegauge.parsing.span_potentials import (
    Null,
    Potentials,
    Required,
    as_array,
    as_half_open,
    checked_root,
    checked_temperature,
    log_sums,
    null_labels,
    potentials,
    required_spans,
    spans_crossing,
)
from treegauge.parsing.span_trees import (
    TreeWorth,
    best_trees,
    expected_f1,
    labelled_spans,
    make_tree,
    spans_below,
    trees_by_price,
)
from treegauge.parsing.tree_consensus import MetricRate, Score, consensus
from treegauge.spelling import british
from treegauge.tables import number_of
from treegauge.trees.tree import Tree

__all__ = ["KINDS", "SPAN_OBJECTIVES", "Confidence", "Marginals", "SpanChart", "decode", "marginals"]

Float64 = NDArray[np.float64]
ChartKind = Literal["potentials", "posteriors"]
KINDS = ("potentials", "posteriors")
ROUNDING = 0.001
"""By how much posteriors in float16 or float32 may leave the range from 0 to 1."""


class Marginals(NamedTuple):
    """The logarithm of the sum over all trees, and the posterior of each labelled span, shaped like the scores."""

    log_partition: float
    posterior: Float64


class Confidence(NamedTuple):
    """The confidence in a tree: its probability, its expected F1, and the posterior of each of its constituents."""

    probability: float
    f1: float
    constituents: list[Constituent]


class SpanChart:
    """All trees over the span scores of one sentence, with their probabilities and posteriors, computed on first use.

    * ``null``: the label, or the set of labels, that means "no constituent". The distribution is then over n-ary trees, each
      once: a constituent is worth its score less the span's null score, a span that is not a constituent 0.
    * ``root=False``: with null labels, the whole sentence need not be a constituent.
    * ``temperature``: scores are divided by it.
    * ``allowed``: an array (n, n), or (n, n, labels), of what may be a constituent; ``required``: spans (start, end) or
      (start, end, label), half-open, that must be.
    * ``tags``: stand over the words in trees; without them a node over one word is a constituent.
    * ``kind="posteriors"``: the scores are posteriors already; methods that need whole trees are then errors.
    """

    def __init__(
        self,
        scores: Any,
        *,
        labels: Sequence[str] | None = None,
        words: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        null: Null = None,
        root: bool = True,
        temperature: float = 1.0,
        allowed: ArrayLike | None = None,
        required: Required = (),
        kind: ChartKind = "potentials",
    ) -> None:
        self.scores = as_array(scores)
        self.n, size = len(self.scores), self.scores.shape[2]
        if kind not in KINDS:
            raise UnknownName("kind of scores", str(kind), KINDS)
        self.kind = kind
        self.labels = [str(x) for x in range(size)] if labels is None else list(labels)
        self.words = [str(i) for i in range(self.n)] if words is None else list(words)
        self.tags = None if tags is None else list(tags)
        if len(self.labels) != size or len(self.words) != self.n or (self.tags is not None and len(self.tags) != self.n):
            given = [number_of(len(self.labels), "label"), number_of(len(self.words), "word")]
            given += [] if self.tags is None else [number_of(len(self.tags), "tag")]
            wanted = f"{size} labels, {self.n} words, {self.n} tags (or none)"
            raise UsageError(f"scores of shape {self.scores.shape} need {wanted}; given: {', '.join(given)}")
        self.null = null_labels(null, size)
        self.root, self.temperature = checked_root(root), checked_temperature(temperature)
        if kind == "posteriors" and temperature != 1:
            raise UsageError("a temperature needs potentials: it cannot be applied to posteriors")
        if kind == "posteriors" and not (self.scores.min() >= -ROUNDING and self.scores.max() <= 1 + ROUNDING):
            raise UsageError("posteriors must lie between 0 and 1; scores of other kinds are potentials")
        if kind == "potentials" and self.null and (self.scores[:, :, self.null].max(axis=2) == -np.inf).any():
            raise UsageError("the null score of a span must not be -inf; name spans that must be constituents in required=")
        self.allowed = None if allowed is None else as_half_open(allowed, self.n, size)
        self.required, by_label = required_spans(required, self.n, self.labels)
        if by_label is not None:
            own = True if self.allowed is None else self.allowed if self.allowed.ndim == 3 else self.allowed[:, :, None]
            self.allowed = by_label & own

    def with_temperature(self, temperature: float) -> SpanChart:
        """The same chart at another temperature."""
        other = copy.copy(self)
        other.temperature = checked_temperature(temperature)
        for name in ("potentials", "posterior"):
            other.__dict__.pop(name, None)
        return other

    def merge_labels(self, name: Callable[[str], str]) -> SpanChart:
        """The chart with the labels that ``name`` calls the same as one; a tree then has the probability of all that it stands for.

        A metric that cuts functions from labels counts ``NP`` and ``NP-SBJ`` as one: so must a chart that is decoded for it, or
        none of the two may be probable enough to be kept. Null labels stay apart.

        >>> chart = SpanChart(np.zeros((2, 2, 4)), null=0, labels=["", "NP", "NP-SBJ", "S"])
        >>> merged = chart.merge_labels(lambda label: label.split("-")[0])
        >>> merged.labels, math.isclose(merged.log_partition, chart.log_partition)
        (['', 'NP', 'S'], True)
        """
        groups: dict[str, list[int]] = {}
        for X, label in enumerate(self.labels):
            if X not in self.null:
                groups.setdefault(name(label), []).append(X)
        of_label = [[X] for X in self.null] + list(groups.values())
        scores = self.scores
        if self.kind == "potentials":
            scores = scores / self.temperature
        if self.allowed is not None and self.allowed.ndim == 3:
            shown = self.allowed | np.isin(np.arange(len(self.labels)), self.null)
            scores = np.where(shown, scores, -np.inf if self.kind == "potentials" else 0.0)
        merge = log_sums if self.kind == "potentials" else np.sum
        other = copy.copy(self)
        for computed in ("potentials", "posterior"):
            other.__dict__.pop(computed, None)
        other.scores = np.stack([merge(scores[:, :, own], axis=2) for own in of_label], axis=2)
        other.labels = [*(self.labels[X] for X in self.null), *groups]
        other.null, other.temperature = list(range(len(self.null))), 1.0
        other.allowed = None if self.allowed is None or self.allowed.ndim == 3 else self.allowed
        return other

    @cached_property
    def potentials(self) -> Potentials:
        """The score of each part of a tree."""
        if self.kind == "posteriors":
            raise UsageError("this needs potentials: posteriors do not say how likely a whole tree is")
        made = potentials(
            self.scores,
            self.null,
            root=self.root,
            temperature=self.temperature,
            allowed=self.allowed,
            required=self.required if self.required.any() else None,
        )
        if made.log_partition == -math.inf:
            raise NoTree("every tree over these spans has potential 0 (score -inf)")
        return made

    @property
    def log_partition(self) -> float:
        """The logarithm of the sum over all trees; with null labels, relative to the tree without constituents."""
        return self.potentials.log_partition

    @cached_property
    def posterior(self) -> Float64:
        """g(s, t, X) by first and last word: how probable each labelled constituent is; 0 for null labels."""
        if self.kind == "posteriors":
            posterior = self.scores.copy()
            posterior[:, :, self.null] = 0.0
            return posterior
        return self.potentials.span[:, :, None] * self.potentials.label_share

    def constituents(self, least: float = 0.0) -> list[Constituent]:
        """All constituents whose posterior is above ``least``, by start, end and label."""
        where = np.argwhere(self.posterior > least).tolist()
        return [Constituent(i, j + 1, self.labels[X], float(self.posterior[i, j, X])) for i, j, X in where if j >= i]

    def entropy(self) -> float:
        """The entropy of the tree, in nats."""
        score = np.where(self.posterior > 0, self.potentials.label, 0.0)
        return max(0.0, self.log_partition - float((self.posterior * score).sum()))

    def argmax(self, objective: str | None = None, **options: Any) -> Best:
        """The best tree for an objective of :data:`SPAN_OBJECTIVES`, and its expected score.

        The default is ``labelled-precision-recall`` if there are null labels, else ``labelled-recall``.
        """
        objective = objective or ("labelled-precision-recall" if self.null else "labelled-recall")
        name, _, metric = british(objective).partition(":")
        if name not in SPAN_OBJECTIVES or (metric and name != "mbr"):
            raise UnknownName("objective for span charts", objective, [*SPAN_OBJECTIVES, "mbr:METRIC"])
        function = SPAN_OBJECTIVES[name]
        given = with_metric(metric, options)
        takes = list(inspect.signature(function).parameters)[1:]
        wrong = [option for option in given if option not in takes]
        if wrong:
            raise UsageError(f"objective {name} takes no option {wrong[0]!r}; its options: {', '.join(takes) or 'none'}")
        return function(self, **given)

    def kbest(self, k: int) -> list[Parse]:
        """The k most probable trees, or all if there are fewer, each with the logarithm of its probability."""
        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        found = best_trees(self.potentials, k)
        return [Parse(self.tree(spans), value - self.log_partition) for value, spans in found]

    def sample(self, size: int, seed: int = 0) -> list[Tree]:
        """Trees drawn with their probabilities."""
        return [self.tree(spans) for spans in self.sample_spans(size, seed)]

    def sample_spans(self, size: int, seed: int = 0) -> list[dict[tuple[int, int], int]]:
        """The constituents of sampled trees, each with the number of its label."""
        given, rng, n = self.potentials, np.random.default_rng(seed), self.n
        uniform = rng.random((size, n - 1)), rng.random((size, 2, 2 * n - 1))
        total = given.label_share.cumsum(axis=2)
        found: list[dict[tuple[int, int], int]] = []
        for draws, (real, label) in zip(*uniform, strict=True):
            parts = sample_parts(given.inside, n, draws)
            s, last, role = parts[:, 0], parts[:, 1] - 1, parts[:, 2]
            shown = real < np.where(role == 1, given.share[1][s, last], given.share[0][s, last])
            chosen = (total[s, last] <= (label * total[s, last, -1])[:, None]).sum(axis=1)
            rows = np.flatnonzero(shown).tolist()
            found.append({(int(s[i]), int(last[i]) + 1): int(chosen[i]) for i in rows})
        return found

    def tree(self, spans: Mapping[tuple[int, int], int]) -> Tree:
        """The tree with these constituents."""
        return make_tree({span: self.labels[X] for span, X in spans.items()}, self.words, self.tags, DUMMY)

    def spans(self, tree: Tree) -> dict[tuple[int, int], str]:
        """The constituents of a tree, several nodes over one span joined; a root that only holds the others together is none."""
        spans = labelled_spans(tree, tags=self.tags is not None)
        if self.null and not self.root and DUMMY not in self.labels and spans.get((0, self.n)) == DUMMY:
            del spans[0, self.n]
        return spans

    def numbered(self, tree: Tree) -> dict[tuple[int, int], int] | None:
        """The constituents of a tree by the numbers of their labels; None if the chart has no such label."""
        if len(tree.words) != self.n:
            raise UsageError(f"a tree over {len(tree.words)} words does not fit a chart of {self.n}")
        number = {name: X for X, name in reversed(list(enumerate(self.labels))) if X not in self.null}
        spans = self.spans(tree)
        return {span: number[name] for span, name in spans.items()} if all(x in number for x in spans.values()) else None

    def log_probability(self, tree: Tree) -> float:
        """The logarithm of a tree's probability; -inf if it has none."""
        spans = self.numbered(tree)
        if spans is None or not self._is_possible(spans):
            return -math.inf
        return math.fsum(self.potentials.label[s, t - 1, X] for (s, t), X in spans.items()) - self.log_partition

    def _is_possible(self, spans: Mapping[tuple[int, int], int]) -> bool:
        if not self.null:
            return len(spans) == 2 * self.n - 1
        must = {(i, j + 1) for i, j in np.argwhere(self.required).tolist()}
        return must <= set(spans) and ((0, self.n) in spans or not self.root)

    def expected_score(self, tree: Tree) -> float:
        """The expected number of right labelled constituents of a tree."""
        g = {(c.start, c.end, c.label): c.posterior for c in self.constituents()}
        return math.fsum(g.get((*span, label), 0.0) for span, label in self.spans(tree).items())

    def expected_f1(self, tree: Tree) -> float:
        """The mean labelled F1 of a tree against a random tree of this chart, exactly: 2 matches / (both sizes); in time O(n^4)."""
        return expected_f1(self.potentials, [self.matching(tree)])[0]

    def matching(self, tree: Tree) -> dict[tuple[int, int], list[int]]:
        """The constituents of a tree with the numbers of all labels of their name."""
        number: dict[str, list[int]] = {}
        for X, name in enumerate(self.labels):
            if X not in self.null:
                number.setdefault(name, []).append(X)
        return {span: number.get(label, []) for span, label in self.spans(tree).items()}

    def confidence(self, tree: Tree) -> Confidence:
        """The probability of a tree, its expected F1, and the probability of each of its constituents."""
        g = {(c.start, c.end, c.label): c.posterior for c in self.constituents()}
        spans = self.spans(tree)
        constituents = [Constituent(*span, label, g.get((*span, label), 0.0)) for span, label in spans.items()]
        return Confidence(math.exp(self.log_probability(tree)), self.expected_f1(tree), constituents)

    def __repr__(self) -> str:
        return f"<SpanChart over {self.n} words, {len(self.labels)} labels, {len(self.null)} of them null>"


def _viterbi(chart: SpanChart) -> Best:
    """The most probable tree; its score is its probability."""
    (best,) = chart.kbest(1)
    return Best(best.tree, math.exp(best.log_probability))


def _labelled_recall(chart: SpanChart) -> Best:
    """The tree with most right labelled constituents on average."""
    return _best_sum(chart, chart.posterior.max(axis=2), optional=False)


def _bracketed_recall(chart: SpanChart) -> Best:
    """The tree with most right brackets on average; labels do not show."""
    return _best_sum(chart, chart.posterior.sum(axis=2), optional=False, name=DUMMY)


def _general(chart: SpanChart, *, weights: ArrayLike) -> Best:
    """The tree with the largest sum of any (n, n) span weights, with the likeliest labels."""
    given = np.array(weights, np.float64)
    if given.shape != (chart.n, chart.n):
        raise UsageError(f"span weights of {chart.n} words must have shape ({chart.n}, {chart.n}), not {given.shape}")
    return _best_sum(chart, given, optional=bool(chart.null))


def _precision_recall(chart: SpanChart, *, lam: float | None = None) -> Best:
    """The n-ary tree with the largest sum over its constituents of g - lam.

    Without ``lam``, of the trees for all lam that matter the one with the largest expected F1 (exactly), and its score is that.
    Charts of posteriors do not know how large trees are together, so there the tree has the largest ratio of expectations
    2 E(matches) / (E(size of the truth) + own size), and that is the score.
    """
    if lam is not None:
        if not math.isfinite(lam):
            raise UsageError(f"lam must be a number, not {lam!r}")
        return _best_sum(chart, chart.posterior.max(axis=2) - lam, optional=True)
    by_ratio = _best_ratio(chart)
    if chart.kind == "posteriors":
        return by_ratio

    def best(price: float) -> tuple[TreeWorth, Tree]:
        found = _best_sum(chart, chart.posterior.max(axis=2) - price, optional=True)
        size = len(chart.spans(found.tree))
        return TreeWorth(size, found.score + price * size), found.tree

    lowest = 0.0 if math.isnan(by_ratio.score) else by_ratio.score / 8
    trees = [by_ratio.tree, *trees_by_price(best, lowest, 1.0)]
    values = expected_f1(chart.potentials, [chart.matching(tree) for tree in trees])
    chosen = max(range(len(trees)), key=lambda i: (-math.inf if math.isnan(values[i]) else values[i], -i))
    return Best(trees[chosen], values[chosen])


def _best_ratio(chart: SpanChart) -> Best:
    """The tree with the largest ratio of expectations F: the tree for lam = F / 2 (Dinkelbach 1967)."""
    size, ratio = float(np.triu(chart.posterior.sum(axis=2)).sum()), 0.0
    while True:
        best = _best_sum(chart, chart.posterior.max(axis=2) - ratio / 2, optional=True)
        own = len(chart.spans(best.tree))
        better = 2 * (best.score + own * ratio / 2) / (size + own) if size + own else math.nan
        if not better > ratio + 1e-12:
            return Best(best.tree, better)
        ratio = better


def _minimum_risk(
    chart: SpanChart,
    *,
    score: Score | MetricRate,
    candidates: Literal["samples", "kbest"] = "samples",
    size: int = 100,
    seed: int = 0,
) -> Best:
    """The candidate that scores best on average if the truth is another candidate, by any metric."""
    if candidates == "samples":
        trees = chart.sample(size, seed)
        return consensus(trees, [1.0] * len(trees), score)
    parses = chart.kbest(size)
    return consensus([p.tree for p in parses], [math.exp(p.log_probability) for p in parses], score)


SPAN_OBJECTIVES: dict[str, Callable[..., Best]] = {
    "viterbi": _viterbi,
    "labelled-recall": _labelled_recall,
    "bracketed-recall": _bracketed_recall,
    "labelled-precision-recall": _precision_recall,
    "general": _general,
    "mbr": _minimum_risk,
}
"""The decoding objectives of a span chart."""


def _best_sum(chart: SpanChart, worth: Float64, *, optional: bool, name: str | None = None) -> Best:
    """The tree with the largest sum of what its spans are worth; with ``optional`` those not worth it are not constituents."""
    n = chart.n
    must = chart.required.copy()
    must[0, n - 1] |= chart.root or not chart.null
    possible = chart.posterior.max(axis=2) > 0
    if chart.null or optional:
        own = np.where(possible | must, worth, 0.0)
        own = np.where(must, own, np.maximum(own, 0.0)) if optional else own
    else:
        own = worth if chart.allowed is None else np.where(possible | must, worth, -np.inf)
    own = np.where(spans_crossing(chart.required), -np.inf, own)
    value, split = best_tree(own, own, n)
    if value == -math.inf:
        raise NoTree("no tree fits the allowed and required spans")
    shown = must | (possible & ((worth > 0) | (not optional)))
    label = chart.posterior.argmax(axis=2)
    if chart.null:
        label = np.where(possible, label, next(X for X in range(len(chart.labels)) if X not in chart.null))
    if not chart.null and not optional:
        shown[:] = True
    spans = [(s, t) for s, t in spans_below(split, n) if shown[s, t - 1]]
    named = {(s, t): name or chart.labels[int(label[s, t - 1])] for s, t in spans}
    return Best(make_tree(named, chart.words, chart.tags, DUMMY), float(value))


def decode(
    scores: Any,
    objective: str | None = None,
    *,
    kind: ChartKind = "potentials",
    labels: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    null: Null = None,
    root: bool = True,
    temperature: float = 1.0,
    allowed: ArrayLike | None = None,
    required: Required = (),
    **options: Any,
) -> Best:
    """The best tree for an objective, and its expected score, from an array of span scores (NumPy, or anything with
    DLPack).

    The arguments are those of :class:`SpanChart`; further options are the objective's, such as ``lam`` of
    ``labelled-precision-recall``: the minimum posterior of a node, by default what maximises the expected F1 of the chart at hand.
    """
    chart = SpanChart(
        scores, labels=labels, words=words, tags=tags, null=null, root=root, temperature=temperature, allowed=allowed,
        required=required, kind=kind,
    )  # fmt: skip
    return chart.argmax(objective, **options)


def marginals(
    scores: Any,
    *,
    null: Null = None,
    root: bool = True,
    temperature: float = 1.0,
    allowed: ArrayLike | None = None,
    required: Required = (),
) -> Marginals:
    """The posteriors of a tree-CRF over labelled trees: binary ones, or with ``null`` n-ary ones.

    >>> uniform = marginals(np.zeros((3, 3, 1)))
    >>> round(math.exp(uniform.log_partition)), uniform.posterior[0, 1, 0].round(9)
    (2, np.float64(0.5))
    """
    chart = SpanChart(scores, null=null, root=root, temperature=temperature, allowed=allowed, required=required)
    return Marginals(chart.log_partition, chart.posterior)
