"""The layout of a tree with crossing branches: words in their order, phrases in rows above them.

A phrase stands over the middle of its children, in the lowest row where neither its label nor the line to its children runs into
those of another phrase; so lines cross at right angles only, and never behind a label if that can be avoided.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from treegauge.tables import terminal_width
from treegauge.trees.discontinuous import walk
from treegauge.trees.tree import Tree

__all__ = ["Item", "Placement", "crossing_items", "has_crossings", "kind_of", "place_crossing", "roof_text"]

_LONGEST_ROOF = 30
_WORDS_OF_LONG_ROOF = 3

ItemKind = Literal["phrase", "tag", "word", "empty", "folded", "roof"]


class Item(NamedTuple):
    """A node, a word or a roof to be drawn; items are in pre-order.

    ``number`` is the node's id in pre-order, or the position of a (first) word; ``parent`` is an index into the items, -1 at the
    root; ``start`` and ``end`` are the words it covers. A ``folded`` node is drawn with all its words in one ``roof`` below it;
    an ``empty`` node has no children.
    """

    kind: ItemKind
    number: int
    text: str
    parent: int
    depth: int
    start: int
    end: int

    @property
    def is_node(self) -> bool:
        return self.kind not in ("word", "roof")


def kind_of(node: Tree, is_folded: bool) -> ItemKind:
    """The way in which a node is drawn."""
    if not node.children:
        return "empty"
    if node.is_preterminal:
        return "tag"
    return "folded" if is_folded and node.width else "phrase"


def roof_text(words: Sequence[str]) -> str:
    """The text under a roof: all words if they are few, else the first ones and the last.

    >>> roof_text("the withdrawal of the company 's poison pill rights plan".split())
    'the withdrawal of … plan'
    """
    room = _LONGEST_ROOF
    for count, word in enumerate(words):
        room -= terminal_width(word) + 1
        if room < 0:
            return " ".join([*words[: max(min(count - 1, _WORDS_OF_LONG_ROOF), 1)], "…", *words[-1:]])
    return " ".join(words)


_PATIENCE = 4
"""The most rows that a phrase moves up to find room for its label."""


def crossing_items(tree: Tree, folded: Collection[int]) -> list[Item]:
    """The nodes and words of a tree in pre-order; a node with a gap is drawn open, as one roof cannot be over it."""
    items: list[Item] = []
    index_of: list[int] = []  # the item of each node; -1 below a roof
    for node, places, parent in walk(tree):
        above = index_of[parent] if parent >= 0 else -1
        hidden = parent >= 0 and (above < 0 or items[above].kind == "folded")
        start, end = (places[0], places[-1] + 1) if places else (_begin(places), _begin(places))
        depth = 0 if parent < 0 or hidden else items[above].depth + 1
        if isinstance(node, str):
            if not hidden:
                items.append(Item("word", start, node, above, depth, start, end))
            continue
        number = len(index_of)
        index_of.append(-1 if hidden else len(items))
        if hidden:
            continue
        kind = kind_of(node, number in folded and end - start == node.width and node.is_continuous)
        items.append(Item(kind, number, node.label, above, depth, start, end))
        if kind == "folded":
            items.append(Item("roof", start, roof_text(node.words), len(items) - 1, depth + 1, start, end))
    return items


def _begin(places: Sequence[int]) -> int:
    return places.start if isinstance(places, range) else 0


def has_crossings(items: Sequence[Item]) -> bool:
    """Whether words do not come in their order."""
    last = -1
    for item in items:
        if not item.is_node:
            if item.start < last:
                return True
            last = item.start
    return False


class Placement(NamedTuple):
    """The middle of each item, the row it stands in, how wide the whole is, and in how many rows phrases stand."""

    centre: list[int]
    row: list[int]
    width: int
    levels: int


def place_crossing(items: Sequence[Item], size: Sequence[int], gap: int) -> Placement:
    """Places for items whose texts are as wide as ``size`` says, with at least ``gap`` between neighbours."""
    children: list[list[int]] = [[] for _ in items]
    for index, item in enumerate(items):
        if item.parent >= 0:
            children[item.parent].append(index)
    centre = _columns(items, size, gap, children)
    level = [0] * len(items)
    todo = [index for index, item in enumerate(items) if item.kind in ("phrase", "folded") and children[index]]
    _Rows(items, size, gap, children, centre, level).fill(todo)
    # A label may stick out on the left.
    left = min(at - own // 2 for at, own in zip(centre, size, strict=True))
    centre = [at - left for at in centre]
    width = max(at - own // 2 + own for at, own in zip(centre, size, strict=True))
    levels = max(level)
    row = [levels - own if item.is_node else levels + 1 for item, own in zip(items, level, strict=True)]
    return Placement(centre, row, width, levels)


def _columns(items: Sequence[Item], size: Sequence[int], gap: int, children: Sequence[Sequence[int]]) -> list[int]:
    """The middles of words, of the tags above them, and of what has no words, from left to right."""
    centre = [0] * len(items)
    columns = [index for index, below in enumerate(children) if not below]
    columns.sort(key=lambda index: (items[index].start, items[index].end))
    left = 0
    for index in columns:
        tag = items[index].parent if items[index].parent >= 0 and items[items[index].parent].kind == "tag" else index
        width = max(size[index], size[tag])
        centre[index] = centre[tag] = left + width // 2
        left += width + gap
    return centre


class _Rows:
    """Rows of phrases under construction, from the bottom."""

    def __init__(
        self,
        items: Sequence[Item],
        size: Sequence[int],
        gap: int,
        children: Sequence[Sequence[int]],
        centre: list[int],
        level: list[int],
    ) -> None:
        self.items, self.size, self.gap, self.children, self.centre, self.level = items, size, gap, children, centre, level
        self.waiting = {index for index, item in enumerate(items) if item.kind in ("phrase", "folded") and children[index]}
        self.tried = [0] * len(items)

    def fill(self, todo: Sequence[int]) -> None:
        row = 0
        while self.waiting:
            row += 1
            taken: list[tuple[int, int]] = []
            ready = [index for index in todo if index in self.waiting and not any(c in self.waiting for c in self.children[index])]
            ready.sort(key=lambda index: (self.items[index].end - self.items[index].start, self.items[index].start))
            done = [index for index in ready if self._put(index, row, taken)]
            self.waiting.difference_update(done)

    def _put(self, index: int, row: int, taken: list[tuple[int, int]]) -> bool:
        """Whether there is room for a phrase in this row, which it then has."""
        below = [self.centre[child] for child in self.children[index]]
        lines = self._lines_past(index)
        middle = (min(below) + max(below)) // 2
        options = sorted({middle, *below}, key=lambda at: (abs(at - middle), at))
        half = self.size[index] // 2
        free = [
            at
            for at in options
            if _is_free(min(*below, at - half) - self.gap, max(*below, at - half + self.size[index]) + self.gap, taken)
        ]
        near = half + self.gap // 2
        clear = [at for at in free if not any(at - near <= line <= at + near + self.size[index] % 2 for line in lines)]
        self.tried[index] += 1
        if not clear and (not free or self.tried[index] <= _PATIENCE):
            return False
        at = (clear or free)[0]
        self.centre[index], self.level[index] = at, row
        taken.append((min(*below, at - half), max(*below, at - half + self.size[index])))
        return True

    def _lines_past(self, index: int) -> list[int]:
        """The columns of lines up to phrases that have no place yet, other than this one."""
        return [
            self.centre[child]
            for other in self.waiting
            if other != index
            for child in self.children[other]
            if child not in self.waiting
        ]


def _is_free(left: int, right: int, taken: Sequence[tuple[int, int]]) -> bool:
    return all(right <= first or last <= left for first, last in taken)
