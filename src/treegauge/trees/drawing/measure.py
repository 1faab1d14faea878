"""How wide text is, in columns of a terminal and in a picture, and how text from anywhere is made safe to draw."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["clean", "columns", "embedded", "ems"]

# Control characters, unpaired surrogates and non-characters, which XML cannot hold and terminals obey; and the characters that
# turn the direction of everything after them.
_UNDRAWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_LEFT_TO_RIGHT_MARK = "\u200e"
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


def clean(text: str, longest: int) -> str:
    r"""Text as it can be drawn: what cannot be shown is replaced, and what goes beyond ``longest`` columns is cut.

    >>> clean("a\x1b[31mb", 40), clean("a" * 50, 10)
    ('a�[31mb', 'aaaaaaaaa…')
    """
    if text.isascii() and text.isprintable() and len(text) <= longest:
        return text
    text = _UNDRAWABLE.sub("\ufffd", text[: 4 * longest])
    if columns(text) <= longest:
        return text
    kept, used = 0, 0
    for character in text:
        used += columns(character)
        if used > longest - 1:
            break
        kept += 1
    return text[:kept] + "…"


def columns(text: str) -> int:
    """The number of terminal columns: two for a wide East Asian character or an emoji, none for a combining mark.

    >>> columns("tree"), columns("木構造"), columns("e\u0301"), columns("👩\u200d🚀")
    (4, 6, 1, 2)
    """
    if text.isascii():
        return len(text)
    total, joined = 0, False
    last = 0
    for character in text:
        if character == _EMOJI_STYLE:
            total += last == 1
            continue
        last = _columns_of(character)
        total += 0 if joined and last == 2 else last
        joined = character == _JOINER
    return total


@lru_cache(maxsize=4096)
def _columns_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def embedded(text: str) -> str:
    """Text that keeps its place in a row of columns: a word written from right to left is set off from its neighbours.

    Else a terminal that knows about direction would turn round the whole row of words, away from the lines above them.
    """
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return _LEFT_TO_RIGHT_MARK + text + _LEFT_TO_RIGHT_MARK


# Hundredths of the font size; of the common sans-serif typefaces the widest (DejaVu Sans, Arial), so that text never collides.
_WIDTHS = {
    29: "'ijlI",
    34: ' !,.:;|/\\f()[]`"',
    41: "-tr{}",
    50: "*_J^",
    56: "cskvxyz?",
    64: "abdeghnopqu0123456789$FLTS",
    70: "ABEKPRVXYZ",
    79: "CDGHNOQU&wM#",
    86: "+<=>~",
    100: "mW%@",
}
_ASCII_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}


def ems(text: str) -> int:
    """The estimated width of text, in hundredths of the font size."""
    return sum(map(_width_of, text))


@lru_cache(maxsize=4096)
def _width_of(character: str) -> int:
    if character in _ASCII_WIDTH:
        return _ASCII_WIDTH[character]
    columns_wide = _columns_of(character)
    if columns_wide != 1:
        return 50 * columns_wide + (25 if unicodedata.category(character) == "So" else 0)
    decomposed = unicodedata.normalize("NFD", character)[0]
    if decomposed in _ASCII_WIDTH:
        return _ASCII_WIDTH[decomposed]
    return {"Ll": 64, "Lu": 78, "Lt": 100, "Nd": 64, "Lo": 72, "Po": 50, "Mc": 40}.get(unicodedata.category(character), 90)
