"""FREVAL as its authors' program computes it: line by line, with its own cleaning and its own printing.

Known from its behaviour: a blank gold line ends the evaluation, a malformed gold line shifts the pairs by one, a malformed test
line drops its pair, labels *and tags* are cut, deletion looks at the uncut label, a node without children counts as a word.
Matched fragments are fragments of the gold tree all of whose nodes are matched; the test tree's edges are never looked at. Where
that program crashes (a pair without brackets) or never ends (a line that stops inside a label), this one goes on.

The printout of FREVAL's authors' program, from the same counts: a row per sentence and size, a block per length limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treegauge.io.sources import find_sources
from treegauge.metrics.evalb.counting import count_crossing
from treegauge.metrics.evalb.reading import EvalbSentence, Log, Rules, read_sentence
from treegauge.metrics.evalb.scoring import repair_quotes
from treegauge.metrics.freval import BySize, Freval, SizeScore, count_fragments
from treegauge.presets.prm import Parameters, cut_label

__all__ = ["PUBLISHED", "PublishedSentence", "lines_of", "published_printout", "published_sentences"]

_DELETED = (b"TOP", b"S1", b"-NONE-", b",", b":", b"``", b"''", b".", b"?", b"!", b"ROOT")

PUBLISHED = Parameters(
    delete_labels=_DELETED,
    delete_labels_for_length=(b"-NONE-",),
    quote_labels=(b"``", b"''", b"POS", b"NN", b"CD", b"VBZ", b":"),
    equal_labels=((b"ADVP", b"PRT"),),
)
"""The settings that program comes with, as EVALB parameters."""


_NONE = BySize()


@dataclass(frozen=True)
class PublishedSentence:
    """The published program's output for one pair of lines: ``status`` is OK, Error or Skip; only OK ones count."""

    number: int
    length: int
    status: str
    gold: BySize = _NONE
    test: BySize = _NONE
    matched: BySize = _NONE
    crossing: int = 0
    words: int = 0
    tags: int = 0

    @property
    def largest(self) -> int:
        return max(self.gold.largest, self.test.largest)

    @property
    def is_complete_match(self) -> bool:
        return self.gold.at(1) == self.test.at(1) == self.matched.at(1)


def published_sentences(gold: Iterable[bytes], test: Iterable[bytes]) -> Iterator[PublishedSentence]:
    r"""The pairs the program counts, in its order.

    >>> [sentence] = published_sentences([b"(S (NP (N a)) (VP (V b)))\n"], [b"(S (NP (N a)) (XP (V b)))\n"])
    >>> sentence.gold.counts, sentence.matched.counts
    ((3, 2, 1), (2, 1))
    """
    rules, test_lines = Rules(PUBLISHED), iter(test)
    for number, gold_line in enumerate(gold, start=1):
        if not gold_line.strip():
            return
        log = Log()
        gold_sentence = read_sentence(gold_line, rules, log)
        if log.messages:
            continue
        test_line = next(test_lines, b"")
        if not test_line.strip():
            yield PublishedSentence(number, gold_sentence.length, "Skip")
            continue
        test_sentence = read_sentence(test_line, rules, log)
        if not log.messages:
            yield _scored(number, gold_sentence, test_sentence, rules)


def _scored(number: int, gold: EvalbSentence, test: EvalbSentence, rules: Rules) -> PublishedSentence:
    length = gold.length
    if len(gold.words) != len(test.words):
        gold, test = repair_quotes(gold, test, rules, Log())
    if gold.words != test.words or _childless(gold) or _childless(test):
        return PublishedSentence(number, length, "Error")
    gold_nodes, test_nodes = _nodes(gold), _nodes(test)
    matched = _matched(gold_nodes, test_nodes, rules)
    gold_parents, test_parents = _parents(gold_nodes), _parents(test_nodes)
    return PublishedSentence(
        number,
        length,
        "OK",
        count_fragments(gold_parents),
        count_fragments(test_parents),
        count_fragments(gold_parents, nodes=matched),
        count_crossing([node[:2] for node in gold_nodes], [node[:2] for node in test_nodes]),
        len(gold.words),
        sum(rules.same_label(_cut(ours), _cut(theirs)) for ours, theirs in zip(gold.tags, test.tags, strict=True)),
    )


class _Node(NamedTuple):
    start: int
    end: int
    label: bytes


def _childless(sentence: EvalbSentence) -> bool:
    """Whether some bracket has nothing in it: the program takes it for a word, and no word is like it."""
    return any(not sentence.text(bracket).strip() for bracket in range(len(sentence.labels)))


def _nodes(sentence: EvalbSentence) -> list[_Node]:
    """The nodes that count, in pre-order: not deleted by their uncut label, and not without words."""
    triples = zip(sentence.starts, sentence.ends, sentence.labels, strict=True)
    return [_Node(start, end, _cut(label)) for start, end, label in triples if start < end and label not in _DELETED]


def _cut(label: bytes) -> bytes:
    return label if label == b"-NONE-" else cut_label(label)


def _matched(gold: list[_Node], test: list[_Node], rules: Rules) -> list[bool]:
    """Each gold node takes the first unused test node with its span and an equal label."""
    unused: dict[tuple[int, int], list[bytes]] = {}
    for start, end, label in test:
        unused.setdefault((start, end), []).append(label)
    matched: list[bool] = []
    for start, end, label in gold:
        candidates = unused.get((start, end), [])
        partner = next((index for index, other in enumerate(candidates) if rules.same_label(label, other)), None)
        if partner is not None:
            del candidates[partner]
        matched.append(partner is not None)
    return matched


def _parents(nodes: list[_Node]) -> list[int]:
    """The parent of each node, from spans in pre-order."""
    parents: list[int] = []
    open_nodes: list[int] = []
    for index, node in enumerate(nodes):
        while open_nodes and nodes[open_nodes[-1]].end <= node.start:
            open_nodes.pop()
        parents.append(open_nodes[-1] if open_nodes else -1)
        open_nodes.append(index)
    return parents


_HEADER = "  ID     Len       N         R         P     Matched    GoldFrag    TestFrag    XBkt    Wrds    TgOK    TagAcc    Status"
_TABLE = "   N         R         P        F1        a(n)     Matched    GoldFrag    TestFrag"


def published_printout(sentences: Sequence[PublishedSentence], cutoffs: Sequence[int] = (40, 25)) -> Iterator[str]:
    """The lines that program prints."""
    yield _HEADER
    for sentence in sentences:
        yield from _rows(sentence)
    for cutoff in (None, *cutoffs):
        yield from ("", "")
        title = "All" if cutoff is None else f"len<={cutoff}"
        yield from _block(title, [s for s in sentences if cutoff is None or s.length <= cutoff])


def _rows(sentence: PublishedSentence) -> Iterator[str]:
    accuracy = 100 * sentence.tags / sentence.words if sentence.words else 0.0
    for size in range(1, max(sentence.largest, 1) + 1):
        score = SizeScore(size, sentence.gold.at(size), sentence.test.at(size), sentence.matched.at(size))
        yield (
            f"{sentence.number:4d}{sentence.length:8d}{size:8d}{100 * score.recall:10.2f}{100 * score.precision:10.2f}"
            f"{score.matched:12d}{score.gold:12d}{score.test:12d}"
            f"{sentence.crossing:8d}{sentence.words:8d}{sentence.tags:8d}{accuracy:10.2f}{sentence.status:>10}"
        )


def _block(title: str, sentences: Sequence[PublishedSentence]) -> Iterator[str]:
    valid = [sentence for sentence in sentences if sentence.status == "OK"]
    crossings = [sentence.crossing for sentence in valid]
    words = sum(sentence.words for sentence in valid)
    yield f"=== Summary ({title}) ==="
    yield ""
    yield f"Number of sentence        ={len(sentences):7d}"
    yield f"Number of Error sentence  ={sum(s.status == 'Error' for s in sentences):7d}"
    yield f"Number of Skip  sentence  ={sum(s.status == 'Skip' for s in sentences):7d}"
    yield f"Number of Valid sentence  ={len(valid):7d}"
    yield f"Complete match            ={_percent(sum(s.is_complete_match for s in valid), len(valid)):7.2f}"
    yield f"Average crossing          ={sum(crossings) / len(valid) if valid else 0.0:7.2f}"
    yield f"No crossing               ={_percent(crossings.count(0), len(valid)):7.2f}"
    yield f"2 or less crossing        ={_percent(sum(x <= 2 for x in crossings), len(valid)):7.2f}"
    yield f"Tagging accuracy          ={_percent(sum(s.tags for s in valid), words):7.2f}"
    yield ""
    yield _TABLE
    total = [len(valid), *(sum((getattr(s, side) for s in valid), BySize()) for side in ("gold", "test", "matched"))]
    freval = Freval(matching="published", ranges=(0,))
    scores = freval.by_size(total)
    for score in scores:
        if score.gold and score.test:
            yield (
                f"{score.size:4d}{100 * score.recall:10.2f}{100 * score.precision:10.2f}{_f1(score.recall, score.precision)}"
                f"{1 / len(scores):12.6f}{score.matched:12d}{score.gold:12d}{score.test:12d}"
            )
    rates = freval.rates(total)
    yield "-" * len(_TABLE)
    yield f"    {100 * rates['flr']:10.2f}{100 * rates['flp']:10.2f}{_f1(rates['flr'], rates['flp'])}"
    yield ""


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _f1(recall: float, precision: float) -> str:
    both = recall + precision
    value = 100 * 2 * recall * precision / both if both else math.nan
    return f"{value:10.2f}" if both else f"{'NaN':>10}"


def lines_of(path: str) -> Iterator[bytes]:
    """The lines of a file, with their newlines."""
    for source in find_sources(path):
        with source.open() as stream:
            yield from stream
