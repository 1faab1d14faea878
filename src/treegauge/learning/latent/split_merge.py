"""Rounds of training: split every subcategory in two, let EM tell the halves apart, and undo the splits that gain least.

Petrov et al. 2006, section 2: EM runs after the split; then half of the splits, those that cost least likelihood to undo, are
undone; EM runs again, at last with smoothing. A *round* is all of this once.

The first subcategories can also be chosen by context instead of a random split; they then replace the first split, and none of them
is merged. A phrase or tag under one parent is often used differently under another (Johnson 1998), and the rest of a long phrase
depends on what came before. Grammars that start with different distinctions make different mistakes, so their mean is better than
that of grammars that differ only by the seed of their splits. The base grammar, and so the parser's first pass, stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.grammar.latent.latent_grammar import LatentCounts, LatentSmoothing, merge_counts, usage
from treegauge.grammar.latent.rule_rows import (
    INNER,
    PHRASE,
    TAG,
    Int32,
    Int64,
    RuleRows,
    distinct_rows,
    offsets,
    split_rows,
    sum_by_index,
)
from treegauge.learning.latent.treebank_em import (
    BINARY,
    LEAST,
    LEXICAL,
    UNARY,
    Nodes,
    TreebankArrays,
    expect,
    first_counts,
    parameters,
)

CONTEXTS = {"phrases": PHRASE, "tags": TAG, "inner": INNER}
"""The kinds of symbols that can start with subcategories by context: phrases and tags by the phrase above them, inner symbols by
the sibling to their left."""
MOST = {"phrases": 3, "tags": 8, "inner": 3}
"""The most contexts that get a subcategory of their own; all other contexts share one more."""


class Schedule(NamedTuple):
    """The schedule of a round: the numbers of EM iterations after the split, after the merge, and then with smoothing; the relative
    noise of a split; the fraction of splits that is undone (``merged``); and the smoothing of counts."""

    after_split: int = 30
    after_merge: int = 10
    smoothed: int = 10
    noise: float = 0.01
    merged: float = 0.5
    smoothing: LatentSmoothing = LatentSmoothing()


SCHEDULE = Schedule()


class TrainingState(NamedTuple):
    """The state of a grammar's training: the current round (0 before the first), the number of its iterations that are done, the
    current counts, and for every round after its merge the map from its subcategories to those of the round before."""

    round: int
    iteration: int
    counts: LatentCounts
    up: tuple[Int64, ...] = ()


class TrainingStep(NamedTuple):
    """A state, the log likelihood before the iteration that led to it, and whether a round is complete."""

    state: TrainingState
    log_likelihood: float
    complete: bool


def initial_state(arrays: TreebankArrays) -> TrainingState:
    """The state before the first round: the treebank's own grammar."""
    return TrainingState(0, 0, first_counts(arrays))


def split_counts(arrays: TreebankArrays, counts: LatentCounts, rng: np.random.Generator, noise: float) -> LatentCounts:
    """The counts after each subcategory is split into two nearly equal halves."""
    precision = counts.binary.value.dtype

    def draw(size: int) -> NDArray[np.floating]:
        return ((2 * rng.random(size) - 1) * noise).astype(precision)

    def halves(values: NDArray[np.float64]) -> NDArray[np.float64]:
        uneven = values / 2 * draw(len(values))
        return np.stack([values / 2 + uneven, values / 2 - uneven], axis=1).ravel()

    base = arrays.base
    return LatentCounts(
        2 * counts.sizes,
        split_rows(counts.binary, base.binary, counts.sizes, draw(4 * len(counts.binary.value))),
        split_rows(counts.unary, base.unary, counts.sizes, draw(2 * len(counts.unary.value))),
        halves(counts.root),
        halves(counts.pair),
    )


def merge_map(sizes: Int64, loss: NDArray[np.float64], share: float) -> tuple[Int64, Int64]:
    """Undo the cheapest ``share`` of splits: for each subcategory after the split its number after the merge, and for each
    subcategory after the merge its number before the split. Subcategories are numbered within their symbol."""
    pairs = np.arange(0, int(sizes.sum()), 2)
    order = pairs[np.argsort(-loss[pairs], kind="stable")]
    undone = np.zeros(int(sizes.sum()), np.bool_)
    undone[order[: int(len(order) * share)]] = True
    begins = offsets(sizes)
    kept = np.ones(len(undone), np.int64)
    kept[1::2] = ~undone[::2]
    through = np.cumsum(kept) - 1
    symbol = np.repeat(np.arange(len(sizes)), sizes)
    to = through - through[begins[:-1]][symbol]
    up = ((np.arange(len(undone)) - begins[:-1][symbol]) // 2)[kept > 0]
    return to, up


def training_steps(
    arrays: TreebankArrays,
    state: TrainingState,
    rounds: int,
    seed: tuple[int, ...],
    schedule: Schedule = SCHEDULE,
    threads: int = 1,
    least: float = LEAST,
    contexts: tuple[str, ...] = (),
) -> Iterator[TrainingStep]:
    """Train from a state to the end of round ``rounds``, yielding every iteration. If ``contexts`` are given, the first round's
    subcategories are chosen by these contexts.

    Round r draws its noise from ``numpy.random.default_rng([*seed, r])``, so a state determines all further states.
    """
    unsmoothed = schedule.smoothing._replace(rules=0.0)
    merge_at = schedule.after_split
    last = merge_at + schedule.after_merge + schedule.smoothed
    while True:
        if state.round == 0 or state.iteration == last:
            if state.round == rounds:
                return
            state = (_context_start(arrays, contexts, merge_at) if state.round == 0 else None) or _split(
                arrays, state, seed, schedule.noise
            )
        smooth = state.iteration >= merge_at + schedule.after_merge
        given = parameters(arrays, state.counts, schedule.smoothing if smooth else unsmoothed, least)
        made = expect(arrays, given, threads)
        counts, up = made.counts, state.up
        if state.iteration + 1 == merge_at:
            counts, made_up = _merge_cheapest(arrays, counts, unsmoothed, schedule.merged, threads, least)
            up = (*up, made_up)
        state = TrainingState(state.round, state.iteration + 1, counts, up)
        yield TrainingStep(state, made.log_likelihood, state.iteration == last)


def _split(arrays: TreebankArrays, state: TrainingState, seed: tuple[int, ...], noise: float) -> TrainingState:
    """The state at the start of the next round."""
    rng = np.random.default_rng([*seed, state.round + 1])
    return TrainingState(state.round + 1, 0, split_counts(arrays, state.counts, rng, noise), state.up)


def _context_start(arrays: TreebankArrays, contexts: tuple[str, ...], iteration: int) -> TrainingState | None:
    """The state after the first round's merge with subcategories by context; ``None`` if no context is frequent."""
    counts = context_counts(arrays, contexts) if contexts else None
    return None if counts is None else TrainingState(1, iteration, counts, (np.zeros(int(counts.sizes.sum()), np.int64),))


def _merge_cheapest(
    arrays: TreebankArrays, counts: LatentCounts, smoothing: LatentSmoothing, share: float, threads: int, least: float
) -> tuple[LatentCounts, Int64]:
    """The counts with the cheapest splits undone, and the map to the subcategories before the split."""
    given = parameters(arrays, counts, smoothing, least)
    made = expect(arrays, given, threads, usage(arrays.base, counts))
    to, up = merge_map(counts.sizes, made.loss, share)
    return merge_counts(arrays.base, arrays.table, made.counts, to), up


def context_counts(arrays: TreebankArrays, which: tuple[str, ...], precision: Any = np.float32) -> LatentCounts | None:
    """The counts of a treebank whose symbols have a subcategory for each frequent context; ``None`` if no context is frequent."""
    unknown = [name for name in which if name not in CONTEXTS]
    if unknown:
        raise UsageError(f"unknown context {unknown[0]!r}; the contexts are {', '.join(CONTEXTS)}")
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
    """For each node, the symbol of the phrase above it (-1: none), or for an inner node that of the sibling to its left."""
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
    """For each node, the number of the first node of its tree."""
    return np.repeat(nodes.start[:-1], np.diff(nodes.start))


def _classes(context: Int64, least: int, most: int) -> Int64:
    """The class of each context: frequent contexts (seen at least ``least`` times, at most ``most`` of them) have one each, the
    others share one."""
    found, number, count = np.unique(context, return_inverse=True, return_counts=True)
    order = np.argsort(-count, kind="stable")
    frequent = [int(i) for i in order if count[i] >= least][:most]
    new = np.zeros(len(found), np.int64)
    new[frequent] = np.arange(len(frequent)) + (len(frequent) < len(found))
    return new[number]


def _counts(arrays: TreebankArrays, subcategory: Int64, sizes: Int64, precision: Any) -> LatentCounts:
    """The counts of trees whose nodes have these subcategories."""
    base, nodes = arrays.base, arrays.nodes
    own_tree = _first_nodes(nodes)

    def rows(kind: int, rules: Int32) -> RuleRows:
        own = np.flatnonzero(nodes.kind == kind)
        left = subcategory[own_tree[own] + nodes.left[own]]
        right = subcategory[own_tree[own] + nodes.right[own]] if kind == BINARY else np.zeros(len(own), np.int64)
        made, place = distinct_rows(rules, nodes.rule[own].astype(np.int64), left, right, sizes)
        value = sum_by_index(made.offset[place] + subcategory[own], np.ones(len(own)), int(made.offset[-1]))
        return made._replace(value=value.astype(precision))

    def count_at(place: NDArray[Any], size: int) -> NDArray[np.float64]:
        return sum_by_index(place, np.ones(len(place)), size)

    tops, words = nodes.start[1:] - 1, np.flatnonzero(nodes.kind == LEXICAL)
    pairs = arrays.table.pair_offsets(sizes)
    return LatentCounts(
        sizes,
        rows(BINARY, base.binary),
        rows(UNARY, base.unary),
        count_at(offsets(sizes)[nodes.symbol[tops]] + subcategory[tops], int(sizes.sum())),
        count_at(pairs[nodes.rule[words]] + subcategory[words], int(pairs[-1])),
    )
