"""Figures as values (names along an axis, and a series of numbers for each system), and their drawing as SVG.

They are drawn without a plotting library, with the same bytes for the same data; :mod:`treegauge.reports.plots` writes them to
files, for papers also as PDF and PNG. Their data can be written as CSV. Text and lines have the colour of the page's text; a page
can set the colours of the series by their classes ``s0``, ``s1`` ...

>>> series = [Series("A", [0.9, 0.5]), Series("B", [0.8, 0.6])]
>>> picture = figure_svg(Figure("f", "lines", "F1 by size", ["1", "2"], series, x_title="size", percent=True))
>>> picture.count("<circle"), "B, 2: 60.00" in picture
(3, True)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, NamedTuple

from treegauge.errors import check_name
from treegauge.tables import Cell, Table, cut, render
from treegauge.trees.drawing.marks import clean, ems

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#B8A500", "#7A5195", "#A05A2C")
"""A colour for each series; the first seven are Okabe & Ito's, which colour-blind readers can tell apart. Markers differ, too."""

DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""The dash patterns of the lines, used in turn."""

PAPER_LINES = "dark lines: the paper"
"""The words below a figure of columns that has a paper's values."""

FigureKind = Literal["lines", "points", "columns", "forest"]


class Series(NamedTuple):
    """A system's name and its values, nan where one is missing; ``low`` and ``high`` are the ends of their intervals, if any.

    ``paper`` are the values that a paper gives, drawn as lines across the columns; ``dots`` are, for each value, the single values
    of which it is the mean.
    """

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    paper: Sequence[float] = ()
    dots: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class Figure:
    """Values of each series over the same names.

    ``lines`` connects the values over names in order; ``points`` has a row for each name; ``columns`` is for counts; ``forest``
    has a row for each name with its interval, around a line at 0. ``percent`` shows fractions times 100; ``zero`` puts 0 on the
    axis. ``name`` is the stem of file names, ``key`` the head of the first column of the CSV. ``x`` are the places of the names of
    lines if they are not at equal distances.
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

    def __repr__(self) -> str:
        return cut(f"<Figure {self.name!r}: {self.title}>")

    def _repr_svg_(self) -> str:
        return figure_file(self)

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
        rows = tuple((name, *(values[index] for _, values in columns)) for index, name in enumerate(self.names))
        return render(Table("", (self.key, *(name for name, _ in columns)), rows), "csv") + "\n"


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """Values between 0 and 1 as one character each.

    >>> sparkline([1, 0.5, 0.1, 0])
    '█▅▁▁'
    """
    return "".join(_BARS[min(int(max(value, 0.0) * len(_BARS)), len(_BARS) - 1)] for value in values)


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
    check_name("baseline system", baseline, f1)
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
        Series("share of the entropy", [number_in(row[1]) for row in rows]),
        Series("expected", [number_in(row[2]) for row in rows]),
    ]
    names = [str(row[0]) for row in rows]
    return Figure("blame", "points", table.title, names, series, x_title="%", percent=True, zero=True, key=table.columns[0])


def number_in(cell: Cell) -> float:
    """The number in a cell of a table; nan if there is none."""
    return float(cell) if isinstance(cell, (int, float)) else math.nan


_FONT = 12
_LONGEST_NAME = 60
_WIDTH, _HEIGHT = 940.0, 290.0
_LEFT, _RIGHT, _BOTTOM = 48.0, 14.0, 40.0
_LONGEST_LABEL = 26
_TOO_CLOSE = 7
_MOST_MARKERS = 30
_TITLE = 28.0
_GRID = 'stroke="currentColor" stroke-opacity=".2"'


def figure_svg(figure: Figure, width: float = _WIDTH) -> str:
    """The figure as an SVG picture, ``width`` pixels wide."""
    return _DRAW[figure.kind](figure, width)


def figure_file(figure: Figure, width: float = 700.0) -> str:
    """The figure as the text of an SVG file, on white, with its title and that of the vertical axis above it."""
    chart = figure_svg(figure, width)
    axis = f"{figure.y_title} (%)" if figure.percent and figure.y_title else figure.y_title
    top = _TITLE + (_FONT if axis else 0)
    height = float(chart.partition(' height="')[2].partition('"')[0]) + top
    font = 'font-family="sans-serif" fill="currentColor"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_px(width)}" height="{_px(height)}" color="#1d2129">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<text x="{_px(width / 2)}" y="18" text-anchor="middle" font-family="sans-serif" font-size="14" fill="currentColor">'
            f"{escape(figure.title)}</text>",
            *([f'<g {font} font-size="{_FONT}">{_text(8, top, axis, anchor="start")}</g>'] if axis else []),
            chart.replace("<svg ", f'<svg y="{_px(top)}" ', 1),
            "</svg>\n",
        ]
    )


class Scale(NamedTuple):
    """An axis: the values from ``low`` to ``high`` at the pixels from ``first`` to ``last``, with a tick every ``step``."""

    low: float
    high: float
    first: float
    last: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float], first: float, last: float, *, zero: bool = False, ticks: int = 6) -> Scale:
        """A scale over all values, with ticks at round numbers and at both ends; ``zero`` includes 0.

        >>> Scale.around([0.812, 0.843], 0, 100).ticks()
        [0.81, 0.82, 0.83, 0.84, 0.85]
        """
        known = [value for value in values if math.isfinite(value)] or [0.0]
        low, high = min([*known, 0.0] if zero else known), max([*known, 0.0] if zero else known)
        if high - low <= 1e-9 * max(abs(low), abs(high)):
            low, high = (min(low, 0.0), max(high, 0.0)) if high or low else (0.0, 1.0)
        step = _round_step((high - low) / max(ticks - 1, 1))
        digits = 6 - math.floor(math.log10(step))
        low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        return cls(round(low, digits), round(high, digits), first, last, step)

    def at(self, value: float) -> float:
        """The pixel of a value."""
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self) -> list[float]:
        """The values of all ticks."""
        count = round((self.high - self.low) / self.step)
        digits = 6 - math.floor(math.log10(self.step))
        return [round((round(self.low / self.step) + number) * self.step, digits) for number in range(count + 1)]

    def label(self, value: float, *, percent: bool) -> str:
        """The text of a tick, with as many decimals as the steps need.

        >>> Scale(0.8, 0.84, 0, 100, 0.005).label(0.815, percent=True)
        '81.5'
        """
        shown, step = (100 * value, 100 * self.step) if percent else (value, self.step)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return f"{shown + 0.0:.{digits}f}"


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not less than ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _px(value: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> _px(3.0), _px(2.26)
    ('3', '2.3')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _text_width(words: str) -> float:
    return ems(words) * _FONT / 100


def _text(x: float, y: float, words: str, *, anchor: str = "middle", kind: str = "") -> str:
    """Text whose baseline is at ``y``."""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{_px(x)}" y="{_px(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def series_class(number: int) -> str:
    """The CSS class of a series, by which a page can set its colour."""
    return f"s{number % len(COLOURS)}"


def _stroke(number: int) -> str:
    """The attributes of the line of a series."""
    dash = DASHES[number % len(DASHES)]
    return f'stroke="{COLOURS[number % len(COLOURS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _fill(number: int) -> str:
    return f'fill="{COLOURS[number % len(COLOURS)]}"'


def marker(number: int, x: float, y: float, title: str = "", size: float = 4.5) -> str:
    """The marker of a series: its own shape in its colour; ``title`` is shown under the pointer."""
    s, X, Y = size, _px(x), _px(y)
    k = s * 0.9
    shapes = (
        f'<circle cx="{X}" cy="{Y}" r="{_px(s)}"',
        f'<path d="M{_px(x - k)} {_px(y - k)}h{_px(2 * k)}v{_px(2 * k)}h{_px(-2 * k)}z"',
        f'<path d="M{X} {_px(y - 1.2 * s)}l{_px(1.15 * s)} {_px(2 * s)}h{_px(-2.3 * s)}z"',
        f'<path d="M{X} {_px(y - 1.3 * s)}l{_px(1.3 * s)} {_px(1.3 * s)}l{_px(-1.3 * s)} {_px(1.3 * s)}'
        f'l{_px(-1.3 * s)} {_px(-1.3 * s)}z"',
        f'<path d="M{X} {_px(y + 1.2 * s)}l{_px(1.15 * s)} {_px(-2 * s)}h{_px(-2.3 * s)}z"',
        f'<path d="M{_px(x - k)} {_px(y - k / 3)}h{_px(2 * k / 3)}v{_px(-2 * k / 3)}h{_px(2 * k / 3)}v{_px(2 * k / 3)}'
        f"h{_px(2 * k / 3)}v{_px(2 * k / 3)}h{_px(-2 * k / 3)}v{_px(2 * k / 3)}h{_px(-2 * k / 3)}v{_px(-2 * k / 3)}"
        f'h{_px(-2 * k / 3)}z"',
        f'<path d="M{_px(x - s)} {Y}l{_px(s / 2)} {_px(-s)}h{_px(s)}l{_px(s / 2)} {_px(s)}l{_px(-s / 2)} {_px(s)}h{_px(-s)}z"',
        f'<path d="M{_px(x - k)} {_px(y - k)}h{_px(2 * k)}l{_px(-2 * k)} {_px(2 * k)}h{_px(2 * k)}z"',
        f'<path d="M{_px(x - 1.2 * s)} {Y}l{_px(2 * s)} {_px(-1.15 * s)}v{_px(2.3 * s)}z"',
        f'<path d="M{_px(x + 1.2 * s)} {Y}l{_px(-2 * s)} {_px(-1.15 * s)}v{_px(2.3 * s)}z"',
    )
    shape = f'{shapes[number % len(shapes)]} class="mark" {_fill(number)}'
    return f"{shape}><title>{escape(title)}</title></{shape[1 : shape.index(' ')]}>" if title else f"{shape}/>"


def _legend(series: Sequence[Series], left: float, top: float, right: float, *, lines: bool) -> tuple[list[str], float]:
    """The markers and names of the series in rows from ``left`` to ``right``, and the bottom edge; a single series needs none."""
    if len(series) < 2:
        return [], top
    elements: list[str] = []
    x, y = left, top + _FONT / 2
    for number, one in enumerate(series):
        name = clean(one.name, _LONGEST_NAME)
        wide = 34 + _text_width(name) + 18
        if x + wide > right and x > left:
            x, y = left, y + 1.6 * _FONT
        path = f'<path class="line" d="M{_px(x)} {_px(y)}h24" fill="none" {_stroke(number)} stroke-width="1.8"/>'
        elements.append(
            f'<g class="{series_class(number)}">{path if lines else ""}{marker(number, x + 12, y)}</g>'
            + _text(x + 32, y + 0.36 * _FONT, name, anchor="start")
        )
        x += wide
    return elements, y + _FONT


def _frame(title: str, body: Iterable[str], width: float, height: float) -> str:
    """The SVG element around a picture, with its title for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="{escape(title)}" width="{_px(width)}"'
        f' height="{_px(height)}" viewBox="0 0 {_px(width)} {_px(height)}" font-family="sans-serif"'
        f' font-size="{_FONT}" fill="currentColor">'
    )
    return "\n".join([head, *body, "</svg>"])


def _line_chart(figure: Figure, width: float) -> str:
    """A chart with a line and markers for each series, over the names in order."""
    names, series, percent = figure.names, figure.series, figure.percent
    body, top = _legend(series, _LEFT, 4, width - _RIGHT, lines=True)
    scale = Scale.around(_all_values(series), _HEIGHT - _BOTTOM, top + 10, zero=figure.zero)
    last_label = _text_width(clean(names[-1], _LONGEST_LABEL)) if names else 0.0
    x = _places(figure.x or range(len(names)), _LEFT + 16, width - max(_RIGHT + 16, last_label / 2 + 4))
    every = 1 if len(names) <= _MOST_MARKERS else len(names) // (_MOST_MARKERS // 2)
    body += _grid(scale, width, percent)
    if scale.low < 0 < scale.high:
        body.append(f'<path class="zero" stroke="currentColor" d="M{_px(_LEFT)} {_px(scale.at(0))}H{_px(width - _RIGHT)}"/>')
    body += _x_labels(names, x, figure.x_title, width)
    for number, one in enumerate(series):
        points = [(at, scale.at(value)) for at, value in zip(x, one.values, strict=True) if math.isfinite(value)]
        line = "L".join(f"{_px(at)} {_px(y)}" for at, y in points)
        body.append(f'<g class="{series_class(number)}">')
        body += _band(one, x, scale, _fill(number))
        if len(points) > 1:
            body.append(f'<path class="line" d="M{line}" fill="none" {_stroke(number)} stroke-width="1.8"/>')
        body += [
            marker(number, at, scale.at(value), f"{one.name}, {name}: {_value_text(value, percent)}", 3.6)
            for name, at, value in list(zip(names, x, one.values, strict=True))[::every]
            if math.isfinite(value)
        ]
        body.append("</g>")
    return _frame(f"{figure.title}: {_in_words(names, series, percent)}", body, width, _HEIGHT)


def _band(series: Series, x: Sequence[float], scale: Scale, fill: str) -> list[str]:
    """The pale band between the lower and the upper ends of a line's intervals, if it has any."""
    if not series.low:
        return []
    there = [f"{_px(at)} {_px(scale.at(high))}" for at, high in zip(x, series.high, strict=True)]
    back = [f"{_px(at)} {_px(scale.at(low))}" for at, low in zip(x, series.low, strict=True)]
    return [f'<path class="band" d="M{"L".join([*there, *reversed(back)])}z" {fill} fill-opacity=".12"/>']


def _point_chart(figure: Figure, width: float) -> str:
    """A chart with a row for each name and a marker for each series.

    Intervals are drawn as lines with ends, each series a little below the one before. Without intervals, the markers of a row are
    on one line and connected.
    """
    names, series, percent, zero = figure.names, figure.series, figure.percent, figure.zero
    shown = [clean(name, _LONGEST_LABEL) for name in names]
    left = max([_text_width(name) for name in shown] or [0]) + 20
    with_intervals = any(one.low for one in series)
    body, top = _legend(series, left, 4, width - _RIGHT, lines=False)
    row = (11 * len(series) + 12) if with_intervals else 22
    bottom = top + 12 + row * len(names)
    scale = Scale.around(_all_values(series), left + 8, width - _RIGHT - 12, zero=zero, ticks=7 if width > 500 else 4)
    for tick in scale.ticks():
        body.append(f'<path class="grid" {_GRID} d="M{_px(scale.at(tick))} {_px(top + 6)}V{_px(bottom)}"/>')
        body.append(_text(scale.at(tick), bottom + 1.4 * _FONT, scale.label(tick, percent=percent), kind="tick"))
    for index, name in enumerate(shown):
        middle = top + 12 + row * (index + 0.5)
        body.append(_text(left - 6, middle + 0.36 * _FONT, name, anchor="end"))
        body += (_intervals if with_intervals else _points)(index, names, series, scale, middle, percent)
    return _frame(f"{figure.title}: {_in_words(names, series, percent)}", body, width, bottom + 2 * _FONT)


def _intervals(index: int, names: Sequence[str], series: Sequence[Series], scale: Scale, middle: float, percent: bool) -> list[str]:
    """The markers of a row with their intervals."""
    elements: list[str] = []
    for number, one in enumerate(series):
        value, low, high = one.values[index], one.low[index], one.high[index]
        if not math.isfinite(value):
            continue
        y = middle + 11 * (number - (len(series) - 1) / 2)
        title = f"{one.name}, {names[index]}: {_value_text(value, percent)}"
        elements.append(f'<g class="{series_class(number)}">')
        if math.isfinite(low) and math.isfinite(high):
            title += f" [{_value_text(low, percent)}, {_value_text(high, percent)}]"
            a, b = _px(scale.at(low)), _px(scale.at(high))
            line = f"M{a} {_px(y)}H{b}M{a} {_px(y - 3)}v6M{b} {_px(y - 3)}v6"
            elements.append(f'<path class="line" d="{line}" fill="none" {_stroke(number).partition(" ")[0]} stroke-width="1.4"/>')
        elements += [marker(number, scale.at(value), y, title, 4), "</g>"]
    return elements


def _points(index: int, names: Sequence[str], series: Sequence[Series], scale: Scale, middle: float, percent: bool) -> list[str]:
    """The markers of a row without intervals, on a line or, if they would overlap, one below the other."""
    known = sorted(scale.at(one.values[index]) for one in series if math.isfinite(one.values[index]))
    line = f'<path class="between" stroke="currentColor" d="M{_px(known[0])} {_px(middle)}H{_px(known[-1])}"/>' if known else ""
    elements = [line] if len(known) > 1 else []
    apart = 8 if any(b - a < _TOO_CLOSE for a, b in itertools.pairwise(known)) else 0
    for number, one in enumerate(series):
        value = one.values[index]
        if math.isfinite(value):
            title = f"{one.name}, {names[index]}: {_value_text(value, percent)}"
            y = middle + apart * (number - (len(series) - 1) / 2)
            elements.append(f'<g class="{series_class(number)}">{marker(number, scale.at(value), y, title)}</g>')
    return elements


def _forest_chart(figure: Figure, width: float) -> str:
    """A chart of one series: a row for each name, with its value, interval and dots, around a line at 0.

    Names stand at the left or, where they would leave too little room, above their rows; they are not cut.
    """
    names, (one, *_), percent = figure.names, figure.series, figure.percent
    shown = [clean(name, 4 * int(width)) for name in names]
    texts = [_interval_text(one, index, percent) for index in range(len(names))] if width > 500 else []
    widest, right = (max([_text_width(text) for text in group] or [0.0]) for group in (shown, texts))
    above = widest > 0.4 * width
    width, left = (max(width, widest + 16), 8.0) if above else (width, widest + 20)
    top, row = 6.0, 44 if above else 26
    bottom = top + row * len(names)
    every = [*_all_values(figure.series), *(dot for dots in one.dots for dot in dots)]
    scale = Scale.around(every, left + 8, width - _RIGHT - right - (14 if right else 6), zero=True, ticks=7 if width > 500 else 4)
    # Lines do not cross names that stand above the rows.
    ends = [(top + row * index + (20 if above else 0), top + row * (index + 1)) for index in range(len(names))]

    def line(value: float) -> str:
        return "".join(f"M{_px(scale.at(value))} {_px(first)}V{_px(last)}" for first, last in ends)

    body = [f'<path class="grid" {_GRID} d="{line(tick)}"/>' for tick in scale.ticks()]
    body += [_text(scale.at(tick), bottom + 1.4 * _FONT, scale.label(tick, percent=percent), kind="tick") for tick in scale.ticks()]
    body.append(f'<path class="zero" stroke="currentColor" stroke-width="1.4" d="{line(0)}"/>')
    for index, name in enumerate(shown):
        y = top + row * index + (32 if above else row / 2)
        body.append(_text(8, y - 16, name, anchor="start") if above else _text(left - 6, y + 0.36 * _FONT, name, anchor="end"))
        look = f'class="dot" {_fill(0)} fill-opacity=".35"'
        dots = [dot for dot in (one.dots[index] if one.dots else ()) if math.isfinite(dot)]
        body.append('<g class="s0">')
        body += [f'<circle cx="{_px(scale.at(dot))}" cy="{_px(y)}" r="2.6" {look}/>' for dot in dots]
        body.append("</g>")
        body += _intervals(index, names, figure.series, scale, y, percent)
        if texts:
            body.append(_text(width - _RIGHT, y + 0.36 * _FONT, texts[index], anchor="end"))
    body.append(_text((scale.first + scale.last) / 2, bottom + 2.8 * _FONT, figure.x_title))
    return _frame(f"{figure.title}: {_in_words(names, figure.series, percent)}", body, width, bottom + 3.4 * _FONT)


def _interval_text(series: Series, index: int, percent: bool) -> str:
    """A value and its interval in figures."""
    value, *ends = (_value_text(values[index], percent) for values in (series.values, series.low, series.high))
    return f"{value} [{', '.join(ends)}]" if math.isfinite(series.low[index]) else value


def _column_chart(figure: Figure, width: float) -> str:
    """A chart with columns side by side for each name; every second series is paler, and each column has the series' marker."""
    names, series, percent = figure.names, figure.series, figure.percent
    body, top = _legend(series, _LEFT, 4, width - _RIGHT, lines=False)
    scale = Scale.around(_all_values(series), _HEIGHT - _BOTTOM, top + 16, zero=True)
    body += _grid(scale, width, percent)
    room = (width - _RIGHT - _LEFT) / max(len(names), 1)
    column = min(0.8 * room / max(len(series), 1), 36)
    middles = [_LEFT + room * (index + 0.5) for index in range(len(names))]
    body += _x_labels(names, middles, figure.x_title, width)
    for number, one in enumerate(series):
        look = f'{_fill(number)} fill-opacity="{".85" if number % 2 == 0 else ".25"}" stroke="{_fill(number)[6:-1]}"'
        body.append(f'<g class="{series_class(number)}">')
        for name, middle, value in zip(names, middles, one.values, strict=True):
            if not math.isfinite(value) or value == 0:
                continue
            x, y = middle + column * (number - len(series) / 2), scale.at(value)
            title = f"{one.name}, {name}: {_value_text(value, percent)}"
            rectangle = f'x="{_px(x + 1)}" y="{_px(y)}" width="{_px(column - 2)}" height="{_px(scale.first - y)}"'
            body.append(f'<rect class="column" {rectangle} {look}/>')
            if column >= 8:
                body.append(marker(number, x + column / 2, y - 7, title, 3.4))
        body.append("</g>")
        for middle, value in zip(middles, one.paper, strict=False):
            x = middle + column * (number - len(series) / 2)
            title = f"<title>{escape(one.name)}, paper: {_value_text(value, percent)}</title>"
            look = f'class="paper" stroke="currentColor" stroke-width="2" d="M{_px(x)} {_px(scale.at(value))}h{_px(column)}"'
            body.append(f"<path {look}>{title}</path>")
    return _frame(f"{figure.title}: {_in_words(names, series, percent)}", body, width, _HEIGHT)


def _grid(scale: Scale, width: float, percent: bool) -> list[str]:
    """Horizontal lines at the ticks of the vertical axis, with their numbers."""
    elements: list[str] = []
    for tick in scale.ticks():
        y = scale.at(tick)
        elements.append(f'<path class="grid" {_GRID} d="M{_px(_LEFT)} {_px(y)}H{_px(width - _RIGHT)}"/>')
        elements.append(_text(_LEFT - 6, y + 0.36 * _FONT, scale.label(tick, percent=percent), anchor="end", kind="tick"))
    return elements


def _all_values(series: Sequence[Series]) -> list[float]:
    return [value for one in series for part in (one.values, one.low, one.high, one.paper) for value in part]


def _places(x: Sequence[float], first: float, last: float) -> list[float]:
    """The pixels of some numbers, of which the first is the smallest and the last the largest."""
    if len(x) < 2:
        return [(first + last) / 2] * len(x)
    return [first + (last - first) * (value - x[0]) / (x[-1] - x[0]) for value in x]


def _x_labels(names: Sequence[str], places: Sequence[float], title: str, width: float) -> list[str]:
    """The names below the chart, as many as fit, and the title of the axis."""
    widest = max((_text_width(clean(name, _LONGEST_LABEL)) for name in names), default=0.0) + 8
    y = _HEIGHT - _BOTTOM + 1.4 * _FONT
    labels: list[str] = []
    free = -math.inf
    for place, name in zip(places, names, strict=True):
        if place >= free:
            labels.append(_text(place, y, clean(name, _LONGEST_LABEL), kind="tick"))
            free = place + widest - 1e-9
    return [*labels, *([_text((_LEFT + width - _RIGHT) / 2, y + 1.3 * _FONT, title)] if title else [])]


def _value_text(value: float, percent: bool) -> str:
    return f"{100 * value:.2f}" if percent else f"{value:g}"


def _in_words(names: Sequence[str], series: Sequence[Series], percent: bool) -> str:
    """The chart in one line of words: the first and the last value of each series. The table beside the chart has all values."""
    if not names:
        return "no data"
    ends = [(one.name, one.values[0], one.values[-1]) for one in series]
    ranges = (f"{name} {_value_text(first, percent)} to {_value_text(last, percent)}" for name, first, last in ends)
    return f"{clean(names[0], 60)} to {clean(names[-1], 60)}; " + ", ".join(clean(one, 80) for one in ranges)


_DRAW: Mapping[str, Callable[[Figure, float], str]] = {
    "lines": _line_chart,
    "points": _point_chart,
    "columns": _column_chart,
    "forest": _forest_chart,
}
