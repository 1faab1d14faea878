"""Explanations of metrics, from their own descriptions: definition, counts, rates, options, preset, paper."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator

from treegauge.metrics.metric import Metric
from treegauge.metrics.registry import find_metric, references_of
from treegauge.scoring.evaluation import score

__all__ = ["explanation"]

_GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))"
_TEST = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on)) (NP (DT the) (NN mat))))"


def explanation(name: str) -> str:
    """The definition of a metric in plain text, with an example computed on the spot."""
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
    yield f"Preset, unless another is given: {metric.preset}"
    if metric.options:
        yield f"Options: {', '.join(f'{key}={value}' for key, value in metric.options.items())}"
        yield f"How to set them, after colons, as in {metric.name}:{next(iter(metric.option_words().values())).examples[0]}:"
        yield from (f"  {words.meaning}" for words in metric.option_words().values())
    yield f"Papers: {'; '.join(map(str, references_of(name)))}"


def _prose(metric: Metric) -> Iterator[str]:
    """The description in the source, without its doctest."""
    text = inspect.getdoc(type(metric)) or ""
    yield _plain(text.partition(">>>")[0].rstrip())


def _plain(text: str) -> str:
    """Text without the marks of reStructuredText."""
    return re.sub(r":\w+:`~?([^`]*)`", lambda match: match[1].rpartition(".")[2], text).replace("``", "")


def _symmetry(metric: Metric, rate: str) -> str:
    other = metric.counterpart(rate)
    if other is None:
        return ""
    return "  (the same with gold and test exchanged)" if other == rate else f"  ({other} with gold and test exchanged)"
