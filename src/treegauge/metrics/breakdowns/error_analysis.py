"""Errors by kind: the repairs that would turn each test tree into its gold tree.

This follows the idea of Kummerfeld, Hall, Curran & Klein 2012: one misattached PP makes several brackets wrong, but is one error.
Repairs are simulated on the tree. Each wrong bracket, missed or spurious, is explained by exactly one repair, and no repair makes a
right bracket wrong. The best move explains the most wrong brackets in the fewest steps.

A *move* takes a run of siblings from the edge of its parent to an adjacent position elsewhere: up to an ancestor, down into a
neighbour, or both. It may shift the edges of wrong nodes only, so it breaks nothing that is right. In the course of a move

* a node may be left with the span and label of its only child or parent (X over X): one of the two is removed;
* the run may join a node X under a new X above both, if gold has that bracket;
* the run may get a phrase that gold has over it, or lose one that gold does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Fit
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.pairing import Pair
from treegauge.metrics.breakdowns.constituent_counts import Breakdown, Counts, Key, PlaceArray, TableLayout, places_of
from treegauge.metrics.breakdowns.repair_forest import Gold, MissingBrackets, Node, RepairForest, kind_of_move, kind_of_node
from treegauge.metrics.matching import has_partner, partners
from treegauge.metrics.metric import f1, ratio
from treegauge.tables import Cell
from treegauge.trees.tree import Span
from treegauge.trees.treebank import Int64

_RIGHT, _LEFT = 1, -1


class Run(NamedTuple):
    """Siblings to be moved; ``phrase``: a missing gold bracket over exactly them; ``dissolves``: one phrase that gold lacks."""

    nodes: list[Node]
    phrase: Gold | None
    dissolves: bool


class Shift(NamedTuple):
    """A node that gets another span by a move, and what it becomes.

    ``right``; ``relabel``: right except for the label; ``gone``: removed, as it would be X over X; ``wrong``: still wrong.
    """

    node: Node
    start: int
    end: int
    becomes: str
    gold_row: int = -1


_EXPLAINED = {"right": 2, "relabel": 2, "gone": 1, "wrong": 0}


class Move(NamedTuple):
    """A move of a run to ``target``, or, with ``joined_row``, under a new node above both the run and ``target``.

    It explains ``explained`` brackets in ``steps`` repairs; a node that needs another label too takes a second repair.
    """

    run: Run
    target: Node
    shifts: tuple[Shift, ...]
    joined_row: int = -1

    @property
    def explained(self) -> int:
        own = (self.run.phrase is not None) + self.run.dissolves + (self.joined_row >= 0)
        return own + sum([_EXPLAINED[shift.becomes] for shift in self.shifts])

    @property
    def steps(self) -> int:
        return 1 + sum([shift.becomes == "relabel" for shift in self.shifts])

    def rank(self) -> tuple[int, ...]:
        """The sort key of moves; the larger the better."""
        nodes, explained = self.run.nodes, self.explained
        return (explained - self.steps, explained, -len(self.shifts), nodes[0].start - nodes[-1].end, -nodes[0].start)


def best_move(forest: RepairForest, missed: MissingBrackets) -> Move | None:
    """The move that explains most; None if no move explains anything."""
    edges = missed.edges()
    found = (move for node in forest.phrases if node.wrong for move in _moves(node, missed, edges))
    return max(found, key=Move.rank, default=None)


def run_of(nodes: list[Node], missed: MissingBrackets) -> Run:
    """The run of these siblings, with the gold phrase over them, if there is one."""
    first, last = nodes[0], nodes[-1]
    gold = missed.find_span(first.start, last.end, ())
    if len(nodes) == 1 and not first.is_token:
        return Run(nodes, None, first.wrong and gold is None)
    return Run(nodes, gold, False)


def _moves(node: Node, missed: MissingBrackets, edges: set[int]) -> Iterator[Move]:
    """The moves that explain something beyond the phrase of the run itself."""
    for side in (_RIGHT, _LEFT):
        for nodes, cut in _runs_inside(node, side, edges):
            yield from _moves_out(node, run_of(nodes, missed), cut, side, missed)
        for nodes, cut in _runs_beside(node, side, edges):
            yield from _moves_into(node, run_of(nodes, missed), cut, side, missed, ())


def _runs_inside(node: Node, side: int, edges: set[int]) -> Iterator[tuple[list[Node], int]]:
    """The runs of children at one edge of a node whose removal could make it right, each with the edge it would then have."""
    children = node.children
    for index in range(1, len(children)):
        stays = (0, index) if side == _RIGHT else (index, len(children))
        cut = children[index].start
        if cut in edges or (stays[1] - stays[0] == 1 and children[stays[0]].label == node.label):
            yield children[index:] if side == _RIGHT else children[:index], cut


def _runs_beside(node: Node, side: int, edges: set[int]) -> Iterator[tuple[list[Node], int]]:
    """The runs of siblings next to a node that could become part of it, each with the edge it would then have."""
    parent, siblings, place = node.parent, node.parent.children, node.place()
    for index in range(place + 1, len(siblings)) if side == _RIGHT else range(place - 1, -1, -1):
        cut = _edge(siblings[index], side)
        if cut in edges or (_edge(parent, side) == cut and parent.label == node.label):
            yield siblings[place + 1 : index + 1] if side == _RIGHT else siblings[index:place], cut


def _moves_out(node: Node, run: Run, cut: int, side: int, missed: MissingBrackets) -> Iterator[Move]:
    """Moves of a run out of a node, and out of the wrong nodes above it that share its edge."""
    shifts: tuple[Shift, ...] = ()
    explains = False
    inner, edge = node, _edge(node, side)
    left = node.children[0] if side == _RIGHT else node.children[-1]
    twin = left if len(node.children) - len(run.nodes) == 1 else None
    while inner.wrong and _edge(inner, side) == edge:
        start, end = (inner.start, cut) if side == _RIGHT else (cut, inner.end)
        shift = _shift(inner, start, end, twin if inner is node else None, missed, shifts)
        shifts += (shift,)
        explains |= shift.becomes != "wrong"
        if explains:
            yield Move(run, inner.parent, shifts)
        place = inner.place() + side
        if 0 <= place < len(inner.parent.children):
            yield from _moves_into(inner.parent.children[place], run, cut, -side, missed, shifts)
        inner = inner.parent


def _moves_into(node: Node, run: Run, cut: int, side: int, missed: MissingBrackets, shifts: tuple[Shift, ...]) -> Iterator[Move]:
    """Moves of an adjacent run into a node, and further down along that edge."""
    first = node if not shifts else None
    explains = any(shift.becomes != "wrong" for shift in shifts)
    while not node.is_token:
        start, end = (node.start, cut) if side == _RIGHT else (cut, node.end)
        # If nothing was shifted, a bracket over both would be a new node above the two, which is not a move.
        if shifts and (joined := missed.find(start, end, node.label, [shift.gold_row for shift in shifts])):
            yield Move(run, node, shifts, joined.row)
        if not node.wrong:
            return
        twin = node.parent if node is first and node.parent.span == (start, end) else None
        shift = _shift(node, start, end, twin, missed, shifts)
        shifts += (shift,)
        explains |= shift.becomes != "wrong"
        if explains:
            yield Move(run, node, shifts)
        node = node.children[-1] if side == _RIGHT else node.children[0]


def _shift(node: Node, start: int, end: int, twin: Node | None, missed: MissingBrackets, before: tuple[Shift, ...]) -> Shift:
    """The change of a wrong node to another span; ``twin`` is its child or parent that would have the same span."""
    claimed = [shift.gold_row for shift in before] if before else ()
    if found := missed.find(start, end, node.label, claimed):
        return Shift(node, start, end, "right", found.row)
    if twin is not None and twin.label == node.label:
        return Shift(node, start, end, "gone")
    if found := missed.find_span(start, end, claimed):
        return Shift(node, start, end, "relabel", found.row)
    return Shift(node, start, end, "wrong")


def _edge(node: Node, side: int) -> int:
    return node.end if side == _RIGHT else node.start


SpanChange = tuple[Span | None, Span | None]
"""A bracket before and after a repair; None if there is none."""


class Repair(NamedTuple):
    """One step towards the gold tree.

    ``action`` is ``move``, ``relabel``, ``add`` or ``remove``; ``what`` are the labels that are moved or changed, over the words
    ``[start, end)``; ``missed`` and ``spurious`` are the rows of the gold and test brackets that it explains; ``changes`` are the
    changes to the brackets of the tree.
    """

    kind: str
    action: str
    what: str
    start: int
    end: int
    missed: tuple[int, ...]
    spurious: tuple[int, ...]
    changes: tuple[SpanChange, ...]


def repairs(forest: RepairForest, missed: MissingBrackets) -> Iterator[Repair]:
    """Repairs until nothing is wrong or missing.

    The repair that explains most comes first. A right span with a wrong label is relabelled, unless a move explains more than the
    two brackets on it; nodes are removed and added only if nothing can be moved.
    """
    while True:
        move = best_move(forest, missed)
        if move and move.explained - move.steps > 1:
            yield from _move(forest, missed, move)
        elif repair := _relabel(forest, missed):
            yield repair
        elif move:
            yield from _move(forest, missed, move)
        elif repair := _join(forest, missed) or _remove(forest) or _add(forest, missed):
            yield repair
        else:
            return


def _move(forest: RepairForest, missed: MissingBrackets, move: Move) -> Iterator[Repair]:
    """The move itself, then a repair for each node that it leaves with the right span and a wrong label."""
    run, source = move.run.nodes, move.run.nodes[0].parent
    start, end = run[0].start, run[-1].end
    beside = _neighbours(run)
    changes: list[SpanChange] = []
    gold_rows: list[int] = []
    relabelled: list[tuple[Node, Gold]] = []
    forest.move(run, move.target.parent if move.joined_row >= 0 else move.target)
    for shift in move.shifts:
        node, before = shift.node, _bracket(shift.node)
        node.start, node.end, node.wrong = shift.start, shift.end, shift.becomes == "wrong"
        changes.append((before, None if shift.becomes == "gone" else _bracket(node)))
        if shift.becomes == "gone":
            forest.splice_out(node)
        elif shift.becomes == "relabel":
            relabelled.append((node, missed.take(*node.span, shift.gold_row)))
        elif shift.becomes == "right":
            gold_rows.append(missed.take(*node.span, shift.gold_row).row)
    if move.joined_row >= 0:
        both = [move.target, *run] if move.target.start < start else [*run, move.target]
        changes.append((None, _new(forest, missed, both, move.joined_row, gold_rows)))
    kind = kind_of_move(run, _phrase(move.run), source, move.target, [*beside, *_neighbours(run)])
    test_rows = [shift.node.row for shift in move.shifts if shift.becomes != "wrong"]
    _settle(forest, missed, move.run, changes, gold_rows, test_rows)
    yield Repair(kind, "move", _names(run), start, end, tuple(gold_rows), tuple(test_rows), tuple(changes))
    for node, gold in relabelled:
        yield _relabel_node(node, gold, ())


def _settle(
    forest: RepairForest, missed: MissingBrackets, run: Run, changes: list[SpanChange], gold_rows: list[int], test_rows: list[int]
) -> None:
    """Give a run its own phrase, or take from it one that gold does not have."""
    if run.phrase:
        changes.append((None, _new(forest, missed, run.nodes, run.phrase.row, gold_rows)))
    elif run.dissolves:
        (node,) = run.nodes
        forest.splice_out(node)
        node.wrong = False
        changes.append((_bracket(node), None))
        test_rows.append(node.row)


def _new(forest: RepairForest, missed: MissingBrackets, children: list[Node], row: int, gold_rows: list[int]) -> Span:
    """A new node for a missing gold bracket over these siblings."""
    gold_rows.append(row)
    return _bracket(forest.wrap(children, missed.take(children[0].start, children[-1].end, row)))


def _phrase(run: Run) -> str:
    return run.phrase.name if run.phrase else ""


def _relabel(forest: RepairForest, missed: MissingBrackets) -> Repair | None:
    for node in forest.phrases:
        if node.wrong and (gold := missed.find_span(node.start, node.end, ())):
            missed.take(*node.span, gold.row)
            return _relabel_node(node, gold, (node.row,))
    return None


def _relabel_node(node: Node, gold: Gold, spurious: tuple[int, ...]) -> Repair:
    before = _bracket(node)
    node.label, node.name, node.wrong = gold.label, gold.name, False
    what = f"{before.label} -> {gold.name}"
    return Repair("different label", "relabel", what, *node.span, (gold.row,), spurious, ((before, _bracket(node)),))


def _join(forest: RepairForest, missed: MissingBrackets) -> Repair | None:
    """A repair for a missing X over an X and its siblings, which belong to that X: they are moved under a new X above it."""
    for span, gold in missed:
        siblings = forest.run(*span)
        if siblings is None or len(siblings) == 1:
            continue
        for head, others in ((siblings[0], siblings[1:]), (siblings[-1], siblings[:-1])):
            if head.label == gold.label:
                return _join_run(forest, missed, siblings, gold, head, run_of(others, missed))
    return None


def _join_run(forest: RepairForest, missed: MissingBrackets, siblings: list[Node], gold: Gold, head: Node, run: Run) -> Repair:
    start, end = run.nodes[0].start, run.nodes[-1].end
    beside = _neighbours(run.nodes)
    gold_rows: list[int] = []
    test_rows: list[int] = []
    changes: list[SpanChange] = [(None, _new(forest, missed, siblings, gold.row, gold_rows))]
    kind = kind_of_move(run.nodes, _phrase(run), head.parent.parent, head, beside)
    _settle(forest, missed, run, changes, gold_rows, test_rows)
    return Repair(kind, "move", _names(run.nodes), start, end, tuple(gold_rows), tuple(test_rows), tuple(changes))


def _remove(forest: RepairForest) -> Repair | None:
    node = next((node for node in forest.phrases if node.wrong), None)
    if node is None:
        return None
    kind = kind_of_node(node.name, node.children, node.parent, missing=False)
    forest.splice_out(node)
    return Repair(kind, "remove", node.name, *node.span, (), (node.row,), ((_bracket(node), None),))


def _add(forest: RepairForest, missed: MissingBrackets) -> Repair | None:
    """Add the smallest missing bracket; as no wrong node is left, it crosses nothing."""
    if not missed:
        return None
    span, gold = min(missed, key=lambda item: (item[0][1] - item[0][0], item[0], -item[1].row))
    run = forest.run(*span)
    assert run is not None, "right brackets never cross a gold bracket"
    kind = kind_of_node(gold.name, run, run[0].parent, missing=True)
    node = forest.wrap(run, missed.take(*span, gold.row))
    return Repair(kind, "add", gold.name, *span, (gold.row,), (), ((None, _bracket(node)),))


def _bracket(node: Node) -> Span:
    return Span(node.start, node.end, node.name)


def _names(run: Sequence[Node]) -> str:
    return " ".join(node.name for node in run)


def _neighbours(run: Sequence[Node]) -> list[Node]:
    """The siblings directly before and after a run."""
    siblings, first = run[0].parent.children, run[0].place()
    return siblings[max(first - 1, 0) : first] + siblings[first + len(run) : first + len(run) + 1]


MOST_WRONG = 200
"""A sentence with more wrong brackets than this is repaired node by node: it shares too little with its gold tree for moves."""


@dataclass(frozen=True)
class SentenceRepairs:
    """The repairs of one sentence (``sentence`` is its row in the pair), in the order in which they were made."""

    sentence: int
    repairs: tuple[Repair, ...]


def explain(pair: Pair) -> Iterator[SentenceRepairs]:
    """The repairs of every sentence that is not right.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes)))))")
    >>> test = Treebank.parse("(S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT a) (NN man)) (PP (IN with) (NP (NNS eyes))))))")
    >>> for sentence in explain(alignment.pair(gold, test, load_preset("none"))):
    ...     for repair in sentence.repairs:
    ...         print(repair.kind, repair.action, repair.what, repair.start, repair.end)
    PP attachment move PP 4 6
    """
    partner = partners(pair.gold, pair.test, pair.matching_classes)
    wrong = ~has_partner(partner, pair.test)
    classes = pair.classes if pair.preset.labelled else np.zeros_like(pair.classes)
    is_missed = partner < 0
    n_missed, n_wrong = pair.gold.per_sentence(is_missed), pair.test.per_sentence(wrong)
    edited = pair.is_edited
    fits = (pair.alignment.fit[pair.index] < Fit.TEXT_DIFFERS) | edited
    tags = [*pair.gold.labels, ""]
    sentences: list[int] = np.flatnonzero(n_missed + n_wrong).tolist()
    for sentence in sentences:
        missed = _rows(pair.gold, sentence, is_missed)
        if not fits[sentence]:
            yield SentenceRepairs(sentence, (_no_parse(pair, missed, sentence),))
        elif edited[sentence] or n_missed[sentence] + n_wrong[sentence] > MOST_WRONG:
            yield SentenceRepairs(sentence, tuple(_node_by_node(pair, missed, _rows(pair.test, sentence, wrong))))
        else:
            tokens = slice(pair.gold.token_offset[sentence], pair.gold.token_offset[sentence + 1])
            numbers: list[int] = pair.gold.tag[tokens].tolist()
            forest = RepairForest(pair.test, classes, sentence, wrong, [tags[number] for number in numbers])
            yield SentenceRepairs(sentence, tuple(repairs(forest, MissingBrackets(pair.gold, classes, missed))))


def _rows(brackets: Brackets, sentence: int, chosen: NDArray[np.bool_]) -> Int64:
    """The chosen brackets of a sentence."""
    first, last = int(brackets.offset[sentence]), int(brackets.offset[sentence + 1])
    return np.flatnonzero(chosen[first:last]) + first


def _no_parse(pair: Pair, missed: Int64, sentence: int) -> Repair:
    changes = tuple((None, span) for span in _spans(pair, 0, missed))
    width = int(pair.gold.token_offset[sentence + 1] - pair.gold.token_offset[sentence])
    return Repair("no parse", "add", "", 0, width, tuple(missed.tolist()), (), changes)


def _node_by_node(pair: Pair, missed: Int64, spurious: Int64) -> Iterator[Repair]:
    for row, span in zip(spurious.tolist(), _spans(pair, 1, spurious), strict=True):
        yield Repair("extra node", "remove", span.label, span.start, span.end, (), (row,), ((span, None),))
    for row, span in zip(missed.tolist(), _spans(pair, 0, missed), strict=True):
        yield Repair("missing node", "add", span.label, span.start, span.end, (row,), (), ((None, span),))


def _spans(pair: Pair, side: int, rows: Int64) -> list[Span]:
    brackets = (pair.gold, pair.test)[side]
    columns = (brackets.start[rows].tolist(), brackets.end[rows].tolist(), brackets.label[rows].tolist())
    return [Span(start, end, brackets.labels[label]) for start, end, label in zip(*columns, strict=True)]


_TOTAL: Key = ()


def by_error(pair: Pair) -> Breakdown:
    """Errors by kind: the number of repairs, the brackets they explain, the sentences they are in, and F1 if they were repaired."""
    pair.require_continuous("errors are classified in trees without gaps")
    counts: Counter[tuple[str, int]] = Counter()
    rows: dict[str, tuple[list[int], list[int]]] = {}
    for found in explain(pair):
        for repair in found.repairs:
            counts[repair.kind, 0] += 1
            counts[repair.kind, 1] += len(repair.missed)
            counts[repair.kind, 2] += len(repair.spurious)
            missed, spurious = rows.setdefault(repair.kind, ([], []))
            missed += repair.missed
            spurious += repair.spurious
        for kind in {repair.kind for repair in found.repairs}:
            counts[kind, 3] += 1
    matched = int((partners(pair.gold, pair.test, pair.matching_classes) >= 0).sum())
    by_kind: dict[Key, tuple[int, ...]] = {(kind,): tuple(counts[kind, i] for i in range(4)) for kind in rows}
    by_kind[_TOTAL] = (matched, pair.gold.n_brackets, pair.test.n_brackets, len(pair))
    places: dict[Key, tuple[PlaceArray, ...]] = {}
    for kind, (missed, spurious) in rows.items():
        found_rows = places_of(pair, np.array(missed, dtype=np.int64), np.array(spurious, dtype=np.int64))
        places[(kind,)] = (PlaceArray(found_rows[np.argsort(found_rows[:, 0], kind="stable")], pair.gold.labels),)
    return Breakdown(by_kind, places, len(pair.alignment.test), _BY_ERROR)


def _order(counts: Counts) -> list[Key]:
    return sorted((key for key in counts if key != _TOTAL), key=lambda key: (-counts[key][1] - counts[key][2], key))


def _cells(key: Key, counts: Counts) -> tuple[Cell, ...]:
    errors, missed, spurious, sentences = counts[key]
    matched, gold, test, _ = counts[_TOTAL]
    share = ratio(missed + spurious, gold + test - 2 * matched)
    repaired = f1(matched + missed, gold, test - spurious + missed)
    return (*key, errors, sentences, missed, spurious, share, ratio(missed + spurious, errors), repaired)


_BY_ERROR = TableLayout(
    "By kind of error",
    ("kind", "errors", "sentences", "missed", "spurious", "share", "brackets per error", "f1 if repaired"),
    ("share", "f1 if repaired"),
    _order,
    _cells,
    ("An error is a repair (moving, relabelling, adding or removing a node); share: of all wrong brackets, missed and spurious.",),
)
