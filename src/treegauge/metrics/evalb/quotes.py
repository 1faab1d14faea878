"""EVALB's quote repair: put back a quotation mark that one side took for punctuation and the other for a word.

It runs only when the two sides keep different numbers of words. Its double insertion of adjacent quotes is part of
what EVALB prints, and is kept.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace

from treegauge.metrics.evalb.log import Log
from treegauge.metrics.evalb.reading import UNCLOSED, Quote, Sentence
from treegauge.metrics.evalb.rules import Rules

__all__ = ["repair_quotes"]


def repair_quotes(gold: Sentence, test: Sentence, rules: Rules, log: Log) -> tuple[Sentence, Sentence]:
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

    def __init__(self, sentence: Sentence, log: Log) -> None:
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


def _is_open(sentence: Sentence, bracket: int, quote: Quote) -> bool:
    """Whether a bracket opened before the quote is closed after it, or never."""
    return sentence.closed[bracket] == UNCLOSED or sentence.closed[bracket] > quote.place


def _trace_quotes(gold: Sentence, test: Sentence, log: Log) -> None:
    for number in range(max(len(gold.quotes), len(test.quotes))):
        for quote in (*gold.quotes[number : number + 1], *test.quotes[number : number + 1]):
            log.trace(b"%d: %s - %s\n" % (quote.words, quote.tag, quote.word))
