"""The two trees of a question as pictures: what matched, crosses, is missed or spurious; what is far away is drawn closed."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from typing import Literal, NamedTuple

import numpy as np

from treegauge.humancheck.questions import Occurrence, System
from treegauge.humancheck.tree_edits import without_long_runs, without_tagged
from treegauge.metrics.hogenhout.items import Prepared
from treegauge.presets import Preset
from treegauge.trees.drawing import draw_svg, fold_to
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Int64

__all__ = ["Picture", "Side", "anonymous", "around", "crossed", "draw", "gold_label", "gold_side", "is_right_to_left", "parse_side"]

_SMALL = 14
_CLOSE = 6
_MOST_NODES = 1500
_LONG = 300


class Picture(NamedTuple):
    """A drawn tree: its ``name`` for the page, the SVG, where in it the asked words ``start:end`` stand, and whether it is all."""

    name: str
    svg: str
    start: int
    end: int
    is_whole: bool


class Side(NamedTuple):
    """A tree with its marks by node, the words ``asked`` about, and the words ``near`` them: the crossed brackets, too."""

    tree: Tree
    marks: Mapping[int, str]
    asked: tuple[int, int]
    near: tuple[int, int]


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


def gold_side(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str]) -> Side:
    """The treebank's tree: what the parser reproduced, what it missed, and what the bracket in question crosses."""
    items, row = system.items, occurrence.row
    across = set(crossed(system, row).tolist())
    same = set(np.flatnonzero(items.partner == row).tolist())

    def mark(number: int) -> str:
        found = "crossing" if number in across else "matched" if items.reproduced[number] else "missed"
        return f"{found} focus" if number in same else found

    return _side(system, tree, occurrence, traces, items.gold, mark, of_gold=True)


def parse_side(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str]) -> Side:
    """The parser's tree: what is in the treebank, what crosses it, what is spurious, and the bracket in question."""
    items = system.items

    def mark(number: int) -> str:
        found = "matched" if items.exact[number] else "crossing" if items.crosses[number] else "spurious"
        return f"{found} focus" if number == occurrence.row else found

    return _side(system, tree, occurrence, traces, items.test, mark, of_gold=False)


def anonymous(side: Side, preset: Preset) -> Side:
    """A tree that does not tell whose it is: no marks, no function tags, no root that only a treebank or a parser writes."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        label = preset.cut_label(node.label)
        if node.is_preterminal:
            return [node]
        return children if preset.deletes(label) else [node.replace(label=label, children=children)]

    tree = rebuild(side.tree, make) or side.tree
    return Side(tree.replace(label="") if preset.deletes(tree.label) else tree, {}, side.asked, side.near)


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
    tokens = system.places.tokens(occurrence.sentence)
    column = tokens.gold if of_gold else tokens.test

    def words(start: int, end: int) -> tuple[int, int]:
        return (int(column[start]), int(column[end - 1]) + 1) if start < end else (0, shown.width)

    test = system.items.test.brackets
    asked = words(int(test.start[occurrence.row]), int(test.end[occurrence.row]))
    return Side(shown, dict(nodes), asked, words(*_near(system, occurrence.row)))


def _near(system: System, row: int) -> tuple[int, int]:
    """The tokens of a bracket and, on either side, of the smallest treebank bracket that it crosses there."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    across = crossed(system, row)
    start, end = int(test.start[row]), int(test.end[row])
    first, last = gold.start[across], gold.end[across]
    return max(first[first < start].tolist(), default=start), min(last[last > end].tolist(), default=end)


def draw(side: Side, name: str, prefix: str, *, whole: bool, right_to_left: bool) -> Picture:
    """The tree drawn: the part around the bracket in question, with what is not near it closed, or the whole tree."""
    short = _shortened(side)
    shown = short if whole else _cropped(short)
    folded = fold_to(shown.tree, nodes=_MOST_NODES) if whole or shown.tree.width <= _SMALL else _far(shown)
    direction: Literal["ltr", "rtl"] = "rtl" if right_to_left else "ltr"
    svg = draw_svg(
        shown.tree, shown.marks, id_prefix=prefix, title=name, direction=direction, folded=folded, legend=False, stylesheet=False
    )
    return Picture(name, svg, *shown.asked, not folded and shown.tree.size == side.tree.size)


def _shortened(side: Side) -> Side:
    """A tree of thousands of words without those in the middle of a long run: nobody reads them in a picture."""
    if side.tree.width <= _LONG:
        return side
    tree, nodes, words = without_long_runs(side.tree)
    new = {old: number for number, old in enumerate(nodes)}
    asked, near = ((bisect_left(words, start), bisect_left(words, end)) for start, end in (side.asked, side.near))
    return Side(tree, {new[node]: mark for node, mark in side.marks.items()}, asked, near)


def _cropped(side: Side) -> Side:
    """The smallest subtree that holds more than the words near the bracket, so that one sees what it hangs from."""
    best, number, first = side.tree, 0, 0
    for index, (node, start, end) in enumerate(side.tree.nodes_with_spans()):
        if start <= side.near[0] and side.near[1] <= end and end - start > side.near[1] - side.near[0]:
            best, number, first = node, index, start
    if side.tree.width <= _SMALL or best is side.tree:
        return side
    marks = {node - number: mark for node, mark in side.marks.items() if number <= node < number + best.size}
    asked, near = ((start - first, end - first) for start, end in (side.asked, side.near))
    return Side(best, marks, asked, near)


def _far(side: Side) -> frozenset[int]:
    """The nodes to close: all that is apart from the words near the question and, among these, what is long and settled."""
    nodes = list(side.tree.nodes_with_spans())
    hot = {number for number, mark in side.marks.items() if "focus" in mark or "crossing" in mark}
    spans = [side.asked, *((start, end) for number, (_, start, end) in enumerate(nodes) if number in hot)]
    folded: set[int] = set()
    number, drawn = 0, 0
    while number < len(nodes):
        node, start, end = nodes[number]
        apart = end <= side.near[0] or start >= side.near[1]
        inside = side.near[0] <= start and end <= side.near[1]
        settled = inside and node.width > _CLOSE and not any(start <= first and last <= end for first, last in spans)
        closes = number > 0 and not node.is_preterminal and node.width > 1 and (apart or settled or drawn > _MOST_NODES)
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
