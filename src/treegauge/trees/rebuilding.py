"""Transforms: a new tree from an old one, bottom-up and without recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from treegauge.trees.tree import Child, Tree

__all__ = ["rebuild"]


def rebuild(tree: Tree, make: Callable[[Tree, list[Child]], Iterable[Child]]) -> Tree | None:
    """A tree made bottom-up: ``make(node, new_children)`` gives what stands in the node's place.

    It may give nothing (the node goes), one thing, or several (the node is spliced out). Returns ``None`` if nothing is left of
    the root; a root replaced by several keeps its own label above them.

    >>> tree = Tree.parse("(S (X (NP (N a))) (VP (V b)))")
    >>> print(rebuild(tree, lambda node, children: children if node.label == "X" else [node.replace(children=children)]))
    (S (NP (N a)) (VP (V b)))
    """
    stack: list[tuple[Tree, list[Child], int]] = [(tree, [], 0)]
    while True:
        node, done, index = stack.pop()
        while index < len(node.children):
            child = node.children[index]
            index += 1
            if isinstance(child, Tree):
                stack.append((node, done, index))
                node, done, index = child, [], 0
            else:
                done.append(child)
        made = list(make(node, done))
        if stack:
            stack[-1][1].extend(made)
            continue
        if not made:
            return None
        if len(made) == 1 and isinstance(made[0], Tree):
            return made[0]
        return Tree(tree.label, made)
