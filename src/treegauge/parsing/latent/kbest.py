"""The k best trees: derivations with subcategories, best first (Huang & Chiang 2005, algorithm 3), and the distinct trees they
show.

Nodes of the search are an item and one of its subcategories; what leads to a node is looked up when the node is first asked for.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.parsing.forest import Parse
from treegauge.parsing.latent.base_chart import BINARY, SAME
from treegauge.parsing.latent.derivations import Derivation, viterbi_inside
from treegauge.parsing.latent.passes import Pass

if TYPE_CHECKING:
    from treegauge.parsing.latent.forest import LatentForest

__all__ = ["DERIVATIONS", "best_derivations", "best_trees"]

DERIVATIONS = 10
"""The number of derivations looked at for each tree asked for."""

Key = tuple[int, int]
"""An item and a subcategory of it; (-1, 0) is above all roots."""
_TOP: Key = (-1, 0)


class _ForestEdge(NamedTuple):
    """A forest edge (-1: none, at the top and over words), the nodes below, and the logarithm of its own weight."""

    edge: int
    children: tuple[Key, ...]
    weight: float


class _Node:
    """The derivations of a node found so far, best first, and the candidates for the next."""

    def __init__(self, edges: list[_ForestEdge], values: list[float]) -> None:
        self.edges = edges
        self.found: list[tuple[float, int, tuple[int, ...]]] = []
        self.candidates = [
            (-value, i, (0,) * len(edge.children)) for i, (edge, value) in enumerate(zip(edges, values, strict=True))
        ]
        self.seen = {(i, ranks) for _, i, ranks in self.candidates}
        heapq.heapify(self.candidates)
        self.advanced = True


class _Search:
    """The search in one grammar's forest."""

    def __init__(self, forest: LatentForest, number: int, found: Pass, most: int) -> None:
        assert forest.packed is not None
        self.packed, words = forest.packed
        self.forest, self.found, self.most = forest, found, most
        self.level = forest.tables.paths[number][0][-1]
        is_tag = forest.tables.rules.is_tag
        self.is_tag = is_tag
        with np.errstate(divide="ignore"):
            self.value: NDArray[np.float64] = np.log(viterbi_inside(self.packed, is_tag, self.level, words, found))
        self.nodes: dict[Key, _Node] = {}

    def node(self, key: Key) -> _Node:
        if key not in self.nodes:
            edges = self._root_edges() if key == _TOP else self._edges(*key)
            values = [edge.weight + sum(self._best(child) for child in edge.children) for edge in edges]
            order = sorted(range(len(edges)), key=lambda i: -values[i])[: self.most]
            self.nodes[key] = _Node([edges[i] for i in order], [values[i] for i in order])
        return self.nodes[key]

    def _best(self, key: Key) -> float:
        return float(self.value[int(self.found.place[key[0]]) + key[1]])

    def _root_edges(self) -> list[_ForestEdge]:
        level, made = self.level, list[_ForestEdge]()
        for v in self.forest.roots():
            first = int(level.first[self.packed.symbol[v]])
            for i in range(int(level.sizes[self.packed.symbol[v]])):
                if level.root[first + i] > 0 and self._best((v, i)) > -math.inf:
                    made.append(_ForestEdge(-1, ((v, i),), math.log(float(level.root[first + i]))))
        return made

    def _edges(self, v: int, i: int) -> list[_ForestEdge]:
        packed, place = self.packed, self.found.place
        if self.is_tag[packed.symbol[v]]:
            return [_ForestEdge(-1, (), self._best((v, i)))]
        made: list[_ForestEdge] = []
        for d in range(int(packed.first[v]), int(packed.first[v + 1])):
            if not self.found.alive[d]:
                continue
            left, right = int(packed.left[d]), int(packed.right[d])
            if packed.kind[d] == SAME:
                made.append(_ForestEdge(d, ((left, i),), 0.0))
                continue
            binary = packed.kind[d] == BINARY
            rows, rule = self.level.binary if binary else self.level.unary, int(packed.rule[d])
            own = slice(int(rows.first[rule]), int(rows.first[rule + 1]))
            with np.errstate(divide="ignore"):
                weight = np.log(rows.value[rows.offset[own] + i].astype(np.float64))
            total = weight + self.value[int(place[left]) + rows.left[own]]
            if binary:
                total = total + self.value[int(place[right]) + rows.right[own]]
            for q in np.flatnonzero(total > -math.inf).tolist():
                children = (left, int(rows.left[own][q])), *(((right, int(rows.right[own][q])),) if binary else ())
                made.append(_ForestEdge(d, children, float(weight[q])))
        return [edge for edge in made if all(self._best(child) > -math.inf for child in edge.children)]

    def ensure(self, key: Key, rank: int) -> bool:
        """Find the derivations of a node up to ``rank``; whether there are that many. The stack holds who is waiting for whom."""
        stack = [(key, rank)]
        while stack:
            key, rank = stack[-1]
            node = self.node(key)
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
        return len(self.nodes[key].found) > rank

    def _advance(self, node: _Node) -> tuple[Key, int] | None:
        """Put the successors of the last derivation among the candidates; or say which child must find another one first."""
        _, number, ranks = node.found[-1]
        edge = node.edges[number]
        for child, rank in zip(edge.children, ranks, strict=True):
            below = self.node(child)
            if len(below.found) <= rank + 1 and not (below.advanced and not below.candidates):
                return child, rank + 1
        for i, child in enumerate(edge.children):
            following = (*ranks[:i], ranks[i] + 1, *ranks[i + 1 :])
            if len(self.nodes[child].found) > ranks[i] + 1 and (number, following) not in node.seen:
                node.seen.add((number, following))
                value = edge.weight + sum(self.nodes[c].found[r][0] for c, r in zip(edge.children, following, strict=True))
                heapq.heappush(node.candidates, (-value, number, following))
        node.advanced = True
        return None

    def derivation(self, rank: int) -> Derivation:
        """The forest edges of the derivation of this rank."""
        edges: list[int] = []
        root = -1
        stack = [(_TOP, rank)]
        while stack:
            key, rank = stack.pop()
            self.ensure(key, rank)
            _, number, ranks = self.nodes[key].found[rank]
            edge = self.nodes[key].edges[number]
            if key == _TOP:
                root = edge.children[0][0]
            elif edge.edge >= 0:
                edges.append(edge.edge)
            stack.extend(reversed(list(zip(edge.children, ranks, strict=True))))
        return Derivation(root, tuple(edges))


def best_derivations(forest: LatentForest, number: int, found: Pass, most: int) -> Iterator[tuple[float, Derivation]]:
    """The derivations of one grammar and the logarithms of their probabilities, best first, at most so many."""
    search = _Search(forest, number, found, most)
    scale = float(np.log(found.scale).sum())
    for rank in itertools.takewhile(lambda rank: search.ensure(_TOP, rank), range(most)):
        yield search.nodes[_TOP].found[rank][0] - scale, search.derivation(rank)


def best_trees(forest: LatentForest, k: int) -> list[Parse]:
    """The k likeliest of the distinct trees among the best derivations of all grammars, with the probabilities of the trees."""
    if not forest.has_parse or k < 1:
        return []
    wanted = (best_derivations(forest, number, found, DERIVATIONS * k) for number, found in forest.found)
    ways = sorted((way for each in wanted for way in each), key=lambda way: -way[0])[: DERIVATIONS * k]
    parses = [(forest.log_probability_of(way), way) for way in dict.fromkeys(derivation for _, derivation in ways)]
    parses.sort(key=lambda parse: -parse[0])
    made: dict[str, Parse] = {}
    for value, derivation in parses:
        tree = forest.tree(derivation)
        made.setdefault(str(tree), Parse(tree, value))
    return list(made.values())[:k]
