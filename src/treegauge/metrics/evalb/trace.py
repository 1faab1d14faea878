"""DEBUG output around a sentence's row: the dump after it (DEBUG 1) and the trace before it (DEBUG 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from treegauge.metrics.evalb.counting import DELETED, MATCHED, NOT_REACHED, UNMATCHED, Comparison, Side
from treegauge.metrics.evalb.reading import Rules, Sentence

__all__ = ["dump", "trace_brackets"]


def dump(gold: Sentence, test: Sentence, comparison: Comparison | None) -> bytes:
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


def _not_reached(sentence: Sentence) -> Side:
    return Side([NOT_REACHED] * len(sentence.labels), sentence.labels)


def _words(sentence: Sentence, codes: Sequence[int]) -> Iterator[bytes]:
    """One entry a word; an empty word has an empty entry."""
    for number, (code, tag, word) in enumerate(zip(codes, sentence.tags, sentence.words, strict=True)):
        yield b"%3d : %d : %-6s  %-16s" % (number, code, tag, word) if word else b""


def _brackets(sentence: Sentence, side: Side) -> Iterator[bytes]:
    columns = zip(side.codes, sentence.starts, sentence.ends, side.labels, strict=True)
    for number, column in enumerate(columns):
        yield b"%3d : %d : %3d  %3d  %-6s" % (number, *column)


def _two_columns(left: Iterator[bytes], right: Iterator[bytes], width: int) -> Iterator[bytes]:
    """Entries side by side: six blanks between them, ``width`` blanks in place of an empty left one."""
    for one, other in zip_longest(left, right, fillvalue=b""):
        yield (one + b"      " if one else b" " * width) + other


def trace_brackets(gold: Sentence, gold_side: Side, test: Sentence, test_side: Side, rules: Rules) -> Iterator[bytes]:
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


def _trace_crossing(gold: Sentence, gold_codes: Sequence[int], test: Sentence, test_codes: Sequence[int]) -> Iterator[bytes]:
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


def _excerpt(kind: bytes, sentence: Sentence, bracket: int) -> bytes:
    start, end = sentence.starts[bracket], sentence.ends[bracket]
    return b"  %s[%d-%d]: %s\n" % (kind, start, end - 1, sentence.text(bracket))
