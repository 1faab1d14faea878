"""A latent-variable grammar at one level of its hierarchy: numbers of subcategories, rules, root and words.

Everything is made from expected counts: so one set of counts gives the grammar smoothed in any way, and, put together along the
hierarchy of splits, every coarser grammar (Petrov & Klein 2007).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.latent.lexicon import Emissions, LexiconSmoothing, WordTable, emissions
from treegauge.grammar.latent.rows import Rows, added, drop_small, join_rows, offsets, owners, scale_rows
from treegauge.grammar.latent.symbols import BaseGrammar, Int64

__all__ = ["LatentCounts", "LatentSmoothing", "Level", "coarser_sizes", "join_counts", "level_of", "rules_of", "usage"]


class LatentSmoothing(NamedTuple):
    """``rules``: the share of a row's mean over the parent's subcategories; the lexicon's is apart."""

    rules: float = 0.05
    lexicon: LexiconSmoothing = LexiconSmoothing()


class LatentCounts(NamedTuple):
    """Expected counts of a treebank: ``sizes`` are the numbers of subcategories of each symbol, ``root`` counts them at the top,
    ``pair`` the pairs of tag and word, one number for each subcategory of the tag."""

    sizes: Int64
    binary: Rows
    unary: Rows
    root: NDArray[np.float64]
    pair: NDArray[Any]


class Level(NamedTuple):
    """Probabilities. ``first[A]`` is where A's subcategories begin when those of all symbols are numbered through."""

    sizes: Int64
    first: Int64
    binary: Rows
    unary: Rows
    root: NDArray[Any]
    emissions: Emissions
    flat: float
    spelling: float


def rules_of(base: BaseGrammar, counts: LatentCounts, smoothing: float, least: float = 0.0) -> tuple[Rows, Rows]:
    """The probabilities of binary and unary rules."""
    binary, unary = owners(counts.binary, base.binary, counts.sizes), owners(counts.unary, base.unary, counts.sizes)
    size = int(counts.sizes.sum())
    total = added(binary, counts.binary.value, size) + added(unary, counts.unary.value, size)
    return (
        drop_small(scale_rows(counts.binary, binary, total, smoothing), least),
        drop_small(scale_rows(counts.unary, unary, total, smoothing), least),
    )


def level_of(base: BaseGrammar, table: WordTable, counts: LatentCounts, smoothing: LatentSmoothing, least: float = 1e-6) -> Level:
    """The grammar that expected counts give; rows are dropped below ``least`` times their rule's largest weight."""
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
                total += added(begin[rules[rule, column]] + inner, in_row, len(total))
    return total


def coarser_sizes(base: BaseGrammar, sizes: Int64, to: Int64) -> Int64:
    """The number of subcategories of each symbol after subcategory x became number ``to[x]``."""
    begin = offsets(sizes)
    return np.array([int(to[begin[s] : begin[s + 1]].max()) + 1 for s in range(base.size)], np.int64)


def join_counts(base: BaseGrammar, table: WordTable, counts: LatentCounts, to: Int64) -> LatentCounts:
    """The counts of a coarser grammar, in which subcategory x is number ``to[x]`` of its symbol."""
    new = coarser_sizes(base, counts.sizes, to)
    begin = offsets(counts.sizes)
    symbol = np.repeat(np.arange(base.size), counts.sizes)
    root = added(offsets(new)[symbol] + to, counts.root, int(new.sum()))
    old, made = table.pair_offsets(counts.sizes), table.pair_offsets(new)
    widths = np.diff(old)
    inner = to[np.repeat(begin[table.pair_tag] - old[:-1], widths) + np.arange(int(old[-1]))]
    pair = added(np.repeat(made[:-1], widths) + inner, counts.pair, int(made[-1]))
    return LatentCounts(
        new,
        join_rows(counts.binary, base.binary, counts.sizes, new, to),
        join_rows(counts.unary, base.unary, counts.sizes, new, to),
        root,
        pair,
    )
