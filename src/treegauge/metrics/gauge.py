"""A metric with a preset, ready to use, in the manner of Hugging Face's ``evaluate``.

>>> gauge = load("parseval")
>>> rates = gauge.compute(predictions=["(S (NP (NN rain)) (V fell))"], references=["(S (NP (NN rain)) (VP (V fell)))"])
>>> round(rates["f1"], 2)
0.8
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Unpack

from treegauge import io
from treegauge.errors import MismatchError, UsageError
from treegauge.metrics.base import Metric, Rates, Rows, Total
from treegauge.metrics.registry import find_metric
from treegauge.metrics.result import Result
from treegauge.metrics.scoring import ScoreOptions, score
from treegauge.metrics.sides import TreebankLike
from treegauge.normalise.preset import Preset, load_preset
from treegauge.trees.treebank import Treebank

__all__ = ["Gauge", "load"]


def load(
    metric: str | Metric = "parseval", preset: str | os.PathLike[str] | Preset = "default", **options: Unpack[ScoreOptions]
) -> Gauge:
    """The metric of that name with a preset; ``options`` are those of :func:`treegauge.score`."""
    return Gauge(metric, preset, **options)


class Gauge:
    """A metric, a preset and the options of :func:`treegauge.score`; it can collect predictions batch by batch.

    >>> gauge = load("parseval", "collins")
    >>> gauge.add(prediction="(S (NP (NN rain)) (VP (V fell)))", reference="(S (NP (NN rain)) (VP (V fell)))")
    >>> gauge.add_batch(predictions=["(S (NN a))"], references=["(S (NP (NN a)))"])
    >>> gauge.compute()["exact_match"]
    0.5
    """

    def __init__(self, metric: str | Metric, preset: str | os.PathLike[str] | Preset, **options: Unpack[ScoreOptions]) -> None:
        self.metric = find_metric(metric) if isinstance(metric, str) else metric
        self.preset = load_preset(preset)
        self._asked, self._options = metric, options
        self._predictions: list[Treebank] = []
        self._references: list[Treebank] = []

    @property
    def name(self) -> str:
        return self.metric.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.metric.columns

    def score(self, gold: TreebankLike, test: TreebankLike) -> Result:
        """What :func:`treegauge.score` says, with signature, notes and rows."""
        return score(gold, test, self._asked, self.preset, **self._options)

    def rows(self, gold: TreebankLike, test: TreebankLike) -> Rows:
        """One row of counts a sentence; rows add."""
        return self.score(gold, test).rows

    def rates(self, total: Total) -> Rates:
        """The rates that a sum of rows stands for; nan is 0/0."""
        return self.metric.rates(total)

    def add(self, *, prediction: Any, reference: Any) -> None:
        """Collect one parse and its gold tree."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Iterable[Any], references: Iterable[Any]) -> None:
        """Collect parses and their gold trees: paths, Treebanks, or iterables of Tree, of nltk trees or of strings."""
        test, gold = io.as_treebank(predictions), io.as_treebank(references)
        if len(test) != len(gold):
            raise MismatchError(f"{len(test)} predictions for {len(gold)} references; a failed parse is an empty string or tree")
        self._predictions.append(test)
        self._references.append(gold)

    def compute(self, *, predictions: Any = None, references: Any = None) -> dict[str, float]:
        """The rates of what is given, or else of what was collected, which is then forgotten."""
        if (predictions is None) != (references is None):
            raise UsageError("compute wants both predictions and references, or neither")
        if predictions is not None:
            self.add_batch(predictions=predictions, references=references)
        if not self._predictions:
            raise UsageError("there is nothing to compute: give predictions and references, or add some first")
        test, gold = Treebank.concatenate(self._predictions), Treebank.concatenate(self._references)
        self._predictions, self._references = [], []
        return dict(self.score(gold, test).rates)
