"""Counts of one system by one metric: sums of rows, and, if they are kept, the rows themselves in little memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.compact_rows import CompactIndex, CompactRows, narrow
from treegauge.metrics.metric import ExactSum, Metric, Rows
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64

__all__ = ["MetricCounts", "Numbers", "joined"]

Numbers = NDArray[Any]
"""Integers in the narrowest type that holds them."""


class MetricCounts:
    """The rows of one metric: their sum, the sum over short sentences, and, if they are kept, themselves.

    ``preset`` is the one of the signature, ``pairing_preset`` the one that trees are paired by for the metric. If rows are kept, in
    blocks of sentences: ``rows`` and the ``index`` of their sentences, ``length`` and ``status`` (0 scored, 1 does not fit, 2 no
    parse) of each gold sentence, and ``reproduced``, what the metric keeps beside its rows.
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
        """Add rows of the sentences ``index``, which are of that length."""
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
        """Make one block of all, or of all from the ``first`` on."""
        if len(self.rows) <= first + 1:
            return
        self.rows[first:] = [CompactRows.concatenate(self.rows[first:])]
        self.index[first:] = [CompactIndex.concatenate(self.index[first:])]
        self.length[first:] = [np.concatenate(self.length[first:])]
        self.status[first:] = [np.concatenate(self.status[first:])]
        if self.reproduced:
            self.reproduced[first:] = [BitSets.concatenate(self.reproduced[first:])]

    def __getstate__(self) -> dict[str, Any]:
        """The state that travels between processes, without the metric, which the receiver knows."""
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


_MOST_BLOCKS = 16
"""The most blocks of rows before they become one: many small ones would lie scattered among the blocks of trees, and hold their
memory."""


def joined(blocks: Sequence[Numbers]) -> Numbers:
    """Blocks of numbers as one array; a single one is not copied."""
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)
