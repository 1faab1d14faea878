r"""Spellings: the words of a text in the forms that a model knows.

Treebanks write brackets, slashes and quotation marks in different ways: ``(`` and ``-LRB-``, ``1/2`` and ``1\/2``, ``"``, ``“`` and
two grave accents. A model knows the forms of its own treebank. A word that it does not know is looked up in the other spellings of
the same word; trees show the word as it was given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from treegauge.alignment.words import INVISIBLE, plain_word

_MORE = {"…": "...", "—": "--", "–": "--", "-LRB-": "(", "-RRB-": ")"}
_OPENING = frozenset({"``", "“", "„", "«"})


def _plain(word: str) -> str:
    """A word without escapes, ligatures, soft hyphens and the like."""
    return _MORE.get(word) or plain_word(word if word.isascii() else re.sub(INVISIBLE, "", unicodedata.normalize("NFKC", word)))


class Spellings:
    r"""The words of a model, to be found in any of their spellings.

    >>> find = Spellings(["``", "''", "1\\/2", "(", "n't", "--", "fine"])
    >>> find(['"', "1/2", "—", '"', "-LRB-", "n’t", "new", "ﬁ\u00adne"])
    ('``', '1\\/2', '--', "''", '(', "n't", 'new', 'fine')
    """

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self.known = frozenset(vocabulary)
        self.forms: dict[str, list[str]] = {}
        for word in sorted(word for word in self.known if not word.isalnum()):
            self.forms.setdefault(_plain(word), []).append(word)
        # An apostrophe is far more often possessive or closing than opening, which is a backquote in tokenised text.
        self.forms.get("'", []).sort(key=lambda form: form in ("‘", "`"))

    def __call__(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words in the forms that the model knows; a word that it does not know in any form stays as it is."""
        if all(word in self.known or (word.isascii() and word.isalnum()) for word in words):
            return tuple(words)
        found, quotes = list[str](), 0
        for word in words:
            plain = _plain(word)
            forms = [] if word in self.known else self.forms.get(plain) or [plain] * (plain in self.known)
            if plain == '"':
                is_opening = word in _OPENING or (word == '"' and quotes % 2 == 0)
                forms = sorted(forms, key=lambda form: (form in _OPENING) != is_opening and form != '"')
                quotes += 1
            found.append(forms[0] if forms else word)
        return tuple(found)


def spellings_of(vocabulary: Iterable[str], derived: dict[Any, Any]) -> Spellings:
    """The spellings of a model's words, made once and stored in the model's cache."""
    if "spellings" not in derived:
        derived["spellings"] = Spellings(vocabulary)
    return derived["spellings"]
