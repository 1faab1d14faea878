"""The first pass: all spans of a sentence under the base grammar, and what is worth looking at again as a packed forest.

Letters, after Goodman 1996: n words; a span is [s, t), split at r; A -> B C a rule; e inside, f outside. Each span has two layers:
*low* values are before a unary rule between phrases, *high* ones (what a parent sees) after it. Tags and inner symbols have one.

Rules with the same children share x[B, C] = sum over r of e(s, r, B) e(r, t, C), which is kept for the way down. Tags stand over
one word only, so pairs with a tag in them need one split and not all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.parsing.jit import Bools, Floats, Ints, inline, kernel

__all__ = ["BINARY", "SAME", "UNARY", "BaseRules", "PackedForest", "base_forest", "base_inside"]

SAME, UNARY, BINARY = 0, 1, 2
"""Kinds of edges: the low layer of the same symbol; a unary rule; a binary rule."""


class BaseRules(NamedTuple):
    """The base grammar for the chart. Symbols below ``phrases`` are phrases, from there to ``tags`` inner symbols, then tags.

    Pair q is (``pair_left[q]``, ``pair_right[q]``), and the rules with these children
    ``by_pair[pair_rules[q]:pair_rules[q+1]]``. Pairs are ordered by left child, then right child; those of left child B are
    ``pair_first[B]:pair_first[B+1]``, of them those whose right child is a tag come from ``pair_tags[B]`` on. The binary rules
    of A are ``by_parent[parent_first[A]:parent_first[A+1]]``, its unary rules likewise.
    """

    phrases: int
    tags: int
    is_tag: Bools
    is_inner: Bools
    parent: Ints
    pair: Ints
    weight: Floats
    pair_left: Ints
    pair_right: Ints
    pair_first: Ints
    pair_tags: Ints
    by_pair: Ints
    pair_rules: Ints
    by_parent: Ints
    parent_first: Ints
    unary_parent: Ints
    unary_child: Ints
    unary_weight: Floats
    unary_by_parent: Ints
    unary_first: Ints
    root: Floats


class PackedForest(NamedTuple):
    """Items from the top down. Item v is symbol ``symbol[v]`` over [``start[v]``, ``end[v]``), ``high[v]`` says in which layer; its
    edges are ``first[v]:first[v+1]``. Edge d is of a kind, has a rule and one or two items below (``right`` -1: one)."""

    start: Ints
    end: Ints
    symbol: Ints
    high: Bools
    first: Ints
    kind: Ints
    rule: Ints
    left: Ints
    right: Ints


@kernel
def base_inside(n: int, word: Floats, rules: BaseRules, high: Floats, low: Floats, pairs: Floats) -> None:
    """Fill in both layers of e, and x of all spans, if there is room for more than one; ``word[s, X]`` is P(word s | X), scaled."""
    block = np.empty((rules.phrases, rules.tags))
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            lo, hi = low[s, t], high[s, t]
            lo[:] = 0.0
            if d == 1:
                inside_of_word(word[s], rules, lo)
            else:
                x = pairs[t * (t - 1) // 2 + s if len(pairs) > 1 else 0]
                x[:] = 0.0
                tag_pairs(s, t, rules, high, x)
                phrase_pairs(s, t, rules, high, block, x)
                for q in range(len(x)):
                    if x[q] > 0.0:
                        for i in range(rules.pair_rules[q], rules.pair_rules[q + 1]):
                            k = rules.by_pair[i]
                            lo[rules.parent[k]] += rules.weight[k] * x[q]
            for X in range(len(lo)):
                hi[X] = lo[X]
            for u in range(len(rules.unary_parent)):
                if rules.unary_child[u] < rules.tags:
                    hi[rules.unary_parent[u]] += rules.unary_weight[u] * lo[rules.unary_child[u]]


@inline
def inside_of_word(word: Floats, rules: BaseRules, lo: Floats) -> None:
    """The low layer over one word: its tags, and phrases right above them."""
    for X in range(rules.tags, len(word)):
        lo[X] = word[X]
    for u in range(len(rules.unary_parent)):
        if rules.unary_child[u] >= rules.tags:
            lo[rules.unary_parent[u]] += rules.unary_weight[u] * word[rules.unary_child[u]]


@inline
def tag_pairs(s: int, t: int, rules: BaseRules, high: Floats, x: Floats) -> None:
    """x of the pairs with a tag: to the left only over the first word, to the right only over the last."""
    left, right = high[s, s + 1], high[s + 1, t]
    for B in range(rules.tags, len(left)):
        if left[B] > 0.0:
            last = rules.pair_first[B + 1] if t == s + 2 else rules.pair_tags[B]
            for q in range(rules.pair_first[B], last):
                x[q] = left[B] * right[rules.pair_right[q]]
    left, right = high[s, t - 1], high[t - 1, t]
    for X in range(rules.phrases):
        if left[X] > 0.0:
            for q in range(rules.pair_tags[X], rules.pair_first[X + 1]):
                x[q] = left[X] * right[rules.pair_right[q]]


@inline
def phrase_pairs(s: int, t: int, rules: BaseRules, high: Floats, block: Floats, x: Floats) -> None:
    """x of the pairs of a phrase and a phrase or inner symbol: a sum over splits of outer products."""
    block[:] = 0.0
    for r in range(s + 1, t):
        left, right = high[s, r], high[r, t]
        for B in range(rules.phrases):
            if left[B] > 0.0:
                row = block[B]
                for C in range(rules.tags):
                    row[C] += left[B] * right[C]
    for q in range(rules.pair_first[rules.phrases]):
        if rules.pair_right[q] < rules.tags:
            x[q] = block[rules.pair_left[q], rules.pair_right[q]]


class Growing(NamedTuple):
    """A forest under construction: what is there, the number of each item (by span, symbol, layer), the split of each edge, how
    many items and edges there are, and how many there may be."""

    forest: PackedForest
    item: Ints
    split: Ints
    count: Ints
    room: int


@kernel
def base_forest(
    n: int, rules: BaseRules, high: Floats, low: Floats, pairs: Floats, threshold: float, room: int
) -> tuple[bool, PackedForest]:
    """The edges whose posterior is at least the threshold (0: all), as a forest; ``False`` if there is not ``room`` for so many."""
    S = len(rules.is_tag)
    f_high, f_low = np.zeros((n, n + 1, S)), np.zeros((n, n + 1, S))
    forest = PackedForest(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_),
        np.empty(room + 1, np.int32), np.empty(room, np.int8), np.empty(room, np.int32), np.empty(room, np.int32),
        np.empty(room, np.int32),
    )  # fmt: skip
    made = Growing(forest, np.full((n, n + 1, S, 2), -1, np.int32), np.empty(room, np.int32), np.zeros(2, np.int64), room)
    z = 0.0
    for X in range(S):
        f_high[0, n, X] = rules.root[X]
        z += rules.root[X] * high[0, n, X]
    least = threshold * z
    # So many edges a span may have before there is another look at the room that is left.
    margin = S + len(rules.unary_parent) + n + 4
    for d in range(n, 0, -1):
        for s in range(n - d + 1):
            t = s + d
            if made.count[1] + margin >= room or made.count[0] + 3 * S >= room:
                return False, forest
            high_layer(s, t, rules, high[s, t], low[s, t], f_high[s, t], f_low[s, t], least, made)
            if d == 1:
                word_layer(s, rules, low[s, t], f_low[s, t], least, made)
            elif not low_layer(s, t, rules, high, low[s, t], f_high, f_low[s, t], pairs, least, made):
                return False, forest
    forest.first[made.count[0]] = made.count[1]
    link(made, rules)
    return True, cut(forest, made.count[0], made.count[1])


@inline
def high_layer(
    s: int, t: int, rules: BaseRules, high: Floats, low: Floats, f_high: Floats, f_low: Floats, least: float, made: Growing
) -> None:
    """The high phrases over a span, with what a unary rule, or none, leads to; tags and inner symbols only pass on their
    outside."""
    for A in range(len(high)):
        if f_high[A] == 0.0 or high[A] == 0.0 or f_high[A] * high[A] < least:
            continue
        if rules.phrases <= A:
            f_low[A] += f_high[A]
            continue
        add_item(made, s, t, A, True)
        if low[A] > 0.0 and low[A] * f_high[A] >= least:
            f_low[A] += f_high[A]
            add_edge(made, SAME, -1, -1, A, -1)
        for i in range(rules.unary_first[A], rules.unary_first[A + 1]):
            u = rules.unary_by_parent[i]
            B = rules.unary_child[u]
            if rules.tags > B and low[B] > 0.0 and f_high[A] * rules.unary_weight[u] * low[B] >= least:
                f_low[B] += f_high[A] * rules.unary_weight[u]
                add_edge(made, UNARY, u, -1, B, -1)


@inline
def word_layer(s: int, rules: BaseRules, low: Floats, f_low: Floats, least: float, made: Growing) -> None:
    """The low phrases over one word, with the tags that unary rules lead to; then the tags."""
    for A in range(rules.tags):
        if f_low[A] == 0.0 or low[A] == 0.0 or f_low[A] * low[A] < least:
            continue
        add_item(made, s, s + 1, A, False)
        for i in range(rules.unary_first[A], rules.unary_first[A + 1]):
            u = rules.unary_by_parent[i]
            B = rules.unary_child[u]
            if rules.tags <= B and low[B] > 0.0 and f_low[A] * rules.unary_weight[u] * low[B] >= least:
                f_low[B] += f_low[A] * rules.unary_weight[u]
                add_edge(made, UNARY, u, -1, B, -1)
    for T in range(rules.tags, len(low)):
        if f_low[T] > 0.0 and low[T] > 0.0 and f_low[T] * low[T] >= least:
            add_item(made, s, s + 1, T, False)


@inline
def low_layer(
    s: int,
    t: int,
    rules: BaseRules,
    high: Floats,
    low: Floats,
    f_high: Floats,
    f_low: Floats,
    pairs: Floats,
    least: float,
    made: Growing,
) -> bool:
    """The low phrases and inner symbols over several words, with their binary rules and splits; ``False`` if there is no room."""
    x = pairs[t * (t - 1) // 2 + s if len(pairs) > 1 else 0]
    for A in range(rules.tags):
        if f_low[A] == 0.0 or low[A] == 0.0 or f_low[A] * low[A] < least:
            continue
        add_item(made, s, t, A, False)
        for i in range(rules.parent_first[A], rules.parent_first[A + 1]):
            k = rules.by_parent[i]
            p, g = rules.pair[k], f_low[A] * rules.weight[k]
            if len(pairs) > 1 and (x[p] == 0.0 or g * x[p] < least):
                continue
            if made.count[1] + (t - s) + 4 >= made.room:
                return False
            B, C = rules.pair_left[p], rules.pair_right[p]
            first, last = s + 1 if rules.tags > C else t - 1, t - 1 if rules.tags > B else s + 1
            for r in range(first, last + 1):
                b, c = high[s, r, B], high[r, t, C]
                if b * c > 0.0 and g * (b * c) >= least:
                    f_high[s, r, B] += g * c
                    f_high[r, t, C] += g * b
                    add_edge(made, BINARY, k, r, B, C)
    return True


@inline
def add_item(made: Growing, s: int, t: int, A: int, is_high: bool) -> None:
    forest, v = made.forest, made.count[0]
    made.item[s, t, A, 1 if is_high else 0] = v
    forest.start[v], forest.end[v], forest.symbol[v], forest.high[v] = s, t, A, is_high
    forest.first[v] = made.count[1]
    made.count[0] = v + 1


@inline
def add_edge(made: Growing, kind: int, rule: int, split: int, B: int, C: int) -> None:
    """Add an edge that knows the symbols below it; :func:`link` makes items of them."""
    forest, d = made.forest, made.count[1]
    forest.kind[d], forest.rule[d], forest.left[d], forest.right[d] = kind, rule, B, C
    made.split[d] = split
    made.count[1] = d + 1


@inline
def link(made: Growing, rules: BaseRules) -> None:
    """Let edges point to items; an edge to an item that was not worth it is of kind -1."""
    forest = made.forest
    for v in range(made.count[0]):
        s, t = forest.start[v], forest.end[v]
        for d in range(forest.first[v], forest.first[v + 1]):
            B, C = forest.left[d], forest.right[d]
            if forest.kind[d] == BINARY:
                r = made.split[d]
                forest.left[d] = made.item[s, r, B, 1 if rules.phrases > B else 0]
                forest.right[d] = made.item[r, t, C, 1 if rules.phrases > C else 0]
                if forest.right[d] < 0:
                    forest.kind[d] = -1
            else:
                forest.left[d] = made.item[s, t, B, 0]
            if forest.left[d] < 0:
                forest.kind[d] = -1


@inline
def cut(made: PackedForest, n_items: int, n_edges: int) -> PackedForest:
    """The forest without the room that was not used."""
    return PackedForest(
        made.start[:n_items].copy(), made.end[:n_items].copy(), made.symbol[:n_items].copy(), made.high[:n_items].copy(),
        made.first[: n_items + 1].copy(), made.kind[:n_edges].copy(), made.rule[:n_edges].copy(), made.left[:n_edges].copy(),
        made.right[:n_edges].copy(),
    )  # fmt: skip
