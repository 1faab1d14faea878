"""The finer passes: inside and outside values of a packed forest under grammars with more and more subcategories.

Letters: A -> B C is the rule of an edge; i, j, k are subcategories of A, B, C; e is inside, f outside. The values of the
subcategories of item v begin at ``place[v]``. After a pass, edges and subcategories whose posterior is below a threshold are
closed in the next pass; the finer subcategories of a closed one are closed too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Bools, Floats, Ints, helper, inline, kernel
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.parsing.chart_layout import add_multiple
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY, PackedForest

ANY_TAG = -2
"""The number of a word whose given tag neither it nor any word of its signature was seen with."""


class Words(NamedTuple):
    """The words of a sentence: their numbers (-1: unknown, or :data:`ANY_TAG`) and signatures, their counts in the training trees
    (1 if unknown), and the factors that their probabilities are multiplied by to prevent underflow. The pairs of any word w of the
    lexicon are ``pair[pair_first[w]:pair_first[w+1]]``; ``pair_tag`` has their tags."""

    number: Ints
    signature: Ints
    count: Floats
    scale: Floats
    pair_first: Ints
    pair: Ints
    pair_tag: Ints


class Pass(NamedTuple):
    """The result of a pass: the open subcategories of items, the edges that are left (``alive``), e and f of all subcategories, the
    posterior of each item and each edge, summed over subcategories, the sentence's scaled probability, and the factors by which
    words are scaled in it."""

    place: Ints
    is_open: Bools
    alive: Bools
    inside: Floats
    outside: Floats
    item: Floats
    edge: Floats
    total: float
    scale: Floats


@inline
def word_probability(s: int, tag: int, words: Words, level: Level, out: Floats, at: int) -> None:
    """Write the unscaled P(word s | tag_x) of all x to ``out[at:]``; see :mod:`treegauge.grammar.latent.latent_grammar`."""
    known = level.emissions
    first, size = known.first[tag], known.first[tag + 1] - known.first[tag]
    w, spelling = words.number[s], known.spelling[words.signature[s]]
    for x in range(size):
        out[at + x] = spelling[first + x]
    if w == ANY_TAG:
        out[at : at + size] = 1.0
        return
    if w >= 0:
        for x in range(size):
            out[at + x] *= level.spelling
        for i in range(words.pair_first[w], words.pair_first[w + 1]):
            p = words.pair[i]
            if words.pair_tag[p] == tag:
                for x in range(size):
                    out[at + x] += known.pair[known.pair_offset[p] + x]
        for x in range(size):
            out[at + x] /= words.count[s] + level.spelling
    mean = 0.0
    for x in range(size):
        total = known.total[first + x]
        out[at + x] = out[at + x] * words.count[s] / total if total > 0 else 0.0
        mean += out[at + x]
    mean *= level.flat / size
    for x in range(size):
        out[at + x] = (1.0 - level.flat) * out[at + x] + mean


@kernel
def base_words(words: Words, level: Level, is_tag: Bools, least: float) -> Floats:
    """The unscaled P(word | tag) of a sentence under the base grammar, an (n, symbols) array. Tags with P(tag | word) below
    ``least`` are left out if the word has another."""
    n, S = len(words.number), len(is_tag)
    found, share = np.zeros((n, S)), np.zeros(S)
    for s in range(n):
        most = 0.0
        for A in range(S):
            if is_tag[A]:
                word_probability(s, A, words, level, found[s], A)
                share[A] = found[s, A] * level.emissions.total[level.emissions.first[A]] / words.count[s]
                most = max(most, share[A])
        if most >= least:
            for X in range(S):
                if share[X] < least:
                    found[s, X] = 0.0
    return found


@inline
def most_subcategories(level: Level) -> int:
    """The largest number of subcategories of any symbol."""
    most = 0
    for size in level.sizes:
        most = max(most, size)
    return most


@inline
def forest_places(forest: PackedForest, sizes: Ints) -> Ints:
    """The index at which each item's subcategories begin, and the end of the last."""
    place = np.zeros(len(forest.symbol) + 1, np.int64)
    for v in range(len(forest.symbol)):
        place[v + 1] = place[v] + sizes[forest.symbol[v]]
    return place


def _fill_inside(
    forest: PackedForest,
    alive: Bools,
    is_tag: Bools,
    level: Level,
    words: Words,
    scale: Floats,
    place: Ints,
    is_open: Bools,
    e: Floats,
) -> None:
    """Fill in e, which is all zeros before, from the bottom up."""
    leaf = np.zeros(most_subcategories(level))
    for v in range(len(forest.symbol) - 1, -1, -1):
        A, o = forest.symbol[v], place[v]
        size = place[v + 1] - o
        own = e[o : o + size]
        if is_tag[A]:
            word_probability(forest.start[v], A, words, level, leaf, 0)
            for i in range(size):
                e[o + i] = leaf[i] * scale[forest.start[v]]
        for d in range(forest.first[v], forest.first[v + 1]):
            if not alive[d]:
                continue
            kind, b = forest.kind[d], place[forest.left[d]]
            if kind == SAME:
                for i in range(size):
                    e[o + i] += e[b + i]
                continue
            r = forest.rule[d]
            if kind == UNARY:
                rows = level.unary
                for q in range(rows.first[r], rows.first[r + 1]):
                    w, x = e[b + rows.left[q]], rows.offset[q]
                    if w > 0.0:
                        add_multiple(w, rows.value[x : x + size], own)
            else:
                rows, c = level.binary, place[forest.right[d]]
                for q in range(rows.first[r], rows.first[r + 1]):
                    w = e[b + rows.left[q]] * e[c + rows.right[q]]
                    if w > 0.0:
                        x = rows.offset[q]
                        add_multiple(w, rows.value[x : x + size], own)
        for i in range(size):
            if not is_open[o + i]:
                e[o + i] = 0.0


fill_inside, inside_forest = helper(_fill_inside), kernel(_fill_inside)
"""The same function for other kernels and for Python."""


@inline
def root_outside(n: int, forest: PackedForest, is_tag: Bools, level: Level, place: Ints, e: Floats, f: Floats) -> float:
    """Set the outside values of the root items; return the sentence's scaled probability."""
    z = 0.0
    for v in range(len(forest.symbol)):
        if forest.start[v] != 0 or forest.end[v] != n:
            break
        A = forest.symbol[v]
        if forest.high[v] or is_tag[A]:
            for i in range(level.sizes[A]):
                f[place[v] + i] = level.root[level.first[A] + i]
                z += f[place[v] + i] * e[place[v] + i]
    return z


@inline
def outside_forest(
    forest: PackedForest, alive: Bools, level: Level, place: Ints, z: float, e: Floats, f: Floats, item: Floats, edge: Floats
) -> None:
    """Fill in f from the top down, and the posteriors of items and edges."""
    for v in range(len(forest.symbol)):
        o = place[v]
        size = place[v + 1] - o
        total = 0.0
        for i in range(size):
            if e[o + i] == 0.0:
                f[o + i] = 0.0
            total += f[o + i] * e[o + i]
        item[v] = total / z
        if total <= 0.0:
            continue
        for d in range(forest.first[v], forest.first[v + 1]):
            if alive[d]:
                c = place[forest.right[d]] if forest.kind[d] == BINARY else -1
                edge[d] = edge_outside(forest.kind[d], forest.rule[d], o, size, place[forest.left[d]], c, level, e, f) / z


@inline
def edge_outside(kind: int, r: int, o: int, size: int, b: int, c: int, level: Level, e: Floats, f: Floats) -> float:
    """Add to f of an edge's children; return the sum of f e over the edge."""
    total = 0.0
    if kind == SAME:
        for i in range(size):
            f[b + i] += f[o + i]
            total += f[o + i] * e[b + i]
    elif kind == UNARY:
        rows = level.unary
        for q in range(rows.first[r], rows.first[r + 1]):
            w, x = e[b + rows.left[q]], rows.offset[q]
            if w > 0.0:
                g = f[o] * rows.value[x]
                for i in range(1, size):
                    g += f[o + i] * rows.value[x + i]
                f[b + rows.left[q]] += g
                total += g * w
    else:
        rows = level.binary
        for q in range(rows.first[r], rows.first[r + 1]):
            left, right = e[b + rows.left[q]], e[c + rows.right[q]]
            w, x = left * right, rows.offset[q]
            if w > 0.0:
                g = f[o] * rows.value[x]
                for i in range(1, size):
                    g += f[o + i] * rows.value[x + i]
                f[b + rows.left[q]] += g * right
                f[c + rows.right[q]] += g * left
                total += g * w
    return total


@inline
def open_subcategories(
    forest: PackedForest, place: Ints, e: Floats, f: Floats, z: float, threshold: float, fine: Level, up: Ints, finer: Ints
) -> Bools:
    """The open subcategories of the next level: those whose coarser subcategory has a posterior of at least the threshold."""
    is_open = np.zeros(finer[-1], np.bool_)
    for v in range(len(forest.symbol)):
        first, o = fine.first[forest.symbol[v]], finer[v]
        for x in range(finer[v + 1] - o):
            coarse = place[v] + up[first + x]
            is_open[o + x] = e[coarse] * f[coarse] >= threshold * z and e[coarse] > 0.0
    return is_open


@kernel
def run_passes(
    n: int,
    forest: PackedForest,
    is_tag: Bools,
    levels: tuple[Level, ...],
    ups: tuple[Ints, ...],
    words: Words,
    thresholds: Floats,
    edge_thresholds: Floats,
    kind: Floats,
) -> Pass:
    """Run all passes of one grammar and return the last.

    ``ups[m]`` maps the subcategories of level m to those of the level before. Subcategories whose posterior at level m is below
    ``thresholds[m]``, and edges below ``edge_thresholds[m]``, are closed in the next pass. ``kind`` gives the type of numbers.
    """
    scale = words.scale.copy()
    alive = forest.kind >= 0
    place = forest_places(forest, levels[0].sizes)
    is_open = np.ones(place[-1], np.bool_)
    item, edge = np.zeros(len(forest.symbol)), np.zeros(len(forest.kind))
    e, f, z = np.zeros(1, kind.dtype), np.zeros(1, kind.dtype), 0.0
    for m in range(len(levels)):
        level = levels[m]
        e, f = np.zeros(place[-1], kind.dtype), np.zeros(place[-1], kind.dtype)
        fill_inside(forest, alive, is_tag, level, words, scale, place, is_open, e)
        z = root_outside(n, forest, is_tag, level, place, e, f)
        if not z > 0.0 or z > 1e300:
            return Pass(place, is_open, alive, e, f, item, edge, 0.0, scale)
        edge[:] = 0.0
        outside_forest(forest, alive, level, place, z, e, f, item, edge)
        if m + 1 == len(levels):
            break
        for d in range(len(edge)):
            alive[d] = alive[d] and edge[d] > 0.0 and edge[d] >= edge_thresholds[m]
        finer = forest_places(forest, levels[m + 1].sizes)
        is_open = open_subcategories(forest, place, e, f, z, thresholds[m], levels[m + 1], ups[m + 1], finer)
        place = finer
        for s in range(n):
            scale[s] *= np.exp(-np.log(z) / n)
    return Pass(place, is_open, alive, e, f, item, edge, z, scale)
