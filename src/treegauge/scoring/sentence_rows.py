"""The rows of one system by one metric: their sums, and, if they are kept, the rows of all sentences, stored compactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.compact_rows import BitSets, CompactIndex, CompactRows, narrow
from treegauge.metrics.metric import ExactSum, Metric, Rows
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64

Numbers = NDArray[Any]
"""Integers in the narrowest type that holds them."""


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
        self.rows: list[CompactRows] = []
        self.index: list[CompactIndex] = []
        self.length: list[Numbers] = []
        self.status: list[Numbers] = []
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
        self.rows.append(CompactRows.of(rows))
        self.index.append(CompactIndex.of(index))
        self.length.append(narrow(length))
        self.status.append(narrow(status))
        if reproduced is not None:
            self.reproduced.append(BitSets.of(reproduced))
        if len(self.rows) == _MOST_BLOCKS:
            # A first block that is large already is copied only when the others together are as large.
            self.join(1 if sum(map(len, self.rows[1:])) < len(self.rows[0]) else 0)

    def join(self, first: int = 0) -> None:
        """Join all blocks into one, or all from the ``first`` on."""
        if len(self.rows) <= first + 1:
            return
        self.rows[first:] = [CompactRows.concatenate(self.rows[first:])]
        self.index[first:] = [CompactIndex.concatenate(self.index[first:])]
        self.length[first:] = [np.concatenate(self.length[first:])]
        self.status[first:] = [np.concatenate(self.status[first:])]
        if self.reproduced:
            self.reproduced[first:] = [BitSets.concatenate(self.reproduced[first:])]

    def sentences(self, places: Sequence[str], evalb_status: Sequence[Numbers] = ()) -> Sentences:
        """The rows that were kept, with the place of each gold sentence and, if EVALB was asked, its status of each."""
        self.join()
        return Sentences(
            compact_rows=self.rows[0] if self.rows else CompactRows.of(np.zeros((0, len(self.metric.columns)))),
            compact_index=self.index[0] if self.index else CompactIndex(range(0)),
            compact_length=join_blocks(self.length),
            compact_status=join_blocks(self.status),
            places=places,
            compact_evalb=join_blocks(evalb_status) if evalb_status else None,
            bits=self.reproduced[0] if self.reproduced else None,
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


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences behind a result: a row of counts for each that was scored.

    ``index`` has the number (from 0) of each row's gold sentence. For every gold sentence, scored or not, there are ``length``,
    ``status`` (0 scored, 1 does not match, 2 no parse), ``places`` (where it was read) and, if EVALB was asked, ``evalb``, its
    status of the sentence (0 scored, 1 error, 2 no parse, -1 no line). ``reproduced`` belongs to the rows, see
    :meth:`treegauge.metrics.metric.Metric.reproduced`. All arrays are stored compactly (``compact_rows`` and so on, ``bits``) and
    expanded when they are first used.
    """

    compact_rows: CompactRows
    compact_index: CompactIndex
    compact_length: NDArray[Any]
    compact_status: NDArray[Any]
    places: Sequence[str]
    compact_evalb: NDArray[Any] | None = None
    bits: BitSets | None = None

    @cached_property
    def rows(self) -> Rows:
        rows = self.compact_rows[:]
        rows.flags.writeable = False  # a change would not reach the compact rows
        return rows

    @cached_property
    def index(self) -> Int64:
        return self.compact_index.array()

    @cached_property
    def length(self) -> Int64:
        return self.compact_length.astype(np.int64)

    @cached_property
    def status(self) -> Int64:
        return self.compact_status.astype(np.int64)

    @cached_property
    def evalb(self) -> Int64 | None:
        return None if self.compact_evalb is None else self.compact_evalb.astype(np.int64)

    @cached_property
    def reproduced(self) -> Rows | None:
        return None if self.bits is None else self.bits.integers()


_MOST_BLOCKS = 16
"""The number of blocks of rows that are joined into one. Many small blocks, scattered among those of the trees, would keep the
allocator from returning the memory of the trees."""


def join_blocks(blocks: Sequence[Numbers]) -> Numbers:
    """Blocks of numbers as one array; a single block is not copied."""
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)
