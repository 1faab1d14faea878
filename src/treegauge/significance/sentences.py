"""Tests on one value a sentence: the sign test, which asks who wins more sentences, and the paired t-test on the mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError
from treegauge.significance.tails import fair_coin, student

__all__ = ["PairedT", "SignTest", "paired_t", "sign_test"]

Values = Sequence[float] | NDArray[np.float64]
_TIE = 1e-12


class SignTest(NamedTuple):
    """Sentences that B wins, that A wins and that tie, and the exact two-sided p of the first two."""

    wins: int
    losses: int
    ties: int
    p: float


def sign_test(a: Values, b: Values) -> SignTest:
    """Does either system win more sentences? Ties, and sentences where a value is undefined on both sides, say nothing.

    A value that is defined on one side only is won by that side.

    >>> sign_test([0.5, 0.5, 0.5, 1.0], [0.6, 0.7, 0.8, 1.0])
    SignTest(wins=3, losses=0, ties=1, p=0.25)
    """
    first, second = _arrays(a, b)
    difference = np.where(np.isnan(second), 0.0, second) - np.where(np.isnan(first), 0.0, first)
    only_a, only_b = np.isnan(second) & ~np.isnan(first), np.isnan(first) & ~np.isnan(second)
    neither = np.isnan(first) & np.isnan(second)
    wins = int((((difference > _TIE) & ~only_a) | only_b).sum())
    losses = int((((difference < -_TIE) & ~only_b) | only_a).sum())
    return SignTest(wins, losses, len(first) - wins - losses - int(neither.sum()), fair_coin(losses, wins))


class PairedT(NamedTuple):
    """The mean difference B - A, Student's t, its degrees of freedom and two-sided p; nan without at least two values."""

    mean: float
    t: float
    df: int
    p: float


def paired_t(a: Values, b: Values) -> PairedT:
    """Is the mean of the paired differences 0? Pairs with an undefined value are left out.

    Values that are all equal have t nan and p = 1; equal differences other than 0 have an infinite t and p = 0.

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


def _arrays(a: Values, b: Values) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise MismatchError(f"paired tests need the same sentences, but there are {first.size} values and {second.size}")
    return first, second
