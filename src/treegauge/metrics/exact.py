"""Sums of rows that are exact, so that no order, shard or block of sentences changes a bit of them.

Integers add as integers. A float is a 53-bit integer times a power of two: those integers are added per power, so a sum of floats
is exact too, and rounded once, when it is asked for. That is ``math.fsum`` over all rows, from any number of pieces.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["ExactSum"]

_SMALLEST = 1074
"""Every float is a multiple of 2 ** -1074."""
_MANTISSA = 53


class ExactSum:
    """A sum of rows under construction, column by column.

    >>> total = ExactSum(1)
    >>> for value in (1e16, 1.0, -1e16, 0.1):
    ...     total.add(np.array([[value]]))
    >>> total.values()
    [1.1]
    """

    def __init__(self, n_columns: int) -> None:
        self._integers: list[Any] = [0] * n_columns
        self._fractions = [0] * n_columns
        self._is_float = [False] * n_columns
        self._infinite = [0.0] * n_columns

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows: integers, floats, or any objects that add."""
        if not len(rows):
            return
        if rows.dtype.kind in "iub":
            self._add_integers(rows.sum(axis=0, dtype=np.int64).tolist())
        elif rows.dtype.kind == "O":
            self._add_integers([sum(column) for column in rows.T])
        else:
            self._add_floats(rows)

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        self._add_integers(other._integers)
        self._fractions = [ours + theirs for ours, theirs in zip(self._fractions, other._fractions, strict=True)]
        self._is_float = [ours or theirs for ours, theirs in zip(self._is_float, other._is_float, strict=True)]
        self._infinite = [ours + theirs for ours, theirs in zip(self._infinite, other._infinite, strict=True)]

    def values(self) -> list[Any]:
        """The sums: floats, rounded once, where floats were added."""
        finite = [
            (fraction + (integer << _SMALLEST)) / (1 << _SMALLEST) if is_float else integer
            for integer, fraction, is_float in zip(self._integers, self._fractions, self._is_float, strict=True)
        ]
        return [value + infinite if infinite else value for value, infinite in zip(finite, self._infinite, strict=True)]

    def _add_integers(self, values: list[Any]) -> None:
        self._integers = [_sum(ours, theirs) for ours, theirs in zip(self._integers, values, strict=True)]

    def _add_floats(self, rows: NDArray[np.float64]) -> None:
        whole = (np.rint(rows) == rows).all(axis=0)
        # Up to here every partial sum of whole numbers is itself exact.
        whole &= np.abs(rows).sum(axis=0) < 1 << _MANTISSA
        sums = rows.sum(axis=0)
        for column, is_whole in enumerate(whole.tolist()):
            self._is_float[column] = True
            if is_whole:
                self._integers[column] += int(sums[column])
            elif not np.isfinite(rows[:, column]).all():
                self._infinite[column] += float(sums[column])
            else:
                self._fractions[column] += _exact_sum(rows[:, column])


def _sum(ours: Any, theirs: Any) -> Any:
    """The sum of two counts; the 0 that a sum starts from need not be of their kind."""
    return theirs if isinstance(ours, int) and ours == 0 else ours if isinstance(theirs, int) and theirs == 0 else ours + theirs


def _exact_sum(column: NDArray[np.float64]) -> int:
    """The sum of floats, in units of 2 ** -1074."""
    mantissa, exponent = np.frexp(column)
    digits = (mantissa * float(1 << _MANTISSA)).astype(np.int64)
    lowest = int(exponent.min())
    # Halves of at most 27 bits: sums of up to 2 ** 26 of them are exact in the floats that bincount adds in.
    high = np.bincount(exponent - lowest, weights=digits >> 26)
    low = np.bincount(exponent - lowest, weights=digits & ((1 << 26) - 1))
    total = 0
    for power, (upper, lower) in enumerate(zip(high.tolist(), low.tolist(), strict=True), start=lowest - _MANTISSA + _SMALLEST):
        part = (int(upper) << 26) + int(lower)
        total += part << power if power >= 0 else part >> -power
    return total
