"""What a metric is: rows of counts that add, and rates of their sum.

A corpus is a sum of rows; so is a shard, a bootstrap sample, a length bucket. Nothing else in treegauge needs to know what a
metric counts.

Sums of rows that are exact, so that no order, shard or block of sentences changes a bit of them.

Integers add as integers. A float is a 53-bit integer times a power of two: those integers are added per power, so a sum of floats
is exact too, and rounded once, when it is asked for. That is ``math.fsum`` over all rows, from any number of pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.pair import Pair
from treegauge.presets import Preset

__all__ = ["ExactSum", "Metric", "Rates", "Rows", "Total", "adapted", "f1", "ratio", "total_of"]

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


Rows = NDArray[Any]
"""One row a sentence, one column a count: integers, floats where a mean of sentences is defined, Python integers (object)
where counts outgrow 64 bits."""

Total = Sequence[Any]
Rates = dict[str, float]


class Metric(Protocol):
    """A way of comparing test trees with gold trees.

    * ``name``: what it is called on the command line; ``summary``: its definition in a line; ``reference``: a key of
      :mod:`treegauge.metrics.registry`.
    * ``columns``: what the columns of ``rows`` count; ``headline``: the rate to show when only one is.
    * ``mirrored``: rates that change places when gold and test do (``recall`` <-> ``precision``); a rate named with itself is
      symmetric.
    * ``options``: every setting that could change the score, for the signature.

    A rate named ``average_...`` is a mean of counts; all others are shares, and shown as percentages. A metric with rules of its
    own about what counts has a method ``adapted(preset)`` too, see :func:`adapted`.
    """

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def reference(self) -> str: ...
    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def headline(self) -> str: ...
    @property
    def mirrored(self) -> Mapping[str, str]: ...
    @property
    def options(self) -> Mapping[str, Any]: ...

    def rows(self, pair: Pair) -> Rows:
        """One row of counts for each sentence of the pair."""
        ...

    def rates(self, total: Total) -> Rates:
        """The rates that a sum of rows stands for; 0/0 is nan."""
        ...


def total_of(rows: Rows) -> list[Any]:
    """The sum of rows, exact: integers as integers, floats correctly rounded whatever the order."""
    total = ExactSum(rows.shape[1])
    total.add(rows)
    return total.values()


def adapted(metric: Metric, preset: Preset) -> Preset:
    """The preset that trees are prepared with for a metric: most take any as it is, some have rules of their own."""
    own: Callable[[Preset], Preset] | None = getattr(metric, "adapted", None)
    return preset if own is None else own(preset)


def ratio(part: Any, whole: Any) -> Any:
    """``part / whole``, and nan for 0/0; element by element for arrays, so that one call rates all samples of a bootstrap.

    >>> ratio(1, 4), ratio(0, 0)
    (0.25, nan)
    >>> ratio(np.array([1, 0]), np.array([4, 0])).tolist()
    [0.25, nan]
    """
    if isinstance(whole, np.ndarray):
        wholes = cast("NDArray[np.float64]", whole)
        return np.divide(part, wholes, out=np.full(wholes.shape, math.nan), where=wholes != 0)
    return part / whole if whole else math.nan


def f1(matched: Any, gold: Any, test: Any) -> Any:
    """The harmonic mean of recall and precision, 2m/(g+t).

    >>> f1(3, 4, 6)
    0.6
    """
    return ratio(2 * matched, gold + test)
