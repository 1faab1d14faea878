"""FREVAL as its authors' program computes and prints it: the library's counts of fragments, and its own rules for reading lines.

These rules are known from its behaviour. A blank gold line ends the evaluation, a malformed gold line shifts the pairs by one, and
a malformed test line drops its pair. Labels *and tags* are cut, deletion goes by the uncut label, and a node without children
counts as a word. A deleted quote is put back if the other side has a quote after the same number of words that are not quotes.
Matched fragments are fragments of the gold tree all of whose nodes are matched; the edges of the test tree do not matter. Numbers
are rounded half up. Where that program crashes (a pair without brackets) or never ends (a line that stops inside a label), this one
goes on.

The printout has a row for each sentence and size, and a block for each length limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from treegauge.metrics.evalb.lines import Log, Rules, read_sentence
from treegauge.metrics.evalb.scoring import count_crossing
from treegauge.metrics.fragments import BySize, count_fragments
from treegauge.presets.prm import Parameters, cut_label

_DELETED = (b"TOP", b"S1", b"-NONE-", b",", b":", b"``", b"''", b".", b"?", b"!", b"ROOT")

PUBLISHED = Parameters(
    delete_labels=_DELETED,
    delete_labels_for_length=(b"-NONE-",),
    quote_labels=(b"``", b"''", b"POS", b"NN", b"CD", b"VBZ", b":"),
    equal_labels=((b"ADVP", b"PRT"),),
)
"""The settings of that program, as EVALB parameters."""


_NONE = BySize()


@dataclass(frozen=True)
class PublishedSentence:
    """The program's result for one pair of lines; ``status`` is OK, Error or Skip, and only sentences that are OK count."""

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
    r"""The pairs that the program counts, in its order.

    >>> [sentence] = published_sentences([b"(S (NP (N a)) (VP (V b)))\n"], [b"(S (NP (N a)) (XP (V b)))\n"])
    >>> sentence.gold.counts, sentence.matched.counts
    ((3, 2, 1), (2, 1))
    """
    rules, test_lines = Rules(PUBLISHED), iter(test)
    for number, gold_line in enumerate(gold, start=1):
        if not gold_line.strip():
            return
        log = Log()
        length = read_sentence(gold_line, rules, log).length
        if log.messages:
            continue
        test_line = next(test_lines, b"")
        if not test_line.strip():
            yield PublishedSentence(number, length, "Skip")
            continue
        read_sentence(test_line, rules, log)
        if not log.messages:
            yield _score_pair(number, length, _ProgramTree(gold_line, rules), _ProgramTree(test_line, rules), rules)


def _score_pair(number: int, length: int, gold: _ProgramTree, test: _ProgramTree, rules: Rules) -> PublishedSentence:
    if len(gold.leaves()) != len(test.leaves()):
        _put_quotes_back(gold, test)
    if [leaf.label for leaf in gold.leaves()] != [leaf.label for leaf in test.leaves()]:
        return PublishedSentence(number, length, "Error")
    gold_nodes, gold_parents = gold.nodes()
    test_nodes, test_parents = test.nodes()
    matched = _match_nodes(gold_nodes, test_nodes, rules)
    return PublishedSentence(
        number,
        length,
        "OK",
        count_fragments(gold_parents),
        count_fragments(test_parents),
        count_fragments(gold_parents, nodes=matched),
        count_crossing([node[:2] for node in gold_nodes], [node[:2] for node in test_nodes]),
        len(gold.leaves()),
        sum(rules.same_label(ours, theirs) for ours, theirs in zip(gold.tags(), test.tags(), strict=False)),
    )


class _PublishedNode(NamedTuple):
    start: int
    end: int
    label: bytes


@dataclass(eq=False)
class _TreeNode:
    """A node in the program's sense, in which a word is a node too; ``name`` is the cut label."""

    label: bytes
    parent: _TreeNode | None
    is_word: bool = False
    n_children: int = 0
    name: bytes = b""
    is_deleted: bool = False
    is_quote: bool = False


_TOKEN = re.compile(rb"\(([^\s()]*)(?:\s+([^\s()]*)(?=\)))?|\)")


class _ProgramTree:
    """A line as the program reads it: nodes in pre-order and post-order, with marks for deleted nodes and quotes.

    A node without children, such as ``(NP)``, is a leaf: it is compared as a word, by its uncut label, but covers nothing.
    """

    def __init__(self, line: bytes, rules: Rules) -> None:
        self.root = _TreeNode(b"", None)
        self.preorder: list[_TreeNode] = []
        self.postorder: list[_TreeNode] = []
        stack = [self.root]
        for token in _TOKEN.finditer(line):
            if token[0] == b")":
                if len(stack) > 1:
                    self.postorder.append(stack.pop())
                continue
            stack.append(self._add(token[1], stack[-1]))
            if token[2] is not None:
                word = self._add(token[2], stack[-1], is_word=True)
                self.postorder.append(word)
        for node in self.postorder:
            self._mark(node, rules)

    def _add(self, label: bytes, parent: _TreeNode, *, is_word: bool = False) -> _TreeNode:
        node = _TreeNode(label, parent, is_word)
        parent.n_children += 1
        self.preorder.append(node)
        return node

    def _mark(self, node: _TreeNode, rules: Rules) -> None:
        """Mark a node as deleted or as a quote, by its own uncut label, or, for a leaf, by that of its parent."""
        parent = node.parent
        assert parent is not None
        if node.n_children:
            node.name = _cut(node.label)
            node.is_deleted = node.label in _DELETED
        else:
            node.name = node.label
            parent.is_quote |= rules.is_quote(parent.label, node.label)
            node.is_deleted = parent.label in _DELETED

    def leaves(self) -> list[_TreeNode]:
        """The leaves that are compared: those whose parent is not deleted."""
        return [node for node in self.postorder if not node.n_children and node.parent and not node.parent.is_deleted]

    def tags(self) -> list[bytes]:
        """The tags of the words that are not deleted."""
        return [leaf.parent.name for leaf in self.preorder if leaf.is_word and not leaf.is_deleted and leaf.parent]

    def quotes(self) -> list[tuple[int, _TreeNode]]:
        """The quotes, each with the number of words before it that are neither deleted nor quotes."""
        found: list[tuple[int, _TreeNode]] = []
        before = 0
        for node in self.postorder:
            if node.is_quote:
                found.append((before, node))
            elif not node.n_children and node.parent and not node.parent.is_deleted and not node.parent.is_quote:
                before += 1
        return found

    def nodes(self) -> tuple[list[_PublishedNode], list[int]]:
        """The nodes that count, in pre-order, and the number of the parent of each among them (-1: none)."""
        first: dict[int, int] = {}
        last: dict[int, int] = {}
        place = 0
        for leaf in self.preorder:
            if leaf.is_word and not leaf.is_deleted:
                above = leaf.parent
                while above is not None:
                    first.setdefault(id(above), place)
                    last[id(above)] = place + 1
                    above = above.parent
                place += 1
        tags = {id(node.parent) for node in self.preorder if node.is_word}
        numbers: dict[int, int] = {id(self.root): -1}
        nodes: list[_PublishedNode] = []
        parents: list[int] = []
        for node in self.preorder:
            above = numbers[id(node.parent)]
            numbers[id(node)] = above
            if node.n_children and not node.is_deleted and id(node) in first and id(node) not in tags:
                numbers[id(node)] = len(nodes)
                nodes.append(_PublishedNode(first[id(node)], last[id(node)], node.name))
                parents.append(above)
        return nodes, parents


def _put_quotes_back(gold: _ProgramTree, test: _ProgramTree) -> None:
    """Put a deleted quote back if the other side has, after as many words, a quote with another tag that is not deleted."""
    partners = test.quotes()
    for before, ours in gold.quotes():
        for as_many, theirs in partners:
            if before == as_many and ours.name != theirs.name and ours.is_deleted != theirs.is_deleted:
                for tree, node in ((gold, ours), (test, theirs)):
                    node.is_deleted = False
                    for leaf in tree.preorder:
                        if leaf.parent is node:
                            leaf.is_deleted = False


def _cut(label: bytes) -> bytes:
    return label if label == b"-NONE-" else cut_label(label)


def _match_nodes(gold: list[_PublishedNode], test: list[_PublishedNode], rules: Rules) -> list[bool]:
    """A mask of the matched gold nodes; each takes the first unused test node with its span and an equal label."""
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


_HEADER = "  ID     Len       N         R         P     Matched    GoldFrag    TestFrag    XBkt    Wrds    TgOK    TagAcc    Status"
_TABLE = "   N         R         P        F1        a(n)     Matched    GoldFrag    TestFrag"


def published_printout(sentences: Sequence[PublishedSentence], cutoffs: Sequence[int] = (40, 25)) -> Iterator[str]:
    """The lines that the program prints."""
    yield _HEADER
    for sentence in sentences:
        yield from _rows(sentence)
    for cutoff in (None, *cutoffs):
        yield from ("", "")
        title = "All" if cutoff is None else f"len<={cutoff}"
        yield from _block(title, [s for s in sentences if cutoff is None or s.length <= cutoff])


def _rows(sentence: PublishedSentence) -> Iterator[str]:
    for size in range(1, max(sentence.largest, 1) + 1):
        gold, test, matched = sentence.gold.at(size), sentence.test.at(size), sentence.matched.at(size)
        yield (
            f"{sentence.number:4d}{sentence.length:8d}{size:8d}{_java(_percent(matched, gold)):>10}"
            f"{_java(_percent(matched, test)):>10}{matched:12d}{gold:12d}{test:12d}"
            f"{sentence.crossing:8d}{sentence.words:8d}{sentence.tags:8d}{_java(_percent(sentence.tags, sentence.words)):>10}"
            f"{sentence.status:>10}"
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
    yield f"Complete match            ={_java(_percent(sum(s.is_complete_match for s in valid), len(valid))):>7}"
    yield f"Average crossing          ={_java(sum(crossings) / len(valid) if valid else 0.0):>7}"
    yield f"No crossing               ={_java(_percent(crossings.count(0), len(valid))):>7}"
    yield f"2 or less crossing        ={_java(_percent(sum(x <= 2 for x in crossings), len(valid))):>7}"
    yield f"Tagging accuracy          ={_java(_percent(sum(s.tags for s in valid), words)):>7}"
    yield ""
    yield _TABLE
    gold, test, matched = (sum((getattr(s, side) for s in valid), BySize()) for side in ("gold", "test", "matched"))
    largest = max(gold.largest, test.largest)
    total_recall = total_precision = 0.0
    for size in range(1, largest + 1):
        if gold.at(size) and test.at(size):
            recall, precision = _percent(matched.at(size), gold.at(size)), _percent(matched.at(size), test.at(size))
            total_recall += 1 / largest * recall
            total_precision += 1 / largest * precision
            yield (
                f"{size:4d}{_java(recall):>10}{_java(precision):>10}{_java(_f1(recall, precision)):>10}"
                f"{_java(1 / largest, 6):>12}{matched.at(size):12d}{gold.at(size):12d}{test.at(size):12d}"
            )
    yield "-" * len(_TABLE)
    yield f"    {_java(total_recall):>10}{_java(total_precision):>10}{_java(_f1(total_recall, total_precision)):>10}"
    yield ""


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _f1(recall: float, precision: float) -> float:
    both = recall + precision
    return 2 * precision * recall / both if both else math.nan


def _java(value: float, digits: int = 2) -> str:
    """A number as Java's formatter writes it: the shortest decimal that is the number, rounded half up.

    >>> _java(0.125), f"{0.125:.2f}", _java(1.005), f"{1.005:.2f}", _java(math.nan)
    ('0.13', '0.12', '1.01', '1.00', 'NaN')
    """
    if math.isnan(value):
        return "NaN"
    return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
