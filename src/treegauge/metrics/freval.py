"""FREVAL: PARSEVAL for connected fragments of every size (Bastings & Sima'an 2014).

Nodes are phrases, so size 1 is PARSEVAL. Two fragments match when the same situated labelled brackets *and the edges between
them* are in both trees: ``edges``, the default, symmetric and never above 1. The authors' program looks at the edges of the gold
tree only: ``published``, the reading behind their Table 1, not symmetric, with precisions that can exceed 1.

LR_s and LP_s are pooled over a corpus for each size s; FLR and FLP interpolate them with weights alpha. A size without gold or
test fragments scores 0 and keeps its weight.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.base import Rates, Rows, Total
from treegauge.metrics.fragments import BySize, count_fragments
from treegauge.metrics.matching import partners
from treegauge.metrics.preparation import Pair

__all__ = ["Freval", "SizeScore"]

MATCHINGS = ("edges", "published")
MEANS = ("linear", "geometric")


@dataclass(frozen=True)
class SizeScore:
    """What is right among the fragments of one size; rates without gold or test fragments are 0."""

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
    """2RP/(R+P), and 0 where both are 0."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


@dataclass(frozen=True)
class Freval:
    """Recall, precision and F1 over connected fragments of all sizes: FLR, FLP and their F1 for ranges of sizes.

    ``ranges`` are the largest sizes to look at (0: all there are); ``alpha`` is ``uniform``, ``halving`` (each size half the
    weight of the one before) or a sequence of weights for the sizes 1, 2, ...; ``mean`` is ``linear`` or ``geometric``.

    >>> import treegauge
    >>> gold = "(S (NP (N a)) (VP (V b) (NP (N c))))"
    >>> test = "(S (NP (N a)) (XP (V b) (NP (N c))))"
    >>> result = treegauge.score(gold, test, metric="freval")
    >>> [round(result.rates[name], 3) for name in ("f1_1", "f1")]
    [0.75, 0.271]
    """

    matching: str = "edges"
    ranges: tuple[int, ...] = (1, 15, 25, 0)
    alpha: str | tuple[float, ...] = "uniform"
    mean: str = "linear"
    name: str = field(default="freval", init=False)
    summary: str = field(default="recall, precision and F1 over connected fragments of every size", init=False)
    reference: str = field(default="bastings2014", init=False)
    headline: str = field(default="f1", init=False)
    columns: tuple[str, ...] = field(default=("sentences", "gold", "test", "matched"), init=False)

    def __post_init__(self) -> None:
        if self.matching not in MATCHINGS:
            raise UnknownName("FREVAL matching", self.matching, MATCHINGS)
        if self.mean not in MEANS:
            raise UnknownName("FREVAL mean", self.mean, MEANS)
        if isinstance(self.alpha, str) and self.alpha not in ("uniform", "halving"):
            raise UnknownName("FREVAL alpha", self.alpha, ("uniform", "halving", "or numbers"))
        if not isinstance(self.alpha, str) and abs(math.fsum(self.alpha) - 1) > 1e-9:
            raise UsageError(f"the weights alpha must sum to 1, but sum to {math.fsum(self.alpha):g}")

    @classmethod
    def with_options(cls, *words: str) -> Freval:
        """``freval:published``, ``freval:geometric``, ``freval:halving``, ``freval:1-10`` and any combination."""
        settings: dict[str, Any] = {}
        for word in words:
            if word in MATCHINGS:
                settings["matching"] = word
            elif word in MEANS:
                settings["mean"] = word
            elif word in ("uniform", "halving"):
                settings["alpha"] = word
            elif word.removeprefix("1-").isdigit():
                settings["ranges"] = (*settings.get("ranges", ()), int(word.removeprefix("1-")))
            else:
                raise UnknownName("FREVAL option", word, (*MATCHINGS, *MEANS, "uniform", "halving", "1-15"))
        return cls(**settings)

    @property
    def mirrored(self) -> Mapping[str, str]:
        if self.matching == "published":
            return {}
        swaps = {self._named("flr", k): self._named("flp", k) for k in self.ranges if k}
        same = [self._named("f1", k) for k in self.ranges if k]
        return {**swaps, **{b: a for a, b in swaps.items()}, **{name: name for name in same}}

    @property
    def options(self) -> Mapping[str, Any]:
        return {"matching": self.matching, "ranges": self.ranges, "alpha": self.alpha, "mean": self.mean}

    def rows(self, pair: Pair) -> Rows:
        rows = np.empty((len(pair), len(self.columns)), dtype=object)
        partner = partners(pair.gold, pair.test, pair.matching_classes)
        for index, counts in enumerate(self._sentences(pair, partner)):
            rows[index] = (1, *counts)
        return rows

    def _sentences(self, pair: Pair, partner: np.ndarray[Any, np.dtype[np.int64]]) -> list[tuple[BySize, BySize, BySize]]:
        gold, test = pair.gold, pair.test
        same_edge = np.ones(gold.n_brackets, dtype=np.bool_)
        if self.matching == "edges":
            has_parent = gold.parent >= 0
            same_edge = np.append(test.parent, -1)[partner] == np.append(partner, -2)[gold.parent]
            same_edge &= has_parent
        counts: list[tuple[BySize, BySize, BySize]] = []
        for g0, g1, t0, t1 in zip(gold.offset, gold.offset[1:], test.offset, test.offset[1:], strict=False):
            gold_parent: list[int] = np.where(gold.parent[g0:g1] < 0, -1, gold.parent[g0:g1] - g0).tolist()
            test_parent: list[int] = np.where(test.parent[t0:t1] < 0, -1, test.parent[t0:t1] - t0).tolist()
            matched: list[bool] = (partner[g0:g1] >= 0).tolist()
            edges: list[bool] = same_edge[g0:g1].tolist()
            counts.append(
                (
                    count_fragments(gold_parent),
                    count_fragments(test_parent),
                    count_fragments(gold_parent, nodes=matched, edges=edges),
                )
            )
        return counts

    def rates(self, total: Total) -> Rates:
        rates: Rates = {}
        for largest in self.ranges:
            recall, precision = self._interpolated(self.by_size(total), largest)
            for name, value in (("flr", recall), ("flp", precision), ("f1", _harmonic(recall, precision))):
                rates[self._named(name, largest)] = value
        if 0 not in self.ranges:
            rates["f1"] = rates[self._named("f1", self.ranges[-1])]
        return rates

    @property
    def rate_names(self) -> tuple[str, ...]:
        """The rates of each range of sizes, in order."""
        return tuple(self._named(name, largest) for largest in self.ranges for name in ("flr", "flp", "f1"))

    @staticmethod
    def _named(name: str, largest: int) -> str:
        return name if largest == 0 else f"{name}_1" if largest == 1 else f"{name}_1-{largest}"

    def by_size(self, total: Total) -> list[SizeScore]:
        """The scores of the sizes 1 ... M: the largest gold tree's size (``published``: of either side)."""
        _, gold, test, matched = (value if isinstance(value, BySize) else BySize() for value in total)
        largest = max(gold.largest, test.largest) if self.matching == "published" else gold.largest
        return [SizeScore(size, gold.at(size), test.at(size), matched.at(size)) for size in range(1, largest + 1)]

    def _interpolated(self, scores: Sequence[SizeScore], largest: int) -> tuple[float, float]:
        """FLR and FLP over the sizes up to ``largest``."""
        if largest and self.matching == "published":
            largest = min(largest, len(scores))
        n_sizes = largest or len(scores)
        weights = self.weights(n_sizes)
        used = scores[:n_sizes]
        recalls = [score.recall for score in used] + [0.0] * (n_sizes - len(used))
        precisions = [score.precision for score in used] + [0.0] * (n_sizes - len(used))
        return self._mean(weights, recalls), self._mean(weights, precisions)

    def weights(self, n_sizes: int) -> list[float]:
        """alpha for the sizes 1 ... ``n_sizes``."""
        if self.alpha == "uniform":
            return [1 / max(n_sizes, 1)] * n_sizes
        if self.alpha == "halving":
            # alpha_s = 2^(M-s) / (2^M - 1), without the large powers.
            return [0.5**size / (1 - 0.5**n_sizes) for size in range(1, n_sizes + 1)]
        given = [float(weight) for weight in self.alpha]
        return (given + [0.0] * n_sizes)[:n_sizes]

    def _mean(self, weights: Sequence[float], values: Sequence[float]) -> float:
        if self.mean == "linear":
            return math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
        if not values or any(weight and not value for weight, value in zip(weights, values, strict=True)):
            return 0.0
        return math.exp(math.fsum(weight * math.log(value) for weight, value in zip(weights, values, strict=True) if weight))
