"""Nodes of a tree by their pre-order numbers, while the tree is rebuilt from below."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from treegauge.trees.tree import Child, Tree, rebuild

__all__ = ["post_order_numbers", "without_tagged"]


def post_order_numbers(tree: Tree) -> Iterator[int]:
    """The pre-order number of each node, in post-order: the order in which ``rebuild`` makes them.

    >>> list(post_order_numbers(Tree.parse("(S (NP (D a)) (V b))")))
    [2, 1, 3, 0]
    """
    stack: list[tuple[Tree, int, bool]] = [(tree, 0, False)]
    while stack:
        node, number, done = stack.pop()
        if done:
            yield number
            continue
        stack.append((node, number, True))
        below: list[tuple[Tree, int, bool]] = []
        number += 1
        for child in node.children:
            if isinstance(child, Tree):
                below.append((child, number, False))
                number += child.size
        stack.extend(reversed(below))


def without_tagged(tree: Tree, tags: Collection[str]) -> tuple[Tree, dict[int, int]]:
    """The tree without words of some tags and nodes that are left empty, and the new number of each node that stays.

    >>> tree, new = without_tagged(Tree.parse("(S (NP (-NONE- *)) (VP (V go)))"), {"-NONE-"})
    >>> print(tree, new)
    (S (VP (V go))) {0: 0, 3: 1, 4: 2}
    """
    numbers = post_order_numbers(tree)
    kept: list[int] = []

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        if not children or (node.is_preterminal and node.label in tags):
            return []
        kept.append(number)
        return [node.replace(children=children)]

    made = rebuild(tree, make)
    return made or Tree(tree.label), {old: new for new, old in enumerate(sorted(kept))}
