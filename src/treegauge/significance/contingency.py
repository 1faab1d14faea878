"""Tests on the four cells YY, YN, NY, NN: treebank brackets that both systems, only A, only B, neither reproduced.

Hogenhout & Matsumoto 1996, section 6. These tests take brackets for independent. Brackets of one sentence are not, so neither
McNemar's test nor the real test keeps its size; :func:`~treegauge.significance.randomisation.randomisation` does.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

from treegauge.errors import UsageError
from treegauge.significance.tails import fair_coin, normal

__all__ = [
    "DEPENDENCE",
    "Binomial",
    "Cells",
    "McNemar",
    "RealTest",
    "binomial",
    "mcnemar",
    "real_test",
    "real_test_m1",
]

DEPENDENCE = (
    "McNemar's test and the real test take brackets for independent; those of one sentence are not, so they reject too often: "
    "trust the sentence-level randomisation instead"
)


class Cells(NamedTuple):
    """Treebank brackets by who reproduced them; the paper's Table 2.

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
    """E and V of YY and NN if both systems were binomial with one chance for all brackets.

    ``deviations`` are how many standard deviations YY and NN are from that.
    """

    E_YY: float
    V_YY: float
    E_NN: float
    V_NN: float
    deviations: tuple[float, float]


def binomial(cells: Cells) -> Binomial:
    """Is it binomial? YY would have the mean N Pa Pb and the variance N Pa Pb (1 - Pa Pb), NN the same with Qa Qb.

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
    """McNemar's test: z = (NY - YN) / sqrt(NY + YN) and its p, and the exact binomial p; z is nan if the systems never differ."""

    z: float
    p: float
    p_exact: float


def mcnemar(cells: Cells) -> McNemar:
    """Are brackets that one system alone reproduced as often A's as B's?

    >>> test = mcnemar(Cells(6516, 232, 343, 4309))
    >>> round(test.z, 3), f"{test.p:.1e}", f"{test.p_exact:.1e}"
    (4.629, '3.7e-06', '4.2e-06')
    """
    _check(cells)
    n = cells.YN + cells.NY
    if not n:
        return McNemar(math.nan, math.nan, 1.0)
    z = (cells.NY - cells.YN) / math.sqrt(n)
    return McNemar(z, normal(z), fair_coin(cells.YN, cells.NY))


class RealTest(NamedTuple):
    """The paper's real test: M1 brackets too easy and M2 too hard are left out, ``size`` brackets remain.

    ``z`` is the difference in standard deviations, ``z_range`` its smallest and largest value over all M1, M2 that fit. All are
    nan where there is none; ``reason`` says why.
    """

    M1: float
    M2: float
    size: float
    z: float
    p: float
    z_range: tuple[float, float]
    reason: str = ""


def real_test(cells: Cells) -> RealTest:
    """What remains, and how significant it is, when brackets that are always or never reproduced are left out.

    M1 and M2 are such that the rest looks binomial: (YY - M1)(NN - M2) = YN NY. The default takes equal remainders, the smallest
    real test; where one cell is too small for that, it is kept whole (its M is 0) and the other M follows. z is computed with
    unrounded M.

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
    # The variance grows with the sum of the remainders, which is largest where one of the cells is kept whole.
    furthest = _z(cells, max(cells.YY + product / cells.YY, cells.NN + product / cells.NN))
    low, high = sorted((z, furthest))
    return RealTest(cells.YY - yy, cells.NN - nn, size, z, normal(z), (low, high))


def _no_test(reason: str) -> RealTest:
    return RealTest(math.nan, math.nan, math.nan, math.nan, math.nan, (math.nan, math.nan), reason)


def _z(cells: Cells, remainders: float) -> float:
    """(NY - YN) / sqrt(n pa qa + n pb qb), given the sum of what remains of YY and NN."""
    differing = cells.YN + cells.NY
    variance = (4 * cells.YN * cells.NY + differing * remainders) / (remainders + differing)
    return (cells.NY - cells.YN) / math.sqrt(variance) if variance > 0 else math.nan


def real_test_m1(cells: Cells, M2: int) -> Fraction:
    """The M1 that goes with an M2: M1 = (NY TTB + M2 YY - (NY + NN)(YY + NY)) / (M2 - NN), the paper's relation.

    It is a solution only if 0 <= M1 <= YY.

    >>> real_test_m1(Cells(6516, 232, 343, 4309), 0)
    Fraction(27997868, 4309)
    """
    _check(cells)
    if M2 == cells.NN:
        raise UsageError(f"M2 must differ from NN = {cells.NN}: no bracket that both missed would be left")
    above = cells.NY * cells.total + M2 * cells.YY - (cells.NY + cells.NN) * (cells.YY + cells.NY)
    return Fraction(above, M2 - cells.NN)


def _check(cells: Cells) -> None:
    if min(cells) < 0:
        raise UsageError(f"counts cannot be negative: {', '.join(f'{k} {v}' for k, v in cells._asdict().items())}")
