"""Abney's measures: entropy in bits per candidate and per sentence, expected precision and recall, blame and coverage.

H is the mean of -lg P(E_c | c) over candidates, where the event E_c is T for a true chunk and not-T otherwise. An event of
probability 0 is impossible; such events are counted, and H is given with P clipped to [eps, 1 - eps], so that a single one does not
make it infinite.

The probabilities of another chunker's candidates are given directly, or as the marginals of an IOB tagger, which gives each word a
distribution over B-X, I-X and O. The probability of a candidate (x, i, j) is then the product of the probabilities of its marks,
and of the next mark not continuing x, as if words were independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import NULL, n_spans, span_row
from treegauge.errors import FormatError
from treegauge.metrics.metric import ratio

Array = NDArray[np.float64]
EPS = 1e-6


@dataclass(frozen=True)
class Blame:
    """The share of the entropy that a category causes, and the shares to expect if entropy did not depend on categories."""

    category: str
    share: float
    expected_by_candidates: float
    expected_by_covered: float
    expected_by_true: float


@dataclass
class EntropyCounts:
    """Sums over candidates from which all measures follow; sentences can be added one by one.

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
        """Add one sentence, given P(T | c) of every candidate, whether it is a true chunk, and its coverage by the grammar."""
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
    sentence: list[tuple[str, int, int, float]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            sentence.append(_candidate(line, path, number))
        else:
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
        raise FormatError(
            "not a candidate",
            path=path,
            line=number,
            column=1,
            text=line,
            advice="Write: category start end probability, as in NP 0 2 0.9",
        )
    return candidate


def read_marginals(lines: Iterable[str], path: str = "") -> Iterator[list[dict[str, float]]]:
    """An IOB tagger's marginals read from text: a line ``word mark=probability ...`` per word, a blank line after each sentence.

    >>> list(read_marginals(["He B-NP=0.9 O=0.1", "sat B-VP=1", ""]))
    [[{'B-NP': 0.9, 'O': 0.1}, {'B-VP': 1.0}]]
    """
    sentence: list[dict[str, float]] = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            sentence.append(_marginal(line, path, number))
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _marginal(line: str, path: str, number: int) -> dict[str, float]:
    try:
        pairs = [column.rpartition("=") for column in line.split()[1:]]
        marginal = {mark: float(p) for mark, _, p in pairs}
    except ValueError:
        marginal = {"": math.nan}
    if not marginal or not all(mark and 0 <= p <= 1 for mark, p in marginal.items()) or math.fsum(marginal.values()) > 1 + 1e-6:
        raise FormatError(
            "not a word with its marginals",
            path=path,
            line=number,
            column=1,
            text=line,
            advice="Write: word mark=probability ..., as in He B-NP=0.9 O=0.1; the probabilities of a word sum to at most 1.",
        )
    return marginal
