"""The table in the paper: a row a system, a column a rate, the best in bold, and a caption that says how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.registry import find_metric, rate_name
from treegauge.scoring.result import Part, Result, interval_over_runs, runs_by_system
from treegauge.tables import Cell, Measured, Table, comma_separated, number_of, over_runs

Name = tuple[str, str]
"""A metric and one of its rates: ``("parseval", "f1")``."""

USUAL_RATES = ("recall", "precision", "f1", "exact_match")
"""PARSEVAL's rates, unless others are asked for."""
NOT_TESTED, AS_GOOD = "*", "\N{DAGGER}"


def rate_heading(name: Name, names: Sequence[Name]) -> str:
    """The name of a rate in words, with its metric where there are several.

    >>> rate_heading(("parseval", "exact_match"), [("parseval", "exact_match")])
    'exact match'
    """
    metric, rate = name
    words = find_metric(metric).rate_words(rate).replace("f1", "F1")
    return words if len({metric for metric, _ in names}) == 1 or metric.replace("-", " ") == words else f"{metric} {words}"


def in_units(name: Name, points: float) -> float:
    """A value in the units of a rate, given in points: hundredths, except for means of counts.

    >>> in_units(("parseval", "f1"), 0.5), in_units(("parseval", "average_crossing"), 0.5)
    (0.005, 0.5)
    """
    return points if name[1].startswith("average_") else points / 100


class SystemRow(NamedTuple):
    """A system with its rates, as fractions, and those of ``short`` sentences; one that is ``untested``, for the reason given, is
    marked, and never the best."""

    system: str
    rates: Mapping[Name, Measured]
    untested: str = ""
    short: Mapping[Name, Measured] = MappingProxyType({})


class ShortSentences(NamedTuple):
    """The largest length of short sentences, their number, and by rate the systems that are not significantly worse on them."""

    length: int
    sentences: int
    as_good: Mapping[Name, frozenset[str]] | None = None


Published = Mapping[str, Mapping[str, float] | float] | Iterable[str]
"""Published percentages by system and rate, as a number if there is one rate, or as texts, ``Name=f1:82.5`` or
``Name=82.5,83.1`` in the order of the rates."""


def published_rows(published: Published, names: Sequence[Name]) -> list[SystemRow]:
    """Rows of values that others published; those of rates that the table does not show are left out.

    >>> published_rows(["Berkeley=f1:82.5"], [("parseval", "recall"), ("parseval", "f1")])[0].rates
    {('parseval', 'f1'): 0.825}
    >>> published_rows(["Berkeley=,82.5"], [("parseval", "recall"), ("parseval", "f1")])[0].rates
    {('parseval', 'f1'): 0.825}
    """
    rows: list[SystemRow] = []
    known = [(metric, rate) for metric in dict.fromkeys(of for of, _ in names) for rate in find_metric(metric).rate_names]
    for system, given in _by_system(published, names):
        try:
            values = {word: float(value) for word, value in given.items()}
        except ValueError as error:
            wrong = str(error).partition(": ")[2]
            raise UsageError(f'published="{system}=...": values are percentages, as in {system}=f1:95.8, not {wrong}') from None
        except (AttributeError, TypeError):
            raise UsageError(
                f'published="{system}=...": name the rates, as in {system}=f1:95.8, or write one value or none for each of '
                + ",".join(rate for _, rate in names)
            ) from None
        found = {name: value for word, value in values.items() for name in choose_rates(known, {}, [word])}
        largest = max((value for name, value in found.items() if not name[1].startswith("average_")), default=0)
        if 0 < largest <= 1:
            raise UsageError(f'published="{system}=...": values are percentages: write {100 * largest:g}, not {largest:g}')
        shown = {name: _measured(name, [in_units(name, value)]) for name, value in found.items() if name in names}
        rows.append(SystemRow(system, shown, "as published"))
    return rows


def _by_system(published: Any, names: Sequence[Name]) -> Iterator[tuple[str, Any]]:
    """The systems with their values by rate; None where a text has other than one field for each rate, and does not name them."""
    texts = [published] if isinstance(published, str) else list(published)
    if not all(isinstance(text, str) for text in texts):
        raise UsageError('published is {"Kitaev & Klein": {"f1": 95.8}}, or a list of texts such as "Kitaev & Klein=f1:95.8"')
    by_name = isinstance(published, Mapping)
    pairs = cast("dict[str, Any]", published).items() if by_name else [text.partition("=")[::2] for text in texts]
    for system, given in pairs:
        if not isinstance(given, str | int | float):
            yield system, given
            continue
        fields = [field.rpartition(":") for field in str(given).split(",")]
        if len(fields) == len(names) and not any(colon for _, colon, _ in fields):
            fields = [(".".join(name), ":", value) for name, (_, _, value) in zip(names, fields, strict=True)]
        found = {word: value for word, _, value in fields if value.strip() not in ("", "-")}
        yield system, found if all(found) and found else None


def _measured(name: Name, runs: Sequence[float], interval: tuple[float, float] | None = None) -> Measured:
    found = over_runs(list(runs))
    value, sd = (float(found), found.sd) if isinstance(found, Measured) else (runs[0], None)
    return Measured(value, sd=sd, interval=interval, is_average=name[1].startswith("average_"))


def result_rows(results: Sequence[Result], names: Sequence[Name], *, untested: str = "") -> list[SystemRow]:
    """The rows of scored systems, with means over runs, and intervals if the scores have them."""

    def rates(runs: Sequence[Result], part: str) -> Iterator[tuple[Name, Measured]]:
        for metric, rate in names:
            parts: list[Part] = [getattr(run, part) for run in runs if run.metric == metric and rate in run.rates]
            if parts:
                interval = interval_over_runs(parts, rate)
                yield (metric, rate), _measured((metric, rate), [of.rates[rate] for of in parts], interval)

    by_system = runs_by_system(results).items()
    return [SystemRow(system, dict(rates(runs, "total")), untested, dict(rates(runs, "short"))) for system, runs in by_system]


def choose_rates(names: Sequence[Name], headlines: Mapping[str, str], wanted: str | Sequence[str]) -> list[Name]:
    """The rates that are asked for, in that order; by default PARSEVAL's usual ones and the headline of every metric.

    One text may name several, with commas between.

    >>> choose_rates([("parseval", "recall"), ("parseval", "f1")], {"parseval": "f1"}, ["f1", "lr"])
    [('parseval', 'f1'), ('parseval', 'recall')]
    """
    wanted = comma_separated(wanted)
    if wanted == ("all",):
        return list(names)
    if not wanted:
        usual = {("parseval", rate) for rate in USUAL_RATES} | set(headlines.items())
        return [name for name in names if name in usual]
    several = len({metric for metric, _ in names}) > 1
    for word in wanted:
        if not any(rate_name(word) in (name[1], ".".join(name)) for name in names):
            raise UnknownName("rate", word, {"all", *(rate for _, rate in names), *(".".join(name) for name in names if several)})
    return list(dict.fromkeys(name for word in map(rate_name, wanted) for name in names if word in (name[1], ".".join(name))))


def rates_of(results: Sequence[Result], wanted: Sequence[str] = ()) -> list[Name]:
    """The rates of some results that are asked for, see :func:`choose_rates`."""
    names = list(dict.fromkeys((result.metric, rate) for result in results for rate in result.rates))
    return choose_rates(names, {result.metric: result.headline for result in results}, wanted)


def score_caption(results: Sequence[Result]) -> str:
    """Metric, preset and number of sentences of some results."""
    metrics = list(dict.fromkeys(result.metric for result in results))
    one_metric = runs_by_system([result for result in results if result.metric == metrics[0]])
    caption = counted_caption(metrics, (result.signature.preset.name for result in results), results[0].total.sentences)
    if (how := results[0].confidence) is not None:
        kind = "intervals" if any(result.run for result in results) else f"{how.method} bootstrap intervals, {how.rounds:,} samples"
        caption += f" In brackets: {100 * how.level:g}% {kind}."
    return caption + runs_caption({system: len(runs) for system, runs in one_metric.items()})


def counted_caption(metrics: Iterable[str], presets: Iterable[str], sentences: int) -> str:
    """A sentence on what was counted: metrics, presets other than the default, and the number of sentences.

    >>> counted_caption(["parseval"], ["default"], 103), counted_caption(["parseval"], ["collins"], 103)
    ('PARSEVAL on 103 sentences.', 'PARSEVAL (preset collins) on 103 sentences.')
    """
    names = ", ".join("PARSEVAL" if metric == "parseval" else metric for metric in dict.fromkeys(metrics))
    others = ", ".join(preset for preset in dict.fromkeys(presets) if preset != "default")
    return f"{names}{f' (preset {others})' if others else ''} on {number_of(sentences, 'sentence')}."


def runs_caption(runs: Mapping[str, int]) -> str:
    """A sentence on what ± is, if a system has several runs."""
    several = ", ".join(f"{number} runs of {system}" for system, number in runs.items() if number > 1)
    numbers = set(runs.values())
    shown = several if len(numbers) > 1 else f"{max(numbers)} runs"
    return f" Means ± standard deviations over {shown}." if several else ""


def systems_table(
    rows: Sequence[SystemRow],
    names: Sequence[Name],
    caption: str,
    signatures: Iterable[str],
    as_good: Mapping[Name, frozenset[str]] | None = None,
    short: ShortSentences | None = None,
) -> Table:
    """A row a system; the best tested value of each column is bold, and ``as_good`` are systems not significantly worse.

    The rates of ``short`` sentences are further columns. The signatures stand below the table: comments in LaTeX.
    """
    body: list[tuple[Cell, ...]] = []
    best = {name: _best(name, rows) for name in names}
    for row in rows:
        cells: list[Cell] = [row.system + (NOT_TESTED if row.untested else "")]
        for name in names:
            value = row.rates.get(name)
            equal = as_good is not None and not row.untested and row.system in as_good.get(name, ())
            is_best = value is not None and not row.untested and float(value) == best[name]
            cells.append(None if value is None else value.with_mark(AS_GOOD if equal and not is_best else "", is_best=is_best))
        body.append(tuple(cells))
    if reasons := dict.fromkeys(row.untested for row in rows if row.untested):
        caption += f" {NOT_TESTED}: {' or '.join(reasons)}, not tested here."
    headings = [rate_heading(name, names) for name in names]
    if short is not None:
        further = systems_table([row._replace(rates=row.short) for row in rows], names, "", (), short.as_good)
        body = [cells + more[1:] for cells, more in zip(body, further.rows, strict=True)]
        headings += [f"{heading} (≤ {short.length})" for heading in headings]
        caption += f" ≤ {short.length}: {number_of(short.sentences, 'sentence')} of up to {short.length} words."
    return Table("", ("system", *headings), tuple(body), tuple(signatures), percent=tuple(headings), caption=caption)


def _best(name: Name, rows: Sequence[SystemRow]) -> float:
    """The best value of a column among systems that are tested; nan if there is only one of them."""
    defined = [row.rates[name] for row in rows if not row.untested and name in row.rates]
    values = [float(value) for value in defined if not math.isnan(value)]
    lower = name[1] in find_metric(name[0]).lower_is_better
    return (min(values) if lower else max(values)) if len(values) > 1 else math.nan
