"""Breakdowns of constituents: by label, confusion, sentence length, depth, unary chain, crossing, fan-out and gap degree.

A breakdown has counts by some key, their table, and the brackets behind each row of it. Counts can be added, so the breakdown of a
corpus is the sum of those of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import codes, crossing, has_partner, is_in, partners, sequence_codes
from treegauge.metrics.metric import f1, ratio
from treegauge.tables import Cell, HasTable, Table
from treegauge.trees.columns import depths
from treegauge.trees.treebank import Int32, Int64, Mask

Key = tuple[str | int, ...]
Counts = Mapping[Key, tuple[int, ...]]


class Place(NamedTuple):
    """A bracket to look at: gold sentence (numbered from 0), side (``gold`` or ``test``), span over the kept tokens, label."""

    sentence: int
    side: str
    start: int
    end: int
    label: str


@dataclass(frozen=True)
class PlaceArray:
    """Many places as rows of sentence, side (0 gold, 1 test), start, end and label number (-1: the whole sentence)."""

    rows: Int64
    labels: tuple[str, ...]

    def shift(self, sentences: int) -> PlaceArray:
        rows = self.rows.copy()
        rows[:, 0] += sentences
        return PlaceArray(rows, self.labels)

    def __iter__(self) -> Iterator[Place]:
        for sentence, side, start, end, label in self.rows.tolist():
            yield Place(sentence, ("gold", "test")[side], start, end, self.labels[label] if label >= 0 else "")


class TableLayout(NamedTuple):
    """The layout of a table of counts: ``order`` gives the keys of the rows, ``cells`` the cells of a row."""

    title: str
    columns: tuple[str, ...]
    percent: tuple[str, ...]
    order: Callable[[Counts], list[Key]]
    cells: Callable[[Key, Counts], tuple[Cell, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Breakdown(HasTable):
    """Counts by key over ``sentences`` gold sentences; ``places`` has the wrong brackets behind the counts of each key."""

    counts: Counts = field(repr=False)
    places: Mapping[Key, tuple[PlaceArray, ...]] = field(repr=False)
    sentences: int
    layout: TableLayout = field(repr=False)

    @property
    def keys(self) -> list[Key]:
        """The key of each row of the table."""
        return self.layout.order(self.counts)

    @property
    def table(self) -> Table:
        rows = tuple(self.layout.cells(key, self.counts) for key in self.keys)
        return Table(self.layout.title, self.layout.columns, rows, self.layout.notes, self.layout.percent)

    def examples(self, key: Key, n: int | None = None) -> list[Place]:
        """The first ``n`` places behind a row (default: all)."""
        return list(islice((place for places in self.places.get(key, ()) for place in places), n))

    def as_table(self) -> Table:
        return self.table

    def __add__(self, other: Breakdown) -> Breakdown:
        """The breakdown of two treebanks, one after the other."""
        counts: dict[Key, tuple[int, ...]] = dict(self.counts)
        for key, more in other.counts.items():
            counts[key] = tuple(map(sum, zip(counts[key], more, strict=True))) if key in counts else more
        places = dict(self.places)
        for key, more in other.places.items():
            places[key] = places.get(key, ()) + tuple(part.shift(self.sentences) for part in more)
        return Breakdown(counts, places, self.sentences + other.sentences, self.layout)


def places_of(pair: Pair, gold: Int64, test: Int64) -> Int64:
    """Rows of places for some gold brackets, then some test brackets."""
    return np.concatenate([_place_rows(pair, 0, gold), _place_rows(pair, 1, test)])


def _place_rows(pair: Pair, side: int, rows: Int64) -> Int64:
    brackets = (pair.gold, pair.test)[side]
    columns = (
        pair.index[brackets.sentence[rows]],
        np.full(len(rows), side),
        brackets.start[rows],
        brackets.end[rows],
        brackets.label[rows],
    )
    return np.stack([column.astype(np.int64) for column in columns], axis=1)


def places_by_key(
    pair: Pair, keys: Sequence[Key], which: NDArray[np.integer[Any]], rows: Int64
) -> dict[Key, tuple[PlaceArray, ...]]:
    """Rows of places by key, in the order of the treebank; ``which[i]`` is the number of row i's key."""
    order = np.lexsort((rows[:, 0], which))
    cuts = np.searchsorted(which[order], np.arange(len(keys) + 1))
    return {
        key: (PlaceArray(rows[order[first:last]], pair.gold.labels),)
        for key, first, last in zip(keys, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        if last > first
    }


def class_names(pair: Pair) -> list[str]:
    """For each class of labels its name: the labels that the preset treats as equal, in its order, joined by ``=``.

    A class has the whole name even if only one of its labels occurs, so that the counts of all shards have the same keys.
    """
    names: list[list[str]] = [[] for _ in pair.gold.labels]
    numbers: list[int] = pair.classes.tolist()
    for label, number in zip(pair.gold.labels, numbers, strict=True):
        names[number].append(label)
    return ["=".join(parts) for parts in names]


def by_label(pair: Pair) -> Breakdown:
    """Gold, test and matched brackets of each label.

    If the preset ignores labels (``induction``), recall is by gold label and precision by test label; F1 is then the share of the
    brackets of both sides that are matched, and undefined for a label that only one side has.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat) (ADVP (R up))))")
    >>> test = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat) (PP (R up))))")
    >>> by_label(alignment.pair(gold, test, load_preset("none"))).counts[("NP",)]
    (1, 1, 1, 1)
    """
    names, gold, test = class_names(pair), pair.classes[pair.gold.label], pair.classes[pair.test.label]
    used = [number for number in np.union1d(gold, test).tolist() if names[number]]
    return _by_kind(pair, gold, test, [(name,) for name in names], used, _BY_LABEL if pair.preset.labelled else _UNLABELLED)


def _by_kind(
    pair: Pair,
    gold: NDArray[np.signedinteger],
    test: NDArray[np.signedinteger],
    keys: Sequence[Key],
    counted: Iterable[int],
    layout: TableLayout,
) -> Breakdown:
    """Gold and test brackets, and those that are matched, by the number of each bracket's kind; ``counted`` kinds have a row."""
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~has_partner(partner, pair.test))
    columns = (gold, gold[partner >= 0], test, np.delete(test, spurious))
    sums = [np.bincount(column, minlength=len(keys)).tolist() for column in columns]
    counts = {keys[kind]: tuple(of_kind[kind] for of_kind in sums) for kind in counted}
    places = places_by_key(pair, keys, np.concatenate([gold[missed], test[spurious]]), places_of(pair, missed, spurious))
    return Breakdown(counts, places, len(pair.alignment.test), layout)


def most_frequent_first(counts: Counts) -> list[Key]:
    """The keys by their first count, the largest first; keys with equal counts by name."""
    return sorted(counts, key=lambda key: (-counts[key][0], key))


def _label_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    gold, gold_matched, test, test_matched = counts[key]
    is_labelled = all(ours == theirs for _, ours, _, theirs in counts.values())
    both = gold + test if is_labelled or (gold and test) else 0
    rates = (ratio(gold_matched, gold), ratio(test_matched, test), ratio(gold_matched + test_matched, both))
    return (*key, gold, test, gold_matched, *rates)


_BY_LABEL = TableLayout(
    "By label",
    ("label", "gold", "test", "matched", "recall", "precision", "f1"),
    ("recall", "precision", "f1"),
    most_frequent_first,
    _label_cells,
)
_SPANS = "Spans are matched whatever their labels: matched and recall are of gold spans of the label, precision of test spans."
_UNLABELLED = _BY_LABEL._replace(notes=(_SPANS,))


def confusions(pair: Pair) -> Breakdown:
    """Wrong labels on right spans: each missed gold bracket with the spurious test bracket on its span.

    If there are several on one span, they are paired from the top.
    """
    partner = partners(pair.gold, pair.test, pair.classes)
    used = has_partner(partner, pair.test)
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~used)
    gold, test = pair.gold.select(partner < 0), pair.test.select(~used)
    beside = partners(gold, test, None)
    confused = np.flatnonzero(beside >= 0)
    names = class_names(pair)
    ours = pair.classes[gold.label[confused]].astype(np.int64)
    theirs = pair.classes[test.label[beside[confused]]].astype(np.int64)
    kinds, which, number = np.unique(ours * max(len(names), 1) + theirs, return_inverse=True, return_counts=True)
    keys: list[Key] = [(names[kind // len(names)], names[kind % len(names)]) for kind in kinds.tolist()]
    counts: dict[Key, tuple[int, ...]] = {key: (count,) for key, count in zip(keys, number.tolist(), strict=True)}
    rows = places_of(pair, missed[confused], spurious[beside[confused]])
    places = places_by_key(pair, keys, np.concatenate([which, which]), rows)
    return Breakdown(counts, places, len(pair.alignment.test), _CONFUSIONS)


def _confusion_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    total = sum(count for (count,) in counts.values())
    return (*key, counts[key][0], ratio(counts[key][0], total))


_CONFUSIONS = TableLayout(
    "Label confusions on right spans", ("gold", "test", "count", "share"), ("share",), most_frequent_first, _confusion_cells
)


def by_fan_out(pair: Pair) -> Breakdown:
    """Recall of gold brackets and precision of test brackets by their number of blocks."""
    return _by_number(pair, pair.gold.fan_out, pair.test.fan_out, _BY_FAN_OUT)


def _by_number(pair: Pair, gold: NDArray[np.signedinteger], test: NDArray[np.signedinteger], layout: TableLayout) -> Breakdown:
    """Gold and test brackets, and those that are matched, by a number (from 1) that each bracket has."""
    largest = int(max(gold.max(initial=0), test.max(initial=0)))
    return _by_kind(pair, gold, test, [(number,) for number in range(largest + 1)], range(1, largest + 1), layout)


def _fan_out_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    gold, gold_matched, test, test_matched = counts[key]
    rates = (ratio(gold_matched, gold), ratio(test_matched, test), f1(gold_matched, gold, test))
    return (*key, int(key[0]) - 1, gold, test, gold_matched, *rates)


_BY_FAN_OUT = TableLayout(
    "By fan-out",
    ("fan-out", "gap degree", "gold", "test", "matched", "recall", "precision", "f1"),
    ("recall", "precision", "f1"),
    sorted,
    _fan_out_cells,
)


def by_gap_degree(pair: Pair) -> Breakdown:
    """PARSEVAL for the sentences of each gap degree; the places behind a row are its sentences that are not right."""
    gold, test = pair.gold, pair.test
    matched = gold.per_sentence(partners(gold, test, pair.matching_classes) >= 0)
    exact = (matched == gold.counts) & (matched == test.counts)
    degree = np.zeros(len(gold), dtype=np.int64)
    np.maximum.at(degree, gold.sentence, gold.fan_out - 1)
    return _by_sentences(pair, degree, (gold.counts, test.counts, matched, exact), ~exact, _BY_GAP_DEGREE)


def _by_sentences(pair: Pair, kind: Int64, columns: Sequence[Int64 | Mask], wrong: Mask, layout: TableLayout) -> Breakdown:
    """The number of sentences of each kind that occurs, and the sums of some columns over them; the places are sentences."""
    sums = [np.bincount(kind, weights=column).astype(np.int64).tolist() for column in (np.ones_like(kind), *columns)]
    keys: list[Key] = [(number,) for number in range(len(sums[0]))]
    counts = {key: tuple(column[number] for column in sums) for number, key in enumerate(keys) if sums[0][number]}
    rows = np.flatnonzero(wrong)
    zero = np.zeros_like(rows)
    whole = np.stack([pair.index[rows], zero, zero, np.diff(pair.gold.token_offset)[rows], zero - 1], axis=1)
    return Breakdown(counts, places_by_key(pair, keys, kind[rows], whole), len(pair.alignment.test), layout)


def _gap_degree_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    sentences, gold, test, matched, exact = counts[key]
    rates = (ratio(matched, gold), ratio(matched, test), f1(matched, gold, test), ratio(exact, sentences))
    return (*key, sentences, gold, test, matched, *rates)


_BY_GAP_DEGREE = TableLayout(
    "By gap degree of the sentence",
    ("gap degree", "sentences", "gold", "test", "matched", "recall", "precision", "f1", "exact"),
    ("recall", "precision", "f1", "exact"),
    sorted,
    _gap_degree_cells,
)

_WIDTH, _LAST = 10, 6


def by_length(pair: Pair) -> Breakdown:
    """PARSEVAL for sentences of 1-10, 11-20, ... words; the last bucket is open.

    The places behind a bucket are its sentences that are not right.
    """
    gold, test = pair.gold, pair.test
    matched = gold.per_sentence(partners(gold, test, pair.matching_classes) >= 0)
    crossed = test.per_sentence(crossing(gold, test))
    exact = (matched == gold.counts) & (matched == test.counts) & pair.has_parse & ~pair.is_edited
    bucket = np.minimum(-(-gold.length // _WIDTH), _LAST + 1)
    return _by_sentences(pair, bucket, (gold.counts, test.counts, matched, exact, crossed), ~exact, _BY_LENGTH)


def _length_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    sentences, gold, test, matched, exact, crossed = counts[key]
    bucket = int(key[0])
    words = f"{_WIDTH * (bucket - 1) + 1}-{_WIDTH * bucket}" if 0 < bucket <= _LAST else "0" if not bucket else f">{_WIDTH * _LAST}"
    rates = (ratio(matched, gold), ratio(matched, test), f1(matched, gold, test), ratio(exact, sentences))
    return (words, sentences, gold, test, matched, *rates, ratio(crossed, sentences))


_BY_LENGTH = TableLayout(
    "By sentence length",
    ("words", "sentences", "gold", "test", "matched", "recall", "precision", "f1", "exact", "crossing"),
    ("recall", "precision", "f1", "exact"),
    sorted,
    _length_cells,
)


def by_depth(pair: Pair) -> Breakdown:
    """Recall of gold brackets and precision of test brackets by depth; the outermost are at depth 1."""
    return _by_number(pair, depths(pair.gold.parent) + 1, depths(pair.test.parent) + 1, _BY_DEPTH)


def _depth_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    gold, gold_matched, test, test_matched = counts[key]
    return (*key, gold, gold_matched, ratio(gold_matched, gold), test, test_matched, ratio(test_matched, test))


_BY_DEPTH = TableLayout(
    "By depth",
    ("depth", "gold", "gold matched", "recall", "test", "test matched", "precision"),
    ("recall", "precision"),
    sorted,
    _depth_cells,
)


def unary_chains(pair: Pair) -> Breakdown:
    """Chains of two or more phrases on one span; a chain is right if the other tree has the whole chain on that span."""
    gold, test = _chain_starts(pair.gold), _chain_starts(pair.test)
    labels = pair.classes[np.concatenate([pair.gold.label, pair.test.label])]
    first = np.concatenate([gold[0], test[0] + pair.gold.n_brackets])
    kind = sequence_codes(labels, first, np.concatenate([gold[1], test[1]]))
    n_gold = len(gold[0])
    sides = (pair.gold, gold[0]), (pair.test, test[0])
    span = [
        np.concatenate([getattr(side, name)[rows] for side, rows in sides]) for name in ("sentence", "start", "end", "gap_numbers")
    ]
    code = codes([*span, kind])
    right = np.concatenate([is_in(code[:n_gold], code[n_gold:]), is_in(code[n_gold:], code[:n_gold])])

    kinds, example, which = np.unique(kind, return_index=True, return_inverse=True)
    names = class_names(pair)
    keys = [
        _chain_key(first, length, labels, names)
        for first, length in zip(first[example].tolist(), np.concatenate([gold[1], test[1]])[example].tolist(), strict=True)
    ]
    of_gold, of_test = which[:n_gold], which[n_gold:]
    columns = [np.bincount(part, minlength=len(kinds)).tolist() for part in (of_gold, of_test, of_gold[right[:n_gold]])]
    counts: dict[Key, tuple[int, ...]] = {key: tuple(column[i] for column in columns) for i, key in enumerate(keys)}
    wrong = ~right
    rows = places_of(pair, gold[0][wrong[:n_gold]], test[0][wrong[n_gold:]])
    return Breakdown(counts, places_by_key(pair, keys, which[wrong], rows), len(pair.alignment.test), _UNARY)


def _chain_starts(brackets: Brackets) -> tuple[Int64, Int64]:
    """The top bracket and the length of each chain; in pre-order, a chain is a run of rows with the same span."""
    n = brackets.n_brackets
    goes_on = np.zeros(n + 1, dtype=np.bool_)
    same = (brackets.sentence[1:] == brackets.sentence[:-1]) & (brackets.start[1:] == brackets.start[:-1])
    gap = brackets.gap_numbers
    goes_on[1:n] = same & (brackets.end[1:] == brackets.end[:-1]) & (gap[1:] == gap[:-1])
    top = np.flatnonzero(~goes_on[:n])
    length = np.diff(np.append(top, n))
    return top[length > 1], length[length > 1]


def _chain_key(first: int, length: int, labels: Int32, names: list[str]) -> Key:
    chain: list[int] = labels[first : first + length].tolist()
    return (" -> ".join(names[label] for label in chain),)


def _unary_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    gold, test, matched = counts[key]
    return (*key, gold, test, matched, ratio(matched, gold), ratio(matched, test), f1(matched, gold, test))


_UNARY = TableLayout(
    "Unary chains",
    ("chain", "gold", "test", "matched", "recall", "precision", "f1"),
    ("recall", "precision", "f1"),
    most_frequent_first,
    _unary_cells,
)


def by_crossing(pair: Pair) -> Breakdown:
    """The histogram of crossing brackets over sentences; the places behind a row are its sentences.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (a a) (b b)) (c c)) (S (a a) (b b))")
    >>> test = Treebank.parse("(S (a a) (VP (b b) (c c))) (S (a a) (b b))")
    >>> by_crossing(alignment.pair(gold, test, load_preset("none"))).counts
    {(0,): (1,), (1,): (1,)}
    """
    crossed = pair.test.per_sentence(crossing(pair.gold, pair.test))
    return _by_sentences(pair, crossed, (), crossed > 0, _BY_CROSSING)


def _cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    all_sentences = sum(n for (n,) in counts.values())
    up_to = sum(n for other, (n,) in counts.items() if other <= key)
    return (*key, counts[key][0], ratio(counts[key][0], all_sentences), ratio(up_to, all_sentences))


_BY_CROSSING = TableLayout(
    "By crossing brackets", ("crossing", "sentences", "share", "cumulative"), ("share", "cumulative"), sorted, _cells
)
