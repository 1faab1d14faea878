"""Pictures of the two trees behind a question: marks on their brackets, and what lies off the path to them folded away.

A picture shows the brackets that matter: in the parse the one in question, in the treebank the smallest ones that it crosses, or
the one around it. Both trees are cut at nodes over the same words. On the way from there to the bracket everything is open; beside
it, neighbours are dots with the number of their words. Then as much is opened as there is room for, what is nearest first.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from treegauge.humancheck.corrections import post_order_numbers
from treegauge.humancheck.judgements import WordBlocks
from treegauge.humancheck.questions import Occurrence, System
from treegauge.metrics.hogenhout.items import ProcessedBrackets
from treegauge.metrics.matching import crossing_sets
from treegauge.presets import Preset
from treegauge.trees.drawing import draw_svg
from treegauge.trees.drawing.layout import levels_of, parents_of, roof_text
from treegauge.trees.drawing.marks import ems
from treegauge.trees.drawing.svg import Metrics
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Int64

_SMALL = 14
_ROOM, _LEVELS = 760, 8
"""The width in pixels and the number of levels up to which a part of a tree is opened; it is readable in half a small window."""
_MOST_ROOM, _MOST_LEVELS = 40_000, 60
"""The same for a whole tree."""
_FONT = 14


class Picture(NamedTuple):
    """A picture of a tree: its ``name`` on the page, the SVG, the words of the bracket in question, the ids of the nodes that
    matter (the most important first), and whether it is complete."""

    name: str
    svg: str
    asked: WordBlocks
    targets: tuple[str, ...]
    is_whole: bool


class MarkedTree(NamedTuple):
    """A tree with its marks by node, the words in question (``asked``), these with those of crossed brackets (``near``), and the
    nodes that matter (``targets``)."""

    tree: Tree
    marks: Mapping[int, str]
    asked: WordBlocks
    near: tuple[int, int]
    targets: tuple[int, ...]

    @property
    def span(self) -> tuple[int, int]:
        """The words from the first to the last in question."""
        return self.asked[0][0], self.asked[-1][1]


class Toggled(NamedTuple):
    """The changes that a reader made to a picture: nodes folded or unfolded, and dots opened, by the first node behind them."""

    folds: frozenset[int] = frozenset()
    dots: frozenset[int] = frozenset()


def crossed_brackets(system: System, row: int) -> Int64:
    """The treebank brackets that a parser's bracket crosses."""
    own, sets = _word_sets(system, row)
    return _rows_of(system, row)[crossing_sets([own], sets)]


def enclosing_bracket(system: System, row: int) -> int:
    """The smallest treebank bracket that holds a parser's bracket or equals it; -1 if there is none."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    rows, (own, sets) = _rows_of(system, row), _word_sets(system, row)
    reaches = (gold.start[rows] <= test.start[row]) & (gold.end[rows] >= test.end[row])
    found = zip(rows.tolist(), sets, reaches.tolist(), strict=True)
    return min(((ours.bit_count(), number) for number, ours, reach in found if reach and not own & ~ours), default=(0, -1))[1]


def _word_sets(system: System, row: int) -> tuple[int, list[int]]:
    """The words of a parser's bracket, and those of each treebank bracket of its sentence, as the bits of integers."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    sentence = int(test.sentence[row])
    return test.word_sets(sentence)[row - int(test.offset[sentence])], gold.word_sets(sentence)


def _rows_of(system: System, row: int) -> Int64:
    gold = system.items.gold.brackets
    sentence = int(system.items.test.brackets.sentence[row])
    return np.arange(int(gold.offset[sentence]), int(gold.offset[sentence + 1]))


def _crossed_at_edges(system: System, row: int) -> list[int]:
    """The smallest treebank bracket that a parser's bracket crosses at its beginning, and at its end; the smaller one first."""
    gold, start = system.items.gold.brackets, int(system.items.test.brackets.start[row])
    smallest: dict[bool, tuple[int, int]] = {}
    for one in crossed_brackets(system, row).tolist():
        first, size = int(gold.start[one]), int(gold.end[one] - gold.start[one])
        smallest[first < start] = min((size, one), smallest.get(first < start, (size, one)))
    return [one for _, one in sorted(smallest.values())]


def nodes_of(prepared: ProcessedBrackets, sentence: int) -> list[tuple[int, int, int]]:
    """Label, bracket (-1: none) and node of each phrase of a sentence."""
    rows = slice(int(prepared.before.offset[sentence]), int(prepared.before.offset[sentence + 1]))
    columns = (prepared.before.label[rows], prepared.became[rows], prepared.before.node[rows])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def gold_marks(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str]) -> MarkedTree:
    """The treebank's tree with marks: reproduced, missed, crossed by the bracket in question."""
    items, row = system.items, occurrence.row
    across = set(crossed_brackets(system, row).tolist())
    same = set(np.flatnonzero(items.partner == row).tolist())

    def mark(number: int) -> str:
        found = "crossing" if number in across else "matched" if items.reproduced[number] else "missed"
        return f"{found} focus" if number in same else found

    targets = _crossed_at_edges(system, row) or [enclosing_bracket(system, row)]
    return _mark_tree(system, tree, occurrence, traces, items.gold, mark, targets)


def parse_marks(system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str]) -> MarkedTree:
    """The parser's tree with marks: matched, crossing, spurious, and the bracket in question."""
    items = system.items

    def mark(number: int) -> str:
        found = "matched" if items.exact[number] else "crossing" if items.crosses[number] else "spurious"
        return f"{found} focus" if number == occurrence.row else found

    return _mark_tree(system, tree, occurrence, traces, items.test, mark, [occurrence.row])


def anonymise(marked: MarkedTree, preset: Preset) -> MarkedTree:
    """The tree without anything that reveals its origin: marks, function tags, and a root that only one side has."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        label = preset.cut_label(node.label)
        if node.is_preterminal:
            return [node]
        return children if preset.deletes(label) else [node.replace(label=label, children=children)]

    tree = rebuild(marked.tree, make) or marked.tree
    tree = tree.replace(label="") if preset.deletes(tree.label) else tree
    asked = {word for start, end in marked.asked for word in range(start, end)}
    around = (n for n, (_, blocks) in enumerate(tree.nodes_with_blocks()) if asked <= {at for one in blocks for at in range(*one)})
    return MarkedTree(tree, {}, marked.asked, marked.near, (max(around, default=0),))


def _mark_tree(
    system: System,
    tree: Tree,
    occurrence: Occurrence,
    traces: Collection[str],
    prepared: ProcessedBrackets,
    mark: Callable[[int], str],
    targets: Sequence[int],
) -> MarkedTree:
    """The tree with its marks; ``targets`` are the brackets that matter."""
    test, gold = system.items.test.brackets, system.items.gold.brackets
    sentence = int(test.sentence[occurrence.row])
    bare, new = _without_tagged(tree, traces)
    nodes = [(new[node], became) for _, became, node in nodes_of(prepared, sentence) if became >= 0 and node in new]
    tokens = system.spans.tokens(occurrence.sentence)
    column = tokens.gold if prepared is system.items.gold else tokens.test

    def words(start: int, end: int) -> tuple[int, int]:
        return (int(column[start]), int(column[end - 1]) + 1) if start < end else (0, bare.width)

    blocks = test.blocks_by_row().get(occurrence.row) or ((int(test.start[occurrence.row]), int(test.end[occurrence.row])),)
    spans = [*blocks, *((int(gold.start[one]), int(gold.end[one])) for one in _crossed_at_edges(system, occurrence.row))]
    near = words(min(first for first, _ in spans), max(last for _, last in spans))
    top = {became: number for number, became in reversed(nodes)}
    marks = {number: mark(became) for number, became in nodes}
    return MarkedTree(
        bare, marks, tuple(words(*block) for block in blocks), near, tuple(top[one] for one in targets if one in top) or (0,)
    )


def _without_tagged(tree: Tree, tags: Collection[str]) -> tuple[Tree, dict[int, int]]:
    """The tree without the words of some tags and without the nodes left empty, and the new number of each remaining node.

    >>> tree, new = _without_tagged(Tree.parse("(S (NP (-NONE- *)) (VP (V go)))"), {"-NONE-"})
    >>> print(tree, new)
    (S (VP (V go))) {0: 0, 3: 1, 4: 2}
    """
    if not tags:
        return tree, {number: number for number in range(tree.size)}
    numbers = post_order_numbers(tree)
    remaining: list[int] = []

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        if not children or (node.is_preterminal and node.label in tags):
            return []
        remaining.append(number)
        return [node.replace(children=children)]

    result = rebuild(tree, make)
    return result or Tree(tree.label), {old: new for new, old in enumerate(sorted(remaining))}


def draw_all(
    trees: Sequence[MarkedTree], names: Sequence[str], toggled: Sequence[Toggled], *, whole: bool, right_to_left: bool
) -> list[Picture]:
    """Pictures of the trees or, unless ``whole``, of the parts around the bracket in question."""
    # A part with gaps cannot be cut out: trees with crossing branches are drawn as a whole.
    whole = whole or not all(marked.tree.is_continuous for marked in trees)
    shown = list(trees) if whole else _crop_together(trees)
    return [
        _draw(part, name, prefix, marked.tree.size, changes, whole=whole, right_to_left=right_to_left)
        for part, marked, name, prefix, changes in zip(shown, trees, names, ("one-", "two-"), toggled, strict=True)
    ]


def _draw(shown: MarkedTree, name: str, prefix: str, size: int, toggled: Toggled, *, whole: bool, right_to_left: bool) -> Picture:
    limits = (_MOST_ROOM, _MOST_LEVELS) if whole else (_ROOM, _LEVELS)
    folding = _Folding(shown, *limits) if shown.tree.is_continuous else None
    by_itself = (folding.folded, folding.hidden) if folding else (set[int](), set[int]())
    is_whole = shown.tree.size == size and not any(by_itself)
    if folding:
        for first in toggled.dots:
            folding.open_dots(first)
    folded = frozenset(by_itself[0]) ^ frozenset(number for number in toggled.folds if number < shown.tree.size)
    direction: Literal["ltr", "rtl"] = "rtl" if right_to_left else "ltr"
    svg = draw_svg(
        shown.tree, shown.marks, id_prefix=prefix, title=name, direction=direction, folded=folded, hidden=by_itself[1],
        legend=False, stylesheet=False,
    )  # fmt: skip
    return Picture(name, svg, shown.asked, tuple(f"{prefix}n{number}" for number in shown.targets), is_whole)


def _crop_together(trees: Sequence[MarkedTree]) -> list[MarkedTree]:
    """All trees cut at nodes over the same words: the smallest common ones that hold more than the words near the bracket.

    Trees over different tokens cannot be cut at the same words, so each is cut by itself.
    """
    if len({marked.tree.width for marked in trees}) > 1:
        return [part for marked in trees for part in _crop_together([marked])]
    near = min(marked.near[0] for marked in trees), max(marked.near[1] for marked in trees)
    first, *others = ({(start, end) for _, start, end in marked.tree.nodes_with_spans()} for marked in trees)
    common = first.intersection(*others)
    wide = [span for span in common if span[0] <= near[0] and near[1] <= span[1] and span[1] - span[0] > near[1] - near[0]]
    if not wide or trees[0].tree.width <= _SMALL:
        return list(trees)
    cut = min(wide, key=lambda span: span[1] - span[0])
    return [_cut_at(marked, cut) for marked in trees]


def _cut_at(marked: MarkedTree, span: tuple[int, int]) -> MarkedTree:
    """The tree cut at the highest node over a span."""
    nodes = enumerate(marked.tree.nodes_with_spans())
    number, node, first = next((number, node, start) for number, (node, start, end) in nodes if (start, end) == span)
    inside = range(number, number + node.size)
    marks = {other - number: mark for other, mark in marked.marks.items() if other in inside}
    asked = tuple((start - first, end - first) for start, end in marked.asked)
    near = (marked.near[0] - first, marked.near[1] - first)
    return MarkedTree(node, marks, asked, near, tuple(other - number for other in marked.targets if other in inside) or (0,))


class _Folding:
    """The folded and hidden nodes of a tree that takes up to ``room`` pixels and ``levels`` if it can.

    The nodes across an edge of the words in question or around them, and the targets with all nodes above them, are open.
    """

    def __init__(self, marked: MarkedTree, room: int, levels: int) -> None:
        self.folded: set[int] = set()
        self.hidden: set[int] = set()
        self._span = start, end = marked.span
        self._nodes = list(marked.tree.nodes_with_spans())
        self._gap = Metrics.of(_FONT).gap
        self._above, self._depth = parents_of(marked.tree), levels_of(marked.tree)
        self._below: list[list[int]] = [[] for _ in self._nodes]
        for number, above in enumerate(self._above[1:], 1):
            self._below[above].append(number)
        self._room, self._levels = room, levels
        # What is different between the trees is opened first; so is the rest of a bracket that matters.
        self._matter = {*marked.targets}
        self._hot = self._with_above(number for number, mark in marked.marks.items() if mark != "matched")
        path = self._with_above(marked.targets) | {
            number
            for number, (_, first, last) in enumerate(self._nodes)
            if (first < end and start < last and not (start <= first and last <= end)) or (first, last) == (start, end)
        }
        self._open = {number for number in path if self._depth[number] < _MOST_LEVELS}
        self._runs: dict[int, list[int]] = {}
        self._waiting: list[tuple[int, int, int, bool]] = []
        for number in sorted(self._open):
            self._close_parts(number)
        self._open_what_fits()

    def _with_above(self, numbers: Iterable[int]) -> set[int]:
        """Some nodes and all nodes above them."""
        found = {0}
        for number in numbers:
            while number not in found:
                found.add(number)
                number = self._above[number]
        return found

    def _side(self, number: int) -> int:
        """Whether a node is before the words in question (-1), among them (0) or behind them (1)."""
        _, first, last = self._nodes[number]
        return -1 if last <= self._span[0] else 1 if first >= self._span[1] else 0

    def _close_parts(self, number: int) -> None:
        """Hide the parts of an open node that are not open themselves: runs of neighbours on one side of the words in question."""
        run: list[int] = []
        for part in [*self._below[number], -1]:
            is_closed = part >= 0 and part not in self._open
            if run and not (is_closed and self._side(part) == self._side(run[0])):
                self._hide(run, self._side(run[0]) == 0)
                run = []
            if is_closed:
                run.append(part)

    def _hide(self, run: list[int], among: bool) -> None:
        """Hide neighbours; of those among the words in question, the first and the last stay."""
        for part in run:
            self._fold(part)
        inner = run[1:-1] if among else run
        if inner and self._nodes[inner[-1]][2] - self._nodes[inner[0]][1] > 1:
            self.hidden.update(inner)
            self._runs[inner[0]] = inner
            distance = min(abs(edge - at) for at in self._nodes[inner[0]][1:] for edge in self._span)
            rank = 1 if among or self._above[inner[0]] in self._matter else 3 + distance
            heapq.heappush(self._waiting, (rank, inner[0], inner[0], True))

    def _folds(self, number: int) -> bool:
        node = self._nodes[number][0]
        return not node.is_preterminal and (node.width > 1 or node.size > _MOST_LEVELS)

    def _fold(self, number: int) -> None:
        if self._folds(number):
            self.folded.add(number)
            rank = (2 if number in self._hot else 4) + 1000 * abs(self._side(number)) + self._depth[number]
            heapq.heappush(self._waiting, (rank, number, number, False))

    def _open_what_fits(self) -> None:
        """Open dots and folded nodes, what matters most first, as long as there is room."""
        total = sum(self._closed_width(part) for number in self._open for part in self._below[number] if self._is_leaf(part))
        total += sum(self._dots_width(run) for run in self._runs.values())
        while self._waiting:
            _, _, number, is_run = heapq.heappop(self._waiting)
            if not is_run and (number in self.hidden or number not in self.folded):
                continue
            if is_run:
                gain = sum(map(self._closed_width, self._runs[number])) - self._dots_width(self._runs[number])
            else:
                gain = sum(map(self._closed_width, self._below[number])) - self._closed_width(number)
            if total + gain > self._room or self._depth[number] + (not is_run) > self._levels:
                continue
            total += gain
            if is_run:
                self.open_dots(number)
            else:
                self._unfold(number)

    def _is_leaf(self, number: int) -> bool:
        return number not in self._open and number not in self.hidden

    def open_dots(self, first: int) -> None:
        """Show the hidden neighbours of which this node is the first."""
        for part in self._runs.pop(first, ()):
            self.hidden.discard(part)
            if part in self.folded:
                self._fold(part)

    def _unfold(self, number: int) -> None:
        self.folded.discard(number)
        for part in self._below[number]:
            self._fold(part)

    def _closed_width(self, number: int) -> int:
        node = self._nodes[number][0]
        text = roof_text(node.words) if self._folds(number) else max(node.words, key=len, default="")
        return max(ems(text), ems(node.label)) * _FONT // 100 + self._gap

    def _dots_width(self, run: Sequence[int]) -> int:
        return ems(f"… {self._nodes[run[-1]][2] - self._nodes[run[0]][1]}") * _FONT // 100 + self._gap
