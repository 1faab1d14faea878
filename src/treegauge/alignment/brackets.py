"""Brackets: the constituents that a preset counts, as columns; and what follows from them, such as symbols.

Every metric compares brackets. They are phrases only (tags are a column of the tokens), over the tokens that were kept, with labels
that were cut and numbered in the same way for gold and test. :func:`brackets_of` makes them of a treebank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from treegauge.alignment.words import has_tag
from treegauge.presets import Preset
from treegauge.tables import concise
from treegauge.trees.columns import Blocks, Mask, rows_of, sum_within
from treegauge.trees.treebank import Int32, Int64, Treebank


@concise
@dataclass(frozen=True, eq=False)
class Brackets:
    """The constituents that count, sentence by sentence, each sentence in pre-order.

    Per bracket: ``label`` (an index into ``labels``), ``start`` and ``end`` over kept tokens, ``parent`` (the row of the nearest
    ancestor that counts, or -1), ``sentence``, and ``node`` (the node's row in its tree). Sentence ``i`` has the rows
    ``offset[i]:offset[i+1]``. Per kept token: ``tag`` (-1: none), ``word`` (numbered alike in gold and test), ``above`` (the row of
    the innermost bracket around it, or -1) and ``counted`` (False only for the second and further pieces of a gold token that the
    test tree cuts). Sentence ``i`` has the tokens ``token_offset[i]:token_offset[i+1]``. ``length`` is the sentence length by the
    preset's rule.

    If any bracket of gold or test has a gap, ``start`` is that of its first block and ``end`` that of its last, ``blocks`` holds
    all blocks, and ``gap`` numbers the sets of blocks (0: one block), alike in gold and test. So ``start``, ``end`` and ``gap``
    identify the words of a bracket.

    If sentences were aligned by edit distance, ``shared`` marks the tokens that both gold and test have; in each sentence they come
    first, and a bracket without any of them is :attr:`unplaced` (see :mod:`treegauge.alignment.pairing`). ``own_width`` is then the
    number of tokens that each bracket covers in its own tree.
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
    blocks: Blocks | None = None
    gap: Int64 | None = None
    shared: Mask | None = None
    own_width: Int32 | None = None

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

    def per_sentence(self, values: Mask | Int64 | Int32) -> Int64:
        """The sum, for each sentence, of a value per bracket."""
        return sum_within(values, self.offset)

    @property
    def gap_numbers(self) -> Int64:
        """For each bracket the number of its set of blocks; 0 if it has no gap."""
        return np.zeros(self.n_brackets, dtype=np.int64) if self.gap is None else self.gap

    @property
    def n_shared(self) -> Int64:
        """The number of tokens of each sentence that gold and test both have."""
        return np.diff(self.token_offset) if self.shared is None else sum_within(self.shared, self.token_offset)

    @property
    def unplaced(self) -> Mask:
        """The brackets without a token that the other side has."""
        if self.shared is None:
            return np.zeros(self.n_brackets, dtype=np.bool_)
        return self.end > self.n_shared[self.sentence]

    @property
    def width(self) -> Int32:
        """The number of words that each bracket covers."""
        width = self.end - self.start
        return width if self.blocks is None else without_gaps(width, self.blocks)

    @property
    def fan_out(self) -> Int64:
        """The number of blocks of each bracket."""
        fan_out = np.ones(self.n_brackets, dtype=np.int64)
        if self.blocks is not None:
            rows, counts = np.unique(self.blocks.row, return_counts=True)
            fan_out[rows] = counts
        return fan_out

    @property
    def with_gaps(self) -> Int64:
        """The sentences in which some bracket has a gap."""
        return np.zeros(0, dtype=np.int64) if self.blocks is None else np.unique(self.sentence[self.blocks.row])

    def word_sets(self, sentence: int) -> list[int]:
        """The words of each bracket of a sentence as the bits of an integer."""
        rows = range(int(self.offset[sentence]), int(self.offset[sentence + 1]))
        starts, ends = self.start[rows.start : rows.stop].tolist(), self.end[rows.start : rows.stop].tolist()
        found = [(1 << end) - (1 << start) for start, end in zip(starts, ends, strict=True)]
        own = None if self.blocks is None else self.blocks.within(rows.start, rows.stop)
        if own is not None:
            for row in set(own.row.tolist()):
                found[row] = 0
            for row, start, end in zip(own.row.tolist(), own.start.tolist(), own.end.tolist(), strict=True):
                found[row] |= (1 << end) - (1 << start)
        return found

    def blocks_by_row(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """The blocks of each bracket that has a gap, as spans from left to right."""
        found: dict[int, tuple[tuple[int, int], ...]] = {}
        if self.blocks is not None:
            columns = (self.blocks.row.tolist(), self.blocks.start.tolist(), self.blocks.end.tolist())
            for row, start, end in zip(*columns, strict=True):
                found[row] = (*found.get(row, ()), (start, end))
        return found

    def select(self, keep: Mask) -> Brackets:
        """Only some of the brackets; parents become the nearest kept ancestors."""
        nearest = nearest_kept(self.parent, keep)
        row = np.append(np.cumsum(keep) - 1, -1)
        kept = np.flatnonzero(keep)
        return replace(
            self,
            **{name: getattr(self, name)[kept] for name in ("label", "start", "end", "sentence", "node")},
            parent=row[nearest[self.parent[kept]]],
            offset=np.append(0, np.cumsum(keep))[self.offset],
            above=row[nearest[self.above]],
            blocks=None if self.blocks is None else select_blocks(self.blocks, keep, row),
            gap=None if self.gap is None else self.gap[kept],
            own_width=None if self.own_width is None else self.own_width[kept],
        )

    def take(self, sentences: Int64) -> Brackets:
        """Some of the sentences, in the order given; one may be taken several times."""
        rows, offset = rows_of(self.offset, sentences)
        tokens, token_offset = rows_of(self.token_offset, sentences)
        moved = np.repeat(self.offset[sentences] - offset[:-1], np.diff(offset))
        token_moved = np.repeat(self.offset[sentences] - offset[:-1], np.diff(token_offset))
        parent, above = self.parent[rows], self.above[tokens]
        return replace(
            self,
            **{name: getattr(self, name)[rows] for name in ("label", "start", "end", "node")},
            **{name: getattr(self, name)[tokens] for name in ("tag", "word", "counted")},
            parent=np.where(parent < 0, parent, parent - moved),
            sentence=np.repeat(np.arange(len(sentences)), np.diff(offset)),
            offset=offset,
            above=np.where(above < 0, above, above - token_moved),
            token_offset=token_offset,
            length=self.length[sentences],
            blocks=None if self.blocks is None else self.blocks.take(self.offset, sentences, offset),
            gap=None if self.gap is None else self.gap[rows],
            shared=None if self.shared is None else self.shared[tokens],
            own_width=None if self.own_width is None else self.own_width[rows],
        )


def select_blocks(blocks: Blocks, keep: Mask, row: Int64) -> Blocks | None:
    """The blocks of the rows in ``keep``; ``row`` has the new number of each row."""
    stay = keep[blocks.row]
    return Blocks(row[blocks.row[stay]], blocks.start[stay], blocks.end[stay]) if stay.any() else None


def without_gaps(width: Int32, blocks: Blocks) -> Int32:
    """The number of words of each bracket, given the distance from its first word to its last."""
    rows, first = np.unique(blocks.row, return_index=True)
    width = width.copy()
    width[rows] = np.add.reduceat(blocks.end - blocks.start, first)
    return width


def with_gap_numbers(gold: Brackets, test: Brackets) -> tuple[Brackets, Brackets]:
    """Gold and test with their sets of blocks numbered alike."""
    numbers: dict[bytes, int] = {}
    numbered = [replace(side, gap=_gap_numbers(side, numbers)) for side in (gold, test)]
    return numbered[0], numbered[1]


def _gap_numbers(brackets: Brackets, numbers: dict[bytes, int]) -> Int64:
    gap = np.zeros(brackets.n_brackets, dtype=np.int64)
    if brackets.blocks is not None:
        edges = np.stack([brackets.blocks.start, brackets.blocks.end], axis=1)
        rows, first = np.unique(brackets.blocks.row, return_index=True)
        behind: list[int] = [*first[1:].tolist(), len(edges)]
        for row, low, high in zip(rows.tolist(), first.tolist(), behind, strict=True):
            gap[row] = numbers.setdefault(edges[low:high].tobytes(), len(numbers) + 1)
    return gap


def nearest_kept(parent: Int64, keep: Mask) -> Int64:
    """For each row, the nearest kept row among itself and its ancestors (-1: none); the last entry, for the index -1, is -1."""
    nothing = len(keep)
    up = np.append(np.where(keep, np.arange(nothing), np.where(parent < 0, nothing, parent)), nothing)
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return np.where(up == nothing, -1, up)
        up = further


def token_positions(brackets: Brackets) -> tuple[Int64, Int64]:
    """For each kept token its sentence and its position there."""
    n_tokens = np.diff(brackets.token_offset)
    sentence = np.repeat(np.arange(len(brackets)), n_tokens)
    return sentence, np.arange(len(brackets.tag)) - brackets.token_offset[:-1][sentence]


def symbols(brackets: Brackets, classes: Int32 | None) -> tuple[Int64, Int64]:
    """The symbol of each bracket and of each token: the class of its label or tag; a word without a tag is its own symbol.

    Without classes, all labels are one symbol.
    """
    n_classes = len(brackets.labels)
    classes = np.zeros(n_classes, dtype=np.int32) if classes is None else classes
    tagged = brackets.tag >= 0
    of_token = brackets.word.astype(np.int64) + n_classes
    of_token[tagged] = classes[brackets.tag[tagged]]
    return classes[brackets.label].astype(np.int64), of_token


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
    start, end, width, blocks = phrases.spans(position)
    cut = [preset.cut_label(label) for label in bank.labels]
    labels = bank.label.take(phrases.row)
    label = numbers.numbers(cut).take(labels)
    counts = np.array([not preset.deletes(name) for name in cut] or [False])
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
    kept, tokens, nearest = np.flatnonzero(keep), np.flatnonzero(keep_token), nearest_kept(phrases.parent, keep)
    tree = phrases.tree.take(kept)
    tag = np.append(numbers.numbers([preset.cut_tag(name) for name in bank.labels]), np.int32(-1)).take(bank.tag.take(tokens))
    if tags_comparable is not None:
        tag[~tags_comparable[tokens]] = -1
    return Brackets(
        numbers.strings,
        label.take(kept),
        start.take(kept),
        end.take(kept),
        row.take(nearest.take(phrases.parent.take(kept))),
        tree,
        phrases.row.take(kept) - bank.node_offset.take(tree),
        _before(keep).take(phrases.offset),
        tag,
        word_numbers.take(bank.word.take(tokens)),
        row.take(nearest.take(phrases.above(tokens))),
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

    def spans(self, position: Int64) -> tuple[Int32, Int32, Int32, Blocks | None]:
        """Start, end and width of each phrase over kept tokens, and the blocks of those with gaps; ``position[i]`` counts the kept
        tokens before token ``i``."""
        start, end = self._whole_spans(position)
        if self._bank.blocks is None:
            return start, end, end - start, None
        number = self._number.take(self._bank.blocks.row)  # a preterminal has one word, and so no gap
        first_token = self._bank.token_offset.take(self.tree.take(number))
        moved = Blocks(number, self._bank.blocks.start, self._bank.blocks.end).over(first_token, position)
        start, end = start.copy(), end.copy()
        start[moved.row], end[moved.row] = moved.start, moved.end
        width = end - start
        return start, end, width if moved.blocks is None else without_gaps(width, moved.blocks), moved.blocks

    def _whole_spans(self, position: Int64) -> tuple[Int32, Int32]:
        """Start and end of each phrase, as if none had a gap."""
        bank = self._bank
        if position[-1] == bank.n_tokens:
            return bank.start.take(self.row), bank.end.take(self.row)
        first_token = bank.token_offset.take(self.tree)
        before = position.take(first_token)
        start = position.take(first_token + bank.start.take(self.row)) - before
        end = position.take(first_token + bank.end.take(self.row)) - before
        return start.astype(np.int32), end.astype(np.int32)

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


def sentence_lengths(bank: Treebank, preset: Preset) -> Int64:
    """The length of each sentence, without the words whose tag is in ``delete_tags_for_length``."""
    return sum_within(~has_tag(bank, preset.delete_tags_for_length), bank.token_offset)


def _is_redundant(bank: Treebank, preset: Preset, phrases: _Phrases, label: Int32) -> Mask:
    """A mask of the phrases that are the only child, apart from traces, of a phrase with the same label."""
    position = _before(~has_tag(bank, preset.delete_tags_for_length))
    start, end, width, _ = phrases.spans(position)
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
