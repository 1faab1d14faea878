"""Parts of trees as rows of integers, and how many of them two treebanks share.

Constituents, parent-child links, frames, lineages: whatever a metric compares, a part is a row of integer columns. Rows become
numbers that are equal exactly where the rows are, and everything else is sorting numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.base import Rates, Rows, Total, f1, ratio
from treegauge.trees.treebank import Int64

__all__ = ["OVERLAP_COLUMNS", "OVERLAP_MIRRORED", "Parts", "codes", "is_in", "overlap_rates", "overlap_rows", "sequence_codes"]

Column = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]
_ROOM = 1 << 62


def codes(columns: Sequence[Column]) -> Int64:
    """A number for each row, equal exactly where all columns are equal.

    >>> codes([np.array([3, 3, 1]), np.array([0, 7, 0])]).tolist()
    [16, 23, 0]
    """
    code = np.zeros(len(columns[0]), dtype=np.int64)
    if not len(code):
        return code
    largest = 0
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if (largest + 1) * (high - low + 1) >= _ROOM:
            code = np.unique(code, return_inverse=True)[1]
            largest = int(code.max())
        code = code * (high - low + 1) + (column.astype(np.int64) - low)
        largest = (largest + 1) * (high - low + 1) - 1
    return code


def is_in(values: Int64, among: Int64) -> Mask:
    """Which values are among others.

    >>> is_in(np.array([3, 1, 9]), np.array([9, 3, 4])).tolist()
    [True, False, True]
    """
    if not len(among):
        return np.zeros(len(values), dtype=np.bool_)
    # Codes come almost sorted, so a stable sort is nearly free; np.isin hashes, which is many times slower on them.
    ordered = np.sort(among, kind="stable")
    place = np.searchsorted(ordered, values)
    place[place == len(ordered)] = 0
    return ordered[place] == values


def sequence_codes(symbol: Column, first: Int64, length: Int64) -> Int64:
    """A number for each run ``symbol[first:first+length]``, equal exactly where the runs are equal; an empty run is 0.

    >>> sequence_codes(np.array([5, 6, 5, 6, 6]), np.array([0, 2, 3, 4]), np.array([2, 2, 2, 0])).tolist()
    [3, 3, 4, 0]
    """
    code = np.zeros(len(first), dtype=np.int64)
    alive, used = np.flatnonzero(length > 0), 1
    place = 0
    # Runs are extended by one symbol a round, all at once; each round's numbers are new, so a run never equals a longer one.
    while len(alive):
        numbers = np.unique(codes([code[alive], symbol[first[alive] + place]]), return_inverse=True)[1]
        code[alive] = numbers + used
        used += int(numbers.max()) + 1
        place += 1
        alive = alive[length[alive] > place]
    return code


@dataclass(frozen=True)
class Parts:
    """The parts of ``n`` sentences on both sides, as numbers with the sentence each belongs to; a number names its sentence too."""

    n: int
    gold: Int64
    gold_sentence: Int64
    test: Int64
    test_sentence: Int64

    @classmethod
    def of(cls, n: int, gold: Sequence[Column], test: Sequence[Column]) -> Parts:
        """From columns, the sentence first, the same on both sides."""
        code = codes([np.concatenate(pair) for pair in zip(gold, test, strict=True)])
        gold_sentence, test_sentence = gold[0].astype(np.int64), test[0].astype(np.int64)
        return cls(n, code[: len(gold_sentence)], gold_sentence, code[len(gold_sentence) :], test_sentence)

    def overlap(self) -> tuple[Int64, Int64, Int64]:
        """For each sentence the sizes of the *sets* of parts: common, gold, test."""
        gold = np.unique(self.gold, return_index=True)[1]
        test = np.unique(self.test, return_index=True)[1]
        common = test[is_in(self.test[test], self.gold)]
        return (
            np.bincount(self.test_sentence[common], minlength=self.n),
            np.bincount(self.gold_sentence[gold], minlength=self.n),
            np.bincount(self.test_sentence[test], minlength=self.n),
        )


OVERLAP_COLUMNS = (
    *("sentences", "matched", "gold", "test"),
    *("recall_sum", "recall_defined", "precision_sum", "precision_defined", "f1_sum", "f1_defined"),
)
OVERLAP_MIRRORED = {
    "recall": "precision",
    "precision": "recall",
    "f1": "f1",
    "mean_recall": "mean_precision",
    "mean_precision": "mean_recall",
    "mean_f1": "mean_f1",
}


def overlap_rows(matched: Int64, gold: Int64, test: Int64) -> Rows:
    """Rows of ``OVERLAP_COLUMNS``: counts, and sentence recall, precision and F1 with how many of them are defined."""
    columns: list[NDArray[Any]] = [np.ones(len(matched)), matched, gold, test]
    for numerator, denominator in ((matched, gold), (matched, test), (2 * matched, gold + test)):
        columns += [numerator / np.maximum(denominator, 1), denominator > 0]
    return np.stack([column.astype(np.float64) for column in columns], axis=1)


def overlap_rates(total: Total) -> Rates:
    """Recall m/g, precision m/t and F1 = 2m/(g+t), pooled and as means of the sentences where they are defined."""
    n = dict(zip(OVERLAP_COLUMNS, total, strict=True))
    return {
        "recall": ratio(n["matched"], n["gold"]),
        "precision": ratio(n["matched"], n["test"]),
        "f1": f1(n["matched"], n["gold"], n["test"]),
        "mean_recall": ratio(n["recall_sum"], n["recall_defined"]),
        "mean_precision": ratio(n["precision_sum"], n["precision_defined"]),
        "mean_f1": ratio(n["f1_sum"], n["f1_defined"]),
    }
