"""Labels without what a treebank hangs on them: function tags, indices, features, roots, and X over X."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from treegauge.trees import Child, Tree
from treegauge.trees.rebuilding import rebuild

__all__ = [
    "ROOT_LABELS",
    "add_root",
    "base_label",
    "evalb_label",
    "function_tags",
    "relabel",
    "remove_added_root",
    "remove_redundant",
    "remove_root",
    "split_features",
    "strip_features",
    "strip_functions",
]

_CUT = re.compile(r"[-=]")
_FEATURES = re.compile(r"(##.*?(?:##|\Z))", re.DOTALL)

ROOT_LABELS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
"""Labels of a root that only holds the sentence together: the Penn Treebank's empty one, and those of other treebanks and tools."""


def relabel(tree: Tree, new: Callable[[str], str], *, tags: bool = True) -> Tree:
    """The tree with ``new(label)`` for each label; ``tags=False`` leaves preterminals alone.

    >>> print(relabel(Tree.parse("(s (np (n a)))"), str.upper, tags=False))
    (S (NP (n a)))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        keep = not tags and node.is_preterminal
        return [Tree(node.label if keep else new(node.label), children)]

    made = rebuild(tree, make)
    assert made is not None
    return made


def base_label(label: str) -> str:
    """The label without function tags and indices: cut at its first ``-`` or ``=``, unless it begins with one.

    SPMRL features stay, and nothing inside them is cut.

    >>> [base_label(label) for label in ["NP-SBJ-1", "NP=2", "-LRB-", "-NONE-", "ADVP|PRT", "NP-SUJ##g=m##"]]
    ['NP', 'NP', '-LRB-', '-NONE-', 'ADVP|PRT', 'NP##g=m##']
    """
    if "##" not in label:
        return _cut(label)
    pieces = _FEATURES.split(label)
    own, rest = _cut(pieces[0]), "".join(pieces[2::2])
    rest = "" if own != pieces[0] else evalb_label(rest)
    return own + "".join(pieces[1::2]) + rest


def evalb_label(label: str) -> str:
    """The label as EVALB compares it: cut at the first ``-`` or ``=`` wherever that is, so that ``-LRB-`` becomes the empty label.

    >>> [evalb_label(label) for label in ["NP-SBJ-1", "NP=2", "-LRB-", "=X"]]
    ['NP', 'NP', '', '']
    """
    return _CUT.split(label, maxsplit=1)[0]


def function_tags(label: str) -> tuple[str, ...]:
    """The function tags of a label, without the indices.

    >>> function_tags("NP-LOC-PRD-TPC-3"), function_tags("S=2"), function_tags("-NONE-")
    (('LOC', 'PRD', 'TPC'), (), ())
    """
    label = split_features(label)[0]
    if label[:1] in ("-", "="):
        return ()
    return tuple(tag for tag in _CUT.split(label)[1:] if tag and not tag.isdigit())


def split_features(label: str) -> tuple[str, dict[str, str]]:
    """The label without its SPMRL features, and the features by name; one without a value has the value ``""``.

    >>> split_features("NC##cpos=N|g=m|n=s##"), split_features("NP-SUJ")
    (('NC', {'cpos': 'N', 'g': 'm', 'n': 's'}), ('NP-SUJ', {}))
    """
    if "##" not in label:
        return label, {}
    pieces = _FEATURES.split(label)
    features = (feature.partition("=") for piece in pieces[1::2] for feature in piece.strip("#").split("|") if feature)
    return "".join(pieces[::2]), {name: value for name, _, value in features}


def strip_functions(tree: Tree, *, tags: bool = True, evalb: bool = False) -> Tree:
    """The tree with :func:`base_label` for each label (``evalb``: :func:`evalb_label`); ``tags=False`` leaves preterminals alone.

    >>> print(strip_functions(Tree.parse("(S (NP-SBJ-1 (PRP it)) (VP (VBD rained)) (-RRB- -RRB-))")))
    (S (NP (PRP it)) (VP (VBD rained)) (-RRB- -RRB-))
    """
    return relabel(tree, evalb_label if evalb else base_label, tags=tags)


def strip_features(tree: Tree) -> Tree:
    """The tree without SPMRL features, the text between ``##`` and ``##``.

    >>> print(strip_features(Tree.parse("(NP-SUJ##g=f## (NC##g=f|n=s## pluie))")))
    (NP-SUJ (NC pluie))
    """
    return relabel(tree, lambda label: split_features(label)[0])


def remove_redundant(tree: Tree) -> Tree:
    """The tree without X -> X: a node over one child of its own label goes (Bastings & Sima'an 2014, section 4).

    >>> print(remove_redundant(Tree.parse("(NP (NP (NP (NN rain)) (PP (IN in) (NP (NP (NN May))))))")))
    (NP (NP (NN rain)) (PP (IN in) (NP (NN May))))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        only = children[0] if len(children) == 1 else None
        return [only if isinstance(only, Tree) and only.label == node.label else node.replace(children=children)]

    made = rebuild(tree, make)
    assert made is not None
    return made


def remove_root(tree: Tree, labels: Collection[str] = ROOT_LABELS) -> Tree:
    """What stands under a root that only holds the sentence together; a root over more than one tree stays.

    >>> print(remove_root(Tree.parse("( (S (NP (PRP it)) (VP (VBD rained))))")))
    (S (NP (PRP it)) (VP (VBD rained)))
    """
    while tree.label in labels and len(tree.children) == 1 and isinstance(tree.children[0], Tree):
        tree = tree.children[0]
    return tree


def add_root(tree: Tree, label: str = "TOP") -> Tree:
    """The tree under a new root.

    >>> print(add_root(Tree.parse("(S (VP (VB go)))"), "ROOT"))
    (ROOT (S (VP (VB go))))
    """
    return Tree(label, [tree])


def remove_added_root(tree: Tree, label: str = "TOP") -> Tree:
    """The tree that :func:`add_root` was given; one without that root stays as it is.

    >>> print(remove_added_root(Tree.parse("(ROOT (S (VP (VB go))))"), "ROOT"))
    (S (VP (VB go)))
    """
    only = tree.children[0] if len(tree.children) == 1 else None
    return only if tree.label == label and isinstance(only, Tree) else tree


def _cut(label: str) -> str:
    return label if label[:1] in ("-", "=") else _CUT.split(label, maxsplit=1)[0]
