"""Secondary edges: further parents of a word or node, besides its parent in the tree.

NEGRA and TIGER use them in coordination: the subject of the first verb phrase is that of the second, too. In Alpino XML they are
nodes that have an index and no words. In a tree a node has one parent; with the option ``secondary`` further ones are kept as
features of labels::

    (CS (S (NE-SB##sec=SB:1## Anna) (VVFIN-HD kommt)) (KON und) (S##id=1## (VVFIN-HD lacht)))

``sec=SB:1`` means that Anna is also the subject (SB) of the node whose label has ``id=1``. Both are features as in the SPMRL
treebanks, after the other features of a label. So edges stay with their nodes through every transformation, every format can hold
them as text, and the step ``features`` removes them. Nodes are numbered from 1 in the order of their first words, higher ones
first; the edges of one node are in the order of these numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from treegauge.errors import WriteError
from treegauge.trees.tree import Tree, rebuild_whole

_OWN = re.compile(r"(##|\|)((?:id=\d{1,9}|sec=[^\s|#]+:\d{1,9})(?:\|sec=[^\s|#]+:\d{1,9})*)##\Z")
_FUNCTION = re.compile(r"[^\s|#\0]+")


class SecondaryEdge(NamedTuple):
    """A secondary edge of a graph: from the node ``above`` to a node (by name) or word (by number), and its place in the file."""

    below: str | int
    function: str
    above: str
    line: int
    column: int


class BadEdge(NamedTuple):
    """A secondary edge that is left out, because of a problem at a place in the file."""

    problem: str
    line: int
    column: int | None = None


class TreeEdge(NamedTuple):
    """A secondary edge of a tree, whose nodes, tags included, are numbered in pre-order."""

    below: int
    function: str
    above: int


def is_function(text: str) -> bool:
    """Whether a feature can hold this function of a secondary edge: it has no blank, ``|`` or ``#``."""
    return _FUNCTION.fullmatch(text) is not None


def features_of_edges(edges: Iterable[SecondaryEdge], number: Mapping[str, int]) -> dict[str | int, str]:
    """The features of the words and nodes that edges connect; ``number`` numbers all nodes that edges come from.

    >>> features_of_edges([SecondaryEdge(0, "SB", "502", 3, 30), SecondaryEdge(0, "OA", "501", 3, 37)], {"501": 1, "502": 2})
    {'501': 'id=1', '502': 'id=2', 0: 'sec=OA:1|sec=SB:2'}
    """
    features: dict[str | int, list[str]] = {name: [f"id={own}"] for name, own in number.items()}
    for edge in sorted(edges, key=lambda edge: (number[edge.above], edge.function)):
        features.setdefault(edge.below, []).append(f"sec={edge.function}:{number[edge.above]}")
    return {name: "|".join(own) for name, own in features.items()}


def with_features(label: str, features: str) -> str:
    """The label with further features after its own.

    >>> with_features("NP-SB", "id=1"), with_features("NN##lem=Haus##", "sec=SB:2")
    ('NP-SB##id=1##', 'NN##lem=Haus|sec=SB:2##')
    """
    if not features:
        return label
    has_features = label.endswith("##") and "##" in label[:-3]
    return f"{label[:-2]}|{features}##" if has_features else f"{label}##{features}##"


class _EdgeFeatures(NamedTuple):
    """The features of a label that express secondary edges: its number, if any, and (function, number) of each edge to it.

    ``rest`` is the label without them.
    """

    rest: str
    number: int | None
    edges: list[tuple[str, int]]


def _edge_features(label: str) -> _EdgeFeatures | None:
    found = _OWN.search(label) if "##" in label else None
    if found is None:
        return None
    number: int | None = None
    edges: list[tuple[str, int]] = []
    for feature in found[2].split("|"):
        key, _, value = feature.partition("=")
        if key == "id":
            number = int(value)
        else:
            function, _, above = value.rpartition(":")
            edges.append((function, int(above)))
    return _EdgeFeatures(label[: found.start()] + ("##" if found[1] == "|" else ""), number, edges)


def edges_of_tree(tree: Tree) -> tuple[Tree, list[TreeEdge]]:
    """The tree without the features that express secondary edges, and these edges; WriteError if a node of an edge is missing.

    >>> tree, edges = edges_of_tree(Tree.parse("(S (VP##id=1## (N##sec=SB:2## a) (V b)) (VP##id=2## (V c)))"))
    >>> print(tree, edges)
    (S (VP##id=1## (N a) (V b)) (VP (V c))) [TreeEdge(below=2, function='SB', above=4)]
    """
    nodes = list(tree.nodes())
    if not any("##" in node.label for node in nodes):
        return tree, []
    marks = [_edge_features(node.label) for node in nodes]
    wanted = {number for own in marks if own is not None for _, number in own.edges}
    if not wanted:
        return tree, []
    numbered: dict[int, int] = {}
    for row, own in enumerate(marks):
        if own is None or own.number not in wanted:
            continue
        if own.number in numbered:
            raise WriteError(
                f"two nodes of a tree with secondary edges have the feature id={own.number}.\n  Give them different numbers."
            )
        if nodes[row].is_preterminal:
            raise WriteError(f"a secondary edge comes from the tag {nodes[row].label!r}: only nodes above tags can have children.")
        numbered[own.number] = row
    if marks[0] is not None and marks[0].edges:
        raise WriteError(f"the root {tree.label!r} has a secondary edge: it cannot be below another node.\n  Remove the edge.")
    edges: list[TreeEdge] = []
    for row, own in enumerate(marks):
        for function, number in own.edges if own is not None else ():
            if number not in numbered:
                raise WriteError(
                    f"the secondary edge sec={function}:{number} comes from a missing node: none has id={number}.\n"
                    "  Remove it from the label, or all of them with the step features."
                )
            edges.append(TreeEdge(row, function, numbered[number]))

    return rebuild_whole(tree, lambda node, children: [Tree(_label_without_edges(node.label, wanted), children)]), edges


def _label_without_edges(label: str, wanted: set[int]) -> str:
    own = _edge_features(label)
    if own is None:
        return label
    return with_features(own.rest, "" if own.number is None or own.number in wanted else f"id={own.number}")


def lost_edges(labels: Iterable[str]) -> int:
    """The number of secondary edges in these labels that come from a node not among them.

    >>> lost_edges(["S", "NP##sec=SB:1##", "VP##id=2##"])
    1
    """
    marks = [own for own in map(_edge_features, labels) if own is not None]
    numbers = {own.number for own in marks}
    return sum(number not in numbers for own in marks for _, number in own.edges)
