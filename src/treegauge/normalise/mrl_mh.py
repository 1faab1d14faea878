"""The treebank transforms of Sima'an (2003, section 6): MRL and MH, and their exact undoing.

An MH label is ``LABEL^MOTHER~TAG``: the label, the mother's, the tag of the head word. A node made by linearisation has its two
frames besides, ``LABEL^MOTHER~TAG|LEFT|RIGHT``: the complements that it holds on either side of the head, joined by ``+``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from treegauge.normalise.heads import HeadRules, bare_label, complements, head_rules
from treegauge.normalise.labels import base_label, escape_marks, join_marked, splice, split_marked, unescape_marks
from treegauge.normalise.markovisation import binarise_goodman, linearise, split_order, unbinarise_goodman
from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import fold

__all__ = ["mh", "mrl", "unmh", "unmrl"]

MOTHER, HEAD, FRAME, COMPLEMENT = "^", "~", "|", "+"
_MARKS = MOTHER + HEAD + FRAME + COMPLEMENT


def mrl(tree: Tree) -> Tree:
    """Right linearisation, as Goodman's: X -> A B C D becomes X -> A X_Cont, X_Cont -> B X_Cont, X_Cont -> C D.

    >>> print(mrl(Tree.parse("(VP (V gave) (NP (N her)) (NP (N tea)))")))
    (VP (V gave) (VP_Cont (NP (N her)) (NP (N tea))))
    """
    return binarise_goodman(tree)


def unmrl(tree: Tree) -> Tree:
    """The n-ary tree of an MRL tree."""
    return unbinarise_goodman(tree)


@dataclass(slots=True)
class _HeadedNode:
    """A node of the unary-free tree: its head child, the tag of its head word, and its complements (index of the child: label)."""

    label: str
    children: list[_HeadedNode | str]
    head: int
    tag: str
    complements: dict[int, str]
    is_tag: bool = False
    mother: str = ""


@on_placed
def mh(tree: Tree, rules: str | HeadRules = "collins") -> Tree:
    """The tree without unary productions, labels extended by mother and head tag, linearised around the head with frames.

    A -> L2 L1 H R1 R2 becomes A -> L2 @, @ -> L1 @, @ -> @ R2, @ -> H R1. Heads and complements are those of the tree as given,
    with its function tags and unary productions; then function tags are cut, and of a unary chain the top label stays (over one
    word, the tag). Remove traces, and a root that is no constituent, before.

    >>> tree = Tree.parse("(S (NP-SBJ (PRP he)) (VP (VBD gave) (NP (PRP her)) (NP (NN tea)) (NP-TMP (NN today))))")
    >>> print(mh(tree).pretty(80))
    (S^~VBD
      (PRP he)
      (VP^S~VBD
        (VP^S~VBD||NP+NP (VP^S~VBD||NP (VBD gave) (PRP her)) (NN tea))
        (NN today)))
    >>> print(unmh(mh(tree)))
    (S (PRP he) (VP (VBD gave) (PRP her) (NN tea) (NN today)))
    """
    rules = head_rules(rules)
    root = fold(tree, lambda node, children, above: _unary_free(node, children, rules))
    return _linear_tree(root)


def unmh(tree: Tree) -> Tree:
    """The unary-free n-ary tree of an MH tree, with plain labels."""
    return splice(tree, FRAME, lambda label: unescape_marks(split_marked(label, MOTHER)[0]))


def _unary_free(node: Tree, children: list[_HeadedNode | str], rules: HeadRules) -> _HeadedNode:
    label = base_label(node.label)
    if node.is_preterminal:
        return _HeadedNode(label, children, 0, label, {}, is_tag=True)
    if not children:
        return _HeadedNode(label, [], 0, "", {})
    if len(children) == 1:
        (only,) = children
        assert isinstance(only, _HeadedNode)
        only.label = only.label if only.is_tag else label
        return only
    head = rules.head_index(node)
    head_child = children[head]
    tag = "" if isinstance(head_child, str) else head_child.tag
    frame = {i: bare_label(node.children[i]) for i in complements(node, rules)}
    return _HeadedNode(label, children, head, tag, frame)


def _linear_tree(root: _HeadedNode) -> Tree:
    """The tree with extended labels, binary; built from the leaves, in the reverse of an order that goes down."""
    downwards = [root]
    for node in downwards:
        for child in node.children:
            if isinstance(child, _HeadedNode):
                child.mother = node.label
                downwards.append(child)
    built: dict[int, Tree] = {}
    for node in reversed(downwards):
        children = [child if isinstance(child, str) else built.pop(id(child)) for child in node.children]
        built[id(node)] = _tree(node, children)
    return built[id(root)]


def _tree(node: _HeadedNode, children: Sequence[Child]) -> Tree:
    label = escape_marks(node.label, _MARKS)
    if node.is_tag:
        return Tree(label, children)
    extended = join_marked(HEAD, [join_marked(MOTHER, [label, escape_marks(node.mother, _MARKS)]), escape_marks(node.tag, _MARKS)])
    order = split_order(len(children), node.head)
    wanted = [(step, i) for step, i in enumerate(order) if i in node.complements]

    def made(step: int) -> str:
        inside = [i for split_at, i in wanted if split_at >= step]
        sides = [i for i in inside if i < node.head], [i for i in inside if i > node.head]
        frames = (sorted(escape_marks(node.complements[i], _MARKS) for i in side) for side in sides)
        return join_marked(FRAME, [extended, *(join_marked(COMPLEMENT, frame) for frame in frames)])

    return linearise(extended, children, node.head, made)
