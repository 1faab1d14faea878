"""Parsing: forests and their posteriors, the best tree for an objective, k-best, samples, span charts of other parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names
from treegauge.errors import NoParse, TooLong

if TYPE_CHECKING:
    from treegauge.parsing.chart_files import read_charts, write_charts
    from treegauge.parsing.expected import Calibration, ExpectedRates, calibrate, expected_rates
    from treegauge.parsing.forest import Forest
    from treegauge.parsing.forest_views import ChartEntry, ChartTable
    from treegauge.parsing.input import read_sentences
    from treegauge.parsing.objectives import OBJECTIVES, Objective
    from treegauge.parsing.parse_parts import AnchoredRule, Frame, Link
    from treegauge.parsing.parser import ParsedSentence, Parser, Sentence, fallback
    from treegauge.parsing.posterior_view import Best, Constituent, CountedParts, Parse, PosteriorView, SpanLabels
    from treegauge.parsing.raw_text import split_sentences, tokenise
    from treegauge.parsing.span_charts import Confidence, Marginals, SpanChart, decode, marginals
    from treegauge.parsing.span_weights import read_weights
    from treegauge.parsing.tree_consensus import consensus
    from treegauge.parsing.tuned_decoding import TuningResult, tune
else:
    __getattr__ = lazy_names(__name__)

__all__ = [
    "OBJECTIVES",
    "AnchoredRule",
    "Best",
    "Calibration",
    "ChartEntry",
    "ChartTable",
    "Confidence",
    "Constituent",
    "CountedParts",
    "ExpectedRates",
    "Forest",
    "Frame",
    "Link",
    "Marginals",
    "NoParse",
    "Objective",
    "Parse",
    "ParsedSentence",
    "Parser",
    "PosteriorView",
    "Sentence",
    "SpanChart",
    "SpanLabels",
    "TooLong",
    "TuningResult",
    "calibrate",
    "consensus",
    "decode",
    "expected_rates",
    "fallback",
    "marginals",
    "read_charts",
    "read_sentences",
    "read_weights",
    "split_sentences",
    "tokenise",
    "tune",
    "write_charts",
]
