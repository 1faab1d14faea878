"""The first pass: a chart of all spans under the base grammar, and a packed forest of the edges that are probable enough.

Letters, after Goodman 1996: n words; a span is [s, t), split at r; A -> B C is a rule; e is inside, f outside. Each span has two
layers: *low* values are those below a unary rule between phrases, *high* values (which parents use) those above it. Tags and inner
symbols have the same value in both.

Rules with the same children share x[B, C] = sum over r of e(s, r, B) e(r, t, C), which is kept for the outside pass. Tags cover
one word, so a pair with a tag needs one split instead of all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Bools, Floats, Ints, inline, kernel
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.grammar.latent.rule_rows import INNER, PHRASE, BaseGrammar

SAME, UNARY, BINARY = 0, 1, 2
"""Kinds of edges: from the high to the low layer of the same symbol, a unary rule, a binary rule."""


class BaseRules(NamedTuple):
    """The base grammar as the chart needs it. Symbols below ``phrases`` are phrases, those from there to ``tags`` inner symbols,
    and the rest tags.

    The children of pair q are ``pair_left[q]`` and ``pair_right[q]``; the parents and weights of the rules with these children are
    ``pair_rules[q]:pair_rules[q+1]`` of ``parent_by_pair`` and ``weight_by_pair``, in the order in which they are read. Pairs are
    ordered by left child, then right child; those with left child B are ``pair_first[B]:pair_first[B+1]``, and from
    ``pair_tags[B]`` on their right child is a tag. The binary rules of A are ``by_parent[parent_first[A]:parent_first[A+1]]``; its
    unary rules are found likewise by ``unary_by_parent`` and ``unary_first``.
    """

    phrases: int
    tags: int
    is_tag: Bools
    is_inner: Bools
    pair: Ints
    weight: Floats
    pair_left: Ints
    pair_right: Ints
    pair_first: Ints
    pair_tags: Ints
    parent_by_pair: Ints
    weight_by_pair: Floats
    pair_rules: Ints
    by_parent: Ints
    parent_first: Ints
    unary_parent: Ints
    unary_child: Ints
    unary_weight: Floats
    unary_by_parent: Ints
    unary_first: Ints
    root: Floats


def base_rules(base: BaseGrammar, level: Level) -> BaseRules:
    """The rules of a base grammar in the order of the chart, with the probabilities of a level without subcategories."""
    parent, left, right = base.binary.T
    is_tag = base.is_tag
    pairs, pair = np.unique(left.astype(np.int64) * base.size + right, return_inverse=True)
    pair_left, pair_right = pairs // base.size, pairs % base.size
    phrases = int((base.kind == PHRASE).sum())
    tags = phrases + int((base.kind == INNER).sum())
    by_pair = np.argsort(pair, kind="stable")
    by_parent = np.argsort(parent, kind="stable")
    unary_by_parent = np.argsort(base.unary[:, 0], kind="stable")
    symbols = np.arange(base.size + 1)
    return BaseRules(
        phrases=phrases,
        tags=tags,
        is_tag=is_tag,
        is_inner=base.is_inner,
        pair=pair.astype(np.int32),
        weight=level.binary.value.astype(np.float64),
        pair_left=pair_left.astype(np.int32),
        pair_right=pair_right.astype(np.int32),
        pair_first=np.searchsorted(pair_left, symbols).astype(np.int64),
        pair_tags=np.searchsorted(pairs, symbols[:-1] * base.size + tags).astype(np.int64),
        parent_by_pair=parent[by_pair].astype(np.int32),
        weight_by_pair=level.binary.value[by_pair].astype(np.float64),
        pair_rules=np.searchsorted(pair[by_pair], np.arange(len(pairs) + 1)).astype(np.int64),
        by_parent=by_parent.astype(np.int32),
        parent_first=np.searchsorted(parent[by_parent], symbols).astype(np.int64),
        unary_parent=base.unary[:, 0].astype(np.int32),
        unary_child=base.unary[:, 1].astype(np.int32),
        unary_weight=level.unary.value.astype(np.float64),
        unary_by_parent=unary_by_parent.astype(np.int32),
        unary_first=np.searchsorted(base.unary[unary_by_parent, 0], symbols).astype(np.int64),
        root=level.root.astype(np.float64),
    )


class PackedForest(NamedTuple):
    """A forest as arrays, items from the top down. Item v is ``symbol[v]`` over [``start[v]``, ``end[v]``), in the high layer if
    ``high[v]``; its edges are ``first[v]:first[v+1]``. Edge d has a kind, a rule, and one or two child items (``right`` is -1 for
    one)."""

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
    """Fill in both layers of e, and x of all spans unless ``pairs`` has room for one only; ``word[s, X]`` is the scaled
    P(word s | X)."""
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
                            lo[rules.parent_by_pair[i]] += rules.weight_by_pair[i] * x[q]
            for X in range(len(lo)):
                hi[X] = lo[X]
            for u in range(len(rules.unary_parent)):
                if rules.unary_child[u] < rules.tags:
                    hi[rules.unary_parent[u]] += rules.unary_weight[u] * lo[rules.unary_child[u]]


@inline
def inside_of_word(word: Floats, rules: BaseRules, lo: Floats) -> None:
    """Fill in the low layer over one word: its tags, and phrases directly above them."""
    for X in range(rules.tags, len(word)):
        lo[X] = word[X]
    for u in range(len(rules.unary_parent)):
        if rules.unary_child[u] >= rules.tags:
            lo[rules.unary_parent[u]] += rules.unary_weight[u] * word[rules.unary_child[u]]


@inline
def tag_pairs(s: int, t: int, rules: BaseRules, high: Floats, x: Floats) -> None:
    """Fill in x of the pairs with a tag: a tag on the left covers the first word only, one on the right the last word only."""
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
    """Fill in x of the pairs of a phrase with a phrase or inner symbol: a sum of outer products over splits."""
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


class ForestBuilder(NamedTuple):
    """A forest under construction: the arrays, the number of each item (by span, symbol and layer), the split of each edge, the
    current numbers of items and edges (``count``), and the capacity of the arrays (``room``)."""

    forest: PackedForest
    item: Ints
    split: Ints
    count: Ints
    room: int


@kernel
def base_forest(
    n: int, rules: BaseRules, high: Floats, low: Floats, pairs: Floats, threshold: float, room: int
) -> tuple[bool, PackedForest]:
    """The forest of the edges whose posterior is at least the threshold (0: all), and ``True``; or ``False`` if there are more than
    ``room``."""
    S = len(rules.is_tag)
    f_high, f_low = np.zeros((n, n + 1, S)), np.zeros((n, n + 1, S))
    forest = PackedForest(
        np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.bool_),
        np.empty(room + 1, np.int32), np.empty(room, np.int8), np.empty(room, np.int32), np.empty(room, np.int32),
        np.empty(room, np.int32),
    )  # fmt: skip
    made = ForestBuilder(forest, np.full((n, n + 1, S, 2), -1, np.int32), np.empty(room, np.int32), np.zeros(2, np.int64), room)
    z = 0.0
    for X in range(S):
        f_high[0, n, X] = rules.root[X]
        z += rules.root[X] * high[0, n, X]
    least = threshold * z
    # The most edges that a span can add before the remaining room is checked again.
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
    link_edges(made, rules)
    return True, trim_forest(forest, made.count[0], made.count[1])


@inline
def high_layer(
    s: int, t: int, rules: BaseRules, high: Floats, low: Floats, f_high: Floats, f_low: Floats, least: float, made: ForestBuilder
) -> None:
    """Add the high phrases over a span with their edges to the low layer; tags and inner symbols only pass their outside value
    on."""
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
def word_layer(s: int, rules: BaseRules, low: Floats, f_low: Floats, least: float, made: ForestBuilder) -> None:
    """Add the low phrases over one word with their unary rules to tags, then the tags."""
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
    made: ForestBuilder,
) -> bool:
    """Add the low phrases and inner symbols over several words with their binary rules and splits; ``False`` if there is no
    room."""
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
def add_item(made: ForestBuilder, s: int, t: int, A: int, is_high: bool) -> None:
    forest, v = made.forest, made.count[0]
    made.item[s, t, A, 1 if is_high else 0] = v
    forest.start[v], forest.end[v], forest.symbol[v], forest.high[v] = s, t, A, is_high
    forest.first[v] = made.count[1]
    made.count[0] = v + 1


@inline
def add_edge(made: ForestBuilder, kind: int, rule: int, split: int, B: int, C: int) -> None:
    """Add an edge with the symbols of its children, which :func:`link_edges` replaces by items."""
    forest, d = made.forest, made.count[1]
    forest.kind[d], forest.rule[d], forest.left[d], forest.right[d] = kind, rule, B, C
    made.split[d] = split
    made.count[1] = d + 1


@inline
def link_edges(made: ForestBuilder, rules: BaseRules) -> None:
    """Replace the symbols of children by their items; an edge to a pruned item gets kind -1."""
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
def trim_forest(made: PackedForest, n_items: int, n_edges: int) -> PackedForest:
    """The forest without unused room."""
    return PackedForest(
        made.start[:n_items].copy(), made.end[:n_items].copy(), made.symbol[:n_items].copy(), made.high[:n_items].copy(),
        made.first[: n_items + 1].copy(), made.kind[:n_edges].copy(), made.rule[:n_edges].copy(), made.left[:n_edges].copy(),
        made.right[:n_edges].copy(),
    )  # fmt: skip
