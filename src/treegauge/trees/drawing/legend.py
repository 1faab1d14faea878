"""What the marks in a picture mean, below it or as a picture of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from treegauge.trees.drawing.layout import check_choice
from treegauge.trees.drawing.marks import MARKS, Mark
from treegauge.trees.drawing.measure import ems
from treegauge.trees.drawing.sheet import Frame, Theme, shapes

__all__ = ["Legend", "legend_at", "legend_svg"]


class Legend(NamedTuple):
    """The elements of a legend, and where it ends."""

    elements: list[str]
    right: int
    bottom: int


def legend_svg(
    marks: Iterable[str] = tuple(MARKS),
    *,
    width: int = 10_000,
    theme: Theme = "inherit",
    stylesheet: bool = True,
    font_size: int = 14,
) -> str:
    """A picture that says what the marks mean, for a page with many trees; in lines of at most ``width`` pixels."""
    wanted = list(marks)
    for name in wanted:
        check_choice("mark", name, MARKS)
    used = [mark for mark in MARKS.values() if mark.name in wanted]
    legend = legend_at(used, font_size // 2, font_size // 2, width, font_size)
    title = "Legend: " + ", ".join(f"{mark.symbol} {mark.name}" for mark in used)
    return Frame(title, theme=theme, stylesheet=stylesheet, font=font_size).around(legend.elements, legend.right, legend.bottom)


def legend_at(marks: Sequence[Mark], left: int, top: int, width: int, font: int) -> Legend:
    """A legend in columns of equal width that begins at ``left, top`` and ends before ``width`` if it can."""
    column = 4 * font + max((ems(mark.name) for mark in marks), default=0) * font // 100
    across = max(1, min(len(marks), (width - left) // column))
    elements = ['<g class="legend">']
    for number, mark in enumerate(marks):
        x = left + font + number % across * column
        y = top + font + number // across * 2 * font
        baseline = y + round(0.35 * font)
        elements.append(
            f'<g class="key {mark.name}">{shapes([mark], x, y, round(1.1 * font), round(0.7 * font))}'
            f'<text class="sign" fill="{mark.colour}" font-weight="600" x="{x}" y="{baseline}">{mark.symbol}</text>'
            f'<text text-anchor="start" x="{x + 2 * font}" y="{baseline}">{mark.name}</text></g>'
        )
    elements.append("</g>")
    lines = -(-len(marks) // across)
    return Legend(elements, left + across * column, top + lines * 2 * font + font // 2)
