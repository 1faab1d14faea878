"""Connected fragments of trees, counted by size: exactly and in polynomial time.

A fragment is any connected set of nodes: a top node and, at each chosen node, any subset of its children. With the polynomial
f_v(x) = x * product over children c of (1 + f_c(x)), the coefficient of x^s in f_v is the number of fragments of size s whose
top is v (Bastings & Sima'an 2014 enumerate them one by one; a sentence can have billions).

For the tree of a sentence, a polynomial is packed into one large integer, its value at x = 2^B with B bits for each coefficient, so
that a product of polynomials is one multiplication of integers. In a tree of thousands of phrases, even the polynomials of small
subtrees would then be as wide as the counts of the whole tree. There a polynomial is the list of its coefficients from x^0 upward,
a chain of single children is added in one step, and two long polynomials are multiplied by packing each into one decimal number:
Python's ``decimal`` multiplies large numbers by number-theoretic transform, in time n log n, which its ``int`` does not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from itertools import count
from operator import add
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SHORT = 24
"""A polynomial with at most this number of coefficients is multiplied term by term, without packing."""


def product(polynomials: Iterable[Sequence[int]]) -> Sequence[int]:
    """The product of all polynomials, the shortest first, so that long ones are multiplied by long ones.

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
        longer = polynomial_product(one, other)
        heapq.heappush(heap, (len(longer), next(order), longer))
    return heap[0][2]


def polynomial_product(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """The product of two polynomials without negative coefficients.

    >>> polynomial_product([1, 2], [3, 0, 1])
    [3, 6, 1, 2]
    """
    short, long = sorted((one, other), key=len)
    if len(short) <= _SHORT:
        return _term_by_term(short, long)
    n_terms = len(short) + len(long) - 1
    digits = Decimal(max(short) * max(long) * len(short)).adjusted() + 1
    packed = str(_EXACT.multiply(_pack(short, digits), _pack(long, digits))).zfill(n_terms * digits)
    return [int(Decimal(packed[at - digits : at])) for at in range(len(packed), len(packed) - n_terms * digits, -digits)]


def _term_by_term(short: Sequence[int], long: Sequence[int]) -> list[int]:
    result = [0] * (len(short) + len(long) - 1)
    for power, coefficient in enumerate(short):
        if coefficient:
            for at, value in enumerate(long, power):
                result[at] += coefficient * value
    return result


def _pack(polynomial: Sequence[int], digits: int) -> Decimal:
    """The value of a polynomial at x = 10^digits; by way of Decimal, since Python refuses to write a long int as a string."""
    return Decimal("".join(str(Decimal(coefficient)).zfill(digits) for coefficient in reversed(polynomial)))


@dataclass(frozen=True)
class BySize:
    """Counts for the sizes 1, 2, 3 ...; they add size by size.

    >>> BySize((3, 1)) + BySize((1, 1, 1))
    BySize(counts=(4, 2, 1))
    >>> BySize((3, 1)).at(2), BySize((3, 1)).at(5)
    (1, 0)
    """

    counts: tuple[int, ...] = ()

    @classmethod
    def of(cls, counts: Any) -> BySize:
        """Counts from any form that a sum of them may have: BySize, a sequence for the sizes 1, 2, ..., or a number for size 1.

        >>> BySize.of([3, 1]), BySize.of(0), BySize.of(4)
        (BySize(counts=(3, 1)), BySize(counts=()), BySize(counts=(4,)))
        """
        if isinstance(counts, BySize):
            return counts
        values = list(cast("Iterable[int]", counts)) if isinstance(counts, Iterable) else [counts]
        while values and not values[-1]:
            values.pop()
        return cls(tuple(values))

    def __add__(self, other: BySize) -> BySize:
        shorter, longer = sorted((self.counts, other.counts), key=len)
        return BySize(tuple(map(add, shorter, longer)) + longer[len(shorter) :])

    def __radd__(self, other: int) -> BySize:
        """``sum`` starts from 0."""
        return self if other == 0 else NotImplemented

    def at(self, size: int) -> int:
        """The count for a size; 0 beyond the largest."""
        return self.counts[size - 1] if 0 < size <= len(self.counts) else 0

    @property
    def largest(self) -> int:
        """The largest size with a count."""
        return len(self.counts)


_MANY_NODES = 800


def count_fragments(parent: Sequence[int], *, nodes: Sequence[bool] | None = None, edges: Sequence[bool] | None = None) -> BySize:
    """The number of fragments of each size in a tree or forest given by its nodes' parents in pre-order (-1: none).

    Only fragments of the marked ``nodes`` count, connected through ``edges`` (each named by its lower node).

    >>> count_fragments([-1, 0, 0])
    BySize(counts=(3, 2, 1))
    >>> count_fragments([-1, 0, 0], edges=[True, True, False])
    BySize(counts=(3, 1))
    """
    marked = list(nodes) if nodes is not None else [True] * len(parent)
    linked = list(edges) if edges is not None else [True] * len(parent)
    counts = (_counts_packed if len(parent) <= _MANY_NODES else _counts_apart)(parent, marked, linked)
    while counts and not counts[-1]:
        counts.pop()
    return BySize(tuple(counts))


_FEW, _MANY = 4, 4096
"""Fewer than ``_FEW`` markings of a tree are counted one by one, and at most ``_MANY`` at once."""


def count_marked_fragments(parent: Sequence[int], nodes: NDArray[np.bool_], edges: NDArray[np.bool_]) -> list[BySize]:
    """The counts of :func:`count_fragments` for many markings of one tree, each a row of ``nodes`` and of ``edges``.

    They are counted together if there are enough of them and the counts of the whole tree fit into 64 bits.

    >>> marked = np.array([[True, True, True], [True, True, False], [True, True, True]])
    >>> [counts.counts for counts in count_marked_fragments([-1, 0, 0], marked, np.ones((3, 3), np.bool_))]
    [(3, 2, 1), (2, 1), (3, 2, 1)]
    """
    every = [True] * len(parent)
    if len(nodes) < _FEW or len(parent) > _MANY_NODES or _sum_at(0, parent, every, every).bit_length() > 62:
        return [count_fragments(parent, nodes=n, edges=e) for n, e in zip(nodes.tolist(), edges.tolist(), strict=True)]
    found: list[BySize] = []
    for first in range(0, len(nodes), _MANY):
        counts = _counts_together(parent, nodes[first : first + _MANY], edges[first : first + _MANY])
        largest = (counts > 0).sum(axis=1)  # a tree with a fragment has smaller ones too
        found += [BySize(tuple(row[:size])) for row, size in zip(counts.tolist(), largest.tolist(), strict=True)]
    return found


def _counts_together(parent: Sequence[int], nodes: NDArray[np.bool_], edges: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The sums of f_v over the marked nodes: a row per marking, a column per size."""
    marked, linked = nodes.T.astype(np.int64), edges.T.astype(np.int64)
    totals = np.zeros((len(parent), len(nodes)), np.int64)
    # products[v] has the coefficients of f_v / x, from x^0 upward, a column per marking.
    products = [np.ones((1, len(nodes)), np.int64) for _ in parent]
    for node in range(len(parent) - 1, -1, -1):
        own = products[node] * marked[node]
        totals[: len(own)] += own
        above = parent[node]
        if above >= 0:
            products[above] = _times_one_more(products[above], own * linked[node])
    return totals.T


def _times_one_more(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """one * (1 + x * other), column by column."""
    result = np.zeros((len(one) + len(other), one.shape[1]), np.int64)
    result[: len(one)] = one
    short, long = sorted((one, other), key=len)
    for power in range(len(short)):
        result[power + 1 : power + 1 + len(long)] += short[power] * long
    return result


def _counts_packed(parent: Sequence[int], nodes: Sequence[bool], edges: Sequence[bool]) -> list[int]:
    # At x = 1 the polynomials sum to the number of all fragments, which is at least as large as any coefficient.
    width = _sum_at(0, parent, nodes, edges).bit_length() // 8 + 1
    packed = _sum_at(8 * width, parent, nodes, edges).to_bytes(width * (len(parent) + 1), "little")
    return [int.from_bytes(packed[at : at + width], "little") for at in range(width, len(packed), width)]


def _sum_at(bits: int, parent: Sequence[int], nodes: Sequence[bool], edges: Sequence[bool]) -> int:
    """The sum of f_v over the marked nodes, at x = 2^bits."""
    total = 0
    # products[v] is f_v / x, so that multiplying by x stays a shift.
    products = [1] * len(parent)
    for node in range(len(parent) - 1, -1, -1):
        if nodes[node]:
            total += products[node]
            above = parent[node]
            if above >= 0 and edges[node]:
                products[above] += products[above] * products[node] << bits
    return total << bits


def _counts_apart(parent: Sequence[int], nodes: Sequence[bool], edges: Sequence[bool]) -> list[int]:
    """The sums of f_v over the marked nodes, coefficient by coefficient."""
    links = [node for node in range(len(parent)) if nodes[node] and edges[node] and parent[node] >= 0 and nodes[parent[node]]]
    is_linked = set(links)
    n_children = [0] * len(parent)
    for node in links:
        n_children[parent[node]] += 1
    totals = [0] * len(parent)
    factors: dict[int, list[Sequence[int]]] = {}
    chains: dict[int, tuple[Sequence[int], int]] = {}
    for node in range(len(parent) - 1, -1, -1):
        if not nodes[node]:
            continue
        # f of the top of a chain of n nodes, each the only child, is x + ... + x^(n-1) + x^n p, with p the lowest one's product.
        lowest, length = chains.pop(node, None) or (product(factors.pop(node, [])), 1)
        if node in is_linked and n_children[parent[node]] == 1:
            chains[parent[node]] = lowest, length + 1
            continue
        _add_chain(totals, lowest, length)
        if node in is_linked:
            factors.setdefault(parent[node], []).append([*([1] * length), *lowest])
    return totals


def _add_chain(totals: list[int], lowest: Sequence[int], length: int) -> None:
    """Add f_1 + ... + f_n of a chain: the sum of (n-k) x^k, and p (x + ... + x^n); ``totals`` begins at x^1."""
    for power in range(1, length):
        totals[power - 1] += length - power
    window = 0
    for power in range(len(lowest) + length - 1):
        window += lowest[power] if power < len(lowest) else 0
        window -= lowest[power - length] if power >= length else 0
        totals[power] += window
