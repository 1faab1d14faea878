"""From posteriors of a forest's items and edges to those of what trees show: labelled constituents, tops of chains, tags.

g(s, t, X) is the probability that some node X has the span: a low phrase is a node; a high one is a node of its own only where a
unary rule made it, with the nodes that belong in the middle of the rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.grammar.latent.symbols import BaseGrammar
from treegauge.parsing.jit import Bools, Floats, Ints, kernel
from treegauge.parsing.labels import SpanLabels
from treegauge.parsing.latent.base_chart import UNARY, PackedForest
from treegauge.parsing.latent.rule_tables import Labels

__all__ = ["Shown", "best_forest_tree", "shown_posteriors", "shown_span_labels"]


class Shown(NamedTuple):
    """Posteriors by what shows: ``label[s, t, X]`` of constituents, ``top[s, t, X]`` of those with no other node above them over
    the span, ``tag[s, T]`` of tags, ``both[s, T]`` of tags right below a phrase of the same name."""

    label: Floats
    top: Floats
    tag: Floats
    both: Floats


@kernel
def shown_posteriors(n: int, forest: PackedForest, labels: Labels, item: Floats, edge: Floats) -> Shown:
    """Add up the posteriors of items and edges by what they show."""
    made = Shown(
        np.zeros((n, n + 1, labels.n_labels)), np.zeros((n, n + 1, labels.n_labels)), np.zeros((n, labels.n_tags)),
        np.zeros((n, labels.n_tags)),
    )  # fmt: skip
    for v in range(len(forest.symbol)):
        s, t, A = forest.start[v], forest.end[v], forest.symbol[v]
        if labels.tag[A] >= 0:
            made.tag[s, labels.tag[A]] += item[v]
        X = labels.label[A]
        if X < 0:
            continue
        if not forest.high[v]:
            made.label[s, t, X] += item[v]
            for d in range(forest.first[v], forest.first[v + 1] if t == s + 1 else forest.first[v]):
                T = labels.tag[forest.symbol[forest.left[d]]] if edge[d] > 0.0 else -1
                if T >= 0 and labels.same[T] == X:
                    made.both[s, T] += edge[d]
            continue
        made.top[s, t, X] += item[v]
        for d in range(forest.first[v], forest.first[v + 1]):
            if forest.kind[d] == UNARY and edge[d] > 0.0:
                made.label[s, t, X] += edge[d]
                u = forest.rule[d]
                for i in range(labels.middle_first[u], labels.middle_first[u + 1]):
                    made.label[s, t, labels.middle[i]] += edge[d]
    return made


def shown_span_labels(n: int, base: BaseGrammar, shown: Shown) -> SpanLabels:
    """The posteriors of constituents, tags among them, in the columns that all objectives read.

    A label that is both a phrase's and a tag's counts once over a word.
    """
    tags = [(T, name) for T, name in enumerate(base.tags) if name]
    names = tuple(dict.fromkeys([*base.labels, *(name for _, name in tags)]))
    number = {name: X for X, name in enumerate(names)}
    phrase, labels = np.zeros((n, n + 1, len(names))), len(base.labels)
    top = phrase.copy()
    phrase[:, :, :labels], top[:, :, :labels] = shown.label[:, :, :labels], shown.top[:, :, :labels]
    found, words = phrase.copy(), np.arange(n)
    some = shown.top.sum(axis=2)
    for T, name in tags:
        found[words, words + 1, number[name]] += shown.tag[:, T] - shown.both[:, T]
    named = np.array([T for T, _ in tags], np.int64)
    some[words, words + 1] = np.maximum(some[words, words + 1], shown.tag[:, named].sum(axis=1))
    at = np.argwhere(found > 0)
    span = at[:, 0] * (n + 1) + at[:, 1]
    entries = tuple(at.T)
    return SpanLabels(
        names,
        n,
        np.searchsorted(span, np.arange(n * (n + 1) + 1)),
        at[:, 2],
        np.minimum(found[entries], 1.0),
        np.minimum(phrase[entries], 1.0),
        top[entries],
        some,
        np.zeros((n, n + 1)),
    )


@kernel
def best_forest_tree(
    n: int, forest: PackedForest, is_tag: Bools, item_worth: Floats, edge_worth: Floats, root_worth: Floats
) -> tuple[int, float, Ints]:
    """The tree of the forest with the largest sum of the worths of its items, edges and root (-inf: not to be used): its root
    item (-1: there is none), its value, and for each item the best edge."""
    value, choice = np.full(len(forest.symbol), -np.inf), np.full(len(forest.symbol), -1, np.int64)
    for v in range(len(forest.symbol) - 1, -1, -1):
        if is_tag[forest.symbol[v]]:
            value[v] = item_worth[v]
            continue
        for d in range(forest.first[v], forest.first[v + 1]):
            if forest.kind[d] < 0 or edge_worth[d] == -np.inf:
                continue
            x = edge_worth[d] + value[forest.left[d]]
            if forest.right[d] >= 0:
                x += value[forest.right[d]]
            if x + item_worth[v] > value[v]:
                value[v] = x + item_worth[v]
                choice[v] = d
    root, best = -1, -np.inf
    for v in range(len(forest.symbol)):
        if forest.start[v] != 0 or forest.end[v] != n:
            break
        if (forest.high[v] or is_tag[forest.symbol[v]]) and value[v] + root_worth[v] > best:
            root, best = v, value[v] + root_worth[v]
    return root, best, choice
