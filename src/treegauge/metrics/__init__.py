"""Metrics, one module per paper or tool: from a pair of treebanks to rows of counts, and from their sum to rates.

Names are imported when they are first used, so that ``treegauge evalb`` starts without NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.metrics.freval import Freval
    from treegauge.metrics.goodman import Goodman
    from treegauge.metrics.induction import Induction
    from treegauge.metrics.leaf_ancestor import LeafAncestor
    from treegauge.metrics.metric import Metric, Rates, Rows, Total, f1, ratio, total_of
    from treegauge.metrics.parseval import DiscontinuousBrackets, Parseval
    from treegauge.metrics.references import Reference, references_of
    from treegauge.metrics.registry import find_metric, metric_names
    from treegauge.metrics.simaan import Frames, ParentChild
else:
    __getattr__ = lazy_names(__name__)

__all__ = [
    "DiscontinuousBrackets",
    "Frames",
    "Freval",
    "Goodman",
    "Induction",
    "LeafAncestor",
    "Metric",
    "ParentChild",
    "Parseval",
    "Rates",
    "Reference",
    "Rows",
    "Total",
    "f1",
    "find_metric",
    "metric_names",
    "ratio",
    "references_of",
    "total_of",
]
