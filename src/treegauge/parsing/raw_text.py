"""Raw English text as sentences and words, by the rules of the Penn Treebank; and signs that a line is raw text.

A sentence ends after a full stop, question mark or exclamation mark, with the quotation marks and brackets that close there, if the
next word can begin a sentence; not after an abbreviation that is usually followed by a name or a number, nor inside a round bracket
that opens in mid-sentence and closes soon.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"[\u00ad\u200b\u2060\ufeff]", ""),  # soft hyphens, and blanks of no width
        (r'^"|(?<=[ (\[{<—–-])"(?=\S)', " `` "),
        (r'"', " '' "),
        (r"\.\.\.+|…", r" \g<0> "),
        (r"--+|[—–«»]|``|''", r" \g<0> "),
        (r"[;$%?!\[\](){}<>]|(?<!\S)[@#](?!\w)|&(?!\w)", r" \g<0> "),
        (r",(?!\d)", " , "),
        (r":(?![\d/])", " : "),
        (r"(?<=[^.\s])\.(?=\s*(?:['\")\]}»]\s*)*$)", " ."),
        (r"(?<![^ (\[{])'(?!(?i:n|em)')(?=[^\W\d]+(?: ?[.,?!])?'(?!\w))", "` "),
        (r"(?<=[^'\s])'(?= )", " '"),
        (r"(?<![^ (\[{])(?:`(?=\w)|'(?=[A-Za-z]{3}|[A-Z])(?!(?i:tis|twas|cause|till|round|em\b|n\b)))", "` "),
        (r"(?i)(?<=[a-z])n't\b", " n't"),
        (r"(?i)(?<=[\w.])'(s|m|d|ll|re|ve)\b", r" '\1"),
        (r"(?i)\b(can)(not)\b", r"\1 \2"),
        (r"(?i)\b(gim|lem)(me)\b", r"\1 \2"),
        (r"(?i)\b(gon|got|wan)(na|ta)\b", r"\1 \2"),
    )
)
_HELD = "\ue000"
"""A character without a meaning of its own, which holds the place of an address, or of itself, while the rest is split."""
_ADDRESS = re.compile(rf"(?:https?://|www\.)(?:\S*\([^\s()]*\)(?!\S*[\w/])|\S*[\w/])|\S+@\w\S*\w|{_HELD}")


def tokenise(text: str) -> list[str]:
    """The words of a sentence: punctuation and clitics split off, double quotes turned into `` and '', single ones into ` and '.

    >>> tokenise('"I can\\'t," she said, "pay $1,000."')
    ['``', 'I', 'ca', "n't", ',', "''", 'she', 'said', ',', '``', 'pay', '$', '1,000', '.', "''"]
    >>> tokenise("The dogs' owner isn't in the U.S. today (it's 10:30).")
    ['The', 'dogs', "'", 'owner', 'is', "n't", 'in', 'the', 'U.S.', 'today', '(', 'it', "'s", '10:30', ')', '.']
    """
    held = _ADDRESS.findall(text)
    text = _ADDRESS.sub(_HELD, text)
    text = f" {text.strip()} ".replace("’", "'").replace("‘", "'").replace("“", ' "').replace("”", '" ')[1:]
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    addresses = iter(held)
    return [re.sub(_HELD, lambda _: next(addresses), word) for word in text.split()]


_BEFORE_A_NAME = re.compile(
    r"(?:Mr|Mrs|Ms|Messrs|Mme|Mlle|Dr|Prof|Hon|Pres|Sen|Rep|Gov|Rev|Gen|Col|Maj|Capt|Cmdr|Adm|Lt|Sgt|Cpl|Pvt|St|Mt|Ft"
    r"|vs|cf|al|e\.g|i\.e|viz|ca|[Ee]ds?)\."
)
_BEFORE_A_NUMBER = re.compile(
    r"(?:(?i:nos?|figs?|pp?|eqs?|secs?|vols?|chs?|chap|approx)|[bcdr]|fl|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\."
)
_AT_THE_END = re.compile(r"(?:etc|Inc|Co|Corp|Ltd|Bros|Jr|Sr|Esq|Ave|Blvd|Rd)\.")
"""Abbreviations that can be the last word of a sentence."""
_INITIALS = re.compile(r"(?:[A-Z]\.)+")
_OFTEN_FIRST = re.compile(
    r"(?:The|An?|This|That|These|Those|It|He|She|They|We|You|I|In|On|At|But|And|So|If|When|As|For|There|What|How|Why|Who)\b"
)
"""Words that begin a sentence far more often than a name, so that initials such as U.S. can end the sentence before them."""
_ASIDE = re.compile(r"\S\s*\([^()]*\Z"), re.compile(r"[^()]{0,200}\)")
"""The beginning of a bracket that opens in mid-sentence, and its end if that comes soon."""
_END = re.compile(r"""(\S*?[.?!…]['"”’»)\]}]*)\s+(?=['"`“‘«(\[{]*[A-Z0-9]|['"`“‘«(\[{]+\S)""")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text; none goes over the end of a line.

    >>> split_sentences('Mr. J. Smith left the U.S. in May. "Why?" he asked. It cost $3.50! The end')
    ['Mr. J. Smith left the U.S. in May.', '"Why?" he asked.', 'It cost $3.50!', 'The end']
    >>> split_sentences("J. R. Hartley (b. 1878; see fig. 3. It is blurred.) wrote. (He fished. He sang.)")
    ['J. R. Hartley (b. 1878; see fig. 3. It is blurred.) wrote.', '(He fished.', 'He sang.)']
    """
    found, begin = list[str](), 0
    if "\n" in text.strip():
        return list(itertools.chain.from_iterable(map(split_sentences, text.splitlines())))
    for match in _END.finditer(text):
        last = match[1].lstrip("\"'`“‘«([{")
        goes_on = (
            _BEFORE_A_NAME.fullmatch(last)
            or (_BEFORE_A_NUMBER.fullmatch(last) and text[match.end()].isdigit())
            or (_INITIALS.fullmatch(last) and not _OFTEN_FIRST.match(text, match.end()))
            or (_ASIDE[0].search(text[begin : match.end(1)]) and _ASIDE[1].match(text, match.end(1)))
        )
        if not goes_on:
            found.append(text[begin : match.end(1)].strip())
            begin = match.end()
    return [sentence for sentence in [*found, text[begin:].strip()] if sentence]


_UNSPLIT = re.compile(r"""(?i)[^\W\d_]{2,}[,;:?!]["'”’)]*|[a-z]+n['’]t|[^\W\d_]+['’](?:s|re|ve|ll|d|m)""")
_UNSPLIT_LAST = re.compile(r"""[^\W\d_]{2,}[.?!]["'”’)]*""")


def unsplit_words(words: Sequence[str]) -> Iterator[str]:
    """The tokens that look like words with punctuation or clitics that are not split off.

    >>> list(unsplit_words("He didn't see Mr. Smith , who 's with the telescope.".split()))
    ["didn't", 'telescope.']
    >>> list(unsplit_words("apples , pears , etc.".split()))
    []
    """
    yield from filter(_UNSPLIT.fullmatch, words)
    abbreviations = _BEFORE_A_NAME, _BEFORE_A_NUMBER, _AT_THE_END
    if words and _UNSPLIT_LAST.fullmatch(words[-1]) and not any(known.fullmatch(words[-1]) for known in abbreviations):
        yield words[-1]
