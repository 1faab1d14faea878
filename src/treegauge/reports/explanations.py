"""Explanations of metrics from their own descriptions: definition, counts, rates, options, papers."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator

from treegauge.metrics.base import Metric
from treegauge.metrics.registry import find_metric, references_of
from treegauge.scoring.score import score

__all__ = ["explained"]

_GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))"
_TEST = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on)) (NP (DT the) (NN mat))))"


def explained(name: str) -> str:
    """A metric in plain text: its definition, an example computed on the spot, its counts, options and papers."""
    metric = find_metric(name)
    return "\n".join(_lines(name, metric))


def _lines(name: str, metric: Metric) -> Iterator[str]:
    yield f"{name}: {metric.summary}"
    yield ""
    yield from _prose(metric)
    yield ""
    result = score(_GOLD, _TEST, name)
    yield "An example:"
    yield f"  gold  {_GOLD}"
    yield f"  test  {_TEST}"
    width = max(map(len, result.rates))
    for rate, value in result.rates.items():
        shown = "-" if math.isnan(value) else f"{value:.4f}"
        yield f"  {rate:{width}}  {shown}{_symmetry(metric, rate)}"
    yield ""
    yield f"Counts a sentence: {', '.join(metric.columns)}"
    if metric.options:
        yield f"Options: {', '.join(f'{key}={value}' for key, value in metric.options.items())}"
    how = inspect.getdoc(getattr(type(metric), "with_options", None))
    if how:
        yield "How to set them: " + _plain(" ".join(how.split()))
    yield f"Papers: {'; '.join(map(str, references_of(name)))}"


def _prose(metric: Metric) -> Iterator[str]:
    """The description in the source, without its doctest."""
    text = inspect.getdoc(type(metric)) or ""
    yield _plain(text.partition(">>>")[0].rstrip())


def _plain(text: str) -> str:
    """Text without the marks of reStructuredText."""
    return re.sub(r":\w+:`~?([^`]*)`", lambda match: match[1].rpartition(".")[2], text).replace("``", "")


def _symmetry(metric: Metric, rate: str) -> str:
    other = metric.mirrored.get(rate)
    if other is None:
        return ""
    return "  (the same with gold and test exchanged)" if other == rate else f"  ({other} with gold and test exchanged)"
