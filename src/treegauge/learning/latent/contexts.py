"""First subcategories by where nodes stand in trees, instead of by chance.

A phrase or a tag under one parent is often not used as under another (Johnson 1998), and what follows in a long phrase depends on
what came before. Grammars that begin with other distinctions make other mistakes, so their mean is better than that of
grammars that differ by the seed of their splits only. The base grammar stays the same, and so does the parser's first pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.grammar.latent.grammar import Counts
from treegauge.grammar.latent.rows import Rows, added, offsets, rows_of
from treegauge.grammar.latent.symbols import INNER, PHRASE, TAG, Int32, Int64
from treegauge.learning.latent.treebank import BINARY, LEXICAL, UNARY, Nodes, TreebankArrays

__all__ = ["CONTEXTS", "context_counts", "node_contexts"]

CONTEXTS = {"phrases": PHRASE, "tags": TAG, "inner": INNER}
"""The symbols that can begin with subcategories by context: phrases and tags by the phrase above them, inner symbols by the
sibling to their left."""
MOST = {"phrases": 3, "tags": 8, "inner": 3}
"""So many contexts have a subcategory of their own; one more is for all others."""


def context_counts(arrays: TreebankArrays, which: tuple[str, ...], precision: Any = np.float32) -> Counts | None:
    """The counts of a treebank whose symbols have a subcategory for each frequent context; ``None`` if no context is frequent."""
    unknown = [name for name in which if name not in CONTEXTS]
    if unknown:
        raise UsageError(f"no such context: {unknown[0]}; there are {', '.join(CONTEXTS)}")
    base, nodes = arrays.base, arrays.nodes
    context = node_contexts(arrays)
    subcategory, sizes = np.zeros(len(nodes.kind), np.int64), np.ones(base.size, np.int64)
    least = min(200, max(20, nodes.n_trees // 50))
    most = {CONTEXTS[name]: MOST[name] for name in which}
    for symbol in np.flatnonzero(np.isin(base.kind, list(most))).tolist():
        own = np.flatnonzero(nodes.symbol == symbol)
        subcategory[own] = _classes(context[own], least, most[int(base.kind[symbol])])
        sizes[symbol] = int(subcategory[own].max(initial=0)) + 1
    return None if sizes.max() == 1 else _counts(arrays, subcategory, sizes, precision)


def node_contexts(arrays: TreebankArrays) -> Int64:
    """For each node the symbol of the phrase above it (-1: none); for an inner one that of the sibling to its left."""
    base, nodes = arrays.base, arrays.nodes
    parent, own_tree = np.full(len(nodes.kind), -1, np.int64), _first_nodes(nodes)
    for child in (nodes.left, nodes.right):
        above = np.flatnonzero(child >= 0)
        parent[own_tree[above] + child[above]] = above
    kind, phrase = base.kind[nodes.symbol], parent.copy()
    while (inside := (phrase >= 0) & (kind[phrase] == INNER)).any():
        phrase[inside] = parent[phrase[inside]]
    context = np.where(phrase >= 0, nodes.symbol[phrase], -1).astype(np.int64)
    inner = np.flatnonzero(kind == INNER)
    context[inner] = nodes.symbol[own_tree[inner] + nodes.left[parent[inner]]]
    return context


def _first_nodes(nodes: Nodes) -> Int64:
    """For each node the first one of its tree."""
    return np.repeat(nodes.start[:-1], np.diff(nodes.start))


def _classes(context: Int64, least: int, most: int) -> Int64:
    """The classes of contexts: the frequent ones by themselves, the others together."""
    found, number, count = np.unique(context, return_inverse=True, return_counts=True)
    order = np.argsort(-count, kind="stable")
    frequent = [int(i) for i in order if count[i] >= least][:most]
    new = np.zeros(len(found), np.int64)
    new[frequent] = np.arange(len(frequent)) + (len(frequent) < len(found))
    return new[number]


def _counts(arrays: TreebankArrays, subcategory: Int64, sizes: Int64, precision: Any) -> Counts:
    """The counts of trees whose nodes have these subcategories."""
    base, nodes = arrays.base, arrays.nodes
    own_tree = _first_nodes(nodes)

    def rows(kind: int, rules: Int32) -> Rows:
        own = np.flatnonzero(nodes.kind == kind)
        left = subcategory[own_tree[own] + nodes.left[own]]
        right = subcategory[own_tree[own] + nodes.right[own]] if kind == BINARY else np.zeros(len(own), np.int64)
        made, place = rows_of(rules, nodes.rule[own].astype(np.int64), left, right, sizes)
        value = added(made.offset[place] + subcategory[own], np.ones(len(own)), int(made.offset[-1]))
        return made._replace(value=value.astype(precision))

    def summed(place: NDArray[Any], size: int) -> NDArray[np.float64]:
        return added(place, np.ones(len(place)), size)

    tops, words = nodes.start[1:] - 1, np.flatnonzero(nodes.kind == LEXICAL)
    pairs = arrays.table.pair_offsets(sizes)
    return Counts(
        sizes,
        rows(BINARY, base.binary),
        rows(UNARY, base.unary),
        summed(offsets(sizes)[nodes.symbol[tops]] + subcategory[tops], int(sizes.sum())),
        summed(pairs[nodes.rule[words]] + subcategory[words], int(pairs[-1])),
    )
