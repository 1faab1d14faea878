"""The human check's results: the items and the twelve measures of the paper's Tables 1 and 4, also used by ``compare``.

While some brackets are not judged, items and measures are estimates with intervals. The judged brackets are taken as a random
sample of all that are asked about, which they are as long as people follow the random order. Each bracket that is not judged is
accepted with the probability p of its kind, distributed as Beta(accepted + 1/2, rejected + 1/2) (Jeffreys' prior). Many draws of p
and of the unjudged brackets show which measures judging everything might give; an interval holds the middle of them, and shrinks to
a point as the last bracket is judged. If whole sentences were drawn, the brackets of one sentence are alike, so sentences are
resampled instead: each unjudged sentence has the share of accepted brackets of a sentence from a bootstrap sample of the judged
ones. The intervals do not extend to other sentences; that is the task of ``treegauge compare``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.humancheck.bracket_ids import BracketId
from treegauge.humancheck.judgements import TAGS, JudgementLog, verdict_rule
from treegauge.humancheck.questions import KINDS, Check, CheckPlan, build_check
from treegauge.metrics.hogenhout import MEASURES, Hogenhout, Judgements, Verdict
from treegauge.metrics.hogenhout.metric import measures
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset, load_preset
from treegauge.tables import Cell, Table, plain, rounded
from treegauge.trees.treebank import Int64, Treebank

OPEN, ACCEPTED, REJECTED, UNSURE, SKIPPED = range(5)
STATES = {"accepted": ACCEPTED, "rejected": REJECTED, "unsure": UNSURE, "skipped": SKIPPED}
"""The number of a question's state by its verdict; a question without an answer is OPEN (0)."""

ITEMS = ("CEA", "CER", "SPA", "SPR", "EMA", "EMR")
ITEM_NAMES = {
    "TTB": "treebank brackets in all",
    "TPB": "parser brackets in all",
    "EMA": "exact matches, accepted",
    "EMR": "exact matches, rejected",
    "CEA": "crossing errors, accepted: they cross a treebank bracket, but fit the sentence",
    "CER": "crossing errors, rejected",
    "SPA": "spurious brackets, accepted: not in the treebank, crossing nothing, and fitting the sentence",
    "SPR": "spurious brackets, rejected",
    "PINH": "crossing errors whose direct parent crosses too (inherited)",
    "PNINH": "crossing errors whose direct parent does not cross",
    "TINH": "reproduced treebank brackets whose direct parent is reproduced too (inherited)",
    "TNINH": "reproduced treebank brackets whose direct parent is not reproduced",
}
"""The items of the paper's Table 1 and their meanings."""
_DRAWS = 2000

States = NDArray[np.int8]


@dataclass(frozen=True)
class Estimate:
    """A number, and the interval in which it is expected to be once everything is judged."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SystemMeasures:
    """A system's counts so far (including ``unjudged``), and its items and measures with their intervals.

    Once everything is judged, every interval is a point and every item a count.
    """

    system: str
    counts: Mapping[str, int]
    items: Mapping[str, Estimate]
    measures: Mapping[str, Estimate]

    @property
    def is_complete(self) -> bool:
        """Whether every bracket is judged."""
        return not self.counts["unjudged"]


def estimate(check: Check, system: int, states: States, *, level: float = 0.95, seed: int = 1) -> SystemMeasures:
    """The items and measures of a system, given the state of every question.

    As in the paper, exact matches count as accepted until somebody rejects them; if the check asks about them, those judged are a
    sample like those of the other kinds.
    """
    rng = np.random.default_rng(seed)
    units = np.array([check.unit_of.get(number, -1) for number in range(len(check.questions))], dtype=np.int64)
    regular = dict(check.systems[system].counts)
    judged: dict[str, int] = {}
    drawn: dict[str, Any] = {}
    unjudged = 0
    for kind, name in enumerate(KINDS):
        group = _KindCounts(check.instances[system, kind], check.reproduced[system] * (name == "EM"), states)
        assumed = name == "EM" and not check.plan.exact
        judged |= {f"{name}A": int(group.accepted[0]), f"{name}R": int(group.rejected[0])}
        if assumed:
            drawn |= {"EMA": regular["EM"] - judged["EMR"], "EMR": judged["EMR"], "treebank": int(group.rejected[1])}
            judged["EMA"] = regular["EM"] - judged["EMR"]
            continue
        unjudged += int(group.open[0])
        accepted = group.draw(rng, _DRAWS, units if check.plan.by_sentence else None)
        drawn |= {f"{name}A": group.accepted[0] + accepted[0], f"{name}R": group.rejected[0] + group.open[0] - accepted[0]}
        if name == "EM":
            drawn["treebank"] = group.rejected[1] + group.open[1] - accepted[1]
    # Treebank brackets whose exact match was not asked about, because it is of another structure, are reproduced all the same.
    drawn["EMA_treebank"] = regular["TINH"] + regular["TNINH"] - drawn.pop("treebank")
    possible = measures(regular | drawn, with_emr=check.plan.metric.with_emr)
    items = {name: _interval(drawn[name], level) for name in ITEMS}
    rates = {name: _interval(values, level) for name, values in possible.items()}
    return SystemMeasures(check.systems[system].name, regular | judged | {"unjudged": unjudged}, items, rates)


class _KindCounts:
    """The brackets of one kind: occurrences of accepted, rejected and open ones, in the parse and in the treebank."""

    def __init__(self, instances: Int64, reproduced: Int64, states: States) -> None:
        here = np.flatnonzero(instances)
        self._here, self._state = here, states[here]
        counts, state = np.stack([instances[here], reproduced[here]]), states[here]
        self.accepted = counts[:, state == ACCEPTED].sum(axis=1)
        self.rejected = counts[:, state == REJECTED].sum(axis=1)
        self._waiting = counts[:, (state != ACCEPTED) & (state != REJECTED)]
        self.open = self._waiting.sum(axis=1)
        self.n_accepted, self.n_rejected = int((state == ACCEPTED).sum()), int((state == REJECTED).sum())

    def draw(self, rng: np.random.Generator, draws: int, units: Int64 | None = None) -> NDArray[np.float64]:
        """The number of open brackets that would be accepted: first the estimate, then ``draws`` possible numbers; nan if unknown.

        ``units`` gives the sentence of each question if whole sentences were drawn.
        """
        n = self.n_accepted + self.n_rejected
        if not self.open[0]:
            return np.zeros((2, draws + 1))
        if not n:
            return np.full((2, draws + 1), np.nan)
        if units is None:
            drawn = self._draw_brackets(rng, draws)
        else:
            drawn = self._draw_sentences(rng, draws, units[self._here])
        expected = self.open * self.n_accepted / n
        return np.concatenate([expected[:, None], drawn], axis=1)

    def _draw_brackets(self, rng: np.random.Generator, draws: int) -> NDArray[np.float64]:
        p = rng.beta(self.n_accepted + 0.5, self.n_rejected + 0.5, size=draws)
        # One binomial draw serves all brackets with the same number of occurrences.
        instances, reproduced = self._waiting
        codes, numbers = np.unique(instances * (int(reproduced.max()) + 1) + reproduced, return_counts=True)
        sizes = np.stack(np.divmod(codes, int(reproduced.max()) + 1))
        accepted = rng.binomial(numbers[:, None], p[None, :])
        return (sizes @ accepted).astype(np.float64)

    def _draw_sentences(self, rng: np.random.Generator, draws: int, units: Int64) -> NDArray[np.float64]:
        """The number of accepted open brackets in each draw, by bootstrap over the judged sentences.

        Each sentence with open brackets gets the share of accepted brackets of a sentence from a bootstrap sample of the judged
        ones. The sample includes one further sentence of random weight, whose share has Jeffreys' prior: otherwise a few judged
        sentences that agree would leave no uncertainty at all.
        """
        judged = (self._state == ACCEPTED) | (self._state == REJECTED)
        _, of_judged = np.unique(units[judged], return_inverse=True)
        answered = np.bincount(of_judged).astype(np.float64)
        share = np.bincount(of_judged, weights=(self._state[judged] == ACCEPTED).astype(np.float64)) / answered
        _, of_open = np.unique(units[~judged], return_inverse=True)
        sizes = np.stack([np.bincount(of_open, weights=row.astype(np.float64)) for row in self._waiting])
        numbers = np.bincount(of_open)
        drawn = np.zeros((2, draws))
        for index in range(draws):
            # A sentence is weighted by its brackets, since an open bracket is more likely to be in a sentence with many.
            sample = rng.integers(len(share), size=len(share))
            shares = np.concatenate([share[sample], rng.beta(0.5, 0.5, size=1)])
            weights = np.concatenate([answered[sample], rng.exponential(float(answered.mean()), size=1)])
            p = shares[rng.choice(len(shares), size=len(numbers), p=weights / weights.sum())]
            drawn[:, index] = sizes @ (rng.binomial(numbers, p) / numbers)
        return drawn


def _interval(values: Any, level: float) -> Estimate:
    """The first value, and the middle ``level`` of the others; a value that does not vary is a point."""
    if not isinstance(values, np.ndarray):
        return Estimate(float(values), float(values), float(values))
    numbers = np.asarray(values, dtype=np.float64)
    possible = numbers[1:][~np.isnan(numbers[1:])]
    if np.isnan(numbers[0]) or not len(possible):
        return Estimate(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(possible, [(1 - level) / 2, (1 + level) / 2], method="linear")
    return Estimate(float(numbers[0]), min(float(low), float(numbers[0])), max(float(high), float(numbers[0])))


VerdictOf = Callable[[BracketId], Verdict | None]


@dataclass(frozen=True)
class Results:
    """Every system's counts and measures, the numbers of brackets judged and asked about, and warnings (``notes``)."""

    systems: tuple[SystemMeasures, ...]
    judged: int
    asked: int
    notes: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Table 1 (items) and Table 4 (measures) of the paper, with intervals while something is unjudged."""
        return [self.items_table(), self.measures_table()]

    def items_table(self) -> Table:
        """The items (Table 1): counts and shares of TPB or, while brackets are unjudged, counts so far and expected counts."""
        names = ("TTB", "TPB", "EMA", "EMR", "CEA", "CER", "SPA", "SPR", "PINH", "PNINH", "TINH", "TNINH")
        complete = all(system.is_complete for system in self.systems)
        rows = [(name, *(cell for system in self.systems for cell in _item(system, name, complete))) for name in names]
        if complete:
            columns = [column for system in self.systems for column in (system.system, f"{system.system} %TPB")]
            percent = tuple(column for column in columns if column.endswith(" %TPB"))
        else:
            heads = ("so far", "expected", "low", "high")
            columns = [f"{system.system} {head}" for system in self.systems for head in heads]
            percent = ()
        return Table("Items (Hogenhout & Matsumoto 1996, Table 1)", ("item", *columns), tuple(rows), self.notes, percent)

    def measures_table(self) -> Table:
        """The twelve measures (Table 4)."""
        complete = all(system.is_complete for system in self.systems)
        heads = [""] if complete else ["", " low", " high"]
        columns = tuple(system.system + head for system in self.systems for head in heads)
        rows: list[tuple[Cell, ...]] = []
        for name, title in MEASURES.items():
            found = [system.measures[name] for system in self.systems]
            cells = [cell for one in found for cell in ((one.value,) if complete else (one.value, one.low, one.high))]
            rows.append((title, *cells))
        return Table("Measures (Table 4)", ("measure", *columns), tuple(rows), percent=columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON; nan is None."""
        return {
            "judged": self.judged,
            "asked": self.asked,
            "systems": {
                system.system: {
                    "counts": dict(system.counts),
                    "items": {name: plain(asdict(value)) for name, value in system.items.items()},
                    "measures": {name: plain(asdict(value)) for name, value in system.measures.items()},
                }
                for system in self.systems
            },
            "notes": list(self.notes),
        }


def _item(system: SystemMeasures, name: str, complete: bool) -> tuple[Cell, ...]:
    count = system.counts[name]
    if complete:
        share = count / system.counts["TPB"] if name in ITEMS and system.counts["TPB"] else None
        return count, share
    if name not in ITEMS:
        return count, None, None, None
    found = system.items[name]
    return count, rounded(found.value), rounded(found.low), rounded(found.high)


def find_results(check: Check, verdict: VerdictOf) -> Results:
    """The results, given the verdict on each bracket."""
    states = states_of(check, verdict)
    systems = tuple(estimate(check, system, states) for system in range(len(check.systems)))
    asked = np.array(check.order, dtype=np.int64)
    judged = int((states[check.ranking] != OPEN).sum())
    return Results(systems, judged, len(asked), tuple(sample_notes(check, states)))


def states_of(check: Check, verdict: VerdictOf) -> States:
    """The state of each question under the verdicts: accepted, rejected or open."""
    number = {None: OPEN, Verdict.ACCEPTED: ACCEPTED, Verdict.REJECTED: REJECTED}
    return np.array([number[verdict(question.bracket)] for question in check.questions], dtype=np.int8)


def sample_notes(check: Check, states: States) -> list[str]:
    """Notes on how much was judged, and on whether that is a random sample; none if everything was."""
    done = (states[check.ranking] == ACCEPTED) | (states[check.ranking] == REJECTED)
    n, total = int(done.sum()), len(done)
    if n == total:
        return []
    notes = [f"{n} of {total} brackets accepted or rejected; the rest estimated, with 95% intervals of what judging all would give"]
    reached = int(np.flatnonzero(done)[-1]) + 1 if n else 0
    left_out = reached - n
    if n and left_out > 0.05 * reached:
        notes.append(
            f"{left_out} of the first {reached} in random order have no verdict (skipped, unsure, in dispute, or judged for other "
            "parsers or under another seed): the judged ones are not a random sample, and the intervals may be too narrow"
        )
    return notes


def tags_table(check: Check, log: JudgementLog, annotators: Sequence[str] = ()) -> Table:
    """The number of current judgements with each reason, by verdict; only those of ``annotators``, if any are named."""
    counts: Counter[tuple[str, str]] = Counter()
    for bracket in log.brackets:
        if bracket in check.number:
            for opinion in log.opinions(bracket).values():
                if not annotators or opinion.annotator in annotators:
                    counts.update((tag, opinion.verdict) for tag in opinion.tags)
    verdicts = ("accepted", "rejected", "unsure")
    rows = [(tag, *(counts[tag, verdict] for verdict in verdicts)) for tag in TAGS if any(counts[tag, one] for one in verdicts)]
    return Table("Reasons", ("reason", *verdicts), tuple(rows))


def judgements_for(check: Check, verdict: VerdictOf) -> dict[str, Judgements]:
    """The verdicts as judgements of each system, for :class:`~treegauge.metrics.hogenhout.Hogenhout`."""
    brackets = [question.bracket for question in check.questions]
    return {system.name: system.judgements(lambda number: verdict(brackets[number])) for system in check.systems}


class CheckedSystems(NamedTuple):
    """A store's judgements of some systems' brackets, for ``compare``, and the results that follow from them."""

    judgements: dict[str, Judgements]
    results: Results


def checked_systems(
    gold: Treebank,
    systems: Mapping[str, Treebank],
    store: str,
    plan: CheckPlan | None = None,
    *,
    rule: str = "majority",
    annotators: Sequence[str] = (),
) -> CheckedSystems:
    """A store's judgements of some parsers' brackets, for ``treegauge compare --store``.

    ``plan`` gives the preset and the preprocessing of the comparison (:func:`plan_for`); all judged brackets count, even those that
    the plan would not ask about.
    """
    from treegauge.humancheck import require_web

    require_web("a store of judgements")
    from treegauge.humancheck.store import Store

    with Store(store, create=False) as opened:
        verdict = verdict_rule(JudgementLog(opened.since(0)), rule, annotators)
    check = build_check(gold, systems, plan)
    return CheckedSystems(judgements_for(check, verdict), find_results(check, verdict))


def plan_for(
    metrics: Sequence[str], preset: str | os.PathLike[str] | Preset = "default", match_words: str = "exact", *, treebank: str = ""
) -> CheckPlan:
    """The plan of a check that identifies brackets as a comparison by these metrics does.

    >>> plan_for(["parseval", "hogenhout:keep-punctuation"]).metric.keep
    ('punctuation',)
    """
    found = [find_metric(name).options for name in metrics if name.partition(":")[0] == Hogenhout.name]
    metric = Hogenhout(keep=found[0]["keep"] if found else ())
    return CheckPlan(metric, load_preset(preset, treebank), by_sentence=True, match_words=match_words)
