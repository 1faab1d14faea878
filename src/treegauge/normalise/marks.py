r"""Labels made of labels: parts put together with a mark, such that they come apart again whatever the treebank's labels contain.

Transforms that must be undone write what they know into the label: ``NP+NN`` for a collapsed chain, ``VP^S`` for a parent,
``VP|NP`` for a node that binarisation made. A treebank may use the same characters (the Penn Treebank has a label ``ADVP|PRT``),
so inside a part a mark is escaped by a backslash, and a backslash by another. ``-LRB-`` inside a longer label would be read
back from a file as a bracket; it is written ``-\LRB-``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from treegauge.trees import Child, Tree

__all__ = ["escape", "has_mark", "join", "parts", "splice", "unescape"]

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BRACKET = re.compile(r"-(?=[LR]RB-)")


def escape(label: str, marks: Sequence[str]) -> str:
    r"""The label with every mark in it escaped.

    >>> print(escape("ADVP|PRT", "|^"))
    ADVP\|PRT
    """
    if "\\" in label:
        label = label.replace("\\", "\\\\")
    for mark in marks:
        if mark in label:
            label = label.replace(mark, "\\" + mark)
    return label


def unescape(label: str) -> str:
    r"""The label that :func:`escape` or :func:`join` was given.

    >>> unescape(r"ADVP\|PRT"), unescape(r"-\LRB-")
    ('ADVP|PRT', '-LRB-')
    """
    return _ESCAPED.sub(r"\1", label) if "\\" in label else label


def join(mark: str, pieces: Sequence[str]) -> str:
    r"""Escaped pieces put together with a mark, safe to be written to a file and read back.

    >>> print(join("+", ["PRN", "-LRB-"]))
    PRN+-\LRB-
    """
    joined = mark.join(pieces)
    return _BRACKET.sub(r"-\\", joined) if "RB-" in joined and len(pieces) > 1 else joined


def parts(label: str, mark: str) -> list[str]:
    r"""The pieces of a label between its marks, still escaped; an escaped mark is part of a piece.

    >>> parts(r"A\|B|C|", "|")
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
    return mark in label and ("\\" not in label or len(parts(label, mark)) > 1)


def splice(tree: Tree, mark: str, plain: Callable[[str], str]) -> Tree:
    """The tree without the nodes whose label has the mark, their children moved up; other labels become ``plain(label)``.

    A marked root stays, under the label it was made from, and so does a marked tag: no word is left without one.

    >>> print(splice(Tree.parse("(S (A a) (S| (B b) (C c)))"), "|", str.lower))
    (s (a a) (b b) (c c))
    """
    stack = [(plain(parts(tree.label, mark)[0]), list[Child](), _unmarked(tree, mark))]
    while True:
        label, done, rest = stack[-1]
        child = next(rest, None)
        if isinstance(child, str):
            done.append(child)
        elif child is not None:
            stack.append((plain(parts(child.label, mark)[0]), [], _unmarked(child, mark)))
        else:
            stack.pop()
            made = Tree(label, done)
            if not stack:
                return made
            stack[-1][1].append(made)


def _unmarked(node: Tree, mark: str) -> Iterator[Child]:
    """The children of a node, those of marked children in their place; linear in their number, however deep they lie."""
    stack: list[Child] = list(reversed(node.children))
    while stack:
        child = stack.pop()
        if isinstance(child, Tree) and has_mark(child.label, mark) and not child.is_preterminal:
            stack.extend(reversed(child.children))
        else:
            yield child
