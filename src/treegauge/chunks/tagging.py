"""Which tag sequences the words of a span may have, and how probable each is.

Gold tags are the certain case. A tagger's posteriors (:mod:`treegauge.chunks.hmm`) are the general one; both are asked the same two
questions: which tags can word ``i`` begin with, and which tag can follow a tag sequence at word ``i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["SENTENCE_END", "CertainTags", "TagLattice", "TagState"]

SENTENCE_END = "</s>"

TagState = tuple[str, ...]
"""What a lattice has to remember of the tags so far: nothing if they are certain, the last two for a trigram tagger."""


class TagLattice(Protocol):
    """The posterior distribution over tag sequences of one sentence."""

    def __len__(self) -> int: ...

    def first(self, word: int) -> Sequence[tuple[str, float, TagState]]:
        """The tags of a word with their probabilities, and the state after each."""
        ...

    def following(self, word: int, state: TagState) -> Sequence[tuple[str, float, TagState]]:
        """The tags of ``word`` given the tags before it; past the last word, the end of the sentence."""
        ...


class CertainTags:
    """One tag a word, with probability 1.

    >>> CertainTags(["DT", "NN"]).following(2, ())
    [('</s>', 1.0, ())]
    """

    def __init__(self, tags: Sequence[str]) -> None:
        self._choices: list[list[tuple[str, float, TagState]]] = [[(tag, 1.0, ())] for tag in (*tags, SENTENCE_END)]

    def __len__(self) -> int:
        return len(self._choices) - 1

    def first(self, word: int) -> Sequence[tuple[str, float, TagState]]:
        return self._choices[word]

    def following(self, word: int, state: TagState) -> Sequence[tuple[str, float, TagState]]:
        return self._choices[word]
