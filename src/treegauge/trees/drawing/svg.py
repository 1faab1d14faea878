"""Trees as SVG: the same bytes for the same tree, without external resources, in the colours of the page.

Text and lines have the page's own colour (``currentColor``). The picture needs no style sheet, so a page whose policy forbids
inline styles can leave it out; with it, custom properties such as ``--tree-crossing`` change the colours. Every picture has a title
and, for screen readers, a description: the tree as bracketed text with the names of the marks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape as escape_xml  # characters that XML cannot hold must have been replaced before, by clean()
from typing import Literal, NamedTuple

from treegauge.errors import UsageError, check_name
from treegauge.trees.discontinuous import blocks_of
from treegauge.trees.drawing.layout import Item, has_crossings, item_text, lay_out, tree_items
from treegauge.trees.drawing.marks import MARKS, Mark, NodeMark, clean, ems, marks_named, node_marks, signs_behind, used_marks
from treegauge.trees.tree import Tree

Theme = Literal["inherit", "light", "dark", "auto"]
_FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
_INK_AND_PAPER = {"light": ("#1b1b1b", "#ffffff"), "dark": ("#e8e8e8", "#1b1b1b"), "auto": ("#1b1b1b", "#ffffff")}

# The colours of marks are attributes, too; this sheet only lets a page change them.
STYLESHEET = "".join(
    [
        ".treegauge .edges{stroke:var(--tree-line,currentColor)}",
        ".treegauge .words{fill:var(--tree-word,currentColor)}",
        *(
            f".treegauge .{mark.name}{{--mark:var(--tree-{mark.name},{mark.colour})}}"
            for mark in MARKS.values()
            if mark.name != "focus"
        ),
        ".treegauge .shape{stroke:var(--mark);fill:var(--mark)}",
        ".treegauge .sign{fill:var(--mark)}",
        ".treegauge .branch{stroke:var(--mark)}",
        ".treegauge .ring{stroke:var(--tree-focus,currentColor)}",
    ]
)
_AUTO = (
    ".treegauge.auto{color:#1b1b1b}"
    "@media (prefers-color-scheme:dark){.treegauge.auto{color:#e8e8e8}.treegauge.auto .paper{fill:#1b1b1b}}"
)


class PictureFrame(NamedTuple):
    """The parts of a picture around the drawing: title, description, style sheet and background."""

    title: str
    description: str = ""
    id_prefix: str = ""
    theme: Theme = "inherit"
    stylesheet: bool = True
    font: int = 14

    def around(self, body: Iterable[str], width: int, height: int) -> str:
        """The whole picture around the elements of a drawing; these are moved by half a pixel, which makes lines sharp."""
        ink, paper = _INK_AND_PAPER.get(self.theme, ("", ""))
        style = (STYLESHEET if self.stylesheet else "") + (_AUTO if self.theme == "auto" else "")
        svg_description = f' aria-describedby="{self.id_prefix}desc"' if self.description else ""
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="treegauge{" auto" if self.theme == "auto" else ""}" role="img"'
            f' aria-label="{escape_xml(self.title)}"{svg_description}'
            f' width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
            f' font-family="{_FONTS}" font-size="{self.font}" text-anchor="middle" fill="currentColor"'
            + (f' color="{ink}">' if ink else ">"),
            f"<title>{escape_xml(self.title)}</title>",
            f'<desc id="{self.id_prefix}desc">{escape_xml(self.description)}</desc>' if self.description else "",
            f"<style>{style}</style>" if style else "",
            f'<rect class="paper" width="{width}" height="{height}" fill="{paper}"/>' if paper else "",
            '<g transform="translate(.5 .5)">',
            *body,
            "</g>",
            "</svg>",
        ]
        return "\n".join(part for part in parts if part) + "\n"


def shapes(marks: Sequence[Mark], x: int, y: int, half_width: int, half_height: int) -> str:
    """The outlines of a node's marks around the label whose middle is ``x, y``; a ring goes around any other shape."""
    apart = 4 if len(marks) > 1 else 0
    return "".join(
        _shape(mark, x, y, half_width + apart, half_height + apart)
        if mark.shape == "ring"
        else _shape(mark, x, y, half_width, half_height)
        for mark in marks
    )


def _shape(mark: Mark, x: int, y: int, half_width: int, half_height: int) -> str:
    w, h, corner = half_width, half_height, half_height // 2
    left, right, top, bottom = x - w, x + w, y - h, y + h
    outline = {
        "pill": f"M{left + h} {top}H{right - h}a{h} {h} 0 0 1 0 {2 * h}H{left + h}a{h} {h} 0 0 1 0 {-2 * h}z",
        "rectangle": f"M{left} {top}H{right}V{bottom}H{left}z",
        "hexagon": f"M{left + corner} {top}H{right - corner}L{right} {y}L{right - corner} {bottom}H{left + corner}L{left} {y}z",
        "octagon": f"M{left + corner} {top}h{2 * (w - corner)}l{corner} {corner}v{2 * (h - corner)}l{-corner} {corner}"
        f"h{-2 * (w - corner)}l{-corner} {-corner}v{-2 * (h - corner)}z",
        "slanted": f"M{left + corner} {top}H{right}L{right - corner} {bottom}H{left}z",
        "ring": f"M{left} {top}H{right}V{bottom}H{left}z",
    }[mark.shape]
    paint = 'class="ring" fill="none"' if mark.shape == "ring" else f'class="shape" fill="{mark.colour}" fill-opacity=".12"'
    dash = f' stroke-dasharray="{mark.dash}"' if mark.dash else ""
    return f'<path {paint} stroke="{mark.colour}" stroke-width="{mark.stroke}"{dash} d="{outline}"/>'


def legend_svg(marks: Iterable[str] = tuple(MARKS), *, width: int = 10_000, stylesheet: bool = True) -> str:
    """A legend of the marks as a picture of its own, in lines of at most ``width`` pixels."""
    used = marks_named(marks)
    frame = PictureFrame("Legend: " + ", ".join(f"{mark.symbol} {mark.name}" for mark in used), stylesheet=stylesheet)
    return frame.around(*legend_at(used, frame.font // 2, frame.font // 2, width, frame.font))


def legend_at(marks: Sequence[Mark], left: int, top: int, width: int, font: int) -> tuple[list[str], int, int]:
    """A legend in columns of equal width that begins at ``left, top`` and, if it can, ends before ``width``.

    Returns its elements, and its right and bottom edges.
    """
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
    return elements, left + across * column, top + lines * 2 * font + font // 2


_LONGEST_TITLE = 200
_LONGEST_DESCRIPTION = 1000


def svg_title(tree: Tree, title: str, marks: Mapping[int, NodeMark]) -> str:
    """The title of a picture: its name, the sentence, and the number of nodes with each mark.

    >>> svg_title(Tree.parse("(S (V go))"), "Gold", {})
    'Gold: go'
    """
    sentence = clean(" ".join(tree.words), _LONGEST_TITLE) or "no words"
    counts = Counter(one.name for mark in marks.values() for one in mark.marks)
    found = ", ".join(f"{counts[name]} {name}" for name in MARKS if counts[name])
    return f"{clean(title, _LONGEST_TITLE) or 'Tree'}: {sentence}" + (f" ({found})" if found else "")


def svg_description(items: list[Item], marks: Mapping[int, NodeMark]) -> str:
    """The tree as bracketed text with the names of marks, cut if it is long."""
    parts: list[str] = []
    length = open_brackets = 0
    crosses = has_crossings(items)
    for item in items:
        if length > _LONGEST_DESCRIPTION:
            return "".join(parts) + " …"
        closing = ")" * (open_brackets - item.depth)
        open_brackets -= len(closing)
        text = clean(item.text, _LONGEST_TITLE)
        if crosses and not item.is_node:
            text = f"{item.start}={text}"
        if item.is_node:
            mark = marks.get(item.number)
            text = "(" + text + (f" [{mark.names}]" if mark else "")
            open_brackets += 1
        parts.append(closing + (" " if parts else "") + text)
        length += len(parts[-1])
    return "".join(parts) + ")" * open_brackets


_PREFIX = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_.-]*)?")


def draw_svg(
    tree: Tree,
    marks: Mapping[int, str] | None = None,
    *,
    id_prefix: str = "",
    title: str = "",
    direction: Literal["ltr", "rtl"] = "ltr",
    folded: Collection[int] = (),
    hidden: Collection[int] = (),
    legend: bool = True,
    theme: Theme = "inherit",
    stylesheet: bool = True,
    font_size: int = 14,
) -> str:
    """The tree as an SVG picture, words in one row at the bottom.

    Node ``i`` in pre-order is the group ``n{i}``, with its mark among its classes and the words it covers in ``data-span``; the
    branch that leads to it is ``e{i}``; word ``j`` is ``w{j}``. Where branches cross, ``data-span`` reaches from the first word to
    the last, and ``data-above`` is the number of the node above. ``id_prefix`` comes before every id, so that one page can hold
    many trees. ``marks`` and ``folded`` are as in :func:`~treegauge.trees.drawing.draw_text`; neighbours that are ``hidden`` are
    drawn as dots with the number of their words, the group ``d{i}`` of the first of them. ``theme`` is ``inherit`` for a
    picture inside a page; for one on its own it is ``light``, ``dark`` or ``auto``, which follows the reader's system.

    >>> picture = draw_svg(Tree.parse("(S (V go))"), {0: "matched"})
    >>> 'id="n0" class="node phrase matched"' in picture, 'id="w0"' in picture
    (True, True)
    """
    check_name("direction", direction, ("ltr", "rtl"))
    check_name("theme", theme, ("auto", "dark", "inherit", "light"))
    if not _PREFIX.fullmatch(id_prefix):
        raise UsageError(f"the id prefix {id_prefix!r} is not valid: letters, digits, '_', '.' and '-', beginning with a letter")
    if not 4 <= font_size <= 200:
        raise UsageError(f"the font size must be between 4 and 200 pixels, not {font_size}")
    marked = {number: mark for number, mark in node_marks(tree, marks).items() if number not in hidden}
    items = tree_items(tree, folded, hidden)
    frame = PictureFrame(svg_title(tree, title, marked), svg_description(items, marked), id_prefix, theme, stylesheet, font_size)
    drawing = _TreeDrawing(items, marked, Metrics.of(font_size), id_prefix, direction == "rtl")
    return drawing.inside(frame, legend)


class Metrics(NamedTuple):
    """The distances in a picture, in pixels, all derived from the font size.

    ``half`` is half the height of a line of text, ``level`` the distance between two levels, ``word`` that between tags and words.
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
    def of(cls, font: int) -> Metrics:
        parts = (0.9, 0.9, 2.9, 0.8, 1.5, 0.5, 0.45)
        return cls(font, *(round(part * font) for part in parts))


class _TreeDrawing:
    """A tree with its layout, drawn element by element."""

    def __init__(self, items: list[Item], marks: Mapping[int, NodeMark], metrics: Metrics, prefix: str, mirrored: bool) -> None:
        self.items, self.marks, self.metrics = items, marks, metrics
        self.prefix, self.mirrored = prefix, mirrored
        self.crosses = has_crossings(items)
        self.texts = [item_text(item) for item in items]
        sizes = [self._size(item, text) for item, text in zip(items, self.texts, strict=True)]
        self.layout = lay_out(items, sizes, metrics.gap, snap=metrics.snap, mirrored=mirrored)
        self.x = [centre + metrics.margin for centre in self.layout.centre]
        self.y = [self._height_of(self.layout.row(index)) for index in range(len(items))]

    def _mark(self, item: Item) -> NodeMark | None:
        return self.marks.get(item.number) if item.is_node else None

    def _size(self, item: Item, text: str) -> int:
        font, mark = self.metrics.font, self._mark(item)
        bold = 108 if item.kind in ("phrase", "folded", "empty") else 100
        width = ems(text + signs_behind(mark)) * font * bold // 10_000
        return width if mark is None else width + 2 * font

    def _height_of(self, row: int) -> int:
        """The height of the middle of a row of text."""
        metrics, tags = self.metrics, self.layout.levels
        return metrics.margin + metrics.half + min(row, tags) * metrics.level + (metrics.word if row > tags else 0)

    def inside(self, frame: PictureFrame, with_legend: bool) -> str:
        """The picture in its frame, with a legend of the marks that occur if one is wanted."""
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
            elements, right, height = legend_at(used, metrics.margin, height, max(width, 24 * metrics.font), metrics.font)
            body += elements
            width = max(width, right)
        return frame.around(body, width, height)

    def _bus(self, parent: int) -> int:
        """The height at which the branches of a parent diverge."""
        return self.y[parent] + self.metrics.level // 2

    def _stem(self, index: int) -> list[str]:
        """The short line down from a node, or the roof of a folded node."""
        if self.items[index].kind == "folded":
            return [self._roof(index)]
        if self.items[index].kind != "phrase":
            return []
        return [f'<path d="M{self.x[index]} {self.y[index] + self.metrics.half}V{self._bus(index)}"/>']

    def _roof(self, index: int) -> str:
        below, half = index + 1, self.metrics.half
        left = self.layout.left[below] + self.metrics.margin
        right, bottom = left + self.layout.size[below], self.y[below] - half
        return f'<path class="roof" d="M{self.x[index]} {self.y[index] + half}L{right} {bottom}H{left}z"/>'

    def _branch(self, index: int, *, marked: bool) -> list[str]:
        """The line from a phrase to an item below it, if ``marked`` is as wanted; the word below a tag needs no line."""
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
        x, y, parent_x = self.x[index], self.y[index] - self.metrics.half, self.x[parent]
        bus = self._bus(parent)
        if x == parent_x:
            return f"M{x} {bus}V{y}"
        corner = min(self.metrics.corner, abs(x - parent_x), y - bus)
        aside = corner if x > parent_x else -corner
        return f"M{parent_x} {bus}H{x - aside}q{aside} 0 {aside} {corner}V{y}"

    def _node(self, index: int) -> str:
        item, x, y = self.items[index], self.x[index], self.y[index]
        mark = self._mark(item)
        weight = ' fill-opacity=".75"' if item.kind in ("tag", "dots") else ' font-weight="600"'
        letter = "d" if item.kind == "dots" else "n"
        head = f'<g id="{self.prefix}{letter}{item.number}" class="node {item.kind}{" " + mark.names if mark else ""}"'
        head += f' data-span="{item.start} {item.end}"'
        head += f' data-above="{self.items[item.parent].number}">' if self.crosses and item.parent >= 0 else ">"
        label = f'<text x="{x}" y="{self._baseline(index)}"{weight}>{escape_xml(self.texts[index])}'
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
        words = self._covered_words(index)
        return f"{head}<title>{escape_xml(self.texts[index])}, {words}: {mark.names}</title>{outline}{label}{signs}</text></g>"

    def _covered_words(self, index: int) -> str:
        """A phrase that names the words a node covers; where branches cross there may be gaps between them."""
        item = self.items[index]
        if item.end == item.start:
            return "no words"
        if not self.crosses:
            return f"words {item.start + 1} to {item.end}"
        last = next((at for at in range(index + 1, len(self.items)) if self.items[at].depth <= item.depth), len(self.items))
        below = (one for one in self.items[index + 1 : last] if not one.is_node)
        blocks = blocks_of(sorted(at for one in below for at in range(one.start, one.end)))
        named = (f"{start + 1} to {end}" if end > start + 1 else f"{end}" for start, end in blocks)
        return ("words " if item.end > item.start + 1 else "word ") + " and ".join(named)

    def _word(self, index: int) -> str:
        item = self.items[index]
        trace = item.kind == "word" and self.items[item.parent].text == "-NONE-"
        style = ' class="trace" font-style="italic" fill-opacity=".75"' if trace else ""
        text, at = escape_xml(self.texts[index]), f'x="{self.x[index]}" y="{self._baseline(index)}"'
        return f'<text id="{self.prefix}w{item.number}"{style} {at}>{text}</text>'

    def _baseline(self, index: int) -> int:
        return self.y[index] + round(0.35 * self.metrics.font)
