"""Rare and unknown words: one word that stands for all of them (Collins 1997, as in Sima'an 2003)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from treegauge.trees.tree import Child, Tree, rebuild

__all__ = ["UNKNOWN", "with_unknown"]

UNKNOWN = "<unknown>"
"""The word that stands for every word a grammar does not know; P(<unknown> | tag) comes from the rare words of the
training trees."""


def with_unknown(trees: Sequence[Tree], below: int) -> list[Tree]:
    """The trees with every word seen fewer than ``below`` times in them replaced by the unknown word.

    >>> bank = [Tree.parse("(S (N a) (V b))"), Tree.parse("(S (N a) (V c))")]
    >>> [str(tree) for tree in with_unknown(bank, 2)]
    ['(S (N a) (V <unknown>))', '(S (N a) (V <unknown>))']
    """
    counts = Counter(word for tree in trees for word in tree.words)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        kept = [UNKNOWN if isinstance(child, str) and counts[child] < below else child for child in children]
        return [node.replace(children=kept)]

    made = [rebuild(tree, make) for tree in trees]
    return [tree for tree in made if tree is not None]
