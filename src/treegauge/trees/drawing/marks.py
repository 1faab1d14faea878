"""Marks: what a comparison found about a node, and how that is shown.

No mark relies on colour alone: each has a symbol after the label and, in pictures, a shape and a line of its own. The colours have
a contrast of at least 3.7 to 1 on white and on black backgrounds.

The module also prepares text for drawings: it makes any text safe to draw and estimates its width in a picture.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from treegauge.errors import UsageError, check_name
from treegauge.tables import character_width, terminal_width
from treegauge.trees.tree import Tree


class Mark(NamedTuple):
    """A mark's name, its symbol (in Unicode and in ASCII), and its colour, shape and line in a picture."""

    name: str
    symbol: str
    ascii_symbol: str
    colour: str
    shape: str
    dash: str
    stroke: str

    def sign(self, *, ascii_only: bool = False) -> str:
        return self.ascii_symbol if ascii_only else self.symbol


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
    """The marks of one node: the finding about it, if any, and whether it is the one to look at."""

    kind: Mark | None
    focus: bool

    @property
    def marks(self) -> tuple[Mark, ...]:
        return (*((self.kind,) if self.kind else ()), *((_FOCUS,) if self.focus else ()))

    @property
    def names(self) -> str:
        return " ".join(mark.name for mark in self.marks)


def signs_behind(mark: NodeMark | None, *, ascii_only: bool = False) -> str:
    """The symbols of a node's marks after its label, each after a blank."""
    return "".join(" " + one.sign(ascii_only=ascii_only) for one in mark.marks) if mark else ""


def node_marks(tree: Tree, marks: Mapping[int, str] | None) -> dict[int, NodeMark]:
    """The marks by node, checked: known names, nodes of this tree, at most one finding beside ``focus`` on a node.

    >>> node_marks(Tree.parse("(S (V go))"), {0: "matched focus"})[0].names
    'matched focus'
    """
    if marks is not None and not hasattr(marks, "items"):
        how = "Path('tree.svg').write_text(tree.svg(), 'utf-8'), and write_bytes(treegauge.reports.draw_svg_as(tree.svg(), 'png'))"
        raise UsageError(f"marks cannot be {marks!r}: draw() returns text, and svg() a picture as text, for you to write: {how}")
    checked: dict[int, NodeMark] = {}
    for node, text in (marks or {}).items():
        if not 0 <= node < tree.size:
            raise UsageError(f"the tree has no node {node} to mark: its nodes are numbered from 0 to {tree.size - 1}, in pre-order")
        names = text.split()
        for name in names:
            check_name("mark", name, MARKS)
        kinds = [MARKS[name] for name in names if name != "focus"]
        if len(kinds) > 1:
            raise UsageError(f"node {node} is marked {text!r}: a node has at most one mark besides 'focus'")
        checked[node] = NodeMark(kinds[0] if kinds else None, "focus" in names)
    return checked


def used_marks(marks: Iterable[NodeMark]) -> list[Mark]:
    """The marks that occur, in the order of :data:`MARKS`."""
    return marks_named(mark.name for one in marks for mark in one.marks)


def marks_named(names: Iterable[str]) -> list[Mark]:
    """The marks with these names, which must be known, in the order of :data:`MARKS`."""
    wanted = set(names)
    for name in wanted:
        check_name("mark", name, MARKS)
    return [mark for name, mark in MARKS.items() if name in wanted]


def legend_text(marks: Iterable[str] = tuple(MARKS), *, charset: str = "unicode") -> str:
    """The meaning of the symbols, in one line.

    >>> print(legend_text(["matched", "crossing"]))
    ✓ matched   × crossing
    """
    return "   ".join(f"{mark.sign(ascii_only=charset == 'ascii')} {mark.name}" for mark in marks_named(marks))


# Control characters, unpaired surrogates and non-characters, which XML cannot hold and which act on terminals; and the characters
# that change the direction of all text after them.
_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_LEFT_TO_RIGHT_MARK = "\u200e"


def clean(text: str, longest: int) -> str:
    r"""Text that can be drawn: characters that cannot are replaced, and text beyond ``longest`` columns is cut.

    >>> clean("a\x1b[31mb", 40), clean("a" * 50, 10)
    ('a�[31mb', 'aaaaaaaaa…')
    """
    if text.isascii() and text.isprintable() and len(text) <= longest:
        return text
    text = _UNDRAWABLE.sub("\ufffd", text[: 4 * longest])
    if terminal_width(text) <= longest:
        return text
    count = sum(width < longest for width in accumulate(map(terminal_width, text)))
    return text[:count] + "…"


def isolate_direction(text: str) -> str:
    """Text that keeps its place in a row of columns: one written from right to left gets direction marks around it.

    Otherwise a terminal that supports such text would reverse the whole row of words, away from the lines above them.
    """
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return _LEFT_TO_RIGHT_MARK + text + _LEFT_TO_RIGHT_MARK


# Hundredths of the font size, in the widest of the common sans-serif typefaces (DejaVu Sans, Arial), so that texts never collide.
_WIDTHS = {
    29: "'ijlI",
    34: ' !,.:;|/\\f()[]`"',
    41: "-tr{}",
    50: "*_J^",
    56: "cskvxyz?",
    64: "abdeghnopqu0123456789$FLTS",
    70: "ABEKPRVXYZ",
    79: "CDGHNOQU&wM#",
    86: "+<=>~",
    100: "mW%@",
}
_ASCII_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}


def ems(text: str) -> int:
    """The estimated width of text, in hundredths of the font size."""
    return sum(map(_width_of, text))


@lru_cache(maxsize=4096)
def _width_of(character: str) -> int:
    if character in _ASCII_WIDTH:
        return _ASCII_WIDTH[character]
    columns_wide = character_width(character)
    if columns_wide != 1:
        return 50 * columns_wide + (25 if unicodedata.category(character) == "So" else 0)
    decomposed = unicodedata.normalize("NFD", character)[0]
    if decomposed in _ASCII_WIDTH:
        return _ASCII_WIDTH[decomposed]
    return {"Ll": 64, "Lu": 78, "Lt": 100, "Nd": 64, "Lo": 72, "Po": 50, "Mc": 40}.get(unicodedata.category(character), 90)
