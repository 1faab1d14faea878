"""Sentences cut into chunks: non-recursive pieces of phrases that partition the sentence (Abney 1993).

A word outside all chunks is a Null chunk of its own. A chunk candidate (x, i, j) is a category over a span. The spans of a sentence
of n words are numbered (0,1), (0,2) ... (0,n), (1,2) ...; arrays of values for all candidates have a row per span and a column per
category.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName, UsageError

NULL = "Null"


class Chunk(NamedTuple):
    """A category over the words ``[start, end)``."""

    category: str
    start: int
    end: int


@dataclass(frozen=True)
class ChunkedSentence:
    """Words, their tags, and the chunks that partition them.

    >>> ChunkedSentence(("the", "cat", "sat"), ("DT", "NN", "VBD"), (Chunk("NP", 0, 2),))
    Traceback (most recent call last):
    treegauge.errors.UsageError: the chunks must partition the sentence: word 3 of 3 is in none
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]

    def __post_init__(self) -> None:
        place = 0
        for chunk in self.chunks:
            if chunk.start != place or chunk.end <= chunk.start:
                raise UsageError(f"the chunks must partition the sentence: {tuple(chunk)} does not begin at word {place + 1}")
            place = chunk.end
        if place != len(self.words):
            raise UsageError(f"the chunks must partition the sentence: word {place + 1} of {len(self.words)} is in none")
        if len(self.tags) != len(self.words):
            raise UsageError(f"a sentence of {len(self.words)} words has {len(self.tags)} tags")

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    @classmethod
    def from_iob(cls, words: Sequence[str], tags: Sequence[str], iob: Sequence[str]) -> ChunkedSentence:
        """A sentence from its three CoNLL-2000 columns.

        >>> ChunkedSentence.from_iob(["He", "sat", "."], ["PRP", "VBD", "."], ["B-NP", "B-VP", "O"]).chunks[2]
        Chunk(category='Null', start=2, end=3)
        """
        return cls(tuple(words), tuple(tags), tuple(with_null_chunks(chunks_of_iob(iob), len(words))))


SCHEMES = ("conlleval", "bioes")
_OUTSIDE = frozenset({"O", "."})
_NEIGHBOURS_CHANGE = frozenset({("B", "B"), ("I", "B"), ("E", "E"), ("E", "I")})


def chunks_of_iob(iob: Sequence[str], scheme: str = "conlleval") -> list[Chunk]:
    """The chunks of a column of marks such as B-NP, I-NP and O, as conlleval reads it (Tjong Kim Sang and Veenstra 1999).

    IOB1, IOB2, IOE1 and IOE2 need not be told apart: between two words of the same category, a new chunk begins at ``B`` after
    ``B`` or ``I``, and at ``E`` or ``I`` after ``E``; a word of another category always begins a chunk. With the scheme ``bioes``,
    a chunk begins at ``B`` and ``S`` and ends after ``E`` and ``S`` (``L`` and ``U`` are other names of these two). conlleval has
    no rule for ``S``, and reads ``E-NP B-NP`` and ``S-NP S-NP`` as one chunk each.

    >>> chunks_of_iob(["B-NP", "I-NP", "I-VP", "O", "I-NP"])
    [Chunk(category='NP', start=0, end=2), Chunk(category='VP', start=2, end=3), Chunk(category='NP', start=4, end=5)]
    >>> chunks_of_iob(["B-NP", "E-NP", "S-NP"], "bioes")
    [Chunk(category='NP', start=0, end=2), Chunk(category='NP', start=2, end=3)]
    """
    if scheme not in SCHEMES:
        raise UnknownName("scheme", scheme, SCHEMES)
    changes = _changes_conlleval if scheme == "conlleval" else _changes_bioes
    chunks: list[Chunk] = []
    before, category, start = "O", "", 0
    for place, mark in enumerate([*iob, "O"]):
        letter, _, name = mark.partition("-")
        name = "" if letter in _OUTSIDE else name
        if before in _OUTSIDE:
            start = place
        elif letter in _OUTSIDE or name != category or changes(before, letter):
            chunks.append(Chunk(category, start, place))
            start = place
        before, category = letter, name
    return chunks


def _changes_conlleval(before: str, letter: str) -> bool:
    return (before, letter) in _NEIGHBOURS_CHANGE or before in ("[", "]") or letter in ("[", "]")


def _changes_bioes(before: str, letter: str) -> bool:
    return letter in ("B", "S", "U") or before in ("E", "S", "L", "U")


def iob_of_chunks(chunks: Iterable[Chunk], length: int) -> list[str]:
    """The IOB2 marks of some chunks; the words of Null chunks are outside.

    >>> iob_of_chunks([Chunk("NP", 0, 2), Chunk("Null", 2, 3)], 3)
    ['B-NP', 'I-NP', 'O']
    """
    marks = ["O"] * length
    for category, start, end in chunks:
        if category != NULL:
            marks[start:end] = [f"B-{category}"] + [f"I-{category}"] * (end - start - 1)
    return marks


def with_null_chunks(chunks: Sequence[Chunk], length: int) -> list[Chunk]:
    """The chunks of a sentence from left to right, with a Null chunk for each word outside them."""
    filled: list[Chunk] = []
    place = 0
    for chunk in [*chunks, Chunk("", length, length)]:
        filled += [Chunk(NULL, word, word + 1) for word in range(place, chunk.start)]
        filled += [chunk] if chunk.category else []
        place = chunk.end
    return filled


def categories_of(sentences: Iterable[ChunkedSentence]) -> tuple[str, ...]:
    """All categories, sorted by name, with Null last, which is always included."""
    found = {chunk.category for sentence in sentences for chunk in sentence.chunks} - {NULL}
    return (*sorted(found), NULL)


def n_spans(n: int) -> int:
    """The number of spans of n words.

    >>> n_spans(4)
    10
    """
    return n * (n + 1) // 2


def span_row(n: int, start: int, end: int) -> int:
    """The number of a span among those of n words.

    >>> [span_row(3, i, j) for i in range(3) for j in range(i + 1, 4)]
    [0, 1, 2, 3, 4, 5]
    """
    return start * n - start * (start - 1) // 2 + end - start - 1


@lru_cache(maxsize=512)
def spans(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Start and end of every span of n words, in order."""
    start, last = np.triu_indices(n)
    return start, last + 1


def span_lengths(n: int) -> NDArray[np.int64]:
    """The length of every span of n words, in order."""
    start, end = spans(n)
    return end - start


def truth(n: int, chunks: Sequence[Chunk], categories: Sequence[str]) -> NDArray[np.bool_]:
    """A mask of the candidates that are true chunks; chunks of categories that are not in ``categories`` are left out."""
    number = {category: index for index, category in enumerate(categories)}
    true = np.zeros((n_spans(n), len(categories)), dtype=np.bool_)
    for chunk in chunks:
        if chunk.category in number:
            true[span_row(n, chunk.start, chunk.end), number[chunk.category]] = True
    return true
