"""All metrics by name, for ``--metric``, ``--list``, ``explain``, ``cite``, the docs and the property tests.

Options may follow a name after colons: ``goodman:pre``, ``freval:published``.
"""

from __future__ import annotations

import importlib
from typing import cast

from treegauge.errors import check_name
from treegauge.metrics.metric import Metric
from treegauge.tables import british

METRICS: dict[str, str] = {
    "parseval": "treegauge.metrics.parseval:Parseval",
    "discontinuous": "treegauge.metrics.parseval:DiscontinuousBrackets",
    "goodman": "treegauge.metrics.goodman:Goodman",
    "parent-child": "treegauge.metrics.simaan:ParentChild",
    "frames": "treegauge.metrics.simaan:Frames",
    "leaf-ancestor": "treegauge.metrics.leaf_ancestor:LeafAncestor",
    "hogenhout": "treegauge.metrics.hogenhout:Hogenhout",
    "freval": "treegauge.metrics.freval:Freval",
    "induction": "treegauge.metrics.induction:Induction",
}
"""Name -> ``module:class``. The class, called with no arguments, is the metric with its defaults."""


def metric_names() -> list[str]:
    """The names of all metrics, in the order in which they are shown."""
    return list(METRICS)


def compared_metrics(*, discontinuous: bool = False) -> list[str]:
    """The metrics by which systems are compared if none is named; on discontinuous trees, those that are defined for them.

    >>> set(compared_metrics(discontinuous=True)) - set(compared_metrics())
    {'discontinuous'}
    """
    if discontinuous:
        return [name for name in METRICS if metric_class(name).discontinuous]
    return [name for name in METRICS if name not in ("discontinuous", "induction")]


def find_metric(name: str) -> Metric:
    """The metric of that name.

    >>> find_metric("parseval").headline
    'f1'
    """
    base, *words = name.split(":")
    return metric_class(base).with_options(*words)


def metric_class(name: str) -> type[Metric]:
    """The class of the metric of that name, without options."""
    check_name("metric", name, METRICS)
    module, _, attribute = METRICS[name].partition(":")
    return cast("type[Metric]", getattr(importlib.import_module(module), attribute))


_EXACT_MATCH = dict.fromkeys(("exact", "em", "complete_match"), "exact_match")
_F1 = dict.fromkeys(("lf", "f", "f-score", "fscore", "f-measure", "fmeasure"), "f1")
_ABBREVIATIONS = {"lr": "recall", "lp": "precision", "cb": "average_crossing", **_F1, **_EXACT_MATCH}


def rate_name(word: str) -> str:
    """The name of a rate, given by itself, as tables print it, or by the abbreviation of the papers.

    >>> rate_name("lr"), rate_name("parseval.cb"), rate_name("labeled_recall"), rate_name("F1"), rate_name("exact match")
    ('recall', 'parseval.average_crossing', 'labelled_recall', 'f1', 'exact_match')
    """
    metric, dot, rate = british(word.strip().lower().replace(" ", "_")).rpartition(".")
    return metric + dot + _ABBREVIATIONS.get(rate, rate)
