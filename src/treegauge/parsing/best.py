"""What decoding gives back."""

from __future__ import annotations

from typing import NamedTuple

from treegauge.trees.tree import Tree

__all__ = ["DUMMY", "Best"]

DUMMY = "X"
"""The label of a bracket whose label was not asked for."""


class Best(NamedTuple):
    """The best tree for an objective, and its expected score."""

    tree: Tree
    score: float
