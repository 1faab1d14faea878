"""Trees as values and as columns, their bracketed text, and their drawings."""

from __future__ import annotations

from treegauge.trees.discontinuous import DiscontinuousTree
from treegauge.trees.notation import parse_discbracket
from treegauge.trees.tree import Child, Production, Span, Tree
from treegauge.trees.treebank import Origin, Treebank

__all__ = ["Child", "DiscontinuousTree", "Origin", "Production", "Span", "Tree", "Treebank", "parse_discbracket"]
