"""What a reader of a comparison has to be warned of."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from treegauge.errors import UsageError
from treegauge.metrics.alignment import Fit
from treegauge.metrics.brackets import sum_within
from treegauge.metrics.evalb_rows import evalb_parameters, evalb_rows
from treegauge.metrics.preparation import Pair
from treegauge.metrics.tokens import has_tag
from treegauge.normalise.preset import Preset
from treegauge.significance.contingency import DEPENDENCE, Cells, RealTest
from treegauge.trees.columns import rows_of
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["FEW_SENTENCES", "SMALL_REAL_TEST", "bracket_cautions", "evalb_cautions", "sample_cautions", "unpaired_cautions"]

FEW_SENTENCES = 30
SMALL_REAL_TEST = 100
COMPLEMENTING = 0.05
"""Systems complement each other when each alone reproduces at least this share of the treebank's brackets."""


def sample_cautions(sentences: int) -> list[str]:
    """Cautions about a test of so many sentences."""
    if sentences >= FEW_SENTENCES:
        return []
    return [
        f"small test: {sentences} sentence{'s' * (sentences != 1)}; intervals are unreliable and only large differences can be seen"
    ]


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


def evalb_cautions(gold: Treebank, systems: Mapping[str, Treebank], pairs: Mapping[str, Pair], preset: Preset) -> list[str]:
    """A caution where EVALB would drop other sentences of one system than of another, so that its scores are not paired."""
    try:
        evalb_parameters(preset)
    except UsageError:
        return []
    dropped = {
        system: dropped_by_evalb(gold, bank, pairs[system], preset) for system, bank in systems.items() if len(bank) == len(gold)
    }
    union = set[int]().union(*dropped.values())
    uneven = sum(any(sentence not in of_system for of_system in dropped.values()) for sentence in union)
    if not uneven:
        return []
    counts = ", ".join(f"{system} {len(of_system)}" for system, of_system in dropped.items())
    return [
        f"EVALB would drop sentences ({counts}), {uneven} of them not for every system: its scores of these "
        "systems are on different sentences, those here on the same"
    ]


def dropped_by_evalb(gold: Treebank, test: Treebank, pair: Pair, preset: Preset) -> set[int]:
    """The sentences that EVALB would not score: only where words or deleted words differ has it to be asked."""
    alignment = pair.alignment
    plain = (alignment.fit == Fit.TOKENS) & (alignment.test == np.arange(len(gold)))
    plain &= np.diff(gold.token_offset) == np.diff(test.token_offset)
    sentences = np.flatnonzero(plain)
    rows, offset = rows_of(gold.token_offset, sentences)
    test_rows, _ = rows_of(test.token_offset, sentences)
    differs = has_tag(gold, preset.delete_tags)[rows] != has_tag(test, preset.delete_tags)[test_rows]
    plain[sentences[sum_within(differs, offset) > 0]] = False
    asked = np.flatnonzero(~plain)
    scored = evalb_rows(gold.take(asked), test.take(asked), preset).index
    return set(np.delete(asked, scored).tolist())
