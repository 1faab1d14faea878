"""From spans over the words that count to spans over all words: what a person sees, and what the store keeps."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.alignment import Alignment, Fit
from treegauge.metrics.tokens import has_tag
from treegauge.metrics.words import plain_word
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["Place", "Places"]

Mask = NDArray[np.bool_]


class Place(NamedTuple):
    """Words ``start:end`` of a sentence; ``by_gold`` unless an edge cuts a gold word, which only the test words can say."""

    words: tuple[str, ...]
    start: int
    end: int
    by_gold: bool


class _Tokens(NamedTuple):
    """The tokens that count, each as its gold word and its test word, and whether it begins and ends its gold word."""

    gold: Int64
    test: Int64
    begins: Mask
    ends: Mask


class Places:
    """Where the brackets of a comparison stand in the sentences; both treebanks are without traces."""

    def __init__(self, gold: Treebank, test: Treebank, alignment: Alignment, preset: Preset) -> None:
        self.gold, self.test, self.alignment = gold, test, alignment
        self._deleted = has_tag(gold, preset.delete_tags)
        self.tokens = lru_cache(maxsize=4096)(self._tokens)
        self.words = lru_cache(maxsize=4096)(self._words)

    def of(self, sentence: int, start: int, end: int) -> Place:
        """Where the tokens ``start:end`` that count stand in a gold sentence: from the first of them to the last.

        >>> from treegauge.metrics.preparation import prepare
        >>> from treegauge.normalise.preset import load_preset
        >>> bank, preset = Treebank.parse("(S (NP (NN rain)) (, ,) (VP (V fell)))"), load_preset("default")
        >>> places = Places(bank, bank, prepare(bank, bank, preset).alignment, preset)
        >>> places.of(0, 0, 2)
        Place(words=('rain', ',', 'fell'), start=0, end=3, by_gold=True)
        """
        tokens = self.tokens(sentence)
        words = self.words(sentence)
        if start == end:
            at = int(tokens.gold[start]) if start < len(tokens.gold) else len(words)
            return Place(words, at, at, True)
        if tokens.begins[start] and tokens.ends[end - 1]:
            return Place(words, int(tokens.gold[start]), int(tokens.gold[end - 1]) + 1, True)
        partner = int(self.alignment.test[sentence])
        return Place(tuple(self.test.words(partner)), int(tokens.test[start]), int(tokens.test[end - 1]) + 1, False)

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
        gold_edges = _edges(self.gold.words(sentence), ours)
        test_edges = _edges(self.test.words(partner), theirs)
        edges = np.union1d(gold_edges, test_edges)
        of_gold = np.searchsorted(gold_edges, edges[:-1], side="right") - 1
        of_test = np.searchsorted(test_edges, edges[:-1], side="right") - 1
        keep = ~deleted[of_gold]
        begins, ends = gold_edges[of_gold] == edges[:-1], gold_edges[of_gold + 1] == edges[1:]
        return _Tokens(ours[of_gold][keep], theirs[of_test][keep], begins[keep], ends[keep])


def _not_aside(bank: Treebank, sentence: int, aside: Mask | None) -> Int64:
    first, last = int(bank.token_offset[sentence]), int(bank.token_offset[sentence + 1])
    if aside is None:
        return np.arange(last - first)
    return np.flatnonzero(~aside[first:last])


def _edges(words: list[str], kept: Int64) -> Int64:
    numbers: list[int] = kept.tolist()
    return np.cumsum([0, *(len(plain_word(words[number])) for number in numbers)])
