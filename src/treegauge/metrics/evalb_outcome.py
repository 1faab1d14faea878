"""What EVALB would have made of the same trees: the sentences it would drop, and the F-measure of the rest.

EVALB pairs sentences by line and decides by each tree's own tags what it deletes. On most sentences that changes nothing, which a
comparison of columns shows; only the others are given to :mod:`treegauge.metrics.evalb`, as the lines EVALB would read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import WriteError
from treegauge.io.bracketed_writing import one_line_text
from treegauge.metrics.alignment import Fit
from treegauge.metrics.base import Rows, ratio
from treegauge.metrics.brackets import sum_within
from treegauge.metrics.evalb import ERROR, SKIP, VALID, score_lines
from treegauge.metrics.parseval import Parseval
from treegauge.metrics.preparation import Pair, pair_of
from treegauge.metrics.tokens import has_tag, without_tokens
from treegauge.metrics.words import WordNumbers
from treegauge.normalise.preset import EvalbFile, Preset, from_parameters
from treegauge.trees.brackets import one_line
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["EvalbOutcome", "Prepared", "bracketed_lines", "evalb_outcome"]

Mask = NDArray[np.bool_]

_UNSURE = -1


@dataclass(frozen=True)
class EvalbOutcome:
    """EVALB's counts over the sentences that it would score, and how many it would not.

    ``errors`` are sentences it refuses (their words, as it sees them, differ), ``skips`` those without a parse. Two outcomes add.
    """

    file: str
    sentences: int = 0
    errors: int = 0
    skips: int = 0
    matched: int = 0
    gold: int = 0
    test: int = 0

    def __add__(self, other: EvalbOutcome) -> EvalbOutcome:
        return EvalbOutcome(self.file, *(a + b for a, b in zip(self._counts(), other._counts(), strict=True)))

    def _counts(self) -> tuple[int, ...]:
        return self.sentences, self.errors, self.skips, self.matched, self.gold, self.test

    @property
    def dropped(self) -> int:
        return self.errors + self.skips

    @property
    def rates(self) -> dict[str, float]:
        """Recall, precision and F1 in EVALB's order of operations."""
        recall, precision = ratio(self.matched, self.gold), ratio(self.matched, self.test)
        total = 0.0 if math.isnan(recall + precision) else recall + precision
        return {"recall": recall, "precision": precision, "f1": ratio(2 * precision * recall if total else 0, total)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data; a rate that does not exist is None."""
        rates = {name: None if math.isnan(value) else value for name, value in self.rates.items()}
        names = ("sentences", "errors", "skips", "matched", "gold", "test")
        return {"file": self.file, "dropped": self.dropped, **dict(zip(names, self._counts(), strict=True)), **rates}

    def __str__(self) -> str:
        f1 = self.rates["f1"]
        shown = "no FMeasure" if math.isnan(f1) else f"FMeasure {100 * f1:.2f}"
        return f"EVALB with {self.file} would drop {self.dropped} of these {self.sentences} sentences and print {shown}."


class Prepared(NamedTuple):
    """Two blocks of trees and what was made of them: with traces, without, as aligned brackets; and how words were numbered."""

    gold: Treebank
    test: Treebank
    gold_words: Treebank
    test_words: Treebank
    pair: Pair
    words: WordNumbers


def evalb_outcome(block: Prepared, rows: Rows | None, file: EvalbFile) -> EvalbOutcome:
    """What EVALB does with these trees, one a line; ``rows`` are PARSEVAL's of the pair, if they were made already."""
    preset = from_parameters(file.parameters, file.name)
    status = _sure_status(block, preset, may_repair=bool(file.parameters.quote_labels))
    outcome = EvalbOutcome(file.name, 0, int((status == ERROR).sum()), int((status == SKIP).sum()))
    outcome = replace(outcome, sentences=outcome.dropped)
    plain = np.flatnonzero(status == VALID)
    if len(plain):
        pair = block.pair
        if rows is None or not _counts_alike(pair.preset, preset, block.gold, block.test):
            pair = pair_of(block.gold_words, block.test_words, pair.alignment, preset, block.words)
            rows = Parseval().rows(pair)
        of_sentence = np.full(len(block.gold), -1, dtype=np.int64)
        of_sentence[pair.index] = np.arange(len(pair))
        columns = [Parseval().columns.index(name) for name in ("matched", "gold", "test")]
        counts: list[int] = rows[of_sentence[plain]][:, columns].sum(axis=0).astype(int).tolist()
        outcome += EvalbOutcome(file.name, len(plain), 0, 0, *counts)
    others = np.flatnonzero(status == _UNSURE).tolist()
    for result in score_lines(bracketed_lines(block.gold, others), bracketed_lines(block.test, others), file.parameters):
        counts = [result.matched, result.gold, result.test] if result.status == VALID else [0, 0, 0]
        outcome += EvalbOutcome(file.name, 1, int(result.status == ERROR), int(result.status == SKIP), *counts)
    return outcome


def _sure_status(block: Prepared, preset: Preset, *, may_repair: bool) -> Int64:
    """The status that EVALB surely gives to each sentence that both sides have; for the rest, it must be asked.

    It skips a parse of no words, and refuses other numbers of words than gold's unless it may repair quotes. It scores, and as we
    do, where the same words stand in the same places and are deleted on both sides or on none.
    """
    n = min(len(block.gold), len(block.test))
    gold, test = block.gold_words[:n], block.test_words[:n]
    kept = [sum_within(~has_tag(bank, preset.delete_tags), bank.token_offset) for bank in (gold, test)]
    tagged = (sum_within(gold.tag < 0, gold.token_offset) == 0) & (sum_within(test.tag < 0, test.token_offset) == 0)
    status = np.full(n, _UNSURE, dtype=np.int64)
    if not may_repair:
        status[tagged & (kept[0] != kept[1])] = ERROR
    status[tagged & (kept[1] == 0)] = SKIP
    open_ = tagged & (status == _UNSURE)
    status[open_ & _is_plain(block, preset, n)] = VALID
    return status


def _is_plain(block: Prepared, preset: Preset, n: int) -> Mask:
    """The sentences among the first ``n`` with the same words in the same place, deleted on both sides or on none."""
    gold, test, alignment = block.gold_words, block.test_words, block.pair.alignment
    same = (alignment.fit[:n] == Fit.TOKENS) & (alignment.test[:n] == np.arange(n))
    if alignment.gold_aside is not None and alignment.test_aside is not None:
        gold, test = without_tokens(gold, alignment.gold_aside), without_tokens(test, alignment.test_aside)
    gold, test = gold[:n], test[:n]
    if not same.all():
        places = np.flatnonzero(same)
        gold, test = gold.take(places), test.take(places)
    deleted = has_tag(gold, preset.delete_tags)
    doubtful = deleted != has_tag(test, preset.delete_tags)
    # The same word to us may not be the same bytes, which is what EVALB compares.
    suspect = np.flatnonzero(block.words.has_variants(gold.vocabulary)[gold.word] & ~deleted)
    doubtful[suspect] |= np.array(
        [
            gold.vocabulary[ours] != test.vocabulary[theirs]
            for ours, theirs in zip(gold.word[suspect].tolist(), test.word[suspect].tolist(), strict=True)
        ],
        dtype=np.bool_,
    )
    same[same] = sum_within(doubtful, gold.token_offset) == 0
    return same


def _counts_alike(one: Preset, other: Preset, *banks: Treebank) -> bool:
    """Whether two presets count the same brackets of these trees."""
    unlike = replace(one, name="", ignored=(), cutoff_length=0, delete_labels=other.delete_labels)
    if unlike != replace(other, name="", ignored=(), cutoff_length=0):
        return False
    return not any(_has_phrases(bank, one, other) for bank in banks)


def _has_phrases(bank: Treebank, one: Preset, other: Preset) -> bool:
    """Whether there are phrases that one of two presets deletes and the other does not."""
    cut = [one.cut_label(label) for label in bank.labels]
    disputed = [number for number, label in enumerate(cut) if one.deletes(label) != other.deletes(label)]
    # A label that is on as many nodes as words have it for a tag is on no phrase.
    return any(int((bank.label == number).sum()) > int((bank.tag == number).sum()) for number in disputed)


def bracketed_lines(bank: Treebank, sentences: Sequence[int]) -> list[bytes]:
    """Some trees of a treebank, one a line."""
    chosen = bank.take(sentences)
    try:
        return b"".join(one_line_text([chosen])).splitlines(keepends=True)
    except WriteError:
        # A tree that was built by hand may not read back as it is; EVALB would read what can be written all the same.
        return [one_line(tree).encode("utf-8", "surrogatepass") + b"\n" for tree in chosen]
