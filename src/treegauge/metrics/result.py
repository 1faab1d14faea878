"""Result: what a metric says of one system, with everything needed to say it again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

from treegauge.errors import UsageError
from treegauge.metrics.alignment import Note
from treegauge.metrics.base import Metric, Rows
from treegauge.metrics.evalb_outcome import EvalbOutcome
from treegauge.metrics.signature import Signature
from treegauge.metrics.tables import Table
from treegauge.trees.treebank import Int64

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns import Breakdown

__all__ = ["Inputs", "Part", "Result", "Scores", "Sentences", "plain_count"]


@dataclass(frozen=True)
class Part:
    """The sum of some sentences' rows, and the rates it stands for; ``length`` is the longest sentence let in, if one is."""

    sentences: int
    counts: Mapping[str, Any]
    rates: Mapping[str, float]
    length: int | None = None

    @classmethod
    def of(cls, metric: Metric, total: Sequence[Any], sentences: int, length: int | None = None) -> Part:
        """The part that a sum of rows stands for."""
        counts = dict(zip(metric.columns, map(plain_count, total), strict=True))
        return cls(sentences, counts, {name: float(rate) for name, rate in metric.rates(total).items()}, length)


@dataclass(frozen=True)
class Inputs:
    """The files that were compared, as they were named, and how they were read."""

    gold: tuple[str, ...]
    test: tuple[str, ...]
    reading: Mapping[str, Any]


@dataclass(frozen=True)
class Sentences:
    """The rows behind a result: one for each sentence that was scored.

    ``index`` names the gold sentence of each row (from 0). For every gold sentence, scored or not: ``length``, ``status`` (0
    scored, 1 does not fit, 2 no parse) and ``places``.
    """

    rows: Rows
    index: Int64
    length: Int64
    status: Int64
    places: Sequence[str]


@dataclass(frozen=True, eq=False)
class Result:
    """What a metric says of one system.

    ``rates`` are fractions (nan: 0/0), ``counts`` the sums they are made of, ``rows`` one row of counts (``columns``) a sentence,
    ``signature`` everything that could change the score, ``skipped`` the number of sentences left out, ``notes`` what there is to
    say about single sentences. ``short`` is the part with sentences up to the cutoff length, ``evalb`` what EVALB would have said,
    ``breakdowns`` where the score comes from.

    It prints as a table, and :meth:`to_json` and :meth:`from_json` keep it for later.
    """

    system: str
    metric: str
    headline: str
    columns: tuple[str, ...]
    total: Part
    short: Part
    signature: Signature
    notes: tuple[Note, ...] = field(default=(), repr=False)
    evalb: EvalbOutcome | None = None
    inputs: Inputs | None = field(default=None, repr=False)
    definition: Metric | None = field(default=None, repr=False)
    sentences: Sentences | None = field(default=None, repr=False)
    breakdowns: Mapping[str, Breakdown] = field(default_factory=dict[str, "Breakdown"], repr=False)

    @property
    def rates(self) -> Mapping[str, float]:
        return self.total.rates

    @property
    def counts(self) -> Mapping[str, Any]:
        return self.total.counts

    @property
    def skipped(self) -> int:
        return self.signature.skipped

    @property
    def rows(self) -> Rows:
        return self.scored_sentences.rows

    @property
    def scored_sentences(self) -> Sentences:
        """The rows with their sentences; a UsageError where they were not kept."""
        if self.sentences is None:
            raise UsageError("this result has no rows of single sentences: it was streamed, or stored without --per-sentence")
        return self.sentences

    def per_sentence(self) -> Iterator[dict[str, Any]]:
        """For each sentence that was scored its number (from 0), place, length, counts and rates, as plain data."""
        from treegauge.metrics.result_json import without_nan

        sentences = self.scored_sentences
        for number, row in zip(sentences.index.tolist(), sentences.rows, strict=True):
            values = row.tolist()
            record: dict[str, Any] = {"sentence": number, "place": sentences.places[number]}
            record["length"] = int(sentences.length[number])
            record["counts"] = dict(zip(self.columns, map(plain_count, values), strict=True))
            if self.definition is not None:
                record["rates"] = without_nan(self.definition.rates(values))
            yield record

    def table(self) -> Table:
        """The rates, for all sentences and, where some are longer, for those up to the cutoff length."""
        from treegauge.metrics.result_tables import tables_of

        return tables_of([self])[0]

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_dict(self, *, per_sentence: bool = False) -> dict[str, Any]:
        """Plain data at full precision; None stands for 0/0."""
        from treegauge.metrics.result_json import result_to_dict

        return result_to_dict(self, per_sentence=per_sentence)

    def to_json(self, *, per_sentence: bool = False, indent: int | None = 1) -> str:
        """JSON at full precision; ``null`` stands for 0/0."""
        return json.dumps(self.to_dict(per_sentence=per_sentence), ensure_ascii=False, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that :meth:`to_json` wrote; rows are there if they were written."""
        from treegauge.metrics.result_json import results_from_json

        results = results_from_json(text)
        if len(results) != 1:
            raise UsageError(f"expected one result, found {len(results)}: Scores.from_json reads several")
        return results[0]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, for any library that reads one; needs pyarrow."""
        from treegauge.metrics.result_json import arrow_table

        return arrow_table(self).__arrow_c_stream__(requested_schema)


class Scores(Sequence[Result]):
    """Results side by side: several systems, several metrics, or both; systems in the order given, and for each its metrics."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Scores: ...
    def __getitem__(self, index: int | slice) -> Result | Scores:
        return Scores(self._results[index]) if isinstance(index, slice) else self._results[index]

    def of(self, system: str, metric: str | None = None) -> Result:
        """The result of a system by a metric, or by the only metric."""
        found = [result for result in self if result.system == system and metric in (None, result.metric)]
        if len(found) != 1:
            known = ", ".join(f"{result.system}/{result.metric}" for result in self)
            raise UsageError(f"{len(found)} results of {system!r} by {metric or 'any metric'}; there are: {known}")
        return found[0]

    def tables(self) -> list[Table]:
        """A table for each metric, with a column a system."""
        from treegauge.metrics.result_tables import tables_of

        return tables_of(self._results)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def __repr__(self) -> str:
        return f"<Scores of {', '.join(f'{result.system}/{result.metric}' for result in self)}>"

    def _repr_html_(self) -> str:
        return "".join(table.as_html() for table in self.tables())

    def to_json(self, *, per_sentence: bool = False, indent: int | None = 1) -> str:
        """JSON at full precision: an object whose ``results`` are those of the single results."""
        from treegauge.metrics.result_json import SCORES_SCHEMA

        results = [result.to_dict(per_sentence=per_sentence) for result in self]
        return json.dumps({"schema": SCORES_SCHEMA, "results": results}, ensure_ascii=False, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Scores:
        """The results that :meth:`to_json` wrote, of this class or of a single result."""
        from treegauge.metrics.result_json import results_from_json

        return cls(results_from_json(text))


def plain_count(value: Any) -> Any:
    """A count as JSON can hold it: whole numbers as integers, counts of several sizes as a list.

    >>> plain_count(3.0), plain_count(0.25)
    (3, 0.25)
    """
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, int):
        return int(value)
    if hasattr(value, "item"):
        return plain_count(value.item())
    return [plain_count(item) for item in value.counts]
