"""Brackets: the constituents of a treebank that count, as columns.

This is what every metric sees: phrases only (tags are a column of the tokens), on the tokens that were kept, with the labels cut
and numbered alike for gold and test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.treebank import Int32, Int64

__all__ = ["Brackets", "LabelNumbers", "nearest_kept", "sum_within"]

Mask = NDArray[np.bool_]


class LabelNumbers:
    """Numbers for label strings, the same for gold and test; ``classes`` gives labels that a preset takes as equal one number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers))

    def numbers(self, labels: Sequence[str]) -> Int32:
        return np.array([self.number(label) for label in labels], dtype=np.int32)

    @property
    def strings(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def classes(self, pairs: Sequence[tuple[str, str]]) -> Int32:
        """For each label the smallest number among those equal to it."""
        classes = np.arange(len(self._numbers), dtype=np.int32)
        for _ in pairs:
            for a, b in pairs:
                if a in self._numbers and b in self._numbers:
                    low = min(classes[self._numbers[a]], classes[self._numbers[b]])
                    classes[self._numbers[a]] = classes[self._numbers[b]] = low
        return classes

    def equality(self, pairs: Sequence[tuple[str, str]]) -> Mask | None:
        """Which labels are equal, as a table; None where that is what ``classes`` says, each pair standing by itself.

        >>> numbers = LabelNumbers()
        >>> _ = numbers.numbers(["A", "B", "C"])
        >>> numbers.equality([("A", "B")]) is None, numbers.equality([("A", "B"), ("B", "C")]).astype(int).tolist()
        (True, [[1, 1, 0], [1, 1, 1], [0, 1, 1]])
        """
        equal = np.eye(len(self._numbers), dtype=np.bool_)
        for a, b in pairs:
            if a in self._numbers and b in self._numbers:
                equal[self._numbers[a], self._numbers[b]] = equal[self._numbers[b], self._numbers[a]] = True
        classes = self.classes(pairs)
        return None if np.array_equal(equal, classes[:, None] == classes[None, :]) else equal


@dataclass(frozen=True)
class Brackets:
    """The counted constituents of ``n`` sentences, sentence by sentence, each in pre-order.

    Per bracket: ``label`` (see ``labels``), ``start`` and ``end`` over kept tokens, ``parent`` (the row of the nearest counted
    ancestor, or -1), ``sentence``, and ``node`` (the node's row in its tree). Sentence ``i`` owns the rows
    ``offset[i]:offset[i+1]``. Per kept token: ``tag`` (-1: none), ``word`` (numbered alike in gold and test), ``above``
    (the row of the innermost counted bracket, or -1) and ``counted`` (False only for a further piece of a gold token that
    the test tree cuts); sentence ``i`` owns the tokens ``token_offset[i]:token_offset[i+1]``. ``length`` is the sentence
    length by the preset's rule.
    """

    labels: tuple[str, ...]
    label: Int32
    start: Int32
    end: Int32
    parent: Int64
    sentence: Int64
    node: Int64
    offset: Int64
    tag: Int32
    word: Int32
    above: Int64
    counted: Mask
    token_offset: Int64
    length: Int64

    def __len__(self) -> int:
        """The number of sentences."""
        return len(self.offset) - 1

    @property
    def n_brackets(self) -> int:
        return len(self.label)

    @property
    def counts(self) -> Int64:
        """The number of brackets of each sentence."""
        return np.diff(self.offset)

    def per_sentence(self, values: NDArray[np.bool_] | Int64 | Int32) -> Int64:
        """The sum, for each sentence, of a value per bracket."""
        return sum_within(values, self.offset)

    def select(self, keep: Mask) -> Brackets:
        """Only some of the brackets; parents become the nearest kept ancestors."""
        nearest = nearest_kept(self.parent, keep)
        row = np.append(np.cumsum(keep) - 1, -1)
        kept = np.flatnonzero(keep)
        return Brackets(
            self.labels,
            self.label[kept],
            self.start[kept],
            self.end[kept],
            row[nearest[self.parent[kept]]],
            self.sentence[kept],
            self.node[kept],
            np.append(0, np.cumsum(keep))[self.offset],
            self.tag,
            self.word,
            row[nearest[self.above]],
            self.counted,
            self.token_offset,
            self.length,
        )

    def sentences(self, first: int, last: int) -> Brackets:
        """The sentences ``first:last`` alone."""
        return self.take(np.arange(first, last))

    def take(self, sentences: Int64) -> Brackets:
        """Some of the sentences, in the order given; one may be taken several times."""
        rows, offset = _rows_of(self.offset, sentences)
        tokens, token_offset = _rows_of(self.token_offset, sentences)
        moved = np.repeat(self.offset[sentences] - offset[:-1], np.diff(offset))
        token_moved = np.repeat(self.offset[sentences] - offset[:-1], np.diff(token_offset))
        parent, above = self.parent[rows], self.above[tokens]
        return Brackets(
            self.labels,
            self.label[rows],
            self.start[rows],
            self.end[rows],
            np.where(parent < 0, parent, parent - moved),
            np.repeat(np.arange(len(sentences)), np.diff(offset)),
            self.node[rows],
            offset,
            self.tag[tokens],
            self.word[tokens],
            np.where(above < 0, above, above - token_moved),
            self.counted[tokens],
            token_offset,
            self.length[sentences],
        )


def _rows_of(offset: Int64, sentences: Int64) -> tuple[Int64, Int64]:
    """The rows that some sentences own, one sentence after the other, and their new offsets."""
    first = offset[sentences]
    count = offset[sentences + 1] - first
    new_offset = np.append(0, np.cumsum(count))
    return np.repeat(first - new_offset[:-1], count) + np.arange(int(new_offset[-1])), new_offset


def sum_within(values: NDArray[np.bool_] | Int64 | Int32, offset: Int64) -> Int64:
    """Sums over the runs ``offset[i]:offset[i+1]``; an empty run sums to 0."""
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total[offset[1:]] - total[offset[:-1]]


def nearest_kept(parent: Int64, keep: Mask) -> Int64:
    """For each row, and for -1 in the last place, the nearest kept row among itself and its ancestors (-1: none)."""
    nothing = len(keep)
    up = np.append(np.where(keep, np.arange(nothing), np.where(parent < 0, nothing, parent)), nothing)
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return np.where(up == nothing, -1, up)
        up = further
