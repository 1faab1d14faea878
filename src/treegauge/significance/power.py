"""Power, how likely a test on so many sentences finds a difference of some size, and equivalence, given the sentences at hand.

Each sentence, or document, has a paired difference: half of what the difference between the systems changes if they swap their
parses of it. Their mean is the difference itself; if another one is taken as true, all that are not 0 are shifted. The
randomisation test rejects if the sum S of n paired differences has |S| - h >= z sqrt(Q). Q is the sum of their squares; h, the
continuity correction, is half the step of sums if all are multiples of one number (as in exact match), else 0; z is 1.96, a little
less if n is small, since sums of swaps have lighter tails than the normal distribution (Cornish & Fisher). S - z sqrt(Q) is nearly
a sum over sentences, and its distribution that of Edgeworth's series up to skewness.

With one system, the other one is imagined: it scores as the first does on a share r of the sentences, and on the rest as the first
does on other sentences, drawn at random. So sentences vary as much for both, and correlate by r.

With several runs, power is that of Student's t of :mod:`treegauge.significance.runs`: more sentences reduce the part of the
variance that is due to sentences, but not the part of the runs.

A variance from few sentences or runs is itself uncertain, and power bends with it, so that power at an estimated variance is too
large or too small on average. This bias is estimated, as if the estimate followed a chi-square distribution, and taken off.
``experiments/power_simulation.py`` compares all of it with simulated tests.

Equivalence within a margin is two one-sided tests: the distance of the difference from each end in standard errors, beside the same
in bootstrap samples, each with its own standard error (bootstrap-t, which kept its size better than plain percentiles), or beside
Student's t: the larger p counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from treegauge.metrics.metric import Floats
from treegauge.significance.classical import ALPHA, solved, student_quantile
from treegauge.significance.resampling import DEFAULT_SEED, WeightedSums, bootstrap_weights
from treegauge.significance.runs import Components

ENOUGH = 0.8
"""The power that a test set should have."""
CORRELATIONS = (0.5, 0.7, 0.9)
"""The correlations between the sentences of one system and of an imagined one."""
FACTORS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The sizes of test sets on the curve, in multiples of the one at hand."""
_DRAWS, _HIGHEST = 10_000, 6
_CRITICAL = NormalDist().inv_cdf(1 - ALPHA / 2)
_MOST = 20_000_000
"""The largest number of sentences that is considered."""
_FEWEST = math.ceil(1 - math.log2(ALPHA))
"""The smallest number of sentences that differ with which p can be .05: one system must win all of them."""
_NODES, _HERMITE = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS: Floats = _HERMITE / _HERMITE.sum()
"""Nodes and weights for the mean of a function of a normal variable."""
_ONCE_AND_TWICE: Floats = np.concatenate([[3.0], -3 * _WEIGHTS, np.outer(_WEIGHTS, _WEIGHTS).ravel()])
_erfc, _lgamma = (np.vectorize(function, otypes=[float]) for function in (math.erfc, math.lgamma))


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


def _step(values: Floats) -> float:
    """The number of which all values are multiples, if it is one of them, else 0."""
    sizes = np.abs(values)
    multiples: Floats = sizes / sizes.min()
    return float(sizes.min()) if np.abs(multiples - np.round(multiples)).max() < 1e-6 else 0.0


PowerFunction = Callable[[float, int], float]
"""The power for a true difference, on so many sentences or documents."""


def power_function(values: Floats, correlation: float | None = None) -> PowerFunction:
    """The power of the randomisation test, given the paired differences of sentences or documents.

    With a correlation, the values are what each sentence adds to the rate of one system, and the other system is imagined.
    """
    different, counts = np.unique(np.round(values, 12), return_counts=True)
    share, powers = counts / len(values), range(_HIGHEST + 1)
    moments = share @ different[:, np.newaxis] ** np.arange(_HIGHEST + 1)
    sizes, growth = different[different != 0], 0.0
    moments[0] = share[different != 0].sum()
    if correlation is not None:
        sizes, growth = np.diff(different), 1 - 2 * share[-1]
        own = [1.0, *moments[1:]]
        moments = np.array([sum((-1) ** j * math.comb(k, j) * own[j] * own[k - j] for j in range(k + 1)) for k in powers])
        moments[0] = 1 - share @ share
        moments *= 1 - correlation
    if not len(sizes):
        return lambda _true, _units: 0.0
    step, squares = _step(sizes), (values - values.mean()) ** 2
    df = 2 * len(values) * squares.mean() ** 2 / max(squares.var(), 1e-9 * squares.mean() ** 2)

    def shifted(true: Floats) -> Floats:
        """The moments if this is the true difference, (moments, differences)."""
        if step and np.ptp(np.abs(sizes)) < 1e-6 * step:  # all are -1, 0 or 1 steps: their shares change, not their sizes
            differing = np.clip(moments[0] + growth * true / step, 1e-12, 1.0)
            true = np.clip(true, -step * differing, step * differing)
            return np.array([true * step ** (k - 1) if k % 2 else differing * step**k for k in powers])
        shift = (true - moments[1]) / moments[0]
        return np.array([sum(math.comb(k, j) * moments[j] * shift ** (k - j) for j in range(k + 1)) for k in powers])

    # Values drawn from n have n - 1 of n parts of the variance.
    narrower = math.sqrt(1 - 1 / len(values))
    return lambda true, units: _unbiased(lambda some: _randomisation_power(shifted(narrower * some), step, units), true, df)


def _randomisation_power(m: Floats, step: float, units: int) -> Floats:
    """The power, given the share of paired differences that are not 0, and their moments (m, by true difference).

    In S - z sqrt(Q) the root is replaced by its tangent at the mean of Q, so that it is a sum of x - b x² over the n units that
    differ, a number with a binomial distribution.
    """
    share, m = np.clip(m[0], 1e-12, 1 - 1e-12), m / m[0]
    width = 5 * np.sqrt(units * share * (1 - share)) + 1
    low, high = max(_FEWEST, math.floor((units * share - width).min())), min(units, math.ceil((units * share + width).max()))
    apart = max(1, math.ceil((high - low + 1) / 24))
    n = np.arange(low, high + 1, apart)[:, np.newaxis]
    ways = _lgamma(units + 1) - _lgamma(n + 1) - _lgamma(units - n + 1)
    likely = np.exp(ways + n * np.log(share) + (units - n) * np.log1p(-share))
    kurtosis = m[4] / m[2] ** 2
    z = _CRITICAL - (_CRITICAL**3 - 3 * _CRITICAL) / 12 * kurtosis / (kurtosis + n - 1)
    root, power = z * np.sqrt(n * m[2]), 0.0
    for m1, m3, m5 in ((m[1], m[3], m[5]), (-m[1], -m[3], -m[5])):
        b, mean = root / (2 * n * m[2]), n * m1 - root / (1 + (kurtosis - 1) / (8 * n)) - step
        first, second = m1 - b * m[2], m[2] - 2 * b * m3 + b**2 * m[4]
        third = m3 - 3 * b * m[4] + 3 * b**2 * m5 - b**3 * m[6]
        deviation = np.sqrt(n * np.maximum(second - first**2, 1e-15 * m[2]))
        skewness = n * (third - 3 * first * second + 2 * first**3) / deviation**3
        t = -mean / deviation
        power = power + _tail(t) + skewness / 6 * (t**2 - 1) * np.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    return apart * (likely * np.clip(power, 0.0, 1.0)).sum(axis=0)


def _tail(z: Floats) -> Floats:
    return _erfc(z / math.sqrt(2)) / 2


def _scales(df: float) -> Floats:
    """The nodes of the root of a chi-square variable over its degrees of freedom (Wilson & Hilferty)."""
    return np.maximum(1 - 2 / (9 * df) + _NODES * math.sqrt(2 / (9 * df)), 0.05) ** 1.5


def _unbiased(power: Callable[[Floats], Floats], true: float, df: float) -> float:
    """The power for a true difference without the bias that comes from a variance with so many degrees of freedom.

    Power depends on the difference in standard errors, so an estimated variance is a scaled difference. Bias is taken off twice
    (3 p - 3 E p + E E p): twice, as the bias is itself estimated.
    """
    once = 1 / _scales(df)
    scaled = power(true * np.concatenate([[1.0], once, np.outer(once, once).ravel()]))
    return round(float(np.clip(_ONCE_AND_TWICE @ scaled, 0.0, 1.0)), 6)


def power_of(values: Floats, difference: float, correlation: float | None = None, *, per_unit: float = 1.0) -> Power:
    """The power for a difference, given the values of :func:`power_function`; of documents with ``per_unit`` sentences each.

    >>> found = power_of(np.repeat([-1.0, 0.0, 1.0], [5, 80, 15]), 0.1)
    >>> 0.4 < found.power < 0.6, 0.12 < found.detectable < 0.18, 150 < found.needed < 300
    (True, True, True)
    """
    error = float(values.std()) * math.sqrt((1 if correlation is None else 2 * (1 - correlation)) / len(values))
    return _power(power_function(values, correlation), difference, error, len(values), per_unit)


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
    columns = WeightedSums(np.stack([values, values**2], axis=1) / units, exact=False)
    means, squares = np.concatenate([columns.of(weights) for weights in bootstrap_weights(units, samples, DEFAULT_SEED)]).T
    t = (means - values.mean()) / np.sqrt(np.maximum(squares - means**2, 1e-30) / (units - 1))
    beyond = max(int((t <= (difference - margin) / error).sum()), int((t >= (difference + margin) / error).sum()))
    by_student = Components(0.0, error**2, error**2, 0.0, 0, units).equivalence(difference, margin)
    return max((beyond + 1) / (samples + 1), by_student)


def power_function_of_runs(spread: Components, units: int) -> PowerFunction:
    """The power of the test by runs, given the parts of a variance on so many sentences or documents."""

    def power(true: float, n: int) -> float:
        of = spread.on(n / units)
        bounds, error = student_quantile(1 - ALPHA / 2, of.df) * _scales(of.df)[:, np.newaxis], math.sqrt(of.variance)
        free = of._replace(units=spread.units).df  # of the estimate, which is from the units at hand
        return _unbiased(lambda some: _WEIGHTS @ (_tail(bounds - some / error) + _tail(bounds + some / error)), true, free)

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
        detectable = solved(lambda true: power(true, units) >= ENOUGH, 0.0, 12 * error, 11)
    needed = math.inf
    if power(difference, _MOST) >= ENOUGH:
        needed = math.exp(solved(lambda n: power(difference, round(math.exp(n))) >= ENOUGH, math.log(2), math.log(_MOST), 11))
    sizes = sorted({max(2, round(factor * units)) for factor in FACTORS})
    curve = tuple((round(size * per_unit), power(difference, size)) for size in sizes)
    return Power(difference, power(difference, units), detectable, needed * per_unit, curve)
