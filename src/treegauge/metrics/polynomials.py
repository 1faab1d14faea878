"""Exact products of polynomials whose integer coefficients may have thousands of digits.

A polynomial is the list of its coefficients from x^0 upward. Two long ones are multiplied by packing each into one number, its
value at x = 10^w with room for every coefficient of the product (Kronecker substitution). The numbers are decimal because
Python's ``decimal`` multiplies large numbers by number-theoretic transform, in time n log n, and its ``int`` does not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from itertools import count

__all__ = ["product", "times"]

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SHORT = 24
"""A polynomial of so few coefficients is multiplied coefficient by coefficient, which needs no packing."""


def product(polynomials: Iterable[Sequence[int]]) -> Sequence[int]:
    """The product of all, the shortest first, so that the long products have long factors.

    >>> product([[1, 1]] * 5)
    [1, 5, 10, 10, 5, 1]
    >>> product([])
    (1,)
    """
    order = count()
    heap = [(len(polynomial), next(order), polynomial) for polynomial in polynomials]
    if not heap:
        return (1,)
    heapq.heapify(heap)
    while len(heap) > 1:
        (_, _, one), (_, _, other) = heapq.heappop(heap), heapq.heappop(heap)
        longer = times(one, other)
        heapq.heappush(heap, (len(longer), next(order), longer))
    return heap[0][2]


def times(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """The product of two polynomials without negative coefficients.

    >>> times([1, 2], [3, 0, 1])
    [3, 6, 1, 2]
    """
    short, long = sorted((one, other), key=len)
    if len(short) <= _SHORT:
        return _term_by_term(short, long)
    n_terms = len(short) + len(long) - 1
    digits = Decimal(max(short) * max(long) * len(short)).adjusted() + 1
    packed = str(_EXACT.multiply(_packed(short, digits), _packed(long, digits))).zfill(n_terms * digits)
    return [int(Decimal(packed[at - digits : at])) for at in range(len(packed), len(packed) - n_terms * digits, -digits)]


def _term_by_term(short: Sequence[int], long: Sequence[int]) -> list[int]:
    result = [0] * (len(short) + len(long) - 1)
    for power, coefficient in enumerate(short):
        if coefficient:
            for at, value in enumerate(long, power):
                result[at] += coefficient * value
    return result


def _packed(polynomial: Sequence[int], digits: int) -> Decimal:
    """Its value at x = 10^digits; by way of Decimal, since ``str`` of an int refuses to be long."""
    return Decimal("".join(str(Decimal(coefficient)).zfill(digits) for coefficient in reversed(polynomial)))
