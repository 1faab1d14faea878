"""The two trees of a question as pictures: what matched, crosses, is missed or spurious; what is far away is drawn closed."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Mapping
from typing import Literal, NamedTuple

import numpy as np

from treegauge.humancheck.queue import Occurrence, System
from treegauge.humancheck.walking import without_tagged
from treegauge.metrics.hogenhout.preprocessing import Prepared
from treegauge.trees.drawing import draw_svg, fold_to
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Int64

__all__ = ["Picture", "Side", "around", "crossed", "draw", "gold_label", "gold_side", "is_right_to_left", "parse_side"]

_SMALL = 14
_CLOSE = 6
_MOST_NODES = 1500


class Picture(NamedTuple):
    """A drawn tree: its ``name`` for the page, and the SVG."""

    name: str
    svg: str


class Side(NamedTuple):
    """A tree with its marks by node, and the words that the question is about."""

    tree: Tree
    marks: Mapping[int, str]
    start: int
    end: int


def crossed(system: System, row: int) -> Int64:
    """The treebank brackets that a parser's bracket crosses."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    start, end = int(test.start[row]), int(test.end[row])
    rows = _rows_of(system, row)
    first, last = gold.start[rows], gold.end[rows]
    return rows[((first < start) & (start < last) & (last < end)) | ((start < first) & (first < end) & (end < last))]


def around(system: System, row: int) -> int:
    """The smallest treebank bracket around a parser's bracket, itself included; -1 if there is none."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    rows = _rows_of(system, row)
    holds = rows[(gold.start[rows] <= test.start[row]) & (gold.end[rows] >= test.end[row])]
    return int(holds[np.argmin(gold.end[holds] - gold.start[holds])]) if len(holds) else -1


def _rows_of(system: System, row: int) -> Int64:
    gold = system.items.gold.brackets
    sentence = int(system.items.test.brackets.sentence[row])
    return np.arange(int(gold.offset[sentence]), int(gold.offset[sentence + 1]))


def gold_label(system: System, row: int) -> str:
    """The label of a treebank bracket, or those of its chain from the top."""
    gold = system.items.gold
    sentence = int(gold.brackets.sentence[row])
    return "+".join(gold.before.labels[label] for label, became, _ in _nodes(gold, sentence) if became == row)


def _nodes(prepared: Prepared, sentence: int) -> list[tuple[int, int, int]]:
    """Label, bracket (-1: none) and node of each phrase of a sentence."""
    rows = slice(int(prepared.before.offset[sentence]), int(prepared.before.offset[sentence + 1]))
    columns = (prepared.before.label[rows], prepared.became[rows], prepared.before.node[rows])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def gold_side(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str], *, blind: bool) -> Side:
    """The treebank's tree: what the parser reproduced, what it missed, and what the bracket in question crosses."""
    items, row = system.items, occurrence.row
    across = set(crossed(system, row).tolist())
    same = set(np.flatnonzero(items.partner == row).tolist())

    def mark(number: int) -> str:
        found = "crossing" if number in across else "matched" if items.reproduced[number] else "missed"
        return _shown(found, number in same, blind)

    return _side(system, tree, occurrence, traces, items.gold, mark, of_gold=True)


def parse_side(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str], *, blind: bool) -> Side:
    """The parser's tree: what is in the treebank, what crosses it, what is spurious, and the bracket in question."""
    items = system.items

    def mark(number: int) -> str:
        found = "matched" if items.exact[number] else "crossing" if items.crosses[number] else "spurious"
        return _shown(found, number == occurrence.row, blind)

    return _side(system, tree, occurrence, traces, items.test, mark, of_gold=False)


def _shown(found: str, is_asked: bool, blind: bool) -> str:
    """The marks of a node; a blind annotator sees only which bracket is asked about."""
    if blind:
        return "focus" if is_asked else ""
    return f"{found} focus" if is_asked else found


def _side(
    system: System,
    tree: Tree,
    occurrence: Occurrence,
    traces: Collection[str],
    prepared: Prepared,
    mark: Callable[[int], str],
    *,
    of_gold: bool,
) -> Side:
    sentence = int(system.items.test.brackets.sentence[occurrence.row])
    shown, new = without_tagged(tree, traces)
    nodes = [(new[node], mark(became)) for _, became, node in _nodes(prepared, sentence) if became >= 0 and node in new]
    start, end = _hot(system, occurrence.row)
    tokens = system.places.tokens(occurrence.sentence)
    column = tokens.gold if of_gold else tokens.test
    first, last = (int(column[start]), int(column[end - 1]) + 1) if start < end else (0, shown.width)
    return Side(shown, {node: text for node, text in nodes if text}, first, last)


def _hot(system: System, row: int) -> tuple[int, int]:
    """The tokens that a question is about: the bracket, and the treebank brackets that it crosses."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    across = crossed(system, row)
    starts, ends = [int(test.start[row]), *gold.start[across].tolist()], [int(test.end[row]), *gold.end[across].tolist()]
    return min(starts), max(ends)


def draw(side: Side, name: str, prefix: str, *, whole: bool, right_to_left: bool) -> Picture:
    """The tree drawn, with what is not near the bracket in question closed, unless the whole tree is wanted."""
    folded = fold_to(side.tree, nodes=_MOST_NODES) if whole else _far(side)
    direction: Literal["ltr", "rtl"] = "rtl" if right_to_left else "ltr"
    svg = draw_svg(
        side.tree, side.marks, id_prefix=prefix, title=name, direction=direction, folded=folded, legend=False, stylesheet=False
    )
    return Picture(name, svg)


def _far(side: Side) -> frozenset[int]:
    """The nodes to close: all that is apart from the question's words and, among these, what is long and of no interest."""
    if side.tree.width <= _SMALL:
        return frozenset()
    nodes = list(side.tree.nodes_with_spans())
    hot = {number for number, mark in side.marks.items() if "focus" in mark or "crossing" in mark}
    spans = [(side.start, side.end), *((start, end) for number, (_, start, end) in enumerate(nodes) if number in hot)]
    folded: set[int] = set()
    number, drawn = 0, 0
    while number < len(nodes):
        node, start, end = nodes[number]
        apart = end <= side.start or start >= side.end
        holds = number == 0 or any(start <= first and last <= end for first, last in spans)
        closes = not node.is_preterminal and node.width > 1 and not holds and (apart or node.width > _CLOSE or drawn > _MOST_NODES)
        if closes:
            folded.add(number)
        drawn += 1
        number += node.size if closes else 1
    return frozenset(folded)


def is_right_to_left(words: Collection[str]) -> bool:
    """Whether a sentence is written from right to left: most of its letters are.

    >>> is_right_to_left(["שלום", "עולם", "OK"]), is_right_to_left(["hello"])
    (True, False)
    """
    kinds = [unicodedata.bidirectional(character) for word in words for character in word if character.isalpha()]
    return 2 * sum(kind in ("R", "AL") for kind in kinds) > len(kinds)
