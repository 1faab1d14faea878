"""Alignment: the test sentence of each gold sentence, and how well their tokens match.

Sentences are paired by order. If that cannot be right, because their numbers differ or a text occurs at another position, they are
paired by text (:func:`pair_in_order`): texts that occur once on each side are anchors, as in the patience diff, and the stretches
between anchors are paired in the same way. Where no text is unique, the k-th occurrence on one side is paired with the k-th on the
other. A short stretch is paired optimally, by its longest common subsequence; nothing else takes quadratic time.

Within a pair of sentences, equal tokens are aligned one to one; failing that, so are the tokens that each side keeps by its own
tags (a parser may leave out punctuation). Different tokens over the same text are aligned by character offsets. If the sides differ
only in tokens that one deletes and the other lacks (it may leave out commas and keep ``$``), all others are aligned. If the text
itself differs, the tokens that both have are aligned on request, by edit distance. Each sentence that does not match token by token
gets a note.

In edit distance inserting or deleting a token costs 1, and a token is never replaced: two words that differ are one deletion and
one insertion. So the cheapest alignment shares the most tokens (a longest common subsequence: Myers 1986, An O(ND) difference
algorithm and its variations, section 1); among equally cheap ones, the one that shares the earliest tokens is taken.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from treegauge.alignment.notes import (
    LEFT_OUT,
    MISSED,
    Note,
    TaggedWords,
    cause_of_difference,
    hidden_word,
    kept_trace,
    trace_as_word,
)
from treegauge.alignment.words import WordNumbers, is_deleted, letters, sentence_text, without_traces
from treegauge.presets import Preset
from treegauge.presets.treebanks import TRACES
from treegauge.tables import number_of
from treegauge.trees.treebank import Int32, Int64, Mask, Treebank

_SHORT = 10_000
"""The largest number of pairs of texts in a short stretch, where all pairs are compared."""

Stretch = tuple[int, int, int, int]
"""A stretch of gold texts and one of test texts: first and last of gold, first and last of test."""


def pair_in_order(gold: Sequence[Hashable], test: Sequence[Hashable]) -> list[int]:
    """For each gold text the position of its test text, or -1; positions increase.

    Between two pairs of equal texts, gold and test texts without a partner are paired too if they are equally many: they were
    replaced.

    >>> pair_in_order("abcd", "bcd"), pair_in_order("abcd", "abxd"), pair_in_order("abc", "abbc")
    ([-1, 0, 1, 2], [0, 1, 2, 3], [0, 1, 3])
    """
    pairs = [-1] * len(gold)
    stretches: list[Stretch] = [(0, len(gold), 0, len(test))]
    while stretches:
        g0, g1, t0, t1 = stretches.pop()
        while g0 < g1 and t0 < t1 and gold[g0] == test[t0]:
            pairs[g0] = t0
            g0, t0 = g0 + 1, t0 + 1
        while g0 < g1 and t0 < t1 and gold[g1 - 1] == test[t1 - 1]:
            g1, t1 = g1 - 1, t1 - 1
            pairs[g1] = t1
        if g0 == g1 or t0 == t1:
            continue
        is_short = (g1 - g0) * (t1 - t0) <= _SHORT
        anchors = (_common_subsequence if is_short else _anchors)(gold, test, (g0, g1, t0, t1))
        if anchors:
            ends = [(g0 - 1, t0 - 1), *anchors, (g1, t1)]
            for (g, t), (next_g, next_t) in pairwise(ends):
                stretches.append((g + 1, next_g, t + 1, next_t))
            for g, t in anchors:
                pairs[g] = t
        elif g1 - g0 == t1 - t0:
            pairs[g0:g1] = range(t0, t1)
    return pairs


def _anchors(gold: Sequence[Hashable], test: Sequence[Hashable], stretch: Stretch) -> list[tuple[int, int]]:
    """Pairs of equal texts in the order of both sides; empty only if no text occurs on both sides."""
    g0, g1, t0, t1 = stretch
    places: defaultdict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for g in range(g0, g1):
        places[gold[g]][0].append(g)
    for t in range(t0, t1):
        if test[t] in places:
            places[test[t]][1].append(t)
    unique = [(ours[0], theirs[0]) for ours, theirs in places.values() if len(ours) == len(theirs) == 1]
    if unique:
        return _longest_increasing(unique)
    return _longest_increasing([pair for ours, theirs in places.values() for pair in zip(ours, theirs, strict=False)])


def _common_subsequence(gold: Sequence[Hashable], test: Sequence[Hashable], stretch: Stretch) -> list[tuple[int, int]]:
    """Pairs of equal texts in the order of both sides, as many as there can be."""
    g0, g1, t0, t1 = stretch
    ours, theirs = shared_tokens(np.array([[text == other for other in test[t0:t1]] for text in gold[g0:g1]]))
    return list(zip((ours + g0).tolist(), (theirs + t0).tolist(), strict=True))


def _longest_increasing(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The largest subset of the pairs in which both positions increase."""
    pairs.sort()
    smallest_end: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(smallest_end, place)
        before.append(chosen[length - 1] if length else -1)
        smallest_end[length : length + 1] = [place]
        chosen[length : length + 1] = [index]
    longest: list[tuple[int, int]] = []
    index = chosen[-1] if chosen else -1
    while index >= 0:
        longest.append(pairs[index])
        index = before[index]
    return longest[::-1]


LARGEST_TABLE = 1 << 24
"""The largest table of token pairs that is computed; real sentences need less, and longer ones are not aligned."""


def shared_tokens(same: Mask) -> tuple[Int64, Int64]:
    """The positions of the shared tokens, in gold and in test; ``same[i, k]`` tells whether gold token i equals test token k.

    >>> gold, test = "the dog barked loudly".split(), "a dog has barked".split()
    >>> same = np.array([[ours == theirs for theirs in test] for ours in gold])
    >>> [places.tolist() for places in shared_tokens(same)]
    [[1, 2], [1, 3]]
    """
    n_gold, n_test = same.shape
    # most[i, k]: how many tokens can be shared from gold token i and test token k on.
    most = np.zeros((n_gold + 1, n_test + 1), dtype=np.int32)
    for i in range(n_gold - 1, -1, -1):
        best = np.where(same[i], most[i + 1, 1:] + 1, most[i + 1, :-1])
        # Test tokens may be skipped, so the best from k on is a running maximum from the right.
        most[i, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    gold: list[int] = []
    test: list[int] = []
    i = k = 0
    while i < n_gold and k < n_test:
        if same[i, k] and most[i, k] > most[i + 1, k + 1]:
            gold.append(i)
            test.append(k)
            i, k = i + 1, k + 1
        elif most[i, k] == most[i + 1, k]:
            i += 1
        else:
            k += 1
    return np.array(gold, dtype=np.int64), np.array(test, dtype=np.int64)


class Fit(IntEnum):
    """The ways in which a gold sentence and its test sentence match, or do not."""

    TOKENS = 0
    CHARACTERS = 1
    EDITED = 2
    TEXT_DIFFERS = 3
    NO_PARSE = 4
    MISSING = 5


class Alignment(NamedTuple):
    """For each gold sentence its ``test`` sentence (-1: none) and their :class:`Fit`; ``extra`` are the other test sentences.

    ``gold_aside`` and ``test_aside`` mark tokens that are left out of the comparison because only one side has them (None: there
    are none). ``shared`` has, for each gold sentence whose words were aligned by edit distance, the positions of the tokens that
    both sides have, in gold and in test; if there are none, the fit of the sentence is TEXT_DIFFERS.
    """

    test: Int64
    fit: Int64
    extra: tuple[int, ...] = ()
    notes: tuple[Note, ...] = ()
    gold_aside: Mask | None = None
    test_aside: Mask | None = None
    shared: Mapping[int, tuple[Int64, Int64]] = MappingProxyType({})

    @property
    def is_identity(self) -> bool:
        """Whether gold sentence i is paired with test sentence i, and all tokens that are compared are the same."""
        in_order = bool((self.test == np.arange(len(self.test))).all())
        return in_order and not self.fit.any()


def align(gold: Treebank, test: Treebank, preset: Preset, words: WordNumbers | None = None, *, edit: bool = False) -> Alignment:
    """Pair the sentences and tokens of two treebanks; traces are ignored.

    ``words`` decides which words are the same; with ``edit``, sentences whose words differ are aligned by edit distance.
    """
    words, whole = words or WordNumbers(preset), (gold, test)
    gold, test = without_traces(gold, preset), without_traces(test, preset)
    if len(gold) == len(test):
        alignment = align_pairs(gold, test, np.arange(len(gold)), preset, words, edit=edit, with_traces=whole)
        if not is_displaced(differing_texts(gold, test, alignment, words.match_words)):
            return alignment
    pairs = pairs_by_text(gold, test, words.match_words)
    return align_pairs(gold, test, pairs, preset, words, edit=edit, with_traces=whole)


def align_pairs(
    gold: Treebank,
    test: Treebank,
    pairs: Int64,
    preset: Preset,
    words: WordNumbers,
    *,
    edit: bool = False,
    with_traces: tuple[Treebank, Treebank] | None = None,
) -> Alignment:
    """Align the tokens of each gold sentence i with those of test sentence ``pairs[i]`` (-1: none).

    Both treebanks are without traces; ``with_traces`` are the same treebanks with them, for notes on tags that make words differ.
    """
    return _Aligner(gold, test, preset, words, edit, with_traces or (gold, test)).align(pairs)


def pairs_by_text(gold: Treebank, test: Treebank, match_words: str = "exact") -> Int64:
    """For each gold sentence the test sentence with its text, in order, or -1; see :func:`pair_in_order`."""
    ours, theirs = ([_text(bank, i, match_words) for i in range(len(bank))] for bank in (gold, test))
    return np.array(pair_in_order(ours, theirs), dtype=np.int64)


def differing_texts(gold: Treebank, test: Treebank, alignment: Alignment, match_words: str = "exact") -> list[tuple[str, str]]:
    """The identifying texts, gold and test, of the pairs of sentences whose words differ."""
    differs = (alignment.fit == Fit.TEXT_DIFFERS) | (alignment.fit == Fit.EDITED)
    return [
        (_text(gold, i, match_words), _text(test, int(alignment.test[i]), match_words)) for i in np.flatnonzero(differs).tolist()
    ]


def _text(bank: Treebank, sentence: int, match_words: str) -> str:
    return letters(sentence_text(bank.words(sentence), match_words))


def is_displaced(texts: Sequence[tuple[str, str]]) -> bool:
    """Whether a gold text is paired with another text while its own occurs elsewhere in test.

    >>> is_displaced([("Itrained", "Goaway"), ("Goaway", "Hello")]), is_displaced([("Itrained", "Itrains")])
    (True, False)
    """
    different = [(ours, theirs) for ours, theirs in texts if ours != theirs]
    return not {ours for ours, _ in different}.isdisjoint(theirs for _, theirs in different)


class _Aligner:
    """Two treebanks whose sentences are to be aligned, and what is found on the way."""

    def __init__(
        self, gold: Treebank, test: Treebank, preset: Preset, words: WordNumbers, edit: bool, whole: tuple[Treebank, Treebank]
    ) -> None:
        self._with_traces, self._traces = whole, preset.delete_tags & preset.delete_tags_for_length
        self.gold, self.test, self.match_words, self.edit = gold, test, words.match_words, edit
        self.gold_words, self.test_words = words.of(gold.vocabulary), words.of(test.vocabulary)
        self.gold_unknown, self.test_unknown = words.is_unknown(gold.vocabulary), words.is_unknown(test.vocabulary)
        self.has_unknown = bool(self.gold_unknown.any() or self.test_unknown.any())
        self._preset = preset
        self._problems = test.problems()
        self.shared: dict[int, tuple[Int64, Int64]] = {}
        self.gold_aside = np.zeros(gold.n_tokens, dtype=np.bool_)
        self.test_aside = np.zeros(test.n_tokens, dtype=np.bool_)

    @cached_property
    def gold_deleted(self) -> Mask:
        return is_deleted(self.gold, self._preset)

    @cached_property
    def test_deleted(self) -> Mask:
        return is_deleted(self.test, self._preset)

    def align(self, pairs: Int64) -> Alignment:
        """The alignment of each gold sentence with test sentence ``pairs[i]``."""
        fit = self._fits(pairs)
        used = np.zeros(len(self.test), dtype=np.bool_)
        used[pairs[pairs >= 0]] = True
        extra: tuple[int, ...] = tuple(np.flatnonzero(~used).tolist())
        notes = [self._note(i, int(pairs[i]), Fit(int(fit[i]))) for i in np.flatnonzero(fit).tolist()]
        notes += self._repair_notes(pairs)
        notes += [self._extra_note(i) for i in extra]
        if self.gold_aside.any() or self.test_aside.any():
            return Alignment(pairs, fit, extra, tuple(notes), self.gold_aside, self.test_aside, self.shared)
        return Alignment(pairs, fit, extra, tuple(notes), shared=self.shared)

    def _fits(self, pairs: Int64) -> Int64:
        fit = np.full(len(pairs), int(Fit.MISSING), dtype=np.int64)
        paired = np.flatnonzero(pairs >= 0)
        parsed = np.diff(self.test.token_offset)[pairs[paired]] > 0
        fit[paired[~parsed]] = Fit.NO_PARSE
        same = self._same_tokens(paired, pairs[paired], with_deleted=True) & parsed
        fit[paired[same]] = Fit.TOKENS
        rest = paired[~same & parsed]
        if len(rest):
            same = self._same_tokens(rest, pairs[rest], with_deleted=False)
            self._set_aside(rest[same], pairs[rest[same]])
            fit[rest[same]] = Fit.TOKENS
            for sentence in rest[~same].tolist():
                fit[sentence] = self._fit_of_text(sentence, int(pairs[sentence]))
        return fit

    def _same_tokens(self, gold: Int64, test: Int64, *, with_deleted: bool) -> Mask:
        """A mask of the pairs of sentences with the same tokens, including the deleted ones or not."""
        ours, n_gold = _words_of(self.gold, gold, None if with_deleted else self.gold_deleted)
        theirs, n_test = _words_of(self.test, test, None if with_deleted else self.test_deleted)
        same = n_gold == n_test
        if self.match_words == "length":
            return same
        if not same.all():
            ours, theirs = ours[np.repeat(same, n_gold)], theirs[np.repeat(same, n_test)]
        wrong = np.flatnonzero(~self._are_same(ours, theirs))
        if len(wrong):
            last = np.cumsum(n_gold[same])
            same[np.flatnonzero(same)[np.searchsorted(last, wrong, side="right")]] = False
        return same

    def _are_same(self, ours: Int32, theirs: Int32) -> Mask:
        """A mask of the pairs of words that are the same."""
        same = self.gold_words.take(ours) == self.test_words.take(theirs)
        return same | self.gold_unknown.take(ours) | self.test_unknown.take(theirs) if self.has_unknown else same

    def _fit_of_text(self, sentence: int, partner: int) -> Fit:
        """The fit of two sentences with different tokens: by all their characters, or by those of their kept tokens."""
        ours, theirs = self._plain_text(self.gold.words(sentence)), self._plain_text(self.test.words(partner))
        if ours == theirs:
            return Fit.CHARACTERS
        if self._plain_text(self._kept_words(self.gold, sentence)) == self._plain_text(self._kept_words(self.test, partner)) != "":
            self._set_aside(np.array([sentence]), np.array([partner]))
            return Fit.CHARACTERS
        if self._first_difference(sentence, partner) is None:
            return Fit.TOKENS
        return self._fit_by_edits(sentence, partner) if self.edit else Fit.TEXT_DIFFERS

    def _first_difference(self, sentence: int, partner: int) -> tuple[int, int] | None:
        """The places of the first words that differ; None if the sides differ only in words that one deletes and the other lacks.

        These words are then left out of the comparison.
        """
        (first, last), (start, end) = (
            bank.token_offset[number : number + 2].tolist() for bank, number in ((self.gold, sentence), (self.test, partner))
        )
        i, k = place = first, start
        gold_only: list[int] = []
        test_only: list[int] = []
        while i < last or k < end:
            if i < last and k < end and self._are_same(self.gold.word[i : i + 1], self.test.word[k : k + 1])[0]:
                i, k = place = i + 1, k + 1
            elif self.match_words != "length" and i < last and self.gold_deleted[i]:
                gold_only.append(i)
                i += 1
            elif self.match_words != "length" and k < end and self.test_deleted[k]:
                test_only.append(k)
                k += 1
            else:
                i, k = (i, k) if i < last and k < end else place
                return i - first, k - start
        self.gold_aside[gold_only] = self.test_aside[test_only] = True
        return None

    def _plain_text(self, words: list[str]) -> str:
        return sentence_text(words, self.match_words)

    def _fit_by_edits(self, sentence: int, partner: int) -> Fit:
        """The fit of two sentences by the tokens that both have."""
        ours, theirs = (
            bank.word[bank.token_offset[number] : bank.token_offset[number + 1]]
            for bank, number in ((self.gold, sentence), (self.test, partner))
        )
        if len(ours) * len(theirs) > LARGEST_TABLE:
            return Fit.TEXT_DIFFERS
        same = self._are_same(np.repeat(ours, len(theirs)), np.tile(theirs, len(ours))).reshape(len(ours), len(theirs))
        self.shared[sentence] = shared_tokens(same)
        return Fit.EDITED if len(self.shared[sentence][0]) else Fit.TEXT_DIFFERS

    def _kept_words(self, bank: Treebank, sentence: int) -> list[str]:
        deleted = self.gold_deleted if bank is self.gold else self.test_deleted
        first, last = int(bank.token_offset[sentence]), int(bank.token_offset[sentence + 1])
        return [word for word, left_out in zip(bank.words(sentence), deleted[first:last].tolist(), strict=True) if not left_out]

    def _set_aside(self, gold: Int64, test: Int64) -> None:
        """Leave the deleted tokens of these sentences out of the comparison."""
        for bank, sentences, deleted, aside in (
            (self.gold, gold, self.gold_deleted, self.gold_aside),
            (self.test, test, self.test_deleted, self.test_aside),
        ):
            rows, _ = _token_rows(bank, sentences, ~deleted)
            aside[rows] = True

    def _note(self, sentence: int, partner: int, fit: Fit) -> Note:
        place = self.gold.place(sentence)
        if fit == Fit.CHARACTERS:
            return Note(sentence, "characters", place, "same text, different tokenisation", "its tokens are aligned by characters")
        if fit == Fit.NO_PARSE and (problem := self._problems.get(partner)) is not None:
            return Note(sentence, "broken", problem.place, problem.reason, MISSED, "unrepaired" if problem.may_repair else "")
        if fit == Fit.NO_PARSE:
            return Note(sentence, "no-parse", place, "no parse", MISSED)
        if fit == Fit.MISSING:
            return Note(sentence, "missing", place, f"no test sentence for {_excerpt(self.gold, sentence)!r}", MISSED)
        return self._difference(sentence, partner)

    def _difference(self, sentence: int, partner: int) -> Note:
        """The note on two sentences whose words differ."""
        gold, test = self.gold.words(sentence), self.test.words(partner)
        hidden = _on_traces(hidden_word, self._with_traces, (sentence, partner), self._traces)
        what, cause = hidden or trace_as_word(gold, test, self.test.tags(partner)), "tags"
        if not what:
            what, cause = _on_traces(kept_trace, (self.gold, self.test), (sentence, partner), TRACES - self._traces), "traces"
        if not what:
            ours, theirs = self._first_difference(sentence, partner) or (0, 0)
            what = f"the words differ ({_word_at(gold, ours)} in gold, {_word_at(test, theirs)} at {self.test.place(partner)})"
            kept = self._kept_words(self.gold, sentence), self._kept_words(self.test, partner)
            cause = cause_of_difference(gold, test) or cause_of_difference(*kept) if self.match_words == "exact" else ""
        place = self.gold.place(sentence)
        if sentence not in self.shared:
            too_long = self.edit and len(gold) * len(test) > LARGEST_TABLE
            what += f"; {len(gold):,} and {len(test):,} words are too many to align by edit distance" if too_long else ""
            return Note(sentence, "text-differs", place, what, MISSED, cause)
        n_shared = len(self.shared[sentence][0])
        said = f"aligned by edit distance: {n_shared} of {len(gold)} gold and {len(test)} test words are shared"
        return Note(sentence, "edited", place, what, said, cause)

    def _repair_notes(self, pairs: Int64) -> Iterator[Note]:
        """A note for each gold sentence whose parse had to be repaired."""
        repaired = {number: problem for number, problem in self._problems.items() if problem.repairs}
        for sentence, partner in enumerate(pairs.tolist() if repaired else ()):
            if partner in repaired:
                problem = repaired[partner]
                yield Note(sentence, "repaired", problem.place, problem.reason, f"repaired: {', '.join(problem.repairs)}")

    def _extra_note(self, sentence: int) -> Note:
        if (problem := self._problems.get(sentence)) is not None and not problem.repairs:
            what, cause = f"{problem.reason}; no matching gold sentence", "unrepaired" if problem.may_repair else ""
            return Note(-1, "broken", problem.place, what, LEFT_OUT, cause)
        text = _excerpt(self.test, sentence)
        what = f"no gold sentence for the test sentence {text!r}" if text else "no gold sentence for an empty parse"
        return Note(-1, "extra", self.test.place(sentence), what, LEFT_OUT)


def _on_traces(
    phrase: Callable[[TaggedWords, TaggedWords], str],
    banks: tuple[Treebank, Treebank],
    sentences: tuple[int, int],
    traces: frozenset[str],
) -> str:
    """A phrase about two sentences whose words differ because of traces; empty if no tag of a trace occurs, or they are not why."""
    if all(traces.isdisjoint(bank.labels) for bank in banks):
        return ""
    return phrase(*(TaggedWords(bank.words(i), bank.tags(i), traces) for bank, i in zip(banks, sentences, strict=True)))


def _words_of(bank: Treebank, sentences: Int64, left_out: Mask | None) -> tuple[Int32, Int64]:
    """The words of some sentences, one sentence after the other, without those left out; and the number of words of each."""
    if left_out is None and len(sentences) == len(bank) and bool((sentences == np.arange(len(bank))).all()):
        return bank.word, np.diff(bank.token_offset)
    rows, counts = _token_rows(bank, sentences, left_out)
    return bank.word.take(rows), counts


def _token_rows(bank: Treebank, sentences: Int64, left_out: Mask | None) -> tuple[Int64, Int64]:
    """The token rows of some sentences, one sentence after the other, without those left out; and the number of rows of each."""
    first = bank.token_offset[sentences]
    count = bank.token_offset[sentences + 1] - first
    end = np.cumsum(count)
    rows = np.repeat(first - (end - count), count) + np.arange(int(count.sum()))
    if left_out is None:
        return rows, count
    stays = ~left_out[rows]
    total = np.append(0, np.cumsum(stays))
    return rows[stays], total[end] - total[end - count]


def _word_at(words: list[str], index: int) -> str:
    if index < len(words):
        return f"word {index + 1} is {words[index]!r}"
    return f"the sentence ends after {number_of(len(words), 'word')}"


def _excerpt(bank: Treebank, sentence: int) -> str:
    words = " ".join(bank.words(sentence))
    return words if len(words) <= 60 else words[:57] + "..."
