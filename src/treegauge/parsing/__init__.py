"""Parsing: forests and their posteriors, the best tree for an objective, k-best, samples, span charts of other parsers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.errors import NoParse as NoParse, TooLong as TooLong
    from treegauge.parsing.chart_files import read_charts as read_charts, write_charts as write_charts
    from treegauge.parsing.expected import (
        Calibration as Calibration,
        ExpectedRates as ExpectedRates,
        calibrate as calibrate,
        expected_rates as expected_rates,
    )
    from treegauge.parsing.forest import Forest as Forest
    from treegauge.parsing.forest_views import ChartEntry as ChartEntry, ChartTable as ChartTable
    from treegauge.parsing.input import read_sentences as read_sentences
    from treegauge.parsing.objectives import OBJECTIVES as OBJECTIVES, Objective as Objective
    from treegauge.parsing.parse_parts import AnchoredRule as AnchoredRule, Frame as Frame, Link as Link
    from treegauge.parsing.parser import (
        ParsedSentence as ParsedSentence,
        Parser as Parser,
        Sentence as Sentence,
        fallback as fallback,
    )
    from treegauge.parsing.posterior_view import (
        Best as Best,
        Constituent as Constituent,
        CountedParts as CountedParts,
        Parse as Parse,
        PosteriorView as PosteriorView,
        SpanLabels as SpanLabels,
    )
    from treegauge.parsing.raw_text import split_sentences as split_sentences, tokenise as tokenise
    from treegauge.parsing.span_charts import (
        Confidence as Confidence,
        Marginals as Marginals,
        SpanChart as SpanChart,
        decode as decode,
        marginals as marginals,
    )
    from treegauge.parsing.span_weights import read_weights as read_weights
    from treegauge.parsing.tree_consensus import consensus as consensus
    from treegauge.parsing.tuned_decoding import TuningResult as TuningResult, tune as tune
else:
    __getattr__, __dir__ = lazy_names(__name__, folders=["latent"])
