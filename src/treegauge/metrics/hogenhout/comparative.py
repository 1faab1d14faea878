"""The items that compare two systems: YY, YN, NY, NN, the treebank brackets that both, only A, only B, neither reproduced."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError
from treegauge.metrics.hogenhout.items import find_items
from treegauge.metrics.hogenhout.metric import Hogenhout, verdicts_on
from treegauge.metrics.preparation import Pair
from treegauge.trees.treebank import Int64

__all__ = ["COMPARATIVE", "comparative_rows"]

COMPARATIVE = ("YY", "YN", "NY", "NN")


def comparative_rows(a: Pair, b: Pair, metric_a: Hogenhout, metric_b: Hogenhout | None = None) -> Int64:
    """YY, YN, NY, NN of each sentence, for two systems against the same treebank and the same sentences of it.

    The metrics say which brackets count; they may differ in the judgements only. A rejected exact match is not reproduced.

    >>> from treegauge.metrics.preparation import prepare
    >>> from treegauge.normalise.preset import load_preset
    >>> from treegauge.trees.treebank import Treebank
    >>> gold = Treebank.parse("(S (NP a b) (VP c (NP d e)))")
    >>> left = Treebank.parse("(S (NP a b) c d e)")
    >>> right = Treebank.parse("(S (NP a b) (VP c (NP d e)))")
    >>> preset = load_preset("default")
    >>> comparative_rows(prepare(gold, left, preset), prepare(gold, right, preset), Hogenhout()).tolist()
    [[2, 0, 2, 0]]
    """
    if not np.array_equal(a.index, b.index):
        raise MismatchError("the two systems were not scored on the same sentences, so their brackets cannot be compared")
    mask_a, sentence, counted = _reproduced(a, metric_a)
    mask_b, sentence_b, _ = _reproduced(b, metric_b or metric_a)
    if not np.array_equal(sentence, sentence_b):
        raise MismatchError("the two systems were not scored against the same treebank brackets")
    kinds = np.where(mask_a, np.where(mask_b, 0, 1), np.where(mask_b, 2, 3))
    cells = np.bincount(sentence[counted] * 4 + kinds[counted], minlength=4 * len(a))
    return cells.reshape(len(a), 4).astype(np.int64)


def _reproduced(pair: Pair, metric: Hogenhout) -> tuple[NDArray[np.bool_], Int64, NDArray[np.bool_]]:
    """For each treebank bracket whether it was reproduced (and not rejected), its sentence, and whether it counts."""
    items = find_items(pair, metric.keep)
    reproduced = items.reproduced
    if metric.judgements is not None:
        accepted, _ = verdicts_on(items, pair, metric.judgements)
        reproduced = np.append(accepted, False)[items.partner]
    return reproduced, items.gold.brackets.sentence, items.gold.labelled(metric.structure)
