"""What a metric is: rows of counts that add, and rates of their sum.

A corpus is a sum of rows; so is a shard, a bootstrap sample, a length bucket. Nothing else in treegauge needs to know what a
metric counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.exact import ExactSum
from treegauge.metrics.preparation import Pair
from treegauge.normalise.preset import Preset

__all__ = ["Metric", "Rates", "Rows", "Total", "adapted", "f1", "ratio", "total_of"]

Rows = NDArray[Any]
"""One row a sentence, one column a count: integers, floats where a mean of sentences is defined, Python integers (object)
where counts outgrow 64 bits."""

Total = Sequence[Any]
Rates = dict[str, float]


class Metric(Protocol):
    """A way of comparing test trees with gold trees.

    * ``name``: what it is called on the command line; ``summary``: its definition in a line; ``reference``: a key of
      :mod:`treegauge.metrics.references`.
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
