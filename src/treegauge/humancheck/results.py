"""The human check's results: EMA ... SPR and the twelve measures, as the paper's Tables 1 and 4; and the way into ``compare``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from treegauge.humancheck.content import Bracket
from treegauge.humancheck.estimation import ACCEPTED, ITEMS, OPEN, REJECTED, Estimate, Standing, States, estimate
from treegauge.humancheck.ledger import Ledger, decided
from treegauge.humancheck.queue import Check, Plan, build_check
from treegauge.metrics.hogenhout import MEASURES, Hogenhout, Judgements, Verdict
from treegauge.metrics.registry import find_metric
from treegauge.metrics.tables import Cell, Table
from treegauge.normalise.preset import Preset, load_preset
from treegauge.trees.treebank import Treebank

__all__ = ["Checked", "Results", "cautions", "checked_systems", "find_results", "judgements_for", "plan_for"]

Decision = Callable[[Bracket], Verdict | None]


@dataclass(frozen=True)
class Results:
    """Where every system stands, what to be careful about, and how much was judged."""

    standings: tuple[Standing, ...]
    judged: int
    asked: int
    notes: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Table 1 (items) and Table 4 (measures) of the paper, with intervals while something is unjudged."""
        return [self.items_table(), self.measures_table()]

    def items_table(self) -> Table:
        """The items (Table 1): counts with their shares of TPB; while brackets are unjudged, what is counted so far and
        what is to be expected of all."""
        names = ("TTB", "TPB", "EMA", "EMR", "CEA", "CER", "SPA", "SPR", "PINH", "PNINH", "TINH", "TNINH")
        complete = all(standing.is_complete for standing in self.standings)
        rows = [(name, *(cell for standing in self.standings for cell in _item(standing, name, complete))) for name in names]
        if complete:
            columns = [column for standing in self.standings for column in (standing.system, f"{standing.system} %TPB")]
            percent = tuple(column for column in columns if column.endswith(" %TPB"))
        else:
            heads = ("so far", "expected", "low", "high")
            columns = [f"{standing.system} {head}" for standing in self.standings for head in heads]
            percent = ()
        return Table("Items (Hogenhout & Matsumoto 1996, Table 1)", ("item", *columns), tuple(rows), self.notes, percent)

    def measures_table(self) -> Table:
        """The twelve measures (Table 4)."""
        complete = all(standing.is_complete for standing in self.standings)
        heads = [""] if complete else ["", " low", " high"]
        columns = tuple(standing.system + head for standing in self.standings for head in heads)
        rows: list[tuple[Cell, ...]] = []
        for name, title in MEASURES.items():
            found = [standing.measures[name] for standing in self.standings]
            cells = [cell for each in found for cell in ((each.value,) if complete else (each.value, each.low, each.high))]
            rows.append((title, *cells))
        return Table("Measures (Table 4)", ("measure", *columns), tuple(rows), percent=columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; nan is None."""
        return {
            "judged": self.judged,
            "asked": self.asked,
            "systems": {
                standing.system: {
                    "counts": dict(standing.counts),
                    "items": {name: _plain(value) for name, value in standing.items.items()},
                    "measures": {name: _plain(value) for name, value in standing.measures.items()},
                }
                for standing in self.standings
            },
            "notes": list(self.notes),
        }


def _item(standing: Standing, name: str, complete: bool) -> tuple[Cell, ...]:
    count = standing.counts[name]
    if complete:
        share = count / standing.counts["TPB"] if name in ITEMS and standing.counts["TPB"] else None
        return count, share
    if name not in ITEMS:
        return count, None, None, None
    found = standing.items[name]
    return count, _whole(found.value), _whole(found.low), _whole(found.high)


def _whole(value: float) -> Cell:
    return None if value != value else round(value)


def _plain(found: Estimate) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in asdict(found).items()}


def find_results(check: Check, verdict: Decision) -> Results:
    """The results, given the verdict on each bracket."""
    states = states_of(check, verdict)
    standings = tuple(estimate(check, system, states) for system in range(len(check.systems)))
    asked = np.array(check.order, dtype=np.int64)
    judged = int((states[check.ranked] != OPEN).sum())
    return Results(standings, judged, len(asked), tuple(cautions(check, states)))


def states_of(check: Check, verdict: Decision) -> States:
    """The state of each question as one decides on them all: accepted, rejected or open."""
    number = {None: OPEN, Verdict.ACCEPTED: ACCEPTED, Verdict.REJECTED: REJECTED}
    return np.array([number[verdict(question.bracket)] for question in check.questions], dtype=np.int8)


def cautions(check: Check, states: States) -> list[str]:
    """What a reader of the numbers must know: how much was judged, and whether that is a random sample."""
    done = (states[check.ranked] == ACCEPTED) | (states[check.ranked] == REJECTED)
    n, total = int(done.sum()), len(done)
    if n == total:
        return []
    notes = [f"{n} of {total} brackets accepted or rejected; the rest estimated, with 95% intervals of what judging all would give"]
    reached = int(np.flatnonzero(done)[-1]) + 1 if n else 0
    left_out = reached - n
    if n and left_out > 0.05 * reached:
        notes.append(
            f"without a verdict among the first {reached} in random order: {left_out} (skipped, unsure, in dispute, or judged "
            "for other parsers or under another seed), so those judged are no random sample: the intervals may be too narrow"
        )
    return notes


def judgements_for(check: Check, verdict: Decision) -> dict[str, Judgements]:
    """What was decided, as the judgements of each system that :class:`~treegauge.metrics.hogenhout.Hogenhout` takes."""
    brackets = [question.bracket for question in check.questions]
    return {system.name: system.judgements(lambda number: verdict(brackets[number])) for system in check.systems}


class Checked(NamedTuple):
    """What a store says of some systems: verdicts for the counts of ``compare``, and the results they make."""

    judgements: dict[str, Judgements]
    results: Results


def checked_systems(
    gold: Treebank,
    systems: Mapping[str, Treebank],
    store: str,
    plan: Plan | None = None,
    *,
    rule: str = "majority",
    annotators: Sequence[str] = (),
) -> Checked:
    """The judgements that a store has of some parsers' brackets: what ``treegauge compare --store`` takes up.

    ``plan`` says which preset and preprocessing the comparison uses (:func:`plan_for`); all brackets that were judged are taken up,
    whatever was asked.
    """
    from treegauge.humancheck import require_web

    require_web("a store of judgements")
    from treegauge.humancheck.store import Store

    with Store(store, create=False) as opened:
        verdict = decided(Ledger(opened.since(0)), rule, annotators)
    check = build_check(gold, systems, plan)
    return Checked(judgements_for(check, verdict), find_results(check, verdict))


def plan_for(metrics: Sequence[str], preset: str | os.PathLike[str] | Preset = "default") -> Plan:
    """The plan of a check that names brackets as a comparison by these metrics does.

    >>> plan_for(["parseval", "hogenhout:keep-punctuation"]).metric.keep
    ('punctuation',)
    """
    found = [metric for metric in map(find_metric, metrics) if isinstance(metric, Hogenhout)]
    return Plan(Hogenhout(keep=found[0].keep if found else ()), load_preset(preset))
