"""The likeliest and the bracketed-recall parse of sentences under a dense grammar: only their spans, but fast.

:class:`~treegauge.parsing.Forest` gives the same parses and much more, but an experiment that parses every test sentence after
every step of learning needs kernels for grammars that have all possible rules.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Floats, Ints, kernel
from treegauge.learning.em import DenseGrammar
from treegauge.learning.kernels import BlockRules, BlockTokens, DenseChart, inside, new_chart, number_cells, outside
from treegauge.learning.sentences import BracketedSentences
from treegauge.parsing.forest import Forest
from treegauge.parsing.free import best_spans
from treegauge.parsing.span_trees import spans_below
from treegauge.trees.tree import Tree

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
            found.append(DecodedBrackets(_brackets(split), float(log_probability), _spans(best.tree), best.score))
        else:
            expected, recall_split = best_spans(weight, False)
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


@kernel
def bracket_posteriors(tokens: BlockTokens, grammar: BlockRules, chart: DenseChart, weight: Floats) -> bool:
    """Add the sum of e f over the symbols of each cell to ``weight``. Returns False if numbers are out of range."""
    n = len(weight)
    cells = number_cells(n, tokens, 0, 0, chart.cell)
    if not inside(n, 0, tokens, grammar, chart) or chart.inside[chart.cell[0, n], 0] < 2.0**-400:
        return False
    if not outside(n, cells, grammar, chart):
        return False
    for s in range(n):
        for t in range(s + 2, n + 1):
            c = chart.cell[s, t]
            for a in range(chart.inside.shape[1]):
                weight[s, t] += chart.inside[c, a] * chart.outside[c, a]
    return True


@kernel
def likeliest_splits(log_binary: Floats, log_lexical: Floats) -> tuple[float, Ints]:
    """The log probability of the likeliest parse, the first of equal ones, and the split of each of its spans (-1 elsewhere)."""
    n, N = log_lexical.shape
    value = np.full((n, n + 1, N), -np.inf)
    pair = np.full((n, n + 1, N), -1, np.int32)
    x = np.empty(N * N)
    for s in range(n):
        for a in range(N):
            value[s, s + 1, a] = log_lexical[s, a]
    for d in range(2, n + 1):
        for s in range(n - d + 1):
            t = s + d
            x[:] = -np.inf
            for r in range(s + 1, t):
                for b in range(N):
                    for c in range(N):
                        x[b * N + c] = max(x[b * N + c], value[s, r, b] + value[r, t, c])
            for a in range(N):
                for bc in range(N * N):
                    v = log_binary[a, bc] + x[bc]
                    if v > value[s, t, a]:
                        value[s, t, a] = v
                        pair[s, t, a] = bc
    split = np.full((n, n + 1), -1, np.int32)
    stack = [(0, n, 0)]
    while value[0, n, 0] > -np.inf and len(stack) > 0:
        s, t, a = stack.pop()
        if t - s == 1:
            continue
        b, c = pair[s, t, a] // N, pair[s, t, a] % N
        best = -np.inf
        for r in range(s + 1, t):
            if value[s, r, b] + value[r, t, c] > best:
                best, split[s, t] = value[s, r, b] + value[r, t, c], r
        at = split[s, t]
        stack.append((at, t, c))
        stack.append((s, at, b))
    return value[0, n, 0], split


def _brackets(split: Ints) -> BracketList:
    """The brackets of the binary tree with these splits."""
    return [(s, t) for s, t in spans_below(split, len(split)) if t - s > 1]


def _spans(tree: Tree) -> BracketList:
    return [(span.start, span.end) for span in tree.spans() if span.end - span.start > 1]
