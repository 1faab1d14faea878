"""From a treebank to the brackets that a preset counts, over the tokens that are kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.brackets import Brackets, LabelNumbers, nearest_kept, sum_within
from treegauge.metrics.tokens import has_tag
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int32, Int64, Treebank

__all__ = ["brackets_of", "sentence_lengths"]

Mask = NDArray[np.bool_]


def brackets_of(
    bank: Treebank,
    preset: Preset,
    keep_token: Mask,
    numbers: LabelNumbers,
    word_numbers: Int32,
    *,
    length: Int64,
    counted: Mask | None = None,
    tags_comparable: Mask | None = None,
    keep_sentence: Mask | None = None,
) -> Brackets:
    """The brackets of a treebank that a preset counts, over the tokens in ``keep_token``.

    Sentences outside ``keep_sentence`` get no brackets and no tags; tokens outside ``tags_comparable`` no tags.
    """
    phrases = _Phrases(bank)
    position = _before(keep_token)
    start, end = phrases.spans(position)
    cut = [preset.cut_label(label) for label in bank.labels]
    labels = bank.label.take(phrases.row)
    label = numbers.numbers(cut).take(labels)
    counts = np.array([not preset.deletes(name) for name in cut] or [False])
    keep = ((start < end) | preset.empty_brackets) & counts.take(labels)
    if keep_sentence is not None:
        keep &= keep_sentence.take(phrases.tree)
    if not preset.trivial_spans:
        n_words = np.diff(position[bank.token_offset])
        keep &= (end - start > 1) & (end - start < n_words.take(phrases.tree))
    if not preset.redundant_nodes:
        keep &= ~_redundant(bank, preset, phrases, label)
    if not preset.duplicate_spans:
        keep &= ~_repeats(start, end, label if preset.labelled else None, phrases.parent, keep)

    row = np.append(np.cumsum(keep) - 1, -1)
    kept, tokens = np.flatnonzero(keep), np.flatnonzero(keep_token)
    tree = phrases.tree.take(kept)
    tag = np.append(numbers.numbers([preset.cut_tag(name) for name in bank.labels]), np.int32(-1)).take(bank.tag.take(tokens))
    if tags_comparable is not None:
        tag[~tags_comparable[tokens]] = -1
    return Brackets(
        numbers.strings,
        label.take(kept),
        start.take(kept),
        end.take(kept),
        row.take(_nearest(phrases.parent.take(kept), keep, phrases.parent)),
        tree,
        phrases.row.take(kept) - bank.node_offset.take(tree),
        _before(keep).take(phrases.offset),
        tag,
        word_numbers.take(bank.word.take(tokens)),
        row.take(_nearest(phrases.above(tokens), keep, phrases.parent)),
        np.ones(len(tokens), dtype=np.bool_) if counted is None else counted.take(tokens),
        position.take(bank.token_offset),
        length,
    )


class _Phrases:
    """The nodes of a treebank that are no preterminals: their ``row``, ``tree`` and ``parent`` (a number among them, or -1)."""

    def __init__(self, bank: Treebank) -> None:
        self._bank = bank
        is_phrase = ~bank.is_preterminal
        self._number = _before(is_phrase)
        self.row = np.flatnonzero(is_phrase)
        self.offset = self._number.take(bank.node_offset)
        self.tree = np.repeat(np.arange(len(bank)), np.diff(self.offset))
        self.parent = self._phrase(bank.parent.take(self.row), self.tree)

    def _phrase(self, node: Int32, tree: Int64) -> Int64:
        """The number of each node, given by its row in a tree; -1 for -1."""
        return np.where(node < 0, -1, self._number.take(node + self._bank.node_offset.take(tree)))

    def spans(self, position: Int64) -> tuple[Int32, Int32]:
        """Start and end over the tokens that ``position`` counts."""
        bank = self._bank
        if position[-1] == bank.n_tokens:
            return bank.start.take(self.row), bank.end.take(self.row)
        first_token = bank.token_offset.take(self.tree)
        before = position.take(first_token)
        start = position.take(first_token + bank.start.take(self.row)) - before
        end = position.take(first_token + bank.end.take(self.row)) - before
        return start.astype(np.int32), end.astype(np.int32)

    def above(self, tokens: Int64) -> Int64:
        """The phrase right above each token, beyond its tag."""
        bank = self._bank
        tree = np.repeat(np.arange(len(bank)), np.diff(bank.token_offset)).take(tokens)
        node = bank.above.take(tokens)
        higher = bank.parent.take(node + bank.node_offset.take(tree))
        node = np.where(bank.tag.take(tokens) >= 0, higher, node)
        return self._phrase(node, tree)


def _before(marked: Mask) -> Int64:
    """How many are marked before each place, and at the end how many in all."""
    total = np.zeros(len(marked) + 1, dtype=np.int64)
    np.cumsum(marked, out=total[1:])
    return total


def _nearest(rows: Int64, keep: Mask, parent: Int64) -> Int64:
    """For each row (-1: none) the nearest kept one among itself and its ancestors, or -1."""
    nearest = rows.copy()
    is_kept = np.append(keep, True)
    search = np.flatnonzero(~is_kept.take(nearest))
    for _ in range(16):
        if not len(search):
            return nearest
        found = parent.take(nearest.take(search))
        nearest[search] = found
        search = search[~is_kept.take(found)]
    # Long chains of deleted nodes: all distances at once, doubling.
    nearest[search] = nearest_kept(parent, keep)[nearest[search]]
    return nearest


def sentence_lengths(bank: Treebank, preset: Preset) -> Int64:
    """The length of each sentence, words with ``delete_tags_for_length`` left out."""
    return sum_within(~has_tag(bank, preset.delete_tags_for_length), bank.token_offset)


def _redundant(bank: Treebank, preset: Preset, phrases: _Phrases, label: Int32) -> Mask:
    """Which phrases are the only child, traces apart, of a phrase with their own label."""
    start, end = phrases.spans(_before(~has_tag(bank, preset.delete_tags_for_length)))
    parent = phrases.parent
    return (parent >= 0) & (start == start[parent]) & (end == end[parent]) & (label == label[parent])


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
