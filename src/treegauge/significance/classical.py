"""Classical tests: on brackets, on one value per sentence, and Holm's correction for several tests.

The tests on brackets (McNemar's test, and the real test of Hogenhout & Matsumoto 1996, section 6) use the four cells YY, YN, NY,
NN: treebank brackets that both systems, only A, only B, or neither reproduced. They treat brackets as independent. The brackets of
one sentence are not, so these tests reject too often; :func:`~treegauge.significance.resampling.randomisation` does not.

The tests on one value per sentence are the sign test, of which system wins more sentences, and the paired t-test, on the mean.

SciPy is not needed: only the tails of the binomial and of Student's t distribution would come from it, far too little for a
dependency of its size. The tests compare both with SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError, UsageError

ALPHA = 0.05
"""The significance level at which one system is better than another."""
_MOST_EXACT = 10_000
"""Up to this number of tosses, binomial coefficients are summed as integers."""
_MOST_TERMS = 100_000


def normal_p(z: float) -> float:
    """The probability that a standard normal variable is at least as far from 0 as z.

    >>> round(normal_p(1.96), 3)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def fair_coin(heads: int, tails: int) -> float:
    """The two-sided probability that a fair coin falls at least as unevenly.

    >>> fair_coin(0, 4), fair_coin(3, 3)
    (0.125, 1.0)
    """
    if heads == tails:
        return 1.0
    n = heads + tails
    if n > _MOST_EXACT:
        return min(1.0, 2 * _incomplete_beta(max(heads, tails), min(heads, tails) + 1, 0.5))
    ways = total = 1
    for k in range(min(heads, tails)):
        ways = ways * (n - k) // (k + 1)
        total += ways
    return min(1.0, total / (1 << (n - 1)))


def student(t: float, df: float) -> float:
    """The probability that Student's t with ``df`` degrees of freedom is at least as far from 0 as t.

    >>> round(student(2.98, 9), 3)
    0.015
    """
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


def student_quantile(share: float, df: float) -> float:
    """The value below which Student's t with ``df`` degrees of freedom is with this probability, by bisection.

    >>> round(student_quantile(0.975, 9), 3), round(student_quantile(0.975, 1e6), 3)
    (2.262, 1.96)
    """
    tail, high = 2 * min(share, 1 - share), 1.0
    while student(high, df) > tail:
        high *= 2
    return math.copysign(solved(lambda t: student(t, df) <= tail, 0.0, high, 80), share - 0.5)


def solved(is_enough: Callable[[float], bool], low: float, high: float, steps: int) -> float:
    """The point from which a condition holds, by bisection."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method).

    The binomial and Student's t tails are its values (Abramowitz & Stegun 26.5.24, 26.7.1).
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        change = 1.0
        for term in (m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + term * x * d), 1 + term * x / c
            change = c * d
            value *= change
        if abs(change - 1) < 1e-15:
            break
    return front * value


DEPENDENCE = (
    "McNemar's test and the real test assume that brackets are independent; those of one sentence are not, so the tests reject "
    "too often: trust the sentence-level randomisation instead"
)


class Cells(NamedTuple):
    """The numbers of treebank brackets that both systems, only A, only B, or neither reproduced; the paper's Table 2.

    >>> paper = Cells(6516, 232, 343, 4309)
    >>> paper.total, [f"{100 * cell / paper.total:.1f}%" for cell in paper]
    (11400, ['57.2%', '2.0%', '3.0%', '37.8%'])
    """

    YY: int
    YN: int
    NY: int
    NN: int

    @property
    def total(self) -> int:
        """TTB, the brackets of the treebank."""
        return self.YY + self.YN + self.NY + self.NN


class Binomial(NamedTuple):
    """Mean and variance of YY and NN if both systems were binomial, with the same probability for all brackets.

    ``deviations`` are the distances of YY and NN from these means in standard deviations.
    """

    E_YY: float
    V_YY: float
    E_NN: float
    V_NN: float
    deviations: tuple[float, float]


def binomial(cells: Cells) -> Binomial:
    """The binomial model of YY and NN.

    YY has the mean N Pa Pb and the variance N Pa Pb (1 - Pa Pb), NN the same with Qa Qb.

    >>> found = binomial(Cells(6516, 232, 343, 4309))
    >>> [round(value, 2) for value in found[:4]], [round(value, 1) for value in found.deviations]
    ([4060.05, 2614.08, 1853.05, 1551.84], [48.0, 62.3])
    """
    _check(cells)
    n = cells.total
    if not n:
        return Binomial(math.nan, math.nan, math.nan, math.nan, (math.nan, math.nan))
    in_a, in_b = Fraction(cells.YY + cells.YN, n), Fraction(cells.YY + cells.NY, n)
    both, neither = in_a * in_b, (1 - in_a) * (1 - in_b)
    yy, nn = (n * both, n * both * (1 - both)), (n * neither, n * neither * (1 - neither))
    (e_yy, v_yy), (e_nn, v_nn) = map(float, yy), map(float, nn)
    return Binomial(e_yy, v_yy, e_nn, v_nn, (_deviation(cells.YY, *yy), _deviation(cells.NN, *nn)))


def _deviation(seen: int, mean: Fraction, variance: Fraction) -> float:
    return float(seen - mean) / math.sqrt(variance) if variance else math.nan


class McNemar(NamedTuple):
    """McNemar's test: z = (NY - YN) / sqrt(NY + YN), its p, and the exact binomial p; z is nan if the systems never differ."""

    z: float
    p: float
    p_exact: float


def mcnemar(cells: Cells) -> McNemar:
    """McNemar's test of whether the brackets that only one system reproduced are A's as often as B's.

    >>> test = mcnemar(Cells(6516, 232, 343, 4309))
    >>> round(test.z, 3), f"{test.p:.1e}", f"{test.p_exact:.1e}"
    (4.629, '3.7e-06', '4.2e-06')
    """
    _check(cells)
    n = cells.YN + cells.NY
    if not n:
        return McNemar(math.nan, math.nan, 1.0)
    z = (cells.NY - cells.YN) / math.sqrt(n)
    return McNemar(z, normal_p(z), fair_coin(cells.YN, cells.NY))


class RealTest(NamedTuple):
    """The paper's real test: M1 brackets that are too easy and M2 that are too hard are left out, and ``size`` brackets remain.

    ``z`` is the difference in standard deviations, ``z_range`` its smallest and largest value over all valid M1 and M2. All are nan
    if there is no real test; ``reason`` tells why.
    """

    M1: float
    M2: float
    size: float
    z: float
    p: float
    z_range: tuple[float, float]
    reason: str = ""


def real_test(cells: Cells) -> RealTest:
    """The difference, and its significance, without the brackets that are always or never reproduced.

    M1 and M2 are chosen such that the remaining brackets are binomial: (YY - M1)(NN - M2) = YN NY. Of the solutions, this is the
    one with equal remainders, the smallest real test; if one cell is too small for that, all of it remains (its M is 0), and the
    other M follows. z is computed with unrounded M.

    >>> test = real_test(Cells(6516, 232, 343, 4309))
    >>> round(test.M1), round(test.M2), round(test.size)
    (6234, 4027, 1139)
    >>> round(test.z, 3), tuple(round(z, 3) for z in test.z_range)
    (4.673, (4.636, 4.673))
    >>> real_test(Cells(10, 0, 0, 5)).reason
    'the systems reproduce the same brackets: no real test, z is undefined'
    """
    _check(cells)
    product = cells.YN * cells.NY
    if not cells.YN and not cells.NY:
        return _no_test("the systems reproduce the same brackets: no real test, z is undefined")
    if product > cells.YY * cells.NN:
        return _no_test("the systems agree less often than independent ones would: no real test")
    rest = math.sqrt(product)
    if rest <= min(cells.YY, cells.NN):
        yy = nn = rest
    elif cells.NN < cells.YY:
        yy, nn = product / cells.NN, float(cells.NN)
    else:
        yy, nn = float(cells.YY), product / cells.YY
    size = yy + nn + cells.YN + cells.NY
    z = _z(cells, yy + nn)
    if not product:
        why = "one system reproduces all that the other does: the variance is 0 and z undefined; see the exact McNemar test"
        return RealTest(cells.YY - yy, cells.NN - nn, size, math.nan, math.nan, (math.nan, math.nan), why)
    # The variance grows with the sum of the remainders, which is largest if all of one cell remains.
    furthest = _z(cells, max(cells.YY + product / cells.YY, cells.NN + product / cells.NN))
    low, high = sorted((z, furthest))
    return RealTest(cells.YY - yy, cells.NN - nn, size, z, normal_p(z), (low, high))


def _no_test(reason: str) -> RealTest:
    return RealTest(math.nan, math.nan, math.nan, math.nan, math.nan, (math.nan, math.nan), reason)


def _z(cells: Cells, remainders: float) -> float:
    """(NY - YN) / sqrt(n pa qa + n pb qb), given the sum of the remainders of YY and NN."""
    differing = cells.YN + cells.NY
    variance = (4 * cells.YN * cells.NY + differing * remainders) / (remainders + differing)
    return (cells.NY - cells.YN) / math.sqrt(variance) if variance > 0 else math.nan


def real_test_m1(cells: Cells, M2: int) -> Fraction:
    """The M1 for a given M2, by the paper's relation M1 = (NY TTB + M2 YY - (NY + NN)(YY + NY)) / (M2 - NN).

    It is a solution only if 0 <= M1 <= YY.

    >>> real_test_m1(Cells(6516, 232, 343, 4309), 0)
    Fraction(27997868, 4309)
    """
    _check(cells)
    if M2 == cells.NN:
        raise UsageError(f"M2 must differ from NN = {cells.NN}: no bracket that both missed would be left")
    above = cells.NY * cells.total + M2 * cells.YY - (cells.NY + cells.NN) * (cells.YY + cells.NY)
    return Fraction(above, M2 - cells.NN)


_ROUNDING = 1e-9


def real_test_at(cells: Cells, M1: float | None = None, M2: float | None = None) -> RealTest:
    """The real test with a given M1 and M2, or with one of them, from which the other is computed.

    They are valid if the remaining brackets are binomial, (YY - M1)(NN - M2) = YN NY. Size and z are given for other values too,
    and ``reason`` tells that they are not valid.

    >>> test = real_test_at(Cells(6516, 232, 343, 4309), M2=4027)
    >>> round(test.M1), round(test.size), round(test.z, 2), test.reason
    (6234, 1139, 4.67, '')
    >>> real_test_at(Cells(6516, 232, 343, 4309), 6000, 4000).reason
    'what remains is not binomial: (YY - M1)(NN - M2) is 159,444, not YN NY = 79,576'
    """
    _check(cells)
    product = cells.YN * cells.NY
    if M1 is None and M2 is None:
        return real_test(cells)
    if M1 is None or M2 is None:
        known, whole, other = (M2, cells.NN, cells.YY) if M2 is not None else (M1, cells.YY, cells.NN)
        assert known is not None
        if known == whole:
            raise UsageError(f"none of the {whole} brackets would remain: set fewer aside")
        solved = other - product / (whole - known)
        return real_test_at(cells, *((solved, known) if M1 is None else (known, solved)))
    yy, nn = cells.YY - M1, cells.NN - M2
    if min(M1, M2, yy, nn) < -_ROUNDING:
        raise UsageError(f"M1 lies between 0 and YY = {cells.YY}, M2 between 0 and NN = {cells.NN}; not {M1:g} and {M2:g}")
    z, default = _z(cells, yy + nn), real_test(cells)
    # The whole numbers nearest to a solution are accepted as a solution.
    near = abs(yy * nn - product) <= max(yy, nn) / 2 + 0.25
    why = "" if near else f"what remains is not binomial: (YY - M1)(NN - M2) is {yy * nn:,.0f}, not YN NY = {product:,}"
    size = yy + nn + cells.YN + cells.NY
    return RealTest(M1, M2, size, z, normal_p(z) if z == z else math.nan, default.z_range, why)


def _check(cells: Cells) -> None:
    if min(cells) < 0:
        raise UsageError(f"counts cannot be negative: {', '.join(f'{k} {v}' for k, v in cells._asdict().items())}")


SentenceValues = Sequence[float] | NDArray[np.float64]
_TIE = 1e-12


class SignTest(NamedTuple):
    """The numbers of sentences that B wins, that A wins and that tie, and the exact two-sided p of the first two."""

    wins: int
    losses: int
    ties: int
    p: float


def sign_test(a: SentenceValues, b: SentenceValues) -> SignTest:
    """The sign test of whether one system wins more sentences; ties, and sentences without a value for either system, are left out.

    A sentence with a value for one system only is won by that system.

    >>> sign_test([0.5, 0.5, 0.5, 1.0], [0.6, 0.7, 0.8, 1.0])
    SignTest(wins=3, losses=0, ties=1, p=0.25)
    """
    return sign_test_of(sign_counts(a, b))


def sign_test_of(counts: NDArray[np.int64]) -> SignTest:
    """The sign test, given the numbers of :func:`sign_counts`, or their sum over blocks of sentences."""
    wins, losses, ties = map(int, counts)
    return SignTest(wins, losses, ties, fair_coin(losses, wins))


def sign_counts(a: SentenceValues, b: SentenceValues) -> NDArray[np.int64]:
    """The numbers of sentences that B wins, that A wins and that tie, see :func:`sign_test`."""
    first, second = _arrays(a, b)
    difference = np.where(np.isnan(second), 0.0, second) - np.where(np.isnan(first), 0.0, first)
    only_a, only_b = np.isnan(second) & ~np.isnan(first), np.isnan(first) & ~np.isnan(second)
    neither = np.isnan(first) & np.isnan(second)
    wins = int((((difference > _TIE) & ~only_a) | only_b).sum())
    losses = int((((difference < -_TIE) & ~only_b) | only_a).sum())
    return np.array([wins, losses, len(first) - wins - losses - int(neither.sum())], dtype=np.int64)


class PairedT(NamedTuple):
    """The mean difference B - A, Student's t, its degrees of freedom and two-sided p; nan if there are fewer than two values."""

    mean: float
    t: float
    df: int
    p: float


def paired_t(a: SentenceValues, b: SentenceValues) -> PairedT:
    """Student's t-test of whether the mean of the paired differences is 0; pairs with an undefined value are left out.

    If all differences are 0, t is nan and p = 1; if they are all equal but not 0, t is infinite and p = 0.

    >>> result = paired_t([1, 2, 3, 4], [2, 2, 4, 6])
    >>> round(result.t, 3), result.df, round(result.p, 4)
    (2.449, 3, 0.0917)
    """
    first, second = _arrays(a, b)
    differences = second - first
    differences = differences[~np.isnan(differences)]
    n = len(differences)
    if n < 2:
        return PairedT(float(differences.mean()) if n else math.nan, math.nan, max(n - 1, 0), math.nan)
    mean, deviation = float(differences.mean()), float(differences.std(ddof=1))
    if deviation <= _TIE * max(1.0, abs(mean)):
        nothing = abs(mean) <= _TIE
        return PairedT(mean, math.nan if nothing else math.copysign(math.inf, mean), n - 1, float(nothing))
    t = mean / (deviation / math.sqrt(n))
    return PairedT(mean, t, n - 1, student(t, n - 1))


def _arrays(a: SentenceValues, b: SentenceValues) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise MismatchError(f"paired tests need the same sentences, but there are {first.size} values and {second.size}")
    return first, second


def holm(p: Sequence[float]) -> list[float]:
    """Adjusted p-values (Holm 1979): if those up to .05 are rejected, the probability of any false rejection is at most .05.

    The k-th smallest of m p-values is multiplied by m - k + 1, and is at least the one before. Undefined ones (nan) do not count.

    >>> [round(value, 3) for value in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [math.nan] * len(p)
    order = sorted((index for index, value in enumerate(p) if not math.isnan(value)), key=lambda index: p[index])
    largest = 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, p[index] * (len(order) - rank)))
        adjusted[index] = largest
    return adjusted
