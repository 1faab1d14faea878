"""The k best parses, lazily (Huang & Chiang 2005, algorithm 3), without recursion, also where unary rules form
cycles.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from treegauge.parsing.chart import Filled
from treegauge.parsing.derivations import Grid, alternatives
from treegauge.parsing.semirings import MAX

__all__ = ["best_derivations"]

Key = tuple[int, int, int]
"""A node: start, end, symbol."""


class Edge(NamedTuple):
    """One way to derive a node: a step, its children, and its own weight (the value less those of its best
    children)."""

    step: int
    children: tuple[Key, ...]
    weight: float


class Derivation(NamedTuple):
    """An edge with, for each child, which of the child's derivations is used (0: its best)."""

    value: float
    edge: int
    ranks: tuple[int, ...]


class _Node:
    """The derivations of a node found so far, best first, and the candidates for the next."""

    def __init__(self, edges: list[Edge], values: list[float]) -> None:
        self.edges = edges
        self.found: list[Derivation] = []
        self.seen = {(i, (0,) * len(edge.children)) for i, edge in enumerate(edges)}
        self.candidates = [(-value, i, (0,) * len(edges[i].children)) for i, value in enumerate(values)]
        heapq.heapify(self.candidates)
        self.advanced = True

    def pop(self) -> None:
        """Move the best candidate to the found ones; its successors are still to come."""
        value, edge, ranks = heapq.heappop(self.candidates)
        self.found.append(Derivation(-value, edge, ranks))
        self.advanced = False


def best_derivations(filled: Filled, start: int) -> Iterator[tuple[float, list[int]]]:
    """(log value, steps) of each derivation, best first, from a chart of mode MAX; endless where unary rules form
    cycles."""
    if filled.root < 0:
        return
    nodes: dict[Key, _Node] = {}
    root = (0, filled.n, start)
    for rank in itertools.count():
        if not _ensure(filled.grid, nodes, root, rank):
            return
        yield nodes[root].found[rank].value, _steps(filled.grid, nodes, root, rank)


def _node(grid: Grid, nodes: dict[Key, _Node], key: Key) -> _Node:
    if key not in nodes:
        found = alternatives(MAX, grid, *key)
        edges = [
            _edge(grid, key, step, split, value)
            for step, split, value in zip(found.step.tolist(), found.split.tolist(), found.value.tolist(), strict=True)
        ]
        nodes[key] = _Node(edges, found.value.tolist())
    return nodes[key]


def _edge(grid: Grid, key: Key, step: int, split: int, value: float) -> Edge:
    s, t, _ = key
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    if step < n_symbols:
        return Edge(step, (), value)
    if step < n_symbols + n_unary:
        u = step - n_symbols
        return Edge(step, ((s, t, int(grid.unary.child[u])),), float(grid.unary_weight[u]))
    k = step - n_symbols - n_unary
    children = (s, split, int(grid.binary.left[k])), (split, t, int(grid.binary.right[k]))
    return Edge(step, children, float(grid.binary_weight[k]))


def _ensure(grid: Grid, nodes: dict[Key, _Node], key: Key, rank: int) -> bool:
    """Find the derivations of a node up to ``rank``; whether there are that many.

    A node asks its children for one more derivation before it can go on; the stack holds who is waiting. Going round
    a cycle of unary rules lowers the value, so a node never waits for itself.
    """
    stack = [(key, rank)]
    while stack:
        key, rank = stack[-1]
        node = _node(grid, nodes, key)
        if len(node.found) > rank:
            stack.pop()
            continue
        if not node.advanced:
            waiting = _advance(grid, nodes, node)
            if waiting is not None:
                stack.append(waiting)
                continue
        if not node.candidates:
            stack.pop()
            continue
        node.pop()
    return len(nodes[key].found) > rank


def _advance(grid: Grid, nodes: dict[Key, _Node], node: _Node) -> tuple[Key, int] | None:
    """Put the successors of the last derivation among the candidates; or say which child must find another one
    first."""
    _, number, ranks = node.found[-1]
    edge = node.edges[number]
    for i, child in enumerate(edge.children):
        below = _node(grid, nodes, child)
        exhausted = below.advanced and not below.candidates
        if len(below.found) <= ranks[i] + 1 and not exhausted:
            return child, ranks[i] + 1
    for i, child in enumerate(edge.children):
        following = (*ranks[:i], ranks[i] + 1, *ranks[i + 1 :])
        if len(nodes[child].found) > ranks[i] + 1 and (number, following) not in node.seen:
            node.seen.add((number, following))
            value = edge.weight + sum(nodes[c].found[r].value for c, r in zip(edge.children, following, strict=True))
            heapq.heappush(node.candidates, (-value, number, following))
    node.advanced = True
    return None


def _steps(grid: Grid, nodes: dict[Key, _Node], key: Key, rank: int) -> list[int]:
    """The steps of a derivation, leftmost first."""
    steps: list[int] = []
    stack = [(key, rank)]
    while stack:
        key, rank = stack.pop()
        _ensure(grid, nodes, key, rank)
        node = nodes[key]
        _, number, ranks = node.found[rank]
        steps.append(node.edges[number].step)
        stack.extend(reversed(list(zip(node.edges[number].children, ranks, strict=True))))
    return steps
