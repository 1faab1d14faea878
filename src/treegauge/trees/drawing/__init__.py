"""Trees as pictures: text for a terminal, SVG for everything else.

Nodes are numbered in pre-order (:meth:`Tree.nodes <treegauge.trees.Tree.nodes>`), and a comparison can mark them:
``{3: "crossing", 5: "matched focus"}``. Besides its colour every mark has a symbol, a shape and a line of its own.
"""

from __future__ import annotations

from treegauge.trees.drawing.layout import Item, Layout, fold_settled, fold_to, lay_out, tree_items
from treegauge.trees.drawing.marks import MARKS, Mark, legend_text
from treegauge.trees.drawing.svg import STYLESHEET, draw_svg, legend_svg
from treegauge.trees.drawing.terminal import draw_text

__all__ = [
    "MARKS",
    "STYLESHEET",
    "Item",
    "Layout",
    "Mark",
    "draw_svg",
    "draw_text",
    "fold_settled",
    "fold_to",
    "lay_out",
    "legend_svg",
    "legend_text",
    "tree_items",
]
