"""Brackets: the constituents of a treebank that count, as columns.

This is what every metric sees: phrases only (tags are a column of the tokens), on the tokens that were kept, with the labels cut
and numbered alike for gold and test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int32, Int64, Treebank

__all__ = ["Brackets", "LabelNumbers", "brackets_of", "sum_within"]

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


def brackets_of(
    bank: Treebank,
    preset: Preset,
    keep_token: Mask,
    numbers: LabelNumbers,
    word_numbers: Int32,
    *,
    counted: Mask | None = None,
    tags_comparable: Mask | None = None,
    keep_sentence: Mask | None = None,
) -> Brackets:
    """The brackets of a treebank that a preset counts, over the tokens in ``keep_token``.

    Sentences outside ``keep_sentence`` get no brackets and no tags; tokens outside ``tags_comparable`` no tags.
    """
    tree_of_node = np.repeat(np.arange(len(bank)), np.diff(bank.node_offset))
    tree_of_token = np.repeat(np.arange(len(bank)), np.diff(bank.token_offset))
    first_node = bank.node_offset[:-1]
    position = np.append(0, np.cumsum(keep_token))
    first_token = bank.token_offset[:-1][tree_of_node]
    start = (position[first_token + bank.start] - position[first_token]).astype(np.int32)
    end = (position[first_token + bank.end] - position[first_token]).astype(np.int32)
    parent = np.where(bank.parent < 0, -1, bank.parent + first_node[tree_of_node])

    cut = [preset.cut_label(label) for label in bank.labels]
    label = (numbers.numbers(cut) if cut else np.zeros(1, np.int32))[bank.label]
    keep = (start < end) & ~bank.is_preterminal & ~np.array([preset.deletes(name) for name in cut] or [False])[bank.label]
    if keep_sentence is not None:
        keep &= keep_sentence[tree_of_node]
    if not preset.trivial_spans:
        n_words = position[bank.token_offset[1:]] - position[bank.token_offset[:-1]]
        keep &= (end - start > 1) & (end - start < n_words[tree_of_node])
    if not preset.redundant_nodes:
        keep &= ~_redundant(bank, preset, first_token, label, parent)
    if not preset.duplicate_spans:
        keep &= ~_repeats(start, end, label if preset.labelled else None, parent, keep)

    nearest = nearest_kept(parent, keep)
    row = np.append(np.cumsum(keep) - 1, -1)
    kept, tokens = np.flatnonzero(keep), np.flatnonzero(keep_token)
    tag = np.append(numbers.numbers([preset.cut_tag(name) for name in bank.labels]), np.int32(-1))[bank.tag]
    if tags_comparable is not None:
        tag[~tags_comparable] = -1
    return Brackets(
        numbers.strings,
        label[kept],
        start[kept],
        end[kept],
        row[nearest[parent[kept]]],
        tree_of_node[kept],
        kept - first_node[tree_of_node[kept]],
        np.append(0, np.cumsum(keep))[bank.node_offset],
        tag[tokens],
        word_numbers[bank.word[tokens]],
        row[nearest[(bank.above + first_node[tree_of_token])[tokens]]],
        np.ones(len(tokens), dtype=np.bool_) if counted is None else counted[tokens],
        position[bank.token_offset],
        _lengths(bank, preset, counted),
    )


def _redundant(bank: Treebank, preset: Preset, first_token: Int64, label: Int32, parent: Int64) -> Mask:
    """Which nodes are the only child, traces apart, of a node with their own label."""
    position = np.append(0, np.cumsum(_in_length(bank, preset)))
    start, end = position[first_token + bank.start], position[first_token + bank.end]
    same = (start == start[parent]) & (end == end[parent]) & (label == label[parent])
    return same & (parent >= 0) & ~bank.is_preterminal


def _in_length(bank: Treebank, preset: Preset) -> Mask:
    """Which tokens count in the sentence length."""
    left_out = np.array([label in preset.delete_tags_for_length for label in bank.labels] + [False], dtype=np.bool_)
    return ~left_out[bank.tag]


def _lengths(bank: Treebank, preset: Preset, counted: Mask | None) -> Int64:
    """The length of each sentence, words with ``delete_tags_for_length`` left out."""
    in_length = _in_length(bank, preset)
    return sum_within(in_length if counted is None else in_length & counted, bank.token_offset)


def _repeats(start: Int32, end: Int32, label: Int32 | None, parent: Int64, keep: Mask) -> Mask:
    """Which rows repeat the span (and label, if given) of a kept ancestor."""
    repeats = np.zeros(len(start), dtype=np.bool_)
    nearest = nearest_kept(parent, keep)
    rows = np.flatnonzero(keep)
    ancestor = nearest[parent[rows]]
    while len(rows):
        alive = (ancestor >= 0) & (start[rows] == start[ancestor]) & (end[rows] == end[ancestor])
        rows, ancestor = rows[alive], ancestor[alive]
        same = np.ones(len(rows), dtype=np.bool_) if label is None else label[rows] == label[ancestor]
        repeats[rows[same]] = True
        rows, ancestor = rows[~same], nearest[parent[ancestor[~same]]]
    return repeats
