"""Explanations of metrics and decoding objectives, from their docstrings, and of the figures and tables of a report, with the
definitions behind them."""

from __future__ import annotations

import inspect
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from treegauge._lazy import advice_on
from treegauge.errors import UnknownName
from treegauge.metrics.metric import Metric
from treegauge.metrics.references import references_of
from treegauge.metrics.registry import METRICS, find_metric, rate_name
from treegauge.scoring.evaluation import score
from treegauge.tables import british

_GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))"
_TEST = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (RP on) (NX (DT the) (NN mat))))"


ALSO_OBJECTIVES = ("frames", "parent-child")
"""The metrics that are decoding objectives, too."""
CHUNK_ENTROPY = "chunk-entropy"
_BITS = "bits by which treegauge chunks entropy scores chunkers"


def explanation(name: str) -> str:
    """The definition of a metric in plain text, with an example scored by it; or that of the metric of a rate, of a decoding
    objective, of a baseline, or of the entropy of recognising chunks."""
    metric, _, rate = rate_name(name).rpartition(".")
    name = name.lower().replace(" ", "-")
    base = british(name).partition(":")[0]
    known = [] if base in METRICS else [each for each in METRICS if metric in ("", each) and rate in find_metric(each).rate_names]
    if known or advice_on("metric").get(base, "").startswith("it is a rate"):
        of = known[0] if known else "parseval"
        return f"{name} is a rate of {of}.\n\n{explanation(of)}"
    if base in METRICS:
        lines = [*_lines(name, find_metric(name)), *(["", *_objective_lines(base)] if base in ALSO_OBJECTIVES else [])]
    elif name == CHUNK_ENTROPY:
        from treegauge.chunks import entropy

        lines = [f"{name}: {_BITS}", "", _plain(inspect.getdoc(entropy) or "")]
        lines += ["", f"Papers: {'; '.join(map(str, references_of(name)))}"]
    elif base in _TERMS:
        lines = [f"{base}: {_TERMS[base]}"]
    else:
        lines = list(_objective_lines(base))
    return "\n".join(lines)


def explained_names() -> Iterator[str]:
    """Lines that list everything that can be explained."""
    from treegauge.parsing.objectives import OBJECTIVES

    yield from ("Metrics:", *(f"  {name:26} {find_metric(name).summary}" for name in METRICS), f"  {CHUNK_ENTROPY:26} {_BITS}")
    yield from ("Decoding objectives:", *(f"  {name:26} maximises {each.maximises}" for name, each in OBJECTIVES.items()))
    yield f"Baselines, and terms: {', '.join(_TERMS)}"


def _objective_lines(name: str) -> Iterator[str]:
    from treegauge.parsing.objectives import OBJECTIVES  # which loads Numba, where that is installed

    if name not in OBJECTIVES:
        raise UnknownName("metric or objective", name, {*METRICS, *OBJECTIVES, *_TERMS, CHUNK_ENTROPY})
    objective = OBJECTIVES[name]
    yield f"{name}, a decoding objective: maximises {objective.maximises}"
    yield f"among {'the parses of the grammar' if objective.licensed else 'all trees over the words'}"
    yield ""
    yield _plain((inspect.getdoc(objective.decode) or "").partition(">>>")[0].rstrip())
    yield ""
    options = [p for p in inspect.signature(objective.decode).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if name == "mbr":
        yield "The metric follows a colon, as in mbr:parseval or mbr:parseval.recall."
    elif options:
        listed = [p.name if p.default in (None, p.empty) else f"{p.name}={p.default}" for p in options]
        yield f"Options: {', '.join(listed)}"
    yield f"Paper: {objective.source}"


def _lines(name: str, metric: Metric) -> Iterator[str]:
    yield f"{name}: {metric.summary}"
    yield ""
    # The description in the source, without its doctest.
    yield _plain((inspect.getdoc(type(metric)) or "").partition(">>>")[0].rstrip())
    yield ""
    result = score(_GOLD, _TEST, name)
    yield "An example:"
    yield f"  gold  {_GOLD}"
    yield f"  test  {_TEST}"
    width = max(map(len, result.rates))
    for rate, value in result.rates.items():
        shown = "-" if math.isnan(value) else f"{value:.4f}"
        reading = metric.reading_of(rate)
        yield f"  {rate:{width}}  {shown}{f'  ({reading})' if reading else ''}{_symmetry(metric, rate)}"
    yield ""
    counts = (name if isinstance(count, list) else f"{name} {count:.4g}" for name, count in result.counts.items())
    yield f"Counts per sentence, here: {', '.join(counts)}"
    yield f"Preset, unless another is given: {metric.preset}"
    if metric.options:
        yield f"Options: {', '.join(f'{key}={value}' for key, value in metric.options.items())}"
        yield f"How to set them, after colons, as in {metric.name}:{next(iter(metric.option_words().values())).examples[0]}:"
        yield from (f"  {words.meaning}" for words in metric.option_words().values())
    yield f"Papers: {'; '.join(map(str, references_of(name)))}"


def _plain(text: str) -> str:
    """Text without the marks of reStructuredText."""
    return re.sub(r":\w+:`~?([^`]*)`", lambda match: match[1].rpartition(".")[2], text).replace("``", "")


def _symmetry(metric: Metric, rate: str) -> str:
    other = metric.counterpart(rate)
    if other is None:
        return ""
    return "  (the same with gold and test exchanged)" if other == rate else f"  ({other} with gold and test exchanged)"


class Explanation(NamedTuple):
    """One sentence on what a figure or table shows, and the name of the definition behind it."""

    sentence: str
    definition: str


_TEXTS: Mapping[str, Mapping[str, Mapping[str, str]]] = tomllib.loads(
    (Path(__file__).parent / "templates" / "explanations.toml").read_text(encoding="utf-8")
)
DEFINITIONS = {name: (found["term"], found["text"]) for name, found in _TEXTS["definitions"].items()}
"""The terms of a report and their definitions, by name."""
_TERMS: Mapping[str, Any] = _TEXTS["terms"]
"""The explanations of baselines and options, by name."""
FIGURES_EXPLAINED = {name: Explanation(**found) for name, found in _TEXTS["figures"].items()}
"""The explanations of a report's figures, by the figure's name."""


def explain_table(title: str, *, checked: bool = False) -> Explanation:
    """The explanation of a table, found by its title; ``checked`` is for tables with the verdicts of a human check.

    >>> explain_table("By label").definition
    'f1'
    """
    found = Explanation(**next(explained for start, explained in _TEXTS["tables"].items() if title.startswith(start)))
    return found._replace(definition="checked") if checked else found
