"""Scoring in shards: gold and test are cut at the same sentences, counted anywhere, and added in order.

A shard is a range of sentences, given by byte positions in the files; its value is their counts. The hash of each side is a shard
of its own, since it depends on all trees in order. Each value carries the numbers of its system and files, so that the values of a
system can be added wherever they were computed. If gold and test are not parallel, ranges do not help, and
:func:`treegauge.scoring.counts.count_files` counts the system whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from treegauge import io
from treegauge.alignment.alignment import is_displaced
from treegauge.engines import IN_PROCESS, Engine
from treegauge.engines.parts import ShardedWork
from treegauge.errors import InputError, UsageError
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.splitting import Piece, SplitFiles, cut_files
from treegauge.scoring.counts import (
    HashedCounts,
    NotParallel,
    Request,
    SystemCounts,
    check_fit,
    count_files,
    count_in_step,
    no_progress,
)
from treegauge.scoring.inputs import FileTrees, Hasher
from treegauge.trees.columns import TreebankHash
from treegauge.trees.treebank import Treebank

SENTENCES = 8192
"""The number of sentences in a shard: a fraction of a second of work, long enough for the cost of distributing it not to matter."""


class FilePair(NamedTuple):
    """Gold files and the test files that belong to them."""

    gold: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True)
class SentenceRange:
    """A range of sentences in one pair of files of one system.

    ``reading`` applies to gold and ``test_reading``, which may be line by line, to test; ``only`` restricts the range further.
    """

    system: int
    pair: int
    gold: Piece
    test: Piece
    reading: ReadOptions
    test_reading: ReadOptions
    only: tuple[int, int] | None = None

    def __str__(self) -> str:
        sources = [(source.name, source.part.line if source.part else 1) for source in (self.gold.sources[0], self.test.sources[0])]
        first, last = self.only or (0, self.gold.trees)
        which = f"sentences {self.gold.first + first + 1} to {self.gold.first + last}" if last >= 0 else "all sentences"
        return f"{which} ({' and '.join(f'{name} from line {line}' for name, line in sources)})"

    def halves(self) -> list[SentenceRange]:
        first, last = self.only or (0, self.gold.trees)
        middle = (first + last) // 2
        return [replace(self, only=(first, middle)), replace(self, only=(middle, last))] if last - first > 1 else []


@dataclass(frozen=True)
class FilesToHash:
    """Files to be hashed in order, each with its options; ``sides`` are the systems, by number, of which they are gold or test."""

    files: tuple[tuple[str, ReadOptions], ...]
    sides: tuple[tuple[int, str], ...]

    def __str__(self) -> str:
        return f"the hash of {self.files[0][0]}"


class Plan(NamedTuple):
    """The shards of all systems, and a checksum of the files."""

    shards: list[SentenceRange | FilesToHash]
    checksum: int


def plan_shards(systems: Sequence[Sequence[FilePair]], reading: ReadOptions, size: int = SENTENCES) -> Plan:
    """The shards of all systems, each pair of files cut separately; a system that cannot be parallel to gold has none."""
    cuts = _Cuts(size)
    ranges: list[SentenceRange] = []
    sides: dict[tuple[tuple[str, ReadOptions], ...], list[tuple[int, str]]] = {}
    for system, pairs in enumerate(systems):
        of_pairs = [_ranges(system, number, pair, reading, cuts) for number, pair in enumerate(pairs)]
        if all(of_pairs):
            ranges += [each for of_pair in of_pairs for each in of_pair]
            gold = tuple((path, reading.of_gold) for pair in pairs for path in pair.gold)
            test = tuple((path, of[0].test_reading) for pair, of in zip(pairs, of_pairs, strict=True) for path in pair.test)
            sides.setdefault(gold, []).append((system, "gold"))
            sides.setdefault(test, []).append((system, "test"))
    hashes = [FilesToHash(files, tuple(of_files)) for files, of_files in sides.items()]
    return Plan([*hashes, *ranges], cuts.checksum)


class _Cuts:
    """The cuts of files, so that each file is cut only once."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._sides: dict[tuple[tuple[str, ...], ReadOptions], SplitFiles] = {}

    def of(self, paths: tuple[str, ...], options: ReadOptions) -> SplitFiles:
        if (paths, options) not in self._sides:
            self._sides[paths, options] = cut_files(paths, options, self._size)
        return self._sides[paths, options]

    @property
    def checksum(self) -> int:
        return sum(side.checksum * (number + 1) for number, side in enumerate(self._sides.values()))


def _ranges(system: int, number: int, pair: FilePair, reading: ReadOptions, cuts: _Cuts) -> list[SentenceRange]:
    """The ranges of a pair of files; none if they cannot be parallel."""
    if "-" in (*pair.gold, *pair.test):
        raise UsageError("standard input cannot be shared among workers: save it to a file, or use the engine local")
    ours, theirs, test_reading = cuts.of(pair.gold, reading.of_gold), cuts.of(pair.test, reading), reading
    if -1 in (ours.trees, theirs.trees):
        # A file that cannot be cut is one shard with its partner; reading them will show whether they are parallel.
        pieces = [(_uncut(pair.gold), _uncut(pair.test))]
        return [SentenceRange(system, number, gold, test, reading, reading) for gold, test in pieces]
    if ours.trees != theirs.trees and _may_have_blank_lines(pair, reading):
        test_reading = replace(reading, lines=True)
        theirs = cuts.of(pair.test, test_reading)
    if ours.trees != theirs.trees:
        return []
    pieces = zip(ours.pieces, theirs.pieces, strict=True)
    return [SentenceRange(system, number, gold, test, reading, test_reading) for gold, test in pieces]


def _may_have_blank_lines(pair: FilePair, reading: ReadOptions) -> bool:
    return FileTrees(pair.test, reading, keep=False).line_by_line() is not None


def _uncut(paths: tuple[str, ...]) -> Piece:
    return Piece(tuple(map(Source, paths)), 0, -1)


def work_in_shards(systems: Sequence[Sequence[FilePair]], request: Request, reading: ReadOptions) -> ShardedWork:
    """The counting of all systems, cut into shards; :func:`counts_of_systems` adds up their values."""
    plan = plan_shards(systems, reading)
    return ShardedWork(count_shard, _request_of_shards(request), plan.shards, "scoring", plan.checksum)


class RangeCounts(NamedTuple):
    """The counts of a range of sentences; None if gold and test are not parallel there."""

    system: int
    pair: int
    counts: SystemCounts | None


class HashOfFiles(NamedTuple):
    """The hash of some files, and the systems of which they are gold or test."""

    sides: tuple[tuple[int, str], ...]
    digest: str


ShardCounts = RangeCounts | HashOfFiles


def _request_of_shards(request: Request) -> Request:
    """The request for counting shards: without rows if no single sentence will be looked at."""
    return replace(request, keep=request.keep and request.sentences, progress=no_progress)


def count_shard(request: Request, shard: SentenceRange | FilesToHash) -> ShardCounts:
    """The value of a shard."""
    if isinstance(shard, FilesToHash):
        return HashOfFiles(shard.sides, _hash(shard))
    by_line = shard.test_reading.lines and not shard.reading.lines
    try:
        gold, test = _blocks(shard.gold, shard.reading.of_gold, shard.only), _blocks(shard.test, shard.test_reading, shard.only)
        counts = _to_send(count_in_step(gold, test, request), request)
    except NotParallel:
        counts = None
    except InputError:
        if not by_line:
            raise
        counts = None
    return RangeCounts(shard.system, shard.pair, counts)


def _hash(shard: FilesToHash) -> str:
    digest = TreebankHash()
    for path, options in shard.files:
        for block in io.stream(path, options):
            digest.update(block)
    return digest.hexdigest()


def _blocks(piece: Piece, options: ReadOptions, only: tuple[int, int] | None) -> Iterator[Treebank]:
    blocks = (block for source in piece.sources for block in io.stream(source, options))
    if only is None:
        yield from blocks
        return
    seen = 0
    for block in blocks:
        yield block[max(only[0] - seen, 0) : max(only[1] - seen, 0)]
        seen += len(block)


def _to_send(counts: SystemCounts, request: Request) -> SystemCounts:
    """The counts in the form in which they are sent: without the places of a breakdown, unless rows are sent too."""
    if not request.keep:
        counts.breakdowns = {name: replace(counted, places={}) for name, counted in counts.breakdowns.items()}
    return counts


def counts_of_systems(
    systems: Sequence[Sequence[FilePair]],
    values: Iterable[ShardCounts],
    request: Request,
    reading: ReadOptions,
    engine: Engine = IN_PROCESS,
) -> list[HashedCounts]:
    """The counts of each system, as :func:`~treegauge.scoring.counts.count_files` would make them, from the values of all shards in
    order; the engine counts the systems that are not parallel to gold."""
    small = _request_of_shards(request)
    digests: dict[tuple[int, str], str] = {}
    ranges: list[list[RangeCounts]] = [[] for _ in systems]
    for value in values:
        if isinstance(value, HashOfFiles):
            digests.update(dict.fromkeys(value.sides, value.digest))
        else:
            ranges[value.system].append(value)
    sums = [_sum(pairs, of_system, small) for pairs, of_system in zip(systems, ranges, strict=True)]
    wholes = [WholeSystem(tuple(pairs), reading) for pairs, counts in zip(systems, sums, strict=True) if counts is None]
    rest = engine.map(_count_whole, replace(request, progress=no_progress), wholes, title="scoring again") if wholes else iter(())
    found = [
        _with_request(next(rest), request)
        if counts is None
        else HashedCounts(counts, (digests[system, "gold"], digests[system, "test"]))
        for system, counts in enumerate(sums)
    ]
    for one in found:
        check_fit(one.counts)
    return found


def _sum(pairs: Sequence[FilePair], ranges: Sequence[RangeCounts], request: Request) -> SystemCounts | None:
    """The sum over the ranges of a system; None if it has to be counted whole."""
    total = SystemCounts(request)
    texts: dict[int, list[tuple[str, str]]] = {}
    n_trees: dict[int, tuple[int, int]] = {}
    for _, pair, counts in ranges:
        if counts is None:
            return None
        n_gold, n_test = n_trees.get(pair, (0, 0))
        n_trees[pair] = n_gold + counts.n_gold, n_test + counts.n_test
        texts.setdefault(pair, []).extend(counts.texts)
        total.append(counts)
    if not n_trees or any(is_displaced(of_pair) for of_pair in texts.values()):
        return None
    for number, pair in enumerate(pairs):
        for side, paths, number_of_trees in zip(("gold", "test"), pair, n_trees[number], strict=True):
            if not number_of_trees:
                raise InputError(f"no trees in the {side} file", path=paths[0], advice="Nothing was scored.")
    return total


@dataclass(frozen=True)
class WholeSystem:
    """All files of a system that has to be counted whole."""

    pairs: tuple[FilePair, ...]
    reading: ReadOptions

    def __str__(self) -> str:
        return f"all sentences of {self.pairs[0].test[0]}"


def _count_whole(request: Request, whole: WholeSystem) -> HashedCounts:
    gold, test = (
        [FileTrees(pair[side], how, keep=request.keep) for pair in whole.pairs]
        for side, how in enumerate((whole.reading.of_gold, whole.reading))
    )
    with Hasher() as hasher:
        counts = count_files(list(zip(gold, test, strict=True)), request, hasher)
        return HashedCounts(_to_send(counts, request), hasher.digests())


def _with_request(done: HashedCounts, request: Request) -> HashedCounts:
    """The counts with the request, which is not sent with them."""
    total = SystemCounts(request)
    total.append(done.counts)
    return HashedCounts(total, done.digests)
