"""Scoring of one line against another as EVALB does it: the result of each sentence, as a value, and its DEBUG output.

Matching is greedy as in EVALB: each gold bracket, in order, takes the first unused test bracket with the same span and an equal
label. If EQ_LABEL pairs are not transitive, the order matters. Two brackets cross if their spans overlap and neither contains the
other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, islice, repeat, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID, lines as limits
from treegauge.metrics.evalb.lines import EvalbSentence, Log, Rules, read_sentence, repair_quotes
from treegauge.presets.prm import Parameters, cut_label

if TYPE_CHECKING:
    from treegauge.metrics.evalb.blocks import ValidLines

StartEnd = tuple[int, int]

_FEW_LINES = 64
"""Fewer lines are scored one by one, which is faster than loading NumPy."""


def count_crossing(gold: Collection[StartEnd], test: Collection[StartEnd]) -> int:
    """The number of test spans (a, b) with some gold span (c, d) so that c < a < d < b or a < c < b < d.

    A test span counts once, however many gold spans it crosses, and as often as it occurs. Gold spans may cross each other, which
    malformed input can cause.

    >>> count_crossing([(0, 2), (2, 5)], [(0, 5), (1, 3), (1, 3), (2, 4)])
    2
    """
    ends = _nearest_ends(gold, {a for a, _ in test})
    # The mirror image: the largest start left of b among the spans around b is the smallest end right of -b.
    starts = _nearest_ends([(-d, -c) for c, d in gold], {-b for _, b in test})
    return sum(ends.get(a, b) < b or -starts.get(-b, -a) > a for a, b in test)


def _nearest_ends(spans: Iterable[StartEnd], points: Iterable[int]) -> dict[int, int]:
    """For each point p, the smallest end d among spans with c < p < d; points without one are absent."""
    waiting = sorted(spans, reverse=True)
    held: list[int] = []
    nearest: dict[int, int] = {}
    for point in sorted(points):
        while waiting and waiting[-1][0] < point:
            heappush(held, waiting.pop()[1])
        while held and held[0] <= point:
            heappop(held)
        if held:
            nearest[point] = held[0]
    return nearest


UNMATCHED, MATCHED, DELETED, NOT_REACHED = 0, 1, 5, 9
"""EVALB's result codes; DELETED is also that of a bracket without words, NOT_REACHED that of all in a rejected sentence."""


@dataclass(slots=True)
class Side:
    """One side of a comparison: the result code and the label of each bracket; labels of brackets with words are cut."""

    codes: list[int]
    labels: list[bytes]

    @property
    def counted(self) -> int:
        """The number of brackets that count."""
        return len(self.codes) - self.codes.count(DELETED)


@dataclass(slots=True)
class SentenceComparison:
    """The outcome of comparing two sentences; ``tag_codes`` has one entry per word."""

    gold: Side
    test: Side
    crossing: int
    tag_codes: list[int]

    @property
    def matched(self) -> int:
        return self.gold.codes.count(MATCHED)

    @property
    def tags(self) -> int:
        return self.tag_codes.count(MATCHED)


def compare_sentences(gold: EvalbSentence, test: EvalbSentence, rules: Rules) -> SentenceComparison:
    r"""The comparison of two sentences with the same number of words.

    >>> from treegauge.metrics.evalb.lines import Log, read_sentence
    >>> from treegauge.presets.prm import Parameters
    >>> rules = Rules(Parameters())
    >>> gold = read_sentence(b"(S (A (N a) (N b)) (N c))", rules, Log())
    >>> test = read_sentence(b"(S (N a) (A (N b) (V c)))", rules, Log())
    >>> both = compare_sentences(gold, test, rules)
    >>> both.matched, both.gold.counted, both.test.counted, both.crossing, both.tags
    (1, 2, 2, 1, 2)
    """
    gold_side, test_side = side_of(gold, rules), side_of(test, rules)
    crossing = count_crossing(list(_counted_spans(gold, gold_side)), list(_counted_spans(test, test_side)))
    _match(gold, gold_side, test, test_side, rules)
    tag_codes = [MATCHED if rules.same_label(*pair) else UNMATCHED for pair in zip(gold.tags, test.tags, strict=True)]
    return SentenceComparison(gold_side, test_side, crossing, tag_codes)


def side_of(sentence: EvalbSentence, rules: Rules) -> Side:
    """One side of a comparison before matching: which brackets count, and their labels.

    A bracket without words does not count, and its label is not cut; the label of a deleted bracket is.
    """
    codes: list[int] = []
    labels: list[bytes] = []
    for start, end, label in zip(sentence.starts, sentence.ends, sentence.labels, strict=True):
        if start == end:
            codes.append(DELETED)
            labels.append(label)
        else:
            codes.append(DELETED if rules.counted_label(label) is None else UNMATCHED)
            labels.append(cut_label(label))
    return Side(codes, labels)


def _counted_spans(sentence: EvalbSentence, side: Side) -> Iterator[StartEnd]:
    spans = zip(sentence.starts, sentence.ends, strict=True)
    return (span for span, code in zip(spans, side.codes, strict=True) if code != DELETED)


def _match(gold: EvalbSentence, gold_side: Side, test: EvalbSentence, test_side: Side, rules: Rules) -> None:
    """Mark the matched brackets of both sides.

    There is a queue of unused test brackets for each span and label, so the first one with an equal label is the earliest head
    among the queues of its equal labels.
    """
    labelled = rules.parameters.labelled
    waiting: dict[tuple[int, int, bytes], deque[int]] = {}
    test_labels = test_side.labels if labelled else repeat(b"", len(test_side.labels))
    for number, key in enumerate(zip(test.starts, test.ends, test_labels, strict=True)):
        if test_side.codes[number] != DELETED:
            waiting.setdefault(key, deque()).append(number)
    for number, (start, end, label) in enumerate(zip(gold.starts, gold.ends, gold_side.labels, strict=True)):
        if gold_side.codes[number] == DELETED:
            continue
        like = rules.labels_like(label) if labelled else (b"",)
        queues = [queue for other in like if (queue := waiting.get((start, end, other)))]
        if queues:
            first = min(queues, key=lambda queue: queue[0]).popleft()
            gold_side.codes[number] = test_side.codes[first] = MATCHED


def dump(gold: EvalbSentence, test: EvalbSentence, comparison: SentenceComparison | None) -> bytes:
    """The DEBUG 1 dump: words and brackets of both sides with their result codes; without a comparison, all are NOT_REACHED."""
    gold_side, test_side = (_not_reached(gold), _not_reached(test)) if comparison is None else (comparison.gold, comparison.test)
    tags = [NOT_REACHED] * max(len(gold.words), len(test.words)) if comparison is None else comparison.tag_codes
    sizes = len(gold.words), len(gold.labels), len(test.words), len(test.labels)
    head = b"-<1>---(wn1=%3d, bn1=%3d)-           -<2>---(wn2=%3d, bn2=%3d)-" % sizes
    words = _two_columns(_words(gold, tags), _words(test, tags), width=40)
    brackets = _two_columns(_brackets(gold, gold_side), _brackets(test, test_side), width=32)
    return b"\n".join([head, *words, b"", *brackets, b"", b"========", b""])


def _not_reached(sentence: EvalbSentence) -> Side:
    return Side([NOT_REACHED] * len(sentence.labels), sentence.labels)


def _words(sentence: EvalbSentence, codes: Sequence[int]) -> Iterator[bytes]:
    """One entry per word; an empty word has an empty entry."""
    for number, (code, tag, word) in enumerate(zip(codes, sentence.tags, sentence.words, strict=False)):
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

    LABEL: same span, other label. BRACKET: a gold bracket whose span test does not have. EXTRA: a test bracket that matched none,
    and whose span gold does not have. CROSSING: a gold bracket that a test bracket crosses.
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
    for scored in score_blocks(gold_lines, test_lines, parameters):
        if isinstance(scored, SentenceResult):
            yield scored
        else:
            yield from scored.results()


def score_blocks(
    gold_lines: Iterable[bytes], test_lines: Iterable[bytes], parameters: Parameters, *, is_large: bool = False
) -> Iterator[SentenceResult | ValidLines]:
    """The same results; many lines are scored in blocks, by kernels if there are very many, and few without loading NumPy."""
    gold, test = iter(gold_lines), iter(test_lines)
    begins = list(islice(gold, _FEW_LINES)), list(islice(test, _FEW_LINES))
    gold, test = chain(begins[0], gold), chain(begins[1], test)
    # Without classes of labels the greedy order matters, and a dump shows every bracket: no block can do either.
    exactly = parameters.debug > 0 or Rules(parameters).label_classes() is None
    if exactly or min(map(len, begins)) < _FEW_LINES:
        return Scorer(parameters).score_lines(gold, test)
    from treegauge.metrics.evalb.blocks import score_in_blocks

    return score_in_blocks(gold, test, parameters, is_large=is_large)


class Scorer:
    """A scorer of pairs of lines, exactly as EVALB."""

    def __init__(self, parameters: Parameters) -> None:
        self._debug = parameters.debug
        self._rules = Rules(parameters)

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

    def score(self, number: int, gold_line: bytes, test_line: bytes) -> SentenceResult:
        """The result of one pair of lines."""
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
                        log.remarks.append(limits.trace_remark(number))
                if limits.UNCLOSED in (*gold.closed, *test.closed):
                    log.remarks.append(limits.trace_remark(number, b"without its closing bracket"))
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
