"""The k best trees: derivations with subcategories, best first, and their distinct trees.

A node of the search (:mod:`treegauge.parsing.best_first`) is an item with one of its subcategories.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from treegauge.parsing.best_first import BestFirst, DerivationEdge
from treegauge.parsing.forest import Parse
from treegauge.parsing.latent.base_chart import BINARY, SAME
from treegauge.parsing.latent.derivations import Derivation, viterbi_inside
from treegauge.parsing.latent.passes import Pass

if TYPE_CHECKING:
    from treegauge.parsing.latent.forest import LatentForest

__all__ = ["best_derivations", "best_trees"]

DERIVATIONS = 10
"""The number of derivations considered for each requested tree."""

ItemKey = tuple[int, int]
"""An item and one of its subcategories; (-1, 0) is the node above all roots."""
_TOP: ItemKey = (-1, 0)
_Edge = DerivationEdge[ItemKey]
"""An edge of the search, numbered as the forest edge (-1 above roots and over words, which have none)."""


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
        self.best_first = BestFirst(self._ways)

    def _ways(self, key: ItemKey) -> tuple[list[_Edge], list[float]]:
        """The best edges of a node, at most ``most``, and their values."""
        edges = self._root_edges() if key == _TOP else self._edges(*key)
        values = [edge.weight + sum(self._best(child) for child in edge.children) for edge in edges]
        order = sorted(range(len(edges)), key=lambda i: -values[i])[: self.most]
        return [edges[i] for i in order], [values[i] for i in order]

    def _best(self, key: ItemKey) -> float:
        return float(self.value[int(self.found.place[key[0]]) + key[1]])

    def _root_edges(self) -> list[_Edge]:
        level, made = self.level, list[_Edge]()
        for v in self.forest.roots():
            first = int(level.first[self.packed.symbol[v]])
            for i in range(int(level.sizes[self.packed.symbol[v]])):
                if level.root[first + i] > 0 and self._best((v, i)) > -math.inf:
                    made.append(_Edge(-1, ((v, i),), math.log(float(level.root[first + i]))))
        return made

    def _edges(self, v: int, i: int) -> list[_Edge]:
        packed, place = self.packed, self.found.place
        if self.is_tag[packed.symbol[v]]:
            return [_Edge(-1, (), self._best((v, i)))]
        made: list[_Edge] = []
        for d in range(int(packed.first[v]), int(packed.first[v + 1])):
            if not self.found.alive[d]:
                continue
            left, right = int(packed.left[d]), int(packed.right[d])
            if packed.kind[d] == SAME:
                made.append(_Edge(d, ((left, i),), 0.0))
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
                made.append(_Edge(d, children, float(weight[q])))
        return [edge for edge in made if all(self._best(child) > -math.inf for child in edge.children)]

    def derivation(self, rank: int) -> Derivation:
        """The derivation of a rank, counted from 0."""
        (_, top), *below = self.best_first.edges(_TOP, rank)
        return Derivation(top.children[0][0], tuple(edge.number for _, edge in below if edge.number >= 0))


def best_derivations(forest: LatentForest, number: int, found: Pass, most: int) -> Iterator[tuple[float, Derivation]]:
    """The derivations of one grammar with their log probabilities, best first, at most ``most``."""
    search = _Search(forest, number, found, most)
    scale = float(np.log(found.scale).sum())
    for rank in itertools.takewhile(lambda rank: search.best_first.has(_TOP, rank), range(most)):
        yield search.best_first.value(_TOP, rank) - scale, search.derivation(rank)


def best_trees(forest: LatentForest, k: int) -> list[Parse]:
    """The k likeliest distinct trees among the best derivations of all grammars, with the trees' log probabilities."""
    if not forest.has_parse or k < 1:
        return []
    wanted = (best_derivations(forest, number, found, DERIVATIONS * k) for number, found in forest.grammar_passes)
    ways = sorted((way for each in wanted for way in each), key=lambda way: -way[0])[: DERIVATIONS * k]
    parses = [(forest.log_probability_of(way), way) for way in dict.fromkeys(derivation for _, derivation in ways)]
    parses.sort(key=lambda parse: -parse[0])
    made: dict[str, Parse] = {}
    for value, derivation in parses:
        tree = forest.tree(derivation)
        made.setdefault(str(tree), Parse(tree, value))
    return list(made.values())[:k]
