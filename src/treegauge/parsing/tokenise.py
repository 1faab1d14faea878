"""A tokeniser in the style of the Penn Treebank, for English text that has not been tokenised."""

from __future__ import annotations

import re

__all__ = ["tokenise"]

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r'^"|(?<=[ (\[{<])"', " `` "),
        (r'"', " '' "),
        (r"\.\.\.", " ... "),
        (r"--", " -- "),
        (r"[;@#$%&?!\[\](){}<>]", r" \g<0> "),
        (r",(?!\d)", " , "),
        (r":(?!\d)", " : "),
        (r"(?<=[^.])\.(?=\s*['\")\]}]*\s*$)", " ."),
        (r"(?<=[^'])'(?= )", " '"),
        (r"(?i)(?<=[a-z])n't\b", " n't"),
        (r"(?i)'(s|m|d|ll|re|ve)\b", r" '\1"),
        (r"(?i)\b(can)(not)\b", r"\1 \2"),
        (r"(?i)\b(gim|lem)(me)\b", r"\1 \2"),
        (r"(?i)\b(gon|got|wan)(na|ta)\b", r"\1 \2"),
    )
)


def tokenise(text: str) -> list[str]:
    """The words of a sentence: punctuation and clitics split off, straight double quotes turned into `` and ''.

    >>> tokenise('"I can\\'t," she said, "pay $1,000."')
    ['``', 'I', 'ca', "n't", ',', "''", 'she', 'said', ',', '``', 'pay', '$', '1,000', '.', "''"]
    >>> tokenise("The dogs' owner isn't in the U.S. today (it's 10:30).")
    ['The', 'dogs', "'", 'owner', 'is', "n't", 'in', 'the', 'U.S.', 'today', '(', 'it', "'s", '10:30', ')', '.']
    """
    text = f" {text.strip()} ".replace("’", "'").replace("“", ' "').replace("”", '" ')[1:]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.split()
