"""A line of a treebank file as EVALB's scanner takes it: words, tags, brackets, and the errors on the way.

The scanner is lenient where it should not be (several trees on a line are one sentence, an empty label or word is
fine) and endless where it meets text outside brackets. Both are kept, byte for byte. Where C would leave the line
(a closing bracket too many, a line that ends inside a label) the line ends here, and a message is left.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from treegauge.metrics.evalb.log import Log
from treegauge.metrics.evalb.rules import Rules

__all__ = ["UNCLOSED", "Quote", "Sentence", "read_sentence"]

UNCLOSED = -1
"""The end of a bracket that nothing closed."""

READING = b"Reading sentence"
TWO_ELEMENTS = b"More than two elements in a bracket"
TOO_MANY_OPEN = b"Bracketing is unbalanced (too many open bracket)"
TOO_MANY_CLOSE = b"Bracketing unbalance (too many close bracket)"

_BLANKS = re.compile(rb"\s*")
_OPENING = re.compile(rb"\(([^\s()]*)(?:\s+([^\s()]*))?")


class Quote(NamedTuple):
    """A terminal that the quote repair may put back: how many words and brackets stand before it, and its byte."""

    word: bytes
    tag: bytes
    words: int
    brackets: int
    place: int


@dataclass(slots=True)
class Sentence:
    """The kept words and all brackets of one line; bracket *i* is the *i*-th opened.

    ``starts`` and ``ends`` count kept words, ``opened`` and ``closed`` bytes of the line. ``endless`` marks a line on
    which EVALB repeats its last message until the error limit ends the run.
    """

    line: bytes
    words: list[bytes] = field(default_factory=list[bytes])
    tags: list[bytes] = field(default_factory=list[bytes])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    labels: list[bytes] = field(default_factory=list[bytes])
    opened: list[int] = field(default_factory=list[int])
    closed: list[int] = field(default_factory=list[int])
    quotes: list[Quote] = field(default_factory=list[Quote])
    length: int = 0
    longest_label: int = 0
    longest_word: int = 0
    endless: bool = False

    def text(self, bracket: int) -> bytes:
        """What stands between a bracket's label and its closing bracket, as a C string."""
        end = self.closed[bracket] if self.closed[bracket] != UNCLOSED else len(self.line)
        return self.line[self.opened[bracket] : end].partition(b"\0")[0]


def read_sentence(line: bytes, rules: Rules, log: Log) -> Sentence:
    r"""The sentence on a line (with its newline, if it has one).

    >>> from treegauge.normalise.prm import Parameters
    >>> sentence = read_sentence(b"(S (NP (NN cats)) (VP (V sleep)) (. .))\n",
    ...                          Rules(Parameters(delete_labels=(b".",))), Log())
    >>> sentence.words, sentence.length
    ([b'cats', b'sleep'], 3)
    >>> list(zip(sentence.starts, sentence.ends, sentence.labels))
    [(0, 2, b'S'), (0, 1, b'NP'), (1, 2, b'VP')]
    """
    sentence = Sentence(line)
    open_brackets: list[int] = []
    surplus = 0  # closing brackets that had nothing to close
    place = _skip_blanks(line, 0)
    while place < len(line) and line[place]:
        if line.startswith(b"(", place):
            place, opened = _read_opening(sentence, place, rules, log)
            if opened:
                open_brackets.append(len(sentence.labels) - 1)
        elif line.startswith(b")", place):
            # C's stack then has a negative index; it notices one step late, at the second such bracket.
            if len(open_brackets) < surplus:
                log.message(TOO_MANY_CLOSE)
            if open_brackets:
                bracket = open_brackets.pop()
                sentence.ends[bracket], sentence.closed[bracket] = len(sentence.words), place
            else:
                surplus += 1
            place += 1
        else:
            log.message(READING)
            sentence.endless = True
            return sentence
        place = _skip_blanks(line, place)
    if open_brackets or surplus:
        log.message(TOO_MANY_OPEN)
    return sentence


def _skip_blanks(line: bytes, place: int) -> int:
    blanks = _BLANKS.match(line, place)
    assert blanks is not None
    return blanks.end()


def _read_opening(sentence: Sentence, place: int, rules: Rules, log: Log) -> tuple[int, bool]:
    """Read from an opening bracket: where to go on, and whether a non-terminal was opened there."""
    line = sentence.line
    found = _OPENING.match(line, place)
    assert found is not None
    # A NUL neither ends a label nor a word, but it ends the C string that is made of them.
    label = found[1].partition(b"\0")[0]
    sentence.longest_label = max(sentence.longest_label, len(found[1]))
    after, follows = found.end(), line[found.end() : found.end() + 1]
    if found[2] is not None:
        word = found[2].partition(b"\0")[0]
        sentence.longest_word = max(sentence.longest_word, len(found[2]))
        if log.tracing and follows:
            log.trace(b"label=%s, word=%s, wid=%d\n" % (label, word, len(sentence.words)))
        if follows == b")":
            _read_terminal(sentence, label, word, place, rules)
            return after + 1, False
        if follows not in (b"(", b""):
            log.message(TWO_ELEMENTS)
    sentence.starts.append(len(sentence.words))
    sentence.ends.append(UNCLOSED)
    sentence.labels.append(label)
    sentence.opened.append(found.end(1))
    sentence.closed.append(UNCLOSED)
    return (found.end(1) if follows else len(line)), True


def _read_terminal(sentence: Sentence, tag: bytes, word: bytes, place: int, rules: Rules) -> None:
    """Count a pre-terminal for the length, remember it if it is a quote, keep it unless its tag is deleted."""
    if tag not in rules.not_in_length:
        sentence.length += 1
    if rules.is_quote(tag, word):
        sentence.quotes.append(Quote(word, tag, len(sentence.words), len(sentence.labels), place))
    if tag not in rules.deleted_tags:
        sentence.tags.append(tag)
        sentence.words.append(word)
