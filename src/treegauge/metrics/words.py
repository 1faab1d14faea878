"""When two words are the same: without the escapes and quotation styles in which treebanks and parsers differ."""

from __future__ import annotations

import numpy as np

from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int32, Treebank

__all__ = ["letters", "plain_word", "sentence_text", "word_numbers"]

_PLAIN = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'",
    "\\/": "/", "\\*": "*",
}  # fmt: skip


def plain_word(word: str) -> str:
    r"""A word without escapes, and with quotation marks of one kind.

    >>> plain_word("-LCB-"), plain_word(r"1\/2"), plain_word("``"), plain_word("don’t")
    ('{', '1/2', '"', "don't")
    """
    if word.isalnum():
        return word
    for written, plain in _PLAIN.items():
        if written in word:
            word = word.replace(written, plain)
    return word


def sentence_text(words: list[str]) -> str:
    """The characters of a sentence, however it is cut into words.

    >>> sentence_text(["ca", "n’t"]) == sentence_text(["can", "'t"])
    True
    """
    return "".join(map(plain_word, words))


def letters(text: str) -> str:
    """What a sentence is recognised by: its letters and digits, or all of it if it has none."""
    return "".join(filter(str.isalnum, text)) or text


def word_numbers(gold: Treebank, test: Treebank, preset: Preset) -> tuple[Int32, Int32]:
    """Numbers for both vocabularies, equal where the plain words are, or where the preset takes them as equal."""
    numbers: dict[str, int] = {}
    for word, other in _representatives(preset.equal_words).items():
        numbers[word] = numbers.setdefault(other, len(numbers))

    def numbered(vocabulary: tuple[str, ...]) -> Int32:
        return np.array([numbers.setdefault(plain_word(word), len(numbers)) for word in vocabulary] or [0], dtype=np.int32)

    gold_words = numbered(gold.vocabulary)
    return gold_words, gold_words if test.vocabulary is gold.vocabulary else numbered(test.vocabulary)


def _representatives(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """One word for all that are equal, through any number of pairs.

    >>> _representatives((("a", "b"), ("b", "c")))
    {'a': 'a', 'b': 'a', 'c': 'a'}
    """
    groups: dict[str, set[str]] = {}
    for pair in pairs:
        first, second = map(plain_word, pair)
        joined = groups.get(first, {first}) | groups.get(second, {second})
        for word in joined:
            groups[word] = joined
    return {word: min(group) for word, group in groups.items()}
