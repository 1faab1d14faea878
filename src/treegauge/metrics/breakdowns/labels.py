"""By label: recall, precision and F1 of each label; and which label was given for which where the span is right."""

from __future__ import annotations

import numpy as np

from treegauge.alignment.pair import Pair
from treegauge.metrics.base import ratio
from treegauge.metrics.breakdowns.base import Breakdown, Counts, Key, TableLayout, class_names, grouped, places_of
from treegauge.metrics.matching import partners
from treegauge.tables import Cell

__all__ = ["by_label", "confusions"]


def by_label(pair: Pair) -> Breakdown:
    """Gold, test and matched brackets of each label.

    Without labels (``induction``) recall goes by the gold label and precision by the test label; F1 is then the share of both
    sides' brackets that are matched.

    >>> from treegauge.alignment.pair import prepare
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat) (ADVP (R up))))")
    >>> test = Treebank.parse("(S (NP (D the) (N cat)) (VP (V sat) (PP (R up))))")
    >>> by_label(prepare(gold, test, load_preset("none"))).counts[("NP",)]
    (1, 1, 1, 1)
    """
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    found = np.zeros(pair.test.n_brackets, dtype=np.bool_)
    found[partner[partner >= 0]] = True
    names = class_names(pair)
    gold, test = pair.classes[pair.gold.label], pair.classes[pair.test.label]
    columns = [np.bincount(labels, minlength=len(names)).tolist() for labels in (gold, gold[partner >= 0], test, test[found])]
    numbers = [number for number, name in enumerate(names) if name]
    counts: dict[Key, tuple[int, ...]] = {
        (names[number],): tuple(column[number] for column in columns)
        for number in numbers
        if columns[0][number] or columns[2][number]
    }
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~found)
    which = np.concatenate([gold[missed], test[spurious]])
    places = grouped(pair, [(name,) for name in names], which, places_of(pair, missed, spurious))
    return Breakdown(counts, places, len(pair.alignment.test), _BY_LABEL)


def most_frequent_first(counts: Counts) -> list[Key]:
    """Keys by their first count, and by name where it is the same."""
    return sorted(counts, key=lambda key: (-counts[key][0], key))


def _label_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    gold, gold_matched, test, test_matched = counts[key]
    rates = (ratio(gold_matched, gold), ratio(test_matched, test), ratio(gold_matched + test_matched, gold + test))
    return (*key, gold, test, gold_matched, *rates)


_BY_LABEL = TableLayout(
    "By label",
    ("label", "gold", "test", "matched", "recall", "precision", "f1"),
    ("recall", "precision", "f1"),
    most_frequent_first,
    _label_cells,
)


def confusions(pair: Pair) -> Breakdown:
    """Wrong labels on right spans: missed gold brackets beside the spurious test bracket that has their span.

    Where several stand on one span they are paired from the top.
    """
    partner = partners(pair.gold, pair.test, pair.classes)
    used = np.zeros(pair.test.n_brackets, dtype=np.bool_)
    used[partner[partner >= 0]] = True
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
    places = grouped(pair, keys, np.concatenate([which, which]), rows)
    return Breakdown(counts, places, len(pair.alignment.test), _CONFUSIONS)


def _confusion_cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    total = sum(count for (count,) in counts.values())
    return (*key, counts[key][0], ratio(counts[key][0], total))


_CONFUSIONS = TableLayout(
    "Label confusions on right spans", ("gold", "test", "count", "share"), ("share",), most_frequent_first, _confusion_cells
)
