"""Bottom-up computation over a tree of any depth, with the path to the root at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from treegauge.trees import Tree

__all__ = ["fold", "post_order"]

T = TypeVar("T")


def post_order(tree: Tree) -> Iterator[tuple[Tree, Sequence[Tree]]]:
    """All nodes, children before their parent, each with its ancestors from the root down to its parent.

    The sequence of ancestors is the walk's own and changes as it goes on: read it at once.

    >>> tree = Tree.parse("(S (NP (N a)) (V b))")
    >>> [(node.label, [above.label for above in ancestors]) for node, ancestors in post_order(tree)]
    [('N', ['S', 'NP']), ('NP', ['S']), ('V', ['S']), ('S', [])]
    """
    ancestors: list[Tree] = []
    pending: list[Iterator[Tree]] = [iter((tree,))]
    while pending:
        node = next(pending[-1], None)
        if node is not None:
            ancestors.append(node)
            pending.append(child for child in node.children if isinstance(child, Tree))
            continue
        pending.pop()
        if ancestors:
            node = ancestors.pop()
            yield node, ancestors


def fold(tree: Tree, combine: Callable[[Tree, list[T | str], Sequence[Tree]], T]) -> T:
    """The value of the root, where a node's value is ``combine(node, values of its children, ancestors)``; a word is its own value.

    >>> fold(Tree.parse("(S (NP (N a)) (V b))"), lambda node, values, above: f"{node.label}{len(above)}[{' '.join(values)}]")
    'S0[NP1[N2[a]] V1[b]]'
    """
    done: list[T] = []
    for node, ancestors in post_order(tree):
        first = len(done) - sum(isinstance(child, Tree) for child in node.children)
        values = iter(done[first:])
        del done[first:]
        done.append(combine(node, [child if isinstance(child, str) else next(values) for child in node.children], ancestors))
    (value,) = done
    return value
