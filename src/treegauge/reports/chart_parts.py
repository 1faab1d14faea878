"""What every chart has: series told apart by colour, marker and dash, a scale with round ticks, a legend, a frame.

Charts are plain SVG made from numbers by a few functions: no plotting library, the same bytes for the same data. Text and lines
take the page's colour; series have the classes ``s0``, ``s1`` ... by which a page can change theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from treegauge.trees.drawing.measure import clean, ems
from treegauge.trees.drawing.sheet import escape

__all__ = ["FONT", "Scale", "Series", "fixed", "framed", "legend", "marker", "series_class", "text", "text_width"]

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
