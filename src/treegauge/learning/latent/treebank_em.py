"""A treebank as arrays of nodes, and one step of EM over it with hidden subcategories (Matsuzaki et al. 2005).

The nodes of a tree are in the order children before parents; a node is a word with its tag, a unary rule, or a binary rule.

Letters: A -> B C is the rule of a node; i, j, k are subcategories of A, B, C; e is the inside value of a node, f the outside value.

Since the tree is given, each node has probability 1. At every node, e is divided by its largest value (the logarithms of these
values add up to that of the tree's probability), and f is scaled such that the sum of e f over i is 1; no other scaling is needed.
The products f_i e_j e_k are summed for each rule, and multiplied by the rule's own weights once, at the end.

Rounds of training split every subcategory in two, let EM tell the halves apart, and undo the splits that gain least. Petrov et al.
2006, section 2: EM runs after the split; then half of the splits, those that cost least likelihood to undo, are undone; EM runs
again, at last with smoothing. A *round* is all of this once.

The first subcategories can also be chosen by context instead of a random split; they then replace the first split, and none of them
is merged. A phrase or tag under one parent is often used differently under another (Johnson 1998), and the rest of a long phrase
depends on what came before. Grammars that start with different distinctions make different mistakes, so their mean is better than
that of grammars that differ only by the seed of their splits. The base grammar, and so the parser's first pass, stays the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Floats, Ints, inline, kernel
from treegauge.engines import in_threads
from treegauge.errors import UsageError
from treegauge.grammar.latent.latent_grammar import (
    LatentCounts,
    LatentSmoothing,
    WordTable,
    emissions,
    merge_counts,
    pair_probabilities,
    rules_of,
    usage,
)
from treegauge.grammar.latent.rule_rows import (
    INNER,
    PHRASE,
    TAG,
    BaseGrammar,
    Int32,
    Int64,
    RuleRows,
    dense_rows,
    distinct_rows,
    offsets,
    split_rows,
    sum_by_index,
)
from treegauge.grammar.training_sentences import STEPS, training_trees
from treegauge.parsing.chart_layout import add_multiple, dot_in_order
from treegauge.trees.tree import Child, Tree

LEXICAL, UNARY, BINARY = 0, 1, 2


class Nodes(NamedTuple):
    """The nodes of all trees; those of tree t are ``start[t]:start[t+1]``. ``rule`` is the number of a tag-word pair, a unary rule
    or a binary rule, depending on ``kind``; ``left`` and ``right`` are the children, counted from the tree's first node."""

    start: Int64
    kind: NDArray[np.int8]
    symbol: Int32
    rule: Int32
    left: Int32
    right: Int32

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class TreebankArrays:
    """A base grammar, its words, and the trees that they were read off."""

    base: BaseGrammar
    table: WordTable
    nodes: Nodes


class _Builder:
    """The nodes, symbols and rules of the trees added so far."""

    def __init__(self) -> None:
        self.symbols: dict[tuple[int, str], int] = {}
        self.binary: dict[tuple[int, int, int], int] = {}
        self.unary: dict[tuple[int, int], int] = {}
        self.tokens: Counter[tuple[int, str]] = Counter()
        self.middles: dict[tuple[int, int], Counter[tuple[str, ...]]] = {}
        self.start = [0]
        self.nodes: list[tuple[int, int, Any, int, int]] = []

    def _symbol(self, kind: int, name: str) -> int:
        return self.symbols.setdefault((kind, name), len(self.symbols))

    def _node(self, kind: int, symbol: int, rule: Any, left: int = -1, right: int = -1) -> int:
        self.nodes.append((kind, symbol, rule, left, right))
        return len(self.nodes) - 1 - self.start[-1]

    def _symbol_of(self, node: int) -> int:
        return self.nodes[self.start[-1] + node][1]

    def _word(self, tag: str, word: str) -> int:
        symbol = self._symbol(TAG, tag)
        self.tokens[symbol, word] += 1
        return self._node(LEXICAL, symbol, (symbol, word))

    def _unary(self, label: str, child: int) -> int:
        symbol = self._symbol(PHRASE, label)
        key = symbol, self._symbol_of(child)
        return self._node(UNARY, symbol, self.unary.setdefault(key, len(self.unary)), child)

    def _phrase(self, label: str, children: list[int]) -> int:
        """Add a phrase, binarised to the right."""
        if len(children) == 1:
            return self._unary(label, children[0])
        symbol, inner = self._symbol(PHRASE, label), -1
        below = children[-1]
        for m in range(len(children) - 2, -1, -1):
            if m and inner < 0:
                inner = self._symbol(INNER, label)
            top = inner if m else symbol
            key = top, self._symbol_of(children[m]), self._symbol_of(below)
            below = self._node(BINARY, top, self.binary.setdefault(key, len(self.binary)), children[m], below)
        return below

    def add(self, tree: Tree) -> None:
        """Add a tree; of a chain of phrases over one child only the top and the bottom become nodes."""
        built: list[list[int]] = [[]]
        stack: list[tuple[Child, bool, tuple[str, ...]]] = [(tree, False, ())]
        while stack:
            node, finished, chain = stack.pop()
            if isinstance(node, str):
                built[-1].append(self._word("", node))
            elif finished:
                children = built.pop()
                built[-1].append(self._chain_node(chain, children))
            elif node.is_preterminal:
                built[-1].append(self._word(node.label, str(node.children[0])))
            else:
                node, chain = _chain(node)
                stack.append((node, True, chain))
                stack.extend((child, False, ()) for child in reversed(node.children))
                built.append([])
        self.start.append(len(self.nodes))

    def _chain_node(self, chain: tuple[str, ...], children: list[int]) -> int:
        below = self._phrase(chain[-1], children)
        if chain[0] == chain[-1]:
            return below
        top = self._unary(chain[0], below)
        key = self._symbol_of(top), self._symbol_of(below)
        self.middles.setdefault(key, Counter())[chain[1:-1]] += 1
        return top


def _chain(node: Tree) -> tuple[Tree, tuple[str, ...]]:
    """The lowest phrase of a chain of phrases with one child each, and the labels of the chain without repetitions in a row."""
    labels = [node.label]
    while len(node.children) == 1 and isinstance(node.children[0], Tree) and not node.children[0].is_preterminal:
        node = node.children[0]
        if node.label != labels[-1]:
            labels.append(node.label)
    return node, tuple(labels)


def treebank_arrays(trees: Iterable[Tree], steps: str = STEPS) -> TreebankArrays:
    """The arrays of trees normalised for training; trees that become empty are left out.

    >>> made = treebank_arrays([Tree.parse("(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBD sat))))")])
    >>> [made.base.title(s) for s in range(made.base.size)]
    ['NP', 'VP', 'S', '@NP', 'DT', 'JJ', 'NN', 'VBD']
    >>> made.base.binary.tolist(), made.base.unary.tolist(), made.base.root
    ([[3, 5, 6], [0, 4, 3], [2, 0, 1]], [[1, 7]], 'TOP')
    """
    builder, (given, root) = _Builder(), training_trees(trees, steps)
    for tree in given:
        builder.add(tree)
    return _arrays(builder, Counter(tree.words[0] for tree in given), root)


def _arrays(builder: _Builder, initial: Mapping[str, int], root: str | None) -> TreebankArrays:
    """The arrays of a builder, with symbols renumbered in the order phrases, inner symbols, tags."""
    ordered = sorted(builder.symbols, key=lambda symbol: symbol[0])
    new = np.zeros(len(ordered), np.int32)
    new[[builder.symbols[symbol] for symbol in ordered]] = np.arange(len(ordered))
    base = BaseGrammar(
        tuple(name for _, name in ordered),
        np.array([kind for kind, _ in ordered], np.int8),
        new[np.array(list(builder.binary), np.int32).reshape(-1, 3)],
        new[np.array(list(builder.unary), np.int32).reshape(-1, 2)],
        {(int(new[A]), int(new[B])): max(sorted(seen), key=lambda m: seen[m]) for (A, B), seen in builder.middles.items()},
        root,
    )
    table = WordTable.of({(int(new[tag]), word): n for (tag, word), n in builder.tokens.items()}, initial)
    tags, words = table.pair_tag.tolist(), table.pair_word.tolist()
    pair = {(int(tag), table.words[int(word)]): p for p, (tag, word) in enumerate(zip(tags, words, strict=True))}
    rules = [pair[int(new[rule[0]]), rule[1]] if kind == LEXICAL else rule for kind, _, rule, _, _ in builder.nodes]
    columns = {column: np.array([node[column] for node in builder.nodes], np.int32) for column in (0, 1, 3, 4)}
    nodes = Nodes(
        np.array(builder.start, np.int64),
        columns[0].astype(np.int8),
        new[columns[1]],
        np.array(rules, np.int32),
        columns[3],
        columns[4],
    )
    return TreebankArrays(base, table, nodes)


def first_counts(arrays: TreebankArrays, precision: Any = np.float32) -> LatentCounts:
    """The counts of the base grammar, in which every symbol has one subcategory."""
    base, nodes = arrays.base, arrays.nodes
    sizes = np.ones(base.size, np.int64)

    def rule_counts(kind: int, rules: Int32) -> RuleRows:
        return dense_rows(rules, sizes, np.bincount(nodes.rule[nodes.kind == kind], minlength=len(rules)), precision)

    root = np.bincount(nodes.symbol[nodes.start[1:] - 1], minlength=base.size).astype(np.float64)
    return LatentCounts(
        sizes, rule_counts(BINARY, base.binary), rule_counts(UNARY, base.unary), root, arrays.table.pair_count.astype(np.float64)
    )


LEAST = 1e-6
"""Rows whose largest weight is below this fraction of their rule's largest weight are dropped."""
BLOCKS = 4
"""The number of blocks in which trees are counted. It is fixed, so the number of threads does not change the result."""
_TINY = 1e-30
_NOTHING = 1e-12


class EMParameters(NamedTuple):
    """The probabilities that the E-step uses. Subcategories are numbered consecutively, those of symbol A from ``first[A]``;
    ``pair`` has P(word | t_x) of each pair."""

    sizes: Ints
    first: Ints
    binary: RuleRows
    unary: RuleRows
    root: Floats
    pair: Floats
    pair_offset: Ints


class ExpectedSums(NamedTuple):
    """Sums over trees: f_i e_j e_k for rules, expected counts of roots and of pairs, and the log likelihood lost by merging."""

    binary: Floats
    unary: Floats
    root: Floats
    pair: Floats
    loss: Floats


class TreeValues(NamedTuple):
    """The arrays for one tree at a time: node v has the values ``place[v]:place[v+1]`` of e and f, and e was divided by
    ``largest[v]``."""

    place: Ints
    largest: Floats
    e: Floats
    f: Floats


class TreebankExpectation(NamedTuple):
    """Expected counts, the log likelihood of the trees, and the loss of log likelihood if subcategories 2x and 2x+1 were merged."""

    counts: LatentCounts
    log_likelihood: float
    loss: NDArray[np.float64]


def parameters(arrays: TreebankArrays, counts: LatentCounts, smoothing: LatentSmoothing, least: float = LEAST) -> EMParameters:
    """The M-step: the probabilities that expected counts give, with rows below ``least`` dropped."""
    base, table, precision = arrays.base, arrays.table, counts.binary.value.dtype
    binary, unary = rules_of(base, counts, smoothing.rules, least)
    made = emissions(table, counts.sizes, base.is_tag, counts.pair, smoothing.lexicon)
    pair = pair_probabilities(table, counts.sizes, made, smoothing.lexicon, precision)
    root = (counts.root / counts.root.sum()).astype(precision)
    return EMParameters(counts.sizes, offsets(counts.sizes), binary, unary, root, pair, made.pair_offset)


def expect(
    arrays: TreebankArrays, given: EMParameters, threads: int = 1, usage: NDArray[np.float64] | None = None
) -> TreebankExpectation:
    """The E-step: expected counts under given probabilities; with ``usage``, the expected counts of subcategories, also the loss by
    merging."""
    nodes = arrays.nodes
    bounds = np.linspace(0, nodes.n_trees, BLOCKS + 1).astype(int).tolist()
    weights = np.zeros(0) if usage is None else usage

    def block(number: int) -> tuple[ExpectedSums, float]:
        sums = ExpectedSums(
            np.zeros_like(given.binary.value),
            np.zeros_like(given.unary.value),
            np.zeros(len(given.root)),
            np.zeros(len(given.pair)),
            np.zeros(len(weights)),
        )
        return sums, add_trees(bounds[number], bounds[number + 1], nodes, given, weights, sums)

    made = list(in_threads(block, range(BLOCKS), threads))
    total = ExpectedSums(*(sum(parts[1:], start=parts[0]) for parts in zip(*(sums for sums, _ in made), strict=True)))
    counts = LatentCounts(
        given.sizes,
        given.binary._replace(value=total.binary * given.binary.value),
        given.unary._replace(value=total.unary * given.unary.value),
        total.root,
        total.pair,
    )
    return TreebankExpectation(counts, float(sum(log_likelihood for _, log_likelihood in made)), total.loss)


@kernel
def add_trees(low: int, high: int, nodes: Nodes, given: EMParameters, usage: Floats, sums: ExpectedSums) -> float:
    """Add the trees from ``low`` to ``high`` to the sums; return their log likelihood."""
    most = 0
    for t in range(low, high):
        most = max(most, nodes.start[t + 1] - nodes.start[t])
    room, precision = most * given.sizes.max(), given.root.dtype
    place, largest = np.zeros(most + 1, np.int64), np.zeros(most, precision)
    values = TreeValues(place, largest, np.zeros(room, precision), np.zeros(room, precision))
    total = 0.0
    for t in range(low, high):
        at, n = nodes.start[t], nodes.start[t + 1] - nodes.start[t]
        for v in range(n):
            place[v + 1] = place[v] + given.sizes[nodes.symbol[at + v]]
        total += inside(at, n, nodes, given, values)
        total += outside(at, n, nodes, given, values, usage, sums)
    return total


@inline
def inside(at: int, n: int, nodes: Nodes, given: EMParameters, values: TreeValues) -> float:
    """Fill in e of a tree's nodes; return the sum of the logarithms of the largest values."""
    place, largest, e = values.place, values.largest, values.e
    total = 0.0
    for v in range(n):
        r, o, size = nodes.rule[at + v], place[v], place[v + 1] - place[v]
        if nodes.kind[at + v] == LEXICAL:
            for i in range(size):
                e[o + i] = given.pair[given.pair_offset[r] + i]
        else:
            own = e[o : o + size]
            own[:] = 0
            b = place[nodes.left[at + v]]
            if nodes.kind[at + v] == BINARY:
                c, rows = place[nodes.right[at + v]], given.binary
            else:
                c, rows = -1, given.unary
            for q in range(rows.first[r], rows.first[r + 1]):
                w = e[b + rows.left[q]]
                if c >= 0:
                    w *= e[c + rows.right[q]]
                if w > _NOTHING:
                    add_multiple(w, rows.value[rows.offset[q] : rows.offset[q] + size], own)
        m = e[o]
        for i in range(1, size):
            m = max(m, e[o + i])
        largest[v] = max(m, _TINY)
        total += np.log(largest[v])
        for i in range(size):
            e[o + i] /= largest[v]
    return total


@inline
def outside(at: int, n: int, nodes: Nodes, given: EMParameters, values: TreeValues, usage: Floats, sums: ExpectedSums) -> float:
    """Fill in f from the root down and add to the sums; return the logarithm of the root's factor of the likelihood."""
    place, e, f = values.place, values.e, values.f
    root, o = given.first[nodes.symbol[at + n - 1]], place[n - 1]
    for i in range(place[n] - o):
        f[o + i] = given.root[root + i]
    z = normalise_outside(o, place[n] - o, e, f)
    for i in range(place[n] - o):
        sums.root[root + i] += f[o + i] * e[o + i]
    for v in range(n - 1, -1, -1):
        r, o, size = nodes.rule[at + v], place[v], place[v + 1] - place[v]
        if v < n - 1:
            normalise_outside(o, size, e, f)
        if len(usage) > 0:
            add_loss(given.first[nodes.symbol[at + v]], o, size, e, f, usage, sums.loss)
        if nodes.kind[at + v] == LEXICAL:
            for i in range(size):
                sums.pair[given.pair_offset[r] + i] += f[o + i] * e[o + i]
        else:
            b = nodes.left[at + v]
            if nodes.kind[at + v] == BINARY:
                children_outside(r, v, b, nodes.right[at + v], given.binary, values, sums.binary)
            else:
                children_outside(r, v, b, -1, given.unary, values, sums.unary)
    return np.log(z)


@inline
def normalise_outside(o: int, size: int, e: Floats, f: Floats) -> float:
    """Divide f of a node by the sum of e f; return that sum."""
    z = e[o] * f[o]
    for i in range(1, size):
        z += e[o + i] * f[o + i]
    if z <= 0:
        return _TINY
    for i in range(size):
        f[o + i] /= z
    return z


@inline
def add_loss(first: int, o: int, size: int, e: Floats, f: Floats, usage: Floats, loss: Floats) -> None:
    """Add the log likelihood ratio at a node if subcategories 2x and 2x+1 were merged (Petrov et al. 2006, section 2.2)."""
    for x in range(0, size - 1, 2):
        a, b = usage[first + x], usage[first + x + 1]
        if a + b <= 0:
            continue
        together = (a * e[o + x] + b * e[o + x + 1]) / (a + b) * (f[o + x] + f[o + x + 1])
        ratio = 1.0 - f[o + x] * e[o + x] - f[o + x + 1] * e[o + x + 1] + together
        loss[first + x] += np.log(max(ratio, 1e-10))


@inline
def children_outside(r: int, v: int, left: int, right: int, rows: RuleRows, values: TreeValues, sums: Floats) -> None:
    """Fill in f of the children of node v (``right`` < 0: there is one) and add the node to the sums of its rule."""
    place, e, f = values.place, values.e, values.f
    b, c = place[left], place[right] if right >= 0 else -1
    for j in range(b, place[left + 1]):
        f[j] = 0
    if c >= 0:
        for k in range(c, place[right + 1]):
            f[k] = 0
    own = f[place[v] : place[v + 1]]
    size = len(own)
    for q in range(rows.first[r], rows.first[r + 1]):
        j, k = b + rows.left[q], c + rows.right[q]
        w = e[j]
        if c >= 0:
            w *= e[k]
        if w > _NOTHING:
            x = rows.offset[q]
            add_multiple(w / values.largest[v], own, sums[x : x + size])
            d = dot_in_order(own, rows.value[x : x + size])
            if c >= 0:
                f[j] += d * e[k]
                f[k] += d * e[j]
            else:
                f[j] += d


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
