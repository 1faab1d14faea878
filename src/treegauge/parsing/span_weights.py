"""Weights of spans for General Recall (Goodman 1996, section 6), from a file.

A file has either lines of a label and a number, by which the label's posterior is multiplied (labels not listed count 0), or JSON
lines, each with the ``words`` of a sentence and its ``spans``: [start, end, weight] or [start, end, label, weight]. In Python any
array, or function from a view to an array, is a weight too:

>>> from treegauge.grammar import PCFG
>>> from treegauge.parsing import Forest
>>> grammar = PCFG.parse('''S -> A C [.6] | E B [.4]
... A -> "x" [1]
... B -> "x" [1]
... C -> "x" "x" [1]
... E -> "x" "x" [1]''')
>>> forest = Forest(grammar, ["x"] * 3)
>>> print(forest.argmax("general", weights=LabelWeights({"E": 1.0})).tree)
(S (E (A x) x) (B x))
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, MismatchError, UnknownName, UsageError
from treegauge.io.sources import Source
from treegauge.parsing.posterior_view import PosteriorView

SpanWeights = Callable[[PosteriorView], NDArray[np.float64]]
"""A function from a view of posteriors to the weights of its spans: an array (n, n+1) or (n, n+1, labels)."""


@dataclass(frozen=True)
class LabelWeights:
    """Weights that multiply each label's posterior by a number; labels without a number count 0."""

    weights: Mapping[str, float]

    def __call__(self, view: PosteriorView) -> NDArray[np.float64]:
        factor = np.array([self.weights.get(name, 0.0) for name in view.span_labels.names])
        g = view.span_labels.dense(view.span_labels.any)
        return np.where(g > 0, g * factor, -1e300)


@dataclass(frozen=True)
class ListedWeights:
    """Weights listed for each sentence, which is identified by its words: (start, end, label or None, weight). Other spans have
    weight 0."""

    path: str
    sentences: Mapping[tuple[str, ...], Sequence[tuple[int, int, str | None, float]]]

    def __call__(self, view: PosteriorView) -> NDArray[np.float64]:
        if view.words not in self.sentences:
            raise MismatchError(f"{self.path}: no span weights for the sentence: {' '.join(view.words)}")
        n, names = view.n, view.span_labels.names
        listed = self.sentences[view.words]
        if all(label is None for _, _, label, _ in listed):
            spans = np.zeros((n, n + 1))
            for start, end, _, weight in listed:
                spans[start, end] += weight
            return spans
        weights = np.zeros((n, n + 1, len(names)))
        for start, end, label, weight in listed:
            if label is None:
                weights[start, end] += weight
            elif label in names:
                weights[start, end, names.index(label)] += weight
            else:
                raise UnknownName(f"label in {self.path}", label, names)
        return weights


def read_weights(path: str) -> SpanWeights:
    """The weights in a file, by label or by span."""
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file of span weights")
    with Source(path).open() as stream:
        content = stream.read().decode("utf-8", "replace")
    lines = [(number, line.strip()) for number, line in enumerate(content.splitlines(), 1) if line.strip()]
    if not lines:
        raise FormatError("no span weights: the file is empty", path=path)
    if lines[0][1].startswith("{"):
        return ListedWeights(path, dict(_sentence_weights(path, number, line) for number, line in lines))
    return LabelWeights(dict(_label_weight(path, number, line) for number, line in lines))


def _label_weight(path: str, number: int, line: str) -> tuple[str, float]:
    parts = line.split()
    try:
        label, weight = parts[0], float(parts[1])
        if len(parts) != 2 or not np.isfinite(weight):
            raise ValueError
    except (IndexError, ValueError):
        advice = 'Or JSON lines: {"words": ["a", "b"], "spans": [[0, 2, "NP", 1.5]]}'
        raise FormatError("expected a label and a number", path=path, line=number, text=line, advice=advice) from None
    return label, weight


def _sentence_weights(path: str, number: int, line: str) -> tuple[tuple[str, ...], list[tuple[int, int, str | None, float]]]:
    try:
        record: Any = json.loads(line)
        words = tuple(str(word) for word in record["words"])
        spans = [_span(item, len(words)) for item in cast("list[Any]", record["spans"])]
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        advice = 'A line is {"words": ["a", "b"], "spans": [[0, 2, 1.5], [0, 2, "NP", 0.5]]}; 0 <= start < end <= words.'
        raise FormatError(f"not span weights ({error})", path=path, line=number, text=line[:200], advice=advice) from None
    return words, spans


def _span(item: Any, n: int) -> tuple[int, int, str | None, float]:
    start, end, *rest = item
    label, weight = (None, rest[0]) if len(rest) == 1 else (str(rest[0]), rest[1])
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= n and len(rest) <= 2):
        raise ValueError(f"{item} is not a span of {n} words with a weight")
    if not np.isfinite(float(weight)):
        raise ValueError(f"{item} has no finite weight")
    return start, end, label, float(weight)
