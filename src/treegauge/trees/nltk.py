"""Conversion to and from ``nltk.Tree``; nltk is imported only to make one of its trees."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

from treegauge.errors import Discontinuous, UsageError
from treegauge.trees.bracketed import escape_label, escape_word, restore_label, restore_word
from treegauge.trees.tree import Tree, fold, from_flat


class NltkTree(Protocol):
    """The part of ``nltk.Tree`` that we need: a label and iteration over children."""

    def label(self) -> str: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...


def is_nltk_tree(value: object) -> bool:
    """Whether ``value`` looks like an ``nltk.Tree`` (a list with a ``label()``)."""
    return isinstance(value, list) and callable(getattr(cast(object, value), "label", None))


def from_nltk(tree: NltkTree) -> Tree:
    """The Tree with the labels and words of an ``nltk.Tree``; escaped brackets are restored as on reading a file.

    A leaf that is a pair ``(word, tag)``, as in nltk's chunked sentences, becomes a preterminal.
    """
    flat: list[Any] = []
    stack: list[tuple[Any, bool]] = [(tree, False)]
    while stack:
        node, children_done = stack.pop()
        if not is_nltk_tree(node):
            flat.extend(_leaf(node))
        elif children_done:
            flat.append((restore_label(str(node.label())), len(node)))
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(node)))
    return from_flat(flat)


def _leaf(leaf: object) -> list[Any]:
    """The items of :func:`~treegauge.trees.tree.to_flat` for a leaf: its word, and its tag where it has one."""
    match leaf:
        case (str() as word, str() as tag):
            return [restore_word(word), (restore_label(tag), 1)]
        case _:
            return [restore_word(str(leaf))]


def to_nltk(tree: Tree) -> NltkTree:
    """An ``nltk.Tree`` with the same labels and words, brackets escaped so that nltk can print and read it back."""
    if not tree.is_continuous:
        advice = "Make the tree continuous first (continuous:raise or continuous:split)."
        raise Discontinuous("an nltk.Tree cannot hold crossing branches", advice=advice)
    try:
        make: Any = importlib.import_module("nltk.tree").Tree
    except ImportError:
        raise UsageError("to_nltk needs nltk: pip install nltk") from None

    def convert(node: Tree, children: list[Any], ancestors: Sequence[Tree]) -> Any:
        return make(escape_label(node.label), [escape_word(child) if isinstance(child, str) else child for child in children])

    return fold(tree, convert)
