"""A picture in words: its title and, for those who hear it, the tree as bracketed text with the marks named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from treegauge.trees.drawing.layout import Item
from treegauge.trees.drawing.marks import MARKS, NodeMark
from treegauge.trees.drawing.measure import clean
from treegauge.trees.tree import Tree

__all__ = ["described", "titled"]

_LONGEST_TITLE = 200
_LONGEST_DESCRIPTION = 1000


def titled(tree: Tree, title: str, marks: Mapping[int, NodeMark]) -> str:
    """The sentence, behind a title if there is one, and how many nodes have which mark.

    >>> titled(Tree.parse("(S (V go))"), "Gold", {})
    'Gold: go'
    """
    sentence = clean(" ".join(tree.words), _LONGEST_TITLE) or "no words"
    counts = Counter(one.name for mark in marks.values() for one in mark.marks)
    found = ", ".join(f"{counts[name]} {name}" for name in MARKS if counts[name])
    return f"{clean(title, _LONGEST_TITLE) or 'Tree'}: {sentence}" + (f" ({found})" if found else "")


def described(items: list[Item], marks: Mapping[int, NodeMark]) -> str:
    """The tree as bracketed text with the names of marks, cut where it becomes long."""
    parts: list[str] = []
    length = open_brackets = 0
    for item in items:
        if length > _LONGEST_DESCRIPTION:
            return "".join(parts) + " …"
        closing = ")" * (open_brackets - item.depth)
        open_brackets -= len(closing)
        text = clean(item.text, _LONGEST_TITLE)
        if item.is_node:
            mark = marks.get(item.number)
            text = "(" + text + (f" [{mark.names}]" if mark else "")
            open_brackets += 1
        parts.append(closing + (" " if parts else "") + text)
        length += len(parts[-1])
    return "".join(parts) + ")" * open_brackets
