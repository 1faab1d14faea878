"""EVALB's quote repair: put back a quotation mark that one side took for punctuation and the other for a word.

It runs only when the two sides keep different numbers of words. Its double insertion of adjacent quotes is part of
what EVALB prints, and is kept.
"""

from __future__ import annotations

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
    if not gold.quotes or not test.quotes:
        return gold, test
    gold, test = _copy(gold), _copy(test)
    for i in range(len(test.quotes)):
        index = test.quotes[i].words
        for j in range(len(gold.quotes)):
            ours, theirs = gold.quotes[j], test.quotes[i]
            if ours.words != index or ours.tag == theirs.tag:
                continue
            ours_deleted, theirs_deleted = ours.tag in rules.deleted_tags, theirs.tag in rules.deleted_tags
            if ours_deleted and not theirs_deleted:
                _put_back(gold, j, log)
            elif theirs_deleted and not ours_deleted:
                _put_back(test, i, log)
    return gold, test


def _copy(sentence: Sentence) -> Sentence:
    """A sentence whose words, spans and quotes can change without the original."""
    return replace(
        sentence,
        words=list(sentence.words),
        tags=list(sentence.tags),
        starts=list(sentence.starts),
        ends=list(sentence.ends),
        quotes=list(sentence.quotes),
    )


def _put_back(sentence: Sentence, number: int, log: Log) -> None:
    """Insert a quote among the words: later brackets move on, brackets open around it grow."""
    quote = sentence.quotes[number]
    sentence.words.insert(quote.words, quote.word)
    sentence.tags.insert(quote.words, quote.tag)
    around = [bracket for bracket in range(quote.brackets) if _is_open(sentence, bracket, quote)]
    if log.tracing:
        log.trace(b"bra=%d, ind=%d\n" % (quote.brackets, quote.words))
        for bracket, span in enumerate(zip(sentence.starts, sentence.ends, strict=True)):
            log.trace(b"bracket[%d]={%d,%d}\n" % (bracket, *span))
        log.trace(b"endslen=%d\n" % len(around))
    for bracket in range(quote.brackets, len(sentence.labels)):
        sentence.starts[bracket] += 1
        sentence.ends[bracket] += 1
    for bracket in around:
        sentence.ends[bracket] += 1
    for later in range(number, len(sentence.quotes)):
        moved = sentence.quotes[later]
        sentence.quotes[later] = moved._replace(words=moved.words + 1)


def _is_open(sentence: Sentence, bracket: int, quote: Quote) -> bool:
    """Whether a bracket opened before the quote is closed after it, or never."""
    return sentence.closed[bracket] == UNCLOSED or sentence.closed[bracket] > quote.place


def _trace_quotes(gold: Sentence, test: Sentence, log: Log) -> None:
    for number in range(max(len(gold.quotes), len(test.quotes))):
        for quote in (*gold.quotes[number : number + 1], *test.quotes[number : number + 1]):
            log.trace(b"%d: %s - %s\n" % (quote.words, quote.tag, quote.word))
