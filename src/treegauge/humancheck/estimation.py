"""The items and measures when only some brackets were judged: estimates, and how far off they may be.

The judged brackets are taken for a random sample of all that are asked about, which they are as long as people go along the random
order. Of the brackets not judged yet, each is accepted with the probability p of its kind, and the sample says of p what a Beta
distribution with Jeffreys' prior says: Beta(accepted + 1/2, rejected + 1/2). Drawing p, then the unjudged brackets, many
times gives the measures that judging everything might give; an interval is the middle of them. It shrinks to nothing as the last
bracket is judged. It says nothing about other sentences: that is what ``treegauge compare`` is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.humancheck.queue import KINDS, Check
from treegauge.metrics.hogenhout import measures
from treegauge.trees.treebank import Int64

__all__ = ["ACCEPTED", "OPEN", "REJECTED", "SKIPPED", "STATES", "UNSURE", "Estimate", "Standing", "estimate"]

OPEN, ACCEPTED, REJECTED, UNSURE, SKIPPED = range(5)
STATES = {"accepted": ACCEPTED, "rejected": REJECTED, "unsure": UNSURE, "skipped": SKIPPED}
"""What a question can be: not answered (0), or the number of its answer."""

ITEMS = ("CEA", "CER", "SPA", "SPR", "EMA", "EMR")
_DRAWS = 2000

States = NDArray[np.int8]


@dataclass(frozen=True)
class Estimate:
    """A number, and the interval in which judging everything would put it."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """Where a system stands: ``counts`` as judged (and ``unjudged``), ``items`` and ``measures`` with their intervals.

    Once nothing is unjudged, every interval is a point and every item a count.
    """

    system: str
    counts: Mapping[str, int]
    items: Mapping[str, Estimate]
    measures: Mapping[str, Estimate]

    @property
    def is_complete(self) -> bool:
        return not self.counts["unjudged"]


def estimate(check: Check, system: int, states: States, *, level: float = 0.95, seed: int = 1) -> Standing:
    """The items and measures of a system, given the state of every question.

    Exact matches count as accepted until somebody says otherwise, as in the paper; if the check asks about them, they are a sample
    like the others.
    """
    rng = np.random.default_rng(seed)
    regular = dict(check.systems[system].counts)
    judged: dict[str, int] = {}
    drawn: dict[str, Any] = {}
    unjudged = 0
    for kind, name in enumerate(KINDS):
        group = _Group(check.instances[system, kind], check.reproduced[system] * (name == "EM"), states)
        assumed = name == "EM" and not check.plan.exact
        judged |= {f"{name}A": int(group.accepted[0]), f"{name}R": int(group.rejected[0])}
        if assumed:
            drawn |= {"EMA": regular["EM"] - judged["EMR"], "EMR": judged["EMR"], "treebank": int(group.rejected[1])}
            judged["EMA"] = regular["EM"] - judged["EMR"]
            continue
        unjudged += int(group.open[0])
        accepted = group.draw(rng, _DRAWS)
        drawn |= {f"{name}A": group.accepted[0] + accepted[0], f"{name}R": group.rejected[0] + group.open[0] - accepted[0]}
        if name == "EM":
            drawn["treebank"] = group.rejected[1] + group.open[1] - accepted[1]
    # Treebank brackets whose exact match was not asked about, being of another structure, are reproduced all the same.
    drawn["EMA_treebank"] = regular["TINH"] + regular["TNINH"] - drawn.pop("treebank")
    possible = measures(regular | drawn, with_emr=check.plan.metric.with_emr)
    items = {name: _interval(drawn[name], level) for name in ITEMS}
    rates = {name: _interval(values, level) for name, values in possible.items()}
    return Standing(check.systems[system].name, regular | judged | {"unjudged": unjudged}, items, rates)


class _Group:
    """The brackets of one kind: how many stand where, of those accepted, rejected and open; in the parse and in the treebank."""

    def __init__(self, instances: Int64, reproduced: Int64, states: States) -> None:
        here = np.flatnonzero(instances)
        counts, said = np.stack([instances[here], reproduced[here]]), states[here]
        self.accepted = counts[:, said == ACCEPTED].sum(axis=1)
        self.rejected = counts[:, said == REJECTED].sum(axis=1)
        self._waiting = counts[:, (said != ACCEPTED) & (said != REJECTED)]
        self.open = self._waiting.sum(axis=1)
        self.n_accepted, self.n_rejected = int((said == ACCEPTED).sum()), int((said == REJECTED).sum())

    def draw(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        """How many of the open brackets would be accepted: the estimate, then ``draws`` possible numbers; nan if none is known."""
        n = self.n_accepted + self.n_rejected
        if not self.open[0]:
            return np.zeros((2, draws + 1))
        if not n:
            return np.full((2, draws + 1), np.nan)
        p = rng.beta(self.n_accepted + 0.5, self.n_rejected + 0.5, size=draws)
        # Brackets that stand equally often share one binomial draw.
        instances, reproduced = self._waiting
        codes, numbers = np.unique(instances * (int(reproduced.max()) + 1) + reproduced, return_counts=True)
        sizes = np.stack(np.divmod(codes, int(reproduced.max()) + 1))
        accepted = rng.binomial(numbers[:, None], p[None, :])
        expected = self.open * self.n_accepted / n
        return np.concatenate([expected[:, None], (sizes @ accepted).astype(np.float64)], axis=1)


def _interval(values: Any, level: float) -> Estimate:
    """The first value, and the middle ``level`` of the others; a value that does not vary is a point."""
    if not isinstance(values, np.ndarray):
        return Estimate(float(values), float(values), float(values))
    numbers = np.asarray(values, dtype=np.float64)
    possible = numbers[1:][~np.isnan(numbers[1:])]
    if np.isnan(numbers[0]) or not len(possible):
        return Estimate(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(possible, [(1 - level) / 2, (1 + level) / 2], method="linear")
    return Estimate(float(numbers[0]), min(float(low), float(numbers[0])), max(float(high), float(numbers[0])))
