"""Heads: the head child of a node by rules, and the head word that percolates up from it.

Rules are known by name: ``collins`` (the table of Collins 1999, for Penn Treebank labels), ``left`` and ``right`` (the first child
from that side that is neither punctuation nor a trace). Anything else is the path of a rule file, see
:mod:`treegauge.normalise.rulefile`.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from treegauge.errors import UnknownName
from treegauge.normalise.rulefile import HeadRules
from treegauge.trees import Child, Tree

__all__ = ["HEAD_RULES", "head_index", "head_positions", "head_rules", "head_tag", "head_word"]

HEAD_RULES = ("collins", "left", "right")
"""The names of the head rules that treegauge brings along."""


def head_rules(name: str | HeadRules = "collins") -> HeadRules:
    """Head rules by name, or from the rule file of that path.

    >>> head_rules("collins").head_index(Tree.parse("(NP (DT the) (NN cat) (PP (IN on) (NP (DT the) (NN mat))))"))
    1
    """
    if isinstance(name, HeadRules):
        return name
    if name in HEAD_RULES:
        return _named(name)
    if Path(name).is_file():
        return HeadRules.read(name)
    raise UnknownName("set of head rules (and no such file)", name, HEAD_RULES)


@cache
def _named(name: str) -> HeadRules:
    if name == "collins":
        text = (resources.files("treegauge.normalise") / "collins1999.heads").read_text(encoding="utf-8")
        return HeadRules.parse(text, name)
    return HeadRules.parse(f"* {name}\n%skip , . : `` '' -LRB- -RRB- -NONE-", name)


def head_index(node: Tree, rules: str | HeadRules = "collins") -> int:
    """The index of a node's head child.

    >>> head_index(Tree.parse("(VP (MD will) (VP (VB rain)))"))
    0
    """
    return head_rules(rules).head_index(node)


def head_positions(tree: Tree, rules: str | HeadRules = "collins") -> list[int]:
    """For each node in pre-order the position of its head word, which is the head child's; -1 for a node without words.

    >>> tree = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))")
    >>> [(node.label, tree.words[i]) for node, i in zip(tree.nodes(), head_positions(tree)) if not node.is_preterminal]
    [('S', 'sat'), ('NP', 'cat'), ('VP', 'sat'), ('PP', 'on'), ('NP', 'mat')]
    """
    rules = head_rules(rules)
    nodes = list(tree.nodes_with_spans())
    positions = [-1] * len(nodes)
    # In reverse pre-order a node's children come before it; their rows follow from the sizes of their left siblings.
    for row in range(len(nodes) - 1, -1, -1):
        node, position, _ = nodes[row]
        if not node.width:
            continue
        head = rules.head_index(node)
        child_row = row + 1
        for child in node.children[:head]:
            child_row += child.size if isinstance(child, Tree) else 0
            position += child.width if isinstance(child, Tree) else 1
        positions[row] = position if isinstance(node.children[head], str) else positions[child_row]
    return positions


def head_word(tree: Tree, rules: str | HeadRules = "collins") -> str:
    """The head word of a tree; ``""`` if it has no words.

    >>> head_word(Tree.parse("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (NN board))))"))
    'cat'
    """
    return _head_leaf(tree, head_rules(rules))[0]


def head_tag(tree: Tree, rules: str | HeadRules = "collins") -> str:
    """The tag of a tree's head word; ``""`` if it has no words, or no tag.

    >>> head_tag(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"))
    'VBD'
    """
    return _head_leaf(tree, head_rules(rules))[1]


def _head_leaf(tree: Tree, rules: HeadRules) -> tuple[str, str]:
    node: Child = tree
    tag = ""
    while isinstance(node, Tree):
        if not node.width:
            return "", ""
        tag = node.label if node.is_preterminal else ""
        node = node.children[rules.head_index(node)]
    return node, tag
