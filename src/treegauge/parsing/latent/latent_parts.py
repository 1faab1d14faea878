"""The parts of a trained model's parses: the posteriors of the constituents and tags that appear in trees, from those of a forest's
items and edges; and the best parse, by the parts that count or by the product of its rules' posteriors.

g(s, t, X) is the probability that some node with label X has the span. A low phrase is a node; a high phrase is a further node only
if a unary rule leads to the low one, and the labels in the middle of the rule's chain are nodes too.

A chain in which a label occurs twice has that constituent once. The ends of a chain of phrases differ, and labels in its middle
that are those of an end are left out, so the posteriors of phrases add up; a tag with the name of a phrase above it over the same
word is subtracted (:class:`ConstituentPosteriors`, ``both``).

Finding the likeliest tree of a grammar with subcategories is NP-hard (Sima'an 1996), so parses are chosen by the posteriors of
their parts, in which the subcategories are summed out.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Bools, Floats, Ints, kernel
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.grammar.latent.rule_rows import PHRASE, BaseGrammar, Int64, offsets
from treegauge.parsing.latent.base_chart import BINARY, SAME, UNARY, PackedForest
from treegauge.parsing.latent.latent_derivations import derivation_of
from treegauge.parsing.latent.passes import Pass
from treegauge.parsing.posterior_view import WORD, Best, CountedParts, Float64, ProductionChild, SpanLabels

if TYPE_CHECKING:
    from treegauge.parsing.latent.latent_forest import LatentForest


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
    number = {name: X for X, name in enumerate(names)}
    named, words = np.array([T for T, _ in tags], np.int64), np.arange(n)
    label_of_tag = np.array([number[name] for _, name in tags], np.int64)
    tag = (shown.tag - shown.both)[:, named]
    s, t, X = np.nonzero(shown.label)
    i, T = np.nonzero(tag > 0)
    span, label = np.concatenate([s * (n + 1) + t, i * (n + 1) + i + 1]), np.concatenate([X, label_of_tag[T]])
    of_phrase, of_top = (np.concatenate([shares[s, t, X], np.zeros(len(i))]) for shares in (shown.label, shown.top))
    some = shown.top.sum(axis=2)
    some[words, words + 1] += (shown.tag - shown.covered)[:, named].sum(axis=1)
    of_any = np.concatenate([shown.label[s, t, X], tag[i, T]])
    made = SpanLabels.of_rows(names, n, span, label, (of_any, of_phrase, of_top), some, inner)
    return replace(made, any=np.minimum(made.any, 1.0), phrase=np.minimum(made.phrase, 1.0))  # rounding can take a sum above 1


_TIE = 1e-9
"""The weight of tags' posteriors where tags do not count: likelier tags decide between trees that are otherwise equal."""


class RuleParts(NamedTuple):
    """The numbers of the parts of unary and binary rules, those of rule r at ``first[r]:first[r+1]``, and of tags over words (-1:
    none); there are ``size`` parts."""

    unary_first: Int64
    unary: Int64
    binary_first: Int64
    binary: Int64
    tag: Int64
    size: int


def rule_parts(base: BaseGrammar, counted: CountedParts) -> RuleParts:
    """The parts of a base grammar's rules. An inner symbol counts as a label of its own; a unary rule stands for all productions of
    its chain."""
    ids: dict[Hashable, int] = {}

    def child(X: int) -> ProductionChild:
        name: Hashable = (base.title(X),) if base.is_inner[X] else base.names[X]
        return (name, False) if name else WORD

    def numbers(*symbols: tuple[Hashable, Sequence[ProductionChild]]) -> list[int]:
        parts = (part for parent, children in symbols for part in counted.productions(parent, children))
        return [ids.setdefault(part, len(ids)) for part in parts]

    unary = [
        numbers(
            *(
                (upper[0], [lower])
                for upper, lower in pairwise([child(A), *((m, False) for m in base.middles.get((A, B), ())), child(B)])
            )
        )
        for A, B in base.unary.tolist()
    ]
    binary = [numbers((child(A)[0], [child(B), child(C)])) for A, B, C in base.binary.tolist()]
    tag = [
        numbers((name, [WORD])) if is_tag and name else [] for name, is_tag in zip(base.names, base.is_tag.tolist(), strict=True)
    ]
    return RuleParts(
        offsets(np.array([len(own) for own in unary], np.int64)),
        np.array([part for own in unary for part in own], np.int64),
        offsets(np.array([len(own) for own in binary], np.int64)),
        np.array([part for own in binary for part in own], np.int64),
        np.array([(*own, -1)[0] for own in tag], np.int64),
        len(ids),
    )


def best_parse(forest: LatentForest, counted: CountedParts) -> Best:
    """The parse whose parts have the largest sum of posteriors."""
    derived, key = forest.model.derived, ("parts", *counted.key)
    if key not in derived:
        derived[key] = rule_parts(forest.model.base, counted)
    items, edges = _production_worths(forest, derived[key])
    packed = forest.packed_forest
    tag = forest.tables.labels.tag[packed.symbol]
    of_tags = np.where(tag >= 0, forest.posteriors.tag[packed.start, np.maximum(tag, 0)], 0.0)
    items += (1.0 if counted.nodes and counted.preterminals else _TIE) * of_tags
    if counted.nodes:
        of_items, of_edges = _node_worths(forest, counted.lam)
        items, edges = items + of_items, edges + of_edges
    return _best_by_worth(forest, items, np.where(forest.edge_posterior > 0, edges, -np.inf))


def _node_worths(forest: LatentForest, lam: float) -> tuple[Float64, Float64]:
    """The worths of items and of edges by their labels as nodes: each label of a span but the first, and each phrase over one word,
    costs ``lam``."""
    packed, tables = forest.packed_forest, forest.tables
    label = tables.labels.label[packed.symbol]
    g = np.where(label >= 0, forest.posteriors.label[packed.start, packed.end, np.maximum(label, 0)], 0.0)
    items = np.where(packed.high | (label < 0), 0.0, g - np.where(packed.end - packed.start == 1, lam, 0.0))
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    added = np.where(label >= 0, g - lam, 0.0)[owner] + _middle_worth(forest, owner, lam)
    return items, np.where((packed.kind == UNARY) & packed.high[owner], added, 0.0)


def _production_worths(forest: LatentForest, parts: RuleParts) -> tuple[Float64, Float64]:
    """The worths of items (tags over words) and of edges as productions: for each of their parts the posterior of all over the
    same span that count as it."""
    packed = forest.packed_forest
    items, edges = np.zeros(len(packed.symbol)), np.zeros(len(packed.kind))
    if not parts.size:
        return items, edges
    owner = np.repeat(np.arange(len(packed.symbol)), np.diff(packed.first))
    span = packed.start.astype(np.int64) * (forest.n + 1) + packed.end
    leaf = np.flatnonzero(parts.tag[packed.symbol] >= 0)
    rows = [(leaf, span[leaf], parts.tag[packed.symbol[leaf]], forest.item_posterior[leaf])]
    for kind, first, part in ((UNARY, parts.unary_first, parts.unary), (BINARY, parts.binary_first, parts.binary)):
        own = np.flatnonzero(packed.kind == kind)
        rule = packed.rule[own]
        size = first[rule + 1] - first[rule]
        edge = np.repeat(own, size)
        at = np.arange(len(edge)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(first[rule], size)
        rows.append((edge, span[owner[edge]], part[at], forest.edge_posterior[edge]))
    where, spans, numbers, posterior = (np.concatenate(column) for column in zip(*rows, strict=True))
    _, key = np.unique(spans * parts.size + numbers, return_inverse=True)
    worth = np.bincount(key, posterior)[key] if len(key) else np.zeros(0)
    items[leaf] = worth[: len(leaf)]
    return items, edges + np.bincount(where[len(leaf) :], worth[len(leaf) :], len(edges))


def best_product(forest: LatentForest) -> Best:
    """The parse whose rules have the largest product of posteriors, over all grammars; its score is the logarithm of that."""
    packed, is_tag = forest.packed_forest, forest.tables.rules.is_tag
    with np.errstate(divide="ignore"):
        edges = np.sum(
            [
                np.where(packed.kind == SAME, np.where(each.edge > 0, 0.0, -np.inf), np.log(each.edge))
                for _, each in forest.grammar_passes
            ],
            axis=0,
        )
        items = np.sum([np.where(is_tag[packed.symbol], np.log(each.item), 0.0) for _, each in forest.grammar_passes], axis=0)
        roots = np.sum([np.log(_root_posterior(forest, each.item, each.edge)) for _, each in forest.grammar_passes], axis=0)
    return _best_by_worth(forest, items, edges, roots)


def _middle_worth(forest: LatentForest, owner: NDArray[np.int64], lam: float) -> Float64:
    """For each edge, the sum of g - lam over the labels in the middle of its chain."""
    packed, labels = forest.packed_forest, forest.tables.labels
    worth = np.zeros(len(packed.kind))
    for d in np.flatnonzero(packed.kind == UNARY).tolist():
        u, v = int(packed.rule[d]), int(owner[d])
        if packed.high[v]:
            for X in labels.middle[labels.middle_first[u] : labels.middle_first[u + 1]].tolist():
                worth[d] += float(forest.posteriors.label[packed.start[v], packed.end[v], X]) - lam
    return worth


def _best_by_worth(forest: LatentForest, items: Float64, edges: Float64, roots: Float64 | None = None) -> Best:
    """The tree of the forest with the largest sum of these values of its items, edges and root."""
    packed = forest.packed_forest
    if roots is None:
        roots = np.where(forest.tables.rules.root[packed.symbol] > 0, 0.0, -np.inf)
    root, value, choice = best_forest_tree(forest.n, packed, forest.tables.rules.is_tag, items, edges, roots)
    if root < 0:
        return Best(forest.best().tree, -math.inf)
    return Best(forest.tree(derivation_of(packed, root, choice)), float(value))


@kernel
def best_forest_tree(
    n: int, forest: PackedForest, is_tag: Bools, item_worth: Floats, edge_worth: Floats, root_worth: Floats
) -> tuple[int, float, Ints]:
    """The tree of the forest with the largest sum of the values of its items, edges and root (-inf: excluded): its root item (-1:
    there is none), its value, and the best edge of each item."""
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


def _root_posterior(forest: LatentForest, item: Float64, edge: Float64) -> Float64:
    """The probability that an item is the root: its posterior minus that of the edges that lead to it."""
    packed = forest.packed_forest
    if forest.n > 1:
        return np.where((packed.start == 0) & (packed.end == forest.n) & packed.high, item, 1.0)
    below = np.bincount(packed.left[packed.kind >= 0], edge[packed.kind >= 0], len(item))
    return np.maximum(item - below, 0.0)
