"""Inside, outside and expected rule counts of bracketed sentences under a dense grammar.

Letters (Goodman 1996): a span is [s, t), split at r; A -> B C is a rule over it; e is the inside and f the outside probability.
There are N symbols; the pair (B, C) is the column B * N + C of ``binary`` (N, N * N); x[BC] = sum over r of e(s, r, B) e(r, t, C).

Only spans that cross no bracket have a cell, so forbidden spans cost nothing. Against underflow, the probabilities of each word are
divided by the largest of them, and each cell has its numbers as multiples of BASE ** scale, powers of two, so that nothing is
rounded. f is scaled such that e f of a cell is its posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Floats, Ints, helper, kernel
from treegauge.parsing.span_kernels import BASE, HIGH, LOG_BASE, LOW, power

OUT_OF_RANGE = np.inf
"""A mark instead of a sentence's log probability: its numbers do not fit into cells of one scale; it must be counted elsewhere."""

_FURTHEST = 2.0**400


class BlockRules(NamedTuple):
    """P(A -> B C) as (N, N * N), and P(A -> w) of a block's words as (words, N), each row divided by ``exp(log_largest)``."""

    binary: Floats
    lexical: Floats
    log_largest: Floats


class BlockTokens(NamedTuple):
    """The words (numbered within the block) and the brackets of a block's sentences, with their offsets."""

    word: Ints
    word_first: Ints
    start: Ints
    end: Ints
    bracket_first: Ints


class BlockCounts(NamedTuple):
    """Expected counts divided by the rule's probability (``binary``), expected counts (``lexical``), log P(sentence)."""

    binary: Floats
    lexical: Floats
    log_probability: Floats


class DenseChart(NamedTuple):
    """The arrays for one sentence at a time; ``cell[s, t]`` is the number of a span that may be a constituent, -1 for others."""

    cell: Ints
    inside: Floats
    outside: Floats
    scale: Ints
    left: Ints
    right: Ints
    factor: Floats
    x: Floats
    y: Floats
    binary: Floats


def new_chart(n: int, N: int, cells: int) -> DenseChart:
    """The arrays for sentences of up to ``n`` words and ``cells`` cells, under a grammar of N symbols."""
    return DenseChart(
        cell=np.empty((n, n + 1), np.int64),
        inside=np.empty((cells, N)),
        outside=np.empty((cells, N)),
        scale=np.empty(cells, np.int64),
        left=np.empty(n, np.int64),
        right=np.empty(n, np.int64),
        factor=np.empty(n),
        x=np.empty(N * N),
        y=np.empty(N * N),
        binary=np.empty((N, N * N)),
    )


@helper
def number_cells(n: int, tokens: BlockTokens, first: int, last: int, cell: Ints) -> int:
    """Number the spans that cross none of the brackets ``first:last``, short spans first. Returns how many there are."""
    for s in range(n):
        for t in range(s + 1, n + 1):
            cell[s, t] = 0
    for b in range(first, last):
        i, j = tokens.start[b], tokens.end[b]
        for inner in range(i + 1, j):
            for s in range(i):
                cell[s, inner] = -1
            for t in range(j + 1, n + 1):
                cell[inner, t] = -1
    number = 0
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            if cell[s, s + d] == 0:
                cell[s, s + d] = number
                number += 1
    return number


@helper
def gather_splits(s: int, t: int, chart: DenseChart) -> tuple[int, int]:
    """Put the two cells of each split of [s, t) into ``left`` and ``right``. Returns the number of splits and their largest
    scale."""
    m, top = 0, -(2**62)
    for r in range(s + 1, t):
        a, b = chart.cell[s, r], chart.cell[r, t]
        if a >= 0 and b >= 0:
            chart.left[m], chart.right[m] = a, b
            top = max(top, chart.scale[a] + chart.scale[b])
            m += 1
    return m, top if m else 0


@helper
def clear(values: Floats) -> None:
    """Set all values to 0."""
    for i in range(len(values)):
        values[i] = 0.0


@helper
def multiply_splits(m: int, scale: int, chart: DenseChart, x: Floats) -> None:
    """Fill in x, as multiples of BASE ** scale, and the factor of each of the m splits."""
    e, N = chart.inside, chart.inside.shape[1]
    clear(x)
    for k in range(m):
        a, b = chart.left[k], chart.right[k]
        factor = power(chart.scale[a] + chart.scale[b] - scale)
        chart.factor[k] = factor
        for B in range(N):
            of_left = factor * e[a, B]
            for C in range(N):
                x[B * N + C] += of_left * e[b, C]


@helper
def apply_rules(P: Floats, x: Floats, e: Floats) -> float:
    """Fill in e[A] = sum of P(A -> B C) x[BC]. Returns the largest."""
    largest = 0.0
    for a in range(len(e)):
        e[a] = 0.0
        for bc in range(len(x)):
            e[a] += P[a, bc] * x[bc]
        largest = max(largest, e[a])
    return largest


@helper
def pass_down(P: Floats, f: Floats, y: Floats) -> None:
    """Fill in y[BC] = sum of f[A] P(A -> B C)."""
    clear(y)
    for a in range(len(f)):
        for bc in range(len(y)):
            y[bc] += f[a] * P[a, bc]


@helper
def add_rule_counts(f: Floats, x: Floats, binary: Floats) -> None:
    """Count the rules over a cell: add f[A] x[BC]."""
    for a in range(len(f)):
        for bc in range(len(x)):
            binary[a, bc] += f[a] * x[bc]


@helper
def inside_cell(c: int, m: int, top: int, grammar: BlockRules, chart: DenseChart) -> bool:
    """Fill in e(s, t, A) = sum of P(A -> B C) x[BC] of cell c. Returns False if the cell's numbers do not fit one scale."""
    e = chart.inside[c]
    multiply_splits(m, top, chart, chart.x)
    largest = apply_rules(grammar.binary, chart.x, e)
    if largest > HIGH or 0 < largest < LOW:
        step = 1 if largest > HIGH else -1
        for a in range(len(e)):
            e[a] *= power(-step)
        top += step
    chart.scale[c] = top
    return largest == 0 or largest >= LOW / BASE


@helper
def inside(n: int, first: int, tokens: BlockTokens, grammar: BlockRules, chart: DenseChart) -> bool:
    """Fill in the chart of a sentence whose cells are numbered. Returns False if some cell's numbers do not fit one scale."""
    for s in range(n):
        c = chart.cell[s, s + 1]
        for a in range(chart.inside.shape[1]):
            chart.inside[c, a] = grammar.lexical[tokens.word[first + s], a]
        chart.scale[c] = 0
    for d in range(2, n + 1):
        for s in range(n - d + 1):
            c = chart.cell[s, s + d]
            if c < 0:
                continue
            m, top = gather_splits(s, s + d, chart)
            if not inside_cell(c, m, top, grammar, chart):
                return False
    return True


@helper
def outside_cell(m: int, grammar: BlockRules, f: Floats, chart: DenseChart) -> None:
    """Pass the outside probabilities of a cell down to the cells of its splits."""
    y, e, N = chart.y, chart.inside, len(f)
    pass_down(grammar.binary, f, y)
    for k in range(m):
        a, b, factor = chart.left[k], chart.right[k], chart.factor[k]
        for B in range(N):
            of_left, total = factor * e[a, B], 0.0
            for C in range(N):
                total += y[B * N + C] * e[b, C]
                chart.outside[b, C] += y[B * N + C] * of_left
            chart.outside[a, B] += factor * total


@helper
def outside(n: int, cells: int, grammar: BlockRules, chart: DenseChart) -> bool:
    """Fill in f of every cell, and the sentence's counts of binary rules. Returns False if some number is so large that those it is
    multiplied with may have been lost."""
    f = chart.outside
    for c in range(cells):
        clear(f[c])
    for a in range(len(chart.binary)):
        clear(chart.binary[a])
    f[chart.cell[0, n], 0] = 1.0 / chart.inside[chart.cell[0, n], 0]
    for d in range(n, 0, -1):
        for s in range(n - d + 1):
            c = chart.cell[s, s + d]
            if c < 0:
                continue
            largest = 0.0
            for a in range(f.shape[1]):
                largest = max(largest, f[c, a])
            if largest > _FURTHEST:
                return False
            if largest == 0 or d == 1:
                continue
            m, _ = gather_splits(s, s + d, chart)
            multiply_splits(m, chart.scale[c], chart, chart.x)
            outside_cell(m, grammar, f[c], chart)
            add_rule_counts(f[c], chart.x, chart.binary)
    return True


@helper
def count_sentence(i: int, tokens: BlockTokens, grammar: BlockRules, chart: DenseChart, counts: BlockCounts) -> float:
    """Add the expected counts of sentence ``i``. Returns its log probability, or -inf if a word has no rule, or OUT_OF_RANGE if the
    numbers do not fit or are all 0, either because there is no parse or because they are too small."""
    first, n = tokens.word_first[i], tokens.word_first[i + 1] - tokens.word_first[i]
    log_largest = 0.0
    for s in range(first, first + n):
        log_largest += grammar.log_largest[tokens.word[s]]
    if n == 0 or log_largest == -np.inf:
        return -np.inf
    cells = number_cells(n, tokens, tokens.bracket_first[i], tokens.bracket_first[i + 1], chart.cell)
    root = chart.cell[0, n]
    if not inside(n, first, tokens, grammar, chart) or chart.inside[root, 0] < 1 / _FURTHEST:
        return OUT_OF_RANGE
    if not outside(n, cells, grammar, chart):
        return OUT_OF_RANGE
    for a in range(len(counts.binary)):
        for bc in range(counts.binary.shape[1]):
            counts.binary[a, bc] += chart.binary[a, bc]
    for s in range(n):
        c = chart.cell[s, s + 1]
        for a in range(chart.inside.shape[1]):
            counts.lexical[tokens.word[first + s], a] += chart.inside[c, a] * chart.outside[c, a]
    return np.log(chart.inside[root, 0]) + chart.scale[root] * LOG_BASE + log_largest


@kernel
def count_block(tokens: BlockTokens, grammar: BlockRules, chart: DenseChart, counts: BlockCounts) -> None:
    """Add the expected counts of a block of sentences, and fill in the log probability of each."""
    for i in range(len(counts.log_probability)):
        counts.log_probability[i] = count_sentence(i, tokens, grammar, chart, counts)


@kernel
def most_cells(tokens: BlockTokens, cell: Ints) -> int:
    """The largest number of cells that a sentence of the block has."""
    most = 0
    for i in range(len(tokens.word_first) - 1):
        n = tokens.word_first[i + 1] - tokens.word_first[i]
        most = max(most, number_cells(n, tokens, tokens.bracket_first[i], tokens.bracket_first[i + 1], cell))
    return most


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
