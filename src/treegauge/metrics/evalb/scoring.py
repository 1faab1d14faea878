"""Scoring of one line against another: EVALB's result for each sentence, as a value.

EVALB's quote repair puts back a quotation mark that one side treats as punctuation and the other as a word. It runs only if the two
sides keep different numbers of words. It may insert one of two adjacent quotes twice; since that changes what EVALB prints, it is
reproduced.

Most lines are well formed and within EVALB's limits. A fast reader splits them at their opening brackets. The meaning of a part
(``NP``, ``NN dog)))``) does not depend on its position, so each is analysed once and cached: corpora repeat their parts, and most
of a line costs one dictionary look-up per bracket.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID
from treegauge.metrics.evalb import reading as limits
from treegauge.metrics.evalb.counting import SentenceComparison, compare_sentences, count_crossing, dump, side_of, trace_brackets
from treegauge.metrics.evalb.reading import UNCLOSED, EvalbSentence, Log, Quote, Rules, read_sentence
from treegauge.presets.prm import Parameters


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
            sentence,
            words=list(sentence.words),
            tags=list(sentence.tags),
            starts=list(sentence.starts),
            ends=list(sentence.ends),
        )
        self.indices = [quote.words for quote in sentence.quotes]
        self._log = log

    def put_back(self, number: int) -> None:
        """Insert a quote among the words: brackets around it grow, and later brackets and quotes move on."""
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
    """Whether a bracket that was opened before the quote is closed after it, or never."""
    return sentence.closed[bracket] == UNCLOSED or sentence.closed[bracket] > quote.place


def _trace_quotes(gold: EvalbSentence, test: EvalbSentence, log: Log) -> None:
    for number in range(max(len(gold.quotes), len(test.quotes))):
        for quote in (*gold.quotes[number : number + 1], *test.quotes[number : number + 1]):
            log.trace(b"%d: %s - %s\n" % (quote.words, quote.tag, quote.word))


Terminal = tuple[bytes, bytes]
"""Tag and word."""
ByteBracket = tuple[int, int, bytes]
"""Start, end, label."""

_PART = re.compile(rb"([^\s()\0]*)(?:\s+(?:([^\s()\0]*)(\)[\s)]*))?|(\)[\s)]*))?")
_MOST_PARTS = 500_000
"""The largest number of cached parts; beyond it the cache is emptied, so that memory stays bounded."""


class FastSentence(NamedTuple):
    """A well-formed line: the kept words with their tags, the brackets that count (in the order they close), the length."""

    terminals: list[Terminal]
    brackets: list[ByteBracket]
    length: int


class _Irregular(Exception):
    """A part that only the exact scanner can read."""


_KEPT, _OPENS, _DROPPED, _KEPT_FREE, _DROPPED_FREE = range(5)
"""The kind of a part: a kept terminal, a non-terminal, a deleted terminal, and terminals of both kinds that add no length."""

_PartAnalysis = tuple[int, Any, int]
"""The kind of a part; its terminal if kept, its label if that counts, or ``None``; the number of brackets that close after it."""


class _PartCache(dict[bytes, _PartAnalysis]):
    """The cache of analysed parts; a new part is analysed when it is first looked up."""

    def __init__(self, analyse: Callable[[bytes], _PartAnalysis]) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, part: bytes) -> _PartAnalysis:
        self[part] = analysed = self._analyse(part)
        return analysed


class FastReader:
    r"""A reader of lines with one set of rules.

    >>> from treegauge.presets.prm import Parameters
    >>> reader = FastReader(Rules(Parameters(delete_labels=(b"TOP", b"."))), {})
    >>> reader.read(b"(TOP (S (NP-SBJ (NN cats)) (VP (V sleep)) (. .)))\n").brackets
    [(0, 1, b'NP'), (1, 2, b'VP'), (0, 2, b'S')]
    >>> reader.read(b"(TOP (S (NP (NN cats)))\n") is None
    True
    """

    def __init__(self, rules: Rules, label_classes: dict[bytes, bytes]) -> None:
        self._rules = rules
        self._classes = label_classes
        self._parts = _PartCache(self._analyse)
        self._terminals: dict[Terminal, Terminal] = {}

    def read(self, line: bytes) -> FastSentence | None:
        """The sentence of a well-formed line, or ``None``."""
        parts = line.split(b"(")
        if len(line) > limits.LINE or len(parts) > limits.BRACKETS + 1 or (parts[0] and not parts[0].isspace()):
            return None
        del parts[0]
        if len(self._parts) > _MOST_PARTS:
            self._parts.clear()
            self._terminals.clear()
        try:
            return self._assemble(parts)
        except (_Irregular, IndexError):
            return None

    def _assemble(self, parts: list[bytes]) -> FastSentence | None:
        """The sentence of these parts; an IndexError if a bracket closes that was not opened."""
        terminals: list[Terminal] = []
        brackets: list[ByteBracket] = []
        stack: list[tuple[int, bytes | None]] = []
        words = length = 0
        # The order of the branches is that of their frequency.
        for kind, what, closes in map(self._parts.__getitem__, parts):
            if kind == _KEPT:
                terminals.append(what)
                words += 1
            elif kind == _OPENS:
                stack.append((words, what))
            elif kind == _DROPPED:
                length += 1
            elif kind == _KEPT_FREE:
                terminals.append(what)
                words += 1
                length -= 1
            while closes:
                start, label = stack.pop()
                if label is not None and start != words:
                    brackets.append((start, words, label))
                closes -= 1
        return None if stack else FastSentence(terminals, brackets, words + length)

    def _analyse(self, part: bytes) -> _PartAnalysis:
        found = _PART.fullmatch(part)
        if found is None or len(found[1]) > limits.LABEL:
            raise _Irregular
        label, word, after_word, after_label = found.groups()
        if word is None:
            return _OPENS, self._label_class(label), (after_label or b"").count(b")")
        if len(word) > limits.WORD or self._rules.is_quote(label, word):
            raise _Irregular
        free = label in self._rules.not_in_length
        closes = after_word.count(b")") - 1
        if label in self._rules.deleted_tags:
            return (_DROPPED_FREE if free else _DROPPED), None, closes
        # Equal terminals are one object, so that equal sentences are compared by identity.
        terminal = self._terminals.setdefault((label, word), (label, word))
        return (_KEPT_FREE if free else _KEPT), terminal, closes

    def _label_class(self, label: bytes) -> bytes | None:
        """The key of a label in a bracket: the same for equal labels, ``None`` if it does not count."""
        counted = self._rules.counted_label(label)
        if counted is None:
            return None
        return self._classes.get(counted, counted) if self._rules.parameters.labelled else b""


class SentenceResult(NamedTuple):
    """The row of one sentence, with its messages, remarks, trace and dump.

    ``length`` is the gold length, which is compared with the cutoff; ``gold`` and ``test`` are the numbers of brackets that count.
    ``messages`` are EVALB's, without the line number; ``endless``: EVALB repeats the last one until its error limit ends the run.
    ``remarks`` are ours, where EVALB's own result would be undefined. ``trace`` (DEBUG 2) has one piece more than there are
    messages; ``dump`` (DEBUG 1) is printed after the row.
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
    r"""The result of each pair of lines, in order; lines include their newline.

    If one file has more lines than the other, the last result has the status UNPAIRED.

    >>> [result] = score_lines([b"(S (NP (NN a)) (VP (V b)))\n"], [b"(S (NN a) (VP (V b)))\n"], Parameters())
    >>> result.matched, result.gold, result.test, result.tags
    (2, 3, 2, 2)
    """
    yield from Scorer(parameters).score_lines(gold_lines, test_lines)


class Scorer:
    """A scorer of pairs of lines: fast for well-formed lines, and exactly as EVALB for all others."""

    def __init__(self, parameters: Parameters) -> None:
        self._debug = parameters.debug
        self._rules = Rules(parameters)
        classes = self._rules.label_classes()
        # Without classes the greedy order matters, and a dump shows every bracket: the fast reader can do neither.
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
        """The result for a gold line without a test line: it is read, with all messages, and then reported."""
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
                # There is a line for each pair of brackets; beyond EVALB's own limit that would only fill the disk.
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
            dump=dump(gold, test, comparison) if self._debug > 0 and test is not None else b"",
        )


def _mismatch(gold: list[bytes], test: list[bytes], rules: Rules) -> bytes | None:
    """EVALB's message if the words of two sentences differ, or ``None``."""
    if len(gold) != len(test):
        return b"Length unmatch (%d|%d)" % (len(gold), len(test))
    if gold != test:
        for ours, theirs in zip(gold, test, strict=True):
            if not rules.same_word(ours, theirs):
                return b"Words unmatch (%s|%s)" % (ours, theirs)
    return None


def _score_fast(number: int, gold: FastSentence, test: FastSentence, rules: Rules) -> SentenceResult:
    """The result for two well-formed lines, whose labels are classes: equal labels are equal bytes."""
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
    """The numbers of matched and of crossing brackets of two trees.

    Brackets of one tree do not cross, so a test bracket with the span of a gold bracket crosses nothing.
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
