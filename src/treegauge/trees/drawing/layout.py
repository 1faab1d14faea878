"""The layout of trees: each node above the middle of its children, each subtree in a strip of its own, words in one row.

A strip is as wide as its words or its labels need, whichever is wider, so nothing can overlap, and the work is linear in the
number of nodes. Numbers are integers: columns for a terminal, pixels for a picture. A large tree stays readable if some nodes are
folded: drawn closed, as a roof over their words.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from treegauge.errors import UnknownName, UsageError
from treegauge.trees.drawing.crossing import Item, crossing_items, has_crossings, kind_of, place_crossing, roof_text
from treegauge.trees.tree import Child, Tree

__all__ = ["Item", "Layout", "check_choice", "fold_settled", "fold_to", "lay_out", "tree_items"]


def tree_items(tree: Tree, folded: Collection[int] = ()) -> list[Item]:
    """The nodes and words of a tree in pre-order.

    >>> [(item.kind, item.text) for item in tree_items(Tree.parse("(S (NP (DT the) (NN cat)) (VP))"), folded=[1])]
    [('phrase', 'S'), ('folded', 'NP'), ('roof', 'the cat'), ('empty', 'VP')]
    """
    folded = frozenset(folded)
    _check_folded(tree, folded)
    if not tree.is_continuous:
        return crossing_items(tree, folded)
    items: list[Item] = []
    stack: list[tuple[Child, int, int]] = [(tree, -1, 0)]
    number = position = 0
    while stack:
        node, parent, depth = stack.pop()
        if isinstance(node, str):
            items.append(Item("word", position, node, parent, depth, position, position + 1))
            position += 1
            continue
        kind = kind_of(node, number in folded)
        items.append(Item(kind, number, node.label, parent, depth, position, position + node.width))
        if kind == "folded":
            items.append(Item("roof", position, roof_text(node.words), len(items) - 1, depth + 1, position, position + node.width))
            number += node.size
            position += node.width
            continue
        number += 1
        me = len(items) - 1
        stack.extend((child, me, depth + 1) for child in reversed(node.children))
    return items


def _check_folded(tree: Tree, folded: Collection[int]) -> None:
    for node in folded:
        if not 0 <= node < tree.size:
            raise UsageError(f"folded node {node}: this tree's nodes are numbered from 0 to {tree.size - 1}, in pre-order")


def check_choice(kind: str, name: str, valid: Collection[str]) -> None:
    """Raise an error that lists the valid names, unless the name is one of them."""
    if name not in valid:
        raise UnknownName(kind, name, valid)


@dataclass(frozen=True)
class Layout:
    """Items and their positions.

    ``centre`` and ``left`` are where an item's text has its middle and begins; ``size`` is how wide it is. Phrases stand in the
    rows ``0`` to ``levels - 1`` by their depth, tags in row ``levels``, words in row ``levels + 1``. Where branches cross, ``rows``
    says in which row each item stands.
    """

    items: list[Item]
    size: list[int]
    centre: list[int]
    left: list[int]
    width: int
    levels: int
    rows: list[int] | None = None

    def row(self, index: int) -> int:
        if self.rows is not None:
            return self.rows[index]
        kind = self.items[index].kind
        if kind in ("word", "roof"):
            return self.levels + 1
        return self.levels if kind == "tag" else self.items[index].depth


def lay_out(items: list[Item], size: list[int], gap: int, *, snap: int = 0, mirrored: bool = False) -> Layout:
    """The layout of items whose texts are as wide as ``size`` says, with at least ``gap`` between neighbours.

    A parent whose middle is at most ``snap`` away from a child stands right above that child.

    >>> items = tree_items(Tree.parse("(S (A aaa) (B bb))"))
    >>> layout = lay_out(items, [len(item.text) for item in items], gap=2)
    >>> [(item.text, left) for item, left in zip(items, layout.left)]
    [('S', 3), ('A', 1), ('aaa', 0), ('B', 6), ('bb', 5)]
    """
    rows = None
    if has_crossings(items):
        centre, rows, width, levels = place_crossing(items, size, gap)
    else:
        centre, width = _centres(items, size, gap, snap)
        levels = 1 + max((item.depth for item in items if item.kind in ("phrase", "folded", "empty")), default=-1)
    left = [at - own // 2 for at, own in zip(centre, size, strict=True)]
    if mirrored:
        left = [width - first - own for first, own in zip(left, size, strict=True)]
        centre = [width - 1 - at for at in centre]
    return Layout(items, size, centre, left, width, levels, rows)


def _centres(items: list[Item], size: list[int], gap: int, snap: int) -> tuple[list[int], int]:
    """The middle of each item, and the width of all."""
    strip, middle, offset = _strips(items, size, gap, snap)
    begin = [0] * len(items)
    for index, item in enumerate(items):
        if item.parent >= 0:
            begin[index] = begin[item.parent] + offset[index]
    return [first + at for first, at in zip(begin, middle, strict=True)], strip[0]


def _strips(items: list[Item], size: list[int], gap: int, snap: int) -> tuple[list[int], list[int], list[int]]:
    """Bottom-up, for each item: the width of its strip, its own middle in it, and where the strip begins in its parent's."""
    strip, middle, offset = size.copy(), [own // 2 for own in size], [0] * len(items)
    children: list[list[int]] = [[] for _ in items]
    for index, item in enumerate(items):
        if item.parent >= 0:
            children[item.parent].append(index)
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


def fold_to(tree: Tree, *, nodes: int = 2000, depth: int = 60) -> frozenset[int]:
    """The nodes to fold so that about ``nodes`` nodes, no deeper than ``depth`` below the root, are drawn open.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")
    >>> sorted(fold_to(tree, nodes=3)), sorted(fold_to(tree))
    ([1, 4], [])
    """
    levels = _levels(tree)
    counts = [0] * (max(levels) + 1)
    for level in levels:
        counts[level] += 1
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


def _levels(tree: Tree) -> list[int]:
    """The number of nodes above each node, in pre-order."""
    levels: list[int] = []
    stack: list[tuple[Tree, int]] = [(tree, 0)]
    while stack:
        node, level = stack.pop()
        levels.append(level)
        stack.extend((child, level + 1) for child in reversed(node.children) if isinstance(child, Tree))
    return levels


def fold_settled(tree: Tree, marks: Mapping[int, str]) -> frozenset[int]:
    """The largest subtrees below the root in which every marked node matched: in a comparison, those that need no attention.

    >>> tree = Tree.parse("(S (NP (NP (DT the) (NN cat)) (PP (IN of) (NP (N Ur)))) (VP (VBD sat)))")
    >>> sorted(fold_settled(tree, {0: "matched", 1: "matched", 2: "matched", 9: "missed"}))
    [1]
    """
    nodes, parents = list(tree.nodes()), _parents(tree)
    kept = {0}
    for number, mark in marks.items():
        if mark.split() != ["matched"]:
            while number not in kept:
                kept.add(number)
                number = parents[number]
    folded: set[int] = set()
    number = 0
    while number < len(nodes):
        node = nodes[number]
        if number in kept:
            number += 1
            continue
        if not node.is_preterminal and node.width:
            folded.add(number)
        number += node.size
    return frozenset(folded)


def _parents(tree: Tree) -> list[int]:
    """The number of each node's parent, in pre-order; -1 at the root."""
    parents: list[int] = []
    stack: list[tuple[Tree, int]] = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        me = len(parents)
        parents.append(parent)
        stack.extend((child, me) for child in reversed(node.children) if isinstance(child, Tree))
    return parents
