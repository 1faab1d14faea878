"""Traces: leaves that stand for no word, and the brackets that hold nothing else."""

from __future__ import annotations

from collections.abc import Collection

from treegauge.trees import Child, Tree
from treegauge.trees.rebuilding import rebuild

__all__ = ["TRACE_TAGS", "drop_leaves", "remove_traces"]

TRACE_TAGS = frozenset({"-NONE-"})
"""The Penn Treebank's tag of empty elements."""


def drop_leaves(tree: Tree, tags: Collection[str]) -> Tree | None:
    """The tree without the leaves of these tags and without the brackets this empties, recursively; ``None`` if nothing is left.

    A bracket that was empty before stays.

    >>> print(drop_leaves(Tree.parse("(S (NP (DT the) (NN cat)) (PRN (: --)) (VP (VBD sat)))"), {":"}))
    (S (NP (DT the) (NN cat)) (VP (VBD sat)))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if node.label in tags and (node.is_preterminal or not node.children):
            return []
        return [node.replace(children=children)] if children or not node.children else []

    return rebuild(tree, make)


def remove_traces(tree: Tree, tags: Collection[str] = TRACE_TAGS) -> Tree | None:
    """The tree without its traces and what they empty: Goodman's removal of epsilon productions (1996, section 5.2.1).

    >>> print(remove_traces(Tree.parse("(S (NP-SBJ (-NONE- *)) (VP (VB go) (NP (NN home))))")))
    (S (VP (VB go) (NP (NN home))))
    >>> remove_traces(Tree.parse("(NP (-NONE- *T*-1))")) is None
    True
    """
    return drop_leaves(tree, tags)
