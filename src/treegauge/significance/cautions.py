"""What a reader of a comparison has to be warned of."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from treegauge.metrics.alignment import Fit
from treegauge.metrics.preparation import Pair
from treegauge.significance.contingency import DEPENDENCE, Cells, RealTest
from treegauge.trees.treebank import Int64

__all__ = ["FEW_SENTENCES", "SMALL_REAL_TEST", "bracket_cautions", "sample_cautions", "unpaired_cautions"]

FEW_SENTENCES = 30
SMALL_REAL_TEST = 100
COMPLEMENTING = 0.05
"""Systems complement each other when each alone reproduces at least this share of the treebank's brackets."""


def sample_cautions(sentences: int) -> list[str]:
    """Cautions about a test of so many sentences."""
    if sentences >= FEW_SENTENCES:
        return []
    return [f"small test: {sentences} sentences; intervals are unreliable and only large differences can be seen"]


def bracket_cautions(cells: Cells, real: RealTest) -> list[str]:
    """Cautions beside McNemar's test and the real test.

    >>> from treegauge.significance.contingency import real_test
    >>> cells = Cells(60, 20, 15, 30)
    >>> [caution.partition(":")[0] for caution in bracket_cautions(cells, real_test(cells))[1:]]
    ['the systems complement each other', 'small real test']
    """
    cautions = [DEPENDENCE]
    if real.reason:
        cautions.append(real.reason)
    if cells.total and min(cells.YN, cells.NY) >= COMPLEMENTING * cells.total:
        shares = f"YN {100 * cells.YN / cells.total:.1f}%, NY {100 * cells.NY / cells.total:.1f}%"
        cautions.append(f"the systems complement each other: {shares}; test on specific structures (--structure)")
    if not math.isnan(real.size) and real.size < SMALL_REAL_TEST:
        cautions.append(f"small real test: {real.size:.0f} of {cells.total} brackets tell the systems apart")
    return cautions


def unpaired_cautions(pairs: Mapping[str, Pair], kept: Int64, n_gold: int) -> list[str]:
    """Cautions about sentences that do not fit the treebank, or were left out for one system and not for another."""
    cautions: list[str] = []
    for system, pair in pairs.items():
        misfit = int((pair.alignment.fit >= Fit.TEXT_DIFFERS).sum())
        missed = misfit - (n_gold - len(pair.index)) if len(pair.index) < n_gold else misfit
        if missed > 0:
            cautions.append(f"{system}: {missed} of {n_gold} sentences do not fit the treebank; their brackets count as missed")
        if pair.alignment.extra:
            cautions.append(f"{system}: {len(pair.alignment.extra)} sentences belong to no sentence of the treebank")
    left_out = {system: n_gold - len(pair.index) for system, pair in pairs.items()}
    if any(not np.array_equal(pair.index, kept) for pair in pairs.values()):
        counts = ", ".join(f"{system} {count}" for system, count in left_out.items())
        cautions.append(
            f"differently skipped sentences ({counts}): only the {len(kept)} sentences that all systems have are compared. Scores "
            "of each system on its own sentences, as EVALB gives them, favour the one that skips the harder ones"
        )
    elif len(kept) < n_gold:
        cautions.append(f"{n_gold - len(kept)} of {n_gold} sentences are left out for every system")
    return cautions
