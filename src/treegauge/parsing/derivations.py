"""Derivations read off a chart: the best one, the k best, samples; and their trees.

A derivation is the list of its *steps*, leftmost first. A step is a number: the first ones stand for a symbol right above a word,
the next for unary rules, the last for binary rules. The words and the steps determine the tree.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from treegauge.compilation import Floats, Ints, helper, kernel
from treegauge.grammar.binarisation import BinaryGrammar, BinaryRules, UnaryRules
from treegauge.parsing.chart_layout import LOG_SUM, MAX, SUM, Chart, Leaves, find, zero_of
from treegauge.trees.tree import Child, Tree

TIE = 1e-11
"""Logarithms closer than this count as equal; then the first split wins, then the first rule."""


class Grid(NamedTuple):
    """A chart with the words and the grammar it was computed from; weights are in the numbers of its mode."""

    chart: Chart
    leaves: Leaves
    binary: BinaryRules
    binary_weight: Floats
    unary: UnaryRules
    unary_weight: Floats


class Alternatives(NamedTuple):
    """The ways to derive a node: for each a step, the split between two children (-1 if there is only one, or a word), and the
    value."""

    step: Ints
    split: Ints
    value: Floats


@helper
def grid_rows(grid: Grid, k: int, s: int, t: int) -> tuple[int, int, int, int]:
    """The rows of a binary rule's two children over [s, t), and the first and the last split that both have (1 and 0 if none)."""
    i = grid.chart.slot[s, grid.binary.left_id[grid.binary.left[k]]]
    C = grid.binary.right_id[grid.binary.right[k]]
    if i < 0 or grid.chart.rights[t, C, 0] < 0:
        return 0, 0, 1, 0
    lo = max(grid.chart.lefts[s, i, 2], grid.chart.rights[t, C, 1], s + 1)
    hi = min(grid.chart.lefts[s, i, 3], grid.chart.rights[t, C, 2], t - 1)
    return grid.chart.lefts[s, i, 1], grid.chart.rights[t, C, 0], lo, hi


@helper
def count_alternatives(grid: Grid, s: int, t: int, X: int) -> int:
    """An upper bound for the number of alternatives of a node."""
    size = 1 + len(grid.unary.parent)
    for i in range(grid.binary.by_parent_first[X], grid.binary.by_parent_first[X + 1]):
        _, _, lo, hi = grid_rows(grid, grid.binary.by_parent[i], s, t)
        size += max(0, hi - lo + 1)
    return size


@helper
def find_alternatives(mode: int, grid: Grid, s: int, t: int, X: int) -> Alternatives:
    """All ways to derive X over [s, t), and their values: first the word itself, then binary rules in the grammar's order, then
    unary rules."""
    zero, n_symbols = zero_of(mode), len(grid.binary.left_id)
    size = count_alternatives(grid, s, t, X)
    found = Alternatives(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
    m = 0
    if t == s + 1:
        for i in range(grid.leaves.first[s], grid.leaves.first[s + 1]):
            if grid.leaves.symbol[i] == X:
                found.step[m], found.split[m], found.value[m] = X, -1, grid.leaves.weight[i]
                m += 1
    for i in range(grid.binary.by_parent_first[X], grid.binary.by_parent_first[X + 1]):
        k = grid.binary.by_parent[i]
        row_b, row_c, lo, hi = grid_rows(grid, k, s, t)
        if lo > hi:
            continue
        a, b = grid.chart.left_row[row_b], grid.chart.right_row[row_c]
        for r in range(lo, hi + 1):
            if a[r] == zero or b[r] == zero:
                continue
            value = grid.binary_weight[k] * a[r] * b[r] if mode == SUM else grid.binary_weight[k] + (a[r] + b[r])
            found.step[m], found.split[m], found.value[m] = n_symbols + len(grid.unary.parent) + k, r, value
            m += 1
    c = grid.unary.component[X]
    if c >= 0:
        for i in range(grid.unary.rule_first[c], grid.unary.rule_first[c + 1]):
            u = grid.unary.rule[i]
            if grid.unary.parent[u] != X:
                continue
            below = find(grid.chart, s, t, int(grid.unary.child[u]))
            if below >= 0:
                value = grid.chart.value[below]
                value = grid.unary_weight[u] * value if mode == SUM else grid.unary_weight[u] + value
                found.step[m], found.split[m], found.value[m] = n_symbols + u, -1, value
                m += 1
    return Alternatives(found.step[:m], found.split[:m], found.value[:m])


@kernel
def alternatives(mode: int, grid: Grid, s: int, t: int, X: int) -> Alternatives:
    """:func:`find_alternatives` for callers in Python."""
    return find_alternatives(mode, grid, s, t, X)


@helper
def push_children(grid: Grid, step: int, s: int, r: int, t: int, stack: Ints, depth: int) -> int:
    """Push the children of a step on the stack, the left one on top. Returns the new depth of the stack."""
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    if step >= n_symbols + n_unary:
        k = step - n_symbols - n_unary
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = r, t, grid.binary.right[k]
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = s, r, grid.binary.left[k]
        return depth + 2
    if step >= n_symbols:
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = s, t, grid.unary.child[step - n_symbols]
        return depth + 1
    return depth


@helper
def largest(values: Floats) -> float:
    # A loop, because Numba takes long to compile ``max`` of an array.
    best = -np.inf
    for value in values:
        best = max(best, value)
    return best


@helper
def first_of_best(found: Alternatives) -> int:
    """The index of the best alternative; of equal ones, that with the first split, then the first rule."""
    best, chosen = largest(found.value), -1
    for i in range(len(found.value)):
        if found.value[i] >= best - TIE and (chosen < 0 or found.split[i] < found.split[chosen]):
            chosen = i
    return chosen


@helper
def draw_alternative(mode: int, found: Alternatives, u: float) -> int:
    """The index of a random alternative: the one at the point u, from [0, 1), of the sum of all values."""
    total, high = 0.0, largest(found.value)
    for value in found.value:
        total += np.exp(value - high) if mode == LOG_SUM else value
    reached = 0.0
    for i in range(len(found.value)):
        reached += np.exp(found.value[i] - high) if mode == LOG_SUM else found.value[i]
        if reached > u * total:
            return i
    return len(found.value) - 1


@kernel
def derive(mode: int, grid: Grid, n: int, start: int, draw: bool, rng: np.random.Generator) -> Ints:
    """The steps of the best derivation, from a chart of mode MAX, or of a random one (``draw``), from one of mode SUM or
    LOG_SUM."""
    stack = np.empty((2 * n + 2, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, start
    depth = 1
    steps, size = np.empty(4 * n, np.int64), 0
    while depth > 0:
        depth -= 1
        s, t, X = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        found = find_alternatives(mode, grid, s, t, X)
        i = draw_alternative(mode, found, rng.random()) if draw else first_of_best(found)
        if size == len(steps):
            bigger = np.empty(2 * size, np.int64)
            for k in range(size):
                bigger[k] = steps[k]
            steps = bigger
        steps[size] = found.step[i]
        size += 1
        depth = push_children(grid, found.step[i], s, found.split[i], t, stack, depth)
    return steps[:size]


_UNUSED_GENERATOR = np.random.default_rng(0)
"""The generator of calls that draw nothing. There is one for all, because Numba does not free the generators it is given."""


def best_derivation(mode: int, grid: Grid, n: int, start: int) -> Ints:
    """The steps of the likeliest derivation, from a chart of mode MAX."""
    return derive(mode, grid, n, start, False, _UNUSED_GENERATOR)


def sampled_derivation(mode: int, grid: Grid, n: int, start: int, rng: np.random.Generator) -> Ints:
    """The steps of a derivation drawn by its probability, from a chart of mode SUM or LOG_SUM."""
    return derive(mode, grid, n, start, True, rng)


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
    """The search for the derivations of a node, best first, each found only when it is asked for (Huang & Chiang 2005, algorithm
    3). ``expand`` gives the edges of a node and their best values; the search does not depend on grammars. Values are logarithms:
    those of an edge and of its children add.

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


NodeKey = tuple[int, int, int]
"""A node of a chart: start, end, symbol."""


def best_derivations(grid: Grid, n: int, start: int) -> Iterator[tuple[float, list[int]]]:
    """The log value and the steps of each derivation, best first, from a chart of mode MAX that has a parse; without end if unary
    rules form cycles."""
    search, root = BestFirst(partial(_edges, grid)), (0, n, start)
    for rank in itertools.takewhile(lambda rank: search.has(root, rank), itertools.count()):
        yield search.value(root, rank), [edge.number for _, edge in search.edges(root, rank)]


def _edges(grid: Grid, key: NodeKey) -> tuple[list[DerivationEdge[NodeKey]], list[float]]:
    """All ways to derive a node, numbered by their steps, and their values."""
    found = alternatives(MAX, grid, *key)
    steps, splits, values = found.step.tolist(), found.split.tolist(), found.value.tolist()
    return [_edge(grid, key, *way) for way in zip(steps, splits, values, strict=True)], values


def _edge(grid: Grid, key: NodeKey, step: int, split: int, value: float) -> DerivationEdge[NodeKey]:
    s, t, _ = key
    n_symbols, n_unary = len(grid.binary.left_id), len(grid.unary.parent)
    if step < n_symbols:
        return DerivationEdge(step, (), value)
    if step < n_symbols + n_unary:
        u = step - n_symbols
        return DerivationEdge(step, ((s, t, int(grid.unary.child[u])),), float(grid.unary_weight[u]))
    k = step - n_symbols - n_unary
    children = (s, split, int(grid.binary.left[k])), (split, t, int(grid.binary.right[k]))
    return DerivationEdge(step, children, float(grid.binary_weight[k]))


def steps_to_tree(grammar: BinaryGrammar, labels: Sequence[str | None], steps: Sequence[int], words: Sequence[str]) -> Tree:
    """The tree of a derivation. ``labels`` are the symbols' names in the tree, ``None`` for those that their children replace."""
    n_symbols, n_unary = grammar.n_symbols, len(grammar.unary_probability)
    built: list[list[Child]] = []
    position = len(words)
    for step in reversed(steps):
        if step < n_symbols:
            position -= 1
            parent, children = step, list[Child]([words[position]])
        elif step < n_symbols + n_unary:
            parent, children = int(grammar.unary.parent[step - n_symbols]), built.pop()
        else:
            parent = int(grammar.binary.parent[step - n_symbols - n_unary])
            children = built.pop() + built.pop()
        label = labels[parent]
        built.append(children if label is None else [Tree(label, children)])
    (root,) = built
    if len(root) == 1 and isinstance(root[0], Tree):
        return root[0]
    return Tree(grammar.symbols[grammar.start], root)
