"""Power, how likely a test on so many sentences finds a difference of some size, and equivalence, by resampling the sentences.

Each sentence, or document, has a paired difference: half of what the difference between the systems changes if they swap their
parses of it. Their mean is the difference itself. A test set is drawn from them with replacement; if another difference is taken as
true, all that are not 0 are shifted. On each test set the randomisation test is decided by the normal distribution of its
swaps: it rejects if the sum S of the differences has |S| - h >= 1.96 sqrt(Q), where Q is the sum of their squares and h, the
continuity correction, half the step of sums if all differences are multiples of one number (as in exact match), else 0.

With one system, the other one is imagined: it scores as the first does on a share r of the sentences, and on the rest as the first
does on other sentences, drawn at random. So sentences vary as much for both, and correlate by r.

With several runs, power is that of Student's t of :mod:`treegauge.significance.runs`: more sentences reduce the part of the
variance that is due to sentences, but not the part of the runs. ``experiments/power_simulation.py`` compares all of it with
simulated tests.

Equivalence within a margin is two one-sided tests: the distance of the difference from each end in standard errors, beside the same
in bootstrap samples, each with its own standard error (bootstrap-t, which kept its size better than plain percentiles).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from treegauge.metrics.metric import Floats
from treegauge.significance.classical import ALPHA, student_quantile
from treegauge.significance.runs import Components

ENOUGH = 0.8
"""The power that a test set should have."""
CORRELATIONS = (0.5, 0.7, 0.9)
"""The correlations between the sentences of one system and of an imagined one."""
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The sizes of test sets on the curve, in multiples of the one at hand."""
_SAMPLES, _DRAWS = 2000, 10_000
_BINS = 64
_CRITICAL = NormalDist().inv_cdf(1 - ALPHA / 2)
_MOST = 20_000_000
"""The largest number of sentences that is considered."""


class Power(NamedTuple):
    """The power of a test for a difference that is taken as true.

    ``detectable`` is the smallest difference that is found with a power of 80%, ``needed`` the number of sentences for that power;
    inf if no number is enough. ``curve`` has the power for other numbers of sentences.
    """

    difference: float
    power: float
    detectable: float
    needed: float
    curve: tuple[tuple[int, float], ...]


class _Bins(NamedTuple):
    """The distribution of paired differences that are not 0, in bins: probabilities, means and mean squares.

    ``differing`` is the probability that a difference is not 0, ``step`` half the step of sums.
    """

    share: Floats
    mean: Floats
    square: Floats
    differing: float
    step: float

    @classmethod
    def of(cls, values: Floats, weights: Floats) -> _Bins:
        """The distribution of some values; up to 64 different ones are bins of their own.

        >>> found = _Bins.of(np.array([1.0, 0.0, -1.0, 1.0]), np.ones(4))
        >>> found.mean.tolist(), found.share.round(2).tolist(), found.differing, found.step
        ([-1.0, 1.0], [0.33, 0.67], 0.75, 1.0)
        """
        rounded = np.round(values, 12)
        order = np.argsort(rounded, kind="stable")
        order = order[rounded[order] != 0]
        ordered, mass = rounded[order], weights[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-np.inf))
        if len(starts) > _BINS:
            starts = starts[np.linspace(0, len(starts), _BINS, endpoint=False).astype(int)]
        if not len(starts):
            return cls(np.ones(1), np.zeros(1), np.zeros(1), 0.0, 0.0)
        share = np.add.reduceat(mass, starts)
        mean, square = (np.add.reduceat(mass * ordered**power, starts) / share for power in (1, 2))
        return cls(share / share.sum(), mean, square, float(share.sum() / weights.sum()), _step(ordered))

    def sums(self, units: int, samples: int = _SAMPLES) -> tuple[Floats, Floats, Floats]:
        """The number of differences that are not 0, their sum and the sum of their squares in test sets of so many units."""
        rng = np.random.default_rng(units)
        differing = rng.binomial(units, self.differing, size=samples)
        drawn = rng.multinomial(differing, self.share)
        within = np.sqrt(drawn @ np.maximum(self.square - self.mean**2, 0.0))
        return differing.astype(np.float64), drawn @ self.mean + within * rng.standard_normal(samples), drawn @ self.square


def _step(values: Floats) -> float:
    """The number of which all values are multiples, if it is one of them, else 0."""
    sizes = np.abs(values)
    multiples: Floats = sizes / sizes.min()
    return float(sizes.min()) if np.abs(multiples - np.round(multiples)).max() < 1e-6 else 0.0


def _solved(is_enough: Callable[[float], bool], low: float, high: float, steps: int) -> float:
    """The point from which a condition holds, by bisection."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


PowerFunction = Callable[[float, int], float]
"""The power for a true difference, on so many sentences or documents."""


def power_function(values: Floats, weights: Floats | None = None) -> PowerFunction:
    """The power of the randomisation test, given the paired differences of sentences or documents."""
    bins = _Bins.of(values, np.ones(len(values)) if weights is None else weights)
    mean, sums_of = float(bins.share @ bins.mean), lru_cache(maxsize=1)(bins.sums)
    # Values drawn from n have n - 1 of n parts of the variance.
    narrower = math.sqrt(1 - 1 / len(values))

    def power(true: float, units: int) -> float:
        if 2.0 ** (1 - units) > ALPHA or not bins.differing:
            return 0.0  # even if one system wins all of them, so few cannot have a p of .05
        differing, sums, squares = sums_of(units)
        shift = narrower * true / bins.differing - mean
        sums, squares = sums + differing * shift, squares + shift * (2 * sums + differing * shift)
        return float((np.abs(sums) - bins.step >= np.maximum(_CRITICAL * np.sqrt(np.maximum(squares, 0.0)), 1e-12)).mean())

    return power


def power_of(values: Floats, difference: float, *, per_unit: float = 1.0) -> Power:
    """The power for a difference, given the paired differences of sentences, or of documents with ``per_unit`` sentences each.

    >>> found = power_of(np.repeat([-1.0, 0.0, 1.0], [5, 80, 15]), 0.1)
    >>> 0.4 < found.power < 0.6, 0.12 < found.detectable < 0.18, 150 < found.needed < 300
    (True, True, True)
    """
    units = len(values)
    return _power(power_function(values), difference, float(values.std()) / math.sqrt(units), units, per_unit)


def equivalence(values: Floats, difference: float, margin: float, samples: int = _DRAWS) -> float:
    """The p of two one-sided tests that a difference is within ± the margin, given the paired differences.

    >>> values = np.repeat([-1.0, 0.0, 1.0], [10, 79, 11])
    >>> equivalence(values, 0.01, 0.2) < 0.05 < equivalence(values, 0.01, 0.05)
    True
    """
    units = len(values)
    error = float(values.std()) / math.sqrt(max(units - 1, 1))
    if math.isnan(difference) or not error > 0:
        return math.nan if math.isnan(difference) or units < 2 else float(abs(difference) >= margin)
    _, sums, squares = _Bins.of(values, np.ones(units)).sums(units, samples)
    means = sums / units
    t = (means - values.mean()) / np.sqrt(np.maximum(squares / units - means**2, 1e-30) / (units - 1))
    beyond = max(int((t <= (difference - margin) / error).sum()), int((t >= (difference + margin) / error).sum()))
    return (beyond + 1) / (samples + 1)


def power_of_plan(values: Floats, difference: float, correlation: float, *, per_unit: float = 1.0) -> Power:
    """The power for a difference from an imagined system, given what each sentence adds to the rate of the one at hand."""
    rng = np.random.default_rng(0)
    others = np.concatenate([values[rng.permutation(len(values))] - values for _ in range(8)])
    weights = np.append(np.ones(len(others)), len(others) * correlation / (1 - correlation))
    error = math.sqrt(2 * (1 - correlation) / len(values)) * float(values.std())
    return _power(power_function(np.append(others, 0.0), weights), difference, error, len(values), per_unit)


def power_function_of_runs(spread: Components, units: int) -> PowerFunction:
    """The power of the test by runs, given the parts of a variance on so many sentences or documents."""

    def power(true: float, n: int) -> float:
        of, rng = spread.on(n / units), np.random.default_rng(n)
        t = (rng.standard_normal(_DRAWS) + true / math.sqrt(of.variance)) / np.sqrt(rng.chisquare(of.df, _DRAWS) / of.df)
        return float((np.abs(t) >= student_quantile(1 - ALPHA / 2, of.df)).mean())

    return power


def power_of_runs(spread: Components, difference: float, units: int, *, per_unit: float = 1.0) -> Power:
    """The power for a difference between means over runs, given the variance of the one that was seen."""
    return _power(power_function_of_runs(spread, units), difference, math.sqrt(spread.variance), units, per_unit)


def _power(power: PowerFunction, difference: float, error: float, units: int, per_unit: float) -> Power:
    """All of a power, given the power for a difference and a number of units, and the standard error of the difference."""
    if not error > 0 or math.isnan(difference):
        return Power(difference, math.nan, math.nan, math.nan, ())
    detectable = math.nan
    if power(12 * error, units) >= ENOUGH:
        detectable = _solved(lambda true: power(true, units) >= ENOUGH, 0.0, 12 * error, 11)
    needed = math.inf
    if power(difference, _MOST) >= ENOUGH:
        needed = math.exp(_solved(lambda n: power(difference, round(math.exp(n))) >= ENOUGH, math.log(2), math.log(_MOST), 11))
    sizes = sorted({max(2, round(factor * units)) for factor in FACTORS})
    curve = tuple((round(size * per_unit), power(difference, size)) for size in sizes)
    return Power(difference, power(difference, units), detectable, needed * per_unit, curve)
