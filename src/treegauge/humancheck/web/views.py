"""Views of questions: everything the page shows about a bracket, such as its sentence, the reason for asking, and pictures of the
two trees, with marks on brackets and with distant parts folded.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from markupsafe import Markup

from treegauge.errors import RequestError, WriteError
from treegauge.humancheck.corrections import last_edited_tree, post_order_numbers, proposed_tree
from treegauge.humancheck.editing import Bracket, brackets_of, changed_brackets, edit_tree, edited_tree
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Check, Occurrence, Question, System
from treegauge.humancheck.session import Session
from treegauge.metrics.hogenhout.items import ProcessedBrackets
from treegauge.presets import Preset
from treegauge.trees.drawing import draw_svg, fold_to
from treegauge.trees.tree import Child, Tree, rebuild
from treegauge.trees.treebank import Int64

_SMALL = 14
_CLOSE = 6
_MOST_NODES = 1500
_LONG = 300


class Picture(NamedTuple):
    """A picture of a tree: its ``name`` on the page, the SVG, the span of the bracket in question, and whether it is complete."""

    name: str
    svg: str
    start: int
    end: int
    is_whole: bool


class MarkedTree(NamedTuple):
    """A tree with its marks by node, the span in question (``asked``), and that span with the crossed brackets (``near``)."""

    tree: Tree
    marks: Mapping[int, str]
    asked: tuple[int, int]
    near: tuple[int, int]


def crossed_brackets(system: System, row: int) -> Int64:
    """The treebank brackets that a parser's bracket crosses."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    start, end = int(test.start[row]), int(test.end[row])
    rows = _rows_of(system, row)
    if _has_gaps(system):
        own, sets = _word_sets(system, row)
        return rows[[bool(ours & own and ours & ~own and own & ~ours) for ours in sets]]
    first, last = gold.start[rows], gold.end[rows]
    return rows[((first < start) & (start < last) & (last < end)) | ((start < first) & (first < end) & (end < last))]


def enclosing_bracket(system: System, row: int) -> int:
    """The smallest treebank bracket that holds a parser's bracket or equals it; -1 if there is none."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    rows = _rows_of(system, row)
    if _has_gaps(system):
        own, sets = _word_sets(system, row)
        around = [(ours.bit_count(), number) for number, ours in zip(rows.tolist(), sets, strict=True) if not own & ~ours]
        return min(around, default=(0, -1))[1]
    holds = rows[(gold.start[rows] <= test.start[row]) & (gold.end[rows] >= test.end[row])]
    return int(holds[np.argmin(gold.end[holds] - gold.start[holds])]) if len(holds) else -1


def _has_gaps(system: System) -> bool:
    return system.items.gold.brackets.blocks is not None or system.items.test.brackets.blocks is not None


def _word_sets(system: System, row: int) -> tuple[int, list[int]]:
    """The words of a parser's bracket, and those of each treebank bracket of its sentence, as the bits of integers."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    sentence = int(test.sentence[row])
    return test.word_sets(sentence)[row - int(test.offset[sentence])], gold.word_sets(sentence)


def _rows_of(system: System, row: int) -> Int64:
    gold = system.items.gold.brackets
    sentence = int(system.items.test.brackets.sentence[row])
    return np.arange(int(gold.offset[sentence]), int(gold.offset[sentence + 1]))


def gold_label(system: System, row: int) -> str:
    """The label of a treebank bracket or, for a chain, its labels from the top, joined by ``+``."""
    gold = system.items.gold
    sentence = int(gold.brackets.sentence[row])
    return "+".join(gold.before.labels[label] for label, became, _ in _nodes(gold, sentence) if became == row)


def _nodes(prepared: ProcessedBrackets, sentence: int) -> list[tuple[int, int, int]]:
    """Label, bracket (-1: none) and node of each phrase of a sentence."""
    rows = slice(int(prepared.before.offset[sentence]), int(prepared.before.offset[sentence + 1]))
    columns = (prepared.before.label[rows], prepared.became[rows], prepared.before.node[rows])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def gold_marks(
    system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str], beside: Sequence[int] = ()
) -> MarkedTree:
    """The treebank's tree with marks: reproduced, missed, crossed by the bracket in question."""
    items, row = system.items, occurrence.row
    across = set(crossed_brackets(system, row).tolist())
    same = set(np.flatnonzero(items.partner == row).tolist())

    def mark(number: int) -> str:
        found = "crossing" if number in across else "matched" if items.reproduced[number] else "missed"
        return f"{found} focus" if number in same else found

    return _mark_tree(system, tree, occurrence, traces, items.gold, mark, beside, of_gold=True)


def parse_marks(
    system: System, tree: Tree, occurrence: Occurrence, traces: Collection[str], beside: Sequence[int] = ()
) -> MarkedTree:
    """The parser's tree with marks: matched, crossing, spurious, and the bracket in question."""
    items = system.items

    def mark(number: int) -> str:
        found = "matched" if items.exact[number] else "crossing" if items.crosses[number] else "spurious"
        return f"{found} focus" if number == occurrence.row else found

    return _mark_tree(system, tree, occurrence, traces, items.test, mark, beside, of_gold=False)


def anonymise(marked: MarkedTree, preset: Preset) -> MarkedTree:
    """The tree without anything that reveals its origin: marks, function tags, and a root that only one side has."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        label = preset.cut_label(node.label)
        if node.is_preterminal:
            return [node]
        return children if preset.deletes(label) else [node.replace(label=label, children=children)]

    tree = rebuild(marked.tree, make) or marked.tree
    return MarkedTree(tree.replace(label="") if preset.deletes(tree.label) else tree, {}, marked.asked, marked.near)


def _mark_tree(
    system: System,
    tree: Tree,
    occurrence: Occurrence,
    traces: Collection[str],
    prepared: ProcessedBrackets,
    mark: Callable[[int], str],
    beside: Sequence[int],
    *,
    of_gold: bool,
) -> MarkedTree:
    """The tree with its marks; the words near the question are those of its bracket and of the brackets in the rows ``beside``."""
    sentence = int(system.items.test.brackets.sentence[occurrence.row])
    bare, new = _without_tagged(tree, traces)
    nodes = [(new[node], mark(became)) for _, became, node in _nodes(prepared, sentence) if became >= 0 and node in new]
    tokens = system.spans.tokens(occurrence.sentence)
    column = tokens.gold if of_gold else tokens.test

    def words(start: int, end: int) -> tuple[int, int]:
        return (int(column[start]), int(column[end - 1]) + 1) if start < end else (0, bare.width)

    test = system.items.test.brackets
    asked = words(int(test.start[occurrence.row]), int(test.end[occurrence.row]))
    nearby = [_nearby_tokens(system, row) for row in (occurrence.row, *beside)]
    near = words(min(first for first, _ in nearby), max(last for _, last in nearby))
    return MarkedTree(bare, dict(nodes), asked, near)


def _nearby_tokens(system: System, row: int) -> tuple[int, int]:
    """The tokens of a bracket, extended on each side by those of the smallest treebank bracket that it crosses there."""
    gold, test = system.items.gold.brackets, system.items.test.brackets
    across = crossed_brackets(system, row)
    start, end = int(test.start[row]), int(test.end[row])
    first, last = gold.start[across], gold.end[across]
    return max(first[first < start].tolist(), default=start), min(last[last > end].tolist(), default=end)


def draw_all(
    trees: Sequence[MarkedTree],
    names: Sequence[str],
    *,
    whole: bool,
    right_to_left: bool,
    toggled: Sequence[frozenset[int]] = (frozenset(), frozenset()),
) -> list[Picture]:
    """Pictures of the trees, or of the parts around the bracket in question, with distant parts folded.

    Both trees are cut at nodes over the same words. ``toggled`` are the nodes of each picture whose state the reader has changed:
    they are folded if they would be open, and open if they would be folded.
    """
    # A part with gaps cannot be cut out: trees with crossing branches are drawn as a whole.
    crossing = not all(marked.tree.is_continuous for marked in trees)
    short = list(trees) if crossing else [_shorten(marked) for marked in trees]
    shown = short if whole or crossing else _crop_together(short)
    whole = whole or crossing
    prefixes = ("one-", "two-")
    return [
        _draw(part, name, prefix, marked.tree.size, changes, whole=whole, right_to_left=right_to_left)
        for part, marked, name, prefix, changes in zip(shown, trees, names, prefixes, toggled, strict=True)
    ]


def _draw(
    shown: MarkedTree, name: str, prefix: str, size: int, toggled: frozenset[int], *, whole: bool, right_to_left: bool
) -> Picture:
    by_itself = fold_to(shown.tree, nodes=_MOST_NODES) if whole or shown.tree.width <= _SMALL else _nodes_to_fold(shown)
    folded = by_itself ^ frozenset(number for number in toggled if number < shown.tree.size)
    direction: Literal["ltr", "rtl"] = "rtl" if right_to_left else "ltr"
    svg = draw_svg(
        shown.tree, shown.marks, id_prefix=prefix, title=name, direction=direction, folded=folded, legend=False, stylesheet=False
    )
    return Picture(name, svg, *shown.asked, not by_itself and shown.tree.size == size)


def _shorten(marked: MarkedTree) -> MarkedTree:
    """A tree of hundreds of words without the middle of long runs of words, which nobody would read in a picture."""
    if marked.tree.width <= _LONG:
        return marked
    tree, nodes, words = _without_long_runs(marked.tree)
    new = {old: number for number, old in enumerate(nodes)}
    asked, near = ((bisect_left(words, start), bisect_left(words, end)) for start, end in (marked.asked, marked.near))
    return MarkedTree(tree, {new[node]: mark for node, mark in marked.marks.items()}, asked, near)


def _crop_together(trees: Sequence[MarkedTree]) -> list[MarkedTree]:
    """All trees cut at nodes over the same words: the smallest common ones that hold more than the words near the bracket.

    Trees over different tokens cannot be cut at the same words, so each is cut by itself.
    """
    if len({marked.tree.width for marked in trees}) > 1:
        return [_crop(marked) for marked in trees]
    near = min(marked.near[0] for marked in trees), max(marked.near[1] for marked in trees)
    spans = [{(start, end) for _, start, end in marked.tree.nodes_with_spans()} for marked in trees]
    common = {span for span in spans[0] if all(span in others for others in spans[1:])}
    wide = [span for span in common if span[0] <= near[0] and near[1] <= span[1] and span[1] - span[0] > near[1] - near[0]]
    if not wide or trees[0].tree.width <= _SMALL:
        return list(trees)
    cut = min(wide, key=lambda span: span[1] - span[0])
    return [_cut_at(marked, cut) for marked in trees]


def _cut_at(marked: MarkedTree, span: tuple[int, int]) -> MarkedTree:
    """The tree cut at the highest node over a span."""
    nodes = enumerate(marked.tree.nodes_with_spans())
    return _part(marked, *next((number, node, start) for number, (node, start, end) in nodes if (start, end) == span))


def _part(marked: MarkedTree, number: int, node: Tree, first: int) -> MarkedTree:
    """The part below a node, given its number and its first word."""
    marks = {other - number: mark for other, mark in marked.marks.items() if number <= other < number + node.size}
    asked, near = ((start - first, end - first) for start, end in (marked.asked, marked.near))
    return MarkedTree(node, marks, asked, near)


def _crop(marked: MarkedTree) -> MarkedTree:
    """The smallest subtree that holds more than the words near the bracket, so that its surroundings can be seen."""
    best, number, first = marked.tree, 0, 0
    for index, (node, start, end) in enumerate(marked.tree.nodes_with_spans()):
        if start <= marked.near[0] and marked.near[1] <= end and end - start > marked.near[1] - marked.near[0]:
            best, number, first = node, index, start
    return marked if marked.tree.width <= _SMALL or best is marked.tree else _part(marked, number, best, first)


def _nodes_to_fold(marked: MarkedTree) -> frozenset[int]:
    """The nodes to fold: those away from the words near the question and, among these words, long ones in which all is matched."""
    nodes = list(marked.tree.nodes_with_spans())
    hot = {number for number, mark in marked.marks.items() if mark != "matched"}
    spans = [marked.asked, *((start, end) for number, (_, start, end) in enumerate(nodes) if number in hot)]
    folded: set[int] = set()
    number, drawn = 0, 0
    while number < len(nodes):
        node, start, end = nodes[number]
        apart = end <= marked.near[0] or start >= marked.near[1]
        inside = marked.near[0] <= start and end <= marked.near[1]
        settled = inside and node.width > _CLOSE and not any(start <= first and last <= end for first, last in spans)
        closes = number > 0 and not node.is_preterminal and node.width > 1 and (apart or settled or drawn > _MOST_NODES)
        if closes:
            folded.add(number)
        drawn += 1
        number += node.size if closes else 1
    return frozenset(folded)


def is_right_to_left(words: Collection[str]) -> bool:
    """Whether most letters of a sentence are written from right to left.

    >>> is_right_to_left(["שלום", "עולם", "OK"]), is_right_to_left(["hello"])
    (True, False)
    """
    kinds = [unicodedata.bidirectional(character) for word in words for character in word if character.isalpha()]
    return 2 * sum(kind in ("R", "AL") for kind in kinds) > len(kinds)


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


def _without_long_runs(tree: Tree, longest: int = 60) -> tuple[Tree, list[int], list[int]]:
    """The tree with a placeholder for the middle of runs of more than ``longest`` tagged words below one node.

    Also returns the old numbers of the remaining nodes and words; a placeholder has those of the first word it replaces.

    >>> tree, nodes, words = _without_long_runs(Tree("S", [Tree("N", [str(number)]) for number in range(9)]), longest=4)
    >>> print(tree.words, nodes, words)
    ('0', '1', '5 words', '7', '8') [0, 1, 2, 3, 8, 9] [0, 1, 2, 7, 8]
    """
    numbers = post_order_numbers(tree)
    nodes: list[int] = []
    removed_nodes: set[int] = set()
    removed_words: set[int] = set()
    starts = [start for _, start, _ in tree.nodes_with_spans()]

    def make(node: Tree, children: list[Child]) -> list[Child]:
        number = next(numbers)
        nodes.append(number)
        parts: list[Child] = []
        for first, last in _runs(node.children):
            keep = longest // 2
            if last - first <= longest:
                parts.extend(children[first:last])
                continue
            inner = range(first + keep, last - keep)
            parts.extend([*children[first : inner.start], Tree("…", [f"{len(inner)} words"]), *children[inner.stop : last]])
            node_at, word_at = _offsets(node, number, starts[number])
            removed_nodes.update(node_at[index] for index in inner[1:])
            removed_words.update(word_at[index] for index in inner[1:])
        return [node.replace(children=parts)]

    result = rebuild(tree, make)
    assert result is not None
    return result, sorted(set(nodes) - removed_nodes), [word for word in range(tree.width) if word not in removed_words]


def _runs(children: tuple[Child, ...]) -> Iterator[tuple[int, int]]:
    """The children divided into runs of tagged words, as long as possible, and single other children."""
    first = 0
    while first < len(children):
        last = first
        while last < len(children) and isinstance(child := children[last], Tree) and child.is_preterminal:
            last += 1
        last = max(last, first + 1)
        yield first, last
        first = last


def _offsets(node: Tree, number: int, position: int) -> tuple[list[int], list[int]]:
    """The number of each child node, and its first word."""
    nodes: list[int] = []
    words: list[int] = []
    number += 1
    for child in node.children:
        nodes.append(number)
        words.append(position)
        number += child.size if isinstance(child, Tree) else 0
        position += child.width if isinstance(child, Tree) else 1
    return nodes, words


_MOST_WORDS = 12


class Segment(NamedTuple):
    """Some words of the sentence, the bracket signs before and after them, and whether they are inside the brackets.

    ``[`` and ``]`` enclose the bracket in question, ``⟨`` and ``⟩`` the treebank bracket that it crosses.
    """

    before: str
    text: str
    after: str
    in_bracket: bool
    in_gold: bool


class GoldBracket(NamedTuple):
    """A treebank bracket: its label and its words ``start:end``; if it has gaps, ``blocks`` are its parts."""

    label: str
    words: str
    start: int
    end: int
    blocks: tuple[tuple[int, int], ...] = ()


class Reason(NamedTuple):
    """The reason for a question: the bracket's kind, the treebank brackets it crosses (smallest first), and the one around it."""

    kind: str
    crosses: tuple[GoldBracket, ...]
    around: GoldBracket | None


@dataclass(frozen=True)
class View:
    """Everything that is shown about a question."""

    question: Question
    systems: tuple[str, ...]
    system: str
    segments: tuple[Segment, ...]
    reason: Reason
    pictures: tuple[Picture, ...]
    right_to_left: bool
    place: str
    context: tuple[str, str]
    gold_first: bool
    is_folded: bool


Toggled = tuple[frozenset[int], ...]
"""The nodes of each tree that the reader folded or unfolded."""
NO_NODES: Toggled = (frozenset(), frozenset())


def question_view(
    check: Check,
    question: Question,
    reader: str,
    *,
    blind: bool,
    whole: bool = False,
    system: str = "",
    toggled: Toggled = NO_NODES,
) -> View:
    """The view of a question; ``system`` chooses whose tree to show if several made the bracket.

    ``whole`` shows whole trees, ``toggled`` are the nodes of each tree that the reader folded or unfolded. If ``blind``, the order
    of the two trees is random for each reader and question, and no bracket is marked in them.
    """
    occurrence = _choose_occurrence(check, question, system)
    shown_system = check.systems[occurrence.system]
    preset = check.plan.metric.preset_for(check.plan.preset)
    traces = preset.traces & {*check.gold.labels, *shown_system.bank.labels}
    gold_tree, test_tree = check.gold[occurrence.sentence], _test_tree(shown_system, occurrence)
    beside = _rows_beside(check, question, occurrence) if check.plan.by_sentence else []
    gold = gold_marks(shown_system, gold_tree, occurrence, traces, beside)
    test = parse_marks(shown_system, test_tree, occurrence, traces, beside)
    if blind:
        gold, test = anonymise(gold, preset), anonymise(test, preset)
    right_to_left = is_right_to_left(question.span.words)
    gold_first = not blind or gold_is_first(question, reader)
    names = ("Tree 1", "Tree 2") if blind else ("Treebank", f"Parser {shown_system.name}")
    trees = (gold, test) if gold_first else (test, gold)
    pictures = draw_all(trees, names, whole=whole, right_to_left=right_to_left, toggled=toggled)
    reason = reason_of(check, question, occurrence)
    return View(
        question,
        tuple(check.systems_with(question)),
        shown_system.name,
        _segments(question, None if blind or not reason.crosses else reason.crosses[0]),
        reason,
        tuple(pictures),
        right_to_left,
        os.path.basename(check.gold.place(occurrence.sentence)),
        (_sentence(shown_system, occurrence.sentence - 1), _sentence(shown_system, occurrence.sentence + 1)),
        gold_first,
        not whole and not all(picture.is_whole for picture in pictures),
    )


def _choose_occurrence(check: Check, question: Question, system: str) -> Occurrence:
    """The occurrence to show: the wanted system's, or else one chosen by the bracket's key, so that no system is favoured."""
    wanted = [found for found in question.occurrences if check.systems[found.system].name == system]
    if wanted:
        return wanted[0]
    first = {found.system: found for found in reversed(question.occurrences)}
    systems = sorted(first)
    return first[systems[int(question.key, 16) % len(systems)]]


def _rows_beside(check: Check, question: Question, occurrence: Occurrence) -> list[int]:
    """The rows of the brackets of the same system that are asked about in the same sentence."""
    unit = check.units[check.unit_of[check.number[question.bracket]]] if check.number[question.bracket] in check.unit_of else ()
    return [
        found.row
        for number in unit
        for found in check.questions[number].occurrences
        if (found.system, found.sentence) == (occurrence.system, occurrence.sentence)
    ]


def _test_tree(system: System, occurrence: Occurrence) -> Tree:
    return system.bank[int(system.pair.alignment.test[occurrence.sentence])]


def gold_is_first(question: Question, reader: str) -> bool:
    """Whether a blind reader sees the treebank's tree as Tree 1: random, but always the same for a question and a reader."""
    return hashlib.sha256((question.key + reader).encode("utf-8", "replace")).digest()[0] % 2 == 0


def reason_of(check: Check, question: Question, occurrence: Occurrence | None = None) -> Reason:
    """The reason for a question."""
    occurrence = occurrence or question.occurrences[0]
    system = check.systems[occurrence.system]
    found = [_gold_bracket(system, occurrence.sentence, row) for row in crossed_brackets(system, occurrence.row).tolist()]
    found.sort(key=lambda gold: gold.end - gold.start)
    outer = enclosing_bracket(system, occurrence.row)
    return Reason(question.kind, tuple(found), _gold_bracket(system, occurrence.sentence, outer) if outer >= 0 else None)


def _gold_bracket(system: System, sentence: int, row: int) -> GoldBracket:
    brackets = system.items.gold.brackets
    blocks = brackets.blocks_by_row().get(row, ())
    span = system.spans.of(sentence, int(brackets.start[row]), int(brackets.end[row]), blocks)
    return GoldBracket(gold_label(system, row), excerpt(span.inside), span.start, span.end, span.blocks)


def excerpt(words: tuple[str, ...], most: int = _MOST_WORDS) -> str:
    """Some words, or their beginning and end.

    >>> excerpt(("a", "b", "c", "d", "e", "f"), 4)
    'a b … e f'
    """
    if len(words) <= most:
        return " ".join(words)
    return " ".join([*words[: most // 2], "…", *words[-(most // 2) :]])


def _segments(question: Question, gold: GoldBracket | None) -> tuple[Segment, ...]:
    """The sentence, cut where the bracket in question and the treebank bracket that it crosses begin and end."""
    words = question.span.words
    asked = question.span.blocks or ((question.span.start, question.span.end),)
    crossed = () if gold is None or not question.span.by_gold else gold.blocks or ((gold.start, gold.end),)
    (begins, ends), (gold_begins, gold_ends) = ([{edge[side] for edge in spans} for side in (0, 1)] for spans in (asked, crossed))
    edges = sorted({0, len(words)} | begins | ends | gold_begins | gold_ends)
    return tuple(
        Segment(
            ("⟨" if first in gold_begins else "") + ("[" if first in begins else ""),
            " ".join(words[first:last]),
            ("]" if last in ends else "") + ("⟩" if last in gold_ends else ""),
            any(start <= first < end for start, end in asked),
            any(start <= first < end for start, end in crossed),
        )
        for first, last in pairwise(edges)
    )


def _sentence(system: System, index: int) -> str:
    gold = system.spans.gold
    return excerpt(tuple(gold.words(index)), 60) if 0 <= index < len(gold) else ""


class _ChangedBracket(NamedTuple):
    """A bracket that was removed or is new."""

    label: str
    words: str


def _in_words(bracket: Bracket, words: tuple[str, ...]) -> _ChangedBracket:
    return _ChangedBracket(bracket.label, " … ".join(" ".join(words[start:end]) for start, end in bracket.blocks))


class TreeEditor:
    """The part of the page in which a tree is edited; ``render`` fills a template."""

    def __init__(self, session: Session, render: Callable[..., str]) -> None:
        self.session, self._render = session, render

    def start(self, person: Person, question: Question, label: str, verdict: str, begin: str) -> str:
        """The tree to begin with: the person's own so far or, as ``begin`` tells, the treebank's or that of a named annotator."""
        session = self.session
        gold = self._gold(question)
        problem = ""
        if begin == "treebank":
            tree = gold
        elif begin:
            text = self._trees_of_others(person, question).get(begin, "")
            tree = edited_tree(gold, text) if text else gold
        else:
            tree, problem = proposed_tree(session.check, session.log, person, question, verdict, label)
        return self._show(person, question, tree, self._first_node(question, tree), problem)

    def edit(self, person: Person, question: Question, text: str, name: str, label: str, node: int, last: int) -> str:
        """The tree after the edit ``name``; ``show`` changes nothing."""
        tree = edited_tree(self._gold(question), text)
        if name == "show":
            return self._show(person, question, tree, self._first_node(question, tree), "")
        found = edit_tree(tree, name, node, last, label, has_gaps=self.session.check.has_gaps)
        return self._show(person, question, found.tree, found.node, "")

    def _gold(self, question: Question) -> Tree:
        gold = self.session.check.gold[question.occurrences[0].sentence]
        if gold.size > _MOST_NODES:
            raise RequestError(f"A tree of more than {_MOST_NODES} nodes cannot be edited here.")
        return gold

    def _trees_of_others(self, person: Person, question: Question) -> dict[str, str]:
        """The trees that annotators made of the sentence, for the adjudicator."""
        if person.role != "adjudicator":
            return {}
        check, log = self.session.check, self.session.log
        found = {name: last_edited_tree(check, log, Person("annotator", name), question) for name in log.names()}
        return {name: text for name, text in found.items() if text}

    def _first_node(self, question: Question, tree: Tree) -> int:
        """The lowest node over the bracket in question, where editing begins."""
        words = [index for index, tag in enumerate(tree.tags) if tag not in self._traces()]
        span = question.span
        if not span.by_gold or span.end > len(words) or span.start == span.end:
            return 0
        asked = {words[at] for first, last in span.blocks or ((span.start, span.end),) for at in range(first, last)}
        nodes = (blocks for _, blocks in tree.nodes_with_blocks())
        holding = [number for number, blocks in enumerate(nodes) if asked <= {at for block in blocks for at in range(*block)}]
        return max(holding, default=0)

    def _traces(self) -> frozenset[str]:
        preset = self.session.check.plan.metric.preset_for(self.session.check.plan.preset)
        return preset.delete_tags & preset.delete_tags_for_length

    def _show(self, person: Person, question: Question, tree: Tree, node: int, problem: str) -> str:
        gold = self._gold(question)
        removed, new = changed_brackets(gold, tree)
        direction: Literal["ltr", "rtl"] = "rtl" if is_right_to_left(gold.words) else "ltr"
        nodes = zip(tree.nodes(), brackets_of(tree), strict=True)
        marks = {number: "spurious" for number, (one, bracket) in enumerate(nodes) if bracket in new and not one.is_preterminal}
        options: dict[str, Any] = {"id_prefix": "new-", "title": "Corrected tree", "legend": False, "stylesheet": False}
        try:
            text = str(tree)
        except WriteError as error:
            raise RequestError(str(error).splitlines()[0]) from None
        return self._render(
            "edited.html",
            text=text,
            node=node,
            is_gold=tree == gold,
            picture=Markup(draw_svg(tree, marks, direction=direction, **options)),
            problem=problem,
            removed=[_in_words(bracket, gold.words) for bracket in removed],
            new=[_in_words(bracket, gold.words) for bracket in new],
            others=list(self._trees_of_others(person, question)),
            has_gaps=self.session.check.has_gaps,
        )
