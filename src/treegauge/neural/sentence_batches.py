"""Sentences as a network reads them: the numbers of words, characters, tags and labels, and batches of sentences without padding.

The words of a batch lie behind one another as recurrent layers process them: first the first word of every sentence, the longest
sentence first, then all second words, and so on. A sentence has a mark at each end. Fencepost k of a sentence lies before its word
k; a span is a pair of fenceposts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from treegauge.alignment.words import plain_word
from treegauge.neural.backend import Array
from treegauge.neural.pretrained_encoder import NO_WINDOWS, PretrainedEncoder, Windows
from treegauge.parsing.span_trees import JOIN, labelled_spans
from treegauge.trees.columns import Int64
from treegauge.trees.tree import Tree

UNKNOWN, EDGE, FIRST_WORD = 0, 1, 2
"""The numbers of an unknown word, of the marks at both ends of a sentence, and of the first known word."""
PADDING, UNKNOWN_CHARACTER, EDGE_CHARACTER, FIRST_CHARACTER = 0, 1, 2, 3
MOST_CHARACTERS = 20
"""Of longer words the network reads the beginning and the end."""


@dataclass(frozen=True)
class Vocabulary:
    """Everything that has a number: words in lower case, characters, tags (``""``: a word without one), and labels, of which those
    of several nodes over one span are joined (``S::VP``). ``root`` is the label above all trees, if the treebank has one, and
    ``vectors`` are the words that have a given vector."""

    words: tuple[str, ...]
    characters: tuple[str, ...]
    tags: tuple[str, ...]
    labels: tuple[str, ...]
    root: str | None
    vectors: tuple[str, ...] = ()

    @cached_property
    def word_numbers(self) -> dict[str, int]:
        """The number of each known word."""
        return {word: number for number, word in enumerate(self.words, FIRST_WORD)}

    @cached_property
    def character_numbers(self) -> dict[str, int]:
        """The number of each known character."""
        return {character: number for number, character in enumerate(self.characters, FIRST_CHARACTER)}

    @cached_property
    def _vector_numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.vectors, 1)}

    def vector_number(self, word: str) -> int:
        """The number of a word's given vector, from 1; 0 if it has none."""
        return next((self._vector_numbers[form] for form in word_forms(word) if form in self._vector_numbers), 0)

    @cached_property
    def phrase_labels(self) -> tuple[str, ...]:
        """The labels of single nodes."""
        return tuple(dict.fromkeys(part for label in self.labels for part in label.split(JOIN)))

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The numbers of words, characters, tags and labels, the special ones included."""
        return len(self.words) + FIRST_WORD, len(self.characters) + FIRST_CHARACTER, len(self.tags), len(self.labels)


def word_forms(word: str) -> tuple[str, str, str]:
    """The forms in which a word is looked up among given vectors."""
    return word, word.lower(), plain_word(word).lower()


def vocabulary_of(trees: Sequence[Tree], root: str | None, vectors: tuple[str, ...] = ()) -> Vocabulary:
    """The vocabulary of normalised trees, and of given ``vectors``.

    >>> vocabulary_of([Tree.parse("(S (NP (D the) (N cat)) (VP (V sat)))"), Tree.parse("(S (VP (V go)))")], None)
    Vocabulary(words=('the', 'cat', 'sat', 'go'), characters=('a', 'c', 'e', 'g', 'h', 'o', 's', 't'), tags=('D', 'N', 'V'), \
labels=('S', 'NP', 'VP', 'S::VP'), root=None, vectors=())
    """
    words = [word for tree in trees for word in tree.words]
    labels = Counter(label for tree in trees for label in labelled_spans(tree, tags=True).values())
    return Vocabulary(
        tuple(dict.fromkeys(word.lower() for word in words)),
        tuple(sorted({character for word in words for character in word})),
        tuple(sorted({tag for tree in trees for tag in tree.tags})),
        tuple(labels) or ("S",),
        root,
        vectors,
    )


@dataclass(frozen=True, eq=False)
class EncodedSentences:
    """Sentences as numbers: the words of sentence i are ``words[first[i]:first[i + 1]]``, and ``spelling`` has for each of them its
    row in ``spellings``, an array of characters whose row 0 spells the mark at the ends of a sentence. By row there are also the
    number of the given vector, and the sub-words for an encoder, if there is one."""

    first: Int64
    words: Int64
    spelling: Int64
    spellings: Int64
    vectors: Int64
    encoder: PretrainedEncoder | None
    sub_words: Sequence[Int64]

    @property
    def lengths(self) -> Int64:
        """The number of words of each sentence."""
        return np.diff(self.first)


def encode_sentences(
    vocabulary: Vocabulary, sentences: Sequence[Sequence[str]], encoder: PretrainedEncoder | None = None
) -> EncodedSentences:
    """The numbers of sentences' words, and of their characters, vectors and sub-words."""
    known, rows = vocabulary.word_numbers, dict[str, int]()
    words = [known.get(word.lower(), UNKNOWN) for sentence in sentences for word in sentence]
    spelling = [rows.setdefault(word, len(rows) + 1) for sentence in sentences for word in sentence]
    spellings = np.zeros((len(rows) + 1, MOST_CHARACTERS), np.int64)
    spellings[0, 0] = EDGE_CHARACTER
    numbers, half = vocabulary.character_numbers, MOST_CHARACTERS // 2
    for word, row in rows.items():
        read = word if len(word) <= MOST_CHARACTERS else word[:half] + word[-half:]
        spellings[row, : len(read)] = [numbers.get(character, UNKNOWN_CHARACTER) for character in read] or [UNKNOWN_CHARACTER]
    first = np.cumsum([0, *map(len, sentences)])
    vectors = np.array([0, *(map(vocabulary.vector_number, rows) if vocabulary.vectors else [0] * len(rows))])
    pieces = [np.zeros(0, np.int64), *encoder.sub_words(list(rows))] if encoder else []
    return EncodedSentences(first, np.array(words, np.int64), np.array(spelling, np.int64), spellings, vectors, encoder, pieces)


class Batch(NamedTuple):
    """Some sentences, the longest first; ``chosen`` are their numbers among all, ``lengths`` their numbers of words, and ``steps``
    how many of them reach each position, marks included; ``letter_steps`` is the same for the characters of spellings. The rest are
    indices, on the device of the network:

    * ``words``, ``spelling`` (a row of ``spellings``) and ``sentence``: of each position, marks included;
    * ``spellings``: the characters of different words, the longest first; ``letters``: the places of those that are not padding;
    * ``position``: the place of each word without marks, sentence by sentence;
    * ``before`` and ``after``: the positions on both sides of each fencepost; ``left`` and ``right``: the fenceposts of each span;
    * ``cell``: the place of each span in an array (sentences, n, n) by first and last word;
    * ``vectors``: the given vector of each position; ``windows``: the sub-words for an encoder, -1 for padding; ``outputs``: the
      places in them that count, and ``inputs``: the position of each.
    """

    chosen: Int64
    lengths: Int64
    steps: Array
    letter_steps: Array
    words: Array
    spelling: Array
    spellings: Array
    letters: Array
    sentence: Array
    position: Array
    before: Array
    after: Array
    left: Array
    right: Array
    cell: Array
    vectors: Array
    windows: Array
    outputs: Array
    inputs: Array


@cache
def _spans(n: int) -> tuple[Int64, Int64]:
    """The first and last words of all spans over n words, in the order of :func:`span_row`."""
    return np.triu_indices(n)


def span_row(n: int, start: int, end: int) -> int:
    """The place of the span [start, end) among all spans over n words."""
    return start * n - start * (start - 1) // 2 + end - 1 - start


def make_batch(given: EncodedSentences, chosen: Int64, words: Int64 | None = None) -> Batch:
    """The batch of the sentences with these numbers; ``words`` replaces the numbers of all words."""
    lengths = given.lengths[chosen]
    order = np.argsort(-lengths, kind="stable")
    chosen, lengths = chosen[order], lengths[order]
    sizes, size = lengths + 2, len(chosen)
    at = np.arange(int(sizes[0]))
    steps = (sizes[None, :] > at[:, None]).sum(axis=1)
    begin = np.cumsum(steps) - steps
    step, sentence = np.nonzero(sizes[None, :] > at[:, None])
    inner = (step > 0) & (step <= lengths[sentence])
    token = given.first[chosen][sentence] + step - 1
    own, spelling = np.full(len(step), EDGE), np.zeros(len(step), np.int64)
    own[inner] = (given.words if words is None else words)[token[inner]]
    spelling[inner] = given.spelling[token[inner]]
    vectors, (windows, outputs, of_output) = given.vectors[spelling], _windows(given, chosen)
    rows, spelling = np.unique(spelling, return_inverse=True)
    characters = (given.spellings[rows] != PADDING).sum(axis=1)
    by_length = np.argsort(-characters, kind="stable")
    rank = np.empty(len(rows), np.int64)
    rank[by_length] = np.arange(len(rows))
    longest = int(characters[by_length[0]])
    letter, row = np.nonzero(characters[by_length][None, :] > np.arange(longest)[:, None])
    of_fence, fence = np.repeat(np.arange(size), lengths + 1), _ranges(lengths + 1)
    of_word, word = np.repeat(np.arange(size), lengths), _ranges(lengths)
    position = begin[word + 1] + of_word
    first_fence, n = np.cumsum(lengths + 1) - lengths - 1, int(lengths[0])
    spans = [_spans(int(length)) for length in lengths]
    s, last = (np.concatenate(each) for each in zip(*spans, strict=True))
    of_span = np.repeat(np.arange(size), [len(each) for each, _ in spans])
    return Batch(
        chosen, lengths, steps, np.bincount(letter), own, rank[spelling], given.spellings[rows[by_length], :longest],
        row * longest + letter, sentence,
        position=position, before=begin[fence] + of_fence, after=begin[fence + 1] + of_fence,
        left=first_fence[of_span] + s, right=first_fence[of_span] + last + 1, cell=(of_span * n + s) * n + last,
        vectors=vectors, windows=windows, outputs=outputs, inputs=position[of_output],
    )  # fmt: skip


def _windows(given: EncodedSentences, chosen: Int64) -> Windows:
    """The windows of an encoder over the sentences with these numbers."""
    if given.encoder is None:
        return NO_WINDOWS
    rows = [given.spelling[given.first[i] : given.first[i + 1]] for i in map(int, chosen)]
    return given.encoder.windows([[given.sub_words[int(row)] for row in own] for own in rows])


def _ranges(sizes: Int64) -> Int64:
    """0 up to each size, one after the other.

    >>> _ranges(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
