"""Errors by kind: what it would take to turn each test tree into its gold tree.

In the spirit of Kummerfeld, Hall, Curran & Klein 2012: one PP in the wrong place makes several brackets wrong, and is one error.
The repairs are simulated on the tree (:mod:`~treegauge.metrics.breakdowns.repairs`); each wrong bracket is explained by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Fit
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pair import Pair
from treegauge.metrics.base import f1, ratio
from treegauge.metrics.breakdowns.base import Breakdown, Counts, Key, Layout, Places, places_of
from treegauge.metrics.breakdowns.repair_forest import KINDS, Forest, Missed
from treegauge.metrics.breakdowns.repairs import Change, Repair, repairs
from treegauge.metrics.matching import partners
from treegauge.tables import Cell
from treegauge.trees.tree import Span
from treegauge.trees.treebank import Int64

__all__ = ["KINDS", "MOST_WRONG", "Change", "Repair", "SentenceRepairs", "by_error", "explain"]

MOST_WRONG = 200
"""A sentence with more wrong brackets than this shares too little with its gold tree to speak of moves: node by node."""


@dataclass(frozen=True)
class SentenceRepairs:
    """The repairs of one sentence of a pair (``sentence`` is its row there), in the order in which they were made."""

    sentence: int
    repairs: tuple[Repair, ...]


def explain(pair: Pair) -> Iterator[SentenceRepairs]:
    """The repairs of every sentence that is not right.

    >>> from treegauge.alignment.pair import prepare
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes)))))")
    >>> test = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes))))))")
    >>> for sentence in explain(prepare(gold, test, load_preset("none"))):
    ...     for repair in sentence.repairs:
    ...         print(repair.kind, repair.action, repair.what, repair.start, repair.end)
    PP attachment move PP 4 6
    """
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    wrong = np.ones(pair.test.n_brackets, dtype=np.bool_)
    wrong[partner[partner >= 0]] = False
    classes = pair.classes if pair.preset.labelled else np.zeros_like(pair.classes)
    is_missed = partner < 0
    n_missed, n_wrong = pair.gold.per_sentence(is_missed), pair.test.per_sentence(wrong)
    fits = pair.alignment.fit[pair.index] < Fit.TEXT_DIFFERS
    tags = [*pair.gold.labels, ""]
    sentences: list[int] = np.flatnonzero(n_missed + n_wrong).tolist()
    for sentence in sentences:
        missed = _rows(pair.gold, sentence, is_missed)
        if not fits[sentence]:
            yield SentenceRepairs(sentence, (_no_parse(pair, missed, sentence),))
        elif n_missed[sentence] + n_wrong[sentence] > MOST_WRONG:
            yield SentenceRepairs(sentence, tuple(_node_by_node(pair, missed, _rows(pair.test, sentence, wrong))))
        else:
            tokens = slice(pair.gold.token_offset[sentence], pair.gold.token_offset[sentence + 1])
            numbers: list[int] = pair.gold.tag[tokens].tolist()
            forest = Forest(pair.test, classes, sentence, wrong, [tags[number] for number in numbers])
            yield SentenceRepairs(sentence, tuple(repairs(forest, Missed(pair.gold, classes, missed))))


def _rows(brackets: Brackets, sentence: int, chosen: NDArray[np.bool_]) -> Int64:
    """The chosen brackets of a sentence."""
    first, last = int(brackets.offset[sentence]), int(brackets.offset[sentence + 1])
    return np.flatnonzero(chosen[first:last]) + first


def _no_parse(pair: Pair, missed: Int64, sentence: int) -> Repair:
    changes = tuple((None, span) for span in _spans(pair, 0, missed))
    width = int(pair.gold.token_offset[sentence + 1] - pair.gold.token_offset[sentence])
    return Repair("no parse", "add", "", 0, width, tuple(missed.tolist()), (), changes)


def _node_by_node(pair: Pair, missed: Int64, spurious: Int64) -> Iterator[Repair]:
    for row, span in zip(spurious.tolist(), _spans(pair, 1, spurious), strict=True):
        yield Repair("extra node", "remove", span.label, span.start, span.end, (), (row,), ((span, None),))
    for row, span in zip(missed.tolist(), _spans(pair, 0, missed), strict=True):
        yield Repair("missing node", "add", span.label, span.start, span.end, (row,), (), ((None, span),))


def _spans(pair: Pair, side: int, rows: Int64) -> list[Span]:
    brackets = (pair.gold, pair.test)[side]
    columns = (brackets.start[rows].tolist(), brackets.end[rows].tolist(), brackets.label[rows].tolist())
    return [Span(start, end, brackets.labels[label]) for start, end, label in zip(*columns, strict=True)]


_TOTAL: Key = ()


def by_error(pair: Pair) -> Breakdown:
    """Errors of each kind: how many repairs, the brackets they explain, the sentences they are in, and F1 if they were repaired."""
    pair.require_continuous("errors are classified in trees without gaps")
    counts: Counter[tuple[str, int]] = Counter()
    rows: dict[str, tuple[list[int], list[int]]] = {}
    for found in explain(pair):
        for repair in found.repairs:
            counts[repair.kind, 0] += 1
            counts[repair.kind, 1] += len(repair.missed)
            counts[repair.kind, 2] += len(repair.spurious)
            missed, spurious = rows.setdefault(repair.kind, ([], []))
            missed += repair.missed
            spurious += repair.spurious
        for kind in {repair.kind for repair in found.repairs}:
            counts[kind, 3] += 1
    matched = int((partners(pair.gold, pair.test, pair.matching_classes) >= 0).sum())
    by_kind: dict[Key, tuple[int, ...]] = {(kind,): tuple(counts[kind, i] for i in range(4)) for kind in rows}
    by_kind[_TOTAL] = (matched, pair.gold.n_brackets, pair.test.n_brackets, len(pair))
    places: dict[Key, tuple[Places, ...]] = {}
    for kind, (missed, spurious) in rows.items():
        found_rows = places_of(pair, np.array(missed, dtype=np.int64), np.array(spurious, dtype=np.int64))
        places[(kind,)] = (Places(found_rows[np.argsort(found_rows[:, 0], kind="stable")], pair.gold.labels),)
    return Breakdown(by_kind, places, len(pair.alignment.test), _BY_ERROR)


def _order(counts: Counts) -> list[Key]:
    return sorted((key for key in counts if key != _TOTAL), key=lambda key: (-counts[key][1] - counts[key][2], key))


def _cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    errors, missed, spurious, sentences = counts[key]
    matched, gold, test, _ = counts[_TOTAL]
    share = ratio(missed + spurious, gold + test - 2 * matched)
    repaired = f1(matched + missed, gold, test - spurious + missed)
    return (*key, errors, sentences, missed, spurious, share, ratio(missed + spurious, errors), repaired)


_BY_ERROR = Layout(
    "By kind of error",
    ("kind", "errors", "sentences", "missed", "spurious", "share", "brackets per error", "f1 if repaired"),
    ("share", "f1 if repaired"),
    _order,
    _cells,
    ("An error is a repair (moving, relabelling, adding or removing a node); share: of all wrong brackets, missed and spurious.",),
)
