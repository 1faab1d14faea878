"""EVALB's reading of a line of a treebank file: words, tags, brackets, and errors.

EVALB's scanner is too lenient (several trees on a line are one sentence, and empty labels and words are allowed), and it loops on
text outside brackets. Both are reproduced. Where the C program would read beyond the line (after a closing bracket too many, or if
a line ends inside a label), the line ends here, with a message.

``Rules`` apply the parameters to tags, labels and words; ``Log`` keeps messages in order until they are printed. EQ_LABEL and
EQ_WORD pairs hold in both directions, but not transitively: with ``A B`` and ``B C``, A and C differ.

EVALB does not check the bounds of its fixed-size arrays, so that its output is undefined for larger input. treegauge has no such
limits: it scores the sentence, and remarks that EVALB's own result is undefined.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from treegauge.presets.prm import Parameters, cut_label


class Log:
    r"""Error messages, the pieces of the DEBUG 2 trace between them, and remarks of our own.

    The error limit can end a run after any message, so the trace is kept in pieces: piece *i* comes before message *i*, and there
    is one more after the last.

    >>> log = Log(tracing=True)
    >>> log.trace(b"a\n"); log.message(b"Reading sentence"); log.trace(b"b\n")
    >>> log.messages, log.pieces()
    ((b'Reading sentence',), (b'a\n', b'b\n'))
    """

    def __init__(self, *, tracing: bool = False) -> None:
        self.tracing = tracing
        self.remarks: list[bytes] = []
        self._messages: list[bytes] = []
        self._pieces: list[list[bytes]] = [[]]

    def message(self, text: bytes) -> None:
        self._messages.append(text)
        self._pieces.append([])

    def trace(self, text: bytes) -> None:
        self._pieces[-1].append(text)

    @property
    def messages(self) -> tuple[bytes, ...]:
        return tuple(self._messages)

    def pieces(self) -> tuple[bytes, ...]:
        """The trace, one piece more than there are messages."""
        return tuple(b"".join(piece) for piece in self._pieces)


_QUOTES = frozenset({b"'", b'"', b"/"})


class Rules:
    """The parameters in a form for fast look-up.

    >>> rules = Rules(Parameters(delete_labels=(b"TOP", b"PRT"), equal_labels=((b"ADVP", b"PRT"),)))
    >>> rules.counted_label(b"NP-SBJ"), rules.counted_label(b"TOP"), rules.counted_label(b"ADVP")
    (b'NP', None, None)
    >>> rules.same_label(b"ADVP", b"PRT")
    True
    """

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.deleted_tags = frozenset(parameters.delete_labels)
        self.not_in_length = frozenset(parameters.delete_labels_for_length)
        self._quote_tags = frozenset(parameters.quote_labels)
        self._equal_labels = _partners(parameters.equal_labels)
        self._equal_words = _partners(parameters.equal_words)
        self._counted: dict[bytes, bytes | None] = {}

    def is_quote(self, tag: bytes, word: bytes) -> bool:
        """Whether the quote repair may put back a terminal."""
        return word in _QUOTES and tag in self._quote_tags

    def same_label(self, gold: bytes, test: bytes) -> bool:
        """Whether two labels, or two tags, are equal or an EQ_LABEL pair."""
        return gold == test or test in self._equal_labels.get(gold, ())

    def same_word(self, gold: bytes, test: bytes) -> bool:
        """Whether two words are equal or an EQ_WORD pair."""
        return gold == test or test in self._equal_words.get(gold, ())

    def labels_like(self, label: bytes) -> frozenset[bytes]:
        """A label and its EQ_LABEL partners."""
        return self._equal_labels.get(label) or frozenset((label,))

    def counted_label(self, label: bytes) -> bytes | None:
        """The label after cutting; ``None`` if it, or a label equal to it, is deleted."""
        try:
            return self._counted[label]
        except KeyError:
            cut = cut_label(label)
            counted = cut if self.deleted_tags.isdisjoint(self.labels_like(cut)) else None
            self._counted[label] = counted
            return counted

    def label_classes(self) -> dict[bytes, bytes] | None:
        """A representative for each label that has partners; ``None`` if the pairs are not an equivalence relation."""
        for label, like in self._equal_labels.items():
            if any(self._equal_labels[other] != like for other in like):
                return None
            assert label in like
        return {label: min(like) for label, like in self._equal_labels.items()}


def _partners(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, frozenset[bytes]]:
    """For each string of the pairs, the set of itself and everything it is paired with."""
    partners: dict[bytes, set[bytes]] = {}
    for first, second in pairs:
        partners.setdefault(first, {first}).add(second)
        partners.setdefault(second, {second}).add(first)
    return {string: frozenset(others) for string, others in partners.items()}


UNCLOSED = -1
"""The end of a bracket that was never closed."""

READING = b"Reading sentence"
TWO_ELEMENTS = b"More than two elements in a bracket"
TOO_MANY_OPEN = b"Bracketing is unbalanced (too many open bracket)"
TOO_MANY_CLOSE = b"Bracketing unbalance (too many close bracket)"

_BLANKS = re.compile(rb"\s*")
_OPENING = re.compile(rb"\(([^\s()]*)(?:\s+([^\s()]*))?")


class Quote(NamedTuple):
    """A terminal that the quote repair may put back: the numbers of words and brackets before it, and its position in bytes."""

    word: bytes
    tag: bytes
    words: int
    brackets: int
    place: int


@dataclass(slots=True)
class EvalbSentence:
    """The kept words and all brackets of one line; bracket *i* is the *i*-th opened.

    ``starts`` and ``ends`` count kept words, ``opened`` and ``closed`` bytes of the line. ``endless`` marks a line for which EVALB
    repeats its last message until the error limit ends the run.
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
        """The text between a bracket's label and its closing bracket, or the end of the line, as a C string."""
        end = self.closed[bracket] if self.closed[bracket] != UNCLOSED else len(self.line.rstrip(b"\r\n"))
        return self.line[self.opened[bracket] : end].partition(b"\0")[0]


def read_sentence(line: bytes, rules: Rules, log: Log) -> EvalbSentence:
    r"""The sentence on a line (with its newline, if it has one).

    >>> from treegauge.presets.prm import Parameters
    >>> sentence = read_sentence(b"(S (NP (NN cats)) (VP (V sleep)) (. .))\n",
    ...                          Rules(Parameters(delete_labels=(b".",))), Log())
    >>> sentence.words, sentence.length
    ([b'cats', b'sleep'], 3)
    >>> list(zip(sentence.starts, sentence.ends, sentence.labels))
    [(0, 2, b'S'), (0, 1, b'NP'), (1, 2, b'VP')]
    """
    sentence = EvalbSentence(line)
    open_brackets: list[int] = []
    surplus = 0  # closing brackets that had nothing to close
    place = _skip_blanks(line, 0)
    while place < len(line) and line[place]:
        if line.startswith(b"(", place):
            place, opened = _read_opening(sentence, place, rules, log)
            if opened:
                open_brackets.append(len(sentence.labels) - 1)
        elif line.startswith(b")", place):
            # The stack of the C program then has a negative index, which it notices one step late, at the second such bracket.
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


def _read_opening(sentence: EvalbSentence, place: int, rules: Rules, log: Log) -> tuple[int, bool]:
    """Read an opening bracket; return where to continue, and whether it opened a non-terminal."""
    line = sentence.line
    found = _OPENING.match(line, place)
    assert found is not None
    # A NUL does not end a label or a word for the scanner, but it ends the C string that holds it.
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


def _read_terminal(sentence: EvalbSentence, tag: bytes, word: bytes, place: int, rules: Rules) -> None:
    """Read a preterminal: it adds to the length, is recorded if it is a quote, and is kept unless its tag is deleted."""
    if tag not in rules.not_in_length:
        sentence.length += 1
    if rules.is_quote(tag, word):
        sentence.quotes.append(Quote(word, tag, len(sentence.words), len(sentence.labels), place))
    if tag not in rules.deleted_tags:
        sentence.tags.append(tag)
        sentence.words.append(word)


def repair_quotes(gold: EvalbSentence, test: EvalbSentence, rules: Rules, log: Log) -> tuple[EvalbSentence, EvalbSentence]:
    """Both sentences after the repair; they may still differ in length.

    For each test quote, and each gold quote at the same word index, in order: if the tag of one is deleted and that of the other is
    not, the deleted quote is put back, and it and all later quotes of its side move on by one word. So a quote that was put back
    can meet the next quote of the other side and be put back again.
    """
    if log.tracing:
        _trace_quotes(gold, test, log)
    ours, theirs = _Repair(gold, log), _Repair(test, log)
    for i, test_quote in enumerate(test.quotes):
        index = theirs.indices[i]
        # Indices never decrease along the list, so the gold quotes at one index are adjacent; once one of them is put back, it and
        # the rest have moved on.
        for j in range(bisect_left(ours.indices, index), bisect_right(ours.indices, index)):
            gold_quote = gold.quotes[j]
            gold_deleted, test_deleted = gold_quote.tag in rules.deleted_tags, test_quote.tag in rules.deleted_tags
            if gold_deleted and not test_deleted:
                ours.put_back(j)
                break
            if test_deleted and not gold_deleted:
                theirs.put_back(i)
    return ours.sentence, theirs.sentence


class _Repair:
    """A copy of a sentence into which quotes can be put back, and the word index of each of its quotes."""

    def __init__(self, sentence: EvalbSentence, log: Log) -> None:
        self.sentence = replace(
            sentence, words=list(sentence.words), tags=list(sentence.tags), starts=list(sentence.starts), ends=list(sentence.ends)
        )
        self.indices = [quote.words for quote in sentence.quotes]
        self._log = log

    def put_back(self, number: int) -> None:
        """Insert a quote among the words: brackets around it grow, and later brackets and quotes move on."""
        sentence, quote, index = self.sentence, self.sentence.quotes[number], self.indices[number]
        sentence.words.insert(index, quote.word)
        sentence.tags.insert(index, quote.tag)
        # The brackets that were opened before the quote, and are closed after it or never.
        around = [b for b, place in enumerate(sentence.closed[: quote.brackets]) if place == UNCLOSED or place > quote.place]
        if self._log.tracing:
            self._log.trace(b"bra=%d, ind=%d\n" % (quote.brackets, index))
            for bracket, span in enumerate(zip(sentence.starts, sentence.ends, strict=True)):
                self._log.trace(b"bracket[%d]={%d,%d}\n" % (bracket, *span))
            self._log.trace(b"endslen=%d\n" % len(around))
        _move_on(sentence.starts, quote.brackets)
        _move_on(sentence.ends, quote.brackets)
        for bracket in around:
            sentence.ends[bracket] += 1
        _move_on(self.indices, number)


def _move_on(numbers: list[int], first: int) -> None:
    numbers[first:] = [number + 1 for number in numbers[first:]]


def _trace_quotes(gold: EvalbSentence, test: EvalbSentence, log: Log) -> None:
    for number in range(max(len(gold.quotes), len(test.quotes))):
        for quote in (*gold.quotes[number : number + 1], *test.quotes[number : number + 1]):
            log.trace(b"%d: %s - %s\n" % (quote.words, quote.tag, quote.word))


LINE = 4999
"""The bytes of a line, newline included."""
WORDS = 200
BRACKETS = 200
WORD = 99
LABEL = 29
QUOTES = 20
TEXT = 999
"""The bytes of a bracket's text in the DEBUG 2 trace."""

_LIST = 100
_QUOTE_LABELS = 20


def sentence_remarks(side: bytes, number: int, sentence: EvalbSentence) -> tuple[bytes, ...]:
    r"""A remark for each of EVALB's limits that a sentence exceeds; ``side`` is ``gold`` or ``test``.

    >>> sentence_remarks(b"gold", 7, EvalbSentence(b"(S)\n", longest_label=30))
    (b'gold line 7: a label of 30 bytes where EVALB holds 29; its own result is undefined here, this one is not',)
    """
    sizes = (
        (len(sentence.words), WORDS, b"%d words"),
        (len(sentence.labels), BRACKETS, b"%d brackets"),
        (sentence.longest_word, WORD, b"a word of %d bytes"),
        (sentence.longest_label, LABEL, b"a label of %d bytes"),
        (len(sentence.quotes), QUOTES, b"%d quote terminals"),
    )
    remarks = [
        b"%s line %d: %s where EVALB holds %d; its own result is undefined here, this one is not"
        % (side, number, what % size, limit)
        for size, limit, what in sizes
        if size > limit
    ]
    if len(sentence.line) > LINE:
        remarks.insert(
            0,
            b"%s line %d: %d bytes are read whole; EVALB would cut the line at %d and pair the rest with the next one"
            % (side, number, len(sentence.line), LINE),
        )
    return tuple(remarks)


def parameter_remarks(parameters: Parameters) -> tuple[bytes, ...]:
    """A remark for each of EVALB's limits that the parameters exceed."""
    lists = (
        (b"DELETE_LABEL", len(parameters.delete_labels), _LIST),
        (b"DELETE_LABEL_FOR_LENGTH", len(parameters.delete_labels_for_length), _LIST),
        (b"QUOTE_LABEL", len(parameters.quote_labels), _QUOTE_LABELS),
        (b"EQ_LABEL", len(parameters.equal_labels), _LIST),
        (b"EQ_WORD", len(parameters.equal_words), _LIST),
    )
    remarks = [
        b"%d %s lines where EVALB holds %d; its own results are undefined, these are not" % (size, keyword, limit)
        for keyword, size, limit in lists
        if size > limit
    ]
    longest = max((len(word) for pair in parameters.equal_labels + parameters.equal_words for word in pair), default=0)
    if longest > LABEL:
        remarks.append(
            b"an EQ_LABEL or EQ_WORD value of %d bytes where EVALB holds %d; its own results are undefined, these are not"
            % (longest, LABEL)
        )
    return tuple(remarks)


def trace_remark(number: int, what: bytes = b"of more than %d bytes" % TEXT) -> bytes:
    """The remark on a bracket whose text EVALB has no room for, or no end, in the DEBUG 2 trace."""
    return b"line %d: a traced bracket %s; EVALB's own trace is undefined here" % (number, what)
