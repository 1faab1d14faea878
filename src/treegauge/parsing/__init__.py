"""Parsing: forests and their posteriors, the best tree for an objective, k-best, samples, span charts from
elsewhere.
"""

from __future__ import annotations

from treegauge.parsing.chart_files import read_charts, write_charts
from treegauge.parsing.derivations import Best
from treegauge.parsing.forest import Forest, Parse
from treegauge.parsing.objectives import OBJECTIVES, Objective, consensus
from treegauge.parsing.posteriors import Anchored, Constituent, Frame, Link
from treegauge.parsing.span_charts import Confidence, Marginals, SpanChart, decode, marginals
from treegauge.parsing.tuning import Tuned, tune

__all__ = [
    "OBJECTIVES",
    "Anchored",
    "Best",
    "Confidence",
    "Constituent",
    "Forest",
    "Frame",
    "Link",
    "Marginals",
    "Objective",
    "Parse",
    "SpanChart",
    "Tuned",
    "consensus",
    "decode",
    "marginals",
    "read_charts",
    "tune",
    "write_charts",
]
