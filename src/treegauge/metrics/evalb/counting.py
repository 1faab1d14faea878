"""Comparing two sentences of the same words: brackets that count, matches, crossings, tags.

Matching is greedy as in EVALB: each gold bracket in order takes the first test bracket not yet taken with the same
span and an equal label. With EQ_LABEL pairs that are not transitive the order matters.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat

from treegauge.metrics.evalb.crossing import Span, count_crossing
from treegauge.metrics.evalb.reading import Sentence
from treegauge.metrics.evalb.rules import Rules
from treegauge.normalise.prm import cut_label

__all__ = ["DELETED", "MATCHED", "NOT_REACHED", "UNMATCHED", "Comparison", "Side", "compare"]

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
class Comparison:
    """What comparing two sentences gives; ``tag_codes`` has one entry a word."""

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


def compare(gold: Sentence, test: Sentence, rules: Rules) -> Comparison:
    r"""The brackets and tags of two sentences with the same number of words.

    >>> from treegauge.metrics.evalb.log import Log
    >>> from treegauge.metrics.evalb.reading import read_sentence
    >>> from treegauge.normalise.prm import Parameters
    >>> rules = Rules(Parameters())
    >>> gold = read_sentence(b"(S (A (N a) (N b)) (N c))", rules, Log())
    >>> test = read_sentence(b"(S (N a) (A (N b) (V c)))", rules, Log())
    >>> both = compare(gold, test, rules)
    >>> both.matched, both.gold.counted, both.test.counted, both.crossing, both.tags
    (1, 2, 2, 1, 2)
    """
    gold_side, test_side = side_of(gold, rules), side_of(test, rules)
    crossing = count_crossing(list(_counted_spans(gold, gold_side)), list(_counted_spans(test, test_side)))
    _match(gold, gold_side, test, test_side, rules)
    tag_codes = [MATCHED if rules.same_label(*pair) else UNMATCHED for pair in zip(gold.tags, test.tags, strict=True)]
    return Comparison(gold_side, test_side, crossing, tag_codes)


def side_of(sentence: Sentence, rules: Rules) -> Side:
    """Which brackets of a sentence count, before any is matched.

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


def _counted_spans(sentence: Sentence, side: Side) -> Iterator[Span]:
    spans = zip(sentence.starts, sentence.ends, strict=True)
    return (span for span, code in zip(spans, side.codes, strict=True) if code != DELETED)


def _match(gold: Sentence, gold_side: Side, test: Sentence, test_side: Side, rules: Rules) -> None:
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
