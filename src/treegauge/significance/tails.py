"""Tail probabilities: of the normal distribution, of a fair coin, of Student's t."""

from __future__ import annotations

import importlib
import math
from typing import Any

__all__ = ["fair_coin", "normal", "student"]

# Up to so many tosses the sum of binomial coefficients in integers takes less time than loading SciPy.
_MOST_EXACT = 10_000


def normal(z: float) -> float:
    """The chance that a standard normal variable is at least as far from 0 as z.

    >>> round(normal(1.96), 3)
    0.05
    """
    return math.erfc(abs(z) / math.sqrt(2))


def fair_coin(heads: int, tails: int) -> float:
    """The two-sided chance that a fair coin falls at least as unevenly.

    >>> fair_coin(0, 4), fair_coin(3, 3)
    (0.125, 1.0)
    """
    if heads == tails:
        return 1.0
    n = heads + tails
    if n > _MOST_EXACT:
        return min(1.0, 2 * float(_special().bdtr(min(heads, tails), n, 0.5)))
    ways = total = 1
    for k in range(min(heads, tails)):
        ways = ways * (n - k) // (k + 1)
        total += ways
    return min(1.0, total / (1 << (n - 1)))


def student(t: float, df: int) -> float:
    """The chance that Student's t with ``df`` degrees of freedom is at least as far from 0 as t.

    >>> round(student(2.98, 9), 3)
    0.015
    """
    return 2 * float(_special().stdtr(df, -abs(t)))


def _special() -> Any:
    """SciPy on demand: commands that only score never load it."""
    return importlib.import_module("scipy.special")
