"""One step of inside-outside re-estimation from bracketed sentences (Pereira & Schabes 1992).

The new P(A -> rhs) is the expected count of the rule divided by that of A; each sentence is weighted by 1 / P(sentence). A
nonterminal whose expected count is 0 keeps its rules; a probability of 0 stays 0. Sentences without a parse that respects their
brackets are left out and counted. A dense grammar, in Chomsky normal form, has the probabilities of all possible rules in arrays.

Dense grammars are counted by kernels, in blocks of sentences. The blocks are fixed and their sums are added in order, so that the
result has the same bits for any number of threads or workers. Other grammars are counted with :class:`~treegauge.parsing.Forest`,
and so are the rare sentences whose probabilities are out of the kernels' range.

:func:`decode_brackets` parses with a dense grammar, only spans but fast: experiments parse every test sentence after every step.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Ints
from treegauge.engines import IN_PROCESS, Engine, in_threads
from treegauge.errors import UsageError
from treegauge.grammar.pcfg import PCFG, Rule, totals_by_parent
from treegauge.learning.kernels import (
    OUT_OF_RANGE,
    BlockCounts,
    BlockRules,
    BlockTokens,
    DenseChart,
    bracket_posteriors,
    count_block,
    likeliest_splits,
    most_cells,
    new_chart,
)
from treegauge.learning.sentences import BracketedSentences
from treegauge.neural.dense_pcfg import expected_rule_counts
from treegauge.parsing.forest import Forest
from treegauge.parsing.free_objectives import best_spans, spans_below
from treegauge.tables import concise
from treegauge.trees.columns import Float64


@dataclass(frozen=True, eq=False, repr=False)
class DenseGrammar:
    """``binary[A, B, C]`` = P(A -> B C) and ``lexical[w, A]`` = P(A -> w); the start symbol is symbol 0.

    >>> grammar = DenseGrammar.from_pcfg(PCFG.parse('S -> S S [0.25] | "a" [0.75]'))
    >>> grammar.binary.tolist(), grammar.lexical.tolist()
    ([[[0.25]]], [[0.75]])
    """

    symbols: tuple[str, ...]
    terminals: tuple[str, ...]
    binary: Float64
    lexical: Float64
    labels: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    """The labels of symbols in output trees, see :class:`~treegauge.grammar.PCFG`."""

    @classmethod
    def from_pcfg(cls, grammar: PCFG) -> DenseGrammar:
        """The arrays of a grammar in Chomsky normal form."""
        if not is_normal_form(grammar):
            raise UsageError("only rules A -> B C and A -> word fit into a dense grammar")
        N, words = len(grammar.nonterminals), len(grammar.vocabulary)
        empty = cls(grammar.nonterminals, grammar.vocabulary, np.zeros((N, N, N)), np.zeros((words, N)), grammar.labels)
        return empty.add((rule, rule.probability) for rule in grammar.rules)

    def add(self, values: Iterable[tuple[Rule, float]]) -> DenseGrammar:
        """Add values to the places of their rules in the arrays, and return the grammar."""
        symbol = {name: i for i, name in enumerate(self.symbols)}
        terminal = {word: i for i, word in enumerate(self.terminals)}
        for rule, value in values:
            if rule.is_lexical:
                self.lexical[terminal[rule.rhs[0]], symbol[rule.lhs]] += value
            else:
                self.binary[symbol[rule.lhs], symbol[rule.rhs[0]], symbol[rule.rhs[1]]] += value
        return self

    def to_pcfg(self, *, threshold: float = 0.0) -> PCFG:
        """The grammar as a list of rules; those less probable than ``threshold`` are left out, and the others are scaled."""
        rules = (rule for rule in self._rules() if rule.probability >= max(threshold, np.nextafter(0.0, 1.0)))
        return PCFG.from_rules(rules, start=self.symbols[0], renormalise=threshold > 0, labels=self.labels)

    def _rules(self) -> Iterator[Rule]:
        for A, parent in enumerate(self.symbols):
            for B, C in np.argwhere(self.binary[A] > 0).tolist():
                yield Rule(parent, (self.symbols[B], self.symbols[C]), (False, False), float(self.binary[A, B, C]))
            for w in np.flatnonzero(self.lexical[:, A] > 0).tolist():
                yield Rule(parent, (self.terminals[w],), (True,), float(self.lexical[w, A]))

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word in ``lexical``; -1 for a word that no rule produces."""
        known = {word: i for i, word in enumerate(self.terminals)}
        return np.array([known.get(word, -1) for word in words], np.int64)

    @property
    def n_rules(self) -> int:
        """The number of rules that have a probability above 0."""
        return int((self.binary > 0).sum() + (self.lexical > 0).sum())

    def __repr__(self) -> str:
        return f"<DenseGrammar of {self.n_rules:,} rules, {len(self.symbols)} symbols, {len(self.terminals):,} words>"


def is_normal_form(grammar: PCFG) -> bool:
    """Whether every rule is A -> B C or A -> word (Chomsky normal form)."""
    return all(rule.words in ((True,), (False, False)) for rule in grammar.rules)


def random_grammar(nonterminals: int, terminals: Sequence[str], seed: int | Sequence[int]) -> DenseGrammar:
    """All rules in Chomsky normal form over S, N1, N2 ..., with random probabilities: draws from (0, 1], divided by their sum.

    Pereira & Schabes (1992): 15 nonterminals and 48 tags make 4095 rules.

    >>> random_grammar(15, [f"t{i}" for i in range(48)], seed=1)
    <DenseGrammar of 4,095 rules, 15 symbols, 48 words>
    """
    if nonterminals < 1:
        raise UsageError(f"a grammar needs at least one nonterminal, not {nonterminals}")
    rng = np.random.default_rng(seed)
    # From (0, 1] and not [0, 1): a rule that starts at 0 stays there.
    weight = 1.0 - rng.random((nonterminals, nonterminals**2 + len(terminals)))
    weight /= weight.sum(axis=1, keepdims=True)
    binary = weight[:, : nonterminals**2].reshape((nonterminals,) * 3)
    lexical = weight[:, nonterminals**2 :].T
    symbols = ("S", *(f"N{i}" for i in range(1, nonterminals)))
    return DenseGrammar(symbols, tuple(terminals), binary.copy(), lexical.copy())


BLOCK = 32
"""The number of sentences in a block. It is a constant, because other blocks would give other bits."""
GROUP = 8
"""The number of blocks that are sent to a worker together."""


class DenseExpectation(NamedTuple):
    """Expected counts in arrays of the grammar's shapes, and the logarithm of each sentence's probability, -inf without a parse."""

    binary: Float64
    lexical: Float64
    log_probability: Float64


class RuleExpectation(NamedTuple):
    """The expected count of each rule, and the logarithm of each sentence's probability, -inf without a parse."""

    counts: Float64
    log_probability: Float64


@dataclass(frozen=True, eq=False)
class _Block:
    """The sentences ``first`` to ``last`` as kernels read them; ``terminals`` are the distinct ones among their words, ``longest``
    is the length of the longest sentence, ``cells`` the largest number of cells of a sentence's chart."""

    first: int
    last: int
    terminals: NDArray[np.int64]
    tokens: BlockTokens
    longest: int
    cells: int


@dataclass(frozen=True, eq=False)
class SentenceBlocks:
    """Sentences cut into blocks for the kernels, once for all iterations."""

    sentences: BracketedSentences
    blocks: tuple[_Block, ...]


def cut_blocks(sentences: BracketedSentences) -> SentenceBlocks:
    """Sentences in the form that the kernels read."""
    firsts = range(0, len(sentences), BLOCK)
    return SentenceBlocks(sentences, tuple(_block(sentences, first, min(first + BLOCK, len(sentences))) for first in firsts))


def _block(sentences: BracketedSentences, first: int, last: int) -> _Block:
    a, b = sentences.token_offset[first], sentences.token_offset[last]
    c, d = sentences.bracket_offset[first], sentences.bracket_offset[last]
    terminals, word = np.unique(sentences.terminal[a:b], return_inverse=True)
    tokens = BlockTokens(
        word.reshape(-1).astype(np.int64),
        sentences.token_offset[first : last + 1] - a,
        sentences.start[c:d].astype(np.int64),
        sentences.end[c:d].astype(np.int64),
        sentences.bracket_offset[first : last + 1] - c,
    )
    longest = int(np.diff(tokens.word_first).max())
    cells = int(most_cells(tokens, np.empty((longest, longest + 1), np.int64)))
    return _Block(first, last, terminals.astype(np.int64), tokens, longest, cells)


def expect_dense(
    grammar: DenseGrammar, prepared: SentenceBlocks, *, threads: int | None = None, engine: Engine = IN_PROCESS
) -> DenseExpectation:
    """Expected counts under a dense grammar (Pereira & Schabes 1992), by default with all processors.

    >>> from treegauge.learning.sentences import read_brackets
    >>> grammar = DenseGrammar.from_pcfg(PCFG.parse('S -> S S [0.5] | "a" [0.5]'))
    >>> counted = expect_dense(grammar, cut_blocks(read_brackets("a a a\\n(a a) a")))
    >>> counted.binary.round(9).tolist(), counted.lexical.round(9).tolist(), np.exp(counted.log_probability).round(9).tolist()
    ([[[4.0]]], [[6.0]], [0.0625, 0.03125])
    """
    sentences, N = prepared.sentences, len(grammar.symbols)
    row = grammar.rows(sentences.terminals)
    # Row -1 of the padded array belongs to words that no rule produces.
    lexical = np.concatenate([grammar.lexical, np.zeros((1, N))])
    flat = grammar.binary.reshape(N, N * N)
    binary, found = np.zeros((N, N * N)), np.zeros_like(lexical)
    log_probability = np.empty(len(sentences))

    words = lexical[row]
    if engine.in_process:
        workers = threads or os.cpu_count() or 1
        counted = in_threads(partial(_count, flat, words), prepared.blocks, workers, ahead=4)
    else:
        # The counts of the blocks come back separately, to be added in order.
        every = [prepared.blocks[first : first + GROUP] for first in range(0, len(prepared.blocks), GROUP)]
        groups = engine.map(_count_group, (flat, words), every)
        counted = (counts for group in groups for counts in group)
    for block, counts in zip(prepared.blocks, counted, strict=True):
        binary += counts.binary
        np.add.at(found, row[block.terminals], counts.lexical)
        log_probability[block.first : block.last] = counts.log_probability
    expected = DenseExpectation(binary.reshape(grammar.binary.shape) * grammar.binary, found[:-1], log_probability)
    return _with_out_of_range(grammar, sentences, expected)


def expect_on_device(grammar: DenseGrammar, sentences: BracketedSentences, device: str) -> DenseExpectation:
    """The counts of :func:`expect_dense`, except for rounding, computed by torch on a device such as ``cuda``, in batches."""
    row, offset = grammar.rows(sentences.terminals), sentences.token_offset
    given = [(row[sentences.terminal[offset[i] : offset[i + 1]]], sentences.brackets(i)) for i in range(len(sentences))]
    return DenseExpectation(*expected_rule_counts(grammar.binary, grammar.lexical, given, device))


def _count_group(grammar: tuple[Float64, Float64], blocks: tuple[_Block, ...]) -> list[BlockCounts]:
    return [_count(*grammar, block) for block in blocks]


def _count(binary: Float64, words: Float64, block: _Block) -> BlockCounts:
    """The counts of a block; ``words`` has the lexical probabilities of all words of the sentences."""
    N, lexical = len(binary), words[block.terminals]
    largest = lexical.max(axis=1)
    divisor = np.where(largest > 0, largest, 1.0)
    with np.errstate(divide="ignore"):
        grammar = BlockRules(binary, lexical / divisor[:, None], np.log(largest))
    chart: DenseChart = new_chart(max(block.longest, 1), N, max(block.cells, 1))
    counts = BlockCounts(np.zeros_like(binary), np.zeros_like(lexical), np.empty(block.last - block.first))
    count_block(block.tokens, grammar, chart, counts)
    return counts


def _with_out_of_range(grammar: DenseGrammar, sentences: BracketedSentences, expected: DenseExpectation) -> DenseExpectation:
    """The same counts with those of the sentences added that were out of the kernels' range."""
    odd = np.flatnonzero(expected.log_probability == OUT_OF_RANGE)
    if not len(odd):
        return expected
    rules = grammar.to_pcfg()
    counted = expect_rules(rules, sentences.take(odd))
    expected.log_probability[odd] = counted.log_probability
    replace(grammar, binary=expected.binary, lexical=expected.lexical).add(zip(rules.rules, counted.counts.tolist(), strict=True))
    return expected


def expect_rules(grammar: PCFG, sentences: BracketedSentences, *, engine: Engine = IN_PROCESS) -> RuleExpectation:
    """Expected counts under any grammar, with rules of any length: from the forest of each sentence, summed block by block."""
    counts = np.zeros(len(grammar.rules))
    log_probability: list[Float64] = []
    blocks = (sentences.take(np.arange(first, min(first + BLOCK, len(sentences)))) for first in range(0, len(sentences), BLOCK))
    for of_block in engine.map(_expect_block, grammar, blocks):
        counts += of_block.counts
        log_probability.append(of_block.log_probability)
    return RuleExpectation(counts, np.concatenate(log_probability) if log_probability else np.zeros(0))


def _expect_block(grammar: PCFG, sentences: BracketedSentences) -> RuleExpectation:
    counts = np.zeros(len(grammar.rules))
    log_probability = np.full(len(sentences), -math.inf)
    for i in range(len(sentences)):
        words = sentences.words(i)
        if words:
            forest = Forest(grammar, words, brackets=sentences.brackets(i))
            log_probability[i] = forest.log_partition
            if forest.has_parse:
                counts += forest.expected_counts()
    return RuleExpectation(counts, log_probability)


Learnable = DenseGrammar | PCFG
_SMALL, _SHARE = 32, 100
_ROUNDING = 2.0**-48


@concise
class ReestimationStep(NamedTuple):
    """A grammar, its cross entropy, and the grammar re-estimated from it (``better``).

    ``cross_entropy`` is -sum of log2 P(sentence) / number of words, in bits per word, over the sentences that have a parse;
    ``skipped`` counts the others. If no sentence has a parse it is infinite, and the grammar stays the same.
    """

    grammar: Learnable
    cross_entropy: float
    skipped: int
    log_probability: NDArray[np.float64]
    better: Learnable


def learnable(grammar: PCFG) -> Learnable:
    """The form in which a grammar is re-estimated fastest: dense if it is in Chomsky normal form and not too sparse."""
    size = len(grammar.nonterminals)
    if is_normal_form(grammar) and (size <= _SMALL or size**3 <= _SHARE * len(grammar.rules)):
        return DenseGrammar.from_pcfg(grammar)
    return grammar


def reestimate(grammar: PCFG, sentences: BracketedSentences, *, threads: int | None = None) -> PCFG:
    """The grammar after one step, its rules in the same order.

    >>> from treegauge.learning import BracketedSentences
    >>> grammar = PCFG.parse('S -> A S [.25] | S A [.25] | "a" [.5]\\nA -> "a" [.5] | S S [.5]')
    >>> print(reestimate(grammar, BracketedSentences.of([(["a", "a", "a"], [])])))
    S -> A S [0.214286]
    S -> S A [0.214286]
    S -> "a" [0.571429]
    A -> "a" [0.666667]
    A -> S S [0.333333]
    """
    better = step(learnable(grammar), cut_blocks(sentences), threads=threads).better
    made = better if isinstance(better, PCFG) else better.to_pcfg()
    order = {rule.production: number for number, rule in enumerate(grammar.rules)}
    return PCFG(tuple(sorted(made.rules, key=lambda rule: order[rule.production])), made.start, made.labels)


def reestimation_steps(
    grammar: Learnable, sentences: BracketedSentences, *, threads: int | None = None
) -> Iterator[ReestimationStep]:
    """An endless sequence of steps; step ``k`` describes the grammar after ``k`` re-estimations."""
    prepared = cut_blocks(sentences)
    while True:
        made = step(grammar, prepared, threads=threads)
        yield made
        grammar = made.better


def step(
    grammar: Learnable,
    prepared: SentenceBlocks,
    *,
    threads: int | None = None,
    engine: Engine = IN_PROCESS,
    device: str | None = None,
) -> ReestimationStep:
    """The cross entropy of a grammar, and the grammar re-estimated from it; with ``device`` a dense grammar is counted by torch."""
    if isinstance(grammar, PCFG):
        counted = expect_rules(grammar, prepared.sentences, engine=engine)
        better: Learnable = _relative_rules(grammar, counted)
    else:
        counted = (
            expect_dense(grammar, prepared, threads=threads, engine=engine)
            if device is None
            else expect_on_device(grammar, prepared.sentences, device)
        )
        better = _relative_dense(grammar, counted)
    parsed = counted.log_probability > -math.inf
    if not parsed.any():
        return ReestimationStep(grammar, math.inf, len(parsed), counted.log_probability, grammar)
    words = int(prepared.sentences.lengths[parsed].sum())
    bits = (0.0 - math.fsum(counted.log_probability[parsed].tolist())) / math.log(2)
    # If everything is certain, probabilities are 1 except for rounding, and the cross entropy is 0.
    return ReestimationStep(
        grammar, bits / words if bits > _ROUNDING * words else 0.0, int((~parsed).sum()), counted.log_probability, better
    )


def _relative_dense(grammar: DenseGrammar, counted: DenseExpectation) -> DenseGrammar:
    total = counted.binary.sum(axis=(1, 2)) + counted.lexical.sum(axis=0)
    seen = total > 0
    divisor = np.where(seen, total, 1.0)
    return DenseGrammar(
        grammar.symbols,
        grammar.terminals,
        np.where(seen[:, None, None], counted.binary / divisor[:, None, None], grammar.binary),
        np.where(seen, counted.lexical / divisor, grammar.lexical),
        grammar.labels,
    )


def _relative_rules(grammar: PCFG, counted: RuleExpectation) -> PCFG:
    totals = totals_by_parent(grammar.rules, counted.counts.tolist())
    rules = [
        rule._replace(probability=count / totals[rule.lhs]) if totals[rule.lhs] > 0 else rule
        for rule, count in zip(grammar.rules, counted.counts.tolist(), strict=True)
    ]
    return PCFG(tuple(rules), grammar.start, grammar.labels)


BracketList = list[tuple[int, int]]
"""The spans of two words or more of a binary tree; a span comes before those inside it."""


class DecodedBrackets(NamedTuple):
    """The brackets of a sentence's likeliest parse, with the logarithm of its probability, and those of the tree with most right
    brackets on average, with their expected number."""

    viterbi: BracketList
    log_probability: float
    bracketed_recall: BracketList
    expected_brackets: float


def decode_brackets(grammar: DenseGrammar, sentences: BracketedSentences) -> list[DecodedBrackets | None]:
    """Both parses of each sentence, ignoring its own brackets; ``None`` if it has no parse.

    >>> from treegauge.grammar import PCFG
    >>> from treegauge.learning import read_brackets
    >>> dense = DenseGrammar.from_pcfg(PCFG.parse('S -> S S [.4] | "a" [.6]'))
    >>> [found] = decode_brackets(dense, read_brackets("a a a"))
    >>> found.viterbi, round(found.expected_brackets, 9)
    ([(0, 3), (1, 3)], 1.5)
    """
    row = grammar.rows(sentences.terminals)
    N = len(grammar.symbols)
    binary = grammar.binary.reshape(N, N * N)
    lexical = np.concatenate([grammar.lexical, np.zeros((1, N))])
    with np.errstate(divide="ignore"):
        log_binary, log_lexical = np.log(binary), np.log(lexical)
    found: list[DecodedBrackets | None] = []
    for i in range(len(sentences)):
        words = row[sentences.terminal[sentences.token_offset[i] : sentences.token_offset[i + 1]]]
        if not len(words):
            found.append(None)
            continue
        log_probability, split = likeliest_splits(log_binary, log_lexical[words])
        if log_probability == -math.inf:
            found.append(None)
            continue
        weight = _bracket_posteriors(binary, lexical[words])
        if weight is None:
            forest = Forest(grammar.to_pcfg(), sentences.words(i))
            best = forest.argmax("bracketed-recall")
            phrases = [(span.start, span.end) for span in best.tree.spans() if span.end - span.start > 1]
            found.append(DecodedBrackets(_brackets(split), float(log_probability), phrases, best.score))
        else:
            expected, recall_split = best_spans(weight)
            found.append(DecodedBrackets(_brackets(split), float(log_probability), _brackets(recall_split), float(expected)))
    return found


def _bracket_posteriors(binary: NDArray[np.float64], lexical: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The probability of each span of two words or more that a constituent has it; None if numbers are out of range."""
    n, N = lexical.shape
    largest = lexical.max(axis=1)
    grammar = BlockRules(binary, lexical / largest[:, None], np.log(largest))
    none = np.zeros(0, np.int64)
    tokens = BlockTokens(np.arange(n), np.array([0, n]), none, none, np.array([0, 0]))
    chart: DenseChart = new_chart(n, N, n * (n + 1) // 2)
    weight = np.zeros((n, n + 1))
    return weight if bracket_posteriors(tokens, grammar, chart, weight) else None


def _brackets(split: Ints) -> BracketList:
    """The brackets of the binary tree with these splits."""
    return [(s, t) for s, t in spans_below(split, len(split)) if t - s > 1]
