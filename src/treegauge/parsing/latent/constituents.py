"""Posteriors of the constituents and tags that appear in trees, from those of a forest's items and edges.

g(s, t, X) is the probability that some node with label X has the span. A low phrase is a node; a high phrase is a further node only
if a unary rule leads to the low one, and the labels in the middle of the rule's chain are nodes too.

A chain in which a label occurs twice has that constituent once. The ends of a chain of phrases differ, and labels in its middle
that are those of an end are left out, so the posteriors of phrases add up; a tag with the name of a phrase above it over the same
word is subtracted (:class:`ConstituentPosteriors`, ``both``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Floats, Ints, kernel
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.grammar.latent.rule_rows import PHRASE, BaseGrammar, offsets
from treegauge.parsing.latent.base_chart import UNARY, PackedForest
from treegauge.parsing.latent.passes import Pass
from treegauge.parsing.posterior_view import SpanLabels


class SymbolLabels(NamedTuple):
    """The number of the label or tag that each symbol has in trees (-1: none). The labels in the middle of unary rule u are
    ``middle[middle_first[u]:middle_first[u+1]]``; ``same[T]`` is the label with the same name as tag T (-1: none). ``n_labels`` is
    at least 1."""

    label: Ints
    tag: Ints
    middle_first: Ints
    middle: Ints
    same: Ints
    n_labels: int
    n_tags: int


def symbol_labels(base: BaseGrammar) -> SymbolLabels:
    """The labels and tags of a base grammar's symbols."""
    label = {name: i for i, name in enumerate(base.labels)}
    tag = {name: i for i, name in enumerate(base.tags)}
    middles = [[label[name] for name in _between(base, int(A), int(B))] for A, B in base.unary]
    return SymbolLabels(
        np.array([label[n] if k == PHRASE else -1 for n, k in zip(base.names, base.kind.tolist(), strict=True)], np.int32),
        np.array([tag[n] if t else -1 for n, t in zip(base.names, base.is_tag.tolist(), strict=True)], np.int32),
        offsets(np.array([len(middle) for middle in middles], np.int64)),
        np.array([x for middle in middles for x in middle], np.int32),
        np.array([label.get(name, -1) for name in base.tags], np.int32),
        max(1, len(label)),
        len(tag),
    )


def _between(base: BaseGrammar, A: int, B: int) -> list[str]:
    """The distinct labels in the middle of a chain, without those of its ends, which are the same constituents."""
    return [name for name in dict.fromkeys(base.middles.get((A, B), ())) if name not in (base.names[A], base.names[B])]


def repeated_names(base: BaseGrammar) -> dict[int, frozenset[int]]:
    """For each unary rule between phrases the rules from its child to tags with the name of a phrase above that child.

    Tags with the name of the child itself are not included.
    """
    made: dict[int, frozenset[int]] = {}
    unary: list[list[int]] = base.unary.tolist()
    to_tags = [(u, A, base.names[T]) for u, (A, T) in enumerate(unary) if base.is_tag[T]]
    for u, (A, B) in enumerate(unary):
        if not base.is_tag[B]:
            above = {base.names[A], *_between(base, A, B)}
            rules = frozenset(other for other, child, name in to_tags if child == B and name in above)
            made |= {u: rules} if rules else {}
    return made


class ConstituentPosteriors(NamedTuple):
    """Posteriors of the nodes of trees: ``label[s, t, X]`` of constituents, ``top[s, t, X]`` of constituents at the top of the
    chain over their span, ``tag[s, T]`` of tags, ``covered[s, T]`` of tags with a phrase above them over the word, ``both[s, T]``
    of tags with a phrase of the same name there."""

    label: Floats
    top: Floats
    tag: Floats
    covered: Floats
    both: Floats


@kernel
def constituent_posteriors(n: int, forest: PackedForest, labels: SymbolLabels, item: Floats, edge: Floats) -> ConstituentPosteriors:
    """Sum the posteriors of items and edges by the constituents and tags that they have in trees.

    ``both`` has only tags directly below the phrase; :func:`tags_below_chains` gives the others.
    """
    made = ConstituentPosteriors(
        np.zeros((n, n + 1, labels.n_labels)), np.zeros((n, n + 1, labels.n_labels)), np.zeros((n, labels.n_tags)),
        np.zeros((n, labels.n_tags)), np.zeros((n, labels.n_tags)),
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
                if T >= 0:
                    made.covered[s, T] += edge[d]
                    if labels.same[T] == X:
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


def tags_below_chains(
    n: int, forest: PackedForest, labels: SymbolLabels, repeated: Mapping[int, frozenset[int]], level: Level, found: Pass
) -> NDArray[np.float64]:
    """The posteriors, under one grammar, of tags below a chain of phrases in which an upper phrase, but not the lowest, has the
    tag's name, an (n, tags) array. ``repeated`` is that of :func:`repeated_names`.

    The rule between the phrases and the rule to the tag both depend on the subcategory of the lowest phrase, so their joint
    posterior is a sum over it: f of the top, both rules, and e of the tag.
    """
    total, place = np.zeros((n, labels.n_tags)), found.place
    for v in np.flatnonzero(forest.high & (forest.end - forest.start == 1)).tolist():
        f = found.outside[place[v] : place[v + 1]]
        for d in _unary_edges(forest, found, v):
            rules_to_tags, b = repeated.get(int(forest.rule[d]), frozenset[int]()), int(forest.left[d])
            for below in _unary_edges(forest, found, b) if rules_to_tags else ():
                if int(forest.rule[below]) in rules_to_tags:
                    x = int(forest.left[below])
                    e, is_open = found.inside[place[x] : place[x + 1]], found.is_open[place[b] : place[b + 1]]
                    up = _unary_matrix(level, int(forest.rule[d]), (len(f), len(is_open)))
                    down = _unary_matrix(level, int(forest.rule[below]), (len(is_open), len(e)))
                    joint = float(np.where(is_open, f @ up, 0.0) @ (down @ e))
                    total[forest.start[v], labels.tag[forest.symbol[x]]] += joint / found.total
    return total


def _unary_edges(forest: PackedForest, found: Pass, v: int) -> list[int]:
    """The edges of an item with unary rules that pruning has left."""
    edges = range(int(forest.first[v]), int(forest.first[v + 1]))
    return [d for d in edges if forest.kind[d] == UNARY and found.alive[d]]


def _unary_matrix(level: Level, rule: int, shape: tuple[int, int]) -> NDArray[np.float64]:
    """The weights of A_i -> B_j by i and j; those of dropped rows are 0."""
    rows, matrix = level.unary, np.zeros(shape)
    for q in range(int(rows.first[rule]), int(rows.first[rule + 1])):
        matrix[:, rows.left[q]] = rows.value[rows.offset[q] : rows.offset[q + 1]]
    return matrix


def span_labels_of(n: int, base: BaseGrammar, shown: ConstituentPosteriors, inner: NDArray[np.float64]) -> SpanLabels:
    """The posteriors of constituents and tags as the objectives read them; ``inner`` has those of inner symbols, by span.

    A label that is both a phrase's and a tag's counts once over a word.
    """
    tags = [(T, name) for T, name in enumerate(base.tags) if name]
    names = tuple(dict.fromkeys([*base.labels, *(name for _, name in tags)]))
    number, size = {name: X for X, name in enumerate(names)}, max(1, len(names))
    named, words = np.array([T for T, _ in tags], np.int64), np.arange(n)
    label_of_tag = np.array([number[name] for _, name in tags], np.int64)
    tag = (shown.tag - shown.both)[:, named]
    s, t, X = np.nonzero(shown.label)
    i, T = np.nonzero(tag > 0)
    keys = np.concatenate([(s * (n + 1) + t) * size + X, (i * (n + 1) + i + 1) * size + label_of_tag[T]])
    keys, row = np.unique(keys, return_inverse=True)

    def by_label(of_phrases: NDArray[np.float64], of_tags: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(row, np.concatenate([of_phrases, of_tags]), len(keys)).astype(np.float64)

    phrase, none = shown.label[s, t, X], np.zeros(len(i))
    some = shown.top.sum(axis=2)
    some[words, words + 1] += (shown.tag - shown.covered)[:, named].sum(axis=1)
    return SpanLabels(
        names,
        n,
        np.searchsorted(keys, np.arange(n * (n + 1) + 1) * size),
        keys % size,
        np.minimum(by_label(phrase, tag[i, T]), 1.0),  # rounding can take a sum above 1
        np.minimum(by_label(phrase, none), 1.0),
        by_label(shown.top[s, t, X], none),
        some,
        inner,
    )
