"""Results: the scores of systems by metrics, with everything needed to compute them again; as JSON, as tables, within limits."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

import numpy as np

from treegauge.alignment.notes import NOT_PARSED, REMARKS, Note, misfits, with_advice
from treegauge.errors import CheckFailed, UnknownName, UsageError, check_name, hinting
from treegauge.metrics.metric import Metric, Rows, ratio
from treegauge.metrics.registry import rate_name
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.scoring.signature import Signature
from treegauge.tables import Cell, Table, cut, number_of, optional_library, over_runs, plain
from treegauge.trees.treebank import Int64, Treebank

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns import Breakdown

PROBLEM_KINDS = ("broken", "repaired")
"""The kinds of note on parses that could not be read as they are."""


def join_blocks(blocks: Sequence[Int64]) -> Int64:
    """Blocks of numbers as one array."""
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sentences:
    """The sentences behind a result: a row of counts for each that was scored.

    ``index`` has the number (from 0) of each row's gold sentence. For every gold sentence, scored or not, there are ``length``,
    ``status`` (0 scored, 1 does not match, 2 no parse), ``places`` (where it was read) and, if EVALB was asked, ``evalb``, its
    status of the sentence (0 scored, 1 error, 2 no parse, -1 no line). ``reproduced`` belongs to the rows,
    see :meth:`treegauge.metrics.metric.Metric.reproduced`.
    """

    rows: Rows
    index: Int64
    length: Int64
    status: Int64
    places: Sequence[str]
    evalb: Int64 | None = None
    reproduced: Rows | None = None


class _Rates:
    """Rates that are attributes, too, and found by name: ``result.f1``, ``result.short.f1``, ``result["f1"]``."""

    def __getattr__(self, name: str) -> float:
        # While a result is copied, it has no fields yet.
        rates: Mapping[str, float] = self.__dict__.get("total", self).__dict__.get("rates", {})
        if rate_name(name) in rates:
            return rates[rate_name(name)]
        said = f"a result by {self.__dict__.get('metric')} has no attribute or rate {name!r}; its rates: {', '.join(rates)}"
        raise AttributeError(said.replace(" by None", ""), name=name, obj=self)

    def __getitem__(self, rate: str) -> float:
        rates = cast("Part | Result", self).rates
        check_name("rate", rate_name(str(rate)), rates)
        return rates[rate_name(rate)]


@dataclass(frozen=True)
class Part(_Rates):
    """The sum of the rows of some sentences, and its rates; ``length`` is the largest length of these sentences, if it is limited.

    ``intervals`` are the confidence intervals of the rates, if they were asked for; nan where there is none. ``intervals_of_mean``
    are, in the first of several runs of a system, those of the mean over runs.
    """

    sentences: int
    counts: Mapping[str, Any]
    rates: Mapping[str, float]
    length: int | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    intervals_of_mean: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    @classmethod
    def of(cls, metric: Metric, total: Sequence[Any], sentences: int, length: int | None = None) -> Part:
        """The part with this sum of rows."""
        counts = dict(zip(metric.columns, map(plain_count, total), strict=True))
        return cls(sentences, counts, {name: float(rate) for name, rate in metric.rates(total).items()}, length)


class IntervalOptions(NamedTuple):
    """The settings of confidence intervals: their level, the kind of bootstrap interval, the number of samples and the seed."""

    level: float
    method: str
    rounds: int
    seed: int

    def __str__(self) -> str:
        percent = f"{100 * self.level:g}%"
        return f"Intervals: {percent}, {self.method} bootstrap over sentences, {self.rounds:,} samples, seed {self.seed}."


class Inputs(NamedTuple):
    """The paths of the files that were compared, and the options they were read with."""

    gold: tuple[str, ...]
    test: tuple[str, ...]
    reading: Mapping[str, Any]


class ScoredTrees(NamedTuple):
    """The trees behind a result, as blocks, and for each gold sentence the number of its test sentence (-1: none)."""

    gold: Sequence[Treebank]
    test: Sequence[Treebank]
    partner: Int64


@dataclass(frozen=True, eq=False)
class Result(_Rates):
    """The score of one system by one metric.

    ``rates`` are fractions (nan: 0/0), ``counts`` the sums they are made of, ``rows`` one row of counts (``columns``) per sentence,
    ``signature`` everything that could change the score, ``skipped`` the number of sentences left out, and ``notes`` remarks on
    single sentences. ``short`` is the part with sentences up to the cutoff length, ``evalb`` what EVALB would print, and
    ``breakdowns`` are counts by label, length and so on. ``run`` is the name of the run, if the system has several. Each rate is an
    attribute too: ``result.f1``.

    A result prints as a table. :meth:`save` and :meth:`Scores.load` store it with its rows, :meth:`to_json` and :meth:`from_json`
    as JSON.
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
    trees: ScoredTrees | None = field(default=None, repr=False)
    breakdowns: Mapping[str, Breakdown] = field(default_factory=dict[str, "Breakdown"], repr=False)
    confidence: IntervalOptions | None = field(default=None, repr=False)
    run: str = ""

    def __repr__(self) -> str:
        rate = self.rates[self.headline]
        value = "undefined" if math.isnan(rate) else f"{shown_rate(self.headline, rate):.2f}"
        sentences = number_of(self.total.sentences, "sentence")
        return cut(f"<Result {self.label} by {self.metric}: {self.headline} {value}, {sentences}>")

    def check(self, *given: Mapping[str, float], **limits: float) -> None:
        """Raise a :class:`~treegauge.errors.CheckFailed` if a rate is below its limit, or above it if lower is better, as
        ``--fail-under`` and ``--fail-over`` do: ``result.check(f1=0.8, parsed=0.95)``, or the same in a dictionary."""
        Scores([self]).check(*given, **limits)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.rates]

    @property
    def label(self) -> str:
        """The name of the system and, if it has several, of its run."""
        return f"{self.system} ({self.run})" if self.run else self.system

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
    def parsed(self) -> float:
        """The share of the gold sentences that have a readable tree over their words; ``--fail-under parsed=0.95`` asks for it.

        Sentences left out are among the gold sentences. A tree whose words were aligned by edit distance is a parse.
        """
        unparsed = {note.sentence for note in self.notes if note.kind in NOT_PARSED and note.sentence >= 0}
        sentences = self.total.sentences + self.skipped
        return ratio(sentences - len(unparsed), sentences)

    @property
    def dropped_by_evalb(self) -> list[int]:
        """The numbers (from 0) of the gold sentences that EVALB would read but not score; empty if EVALB was not asked."""
        verdicts = None if self.sentences is None else self.sentences.evalb
        return [] if verdicts is None else np.flatnonzero(verdicts > 0).tolist()

    @property
    def problems(self) -> tuple[Note, ...]:
        """The notes on parses that could not be read or had to be repaired: place, reason and consequence of each."""
        return tuple(note for note in self.notes if note.kind in PROBLEM_KINDS)

    @property
    def edited(self) -> int:
        """The number of sentences whose words differ and were aligned by edit distance (``on_mismatch="edit"``)."""
        return sum(note.kind == "edited" for note in self.notes)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about all parses together, with advice: their words, tags, labels or roots are not those of gold."""
        return tuple(with_advice(note) for note in self.notes if note.kind in REMARKS)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The warnings, after those of trees that cannot be read and sentences that are missing or too many: what :func:`score`
        issues as a TreegaugeWarning."""
        return (*map(with_advice, misfits(self.notes)), *self.warnings)

    @property
    def rows(self) -> Rows:
        return self.scored_sentences.rows

    @property
    def scored_sentences(self) -> Sentences:
        """The sentences with their rows; a UsageError if they were not kept."""
        if self.sentences is None:
            raise UsageError(
                "this result has no rows of single sentences: it was streamed, or stored without them (Result.save keeps them)"
            )
        return self.sentences

    @property
    def scored_trees(self) -> ScoredTrees:
        """The trees behind the result; a UsageError if they were not kept."""
        if self.trees is None:
            raise UsageError("this result has no trees: it was streamed, scored by workers, or read back from a file")
        return self.trees

    def per_sentence(self) -> Iterator[dict[str, Any]]:
        """For each sentence that was scored its number (from 0), place, length, counts and rates, as plain data."""
        sentences = self.scored_sentences
        for number, row in zip(sentences.index.tolist(), sentences.rows, strict=True):
            values = row.tolist()
            record: dict[str, Any] = {"sentence": number, "place": sentences.places[number]}
            record["length"] = int(sentences.length[number])
            record["counts"] = dict(zip(self.columns, map(plain_count, values), strict=True))
            if self.definition is not None:
                record["rates"] = plain(self.definition.rates(values))
            yield record

    def table(self) -> Table:
        """The rates for all sentences and, if some are longer, for those up to the cutoff length."""
        return tables_of([self])[0]

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().as_html()

    def to_dict(self, *, per_sentence: bool = False) -> dict[str, Any]:
        """Plain data at full precision; None stands for 0/0."""
        data: dict[str, Any] = {
            "schema": RESULT_SCHEMA,
            "system": self.system,
            **({"run": self.run} if self.run else {}),
            "metric": self.metric,
            "headline": self.headline,
            **_part_to_dict(self.total),
            "skipped": self.skipped,
            "cutoff": {"length": self.short.length, **_part_to_dict(self.short)},
            "evalb": None if self.evalb is None else self.evalb.to_dict(),
            "notes": [{**note._asdict(), "sentence": note.sentence + 1 if note.sentence >= 0 else None} for note in self.notes],
            "signature": self.signature.to_dict(),
            "inputs": None if self.inputs is None else self.inputs._asdict(),
        }
        if self.confidence is not None:
            data["confidence"] = self.confidence._asdict()
        if self.breakdowns:
            data["breakdowns"] = {name: counted.table.to_records() for name, counted in self.breakdowns.items()}
        if per_sentence:
            data["status"] = self.scored_sentences.status.tolist()
            data["per_sentence"] = list(numbered_from_1(self.per_sentence()))
        return data

    def to_json(self, *, per_sentence: bool = False, indent: int | None = 1) -> str:
        """JSON at full precision; ``null`` stands for 0/0."""
        return json.dumps(self.to_dict(per_sentence=per_sentence), ensure_ascii=False, indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that :meth:`to_json` wrote, with its rows if they were written."""
        from treegauge.scoring.saved_scores import results_from_json

        results = results_from_json(text)
        if len(results) != 1:
            raise UsageError(f"expected one result, found {len(results)}: Scores.from_json reads several")
        return results[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result with its rows to a file that :meth:`Scores.load` reads."""
        Scores([self]).save(path)

    def to_frame(self) -> Any:
        """The rows as a pandas data frame: the sentence's number (from 0), its length, its main rate, and a column per count."""
        return optional_library("pandas", "a data frame").DataFrame(_columns(self))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, for any library that reads one; needs pyarrow."""
        return optional_library("pyarrow", "Arrow export").table(_columns(self)).__arrow_c_stream__(requested_schema)


@hinting
class Scores(Sequence[Result]):
    """Results side by side: several systems, several metrics, or both; systems in the order given, and for each its metrics."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int | str) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Scores: ...
    def __getitem__(self, index: int | str | slice) -> Result | Scores:
        """A result by its number or by the name of its system; some results as Scores."""
        if isinstance(index, str):
            return self.of(index)
        return Scores(self._results[index]) if isinstance(index, slice) else self._results[index]

    def check(self, *given: Mapping[str, float], **limits: float) -> None:
        """Raise a CheckFailed if a rate of a system, of several runs their mean, is beyond its limit, see :meth:`Result.check`."""
        lower = tuple(rate for result in self if result.definition is not None for rate in result.definition.lower_is_better)
        if given[1:] or not all(isinstance(each, Mapping) for each in given):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError("limits are given by name, check(f1=0.9), or together as check({'f1': 0.9})")
        every = dict(*given, **limits).items()
        checks = [parse_rate_limit(f"{rate}={limit}", is_most=rate_name(rate).endswith(lower)) for rate, limit in every]
        if failed := failed_limits(self, checks):
            raise CheckFailed("\n".join(failed))

    def of(self, system: str, metric: str | None = None) -> Result:
        """The result of a system by a metric, or by the only metric."""
        found = [result for result in self if result.system == system and metric in (None, result.metric)]
        if len(found) != 1:
            known = ", ".join(f"{result.label}/{result.metric}" for result in self)
            advice = f"\n  All of them: [result for result in scores if result.system == {system!r}]" if found else ""
            raise UsageError(f"{len(found)} results of {system!r} by {metric or 'any metric'}; there are: {known}{advice}")
        return found[0]

    def tables(self) -> list[Table]:
        """A table for each metric, with a column per system."""
        return tables_of(self._results)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables()))

    def __repr__(self) -> str:
        return cut(f"<Scores of {', '.join(f'{result.label}/{result.metric}' for result in self)}>")

    def _repr_html_(self) -> str:
        return "".join(table.as_html() for table in self.tables())

    def to_json(self, *, per_sentence: bool = False, indent: int | None = 1) -> str:
        """JSON at full precision: an object with the single results in ``results``."""
        results = [result.to_dict(per_sentence=per_sentence) for result in self]
        return json.dumps({"schema": SCORES_SCHEMA, "results": results}, ensure_ascii=False, indent=indent, allow_nan=False)

    def to_frame(self) -> Any:
        """All rates as a pandas data frame: system, metric, length, sentences, rate, value."""
        return tidy_table(self).to_frame()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results with their rows to a file, compact and without pickle; :meth:`load` reads it."""
        from treegauge.scoring.saved_scores import save_scores

        save_scores(self._results, os.fspath(path))

    @classmethod
    def load(cls, *paths: str | os.PathLike[str]) -> Scores:
        """The results that :meth:`save` or ``treegauge score --save`` wrote to one or several files.

        :func:`~treegauge.significance.compare_scores` compares them."""
        from treegauge.scoring.saved_scores import load_systems

        return cls(load_systems([os.fspath(path) for path in paths]))

    @classmethod
    def from_json(cls, text: str) -> Scores:
        """The results that :meth:`to_json` wrote, of this class or of a single result."""
        from treegauge.scoring.saved_scores import results_from_json

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


RESULT_SCHEMA = "treegauge.result/2"
SCORES_SCHEMA = "treegauge.scores/2"


def numbered_from_1(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Records of sentences as they are written to files, where the first sentence has number 1."""
    return ({**record, "sentence": record["sentence"] + 1} for record in records)


def _part_to_dict(part: Part) -> dict[str, Any]:
    data: dict[str, Any] = {"sentences": part.sentences, "rates": plain(part.rates), "counts": dict(part.counts)}
    if part.intervals:
        data["intervals"] = {name: [plain(low), plain(high)] for name, (low, high) in part.intervals.items()}
    return data


def _columns(result: Result) -> dict[str, Any]:
    """The rows by column; counts beyond 64 bits, or by size, are strings of JSON."""
    sentences = result.scored_sentences
    columns: dict[str, Any] = {"sentence": sentences.index, "length": sentences.length[sentences.index]}
    if result.definition is not None:
        columns[result.headline] = [result.definition.rates(row.tolist())[result.headline] for row in sentences.rows]
    for number, name in enumerate(result.columns):
        values = sentences.rows[:, number]
        columns[name] = [json.dumps(plain_count(value)) for value in values] if values.dtype.kind == "O" else values
    return columns


def shown_rate(name: str, rate: float) -> float:
    """A rate as it is shown: a share as a percentage, an average of counts unchanged."""
    return rate if name.startswith("average_") else 100 * rate


class RateLayout(NamedTuple):
    """The rates that a table shows (all, if none is named), as percentages or fractions, and the number of digits."""

    names: Sequence[tuple[str, str]] = ()
    percent: bool = True
    digits: int = 2


EVERY_RATE = RateLayout()


def tables_of(results: Sequence[Result], layout: RateLayout = EVERY_RATE) -> list[Table]:
    """A table for each metric; short sentences are in a second column, or, with several systems, in a second table.

    Of several runs of a system the mean is shown, with its standard deviation.
    """
    tables: list[Table] = []
    for metric in dict.fromkeys(result.metric for result in results):
        group = [result for result in results if result.metric == metric]
        runs = runs_by_system(group)
        totals, shorts = [[run.total for run in of] for of in runs.values()], [[run.short for run in of] for of in runs.values()]
        has_short = any(result.short.sentences < result.total.sentences for result in group)
        limit = f"length <= {group[0].short.length}"
        if not has_short or len(runs) == 1:
            names, parts = [*runs, *[limit] * has_short], [*totals, *shorts * has_short]
            tables.append(_table("", metric, names, parts, group, layout))
        else:
            tables.append(replace(_table("All sentences", metric, list(runs), totals, group, layout), notes=()))
            tables.append(_table(f"Sentences of {limit}", metric, list(runs), shorts, group, layout))
    return tables


def runs_by_system(results: Sequence[Result]) -> dict[str, list[Result]]:
    """The results of each system, one for each of its runs."""
    runs: dict[str, list[Result]] = {}
    for result in results:
        runs.setdefault(result.system, []).append(result)
    return runs


def _table(
    title: str, metric: str, names: Sequence[str], columns: Sequence[Sequence[Part]], noted: Sequence[Result], layout: RateLayout
) -> Table:
    """A column for each system, given the parts of its runs."""
    like, firsts = noted[0], [runs[0] for runs in columns]
    # Hogenhout & Matsumoto's items are results themselves; the counts of other metrics only serve to compute rates.
    items = firsts[0].counts if like.definition is not None and like.definition.counts_are_results else ()

    def row(name: str, value: Callable[[Part], Any]) -> tuple[Cell, ...]:
        return name, *(over_runs(list(map(value, runs))) for runs in columns)

    def in_words(rate: str) -> str:
        return rate.replace("_", " ") if like.definition is None else like.definition.rate_words(rate)

    rows: list[tuple[Cell, ...]] = [row(item, lambda part, item=item: part.counts.get(item)) for item in items]
    rates = [name for name in firsts[0].rates if not layout.names or (metric, name) in layout.names]
    rows += [(in_words(name), *(_rate_cell(runs, name, layout) for runs in columns)) for name in rates]
    rows.append(row("sentences", lambda part: part.sentences))
    if any(part.counts.get("parsed", part.sentences) < part.sentences for runs in columns for part in runs):
        rows.append(row("parsed", lambda part: part.counts.get("parsed")))
    if "sentence_f1" in rates and any(part.counts.get("f1_defined", 0) < part.sentences for runs in columns for part in runs):
        rows.append(row("with an f1", lambda part: int(part.counts.get("f1_defined", 0))))
    return Table(title, (metric, *names), tuple(rows), tuple(_notes(noted)))


def _notes(results: Sequence[Result]) -> Iterator[str]:
    """The notes below a table of results: intervals, runs, sentences left out, EVALB's figures and signatures."""
    if results[0].confidence is not None:
        yield str(results[0].confidence)
    runs = runs_by_system(results)
    if several := {system: len(of_system) for system, of_system in runs.items() if len(of_system) > 1}:
        of_means = "; intervals of means count the variation between runs, too (Student's t)" if results[0].confidence else ""
        yield f"±: standard deviation over runs ({', '.join(f'{system} {n}' for system, n in several.items())}){of_means}"
    for result in results:
        who = f"{result.label}: " if len(results) > 1 else ""
        if result.skipped:
            yield f"{who}Sentences left out: {result.skipped}."
        if result.signature.on_mismatch == "edit":
            sentences = number_of(result.total.sentences, "sentence")
            yield f"{who}Words aligned by edit distance in {result.edited:,} of {sentences}."
        yield from (f"{who}Warning: {note.text}." for note in result.notes if note.kind in REMARKS)
        if not result.run:
            yield from [f"{who}{result.evalb}"] if result.evalb is not None else []
            yield str(result.signature)
        elif result is runs[result.system][-1]:
            of_runs = runs[result.system]
            dropped = [run.evalb.dropped for run in of_runs if run.evalb is not None]
            if result.evalb is not None and any(dropped):
                numbers = f"{', '.join(map(str, dropped))} of the {result.evalb.sentences} sentences"
                yield f"{result.system}: EVALB with {result.evalb.file} would drop {numbers}, run by run."
            yield str(replace(result.signature, test=",".join(run.signature.test for run in of_runs)))


def _rate_cell(runs: Sequence[Part], name: str, layout: RateLayout) -> Cell:
    """A rate as it is shown, with its interval, if the parts have intervals."""

    def shown(rate: float) -> float:
        return shown_rate(name, rate) if layout.percent else rate

    ends = interval_over_runs(runs, name)
    return over_runs([shown(part.rates.get(name, math.nan)) for part in runs], ends and (shown(ends[0]), shown(ends[1])))


def interval_over_runs(runs: Sequence[Part], rate: str) -> tuple[float, float] | None:
    """The interval of a rate or, of several runs, of its mean; None if there is none."""
    return (runs[0].intervals_of_mean if len(runs) > 1 else runs[0].intervals).get(rate)


def tidy_table(results: Sequence[Result]) -> Table:
    """All rates at full precision, a row each, with the ends of their intervals, for a spreadsheet or data frame.

    Of several runs of a system each has rows of its own, and a column for its name.
    """
    with_intervals, with_runs = any(result.confidence is not None for result in results), any(result.run for result in results)
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        for name, part in (("all", result.total), (f"<={result.short.length}", result.short)):
            for rate, value in part.rates.items():
                ends = part.intervals.get(rate, (math.nan, math.nan)) if with_intervals else ()
                who = (result.system, result.run) if with_runs else (result.system,)
                rows.append((*who, result.metric, name, part.sentences, rate, value, *ends))
    who = ("system", "run") if with_runs else ("system",)
    ends = ("low", "high") if with_intervals else ()
    return Table("", (*who, "metric", "length", "sentences", "rate", "value", *ends), tuple(rows))


def one_of_each_system(results: Sequence[Result]) -> list[Result]:
    """The first result of each system and run: notes and breakdowns belong to these, whatever the metric."""
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.label, result)
    return list(first.values())


class RateLimit(NamedTuple):
    """A rate and its lowest accepted value or, if ``is_most``, its highest."""

    rate: str
    limit: float
    is_most: bool = False

    @property
    def option(self) -> str:
        """The option that sets such a limit."""
        return "fail_over" if self.is_most else "fail_under"


def parse_rate_limit(text: str, *, is_most: bool = False) -> RateLimit:
    """The limit that an option's value such as ``f1=0.90`` names.

    >>> parse_rate_limit("f1=0.90")
    RateLimit(rate='f1', limit=0.9, is_most=False)
    """
    name, equals, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    rate = rate_name(name)
    check = RateLimit(rate, limit, is_most)
    most = math.inf if rate.rpartition(".")[2].startswith("average_") else 1
    if not equals or not 0 <= limit <= most:
        if 1 < limit <= 100:
            raise UsageError(f'{check.option}="{text}": values are fractions between 0 and 1; write {rate}={limit / 100:g}')
        example = "average_crossing=1" if is_most else "f1=0.90"
        raise UsageError(f'{check.option}="{text}": write a rate and a fraction of 1, or a limit of an average, as in {example}')
    return check


def has_surplus(result: Result) -> bool:
    """Whether there are more parses than gold sentences."""
    kinds = [note.kind for note in result.notes]
    return kinds.count("extra") > kinds.count("missing")


PARSED = "parsed"
"""The name of :attr:`Result.parsed`: a limit can be set to it as to a rate, and then judges missing and unreadable parses alone."""


def failed_limits(results: Sequence[Result], checks: Sequence[RateLimit]) -> list[str]:
    """A line for each rate that is beyond its limit or undefined; a limit on ``parseval.f1`` is for that metric only.

    Of several runs of a system the mean counts.
    """
    lines: list[str] = []
    for check in checks:
        asked, limit, is_most = check
        metric, _, name = asked.rpartition(".")
        if asked == PARSED:
            found = one_of_each_system(results)
        else:
            found = [result for result in results if name in result.rates and metric in ("", result.metric)]
        if not found:
            raise UnknownName("rate", asked, {PARSED, *(rate for result in results for rate in result.rates)})
        runs: dict[tuple[str, str], list[Result]] = {}
        for result in found:
            _refuse_wrong_direction(check, name, result)
            runs.setdefault((result.system, result.metric), []).append(result)
        for (system, _), of_system in runs.items():
            rate = math.fsum(result.parsed if name == PARSED else result.rates[name] for result in of_system) / len(of_system)
            if not (rate <= limit if is_most else rate >= limit):
                shown = "undefined" if math.isnan(rate) else f"{rate:.6g}"
                lines.append(f"{system}: {asked} is {shown}, {'above the allowed' if is_most else 'below the required'} {limit:g}")
    return lines


def _refuse_wrong_direction(check: RateLimit, name: str, result: Result) -> None:
    """Refuse a lower limit of a lower-is-better rate, and an upper limit of any other."""
    metric = result.definition
    if metric is None or name in metric.undirected or (name in metric.lower_is_better) == check.is_most:
        return
    given = f"{check.rate}={check.limit:g}"
    better, other = ("higher", "fail_under") if check.is_most else ("lower", "fail_over")
    raise UsageError(f'{check.option}="{given}": {better} is better; use {other}="{given}"')
