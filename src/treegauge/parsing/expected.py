"""Expected rates of a tree under a grammar: the rates on average, if the right parse is drawn from the grammar's own parses.

ER_LR, ER_PC and ER_CF (Sima'an 2003, equations 4, 6 and 8) are the expected numbers of right constituents, parent-child links and
frames, over the expected number that the right parse has (a constant for binary trees, as in the paper). Only shown labels count.
Expected constituents are exact. Links and frames are exact if every symbol of the grammar shows; otherwise they are estimated from
samples, as is the expected value of any metric.

Calibration shows whether constituents are right as often as their posteriors predict. On the sentences of a treebank every
constituent that the grammar considers possible has a posterior, and is in the gold tree or not. Under a calibrated grammar 70% of
the constituents with a posterior of about 0.7 are right. A table and a curve show how far this holds for each label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

import numpy as np

from treegauge.errors import MismatchError
from treegauge.parsing.confidence import ExpectedCounts, expected_counts
from treegauge.parsing.forest import Forest
from treegauge.parsing.posterior_view import PosteriorView
from treegauge.parsing.tree_consensus import MetricRate
from treegauge.tables import Cell, HasTable, Table, concise, number_of
from treegauge.trees.tree import Tree

SAMPLES = 200
"""The number of sampled parses that estimates are based on."""
PartsOfTree = Callable[[Tree], set[Hashable]]


@concise
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
        raise MismatchError("the tree and the sentence have different words")
    counts = expected_counts(forest, tree)
    wanted = list(metrics)
    exact = isinstance(forest, Forest) and all(forest.grammar.label(X) is not None for X in forest.grammar.nonterminals)
    drawn = forest.sample(samples, seed) if wanted or (not exact and "trees" in forest.gives) else []
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


LEAST = 0.01
"""The least posterior of constituents that count."""
BINS = 10
FEWEST_DRAWN = 10
"""The fewest constituents of a bin that is drawn: shares of fewer are due to chance."""


class Reliability(NamedTuple):
    """The constituents whose posteriors are from ``low`` to ``high``: their number, mean posterior, and share in the gold trees."""

    low: float
    high: float
    size: int
    posterior: float
    right: float


@dataclass(frozen=True)
class LabelCalibration:
    """The reliability of one label, or of ``all`` labels; ``error`` is the mean distance between posterior and share of right
    ones."""

    label: str
    size: int
    posterior: float
    right: float
    error: float
    bins: tuple[Reliability, ...] = field(repr=False)


@dataclass(frozen=True)
class Calibration(HasTable):
    """The reliability of all labels together and of each one, and the numbers of sentences with and without a parse.

    ``expected`` are the expected counts of the trees that an objective chose, ``matched`` is the number of their constituents that
    are right, and ``gold`` the number of constituents of the gold trees.
    """

    labels: tuple[LabelCalibration, ...] = field(repr=False)
    sentences: int
    unparsed: int
    expected: ExpectedCounts = field(repr=False)
    matched: int
    gold: int

    def as_table(self) -> Table:
        return self.table()

    def table(self, *, bins: bool = False) -> Table:
        """A table with a row for each label, or with ``bins`` for each label and bin."""
        rows: list[tuple[Cell, ...]] = []
        for each in self.labels:
            if not bins:
                rows.append((each.label, each.size, each.posterior, each.right, each.right - each.posterior, each.error))
                continue
            for b in each.bins:
                rows.append((each.label, f"{b.low:.1f}-{b.high:.1f}", b.size, b.posterior, b.right, b.right - b.posterior))
        about = (
            f"{number_of(self.sentences, 'sentence')}, {self.unparsed:,} without a parse left out; "
            f"phrases of posterior {LEAST:g} or more.",
            "Right: the share in the gold trees. Above 0 in the last column but one: right more often than the grammar predicts."
            if not bins
            else "Right: the share in the gold trees.",
            self.note(),
        )
        if bins:
            columns = ("label", "posteriors", "phrases", "mean posterior", "right", "difference")
            return Table("Reliability of posteriors by label", columns, tuple(rows), about, columns[3:])
        columns = ("label", "phrases", "mean posterior", "right", "difference", "calibration error")
        return Table("Calibration of posteriors by label", columns, tuple(rows), about, columns[2:])

    def note(self) -> str:
        """Expected and actual rates, in one line."""
        actual = ExpectedCounts(self.matched, self.expected.test, self.gold)
        pairs = [
            f"{name} {100 * a:.2f} expected, {100 * b:.2f} actual"
            for name, a, b in (
                ("recall", self.expected.recall, actual.recall),
                ("precision", self.expected.precision, actual.precision),
                ("F1", self.expected.f1, actual.f1),
            )
        ]
        return f"Of the trees chosen: {'; '.join(pairs)}."


def calibrate(
    forests: Iterable[PosteriorView | None],
    gold: Sequence[Tree],
    *,
    choose: Callable[[PosteriorView], Tree],
    least: float = LEAST,
    fewest: int = 50,
    advance: Callable[[], None] = lambda: None,
) -> Calibration:
    """The calibration of forests over the words of gold trees; ``choose`` gives the tree of a forest whose rates are compared.

    A forest may be ``None``: the sentence counts as one without a parse.

    Constituents with a posterior below ``least`` are left out, and so are preterminals. Labels with fewer than ``fewest``
    constituents have no row of their own. ``advance`` is called for each sentence.
    """
    label: list[str] = []
    posterior: list[float] = []
    right: list[bool] = []
    matched = n_gold = n_test = sentences = unparsed = 0
    expected: list[ExpectedCounts] = []
    for forest, tree in zip(forests, gold, strict=True):
        advance()
        if forest is None or not forest.has_parse:
            unparsed += 1
            continue
        sentences += 1
        own = {tuple(span) for span in tree.spans(preterminals=False)}
        chosen = choose(forest)
        expected.append(expected_counts(forest, chosen))
        found = {tuple(span) for span in chosen.spans(preterminals=False)}
        matched, n_gold, n_test = matched + len(found & own), n_gold + len(own), n_test + len(found)
        for s, t, name, p in forest.phrase_constituents():
            if p >= least:
                label.append(name)
                posterior.append(p)
                right.append((s, t, name) in own)
    names, p, hit = np.array(label), np.array(posterior), np.array(right, np.float64)
    totals = ExpectedCounts(math.fsum(e.matched for e in expected), n_test, math.fsum(e.gold for e in expected))
    sizes = {name: int((names == name).sum()) for name in sorted(set(label))}
    shown = [name for name in sorted(sizes, key=lambda name: (-sizes[name], name)) if sizes[name] >= fewest]
    rows = (_of_label("all", p, hit), *(_of_label(name, p[names == name], hit[names == name]) for name in shown))
    return Calibration(rows, sentences, unparsed, totals, matched, n_gold)


def reliability_bins(p: np.ndarray, hit: np.ndarray, size: int = BINS) -> tuple[tuple[Reliability, ...], float]:
    """The non-empty ones of ``size`` bins of posteriors ``p``, and the mean distance between posterior and share of right ones.

    ``hit`` is 1 for each constituent that is right, else 0.
    """
    which = np.minimum((p * size).astype(np.int64), size - 1)
    bins: list[Reliability] = []
    for k in range(size):
        own = which == k
        if own.any():
            bins.append(Reliability(k / size, (k + 1) / size, int(own.sum()), float(p[own].mean()), float(hit[own].mean())))
    error = math.fsum(b.size * abs(b.posterior - b.right) for b in bins) / len(p) if len(p) else math.nan
    return tuple(bins), error


def _of_label(label: str, p: np.ndarray, hit: np.ndarray) -> LabelCalibration:
    if not len(p):
        return LabelCalibration(label, 0, math.nan, math.nan, math.nan, ())
    bins, error = reliability_bins(p, hit)
    return LabelCalibration(label, len(p), float(p.mean()), float(hit.mean()), error, bins)


_SIDE, _LEFT, _TOP, _NAMES = 360, 56, 44, 120
_COLOURS = ("#222222", "#1b6ca8", "#b3541e", "#3b7d3b", "#7a4fa3", "#a32a4b")
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "4 4", "1 4")


def draw_calibration(found: Calibration, most: int = 5) -> str:
    """An SVG picture of the share of right constituents by mean posterior, for all labels together and the ``most`` frequent ones.

    The diagonal is perfect calibration. Bins of fewer than ten constituents are left out.
    """
    shown = found.labels[: most + 1]
    width, height = _LEFT + _SIDE + max(_NAMES, 54 + 8 * max(len(each.label) for each in shown)), _TOP + _SIDE + 52

    def at(b: Reliability) -> tuple[float, float]:
        return _LEFT + _SIDE * b.posterior, _TOP + _SIDE * (1 - b.right)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="Share of right constituents by posterior">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="24" font-size="14">Are posteriors right as often as they say?</text>',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#999"/>',
        f'<line x1="{_LEFT}" y1="{_TOP + _SIDE}" x2="{_LEFT + _SIDE}" y2="{_TOP}" stroke="#999" stroke-dasharray="3 3"/>',
    ]
    for tick in range(0, 11, 2):
        x, y = _LEFT + _SIDE * tick / 10, _TOP + _SIDE * (1 - tick / 10)
        parts.append(f'<text x="{x:g}" y="{_TOP + _SIDE + 18}" text-anchor="middle">{tick / 10:g}</text>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">{tick / 10:g}</text>')
    parts.append(f'<text x="{_LEFT + _SIDE / 2:g}" y="{_TOP + _SIDE + 40}" text-anchor="middle">mean posterior</text>')
    middle = _TOP + _SIDE / 2
    parts.append(f'<text x="16" y="{middle:g}" text-anchor="middle" transform="rotate(-90 16 {middle:g})">share right</text>')
    for i, each in enumerate(shown):
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(at, (b for b in each.bins if b.size >= FEWEST_DRAWN)))
        weight = 3 if i == 0 else 1.5
        dots = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{weight}"{dots}/>')
        y = _TOP + 14 + 20 * i
        x = _LEFT + _SIDE + 12
        parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 28}" y2="{y - 4}" stroke="{colour}" stroke-width="{weight}"{dots}/>')
        parts.append(f'<text x="{x + 34}" y="{y}">{escape(each.label)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
