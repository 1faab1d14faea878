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
from treegauge.metrics.metric import Rates, Rows, Total, f1, ratio
from treegauge.trees.treebank import Int32, Int64, Mask


def partners(gold: Brackets, test: Brackets, classes: Int32 | None) -> Int64:
    """For each gold bracket the row of its test bracket, or -1; ``classes`` gives equal labels one number, None ignores labels."""
    keys = _keys(gold, test, classes)
    gold_keys, test_keys = keys[: gold.n_brackets], keys[gold.n_brackets :]
    gold_order, gold_rank = _ranks(gold_keys)
    test_order, test_rank = _ranks(test_keys)
    room = int(max(gold_rank.max(initial=0), test_rank.max(initial=0))) + 1
    if int(keys.max(initial=0)) * room >= 1 << 62:
        keys = np.unique(keys, return_inverse=True)[1]
        gold_keys, test_keys = keys[: gold.n_brackets], keys[gold.n_brackets :]
    wanted = gold_keys[gold_order] * room + gold_rank
    offered = test_keys[test_order] * room + test_rank
    found = np.full(gold.n_brackets, -1, dtype=np.int64)
    if len(offered):
        place = np.searchsorted(offered, wanted)
        place[place == len(offered)] = 0
        same = offered[place] == wanted
        found[gold_order[same]] = test_order[place[same]]
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


def matched_counts(gold: Brackets, test: Brackets, classes: Int32 | None) -> tuple[Int64, Int64]:
    """For each sentence, the number of gold brackets with a partner of an equal label (``classes``; None: any), and of any label.

    The counts are those of :func:`partners`, but most spans have one bracket on each side, which needs no sorting.
    """
    spans, n_gold = _keys(gold, test, None), gold.n_brackets
    ours, theirs = _Runs(spans[:n_gold]), _Runs(spans[n_gold:])
    if not len(ours.key) or not len(theirs.key):
        nothing = np.zeros(len(gold), dtype=np.int64)
        return nothing, nothing
    place = np.searchsorted(theirs.key, ours.key)
    place[place == len(theirs.key)] = 0
    found = np.flatnonzero(theirs.key.take(place) == ours.key)
    place = place.take(found)
    first_ours, first_theirs = ours.row(ours.first.take(found)), theirs.row(theirs.first.take(place))
    sentence = gold.sentence.take(first_ours)
    n_ours, n_theirs = ours.size.take(found), theirs.size.take(place)
    unlabelled = _per_sentence(sentence, np.minimum(n_ours, n_theirs), len(gold))
    if classes is None:
        return unlabelled, unlabelled
    single = (n_ours == 1) & (n_theirs == 1)
    same = classes.take(gold.label.take(first_ours)) == classes.take(test.label.take(first_theirs))
    labelled = _per_sentence(sentence[single & same], None, len(gold))
    several = np.flatnonzero(~single)
    if len(several):
        # Spans with several brackets: how often each label occurs on both sides.
        codes = [
            np.repeat(np.arange(len(several)), size) * len(classes) + classes[labels[runs.row(_stretch(first, size))]]
            for runs, labels, first, size in (
                (ours, gold.label, ours.first[found[several]], n_ours[several]),
                (theirs, test.label, theirs.first[place[several]], n_theirs[several]),
            )
        ]
        values, ours_n = np.unique(codes[0], return_counts=True)
        others, theirs_n = np.unique(codes[1], return_counts=True)
        common, in_ours, in_theirs = np.intersect1d(values, others, assume_unique=True, return_indices=True)
        both = np.minimum(ours_n[in_ours], theirs_n[in_theirs])
        labelled += _per_sentence(sentence[several[common // len(classes)]], both, len(gold))
    return labelled, unlabelled


class _Runs:
    """Runs of equal keys in sorted order: the key, first position and size of each; :meth:`row` maps positions to rows."""

    def __init__(self, keys: Int64) -> None:
        self._order = None if bool((keys[1:] >= keys[:-1]).all()) else np.argsort(keys, kind="stable")
        keys = keys if self._order is None else keys[self._order]
        begins = np.ones(len(keys), dtype=np.bool_)
        begins[1:] = keys[1:] != keys[:-1]
        self.first = np.flatnonzero(begins)
        self.key = keys.take(self.first)
        self.size = np.diff(np.append(self.first, len(keys)))

    def row(self, place: Int64) -> Int64:
        return place if self._order is None else self._order[place]


def _stretch(first: Int64, size: Int64) -> Int64:
    """The positions in some runs, one run after the other."""
    end = np.cumsum(size)
    return np.repeat(first - (end - size), size) + np.arange(int(size.sum()))


def _per_sentence(sentence: Int64, values: Int64 | None, n: int) -> Int64:
    return np.bincount(sentence, weights=values, minlength=n).astype(np.int64)


def _keys(gold: Brackets, test: Brackets, classes: Int32 | None) -> Int64:
    """One integer for each (sentence, start, end, gap, label), gold then test, in nearly sorted order."""
    longest = int(max(gold.end.max(initial=0), test.end.max(initial=0)))
    sides = (gold, test)
    keys = np.concatenate([side.sentence for side in sides])
    columns: list[tuple[NDArray[np.integer], int]] = [
        (np.concatenate([side.start for side in sides]), longest + 1),
        (longest - np.concatenate([side.end for side in sides]), longest + 1),
    ]
    if gold.gap is not None or test.gap is not None:
        gaps = np.concatenate([side.gap_numbers for side in sides])
        columns.append((gaps, int(gaps.max(initial=0)) + 1))
    if classes is not None:
        columns.append((classes[np.concatenate([side.label for side in sides])], len(classes)))
    largest = max(len(gold), len(test), 1)
    for column, size in columns:
        if largest * size >= 1 << 62:
            keys = np.unique(keys, return_inverse=True)[1]
            largest = len(keys) + 1
        keys = keys * size + column
        largest *= size
    return keys


def _ranks(keys: Int64) -> tuple[Int64, Int64]:
    """The order that sorts the keys, and in that order how many equal ones come before each."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_first = np.ones(len(ordered), dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    first = np.flatnonzero(is_first)
    return order, np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))


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


OVERLAP_COLUMNS = (
    *("sentences", "matched", "gold", "test"),
    *("recall_sum", "recall_defined", "precision_sum", "precision_defined", "f1_sum", "f1_defined"),
)
OVERLAP_SYMMETRIES = {
    "recall": "precision",
    "precision": "recall",
    "f1": "f1",
    "mean_recall": "mean_precision",
    "mean_precision": "mean_recall",
    "mean_f1": "mean_f1",
}


def overlap_rows(matched: Int64, gold: Int64, test: Int64) -> Rows:
    """Rows of ``OVERLAP_COLUMNS``: counts, and the recall, precision and F1 of each sentence with whether they are defined."""
    columns: list[NDArray[Any]] = [np.ones(len(matched)), matched, gold, test]
    for numerator, denominator in ((matched, gold), (matched, test), (2 * matched, gold + test)):
        columns += [numerator / np.maximum(denominator, 1), denominator > 0]
    return np.stack([column.astype(np.float64) for column in columns], axis=1)


def overlap_rates(total: Total) -> Rates:
    """Recall m/g, precision m/t and F1 = 2m/(g+t), over the corpus and as means over the sentences where they are defined."""
    n = dict(zip(OVERLAP_COLUMNS, total, strict=True))
    return {
        "recall": ratio(n["matched"], n["gold"]),
        "precision": ratio(n["matched"], n["test"]),
        "f1": f1(n["matched"], n["gold"], n["test"]),
        "mean_recall": ratio(n["recall_sum"], n["recall_defined"]),
        "mean_precision": ratio(n["precision_sum"], n["precision_defined"]),
        "mean_f1": ratio(n["f1_sum"], n["f1_defined"]),
    }
