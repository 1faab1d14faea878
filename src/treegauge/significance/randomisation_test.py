"""Paired approximate randomisation: how often a difference is at least as large after random swaps of whole sentences.

Under the null hypothesis, the two systems' parses of a sentence are exchangeable. Whole sentences are swapped, so the brackets of a
sentence need not be independent; the statistic is the difference of the rates over the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UsageError
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

_ROUNDING = 1e-13
"""Two differences are taken as equal if they differ by less than this, relative to the rates; the rest is rounding."""


_FEW = 64
"""More than the number of sentences for which all swaps are enumerated can be."""


@dataclass(frozen=True)
class RandomisationResult:
    """The two-sided p-value of each difference, B's rate minus A's; nan if the difference is undefined.

    ``exact``: all 2^n swaps were enumerated; otherwise there were ``rounds`` random ones.
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
    """Test the difference between systems ``a`` and ``b`` for all rates at once.

    p = (hits + 1) / (rounds + 1), where hits is the number of rounds whose difference is at least as large (``>=``, so that p = 1
    for two identical systems). Sentences in which no column differs do not matter; if there are at most ``rounds`` ways to swap the
    n others, all ways are enumerated, and p = hits / 2^n. ``progress`` is called with the number of rounds done since the last
    call.

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
    differs = paired.columns[a] != paired.columns[b]
    moving, sentences = np.flatnonzero(differs.any(axis=0)), np.flatnonzero(differs.any(axis=1))
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
    """The swaps to try, all of the sentences that differ or ``rounds`` random ones, and the smallest difference that is a hit."""

    swapped: _SwappedSystems
    least: Floats
    exact: bool
    sentences: Int64
    n_sentences: int
    rounds: int
    seed: int


def _swap(swapping: _Swapping, blocks: range) -> tuple[Int64, int]:
    """The hits of each rate in some blocks of swaps, and the number of swaps."""
    hits = np.zeros(len(swapping.least), dtype=np.int64)
    done = 0
    # A coin is tossed for every sentence, whether it differs or not, so that all metrics see the same swaps.
    random = random_swaps(swapping.n_sentences, swapping.rounds, swapping.seed, blocks)
    for block in all_swaps(len(swapping.sentences), blocks) if swapping.exact else random:
        found = swapping.swapped.difference(block)
        # A swap that makes a rate undefined counts against significance.
        hits += ((np.abs(found) >= swapping.least) | np.isnan(found)).sum(axis=0)
        done += len(block)
    return hits, done


class _SwappedSystems:
    """Two systems with some sentences swapped; only the sentences and columns in which they differ are summed."""

    def __init__(self, paired: PairedColumns, a: int, b: int, sentences: Int64, moving: Int64) -> None:
        self._paired, self._moving, self._sentences = paired, moving, sentences
        self._total_a, self._total_b = paired.total(a), paired.total(b)
        ours, theirs = (paired.columns[system][:, moving] for system in (a, b))
        if paired.exact:
            moved = theirs - ours
            self._moved = WeightedSums(moved, exact=True)
            # If all swaps are enumerated, they are those of the few sentences that differ.
            self._few_moved = moved[sentences[:_FEW]]
            return
        self._large = None
        if len(sentences) * len(moving) > MOST_INEXACT:
            self._large = WeightedSums(ours, exact=False), WeightedSums(theirs, exact=False)
            return
        self._a, self._b = (np.ascontiguousarray(columns[sentences]) for columns in (ours, theirs))
        others = np.setdiff1d(np.arange(len(paired)), sentences)
        self._same = np.ascontiguousarray(ours[others]).sum(axis=0)

    def difference(self, swaps: Floats | Bits) -> Floats:
        """B's rates minus A's after each of the swaps, which are of all sentences (as bits) or of those that differ."""
        total_a = np.repeat(self._total_a, len(swaps), axis=0)
        total_b = np.repeat(self._total_b, len(swaps), axis=0)
        if self._paired.exact:
            moved = self._moved_sums(swaps)
            total_a[:, self._moving] += moved
            total_b[:, self._moving] -= moved
        elif self._large is not None and isinstance(swaps, Bits):
            (ours, theirs), stay = self._large, swaps.others()
            total_a[:, self._moving] = ours.of(stay) + theirs.of(swaps)
            total_b[:, self._moving] = theirs.of(stay) + ours.of(swaps)
        else:
            # Counts are summed, not their differences: subtracting huge counts would lose small ones.
            few = rounds_at_once(len(self._paired))
            for first in range(0, len(swaps), few):
                some = swaps[first : first + few]
                swap = some.floats()[:, self._sentences] if isinstance(some, Bits) else some
                stay = 1 - swap
                total_a[first : first + few, self._moving] = stay @ self._a + swap @ self._b + self._same
                total_b[first : first + few, self._moving] = stay @ self._b + swap @ self._a + self._same
        return self._paired.rates_of(total_b) - self._paired.rates_of(total_a)

    def _moved_sums(self, swaps: Floats | Bits) -> Floats:
        """The sums of the differences that the swaps move from B to A."""
        if isinstance(swaps, Bits):
            return self._moved.of(swaps)
        return swaps @ self._few_moved
