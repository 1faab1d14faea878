"""Shown constituents: the labels of output trees, each counted once per span, whichever symbols of the grammar show as it.

Several symbols may show as one label (``NP^S`` and ``NP^VP`` as ``NP``), and some do not show at all. With unary rules a chain over
one span can contain a label twice, but the constituent (s, t, label) counts once. Its probability is the sum over the symbols that
can be the *topmost* of the label in their chain, which means that the chain above them avoids the label.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Floats, Ints, helper, kernel
from treegauge.errors import UsageError
from treegauge.grammar.binarisation import BinaryGrammar, close
from treegauge.parsing.chart_layout import LOG_SUM, Chart, Leaves, cells
from treegauge.parsing.posterior_view import Float64, SpanLabels

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

TIE = 1e-12
"""Posteriors closer than this count as equal."""
MOST_CHAINS = 2_000_000
"""The most chains of unary rules of a grammar that the licensed objectives accept."""


class TopChains(NamedTuple):
    """The weights of chains from a top symbol to a bottom X, in the columns of :class:`treegauge.grammar.binarisation.Closure`."""

    first: Ints
    top: Ints
    weight: Floats


class Chain(NamedTuple):
    """A chain of unary rules: its top symbol, its rules from the top down, and its symbols from the bottom up."""

    top: int
    rules: tuple[int, ...]
    symbols: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ShownLabels:
    """The labels that a grammar's symbols show as: ``group[X]`` is the number of X's label, -1 if X does not show."""

    names: tuple[str, ...]
    group: NDArray[np.int32]
    binary: BinaryGrammar
    chains: dict[bool, list[list[Chain]]] = field(default_factory=dict[bool, list[list[Chain]]])

    @cached_property
    def topmost(self) -> TopChains:
        """The chains to each symbol in which no symbol above it shows its label."""
        closure, n = self.binary.closure, self.binary.n_symbols
        bottom = np.repeat(np.arange(n), np.diff(closure.first))
        own, above = self.group[bottom], self.group[closure.top]
        again = (own >= 0) & (own == above) & ((closure.top != bottom) | (closure.total != 1.0))
        weight = closure.total.copy()
        edges = list(self._edges())
        for label in np.unique(own[again]).tolist():
            without = close(n, [edge for edge in edges if self.group[edge[0]] != label])
            known = _entries(without.first, without.top, without.total, np.flatnonzero(self.group == label))
            for c in np.flatnonzero(own == label).tolist():
                weight[c] = known.get((int(closure.top[c]), int(bottom[c])), 0.0)
        return TopChains(closure.first, closure.top, weight)

    @cached_property
    def topmost_of_all(self) -> TopChains:
        """The chains to each symbol in which no symbol above it shows."""
        without = close(self.binary.n_symbols, [edge for edge in self._edges() if self.group[edge[0]] < 0])
        return TopChains(without.first, without.top, without.total)

    @cached_property
    def down_to_word(self) -> TopChains:
        """The chains to each symbol in which only the top may show, so that the shown top is right above what the bottom
        derives."""
        without = close(self.binary.n_symbols, [edge for edge in self._edges() if self.group[edge[1]] < 0])
        return TopChains(without.first, without.top, without.total)

    @cached_property
    def orders(self) -> LabelOrders:
        """The orders in which labels may occur over one span."""
        return LabelOrders(self)

    @cached_property
    def has_chains(self) -> bool:
        """Whether two shown nodes can have one span."""
        closure = self.binary.closure
        bottom = np.repeat(np.arange(self.binary.n_symbols), np.diff(closure.first))
        both = (self.group[bottom] >= 0) & (self.group[closure.top] >= 0)
        return bool((both & ((closure.top != bottom) | (closure.total != 1.0))).any())

    def simple_chains(self, *, distinct: bool) -> list[list[Chain]]:
        """The chains above each symbol that repeat no symbol and, with ``distinct``, no shown label."""
        if distinct not in self.chains:
            self.chains[distinct] = _simple_chains(self, distinct)
        return self.chains[distinct]

    def _edges(self) -> Iterator[tuple[int, int, float]]:
        unary = self.binary.unary
        return zip(unary.parent.tolist(), unary.child.tolist(), self.binary.unary_probability.tolist(), strict=True)


def shown_labels(forest: Forest) -> ShownLabels:
    """The labels of a forest's grammar, computed once and cached with the grammar."""
    derived = forest.binary.derived
    if "shown labels" not in derived:
        numbers: dict[str, int] = {}
        group = np.full(forest.binary.n_symbols, -1, np.int32)
        for X, label in enumerate(forest.output_labels):
            if label is not None:
                group[X] = numbers.setdefault(label, len(numbers))
        derived["shown labels"] = ShownLabels(tuple(numbers), group, forest.binary)
    return derived["shown labels"]


def _entries(first: Ints, top: Ints, weight: Floats, bottoms: NDArray[np.int64]) -> dict[tuple[int, int], float]:
    """The weights of the chains to some bottoms, by (top, bottom)."""
    return {(int(top[c]), X): float(weight[c]) for X in bottoms.tolist() for c in range(int(first[X]), int(first[X + 1]))}


def _simple_chains(labels: ShownLabels, distinct: bool) -> list[list[Chain]]:
    unary, group = labels.binary.unary, labels.group.tolist()
    above: dict[int, list[tuple[int, int]]] = {}
    for u, (parent, child) in enumerate(zip(unary.parent.tolist(), unary.child.tolist(), strict=True)):
        above.setdefault(child, []).append((u, parent))
    found: list[list[Chain]] = []
    size = 0
    for X in range(labels.binary.n_symbols):
        chains = [Chain(X, (), (X,))]
        seen = {(X, frozenset([X]))}
        for chain in chains:
            for u, parent in above.get(chain.top, ()):
                symbols = (*chain.symbols, parent)
                repeats = distinct and group[parent] >= 0 and any(group[Y] == group[parent] for Y in chain.symbols)
                if parent in chain.symbols or repeats or (parent, frozenset(symbols)) in seen:
                    continue
                seen.add((parent, frozenset(symbols)))
                chains.append(Chain(parent, (u, *chain.rules), symbols))
                size += 1
                if size > MOST_CHAINS:
                    raise UsageError(f"the grammar has more than {MOST_CHAINS:,} chains of unary rules: use a free objective")
        found.append(chains)
    return found


class LabelPosteriors(NamedTuple):
    """For each entry of a chart, the probabilities that it is the topmost node of its label over its span (``any``), that moreover
    it is right above a word in the shown tree (``over_word``), and that it is the topmost shown node over its span (``some``)."""

    any: Floats
    over_word: Floats
    some: Floats


@helper
def word_weights(mode: int, s: int, leaves: Leaves, down: TopChains, of_word: Floats) -> float:
    """Fill in the weight of word s below each symbol with only hidden symbols in between. Returns the logarithm of the weights'
    scale."""
    of_word[:] = 0.0
    heaviest = 0.0
    if mode == LOG_SUM:
        heaviest = -np.inf
        for i in range(leaves.first[s], leaves.first[s + 1]):
            heaviest = max(heaviest, leaves.weight[i])
    for i in range(leaves.first[s], leaves.first[s + 1]):
        weight = np.exp(leaves.weight[i] - heaviest) if mode == LOG_SUM else leaves.weight[i]
        for c in range(down.first[leaves.symbol[i]], down.first[leaves.symbol[i] + 1]):
            of_word[down.top[c]] += down.weight[c] * weight
    return heaviest


@kernel
def topmost_posteriors(
    mode: int, n: int, chart: Chart, leaves: Leaves, outer_top: Floats, chains: TopChains, down: TopChains
) -> tuple[Floats, Floats]:
    """For each entry, its outside value as the bottom of one of ``chains``, times its inside value; and times the weight of the
    word alone, below the symbol with only hidden symbols in between (``down``)."""
    size = len(chart.symbol)
    of_word = np.zeros(len(chains.first) - 1)
    found, over_word = np.zeros(size), np.zeros(size)
    log = mode == LOG_SUM
    dense = np.full(len(chains.first) - 1, -np.inf if log else 0.0)
    for s in range(n):
        heaviest = word_weights(mode, s, leaves, down, of_word)
        for t in range(s + 1, n + 1):
            first, last = chart.first[s, t], chart.last[s, t]
            high = -np.inf
            for k in range(first, last):
                dense[chart.symbol[k]] = outer_top[k]
                high = max(high, outer_top[k])
            for k in range(first, last):
                X, f = chart.symbol[k], 0.0
                for c in range(chains.first[X], chains.first[X + 1]):
                    o = dense[chains.top[c]]
                    if log:
                        f += chains.weight[c] * np.exp(o - high) if o > -np.inf else 0.0
                    else:
                        f += chains.weight[c] * o
                if f == 0.0:
                    continue
                found[k] = f * np.exp(high + chart.value[k]) if log else f * chart.value[k]
                if t == s + 1 and of_word[X] > 0.0:
                    over_word[k] = f * of_word[X] * (np.exp(high + heaviest) if log else 1.0)
            for k in range(first, last):
                dense[chart.symbol[k]] = -np.inf if log else 0.0
    return found, over_word


def label_posteriors(forest: Forest) -> LabelPosteriors:
    """The posteriors of shown constituents, for each entry of the inside chart."""
    labels, chart = shown_labels(forest), forest.inside_chart
    grid, top = chart.grid, forest.outer.top
    down = labels.down_to_word
    found, over_word = topmost_posteriors(chart.mode, forest.n, grid.chart, grid.leaves, top, labels.topmost, down)
    some, _ = topmost_posteriors(chart.mode, forest.n, grid.chart, grid.leaves, top, labels.topmost_of_all, down)
    return LabelPosteriors(found, over_word, some)


def span_labels(forest: Forest) -> SpanLabels:
    """The shown constituents of a forest, span by span."""
    labels, chart, n = shown_labels(forest), forest.inside_chart.chart, forest.n
    found, tops = forest.label_posteriors, forest.top_posterior
    starts, ends = cells(n, chart)
    span, group = starts * (n + 1) + ends, labels.group[chart.symbol].astype(np.int64)
    shown = group >= 0

    def by_span(posterior: Float64) -> Float64:
        return np.bincount(span, posterior, n * (n + 1)).astype(np.float64).reshape(n, n + 1)

    some = by_span(np.where(shown, found.some, 0.0))
    grammar = forest.grammar
    hides = any(label is None for symbol, label in grammar.labels.items() if symbol != grammar.start)
    hidden = np.maximum(0.0, by_span(tops) - some) if hides else np.zeros((n, n + 1))
    columns = [column[shown] for column in (found.any, found.any - found.over_word, tops)]
    made = SpanLabels.of_rows(labels.names, n, span[shown], group[shown], columns, some, hidden)
    return replace(made, phrase=np.maximum(0.0, made.phrase))


def word_tags(forest: Forest, position: int) -> list[tuple[str | None, float]]:
    """The labels that can be right above a word in the shown tree with their posteriors, the most probable first."""
    total: dict[str | None, float] = {}
    for X, p in sorted(_right_above(forest, position)):
        name = forest.output_labels[X]
        if name is not None and p > 0:
            total[name] = total.get(name, 0.0) + p
    return sorted(total.items(), key=lambda item: -round(item[1] / TIE) * TIE)


def _right_above(forest: Forest, position: int) -> Iterator[tuple[int, float]]:
    """The symbols right above a word, or with only hidden symbols in between, each with its posterior."""
    down, leaves = shown_labels(forest).down_to_word, forest.inside_chart.grid.leaves
    weights = {int(leaves.symbol[i]): float(leaves.weight[i]) for i in range(leaves.first[position], leaves.first[position + 1])}
    for X, p in forest.leaf_posteriors(position):
        if forest.output_labels[X] is not None:
            yield X, p
            continue
        for c in range(int(down.first[X]), int(down.first[X + 1])):
            k = forest.entry(position, position + 1, int(down.top[c]))
            if k >= 0 and forest.output_labels[int(down.top[c])] is not None:
                f, chain = float(forest.outer.value[k]), float(down.weight[c])
                log = forest.inside_chart.mode == LOG_SUM
                yield int(down.top[c]), chain * (math.exp(f + weights[X]) if log else f * weights[X])


class LabelOrders:
    """The orders of labels over one span that a grammar's chains allow, cached for each set of labels."""

    def __init__(self, labels: ShownLabels) -> None:
        closure = labels.binary.closure
        group = labels.group.tolist()
        self.members: dict[int, frozenset[int]] = {}
        for X, label in enumerate(group):
            self.members[label] = self.members.get(label, frozenset()) | {X}
        self.below: dict[int, set[int]] = {}
        first, top = closure.first.tolist(), closure.top.tolist()
        for Y in range(labels.binary.n_symbols):
            for c in range(first[Y], first[Y + 1]):
                if top[c] != Y or labels.binary.cyclic[Y]:
                    self.below.setdefault(top[c], set()).add(Y)
        self.known: dict[tuple[tuple[int, ...], int], tuple[int, ...] | None] = {}

    def order(self, labels: Sequence[int], last: int = -1) -> tuple[int, ...] | None:
        """The first order of the labels that some chain has from the top down (above the label ``last``, if given); None if there
        is none. Orders are tried starting with the given one."""
        key = tuple(labels), last
        if key not in self.known:
            self.known[key] = next(self._all_orders(key[0], last, None), None)
        return self.known[key]

    def _all_orders(self, labels: tuple[int, ...], last: int, bottoms: frozenset[int] | None) -> Iterator[tuple[int, ...]]:
        if not labels:
            if last < 0 or bottoms is None or self._step(bottoms, last):
                yield ()
            return
        for i, label in enumerate(labels):
            following = self._step(bottoms, label)
            if following:
                for rest in self._all_orders(labels[:i] + labels[i + 1 :], last, following):
                    yield (label, *rest)

    def _step(self, bottoms: frozenset[int] | None, label: int) -> frozenset[int]:
        """The symbols with a label that chains reach below the symbols ``bottoms``; all symbols with the label if None."""
        members = self.members.get(label, frozenset[int]())
        if bottoms is None:
            return members
        reached: set[int] = set()
        for X in bottoms:
            reached |= self.below.get(X, set())
        return members & reached

    def best(self, worth: Mapping[int, float], last: int = -1) -> tuple[int, ...]:
        """The labels with the largest sum of worths, all positive, that have an order; in that order."""
        every = tuple(worth)
        whole = self.order(every, last)
        if whole is not None:
            return whole
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        stack: list[tuple[float, tuple[int, ...], tuple[int, ...], frozenset[int] | None]] = [(0.0, (), every, None)]
        while stack:
            value, chosen, left, bottoms = stack.pop()
            if value > best[0] + 1e-12 and (last < 0 or bottoms is None or self._step(bottoms, last)):
                best = value, chosen
            possible = [(label, following) for label in left if (following := self._step(bottoms, label))]
            if value + sum(worth[label] for label, _ in possible) <= best[0] + 1e-12:
                continue
            for label, following in reversed(possible):
                rest = tuple(other for other, _ in possible if other != label)
                stack.append((value + worth[label], (*chosen, label), rest, following))
        return best[1]
