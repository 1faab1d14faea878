"""Chains of unary rules, closed exactly: sums over all chains, the best chain, the number of chains.

With U(A, B) the probability of A -> B, the sum over all chains from A to B is C(A, B) = the entry of (I - U)^-1 = I
+ U + UU + ... Only symbols in one strongly connected component need a matrix: components are taken children first,
each solved by itself, so chains without cycles cost sums only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Closure", "close", "components"]

Edge = tuple[int, int, float]
Row = dict[int, float]
NEVER_ENDING = 1e-12
"""A component that is left with less than this probability derives nothing: its rules are no part of any chain."""


class Closure(NamedTuple):
    """For each bottom symbol X the tops A that reach it: entries ``first[X]:first[X+1]`` of the columns; X itself
    comes first.

    ``total`` is C(A, X), the sum over all chains; ``best`` the logarithm of the likeliest chain's probability;
    ``chains`` how many there are that use no rule inside a cycle (exact, Python integers).
    """

    first: NDArray[np.int64]
    top: NDArray[np.int32]
    total: NDArray[np.float64]
    best: NDArray[np.float64]
    chains: tuple[int, ...]


def components(n: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """The strongly connected components of a graph, each after all it can reach (Tarjan 1972, without recursion).

    >>> components(4, [(0, 1), (1, 2), (2, 1), (0, 3)])
    [[1, 2], [3], [0]]
    """
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        below[a].append(b)
    index, low, waiting = [-1] * n, [0] * n, [False] * n
    stack: list[int] = []
    found: list[list[int]] = []
    count = 0
    for root in range(n):
        work = [(root, 0)] if index[root] < 0 else []
        while work:
            node, at = work.pop()
            if at == 0:
                index[node] = low[node] = count
                count += 1
                stack.append(node)
                waiting[node] = True
            if at < len(below[node]):
                work.append((node, at + 1))
                child = below[node][at]
                if index[child] < 0:
                    work.append((child, 0))
                elif waiting[child]:
                    low[node] = min(low[node], index[child])
                continue
            if low[node] == index[node]:
                cut = stack.index(node)
                found.append(sorted(stack[cut:]))
                for member in stack[cut:]:
                    waiting[member] = False
                del stack[cut:]
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
    return found


def close(n: int, edges: Sequence[Edge]) -> Closure:
    """The closure of unary rules (parent, child, probability) over symbols 0 .. n-1.

    >>> closure = close(2, [(0, 0, 0.5), (0, 1, 0.25)])
    >>> closure.top.tolist(), closure.total.tolist()
    ([0, 1, 0], [2.0, 1.0, 0.5])
    """
    groups = components(n, [(a, b) for a, b, _ in edges])
    sums = _rows(n, edges, groups, _all_chains)
    bests = _rows(n, edges, groups, _likeliest_chains)
    counts = _rows(n, [(a, b, 1) for a, b, _ in edges], groups, _chains_without_cycles)
    by_bottom: list[list[int]] = [[x] for x in range(n)]
    for top in range(n):
        for bottom in sums[top]:
            if bottom != top:
                by_bottom[bottom].append(top)
    pairs = [(top, bottom) for bottom, tops in enumerate(by_bottom) for top in tops]
    return Closure(
        np.concatenate([[0], np.cumsum([len(tops) for tops in by_bottom], dtype=np.int64)]).astype(np.int64),
        np.array([top for top, _ in pairs], dtype=np.int32),
        np.array([sums[a][b] for a, b in pairs], dtype=np.float64),
        np.log(np.array([bests[a][b] for a, b in pairs], dtype=np.float64)),
        tuple(int(counts[a].get(b, 0)) for a, b in pairs),
    )


Solve = Callable[[list[int], dict[tuple[int, int], float], list[tuple[int, Row]]], list[Row]]


def _rows(n: int, edges: Sequence[Edge], groups: Sequence[list[int]], solve: Solve) -> list[Row]:
    """C's rows. ``solve`` gets a component, its inner edges, and for its members the rows of what they reach
    outside, weighted."""
    rows: list[Row] = [{} for _ in range(n)]
    group_of = {member: number for number, group in enumerate(groups) for member in group}
    inner: list[dict[tuple[int, int], float]] = [{} for _ in groups]
    outer: list[list[tuple[int, int, float]]] = [[] for _ in groups]
    for a, b, p in edges:
        if group_of[a] == group_of[b]:
            inner[group_of[a]][a, b] = p
        else:
            outer[group_of[a]].append((a, b, p))
    for number, group in enumerate(groups):
        reached = [(a, {bottom: p * value for bottom, value in rows[b].items()}) for a, b, p in outer[number]]
        for member, row in zip(group, solve(group, inner[number], reached), strict=True):
            rows[member] = row
    return rows


def _all_chains(group: list[int], inner: dict[tuple[int, int], float], reached: list[tuple[int, Row]]) -> list[Row]:
    below = _gather(group, reached, sum)
    if not inner:
        return below
    place = {member: i for i, member in enumerate(group)}
    loops = np.zeros((len(group), len(group)))
    for (a, b), p in inner.items():
        loops[place[a], place[b]] = p
    if max(abs(np.linalg.eigvals(loops))) > 1 - NEVER_ENDING:
        return below
    closed = np.linalg.inv(np.eye(len(group)) - loops)
    return [_combine(closed[i].tolist(), below, sum) for i in range(len(group))]


def _likeliest_chains(group: list[int], inner: dict[tuple[int, int], float], reached: list[tuple[int, Row]]) -> list[Row]:
    below = _gather(group, reached, max)
    if not inner:
        return below
    best = {(a, a): 1.0 for a in group}
    for (a, b), p in inner.items():
        best[a, b] = max(p, best.get((a, b), 0.0))
    for middle in group:
        for a in group:
            for b in group:
                through = best.get((a, middle), 0.0) * best.get((middle, b), 0.0)
                best[a, b] = max(through, best.get((a, b), 0.0))
    return [_combine([best.get((a, b), 0.0) for b in group], below, max) for a in group]


def _chains_without_cycles(group: list[int], inner: dict[tuple[int, int], float], reached: list[tuple[int, Row]]) -> list[Row]:
    return _gather(group, reached, sum)


def _gather(group: list[int], reached: list[tuple[int, Row]], add: Callable[[list[float]], float]) -> list[Row]:
    """For each member itself (weight 1) and what it reaches outside the component."""
    parts: dict[int, dict[int, list[float]]] = {member: {member: [1]} for member in group}
    for member, row in reached:
        for bottom, value in row.items():
            parts[member].setdefault(bottom, []).append(value)
    return [{bottom: add(values) for bottom, values in parts[member].items()} for member in group]


def _combine(weights: list[float], rows: list[Row], add: Callable[[list[float]], float]) -> Row:
    parts: dict[int, list[float]] = {}
    for weight, row in zip(weights, rows, strict=True):
        for bottom, value in row.items():
            parts.setdefault(bottom, []).append(weight * value)
    return {bottom: total for bottom, values in parts.items() if (total := add(values)) > 0}
