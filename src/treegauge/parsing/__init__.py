"""Parsing: forests and their posteriors, the best tree for an objective, k-best, samples, span charts from
elsewhere."""

from treegauge.parsing.best import Best
from treegauge.parsing.consensus import consensus
from treegauge.parsing.forest import Forest, Parse
from treegauge.parsing.objectives import OBJECTIVES, Objective
from treegauge.parsing.posteriors import Anchored, Constituent, Frame, Link
from treegauge.parsing.spans import Marginals, decode, marginals

__all__ = [
    "OBJECTIVES",
    "Anchored",
    "Best",
    "Constituent",
    "Forest",
    "Frame",
    "Link",
    "Marginals",
    "Objective",
    "Parse",
    "consensus",
    "decode",
    "marginals",
]
