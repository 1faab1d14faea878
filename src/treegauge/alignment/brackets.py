"""Brackets: the constituents that count, as columns; and what follows from them, such as depths and symbols.

Every metric compares brackets. They are phrases only (tags are a column of the tokens), over the tokens that were kept, with labels
that were cut and numbered in the same way for gold and test. :mod:`treegauge.alignment.counted_brackets` makes them of treebanks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treegauge.trees.columns import Blocks, Mask, rows_of
from treegauge.trees.treebank import Int32, Int64


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
    first, and a bracket without any of them is :attr:`unplaced` (see :mod:`treegauge.alignment.edit`). ``own_width`` is then the
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
            None if self.blocks is None else select_blocks(self.blocks, keep, row),
            None if self.gap is None else self.gap[kept],
            self.shared,
            None if self.own_width is None else self.own_width[kept],
        )

    def sentences(self, first: int, last: int) -> Brackets:
        """The sentences ``first:last`` alone."""
        return self.take(np.arange(first, last))

    def take(self, sentences: Int64) -> Brackets:
        """Some of the sentences, in the order given; one may be taken several times."""
        rows, offset = rows_of(self.offset, sentences)
        tokens, token_offset = rows_of(self.token_offset, sentences)
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
            None if self.blocks is None else self.blocks.take(self.offset, sentences, offset),
            None if self.gap is None else self.gap[rows],
            None if self.shared is None else self.shared[tokens],
            None if self.own_width is None else self.own_width[rows],
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


def sum_within(values: Mask | Int64 | Int32, offset: Int64) -> Int64:
    """Sums over the runs ``offset[i]:offset[i+1]``; an empty run sums to 0."""
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total[offset[1:]] - total[offset[:-1]]


def nearest_kept(parent: Int64, keep: Mask) -> Int64:
    """For each row, the nearest kept row among itself and its ancestors (-1: none); the last entry, for the index -1, is -1."""
    nothing = len(keep)
    up = np.append(np.where(keep, np.arange(nothing), np.where(parent < 0, nothing, parent)), nothing)
    while True:
        further = up[up]
        if np.array_equal(further, up):
            return np.where(up == nothing, -1, up)
        up = further


def depths(brackets: Brackets) -> Int64:
    """For each bracket the number of counted brackets above it.

    In pre-order, each bracket before this one is either above it or ends at or before its start, so it is enough to count ends.
    """
    if brackets.blocks is not None or brackets.shared is not None:
        return _depths_by_parents(brackets.parent)
    first_edge = brackets.token_offset[:-1] + np.arange(len(brackets))
    base = first_edge[brackets.sentence]
    ends = np.bincount(base + brackets.end, minlength=int(brackets.token_offset[-1]) + len(brackets))
    ended = np.cumsum(ends)
    # The brackets of earlier sentences have all ended, and cancel out against their rows.
    return np.arange(brackets.n_brackets) - ended[base + brackets.start]


def _depths_by_parents(parent: Int64) -> Int64:
    """The number of ancestors of each row, by pointer doubling."""
    nothing = len(parent)
    up = np.append(np.where(parent < 0, nothing, parent), nothing)
    depth = np.append((parent >= 0).astype(np.int64), 0)
    while bool((more := depth.take(up)).any()):
        depth = depth + more
        up = up.take(up)
    return depth[:-1]


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
