"""Sentence length, and the filter that keeps short sentences."""

from __future__ import annotations

from collections.abc import Collection

from treegauge.normalise.traces import TRACE_TAGS
from treegauge.trees import Tree

__all__ = ["keep_short", "sentence_length"]


def sentence_length(tree: Tree, ignore: Collection[str] = TRACE_TAGS) -> int:
    """The number of words; leaves with a tag in ``ignore`` are none (traces, as in EVALB's ``DELETE_LABEL_FOR_LENGTH``).

    >>> sentence_length(Tree.parse("(S (NP (-NONE- *)) (VP (VB go) (NP (NN home))) (. .))"))
    3
    """
    return sum(tag not in ignore for _, tag in tree.tagged())


def keep_short(tree: Tree, longest: int = 40, ignore: Collection[str] = TRACE_TAGS) -> Tree | None:
    """The tree if its sentence has at most ``longest`` words, else ``None`` (Goodman 1996: forty or fewer symbols).

    >>> keep_short(Tree.parse("(S (VP (VB go) (NP (NN home))))"), 1) is None
    True
    """
    return tree if sentence_length(tree, ignore) <= longest else None
