"""The base class of all metrics: rows of counts that add, and the rates of their sum.

A corpus is a sum of rows; so is a shard, a bootstrap sample, a length bucket. Nothing else in treegauge needs to know what a
metric counts.

Sums of rows are exact, so that no order, shard or block of sentences changes a bit of them. Integers add as integers. A float is a
53-bit integer times a power of two: those integers are added per power, so a sum of floats is exact too, and rounded once, when it
is asked for. That is ``math.fsum`` over all rows, from any number of pieces.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.pairing import Pair
from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.compact_rows import CompactRows, grid
from treegauge.presets import Preset, load_preset

__all__ = [
    "ExactSum",
    "Floats",
    "Metric",
    "OptionWords",
    "Rates",
    "Rows",
    "Total",
    "choice",
    "f1",
    "flag",
    "on_a_grid",
    "ratio",
    "repeatable",
    "total_of",
]

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

    def state(self) -> tuple[list[Any], list[int], list[bool], list[float]]:
        """For each column: the sum of what adds, of fractions in units of 2 ** -1074, whether floats were added, and infinities."""
        return self._integers, self._fractions, self._is_float, self._infinite

    @classmethod
    def from_state(cls, state: tuple[list[Any], list[int], list[bool], list[float]]) -> ExactSum:
        """The sum with that :meth:`state`."""
        total = cls(0)
        total._integers, total._fractions, total._is_float, total._infinite = map(list, state)
        return total

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
"""One row per sentence, one column per count: integers, floats where a mean of sentences is defined, Python integers (object)
where counts outgrow 64 bits."""

Floats = NDArray[np.float64]
Total = Iterable[Any]
"""A sum of rows: any iterable of as many numbers as the metric has columns; counts by size may be lists."""
Rates = dict[str, float]


class OptionWords(NamedTuple):
    """The words that set an option of a metric after a colon, as in ``goodman:pre``.

    ``read`` gives the value of a word, or None if the word does not belong to this option. ``examples`` are words for a list of
    the valid ones, ``meaning`` is what they do. A ``repeatable`` option collects the values of several words in a tuple.
    """

    examples: tuple[str, ...]
    read: Callable[[str], Any]
    meaning: str
    repeatable: bool = False


def choice(default: str, words: Sequence[str], meaning: str) -> Any:
    """A field of a metric that is one of some words."""
    given = tuple(words)

    def read(word: str) -> str | None:
        return word if word in given else None

    return field(default=default, metadata={"words": OptionWords(given, read, meaning)})


def flag(default: bool, yes: str, no: str, meaning: str) -> Any:
    """A field of a metric that is true after one word and false after another (an empty one: no such word)."""
    values = {word: value for word, value in ((yes, True), (no, False)) if word}
    return field(default=default, metadata={"words": OptionWords(tuple(values), values.get, meaning)})


def repeatable(default: tuple[Any, ...], examples: Sequence[str], read: Callable[[str], Any], meaning: str) -> Any:
    """A field of a metric that is a tuple, with a word for each item or for several."""
    return field(default=default, metadata={"words": OptionWords(tuple(examples), read, meaning, repeatable=True)})


@dataclass(frozen=True)
class Metric(ABC):
    """A way of comparing test trees with gold trees: a frozen dataclass whose fields are its options.

    What is the same for all options is class data:

    * ``name``: its name on the command line; ``summary``: its definition in a line; ``reference``: a key of
      :data:`treegauge.metrics.registry.REFERENCES`.
    * ``columns``: what the columns of ``rows`` count; ``headline``: the rate to show when only one is shown.
    * ``symmetries``: the rate that each rate turns into when gold and test change places (``recall`` into ``precision``, ``f1``
      into itself); rates that are not named have no such partner.
    * ``preset``: the name of the preset that trees are prepared with unless another is given.
    * ``compared_with_evalb``: whether EVALB counts the same, so that a result can say what EVALB would print.
    * ``counts_are_results``: whether tables show the counts beside the rates.
    * ``discontinuous``: whether its definition holds for trees with crossing branches; if not, such trees are refused.
    * ``sentence_columns``: the columns that say of a sentence whether it is right as a whole, see :meth:`without_parse`.
    * ``exact_columns``: those of them that only a tree over the very same words can have.
    * ``lower_is_better``: the rates that are errors; ``undirected``: those of which neither more nor less is better.

    A rate named ``average_...`` is a mean of counts; all others are shares, and shown as percentages.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    headline: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    symmetries: ClassVar[Mapping[str, str]] = {}
    preset: ClassVar[str] = "default"
    compared_with_evalb: ClassVar[bool] = False
    counts_are_results: ClassVar[bool] = False
    discontinuous: ClassVar[bool] = False
    sentence_columns: ClassVar[tuple[str, ...]] = ()
    exact_columns: ClassVar[tuple[str, ...]] = ()
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    undirected: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def rows(self, pair: Pair) -> Rows:
        """One row of counts for each sentence of the pair."""

    @abstractmethod
    def rates(self, total: Total) -> Rates:
        """The rates of a sum of rows; 0/0 is nan."""

    def without_parse(self, rows: Rows, pair: Pair) -> Rows:
        """The rows, with what a missing parse does to them; every metric's :meth:`rows` that judges whole sentences ends with this.

        The rule, for all metrics: a sentence without a parse (none, one that cannot be read, or one over other words) has its worst
        value in every rate of sentences, so each of ``sentence_columns`` is 0; its gold parts count as missed, so recall-type rates
        fall; and it adds nothing to what was produced, by which precision-type rates divide. F1 stays 2m/(g+t). A mean over what
        was parsed (average crossing) divides by the number of parses, which is a column of its own.

        A parse whose words were aligned by edit distance is a parse, but no tree over other words is exactly right: each of
        ``exact_columns`` is 0 for it.
        """
        for sentences, names in ((~pair.has_parse, self.sentence_columns), (pair.is_edited, self.exact_columns)):
            if sentences.any():
                places = [self.columns.index(name) for name in names]
                rows[np.flatnonzero(sentences)[:, None], places] = 0
        return rows

    @property
    def options(self) -> dict[str, Any]:
        """Every setting that could change the score, for the signature."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.metadata.get("words") is not None}

    @classmethod
    def option_words(cls) -> dict[str, OptionWords]:
        """The words that set each option."""
        return {item.name: item.metadata["words"] for item in fields(cls) if item.metadata.get("words") is not None}

    @classmethod
    def with_options(cls, *words: str) -> Self:
        """The metric with the options that some words set, such as ``pre`` in ``goodman:pre``."""
        known = cls.option_words()
        values: dict[str, Any] = {}
        for word in words:
            for option, of_option in known.items():
                value = of_option.read(word)
                if value is None:
                    continue
                if of_option.repeatable:
                    values[option] = (*values.get(option, ()), *cast("tuple[Any, ...]", value))
                elif values.setdefault(option, value) != value:
                    raise UsageError(f"{cls.name}: {word!r} contradicts another option; use one of {', '.join(of_option.examples)}")
                break
            else:
                if not known:
                    raise UsageError(f"the metric {cls.name!r} takes no options, but {':'.join((cls.name, *words))!r} gives some")
                raise UnknownName(f"option of {cls.name}", word, [example for each in known.values() for example in each.examples])
        return cls(**values)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """The metric whose :attr:`options` these are; lists, as JSON has them, stand for tuples."""
        given = {name: tuple(cast("list[Any]", value)) if isinstance(value, list) else value for name, value in options.items()}
        return cls(**given)

    @property
    def rate_names(self) -> tuple[str, ...]:
        """The names of the rates, in order."""
        return tuple(self.rates([0] * len(self.columns)))

    def counterpart(self, rate: str) -> str | None:
        """The rate that this one turns into when gold and test change places; None if there is none."""
        return self.symmetries.get(rate)

    def preset_for(self, preset: Preset | None) -> Preset:
        """The preset to prepare trees with, given the one that was asked for (None: the metric's own)."""
        return load_preset(self.preset) if preset is None else preset

    def reproduced(self, pair: Pair) -> BitSets | Rows | None:
        """The gold parts of each sentence that the test tree reproduced, as sets of bits, or as Python integers of these bits.

        They are kept beside the rows and never summed: tests that pair two systems part by part need them. None: not kept.
        """
        return None

    def with_judgements(self, judgements: Any) -> Metric:
        """The metric that takes up a person's verdicts; itself if it has no use for them."""
        return self

    def float_columns(self, rows: Sequence[Rows]) -> tuple[tuple[Floats, ...], bool]:
        """The rows of several systems as matrices of floats that can be resampled, and whether all their sums are exact."""
        return tuple(map(on_a_grid, rows)), True

    def compact_columns(self, rows: Sequence[CompactRows]) -> tuple[tuple[CompactRows, ...], bool]:
        """The columns of :meth:`float_columns` in little memory, for rows of very many sentences."""
        if type(self).float_columns is Metric.float_columns:
            return tuple(of_system.on_a_grid() for of_system in rows), True
        columns, is_exact = self.float_columns([of_system[:] for of_system in rows])
        return tuple(map(CompactRows.of, columns)), is_exact

    def rates_of_sums(self, sums: Floats) -> Floats:
        """The rates (samples, rates) of many sums (samples, columns) of :meth:`float_columns`, all at once."""
        try:
            rates = cast("dict[str, Any]", self.rates(list(sums.T)))
        except (TypeError, ValueError):
            # Rates that take numbers only, not arrays of them.
            return np.array([list(self.rates(total).values()) for total in sums.tolist()], dtype=np.float64)
        return np.stack([np.broadcast_to(np.asarray(rate, dtype=np.float64), len(sums)) for rate in rates.values()], axis=1)


def on_a_grid(rows: Rows) -> Floats:
    """The rows with each column rounded to multiples of a power of two such that any sum of as many rows is exact.

    Counts are left as they are; a mean of sentences over 2,400 of them moves by less than one part in 10^11.

    >>> rows = on_a_grid(np.array([[1 / 3, 7.0], [0.1, 2.0]]))
    >>> bool(abs(rows[0, 0] - 1 / 3) < 1e-14), rows[:, 1].tolist()
    (True, [7.0, 2.0])
    """
    found = np.empty(rows.shape)
    for number, counts in enumerate(rows.T):  # one by one, as there may be very many rows
        column = np.asarray(counts, dtype=np.float64)
        scale = grid(column, len(rows))
        found[:, number] = np.rint(column * scale) / scale
    return found


def total_of(rows: Rows | CompactRows) -> list[Any]:
    """The sum of rows, exact: integers as integers, floats correctly rounded whatever the order."""
    total = ExactSum(rows.shape[1])
    for block in rows.blocks() if isinstance(rows, CompactRows) else (rows,):
        total.add(block)
    return total.values()


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
