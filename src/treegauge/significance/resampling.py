"""Resampling: random weights for sentences, the weighted sums of the rows of several systems, and paired randomisation.

A permutation or a bootstrap sample is a row of weights, one for each sentence, and ``weights @ columns`` are its sums. All
resampling in this package is done so.

Weights are drawn in blocks, each with its own generator, which depends only on the seed and the number of the block. So the same
permutations and bootstrap samples are drawn in any order, with any number of threads and for any set of metrics.

Columns are rounded to a grid that is fine enough for any score and coarse enough for float64 to add them without rounding, so that
the order of a sum and the number of threads do not matter. Weights are stored compactly, and converted to floats a block of
sentences at a time.

Paired approximate randomisation counts how often a difference is at least as large after random swaps of whole sentences. Under the
null hypothesis, the two systems' parses of a sentence are exchangeable. Whole sentences are swapped, so the brackets of a sentence
need not be independent; the statistic is the difference of the rates over the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import MismatchError, UsageError
from treegauge.metrics.metric import Floats, Metric, Rows
from treegauge.scoring.inputs import no_progress
from treegauge.trees.treebank import Int64

Progress = Callable[[int], None]
"""A callback that is called with the number of rounds done since its last call."""

DEFAULT_ROUNDS = 10_000
DEFAULT_SEED = 1

_BLOCK, _GROUP = 512, 4
_MOST_NUMBERS = 1 << 23
"""The largest number of random numbers in memory at once, a byte each; a block with more is drawn in pieces."""
_MOST_FLOATS = 1 << 20
"""The largest number of weights that are floats at once, and of cells of columns that stay floats through all rounds."""
_MOST_INEXACT = 1 << 24
"""The largest number of cells that stay floats if sums are rounded, so that all rows are summed at once."""
_SWAPS, _BOOTSTRAP = 1, 2


_SENTENCES = 1 << 14
"""The number of sentences whose running sums are in memory at once."""


def check_draw(rounds: int, seed: int = 0) -> None:
    """Refuse a number of rounds or a seed that cannot be."""
    if rounds < 1:
        raise UsageError(f"the number of rounds must be positive, not {rounds}")
    if seed < 0:
        raise UsageError(f"a seed is 0 or a positive integer, not {seed}")


def groups_of_blocks(rounds: int) -> list[range]:
    """The numbers of the blocks for these rounds, in groups: a worker does one group at a time.

    >>> groups_of_blocks(5000)
    [range(0, 4), range(4, 8), range(8, 10)]
    """
    check_draw(rounds)
    blocks = -(-rounds // _BLOCK)
    return [range(first, min(first + _GROUP, blocks)) for first in range(0, blocks, _GROUP)]


def _blocks(rounds: int, seed: int, purpose: int, only: range | None) -> Iterator[tuple[int, np.random.Generator]]:
    """The number of rounds and the generator of each block, or of the blocks in ``only``."""
    check_draw(rounds, seed)
    for block in only or range(-(-rounds // _BLOCK)):
        yield min(_BLOCK, rounds - block * _BLOCK), np.random.default_rng([seed, purpose, block])


def _pieces(rounds: int, n: int, to_a_byte: int = 1) -> Iterator[int]:
    """The numbers of rounds of the pieces in which the rounds of a block are drawn; all but the last are multiples of four.

    Generators draw bytes four at a time, so a sequence can be interrupted only after a multiple of four.
    """
    few = _rounds_at_once(n)
    most = few * max(_MOST_NUMBERS * to_a_byte // (few * max(n, 1)), 1)
    for first in range(0, rounds, most):
        yield min(most, rounds - first)


def _rounds_at_once(n: int) -> int:
    """The number of rounds whose weights for n sentences are converted to floats at once; at least four."""
    return max(_MOST_FLOATS // max(n, 1) // 4 * 4, 4)


def random_swaps(n: int, rounds: int, seed: int, only: range | None = None) -> Iterator[Bits]:
    """Matrices (rounds, n) of random bits, whether the parses of a sentence are swapped; of all blocks, or of those in ``only``.

    Eight sentences are packed into a byte; :meth:`Bits.floats` unpacks them.

    >>> [block.floats().shape for block in random_swaps(5, 600, seed=1)]
    [(512, 5), (88, 5)]
    """
    for size, generator in _blocks(rounds, seed, _SWAPS, only):
        for rounds_of_piece in _pieces(size, n, to_a_byte=8):
            yield Bits(generator.integers(0, 256, size=(rounds_of_piece, (n + 7) // 8), dtype=np.uint8), n)


class Bits:
    """A matrix of 0 and 1 with n columns, packed into bytes."""

    def __init__(self, packed: NDArray[np.uint8], n: int) -> None:
        self._packed, self._n = packed, n

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, rows: slice) -> Bits:
        return Bits(self._packed[rows], self._n)

    def others(self) -> Bits:
        """The matrix with 0 and 1 exchanged."""
        return Bits(~self._packed, self._n)

    def floats(self, first: int = 0, last: int | None = None) -> Floats:
        """The columns ``first:last`` as floats; ``first`` is a multiple of eight."""
        last = self._n if last is None else last
        return np.unpackbits(self._packed[:, first // 8 : (last + 7) // 8], axis=1, count=last - first).astype(np.float64)


def all_swaps(n: int, only: range | None = None) -> Iterator[Floats]:
    """All 2^n swaps of n sentences, in blocks; of all blocks, or of those in ``only``.

    >>> next(all_swaps(2)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    for block in only or range(-(-(1 << n) // _BLOCK)):
        numbers = np.arange(block * _BLOCK, min((block + 1) * _BLOCK, 1 << n))[:, np.newaxis]
        yield ((numbers >> np.arange(n)) & 1).astype(np.float64)


def bootstrap_weights(n: int, rounds: int, seed: int, only: range | None = None) -> Iterator[NDArray[Any]]:
    """Matrices (rounds, n): how often each sentence occurs in a sample of n sentences drawn with replacement.

    They are integers of the narrowest type that holds them; of all blocks, or of those in ``only``.

    >>> next(bootstrap_weights(4, 3, seed=1)).sum(axis=1).tolist()
    [4, 4, 4]
    """
    for size, generator in _blocks(rounds, seed, _BOOTSTRAP, only):
        for rounds_of_piece in _pieces(size, n):
            yield _weights(generator, rounds_of_piece, n)


def _weights(generator: np.random.Generator, rounds: int, n: int) -> NDArray[Any]:
    """The weights of some samples, which are drawn one after the other, so that it does not matter how they are cut into pieces."""
    at_once = max(_MOST_FLOATS // max(n, 1), 1)
    pieces: list[NDArray[Any]] = []
    for first in range(0, rounds, at_once):
        few = min(at_once, rounds - first)
        drawn = generator.integers(0, n, size=(few, n), dtype=np.int64)
        drawn += np.arange(few)[:, np.newaxis] * n
        counts = np.bincount(drawn.ravel(), minlength=few * n)
        pieces.append(counts.astype(np.min_scalar_type(int(counts.max(initial=0)))).reshape(few, n))
    return np.concatenate(pieces)


Name = tuple[str, str]
"""A metric and one of its rates: ``("parseval", "f1")``."""


class Interval(NamedTuple):
    """A confidence interval, its method, and a warning if there is one; nan if there is no interval."""

    low: float
    high: float
    method: str
    warning: str = ""


@dataclass(frozen=True)
class PairedColumns:
    """Columns of counts, one matrix (sentences, columns) for each system, and the rates of their sums.

    ``rates_of`` turns sums (samples, columns) into rates (samples, names). ``exact`` says that no sum of the columns is rounded.

    >>> from treegauge.metrics.parseval import Parseval
    >>> counts = np.zeros((2, len(Parseval.columns)))
    >>> counts[:, 2:5] = [[3, 4, 4], [1, 2, 4]]
    >>> paired = PairedColumns.of(Parseval(), [counts, counts])
    >>> paired.rates_of(paired.total(0))[0, paired.names.index(("parseval", "recall"))].round(3).item()
    0.667
    """

    names: tuple[Name, ...] = field(repr=False)
    columns: tuple[Floats, ...] = field(repr=False)
    rates_of: Callable[[Floats], Floats] = field(repr=False)
    exact: bool

    @classmethod
    def of(cls, metric: Metric, rows: Sequence[Rows], *, name: str = "") -> PairedColumns:
        """The rows of one metric for several systems; ``name`` replaces the metric's name in the names of the rates."""
        if not rows:
            raise UsageError("there are no systems to compare")
        if len({len(of_system) for of_system in rows}) > 1:
            lengths = ", ".join(str(len(of_system)) for of_system in rows)
            raise MismatchError(f"paired tests need the same sentences for every system, but there are {lengths} rows")
        columns, exact = metric.float_columns(rows)
        return cls(tuple((name or metric.name, rate) for rate in metric.rate_names), columns, metric.rates_of_sums, exact)

    @classmethod
    def stack(cls, parts: Sequence[PairedColumns]) -> PairedColumns:
        """Several metrics side by side, so that one pass of resampling serves all of them."""
        if len({len(part) for part in parts}) != 1 or len({len(part.columns) for part in parts}) != 1:
            raise MismatchError("only metrics of the same systems on the same sentences can be resampled together")
        if len(parts) == 1:
            return parts[0]
        widths = [part.columns[0].shape[1] for part in parts]
        edges = np.cumsum([0, *widths]).tolist()

        rates_of = _StackedRates(tuple(part.rates_of for part in parts), tuple(edges))
        systems = range(len(parts[0].columns))
        columns = tuple(np.concatenate([part.columns[system] for part in parts], axis=1) for system in systems)
        names = tuple(name for part in parts for name in part.names)
        return cls(names, columns, rates_of, all(part.exact for part in parts))

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.columns[0])

    def total(self, system: int) -> Floats:
        """The sums of one system, as one row."""
        return WeightedSums(self.columns[system], exact=self.exact).of_all()

    def observed(self, system: int) -> Floats:
        """The rates of one system on all sentences."""
        return self.rates_of(self.total(system))[0]

    def sentence_rates(self, system: int, names: Sequence[Name]) -> Iterator[Floats]:
        """Some of the rates of one system for each single sentence: matrices (sentences, names), a block at a time."""
        columns, places = self.columns[system], [self.names.index(name) for name in names]
        for first in range(0, max(len(columns), 1), _SENTENCES):
            yield self.rates_of(columns[first : first + _SENTENCES])[:, places]

    def of_systems(self, systems: Sequence[int]) -> PairedColumns:
        """Some of the systems."""
        return PairedColumns(self.names, tuple(self.columns[system] for system in systems), self.rates_of, self.exact)

    def summed(self, documents: Int64) -> PairedColumns:
        """One row for each document, given the number of each sentence's document: the sum of its sentences."""
        columns = tuple(sums_of_documents(columns, documents) for columns in self.columns)
        return PairedColumns(self.names, columns, self.rates_of, self.exact)

    def take(self, sentences: NDArray[np.int64]) -> PairedColumns:
        """Some of the sentences."""
        return PairedColumns(self.names, tuple(columns[sentences] for columns in self.columns), self.rates_of, self.exact)

    def swapped_alone(self, a: int, b: int, rates: Sequence[int]) -> Floats:
        """For each sentence and some rates, half of what B's rate minus A's loses if they swap their parses of it, times sentences.

        The means are the differences, but for the curvature of the rates.
        """
        total_a, total_b = self.total(a), self.total(b)
        difference = (self.rates_of(total_b) - self.rates_of(total_a))[:, list(rates)]
        found: list[Floats] = []
        for first in range(0, max(len(self), 1), _SENTENCES):
            moved = self.columns[b][first : first + _SENTENCES] - self.columns[a][first : first + _SENTENCES]
            found.append((self.rates_of(total_b - moved) - self.rates_of(total_a + moved))[:, list(rates)])
        return len(self) / 2 * (difference - np.concatenate(found))

    def leave_one_out(self, system: int, rates: Sequence[int]) -> Floats:
        """Some of the rates of one system, given by their positions, without each of the sentences in turn.

        The sums are those of the rows before and after a sentence, not the total minus its row: in fragment counts, one sentence
        may outweigh all others together.
        """
        columns = self.columns[system]
        n_rows, n_columns = columns.shape
        firsts = range(0, n_rows, _SENTENCES)
        after = np.zeros((len(firsts) + 1, n_columns))
        for number in reversed(range(len(firsts))):
            block = columns[firsts[number] : firsts[number] + _SENTENCES]
            after[number] = _running_sums(after[number + 1], block[::-1])[-1]
        before = np.zeros(n_columns)
        found = np.empty((len(rates), n_rows))
        for number, first in enumerate(firsts):
            block = columns[first : first + _SENTENCES]
            sums = _running_sums(before, block)
            others = sums[:-1] + _running_sums(after[number + 1], block[::-1])[::-1][1:]
            found[:, first : first + len(block)] = self.rates_of(others)[:, list(rates)].T
            before = sums[-1]
        return found.T


class WeightedSums:
    """Sums of columns over weighted sentences: ``weights @ columns``, a block of sentences at a time.

    Columns of few cells are multiplied at once. If sums are not ``exact``, this is done up to a larger number, since a sum by
    blocks may differ in the last bit.
    """

    def __init__(self, columns: Floats, *, exact: bool) -> None:
        self._columns = np.ascontiguousarray(columns)
        self._is_small = columns.size <= (_MOST_FLOATS if exact else _MOST_INEXACT)

    def of(self, weights: NDArray[Any] | Bits) -> Floats:
        """The sums of some rounds, given the weights (rounds, sentences)."""
        n_rows, n_columns = self._columns.shape
        if self._is_small:
            few = _rounds_at_once(n_rows)
            some = (_floats(weights[first : first + few], 0, n_rows) for first in range(0, len(weights), few))
            return np.concatenate([of_some @ self._columns for of_some in some])
        sums = np.zeros((len(weights), n_columns))
        step = max(min(_SENTENCES, _MOST_FLOATS // len(weights)) // 8 * 8, 8)
        for first in range(0, n_rows, step):
            last = min(first + step, n_rows)
            sums += _floats(weights, first, last) @ self._columns[first:last]
        return sums

    def of_all(self) -> Floats:
        """The sums over all sentences, each once."""
        return self._columns.sum(axis=0, keepdims=True)


def sums_of_documents(rows: Floats, documents: Int64) -> Floats:
    """The sums of the rows of each document, given the number of each row's document, from 0."""
    sums = np.zeros((int(documents.max(initial=-1)) + 1, *rows.shape[1:]))
    np.add.at(sums, documents, rows)
    return sums


def _floats(weights: NDArray[Any] | Bits, first: int, last: int) -> Floats:
    """The weights of the sentences ``first:last`` as floats; ``first`` is a multiple of eight."""
    return weights.floats(first, last) if isinstance(weights, Bits) else weights[:, first:last].astype(np.float64)


def _running_sums(start: Floats, rows: Floats) -> Floats:
    """The sums of the first 0, 1, 2 ... rows, added one by one to ``start``."""
    return np.cumsum(np.concatenate([start[np.newaxis], rows]), axis=0)


@dataclass(frozen=True)
class _StackedRates:
    """The rates of several metrics, the columns of each between two edges; a class, since a closure cannot be sent to workers."""

    parts: tuple[Callable[[Floats], Floats], ...]
    edges: tuple[int, ...]

    def __call__(self, totals: Floats) -> Floats:
        pieces = [rates_of(totals[:, self.edges[i] : self.edges[i + 1]]) for i, rates_of in enumerate(self.parts)]
        return np.concatenate(pieces, axis=1)


_ROUNDING = 1e-13
"""Two differences are taken as equal if they differ by less than this, relative to the rates; the rest is rounding."""


_FEW = 64
"""More than the number of sentences for which all swaps are enumerated can be."""


@dataclass(frozen=True)
class RandomisationResult:
    """The two-sided p-value of each difference, B's rate minus A's; nan if the difference is undefined.

    ``exact``: all 2^n swaps were enumerated; otherwise there were ``rounds`` random ones.
    """

    names: tuple[Name, ...] = field(repr=False)
    difference: Floats = field(repr=False)
    p: Floats = field(repr=False)
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
        if len(sentences) * len(moving) > _MOST_INEXACT:
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
            few = _rounds_at_once(len(self._paired))
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
