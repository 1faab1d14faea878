"""Matching: which brackets of two trees match, which cross, and how many parts of any kind two trees share.

Brackets match as in EVALB: each gold bracket takes the first unused test bracket with its span and an equal label, so brackets are
a multiset. Bracket (a, b) crosses (c, d) if c < a < d < b or a < c < b < d; ends are exclusive, and sharing an edge is not
crossing.

Other metrics compare other parts of trees: parent-child links, frames, lineages. Any part is a row of integers; each row gets a
number such that equal rows have equal numbers, and the rest is sorting numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.trees.treebank import Int32, Int64, Mask


def partners(gold: Brackets, test: Brackets, classes: Int32 | None) -> Int64:
    """For each gold bracket the row of its test bracket, or -1; ``classes`` gives equal labels one number, None ignores labels."""
    keys, n_gold = _keys(gold, test, classes), gold.n_brackets
    _, ours, theirs = np.intersect1d(*one_to_one(keys[:n_gold], keys[n_gold:]), assume_unique=True, return_indices=True)
    found = np.full(n_gold, -1, dtype=np.int64)
    found[ours] = theirs
    return found


def has_partner(partner: Int64, test: Brackets) -> Mask:
    """For each test bracket, whether it is the partner of a gold bracket."""
    found = np.zeros(test.n_brackets, dtype=np.bool_)
    found[partner[partner >= 0]] = True
    return found


def partners_by_order(gold: Brackets, test: Brackets, classes: Int32, equal: Mask) -> Int64:
    """Partners where label equality is not transitive, so that it matters which test bracket is taken: the first, as in EVALB.

    ``equal[a, b]`` tells whether two labels are equal; ``classes`` joins all labels that are equal directly or through others.
    """
    found = partners(gold, test, classes)
    keys = _keys(gold, test, classes)
    labels = np.concatenate([gold.label, test.label])
    order = np.argsort(keys, kind="stable")
    mixed = np.flatnonzero((keys[order[1:]] == keys[order[:-1]]) & (labels[order[1:]] != labels[order[:-1]]))
    waiting: dict[int, list[int]] = {int(key): [] for key in keys[order[mixed]]}
    for row, key in enumerate(keys[gold.n_brackets :].tolist()):
        if key in waiting:
            waiting[key].append(row)
    for row, key in enumerate(keys[: gold.n_brackets].tolist()):
        if key in waiting:
            like = equal[gold.label[row]]
            found[row] = next((other for other in waiting[key] if like[test.label[other]]), -1)
            if found[row] >= 0:
                waiting[key].remove(int(found[row]))
    return found


def partners_by_preset(pair: Pair, gold: Brackets, test: Brackets) -> Int64:
    """Partners among some brackets of a pair, with labels as its preset compares them."""
    if pair.equality is not None and pair.preset.labelled:
        return partners_by_order(gold, test, pair.classes, pair.equality)
    return partners(gold, test, pair.matching_classes)


def _keys(gold: Brackets, test: Brackets, classes: Int32 | None) -> Int64:
    """One integer for each (sentence, start, end, gap, label), gold then test, in nearly sorted order."""
    sides = (gold, test)
    columns: list[list[Column]] = [[side.sentence for side in sides], [side.start for side in sides], [-side.end for side in sides]]
    if gold.gap is not None or test.gap is not None:
        columns.append([side.gap_numbers for side in sides])
    if classes is not None:
        columns.append([classes.take(side.label) for side in sides])
    return codes([np.concatenate(column) for column in columns])


def one_to_one(gold: Int64, test: Int64) -> tuple[Int64, Int64]:
    """Keys that pair multisets one to one: the k-th of several equal keys has a number that only the k-th of the other side shares.

    >>> [keys.tolist() for keys in one_to_one(np.array([5, 5, 6]), np.array([5, 6, 6]))]
    [[0, 1, 2], [0, 2, 3]]
    """
    numbered = codes([np.concatenate([gold, test]), np.concatenate([_equal_before(gold), _equal_before(test)])])
    return numbered[: len(gold)], numbered[len(gold) :]


def _equal_before(keys: Int64) -> Int64:
    """For each key, how many equal ones come before it."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    before = np.empty_like(order)
    before[order] = np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))
    return before


def crossing(gold: Brackets, test: Brackets) -> Mask:
    """A mask of the test brackets that cross some gold bracket.

    The gold brackets around an edge are nested, so it is enough to look at the innermost one around each edge of a test bracket: it
    crosses if it ends inside the test bracket, or starts inside it. Empty brackets cross nothing. Brackets with gaps cross if they
    share words and neither contains the other. A test bracket without any word of the gold sentence (:attr:`Brackets.unplaced`)
    counts as crossing.
    """
    if (shared := gold.shared) is not None:
        placed = gold.select(~gold.unplaced)
        gold = replace(placed, above=np.where(shared, placed.above, -1))
    if (gold.start >= gold.end).any():
        gold = gold.select(gold.start < gold.end)
    inner_start, inner_end = _innermost_around_edges(gold)
    base = (gold.token_offset[:-1] + np.arange(len(gold))).take(test.sentence)
    left, right = base + test.start, base + test.end
    ends_inside = inner_end.take(left) < test.end
    starts_inside = inner_start.take(right) > test.start
    crosses = ends_inside | starts_inside
    for sentence in sorted({*gold.with_gaps.tolist(), *test.with_gaps.tolist(), *_out_of_order(gold)}):
        rows = slice(int(test.offset[sentence]), int(test.offset[sentence + 1]))
        crosses[rows] = crossing_sets(gold.word_sets(sentence), test.word_sets(sentence))
    return crosses | test.unplaced


def _out_of_order(brackets: Brackets) -> list[int]:
    """The sentences whose brackets are not in order from left to right, since deleting words closed the gaps of their trees."""
    begins_earlier = (np.diff(brackets.start) < 0) & (np.diff(brackets.sentence) == 0)
    return brackets.sentence[1:][begins_earlier].tolist()


def crossing_sets(gold: Sequence[int], test: Sequence[int]) -> list[bool]:
    """A mask of the test sets that cross some gold set: they share words, and neither contains the other; words are bits.

    >>> crossing_sets([0b0111], [0b1010, 0b0110, 0b1001])
    [True, False, True]
    """
    return [any(ours & own and ours & ~own and own & ~ours for ours in gold) for own in test]


def _innermost_around_edges(gold: Brackets) -> tuple[Int32, Int32]:
    """Start and end of the innermost gold bracket strictly around each edge between tokens.

    A sentence of n tokens has the edges 0 ... n. If there is no bracket around an edge, the values are such that nothing crosses.
    """
    n_edges = int(gold.token_offset[-1]) + len(gold)
    first_edge = gold.token_offset[:-1] + np.arange(len(gold))
    start = np.full(n_edges, -1, dtype=np.int32)
    end = np.full(n_edges, np.iinfo(np.int32).max, dtype=np.int32)
    # If a bracket starts at the edge, the parent of the outermost such bracket is the innermost bracket around the edge; if none
    # does, it is the bracket above the token after the edge.
    token_sentence = np.repeat(np.arange(len(gold)), np.diff(gold.token_offset))
    around = np.full(n_edges, -1, dtype=np.int64)
    around[np.arange(len(gold.above)) + token_sentence] = gold.above
    if gold.n_brackets:
        opens = np.ones(gold.n_brackets, dtype=np.bool_)
        opens[1:] = (gold.start[1:] != gold.start[:-1]) | (gold.sentence[1:] != gold.sentence[:-1])
        first = np.flatnonzero(opens)
        around[first_edge.take(gold.sentence.take(first)) + gold.start.take(first)] = gold.parent.take(first)
        inside = np.flatnonzero(around >= 0)
        enclosing = around.take(inside)
        start[inside] = gold.start.take(enclosing)
        end[inside] = gold.end.take(enclosing)
    return start, end


Column = NDArray[np.integer[Any]]
_ROOM = 1 << 62


def codes(columns: Sequence[Column]) -> Int64:
    """A number for each row; two numbers are equal exactly if the rows are.

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
    """A mask of the values that are among others.

    >>> is_in(np.array([3, 1, 9]), np.array([9, 3, 4])).tolist()
    [True, False, True]
    """
    if not len(among):
        return np.zeros(len(values), dtype=np.bool_)
    # Codes are nearly sorted, so a stable sort is almost free; np.isin would be many times slower.
    ordered = np.sort(among, kind="stable")
    place = np.searchsorted(ordered, values)
    place[place == len(ordered)] = 0
    return ordered[place] == values


def sequence_codes(symbol: Column, first: Int64, length: Int64) -> Int64:
    """A number for each run ``symbol[first:first+length]``, equal exactly if the runs are equal; an empty run has 0.

    >>> sequence_codes(np.array([5, 6, 5, 6, 6]), np.array([0, 2, 3, 4]), np.array([2, 2, 2, 0])).tolist()
    [3, 3, 4, 0]
    """
    code = np.zeros(len(first), dtype=np.int64)
    alive, used = np.flatnonzero(length > 0), 1
    place = 0
    # All runs are extended by one symbol per round; each round uses new numbers, so a run never equals a longer one.
    while len(alive):
        numbers = np.unique(codes([code[alive], symbol[first[alive] + place]]), return_inverse=True)[1]
        code[alive] = numbers + used
        used += int(numbers.max()) + 1
        place += 1
        alive = alive[length[alive] > place]
    return code


class Parts(NamedTuple):
    """The parts of ``n`` sentences on both sides, as numbers, with the sentence of each; parts of different sentences differ."""

    n: int
    gold: Int64
    gold_sentence: Int64
    test: Int64
    test_sentence: Int64

    @classmethod
    def of(cls, n: int, gold: Sequence[Column], test: Sequence[Column]) -> Parts:
        """The parts given by the same columns on both sides, the sentence first."""
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


SHARE_COLUMNS = ("recall_sum", "recall_defined", "precision_sum", "precision_defined", "f1_sum", "f1_defined")


def share_columns(matched: Int64, gold: Int64, test: Int64) -> list[NDArray[Any]]:
    """Recall, precision and F1 of each sentence, each followed by whether it is defined: the columns ``SHARE_COLUMNS``."""
    shares = ((matched, gold), (matched, test), (2 * matched, gold + test))
    return [column for part, whole in shares for column in (part / np.maximum(whole, 1), whole > 0)]


def table_of(columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Columns side by side, as rows of floats."""
    return np.stack([column.astype(np.float64) for column in columns], axis=1)
