"""Edits of a tree by hand, one bracket at a time: relabel, delete, add, move.

Nodes are named by their pre-order numbers. No edit changes the words or their order, so every edit can be undone by another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from treegauge.errors import Refused, TreegaugeError
from treegauge.humancheck.judgements import LONGEST_LABEL, LONGEST_TREE
from treegauge.humancheck.questions import storable
from treegauge.trees.tree import Child, Tree

__all__ = [
    "EDITS",
    "Edit",
    "add_bracket",
    "changed_brackets",
    "delete",
    "edited_tree",
    "move_next",
    "move_out",
    "move_previous",
    "relabel_node",
]


class Edit(NamedTuple):
    """A tree after an edit, and the number of the node that was edited or that took its place."""

    tree: Tree
    node: int


def relabel_node(tree: Tree, node: int, label: str) -> Edit:
    """Give a node another label.

    >>> print(relabel_node(Tree.parse("(S (NP (D a) (N b)))"), 1, "QP").tree)
    (S (QP (D a) (N b)))
    """
    return Edit(_replace(tree, _path(tree, node), lambda found: [found.replace(label=_valid(label))]), node)


def delete(tree: Tree, node: int) -> Edit:
    """Delete a bracket; what was in it stays where it is.

    >>> print(delete(Tree.parse("(S (NP (D a) (N b)) (V c))"), 1).tree)
    (S (D a) (N b) (V c))
    """
    path = _path(tree, node)
    if not path:
        raise Refused("The bracket around the whole sentence cannot be deleted.")
    if _at(tree, path).is_preterminal:
        raise Refused("A word's tag cannot be deleted, only changed.")
    above = _number(tree, path[:-1])
    return Edit(_replace(tree, path, lambda found: found.children), above)


def add_bracket(tree: Tree, first: int, last: int, label: str) -> Edit:
    """Put a new bracket around the nodes from ``first`` to ``last``, which stand below the same node.

    >>> print(add_bracket(Tree.parse("(S (D a) (N b) (V c))"), 1, 2, "NP").tree)
    (S (NP (D a) (N b)) (V c))
    """
    one, other = sorted((_path(tree, first), _path(tree, last)))
    if one[:-1] != other[:-1] or len(one) != len(other):
        raise Refused("A new bracket goes around neighbours below the same node.")
    new = _valid(label)
    if not one:
        return Edit(Tree(new, [tree]), 0)
    begin, end = one[-1], other[-1] + 1

    def wrap(parent: Tree) -> list[Child]:
        inside = Tree(new, parent.children[begin:end])
        return [parent.replace(children=[*parent.children[:begin], inside, *parent.children[end:]])]

    return Edit(_replace(tree, one[:-1], wrap), min(first, last))


def move_out(tree: Tree, node: int) -> Edit:
    """Move the first or last part of a bracket out of it, to stand beside it.

    >>> print(move_out(Tree.parse("(S (NP (D a) (N b) (PP (P c))) (V d))"), 4).tree)
    (S (NP (D a) (N b)) (PP (P c)) (V d))
    """
    path = _path(tree, node)
    if len(path) < 2:
        raise Refused("This already stands directly below the bracket around the whole sentence.")
    parent, index = _at(tree, path[:-1]), path[-1]
    count = len(parent.children)
    if count == 1:
        raise Refused("Its bracket would be empty: delete the bracket instead.")
    if 0 < index < count - 1:
        raise Refused("Only the first or the last part of a bracket can be moved out of it.")
    child = parent.children[index]
    rest = parent.replace(children=[*parent.children[:index], *parent.children[index + 1 :]])
    pair: list[Child] = [child, rest] if index == 0 else [rest, child]
    edited = _replace(tree, path[:-1], lambda _: pair)
    return Edit(edited, _number(edited, [*path[:-2], path[-2] + (0 if index == 0 else 1)]))


def move_previous(tree: Tree, node: int) -> Edit:
    """Move a node into the bracket before it, as its last part.

    >>> print(move_previous(Tree.parse("(S (NP (D a) (N b)) (PP (P c)))"), 4).tree)
    (S (NP (D a) (N b) (PP (P c))))
    """
    return _move_into(tree, node, -1)


def move_next(tree: Tree, node: int) -> Edit:
    """Move a node into the bracket after it, as its first part.

    >>> print(move_next(Tree.parse("(S (ADV a) (VP (V b)))"), 1).tree)
    (S (VP (ADV a) (V b)))
    """
    return _move_into(tree, node, 1)


def _move_into(tree: Tree, node: int, step: int) -> Edit:
    path = _path(tree, node)
    parent = _at(tree, path[:-1]) if path else Tree("")
    goal = path[-1] + step if path else -1
    into = parent.children[goal] if 0 <= goal < len(parent.children) else None
    if not isinstance(into, Tree) or into.is_preterminal:
        raise Refused(f"There is no bracket {'before' if step < 0 else 'after'} it to move into.")
    child = parent.children[path[-1]]
    parts = [*into.children, child] if step < 0 else [child, *into.children]
    children = list(parent.children)
    children[min(path[-1], goal) : max(path[-1], goal) + 1] = [into.replace(children=parts)]
    edited = _replace(tree, path[:-1], lambda found: [found.replace(children=children)])
    at = [*path[:-1], min(path[-1], goal), len(parts) - 1 if step < 0 else 0]
    return Edit(edited, _number(edited, at))


EDITS: Mapping[str, Callable[[Tree, int, int, str], Edit]] = {
    "relabel": lambda tree, node, last, label: relabel_node(tree, node, label),
    "delete": lambda tree, node, last, label: delete(tree, node),
    "add": add_bracket,
    "out": lambda tree, node, last, label: move_out(tree, node),
    "previous": lambda tree, node, last, label: move_previous(tree, node),
    "next": lambda tree, node, last, label: move_next(tree, node),
}
"""The edits by name; each takes a tree, a node, the last of several neighbours (for ``add``), and a label."""


def edited_tree(gold: Tree, text: str) -> Tree:
    """An edited tree from its bracketed text; refused unless it has the words of the gold tree, each under a tag as there.

    >>> print(edited_tree(Tree.parse("(S (D a) (N b))"), "(S (NP (D a) (N b)))"))
    (S (NP (D a) (N b)))
    """
    if len(text) > LONGEST_TREE:
        raise Refused(f"An edited tree has at most {LONGEST_TREE} characters.", 413)
    try:
        tree = Tree.parse(text)
    except TreegaugeError:
        raise Refused("The edited tree cannot be read.") from None
    if not gold.is_continuous:
        raise Refused("A tree with crossing branches cannot be edited here.")
    if not tree.is_continuous or tree.words != gold.words or _has_tag(tree) != _has_tag(gold):
        raise Refused("The edited tree does not have the words of the treebank's tree.")
    for number, node in enumerate(tree.nodes()):
        if not node.children or (node.label != storable(node.label)) or len(node.label) > LONGEST_LABEL:
            raise Refused("The edited tree has an empty bracket or an unusable label.")
        if not node.label and number and not node.is_preterminal:
            raise Refused("The edited tree has a bracket without a label.")
    return tree


def changed_brackets(before: Tree, after: Tree) -> tuple[list[tuple[str, int, int]], list[tuple[str, int, int]]]:
    """The brackets, by label, first word and end, that one tree has and another lacks: removed ones and new ones, tags included.

    >>> changed_brackets(Tree.parse("(S (NP (D a) (N b)))"), Tree.parse("(S (QP (D a) (N b)))"))
    ([('NP', 0, 2)], [('QP', 0, 2)])
    """
    old, new = (Counter((node.label, start, end) for node, start, end in tree.nodes_with_spans()) for tree in (before, after))
    return list((old - new).elements()), list((new - old).elements())


def _has_tag(tree: Tree) -> list[bool]:
    return [bool(tag) for _, tag in tree.tagged()]


def _valid(label: str) -> str:
    text = storable(label.strip())
    if not text or len(text) > LONGEST_LABEL or any(character.isspace() or character in "()" for character in text):
        raise Refused(f"A label has between 1 and {LONGEST_LABEL} characters, without blanks and brackets.")
    return text


def _path(tree: Tree, number: int) -> list[int]:
    """The way from the root to a node: the index of a child at each level."""
    if not 0 <= number < tree.size:
        raise Refused("There is no such node.")
    path: list[int] = []
    node, left = tree, number
    while left:
        left -= 1
        for index, child in enumerate(node.children):
            if not isinstance(child, Tree):
                continue
            if left < child.size:
                path.append(index)
                node = child
                break
            left -= child.size
    return path


def _number(tree: Tree, path: list[int]) -> int:
    """The pre-order number of the node at the end of a path."""
    number = 0
    node = tree
    for index in path:
        number += 1 + sum(child.size for child in node.children[:index] if isinstance(child, Tree))
        node = _child(node, index)
    return number


def _at(tree: Tree, path: list[int]) -> Tree:
    for index in path:
        tree = _child(tree, index)
    return tree


def _child(tree: Tree, index: int) -> Tree:
    child = tree.children[index]
    assert isinstance(child, Tree)
    return child


def _replace(tree: Tree, path: list[int], make: Callable[[Tree], Iterable[Child]]) -> Tree:
    """The tree with one node replaced by what ``make`` gives for it."""
    above: list[Tree] = []
    node = tree
    for index in path:
        above.append(node)
        node = _child(node, index)
    parts: list[Child] = list(make(node))
    for parent, index in zip(reversed(above), reversed(path), strict=True):
        parts = [parent.replace(children=[*parent.children[:index], *parts, *parent.children[index + 1 :]])]
    (root,) = parts
    assert isinstance(root, Tree)
    return root
