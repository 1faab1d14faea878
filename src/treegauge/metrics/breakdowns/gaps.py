"""By fan-out of the constituents, and by gap degree of the sentences.

The *fan-out* of a constituent is the number of blocks its words stand in, and its *gap degree* one less; a sentence has the gap
degree of its most discontinuous gold constituent.
"""

from __future__ import annotations

import numpy as np

from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pair import Pair
from treegauge.metrics.base import f1, ratio
from treegauge.metrics.breakdowns.base import Breakdown, Counts, Key, TableLayout, grouped, places_of
from treegauge.metrics.matching import partners
from treegauge.tables import Cell
from treegauge.trees.treebank import Int64

__all__ = ["by_fan_out", "by_gap_degree"]


def by_fan_out(pair: Pair) -> Breakdown:
    """Recall of the gold brackets and precision of the test brackets of one block, of two, of three ..."""
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    found = np.zeros(pair.test.n_brackets, dtype=np.bool_)
    found[partner[partner >= 0]] = True
    gold, test = pair.gold.fan_out, pair.test.fan_out
    largest = int(max(gold.max(initial=0), test.max(initial=0)))
    columns = [np.bincount(column, minlength=largest + 1).tolist() for column in (gold, gold[partner >= 0], test, test[found])]
    keys: list[Key] = [(fan_out,) for fan_out in range(largest + 1)]
    counts = {key: tuple(column[number] for column in columns) for number, key in enumerate(keys) if number}
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~found)
    which = np.concatenate([gold[missed], test[spurious]])
    places = grouped(pair, keys, which, places_of(pair, missed, spurious))
    return Breakdown(counts, places, len(pair.alignment.test), _BY_FAN_OUT)


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
    degree = _gap_degrees(gold)
    largest = int(degree.max(initial=-1))
    columns = (np.ones_like(matched), gold.counts, test.counts, matched, exact)
    sums = [np.bincount(degree, weights=column, minlength=largest + 1).astype(np.int64).tolist() for column in columns]
    keys: list[Key] = [(number,) for number in range(largest + 1)]
    counts = {key: tuple(column[index] for column in sums) for index, key in enumerate(keys) if sums[0][index]}
    wrong = np.flatnonzero(~exact)
    nothing = np.zeros_like(wrong)
    rows = np.stack([pair.index[wrong], nothing, nothing, np.diff(gold.token_offset)[wrong], nothing - 1], axis=1)
    return Breakdown(counts, grouped(pair, keys, degree[wrong], rows), len(pair.alignment.test), _BY_GAP_DEGREE)


def _gap_degrees(brackets: Brackets) -> Int64:
    degree = np.zeros(len(brackets), dtype=np.int64)
    np.maximum.at(degree, brackets.sentence, brackets.fan_out - 1)
    return degree


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
