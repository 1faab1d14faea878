"""Paired approximate randomisation: how often is a difference at least as large when whole sentences change places?

Under the null hypothesis the two systems' parses of a sentence are exchangeable. Sentences are swapped as wholes, so brackets of a
sentence may depend on each other as they like; the statistic is the difference of the corpus-level rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UsageError
from treegauge.metrics.compact_rows import BLOCK, CompactRows
from treegauge.scoring.counts import no_progress
from treegauge.significance.resampling import (
    DEFAULT_ROUNDS,
    DEFAULT_SEED,
    MOST_INEXACT,
    Bits,
    Floats,
    Name,
    PairedColumns,
    Progress,
    WeightedSums,
    all_swaps,
    groups_of_blocks,
    random_swaps,
    rounds_at_once,
)
from treegauge.trees.treebank import Int64

__all__ = ["RandomisationResult", "randomisation"]

_ROUNDING = 1e-13
"""Differences that are closer than this, in parts of the rates themselves, are the same number computed twice."""


_FEW = 64
"""More sentences than there can be where all ways to swap them are looked at."""


@dataclass(frozen=True)
class RandomisationResult:
    """Two-sided p-values, by name: of B's rates minus A's. ``exact``: all 2^n swaps were enumerated, else ``rounds`` random ones.

    ``p`` is nan where the difference itself is undefined.
    """

    names: tuple[Name, ...]
    difference: Floats
    p: Floats
    rounds: int
    exact: bool
    seed: int


def randomisation(
    paired: PairedColumns,
    a: int = 0,
    b: int = 1,
    *,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
    progress: Progress = no_progress,
    engine: Engine = IN_PROCESS,
) -> RandomisationResult:
    """Test systems ``a`` and ``b`` for every rate at once; ``progress`` is told how many rounds have been done.

    p = (hits + 1) / (rounds + 1), where hits are the rounds whose difference is at least as large (``>=``, so two identical
    systems have p = 1). Sentences on which no column differs cannot matter; if the others are so few that there are no more than
    ``rounds`` ways to swap them, all ways are looked at and p = hits / 2^n.

    >>> from treegauge.metrics.parseval import Parseval
    >>> counts = np.zeros((3, len(Parseval.columns)))
    >>> counts[:, 2:5] = [2, 4, 4]
    >>> better = counts.copy()
    >>> better[:, 2] = 3
    >>> result = randomisation(PairedColumns.of(Parseval(), [counts, better]))
    >>> result.exact, result.p[result.names.index(("parseval", "recall"))].item()
    (True, 0.25)
    """
    if not len(paired):
        raise UsageError("there are no sentences to test on")
    moving, sentences = _differing(paired.columns[a], paired.columns[b])
    rates_a, rates_b = paired.observed(a), paired.observed(b)
    difference = rates_b - rates_a
    n = len(sentences)
    exact = n <= rounds.bit_length() and 1 << n <= rounds
    least = np.abs(difference) - _ROUNDING * (np.abs(rates_a) + np.abs(rates_b))
    hits = np.zeros(len(paired.names), dtype=np.int64)
    done = 0
    swapping = _Swapping(_SwappedSystems(paired, a, b, sentences, moving), least, exact, sentences, len(paired), rounds, seed)
    for found, swaps in engine.map(_swap, swapping, groups_of_blocks(1 << n if exact else rounds)):
        hits += found
        done += swaps
        progress(swaps)
    p = hits / done if exact else (hits + 1) / (done + 1)
    return RandomisationResult(paired.names, difference, np.where(np.isnan(difference), np.nan, p), done, exact, seed)


class _Swapping(NamedTuple):
    """The swaps: all of the sentences that matter, or ``rounds`` random ones of all; and the least difference that is a hit."""

    swapped: _SwappedSystems
    least: Floats
    exact: bool
    sentences: Int64
    n_sentences: int
    rounds: int
    seed: int


def _differing(a: CompactRows, b: CompactRows) -> tuple[Int64, Int64]:
    """The columns in which any sentence differs, and the sentences that differ in any column."""
    n_rows, n_columns = a.shape
    columns, sentences = np.zeros(n_columns, dtype=np.bool_), np.zeros(n_rows, dtype=np.bool_)
    for number, (ours, theirs) in enumerate(zip(a.columns, b.columns, strict=True)):
        for first in range(0, n_rows, BLOCK):
            differs = ours[first : first + BLOCK] != theirs[first : first + BLOCK]
            sentences[first : first + BLOCK] |= differs
            columns[number] |= differs.any()
    return np.flatnonzero(columns), np.flatnonzero(sentences)


def _swap(swapping: _Swapping, blocks: range) -> tuple[Int64, int]:
    """The hits of each rate in some blocks of swaps, and how many swaps that were."""
    hits = np.zeros(len(swapping.least), dtype=np.int64)
    done = 0
    # Every sentence has its own coin, whether it matters to these metrics or not: other metrics see the same swaps.
    random = random_swaps(swapping.n_sentences, swapping.rounds, swapping.seed, blocks)
    for block in all_swaps(len(swapping.sentences), blocks) if swapping.exact else random:
        found = swapping.swapped.difference(block)
        # A swap that makes a rate undefined counts against significance.
        hits += ((np.abs(found) >= swapping.least) | np.isnan(found)).sum(axis=0)
        done += len(block)
    return hits, done


class _SwappedSystems:
    """Two systems some of whose sentences have changed places; only sentences and columns in which they differ are added up."""

    def __init__(self, paired: PairedColumns, a: int, b: int, sentences: Int64, moving: Int64) -> None:
        self._paired, self._moving, self._sentences = paired, moving, sentences
        self._total_a, self._total_b = paired.total(a), paired.total(b)
        ours, theirs = (paired.columns[system].only(moving.tolist()) for system in (a, b))
        if paired.exact:
            moved = _difference(ours, theirs)
            self._moved = WeightedSums(moved, exact=True)
            # Where all swaps are looked at, they are of the few sentences that differ.
            self._few_moved = moved.take(sentences[:_FEW]).floats()
            return
        self._large = None
        if len(sentences) * len(moving) > MOST_INEXACT:
            self._large = WeightedSums(ours, exact=False), WeightedSums(theirs, exact=False)
            return
        self._a, self._b = (np.ascontiguousarray(columns.take(sentences).floats()) for columns in (ours, theirs))
        others = np.setdiff1d(np.arange(len(paired)), sentences)
        self._same = np.ascontiguousarray(ours.take(others).floats()).sum(axis=0)

    def difference(self, swaps: Floats | Bits) -> Floats:
        """B's rates minus A's after each of the swaps: of all sentences, as bits, or of those that differ."""
        total_a = np.repeat(self._total_a, len(swaps), axis=0)
        total_b = np.repeat(self._total_b, len(swaps), axis=0)
        if self._paired.exact:
            moved = self._moved_by(swaps)
            total_a[:, self._moving] += moved
            total_b[:, self._moving] -= moved
        elif self._large is not None and isinstance(swaps, Bits):
            (ours, theirs), stay = self._large, swaps.others()
            total_a[:, self._moving] = ours.of(stay) + theirs.of(swaps)
            total_b[:, self._moving] = theirs.of(stay) + ours.of(swaps)
        else:
            # Sums of counts only: differences of huge counts would leave nothing of the small ones.
            few = rounds_at_once(len(self._paired))
            for first in range(0, len(swaps), few):
                some = swaps[first : first + few]
                swap = some.floats()[:, self._sentences] if isinstance(some, Bits) else some
                stay = 1 - swap
                total_a[first : first + few, self._moving] = stay @ self._a + swap @ self._b + self._same
                total_b[first : first + few, self._moving] = stay @ self._b + swap @ self._a + self._same
        return self._paired.rates_of(total_b) - self._paired.rates_of(total_a)

    def _moved_by(self, swaps: Floats | Bits) -> Floats:
        """The sums of what the swaps move from B to A."""
        if isinstance(swaps, Bits):
            return self._moved.of(swaps)
        return swaps @ self._few_moved


def _difference(ours: CompactRows, theirs: CompactRows) -> CompactRows:
    """Their counts minus ours."""
    blocks = (slice(first, first + BLOCK) for first in range(0, len(ours), BLOCK))
    return CompactRows.concatenate([CompactRows.of(theirs.floats(block) - ours.floats(block)) for block in blocks])
