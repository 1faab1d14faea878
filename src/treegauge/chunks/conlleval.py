"""conlleval's numbers for the output of any chunker, and its printout (CoNLL-2000 shared task).

A chunk is right if its category and both ends are. Accuracy counts equal marks word by word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from treegauge.chunks.corpus import chunks_of_iob
from treegauge.errors import MismatchError

__all__ = ["ChunkScores", "conlleval_printout"]


@dataclass
class ChunkScores:
    """Counts over sentences; they add."""

    words: int = 0
    right_marks: int = 0
    true: Counter[str] = field(default_factory=Counter[str])
    found: Counter[str] = field(default_factory=Counter[str])
    correct: Counter[str] = field(default_factory=Counter[str])

    def add(self, gold: Sequence[str], test: Sequence[str]) -> None:
        """Count one sentence, given the two columns of marks."""
        if len(gold) != len(test):
            raise MismatchError(f"a sentence has {len(gold)} gold and {len(test)} test marks")
        gold_chunks, test_chunks = set(chunks_of_iob(gold)), set(chunks_of_iob(test))
        self.words += len(gold)
        self.right_marks += sum(g == t for g, t in zip(gold, test, strict=True))
        self.true.update(chunk.category for chunk in gold_chunks)
        self.found.update(chunk.category for chunk in test_chunks)
        self.correct.update(chunk.category for chunk in gold_chunks & test_chunks)

    @classmethod
    def of(cls, sentences: Iterable[tuple[Sequence[str], Sequence[str]]]) -> ChunkScores:
        """The scores of (gold, test) columns.

        >>> scores = ChunkScores.of([(["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "O"])])
        >>> scores.precision(), scores.recall(), round(scores.f1(), 3)
        (1.0, 0.5, 0.667)
        """
        scores = cls()
        for gold, test in sentences:
            scores.add(gold, test)
        return scores

    @property
    def accuracy(self) -> float:
        return _ratio(self.right_marks, self.words)

    def precision(self, category: str | None = None) -> float:
        """The share of found chunks that are right; of one category, or of all."""
        return _ratio(_count(self.correct, category), _count(self.found, category))

    def recall(self, category: str | None = None) -> float:
        """The share of true chunks that were found."""
        return _ratio(_count(self.correct, category), _count(self.true, category))

    def f1(self, category: str | None = None) -> float:
        """2 * correct / (true + found)."""
        return _ratio(2 * _count(self.correct, category), _count(self.true, category) + _count(self.found, category))


def _count(counter: Counter[str], category: str | None) -> int:
    return counter.total() if category is None else counter[category]


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def conlleval_printout(scores: ChunkScores) -> Iterator[str]:
    """The lines that conlleval prints; what is undefined it prints as 0."""

    def percent(value: float) -> float:
        return 0.0 if value != value else 100 * value

    yield (
        f"processed {scores.words} tokens with {scores.true.total()} phrases; "
        f"found: {scores.found.total()} phrases; correct: {scores.correct.total()}."
    )
    yield (
        f"accuracy: {percent(scores.accuracy):6.2f}%; precision: {percent(scores.precision()):6.2f}%; "
        f"recall: {percent(scores.recall()):6.2f}%; FB1: {percent(scores.f1()):6.2f}"
    )
    for category in sorted(scores.true | scores.found):
        yield (
            f"{category:>17}: precision: {percent(scores.precision(category)):6.2f}%; "
            f"recall: {percent(scores.recall(category)):6.2f}%; FB1: {percent(scores.f1(category)):6.2f}  {scores.found[category]}"
        )
