"""Scores of several systems, by metric and system, that were made in the same way, on the sentences that all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from treegauge.errors import MismatchError, UsageError
from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.metric import Metric, Rows
from treegauge.scoring.result import Result
from treegauge.trees.treebank import Int64

BRACKETS_METRIC = "hogenhout"
"""The metric that provides items, measures and tests on brackets."""


def brackets_metric(names: Sequence[str]) -> str | None:
    """The name of the brackets metric, with its options, among some names of metrics; None if it is not there."""
    return next((name for name in names if name.partition(":")[0] == BRACKETS_METRIC), None)


def of_structure(name: str, label: str) -> str:
    """The name of the brackets metric restricted to one label."""
    words = [word for word in name.split(":") if not word.startswith("structure=")]
    return ":".join([*words, f"structure={label}"])


class ScoreTable:
    """Scores by metric and system, checked to be comparable, on the sentences that all of them share.

    ``metrics`` are those to compare (all, if none is named), ``structure`` are labels whose brackets are tested separately.
    """

    def __init__(self, scores: Sequence[Result], metrics: Sequence[str], structure: Sequence[str], on_mismatch: str) -> None:
        self._results: dict[str, dict[str, Result]] = {}
        for result in scores:
            of_metric = self._results.setdefault(result.metric, {})
            if result.system in of_metric:
                raise UsageError(f"there are two scores of {result.system} by {result.metric}")
            of_metric[result.system] = result
        self.systems = list(dict.fromkeys(result.system for result in scores))
        if not self.systems:
            raise UsageError("there are no scores to compare")
        brackets = brackets_metric([*metrics, *self._results])
        self.structure = {label: of_structure(brackets or BRACKETS_METRIC, label) for label in structure}
        self.compared = list(metrics) or [name for name in self._results if name not in self.structure.values()]
        self.brackets = brackets if brackets in ({*self.compared, *self._results} if structure else self.compared) else None
        named = [*self.compared, *([self.brackets] if self.brackets else []), *self.structure.values()]
        used: dict[str, None] = dict.fromkeys(named)
        for name in used:
            _check_comparable(name, self.results(name))
        results = [result for name in used for result in self.results(name)]
        _check_same_trees(results)
        self.sentences = common_sentences(results, on_mismatch)
        self.length = self.results(self.compared[0])[0].scored_sentences.length[self.sentences]

    def results(self, metric: str) -> list[Result]:
        """The scores of all systems by a metric."""
        found = self._results.get(metric, {})
        if missing := [system for system in self.systems if system not in found]:
            self._refuse_other_options(metric, missing[0])
            raise MismatchError(f"there is no score by {metric} of {', '.join(missing)}; score with -m {metric}")
        return [found[system] for system in self.systems]

    def _refuse_other_options(self, metric: str, system: str) -> None:
        """Refuse a score of the system by the same metric with other options, in a message that names the option."""
        name, _, _ = metric.partition(":")
        others = [of[system] for key, of in self._results.items() if key.partition(":")[0] == name and system in of]
        if metric in self._results and others:
            _check_comparable(name, [next(iter(self._results[metric].values())), others[0]])

    def metric(self, name: str) -> Metric:
        """The metric of that name, with the options of the first system; the rates are the same for all."""
        metric = self.results(name)[0].definition
        if metric is None:
            raise UsageError(f"the metric {name} is not known here, so its scores cannot be compared")
        return metric

    def rows(self, metric: str) -> list[Rows]:
        """The rows of all systems on the common sentences."""
        found = [(result.scored_sentences.rows, self._places(result)) for result in self.results(metric)]
        return [rows if places is None else rows[places] for rows, places in found]

    def reproduced(self, metric: str) -> list[BitSets] | None:
        """The treebank brackets of the common sentences that each system reproduced; None if they were not kept."""
        found: list[BitSets] = []
        for result in self.results(metric):
            bits, places = result.scored_sentences.bits, self._places(result)
            if bits is None:
                return None
            found.append(bits if places is None else bits[places])
        return found

    def _places(self, result: Result) -> Int64 | None:
        """The positions of the rows of the common sentences; None if the result has no others."""
        index = result.scored_sentences.index
        return None if len(index) == len(self.sentences) else np.flatnonzero(np.isin(index, self.sentences))

    def signature(self, metric: str, system: str) -> str:
        """The signature of a score on the common sentences, which is its own signature if it has no others."""
        signature = self._results[metric][system].signature
        n = len(self.sentences)
        return str(replace(signature, sentences=n, skipped=signature.skipped + signature.sentences - n))


def _check_comparable(metric: str, results: Sequence[Result]) -> None:
    """Refuse scores by one metric that were not made in the same way, in a message that names the difference."""
    first, *others = results
    ours = _conditions(first)
    for other in others:
        theirs = _conditions(other)
        for what, value in ours.items():
            if theirs.get(what) != value:
                raise MismatchError(
                    f"scores by {metric} that cannot be compared: {what} is {value} for {first.system}, "
                    f"but {theirs.get(what)} for {other.system}"
                )


def _check_same_trees(results: Sequence[Result]) -> None:
    """Refuse scores by several metrics if they are not of the same gold trees, and for each system of the same test trees."""
    first_of_system: dict[str, Result] = {}
    for result in results:
        own = first_of_system.setdefault(result.system, result)
        of_gold = ("gold", results[0], results[0].signature.gold, result.signature.gold)
        of_test = ("test", own, own.signature.test, result.signature.test)
        for kind, first, ours, theirs in (of_gold, of_test):
            if ours != theirs:
                raise MismatchError(
                    f"scores of different trees cannot be compared: the hash of the {kind} trees is {ours} for {first.system} by "
                    f"{first.metric}, but {theirs} for {result.system} by {result.metric}"
                )


def _conditions(result: Result) -> dict[str, Any]:
    """Everything that must be the same for two scores to be compared, by its name in messages."""
    signature = result.signature
    options = {key: value for key, value in signature.options.items() if key != "judgements"}
    settings = {key: value for key, value in signature.preset.options().items() if key != "name"}
    return {
        "the hash of the gold trees": signature.gold,
        "the number of gold sentences": signature.sentences + signature.skipped,
        **{f"the option {key} of the metric": value for key, value in options.items()},
        "the set of options of the metric": sorted(options),
        "the preset": signature.preset.name,
        **{f"the preset's {key}": value for key, value in settings.items()},
        "on_mismatch": signature.on_mismatch,
        "match_words": signature.match_words,
        "on_error": signature.on_error,
        "the version of treegauge": signature.version,
    }


def common_sentences(results: Sequence[Result], on_mismatch: str) -> Int64:
    """The gold sentences for which all results have a row; a MismatchError if they differ, unless ``on_mismatch`` is ``skip``."""
    indices = [result.scored_sentences.index for result in results]
    common: Int64 = reduce(np.intersect1d, indices)
    for result, index in zip(results, indices, strict=True):
        if len(index) > len(common) and on_mismatch != "skip":
            lacking = next(other for other in results if len(np.setdiff1d(index, other.scored_sentences.index)))
            missing = np.setdiff1d(index, lacking.scored_sentences.index)
            raise MismatchError(
                f"{lacking.system} by {lacking.metric} and {result.system} by {result.metric} are scores of different sentences: "
                f"the first lacks {len(missing)} that the second has, such as sentence {int(missing[0]) + 1}; "
                'on_mismatch="skip" leaves them out'
            )
    if not len(common):
        raise MismatchError("there is no sentence of the treebank on which all systems can be compared")
    return common
