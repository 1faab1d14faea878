"""Trees drawn with lines in a terminal: top-down, or as an indented outline where that would be too wide.

The outline has one node per line; in a deep tree only the last few levels of indentation are drawn.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple

from treegauge.errors import check_name
from treegauge.tables import terminal_width
from treegauge.trees.drawing.layout import Item, Layout, has_crossings, item_text, lay_out, tree_items
from treegauge.trees.drawing.marks import NodeMark, isolate_direction, legend_text, node_marks, signs_behind, used_marks
from treegauge.trees.tree import Tree

_LEVELS = 30
_ROOM_FOR_TEXT = 30


def outline_lines(items: list[Item], texts: list[str], width: int | None, ascii_only: bool) -> list[str]:
    """The lines of the outline; one too deep for the width begins with the number of levels left out."""
    last = {item.parent: index for index, item in enumerate(items)}
    bar, branch, corner, beyond = ("|  ", "+- ", "`- ", "..") if ascii_only else ("│  ", "├─ ", "└─ ", "…")
    most = _LEVELS if width is None else max(2, min(_LEVELS, (width - _ROOM_FOR_TEXT) // 3))
    guides: list[str] = []
    lines: list[str] = []
    for index, item in enumerate(items):
        if not item.is_node and items[item.parent].kind in ("tag", "folded"):
            lines[-1] += " " + isolate_direction(texts[index])
            continue
        del guides[max(item.depth - 1, 0) :]
        hidden = max(item.depth - most, 0)
        count = f"{beyond}{hidden} " if hidden else ""
        own = "" if item.depth == 0 else corner if last[item.parent] == index else branch
        lines.append(count + "".join(guides[hidden:]) + own + isolate_direction(texts[index]))
        if item.depth:
            guides.append("   " if last[item.parent] == index else bar)
    return lines


_MOST_CELLS = 1_000_000


class LineCharacters(NamedTuple):
    """The characters that lines are made of; a corner is named by the sides it connects."""

    across: str
    down: str
    right_down: str
    left_down: str
    sides_down: str
    sides_up: str
    all_sides: str
    down_up_right: str
    down_up_left: str


_UNICODE = LineCharacters("─", "│", "┌", "┐", "┬", "┴", "┼", "├", "┤")
_ASCII = LineCharacters("-", "|", "+", "+", "+", "+", "+", "+", "+")


def draw_text(
    tree: Tree,
    marks: Mapping[int, str] | None = None,
    *,
    style: Literal["tree", "outline"] = "tree",
    width: int | None = 100,
    charset: Literal["unicode", "ascii"] = "unicode",
    direction: Literal["ltr", "rtl"] = "ltr",
    folded: Collection[int] = (),
    legend: bool = True,
) -> str:
    """The tree drawn with lines, words in one row at the bottom.

    A tree wider than ``width`` columns (``None``: no limit) is drawn as an outline, one node per line. ``marks`` has the names of
    marks (:data:`~treegauge.trees.drawing.MARKS`) by the number of the node in pre-order. ``folded`` nodes are drawn closed, with
    their words in one piece. ``direction="rtl"`` puts the first word on the right.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
    >>> print(draw_text(tree, {1: "matched"}))
           S
       ┌───┴───┐
     NP ✓     VP
     ┌─┴──┐    │
    DT   NN   VBD
    the  cat  sat
    <BLANKLINE>
    ✓ matched
    >>> print(draw_text(tree, style="outline"))
    S
    ├─ NP
    │  ├─ DT the
    │  └─ NN cat
    └─ VP
       └─ VBD sat
    """
    check_name("style", style, ("outline", "tree"))
    check_name("charset", charset, ("ascii", "unicode"))
    check_name("direction", direction, ("ltr", "rtl"))
    marked = node_marks(tree, marks)
    picture = _TextPicture(tree_items(tree, folded), marked, charset == "ascii")
    layout = picture.layout_within(width, direction == "rtl") if style == "tree" else None
    drawn = (
        picture.lines(layout) if layout else outline_lines(picture.items, picture.texts_with_places(), width, charset == "ascii")
    )
    if legend and marked:
        drawn += ["", legend_text((mark.name for mark in used_marks(marked.values())), charset=charset)]
    return "\n".join(drawn)


class _TextPicture:
    """The items of a drawing, as text of known width."""

    def __init__(self, items: list[Item], marks: Mapping[int, NodeMark], ascii_only: bool) -> None:
        self.items = items
        self.draw = _ASCII if ascii_only else _UNICODE
        point = "*" if ascii_only else "•"
        fold = {"folded": " ^" if ascii_only else " △"}
        self.texts = [
            item_text(item, point)
            + (fold.get(item.kind, "") + signs_behind(marks.get(item.number), ascii_only=ascii_only) if item.is_node else "")
            for item in items
        ]
        self.sizes = [terminal_width(text) for text in self.texts]

    def texts_with_places(self) -> list[str]:
        """The texts; where branches cross, each word after its place in the sentence."""
        if not has_crossings(self.items):
            return self.texts
        return [text if item.is_node else f"{item.start}={text}" for item, text in zip(self.items, self.texts, strict=True)]

    def layout_within(self, width: int | None, mirrored: bool) -> Layout | None:
        """A layout that fits into the width, loose or tight; None if there is none."""
        for gap in (2, 1):
            layout = lay_out(self.items, self.sizes, gap, snap=1, mirrored=mirrored)
            if (width is None or layout.width <= width) and layout.width * (2 * layout.levels + 2) <= _MOST_CELLS:
                return layout
        return None

    def lines(self, layout: Layout) -> list[str]:
        """The rows of the drawing: a row of labels and a row of branches for each level, then tags, then words."""
        rows: list[list[tuple[int, str, int]]] = [[] for _ in range(2 * layout.levels + 2)]
        children: dict[int, list[int]] = {}
        for index, item in enumerate(self.items):
            children.setdefault(item.parent, []).append(layout.centre[index])
            row = self._row(layout, index)
            rows[row].append((layout.left[index], isolate_direction(self.texts[index]), layout.size[index]))
            if item.parent >= 0 and self.items[item.parent].kind in ("phrase", "folded"):
                for between in range(2 * layout.row(item.parent) + 2, row):
                    rows[between].append((layout.centre[index], self.draw.down, 1))
        for index, below in children.items():
            if index >= 0 and self.items[index].kind in ("phrase", "folded"):
                branches = self._branches(layout.centre[index], below)
                rows[2 * layout.row(index) + 1].append((min(below), branches, len(branches)))
        drawn = list(map(self._paint, rows))
        return drawn if drawn[-1] else [line for line in drawn if line]

    def _paint(self, pieces: list[tuple[int, str, int]]) -> str:
        """One line of pieces that may overlap: labels cover lines down, and these cover lines across."""
        cells: list[str] = [" "] * max((left + size for left, _, size in pieces), default=0)
        for left, text, size in sorted(pieces, key=self._height):
            if len(text) == size:
                cells[left : left + size] = text
            else:  # characters that take two columns, or none
                cells[left : left + size] = [text, *[""] * (size - 1)]
        return "".join(cells).rstrip()

    def _height(self, piece: tuple[int, str, int]) -> int:
        """The rank of a piece in the order of painting: lines across, lines down, texts."""
        text = piece[1]
        return 1 if text == self.draw.down else 0 if all(letter in self.draw for letter in text) else 2

    def _row(self, layout: Layout, index: int) -> int:
        row = layout.row(index)
        return 2 * row if row <= layout.levels else 2 * layout.levels + 1

    def _branches(self, parent: int, children: list[int]) -> str:
        """The line from a parent's column to the columns of its children."""
        draw = self.draw
        low, high = min(children), max(children)
        if low == high:
            return draw.down
        line = [draw.across] * (high - low + 1)
        for child in children:
            line[child - low] = draw.sides_down
        line[0], line[-1] = draw.right_down, draw.left_down
        at = parent - low
        if parent in children:
            line[at] = draw.down_up_right if parent == low else draw.down_up_left if parent == high else draw.all_sides
        else:
            line[at] = draw.sides_up
        return "".join(line)
