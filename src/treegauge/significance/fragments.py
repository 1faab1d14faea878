"""FREVAL's counts per fragment size as plain columns, so that they can be resampled like any other counts.

The counts are Python integers without bound. A size whose counts float64 cannot hold is divided by one power of two, the same for
gold, test and matched fragments and for all systems; the rates are ratios within a size, so the factor cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.base import Rows
from treegauge.metrics.fragments import BySize
from treegauge.metrics.freval import Freval

__all__ = ["fragment_columns", "fragment_rates"]

Floats = NDArray[np.float64]
_SIDES = (1, 2, 3)
"""Where gold, test and matched fragments stand in FREVAL's rows."""
_EXACT_BITS = 53
_RANGE_BITS = 1000
"""Integers of 53 bits are exact in float64; up to about 1000 bits they fit, with room below for the counts of small sentences."""


def fragment_columns(rows: Sequence[Rows]) -> tuple[tuple[Floats, ...], bool]:
    """For each system a matrix (sentences, 3 x sizes), gold then test then matched, and whether all its sums are exact.

    >>> rows = np.empty((1, 4), dtype=object)
    >>> rows[0] = (1, BySize((2, 1)), BySize((2,)), BySize((1,)))
    >>> fragment_columns([rows])[0][0].tolist()
    [[2.0, 1.0, 2.0, 0.0, 1.0, 0.0]]
    """
    counts = [[[_counts(row[side]) for row in of_system] for side in _SIDES] for of_system in rows]
    n_sizes = max((len(of_row) for of_system in counts for side in of_system for of_row in side), default=0)
    largest = [0] * n_sizes
    for of_system in counts:
        for side in of_system:
            for of_row in side:
                for size, count in enumerate(of_row):
                    largest[size] = max(largest[size], count)
    n_sentences = max(len(of_system) for of_system in rows)
    bits = [(count * n_sentences).bit_length() for count in largest]
    divisors = [1 << max(0, needed - _RANGE_BITS) for needed in bits]
    columns: list[Floats] = []
    for of_system in counts:
        matrix = np.zeros((len(of_system[0]), 3 * n_sizes))
        for side, of_rows in enumerate(of_system):
            for index, of_row in enumerate(of_rows):
                matrix[index, side * n_sizes : side * n_sizes + len(of_row)] = [
                    count / divisor for count, divisor in zip(of_row, divisors, strict=False)
                ]
        columns.append(matrix)
    return tuple(columns), max(bits, default=0) <= _EXACT_BITS


def _counts(cell: Any) -> tuple[int, ...]:
    return cell.counts if isinstance(cell, BySize) else ()


def fragment_rates(metric: Freval, totals: Floats) -> dict[str, Floats]:
    """What ``metric.rates`` gives, for many sums at once."""
    n_sizes = totals.shape[1] // 3
    gold, test, matched = (totals[:, side * n_sizes : (side + 1) * n_sizes] for side in range(3))
    both = (gold > 0) & (test > 0)
    recall = np.divide(matched, gold, out=np.zeros_like(gold), where=both)
    precision = np.divide(matched, test, out=np.zeros_like(gold), where=both)
    seen = ((gold > 0) | (test > 0)) if metric.matching == "published" else gold > 0
    largest = seen.sum(axis=1)
    rates: dict[str, Floats] = {}
    for index, limit in enumerate(metric.ranges):
        upto = np.full(len(totals), limit) if limit else largest
        if metric.matching == "published":
            upto = np.minimum(upto, largest)
        flr, flp = _interpolated(metric, recall, upto), _interpolated(metric, precision, upto)
        both_sum = flr + flp
        f1 = np.divide(2 * flr * flp, both_sum, out=np.zeros_like(flr), where=both_sum > 0)
        rates |= dict(zip(metric.rate_names[3 * index : 3 * index + 3], (flr, flp, f1), strict=True))
    if 0 not in metric.ranges:
        rates["f1"] = rates[metric.rate_names[-1]]
    return rates


def _interpolated(metric: Freval, values: Floats, upto: NDArray[np.int64]) -> Floats:
    """The weighted mean of each row over its sizes 1 ... ``upto``; sizes beyond the columns count as 0."""
    result = np.zeros(len(values))
    for n_sizes in np.unique(upto).tolist():
        rows = np.flatnonzero(upto == n_sizes)
        weights = np.array(metric.weights(n_sizes), dtype=np.float64)
        used = np.zeros((len(rows), n_sizes))
        used[:, : values.shape[1]] = values[rows][:, :n_sizes]
        if metric.mean == "linear":
            result[rows] = used @ weights
        else:
            weighted = weights > 0
            possible = (used[:, weighted] > 0).all(axis=1) & bool(n_sizes)
            logs = np.log(used[possible][:, weighted])
            result[rows[possible]] = np.exp(logs @ weights[weighted])
    return result
