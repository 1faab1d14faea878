"""The human check's results: the items and the twelve measures of the paper's Tables 1 and 4, also used by ``compare``.

While some brackets are not judged, items and measures are estimates with intervals. The judged brackets are taken as a random
sample of all that are asked about, which they are as long as people follow the random order. Each bracket that is not judged is
accepted with the probability p of its kind, distributed as Beta(accepted + 1/2, rejected + 1/2) (Jeffreys' prior). Many draws of p
and of the unjudged brackets show which measures judging everything might give; an interval holds the middle of them, and shrinks to
a point as the last bracket is judged. If whole sentences were drawn, the brackets of one sentence are alike, so sentences are
resampled instead: each unjudged sentence has the share of accepted brackets of a sentence from a bootstrap sample of the judged
ones. The intervals do not extend to other sentences; that is the task of ``treegauge compare``.

Agreement between annotators, whichever brackets each has judged: Cohen's kappa for each pair, Krippendorff's alpha for all. Both
compare the observed agreement with the agreement expected by chance: 1 is full agreement, 0 is chance; undefined (nan) if everybody
always gives the same answer.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.humancheck.judgements import TAGS, BracketId, JudgementLog, verdict_rule
from treegauge.humancheck.questions import KINDS, Check, CheckPlan, build_check
from treegauge.metrics.hogenhout import Hogenhout, Judgements, Verdict
from treegauge.metrics.hogenhout.bracket_measures import measure_titles, measures
from treegauge.metrics.metric import ratio
from treegauge.metrics.registry import find_metric
from treegauge.presets import Preset, load_preset
from treegauge.tables import Cell, Table, number_of, plain, rounded
from treegauge.trees.treebank import Int64, Treebank

_SAMPLES = 2000


def cohens_kappa(a: Sequence[int], b: Sequence[int]) -> float:
    """(P_o - P_e) / (1 - P_e), where P_e is the agreement of two who answer at random, each with their own share of every answer.

    Cohen 1960, *A coefficient of agreement for nominal scales*. Answers are numbers of categories.

    >>> round(cohens_kappa([0] * 88 + [0] * 14 + [0] * 18 + [1] * 10 + [1] * 40 + [1] * 10 + [2] * 2 + [2] * 6 + [2] * 12,
    ...                    [0] * 88 + [1] * 14 + [2] * 18 + [0] * 10 + [1] * 40 + [2] * 10 + [0] * 2 + [1] * 6 + [2] * 12), 3)
    0.492
    """
    return float(_kappa(_cells(np.asarray(a), np.asarray(b)).sum(axis=0)))


def _cells(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
    """A table for each unit, rows for one's answer and columns for the other's, with a single 1 in it."""
    size = int(max(a.max(initial=0), b.max(initial=0))) + 1
    cells = np.zeros((len(a), size, size))
    cells[np.arange(len(a)), a, b] = 1
    return cells


def _kappa(table: NDArray[np.float64]) -> Any:
    """Kappa of a table of counts, or of many tables at once."""
    n = table.sum(axis=(-2, -1))
    observed = np.trace(table, axis1=-2, axis2=-1)
    by_chance = ratio((table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1), np.asarray(n))
    return ratio(observed - by_chance, np.asarray(n - by_chance))


def krippendorffs_alpha(answers: Sequence[Sequence[int | None]]) -> float:
    """1 - D_o/D_e for nominal answers: a list per annotator, with None where they gave no answer.

    Krippendorff 2011, *Computing Krippendorff's alpha-reliability*, which has these two examples:

    >>> round(krippendorffs_alpha([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]), 3)
    0.095
    >>> x = None
    >>> round(krippendorffs_alpha([[1, 2, 3, 3, 2, 1, 4, 1, 2, x, x, x], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, x, 3],
    ...                            [x, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, x], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, x]]), 3)
    0.743
    """
    table = np.array([[-1 if answer is None else answer for answer in row] for row in answers], dtype=np.int64)
    return float(_alpha(_coincidences(table).sum(axis=0)))


def _coincidences(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """The coincidences of each unit's answers: every ordered pair of its m answers counts 1/(m - 1)."""
    categories = int(table.max(initial=0)) + 1
    counts = np.stack([(table == category).sum(axis=0) for category in range(categories)], axis=1).astype(np.float64)
    m = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - np.eye(categories) * counts[:, :, None]
    return np.where(m > 1, 1 / np.where(m > 1, m - 1, 1), 0.0)[:, None, None] * pairs


def _alpha(coincidences: NDArray[np.float64]) -> Any:
    """Alpha of a table of coincidences, or of many tables at once."""
    n = coincidences.sum(axis=(-2, -1))
    shares = coincidences.sum(axis=-1)
    disagreement = n - np.trace(coincidences, axis1=-2, axis2=-1)
    expected = (n**2 - (shares**2).sum(axis=-1)) / np.where(n > 1, n - 1, 1)
    return 1 - ratio(disagreement, np.asarray(expected))


class Agreement(NamedTuple):
    """A measure of agreement with its 95% bootstrap interval, over the brackets that both (for alpha: two or more) have judged.

    ``shared`` is the number of these brackets, ``share`` the fraction on which the annotators agree.
    """

    annotators: tuple[str, ...]
    measure: str
    shared: int
    share: float
    value: float
    low: float
    high: float


def ratings(log: JudgementLog, brackets: Sequence[BracketId], *, unsure: bool = False) -> dict[str, list[int | None]]:
    """Each annotator's answer on each bracket: 0 accepted, 1 rejected, 2 unsure (if ``unsure``), None if there is no answer."""
    number = {"accepted": 0, "rejected": 1} | ({"unsure": 2} if unsure else {})
    opinions = [log.opinions(bracket) for bracket in brackets]
    names = sorted({name for of_bracket in opinions for name in of_bracket})
    return {
        name: [number.get(of_bracket[name].verdict) if name in of_bracket else None for of_bracket in opinions] for name in names
    }


def all_agreements(answers: Mapping[str, Sequence[int | None]], *, seed: int = 1) -> list[Agreement]:
    """Cohen's kappa for every pair of annotators, then Krippendorff's alpha for all; ``answers`` are those of :func:`ratings`."""
    found: list[Agreement] = []
    for a, b in combinations(answers, 2):
        both = [(x, y) for x, y in zip(answers[a], answers[b], strict=True) if x is not None and y is not None]
        first, second = (np.array(column, dtype=np.int64) for column in (zip(*both, strict=True) if both else ((), ())))
        cells = _cells(first, second)
        share = ratio(float((first == second).sum()), len(both))
        low, high = _bootstrap_interval(_kappa, cells, seed)
        found.append(Agreement((a, b), "Cohen's kappa", len(both), share, float(_kappa(cells.sum(axis=0))), low, high))
    table = np.array([[-1 if x is None else x for x in row] for row in answers.values()], dtype=np.int64)
    if len(answers) > 1:
        table = table[:, (table >= 0).sum(axis=0) > 1]
        units = _coincidences(table)
        total = units.sum(axis=0)
        share = ratio(float(np.trace(total)), float(total.sum()))
        low, high = _bootstrap_interval(_alpha, units, seed)
        found.append(Agreement(tuple(answers), "Krippendorff's alpha", table.shape[1], share, float(_alpha(total)), low, high))
    return found


def _bootstrap_interval(measure: Any, units: NDArray[np.float64], seed: int) -> tuple[float, float]:
    """The middle 95% of the measure over samples of the units, drawn with replacement."""
    if len(units) < 2:
        return float("nan"), float("nan")
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(len(units), np.full(len(units), 1 / len(units)), size=_SAMPLES)
    values = measure(np.tensordot(weights.astype(np.float64), units, axes=1))
    values = values[~np.isnan(values)]
    if not len(values):
        return float("nan"), float("nan")
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def find_agreement(check: Check, log: JudgementLog, annotators: Sequence[str] = ()) -> Table:
    """The agreement of the annotators of a check, or of those named, and the number of disputed brackets."""
    brackets = [question.bracket for question in check.questions]
    answers = {name: row for name, row in ratings(log, brackets).items() if not annotators or name in annotators}
    disputes = [bracket for bracket in brackets if log.is_disputed(bracket)]
    settled = sum(log.ruling(bracket) is not None for bracket in disputes)
    rows: list[tuple[Cell, ...]] = [
        (", ".join(annotators), measure, shared, share, *map(_Coefficient, values))
        for annotators, measure, shared, share, *values in all_agreements(answers)
    ]
    disputed = number_of(len(disputes), "bracket")
    notes = [f"{disputed} accepted by one annotator and rejected by another, {settled} settled by an adjudicator"]
    if not rows:
        notes = [f"agreement needs answers of two annotators; so far {number_of(len(answers), 'annotator')} answered"]
    columns = ("annotators", "measure", "brackets", "agree", "value", "low", "high")
    return Table("Agreement (accepted or rejected)", columns, tuple(rows), tuple(notes), percent=("agree",))


def agreement_by_label(check: Check, log: JudgementLog) -> Table:
    """The agreement on the brackets of each label, those with most brackets judged by two or more first."""
    by_label: dict[str, list[BracketId]] = {}
    for question in check.questions:
        if sum(one.verdict in ("accepted", "rejected") for one in log.opinions(question.bracket).values()) > 1:
            by_label.setdefault(question.bracket.label, []).append(question.bracket)
    rows: list[tuple[Cell, ...]] = []
    for label, brackets in sorted(by_label.items(), key=lambda found: (-len(found[1]), found[0])):
        alpha = all_agreements(ratings(log, brackets))[-1]
        disputed = sum(map(log.is_disputed, brackets))
        rows.append((label, len(brackets), disputed, alpha.share, _Coefficient(alpha.value)))
    return Table("By label", ("label", "brackets", "disputed", "agree", "alpha"), tuple(rows), percent=("agree",))


def confusion_tables(check: Check, log: JudgementLog) -> list[Table]:
    """The brackets to which two annotators gave each two verdicts: a table for each pair, its rows for the first one's verdicts."""
    verdicts = ("accepted", "rejected", "unsure")
    answers = ratings(log, [question.bracket for question in check.questions], unsure=True)
    tables: list[Table] = []
    for a, b in combinations(answers, 2):
        counts = Counter(zip(answers[a], answers[b], strict=True))
        rows = tuple((f"{a}: {one}", *(counts[i, j] for j in range(3))) for i, one in enumerate(verdicts))
        tables.append(Table(f"{a} and {b}", ("verdict", *(f"{b}: {one}" for one in verdicts)), rows))
    return tables


def verdict_table(check: Check, log: JudgementLog) -> Table:
    """Everybody's verdict on each bracket that two or more annotators have judged, and the adjudicator's."""
    names = log.names()
    rows: list[tuple[Cell, ...]] = []
    for question in check.questions:
        opinions, ruling = log.opinions(question.bracket), log.ruling(question.bracket)
        if len(opinions) > 1:
            said = [opinions[name].verdict if name in opinions else "" for name in names]
            place = question.occurrences[0].sentence + 1
            settled = ruling.verdict if ruling else ""
            rows.append((place, question.bracket.label, " ".join(question.words), question.kind, *said, settled))
    return Table("Verdicts", ("sentence", "label", "words", "kind", *names, "adjudicator"), tuple(sorted(rows, key=str)))


class _Coefficient(float):
    """A coefficient, shown with three decimals in any table."""

    def __format__(self, spec: str) -> str:
        return float.__format__(self, ".3f")


OPEN, ACCEPTED, REJECTED, UNSURE, SKIPPED = range(5)
STATES = {"accepted": ACCEPTED, "rejected": REJECTED, "unsure": UNSURE, "skipped": SKIPPED}
"""The number of a question's state by its verdict; a question without an answer is OPEN (0)."""

ITEMS = ("CEA", "CER", "SPA", "SPR", "EMA", "EMR")
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
        drawn = self._draw_brackets(rng, draws) if units is None else self._draw_sentences(rng, draws, units[self._here])
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
    """Every system's counts and measures, the numbers of brackets judged and asked about, warnings (``notes``), and the
    ``titles`` of the measures."""

    systems: tuple[SystemMeasures, ...]
    judged: int
    asked: int
    notes: tuple[str, ...]
    titles: Mapping[str, str]

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
        for name, title in self.titles.items():
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
    judged = int((states[check.ranking] != OPEN).sum())
    return Results(systems, judged, len(check.order), tuple(sample_notes(check, states)), measure_titles(check.plan.metric.reading))


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
