"""The table in the paper: a row a system, a column a rate, the best in bold, and a caption that says how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.registry import find_metric
from treegauge.scoring.result import Result, runs_by_system
from treegauge.tables import Cell, Measured, Table, british, number_of, over_runs

Name = tuple[str, str]
"""A metric and one of its rates: ``("parseval", "f1")``."""

USUAL_RATES = ("recall", "precision", "f1", "exact_match")
"""PARSEVAL's rates, unless others are asked for."""
_SYNONYMS = {"lr": "recall", "lp": "precision", "exact": "exact_match", "cb": "average_crossing"}
NOT_TESTED, AS_GOOD = "*", "\N{DAGGER}"


def rate_name(word: str) -> str:
    """The name of a rate, given by itself or by the abbreviation of the papers.

    >>> rate_name("lr"), rate_name("parseval.cb"), rate_name("labeled_recall")
    ('recall', 'parseval.average_crossing', 'labelled_recall')
    """
    metric, dot, rate = british(word.strip()).rpartition(".")
    return metric + dot + _SYNONYMS.get(rate, rate)


def rate_heading(name: Name, names: Sequence[Name]) -> str:
    """The name of a rate in words, with its metric where there are several.

    >>> rate_heading(("parseval", "exact_match"), [("parseval", "exact_match")])
    'exact match'
    """
    metric, rate = name
    words = rate.replace("_", " ").replace("f1", "F1")
    return words if len({metric for metric, _ in names}) == 1 or metric.replace("-", " ") == words else f"{metric} {words}"


def in_units(name: Name, points: float) -> float:
    """A value in the units of a rate, given in points: hundredths, except for means of counts.

    >>> in_units(("parseval", "f1"), 0.5), in_units(("parseval", "average_crossing"), 0.5)
    (0.005, 0.5)
    """
    return points if name[1].startswith("average_") else points / 100


class SystemRow(NamedTuple):
    """A system with its rates, as fractions; those that are not ``tested`` are marked, and never the best."""

    system: str
    rates: Mapping[Name, Measured]
    tested: bool = True


def published_rows(texts: Iterable[str], names: Sequence[Name]) -> list[SystemRow]:
    """Rows of values that others published, given as ``Name=82.5,83.1``: percentages in the order of the rates.

    >>> published_rows(["Berkeley=82.5"], [("parseval", "f1")])[0].rates
    {('parseval', 'f1'): 0.825}
    """
    rows: list[SystemRow] = []
    for text in texts:
        system, equals, values = text.partition("=")
        try:
            numbers = [float(value) if value.strip() not in ("", "-") else math.nan for value in values.split(",")]
        except ValueError:
            numbers = []
        if not equals or not numbers or len(numbers) > len(names):
            rates = ", ".join(rate for _, rate in names)
            raise UsageError(f'published="{text}": write a name and up to {number_of(len(names), "value")}, in the order {rates}')
        cells = ((name, in_units(name, value)) for name, value in zip(names, numbers, strict=False))
        rows.append(SystemRow(system, {name: _measured(name, [value]) for name, value in cells}, tested=False))
    return rows


def _measured(name: Name, runs: Sequence[float], interval: tuple[float, float] | None = None) -> Measured:
    found = over_runs(list(runs))
    value, sd = (float(found), found.sd) if isinstance(found, Measured) else (runs[0], None)
    return Measured(value, sd=sd, interval=interval, is_average=name[1].startswith("average_"))


def result_rows(results: Sequence[Result], names: Sequence[Name], *, tested: bool = True) -> list[SystemRow]:
    """The rows of scored systems, with means over runs, and intervals if the scores have them."""
    rows: list[SystemRow] = []
    for system, of_system in runs_by_system(results).items():
        rates: dict[Name, Measured] = {}
        for metric, rate in names:
            runs = [result for result in of_system if result.metric == metric and rate in result.rates]
            if runs:
                interval = runs[0].total.intervals.get(rate) if len(runs) == 1 else None
                rates[metric, rate] = _measured((metric, rate), [result.rates[rate] for result in runs], interval)
        rows.append(SystemRow(system, rates, tested))
    return rows


def choose_rates(names: Sequence[Name], headlines: Mapping[str, str], wanted: Sequence[str]) -> list[Name]:
    """The rates that are asked for, in that order; by default PARSEVAL's usual ones and the headline of every metric.

    >>> choose_rates([("parseval", "recall"), ("parseval", "f1")], {"parseval": "f1"}, ["f1", "lr"])
    [('parseval', 'f1'), ('parseval', 'recall')]
    """
    if tuple(wanted) == ("all",):
        return list(names)
    if not wanted:
        usual = {("parseval", rate) for rate in USUAL_RATES} | set(headlines.items())
        return [name for name in names if name in usual]
    valid = {word for name in names for word in (name[1], ".".join(name))}
    for word in wanted:
        if rate_name(word) not in valid:
            raise UnknownName("rate", word, {"all", *valid})
    return list(dict.fromkeys(name for word in map(rate_name, wanted) for name in names if word in (name[1], ".".join(name))))


def rates_of(results: Sequence[Result], wanted: Sequence[str] = ()) -> list[Name]:
    """The rates of some results that are asked for, see :func:`choose_rates`."""
    names = list(dict.fromkeys((result.metric, rate) for result in results for rate in result.rates))
    return choose_rates(names, {result.metric: result.headline for result in results}, wanted)


def score_caption(results: Sequence[Result]) -> str:
    """Metric, preset and number of sentences of some results."""
    metrics = list(dict.fromkeys(result.metric for result in results))
    presets = list(dict.fromkeys(result.signature.preset.name for result in results))
    caption = f"{', '.join(metrics)} (preset {', '.join(presets)}) on {number_of(results[0].total.sentences, 'sentence')}."
    confidence = results[0].confidence
    if confidence is not None:
        caption += (
            f" In brackets: {100 * confidence.level:g}% {confidence.method} bootstrap intervals, {confidence.rounds:,} samples."
        )
    one_metric = runs_by_system([result for result in results if result.metric == metrics[0]])
    return caption + runs_caption({system: len(runs) for system, runs in one_metric.items()})


def runs_caption(runs: Mapping[str, int]) -> str:
    """A sentence on what ± is, if a system has several runs."""
    several = sorted({number for number in runs.values() if number > 1})
    shown = " to ".join(map(str, dict.fromkeys((several[0], several[-1])))) if several else ""
    return f" Means ± standard deviations over {shown} runs." if several else ""


def systems_table(
    rows: Sequence[SystemRow],
    names: Sequence[Name],
    caption: str,
    signatures: Iterable[str],
    as_good: Mapping[Name, frozenset[str]] | None = None,
) -> Table:
    """A row a system; the best tested value of each column is bold, and ``as_good`` are systems not significantly worse.

    The signatures stand below it: comments in LaTeX.
    """
    body: list[tuple[Cell, ...]] = []
    best = {name: _best(name, rows) for name in names}
    for row in rows:
        cells: list[Cell] = [row.system + ("" if row.tested else NOT_TESTED)]
        for name in names:
            value = row.rates.get(name)
            equal = as_good is not None and row.tested and row.system in as_good.get(name, ())
            is_best = value is not None and row.tested and float(value) == best[name]
            cells.append(None if value is None else value.with_mark(AS_GOOD if equal and not is_best else "", is_best=is_best))
        body.append(tuple(cells))
    if any(not row.tested for row in rows):
        caption += f" {NOT_TESTED}: not tested."
    headings = [rate_heading(name, names) for name in names]
    return Table("", ("system", *headings), tuple(body), tuple(signatures), percent=tuple(headings), caption=caption)


def _best(name: Name, rows: Sequence[SystemRow]) -> float:
    """The best value of a column among systems that are tested; nan if there is only one of them."""
    values = [float(row.rates[name]) for row in rows if row.tested and name in row.rates and not math.isnan(row.rates[name])]
    lower = name[1] in find_metric(name[0]).lower_is_better
    return (min(values) if lower else max(values)) if len(values) > 1 else math.nan
