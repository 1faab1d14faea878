"""The single sentences behind a result: rows, lengths and what became of each, in little memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.compact_rows import CompactIndex, CompactRows
from treegauge.metrics.metric import Rows
from treegauge.trees.treebank import Int64

__all__ = ["Sentences"]


@dataclass(frozen=True, eq=False)
class Sentences:
    """The rows behind a result: one for each sentence that was scored.

    ``index`` names the gold sentence of each row (from 0). For every gold sentence, scored or not: ``length``, ``status`` (0
    scored, 1 does not fit, 2 no parse), ``places``, and ``evalb``, EVALB's verdict (0 scored, 1 error, 2 no parse, -1 no line), if
    it was asked for. ``reproduced`` is kept beside each row, see :meth:`treegauge.metrics.metric.Metric.reproduced`. All of it is
    held in little memory (``compact_rows`` and so on, ``bits``), and spread out when it is asked for.
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
        rows.flags.writeable = False  # what is written there would not be seen by anything else
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
