"""Explanations of metrics, from their docstrings, and of the figures and tables of a report, with the definitions behind them."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from treegauge.metrics.metric import Metric
from treegauge.metrics.references import references_of
from treegauge.metrics.registry import find_metric
from treegauge.scoring.evaluation import score

_GOLD = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))))"
_TEST = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (IN on)) (NP (DT the) (NN mat))))"


def explanation(name: str) -> str:
    """The definition of a metric in plain text, with an example scored by it."""
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


class Explanation(NamedTuple):
    """One sentence on what a figure or table shows, and the name of the definition behind it."""

    sentence: str
    definition: str


DEFINITIONS: Mapping[str, tuple[str, str]] = {
    "f1": (
        "Recall, precision, F1",
        "A bracket is a label over some words. Recall is the share of gold brackets that the parser has, "
        "precision the share of the "
        "parser's brackets that are in the gold tree; F1 is 2 m / (g + t), with m matched, g gold and t test brackets.",
    ),
    "interval": (
        "Bootstrap interval",
        "Whole sentences are drawn with replacement, as many as there are, again and again; the interval "
        "holds the middle 95% of the "
        "rates found so, unless another level was asked for.",
    ),
    "difference": (
        "Difference and p",
        "The rate of the second system minus that of the first. p is the probability of a difference at "
        "least as large if, sentence "
        "by sentence, it did not matter which system made which tree (paired randomisation of whole sentences); with more than two "
        "systems, p is corrected for the number of pairs (Holm).",
    ),
    "fragments": (
        "Fragments",
        "A fragment is a connected part of a tree, some brackets with the edges between them; it is right if "
        "the same fragment over "
        "the same words is in the gold tree (FREVAL, Bastings & Sima'an 2014). Its size is its number of brackets.",
    ),
    "crossing": (
        "Crossing bracket",
        "A bracket of the parser that overlaps a gold bracket without holding it or being held by it.",
    ),
    "errors": (
        "Kinds of error",
        "The steps that turn a parse into its gold tree: each moves, adds, removes or relabels one bracket, "
        "and is one error whatever "
        "number of brackets it makes wrong (after Kummerfeld and others 2012).",
    ),
    "items": (
        "Items and measures",
        "Brackets without labels, after punctuation, empty, double and one-word brackets went: treebank "
        "(TTB) and parse brackets (TPB), "
        "exact matches (EM), crossing errors (CE), spurious ones (SP); PINH and TINH are inherited from the "
        "bracket right above, PNINH "
        "and TNINH are not. YY, YN, NY, NN: gold brackets that both, only the first, only the second, or neither system reproduced "
        "(Hogenhout & Matsumoto 1996).",
    ),
    "checked": (
        "Human check",
        "A person accepts (A) or rejects (R) exact matches, crossing errors and spurious brackets: EMA, EMR, CEA, CER, SPA, SPR. "
        "Acceptable is what fits the right interpretation in the style of bracketing that the parser aims at.",
    ),
}
"""The terms of a report and their definitions, by name."""

FIGURES_EXPLAINED: Mapping[str, Explanation] = {
    "rates": Explanation("Each dot is a rate, the line around it where the rate would lie on other such sentences.", "interval"),
    "f1_by_size": Explanation("The further right, the more brackets must be right together.", "fragments"),
    "f1_difference": Explanation("Above 0 a system is better than the first one at that size, below 0 worse.", "fragments"),
    "labels": Explanation(
        "One row per label, the most frequent ones first, with the number of gold brackets in parentheses.", "f1"
    ),
    "lengths": Explanation("F1 of the sentences of each length; how many there are is in parentheses.", "f1"),
    "crossings": Explanation(
        "How many sentences have no, one, two ... crossing brackets: the further left, the better.", "crossing"
    ),
    "errors": Explanation("How many wrong brackets come from each kind of error; fewer is better.", "errors"),
}
"""The explanations of a report's figures, by the figure's name."""

_TABLES = {
    "Rates": Explanation("Each rate of each system, in percent, with its interval.", "interval"),
    "Differences": Explanation("How far the second system is above or below the first, and whether by chance.", "difference"),
    "Fragments": Explanation("Recall, precision and F1 of fragments up to each size.", "fragments"),
    "By label": Explanation("How well each label is found; labels that are rare say little.", "f1"),
    "By sentence length": Explanation("How well sentences of each length are parsed.", "f1"),
    "By fan-out": Explanation("How well constituents of so many blocks are found; two blocks are one gap.", "f1"),
    "By gap degree": Explanation("How well sentences are parsed whose constituents have at most so many gaps.", "f1"),
    "Sentences by crossing": Explanation("How many sentences have so many crossing brackets.", "crossing"),
    "By kind of error": Explanation("How often each kind of error occurs, and the F1 if all of that kind were repaired.", "errors"),
    "Labels confused": Explanation("Brackets over the right words with a wrong label, the most frequent pairs first.", "f1"),
    "Comparative items": Explanation("Which gold brackets both systems found, and which only one of them.", "items"),
    "Items": Explanation("How the brackets of each parse divide into right, crossing and spurious ones.", "items"),
    "Measures": Explanation("Rates made of the items; the others need a person's verdicts.", "items"),
    "Tests on brackets": Explanation("Whether the brackets that only one system found differ by more than chance.", "items"),
    "Reasons": Explanation("How often each reason was given with a verdict.", "checked"),
    "Agreement": Explanation("How often two annotators gave the same verdict, beyond chance.", "checked"),
}
_BETTER = Explanation("Which system is better on the rates that people quote.", "difference")


def explain_table(title: str, *, checked: bool = False) -> Explanation:
    """The explanation of a table, found by its title; ``checked`` is for tables with the verdicts of a human check.

    >>> explain_table("By label").definition
    'f1'
    """
    found = next((explained for start, explained in _TABLES.items() if title.startswith(start)), _BETTER)
    return found._replace(definition="checked") if checked else found
