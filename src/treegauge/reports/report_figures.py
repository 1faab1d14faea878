"""The figures of a report: rates with intervals, fragments by size, labels, lengths, crossing brackets, kinds of error."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treegauge.reports.figures import Figure, Series, fragment_figures
from treegauge.reports.report import Report
from treegauge.reports.report_tables import crossings_table, errors_table, labels_table, lengths_table
from treegauge.significance.comparison import Comparison
from treegauge.tables import Cell, Table

__all__ = ["rates_figure", "report_figures"]

_MOST_SIZES = 15
_MOST_LABELS = 14
_MOST_CROSSING = 10


def report_figures(report: Report) -> dict[str, list[Figure]]:
    """The figures of each section of a report."""
    errors = errors_table(report)
    return {
        "summary": [rates_figure(report.comparison)],
        "fragments": _fragment_figures(report),
        "labels": [_labels_figure(report, labels_table(report))],
        "lengths": [_lengths_figure(report, lengths_table(report))],
        "crossings": [_crossings_figure(report, crossings_table(report))],
        "errors": [_errors_figure(report, errors)] if errors.rows else [],
    }


def rates_figure(comparison: Comparison) -> Figure:
    """Every rate of a comparison with its interval."""
    group = comparison.overall
    names = [name for name in group.names if any(math.isfinite(group.rates[s][name].value) for s in comparison.systems)]
    series = [
        Series(
            system,
            [group.rates[system][name].value for name in names],
            [group.rates[system][name].interval.low for name in names],
            [group.rates[system][name].interval.high for name in names],
        )
        for system in comparison.systems
    ]
    shown = [f"{metric} {rate.replace('_', ' ')}" if metric.replace("-", "_") != rate else metric for metric, rate in names]
    title = f"Rates in percent, with {100 * comparison.level:g}% bootstrap intervals"
    return Figure("rates", "points", title, shown, series, percent=True, key="rate")


def _fragment_figures(report: Report) -> list[Figure]:
    """F1 by fragment size; with several systems also the difference to the first."""
    largest = max((len(found.sizes) for found in report.fragments.values()), default=1)
    f1 = {system: [size.f1 for size in found.sizes] for system, found in report.fragments.items()}
    return fragment_figures(f1, upto=min(largest, _MOST_SIZES))


def _labels_figure(report: Report, table: Table) -> Figure:
    """F1 of the most frequent labels."""
    rows = sorted(table.rows, key=lambda row: -_number(row[1]))[:_MOST_LABELS]
    names = [f"{row[0]} ({row[1]})" for row in rows]
    title = "F1 of the most frequent labels (gold brackets)"
    return Figure("labels", "points", title, names, _of_systems(report, table, rows, "f1"), percent=True, key="label")


def _lengths_figure(report: Report, table: Table) -> Figure:
    """F1 by sentence length."""
    names = [f"{row[0]} ({row[1]})" for row in table.rows]
    series = _of_systems(report, table, table.rows, "f1")
    return Figure("lengths", "lines", "F1 by sentence length", names, series, "words (sentences)", "F1", percent=True, key="words")


def _crossings_figure(report: Report, table: Table) -> Figure:
    """Sentences with no, one, two ... crossing brackets."""
    names = [*map(str, range(_MOST_CROSSING)), f"{_MOST_CROSSING}+"]
    series: list[Series] = []
    for one in _of_systems(report, table, table.rows, "sentences"):
        counts = [0.0] * len(names)
        for row, value in zip(table.rows, one.values, strict=True):
            counts[min(int(_number(row[0])), _MOST_CROSSING)] += 0 if math.isnan(value) else value
        series.append(Series(one.name, counts))
    title = "Sentences by the number of test brackets that cross gold"
    return Figure("crossings", "columns", title, names, series, "crossing brackets in the sentence", "sentences", key="crossing")


def _errors_figure(report: Report, table: Table) -> Figure:
    """Wrong brackets, missed and spurious, by kind of error."""
    missed, spurious = (_of_systems(report, table, table.rows, column) for column in ("missed", "spurious"))
    series = [
        Series(a.name, [x + y for x, y in zip(a.values, b.values, strict=True)]) for a, b in zip(missed, spurious, strict=True)
    ]
    title = "Wrong brackets, missed and spurious, by kind of error"
    return Figure("errors", "points", title, [str(row[0]) for row in table.rows], series, "wrong brackets", zero=True, key="kind")


def _of_systems(report: Report, table: Table, rows: Sequence[Sequence[Cell]], column: str) -> list[Series]:
    """One column of each system in a table that has them side by side."""
    several = len(report.systems) > 1
    places = [table.columns.index(f"{system} {column}" if several else column) for system in report.systems]
    return [Series(system, [_number(row[place]) for row in rows]) for system, place in zip(report.systems, places, strict=True)]


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else math.nan
