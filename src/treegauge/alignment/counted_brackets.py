"""From a treebank to the brackets that a preset counts, over the tokens that are kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treegauge.alignment.brackets import Brackets, nearest_kept, select_blocks, sum_within, without_gaps
from treegauge.alignment.words import has_tag
from treegauge.presets import Preset
from treegauge.trees.columns import Blocks, Mask
from treegauge.trees.treebank import Int32, Int64, Treebank


class LabelNumbers:
    """Numbers for labels, the same for gold and test; :meth:`classes` gives labels that a preset treats as equal the same number.

    The labels of ``equal``, the preset's pairs, have the first numbers whether they occur or not: which labels are one class must
    not depend on which trees are scored together.
    """

    def __init__(self, equal: Sequence[tuple[str, str]] = ()) -> None:
        self._numbers: dict[str, int] = {}
        self.numbers([label for pair in equal for label in pair])

    def number(self, label: str) -> int:
        return self._numbers.setdefault(label, len(self._numbers))

    def numbers(self, labels: Sequence[str]) -> Int32:
        return np.array([self.number(label) for label in labels], dtype=np.int32)

    @property
    def strings(self) -> tuple[str, ...]:
        return tuple(self._numbers)

    def classes(self, pairs: Sequence[tuple[str, str]]) -> Int32:
        """For each label the smallest number among the labels equal to it, directly or through others."""
        classes = np.arange(len(self._numbers), dtype=np.int32)
        for _ in pairs:
            for a, b in pairs:
                if a in self._numbers and b in self._numbers:
                    low = min(classes[self._numbers[a]], classes[self._numbers[b]])
                    classes[self._numbers[a]] = classes[self._numbers[b]] = low
        return classes

    def equality(self, pairs: Sequence[tuple[str, str]]) -> Mask | None:
        """A table of which labels are equal; None if :meth:`classes` gives the same answer.

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

    ``numbers`` numbers the labels, ``word_numbers`` the words of the vocabulary. ``length`` and ``counted`` become columns of the
    brackets. Sentences outside ``keep_sentence`` get no brackets, and tokens outside ``tags_comparable`` no tags.
    """
    phrases = _Phrases(bank)
    position = _before(keep_token)
    start, end = phrases.spans(position)
    cut = [preset.cut_label(label) for label in bank.labels]
    labels = bank.label.take(phrases.row)
    label = numbers.numbers(cut).take(labels)
    counts = np.array([not preset.deletes(name) for name in cut] or [False])
    blocks = None
    width = end - start
    if bank.blocks is not None:
        start, end, blocks = phrases.blocks(bank.blocks, position, start, end)
        width = end - start if blocks is None else without_gaps(end - start, blocks)
    keep = ((start < end) | preset.empty_brackets) & counts.take(labels)
    if keep_sentence is not None:
        keep &= keep_sentence.take(phrases.tree)
    if not preset.trivial_spans:
        n_words = np.diff(position[bank.token_offset])
        keep &= (width > 1) & (width < n_words.take(phrases.tree))
    if not preset.redundant_nodes:
        keep &= ~_is_redundant(bank, preset, phrases, label)
    if not preset.duplicate_spans:
        keep &= ~_is_repeat(start, end, width, label if preset.labelled else None, phrases.parent, keep)

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
        None if blocks is None else select_blocks(blocks, keep, row),
    )


class _Phrases:
    """The nodes of a treebank that are not preterminals: their ``row``, ``tree`` and ``parent`` (its number among them, or -1)."""

    def __init__(self, bank: Treebank) -> None:
        self._bank = bank
        is_phrase = ~bank.is_preterminal
        self._number = _before(is_phrase)
        self.row = np.flatnonzero(is_phrase)
        self.offset = self._number.take(bank.node_offset)
        self.tree = np.repeat(np.arange(len(bank)), np.diff(self.offset))
        self.parent = self._phrase(bank.parent.take(self.row), self.tree)

    def _phrase(self, node: Int32, tree: Int64) -> Int64:
        """The numbers of some phrases, given by their rows in their trees; -1 for -1."""
        return np.where(node < 0, -1, self._number.take(node + self._bank.node_offset.take(tree)))

    def spans(self, position: Int64) -> tuple[Int32, Int32]:
        """Start and end of each phrase over kept tokens; ``position[i]`` counts the kept tokens before token ``i``."""
        bank = self._bank
        if position[-1] == bank.n_tokens:
            return bank.start.take(self.row), bank.end.take(self.row)
        first_token = bank.token_offset.take(self.tree)
        before = position.take(first_token)
        start = position.take(first_token + bank.start.take(self.row)) - before
        end = position.take(first_token + bank.end.take(self.row)) - before
        return start.astype(np.int32), end.astype(np.int32)

    def blocks(self, blocks: Blocks, position: Int64, start: Int32, end: Int32) -> tuple[Int32, Int32, Blocks | None]:
        """Start and end, corrected for phrases with gaps, and the blocks of these, over kept tokens."""
        number = self._number.take(blocks.row)  # a preterminal has one word, and so no gap
        first_token = self._bank.token_offset.take(self.tree.take(number))
        moved = Blocks(number, blocks.start, blocks.end).over(first_token, position)
        start, end = start.copy(), end.copy()
        start[moved.row], end[moved.row] = moved.start, moved.end
        return start, end, moved.blocks

    def above(self, tokens: Int64) -> Int64:
        """The phrase directly above each token and its tag."""
        bank = self._bank
        tree = np.repeat(np.arange(len(bank)), np.diff(bank.token_offset)).take(tokens)
        node = bank.above.take(tokens)
        higher = bank.parent.take(node + bank.node_offset.take(tree))
        node = np.where(bank.tag.take(tokens) >= 0, higher, node)
        return self._phrase(node, tree)


def _before(marked: Mask) -> Int64:
    """The number of marks before each position, and at the end the number of all marks."""
    total = np.zeros(len(marked) + 1, dtype=np.int64)
    np.cumsum(marked, out=total[1:])
    return total


def _nearest(rows: Int64, keep: Mask, parent: Int64) -> Int64:
    """For each of the rows (-1: none) the nearest kept row among itself and its ancestors, or -1."""
    nearest = rows.copy()
    is_kept = np.append(keep, True)
    search = np.flatnonzero(~is_kept.take(nearest))
    for _ in range(16):
        if not len(search):
            return nearest
        found = parent.take(nearest.take(search))
        nearest[search] = found
        search = search[~is_kept.take(found)]
    # Long chains of deleted nodes: all at once, by pointer doubling.
    nearest[search] = nearest_kept(parent, keep)[nearest[search]]
    return nearest


def sentence_lengths(bank: Treebank, preset: Preset) -> Int64:
    """The length of each sentence, without the words whose tag is in ``delete_tags_for_length``."""
    return sum_within(~has_tag(bank, preset.delete_tags_for_length), bank.token_offset)


def _is_redundant(bank: Treebank, preset: Preset, phrases: _Phrases, label: Int32) -> Mask:
    """A mask of the phrases that are the only child, apart from traces, of a phrase with the same label."""
    position = _before(~has_tag(bank, preset.delete_tags_for_length))
    start, end = phrases.spans(position)
    width = end - start
    if bank.blocks is not None:
        start, end, blocks = phrases.blocks(bank.blocks, position, start, end)
        width = end - start if blocks is None else without_gaps(end - start, blocks)
    parent = phrases.parent
    same_words = (start == start[parent]) & (end == end[parent]) & (width == width[parent])
    return (parent >= 0) & same_words & (label == label[parent])


def _is_repeat(start: Int32, end: Int32, width: Int32, label: Int32 | None, parent: Int64, keep: Mask) -> Mask:
    """A mask of the rows that repeat the span (and label, if given) of a kept ancestor."""
    repeats = np.zeros(len(start), dtype=np.bool_)
    nearest = nearest_kept(parent, keep)
    rows = np.flatnonzero(keep)
    ancestor = nearest[parent[rows]]
    while len(rows):
        # A node covers a subset of its ancestor's words, so equal numbers of words are equal sets.
        alive = (ancestor >= 0) & (start[rows] == start[ancestor]) & (end[rows] == end[ancestor]) & (width[rows] == width[ancestor])
        rows, ancestor = rows[alive], ancestor[alive]
        same = np.ones(len(rows), dtype=np.bool_) if label is None else label[rows] == label[ancestor]
        repeats[rows[same]] = True
        rows, ancestor = rows[~same], nearest[parent[ancestor[~same]]]
    return repeats
