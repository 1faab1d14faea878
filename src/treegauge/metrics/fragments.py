"""Counting the connected fragments of a tree by size, exactly and in polynomial time.

A fragment is any connected set of nodes: a top node and, at each chosen node, any subset of its children. With the polynomial
f_v(x) = x * product over children c of (1 + f_c(x)), the coefficient of x^s in f_v is the number of fragments of size s whose
top is v (Bastings & Sima'an 2014 enumerate them one by one; a sentence can have billions).

A polynomial is packed into one big integer, its value at x = 2^B with room for B bits a coefficient, so that a product of
polynomials is one multiplication of integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import add

__all__ = ["BySize", "count_fragments"]


@dataclass(frozen=True)
class BySize:
    """Counts for the sizes 1, 2, 3 ...; they add size by size.

    >>> BySize((3, 1)) + BySize((1, 1, 1))
    BySize(counts=(4, 2, 1))
    >>> BySize((3, 1)).at(2), BySize((3, 1)).at(5)
    (1, 0)
    """

    counts: tuple[int, ...] = ()

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
    # At x = 1 the polynomials sum to the number of all fragments, and no coefficient can be larger than that.
    width = _sum_at(0, parent, marked, linked).bit_length() // 8 + 1
    packed = _sum_at(8 * width, parent, marked, linked).to_bytes(width * (len(parent) + 1), "little")
    counts = [int.from_bytes(packed[at : at + width], "little") for at in range(width, len(packed), width)]
    while counts and not counts[-1]:
        counts.pop()
    return BySize(tuple(counts))


def _sum_at(bits: int, parent: Sequence[int], nodes: Sequence[bool], edges: Sequence[bool]) -> int:
    """The sum of f_v over the marked nodes, at x = 2^bits."""
    total = 0
    # product[v] is f_v / x, so that multiplying by x stays a shift.
    product = [1] * len(parent)
    for node in range(len(parent) - 1, -1, -1):
        if nodes[node]:
            total += product[node]
            above = parent[node]
            if above >= 0 and edges[node]:
                product[above] += product[above] * product[node] << bits
    return total << bits
