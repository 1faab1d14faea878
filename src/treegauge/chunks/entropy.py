"""Scores of chunkers: Abney's entropy, expected precision and recall, blame and coverage; and conlleval's scores (CoNLL-2000).

H is the mean of -lg P(E_c | c) over candidates, where the event E_c is T for a true chunk and not-T otherwise. An event of
probability 0 is impossible; such events are counted, and H is given with P clipped to [eps, 1 - eps], so that a single one does not
make it infinite.

The probabilities of another chunker's candidates are given directly, or as the marginals of an IOB tagger, which gives each word a
distribution over B-X, I-X and O. The probability of a candidate (x, i, j) is then the product of the probabilities of its marks,
and of the next mark not continuing x, as if words were independent.

For conlleval, a chunk is right if its category and both ends are right; accuracy is the share of words with the right mark.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import NULL, ChunkedSentence, categories_of, chunks_of_iob, n_spans, span_row, truth
from treegauge.chunks.models import ROUNDING, Array, Models, SequenceModel, SequenceScores, Tagged
from treegauge.errors import FormatError, MismatchError
from treegauge.metrics.metric import ratio
from treegauge.tables import HasTable, Table

T = TypeVar("T")
EPS = 1e-6


@dataclass(frozen=True)
class Blame:
    """The share of the entropy that a category causes, and the shares to expect if entropy did not depend on categories."""

    category: str
    share: float
    expected_by_candidates: float
    expected_by_covered: float
    expected_by_true: float


class EntropyCounts:
    """Sums over candidates from which all measures follow; sentences can be added one by one.

    Per category: ``candidates``, ``true``, ``covered``, ``covered_true``, clipped bits of all and of covered candidates.
    """

    def __init__(self, categories: tuple[str, ...]) -> None:
        self.categories = categories
        self.sentences = self.impossible = 0
        self.bits = self.expected_yes = self.expected_true_yes = 0.0
        sums: list[Array] = [np.zeros(len(categories)) for _ in range(6)]
        self.candidates, self.true, self.covered, self.covered_true, self.clipped_bits, self.clipped_bits_covered = sums

    def __repr__(self) -> str:
        return f"<EntropyCounts of {self.sentences} sentences, {self.bits:.6g} bits>"

    def add(self, probability: Array, is_true: NDArray[np.bool_], covered: Array | None = None, *, eps: float = EPS) -> None:
        """Add one sentence, given P(T | c) of every candidate, whether it is a true chunk, and its coverage by the grammar."""
        covered = np.zeros_like(probability) if covered is None else covered
        event = np.where(is_true, probability, 1.0 - probability)
        possible = event > np.where(is_true, 0.0, ROUNDING)
        clipped = clipped_bits(probability, is_true, eps)
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
        """H without clipping, which is infinite if an event was impossible."""
        return math.inf if self.impossible else ratio(self.bits, self.n_candidates)

    @property
    def bits_per_sentence(self) -> float:
        return math.inf if self.impossible else ratio(self.bits, self.sentences)

    @property
    def clipped_bits_per_candidate(self) -> float:
        return ratio(float(self.clipped_bits.sum()), self.n_candidates)

    @property
    def clipped_bits_per_sentence(self) -> float:
        return ratio(float(self.clipped_bits.sum()), self.sentences)

    @property
    def log10_perplexity(self) -> float:
        """The base-10 logarithm of 2^(aH), the number of equally likely parses of a sentence with a candidates."""
        return self.bits_per_sentence * math.log10(2)

    @property
    def clipped_log10_perplexity(self) -> float:
        return self.clipped_bits_per_sentence * math.log10(2)

    @property
    def expected_precision(self) -> float:
        return ratio(self.expected_true_yes, self.expected_yes)

    @property
    def expected_recall(self) -> float:
        return ratio(self.expected_true_yes, self.n_true)

    def blame(self) -> list[Blame]:
        """Each category's share of the clipped entropy, beside the share of candidates, covered candidates and true chunks."""
        shares = (self.clipped_bits, self.candidates, self.covered, self.true)
        return [
            Blame(category, *(ratio(float(column[index]), float(column.sum())) for column in shares))
            for index, category in enumerate(self.categories)
        ]


def from_candidates(length: int, candidates: Iterable[tuple[str, int, int, float]], categories: Sequence[str]) -> Array:
    """P(T) of every candidate of a sentence; candidates that are not given have probability 0.

    >>> from_candidates(2, [("NP", 0, 2, 0.75)], ["NP", "Null"])[span_row(2, 0, 2)].tolist()
    [0.75, 0.0]
    """
    number = {category: index for index, category in enumerate(categories)}
    probability = np.zeros((n_spans(length), len(categories)))
    for category, start, end, p in candidates:
        if category in number:
            probability[span_row(length, start, end), number[category]] = p
    return probability


def from_iob_marginals(marginals: Sequence[Mapping[str, float]], categories: Sequence[str]) -> Array:
    """P(T) of every candidate, from a distribution over marks for each word.

    >>> p = from_iob_marginals([{"B-NP": 1.0}, {"I-NP": 0.5, "O": 0.5}], ["NP", "Null"])
    >>> p[span_row(2, 0, 2)].tolist(), p[span_row(2, 0, 1)].tolist()
    ([0.5, 0.0], [0.5, 0.0])
    """
    n = len(marginals)
    probability = np.zeros((n_spans(n), len(categories)))
    for index, category in enumerate(categories):
        for start in range(n):
            if category == NULL:
                probability[span_row(n, start, start + 1), index] = marginals[start].get("O", 0.0)
                continue
            inside = marginals[start].get(f"B-{category}", 0.0)
            for end in range(start + 1, n + 1):
                if not inside:
                    break
                goes_on = marginals[end].get(f"I-{category}", 0.0) if end < n else 0.0
                probability[span_row(n, start, end), index] = inside * (1 - goes_on)
                inside *= goes_on
    return probability


def read_candidates(lines: Iterable[str], path: str = "") -> Iterator[list[tuple[str, int, int, float]]]:
    """Sentences of candidates from text: a line ``category start end probability`` per candidate, a blank line after each sentence.

    >>> list(read_candidates(["NP 0 2 0.9", "VP 2 3 0.8", "", "NP 0 1 1"]))
    [[('NP', 0, 2, 0.9), ('VP', 2, 3, 0.8)], [('NP', 0, 1, 1.0)]]
    """
    return _sentences(lines, lambda line, number: _candidate(line, path, number), empty=True)


def _sentences(lines: Iterable[str], parse: Callable[[str, int], T], *, empty: bool = False) -> Iterator[list[T]]:
    """The parsed lines of each sentence, which a blank line ends; sentences without lines only if ``empty``."""
    sentence: list[T] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            sentence.append(parse(line, number))
        elif sentence or empty:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _candidate(line: str, path: str, number: int) -> tuple[str, int, int, float]:
    try:
        category, start, end, p = line.split()
        candidate = (category, int(start), int(end), float(p))
    except ValueError:
        candidate = ("", 0, 0, math.nan)
    if not (0 <= candidate[1] < candidate[2] and 0 <= candidate[3] <= 1):
        advice = "Write: category start end probability, as in NP 0 2 0.9"
        raise FormatError("not a candidate", path=path, line=number, column=1, text=line, advice=advice)
    return candidate


def read_marginals(lines: Iterable[str], path: str = "") -> Iterator[list[dict[str, float]]]:
    """An IOB tagger's marginals read from text: a line ``word mark=probability ...`` per word, a blank line after each sentence.

    >>> list(read_marginals(["He B-NP=0.9 O=0.1", "sat B-VP=1", ""]))
    [[{'B-NP': 0.9, 'O': 0.1}, {'B-VP': 1.0}]]
    """
    return _sentences(lines, lambda line, number: _marginal(line, path, number))


def _marginal(line: str, path: str, number: int) -> dict[str, float]:
    try:
        pairs = [column.rpartition("=") for column in line.split()[1:]]
        marginal = {mark: float(p) for mark, _, p in pairs}
    except ValueError:
        marginal = {"": math.nan}
    if not marginal or not all(mark and 0 <= p <= 1 for mark, p in marginal.items()) or math.fsum(marginal.values()) > 1 + 1e-6:
        advice = "Write: word mark=probability ..., as in He B-NP=0.9 O=0.1; the probabilities of a word sum to at most 1."
        raise FormatError("not a word with its marginals", path=path, line=number, column=1, text=line, advice=advice)
    return marginal


EPS_RANGE = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)


@dataclass
class Evaluation(HasTable):
    """The scores of each model on a corpus; ``sensitivity[eps][name]`` is bits per sentence with P clipped at another eps."""

    categories: tuple[str, ...]
    counts: dict[str, EntropyCounts] = field(repr=False)
    sequences: SequenceScores = field(default_factory=SequenceScores, repr=False)
    sensitivity: dict[float, dict[str, float]] = field(default_factory=dict[float, dict[str, float]], repr=False)

    def as_table(self) -> Table:
        return measure_table(self)


def evaluate(
    models: Models,
    test: Iterable[Tagged],
    *,
    categories: Sequence[str] | None = None,
    eps: float = EPS,
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
    bits = {other: dict.fromkeys(named, 0.0) for other in EPS_RANGE}
    n = 0
    for sentence, tags in test:
        n += 1
        is_true = truth(len(sentence), sentence.chunks, models.categories)
        covered = models.grammar.coverage(tags)
        for name, model in named.items():
            probability = model.probabilities(tags)
            result.counts[name].add(probability, is_true, covered, eps=eps)
            for other in EPS_RANGE:
                bits[other][name] += float(clipped_bits(probability, is_true, other).sum())
            if name == "G":
                result.sequences.add(SequenceModel(probability, len(sentence), models.categories), sentence.chunks)
        advance()
    result.sensitivity = {other: {name: value / max(n, 1) for name, value in row.items()} for other, row in bits.items()}
    return result


def clipped_bits(probability: Array, is_true: NDArray[np.bool_], eps: float) -> Array:
    """-lg P(event) of each candidate with P clipped to [eps, 1 - eps]."""
    clipped = np.clip(probability, eps, 1 - eps)
    return -np.log2(np.where(is_true, clipped, 1 - clipped))


def entropy_of(
    sentences: Iterable[ChunkedSentence], probabilities: Iterable[Array], categories: tuple[str, ...], eps: float = EPS
) -> EntropyCounts:
    """The entropy of any chunker, given the probabilities of its candidates sentence by sentence."""
    counts = EntropyCounts(categories)
    for sentence, probability in zip(sentences, probabilities, strict=True):
        counts.add(probability, truth(len(sentence), sentence.chunks, categories), eps=eps)
    return counts


_MEASURES = ("b/c", "b/s", "log10 parses/sentence", "EP", "ER", "impossible")
_CLIPPED = "P is clipped to [eps, 1-eps]; `impossible` counts the events of probability 0 that this hides."


def measures_of(counts: EntropyCounts) -> tuple[float, ...]:
    """Bits per candidate and per sentence, the logarithm of the perplexity, expected precision and recall, impossible events."""
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
    rows = [(name, *measures_of(counts)) for name, counts in evaluation.counts.items()]
    of_sequences = ("S", None, bits, bits * math.log10(2), s.precision, s.recall, s.impossible)
    note = "S: bits over the sentences whose true sequence is possible; EP and ER are those of the best sequence."
    return Table(
        "Entropy of chunk recognition", ("model", *_MEASURES), (*rows, of_sequences), notes=(_CLIPPED, note), percent=("EP", "ER")
    )


def chunker_table(counts: EntropyCounts) -> Table:
    """The measures of another chunker, in one row."""
    return Table("Entropy of this chunker", _MEASURES, (measures_of(counts),), notes=(_CLIPPED,), percent=("EP", "ER"))


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


def coverage_table(evaluation: Evaluation) -> Table:
    """The share of candidates, true chunks and entropy of model G that the grammar covers."""
    counts = evaluation.counts["G"]
    bits = float(counts.clipped_bits.sum())
    rows = [
        ("candidates", counts.n_candidates, ratio(float(counts.covered.sum()), counts.n_candidates)),
        ("true chunks", counts.n_true, ratio(float(counts.covered_true.sum()), counts.n_true)),
        ("bits", bits, ratio(float(counts.clipped_bits_covered.sum()), bits)),
    ]
    return Table("Coverage by the grammar of model G", ("what", "total", "covered"), tuple(rows), percent=("covered",))


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

    def counts(self, category: str | None = None) -> dict[str, int]:
        """The numbers of ``true``, ``found`` and ``correct`` chunks of one category, or of all."""
        counters = {"true": self.true, "found": self.found, "correct": self.correct}
        return {name: each.total() if category is None else each[category] for name, each in counters.items()}

    def precision(self, category: str | None = None) -> float:
        """The share of found chunks that are right; of one category, or of all."""
        counts = self.counts(category)
        return ratio(counts["correct"], counts["found"])

    def recall(self, category: str | None = None) -> float:
        """The share of true chunks that were found."""
        counts = self.counts(category)
        return ratio(counts["correct"], counts["true"])

    def f1(self, category: str | None = None) -> float:
        """2 * correct / (true + found)."""
        true, found, correct = self.counts(category).values()
        return ratio(2 * correct, true + found)


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
    true, found, correct = scores.counts(category).values()
    precision, recall = (100 * correct / whole if whole else 0.0 for whole in (found, true))
    balanced = 2 * precision * recall / (precision + recall) if correct else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {balanced:6.2f}"
