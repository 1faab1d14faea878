"""The questions of a check: which brackets are to be judged, and in which order.

Crossing errors and spurious brackets are asked about, exact matches on request. A bracket that several parsers made, or that
occurs several times in the treebank, is one question. The order is random, but the same for all annotators, and it does not depend
on which other brackets are asked about (:meth:`BracketId.rank <treegauge.humancheck.judgements.BracketId.rank>`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Alignment, Fit, align
from treegauge.alignment.notes import Note, notes_with_remarks
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, is_deleted, matched_word, without_traces
from treegauge.errors import UsageError
from treegauge.humancheck.judgements import BracketId, WordBlocks, blocks_as_text, sentence_hash, storable, tree_hash, words_inside
from treegauge.metrics.hogenhout import BracketKey, Hogenhout, Judgements, Verdict
from treegauge.metrics.hogenhout.items import Items, find_items
from treegauge.metrics.metric import total_of
from treegauge.presets import Preset, load_preset
from treegauge.trees.treebank import Int64, Mask, Treebank

KINDS = ("CE", "SP", "EM")
"""The kinds of a parser's brackets: crossing error, spurious, exact match."""


class WordSpan(NamedTuple):
    """The words ``start:end`` of a sentence: of gold words (``by_gold``), or of test words if an edge cuts a gold word.

    If the span has gaps, ``blocks`` are its parts.
    """

    words: tuple[str, ...]
    start: int
    end: int
    by_gold: bool
    blocks: WordBlocks = ()

    @property
    def inside(self) -> tuple[str, ...]:
        """The words, with a mark for each gap."""
        return tuple(words_inside(self.words, self.start, self.end, self.blocks))

    def holds(self, word: int) -> bool:
        """Whether a word, given by its number, is in the span."""
        return any(start <= word < end for start, end in self.blocks or ((self.start, self.end),))


class _Tokens(NamedTuple):
    """The counted tokens of a sentence: gold word and test word of each, and whether it begins and ends its gold word."""

    gold: Int64
    test: Int64
    begins: Mask
    ends: Mask


class WordSpans:
    """A converter from spans of counted tokens to spans of all words; both treebanks are given without traces."""

    def __init__(self, gold: Treebank, test: Treebank, alignment: Alignment, preset: Preset, match_words: str = "exact") -> None:
        self.gold, self.test, self.alignment = gold, test, alignment
        self._form = "exact" if match_words == "length" else match_words
        self._deleted = is_deleted(gold, preset)
        self.tokens = lru_cache(maxsize=4096)(self._tokens)
        self.words = lru_cache(maxsize=4096)(self._words)

    def of(self, sentence: int, start: int, end: int, blocks: WordBlocks = ()) -> WordSpan:
        """The span of all words of a gold sentence from the first to the last of the counted tokens ``start:end``.

        If there are gaps among these tokens, ``blocks`` are the parts between the gaps.

        >>> from treegauge import alignment
        >>> from treegauge.presets import load_preset
        >>> bank, preset = Treebank.parse("(S (NP (NN rain)) (, ,) (VP (V fell)))"), load_preset("default")
        >>> spans = WordSpans(bank, bank, alignment.pair(bank, bank, preset).alignment, preset)
        >>> spans.of(0, 0, 2)
        WordSpan(words=('rain', ',', 'fell'), start=0, end=3, by_gold=True, blocks=())
        """
        tokens = self.tokens(sentence)
        words = self.words(sentence)
        if start == end:
            at = int(tokens.gold[start]) if start < len(tokens.gold) else len(words)
            return WordSpan(words, at, at, True)
        by_gold = all(tokens.begins[first] and tokens.ends[last - 1] for first, last in blocks or ((start, end),))
        column = tokens.gold if by_gold else tokens.test
        if not by_gold:
            words = tuple(self.test.words(int(self.alignment.test[sentence])))
        spans = tuple((int(column[first]), int(column[last - 1]) + 1) for first, last in blocks)
        return WordSpan(words, int(column[start]), int(column[end - 1]) + 1, by_gold, spans)

    def _words(self, sentence: int) -> tuple[str, ...]:
        return tuple(self.gold.words(sentence))

    def _tokens(self, sentence: int) -> _Tokens:
        ours = _not_aside(self.gold, sentence, self.alignment.gold_aside)
        deleted = self._deleted[int(self.gold.token_offset[sentence]) + ours]
        partner = int(self.alignment.test[sentence])
        theirs = _not_aside(self.test, partner, self.alignment.test_aside)
        if self.alignment.fit[sentence] == Fit.TOKENS:
            whole = np.ones(int((~deleted).sum()), dtype=np.bool_)
            return _Tokens(ours[~deleted], theirs[~deleted], whole, whole)
        gold_edges = _edges(self.gold.words(sentence), ours, self._form)
        test_edges = _edges(self.test.words(partner), theirs, self._form)
        edges = np.union1d(gold_edges, test_edges)
        of_gold = np.searchsorted(gold_edges, edges[:-1], side="right") - 1
        of_test = np.searchsorted(test_edges, edges[:-1], side="right") - 1
        keep = ~deleted[of_gold]
        begins, ends = gold_edges[of_gold] == edges[:-1], gold_edges[of_gold + 1] == edges[1:]
        return _Tokens(ours[of_gold][keep], theirs[of_test][keep], begins[keep], ends[keep])


def _not_aside(bank: Treebank, sentence: int, aside: Mask | None) -> Int64:
    """The words of a sentence that were aligned, by their numbers; others were set aside."""
    first, last = int(bank.token_offset[sentence]), int(bank.token_offset[sentence + 1])
    if aside is None:
        return np.arange(last - first)
    return np.flatnonzero(~aside[first:last])


def _edges(words: list[str], positions: Int64, form: str) -> Int64:
    """The positions, in characters, where the given words begin and end."""
    numbers: list[int] = positions.tolist()
    return np.cumsum([0, *(len(matched_word(words[number], form)) for number in numbers)])


@dataclass(frozen=True)
class CheckPlan:
    """The choice of brackets: those that the metric counts under a preset; exact matches only if ``exact``.

    ``sample`` limits their number (0: all), and ``seed`` determines the random order. With ``by_sentence``, all brackets of a
    sentence are asked about together, and ``sample`` is a number of sentences. ``match_words`` is that of :func:`treegauge.score`.
    """

    metric: Hogenhout = field(default_factory=Hogenhout)
    preset: Preset = field(default_factory=lambda: load_preset("default"))
    exact: bool = False
    sample: int = 0
    seed: int = 1
    by_sentence: bool = False
    match_words: str = "exact"


class Occurrence(NamedTuple):
    """An occurrence of a bracket: the number of the system, the gold sentence, and the row among that system's brackets."""

    system: int
    sentence: int
    row: int


@dataclass(frozen=True)
class Question:
    """A bracket to be judged, its kind (the reason for asking), its span of words, and all its occurrences."""

    bracket: BracketId
    kind: str
    span: WordSpan
    occurrences: tuple[Occurrence, ...]

    @cached_property
    def key(self) -> str:
        """The short name for URLs."""
        return self.bracket.key

    @property
    def words(self) -> tuple[str, ...]:
        """The words inside the bracket."""
        return self.span.inside


@dataclass(frozen=True)
class System:
    """A parser's output aligned with the treebank; ``question`` is the number of each bracket's question, -1 if it is not of the
    wanted structure."""

    name: str
    bank: Treebank
    pair: Pair
    items: Items
    spans: WordSpans
    counts: Mapping[str, int]
    question: Int64
    names: Sequence[BracketKey]

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on sentences that differ from the treebank's, and the remarks on all of them together."""
        return notes_with_remarks(self.pair, self.spans.gold, self.spans.test)

    def judgements(self, verdict: Callable[[int], Verdict | None]) -> Judgements:
        """The judgements of this system's brackets, given the verdict on each question."""
        verdicts = {number: verdict(number) for number in np.unique(self.question[self.question >= 0]).tolist()}
        numbers: list[int] = self.question.tolist()
        found = ((name, verdicts.get(number)) for name, number in zip(self.names, numbers, strict=True))
        return Judgements({name: answer for name, answer in found if answer is not None})


@dataclass(frozen=True)
class Check:
    """A treebank, parsers' outputs, and all questions about them.

    ``instances[system, kind, question]`` counts the occurrences of a bracket, and ``reproduced[system, question]`` the treebank
    brackets of the wanted structure that it reproduces.
    """

    gold: Treebank
    systems: tuple[System, ...]
    plan: CheckPlan
    questions: tuple[Question, ...]
    instances: Int64
    reproduced: Int64

    @cached_property
    def number(self) -> dict[BracketId, int]:
        """The number of each bracket's question."""
        return {question.bracket: number for number, question in enumerate(self.questions)}

    @cached_property
    def by_key(self) -> dict[str, int]:
        """The number of each question by its short name."""
        return {question.key: number for number, question in enumerate(self.questions)}

    @cached_property
    def of_gold(self) -> dict[str, tuple[int, ...]]:
        """The numbers of all questions about each gold tree, by its hash."""
        found: dict[str, list[int]] = {}
        for number, question in enumerate(self.questions):
            found.setdefault(question.bracket.gold, []).append(number)
        return {gold: tuple(numbers) for gold, numbers in found.items()}

    @cached_property
    def units(self) -> tuple[tuple[int, ...], ...]:
        """The questions of each sentence that could be asked, from left to right; the sentences are in random order."""
        found: dict[tuple[str, str], list[int]] = {}
        for number in self._askable:
            bracket = self.questions[number].bracket
            found.setdefault((bracket.sentence, bracket.gold), []).append(number)
        order = sorted(found, key=lambda unit: BracketId(unit[0], 0, 0, "", unit[1]).rank(self.plan.seed))
        return tuple(tuple(sorted(found[unit], key=self._reading_order)) for unit in order)

    def _reading_order(self, number: int) -> tuple[int, int, str]:
        span = self.questions[number].span
        return span.start, -span.end, self.questions[number].bracket.label

    @cached_property
    def unit_of(self) -> dict[int, int]:
        """The number of the sentence, in the random order of sentences, of each question that could be asked."""
        return {number: index for index, unit in enumerate(self.units) for number in unit}

    @cached_property
    def _askable(self) -> list[int]:
        return [i for i, question in enumerate(self.questions) if question.kind != "EM" or self.plan.exact]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The questions that are asked, in their random order."""
        sample = self.plan.sample
        size = sum(map(len, self.units[:sample])) if self.plan.by_sentence else sample
        numbers: list[int] = (self.ranking[:size] if sample else self.ranking).tolist()
        return tuple(numbers)

    @cached_property
    def ranking(self) -> Int64:
        """All questions that could be asked, in their random order, in the sample or not."""
        if self.plan.by_sentence:
            return np.array([number for unit in self.units for number in unit], dtype=np.int64)
        return np.array(sorted(self._askable, key=lambda i: self.questions[i].bracket.rank(self.plan.seed)), dtype=np.int64)

    @property
    def has_gaps(self) -> bool:
        """Whether some tree of the treebank or of a parser has crossing branches."""
        return not all(bank.is_continuous for bank in (self.gold, *(system.bank for system in self.systems)))

    def systems_with(self, question: Question) -> list[str]:
        """The names of the systems that made a bracket."""
        return [system.name for index, system in enumerate(self.systems) if any(o.system == index for o in question.occurrences)]


def build_check(gold: Treebank, systems: Mapping[str, Treebank], plan: CheckPlan | None = None) -> Check:
    """All questions about some parsers' outputs, in a random order.

    >>> gold = Treebank.parse("(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat)) (PP (P in) (NP (N Ur)))))")
    >>> test = Treebank.parse("(S (NP (D the) (N dog)) (VP (V saw) (NP (NP (D a) (N cat)) (PP (P in) (NP (N Ur))))))")
    >>> check = build_check(gold, {"A": test, "B": test})
    >>> [(question.kind, question.bracket.label, question.words) for question in map(check.questions.__getitem__, check.order)]
    [('SP', 'NP', ('a', 'cat', 'in', 'Ur'))]
    """
    plan = plan or CheckPlan()
    if not systems:
        raise UsageError("a check needs the output of at least one parser")
    finder = _BracketFinder(gold, plan)
    prepared = [finder.add(index, name, bank) for index, (name, bank) in enumerate(systems.items())]
    questions = finder.questions()
    instances, reproduced = _instances(prepared, len(questions), plan.metric.structure)
    return Check(gold, tuple(prepared), plan, questions, instances, reproduced)


class _BracketFinder:
    """A collector of brackets, system by system; it gives each bracket the number of its question."""

    def __init__(self, gold: Treebank, plan: CheckPlan) -> None:
        self.gold, self.plan = gold, plan
        self.preset = plan.metric.preset_for(plan.preset)
        self.bare = without_traces(gold, self.preset)
        self._gold_hash = cache(self._hash_gold)
        self._sentence_hash = cache(sentence_hash)
        self._numbers: dict[BracketId, int] = {}
        self._spans: list[WordSpan] = []
        self._occurrences: list[list[Occurrence]] = []
        self._kinds: list[int] = []

    def add(self, index: int, name: str, bank: Treebank) -> System:
        """The brackets of a system, and the number of each one's question."""
        bare = without_traces(bank, self.preset)
        words = WordNumbers(self.preset, self.plan.match_words)
        pair = pair_of(self.bare, bare, align(self.gold, bank, self.preset, words), self.preset, words)
        items = find_items(pair, self.plan.metric.keep)
        metric = self.plan.metric
        rows = metric.rows(pair)
        counts = {name: int(count) for name, count in zip(metric.columns, total_of(rows), strict=True)}
        spans = WordSpans(self.bare, bare, pair.alignment, self.preset, self.plan.match_words)
        test = items.test.brackets
        chains = items.test.chains(range(test.n_brackets))
        wanted: list[bool] = items.test.labelled(metric.structure).tolist()
        kinds: list[int] = np.where(items.exact, 2, np.where(items.crosses, 0, 1)).tolist()
        brackets = zip(pair.index[test.sentence].tolist(), test.start.tolist(), test.end.tolist(), strict=True)
        blocks = test.blocks_by_row()
        question = np.full(test.n_brackets, -1, dtype=np.int64)
        names: list[BracketKey] = []
        for row, (sentence, start, end) in enumerate(brackets):
            names.append(BracketKey(sentence, start, end, chains[row], blocks.get(row, ())))
            if wanted[row]:
                span = spans.of(sentence, start, end, blocks.get(row, ()))
                question[row] = self._number(span, chains[row], Occurrence(index, sentence, row), kinds[row])
        return System(name, bank, pair, items, spans, counts, question, names)

    def _number(self, span: WordSpan, label: str, occurrence: Occurrence, kind: int) -> int:
        """The number of a bracket's question, which is new unless the bracket was met before."""
        sentence, gold = self._sentence_hash(span.words), self._gold_hash(occurrence.sentence)
        bracket = BracketId(sentence, span.start, span.end, storable(label), gold, blocks_as_text(span.blocks))
        number = self._numbers.setdefault(bracket, len(self._numbers))
        if number == len(self._spans):
            self._spans.append(span)
            self._occurrences.append([])
            self._kinds.append(kind)
        self._occurrences[number].append(occurrence)
        self._kinds[number] = min(self._kinds[number], kind)
        return number

    def _hash_gold(self, sentence: int) -> str:
        return tree_hash(self.gold[sentence])

    def questions(self) -> tuple[Question, ...]:
        """All questions, in the order of their numbers."""
        return tuple(
            Question(bracket, KINDS[self._kinds[number]], self._spans[number], tuple(self._occurrences[number]))
            for bracket, number in self._numbers.items()
        )


def _instances(systems: Sequence[System], n_questions: int, structure: Sequence[str]) -> tuple[Int64, Int64]:
    """The arrays ``instances`` and ``reproduced`` of a :class:`Check`."""
    instances = np.zeros((len(systems), len(KINDS), n_questions), dtype=np.int64)
    reproduced = np.zeros((len(systems), n_questions), dtype=np.int64)
    for index, system in enumerate(systems):
        items, question = system.items, system.question
        asked: NDArray[np.bool_] = question >= 0
        for kind, mask in enumerate((items.crosses & ~items.exact, items.spurious, items.exact)):
            instances[index, kind] = np.bincount(question[mask & asked], minlength=n_questions)
        matched = items.partner[items.gold.labelled(structure) & items.reproduced]
        of_gold = question[matched]
        reproduced[index] = np.bincount(of_gold[of_gold >= 0], minlength=n_questions)
    return instances, reproduced
