"""Marks: what a comparison found out about a node, and the signs that show it.

No sign rests on colour alone: each mark has a symbol behind the label and, in pictures, a shape and a line of its own.
The colours keep a contrast of at least 3.7 to 1 on white and on black paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from treegauge.errors import UnknownName, UsageError
from treegauge.trees.tree import Tree

__all__ = ["MARKS", "Mark", "NodeMark", "Symbols", "legend_text", "node_marks", "used_marks"]


class Mark(NamedTuple):
    """A mark's name, its symbol (also in ASCII), and how it is drawn in a picture."""

    name: str
    symbol: str
    ascii_symbol: str
    colour: str
    shape: str
    dash: str
    stroke: str


MARKS: Mapping[str, Mark] = {
    mark.name: mark
    for mark in (
        Mark("matched", "✓", "=", "#1f8a5b", "pill", "", "1.2"),
        Mark("missed", "∅", "-", "#b26a00", "rectangle", "4 3", "1.5"),
        Mark("spurious", "+", "+", "#2f7bd6", "hexagon", "", "1.5"),
        Mark("crossing", "×", "x", "#d6453d", "octagon", "", "2.4"),
        Mark("wrong-label", "≠", "~", "#9a5fd0", "slanted", "1.5 2.5", "1.8"),
        Mark("focus", "◄", "<", "currentColor", "ring", "", "2"),
    )
}
_FOCUS = MARKS["focus"]


class NodeMark(NamedTuple):
    """The marks of one node: what it is, if anything, and whether it is the one to look at."""

    kind: Mark | None
    focus: bool

    @property
    def marks(self) -> tuple[Mark, ...]:
        return (*((self.kind,) if self.kind else ()), *((_FOCUS,) if self.focus else ()))

    @property
    def names(self) -> str:
        return " ".join(mark.name for mark in self.marks)


class Symbols(NamedTuple):
    """Marks as text behind a label, in Unicode or ASCII."""

    ascii_only: bool = False

    def of(self, mark: Mark) -> str:
        return mark.ascii_symbol if self.ascii_only else mark.symbol

    def behind(self, mark: NodeMark | None) -> str:
        return "".join(" " + self.of(one) for one in mark.marks) if mark else ""


def node_marks(tree: Tree, marks: Mapping[int, str] | None) -> dict[int, NodeMark]:
    """The marks by node, checked: known names, nodes of this tree, at most one finding beside ``focus`` on a node.

    >>> node_marks(Tree.parse("(S (V go))"), {0: "matched focus"})[0].names
    'matched focus'
    """
    checked: dict[int, NodeMark] = {}
    for node, text in (marks or {}).items():
        if not 0 <= node < tree.size:
            raise UsageError(f"a mark for node {node}: this tree's nodes are numbered from 0 to {tree.size - 1}, in pre-order")
        names = text.split()
        for name in names:
            if name not in MARKS:
                raise UnknownName("mark", name, MARKS)
        kinds = [MARKS[name] for name in names if name != "focus"]
        if len(kinds) > 1:
            raise UsageError(f"node {node} is marked {text!r}: one mark a node, and 'focus' beside it")
        checked[node] = NodeMark(kinds[0] if kinds else None, "focus" in names)
    return checked


def used_marks(marks: Iterable[NodeMark]) -> list[Mark]:
    """The marks that occur, in the order of :data:`MARKS`."""
    used = {mark.name for one in marks for mark in one.marks}
    return [mark for name, mark in MARKS.items() if name in used]


def legend_text(marks: Iterable[str] = tuple(MARKS), *, charset: str = "unicode") -> str:
    """One line that says what the symbols mean.

    >>> print(legend_text(["matched", "crossing"]))
    ✓ matched   × crossing
    """
    symbols = Symbols(charset == "ascii")
    wanted = set(marks)
    for name in wanted:
        if name not in MARKS:
            raise UnknownName("mark", name, MARKS)
    return "   ".join(f"{symbols.of(mark)} {mark.name}" for mark in MARKS.values() if mark.name in wanted)
