"""Brackets identified by their content: the words of the sentence, a span over them, a label, and the gold tree.

So judgements outlive files, parsers and runs. A span is over all words, punctuation included, and does not depend on what a preset
leaves out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treegauge.alignment.alignment import Alignment, Fit
from treegauge.alignment.words import is_deleted, matched_word
from treegauge.presets import Preset
from treegauge.trees.tree import Tree, to_flat
from treegauge.trees.treebank import Int64, Mask, Treebank

# What PostgreSQL cannot hold in text, and no reader of a label can see.
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class BracketId(NamedTuple):
    """A bracket by its content: the hash of its sentence, a span, a label, and the hash of the gold tree it was compared with.

    The words are those of the gold tree without traces, punctuation included. The same text can occur twice in a treebank with
    different analyses; the hash of the gold tree tells them apart. ``blocks`` are the spans of a bracket with gaps, as in
    ``0-1 3-5``.
    """

    sentence: str
    start: int
    end: int
    label: str
    gold: str
    blocks: str = ""

    @property
    def key(self) -> str:
        """A short name, for URLs."""
        return hashlib.sha256(repr(self._content).encode()).hexdigest()[:24]

    @property
    def _content(self) -> tuple[object, ...]:
        """All fields, but no ``blocks`` if there are no gaps, so that keys and ranks are the same as in older versions."""
        return tuple(self) if self.blocks else tuple(self[:5])

    def words(self, sentence: Sequence[str]) -> list[str]:
        """The words inside the bracket, with a mark where it has a gap."""
        return words_inside(sentence, self.start, self.end, read_blocks(self.blocks))

    def rank(self, seed: int) -> bytes:
        """The rank in the random order of a seed.

        It depends on the bracket alone: a bracket that comes before another for one parser does so for every other, too. So the
        brackets judged so far stay a random sample of all, however often parsers are run again.
        """
        return hashlib.sha256(f"{seed} {self._content!r}".encode()).digest()


WordBlocks = tuple[tuple[int, int], ...]

_BLOCKS = re.compile(r"\d{1,9}-\d{1,9}(?: \d{1,9}-\d{1,9})+")


def blocks_as_text(blocks: WordBlocks) -> str:
    """Blocks as text, the form in which a :class:`BracketId` holds them.

    >>> blocks_as_text(((0, 1), (3, 5)))
    '0-1 3-5'
    """
    return " ".join(f"{start}-{end}" for start, end in blocks)


def read_blocks(text: str) -> WordBlocks:
    """Blocks from their text; raises :class:`ValueError` if it is malformed, or if the blocks are not apart and from left to right.

    >>> read_blocks("0-1 3-5"), read_blocks("")
    (((0, 1), (3, 5)), ())
    """
    if not text:
        return ()
    if not _BLOCKS.fullmatch(text):
        raise ValueError(f"the blocks {text!r} are not written as 0-1 3-5")
    edges = [int(number) for block in text.split(" ") for number in block.split("-")]
    if any(first >= second for first, second in pairwise(edges)):
        raise ValueError(f"the blocks {text!r} do not stand apart from left to right")
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def words_inside(words: Sequence[str], start: int, end: int, blocks: WordBlocks) -> list[str]:
    """The words of a bracket, with a mark where it has a gap.

    >>> words_inside("Wen hat sie gesehen".split(), 0, 4, ((0, 1), (3, 4)))
    ['Wen', '…', 'gesehen']
    """
    inside = list(words[start : blocks[0][1] if blocks else end])
    for first, last in blocks[1:]:
        inside += ["…", *words[first:last]]
    return inside


def sentence_hash(words: Sequence[str]) -> str:
    """A hash of the words of a sentence.

    >>> sentence_hash(["a", "b"])[:12], sentence_hash(["a b"])[:12]
    ('3554d2b8a1e3', '541e27fe8b97')
    """
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()


def tree_hash(tree: Tree) -> str:
    """A hash of a tree, independent of the file and layout it was read from."""
    return hashlib.sha256(json.dumps(list(to_flat(tree))).encode()).hexdigest()


def storable(text: str) -> str:
    r"""Text that every database can store: control characters and halves of surrogate pairs are replaced.

    >>> storable("NP\x00")
    'NP\ufffd'
    """
    return _UNSTORABLE.sub("\ufffd", text)


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
