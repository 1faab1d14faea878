"""FREVAL: PARSEVAL for connected fragments of every size (Bastings & Sima'an 2014).

Nodes are phrases, so size 1 is PARSEVAL under the same preset. With the matching ``edges``, the default, two fragments match if the
same labelled brackets, *and the edges between them*, are in both trees; no rate exceeds 1. With ``published``, which is what the
authors' program computes and their Table 1 shows, only the edges of the gold tree count, and precision can exceed 1.

LR_s and LP_s are recall and precision over a corpus for each size s; FLR and FLP interpolate them with weights alpha, which sum to
1 over the sizes of a range, but no further than the largest gold tree (``published``: than the largest tree), so that a tree
against itself has 1 in every range. A size without gold or test fragments scores 0 and keeps its weight. Since the largest gold
tree sets the scale, exchanging gold and test exchanges recall and precision of size 1 only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.errors import UnknownName, UsageError, check_name
from treegauge.metrics.fragments import BySize, count_fragments, count_marked_fragments
from treegauge.metrics.matching import partners
from treegauge.metrics.metric import Floats, Metric, OptionWords, Rates, Rows, Total, choice, repeatable
from treegauge.tables import whole_number
from treegauge.trees.treebank import Int64

MATCHINGS = ("edges", "published")
MEANS = ("linear", "geometric")
ALPHAS = ("uniform", "halving", "sparsity")
_SIDES = (1, 2, 3)
"""The columns of the rows with gold, test and matched fragments."""
_EXACT_BITS = 53
_RANGE_BITS = 1000
"""A float64 holds integers of 53 bits exactly, and of about 1000 bits within its range, with room for small counts beside them."""


def _shapes(brackets: Brackets) -> list[bytes]:
    """The shape of each tree: the parent of each node (-1: none), counted within the tree."""
    offset = brackets.offset
    parent = np.where(brackets.parent < 0, -1, brackets.parent - np.repeat(offset[:-1], np.diff(offset))).astype(np.int64)
    return [parent[start:end].tobytes() for start, end in zip(offset.tolist(), offset[1:].tolist(), strict=False)]


def _range(word: str) -> tuple[int, ...] | None:
    """The largest size that a word such as ``1-15`` or ``all`` names."""
    if word == "all":
        return (0,)
    size = word.removeprefix("1-")
    number = whole_number(size)
    return (number,) if number else None


def _alpha(word: str) -> str | tuple[float, ...] | None:
    """The weights that a word such as ``halving`` or ``0.5,0.3,0.2`` names."""
    if word in ALPHAS:
        return word
    try:
        return tuple(map(float, word.split(","))) if "," in word or "." in word else None
    except ValueError:
        return None


@dataclass(frozen=True)
class SizeScore:
    """The scores of the fragments of one size; rates are 0 if there are no gold or no test fragments."""

    size: int
    gold: float
    test: float
    matched: float

    @property
    def recall(self) -> float:
        return self.matched / self.gold if self.gold and self.test else 0.0

    @property
    def precision(self) -> float:
        return self.matched / self.test if self.gold and self.test else 0.0

    @property
    def f1(self) -> float:
        return _harmonic(self.recall, self.precision)


def _harmonic(recall: float, precision: float) -> float:
    """2RP/(R+P), and 0 if both are 0."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


@dataclass(frozen=True)
class Freval(Metric):
    """Recall, precision and F1 over connected fragments of all sizes: FLR, FLP and their F1 for ranges of sizes.

    ``ranges`` are the largest sizes of the ranges (0: all sizes); ``alpha`` is ``uniform``, ``halving`` (each size has half the
    weight of the one before), ``sparsity`` (see :func:`sparsity_weights`) or a sequence of weights for the sizes 1, 2, ..., which
    are divided by their sum over a range; a rate is nan where that is 0. ``mean`` is ``linear`` or ``geometric``.

    >>> import treegauge
    >>> gold = "(S (NP (N a)) (VP (V b) (NP (N c))))"
    >>> test = "(S (NP (N a)) (XP (V b) (NP (N c))))"
    >>> result = treegauge.score(gold, test, metric="freval")
    >>> [round(result.rates[name], 3) for name in ("f1_1", "f1")]
    [0.75, 0.271]
    """

    matching: str = choice(
        "edges", MATCHINGS, "edges (the default) needs the edges of both trees to agree, published only those of the gold tree"
    )
    ranges: tuple[int, ...] = repeatable(
        (1, 15, 25, 0), ("1-15", "all"), _range, "1-15 interpolates the sizes 1 to 15, all every size"
    )
    alpha: str | tuple[float, ...] = field(
        default="uniform",
        metadata={
            "words": OptionWords(
                (*ALPHAS, "0.5,0.3,0.2"),
                _alpha,
                "uniform (the default): all sizes count alike; halving: each counts half as much as the one before; sparsity: "
                "smaller sizes smooth those with few gold fragments; or weights as numbers, divided by their sum over a range",
            )
        },
    )
    mean: str = choice("linear", MEANS, "linear (the default) and geometric are the means over sizes")

    name = "freval"
    summary = "recall, precision and F1 over connected fragments of every size"
    reference = "bastings2014"
    headline = "f1"
    columns = ("sentences", "gold", "test", "matched")
    symmetries: ClassVar[Mapping[str, str]] = {"flr": "flp", "flp": "flr", "f1": "f1"}
    preset = "freval"

    def __post_init__(self) -> None:
        check_name("FREVAL matching", self.matching, MATCHINGS)
        check_name("FREVAL mean", self.mean, MEANS)
        if isinstance(self.alpha, str) and self.alpha not in ALPHAS:
            raise UnknownName("FREVAL alpha", self.alpha, (*ALPHAS, "or numbers"))
        if not isinstance(self.alpha, str) and (
            not all(one >= 0 for one in self.alpha) or not abs(math.fsum(self.alpha) - 1) <= 1e-9
        ):
            raise UsageError(f"the weights alpha must be 0 or more and sum to 1, not {', '.join(f'{one:g}' for one in self.alpha)}")

    def counterpart(self, rate: str) -> str | None:
        """See the base class; the gold trees decide how many sizes there are, so only the rates of size 1 have a counterpart."""
        name, _, sizes = rate.partition("_")
        return f"{self.symmetries[name]}_1" if sizes == "1" and name in self.symmetries else None

    def rows(self, pair: Pair) -> Rows:
        pair.require_continuous("FREVAL matches fragments by the spans of their nodes")
        rows = np.empty((len(pair), len(self.columns)), dtype=object)
        partner = partners(pair.gold, pair.test, pair.matching_classes)
        for index, counts in enumerate(self._sentences(pair, partner)):
            rows[index] = (1, *counts)
        return rows

    def _sentences(self, pair: Pair, partner: Int64) -> Iterator[tuple[BySize, BySize, BySize]]:
        """The fragments of gold, test and both; trees of one shape, such as samples of one sentence, are counted together."""
        gold, test = pair.gold, pair.test
        same_edge = np.ones(gold.n_brackets, dtype=np.bool_)
        if self.matching == "edges":
            has_parent = gold.parent >= 0
            same_edge = np.append(test.parent, -1)[partner] == np.append(partner, -2)[gold.parent]
            same_edge &= has_parent
        gold_shapes, test_shapes = _shapes(gold), _shapes(test)
        counts = {shape: count_fragments(np.frombuffer(shape, np.int64).tolist()) for shape in {*gold_shapes, *test_shapes}}
        members: dict[bytes, list[int]] = {}
        for sentence, shape in enumerate(gold_shapes):
            members.setdefault(shape, []).append(sentence)
        matched = [BySize()] * len(gold_shapes)
        for shape, sentences in members.items():
            parent = np.frombuffer(shape, np.int64)
            brackets = gold.offset[sentences][:, None] + np.arange(len(parent))
            found = count_marked_fragments(parent.tolist(), partner[brackets] >= 0, same_edge[brackets])
            for sentence, counted in zip(sentences, found, strict=True):
                matched[sentence] = counted
        return zip(map(counts.__getitem__, gold_shapes), map(counts.__getitem__, test_shapes), matched, strict=True)

    def rates(self, total: Total) -> Rates:
        rates: Rates = {}
        for largest in self.ranges:
            recall, precision = self._interpolate(self.by_size(total), largest)
            for name, value in (("flr", recall), ("flp", precision), ("f1", _harmonic(recall, precision))):
                rates[self._rate_name(name, largest)] = value
        if 0 not in self.ranges:
            rates["f1"] = rates[self._rate_name("f1", self.ranges[-1])]
        return rates

    @property
    def range_rates(self) -> tuple[str, ...]:
        """The rates FLR, FLP and F1 of each range of sizes, in order."""
        return tuple(self._rate_name(name, largest) for largest in self.ranges for name in ("flr", "flp", "f1"))

    @property
    def range_columns(self) -> tuple[str, ...]:
        """The heads of the columns with :attr:`range_rates` in a table, as in ``FLR 1-15``."""
        spans = ["all" if largest == 0 else "1" if largest == 1 else f"1-{largest}" for largest in self.ranges]
        return tuple(f"{name} {span}" for span in spans for name in ("FLR", "FLP", "F1"))

    @staticmethod
    def _rate_name(name: str, largest: int) -> str:
        return name if largest == 0 else f"{name}_1" if largest == 1 else f"{name}_1-{largest}"

    def by_size(self, total: Total) -> list[SizeScore]:
        """The scores of the sizes 1 ... M, where M is the size of the largest gold tree (``published``: on either side)."""
        _, gold, test, matched = map(BySize.of, total)
        largest = max(gold.largest, test.largest) if self.matching == "published" else gold.largest
        return [SizeScore(size, gold.at(size), test.at(size), matched.at(size)) for size in range(1, largest + 1)]

    def _interpolate(self, scores: Sequence[SizeScore], largest: int) -> tuple[float, float]:
        """FLR and FLP over the sizes up to ``largest`` (0: all)."""
        used = scores[: largest or None]
        weights = self.weights(len(used), [score.gold for score in used])
        return self._mean(weights, [score.recall for score in used]), self._mean(weights, [score.precision for score in used])

    def weights(self, n_sizes: int, gold: Sequence[float] = ()) -> list[float]:
        """The weights alpha of the sizes 1 ... ``n_sizes``; ``sparsity`` needs the number of gold fragments of each size."""
        if self.alpha == "sparsity":
            counts = np.zeros((1, n_sizes))
            counts[0, : len(gold)] = [float(min(count, 1e300)) for count in gold]
            return sparsity_weights(counts)[0].tolist()
        if self.alpha == "uniform":
            return [1 / max(n_sizes, 1)] * n_sizes
        if self.alpha == "halving":
            # alpha_s = 2^(M-s) / (2^M - 1), without the large powers.
            return [0.5**size / (1 - 0.5**n_sizes) for size in range(1, n_sizes + 1)]
        given = ([float(weight) for weight in self.alpha] + [0.0] * n_sizes)[:n_sizes]
        total = math.fsum(given)
        return [weight / total if total else math.nan for weight in given]

    def _mean(self, weights: Sequence[float], values: Sequence[float]) -> float:
        if self.mean == "linear":
            return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
        if any(map(math.isnan, weights)):
            return math.nan
        if not values or any(weight and not value for weight, value in zip(weights, values, strict=True)):
            return 0.0
        return math.exp(math.fsum(weight * math.log(value) for weight, value in zip(weights, values, strict=True) if weight))

    def float_columns(self, rows: Sequence[Rows]) -> tuple[tuple[Floats, ...], bool]:
        return _fragment_columns(rows)

    def rates_of_sums(self, sums: Floats) -> Floats:
        rates = _fragment_rates(self, sums)
        return np.stack([rates[name] for name in self.rate_names], axis=1)


def _fragment_columns(rows: Sequence[Rows]) -> tuple[tuple[Floats, ...], bool]:
    """Counts per fragment size as plain columns, so that they can be resampled like any other counts.

    The result has, for each system, a matrix (sentences, 3 x sizes), with gold, then test, then matched fragments; and whether all
    sums are exact. The counts are unbounded Python integers. If float64 cannot hold the counts of a size, all of them, of gold,
    test and matched fragments and of all systems, are divided by the same power of two; rates are ratios within a size, so the
    factor cancels out.

    >>> rows = np.empty((1, 4), dtype=object)
    >>> rows[0] = (1, BySize((2, 1)), BySize((2,)), BySize((1,)))
    >>> _fragment_columns([rows])[0][0].tolist()
    [[2.0, 1.0, 2.0, 0.0, 1.0, 0.0]]
    """
    largest = [max(of_size) for of_size in zip_longest(*map(_largest, rows), fillvalue=0)]
    bits = [(value * max(map(len, rows))).bit_length() for value in largest]
    divisors = [1 << max(0, needed - _RANGE_BITS) for needed in bits]
    return tuple(_floats(of_system, divisors) for of_system in rows), max(bits, default=0) <= _EXACT_BITS


def _counts_of(rows: Rows) -> list[list[tuple[int, ...]]]:
    """The counts by size, of gold, then of test, then of matched fragments, for each sentence."""
    return [[BySize.of(row[side]).counts for row in rows] for side in _SIDES]


def _largest(rows: Rows) -> list[int]:
    """The largest count of each size."""
    counts = _counts_of(rows)
    n_sizes = max((len(of_row) for of_side in counts for of_row in of_side), default=0)
    largest: list[int] = _side_by_side(counts, n_sizes).max(axis=0, initial=0).tolist()
    return [max(largest[size::n_sizes]) for size in range(n_sizes)]


def _floats(rows: Rows, divisors: Sequence[int]) -> Floats:
    """The counts of all sizes side by side, each divided by the divisor of its size."""
    matrix = _side_by_side(_counts_of(rows), len(divisors))
    if max(divisors, default=1) > 1:
        matrix = matrix / np.array([*divisors] * len(_SIDES), np.object_)
    return matrix.astype(np.float64)


def _side_by_side(counts: Sequence[Sequence[Sequence[int]]], n_sizes: int) -> NDArray[Any]:
    """The counts of gold, test and matched fragments, each with a column for each size."""
    try:
        return np.hstack([_matrix(of_side, n_sizes, np.int64) for of_side in counts])
    except OverflowError:
        return np.hstack([_matrix(of_side, n_sizes, np.object_) for of_side in counts])


def _matrix(counts: Sequence[Sequence[int]], n_sizes: int, kind: type[np.int64 | np.object_]) -> NDArray[Any]:
    """A row for each sentence, a column for each size; an OverflowError if a count does not fit."""
    lengths = np.fromiter(map(len, counts), np.int64, len(counts))
    row = np.repeat(np.arange(len(counts)), lengths)
    column = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    matrix = np.zeros((len(counts), n_sizes), kind)
    matrix[row, column] = np.fromiter(chain.from_iterable(counts), kind, len(row))
    return matrix


def _fragment_rates(metric: Freval, totals: Floats) -> dict[str, Floats]:
    """The rates that ``metric.rates`` gives, for many sums at once."""
    n_sizes = totals.shape[1] // 3
    gold, test, matched = (totals[:, side * n_sizes : (side + 1) * n_sizes] for side in range(3))
    both = (gold > 0) & (test > 0)
    recall = np.divide(matched, gold, out=np.zeros_like(gold), where=both)
    precision = np.divide(matched, test, out=np.zeros_like(gold), where=both)
    seen = ((gold > 0) | (test > 0)) if metric.matching == "published" else gold > 0
    largest = seen.sum(axis=1)  # sizes have no gaps: a tree with a fragment of some size has one of every smaller size
    rates: dict[str, Floats] = {}
    for index, limit in enumerate(metric.ranges):
        upto = np.minimum(limit, largest) if limit else largest
        flr, flp = (_weighted_means(metric, values, gold, upto) for values in (recall, precision))
        both_sum = flr + flp
        f1 = np.divide(2 * flr * flp, both_sum, out=np.zeros_like(flr), where=both_sum != 0)
        rates |= dict(zip(metric.range_rates[3 * index : 3 * index + 3], (flr, flp, f1), strict=True))
    if 0 not in metric.ranges:
        rates["f1"] = rates[metric.range_rates[-1]]
    return rates


def sparsity_weights(gold: Floats) -> Floats:
    """The weights alpha by the sparsity of fragments, row by row, given the numbers n_1, n_2 ... of gold fragments of each size.

    The paper suggests the idea: scores of large sizes, of which there are few fragments, are smoothed by those of smaller sizes.
    With lambda_s = n_s / (n_s + n_1), and smoothed R_s = lambda_s R_s + (1 - lambda_s) smoothed R_(s-1), where R_1 is not smoothed,
    the uniform mean of the smoothed scores is the mean of the scores with these weights. Only the gold trees matter, so the weights
    are the same for all systems.

    >>> sparsity_weights(np.array([[4.0, 4.0, 0.0]])).round(4).tolist()
    [[0.6667, 0.3333, 0.0]]
    """
    n_sizes = gold.shape[1]
    share = np.divide(gold, gold + gold[:, :1], out=np.zeros_like(gold), where=gold > 0)
    share[:, :1] = 1.0
    weights, carried = np.zeros_like(gold), np.zeros(len(gold))
    for size in range(n_sizes - 1, -1, -1):
        passed = carried + 1 / n_sizes
        weights[:, size] = share[:, size] * passed
        carried = (1 - share[:, size]) * passed
    return weights


def _weighted_means(metric: Freval, values: Floats, gold: Floats, upto: NDArray[np.int64]) -> Floats:
    """The weighted mean of each row over its sizes 1 ... ``upto``."""
    result = np.zeros(len(values))
    for n_sizes in filter(None, np.unique(upto).tolist()):
        rows = np.flatnonzero(upto == n_sizes)
        weights = sparsity_weights(gold[rows, :n_sizes]) if metric.alpha == "sparsity" else np.array([metric.weights(n_sizes)])
        result[rows] = _means_by_row(metric, values[rows, :n_sizes], weights)
    return result


def _means_by_row(metric: Freval, values: Floats, weights: Floats) -> Floats:
    """The mean of each row with its own weights, or with the same ones for all."""
    if metric.mean == "linear":
        return (values * weights).sum(axis=1)
    zero = ((weights > 0) & (values == 0)).any(axis=1)
    logs = np.where(values > 0, np.log(np.where(values > 0, values, 1.0)), 0.0)
    return np.where(zero, 0.0, np.exp((logs * weights).sum(axis=1)))
