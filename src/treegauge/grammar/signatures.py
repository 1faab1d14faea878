"""Word signatures: what the spelling of a word tells about its tag, from the finest description to none at all."""

from __future__ import annotations

from collections.abc import Callable

from treegauge.grammar.lexicon import UNKNOWN

__all__ = ["is_signature", "signatures"]

_SUFFIX = 3
"""How many last letters the finest signature has."""
_LONGER = 2
"""By how many letters a word must be longer than a suffix of it that means anything."""


def signatures(word: str, *, initial: bool = False, known: Callable[[str], bool] = lambda word: False) -> tuple[str, ...]:
    """The signatures of a word, finest first; the last is the unknown word itself.

    A signature has the word's capitals (``C`` first, ``A`` all, ``M`` others, ``I`` first of the first word of a
    sentence; ``k`` where the word is ``known`` in lower case), ``d`` for digits (``D``: without any letters), ``h`` for
    a hyphen, and its last three, two, one or no letters.

    >>> signatures("re-evaluating")
    ('<unknown:h:ing>', '<unknown:h:ng>', '<unknown:h:g>', '<unknown:h>', '<unknown>')
    >>> signatures("1,024"), signatures("Smith", known={"smith"}.__contains__)[3], signatures("Smith", initial=True)[3]
    (('<unknown:D>', '<unknown>'), '<unknown:Ck>', '<unknown:I>')
    """
    shape = _shape(word, initial, known)
    stem = word.lower()
    letters = [stem[-n:] for n in range(min(_SUFFIX, len(stem) - _LONGER), 0, -1)] if stem[-1:].isalpha() else []
    names = [*(f"{shape}:{suffix}" for suffix in letters), *([shape] if shape else [])]
    return (*(f"{UNKNOWN[:-1]}:{name}>" for name in names), UNKNOWN)


def is_signature(word: str) -> bool:
    """Whether a word of a grammar stands for words that it does not know.

    >>> is_signature("<unknown:C>"), is_signature(UNKNOWN), is_signature("unknown")
    (True, True, False)
    """
    return word == UNKNOWN or (word.startswith(f"{UNKNOWN[:-1]}:") and word.endswith(">"))


def _shape(word: str, initial: bool, known: Callable[[str], bool]) -> str:
    capitals = sum(map(str.isupper, word))
    shape = ""
    if capitals:
        if word[0].isupper() and capitals == 1:
            shape = "I" if initial else "C"
        else:
            shape = "A" if word == word.upper() else "M"
        shape += "k" if known(word.lower()) else ""
    if any(map(str.isdigit, word)):
        shape += "d" if any(map(str.isalpha, word)) else "D"
    return shape + ("h" if "-" in word[1:-1] else "")
