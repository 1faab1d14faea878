"""All metrics by name: what ``--metric``, ``--list``, ``explain``, ``cite``, the docs and the property tests iterate.

A name may carry options after colons: ``goodman:pre``, ``freval:published``.
"""

from __future__ import annotations

import importlib
from typing import cast

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.base import Metric

__all__ = ["METRICS", "find_metric", "metric_names"]

METRICS: dict[str, str] = {
    "parseval": "treegauge.metrics.parseval:Parseval",
    "goodman": "treegauge.metrics.goodman:Goodman",
    "parent-child": "treegauge.metrics.simaan:ParentChild",
    "frames": "treegauge.metrics.simaan:Frames",
    "leaf-ancestor": "treegauge.metrics.leaf_ancestor:LeafAncestor",
    "hogenhout": "treegauge.metrics.hogenhout:Hogenhout",
    "freval": "treegauge.metrics.freval:Freval",
}
"""Name -> ``module:class``. The class, called with no arguments, is the metric with its defaults; if it takes options after
colons it has a class method ``with_options(*words)``."""


def metric_names() -> list[str]:
    """The names of all metrics, in the order in which they are shown."""
    return list(METRICS)


def find_metric(name: str) -> Metric:
    """The metric of that name.

    >>> find_metric("parseval").headline
    'f1'
    """
    base, *words = name.split(":")
    if base not in METRICS:
        raise UnknownName("metric", base, METRICS)
    module, _, attribute = METRICS[base].partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    if not words:
        return cast(Metric, kind())
    if not hasattr(kind, "with_options"):
        raise UsageError(f"the metric {base!r} takes no options, but {name!r} gives some")
    return cast(Metric, kind.with_options(*words))
