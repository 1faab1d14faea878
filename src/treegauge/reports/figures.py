"""Figures as values: names along an axis, and a series of numbers for each system.

:mod:`treegauge.reports.charts` draws them as SVG, without any plotting library; :mod:`treegauge.reports.plots` writes that to
files, for papers also as PDF and PNG. Their data can be written as CSV.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from treegauge.errors import UnknownName
from treegauge.tables import Cell, Table

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#B8A500", "#7A5195", "#A05A2C")
"""A colour for each series; the first seven are Okabe & Ito's, which colour-blind readers can tell apart. Markers differ, too."""

DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""The dash patterns of the lines, used in turn."""

PAPER_LINES = "dark lines: the paper"
"""The words below a figure of columns that has a paper's values."""

FigureKind = Literal["lines", "points", "columns"]


class Series(NamedTuple):
    """A system's name and its values, nan where one is missing; ``low`` and ``high`` are the ends of their intervals, if any.

    ``paper`` are the values that a paper gives, drawn as lines across the columns.
    """

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    paper: Sequence[float] = ()


@dataclass(frozen=True)
class Figure:
    """Values of each series over the same names.

    ``lines`` connects the values over names in order; ``points`` has a row for each name; ``columns`` is for counts. ``percent``
    shows fractions times 100; ``zero`` puts 0 on the axis. ``name`` is the stem of file names, ``key`` the head of the first column
    of the CSV. ``x`` are the places of the names of lines if they are not at equal distances.
    """

    name: str
    kind: FigureKind
    title: str
    names: Sequence[str]
    series: Sequence[Series]
    x_title: str = ""
    y_title: str = ""
    percent: bool = False
    zero: bool = False
    key: str = "name"
    x: Sequence[float] = ()

    def csv(self) -> str:
        """The data as CSV: a row for each name, columns for the values of each series and the ends of its intervals.

        >>> print(Figure("f", "lines", "F1 by size", ["1", "2"], [Series("A", [0.9, 0.5])], key="size").csv(), end="")
        size,A
        1,0.9
        2,0.5
        """
        columns: list[tuple[str, Sequence[float]]] = []
        for one in self.series:
            columns.append((one.name, one.values))
            if one.low:
                columns += [(f"{one.name} (low)", one.low), (f"{one.name} (high)", one.high)]
            if one.paper:
                columns.append((f"{one.name} (paper)", one.paper))
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self.key, *(name for name, _ in columns)])
        for index, name in enumerate(self.names):
            writer.writerow([name, *("" if math.isnan(values[index]) else values[index] for _, values in columns)])
        return text.getvalue()


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], *, ascii_only: bool = False) -> str:
    """Values between 0 and 1 as one character each.

    >>> sparkline([1, 0.5, 0.1, 0]), sparkline([1, 0.5, 0.1, 0], ascii_only=True)
    ('█▅▁▁', '#=..')
    """
    bars = ".-=#" if ascii_only else _BARS
    return "".join(bars[min(int(max(value, 0.0) * len(bars)), len(bars) - 1)] for value in values)


def fragment_figures(
    f1: Mapping[str, Sequence[float]], *, baseline: str = "", upto: int = 15, zoom: tuple[int, int] | None = None
) -> list[Figure]:
    """FREVAL's figures (Bastings & Sima'an 2014): F1 by fragment size, the difference from a baseline, and a range of sizes alone.

    ``f1`` gives the F1 of each system for the sizes 1, 2, 3 ...; beyond its last size it is 0. The figures show the sizes up to
    ``upto``, the last one those of ``zoom``. The baseline is the first system unless another is named.

    >>> [figure.name for figure in fragment_figures({"A": [0.9, 0.5], "B": [0.8, 0.6]}, upto=2)]
    ['f1_by_size', 'f1_difference']
    """
    baseline = baseline or next(iter(f1))
    if baseline not in f1:
        raise UnknownName("baseline system", baseline, f1)
    figures = [_fragment_figure("f1_by_size", "F1 by fragment size", f1, 1, upto)]
    if len(f1) > 1:
        base = _between(f1[baseline], 1, upto)
        # The baseline is drawn too, as the line at 0, so that the other systems keep their colours and markers.
        against = {system: [a - b for a, b in zip(_between(values, 1, upto), base, strict=True)] for system, values in f1.items()}
        title = f"F1 by fragment size, minus F1 of {baseline}"
        figures.append(_fragment_figure("f1_difference", title, against, 1, upto, f"F1 minus F1 of {baseline}"))
    if zoom is not None:
        figures.append(_fragment_figure("f1_zoom", f"F1 for fragment sizes {zoom[0]}-{zoom[1]}", f1, *zoom))
    return figures


def _fragment_figure(
    name: str, title: str, f1: Mapping[str, Sequence[float]], first: int, last: int, y_title: str = "F1"
) -> Figure:
    series = [Series(system, _between(values, first, last)) for system, values in f1.items()]
    names = [str(size) for size in range(first, last + 1)]
    return Figure(name, "lines", title, names, series, "fragment size (nodes)", y_title, True, first == 1, "size")


def _between(values: Sequence[float], first: int, last: int) -> list[float]:
    """F1 for the sizes from ``first`` to ``last``; 0 for sizes beyond those given."""
    return [values[size - 1] if size <= len(values) else 0.0 for size in range(first, last + 1)]


def blame_figure(table: Table) -> Figure:
    """Each category's share of the entropy of a chunk model beside the share expected if entropy ignored categories."""
    rows = [row for row in table.rows if isinstance(row[1], float) and not math.isnan(row[1])]
    series = [
        Series("share of the entropy", [_number(row[1]) for row in rows]),
        Series("expected", [_number(row[2]) for row in rows]),
    ]
    names = [str(row[0]) for row in rows]
    return Figure("blame", "points", table.title, names, series, x_title="%", percent=True, zero=True, key=table.columns[0])


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, (int, float)) else math.nan
