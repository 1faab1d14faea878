"""Expected counts of a grammar's rules over bracketed sentences, each sentence weighted by 1 / P(sentence).

Dense grammars go through kernels in blocks of sentences. Blocks are fixed and their sums are added in their order,
so that the result has the same bits for any number of threads or workers. Other grammars go through
:class:`~treegauge.parsing.Forest`, and so does the odd sentence whose probabilities no dense kernel can hold.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import HERE, Engine
from treegauge.grammar.pcfg import PCFG
from treegauge.learning.dense import DenseGrammar
from treegauge.learning.kernels import OUT_OF_RANGE, Chart, Counts, Grammar, Tokens, count_block, most_cells, new_chart
from treegauge.learning.sentences import BracketedSentences
from treegauge.parsing.forest import Forest

__all__ = ["DenseExpectation", "Prepared", "RuleExpectation", "expect_dense", "expect_rules", "prepare"]

Float64 = NDArray[np.float64]
BLOCK = 32
"""Sentences a block. A constant: other blocks, other bits."""
GROUP = 8
"""Blocks that go to a worker together."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class DenseExpectation(NamedTuple):
    """Expected counts as arrays like the grammar's, and the logarithm of each sentence's probability (-inf: no parse)."""

    binary: Float64
    lexical: Float64
    log_probability: Float64


class RuleExpectation(NamedTuple):
    """The expected count of each rule, and the logarithm of each sentence's probability (-inf: no parse)."""

    counts: Float64
    log_probability: Float64


@dataclass(frozen=True, eq=False)
class _Block:
    first: int
    last: int
    terminals: NDArray[np.int64]
    tokens: Tokens
    longest: int
    cells: int


@dataclass(frozen=True, eq=False)
class Prepared:
    """Sentences cut into blocks for the kernels: done once, used in every iteration."""

    sentences: BracketedSentences
    blocks: tuple[_Block, ...]


def prepare(sentences: BracketedSentences) -> Prepared:
    """Sentences as the kernels want them."""
    firsts = range(0, len(sentences), BLOCK)
    return Prepared(sentences, tuple(_block(sentences, first, min(first + BLOCK, len(sentences))) for first in firsts))


def _block(sentences: BracketedSentences, first: int, last: int) -> _Block:
    a, b = sentences.token_offset[first], sentences.token_offset[last]
    c, d = sentences.bracket_offset[first], sentences.bracket_offset[last]
    terminals, word = np.unique(sentences.terminal[a:b], return_inverse=True)
    tokens = Tokens(
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
    grammar: DenseGrammar, prepared: Prepared, *, threads: int | None = None, engine: Engine = HERE
) -> DenseExpectation:
    """Expected counts under a dense grammar (Pereira & Schabes 1992); by default on all processors.

    >>> from treegauge.learning.sentences import read_brackets
    >>> grammar = DenseGrammar.from_pcfg(PCFG.parse('S -> S S [0.5] | "a" [0.5]'))
    >>> counted = expect_dense(grammar, prepare(read_brackets("a a a\\n(a a) a")))
    >>> counted.binary.round(9).tolist(), counted.lexical.round(9).tolist(), np.exp(counted.log_probability).round(9).tolist()
    ([[[4.0]]], [[6.0]], [0.0625, 0.03125])
    """
    sentences, N = prepared.sentences, len(grammar.symbols)
    known = {word: i for i, word in enumerate(grammar.terminals)}
    row = np.array([known.get(word, -1) for word in sentences.terminals], np.int64)
    # Row -1 of the padded array: a word that no rule makes.
    lexical = np.concatenate([grammar.lexical, np.zeros((1, N))])
    flat = grammar.binary.reshape(N, N * N)
    binary, found = np.zeros((N, N * N)), np.zeros_like(lexical)
    log_probability = np.empty(len(sentences))

    words = lexical[row]
    if engine.in_process:
        workers = threads or os.cpu_count() or 1
        counted = _in_order(partial(_count, flat, words), prepared.blocks, workers)
    else:
        groups = engine.map(_count_group, (flat, words), _groups(prepared.blocks))
        counted = (counts for group in groups for counts in group)
    for block, counts in zip(prepared.blocks, counted, strict=True):
        binary += counts.binary
        np.add.at(found, row[block.terminals], counts.lexical)
        log_probability[block.first : block.last] = counts.log_probability
    expected = DenseExpectation(binary.reshape(grammar.binary.shape) * grammar.binary, found[:-1], log_probability)
    return _with_odd_sentences(grammar, sentences, expected)


def _groups(blocks: tuple[_Block, ...]) -> list[tuple[_Block, ...]]:
    """Blocks that a worker does at once; each block's counts come back by themselves, to be added in order."""
    return [blocks[first : first + GROUP] for first in range(0, len(blocks), GROUP)]


def _count_group(grammar: tuple[Float64, Float64], blocks: tuple[_Block, ...]) -> list[Counts]:
    return [_count(*grammar, block) for block in blocks]


def _count(binary: Float64, words: Float64, block: _Block) -> Counts:
    """The counts of a block; ``words`` are the probabilities of all words of the sentences."""
    N, lexical = len(binary), words[block.terminals]
    largest = lexical.max(axis=1)
    divisor = np.where(largest > 0, largest, 1.0)
    with np.errstate(divide="ignore"):
        grammar = Grammar(binary, lexical / divisor[:, None], np.log(largest))
    chart: Chart = new_chart(max(block.longest, 1), N, max(block.cells, 1))
    counts = Counts(np.zeros_like(binary), np.zeros_like(lexical), np.empty(block.last - block.first))
    count_block(block.tokens, grammar, chart, counts)
    return counts


def _in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """``work`` of each item, in their order; on ``workers`` threads, never far ahead of what has been taken."""
    if workers == 1:
        yield from map(work, items)
        return
    remaining = iter(items)
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(work, item) for item in itertools.islice(remaining, 4 * workers))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in itertools.islice(remaining, 1))


def _with_odd_sentences(grammar: DenseGrammar, sentences: BracketedSentences, expected: DenseExpectation) -> DenseExpectation:
    """The same with the sentences counted that were out of the kernels' range."""
    odd = np.flatnonzero(expected.log_probability == OUT_OF_RANGE)
    if not len(odd):
        return expected
    rules = grammar.to_pcfg()
    counted = expect_rules(rules, sentences.take(odd))
    expected.log_probability[odd] = counted.log_probability
    symbol = {name: i for i, name in enumerate(grammar.symbols)}
    terminal = {word: i for i, word in enumerate(grammar.terminals)}
    for rule, count in zip(rules.rules, counted.counts.tolist(), strict=True):
        if rule.is_lexical:
            expected.lexical[terminal[rule.rhs[0]], symbol[rule.lhs]] += count
        else:
            expected.binary[symbol[rule.lhs], symbol[rule.rhs[0]], symbol[rule.rhs[1]]] += count
    return expected


def expect_rules(grammar: PCFG, sentences: BracketedSentences, *, engine: Engine = HERE) -> RuleExpectation:
    """Expected counts under any grammar, rules of any arity: sentence by sentence through charts, summed block by block."""
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
