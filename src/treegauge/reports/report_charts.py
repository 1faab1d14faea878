"""The charts of a report: rates with intervals, fragments by size, labels, lengths, crossing brackets, kinds of error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from treegauge.reports.charts import Series, column_chart, line_chart, point_chart
from treegauge.reports.report import Report
from treegauge.tables import Cell, Table

__all__ = [
    "Chart",
    "crossings_chart",
    "errors_chart",
    "fragments_charts",
    "labels_chart",
    "lengths_chart",
    "rates_chart",
]

_MOST_SIZES = 15
_HALF = 540.0
_MOST_LABELS = 14
_MOST_CROSSING = 10


class Chart(NamedTuple):
    """What a chart shows, and its picture."""

    caption: str
    picture: str


def rates_chart(report: Report) -> Chart:
    """Every rate with its interval."""
    group = report.comparison.overall
    names = [name for name in group.names if any(math.isfinite(group.rates[s][name].value) for s in report.systems)]
    series = [
        Series(
            system,
            [group.rates[system][name].value for name in names],
            [group.rates[system][name].interval.low for name in names],
            [group.rates[system][name].interval.high for name in names],
        )
        for system in report.systems
    ]
    shown = [f"{metric} {rate.replace('_', ' ')}" if not _says_it(metric, rate) else metric for metric, rate in names]
    level = f"{100 * report.comparison.level:g}%"
    return Chart(f"Rates in percent, with {level} bootstrap intervals", point_chart("Rates", shown, series, percent=True))


def _says_it(metric: str, rate: str) -> bool:
    return metric.replace("-", "_") == rate


def fragments_charts(report: Report) -> list[Chart]:
    """F1 by fragment size; with several systems also how much better than the first each other one is."""
    sizes = [str(size) for size in range(1, _largest(report) + 1)]
    title, size = "F1 by fragment size", "fragment size (nodes)"
    first, *others = series = _fragment_series(report)
    if not others:
        return [Chart(title, line_chart(title, sizes, series, x_title=size, percent=True))]
    # The first system stays in place, as the line at 0, so that the others keep their signs.
    against = [Series(first.name, [0.0] * len(first.values))]
    against += [Series(one.name, [b - a for a, b in zip(first.values, one.values, strict=True)]) for one in others]
    difference = f"F1 minus that of {first.name}"
    return [
        Chart(title, line_chart(title, sizes, series, x_title=size, percent=True, width=_HALF)),
        Chart(difference, line_chart(difference, sizes, against, x_title=size, percent=True, width=_HALF)),
    ]


def _largest(report: Report) -> int:
    return min(max((len(found.sizes) for found in report.fragments.values()), default=1), _MOST_SIZES)


def _fragment_series(report: Report) -> list[Series]:
    upto = _largest(report)
    return [
        Series(system, [found.sizes[i].f1 if i < len(found.sizes) else 0.0 for i in range(upto)])
        for system, found in report.fragments.items()
    ]


def labels_chart(report: Report, table: Table) -> Chart:
    """F1 of the most frequent labels."""
    rows = sorted(table.rows, key=lambda row: -_number(row[1]))[:_MOST_LABELS]
    names = [f"{row[0]} ({row[1]})" for row in rows]
    return Chart(
        "F1 of the most frequent labels (gold brackets)",
        point_chart("F1 by label", names, _of_systems(report, table, rows, "f1"), percent=True),
    )


def lengths_chart(report: Report, table: Table) -> Chart:
    """F1 by sentence length."""
    names = [f"{row[0]} ({row[1]})" for row in table.rows]
    series = _of_systems(report, table, table.rows, "f1")
    return Chart(
        "F1 by sentence length",
        line_chart("F1 by sentence length", names, series, x_title="words (sentences)", percent=True, zero=False),
    )


def crossings_chart(report: Report, table: Table) -> Chart:
    """Sentences with no, one, two ... crossing brackets."""
    names = [*map(str, range(_MOST_CROSSING)), f"{_MOST_CROSSING}+"]
    series: list[Series] = []
    for one in _of_systems(report, table, table.rows, "sentences"):
        counts = [0.0] * len(names)
        for row, value in zip(table.rows, one.values, strict=True):
            counts[min(int(_number(row[0])), _MOST_CROSSING)] += 0 if math.isnan(value) else value
        series.append(Series(one.name, counts))
    return Chart(
        "Sentences with so many test brackets that cross gold",
        column_chart("Sentences by crossing brackets", names, series, x_title="crossing brackets in the sentence"),
    )


def errors_chart(report: Report, table: Table) -> Chart:
    """Wrong brackets, missed and spurious, by kind of error."""
    missed, spurious = (_of_systems(report, table, table.rows, column) for column in ("missed", "spurious"))
    series = [
        Series(a.name, [x + y for x, y in zip(a.values, b.values, strict=True)]) for a, b in zip(missed, spurious, strict=True)
    ]
    return Chart(
        "Wrong brackets, missed and spurious, by kind of error",
        point_chart("Wrong brackets by kind of error", [str(row[0]) for row in table.rows], series, zero=True),
    )


def _of_systems(report: Report, table: Table, rows: Sequence[Sequence[Cell]], column: str) -> list[Series]:
    """One column of each system in a table that has them side by side."""
    several = len(report.systems) > 1
    places = [table.columns.index(f"{system} {column}" if several else column) for system in report.systems]
    return [Series(system, [_number(row[place]) for row in rows]) for system, place in zip(report.systems, places, strict=True)]


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else math.nan
