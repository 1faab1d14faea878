"""Causes of differing words: the one difference in writing that, left aside, would make two sentences fit.

Each cause names the way to compare words (:data:`treegauge.alignment.words.MATCH_WORDS`) that leaves it aside. A parse may also
hide a word behind the tag of a trace, or show a trace as a word: then its tags are the cause.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence

from treegauge.alignment.words import is_unknown_word, loose_word, matched_word, plain_word

__all__ = ["CAUSES", "TaggedWords", "cause_of_difference", "hidden_word", "kept_trace", "trace_as_word"]

_TRACE = re.compile(r"0|\*(?:[A-Za-z?]+\*)?(?:-\d+)?")
_BACKSLASH = re.compile(r"\\(?=[^\w\s])")
_BLANK = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_QUOTES = re.compile("[\"'`´ʼ“”„‟‘’‚‛«»‹›「」『』《》〈〉＂＇]+")

CAUSES: dict[str, tuple[str, str]] = {
    "case": ("case", "capital and small letters"),
    "normal-form": ("loose", "the normal form of Unicode (NFC or NFD)"),
    "spacing": ("loose", "blanks and invisible characters inside words"),
    "escapes": ("loose", "escapes such as &amp; or \\("),
    "quotes": ("loose", "quotation marks"),
    "unknown-words": ("loose", "words replaced by <unk>"),
    "writing": ("loose", "case, normal form, escapes, quotation marks or spacing, several of them together"),
}
"""Cause -> the way to match words that leaves it aside, and the cause in words."""

_WRITINGS: dict[str, Callable[[str], str]] = {
    "case": lambda word: matched_word(word, "case"),
    "normal-form": lambda word: unicodedata.normalize("NFC", plain_word(word)),
    "spacing": lambda word: _BLANK.sub("", plain_word(word)),
    "escapes": lambda word: plain_word(_BACKSLASH.sub("", html.unescape(word))),
    "quotes": lambda word: _QUOTES.sub("'", plain_word(word)),
    "writing": loose_word,
}


def cause_of_difference(gold: Sequence[str], test: Sequence[str]) -> str:
    r"""The cause, a key of :data:`CAUSES`, for which the words of two sentences differ; empty if the text is another.

    >>> cause_of_difference(["Rain", "fell"], ["rain", "fell"]), cause_of_difference(["f", "(", "x"], ["f", r"\(", "x"])
    ('case', '')
    >>> cause_of_difference(["Rain", "fell"], ["<unk>", "fell"]), cause_of_difference(["Rain", "fell"], ["Snow", "fell"])
    ('unknown-words', '')
    """
    if "".join(map(plain_word, gold)) == "".join(map(plain_word, test)):
        return ""
    if len(gold) == len(test) and _unknown_apart(gold, test, plain_word):
        return "unknown-words"
    for cause, writing in _WRITINGS.items():
        if "".join(map(writing, gold)) == "".join(map(writing, test)):
            return cause
    return "writing" if len(gold) == len(test) and _unknown_apart(gold, test, loose_word) else ""


def _unknown_apart(gold: Sequence[str], test: Sequence[str], writing: Callable[[str], str]) -> bool:
    pairs = zip(gold, test, strict=True)
    return all(writing(a) == writing(b) or is_unknown_word(a) or is_unknown_word(b) for a, b in pairs)


class TaggedWords:
    """The words of a sentence with their tags, and which of them are traces by their tag."""

    def __init__(self, words: Sequence[str], tags: Sequence[str], traces: frozenset[str]) -> None:
        self.words, self.tags = list(words), list(tags)
        self.is_trace = [tag in traces for tag in tags]

    @property
    def shown(self) -> list[int]:
        """The places of the words that are not traces."""
        return [place for place, is_trace in enumerate(self.is_trace) if not is_trace]


def kept_trace(gold: TaggedWords, test: TaggedWords) -> str:
    """The trace that one side has and the other has not, in words; empty if the reason is another.

    >>> gold = TaggedWords(["*", "go"], ["-NONE-", "VB"], frozenset({"-NONE-"}))
    >>> kept_trace(gold, TaggedWords(["go"], ["VB"], frozenset({"-NONE-"})))
    "gold has the trace '*' (-NONE-), which counts as a word here, and the parse has not"
    """
    ours, theirs = ([plain_word(side.words[place]) for place in side.shown] for side in (gold, test))
    if ours != theirs:
        return ""
    for side, has, other in ((gold, "gold has", "the parse has not"), (test, "the parse has", "gold has not")):
        if (first := next((place for place, is_trace in enumerate(side.is_trace) if is_trace), -1)) >= 0:
            return f"{has} the trace {side.words[first]!r} ({side.tags[first]}), which counts as a word here, and {other}"
    return ""


def hidden_word(gold: TaggedWords, test: TaggedWords) -> str:
    """The tag that makes the words differ, in words; empty if the reason is another.

    >>> gold = TaggedWords(["dogs", "bark"], ["NNS", "VBP"], frozenset({"-NONE-"}))
    >>> hidden_word(gold, TaggedWords(["dogs", "bark"], ["-NONE-", "VBP"], frozenset({"-NONE-"})))
    "the parse tags the word 'dogs' as -NONE-, which hides it"
    """
    everything = range(len(gold.words)), range(len(test.words))
    for ours, theirs in (everything, (gold.shown, everything[1]), (everything[0], test.shown)):
        if [plain_word(gold.words[i]) for i in ours] != [plain_word(test.words[i]) for i in theirs]:
            continue
        for i, k in zip(ours, theirs, strict=True):
            if test.is_trace[k] and not gold.is_trace[i]:
                return f"the parse tags the word {test.words[k]!r} as {test.tags[k]}, which hides it"
            if gold.is_trace[i] and not test.is_trace[k]:
                shown = f"as {test.tags[k]}" if test.tags[k] else "without a tag"
                return f"the parse has {test.words[k]!r} {shown}, as if it were a word; gold's tag {gold.tags[i]} leaves it out"
    return ""


def trace_as_word(gold: Sequence[str], test: Sequence[str], tags: Sequence[str]) -> str:
    """The first word of a parse that is written as a trace and that gold has not, in words; empty if the reason is another.

    >>> trace_as_word(["I", "go"], ["I", "*-1", "go"], ["PRP", "NN", "VB"])
    "the parse has '*-1' as NN, which is written as a trace, and gold has no such word"
    """
    traces: list[int] = []
    for place, word in enumerate(test):
        at = place - len(traces)
        if at < len(gold) and plain_word(gold[at]) == plain_word(word):
            continue
        if not _TRACE.fullmatch(word):
            return ""
        traces.append(place)
    if not traces or len(test) - len(traces) != len(gold):
        return ""
    shown = f"as {tags[traces[0]]}" if tags[traces[0]] else "without a tag"
    return f"the parse has {test[traces[0]]!r} {shown}, which is written as a trace, and gold has no such word"
