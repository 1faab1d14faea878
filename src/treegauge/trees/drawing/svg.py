"""Trees as SVG: the same bytes for the same tree, nothing fetched from elsewhere, at home on light and dark pages.

Text and lines take the page's own colour (``currentColor``). Everything looks right without the style sheet, so a page whose
policy forbids inline styles can leave it out; with it, custom properties such as ``--tree-crossing`` change the colours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from treegauge.errors import UsageError
from treegauge.trees.drawing.description import described, titled
from treegauge.trees.drawing.layout import Item, check_choice, place, tree_items
from treegauge.trees.drawing.legend import legend_at
from treegauge.trees.drawing.marks import NodeMark, Symbols, node_marks, used_marks
from treegauge.trees.drawing.measure import clean, ems
from treegauge.trees.drawing.sheet import Frame, Theme, escape, shapes
from treegauge.trees.tree import Tree

__all__ = ["draw_svg"]

Branches = Literal["square", "slanted"]

_LONGEST_TEXT = 60
_PREFIX = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]*)?")
_SYMBOLS = Symbols()


def draw_svg(
    tree: Tree,
    marks: Mapping[int, str] | None = None,
    *,
    id_prefix: str = "",
    title: str = "",
    direction: Literal["ltr", "rtl"] = "ltr",
    branches: Branches = "square",
    folded: Collection[int] = (),
    legend: bool = True,
    theme: Theme = "inherit",
    stylesheet: bool = True,
    font_size: int = 14,
) -> str:
    """The tree as an SVG picture, words in one row at the bottom.

    Node ``i`` in pre-order is the group ``n{i}``, with its mark among its classes and the words it covers in ``data-span``; the
    branch that leads to it is ``e{i}``; word ``j`` is ``w{j}``. ``id_prefix`` goes before every id, so that one page can hold many
    trees. ``marks`` and ``folded`` are as in :func:`~treegauge.trees.drawing.draw_text`; ``theme`` is ``inherit`` for a picture
    inside a page, and for one on its own ``light``, ``dark``, or ``auto`` (as the reader's system is set).

    >>> picture = draw_svg(Tree.parse("(S (V go))"), {0: "matched"})
    >>> 'id="n0" class="node phrase matched"' in picture, 'id="w0"' in picture
    (True, True)
    """
    check_choice("direction", direction, ("ltr", "rtl"))
    check_choice("branches", branches, ("slanted", "square"))
    check_choice("theme", theme, ("auto", "dark", "inherit", "light"))
    if not _PREFIX.fullmatch(id_prefix):
        raise UsageError(f"the id prefix {id_prefix!r}: letters, digits, '_', '.' and '-', beginning with a letter")
    if not 4 <= font_size <= 200:
        raise UsageError(f"a font size of {font_size} pixels: between 4 and 200")
    marked = node_marks(tree, marks)
    items = tree_items(tree, folded)
    frame = Frame(titled(tree, title, marked), described(items, marked), id_prefix, theme, stylesheet, font_size)
    drawing = _Drawing(items, marked, _Metrics.of(font_size), id_prefix, branches, direction == "rtl")
    return drawing.inside(frame, legend)


class _Metrics(NamedTuple):
    """The distances of a picture in pixels, all from the font size.

    ``half`` is half the height of a line of text, ``level`` the distance of two levels, ``word`` that of tags and words.
    """

    font: int
    margin: int
    gap: int
    level: int
    half: int
    word: int
    snap: int
    corner: int

    @classmethod
    def of(cls, font: int) -> _Metrics:
        parts = (0.9, 0.9, 2.9, 0.8, 1.5, 0.5, 0.45)
        return cls(font, *(round(part * font) for part in parts))


class _Drawing:
    """A placed tree, element by element."""

    def __init__(
        self,
        items: list[Item],
        marks: Mapping[int, NodeMark],
        metrics: _Metrics,
        prefix: str,
        branches: Branches,
        mirrored: bool,
    ) -> None:
        self.items, self.marks, self.metrics, self.prefix, self.branches, self.mirrored = (
            items,
            marks,
            metrics,
            prefix,
            branches,
            mirrored,
        )
        self.texts = [_shown(item) for item in items]
        sizes = [self._size(item, text) for item, text in zip(items, self.texts, strict=True)]
        self.layout = place(items, sizes, metrics.gap, snap=metrics.snap, mirrored=mirrored)
        self.x = [centre + metrics.margin for centre in self.layout.centre]
        self.y = [self._height_of(self.layout.row(index)) for index in range(len(items))]

    def _mark(self, item: Item) -> NodeMark | None:
        return self.marks.get(item.number) if item.is_node else None

    def _size(self, item: Item, text: str) -> int:
        font, mark = self.metrics.font, self._mark(item)
        bold = 108 if item.kind in ("phrase", "folded", "empty") else 100
        width = ems(text + _SYMBOLS.behind(mark)) * font * bold // 10_000
        return width if mark is None else width + 2 * font

    def _height_of(self, row: int) -> int:
        """The middle of a row of text."""
        metrics, tags = self.metrics, self.layout.levels
        return metrics.margin + metrics.half + min(row, tags) * metrics.level + (metrics.word if row > tags else 0)

    def inside(self, frame: Frame, with_legend: bool) -> str:
        """The picture in its frame, with a legend of the marks that occur."""
        metrics, count = self.metrics, range(len(self.items))
        plain = [line for index in count for line in self._stem(index) + self._branch(index, marked=False)]
        marked = [line for index in count for line in self._branch(index, marked=True)]
        body = [
            # The group as a whole is paler, so that branches of one parent do not darken where they run together.
            '<g class="edges" fill="none" stroke="currentColor" stroke-width="1.1" opacity=".55">',
            *plain,
            "</g>",
            *(['<g class="edges" fill="none">', *marked, "</g>"] if marked else []),
            *(self._node(index) for index in count if self.items[index].is_node),
            '<g class="words" direction="rtl">' if self.mirrored else '<g class="words">',
            *(self._word(index) for index in count if not self.items[index].is_node),
            "</g>",
        ]
        width, height = self.layout.width + 2 * metrics.margin, max(self.y) + metrics.half + metrics.margin
        used = used_marks(self.marks.values())
        if with_legend and used:
            legend = legend_at(used, metrics.margin, height, max(width, 24 * metrics.font), metrics.font)
            body += legend.elements
            width, height = max(width, legend.right), legend.bottom
        return frame.around(body, width, height)

    def _bus(self, parent: int) -> int:
        """The height at which the branches of a parent part."""
        return self.y[parent] + self.metrics.level // 2

    def _stem(self, index: int) -> list[str]:
        """The short line down from a node that has square branches, or the roof of a folded one."""
        if self.items[index].kind == "folded":
            return [self._roof(index)]
        if self.items[index].kind != "phrase" or self.branches != "square":
            return []
        return [f'<path d="M{self.x[index]} {self.y[index] + self.metrics.half}V{self._bus(index)}"/>']

    def _roof(self, index: int) -> str:
        below, half = index + 1, self.metrics.half
        left = self.layout.left[below] + self.metrics.margin
        right, bottom = left + self.layout.size[below], self.y[below] - half
        return f'<path class="roof" d="M{self.x[index]} {self.y[index] + half}L{right} {bottom}H{left}z"/>'

    def _branch(self, index: int, *, marked: bool) -> list[str]:
        """The line to an item from the phrase above it, if it is of the wanted sort; the word below a tag needs none."""
        item = self.items[index]
        mark = self._mark(item)
        kind = mark.kind if mark else None
        if item.parent < 0 or self.items[item.parent].kind != "phrase" or marked != (kind is not None):
            return []
        identity = f' id="{self.prefix}e{item.number}"' if item.is_node else ""
        style = ""
        if kind:
            dash = f' stroke-dasharray="{kind.dash}"' if kind.dash else ""
            style = f' class="branch {kind.name}" stroke="{kind.colour}" stroke-width="{kind.stroke}"{dash}'
        return [f'<path{identity}{style} d="{self._path(index, item.parent)}"/>']

    def _path(self, index: int, parent: int) -> str:
        x, y, parent_x, half = self.x[index], self.y[index] - self.metrics.half, self.x[parent], self.metrics.half
        if self.branches == "slanted":
            bend = self.y[parent] + self.metrics.level - half
            return f"M{parent_x} {self.y[parent] + half}L{x} {bend}" + (f"V{y}" if y > bend else "")
        bus = self._bus(parent)
        if x == parent_x:
            return f"M{x} {bus}V{y}"
        corner = min(self.metrics.corner, abs(x - parent_x), y - bus)
        aside = corner if x > parent_x else -corner
        return f"M{parent_x} {bus}H{x - aside}q{aside} 0 {aside} {corner}V{y}"

    def _node(self, index: int) -> str:
        item, x, y = self.items[index], self.x[index], self.y[index]
        mark = self._mark(item)
        weight = ' fill-opacity=".75"' if item.kind == "tag" else ' font-weight="600"'
        head = f'<g id="{self.prefix}n{item.number}" class="node {item.kind}{" " + mark.names if mark else ""}"'
        head += f' data-span="{item.start} {item.end}">'
        label = f'<text x="{x}" y="{self._baseline(index)}"{weight}>{escape(self.texts[index])}'
        if mark is None:
            return f"{head}{label}</text></g>"
        half = self.layout.size[index] // 2
        outline = shapes(mark.marks, x, y, half, self.metrics.half)
        space = self.metrics.font // 3
        signs = "".join(
            f'<tspan class="{"pointer" if one.shape == "ring" else "sign"}" dx="{space}" fill="{one.colour}" fill-opacity="1"'
            f' font-weight="600">{one.symbol}</tspan>'
            for one in mark.marks
        )
        words = f"words {item.start + 1} to {item.end}" if item.end > item.start else "no words"
        return f"{head}<title>{escape(self.texts[index])}, {words}: {mark.names}</title>{outline}{label}{signs}</text></g>"

    def _word(self, index: int) -> str:
        item = self.items[index]
        trace = item.kind == "word" and self.items[item.parent].text == "-NONE-"
        style = ' class="trace" font-style="italic" fill-opacity=".75"' if trace else ""
        text, at = escape(self.texts[index]), f'x="{self.x[index]}" y="{self._baseline(index)}"'
        return f'<text id="{self.prefix}w{item.number}"{style} {at}>{text}</text>'

    def _baseline(self, index: int) -> int:
        return self.y[index] + round(0.35 * self.metrics.font)


def _shown(item: Item) -> str:
    text = clean(item.text, _LONGEST_TEXT)
    if not item.is_node:
        return text or '""'
    return text + "()" if item.kind == "empty" else text or "•"
