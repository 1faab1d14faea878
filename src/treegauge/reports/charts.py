"""Charts as SVG: values of systems as lines over sizes, as points in rows of names, and as columns over counts.

>>> picture = line_chart("F1 by size", ["1", "2"], [Series("A", [0.9, 0.5]), Series("B", [0.8, 0.6])], x_title="size", percent=True)
>>> picture.count("<circle"), "B, 2: 60.00" in picture
(3, True)

What every chart has: series told apart by colour, marker and dash, a scale with round ticks, a legend, a frame.

Charts are plain SVG made from numbers by a few functions: no plotting library, the same bytes for the same data. Text and lines
take the page's colour; series have the classes ``s0``, ``s1`` ... by which a page can change theirs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from treegauge.trees.drawing.marks import clean, ems
from treegauge.trees.drawing.svg import escape

__all__ = [
    "FONT",
    "Scale",
    "Series",
    "column_chart",
    "fixed",
    "framed",
    "legend",
    "line_chart",
    "marker",
    "point_chart",
    "series_class",
    "text",
    "text_width",
]

FONT = 12
# Okabe & Ito's colours, which colour-blind readers can tell apart, in the order of reports.plotting.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#B8A500")
DASHES = ("", "6 3", "2 2", "8 3 2 3")
_LONGEST_NAME = 32


class Series(NamedTuple):
    """A system's name and its values, nan where there is none; ``low`` and ``high`` are the ends of intervals, if there are any."""

    name: str
    values: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


class Scale(NamedTuple):
    """Values from ``low`` to ``high`` at the pixels from ``first`` to ``last``, with ticks at round numbers."""

    low: float
    high: float
    first: float
    last: float
    step: float

    @classmethod
    def around(cls, values: Iterable[float], first: float, last: float, *, zero: bool = False, ticks: int = 6) -> Scale:
        """A scale that holds all values, ends at ticks, and with ``zero`` begins at 0.

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
        count = round((self.high - self.low) / self.step)
        digits = 6 - math.floor(math.log10(self.step))
        return [round((round(self.low / self.step) + number) * self.step, digits) for number in range(count + 1)]

    def label(self, value: float, *, percent: bool) -> str:
        """A tick's number, with as many digits as the steps need.

        >>> Scale(0.8, 0.84, 0, 100, 0.005).label(0.815, percent=True)
        '81.5'
        """
        shown, step = (100 * value, 100 * self.step) if percent else (value, self.step)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        return f"{shown + 0.0:.{digits}f}"


def _round_step(least: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def fixed(value: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> fixed(3.0), fixed(2.26)
    ('3', '2.3')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def text_width(words: str) -> float:
    return ems(words) * FONT / 100


def text(x: float, y: float, words: str, *, anchor: str = "middle", kind: str = "") -> str:
    """Text whose baseline is at ``y``."""
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{fixed(x)}" y="{fixed(y)}" text-anchor="{anchor}">{escape(words)}</text>'


def series_class(number: int) -> str:
    return f"s{number % len(COLOURS)}"


def stroke(number: int) -> str:
    """How the line of a series is drawn."""
    dash = DASHES[number % len(DASHES)]
    return f'stroke="{COLOURS[number % len(COLOURS)]}"' + (f' stroke-dasharray="{dash}"' if dash else "")


def fill(number: int) -> str:
    return f'fill="{COLOURS[number % len(COLOURS)]}"'


def marker(number: int, x: float, y: float, title: str = "", size: float = 4.5) -> str:
    """The sign of a series: a shape of its own, filled with its colour; the title is shown on pointing at it."""
    s, X, Y = size, fixed(x), fixed(y)
    k = s * 0.9
    shapes = (
        f'<circle cx="{X}" cy="{Y}" r="{fixed(s)}"',
        f'<path d="M{fixed(x - k)} {fixed(y - k)}h{fixed(2 * k)}v{fixed(2 * k)}h{fixed(-2 * k)}z"',
        f'<path d="M{X} {fixed(y - 1.2 * s)}l{fixed(1.15 * s)} {fixed(2 * s)}h{fixed(-2.3 * s)}z"',
        f'<path d="M{X} {fixed(y - 1.3 * s)}l{fixed(1.3 * s)} {fixed(1.3 * s)}l{fixed(-1.3 * s)} {fixed(1.3 * s)}'
        f'l{fixed(-1.3 * s)} {fixed(-1.3 * s)}z"',
        f'<path d="M{X} {fixed(y + 1.2 * s)}l{fixed(1.15 * s)} {fixed(-2 * s)}h{fixed(-2.3 * s)}z"',
        f'<path d="M{fixed(x - k)} {fixed(y - k / 3)}h{fixed(2 * k / 3)}v{fixed(-2 * k / 3)}h{fixed(2 * k / 3)}v{fixed(2 * k / 3)}'
        f"h{fixed(2 * k / 3)}v{fixed(2 * k / 3)}h{fixed(-2 * k / 3)}v{fixed(2 * k / 3)}h{fixed(-2 * k / 3)}v{fixed(-2 * k / 3)}"
        f'h{fixed(-2 * k / 3)}z"',
        f'<path d="M{fixed(x - s)} {Y}l{fixed(s / 2)} {fixed(-s)}h{fixed(s)}l{fixed(s / 2)} {fixed(s)}l{fixed(-s / 2)} {fixed(s)}'
        f'h{fixed(-s)}z"',
        f'<path d="M{fixed(x - k)} {fixed(y - k)}h{fixed(2 * k)}l{fixed(-2 * k)} {fixed(2 * k)}h{fixed(2 * k)}z"',
    )
    shape = f'{shapes[number % len(shapes)]} class="mark" {fill(number)}'
    return f"{shape}><title>{escape(title)}</title></{shape[1 : shape.index(' ')]}>" if title else f"{shape}/>"


def legend(series: Sequence[Series], left: float, top: float, right: float, *, lines: bool) -> tuple[list[str], float]:
    """The signs and names of the series in rows from ``left`` to ``right``, and where they end; one series needs none."""
    if len(series) < 2:
        return [], top
    elements: list[str] = []
    x, y = left, top + FONT / 2
    for number, one in enumerate(series):
        name = clean(one.name, _LONGEST_NAME)
        wide = 34 + text_width(name) + 18
        if x + wide > right and x > left:
            x, y = left, y + 1.6 * FONT
        path = f'<path class="line" d="M{fixed(x)} {fixed(y)}h24" fill="none" {stroke(number)} stroke-width="1.8"/>'
        elements.append(
            f'<g class="{series_class(number)}">{path if lines else ""}{marker(number, x + 12, y)}</g>'
            + text(x + 32, y + 0.36 * FONT, name, anchor="start")
        )
        x += wide
    return elements, y + FONT


def framed(title: str, body: Iterable[str], width: float, height: float) -> str:
    """The chart as a picture with a name for those who hear it."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="{escape(title)}" width="{fixed(width)}"'
        f' height="{fixed(height)}" viewBox="0 0 {fixed(width)} {fixed(height)}" font-size="{FONT}" fill="currentColor">'
    )
    return "\n".join([head, *body, "</svg>"])


_WIDTH, _HEIGHT = 940.0, 290.0
_LEFT, _RIGHT, _BOTTOM = 48.0, 14.0, 40.0
_MOST_X_LABELS = 16
_LONGEST_LABEL = 26
_TOO_CLOSE = 7


def line_chart(
    title: str,
    names: Sequence[str],
    series: Sequence[Series],
    *,
    x_title: str = "",
    percent: bool = False,
    zero: bool = True,
    width: float = _WIDTH,
) -> str:
    """A line with markers for each series over names in order; ``zero`` has 0 on the axis, and a line there."""
    body, top = legend(series, _LEFT, 4, width - _RIGHT, lines=True)
    scale = Scale.around((value for one in series for value in one.values), _HEIGHT - _BOTTOM, top + 10, zero=zero)
    x = _places(len(names), _LEFT + 16, width - _RIGHT - 16)
    body += _grid(scale, width, percent)
    if scale.low < 0 < scale.high:
        body.append(f'<path class="zero" stroke="currentColor" d="M{fixed(_LEFT)} {fixed(scale.at(0))}H{fixed(width - _RIGHT)}"/>')
    body += _x_labels(names, x, x_title, width)
    for number, one in enumerate(series):
        points = [(at, scale.at(value)) for at, value in zip(x, one.values, strict=True) if math.isfinite(value)]
        line = "L".join(f"{fixed(at)} {fixed(y)}" for at, y in points)
        body.append(f'<g class="{series_class(number)}">')
        if len(points) > 1:
            body.append(f'<path class="line" d="M{line}" fill="none" {stroke(number)} stroke-width="1.8"/>')
        body += [
            marker(number, at, scale.at(value), f"{one.name}, {name}: {_shown(value, percent)}", 3.6)
            for name, at, value in zip(names, x, one.values, strict=True)
            if math.isfinite(value)
        ]
        body.append("</g>")
    return framed(f"{title}: {_in_words(names, series, percent)}", body, width, _HEIGHT)


def point_chart(
    title: str, names: Sequence[str], series: Sequence[Series], *, percent: bool = False, zero: bool = False, width: float = _WIDTH
) -> str:
    """A row for each name with a marker for each series; intervals are drawn as lines with ends, each series on a line of its own.

    Without intervals the markers of a row stand on one line, and the stretch between them is drawn.
    """
    shown = [clean(name, _LONGEST_LABEL) for name in names]
    left = max([text_width(name) for name in shown] or [0]) + 20
    with_intervals = any(one.low for one in series)
    body, top = legend(series, left, 4, width - _RIGHT, lines=False)
    row = (11 * len(series) + 12) if with_intervals else 22
    bottom = top + 12 + row * len(names)
    values = [value for one in series for part in (one.values, one.low, one.high) for value in part]
    scale = Scale.around(values, left + 8, width - _RIGHT - 12, zero=zero, ticks=7)
    for tick in scale.ticks():
        body.append(f'<path class="grid" stroke="currentColor" d="M{fixed(scale.at(tick))} {fixed(top + 6)}V{fixed(bottom)}"/>')
        body.append(text(scale.at(tick), bottom + 1.4 * FONT, scale.label(tick, percent=percent), kind="tick"))
    for index, name in enumerate(shown):
        middle = top + 12 + row * (index + 0.5)
        body.append(text(left - 6, middle + 0.36 * FONT, name, anchor="end"))
        body += (
            _intervals(index, names, series, scale, middle, percent) if with_intervals else _stretch(index, series, scale, middle)
        )
        if not with_intervals:
            body += _points(index, names, series, scale, middle, percent)
    return framed(f"{title}: {_in_words(names, series, percent)}", body, width, bottom + 2 * FONT)


def _intervals(index: int, names: Sequence[str], series: Sequence[Series], scale: Scale, middle: float, percent: bool) -> list[str]:
    elements: list[str] = []
    for number, one in enumerate(series):
        value, low, high = one.values[index], one.low[index], one.high[index]
        if not math.isfinite(value):
            continue
        y = middle + 11 * (number - (len(series) - 1) / 2)
        title = f"{one.name}, {names[index]}: {_shown(value, percent)}"
        elements.append(f'<g class="{series_class(number)}">')
        if math.isfinite(low) and math.isfinite(high):
            title += f" [{_shown(low, percent)}, {_shown(high, percent)}]"
            a, b = fixed(scale.at(low)), fixed(scale.at(high))
            line = f"M{a} {fixed(y)}H{b}M{a} {fixed(y - 3)}v6M{b} {fixed(y - 3)}v6"
            elements.append(f'<path class="line" d="{line}" fill="none" {stroke(number).partition(" ")[0]} stroke-width="1.4"/>')
        elements += [marker(number, scale.at(value), y, title, 4), "</g>"]
    return elements


def _stretch(index: int, series: Sequence[Series], scale: Scale, middle: float) -> list[str]:
    known = [scale.at(one.values[index]) for one in series if math.isfinite(one.values[index])]
    if len(known) < 2:
        return []
    return [f'<path class="between" stroke="currentColor" d="M{fixed(min(known))} {fixed(middle)}H{fixed(max(known))}"/>']


def _points(
    index: int, names: Sequence[str], series: Sequence[Series], scale: Scale, middle: float, percent: bool
) -> Iterator[str]:
    """The markers of a row; where they would hide each other, one below the other."""
    known = sorted(scale.at(one.values[index]) for one in series if math.isfinite(one.values[index]))
    apart = 8 if any(b - a < _TOO_CLOSE for a, b in itertools.pairwise(known)) else 0
    for number, one in enumerate(series):
        value = one.values[index]
        if math.isfinite(value):
            title = f"{one.name}, {names[index]}: {_shown(value, percent)}"
            y = middle + apart * (number - (len(series) - 1) / 2)
            yield f'<g class="{series_class(number)}">{marker(number, scale.at(value), y, title)}</g>'


def column_chart(
    title: str, names: Sequence[str], series: Sequence[Series], *, x_title: str = "", percent: bool = False, width: float = _WIDTH
) -> str:
    """Columns side by side for each name; every second series is hollow, and each carries its marker."""
    body, top = legend(series, _LEFT, 4, width - _RIGHT, lines=False)
    scale = Scale.around((value for one in series for value in one.values), _HEIGHT - _BOTTOM, top + 16, zero=True)
    body += _grid(scale, width, percent)
    room = (width - _RIGHT - _LEFT) / max(len(names), 1)
    column = min(0.8 * room / max(len(series), 1), 36)
    middles = [_LEFT + room * (index + 0.5) for index in range(len(names))]
    body += _x_labels(names, middles, x_title, width)
    for number, one in enumerate(series):
        look = f'{fill(number)} fill-opacity="{".85" if number % 2 == 0 else ".25"}" stroke="{fill(number)[6:-1]}"'
        body.append(f'<g class="{series_class(number)}">')
        for name, middle, value in zip(names, middles, one.values, strict=True):
            if not math.isfinite(value) or value == 0:
                continue
            x, y = middle + column * (number - len(series) / 2), scale.at(value)
            said = f"{one.name}, {name}: {_shown(value, percent)}"
            rectangle = f'x="{fixed(x + 1)}" y="{fixed(y)}" width="{fixed(column - 2)}" height="{fixed(scale.first - y)}"'
            body.append(f'<rect class="column" {rectangle} {look}/>')
            if column >= 8:
                body.append(marker(number, x + column / 2, y - 7, said, 3.4))
        body.append("</g>")
    return framed(f"{title}: {_in_words(names, series, percent)}", body, width, _HEIGHT)


def _grid(scale: Scale, width: float, percent: bool) -> list[str]:
    """Lines across at the ticks of the upright scale, with their numbers."""
    elements: list[str] = []
    for tick in scale.ticks():
        y = scale.at(tick)
        elements.append(f'<path class="grid" stroke="currentColor" d="M{fixed(_LEFT)} {fixed(y)}H{fixed(width - _RIGHT)}"/>')
        elements.append(text(_LEFT - 6, y + 0.36 * FONT, scale.label(tick, percent=percent), anchor="end", kind="tick"))
    return elements


def _places(count: int, first: float, last: float) -> list[float]:
    return [(first + last) / 2] if count == 1 else [first + (last - first) * index / max(count - 1, 1) for index in range(count)]


def _x_labels(names: Sequence[str], places: Sequence[float], title: str, width: float) -> list[str]:
    """The names below the chart, as many as there is room for, and what they are."""
    every = max(1, -(-len(names) // _MOST_X_LABELS))
    y = _HEIGHT - _BOTTOM + 1.4 * FONT
    shown = itertools.islice(zip(places, names, strict=True), 0, None, every)
    labels = [text(place, y, clean(name, _LONGEST_LABEL), kind="tick") for place, name in shown]
    return [*labels, *([text((_LEFT + width - _RIGHT) / 2, y + 1.3 * FONT, title)] if title else [])]


def _shown(value: float, percent: bool) -> str:
    return f"{100 * value:.2f}" if percent else f"{value:g}"


def _in_words(names: Sequence[str], series: Sequence[Series], percent: bool) -> str:
    """The chart in a line: the first and the last value of each series; all of them stand in the table beside it."""
    if not names:
        return "no data"
    ends = [(one.name, one.values[0], one.values[-1]) for one in series]
    said = (f"{name} {_shown(first, percent)} to {_shown(last, percent)}" for name, first, last in ends)
    return f"{clean(names[0], 60)} to {clean(names[-1], 60)}; " + ", ".join(clean(one, 80) for one in said)
