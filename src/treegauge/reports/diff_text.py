"""A tree diff in a terminal: the trees side by side where they fit, else one below the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from treegauge.reports.tree_diff import TreeDiff
from treegauge.trees import Tree
from treegauge.trees.drawing import draw_text, legend_text
from treegauge.trees.drawing.measure import columns

__all__ = ["diff_text"]

_BETWEEN = 4
Charset = Literal["unicode", "ascii"]


def diff_text(diff: TreeDiff, *, width: int = 100, fold: bool = True, charset: Charset = "unicode", legend: bool = True) -> str:
    """Both trees with their marks, in at most ``width`` columns if they can be.

    >>> from treegauge.reports.tree_diff import diff as difference
    >>> print(diff_text(difference("(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (N a)) (V b) (NP (N c)))"), fold=False))
    <string>:1: gold: 3 matched, 1 missed; test: 3 matched
    <BLANKLINE>
    gold             test
        S ✓               S ✓
      ┌──┴──┐          ┌───┼────┐
    NP ✓  VP ∅       NP ✓  │  NP ✓
      │   ┌─┴──┐       │   │    │
      │   │  NP ✓      N   V    N
      │   │    │       a   b    c
      N   V    N
      a   b    c
    <BLANKLINE>
    ✓ matched   ∅ missed
    """
    pictures = [_drawn(diff, name, tree, marks, width, fold, charset) for name, tree, marks in diff.sides]
    lines = [f"{diff.place}: {diff.summary}", ""]
    widths = [max(map(columns, picture)) for picture in pictures]
    if len(pictures) == 2 and sum(widths) + _BETWEEN <= width:
        lines += _beside(pictures[0], pictures[1], widths[0] + _BETWEEN)
    else:
        lines += [line for picture in pictures for line in [*picture, ""]][:-1]
    used = {mark for _, _, marks in diff.sides for mark in marks.values()}
    if legend and used:
        lines += ["", legend_text(used, charset=charset)]
    return "\n".join(lines)


def _drawn(diff: TreeDiff, name: str, tree: Tree, marks: Mapping[int, str], width: int, fold: bool, charset: Charset) -> list[str]:
    folded = diff.folded(tree, marks) if fold else frozenset[int]()
    return [name, *draw_text(tree, marks, width=width, charset=charset, folded=folded, legend=False).split("\n")]


def _beside(left: list[str], right: list[str], at: int) -> list[str]:
    """Two pictures in two columns; the second begins at a column."""
    height = max(len(left), len(right))
    rows = zip(left + [""] * (height - len(left)), right + [""] * (height - len(right)), strict=True)
    return [(a + " " * (at - columns(a)) + b).rstrip() for a, b in rows]
