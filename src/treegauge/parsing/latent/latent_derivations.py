"""Derivations in a packed forest: the likeliest one, samples, the k best, and their trees.

A derivation is its root item and its edges from the top down, leftmost first; tags have no edges. Trees do not show subcategories,
so many ways to assign these are one derivation. In the search for the k best (:mod:`treegauge.parsing.derivations`), a node is an
item.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treegauge.compilation import Bools, Floats, Ints, helper, inline, kernel
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.grammar.latent.rule_rows import TAG, BaseGrammar
from treegauge.parsing.derivations import BestFirst, DerivationEdge
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY, PackedForest
from treegauge.parsing.latent.passes import Pass, Words, inside_forest, most_subcategories, word_probability
from treegauge.parsing.posterior_view import Parse
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.latent.latent_forest import LatentForest

CANDIDATES = 10
"""The number of trees looked at for each requested tree."""
LEAST_CANDIDATES = 100
"""The number of trees looked at, however few are requested."""
_TOP = -1
"""The node above all roots."""
_Edge = DerivationEdge[int]
"""An edge of the search, numbered as the forest edge (-1 above roots and over words, which have none)."""


class Derivation(NamedTuple):
    """A root item, and the edges below it."""

    root: int
    edges: tuple[int, ...]


def derivation_of(forest: PackedForest, root: int, choice: Sequence[int]) -> Derivation:
    """The derivation with the chosen edge of each item (-1: none)."""
    edges: list[int] = []
    stack = [root]
    while stack:
        d = int(choice[stack.pop()])
        if d >= 0:
            edges.append(d)
            stack += [int(x) for x in (forest.right[d], forest.left[d]) if x >= 0]
    return Derivation(root, tuple(edges))


def derivation_tree(base: BaseGrammar, forest: PackedForest, derivation: Derivation, words: Sequence[str]) -> Tree:
    """The tree of a derivation: inner symbols removed, the middles of chains restored, and the treebank's root on top."""
    edges = iter(derivation.edges)
    done: list[list[Child]] = [[]]
    stack: list[tuple[int, int]] = [(derivation.root, -1)]
    while stack:
        v, edge = stack.pop()
        A = int(forest.symbol[v])
        if base.kind[A] == TAG:
            word = words[int(forest.start[v])]
            done[-1].append(Tree(base.names[A], [word]) if base.names[A] else word)
        elif edge < 0:
            edge = next(edges)
            below = [int(x) for x in (forest.right[edge], forest.left[edge]) if x >= 0]
            stack += [(v, edge), *((x, -1) for x in below)]
            done.append([])
        else:
            children = done.pop()
            done[-1].extend(_node(base, forest, A, bool(forest.high[v]), edge, children))
    (tree,) = done[0]
    return tree if isinstance(tree, Tree) and base.root in (None, tree.label) else Tree(base.root or "", [tree])


def _node(base: BaseGrammar, forest: PackedForest, A: int, high: bool, edge: int, children: list[Child]) -> list[Child]:
    if forest.kind[edge] == SAME or base.is_inner[A]:
        return children
    if high and forest.kind[edge] == UNARY:
        for name in reversed(base.middles.get((A, int(base.unary[forest.rule[edge], 1])), ())):
            children = [Tree(name, children)]
    return [Tree(base.names[A], children)]


class BackPointers(NamedTuple):
    """For each subcategory of each item: the probability of its likeliest derivation, the first edge of that derivation, and the
    subcategories of the edge's children."""

    value: Floats
    edge: Ints
    left: Ints
    right: Ints


@helper
def _viterbi(forest: PackedForest, is_tag: Bools, level: Level, words: Words, found: Pass) -> BackPointers:
    """The likeliest derivation of every item and subcategory, with probabilities scaled as in the pass."""
    size = found.place[-1]
    back = BackPointers(np.zeros(size), np.full(size, -1, np.int64), np.zeros(size, np.int32), np.zeros(size, np.int32))
    value, leaf = back.value, np.zeros(most_subcategories(level))
    for v in range(len(forest.symbol) - 1, -1, -1):
        A, o = forest.symbol[v], found.place[v]
        width = found.place[v + 1] - o
        if is_tag[A]:
            word_probability(forest.start[v], A, words, level, leaf, 0)
            for i in range(width):
                value[o + i] = leaf[i] * found.scale[forest.start[v]]
        for d in range(forest.first[v], forest.first[v + 1]):
            if found.alive[d]:
                viterbi_edge(d, o, width, forest, level, found.place, back)
        for i in range(width):
            if not found.is_open[o + i]:
                value[o + i] = 0.0
    return back


@inline
def viterbi_edge(d: int, o: int, width: int, forest: PackedForest, level: Level, place: Ints, back: BackPointers) -> None:
    """Update the subcategories of an item, which begin at ``o``, with the derivations of one of its edges."""
    value = back.value
    kind, r, b = forest.kind[d], forest.rule[d], place[forest.left[d]]
    if kind == SAME:
        for i in range(width):
            if value[b + i] > value[o + i]:
                value[o + i], back.edge[o + i], back.left[o + i] = value[b + i], d, i
        return
    rows = level.binary if kind == BINARY else level.unary
    c = place[forest.right[d]] if kind == BINARY else -1
    for q in range(rows.first[r], rows.first[r + 1]):
        w, x = value[b + rows.left[q]], rows.offset[q]
        if c >= 0:
            w *= value[c + rows.right[q]]
        if w > 0.0:
            for i in range(width):
                p = w * rows.value[x + i]
                if p > value[o + i]:
                    value[o + i], back.edge[o + i], back.left[o + i], back.right[o + i] = p, d, rows.left[q], rows.right[q]


@kernel
def best_derivation(
    n: int, forest: PackedForest, is_tag: Bools, level: Level, words: Words, found: Pass
) -> tuple[int, float, Ints]:
    """The likeliest derivation: its root item (-1: none), its probability, scaled as in the pass, and the edge of each of its
    items."""
    back = _viterbi(forest, is_tag, level, words, found)
    root, sub, best = -1, 0, 0.0
    for v in range(len(forest.symbol)):
        if forest.start[v] != 0 or forest.end[v] != n:
            break
        A = forest.symbol[v]
        if forest.high[v] or is_tag[A]:
            for i in range(level.sizes[A]):
                p = level.root[level.first[A] + i] * back.value[found.place[v] + i]
                if p > best:
                    root, sub, best = v, i, p
    choice = np.full(len(forest.symbol), -1, np.int64)
    items, subs, top = np.zeros(4 * n + 8, np.int64), np.zeros(4 * n + 8, np.int64), 0
    if root >= 0:
        items[0], subs[0], top = root, sub, 1
    while top > 0:
        top -= 1
        v, at = items[top], found.place[items[top]] + subs[top]
        d = back.edge[at]
        choice[v] = d
        if d >= 0:
            items[top], subs[top] = forest.left[d], back.left[at]
            top += 1
            if forest.kind[d] == BINARY:
                items[top], subs[top] = forest.right[d], back.right[at]
                top += 1
    return root, best, choice


@kernel
def sample_derivation(n: int, forest: PackedForest, is_tag: Bools, level: Level, found: Pass, rng: Any) -> tuple[int, Ints]:
    """A derivation drawn with its probability given the sentence: its root item, and the edge of each of its items."""
    e, place = found.inside, found.place
    left = rng.random() * found.total
    root, sub = -1, 0
    for v in range(len(forest.symbol)):
        if forest.start[v] != 0 or forest.end[v] != n:
            break
        A = forest.symbol[v]
        if forest.high[v] or is_tag[A]:
            for i in range(level.sizes[A]):
                p = level.root[level.first[A] + i] * e[place[v] + i]
                if p > 0.0 and left >= 0.0:
                    root, sub = v, i
                    left -= p
    choice = np.full(len(forest.symbol), -1, np.int64)
    items, subs, top = np.zeros(4 * n + 8, np.int64), np.zeros(4 * n + 8, np.int64), 1
    items[0], subs[0] = root, sub
    while top > 0:
        top -= 1
        v, i = items[top], subs[top]
        if is_tag[forest.symbol[v]]:
            continue
        d, j, k = draw_edge(v, i, forest, level, found, rng.random() * e[place[v] + i])
        choice[v] = d
        items[top], subs[top] = forest.left[d], j
        top += 1
        if forest.kind[d] == BINARY:
            items[top], subs[top] = forest.right[d], k
            top += 1
    return root, choice


@inline
def draw_edge(v: int, i: int, forest: PackedForest, level: Level, found: Pass, left: float) -> tuple[int, int, int]:
    """The edge of item v, and the subcategories of its children, at which the running sum of e of subcategory i passes ``left``."""
    e, place = found.inside, found.place
    edge, at_left, at_right = -1, 0, 0
    for d in range(forest.first[v], forest.first[v + 1]):
        if not found.alive[d] or left < 0.0:
            continue
        kind, r, b = forest.kind[d], forest.rule[d], place[forest.left[d]]
        if kind == SAME:
            if e[b + i] > 0.0:
                edge, at_left = d, i
                left -= e[b + i]
            continue
        rows = level.binary if kind == BINARY else level.unary
        c = place[forest.right[d]] if kind == BINARY else -1
        for q in range(rows.first[r], rows.first[r + 1]):
            p = e[b + rows.left[q]] * rows.value[rows.offset[q] + i]
            if c >= 0:
                p *= e[c + rows.right[q]]
            if p > 0.0 and left >= 0.0:
                edge, at_left, at_right = d, rows.left[q], rows.right[q]
                left -= p
    return edge, at_left, at_right


def tree_probability(
    forest: PackedForest, is_tag: Bools, level: Level, words: Words, found: Pass, derivation: Derivation, pruned: bool
) -> float:
    """The log probability of a derivation's tree, summed over all subcategories or, with ``pruned``, over those that pruning has
    left."""
    alive = np.zeros(len(forest.kind), np.bool_)
    alive[list(derivation.edges)] = True
    e = np.zeros(len(found.inside))
    is_open = found.is_open if pruned else np.ones(len(e), np.bool_)
    inside_forest(forest, alive & found.alive if pruned else alive, is_tag, level, words, found.scale, found.place, is_open, e)
    A, o = int(forest.symbol[derivation.root]), int(found.place[derivation.root])
    size, first = int(level.sizes[A]), int(level.first[A])
    p = float(e[o : o + size] @ level.root[first : first + size].astype(np.float64))
    return (math.log(p) if p > 0 else -math.inf) - float(np.log(found.scale).sum())


def best_trees(forest: LatentForest, k: int) -> list[Parse]:
    """The k likeliest trees, or all if there are fewer, with their log probabilities, all subcategories summed.

    Candidates are found best first by the product of P(edge | item), the probability that an item is derived by an edge given the
    words. This is the distribution over derivations without subcategories that is nearest to that of the model. Their exact
    probabilities decide among them.
    """
    found: dict[str, Parse] = {}
    for derivation in best_derivations(forest) if forest.has_parse else ():
        if len(found) == max(k * CANDIDATES, LEAST_CANDIDATES):
            break
        made = Parse(forest.tree(derivation), forest.log_probability_of(derivation))
        name = str(made.tree)
        found[name] = max(found.get(name, made), made, key=lambda parse: parse.log_probability)
    return sorted(found.values(), key=lambda parse: -parse.log_probability)[: max(k, 0)]


def best_derivations(forest: LatentForest) -> Iterator[Derivation]:
    """All derivations that pruning has left, without subcategories, the largest product of P(edge | item) first."""
    packed, roots = forest.packed_forest, forest.roots()
    with np.errstate(divide="ignore"):
        log_edge, log_root = np.log(forest.edge_posterior), np.log(forest.item_posterior[roots])
    best = np.zeros(len(packed.symbol))
    ways: dict[int, tuple[list[_Edge], list[float]]] = {}
    for v in range(len(packed.symbol) - 1, -1, -1):
        own = [d for d in range(int(packed.first[v]), int(packed.first[v + 1])) if log_edge[d] > -math.inf]
        total = float(np.logaddexp.reduce(log_edge[own])) if own else 0.0
        below = [tuple(int(x) for x in (packed.left[d], packed.right[d]) if x >= 0) for d in own]
        edges = [_Edge(d, children, float(log_edge[d]) - total) for d, children in zip(own, below, strict=True)]
        edges = edges or [_Edge(-1, (), 0.0)]  # a tag
        ways[v] = edges, [edge.weight + sum(float(best[child]) for child in edge.children) for edge in edges]
        best[v] = max(ways[v][1])
    tops = [_Edge(-1, (v,), float(value)) for v, value in zip(roots, log_root, strict=True) if value > -math.inf]
    ways[_TOP] = tops, [top.weight + float(best[top.children[0]]) for top in tops]
    search = BestFirst(ways.__getitem__)
    for rank in itertools.takewhile(lambda rank: search.has(_TOP, rank), itertools.count()):
        (_, top), *rest = search.edges(_TOP, rank)
        yield Derivation(top.children[0], tuple(edge.number for _, edge in rest if edge.number >= 0))
