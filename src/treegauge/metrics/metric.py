"""The base class of all metrics: rows of counts that add, and the rates of their sum.

A corpus is a sum of rows; so are a block, a bootstrap sample and a length bucket. Nothing else in treegauge needs to know what a
metric counts.

Sums of rows are exact, so that neither the order of sentences nor their division into blocks changes a bit of them. Integers are
added as integers. The sum of floats is kept as a few floats that have it exactly, and is rounded once, at the end: the result is
that of ``math.fsum`` over all rows.
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
from treegauge.presets import Preset, load_preset


class ExactSum:
    """A sum of rows under construction, column by column.

    >>> total = ExactSum(1)
    >>> for value in (1e16, 1.0, -1e16, 0.1):
    ...     total.add(np.array([[value]]))
    >>> total.values()
    [1.1]
    """

    def __init__(self, n_columns: int) -> None:
        self._counts: list[Any] = [0] * n_columns
        self._floats: list[list[float] | None] = [None] * n_columns

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows: integers, floats, or any objects that add."""
        if not len(rows):
            return
        if rows.dtype.kind in "iub":
            self._add_counts(rows.sum(axis=0, dtype=np.int64).tolist())
        elif rows.dtype.kind == "O":
            self._add_counts([sum(column) for column in rows.T])
        else:
            self._add_floats(rows)

    def merge(self, other: ExactSum) -> None:
        """Add another sum."""
        self._add_counts(other._counts)
        for column, floats in enumerate(other._floats):
            if floats is not None:
                self._floats[column] = _exact_parts(np.array([*(self._floats[column] or ()), *floats]))

    def values(self) -> list[Any]:
        """The sums; those of columns to which floats were added are floats."""
        pairs = zip(self._counts, self._floats, strict=True)
        return [count if floats is None else _rounded_sum([float(count), *floats]) for count, floats in pairs]

    def _add_counts(self, values: list[Any]) -> None:
        self._counts = [_sum(ours, theirs) for ours, theirs in zip(self._counts, values, strict=True)]

    def _add_floats(self, rows: NDArray[np.float64]) -> None:
        sums = rows.sum(axis=0)
        # Below this bound, every partial sum of whole numbers is exact.
        whole = (np.rint(rows) == rows).all(axis=0) & (np.abs(rows).sum(axis=0) < 1 << 53)
        for column, (is_whole, total) in enumerate(zip(whole.tolist(), sums.tolist(), strict=True)):
            added = [total] if is_whole else rows[:, column]
            self._floats[column] = _exact_parts(np.concatenate([self._floats[column] or [], added]))


def _sum(ours: Any, theirs: Any) -> Any:
    """The sum of two counts; the 0 from which a sum starts need not be of their type."""
    return theirs if isinstance(ours, int) and ours == 0 else ours if isinstance(theirs, int) and theirs == 0 else ours + theirs


def _exact_parts(values: Floats) -> list[float]:
    """A few floats with exactly the sum of many: the sum of their leading digits, of the next digits, and so on."""
    parts: list[float] = []
    while bound := float(np.abs(values).sum()):
        if not math.isfinite(bound):
            return [_rounded_sum([*parts, *values.tolist()])]
        # Multiples of this power of two add without rounding: their sum has at most 53 digits.
        unit = 2.0 ** max(math.frexp(bound)[1] - 52, -1074)
        leading = np.rint(values / unit) * unit
        parts.append(float(leading.sum()))
        values = values - leading
    return parts


def _rounded_sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except (ValueError, OverflowError):  # infinities of both signs, or a sum beyond the largest float
        return sum(values)


Rows = NDArray[Any]
"""One row per sentence, one column per count: integers, floats if the metric has means of sentences, or Python objects if counts
exceed 64 bits."""

Floats = NDArray[np.float64]
Total = Iterable[Any]
"""A sum of rows: any iterable of as many numbers as the metric has columns; counts by size may be lists."""
Rates = dict[str, float]


class OptionWords(NamedTuple):
    """The words that set an option of a metric after a colon, as in ``goodman:pre``.

    ``read`` gives the value of a word, or None if the word does not belong to this option. ``examples`` are shown as valid words,
    and ``meaning`` explains them. A ``repeatable`` option collects the values of several words in a tuple.
    """

    examples: tuple[str, ...]
    read: Callable[[str], Any]
    meaning: str
    repeatable: bool = False


def choice(default: str, words: Sequence[str], meaning: str) -> Any:
    """A field of a metric whose value is one of some words."""
    given = {word: word for word in words}
    return field(default=default, metadata={"words": OptionWords(tuple(given), given.get, meaning)})


def flag(default: bool, yes: str, no: str, meaning: str) -> Any:
    """A field of a metric that one word sets to true and another to false; an empty string stands for no such word."""
    values = {word: value for word, value in ((yes, True), (no, False)) if word}
    return field(default=default, metadata={"words": OptionWords(tuple(values), values.get, meaning)})


def repeatable(default: tuple[Any, ...], examples: Sequence[str], read: Callable[[str], Any], meaning: str) -> Any:
    """A field of a metric that is a tuple; each word adds one or several items."""
    return field(default=default, metadata={"words": OptionWords(tuple(examples), read, meaning, repeatable=True)})


@dataclass(frozen=True)
class Metric(ABC):
    """A way of comparing test trees with gold trees: a frozen dataclass whose fields are its options.

    Properties that do not depend on options are class data:

    * ``name``: its name on the command line; ``summary``: its definition in one line; ``reference``: a key of
      :data:`treegauge.metrics.references.REFERENCES`.
    * ``columns``: the names of the columns of ``rows``; ``headline``: the rate to show if only one is shown.
    * ``ratios``: for each rate the columns of which it is the ratio, or the F1 of matched, gold and test; a metric whose rates are
      nothing else needs no :meth:`rates`.
    * ``symmetries``: for each rate the rate that it becomes when gold and test are exchanged (``precision`` for ``recall``, ``f1``
      for itself); rates that are not listed have no such counterpart.
    * ``preset``: the name of the preset by which trees are prepared unless another is given.
    * ``compared_with_evalb``: whether EVALB counts the same, so that a result can tell what EVALB would print.
    * ``counts_are_results``: whether tables show the counts beside the rates.
    * ``discontinuous``: whether the metric is defined for trees with crossing branches; if not, such trees are refused.
    * ``sentence_columns``: the columns that judge a sentence as a whole, see :meth:`without_parse`.
    * ``exact_columns``: those of them that are 0 unless the tree is over exactly the gold words.
    * ``lower_is_better``: the rates that are errors; ``undirected``: those for which neither higher nor lower is better.

    A rate named ``average_...`` is a mean of counts; all others are shares, shown as percentages.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    headline: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {}
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

    def rates(self, total: Total) -> Rates:
        """The rates of a sum of rows; 0/0 is nan."""
        n = dict(zip(self.columns, total, strict=True))
        return {rate: (ratio if len(of) == 2 else f1)(*(n[name] for name in of)) for rate, of in self.ratios.items()}

    def without_parse(self, rows: Rows, pair: Pair) -> Rows:
        """The rows, corrected for sentences without a parse; each metric that judges whole sentences ends :meth:`rows` with this.

        The rule is the same for all metrics. A sentence without a parse (none, one that cannot be read, or one over other words)
        has the worst value in every rate of sentences, so each of ``sentence_columns`` is 0. Its gold parts count as missed, which
        lowers recall, and it adds no test parts, so that precision ignores it; F1 stays 2m/(g+t). A mean over parsed sentences,
        such as average crossing, divides by the number of parses, which is a column of its own.

        A parse whose words were aligned by edit distance is a parse, but no tree over other words is exactly right: each of
        ``exact_columns`` is 0.
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
        """The metric with the options that these words set, such as ``pre`` in ``goodman:pre``."""
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
                raise UnknownName(f"option of {cls.name}", word, [x for each in known.values() for x in each.examples])
        return cls(**values)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """The metric with these :attr:`options`; lists, as in JSON, stand for tuples."""
        given = {name: tuple(cast("list[Any]", value)) if isinstance(value, list) else value for name, value in options.items()}
        return cls(**given)

    @property
    def rate_names(self) -> tuple[str, ...]:
        """The names of the rates, in order."""
        return tuple(self.rates([0] * len(self.columns)))

    def counterpart(self, rate: str) -> str | None:
        """The rate that this one becomes when gold and test are exchanged; None if there is none."""
        return self.symmetries.get(rate)

    def reading_of(self, rate: str) -> str:
        """The reading of a rate's definition that is followed, if there are several: it is named wherever the rate is shown."""
        return ""

    def rate_words(self, rate: str) -> str:
        """The name of a rate in words, with the reading of its definition.

        >>> from treegauge.metrics.registry import find_metric
        >>> find_metric("hogenhout:literal").rate_words("t_inheritance")
        't inheritance (literal)'
        """
        words, reading = rate.replace("_", " "), self.reading_of(rate)
        return f"{words} ({reading})" if reading else words

    def preset_for(self, preset: Preset | None) -> Preset:
        """The preset by which to prepare trees, given the one that was asked for (None: the metric's own)."""
        return load_preset(self.preset) if preset is None else preset

    def reproduced(self, pair: Pair) -> Rows | None:
        """The gold parts of each sentence that the test tree reproduced, as the bits of a Python integer.

        They are kept beside the rows, never summed, for tests that compare two systems part by part. None if they are not kept.
        """
        return None

    def with_judgements(self, judgements: Any) -> Metric:
        """The metric with a person's judgements; the metric itself if it does not use any."""
        return self

    def float_columns(self, rows: Sequence[Rows]) -> tuple[tuple[Floats, ...], bool]:
        """The rows of several systems as matrices of floats for resampling, and whether all their sums are exact."""
        return tuple(map(on_a_grid, rows)), True

    def rates_of_sums(self, sums: Floats) -> Floats:
        """The rates (samples, rates) of many sums (samples, columns) of :meth:`float_columns`, all at once."""
        try:
            rates = cast("dict[str, Any]", self.rates(list(sums.T)))
        except (TypeError, ValueError):
            # These rates are defined for numbers, not for arrays.
            return np.array([list(self.rates(total).values()) for total in sums.tolist()], dtype=np.float64)
        return np.stack([np.broadcast_to(np.asarray(rate, dtype=np.float64), len(sums)) for rate in rates.values()], axis=1)


def on_a_grid(rows: Rows) -> Floats:
    """The rows with each column rounded to multiples of a power of two, so that any sum of that many rows is exact.

    Counts do not change; a mean over 2,400 sentences changes by less than one part in 10^11.

    >>> rows = on_a_grid(np.array([[1 / 3, 7.0], [0.1, 2.0]]))
    >>> bool(abs(rows[0, 0] - 1 / 3) < 1e-14), rows[:, 1].tolist()
    (True, [7.0, 2.0])
    """
    found = np.empty(rows.shape)
    for number, counts in enumerate(rows.T):  # one by one, since there may be very many rows
        column = np.asarray(counts, dtype=np.float64)
        exponent = int(np.frexp(np.abs(column).max(initial=0.0) * max(len(rows), 1))[1]) - 53
        is_count = exponent <= 0 and bool((column == np.rint(column)).all())
        scale = float(np.ldexp(1.0, 0 if is_count else -exponent))
        found[:, number] = np.rint(column * scale) / scale
    return found


def exchanged(*kinds: str) -> dict[str, str]:
    """The ``symmetries`` of recall, precision and F1, each with some words before its name."""
    pairs = (("recall", "precision"), ("precision", "recall"), ("f1", "f1"))
    return {f"{kind}{rate}": f"{kind}{other}" for kind in kinds for rate, other in pairs}


def total_of(rows: Rows) -> list[Any]:
    """The sum of rows, exact: integers as integers, floats correctly rounded whatever the order."""
    total = ExactSum(rows.shape[1])
    total.add(rows)
    return total.values()


def ratio(part: Any, whole: Any) -> Any:
    """``part / whole``, and nan for 0/0; for arrays element by element, so that one call serves all samples of a bootstrap.

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
