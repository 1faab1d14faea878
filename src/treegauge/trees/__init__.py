"""Trees as values and as columns, their bracketed text, their drawings."""

from __future__ import annotations

from treegauge.trees.tree import Child, Production, Span, Tree
from treegauge.trees.treebank import Origin, Treebank

__all__ = ["Child", "Origin", "Production", "Span", "Tree", "Treebank"]
