"""Scoring in shards: gold and test cut at the same sentences, counted anywhere, added in order.

A shard is a stretch of sentences, named by the bytes of the files they are in; its result is a sum of rows. The hash of each side
is a shard of its own, as it has to see all trees in order. Where gold and test are not in step, which takes a look at all of both,
the whole system is one shard: then :func:`treegauge.scoring.counts.count_files` does what it always does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from treegauge import io
from treegauge.alignment.alignment import is_displaced
from treegauge.engines import Engine
from treegauge.errors import InputError, UsageError
from treegauge.io.sources import ReadOptions, Source
from treegauge.io.splitting import Piece, SplitFiles, cut_files
from treegauge.scoring.counts import HashedCounts, NotParallel, Request, SystemCounts, check_fit, count_files, count_in_step
from treegauge.scoring.inputs import FileTrees, Hasher
from treegauge.trees.columns import TreebankHash
from treegauge.trees.treebank import Treebank

__all__ = ["SENTENCES", "FilePair", "Plan", "count_in_shards", "plan_shards"]

SENTENCES = 8192
"""Of a shard: a fraction of a second of work, so that handing it out costs little beside it."""


class FilePair(NamedTuple):
    """Files that belong together: those of gold, those of test."""

    gold: tuple[str, ...]
    test: tuple[str, ...]


@dataclass(frozen=True)
class SentenceRange:
    """Sentences of one pair of files of one system, numbered within the pair; ``test_reading`` may be line by line."""

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
class Hash:
    """All trees of some files, each with how it is read, to be hashed in order."""

    files: tuple[tuple[str, ReadOptions], ...]

    def __str__(self) -> str:
        return f"the hash of {self.files[0][0]}"


@dataclass(frozen=True)
class Whole:
    """All files of a system, which cannot be cut into stretches."""

    pairs: tuple[FilePair, ...]
    reading: ReadOptions

    def __str__(self) -> str:
        return f"all sentences of {self.pairs[0].test[0]}"


Unit = SentenceRange | Hash | Whole


@dataclass(frozen=True)
class Plan:
    """The shards of all systems, and a checksum of the bytes that they were cut from."""

    units: tuple[Unit, ...]
    checksum: int


def plan_shards(systems: Sequence[Sequence[FilePair]], reading: ReadOptions, size: int = SENTENCES) -> Plan:
    """The shards of all systems, each pair of files cut by itself; a system that is surely out of step has none."""
    cuts = _Cuts(size)
    units: dict[Unit, None] = {}
    for system, pairs in enumerate(systems):
        stretches = [_stretches(system, number, pair, reading, cuts) for number, pair in enumerate(pairs)]
        if all(stretches):
            hashes = _hashes(pairs, reading, [of_pair[0].test_reading for of_pair in stretches])
            units |= dict.fromkeys([*hashes, *(stretch for of_pair in stretches for stretch in of_pair)])
    return Plan(tuple(units), cuts.checksum)


class _Cuts:
    """Files that were cut, so that each is cut only once."""

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


def _stretches(system: int, number: int, pair: FilePair, reading: ReadOptions, cuts: _Cuts) -> list[SentenceRange]:
    """The stretches of a pair of files; none if they are surely out of step."""
    if "-" in (*pair.gold, *pair.test):
        raise UsageError("standard input cannot be shared among workers: save it to a file, or use the engine local")
    ours, theirs, test_reading = cuts.of(pair.gold, reading.of_gold), cuts.of(pair.test, reading), reading
    if -1 in (ours.trees, theirs.trees):
        # A file that cannot be cut is one shard with its partner; whether they are in step shows when they are read.
        pieces = [(_uncut(pair.gold), _uncut(pair.test))]
        return [SentenceRange(system, number, gold, test, reading, reading) for gold, test in pieces]
    if ours.trees != theirs.trees and _may_have_blank_lines(pair, reading):
        test_reading = replace(reading, lines=True)
        theirs = cuts.of(pair.test, test_reading)
    if ours.trees != theirs.trees:
        return []
    pieces = zip(ours.pieces, theirs.pieces, strict=True)
    return [SentenceRange(system, number, gold, test, reading, test_reading) for gold, test in pieces]


def _hashes(pairs: Sequence[FilePair], reading: ReadOptions, test_reading: Sequence[ReadOptions]) -> tuple[Hash, Hash]:
    """The hashes of all files of gold, and of test, where each pair has its own way to be read."""
    gold = Hash(tuple((path, reading.of_gold) for pair in pairs for path in pair.gold))
    test = Hash(tuple((path, how) for pair, how in zip(pairs, test_reading, strict=True) for path in pair.test))
    return gold, test


def _may_have_blank_lines(pair: FilePair, reading: ReadOptions) -> bool:
    return FileTrees(pair.test, reading, keep=False).line_by_line() is not None


def _uncut(paths: tuple[str, ...]) -> Piece:
    return Piece(tuple(map(Source, paths)), 0, -1)


def count_in_shards(
    systems: Sequence[Sequence[FilePair]], plan: Plan, request: Request, reading: ReadOptions, engine: Engine
) -> list[HashedCounts]:
    """The counts of each system that :func:`~treegauge.scoring.counts.count_files` would make."""
    small = replace(request, keep=request.keep and request.sentences)
    done: dict[Unit, Done] = dict(zip(plan.units, engine.map(work_on, small, plan.units, title="scoring"), strict=True))
    found = [_put_together(number, pairs, done, small, reading) for number, pairs in enumerate(systems)]
    wholes = [Whole(tuple(pairs), reading) for pairs, counted in zip(systems, found, strict=True) if counted is None]
    rest = dict(zip(wholes, engine.map(work_on, request, wholes, title="scoring again"), strict=True)) if wholes else {}
    results = [one or _whole(rest[Whole(tuple(pairs), reading)], request) for pairs, one in zip(systems, found, strict=True)]
    for one in results:
        check_fit(one.counts)
    return results


Done = SystemCounts | str | HashedCounts | None


def work_on(request: Request, unit: Unit) -> Done:
    """The result of a shard: sums of a stretch (None if it is not in step), a hash, or everything about a system."""
    if isinstance(unit, Hash):
        return _hash(unit)
    if isinstance(unit, Whole):
        files = [
            tuple(
                FileTrees(side, how, keep=request.keep)
                for side, how in zip(pair, (unit.reading.of_gold, unit.reading), strict=True)
            )
            for pair in unit.pairs
        ]
        with Hasher() as hasher:
            counts = count_files([(gold, test) for gold, test in files], request, hasher)
            return HashedCounts(_portable(counts, request), hasher.digests())
    by_line = unit.test_reading.lines and not unit.reading.lines
    try:
        gold, test = _blocks(unit.gold, unit.reading.of_gold, unit.only), _blocks(unit.test, unit.test_reading, unit.only)
        return _portable(count_in_step(gold, test, request), request)
    except NotParallel:
        return None
    except InputError:
        if by_line:
            return None
        raise


def _hash(unit: Hash) -> str:
    digest = TreebankHash()
    for path, options in unit.files:
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


def _portable(counts: SystemCounts, request: Request) -> SystemCounts:
    """The counts as it travels: without the brackets behind a breakdown, unless whole sentences travel anyway."""
    if not request.keep:
        counts.breakdowns = {name: replace(counted, places={}) for name, counted in counts.breakdowns.items()}
    return counts


def _put_together(
    system: int, pairs: Sequence[FilePair], done: Mapping[Unit, Done], request: Request, reading: ReadOptions
) -> HashedCounts | None:
    """The sum of a system's stretches; None if the whole has to be looked at."""
    total = SystemCounts(request)
    test_reading: dict[int, ReadOptions] = {}
    texts: dict[int, list[tuple[str, str]]] = {}
    n_trees: dict[int, tuple[int, int]] = {}
    for unit, counts in done.items():
        if not isinstance(unit, SentenceRange) or unit.system != system:
            continue
        if not isinstance(counts, SystemCounts):
            return None
        n_gold, n_test = n_trees.get(unit.pair, (0, 0))
        n_trees[unit.pair] = n_gold + counts.n_gold, n_test + counts.n_test
        test_reading[unit.pair] = unit.test_reading
        texts.setdefault(unit.pair, []).extend(counts.texts)
        total.append(counts)
    if not n_trees or any(is_displaced(of_pair) for of_pair in texts.values()):
        return None
    for number, pair in enumerate(pairs):
        for side, paths, number_of_trees in zip(("gold", "test"), pair, n_trees[number], strict=True):
            if not number_of_trees:
                raise InputError(f"no trees in the {side} file", path=paths[0], advice="Nothing was scored.")
    gold, test = _hashes(pairs, reading, [test_reading[number] for number in range(len(pairs))])
    return HashedCounts(total, (str(done[gold]), str(done[test])))


def _whole(done: Done, request: Request) -> HashedCounts:
    assert isinstance(done, HashedCounts)
    total = SystemCounts(request)
    total.append(done.counts)
    return HashedCounts(total, done.digests)
