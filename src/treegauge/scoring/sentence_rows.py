"""The rows of one system by one metric: their sums, and, if they are kept, the rows and places of all sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, groupby
from typing import Any, overload

import numpy as np

from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.metric import ExactSum, Metric, Rows
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64, Origin, Treebank, named_place


class MetricCounts:
    """The sum of a metric's rows, the sum over short sentences, and, if they are kept, the rows themselves.

    ``preset`` is the preset of the signature, ``pairing_preset`` the one by which trees are paired for this metric. Rows are kept
    in blocks of sentences: ``rows`` and the ``index`` of their sentences, ``length`` and ``status`` (0 scored, 1 does not match, 2
    no parse) of each gold sentence, and ``reproduced``, which is what the metric keeps beside its rows.
    """

    def __init__(self, metric: Metric, preset: Preset) -> None:
        self.metric, self.preset, self.pairing_preset = metric, preset, metric.preset_for(preset)
        self.total, self.short = ExactSum(len(metric.columns)), ExactSum(len(metric.columns))
        self.n_total = self.n_short = 0
        self.rows: list[Rows] = []
        self.index: list[Int64] = []
        self.length: list[Int64] = []
        self.status: list[Int64] = []
        self.reproduced: list[BitSets] = []

    def add(self, rows: Rows, index: Int64, length: Int64) -> None:
        """Add the rows of some sentences, given their lengths."""
        is_short = length <= self.preset.cutoff_length
        self.total.add(rows)
        self.short.add(rows[is_short])
        self.n_total += len(rows)
        self.n_short += int(is_short.sum())

    def keep(self, rows: Rows, index: Int64, length: Int64, status: Int64, reproduced: BitSets | Rows | None) -> None:
        """Keep rows; ``length`` and ``status`` are of all gold sentences of the block."""
        self.rows.append(_narrow(rows))
        self.index.append(index)
        self.length.append(length)
        self.status.append(status)
        if reproduced is not None:
            self.reproduced.append(BitSets.of(reproduced))

    def sentences(self, places: Sequence[str], evalb_status: Sequence[Int64] = ()) -> Sentences:
        """The rows that were kept, with the place of each gold sentence and, if EVALB was asked, its status of each."""
        return Sentences(
            rows=np.concatenate(self.rows) if self.rows else np.zeros((0, len(self.metric.columns))),
            index=join_blocks(self.index),
            length=join_blocks(self.length),
            status=join_blocks(self.status),
            places=places,
            evalb=join_blocks(evalb_status) if evalb_status else None,
            bits=BitSets.concatenate(self.reproduced) if self.reproduced else None,
        )

    def __getstate__(self) -> dict[str, Any]:
        """The state that is sent to other processes, without the metric, which the receiver has."""
        return {name: value for name, value in self.__dict__.items() if name not in ("metric", "preset", "pairing_preset")}

    def merge(self, other: MetricCounts) -> None:
        self.total.merge(other.total)
        self.short.merge(other.short)
        self.n_total += other.n_total
        self.n_short += other.n_short
        self.rows += other.rows
        self.index += other.index
        self.length += other.length
        self.status += other.status
        self.reproduced += other.reproduced


def _narrow(rows: Rows) -> Rows:
    """The rows, with 32 bits for integers that fit."""
    fits = rows.dtype == np.int64 and max(int(rows.max(initial=0)), -int(rows.min(initial=0))) <= np.iinfo(np.int32).max
    return rows.astype(np.int32) if fits else rows


def join_blocks(blocks: Sequence[Int64]) -> Int64:
    """Blocks of numbers as one array."""
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences behind a result: a row of counts for each that was scored.

    ``index`` has the number (from 0) of each row's gold sentence. For every gold sentence, scored or not, there are ``length``,
    ``status`` (0 scored, 1 does not match, 2 no parse), ``places`` (where it was read) and, if EVALB was asked, ``evalb``, its
    status of the sentence (0 scored, 1 error, 2 no parse, -1 no line). ``reproduced`` (as sets of ``bits``) belongs to the rows,
    see :meth:`treegauge.metrics.metric.Metric.reproduced`.
    """

    rows: Rows
    index: Int64
    length: Int64
    status: Int64
    places: Sequence[str]
    evalb: Int64 | None = None
    bits: BitSets | None = None

    @cached_property
    def reproduced(self) -> Rows | None:
        return None if self.bits is None else self.bits.integers()


class SentencePlaces(Sequence[str]):
    """The place of each sentence, made only when it is asked for."""

    def __init__(self) -> None:
        self._origins: list[Origin] = []
        self._ends: list[int] | None = None

    def add(self, bank: Treebank) -> None:
        """Add the sentences of a block."""
        self._origins += bank.origins or (Origin("", np.zeros(len(bank), dtype=np.int64)),)
        self._ends = None

    def merge(self, other: SentencePlaces) -> None:
        """Add the sentences that follow."""
        self._origins += other._origins
        self._ends = None

    def _files(self) -> tuple[list[Origin], list[int]]:
        """Each file once, and the number of sentences up to its end."""
        if self._ends is None:
            grouped = groupby((origin for origin in self._origins if len(origin.line)), lambda one: (one.path, one.ids is None))
            self._origins = [_join_origins(path, list(group)) for (path, _), group in grouped]
            self._ends = list(accumulate(len(origin.line) for origin in self._origins))
        return self._origins, self._ends

    def is_same(self, other: SentencePlaces) -> bool:
        """Whether all sentences have the same places, which need not be spelt out for that."""
        (ours, our_ends), (theirs, their_ends) = self._files(), other._files()
        pairs = zip(ours, theirs, strict=False)
        same = ((a.path, a.ids) == (b.path, b.ids) and np.array_equal(a.line, b.line) for a, b in pairs)
        return self is other or (our_ends == their_ends and all(same))

    def __len__(self) -> int:
        return sum(len(origin.line) for origin in self._origins)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        files, ends = self._files()
        file = bisect_right(ends, numbers)
        number = numbers - (ends[file - 1] if file else 0)
        path, line, ids = files[file].path, int(files[file].line[number]), files[file].ids
        return named_place(path, line, None if ids is None else ids[number]) if line else f"tree {numbers + 1}"


def _join_origins(path: str, origins: Sequence[Origin]) -> Origin:
    ids = [origin.ids for origin in origins if origin.ids is not None]
    return Origin(path, join_blocks([origin.line for origin in origins]), tuple(chain(*ids)) if ids else None)
