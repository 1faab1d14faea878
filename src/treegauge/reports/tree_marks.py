"""What each bracket of a comparison is: matched, missed, spurious, crossing or wrongly labelled.

The names are those of :data:`treegauge.trees.drawing.MARKS`. A gold bracket is *matched*, has the *wrong label* (its span is in the
test tree under another label that matches nothing else) or is *missed*; a test bracket is *matched*, has the *wrong label*, is
*crossing* a gold bracket or is *spurious*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.brackets import Brackets
from treegauge.metrics.matching import crossing, partners, partners_by_order
from treegauge.metrics.preparation import Pair
from treegauge.trees.treebank import Int64

__all__ = ["CODES", "NAMES", "BracketMarks", "mark_brackets"]

NAMES = ("matched", "missed", "spurious", "crossing", "wrong-label")
"""The marks by their number in :class:`BracketMarks`."""
CODES = "=-+x~"
"""One character a mark, in the same order."""
_MATCHED, _MISSED, _SPURIOUS, _CROSSING, _WRONG_LABEL = range(len(NAMES))


@dataclass(frozen=True)
class BracketMarks:
    """The mark of each gold and each test bracket of a pair, as a number of :data:`NAMES`."""

    pair: Pair
    gold: NDArray[np.int8]
    test: NDArray[np.int8]

    def of_gold(self, row: int) -> dict[int, str]:
        """The marks of the gold tree in a row of the pair, by node in pre-order."""
        return _of_sentence(self.pair.gold, self.gold, row)

    def of_test(self, row: int) -> dict[int, str]:
        """The marks of the test tree in a row of the pair, by node in pre-order."""
        return _of_sentence(self.pair.test, self.test, row)

    @property
    def wrong(self) -> Int64:
        """The number of wrong brackets of each sentence, missed ones and those too many: 0 where the trees are the same."""
        return self.pair.gold.per_sentence(self.gold != _MATCHED) + self.pair.test.per_sentence(self.test != _MATCHED)


def mark_brackets(pair: Pair) -> BracketMarks:
    """The marks of all brackets of a pair.

    >>> from treegauge.metrics.preparation import prepare
    >>> from treegauge.normalise.preset import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (D a) (N b)) (VP (V c) (PP (P d) (N e))))")
    >>> test = Treebank.parse("(S (D a) (X (N b) (V c)) (NP (P d) (N e)))")
    >>> marks = mark_brackets(prepare(gold, test, load_preset("none")))
    >>> marks.of_gold(0), marks.of_test(0)
    ({0: 'matched', 1: 'missed', 4: 'missed', 6: 'wrong-label'}, {0: 'matched', 2: 'crossing', 5: 'wrong-label'})
    """
    partner = _partners(pair)
    is_matched = np.zeros(pair.test.n_brackets, dtype=np.bool_)
    is_matched[partner[partner >= 0]] = True
    gold = np.where(partner >= 0, _MATCHED, _MISSED).astype(np.int8)
    test = np.where(is_matched, _MATCHED, np.where(crossing(pair.gold, pair.test), _CROSSING, _SPURIOUS)).astype(np.int8)
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~is_matched)
    beside = partners(pair.gold.select(partner < 0), pair.test.select(~is_matched), None)
    gold[missed[beside >= 0]] = _WRONG_LABEL
    test[spurious[beside[beside >= 0]]] = _WRONG_LABEL
    return BracketMarks(pair, gold, test)


def _partners(pair: Pair) -> Int64:
    if pair.equality is not None and pair.preset.labelled:
        return partners_by_order(pair.gold, pair.test, pair.classes, pair.equality)
    return partners(pair.gold, pair.test, pair.matching_classes)


def _of_sentence(brackets: Brackets, marks: NDArray[np.int8], row: int) -> dict[int, str]:
    rows = slice(brackets.offset[row], brackets.offset[row + 1])
    nodes: list[int] = brackets.node[rows].tolist()
    numbers: list[int] = marks[rows].tolist()
    return {node: NAMES[number] for node, number in zip(nodes, numbers, strict=True)}
