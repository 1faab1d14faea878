"""Which nodes to draw closed, as a roof over their words, so that a large tree stays readable."""

from __future__ import annotations

from collections.abc import Mapping

from treegauge.trees.tree import Tree

__all__ = ["fold_settled", "fold_to"]


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
    """The largest subtrees below the root in which nothing is marked but what matched: in a comparison, what one need not look at.

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
