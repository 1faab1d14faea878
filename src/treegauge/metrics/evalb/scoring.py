"""Scoring line against line: EVALB's decision about each sentence, as values.

EVALB's quote repair puts back a quotation mark that one side took for punctuation and the other for a word. It runs only
when the two sides keep different numbers of words. Its double insertion of adjacent quotes changes what EVALB prints, and
is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID
from treegauge.metrics.evalb import reading as limits
from treegauge.metrics.evalb.counting import (
    DELETED,
    MATCHED,
    NOT_REACHED,
    UNMATCHED,
    SentenceComparison,
    Side,
    compare_sentences,
    count_crossing,
    side_of,
)
from treegauge.metrics.evalb.fast import ByteBracket, FastReader, FastSentence
from treegauge.metrics.evalb.reading import UNCLOSED, EvalbSentence, Log, Quote, Rules, read_sentence
from treegauge.presets.prm import Parameters

__all__ = ["SentenceResult", "dump", "repair_quotes", "score_lines", "trace_brackets"]


def dump(gold: EvalbSentence, test: EvalbSentence, comparison: SentenceComparison | None) -> bytes:
    """The words and brackets of both sides with their result codes; without a comparison all are "not reached"."""
    if comparison is None:
        gold_side, test_side = _not_reached(gold), _not_reached(test)
        gold_tags, test_tags = [NOT_REACHED] * len(gold.words), [NOT_REACHED] * len(test.words)
    else:
        gold_side, test_side = comparison.gold, comparison.test
        gold_tags = test_tags = comparison.tag_codes
    head = b"-<1>---(wn1=%3d, bn1=%3d)-           -<2>---(wn2=%3d, bn2=%3d)-" % (
        len(gold.words),
        len(gold.labels),
        len(test.words),
        len(test.labels),
    )
    words = _two_columns(_words(gold, gold_tags), _words(test, test_tags), width=40)
    brackets = _two_columns(_brackets(gold, gold_side), _brackets(test, test_side), width=32)
    return b"\n".join([head, *words, b"", *brackets, b"", b"========", b""])


def _not_reached(sentence: EvalbSentence) -> Side:
    return Side([NOT_REACHED] * len(sentence.labels), sentence.labels)


def _words(sentence: EvalbSentence, codes: Sequence[int]) -> Iterator[bytes]:
    """One entry per word; an empty word has an empty entry."""
    for number, (code, tag, word) in enumerate(zip(codes, sentence.tags, sentence.words, strict=True)):
        yield b"%3d : %d : %-6s  %-16s" % (number, code, tag, word) if word else b""


def _brackets(sentence: EvalbSentence, side: Side) -> Iterator[bytes]:
    columns = zip(side.codes, sentence.starts, sentence.ends, side.labels, strict=True)
    for number, column in enumerate(columns):
        yield b"%3d : %d : %3d  %3d  %-6s" % (number, *column)


def _two_columns(left: Iterator[bytes], right: Iterator[bytes], width: int) -> Iterator[bytes]:
    """Entries side by side: six blanks between them, ``width`` blanks in place of an empty left one."""
    for one, other in zip_longest(left, right, fillvalue=b""):
        yield (one + b"      " if one else b" " * width) + other


def trace_brackets(gold: EvalbSentence, gold_side: Side, test: EvalbSentence, test_side: Side, rules: Rules) -> Iterator[bytes]:
    """The DEBUG 2 lines of matching and crossing, for sides before matching: every pair looked at, in order.

    LABEL: same span, other label. BRACKET: a gold bracket whose span is not in test. EXTRA: a test bracket that
    matched none and met none of its span. CROSSING: a gold bracket that a test bracket crosses.
    """
    gold_codes, test_codes = list(gold_side.codes), list(test_side.codes)
    other_label = [False] * len(test_codes)
    for i, label in enumerate(gold_side.labels):
        met = False
        for j, theirs in enumerate(test_side.labels):
            codes, starts, ends = (gold_codes[i], test_codes[j]), (gold.starts[i], test.starts[j]), (gold.ends[i], test.ends[j])
            yield b"1.res=%d, 2.res=%d, 1.start=%d, 2.start=%d, 1.end=%d, 2.end=%d\n" % (*codes, *starts, *ends)
            if codes[0] == DELETED or codes[1] != UNMATCHED or starts[0] != starts[1] or ends[0] != ends[1]:
                continue
            met = True
            if not rules.parameters.labelled or rules.same_label(label, theirs):
                gold_codes[i] = test_codes[j] = MATCHED
                break
            other_label[j] = True
            yield _excerpt(b"LABEL", gold, i)
        if not met and gold_codes[i] != DELETED:
            yield _excerpt(b"BRACKET", gold, i)
    for j, code in enumerate(test_codes):
        if code == UNMATCHED and not other_label[j]:
            yield _excerpt(b"EXTRA", test, j)
    yield from _trace_crossing(gold, gold_codes, test, test_codes)


def _trace_crossing(
    gold: EvalbSentence, gold_codes: Sequence[int], test: EvalbSentence, test_codes: Sequence[int]
) -> Iterator[bytes]:
    """The first gold bracket that each test bracket crosses, unless it was the one named last."""
    gold_spans = [
        (number, c, d)
        for number, (c, d, code) in enumerate(zip(gold.starts, gold.ends, gold_codes, strict=True))
        if code != DELETED
    ]
    last = None
    for a, b, code in zip(test.starts, test.ends, test_codes, strict=True):
        if code == DELETED:
            continue
        crossed = next((number for number, c, d in gold_spans if c < a < d < b or a < c < b < d), None)
        if crossed is not None and crossed != last:
            yield _excerpt(b"CROSSING", gold, crossed)
            last = crossed


def _excerpt(kind: bytes, sentence: EvalbSentence, bracket: int) -> bytes:
    start, end = sentence.starts[bracket], sentence.ends[bracket]
    return b"  %s[%d-%d]: %s\n" % (kind, start, end - 1, sentence.text(bracket))


def repair_quotes(gold: EvalbSentence, test: EvalbSentence, rules: Rules, log: Log) -> tuple[EvalbSentence, EvalbSentence]:
    """Both sentences after the repair (they may still differ in length).

    For each test quote in order, and each gold quote in order that stands at the same word index with another tag: if
    one of the two tags is deleted and the other is not, the deleted one is put back and it and all later quotes of
    its side move on by one. So a quote that was put back can meet the next test quote and be put back again.
    """
    if log.tracing:
        _trace_quotes(gold, test, log)
    ours, theirs = _Repair(gold, log), _Repair(test, log)
    for i, test_quote in enumerate(test.quotes):
        index = theirs.indices[i]
        # Indices never decrease along the list, so the gold quotes at one index stand together; once one of them is
        # put back, it and the rest have moved on.
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
    """A copy of a sentence that quotes can be put back into, and the word index of each of its quotes."""

    def __init__(self, sentence: EvalbSentence, log: Log) -> None:
        self.sentence = replace(
            sentence,
            words=list(sentence.words),
            tags=list(sentence.tags),
            starts=list(sentence.starts),
            ends=list(sentence.ends),
        )
        self.indices = [quote.words for quote in sentence.quotes]
        self._log = log

    def put_back(self, number: int) -> None:
        """Insert a quote among the words: later brackets move on, brackets open around it grow, later quotes follow."""
        sentence, quote, index = self.sentence, self.sentence.quotes[number], self.indices[number]
        sentence.words.insert(index, quote.word)
        sentence.tags.insert(index, quote.tag)
        around = [bracket for bracket in range(quote.brackets) if _is_open(sentence, bracket, quote)]
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


def _is_open(sentence: EvalbSentence, bracket: int, quote: Quote) -> bool:
    """Whether a bracket opened before the quote is closed after it, or never."""
    return sentence.closed[bracket] == UNCLOSED or sentence.closed[bracket] > quote.place


def _trace_quotes(gold: EvalbSentence, test: EvalbSentence, log: Log) -> None:
    for number in range(max(len(gold.quotes), len(test.quotes))):
        for quote in (*gold.quotes[number : number + 1], *test.quotes[number : number + 1]):
            log.trace(b"%d: %s - %s\n" % (quote.words, quote.tag, quote.word))


class SentenceResult(NamedTuple):
    """The row of one sentence, with its messages, remarks, trace and dump.

    ``length`` is the gold length by which sentences are cut off; ``gold`` and ``test`` are the brackets that count.
    ``messages`` are EVALB's, without the line number; ``endless`` says that EVALB repeats the last one until its
    error limit ends the run. ``remarks`` are ours, where EVALB's own result would be undefined. ``trace`` (DEBUG 2)
    has one piece more than there are messages, ``dump`` (DEBUG 1) follows the row.
    """

    id: int
    length: int
    status: int
    matched: int = 0
    gold: int = 0
    test: int = 0
    crossing: int = 0
    words: int = 0
    tags: int = 0
    messages: tuple[bytes, ...] = ()
    endless: bool = False
    remarks: tuple[bytes, ...] = ()
    trace: tuple[bytes, ...] = ()
    dump: bytes = b""


def score_lines(gold_lines: Iterable[bytes], test_lines: Iterable[bytes], parameters: Parameters) -> Iterator[SentenceResult]:
    r"""The result of each pair of lines, in order; lines carry their newline.

    Where one file has more lines than the other, one result of status UNPAIRED comes last.

    >>> [result] = score_lines([b"(S (NP (NN a)) (VP (V b)))\n"], [b"(S (NN a) (VP (V b)))\n"], Parameters())
    >>> result.matched, result.gold, result.test, result.tags
    (2, 3, 2, 2)
    """
    yield from Scorer(parameters).score_lines(gold_lines, test_lines)


class Scorer:
    """Scores pairs of lines; the exact way always works, the fast way for plain lines only."""

    def __init__(self, parameters: Parameters) -> None:
        self._debug = parameters.debug
        self._rules = Rules(parameters)
        classes = self._rules.label_classes()
        # Without classes the greedy order matters, and a dump wants every bracket: both need the exact way.
        self._fast = None if classes is None or parameters.debug > 0 else FastReader(self._rules, classes)

    def score(self, number: int, gold_line: bytes, test_line: bytes) -> SentenceResult:
        if self._fast is not None:
            gold = self._fast.read(gold_line)
            if gold is not None:
                test = gold if test_line == gold_line else self._fast.read(test_line)
                if test is not None:
                    return _score_fast(number, gold, test, self._rules)
        return self._score_exactly(number, gold_line, test_line)

    def score_lines(self, gold_lines: Iterable[bytes], test_lines: Iterable[bytes], first: int = 1) -> Iterator[SentenceResult]:
        """The result of each pair of lines, the first of them being number ``first``; see :func:`score_lines`."""
        gold, test = iter(gold_lines), iter(test_lines)
        number = first - 1
        for number, line in enumerate(gold, start=first):
            other = next(test, None)
            if other is None:
                yield self.unpaired_gold(number, line)
                return
            yield self.score(number, line, other)
        if next(test, None) is not None:
            text = b"Number of lines unmatch (too many lines in test file)"
            yield SentenceResult(number + 1, 0, UNPAIRED, messages=(text,))

    def unpaired_gold(self, number: int, line: bytes) -> SentenceResult:
        """A gold line without test line: it is read, with what that has to say, and then reported."""
        log = Log(tracing=self._debug > 1)
        gold = read_sentence(line, self._rules, log)
        if not gold.endless:
            log.message(b"Number of lines unmatch (too many lines in gold file)")
        return self._result(number, UNPAIRED, log, gold, None)

    def _score_exactly(self, number: int, gold_line: bytes, test_line: bytes) -> SentenceResult:
        log = Log(tracing=self._debug > 1)
        gold = read_sentence(gold_line, self._rules, log)
        if gold.endless:
            return self._result(number, ERROR, log, gold, None)
        test = read_sentence(test_line, self._rules, log)
        if test.endless:
            return self._result(number, ERROR, log, gold, test)
        if log.tracing:
            log.trace(b"\n")
        if not test.words:
            return self._result(number, SKIP, log, gold, test)
        if len(gold.words) != len(test.words):
            gold, test = repair_quotes(gold, test, self._rules, log)
        mismatch = _mismatch(gold.words, test.words, self._rules)
        if mismatch is not None:
            log.message(mismatch)
            return self._result(number, ERROR, log, gold, test)
        comparison = self._compare(number, gold, test, log)
        return self._result(number, ERROR if log.messages else VALID, log, gold, test, comparison)

    def _compare(self, number: int, gold: EvalbSentence, test: EvalbSentence, log: Log) -> SentenceComparison:
        if log.tracing:
            if max(len(gold.labels), len(test.labels)) <= limits.BRACKETS:
                sides = side_of(gold, self._rules), side_of(test, self._rules)
                for text in trace_brackets(gold, sides[0], test, sides[1], self._rules):
                    log.trace(text)
                    if len(text) > limits.TEXT:
                        log.remarks.append(limits.text_remark(number))
            else:
                # A line for each pair of brackets: beyond EVALB's own limit it would only fill the disk.
                log.remarks.append(b"line %d: too many brackets for the DEBUG 2 trace, which is left out" % number)
        return compare_sentences(gold, test, self._rules)

    def _result(
        self,
        number: int,
        status: int,
        log: Log,
        gold: EvalbSentence,
        test: EvalbSentence | None,
        comparison: SentenceComparison | None = None,
    ) -> SentenceResult:
        counts = (0, 0, 0, 0, 0, 0)
        if comparison is not None:
            brackets = comparison.matched, comparison.gold.counted, comparison.test.counted
            counts = (*brackets, comparison.crossing, len(gold.words), comparison.tags)
        remarks = limits.sentence_remarks(b"gold", number, gold)
        if test is not None:
            remarks += limits.sentence_remarks(b"test", number, test)
        return SentenceResult(
            number,
            gold.length,
            status,
            *counts,
            messages=log.messages,
            endless=gold.endless or (test is not None and test.endless),
            remarks=(*remarks, *log.remarks),
            trace=log.pieces() if log.tracing else (),
            dump=_dump(gold, test, comparison) if self._debug > 0 and test is not None else b"",
        )


def _dump(gold: EvalbSentence, test: EvalbSentence, comparison: SentenceComparison | None) -> bytes:
    """The DEBUG 1 dump, whose module few runs need."""
    return dump(gold, test, comparison)


def _mismatch(gold: list[bytes], test: list[bytes], rules: Rules) -> bytes | None:
    """The message for sentences that are not the same words, or ``None``."""
    if len(gold) != len(test):
        return b"Length unmatch (%d|%d)" % (len(gold), len(test))
    if gold != test:
        for ours, theirs in zip(gold, test, strict=True):
            if not rules.same_word(ours, theirs):
                return b"Words unmatch (%s|%s)" % (ours, theirs)
    return None


def _score_fast(number: int, gold: FastSentence, test: FastSentence, rules: Rules) -> SentenceResult:
    """The result for two well-formed lines; labels are classes, so equal labels are equal bytes."""
    words = len(gold.terminals)
    if not test.terminals:
        return SentenceResult(number, gold.length, SKIP)
    tags = words
    if gold.terminals != test.terminals:
        mismatch = _mismatch([word for _, word in gold.terminals], [word for _, word in test.terminals], rules)
        if mismatch is not None:
            return SentenceResult(number, gold.length, ERROR, messages=(mismatch,))
        same = rules.same_label
        tags = sum(same(ours[0], theirs[0]) for ours, theirs in zip(gold.terminals, test.terminals, strict=True))
    matched, crossing = _match_fast(gold.brackets, test.brackets)
    return SentenceResult(number, gold.length, VALID, matched, len(gold.brackets), len(test.brackets), crossing, words, tags)


def _match_fast(gold: list[ByteBracket], test: list[ByteBracket]) -> tuple[int, int]:
    """The number of matched and of crossing brackets of two trees.

    Brackets of one tree do not cross, so a test bracket on the span of a gold bracket crosses nothing.
    """
    if gold == test:
        return len(gold), 0
    gold_set, test_set = set(gold), set(test)
    if len(gold_set) == len(gold) and len(test_set) == len(test):
        unmatched = test_set - gold_set
        matched = len(test_set) - len(unmatched)
    else:
        unmatched = test
        matched = (Counter(gold) & Counter(test)).total()
    if not unmatched:
        return matched, 0
    spans = {(start, end) for start, end, _ in gold}
    others = [span for start, end, _ in unmatched if (span := (start, end)) not in spans]
    return matched, count_crossing(spans, others) if others else 0
