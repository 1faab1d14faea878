"""Comparing two sentences of the same words: brackets that count, matches, crossings, tags.

Matching is greedy as in EVALB: each gold bracket in order takes the first test bracket not yet taken with the same
span and an equal label. With EQ_LABEL pairs that are not transitive the order matters.

Two brackets cross where their spans overlap and neither contains the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import repeat

from treegauge.metrics.evalb.reading import EvalbSentence, Rules
from treegauge.presets.prm import cut_label

__all__ = ["DELETED", "MATCHED", "NOT_REACHED", "UNMATCHED", "SentenceComparison", "Side", "compare_sentences", "count_crossing"]

StartEnd = tuple[int, int]

_FEW = 2000
"""For at most this many pairs, comparing each pair is quicker than sweeping."""


def count_crossing(gold: Collection[StartEnd], test: Collection[StartEnd]) -> int:
    """The number of test spans (a, b) with some gold span (c, d) so that c < a < d < b or a < c < b < d.

    A test span counts once however many gold spans it crosses, and as often as it occurs. Gold spans need not be
    nested in each other: broken input may leave them crossing.

    >>> count_crossing([(0, 2), (2, 5)], [(0, 5), (1, 3), (1, 3), (2, 4)])
    2
    """
    if len(gold) * len(test) <= _FEW:
        return _count_by_pairs(gold, test)
    ends = _nearest_ends(gold, {a for a, _ in test})
    # The mirror image: the largest start left of b among spans that hold b is the smallest end right of -b.
    starts = _nearest_ends([(-d, -c) for c, d in gold], {-b for _, b in test})
    return sum(ends.get(a, b) < b or -starts.get(-b, -a) > a for a, b in test)


def _count_by_pairs(gold: Collection[StartEnd], test: Collection[StartEnd]) -> int:
    # Plain loops: this is the inside of scoring, and generators would double its cost.
    crossing = 0
    for a, b in test:
        for c, d in gold:
            if a < d < b if c < a else a < c < b < d:
                crossing += 1
                break
    return crossing


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
"""EVALB's result codes: DELETED also for a bracket without words, NOT_REACHED in a sentence rejected earlier."""


@dataclass(slots=True)
class Side:
    """One side of a comparison: each bracket's result code and label, cut where the bracket holds words."""

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
    r"""The brackets and tags of two sentences with the same number of words.

    >>> from treegauge.metrics.evalb.reading import Log
    >>> from treegauge.metrics.evalb.reading import read_sentence
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
    """The brackets of a sentence, with those that count marked, before any is matched.

    A bracket without words keeps its label as it is and does not count; a deleted one has its label cut.
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

    Test brackets wait in a queue per span and label, so the first free one with an equal label is the earliest head
    among the queues of the labels like it.
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
