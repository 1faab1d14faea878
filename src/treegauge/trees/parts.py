"""Parts of a tree as values: a labelled span, a production."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Production", "Span"]


class Span(NamedTuple):
    """A labelled constituent (s, t, X) over the words ``[start, end)``."""

    start: int
    end: int
    label: str


class Production(NamedTuple):
    """A rule ``lhs -> rhs`` as used in a tree; a word in ``rhs`` is told from a label by ``words``.

    >>> print(Production("NP", ("DT", "cat"), (False, True)))
    NP -> DT "cat"
    """

    lhs: str
    rhs: tuple[str, ...]
    words: tuple[bool, ...]

    def __str__(self) -> str:
        right = (f'"{symbol}"' if word else symbol for symbol, word in zip(self.rhs, self.words, strict=True))
        return " ".join([self.lhs, "->", *right])

    @property
    def is_lexical(self) -> bool:
        """Whether a word stands on the right-hand side."""
        return any(self.words)
