"""Abney's measures: entropy in bits per candidate and per sentence, expected precision and recall, blame and coverage.

H is the mean of -lg P(E_c | c) over candidates, E_c being T for a true chunk and not-T otherwise. A candidate whose event has
probability 0 is impossible; such events are counted, and H is given with P clipped to [eps, 1 - eps] so that one of them does
not hide all else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["EPS", "Blame", "EntropyCounts"]

Array = NDArray[np.float64]
EPS = 1e-6


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


@dataclass(frozen=True)
class Blame:
    """The share of the entropy that a category causes, and the share one would expect if entropy ignored categories."""

    category: str
    share: float
    expected_by_candidates: float
    expected_by_covered: float
    expected_by_true: float


@dataclass
class EntropyCounts:
    """Sums over candidates from which every measure follows; they add, sentence by sentence and corpus by corpus.

    Per category: ``candidates``, ``true``, ``covered``, ``covered_true``, clipped bits of all and of covered candidates.
    """

    categories: tuple[str, ...]
    sentences: int = 0
    impossible: int = 0
    bits: float = 0.0
    expected_yes: float = 0.0
    expected_true_yes: float = 0.0
    candidates: Array = field(default_factory=lambda: np.zeros(0))
    true: Array = field(default_factory=lambda: np.zeros(0))
    covered: Array = field(default_factory=lambda: np.zeros(0))
    covered_true: Array = field(default_factory=lambda: np.zeros(0))
    clipped_bits: Array = field(default_factory=lambda: np.zeros(0))
    clipped_bits_covered: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        for name in ("candidates", "true", "covered", "covered_true", "clipped_bits", "clipped_bits_covered"):
            if not len(getattr(self, name)):
                setattr(self, name, np.zeros(len(self.categories)))

    def add(self, probability: Array, is_true: NDArray[np.bool_], covered: Array | None = None, *, eps: float = EPS) -> None:
        """Count one sentence: P(T | c) for every span and category, which are true, and how far the grammar covers each."""
        covered = np.zeros_like(probability) if covered is None else covered
        event = np.where(is_true, probability, 1.0 - probability)
        possible = event > 0
        clipped = -np.log2(np.where(is_true, np.clip(probability, eps, 1 - eps), 1 - np.clip(probability, eps, 1 - eps)))
        self.sentences += 1
        self.impossible += int((~possible).sum())
        self.bits += float(-np.log2(event[possible]).sum())
        self.expected_yes += float(probability.sum())
        self.expected_true_yes += float(probability[is_true].sum())
        self.candidates += len(probability)
        self.true += is_true.sum(axis=0)
        self.covered += covered.sum(axis=0)
        self.covered_true += (covered * is_true).sum(axis=0)
        self.clipped_bits += clipped.sum(axis=0)
        self.clipped_bits_covered += (clipped * covered).sum(axis=0)

    @property
    def n_candidates(self) -> int:
        return int(self.candidates.sum())

    @property
    def n_true(self) -> int:
        return int(self.true.sum())

    @property
    def bits_per_candidate(self) -> float:
        """H without clipping: infinite as soon as one event was impossible."""
        return math.inf if self.impossible else _ratio(self.bits, self.n_candidates)

    @property
    def bits_per_sentence(self) -> float:
        return math.inf if self.impossible else _ratio(self.bits, self.sentences)

    @property
    def clipped_bits_per_candidate(self) -> float:
        return _ratio(float(self.clipped_bits.sum()), self.n_candidates)

    @property
    def clipped_bits_per_sentence(self) -> float:
        return _ratio(float(self.clipped_bits.sum()), self.sentences)

    @property
    def log10_perplexity(self) -> float:
        """The power of ten of 2^(aH), the number of equally likely parses a sentence, a candidates a sentence."""
        return self.bits_per_sentence * math.log10(2)

    @property
    def clipped_log10_perplexity(self) -> float:
        return self.clipped_bits_per_sentence * math.log10(2)

    @property
    def expected_precision(self) -> float:
        return _ratio(self.expected_true_yes, self.expected_yes)

    @property
    def expected_recall(self) -> float:
        return _ratio(self.expected_true_yes, self.n_true)

    def blame(self) -> list[Blame]:
        """Each category's share of the clipped entropy, beside the share of candidates, covered candidates and true chunks."""
        shares = (self.clipped_bits, self.candidates, self.covered, self.true)
        return [
            Blame(category, *(_ratio(float(column[index]), float(column.sum())) for column in shares))
            for index, category in enumerate(self.categories)
        ]
