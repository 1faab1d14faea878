"""Trees as pictures: text for a terminal, SVG for everything else.

Nodes are numbered in pre-order (:meth:`Tree.nodes <treegauge.trees.Tree.nodes>`), and a comparison can mark them:
``{3: "crossing", 5: "matched focus"}``. Besides its colour every mark has a symbol, a shape and a line of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.trees.drawing.layout import (
        Item as Item,
        Layout as Layout,
        fold_settled as fold_settled,
        fold_to as fold_to,
        lay_out as lay_out,
        tree_items as tree_items,
    )
    from treegauge.trees.drawing.marks import MARKS as MARKS, Mark as Mark, legend_text as legend_text
    from treegauge.trees.drawing.svg import STYLESHEET as STYLESHEET, draw_svg as draw_svg, legend_svg as legend_svg
    from treegauge.trees.drawing.terminal import draw_text as draw_text
else:
    __getattr__, __dir__ = lazy_names(__name__)
