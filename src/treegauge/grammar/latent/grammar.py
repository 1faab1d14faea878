"""A latent-variable grammar at one level of its hierarchy: the probabilities of rules, roots and words, made from expected counts.

One set of counts gives the grammar with any smoothing, and, with subcategories merged along the hierarchy of splits, every
coarser grammar (Petrov & Klein 2007).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.latent.lexicon import Emissions, LexiconSmoothing, WordTable, emissions
from treegauge.grammar.latent.rule_rows import RuleRows, drop_small, merge_rows, offsets, owners, scale_rows, sum_by_index
from treegauge.grammar.latent.symbols import BaseGrammar, Int64


class LatentSmoothing(NamedTuple):
    """Smoothing of a grammar: ``rules`` is the weight of the mean over the parent's subcategories in the probability of a rule."""

    rules: float = 0.05
    lexicon: LexiconSmoothing = LexiconSmoothing()


class LatentCounts(NamedTuple):
    """Expected counts of a treebank: ``sizes`` has the number of subcategories of each symbol, ``root`` the counts of subcategories
    at the root, and ``pair`` the counts of tag-word pairs, one number for each subcategory of the tag."""

    sizes: Int64
    binary: RuleRows
    unary: RuleRows
    root: NDArray[np.float64]
    pair: NDArray[Any]


class Level(NamedTuple):
    """The probabilities of a grammar at one level. The subcategories of all symbols are numbered consecutively; those of A begin
    at ``first[A]``. ``flat`` and ``spelling`` are the smoothing of the lexicon."""

    sizes: Int64
    first: Int64
    binary: RuleRows
    unary: RuleRows
    root: NDArray[Any]
    emissions: Emissions
    flat: float
    spelling: float


def rules_of(base: BaseGrammar, counts: LatentCounts, smoothing: float, least: float = 0.0) -> tuple[RuleRows, RuleRows]:
    """The probabilities of binary and of unary rules; see :func:`~treegauge.grammar.latent.rule_rows.drop_small` for ``least``."""
    binary, unary = owners(counts.binary, base.binary, counts.sizes), owners(counts.unary, base.unary, counts.sizes)
    size = int(counts.sizes.sum())
    total = sum_by_index(binary, counts.binary.value, size) + sum_by_index(unary, counts.unary.value, size)
    return (
        drop_small(scale_rows(counts.binary, binary, total, smoothing), least),
        drop_small(scale_rows(counts.unary, unary, total, smoothing), least),
    )


def level_of(base: BaseGrammar, table: WordTable, counts: LatentCounts, smoothing: LatentSmoothing, least: float = 1e-6) -> Level:
    """The grammar with the probabilities that expected counts give; rows below ``least`` times their rule's largest weight are
    dropped."""
    binary, unary = rules_of(base, counts, smoothing.rules, least)
    root = (counts.root / counts.root.sum()).astype(counts.binary.value.dtype)
    made = emissions(table, counts.sizes, base.is_tag, counts.pair, smoothing.lexicon)
    return Level(counts.sizes, offsets(counts.sizes), binary, unary, root, made, smoothing.lexicon.flat, smoothing.lexicon.spelling)


def usage(base: BaseGrammar, counts: LatentCounts) -> NDArray[np.float64]:
    """The expected count of every subcategory."""
    begin = offsets(counts.sizes)
    total = counts.root.copy()
    for rows, rules in ((counts.binary, base.binary), (counts.unary, base.unary)):
        if not len(rows.value):
            continue
        rule = np.repeat(np.arange(len(rules)), np.diff(rows.first))
        in_row = np.add.reduceat(rows.value.astype(np.float64), rows.offset[:-1])
        for column, inner in ((1, rows.left), (2, rows.right)):
            if column < rules.shape[1]:
                total += sum_by_index(begin[rules[rule, column]] + inner, in_row, len(total))
    return total


def coarser_sizes(base: BaseGrammar, sizes: Int64, to: Int64) -> Int64:
    """The number of subcategories of each symbol once subcategory x is number ``to[x]`` of its symbol."""
    begin = offsets(sizes)
    return np.array([int(to[begin[s] : begin[s + 1]].max()) + 1 for s in range(base.size)], np.int64)


def merge_counts(base: BaseGrammar, table: WordTable, counts: LatentCounts, to: Int64) -> LatentCounts:
    """The counts of the coarser grammar in which subcategory x is number ``to[x]`` of its symbol."""
    new = coarser_sizes(base, counts.sizes, to)
    begin = offsets(counts.sizes)
    symbol = np.repeat(np.arange(base.size), counts.sizes)
    root = sum_by_index(offsets(new)[symbol] + to, counts.root, int(new.sum()))
    old, made = table.pair_offsets(counts.sizes), table.pair_offsets(new)
    widths = np.diff(old)
    inner = to[np.repeat(begin[table.pair_tag] - old[:-1], widths) + np.arange(int(old[-1]))]
    pair = sum_by_index(np.repeat(made[:-1], widths) + inner, counts.pair, int(made[-1]))
    return LatentCounts(
        new,
        merge_rows(counts.binary, base.binary, counts.sizes, new, to),
        merge_rows(counts.unary, base.unary, counts.sizes, new, to),
        root,
        pair,
    )
