"""Derivations of a node, best first, each found only when it is asked for (Huang & Chiang 2005, algorithm 3).

The search does not depend on grammars: a function ``expand`` gives the edges of a node and their best values when they are needed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, NamedTuple, TypeVar

KeyT = TypeVar("KeyT", bound=Hashable)


class DerivationEdge(NamedTuple, Generic[KeyT]):
    """One way to derive a node: its number in the grammar or the forest, its children, and its own weight, which is its value less
    those of its best children."""

    number: int
    children: tuple[KeyT, ...]
    weight: float


class _NodeDerivations(Generic[KeyT]):
    """The derivations of a node found so far, best first, and a heap of candidates for the next one. Each is a value (negative in
    the heap), an edge, and the rank of each child's derivation, 0 for the best. ``advanced`` tells whether the successors of the
    last derivation found are among the candidates."""

    def __init__(self, edges: list[DerivationEdge[KeyT]], values: list[float]) -> None:
        self.edges = edges
        self.found: list[tuple[float, int, tuple[int, ...]]] = []
        self.candidates = [(-value, i, (0,) * len(edges[i].children)) for i, value in enumerate(values)]
        self.seen = {(i, ranks) for _, i, ranks in self.candidates}
        heapq.heapify(self.candidates)
        self.advanced = True


class BestFirst(Generic[KeyT]):
    """The search for derivations by value. Values are logarithms: those of an edge and of its children add.

    >>> words = [DerivationEdge(1, (), -1.0), DerivationEdge(2, (), -2.0)]
    >>> edges = {"S": ([DerivationEdge(0, ("A", "A"), 0.0)], [-2.0]), "A": (words, [-1.0, -2.0])}
    >>> search = BestFirst(lambda key: edges[key])
    >>> [search.value("S", rank) for rank in range(5) if search.has("S", rank)]
    [-2.0, -3.0, -3.0, -4.0]
    >>> [edge.number for _, edge in search.edges("S", 3)]
    [0, 2, 2]
    """

    def __init__(self, expand: Callable[[KeyT], tuple[list[DerivationEdge[KeyT]], list[float]]]) -> None:
        self._expand = expand
        self._nodes: dict[KeyT, _NodeDerivations[KeyT]] = {}

    def _node(self, key: KeyT) -> _NodeDerivations[KeyT]:
        if key not in self._nodes:
            self._nodes[key] = _NodeDerivations(*self._expand(key))
        return self._nodes[key]

    def has(self, key: KeyT, rank: int) -> bool:
        """Find the derivations of a node up to ``rank``, counted from 0, and return whether there are that many.

        Before a node can advance, its children must have found their next derivations; the stack holds the nodes that wait.
        Repeating a cycle of unary rules lowers the value, so a node never waits for itself.
        """
        stack = [(key, rank)]
        while stack:
            key, rank = stack[-1]
            node = self._node(key)
            if len(node.found) > rank:
                stack.pop()
                continue
            waiting = None if node.advanced else self._advance(node)
            if waiting is not None:
                stack.append(waiting)
            elif not node.candidates:
                stack.pop()
            else:
                value, edge, ranks = heapq.heappop(node.candidates)
                node.found.append((-value, edge, ranks))
                node.advanced = False
        return len(self._nodes[key].found) > rank

    def _advance(self, node: _NodeDerivations[KeyT]) -> tuple[KeyT, int] | None:
        """Add the successors of the last derivation to the candidates; or return the child, and the rank, to be found first."""
        _, number, ranks = node.found[-1]
        edge = node.edges[number]
        for child, rank in zip(edge.children, ranks, strict=True):
            below = self._node(child)
            exhausted = below.advanced and not below.candidates
            if len(below.found) <= rank + 1 and not exhausted:
                return child, rank + 1
        for i, child in enumerate(edge.children):
            following = (*ranks[:i], ranks[i] + 1, *ranks[i + 1 :])
            if len(self._nodes[child].found) > ranks[i] + 1 and (number, following) not in node.seen:
                node.seen.add((number, following))
                value = edge.weight + sum(self._nodes[c].found[r][0] for c, r in zip(edge.children, following, strict=True))
                heapq.heappush(node.candidates, (-value, number, following))
        node.advanced = True
        return None

    def value(self, key: KeyT, rank: int) -> float:
        """The value of the derivation of a rank that :meth:`has` has found."""
        return self._nodes[key].found[rank][0]

    def edges(self, key: KeyT, rank: int) -> Iterator[tuple[KeyT, DerivationEdge[KeyT]]]:
        """The nodes of a derivation with their edges, each node before its children, from left to right."""
        stack = [(key, rank)]
        while stack:
            key, rank = stack.pop()
            self.has(key, rank)
            node = self._nodes[key]
            _, number, ranks = node.found[rank]
            yield key, node.edges[number]
            stack.extend(reversed(list(zip(node.edges[number].children, ranks, strict=True))))
