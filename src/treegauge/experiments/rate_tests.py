"""Is one system better than another? Paired randomisation on the rows that a score is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from treegauge.metrics.registry import find_metric
from treegauge.metrics.scoring import score
from treegauge.normalise.preset import Preset
from treegauge.significance.paired import Paired
from treegauge.significance.randomisation import randomisation
from treegauge.trees.tree import Tree

__all__ = ["RateTests"]


class RateTests:
    """The rates of systems by one metric, and p-values of their differences.

    >>> gold = [Tree.parse("(S (A a) (X (B b) (C c)))")] * 3
    >>> flat = [Tree.parse("(S (A a) (B b) (C c))")] * 3
    >>> tests = RateTests("parseval", gold, {"flat": flat, "gold": gold}, rounds=100)
    >>> tests.rates["flat"]["recall"], tests.p("flat", "gold", "recall")
    (0.5, 0.25)
    """

    def __init__(
        self,
        metric: str,
        gold: Sequence[Tree],
        systems: Mapping[str, Sequence[Tree]],
        *,
        preset: str | Preset = "default",
        rounds: int = 10_000,
        seed: int = 1,
    ) -> None:
        results = {name: score(gold, trees, metric=metric, preset=preset) for name, trees in systems.items()}
        self.rates = {name: dict(result.rates) for name, result in results.items()}
        self.signatures = {name: str(result.signature) for name, result in results.items()}
        self._names, self._rounds, self._seed = list(systems), rounds, seed
        self._paired = Paired.of(find_metric(metric), [result.rows for result in results.values()])
        self._done: dict[tuple[str, str], Mapping[str, float]] = {}

    def p(self, a: str, b: str, rate: str) -> float:
        """The two-sided p-value of the difference of two systems."""
        first, second = sorted((a, b), key=self._names.index)
        if (first, second) not in self._done:
            places = self._names.index(first), self._names.index(second)
            found = randomisation(self._paired, *places, rounds=self._rounds, seed=self._seed)
            self._done[first, second] = {name: float(p) for (_, name), p in zip(found.names, found.p, strict=True)}
        return self._done[first, second][rate]
