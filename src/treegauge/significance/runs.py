"""Tests of systems with several runs, which count both sources of chance: the runs of a system, and the sentences all runs share.

A rate is linearised: a sentence's contribution is the jackknife estimate of how much it moves the rate. Runs are crossed with
sentences, so the variance of a difference between two means over runs has three parts: the runs, the sentences, and how differently
runs fare on single sentences (the interaction). With w = 1/runs of A + 1/runs of B, the variance between runs s² (pooled) holds the
runs and the interaction, the variance V of the sentences' contributions to the difference holds the sentences and w times the
interaction I. So the variance is w s² + S, where S = max(0, V - w I), and Student's t has by Satterthwaite (1946)

    df = (w s² + S)² / ((w s²)² / (runs - systems) + S V / (sentences - 1))

degrees of freedom. The plain formula for V - w I in place of S V is too cautious, S² too bold; with S V the test kept its size in
all cells of ``experiments/runs_simulation.py``. Where documents are given (clusters of sentences), they stand in for sentences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treegauge.metrics.metric import Floats
from treegauge.significance.classical import student, student_quantile
from treegauge.significance.resampling import Interval, Name, PairedColumns, sums_of_documents
from treegauge.trees.treebank import Int64

_MOST_PERMUTATIONS = 200_000
_TIE = 1e-12
METHOD = "runs"
"""The name of the intervals that count the variation between runs."""


class Components(NamedTuple):
    """The parts of the variance of a mean over runs, or of a difference of two.

    ``runs`` is w s² and ``shared`` S of the module's docstring, ``of_units`` V and ``interaction`` w I; ``free`` are the degrees of
    freedom of s², ``units`` the number of sentences or documents.
    """

    runs: float
    shared: float
    of_units: float
    interaction: float
    free: int
    units: float

    @property
    def variance(self) -> float:
        """The variance; undefined (nan) if there is one sentence."""
        return self.runs + self.shared

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom."""
        if not self.free:
            return self.units - 1.0
        below = self.runs**2 / self.free + self.shared * self.of_units / max(self.units - 1, 1)
        return self.variance**2 / below if below else float(self.free)

    @property
    def of_runs(self) -> float:
        """The part of the variance that is due to runs, and does not shrink with more sentences."""
        return max(0.0, self.runs - self.interaction)

    def on(self, times: float) -> Components:
        """The parts on a test set that is so many times as large."""
        runs = self.of_runs + min(self.runs, self.interaction) / times
        shared, of_units, interaction = (part / times for part in (self.shared, self.of_units, self.interaction))
        return Components(runs, shared, of_units, interaction, self.free, self.units * times)

    def interval(self, value: float, level: float) -> Interval:
        """The interval of Student's t around the value."""
        if math.isnan(self.variance) or math.isnan(value):
            return Interval(math.nan, math.nan, METHOD, "no interval: undefined")
        half = student_quantile((1 + level) / 2, self.df) * math.sqrt(self.variance)
        return Interval(value - half, value + half, METHOD)

    def p(self, difference: float) -> float:
        """The two-sided p of a difference; 1 if there is none."""
        if math.isnan(difference) or math.isnan(self.variance):
            return math.nan
        if abs(difference) <= _TIE or not self.variance:
            return float(abs(difference) <= _TIE)
        return student(difference / math.sqrt(self.variance), self.df)

    def equivalence(self, difference: float, margin: float) -> float:
        """The p of two one-sided tests that the difference is within the margin."""
        room = margin - abs(difference)
        if math.isnan(room) or not self.variance > 0:
            return math.nan if math.isnan(room + self.variance) else float(room <= 0)
        two_sided = student(room / math.sqrt(self.variance), self.df)
        return two_sided / 2 if room > 0 else 1 - two_sided / 2


def components(values: Sequence[Floats], contributions: Sequence[Floats]) -> Components:
    """The variance of a system's mean over runs, or of the second system's minus the first's.

    ``values`` are the rates of the runs, ``contributions`` (runs, units) what each sentence or document adds to them, by system. A
    system with one run is taken to vary as much as the other.

    >>> spread = components([np.array([0.80, 0.82, 0.84])], [np.zeros((3, 50))])
    >>> round(spread.variance, 6), round(spread.df, 1), round(spread.of_runs / spread.variance, 1)
    (0.000133, 2.0, 1.0)
    """
    units = contributions[0].shape[1]
    centred = [of_system - of_system.mean(axis=1, keepdims=True) for of_system in contributions]
    means = [of_system.mean(axis=0) for of_system in centred]
    scale = units / (units - 1) if units > 1 else math.nan
    of_units = scale * float(((means[-1] - means[0] if len(means) > 1 else means[0]) ** 2).sum())
    free = sum(len(of_system) - 1 for of_system in values)
    if not free:
        return Components(0.0, of_units, of_units, 0.0, 0, units)
    weight = sum(1 / len(of_system) for of_system in values)
    between = sum(float(((runs - runs.mean()) ** 2).sum()) for runs in values) / free
    interaction = scale * sum(float(((of - mean) ** 2).sum()) for of, mean in zip(centred, means, strict=True)) / free
    shared = max(0.0, of_units - weight * interaction)
    return Components(weight * between, shared, of_units, weight * interaction, free, units)


class Permutation(NamedTuple):
    """The exact permutation of whole runs between two systems: its p, and the smallest p that so few runs can have."""

    p: float
    least: float


def permutation(a: Floats, b: Floats) -> Permutation:
    """The share of all ways to divide the runs between two systems whose difference of means is as large; nan if they are too many.

    >>> permutation(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    Permutation(p=0.1, least=0.1)
    """
    ways = math.comb(len(a) + len(b), len(a))
    least = (2 if len(a) == len(b) else 1) / ways
    if ways > _MOST_PERMUTATIONS or np.isnan(a).any() or np.isnan(b).any():
        return Permutation(math.nan, least)
    every = np.concatenate([a, b])
    first = every[np.array(list(itertools.combinations(range(len(every)), len(a))))].sum(axis=1)
    found = np.abs((every.sum() - first) / len(b) - first / len(a))
    return Permutation(float((found >= found[0] - _TIE).mean()), least)


class RunsTest(NamedTuple):
    """The difference between the means of two systems over their runs, tested.

    ``share_of_runs`` is the part of its variance that is due to runs, the rest is due to sentences; ``opposite`` is the share of
    single pairs of runs whose difference has the other sign.
    """

    interval: Interval
    p: float
    df: float
    share_of_runs: float
    permutation: Permutation
    opposite: float


class RunTests:
    """The tests of systems with several runs on some sentences, or on documents, given by a number for each sentence.

    ``runs`` has, for each system, the positions of its runs among the columns.
    """

    def __init__(
        self, paired: PairedColumns, runs: Sequence[Sequence[int]], names: Sequence[Name], documents: Int64 | None = None
    ) -> None:
        self._names, self._runs, self._n = list(names), runs, len(paired)
        places = [paired.names.index(name) for name in names]
        self._rates = [np.array([paired.observed(run)[places] for run in of_system]) for of_system in runs]
        self._by_sentence = [
            np.nan_to_num(np.array([_contributions(paired, run, places) for run in of_system])) for of_system in runs
        ]
        self._by_unit = self._by_sentence
        if documents is not None:
            self._by_unit = [
                sums_of_documents(of_system.swapaxes(0, 1), documents).swapaxes(0, 1) for of_system in self._by_sentence
            ]

    def values(self, system: int, name: Name) -> Floats:
        """The rates of the runs of a system."""
        return self._rates[system][:, self._names.index(name)]

    def _difference(self, a: int, b: int, name: Name) -> float:
        return float(self.values(b, name).mean() - self.values(a, name).mean())

    def interval(self, system: int, name: Name, level: float) -> Interval:
        """The interval of a system's mean."""
        return self.spread((system,), name).interval(float(self.values(system, name).mean()), level)

    def test(self, a: int, b: int, name: Name, level: float) -> RunsTest:
        """The test of B's mean minus A's."""
        ours, theirs = self.values(a, name), self.values(b, name)
        difference = self._difference(a, b, name)
        found = self.spread((a, b), name)
        pairs = np.sign(theirs[:, np.newaxis] - ours)
        return RunsTest(
            found.interval(difference, level),
            found.p(difference),
            found.df,
            found.of_runs / found.variance if found.variance else math.nan,
            permutation(ours, theirs),
            float((pairs == -np.sign(difference)).mean()) if difference else math.nan,
        )

    def equivalence(self, a: int, b: int, name: Name, margin: float) -> float:
        """The p of two one-sided tests that B's mean minus A's is within the margin."""
        return self.spread((a, b), name).equivalence(self._difference(a, b, name), margin)

    def contributions(self, system: int, name: Name) -> Floats:
        """The contribution of each sentence or document to the mean of a system."""
        return self._by_unit[system][:, :, self._names.index(name)].mean(axis=0)

    def effect(self, a: int, b: int, name: Name) -> float:
        """The difference in standard deviations of a sentence, see :meth:`~treegauge.significance.Bootstrap.effect_size`."""
        place = self._names.index(name)
        of_sentence = self._n * (self._by_sentence[b][:, :, place].mean(axis=0) - self._by_sentence[a][:, :, place].mean(axis=0))
        deviation = float(np.std(of_sentence, ddof=1)) if self._n > 1 else 0.0
        return self._difference(a, b, name) / deviation if deviation > _TIE else math.nan

    def widening(self, a: int, b: int, name: Name) -> float:
        """The standard error of a difference by documents over that by sentences."""
        by_document, by_sentence = self.spread((a, b), name), self.spread((a, b), name, by_sentence=True)
        return math.sqrt(by_document.variance / by_sentence.variance) if by_sentence.variance else math.nan

    def spread(self, systems: Sequence[int], name: Name, *, by_sentence: bool = False) -> Components:
        """The parts of the variance of a system's mean, or of the difference of two."""
        place, of_units = self._names.index(name), self._by_sentence if by_sentence else self._by_unit
        return components([self.values(system, name) for system in systems], [of_units[system][:, :, place] for system in systems])


def _contributions(paired: PairedColumns, run: int, places: Sequence[int]) -> Floats:
    """The contribution of each sentence to some rates of a run, (sentences, rates)."""
    n = len(paired)
    return (n - 1) / n * (paired.observed(run)[list(places)] - paired.leave_one_out(run, places))
