"""The paper's numbers beside ours, summaries of repeated runs, tests of differences between systems and of whether each algorithm
is best on the criterion that it maximises."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset
from treegauge.scoring.evaluation import score
from treegauge.significance.resampling import PairedColumns, randomisation
from treegauge.tables import Cell, Table
from treegauge.trees.tree import Tree


class Summary(NamedTuple):
    """The smallest, the largest, the mean and the sample standard deviation of some numbers."""

    least: float
    most: float
    mean: float
    deviation: float


def summarise(values: Sequence[float]) -> Summary:
    """The summary of repeated runs; nan if there are none, and the deviation of a single run is nan.

    >>> summarise([1.0, 2.0, 3.0])
    Summary(least=1.0, most=3.0, mean=2.0, deviation=1.0)
    """
    if not len(values):
        return Summary(math.nan, math.nan, math.nan, math.nan)
    array = np.asarray(values, dtype=np.float64)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else math.nan
    return Summary(float(array.min()), float(array.max()), float(array.mean()), deviation)


def error_reduction(before: float, after: float) -> float:
    """The share of the error of a rate ``before`` that is gone ``after``; nan if there was no error.

    >>> round(error_reduction(0.8, 0.85), 9)
    0.25
    """
    return (after - before) / (1 - before) if before < 1 else math.nan


def paper_table(
    title: str,
    keys: Sequence[str],
    columns: Sequence[str],
    paper: Mapping[tuple[str, ...], Sequence[Cell]],
    ours: Mapping[tuple[str, ...], Sequence[Cell]],
    *,
    percent: bool = False,
    notes: Sequence[str] = (),
) -> Table:
    """A table with two columns for each column of the paper: its value and ours; a missing value is shown as -.

    >>> print(paper_table("F1", ["parser"], ["LR"], {("MRL",): [0.7]}, {("MRL",): [0.71], ("MH",): [0.8]}, percent=True))
    F1
    parser  LR paper  LR ours
    MRL        70.00    71.00
    MH             -    80.00
    """
    names = [f"{column} {side}" for column in columns for side in ("paper", "ours")]
    nothing: Sequence[Cell] = [None] * len(columns)
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys([*paper, *ours]):
        pairs = zip(paper.get(key, nothing), ours.get(key, nothing), strict=True)
        rows.append((*key, *(cell for pair in pairs for cell in pair)))
    return Table(title, (*keys, *names), tuple(rows), tuple(notes), tuple(names) if percent else ())


class RateTests:
    """The rates of systems by one metric, and the p-values of their differences.

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
        self._paired = PairedColumns.of(find_metric(metric), [result.rows for result in results.values()])
        self._done: dict[tuple[str, str], Mapping[str, float]] = {}

    def p(self, a: str, b: str, rate: str) -> float:
        """The two-sided p-value of the difference between two systems in a rate, by paired randomisation."""
        first, second = sorted((a, b), key=self._names.index)
        if (first, second) not in self._done:
            places = self._names.index(first), self._names.index(second)
            found = randomisation(self._paired, *places, rounds=self._rounds, seed=self._seed)
            self._done[first, second] = {name: float(p) for (_, name), p in zip(found.names, found.p, strict=True)}
        return self._done[first, second][rate]


SIGNIFICANT = 0.05
_TIE = 5e-7
"""Rates closer than this count as equal."""


@dataclass(frozen=True)
class CriterionTest:
    """The difference between the algorithm ``own`` and the best other one, ``rival``, on the criterion that ``own`` maximises;
    ``where`` names the grammar."""

    criterion: str
    own: str
    rival: str
    difference: float
    p: float
    where: str = ""

    @property
    def is_best(self) -> bool:
        """Whether the algorithm is better than every other; a tie does not count."""
        return self.difference > _TIE

    @property
    def is_tie(self) -> bool:
        return abs(self.difference) <= _TIE

    @property
    def verdict(self) -> str:
        """The outcome in a word or two."""
        return "tie" if self.is_tie else "best" if self.is_best else "not best"

    def __str__(self) -> str:
        """The outcome in one sentence.

        >>> print(CriterionTest("LR", "M_LR", "MPP", -0.002, 0.4, "MH"))
        On LR (MH) MPP is 0.20 points above M_LR (p = 0.4000): not significant, so the sample cannot tell
        """
        place = f"On {self.criterion}" + (f" ({self.where})" if self.where else "")
        if self.is_tie:
            return f"{place} {self.own} and {self.rival} are equal"
        if self.is_best:
            lead = f"{place} {self.own} leads {self.rival} by {100 * self.difference:.2f} points (p = {self.p:.4f})"
            return lead if self.p < SIGNIFICANT else f"{lead}: not significant"
        found = f"{place} {self.rival} is {-100 * self.difference:.2f} points above {self.own} (p = {self.p:.4f})"
        if self.p >= SIGNIFICANT:
            return f"{found}: not significant, so the sample cannot tell"
        return f"{found}: significant; {self.own} is best on average over the grammar's own trees, and this treebank's are others"


def criterion_test(
    tests: RateTests, rate: str, criterion: str, own: str, names: Mapping[str, str] | None = None, where: str = ""
) -> CriterionTest:
    """The test of algorithm ``own`` on one criterion; ``names`` are the shown names of algorithms, by their names in ``tests``."""
    shown = names or {name: name for name in tests.rates}
    rival = max((name for name in tests.rates if name != own), key=lambda name: tests.rates[name][rate])
    difference = tests.rates[own][rate] - tests.rates[rival][rate]
    return CriterionTest(criterion, shown[own], shown[rival], difference, tests.p(rival, own, rate), where)


def criterion_table(verdicts: Sequence[CriterionTest], notes: Sequence[str] = ()) -> Table:
    """The table of several tests, with a row for each."""
    several = any(each.where for each in verdicts)
    rows: list[tuple[Cell, ...]] = [
        (*([each.where] if several else []), each.criterion, each.own, each.rival, each.difference, f"{each.p:.4f}", each.verdict)
        for each in verdicts
    ]
    columns = ("criterion", "its algorithm", "best other", "difference", "p", "verdict")
    about = "p: two-sided, paired randomisation over sentences. A difference that is not significant decides nothing."
    return Table(
        "Is each algorithm the best on the criterion that it maximises?",
        (*(["grammar"] if several else []), *columns),
        tuple(rows),
        notes=(*notes, about),
        percent=("difference",),
    )


def in_words(verdicts: Sequence[CriterionTest]) -> str:
    """A text with the number of algorithms that are best on their own criterion, and every exception with its significance."""
    best = [each for each in verdicts if each.is_best]
    weak = [each for each in best if each.p >= SIGNIFICANT]
    said = f"on {len(best)} of {len(verdicts)} criteria the algorithm made for it is best"
    said += f", on {len(best) - len(weak)} of them significantly (p < {SIGNIFICANT:g})." if best else "."
    for each in (*weak, *(each for each in verdicts if not each.is_best)):
        said += f" {each}."
    return said
