"""Repairing one test tree until it is the gold tree, repair by repair.

Every wrong bracket, missed or spurious, is explained by exactly one repair; no repair makes a right bracket wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from treegauge.metrics.breakdowns.repairs.forest import Forest, Gold, Missed, Node
from treegauge.metrics.breakdowns.repairs.kinds import kind_of_move, kind_of_node
from treegauge.metrics.breakdowns.repairs.search import Move, Run, best_move, run_of
from treegauge.trees.tree import Span

__all__ = ["Change", "Repair", "repairs"]

Change = tuple[Span | None, Span | None]
"""A bracket before and after a repair; None: there is none."""


class Repair(NamedTuple):
    """One step towards the gold tree.

    ``action`` is ``move``, ``relabel``, ``add`` or ``remove``; ``what`` are the labels moved or the label concerned, over the words
    ``[start, end)``; ``missed`` and ``spurious`` are the gold and test brackets (rows) that it explains; ``changes`` is what it
    does to the brackets of the tree.
    """

    kind: str
    action: str
    what: str
    start: int
    end: int
    missed: tuple[int, ...]
    spurious: tuple[int, ...]
    changes: tuple[Change, ...]


def repairs(forest: Forest, missed: Missed) -> Iterator[Repair]:
    """Repairs until nothing is wrong or missing.

    What explains most comes first. A span that only lacks its label is relabelled unless a move explains more than both its
    brackets; nodes are removed and added only when nothing can be moved.
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


def _move(forest: Forest, missed: Missed, move: Move) -> Iterator[Repair]:
    """The move itself, then a repair for each node that it leaves with the right span and a wrong label."""
    run, source = move.run.nodes, move.run.nodes[0].parent
    start, end = run[0].start, run[-1].end
    beside = _neighbours(run)
    changes: list[Change] = []
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
        yield _labelled(node, gold, ())


def _settle(forest: Forest, missed: Missed, run: Run, changes: list[Change], gold_rows: list[int], test_rows: list[int]) -> None:
    """Give a run its own phrase, or take from it one that gold does not have."""
    if run.phrase:
        changes.append((None, _new(forest, missed, run.nodes, run.phrase.row, gold_rows)))
    elif run.dissolves:
        (node,) = run.nodes
        forest.splice_out(node)
        node.wrong = False
        changes.append((_bracket(node), None))
        test_rows.append(node.row)


def _new(forest: Forest, missed: Missed, children: list[Node], row: int, gold_rows: list[int]) -> Span:
    """A new node for a missing gold bracket over these siblings."""
    gold_rows.append(row)
    return _bracket(forest.wrap(children, missed.take(children[0].start, children[-1].end, row)))


def _phrase(run: Run) -> str:
    return run.phrase.name if run.phrase else ""


def _relabel(forest: Forest, missed: Missed) -> Repair | None:
    for node in forest.phrases:
        if node.wrong and (gold := missed.find_span(node.start, node.end, ())):
            missed.take(*node.span, gold.row)
            return _labelled(node, gold, (node.row,))
    return None


def _labelled(node: Node, gold: Gold, spurious: tuple[int, ...]) -> Repair:
    before = _bracket(node)
    node.label, node.name, node.wrong = gold.label, gold.name, False
    what = f"{before.label} -> {gold.name}"
    return Repair("different label", "relabel", what, *node.span, (gold.row,), spurious, ((before, _bracket(node)),))


def _join(forest: Forest, missed: Missed) -> Repair | None:
    """A missing X over X and others: the others belong to that X, so they are moved under a new X above it."""
    for span, gold in missed:
        siblings = forest.run(*span)
        if siblings is None or len(siblings) == 1:
            continue
        for head, others in ((siblings[0], siblings[1:]), (siblings[-1], siblings[:-1])):
            if head.label == gold.label:
                return _joined(forest, missed, siblings, gold, head, run_of(others, missed))
    return None


def _joined(forest: Forest, missed: Missed, siblings: list[Node], gold: Gold, head: Node, run: Run) -> Repair:
    start, end = run.nodes[0].start, run.nodes[-1].end
    beside = _neighbours(run.nodes)
    gold_rows: list[int] = []
    test_rows: list[int] = []
    changes: list[Change] = [(None, _new(forest, missed, siblings, gold.row, gold_rows))]
    kind = kind_of_move(run.nodes, _phrase(run), head.parent.parent, head, beside)
    _settle(forest, missed, run, changes, gold_rows, test_rows)
    return Repair(kind, "move", _names(run.nodes), start, end, tuple(gold_rows), tuple(test_rows), tuple(changes))


def _remove(forest: Forest) -> Repair | None:
    node = next((node for node in forest.phrases if node.wrong), None)
    if node is None:
        return None
    kind = kind_of_node(node.name, node.children, node.parent, missing=False)
    forest.splice_out(node)
    return Repair(kind, "remove", node.name, *node.span, (), (node.row,), ((_bracket(node), None),))


def _add(forest: Forest, missed: Missed) -> Repair | None:
    """Add the smallest missing bracket; with nothing wrong left, each fits."""
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
