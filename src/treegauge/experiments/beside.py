"""The paper's numbers beside ours, and summaries of repeated runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from treegauge.metrics.tables import Cell, Table

__all__ = ["Summary", "beside", "summary"]


class Summary(NamedTuple):
    """The smallest, the largest, the mean and the standard deviation (of a sample) of some numbers."""

    least: float
    most: float
    mean: float
    deviation: float


def summary(values: Sequence[float]) -> Summary:
    """Of runs that were repeated; nan where there are none, and for the deviation of one.

    >>> summary([1.0, 2.0, 3.0])
    Summary(least=1.0, most=3.0, mean=2.0, deviation=1.0)
    """
    if not len(values):
        return Summary(math.nan, math.nan, math.nan, math.nan)
    array = np.asarray(values, dtype=np.float64)
    deviation = float(array.std(ddof=1)) if len(array) > 1 else math.nan
    return Summary(float(array.min()), float(array.max()), float(array.mean()), deviation)


def beside(
    title: str,
    keys: Sequence[str],
    columns: Sequence[str],
    paper: Mapping[tuple[str, ...], Sequence[Cell]],
    ours: Mapping[tuple[str, ...], Sequence[Cell]],
    *,
    percent: bool = False,
    notes: Sequence[str] = (),
) -> Table:
    """A table with two columns for each of the paper's: what it printed, and what we got; - where there is nothing.

    >>> print(beside("F1", ["parser"], ["LR"], {("MRL",): [0.7]}, {("MRL",): [0.71], ("MH",): [0.8]}, percent=True))
    F1
    parser  LR paper  LR ours
    MRL        70.00    71.00
    MH             -    80.00
    """
    names = [f"{column} {side}" for column in columns for side in ("paper", "ours")]
    nothing: Sequence[Cell] = [None] * len(columns)
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys([*paper, *ours]):
        pairs = zip(paper.get(key, nothing), ours.get(key, nothing), strict=True)
        rows.append((*key, *(cell for pair in pairs for cell in pair)))
    return Table(title, (*keys, *names), tuple(rows), tuple(notes), tuple(names) if percent else ())
