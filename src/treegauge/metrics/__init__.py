"""Metrics, one module per paper or tool: from a pair of treebanks to rows of counts, and from their sum to rates.

Names are imported when they are first used, so that ``treegauge evalb`` starts without NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.metrics.freval import Freval as Freval
    from treegauge.metrics.goodman import Goodman as Goodman
    from treegauge.metrics.induction import Induction as Induction
    from treegauge.metrics.leaf_ancestor import LeafAncestor as LeafAncestor
    from treegauge.metrics.metric import (
        Metric as Metric,
        Rates as Rates,
        Rows as Rows,
        Total as Total,
        f1 as f1,
        ratio as ratio,
        total_of as total_of,
    )
    from treegauge.metrics.parseval import DiscontinuousBrackets as DiscontinuousBrackets, Parseval as Parseval
    from treegauge.metrics.references import Reference as Reference, references_of as references_of
    from treegauge.metrics.registry import find_metric as find_metric, metric_names as metric_names
    from treegauge.metrics.simaan import Frames as Frames, ParentChild as ParentChild
else:
    __getattr__, __dir__ = lazy_names(__name__, folders=["breakdowns", "evalb", "hogenhout"])
