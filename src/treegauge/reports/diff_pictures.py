"""Tree diffs as pictures: SVG, and PNG or PDF drawn by matplotlib."""

from __future__ import annotations

import importlib
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from treegauge.errors import MissingExtra, UsageError
from treegauge.reports.tree_diff import TreeDiff
from treegauge.trees import Tree
from treegauge.trees.drawing import MARKS, Item, Layout, draw_svg, lay_out, legend_svg, tree_items
from treegauge.trees.drawing.marks import clean, ems
from treegauge.trees.drawing.svg import PictureFrame, Theme, escape_xml

_FONT, _SVG_MARGIN, _SVG_LINE = 14, 12, 24
_SIZE = re.compile(r'<svg xmlns="http://www.w3.org/2000/svg"([^>]*) width="(\d+)" height="(\d+)"')
_LONGEST_HEADING = 160


class _Drawing(NamedTuple):
    """SVG elements with their right and bottom edges."""

    elements: list[str]
    right: int
    bottom: int


def diff_svg(diffs: Sequence[TreeDiff], *, fold: bool = True, theme: Theme = "auto") -> str:
    """The differences as one SVG picture, one below the other; ``fold`` folds subtrees in which everything matched.

    >>> from treegauge.reports.tree_diff import diff
    >>> picture = diff_svg([diff("(S (NP (N a)) (V b))", "(S (N a) (V b))")])
    >>> picture.count("<svg"), "1 missed" in picture
    (4, True)
    """
    elements: list[str] = []
    right, bottom = 0, _SVG_MARGIN
    for number, diff in enumerate(diffs):
        block = _sentence(diff, number, bottom, fold)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom + _SVG_MARGIN
    used = {mark for diff in diffs for _, _, marks in diff.sides for mark in marks.values()}
    if used:
        block = _inner_picture(legend_svg(used, width=max(right, 400), stylesheet=False), bottom)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom
    title = "; ".join(f"{diff.place}: {diff.summary}" for diff in diffs[:3]) or "No difference"
    return PictureFrame(clean(title, 400), theme=theme, font=_FONT).around(elements, right + _SVG_MARGIN, bottom + _SVG_MARGIN)


def _sentence(diff: TreeDiff, number: int, top: int, fold: bool) -> _Drawing:
    heading = clean(f"{diff.place}: {diff.summary}", _LONGEST_HEADING)
    elements = [_text(heading, top + _FONT, bold=True)]
    right, bottom = _SVG_MARGIN + ems(heading) * _FONT * 108 // 10_000, top + _SVG_LINE
    for side, (name, tree, marks) in enumerate(diff.sides):
        folded = diff.folded(tree, marks) if fold else frozenset[int]()
        picture = draw_svg(tree, marks, id_prefix=f"s{number}t{side}-", title=name, folded=folded, legend=False, stylesheet=False)
        elements.append(_text(clean(name, 60), bottom + _FONT, bold=False))
        block = _inner_picture(picture, bottom + _SVG_LINE)
        elements += block.elements
        right, bottom = max(right, block.right), block.bottom
    return _Drawing(elements, right, bottom)


def _text(text: str, baseline: int, *, bold: bool) -> str:
    weight = ' font-weight="600"' if bold else ' fill-opacity=".75"'
    return f'<text x="{_SVG_MARGIN}" y="{baseline}" text-anchor="start"{weight}>{escape_xml(text)}</text>'


def _inner_picture(picture: str, top: int) -> _Drawing:
    """A picture inside another, at its own size."""
    found = _SIZE.match(picture)
    assert found is not None, "a picture begins with its size"
    width, height = int(found[2]), int(found[3])
    inside = f'<svg x="{_SVG_MARGIN}" y="{top}"' + picture[len('<svg xmlns="http://www.w3.org/2000/svg"') :]
    return _Drawing([inside.rstrip("\n")], _SVG_MARGIN + width, top + height)


_GAP, _LEVEL, _LINE, _MARGIN = 14, 40, 26, 16
# From the middle of a text to the end of a line above or below it.
_CLEAR = 10
_LONGEST_TEXT, _MOST_PIXELS = 60, 30_000
_DPI = 100
_LARGEST_PAGE = 200 * _DPI
"""The largest side of a PDF page, 200 inches."""
_INK, _PALE = "#1b1b1b", "#8a8a8a"


def diff_png(diffs: Sequence[TreeDiff], *, fold: bool = True, scale: float = 2.0) -> bytes:
    """The differences as a PNG picture, one below the other on white; needs the extra ``[plot]``."""
    return _draw_by_matplotlib(
        diffs, fold, _MOST_PIXELS / scale, format="png", dpi=_DPI * scale, metadata={"Software": "treegauge"}
    )


def diff_pdf(diffs: Sequence[TreeDiff], *, fold: bool = True) -> bytes:
    """The differences on one PDF page of their size, without a date, so that the same trees give the same bytes."""
    about = {"Creator": "treegauge", "Producer": None, "CreationDate": None}
    return _draw_by_matplotlib(diffs, fold, _LARGEST_PAGE, format="pdf", metadata=about)


def _draw_by_matplotlib(diffs: Sequence[TreeDiff], fold: bool, largest: float, **how: Any) -> bytes:
    blocks = [_heading(diff) if part is None else _TreeBlock(*part, diff, fold) for diff in diffs for part in (None, *diff.sides)]
    blocks.append(_legend(diffs))
    width = max((block.width for block in blocks), default=0) + 2 * _MARGIN
    height = sum(block.height for block in blocks) + 2 * _MARGIN
    if max(width, height) > largest:
        kind = how["format"].upper()
        raise UsageError(f"a picture of {width} by {height} pixels is too large for {kind}: choose fewer sentences, or draw SVG")
    figure, axes = _canvas(width, height)
    top = _MARGIN
    for block in blocks:
        block.draw(axes, _MARGIN, top)
        top += block.height
    data = io.BytesIO()
    with warnings.catch_warnings():
        # A character that no installed font has is drawn as a box; a warning would add nothing.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(data, **how)
    return data.getvalue()


def _canvas(width: int, height: int) -> tuple[Any, Any]:
    """A figure whose data coordinates are pixels, the first row at the top."""
    try:
        make_figure: Any = importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise MissingExtra("a PNG or PDF picture", "plot") from None
    figure = make_figure(figsize=(width / _DPI, height / _DPI), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    return figure, axes


def _put(axes: Any, x: float, y: float, text: str, **style: Any) -> None:
    # Without parse_math=False, a dollar sign would begin a formula.
    style = {"ha": "center", "color": _INK, **style}
    axes.text(x, y, text, va="center_baseline", fontsize=_FONT * 72 / _DPI, parse_math=False, **style)


class _TextLine:
    """A line of text made of coloured parts."""

    def __init__(self, parts: Sequence[tuple[str, str]], *, bold: bool = False) -> None:
        self.parts, self.bold = parts, bold
        self.width = sum(self._wide(text) for text, _ in parts)
        self.height = _LINE

    def draw(self, axes: Any, left: int, top: int) -> None:
        for text, colour in self.parts:
            weight = "bold" if self.bold else "normal"
            _put(axes, left, top + _LINE / 2, text, ha="left", color=colour, weight=weight)
            left += self._wide(text)

    def _wide(self, text: str) -> int:
        return ems(text) * _FONT * (120 if self.bold else 105) // 10_000 + _FONT


def _heading(diff: TreeDiff) -> _TextLine:
    return _TextLine([(clean(f"{diff.place}: {diff.summary}", 160), _INK)], bold=True)


def _legend(diffs: Sequence[TreeDiff]) -> _TextLine:
    used = {mark for diff in diffs for _, _, marks in diff.sides for mark in marks.values()}
    return _TextLine([(f"{mark.symbol} {mark.name}", mark.colour) for mark in MARKS.values() if mark.name in used])


class _TreeBlock:
    """A tree with its name above it."""

    def __init__(self, name: str, tree: Tree, marks: Mapping[int, str], diff: TreeDiff, fold: bool) -> None:
        self.name, self.marks = clean(name, _LONGEST_TEXT), marks
        self.items = tree_items(tree, diff.folded(tree, marks) if fold else ())
        self.texts = [self._text(item) for item in self.items]
        sizes = [ems(text) * _FONT * 118 // 10_000 + (_FONT if self._mark(item) else 0) for item, text in self._items_and_texts()]
        self.layout: Layout = lay_out(self.items, sizes, _GAP, snap=7)
        self.width = self.layout.width
        self.height = _LINE + (self.layout.levels + 1) * _LEVEL + _LINE

    def _items_and_texts(self) -> list[tuple[Item, str]]:
        return list(zip(self.items, self.texts, strict=True))

    def _mark(self, item: Item) -> str:
        return self.marks.get(item.number, "") if item.is_node else ""

    def _text(self, item: Item) -> str:
        text = clean(item.text, _LONGEST_TEXT) or ("•" if item.is_node else '""')
        mark = self._mark(item)
        return f"{text} {MARKS[mark].symbol}" if mark else text

    def _y(self, index: int, top: int) -> float:
        row, levels = self.layout.row(index), self.layout.levels
        return top + 1.5 * _LINE + min(row, levels) * _LEVEL + (_LINE if row > levels else 0)

    def draw(self, axes: Any, left: int, top: int) -> None:
        _put(axes, left, top + _LINE / 2, self.name, ha="left", color=_PALE)
        for index, item in enumerate(self.items):
            x, y = left + self.layout.centre[index], self._y(index, top)
            if item.parent >= 0 and item.kind != "word":
                self._branch(axes, index, left, top)
            mark = MARKS.get(self._mark(item))
            box = None
            if mark is not None:
                line = "--" if mark.dash else "-"
                box = {"boxstyle": "round,pad=0.3", "fc": "white", "ec": mark.colour, "ls": line, "lw": float(mark.stroke)}
            colour = mark.colour if mark else _INK if item.kind != "tag" else "#555555"
            weight = "bold" if item.kind in ("phrase", "folded", "empty") else "normal"
            _put(axes, x, y, self.texts[index], color=colour, bbox=box, weight=weight, zorder=3)

    def _branch(self, axes: Any, index: int, left: int, top: int) -> None:
        parent, x, y = self.items[index].parent, left + self.layout.centre[index], self._y(index, top)
        above, y_above = left + self.layout.centre[parent], self._y(parent, top)
        if self.items[index].kind == "roof":
            first, last = left + self.layout.left[index], left + self.layout.left[index] + self.layout.size[index]
            xs, ys = [above, last, first, above], [y_above + _CLEAR, y - _CLEAR, y - _CLEAR, y_above + _CLEAR]
        elif self.items[parent].kind == "tag":
            return
        else:
            bus = y_above + _LEVEL / 2
            xs, ys = [above, above, x, x], [y_above + _CLEAR, bus, bus, y - _CLEAR]
        axes.plot(xs, ys, color=_PALE, linewidth=1, zorder=1, solid_joinstyle="round")
