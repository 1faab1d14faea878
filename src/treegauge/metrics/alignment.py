"""Which test sentence belongs to which gold sentence, and which of its tokens to which.

Escapes and quotation marks are normalised. Sentences pair by order where their text agrees, else by finding the same text
elsewhere. Within a pair, equal tokens align one to one; other tokens over the same text align by character offsets; where
the text itself differs or there is no parse, nothing aligns, and the sentence is listed.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int32, Int64, Treebank

__all__ = ["Alignment", "Fit", "Note", "align", "plain_word", "word_numbers"]


class Fit(IntEnum):
    """How a gold sentence and its test sentence fit together."""

    TOKENS = 0
    CHARACTERS = 1
    TEXT_DIFFERS = 2
    NO_PARSE = 3
    MISSING = 4


@dataclass(frozen=True)
class Note:
    """Something to tell about one sentence (numbered from 0; -1 for a test sentence without a gold one)."""

    sentence: int
    kind: str
    text: str


@dataclass(frozen=True)
class Alignment:
    """For each gold sentence its test sentence (-1: none) and how the two fit; test sentences that belong to none."""

    test: Int64
    fit: Int64
    extra: tuple[int, ...]
    notes: tuple[Note, ...] = field(default=())

    @property
    def is_identity(self) -> bool:
        """Whether sentence i belongs to sentence i and all tokens are the same."""
        return not self.fit.any() and bool((self.test == np.arange(len(self.test))).all())


_PLAIN = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'",
}  # fmt: skip


def plain_word(word: str) -> str:
    r"""A word without the escapes and quotation styles in which treebanks and parsers differ.

    >>> plain_word("-LCB-"), plain_word(r"1\/2"), plain_word("``"), plain_word("don’t")
    ('{', '1/2', '"', "don't")
    """
    if word.isalnum():
        return word
    for written, plain in _PLAIN.items():
        if written in word:
            word = word.replace(written, plain)
    return word.replace("\\/", "/").replace("\\*", "*")


def align(gold: Treebank, test: Treebank, preset: Preset, *, ignore_words: bool = False) -> Alignment:
    """Pair the sentences and tokens of two treebanks.

    With ``ignore_words``, sentences of equally many tokens fit whatever their words are.
    """
    gold_words, test_words = word_numbers(gold, test, preset)
    if len(gold) == len(test):
        pairs = np.arange(len(gold))
        fit = _fits(gold, test, pairs, gold_words, test_words, ignore_words)
        if not (fit == Fit.TEXT_DIFFERS).any():
            return _alignment(gold, test, pairs, fit)
    pairs = _pair_by_text(gold, test)
    fit = _fits(gold, test, pairs, gold_words, test_words, ignore_words)
    return _alignment(gold, test, pairs, fit)


def word_numbers(gold: Treebank, test: Treebank, preset: Preset) -> tuple[Int32, Int32]:
    """Numbers for both vocabularies, equal where the plain words are."""
    equal = dict(preset.equal_words)
    numbers: dict[str, int] = {}

    def number(word: str) -> int:
        plain = plain_word(word)
        return numbers.setdefault(equal.get(plain, plain), len(numbers))

    gold_words = np.array([number(word) for word in gold.vocabulary] or [0], dtype=np.int32)
    if test.vocabulary is gold.vocabulary:
        return gold_words, gold_words
    return gold_words, np.array([number(word) for word in test.vocabulary] or [0], dtype=np.int32)


def _fits(gold: Treebank, test: Treebank, pairs: Int64, gold_words: Int32, test_words: Int32, ignore_words: bool) -> Int64:
    fit = np.full(len(gold), int(Fit.MISSING), dtype=np.int64)
    paired = np.flatnonzero(pairs >= 0)
    n_gold = np.diff(gold.token_offset)[paired]
    n_test = np.diff(test.token_offset)[pairs[paired]]
    equally_many = n_gold == n_test
    same = equally_many.copy()
    if not ignore_words:
        candidates = paired[equally_many]
        gold_tokens = _token_rows(gold, candidates)
        test_tokens = _token_rows(test, pairs[candidates])
        differs = gold_words[gold.word[gold_tokens]] != test_words[test.word[test_tokens]]
        ends = np.cumsum(n_gold[equally_many])
        wrong = np.append(0, np.cumsum(differs))
        same[equally_many] = wrong[ends] == wrong[ends - n_gold[equally_many]]
    fit[paired[same]] = Fit.TOKENS
    for index in np.flatnonzero(~same).tolist():
        sentence = int(paired[index])
        if n_test[index] == 0:
            fit[sentence] = Fit.NO_PARSE
        elif _text(gold, sentence) == _text(test, int(pairs[sentence])):
            fit[sentence] = Fit.CHARACTERS
        else:
            fit[sentence] = Fit.TEXT_DIFFERS
    return fit


def _token_rows(bank: Treebank, sentences: Int64) -> Int64:
    """The token rows of some sentences, one after the other."""
    first = bank.token_offset[sentences]
    count = bank.token_offset[sentences + 1] - first
    return np.repeat(first - np.append(0, np.cumsum(count)[:-1]), count) + np.arange(int(count.sum()))


def _text(bank: Treebank, sentence: int) -> str:
    return "".join(plain_word(word) for word in bank.words(sentence))


def _pair_by_text(gold: Treebank, test: Treebank) -> Int64:
    """For each gold sentence the test sentence with its text, in order; equally long runs between pair up too."""
    gold_texts = [_text(gold, i) for i in range(len(gold))]
    test_texts = [_text(test, i) for i in range(len(test))]
    pairs = np.full(len(gold), -1, dtype=np.int64)
    matcher = difflib.SequenceMatcher(None, gold_texts, test_texts, autojunk=False)
    for _, gold_first, gold_last, test_first, test_last in matcher.get_opcodes():
        if gold_last - gold_first == test_last - test_first:
            pairs[gold_first:gold_last] = np.arange(test_first, test_last)
    return pairs


def _alignment(gold: Treebank, test: Treebank, pairs: Int64, fit: Int64) -> Alignment:
    used = np.zeros(len(test), dtype=np.bool_)
    used[pairs[pairs >= 0]] = True
    extra = tuple(np.flatnonzero(~used).tolist())
    notes = [_note(gold, test, i, int(pairs[i]), Fit(int(fit[i]))) for i in np.flatnonzero(fit).tolist()]
    notes += [
        Note(-1, "extra", f"{test.place(i)}: this test sentence has no gold sentence and is left out: {_shown(test, i)}")
        for i in extra
    ]
    return Alignment(pairs, fit, extra, tuple(notes))


def _note(gold: Treebank, test: Treebank, sentence: int, partner: int, fit: Fit) -> Note:
    where = gold.place(sentence)
    if fit == Fit.CHARACTERS:
        return Note(sentence, "characters", f"{where}: other tokens over the same text, aligned by characters")
    if fit == Fit.NO_PARSE:
        return Note(sentence, "no-parse", f"{where}: no parse; its brackets count as missed")
    if fit == Fit.MISSING:
        text = f"{where}: no test sentence; its brackets count as missed: {_shown(gold, sentence)}"
        return Note(sentence, "missing", text)
    gold_words, test_words = gold.words(sentence), test.words(partner)
    first = next(
        (i for i, (g, t) in enumerate(zip(gold_words, test_words, strict=False)) if plain_word(g) != plain_word(t)),
        min(len(gold_words), len(test_words)),
    )
    ours, theirs = _word_at(gold_words, first), _word_at(test_words, first)
    return Note(
        sentence,
        "text-differs",
        f"{where}: the words differ ({ours} in gold, {theirs} at {test.place(partner)}); its brackets count as missed",
    )


def _word_at(words: list[str], index: int) -> str:
    return f"word {index + 1} is {words[index]!r}" if index < len(words) else f"the sentence ends after {len(words)} words"


def _shown(bank: Treebank, sentence: int) -> str:
    words = " ".join(bank.words(sentence))
    return words if len(words) <= 60 else words[:57] + "..."
