"""The items of the regular test: which brackets match, cross, are spurious, and inherit that from their parents.

TTB and TPB count the brackets of treebank and parser; a parser's bracket is an exact match (EM), a crossing error (CE) or
spurious (SP: neither). PINH are crossing errors whose direct parent crosses too; TINH are reproduced treebank brackets whose
direct parent was reproduced too. Brackets are compared without labels.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.hogenhout.preprocessing import Prepared, preprocess
from treegauge.metrics.matching import crossing, partners
from treegauge.metrics.preparation import Pair
from treegauge.trees.treebank import Int64

__all__ = ["READINGS", "Items", "crossing_histogram", "find_items", "inherited"]

Mask = NDArray[np.bool_]

READINGS = ("nontop", "literal", "parse", "both")
"""What makes a reproduced bracket *inherited*: its treebank parent was reproduced (``literal``, the printed words); the same, but
the bracket around the whole sentence is nobody's parent (``nontop``, which gives the paper's own example); its parent in the
*parse* is an exact match (``parse``); both parents are (``both``)."""


@dataclass(frozen=True)
class Items:
    """What each bracket is: ``partner`` and ``reproduced`` per treebank bracket, the rest per parser bracket."""

    gold: Prepared
    test: Prepared
    partner: Int64
    reproduced: Mask
    exact: Mask
    crosses: Mask
    crosses_with_parent: Mask

    @property
    def spurious(self) -> Mask:
        return ~self.exact & ~self.crosses


def find_items(pair: Pair, keep: Collection[str] = ()) -> Items:
    """Classify all brackets of a pair, after the preprocessing steps not in ``keep``."""
    gold, test = preprocess(pair.gold, keep), preprocess(pair.test, keep)
    partner = partners(gold.brackets, test.brackets, None)
    exact = np.zeros(test.brackets.n_brackets, dtype=np.bool_)
    exact[partner[partner >= 0]] = True
    crosses = crossing(gold.brackets, test.brackets)
    return Items(gold, test, partner, partner >= 0, exact, crosses, crosses & _of_parent(crosses, test.brackets.parent))


def _of_parent(mask: Mask, parent: Int64) -> Mask:
    """Whether there is a parent for which the mask holds."""
    return np.append(mask, False)[parent]


def inherited(items: Items, reading: str) -> Mask:
    """Which reproduced treebank brackets inherit that from their parent (see :data:`READINGS`)."""
    gold, test = items.gold.brackets, items.test.brackets
    by_treebank = items.reproduced & _of_parent(items.reproduced, gold.parent)
    if reading == "literal":
        return by_treebank
    if reading == "nontop":
        whole = (gold.start == 0) & (gold.end == np.diff(gold.token_offset)[gold.sentence])
        return by_treebank & ~_of_parent(whole, gold.parent)
    by_parse = items.reproduced & np.append(_of_parent(items.exact, test.parent), False)[items.partner]
    return by_parse if reading == "parse" else by_treebank & by_parse


def crossing_histogram(crossing_errors: Int64) -> Int64:
    """How many sentences have 0, 1, 2 ... crossing errors, given the number of each sentence.

    >>> crossing_histogram(np.array([0, 2, 0, 1, 0])).tolist()
    [3, 1, 1]
    """
    return np.bincount(np.asarray(crossing_errors, dtype=np.int64)).astype(np.int64)
