"""Abney's model S: whole chunk sequences from the probabilities of single candidates.

From position i, a candidate that starts there is chosen with probability proportional to P(T | c) of model G; the sequence
goes on at its end. The entropy of a sentence is -lg P(true sequence); the best sequence is found by dynamic programming.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import Chunk, span_row, spans

__all__ = ["BestSequence", "SequenceModel", "SequenceScores"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BestSequence:
    """The most probable chunk sequence, its log (base 2) probability, and how many sequences share that probability."""

    chunks: tuple[Chunk, ...]
    log2_probability: float
    ties: int


class SequenceModel:
    """The chunk sequences of one sentence, from P(T | c) for its candidates."""

    def __init__(self, probability: Array, length: int, categories: Sequence[str]) -> None:
        self.length, self.categories = length, tuple(categories)
        start, _ = spans(length)
        total = np.zeros(length)
        np.add.at(total, start, probability.sum(axis=1))
        here = total[start][:, None]
        self.choice = np.divide(probability, here, out=np.zeros_like(probability), where=here > 0)

    def log2_probability(self, chunks: Sequence[Chunk]) -> float:
        """lg P(s); minus infinity for an impossible sequence."""
        number = {category: index for index, category in enumerate(self.categories)}
        log = 0.0
        for category, start, end in chunks:
            index = number.get(category)
            p = 0.0 if index is None else float(self.choice[span_row(self.length, start, end), index])
            if p == 0.0:
                return -math.inf
            log += math.log2(p)
        return log

    def best(self) -> BestSequence:
        """The most probable sequence; among equals, the first category, then the shortest last chunk."""
        n = self.length
        category = self.choice.argmax(axis=1)
        rows = np.arange(len(category))
        with np.errstate(divide="ignore"):
            log = np.log2(self.choice[rows, category]) if len(rows) else np.zeros(0)
        equal = np.isclose(self.choice, self.choice[rows, category][:, None], rtol=1e-12, atol=0).sum(axis=1) if len(rows) else rows
        value, ways, back = [0.0] + [-math.inf] * n, [1] + [0] * n, [0] * (n + 1)
        for end in range(1, n + 1):
            for start in range(end):
                row = span_row(n, start, end)
                new = value[start] + float(log[row])
                if new == -math.inf:
                    continue
                if math.isclose(new, value[end], rel_tol=1e-12, abs_tol=1e-12):
                    ways[end] += ways[start] * int(equal[row])
                elif new > value[end]:
                    value[end], ways[end], back[end] = new, ways[start] * int(equal[row]), start
        chunks: list[Chunk] = []
        end = n if value[n] > -math.inf else 0
        while end:
            start = back[end]
            chunks.append(Chunk(self.categories[int(category[span_row(n, start, end)])], start, end))
            end = start
        return BestSequence(tuple(reversed(chunks)), value[n], ways[n])


@dataclass
class SequenceScores:
    """Sums over sentences: entropy of the true sequences, and how many chunks of the best ones are true."""

    sentences: int = 0
    impossible: int = 0
    bits: float = 0.0
    predicted: int = 0
    correct: int = 0
    true: int = 0

    def add(self, model: SequenceModel, chunks: Sequence[Chunk]) -> BestSequence:
        """Count one sentence and return its best sequence."""
        log = model.log2_probability(chunks)
        best = model.best()
        self.sentences += 1
        self.impossible += log == -math.inf
        self.bits += 0.0 if log == -math.inf else -log
        self.predicted += len(best.chunks)
        self.correct += len(set(best.chunks) & set(chunks))
        self.true += len(chunks)
        return best

    @property
    def bits_per_sentence(self) -> float:
        if self.impossible:
            return math.inf
        return self.bits / self.sentences if self.sentences else math.nan

    @property
    def finite_bits_per_sentence(self) -> float:
        """The mean over the sentences whose true sequence is possible."""
        possible = self.sentences - self.impossible
        return self.bits / possible if possible else math.nan

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else math.nan

    @property
    def recall(self) -> float:
        return self.correct / self.true if self.true else math.nan
