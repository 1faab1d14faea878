"""Trees as values and as columns, their bracketed text, and their drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names
from treegauge.trees.discontinuous import DiscontinuousTree
from treegauge.trees.tree import Child, Production, Span, Tree
from treegauge.trees.treebank import Origin, Treebank

if TYPE_CHECKING:
    from treegauge.trees.notation import parse_discbracket
else:
    __getattr__, __dir__ = lazy_names(__name__, folders=["drawing"])

__all__ = ["Child", "DiscontinuousTree", "Origin", "Production", "Span", "Tree", "Treebank", "parse_discbracket"]
