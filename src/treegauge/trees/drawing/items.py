"""Items: the nodes and words of a tree in pre-order, as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from treegauge.tables import terminal_width
from treegauge.trees.tree import Tree

__all__ = ["Item", "kind_of", "roof_text"]

_LONGEST_ROOF = 30
_WORDS_OF_LONG_ROOF = 3

Kind = Literal["phrase", "tag", "word", "empty", "folded", "roof"]


class Item(NamedTuple):
    """A node, a word or a roof to be drawn; items are in pre-order.

    ``number`` is the node's id in pre-order, or the position of a (first) word; ``parent`` is an index into the items, -1 at the
    root; ``start`` and ``end`` are the words it covers. A ``folded`` node is drawn with all its words in one ``roof`` below it;
    an ``empty`` node has no children.
    """

    kind: Kind
    number: int
    text: str
    parent: int
    depth: int
    start: int
    end: int

    @property
    def is_node(self) -> bool:
        return self.kind not in ("word", "roof")


def kind_of(node: Tree, is_folded: bool) -> Kind:
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
