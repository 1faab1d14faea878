"""The exact number of parses, as a Python integer however large.

A chart of counts modulo a prime is as cheap as any other chart; enough primes determine the number (Chinese
remainder theorem). How many are enough is known from the number's logarithm, which a chart in logarithms gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.binarisation import BinaryGrammar
from treegauge.parsing.chart import Filled, fill, weights_of
from treegauge.parsing.inside import inside
from treegauge.parsing.layout import Leaves, Limit, find
from treegauge.parsing.numbers import LOG_SUM, MODULAR

__all__ = ["number_of_parses"]

_LARGEST = 1 << 26
"""Primes below this: a product of two remainders plus a third is still exact in a float64."""


def number_of_parses(grammar: BinaryGrammar, leaves: Leaves, limit: Limit, cyclic: bool) -> int | float:
    """How many trees the grammar gives the words; ``math.inf`` if a parse can go round a cycle of unary rules."""
    if cyclic:
        return math.inf
    log_number = _log_number(grammar, leaves, limit)
    if log_number == -math.inf:
        return 0
    number, product = 0, 1
    for prime in _primes():
        if math.log(product) > log_number + math.log(2) + 1e-6 * max(1.0, log_number):
            return number
        filled = fill(grammar, leaves, MODULAR, limit, float(prime))
        remainder = round(float(filled.chart.value[filled.root])) if filled.root >= 0 else 0
        number += product * ((remainder - number) * pow(product, -1, prime) % prime)
        product *= prime
    raise AssertionError("there are enough primes")


def _log_number(grammar: BinaryGrammar, leaves: Leaves, limit: Limit) -> float:
    """The logarithm of the number of parses, to about ten digits."""
    exact, _ = weights_of(grammar, MODULAR)
    with np.errstate(divide="ignore"):
        logs = exact._replace(binary=np.log(exact.binary), chain=np.log(exact.chain))
    ones = leaves._replace(weight=np.zeros_like(leaves.weight))
    n = len(leaves.first) - 1
    chart, *_ = inside(LOG_SUM, n, ones, grammar.binary, logs, limit, 0.0)
    root = find(chart, 0, n, grammar.start)
    return float(chart.value[root]) if root >= 0 else -math.inf


def _primes() -> Iterator[int]:
    """Primes from the largest usable one down."""
    for number in range(_LARGEST - 1, 2, -2):
        if all(number % divisor for divisor in range(3, math.isqrt(number) + 1, 2)):
            yield number


def goes_round(filled: Filled, posterior: NDArray[np.float64], cyclic: NDArray[np.bool_]) -> bool:
    """Whether some parse contains a symbol that derives itself by unary rules."""
    return bool(cyclic.any()) and bool((cyclic[filled.chart.symbol] & (posterior > 0)).any())
