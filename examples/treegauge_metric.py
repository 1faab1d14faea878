"""treegauge as a metric of the library ``evaluate``, loaded from this file.

    import evaluate
    f1 = evaluate.load("examples/treegauge_metric.py")
    f1.compute(predictions=["(S (NP (N rain)) (VP (V fell)))"], references=["(S (NP (N rain)) (V fell))"])

Predictions and references are bracketed trees, one string per sentence. A prediction that cannot be read is a
sentence without a parse.
``config_name`` is the name of a metric of treegauge, ``parseval`` unless given: ``evaluate.load("...", "goodman")``.
"""

from __future__ import annotations

from typing import Any

import datasets
import evaluate

import treegauge

_DESCRIPTION = "Scores of constituency parses: PARSEVAL as EVALB counts it, and the other metrics of treegauge."
_INPUTS = "predictions and references: bracketed trees, one string per sentence; preset: what counts, as in treegauge score -p."


class TreegaugeMetric(evaluate.Metric):
    """The rates of one metric of treegauge, as fractions, and the signature that says how they were counted."""

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features({"predictions": datasets.Value("string"), "references": datasets.Value("string")})
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="Cite the paper behind the metric: treegauge cite METRIC",
            inputs_description=_INPUTS,
            features=features,
        )

    def _compute(self, predictions: list[str], references: list[str], preset: str | None = None) -> dict[str, Any]:
        name = "parseval" if self.config_name == "default" else self.config_name
        result = treegauge.score(references, predictions, metric=name, preset=preset)
        return {**result.rates, "problems": len(result.problems), "signature": str(result.signature)}
