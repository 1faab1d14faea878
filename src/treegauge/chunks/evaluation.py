"""Evaluation of chunk models: Abney's two tables, blame and coverage; and conlleval's scores of any chunker (CoNLL-2000).

For conlleval, a chunk is right if its category and both ends are right; accuracy is the share of words with the right mark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import ChunkedSentence, categories_of, chunks_of_iob, truth
from treegauge.chunks.entropy import EPS, EntropyCounts
from treegauge.chunks.models import Models, SequenceModel, SequenceScores, Tagged
from treegauge.errors import MismatchError
from treegauge.metrics.metric import ratio
from treegauge.tables import Table

EPS_RANGE = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


@dataclass
class Evaluation:
    """The scores of each model on a corpus; ``sensitivity[eps][name]`` is bits per sentence with P clipped at another eps."""

    categories: tuple[str, ...]
    counts: dict[str, EntropyCounts]
    sequences: SequenceScores = field(default_factory=SequenceScores)
    sensitivity: dict[float, dict[str, float]] = field(default_factory=dict[float, dict[str, float]])


def evaluate(
    models: Models,
    test: Iterable[Tagged],
    *,
    categories: Sequence[str] | None = None,
    eps: float = EPS,
    eps_range: Sequence[float] = EPS_RANGE,
    advance: Callable[[], None] = lambda: None,
) -> Evaluation:
    """The scores of every model on the test sentences; ``advance`` is called after each sentence.

    Categories that occur only in the test corpus are candidates too; if ``categories`` is given, the sentences are read only once.
    """
    if categories is None:
        test = list(test)
        categories = categories_of(sentence for sentence, _ in test)
    models = models.with_categories(categories)
    named = models.by_name()
    result = Evaluation(models.categories, {name: EntropyCounts(models.categories) for name in named})
    bits = {other: dict.fromkeys(named, 0.0) for other in eps_range}
    n = 0
    for sentence, tags in test:
        n += 1
        is_true = truth(len(sentence), sentence.chunks, models.categories)
        covered = models.grammar.coverage(tags)
        for name, model in named.items():
            probability = model.probabilities(tags)
            result.counts[name].add(probability, is_true, covered, eps=eps)
            for other in eps_range:
                bits[other][name] += clipped_bits(probability, is_true, other)
            if name == "G":
                result.sequences.add(SequenceModel(probability, len(sentence), models.categories), sentence.chunks)
        advance()
    result.sensitivity = {other: {name: value / max(n, 1) for name, value in row.items()} for other, row in bits.items()}
    return result


def clipped_bits(probability: NDArray[np.float64], is_true: NDArray[np.bool_], eps: float) -> float:
    """The sum of -lg P(event) with P clipped to [eps, 1 - eps]."""
    clipped = np.clip(probability, eps, 1 - eps)
    return float(-np.log2(np.where(is_true, clipped, 1 - clipped)).sum())


def entropy_of(
    sentences: Iterable[ChunkedSentence],
    probabilities: Iterable[NDArray[np.float64]],
    categories: tuple[str, ...],
    eps: float = EPS,
) -> EntropyCounts:
    """The entropy of any chunker, given the probabilities of its candidates sentence by sentence."""
    counts = EntropyCounts(categories)
    for sentence, probability in zip(sentences, probabilities, strict=True):
        counts.add(probability, truth(len(sentence), sentence.chunks, categories), eps=eps)
    return counts


_MEASURES = ("b/c", "b/s", "log10 parses/sentence", "EP", "ER", "impossible")
_CLIPPED = "P is clipped to [eps, 1-eps]; `impossible` counts the events of probability 0 that this hides."


def _measures(counts: EntropyCounts) -> tuple[float, ...]:
    return (
        counts.clipped_bits_per_candidate,
        counts.clipped_bits_per_sentence,
        counts.clipped_log10_perplexity,
        counts.expected_precision,
        counts.expected_recall,
        counts.impossible,
    )


def measure_table(evaluation: Evaluation) -> Table:
    """A row per model: b/c, b/s, parses per sentence as a power of ten, EP, ER, impossible events; for S also P and R."""
    s = evaluation.sequences
    bits = s.finite_bits_per_sentence
    rows = [(name, *_measures(counts)) for name, counts in evaluation.counts.items()]
    of_sequences = ("S", None, bits, bits * math.log10(2), s.precision, s.recall, s.impossible)
    note = "S: bits over the sentences whose true sequence is possible; EP and ER are those of the best sequence."
    return Table(
        "Entropy of chunk recognition", ("model", *_MEASURES), (*rows, of_sequences), notes=(_CLIPPED, note), percent=("EP", "ER")
    )


def chunker_table(counts: EntropyCounts) -> Table:
    """The measures of another chunker, in one row."""
    return Table("Entropy of this chunker", _MEASURES, (_measures(counts),), notes=(_CLIPPED,), percent=("EP", "ER"))


def blame_table(evaluation: Evaluation, model: str = "G", expected: str = "covered") -> Table:
    """A model's entropy by category, and its excess over the share expected by ``covered``, all or ``true`` candidates."""
    rows = [
        (blame.category, blame.share, share, blame.share - share)
        for blame in evaluation.counts[model].blame()
        for share in (getattr(blame, f"expected_by_{expected}"),)
    ]
    rows.sort(key=lambda row: -row[1] if row[1] == row[1] else 0.0)
    return Table(
        f"Entropy of model {model} by category, expected share by {expected}",
        ("category", "%H", "expected", "excess"),
        tuple(rows),
        percent=("%H", "expected", "excess"),
    )


def coverage_table(evaluation: Evaluation, model: str = "G") -> Table:
    """The share of candidates, true chunks and entropy that the grammar covers."""
    counts = evaluation.counts[model]
    bits = float(counts.clipped_bits.sum())
    rows = [
        ("candidates", counts.n_candidates, ratio(float(counts.covered.sum()), counts.n_candidates)),
        ("true chunks", counts.n_true, ratio(float(counts.covered_true.sum()), counts.n_true)),
        ("bits", bits, ratio(float(counts.clipped_bits_covered.sum()), bits)),
    ]
    return Table(f"Coverage by the grammar of model {model}", ("what", "total", "covered"), tuple(rows), percent=("covered",))


def sensitivity_table(evaluation: Evaluation) -> Table:
    """Bits per sentence by eps, which shows the weight of impossible events."""
    names = tuple(evaluation.counts)
    rows = tuple((f"{eps:g}", *(values[name] for name in names)) for eps, values in evaluation.sensitivity.items())
    return Table("Bits per sentence by eps", ("eps", *names), rows)


@dataclass
class ChunkScores:
    """Counts of marks and chunks over sentences."""

    words: int = 0
    right_marks: int = 0
    true: Counter[str] = field(default_factory=Counter[str])
    found: Counter[str] = field(default_factory=Counter[str])
    correct: Counter[str] = field(default_factory=Counter[str])

    def add(self, gold: Sequence[str], test: Sequence[str], schemes: tuple[str, str] = ("conlleval", "conlleval")) -> None:
        """Add one sentence, given the two columns of marks and their schemes (see :func:`~treegauge.chunks.chunks_of_iob`)."""
        if len(gold) != len(test):
            raise MismatchError(f"a sentence has {len(gold)} gold and {len(test)} test marks")
        gold_chunks, test_chunks = set(chunks_of_iob(gold, schemes[0])), set(chunks_of_iob(test, schemes[1]))
        self.words += len(gold)
        self.right_marks += sum(g == t for g, t in zip(gold, test, strict=True))
        self.true.update(chunk.category for chunk in gold_chunks)
        self.found.update(chunk.category for chunk in test_chunks)
        self.correct.update(chunk.category for chunk in gold_chunks & test_chunks)

    @classmethod
    def of(
        cls, sentences: Iterable[tuple[Sequence[str], Sequence[str]]], schemes: tuple[str, str] = ("conlleval", "conlleval")
    ) -> ChunkScores:
        """The scores of some sentences, given as (gold, test) columns of marks.

        >>> scores = ChunkScores.of([(["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "O"])])
        >>> scores.precision(), scores.recall(), round(scores.f1(), 3)
        (1.0, 0.5, 0.667)
        """
        scores = cls()
        for gold, test in sentences:
            scores.add(gold, test, schemes)
        return scores

    @property
    def accuracy(self) -> float:
        return ratio(self.right_marks, self.words)

    def precision(self, category: str | None = None) -> float:
        """The share of found chunks that are right; of one category, or of all."""
        return ratio(_count(self.correct, category), _count(self.found, category))

    def recall(self, category: str | None = None) -> float:
        """The share of true chunks that were found."""
        return ratio(_count(self.correct, category), _count(self.true, category))

    def f1(self, category: str | None = None) -> float:
        """2 * correct / (true + found)."""
        return ratio(2 * _count(self.correct, category), _count(self.true, category) + _count(self.found, category))


def _count(counter: Counter[str], category: str | None) -> int:
    return counter.total() if category is None else counter[category]


def conlleval_printout(scores: ChunkScores) -> Iterator[str]:
    """The lines that conlleval prints; undefined rates are 0, and FB1 is computed from precision and recall in per cent."""
    yield (
        f"processed {scores.words} tokens with {scores.true.total()} phrases; "
        f"found: {scores.found.total()} phrases; correct: {scores.correct.total()}."
    )
    accuracy = 100 * scores.right_marks / scores.words if scores.words else 0.0
    yield f"accuracy: {accuracy:6.2f}%; {_conlleval_rates(scores, None)}"
    for category in sorted(scores.true | scores.found):
        yield f"{category:>17}: {_conlleval_rates(scores, category)}  {scores.found[category]}"


def _conlleval_rates(scores: ChunkScores, category: str | None) -> str:
    correct, found, true = (_count(counter, category) for counter in (scores.correct, scores.found, scores.true))
    precision, recall = (100 * correct / whole if whole else 0.0 for whole in (found, true))
    balanced = 2 * precision * recall / (precision + recall) if correct else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {balanced:6.2f}"
