"""By crossing brackets: how many sentences have none, one, two ... test brackets that cross gold."""

from __future__ import annotations

import numpy as np

from treegauge.metrics.base import ratio
from treegauge.metrics.breakdowns.base import Breakdown, Counts, Key, Layout, grouped
from treegauge.metrics.matching import crossing
from treegauge.metrics.preparation import Pair
from treegauge.metrics.tables import Cell

__all__ = ["by_crossing"]


def by_crossing(pair: Pair) -> Breakdown:
    """The histogram of crossing brackets over sentences; the places behind a row are its sentences.

    >>> from treegauge.metrics.preparation import prepare
    >>> from treegauge.normalise.preset import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (a a) (b b)) (c c)) (S (a a) (b b))")
    >>> test = Treebank.parse("(S (a a) (VP (b b) (c c))) (S (a a) (b b))")
    >>> by_crossing(prepare(gold, test, load_preset("none"))).counts
    {(0,): (1,), (1,): (1,)}
    """
    crossed = pair.test.per_sentence(crossing(pair.gold, pair.test))
    sizes, which = np.unique(crossed, return_inverse=True)
    keys: list[Key] = [(size,) for size in sizes.tolist()]
    counts = dict(zip(keys, ((n,) for n in np.bincount(which, minlength=len(keys)).tolist()), strict=True))
    wrong = np.flatnonzero(crossed > 0)
    width = np.diff(pair.gold.token_offset)[wrong]
    nothing = np.zeros_like(wrong)
    rows = np.stack([pair.index[wrong], nothing, nothing, width, nothing - 1], axis=1)
    return Breakdown(counts, grouped(pair, keys, which[wrong], rows), len(pair.alignment.test), _BY_CROSSING)


def _cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    all_sentences = sum(n for (n,) in counts.values())
    up_to = sum(n for other, (n,) in counts.items() if other <= key)
    return (*key, counts[key][0], ratio(counts[key][0], all_sentences), ratio(up_to, all_sentences))


_BY_CROSSING = Layout(
    "By crossing brackets",
    ("crossing", "sentences", "share", "so many or fewer"),
    ("share", "so many or fewer"),
    sorted,
    _cells,
)
