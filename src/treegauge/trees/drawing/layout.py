"""The layout of trees: the place of each label and word, for a picture or a terminal.

Without crossing branches each node stands above the middle of its children, each subtree in a strip of its own, words in one row.
A strip is as wide as its words or its labels need, whichever is wider, so nothing can overlap, and the work is linear in the
number of nodes. Numbers are integers: columns for a terminal, pixels for a picture.

With crossing branches the words keep their order, and each phrase stands over the middle of its children, in the lowest row where
neither its label nor the line to its children runs into those of another phrase: lines cross at right angles only, and run behind
a label only where that cannot be avoided.

A large tree stays readable if some nodes are folded, drawn closed as a roof over their words, or hidden, drawn as dots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, NamedTuple

from treegauge.errors import UsageError
from treegauge.tables import terminal_width
from treegauge.trees.discontinuous import walk
from treegauge.trees.drawing.marks import clean
from treegauge.trees.tree import Tree

_LONGEST_TEXT = 60
_LONGEST_ROOF = 30
_WORDS_OF_LONG_ROOF = 3

ItemKind = Literal["phrase", "tag", "word", "empty", "folded", "roof", "dots"]


class Item(NamedTuple):
    """A node, a word or a roof to be drawn; items are in pre-order.

    ``number`` is the node's id in pre-order, or the position of the (first) word; ``parent`` is an index into the items, -1 at the
    root; ``start`` and ``end`` are the words it covers. A ``folded`` node is drawn with all its words in one ``roof`` below it;
    an ``empty`` node has no children; ``dots`` stand for hidden neighbours, with the number of their words.
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


def item_text(item: Item, point: str = "•") -> str:
    """The text of an item that can be drawn: a node without a label is a point, one without children has ``()`` behind it."""
    text = clean(item.text, _LONGEST_TEXT)
    if not item.is_node:
        return text or '""'
    return text + "()" if item.kind == "empty" else text or point


def _kind_of(node: Tree, is_folded: bool) -> ItemKind:
    """The kind of item that a node is drawn as."""
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


def tree_items(tree: Tree, folded: Collection[int] = (), hidden: Collection[int] = ()) -> list[Item]:
    """The nodes and words of a tree in pre-order; nothing is hidden where branches cross.

    >>> [(item.kind, item.text) for item in tree_items(Tree.parse("(S (NP (DT the) (NN cat)) (VP))"), folded=[1])]
    [('phrase', 'S'), ('folded', 'NP'), ('roof', 'the cat'), ('empty', 'VP')]
    >>> [item.text for item in tree_items(Tree.parse("(S (A a) (B (C b) (D c)) (E d) (F e))"), hidden=[2, 5])]
    ['S', 'A', 'a', '… 3', 'F', 'e']
    """
    folded = frozenset(folded)
    hidden = frozenset(hidden) - {0} if tree.is_continuous else frozenset[int]()
    for node in folded | hidden:
        if not 0 <= node < tree.size:
            raise UsageError(f"the tree has no node {node} to fold: its nodes are numbered from 0 to {tree.size - 1}, in pre-order")
    items: list[Item] = []
    index_of: list[int] = []  # the item of each node; -1 below a roof and behind dots
    for node, places, parent in walk(tree):
        above = index_of[parent] if parent >= 0 else -1
        is_gone = parent >= 0 and (above < 0 or items[above].kind == "folded")
        start = places[0] if places else places.start if isinstance(places, range) else 0
        end = places[-1] + 1 if places else start
        depth = 0 if parent < 0 or is_gone else items[above].depth + 1
        if isinstance(node, str):
            if not is_gone:
                items.append(Item("word", start, node, above, depth, start, end))
            continue
        number = len(index_of)
        if is_gone or number in hidden:
            index_of.append(-1)
            if not is_gone:
                is_next = items[-1].kind == "dots" and items[-1].parent == above
                first = items.pop() if is_next else Item("dots", number, "", above, depth, start, start)
                items.append(first._replace(text=f"… {end - first.start}", end=end))
            continue
        index_of.append(len(items))
        # A node with a gap is never folded under a roof.
        kind = _kind_of(node, number in folded and end - start == node.width and node.is_continuous)
        items.append(Item(kind, number, node.label, above, depth, start, end))
        if kind == "folded":
            items.append(Item("roof", start, roof_text(node.words), len(items) - 1, depth + 1, start, end))
    return items


def has_crossings(items: Sequence[Item]) -> bool:
    """Whether branches cross: whether some word comes before one to its left."""
    return any(after < before for before, after in pairwise(item.start for item in items if not item.is_node))


@dataclass(frozen=True)
class Layout:
    """Items and their positions.

    ``left``, ``centre`` and ``size`` are the beginning, middle and width of an item's text. Phrases stand in the rows ``0`` to
    ``levels - 1`` by their depth, tags in row ``levels``, words in row ``levels + 1``. Where branches cross, ``rows`` has the row
    of each item.
    """

    items: list[Item] = field(repr=False)
    size: list[int] = field(repr=False)
    centre: list[int] = field(repr=False)
    left: list[int] = field(repr=False)
    width: int
    levels: int
    rows: list[int] | None = field(default=None, repr=False)

    def row(self, index: int) -> int:
        """The row of an item."""
        if self.rows is not None:
            return self.rows[index]
        kind = self.items[index].kind
        if kind in ("word", "roof"):
            return self.levels + 1
        return self.levels if kind == "tag" else self.items[index].depth


def lay_out(items: list[Item], size: list[int], gap: int, *, snap: int = 0, mirrored: bool = False) -> Layout:
    """The layout of items whose texts have the widths ``size``, with at least ``gap`` between neighbours.

    A parent of three children or more whose middle is at most ``snap`` from that of a child stands right above that child.
    ``mirrored`` puts the first word on the right.

    >>> items = tree_items(Tree.parse("(S (A aaa) (B bb))"))
    >>> layout = lay_out(items, [len(item.text) for item in items], gap=2)
    >>> [(item.text, left) for item, left in zip(items, layout.left)]
    [('S', 3), ('A', 1), ('aaa', 0), ('B', 6), ('bb', 5)]
    """
    found = place_crossing(items, size, gap) if has_crossings(items) else _place_nested(items, size, gap, snap)
    if not mirrored:
        return found
    left = [found.width - first - own for first, own in zip(found.left, size, strict=True)]
    return replace(found, left=left, centre=[found.width - 1 - at for at in found.centre])


def _place_nested(items: list[Item], size: list[int], gap: int, snap: int) -> Layout:
    """The layout of items whose branches do not cross."""
    strip, middle, offset = _strips(items, size, gap, snap)
    begin = [0] * len(items)
    for index, item in enumerate(items):
        if item.parent >= 0:
            begin[index] = begin[item.parent] + offset[index]
    centre = [first + at for first, at in zip(begin, middle, strict=True)]
    left = [at - own // 2 for at, own in zip(centre, size, strict=True)]
    levels = 1 + max((item.depth for item in items if item.kind in ("phrase", "folded", "empty")), default=-1)
    return Layout(items, size, centre, left, strip[0], levels)


def _children_of(items: Sequence[Item]) -> list[list[int]]:
    """The indices of the children of each item."""
    children: list[list[int]] = [[] for _ in items]
    for index, item in enumerate(items):
        if item.parent >= 0:
            children[item.parent].append(index)
    return children


def _strips(items: list[Item], size: list[int], gap: int, snap: int) -> tuple[list[int], list[int], list[int]]:
    """For each item, computed bottom-up: the width of its strip, its middle in it, and the strip's beginning in the parent's."""
    strip, middle, offset = size.copy(), [own // 2 for own in size], [0] * len(items)
    children = _children_of(items)
    for index in range(len(items) - 1, -1, -1):
        below = children[index]
        if not below:
            continue
        total = -gap
        for child in below:
            offset[child] = total + gap
            total += gap + strip[child]
        at = _snap((middle[below[0]] + offset[below[-1]] + middle[below[-1]]) // 2, below, middle, offset, snap)
        first = min(0, at - size[index] // 2)
        strip[index] = max(total, at - size[index] // 2 + size[index]) - first
        middle[index] = at - first
        if first:
            for child in below:
                offset[child] -= first
    return strip, middle, offset


def _snap(at: int, below: list[int], middle: list[int], offset: list[int], snap: int) -> int:
    """The position of the child nearest to ``at`` if it is near enough, else ``at``."""
    if len(below) < 3 or not snap:
        return at
    nearest = min((offset[child] + middle[child] for child in below), key=lambda place: abs(place - at))
    return nearest if abs(nearest - at) <= snap else at


_PATIENCE = 4
"""The number of rows that are tried for a phrase before its label may stand on a line."""


def place_crossing(items: list[Item], size: list[int], gap: int) -> Layout:
    """The layout of items whose texts have the widths ``size``, with at least ``gap`` between neighbours."""
    children = _children_of(items)
    centre = _columns(items, size, gap, children)
    level = _fill_rows(items, size, gap, children, centre)
    # A label may stick out on the left.
    left = [at - own // 2 for at, own in zip(centre, size, strict=True)]
    first = min(left)
    width = max(at + own for at, own in zip(left, size, strict=True)) - first
    levels = max(level)
    rows = [levels - own if item.is_node else levels + 1 for item, own in zip(items, level, strict=True)]
    return Layout(items, size, [at - first for at in centre], [at - first for at in left], width, levels, rows)


def _columns(items: Sequence[Item], size: Sequence[int], gap: int, children: Sequence[Sequence[int]]) -> list[int]:
    """The middles of words, of the tags above them, and of nodes without words, from left to right; 0 for phrases."""
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


def _fill_rows(
    items: Sequence[Item], size: Sequence[int], gap: int, children: Sequence[Sequence[int]], centre: list[int]
) -> list[int]:
    """Give each phrase its middle, and put it into a row, from the bottom up; the row of each item, 0 for words and tags."""
    waiting = {index for index, item in enumerate(items) if item.kind in ("phrase", "folded") and children[index]}
    tried, level = [0] * len(items), [0] * len(items)

    def put(index: int, row: int, taken: list[tuple[int, int]]) -> bool:
        """Put a phrase into a row if there is room; whether there was."""
        below = [centre[child] for child in children[index]]
        # The columns of lines up to other phrases that have no place yet.
        lines = [centre[child] for other in waiting - {index} for child in children[other] if child not in waiting]
        middle, half = (min(below) + max(below)) // 2, size[index] // 2
        options = sorted({middle, *below}, key=lambda at: (abs(at - middle), at))
        reach = {at: (min(*below, at - half), max(*below, at - half + size[index])) for at in options}
        free = [at for at in options if all(reach[at][1] + gap <= left or right <= reach[at][0] - gap for left, right in taken)]
        near = half + gap // 2
        clear = [at for at in free if not any(at - near <= line <= at + near + size[index] % 2 for line in lines)]
        tried[index] += 1
        if not clear and (not free or tried[index] <= _PATIENCE):
            return False
        centre[index], level[index] = (clear or free)[0], row
        taken.append(reach[centre[index]])
        return True

    row = 0
    while waiting:
        row += 1
        taken: list[tuple[int, int]] = []
        ready = [index for index in sorted(waiting) if waiting.isdisjoint(children[index])]
        ready.sort(key=lambda index: (items[index].end - items[index].start, items[index].start))
        waiting.difference_update([index for index in ready if put(index, row, taken)])
    return level


def fold_to(tree: Tree, *, nodes: int = 2000, depth: int = 60) -> frozenset[int]:
    """The nodes to fold so that about ``nodes`` nodes, no deeper than ``depth`` below the root, are drawn open.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
    >>> sorted(fold_to(tree, nodes=3)), sorted(fold_to(tree))
    ([1, 4], [])
    """
    levels = levels_of(tree)
    counts = Counter(levels)
    open_levels, drawn = 0, 0
    while open_levels < len(counts) and open_levels <= depth and drawn + counts[open_levels] <= nodes:
        drawn += counts[open_levels]
        open_levels += 1
    if open_levels == len(counts):
        return frozenset()
    deepest = max(open_levels - 1, 1)
    return frozenset(
        number
        for number, (node, level) in enumerate(zip(tree.nodes(), levels, strict=True))
        if level == deepest and not node.is_preterminal and node.width
    )


def levels_of(tree: Tree) -> list[int]:
    """The number of nodes above each node, in pre-order."""
    levels: list[int] = []
    for parent in parents_of(tree):
        levels.append(levels[parent] + 1 if parent >= 0 else 0)
    return levels


def fold_settled(tree: Tree, marks: Mapping[int, str]) -> frozenset[int]:
    """The roots of the largest subtrees in which every marked node matched: in a comparison, those that need no attention.

    >>> tree = Tree.parse("(S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (N Ur)))) (VP (VBD sat)))")
    >>> sorted(fold_settled(tree, {0: "matched", 1: "matched", 2: "matched", 9: "missed"}))
    [1]
    """
    nodes, parents = list(tree.nodes()), parents_of(tree)
    open_nodes = {0}
    for number, mark in marks.items():
        if mark.split() != ["matched"]:
            while number not in open_nodes:
                open_nodes.add(number)
                number = parents[number]
    folded: set[int] = set()
    number = 0
    while number < len(nodes):
        node = nodes[number]
        if number in open_nodes:
            number += 1
            continue
        if not node.is_preterminal and node.width:
            folded.add(number)
        number += node.size
    return frozenset(folded)


def parents_of(tree: Tree) -> list[int]:
    """The number of each node's parent, in pre-order; -1 at the root."""
    return [parent for node, _, parent in walk(tree) if isinstance(node, Tree)]
