"""Edits of a tree by hand, one bracket at a time: relabel, delete, add, move.

Nodes are given by their pre-order numbers. No edit changes the words or their order, so every edit can be undone by another one.
In a tree with crossing branches, the neighbours of a node are its siblings in the order of their first words, whatever stands
between them; any part can then be moved out of a bracket, and past words into the nearest bracket.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from treegauge.errors import RequestError, TreegaugeError
from treegauge.humancheck.judgements import LONGEST_LABEL, LONGEST_TREE, storable
from treegauge.trees.discontinuous import Block, PlacedWord, from_placed_words, walk, with_placed_words
from treegauge.trees.notation import carries_places, place_words
from treegauge.trees.tree import Child, Tree


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
    """Delete a bracket; its children take its place.

    >>> print(delete(Tree.parse("(S (NP (D a) (N b)) (V c))"), 1).tree)
    (S (D a) (N b) (V c))
    """
    path = _path(tree, node)
    if not path:
        raise RequestError("The bracket around the whole sentence cannot be deleted.")
    if _at(tree, path).is_preterminal:
        raise RequestError("A word's tag cannot be deleted, only changed.")
    above = _number(tree, path[:-1])
    return Edit(_replace(tree, path, lambda found: found.children), above)


def add_bracket(tree: Tree, first: int, last: int, label: str) -> Edit:
    """Put a new bracket around the nodes from ``first`` to ``last``, which must be siblings.

    >>> print(add_bracket(Tree.parse("(S (D a) (N b) (V c))"), 1, 2, "NP").tree)
    (S (NP (D a) (N b)) (V c))
    """
    one, other = sorted((_path(tree, first), _path(tree, last)))
    if one[:-1] != other[:-1] or len(one) != len(other):
        raise RequestError("A new bracket goes around neighbours below the same node.")
    new = _valid(label)
    if not one:
        return Edit(Tree(new, [tree]), 0)
    begin, end = one[-1], other[-1] + 1

    def wrap(parent: Tree) -> list[Child]:
        inside = Tree(new, parent.children[begin:end])
        return [parent.replace(children=[*parent.children[:begin], inside, *parent.children[end:]])]

    return Edit(_replace(tree, one[:-1], wrap), min(first, last))


def move_out(tree: Tree, node: int, *, has_gaps: bool = False) -> Edit:
    """Move the first or last part of a bracket out of it, to stand beside it; if ``has_gaps``, any part.

    >>> print(move_out(Tree.parse("(S (NP (D a) (N b) (PP (P c))) (V d))"), 4).tree)
    (S (NP (D a) (N b)) (PP (P c)) (V d))
    """
    path = _path(tree, node)
    if len(path) < 2:
        raise RequestError("This already stands directly below the bracket around the whole sentence.")
    parent, index = _at(tree, path[:-1]), path[-1]
    count = len(parent.children)
    if count == 1:
        raise RequestError("Its bracket would be empty: delete the bracket instead.")
    if 0 < index < count - 1 and not has_gaps:
        raise RequestError("Only the first or the last part of a bracket can be moved out of it.")
    child = parent.children[index]
    rest = parent.replace(children=[*parent.children[:index], *parent.children[index + 1 :]])
    pair: list[Child] = [child, rest] if index == 0 else [rest, child]
    edited = _replace(tree, path[:-1], lambda _: pair)
    return Edit(edited, _number(edited, [*path[:-2], path[-2] + (0 if index == 0 else 1)]))


def move_into(tree: Tree, node: int, step: int, *, has_gaps: bool = False) -> Edit:
    """Move a node into the bracket before it (``step`` -1), as its last part, or into the one after it (1), as its first part; if
    ``has_gaps``, past words.

    >>> print(move_into(Tree.parse("(S (NP (D a) (N b)) (PP (P c)))"), 4, -1).tree)
    (S (NP (D a) (N b) (PP (P c))))
    >>> print(move_into(Tree.parse("(S (ADV a) (VP (V b)))"), 1, 1).tree)
    (S (VP (ADV a) (V b)))
    """
    path = _path(tree, node)
    children = list(_at(tree, path[:-1]).children) if path else []
    index = path[-1] if path else 0
    beside = range(index + step, len(children) if step > 0 else -1, step)
    goal = next((at for at in beside if not has_gaps or (isinstance(it := children[at], Tree) and not it.is_preterminal)), -1)
    into = children[goal] if goal >= 0 else None
    if not isinstance(into, Tree) or into.is_preterminal:
        raise RequestError(f"There is no bracket {'before' if step < 0 else 'after'} it to move into.")
    parts = [*into.children, children[index]] if step < 0 else [children[index], *into.children]
    children[goal] = into.replace(children=parts)
    del children[index]
    edited = _replace(tree, path[:-1], lambda found: [found.replace(children=children)])
    return Edit(edited, _number(edited, [*path[:-1], goal - (step > 0), len(parts) - 1 if step < 0 else 0]))


EDITS: Mapping[str, Callable[[Tree, int, int, str, bool], Edit]] = {
    "relabel": lambda tree, node, last, label, has_gaps: relabel_node(tree, node, label),
    "delete": lambda tree, node, last, label, has_gaps: delete(tree, node),
    "add": lambda tree, node, last, label, has_gaps: add_bracket(tree, node, last, label),
    "out": lambda tree, node, last, label, has_gaps: move_out(tree, node, has_gaps=has_gaps),
    "previous": lambda tree, node, last, label, has_gaps: move_into(tree, node, -1, has_gaps=has_gaps),
    "next": lambda tree, node, last, label, has_gaps: move_into(tree, node, 1, has_gaps=has_gaps),
}
"""The edits by name; each takes a tree, a node, the last of several siblings (for ``add``), a label, and whether gaps may occur."""


def edit_tree(tree: Tree, name: str, node: int, last: int, label: str, *, has_gaps: bool) -> Edit:
    """The tree after one of the :data:`EDITS`; crossing branches are kept.

    >>> from treegauge.trees import parse_discbracket
    >>> tree = parse_discbracket("(S (VP (A 0=a) (B 2=b)) (C 1=c) (D 3=d))")
    >>> print(edit_tree(tree, "previous", 5, 5, "", has_gaps=True).tree)
    (S (VP (A 0=a) (B 2=b) (D 3=d)) (C 1=c))
    """
    if name not in EDITS:
        raise RequestError(f"An edit is one of {', '.join(EDITS)}.")
    if not has_gaps:
        return EDITS[name](tree, node, last, label, False)
    found = EDITS[name](with_placed_words(tree), node, last, label, True)
    made = from_placed_words(found.tree)
    # from_placed_words() sorts siblings by first words, which can renumber nodes; nodes over the same words form a chain and keep
    # their order.
    wanted = [tuple(sorted(word.place for word in part.words if isinstance(word, PlacedWord))) for part in found.tree.nodes()]
    rank = wanted[: found.node].count(wanted[found.node])
    of_nodes = (tuple(places) for node, places, _ in walk(made) if isinstance(node, Tree))
    same = [number for number, places in enumerate(of_nodes) if places == wanted[found.node]]
    return Edit(made, same[rank])


def edited_tree(gold: Tree, text: str) -> Tree:
    """An edited tree from its text, bracketed or (with gaps) discbracket; refused unless it has the gold tree's tagged words.

    >>> print(edited_tree(Tree.parse("(S (D a) (N b))"), "(S (NP (D a) (N b)))"))
    (S (NP (D a) (N b)))
    """
    if len(text) > LONGEST_TREE:
        raise RequestError(f"An edited tree has at most {LONGEST_TREE} characters.", 413)
    try:
        tree = Tree.parse(text)
        if tree.words != gold.words and carries_places(tree.words):
            tree = place_words(tree)
    except TreegaugeError:
        raise RequestError("The edited tree cannot be read.") from None
    if tree.words != gold.words or _has_tag(tree) != _has_tag(gold):
        raise RequestError("The edited tree does not have the words of the treebank's tree.")
    for number, node in enumerate(tree.nodes()):
        if not node.children or (node.label != storable(node.label)) or len(node.label) > LONGEST_LABEL:
            raise RequestError("The edited tree has an empty bracket or an unusable label.")
        if not node.label and number and not node.is_preterminal:
            raise RequestError("The edited tree has a bracket without a label.")
    return tree


class Bracket(NamedTuple):
    """A label and the words that it covers, in one block or, with gaps, several."""

    label: str
    blocks: tuple[Block, ...]


def brackets_of(tree: Tree) -> list[Bracket]:
    """The brackets of all nodes in pre-order, tags included."""
    return [Bracket(node.label, tuple(blocks)) for node, blocks in tree.nodes_with_blocks()]


def changed_brackets(before: Tree, after: Tree) -> tuple[list[Bracket], list[Bracket]]:
    """The brackets that were removed and those that are new, tags included.

    >>> changed_brackets(Tree.parse("(S (NP (D a) (N b)))"), Tree.parse("(S (QP (D a) (N b)))"))[0]
    [Bracket(label='NP', blocks=(Block(start=0, end=2),))]
    """
    old, new = (Counter(brackets_of(tree)) for tree in (before, after))
    return list((old - new).elements()), list((new - old).elements())


def _has_tag(tree: Tree) -> list[bool]:
    return [bool(tag) for _, tag in tree.tagged()]


def _valid(label: str) -> str:
    text = storable(label.strip())
    if not text or len(text) > LONGEST_LABEL or any(character.isspace() or character in "()" for character in text):
        raise RequestError(f"A label has between 1 and {LONGEST_LABEL} characters, without blanks and brackets.")
    return text


def _path(tree: Tree, number: int) -> list[int]:
    """The path from the root to a node: the index of a child at each level."""
    if not 0 <= number < tree.size:
        raise RequestError("There is no such node.")
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
    """The tree with one node replaced by the children that ``make`` returns for it."""
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
