r"""Labels: without function tags, indices, features and roots; and labels made of several labels, joined by a mark.

Transforms that can be undone write what they need for it into the label: ``NP+NN`` for a collapsed chain, ``VP^S`` for a parent,
``VP|NP`` for a node made by binarisation. A treebank may use the same characters (the Penn Treebank has a label ``ADVP|PRT``), so
inside a part a mark is escaped by a backslash, and a backslash by another. ``-LRB-`` inside a longer label would be read from a
file as a bracket; it is written ``-\LRB-``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import rebuild_whole

_CUT = re.compile(r"[-=]")
_FEATURES = re.compile(r"(##.*?(?:##|\Z))", re.DOTALL)

ROOT_LABELS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
"""Labels of roots that are not constituents: the empty label of the Penn Treebank, and those of other treebanks and tools."""


def relabel(tree: Tree, new: Callable[[str], str], *, tags: bool = True) -> Tree:
    """The tree with ``new(label)`` for each label; ``tags=False`` leaves preterminals alone.

    >>> print(relabel(Tree.parse("(s (np (n a)))"), str.upper, tags=False))
    (S (NP (n a)))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        keep = not tags and node.is_preterminal
        return [Tree(node.label if keep else new(node.label), children)]

    return rebuild_whole(tree, make)


def base_label(label: str) -> str:
    """The label without function tags and indices: cut at its first ``-`` or ``=``, unless it begins with one.

    SPMRL features stay, and nothing inside them is cut.

    >>> [base_label(label) for label in ["NP-SBJ-1", "NP=2", "-LRB-", "-NONE-", "ADVP|PRT", "NP-SUJ##g=m##"]]
    ['NP', 'NP', '-LRB-', '-NONE-', 'ADVP|PRT', 'NP##g=m##']
    """
    if "##" not in label:
        return _without_suffixes(label)
    pieces = _FEATURES.split(label)
    own, rest = _without_suffixes(pieces[0]), "".join(pieces[2::2])
    rest = "" if own != pieces[0] else evalb_label(rest)
    return own + "".join(pieces[1::2]) + rest


def evalb_label(label: str) -> str:
    """The label as EVALB compares it: cut at the first ``-`` or ``=`` wherever it is, so that ``-LRB-`` becomes the empty label.

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
    """The label without its SPMRL features, and the features by name; the value of a feature may be ``""``.

    >>> split_features("NC##cpos=N|g=m|n=s##"), split_features("NP-SUJ")
    (('NC', {'cpos': 'N', 'g': 'm', 'n': 's'}), ('NP-SUJ', {}))
    """
    if "##" not in label:
        return label, {}
    pieces = _FEATURES.split(label)
    features = (feature.partition("=") for piece in pieces[1::2] for feature in piece.strip("#").split("|") if feature)
    return "".join(pieces[::2]), {name: value for name, _, value in features}


def strip_functions(tree: Tree, *, tags: bool = True, evalb: bool = False, before: str = "") -> Tree:
    """The tree with :func:`base_label` for each label (``evalb``: :func:`evalb_label`); ``tags=False`` leaves preterminals alone.

    ``before`` is the mark behind functions that stand before the label, which is cut at the last one; of tags, nothing else is cut
    then.

    >>> print(strip_functions(Tree.parse("(STA+fcl (SUBJ+np- (H+n chuva)) (P+v-fin caiu))"), before="+"))
    (fcl (np (n chuva)) (v-fin caiu))
    >>> print(strip_functions(Tree.parse("(S (NP-SBJ-1 (PRP it)) (VP (VBD rained)) (-RRB- -RRB-))")))
    (S (NP (PRP it)) (VP (VBD rained)) (-RRB- -RRB-))
    """
    if before:
        tree = relabel(tree, lambda label: label.rpartition(before)[2] or label, tags=tags)
    return relabel(tree, evalb_label if evalb else base_label, tags=tags and not before)


def strip_features(tree: Tree) -> Tree:
    """The tree without SPMRL features, the text between ``##`` and ``##``.

    >>> print(strip_features(Tree.parse("(NP-SUJ##g=f## (NC##g=f|n=s## pluie))")))
    (NP-SUJ (NC pluie))
    """
    return relabel(tree, lambda label: split_features(label)[0])


def remove_redundant(tree: Tree) -> Tree:
    """The tree without X -> X: a node over one child of its own label is removed (Bastings & Sima'an 2014, section 4).

    >>> print(remove_redundant(Tree.parse("(NP (NP (NP (NN rain)) (PP (IN in) (NP (NP (NN May))))))")))
    (NP (NP (NN rain)) (PP (IN in) (NP (NN May))))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        only = children[0] if len(children) == 1 else None
        return [only if isinstance(only, Tree) and only.label == node.label else node.replace(children=children)]

    return rebuild_whole(tree, make)


def remove_root(tree: Tree, labels: Collection[str] = ROOT_LABELS) -> Tree:
    """The tree below a root that is not a constituent; a root over several children is kept.

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
    """The tree that :func:`add_root` was given; a tree without that root is returned unchanged.

    >>> print(remove_added_root(Tree.parse("(ROOT (S (VP (VB go))))"), "ROOT"))
    (S (VP (VB go)))
    """
    only = tree.children[0] if len(tree.children) == 1 else None
    return only if tree.label == label and isinstance(only, Tree) else tree


def _without_suffixes(label: str) -> str:
    return label if label[:1] in ("-", "=") else _CUT.split(label, maxsplit=1)[0]


_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BRACKET = re.compile(r"-(?=[LR]RB-)")


def escape_marks(label: str, marks: Sequence[str]) -> str:
    r"""The label with every mark in it escaped.

    >>> print(escape_marks("ADVP|PRT", "|^"))
    ADVP\|PRT
    """
    if "\\" in label:
        label = label.replace("\\", "\\\\")
    for mark in marks:
        if mark in label:
            label = label.replace(mark, "\\" + mark)
    return label


def unescape_marks(label: str) -> str:
    r"""The label that :func:`escape_marks` or :func:`join_marked` was given.

    >>> unescape_marks(r"ADVP\|PRT"), unescape_marks(r"-\LRB-")
    ('ADVP|PRT', '-LRB-')
    """
    return _ESCAPED.sub(r"\1", label) if "\\" in label else label


def join_marked(mark: str, pieces: Sequence[str]) -> str:
    r"""Escaped pieces joined by a mark into a label that can be written to a file and read back.

    >>> print(join_marked("+", ["PRN", "-LRB-"]))
    PRN+-\LRB-
    """
    joined = mark.join(pieces)
    return _BRACKET.sub(r"-\\", joined) if "RB-" in joined and len(pieces) > 1 else joined


def split_marked(label: str, mark: str) -> list[str]:
    r"""The pieces of a label between its marks, still escaped; an escaped mark is part of a piece.

    >>> split_marked(r"A\|B|C|", "|")
    ['A\\|B', 'C', '']
    """
    if mark not in label:
        return [label]
    if "\\" not in label:
        return label.split(mark)
    found: list[str] = []
    begin = 0
    for match in re.finditer(r"\\.|" + re.escape(mark), label, re.DOTALL):
        if match.group() == mark:
            found.append(label[begin : match.start()])
            begin = match.end()
    return [*found, label[begin:]]


def has_mark(label: str, mark: str) -> bool:
    """Whether the label has a mark that is not escaped."""
    return mark in label and ("\\" not in label or len(split_marked(label, mark)) > 1)


@on_placed
def splice(tree: Tree, mark: str, plain: Callable[[str], str]) -> Tree:
    """The tree without the nodes whose label has the mark, their children moved up; other labels become ``plain(label)``.

    A marked root stays, under the label it was made from, and so does a marked tag, so that every word keeps a tag.

    >>> print(splice(Tree.parse("(S (A a) (S| (B b) (C c)))"), "|", str.lower))
    (s (a a) (b b) (c c))
    """
    stack = [(plain(split_marked(tree.label, mark)[0]), list[Child](), _children_below_marks(tree, mark))]
    while True:
        label, done, rest = stack[-1]
        child = next(rest, None)
        if isinstance(child, str):
            done.append(child)
        elif child is not None:
            stack.append((plain(split_marked(child.label, mark)[0]), [], _children_below_marks(child, mark)))
        else:
            stack.pop()
            made = Tree(label, done)
            if not stack:
                return made
            stack[-1][1].append(made)


def _children_below_marks(node: Tree, mark: str) -> Iterator[Child]:
    """The children of a node, with the children of marked ones in their place; in linear time at any depth."""
    stack: list[Child] = list(reversed(node.children))
    while stack:
        child = stack.pop()
        if isinstance(child, Tree) and has_mark(child.label, mark) and not child.is_preterminal:
            stack.extend(reversed(child.children))
        else:
            yield child
