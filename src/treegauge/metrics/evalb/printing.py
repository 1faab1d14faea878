"""EVALB's table: header, a row per sentence, totals and the two summary blocks, to the byte.

``Recal`` and ``Accracy`` are EVALB's spelling.
"""

from __future__ import annotations

from treegauge.metrics.evalb import ERROR, SKIP
from treegauge.metrics.evalb.scoring import SentenceResult

RULE = b"=" * 76 + b"\n"
HEADER = (
    b"  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    b" ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" + RULE
)
ROW = b"%4d  %3d    %d  %6.2f %6.2f   %3d    %3d  %3d    %3d   %4d  %4d   %6.2f\n"


def row(result: SentenceResult) -> bytes:
    """The line of one sentence; rates are percentages, 0 where there is nothing to divide by.

    >>> row(SentenceResult(1, 6, 0, matched=3, gold=4, test=4, words=5, tags=5))
    b'   1    6    0   75.00  75.00     3      4    4      0      5     5   100.00\\n'
    """
    number, length, status, matched, gold, test, crossing, words, tags = result[:9]
    return ROW % (
        number,
        length,
        status,
        100.0 * matched / gold if gold else 0.0,
        100.0 * matched / test if test else 0.0,
        matched,
        gold,
        test,
        crossing,
        words,
        tags,
        100.0 * tags / words if words else 0.0,
    )


class Totals:
    """Running sums of one summary block; only valid sentences enter the sums of brackets, words and tags."""

    def __init__(self) -> None:
        self.sentences = self.errors = self.skipped = 0
        self.matched = self.gold = self.test = self.crossing = self.words = self.tags = 0
        self.unparsed = 0
        self.complete: int = 0
        self.no_crossing: int = 0
        self.few_crossing: int = 0

    def add(self, result: SentenceResult) -> None:
        """Add a sentence; one without brackets that count on either side is a complete match."""
        _, _, status, matched, gold, test, crossing, words, tags = result[:9]
        self.sentences += 1
        if status == ERROR:
            self.errors += 1
        elif status == SKIP:
            self.skipped += 1
        else:
            self.matched += matched
            self.gold += gold
            self.test += test
            self.crossing += crossing
            self.words += words
            self.tags += tags
            self.complete += gold == test == matched
            self.no_crossing += crossing == 0
            self.few_crossing += crossing <= 2

    def add_unparsed(self, result: SentenceResult) -> None:
        """Add a sentence without a parse, for which EVALB has no rule.

        Its brackets are missed, it is neither a complete match nor free of crossings, and it does not enter the average crossing.
        """
        before = self.complete, self.no_crossing, self.few_crossing
        self.add(result)
        self.complete, self.no_crossing, self.few_crossing = before
        self.unparsed += 1

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return _percent(self.matched, self.test)

    @property
    def tagging_accuracy(self) -> float:
        return _percent(self.tags, self.words)


def _mean(total: int, number: int) -> float:
    return total / number if number else 0.0


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def summary(everything: Totals, short: Totals, cutoff_length: int) -> bytes:
    """The text after the last row: the rule, the line of totals, and a block for all and one for short sentences."""
    total = b""
    if everything.gold and everything.test:
        total = b"                %6.2f %6.2f %6d %5d %5d  %5d" % (
            everything.recall,
            everything.precision,
            everything.matched,
            everything.gold,
            everything.test,
            everything.crossing,
        )
    total += b"  %5d %5d   %6.2f\n" % (everything.words, everything.tags, everything.tagging_accuracy)
    blocks = _block(b"All", everything) + _block(b"len<=%d" % cutoff_length, short)
    return RULE + total + b"=== Summary ===\n" + blocks


def _block(title: bytes, totals: Totals) -> bytes:
    counts = (
        (b"Number of sentence", totals.sentences),
        (b"Number of Error sentence", totals.errors),
        (b"Number of Skip  sentence", totals.skipped),
        (b"Number of Valid sentence", totals.valid),
    )
    rates = (
        (b"Bracketing Recall", b"%6.2f" % totals.recall),
        (b"Bracketing Precision", b"%6.2f" % totals.precision),
        (b"Bracketing FMeasure", _f_measure(totals)),
        (b"Complete match", b"%6.2f" % _percent(totals.complete, totals.valid)),
        (b"Average crossing", b"%6.2f" % _mean(totals.crossing, totals.valid - totals.unparsed)),
        (b"No crossing", b"%6.2f" % _percent(totals.no_crossing, totals.valid)),
        (b"2 or less crossing", b"%6.2f" % _percent(totals.few_crossing, totals.valid)),
        (b"Tagging accuracy", b"%6.2f" % totals.tagging_accuracy),
    )
    lines = [b"", b"-- %s --" % title]
    lines += [b"%-25s = %6d" % pair for pair in counts]
    lines += [b"%-25s = %s" % pair for pair in rates]
    return b"\n".join(lines) + b"\n"


def _f_measure(totals: Totals) -> bytes:
    """2PR/(P+R), in EVALB's order of operations; its 0/0 prints a negative nan on x86-64."""
    recall, precision = totals.recall, totals.precision
    if precision + recall == 0:
        return b"  -nan"
    return b"%6.2f" % (2 * precision * recall / (precision + recall))
