"""Results for readers: score tables, figures, tree diffs, explanations, and the report page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.reports.comparison_figures import comparison_figure as comparison_figure
    from treegauge.reports.plots import draw_svg_as as draw_svg_as, write_figure as write_figure
    from treegauge.reports.reporting import Report as Report
    from treegauge.reports.tree_diff import TreeDiff as TreeDiff
else:
    __getattr__, __dir__ = lazy_names(__name__)
