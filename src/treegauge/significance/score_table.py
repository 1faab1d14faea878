"""Scores of several systems, by metric and system, that were made in the same way; and all tests on groups of the sentences that
all share: intervals, randomisation, sign tests and tests on brackets, with their warnings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np

from treegauge.engines import Engine
from treegauge.errors import MismatchError, UsageError
from treegauge.metrics.hogenhout import crossing_histogram, rows_of_bits
from treegauge.metrics.metric import Floats, Metric, Rates, Rows, total_of
from treegauge.metrics.registry import compared_metrics, find_metric
from treegauge.presets import Preset
from treegauge.scoring.inputs import check_cutoff
from treegauge.scoring.paper_table import in_units
from treegauge.scoring.result import Result
from treegauge.significance import classical
from treegauge.significance.bootstrap_intervals import Bootstrap, bootstrap, check_interval
from treegauge.significance.comparison import BracketTests, Difference, Documents, Equivalence, Group, PairOfSystems, Rate
from treegauge.significance.documents import Clusters, documents_of
from treegauge.significance.power import CORRELATIONS, Power, equivalence, power_of, power_of_runs
from treegauge.significance.resampling import DEFAULT_ROUNDS, DEFAULT_SEED, Name, PairedColumns, Progress, check_draw, randomisation
from treegauge.significance.runs import RunsTest, RunTests
from treegauge.tables import comma_separated, concise, number_of, whole_number
from treegauge.trees.treebank import Int64

BRACKETS_METRIC = "hogenhout"
"""The metric that provides items, measures and tests on brackets."""
FEW_SENTENCES = 30
SMALL_REAL_TEST = 100
COMPLEMENTING = 0.05
"""Two systems complement each other if each reproduces at least this share of the treebank's brackets that the other misses."""


@concise
@dataclass(frozen=True)
class CompareOptions:
    """The options of a comparison: metrics, rounds of resampling, groups of sentences.

    ``metrics`` are names (none: all metrics, or all that the scores have). ``rates`` are names of rates (none: the headline of each
    metric, and recall, precision, F1 and exact match of PARSEVAL; ``all``: all rates). ``preset`` is None for each metric's own.
    ``lengths`` are the upper ends of length buckets; sentences up to ``cutoff`` words are compared by themselves, too;
    ``structure`` are labels whose brackets are tested separately, by Recall-hard and Precision-hard, whatever ``rates`` says.
    ``clusters`` are the documents of the sentences, which are resampled together: ``by-file``, ``comment:PATTERN``, a file, or a
    label for each sentence. ``power`` asks for the power of the tests, for the differences seen or for one to ``assume``;
    ``equivalence`` is the margin of two one-sided tests; both are in points: 0.5 is half a per cent. ``on_error``, ``pair``,
    ``match_words`` and ``treebank`` are those of :func:`treegauge.score`.
    """

    metrics: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    preset: str | Preset | None = None
    on_mismatch: str = "align"
    rounds: int = DEFAULT_ROUNDS
    seed: int = DEFAULT_SEED
    level: float = 0.95
    interval: str = "percentile"
    lengths: tuple[int, ...] = ()
    cutoff: int | None = None
    structure: tuple[str, ...] = ()
    on_error: str = "parse-fails"
    pair: str = "order"
    match_words: str = "exact"
    treebank: str = ""
    clusters: Clusters | None = None
    power: bool = False
    assume: float | None = None
    equivalence: float | None = None

    def __post_init__(self) -> None:
        check_draw(self.rounds, self.seed)
        check_interval(self.level, self.interval)
        check_cutoff(self.cutoff)
        # One text may name several rates, labels or lengths, with commas between, as on the command line.
        for name in ("rates", "structure", "lengths"):
            given = getattr(self, name)
            object.__setattr__(self, name, comma_separated(str(given) if isinstance(given, int | float) else given))
        lengths = tuple(whole_number(str(length)) or 0 for length in self.lengths)
        if not all(lengths):
            given = ",".join(map(str, self.lengths))[:80]
            raise UsageError(f'lengths="{given}": lengths are positive numbers with commas between, as in 10,20,30,40')
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "metrics", (self.metrics,) if isinstance(self.metrics, str) else tuple(self.metrics))
        for name, points in (("assume", self.assume), ("equivalence", self.equivalence)):
            if points is not None and not (points > 0 and math.isfinite(points)):
                raise UsageError(f"{name}={points:g}: give a positive difference in points, as in {name}=0.5")
        if self.assume is not None and not self.power:
            raise UsageError("assume is the difference to plan for: it needs power=True")

    def passes(self, systems: int) -> int:
        """The number of times the rounds are done for that many ``systems``: for each group the bootstrap and every pair."""
        groups = 1 + len(self.structure) + (len(set(self.lengths)) + 1 if self.lengths else 0) + (self.cutoff is not None)
        return groups * (1 + math.comb(systems, 2))

    def scored_metrics(self, *, discontinuous: bool = False) -> list[str]:
        """The names of all metrics whose scores the comparison needs; on discontinuous trees, only those defined for them."""
        compared = list(self.metrics or compared_metrics(discontinuous=discontinuous))
        brackets = brackets_metric(compared) or BRACKETS_METRIC
        structures = [brackets, *(of_structure(brackets, label) for label in self.structure)] if self.structure else []
        return list(dict.fromkeys([*compared, *structures]))


def brackets_metric(names: Sequence[str]) -> str | None:
    """The name of the brackets metric, with its options, among some names of metrics; None if it is not there."""
    return next((name for name in names if name.partition(":")[0] == BRACKETS_METRIC), None)


def of_structure(name: str, label: str) -> str:
    """The name of the brackets metric restricted to one label."""
    words = [word for word in name.split(":") if not word.startswith("structure=")]
    return ":".join([*words, f"structure={label}"])


class ScoreTable:
    """Scores by metric and system, checked to be comparable, on the sentences that all of them share.

    ``metrics`` are those to compare (all, if none is named), ``structure`` are labels whose brackets are tested separately.
    ``members`` are the systems, or their runs, by label; ``runs`` has the positions of each system's runs among them.
    """

    def __init__(
        self,
        scores: Sequence[Result],
        metrics: Sequence[str],
        structure: Sequence[str],
        on_mismatch: str,
        clusters: Clusters | None = None,
    ) -> None:
        self._results: dict[str, dict[str, Result]] = {}
        for result in scores:
            of_metric = self._results.setdefault(result.metric, {})
            if result.label in of_metric:
                raise UsageError(f"there are two scores of {result.label} by {result.metric}")
            of_metric[result.label] = result
        self.systems = list(dict.fromkeys(result.system for result in scores))
        self.members = {result.label: result.system for result in scores}
        labelled = list(enumerate(self.members.values()))
        self.runs = [[number for number, of in labelled if of == system] for system in self.systems]
        if not self.systems:
            raise UsageError("there are no scores to compare")
        brackets = brackets_metric([*metrics, *self._results])
        self.structure = {label: of_structure(brackets or BRACKETS_METRIC, label) for label in structure}
        self.compared = list(metrics) or [name for name in self._results if name not in self.structure.values()]
        self.brackets = brackets if brackets in ({*self.compared, *self._results} if structure else self.compared) else None
        named = [*self.compared, *([self.brackets] if self.brackets else []), *self.structure.values()]
        used: dict[str, None] = dict.fromkeys(named)
        for name in used:
            _check_comparable(name, self.results(name))
        results = [result for name in used for result in self.results(name)]
        _check_same_trees(results)
        self.sentences = common_sentences(results, on_mismatch)
        first = self.results(self.compared[0])[0].scored_sentences
        self.length = first.length[self.sentences]
        self.documents = None if clusters is None else documents_of(clusters, first.places)[self.sentences]

    def results(self, metric: str) -> list[Result]:
        """The scores of all systems by a metric, of each system its runs."""
        found = self._results.get(metric, {})
        if missing := [label for label in self.members if label not in found]:
            self._refuse_other_options(metric, missing[0])
            raise MismatchError(f"there is no score by {metric} of {', '.join(missing)}; score with -m {metric}")
        return [found[label] for label in self.members]

    def _refuse_other_options(self, metric: str, system: str) -> None:
        """Refuse a score of the system by the same metric with other options, in a message that names the option."""
        name, _, _ = metric.partition(":")
        others = [of[system] for key, of in self._results.items() if key.partition(":")[0] == name and system in of]
        if metric in self._results and others:
            _check_comparable(name, [next(iter(self._results[metric].values())), others[0]])

    def metric(self, name: str) -> Metric:
        """The metric of that name, with the options of the first system; the rates are the same for all."""
        metric = self.results(name)[0].definition
        if metric is None:
            raise UsageError(f"the metric {name} is not known here, so its scores cannot be compared")
        return metric

    def rows(self, metric: str) -> list[Rows]:
        """The rows of all systems, or of their runs, on the common sentences."""
        found = [(result.scored_sentences.rows, self._places(result)) for result in self.results(metric)]
        return [rows if places is None else rows[places] for rows, places in found]

    def reproduced(self, metric: str) -> list[Rows] | None:
        """The treebank brackets of the common sentences that each system reproduced; None if they were not kept."""
        found: list[Rows] = []
        for result in self.results(metric):
            bits, places = result.scored_sentences.reproduced, self._places(result)
            if bits is None:
                return None
            found.append(bits if places is None else bits[places])
        return found

    def _places(self, result: Result) -> Int64 | None:
        """The positions of the rows of the common sentences; None if the result has no others."""
        index = result.scored_sentences.index
        return None if len(index) == len(self.sentences) else np.flatnonzero(np.isin(index, self.sentences))

    def signature(self, metric: str, label: str) -> str:
        """The signature of a score on the common sentences, which is its own signature if it has no others."""
        signature = self._results[metric][label].signature
        n = len(self.sentences)
        return str(replace(signature, sentences=n, skipped=signature.skipped + signature.sentences - n))


def _check_comparable(metric: str, results: Sequence[Result]) -> None:
    """Refuse scores by one metric that were not made in the same way, in a message that names the difference."""
    first, *others = results
    ours = _conditions(first)
    for other in others:
        theirs = _conditions(other)
        for what, value in ours.items():
            if theirs.get(what) != value:
                raise MismatchError(
                    f"scores by {metric} that cannot be compared: {what} is {value} for {first.label}, "
                    f"but {theirs.get(what)} for {other.label}"
                )


def _check_same_trees(results: Sequence[Result]) -> None:
    """Refuse scores by several metrics if they are not of the same gold trees, and for each system of the same test trees."""
    first_of_system: dict[str, Result] = {}
    for result in results:
        own = first_of_system.setdefault(result.label, result)
        of_gold = ("gold", results[0], results[0].signature.gold, result.signature.gold)
        of_test = ("test", own, own.signature.test, result.signature.test)
        for kind, first, ours, theirs in (of_gold, of_test):
            if ours != theirs:
                raise MismatchError(
                    f"scores of different trees cannot be compared: the hash of the {kind} trees is {ours} for {first.label} by "
                    f"{first.metric}, but {theirs} for {result.label} by {result.metric}"
                )


def _conditions(result: Result) -> dict[str, Any]:
    """Everything that must be the same for two scores to be compared, by its name in messages."""
    signature = result.signature
    options = {key: value for key, value in signature.options.items() if key != "judgements"}
    settings = {key: value for key, value in signature.preset.options().items() if key != "name"}
    return {
        "the hash of the gold trees": signature.gold,
        "the number of gold sentences": signature.sentences + signature.skipped,
        **{f"the option {key} of the metric": value for key, value in options.items()},
        "the set of options of the metric": sorted(options),
        "the preset": signature.preset.name,
        **{f"the preset's {key}": value for key, value in settings.items()},
        "on_mismatch": signature.on_mismatch,
        "match_words": signature.match_words,
        "on_error": signature.on_error,
        "the version of treegauge": signature.version,
    }


def common_sentences(results: Sequence[Result], on_mismatch: str) -> Int64:
    """The gold sentences for which all results have a row; a MismatchError if they differ, unless ``on_mismatch`` is ``skip``."""
    indices = [result.scored_sentences.index for result in results]
    common: Int64 = reduce(np.intersect1d, indices)
    for result, index in zip(results, indices, strict=True):
        if len(index) > len(common) and on_mismatch != "skip":
            lacking = next(other for other in results if len(np.setdiff1d(index, other.scored_sentences.index)))
            missing = np.setdiff1d(index, lacking.scored_sentences.index)
            raise MismatchError(
                f"{lacking.label} by {lacking.metric} and {result.label} by {result.metric} are scores of different sentences: "
                f"the first lacks {len(missing)} that the second has, such as sentence {int(missing[0]) + 1}; "
                'on_mismatch="skip" leaves them out'
            )
    if not len(common):
        raise MismatchError("there is no sentence of the treebank on which all systems can be compared")
    return common


def sample_warnings(units: int, noun: str = "sentence") -> list[str]:
    """A warning if the test has few sentences, or documents."""
    if units >= FEW_SENTENCES:
        return []
    return [f"small test: {number_of(units, noun)}; intervals are unreliable and only large differences can be seen"]


def run_warnings(runs: Mapping[str, int]) -> list[str]:
    """Warnings about what one or two runs of a system cannot tell, if another has several.

    >>> run_warnings({"A": 1, "B": 3})
    ['A has one run: its runs are assumed to vary as much as those of the other systems']
    """
    few = {system: of for system, of in runs.items() if of < 3} if max(runs.values()) > 1 else {}
    told = {
        1: "has one run: its runs are assumed to vary as much as those of the other systems",
        2: "has two runs, which show little of how much runs vary, so intervals are wide: three or more are better",
    }
    return [f"{system} {told[of]}" for system, of in few.items()]


def bracket_warnings(cells: classical.Cells, real: classical.RealTest) -> list[str]:
    """Warnings for McNemar's test and the real test.

    >>> cells = classical.Cells(60, 20, 15, 30)
    >>> [warning.partition(":")[0] for warning in bracket_warnings(cells, classical.real_test(cells))[1:]]
    ['the systems complement each other', 'small real test']
    """
    warnings = [classical.DEPENDENCE]
    if real.reason:
        warnings.append(real.reason)
    if cells.total and min(cells.YN, cells.NY) >= COMPLEMENTING * cells.total:
        shares = f"YN {100 * cells.YN / cells.total:.1f}%, NY {100 * cells.NY / cells.total:.1f}%"
        warnings.append(f"the systems complement each other: {shares}; test on specific structures (structure=...)")
    if not math.isnan(real.size) and real.size < SMALL_REAL_TEST:
        warnings.append(f"small real test: {real.size:.0f} of {cells.total} brackets tell the systems apart")
    return warnings


class GroupTests:
    """All tests, for one group of sentences at a time."""

    def __init__(self, table: ScoreTable, options: CompareOptions, progress: Progress, engine: Engine) -> None:
        self.table, self.options, self.progress, self.engine = table, options, progress, engine

    def group(
        self,
        kind: str,
        title: str,
        paired: PairedColumns,
        names: Sequence[Name],
        brackets: str | None,
        sentences: Int64,
        scored_as: Mapping[str, str] | None = None,
    ) -> Group:
        """The comparison on some of the common sentences, whose rows are in ``paired``.

        ``brackets`` is the metric for tests on brackets, if there is one. ``scored_as`` has the names in the scores of metrics that
        are shown under another name.
        """
        systems = self.table.systems
        documents = None if self.table.documents is None else np.unique(self.table.documents[sentences], return_inverse=True)[1]
        exact = self._exact_rates(names, sentences, scored_as or {})
        tests = _SentenceTests(paired, names, self.table.runs, exact, documents, self)
        numbers = list(itertools.combinations(range(len(systems)), 2))
        tested = [tests.pair(a, b) for a, b in numbers]
        corrected = {name: classical.holm([test.p[name] for test in tested]) for name in names}
        pairs = tuple(
            PairOfSystems(
                systems[a],
                systems[b],
                tuple(tests.difference(name, a, b, test, corrected[name][number]) for name in names),
                None if brackets is None else self._bracket_tests(a, b, brackets, sentences),
                test.rounds,
                test.exact,
            )
            for number, ((a, b), test) in enumerate(zip(numbers, tested, strict=True))
        )
        rates = {system: {name: tests.rate(number, name) for name in names} for number, system in enumerate(systems)}
        counted = self._brackets(brackets, sentences)
        if kind == "all":
            pairs = tests.with_power(numbers, pairs)
        plans = {name: tests.plans(name) for name in names if kind == "all" and self.options.power and len(systems) == 1}
        few = sample_warnings(tests.n_documents, "document") if tests.n_documents else sample_warnings(len(paired))
        warnings = (*few, *run_warnings(dict(zip(systems, map(len, self.table.runs), strict=True))))
        reading = "" if brackets is None else self.table.metric(brackets).reading_of("t_inheritance")
        documents = tests.documents(numbers)
        return Group(kind, title, len(paired), tuple(names), rates, *counted, pairs, warnings, documents, reading, plans)

    def _exact_rates(self, names: Sequence[Name], sentences: Int64, scored_as: Mapping[str, str]) -> dict[str, list[Rates]]:
        """The rates of each metric and system, which are those of a score on these sentences to the last bit."""
        exact: dict[str, list[Rates]] = {}
        for shown in dict.fromkeys(metric for metric, _ in names):
            metric = scored_as.get(shown, shown)
            chosen = (_of_sentences(rows, sentences) for rows in self.table.rows(metric))
            exact[shown] = [self.table.metric(metric).rates(total_of(rows)) for rows in chosen]
        return exact

    def _bracket_tests(self, a: int, b: int, metric: str, sentences: Int64) -> BracketTests | None:
        reproduced = self.table.reproduced(metric)
        if reproduced is None or max(map(len, self.table.runs)) > 1:
            return None
        column = self.table.metric(metric).columns.index("TTB")
        rows = self.table.rows(metric)
        brackets = [_of_sentences(rows[system][:, column], sentences) for system in (a, b)]
        sets = [_of_sentences(reproduced[system], sentences) for system in (a, b)]
        cells = _cells(sets, brackets)
        real = classical.real_test(cells)
        return BracketTests(cells, classical.binomial(cells), classical.mcnemar(cells), real, tuple(bracket_warnings(cells, real)))

    def _brackets(
        self, name: str | None, sentences: Int64
    ) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], dict[str, list[int]]]:
        """Items, measures and the histogram of crossing errors of each system."""
        items: dict[str, dict[str, int]] = {}
        measures: dict[str, dict[str, float]] = {}
        crossing_errors: dict[str, list[int]] = {}
        if name is None:
            return items, measures, crossing_errors
        metric = self.table.metric(name)
        alone = {system: runs[0] for system, runs in zip(self.table.systems, self.table.runs, strict=True) if len(runs) == 1}
        for system, run in alone.items():
            rows = _of_sentences(self.table.rows(name)[run], sentences)
            total = [int(count) for count in total_of(rows)]
            items[system] = dict(zip(metric.columns, total, strict=True))
            measures[system] = metric.rates(total)
            crossing_errors[system] = crossing_histogram(rows[:, metric.columns.index("CE")]).tolist()
        return items, measures, crossing_errors


class _PairTest(NamedTuple):
    """The p of each rate of a pair, the tests by runs if there are several, and the swaps of sentences that were tried."""

    p: Mapping[Name, float]
    by_runs: Mapping[Name, RunsTest]
    rounds: int = 0
    exact: bool = False


class _SentenceTests:
    """The tests on some sentences, or on their documents: resampling of single runs, variance components of several."""

    def __init__(
        self,
        paired: PairedColumns,
        names: Sequence[Name],
        runs: Sequence[Sequence[int]],
        exact: Mapping[str, Sequence[Rates]],
        documents: Int64 | None,
        how: GroupTests,
    ) -> None:
        self.paired, self.names, self.runs, self.exact, self.options = paired, names, runs, exact, how.options
        self.units = paired if documents is None else paired.summed(documents)
        self.n_documents = 0 if documents is None else len(self.units)
        options = how.options
        self.how: dict[str, Any] = {"rounds": options.rounds, "seed": options.seed, "progress": how.progress, "engine": how.engine}
        self.kind: dict[str, Any] = {"level": options.level, "method": options.interval}
        alone = [system for system, of_system in enumerate(runs) if len(of_system) == 1]
        self.places = {system: place for place, system in enumerate(alone)}
        self._documents = documents

    @cached_property
    def drawn(self) -> Bootstrap:
        """The bootstrap of the systems with one run."""
        alone = self.units.of_systems([self.runs[system][0] for system in self.places])
        return bootstrap(alone, **self.how, chosen=self.names)

    @cached_property
    def by_runs(self) -> RunTests:
        """The tests that need no resampling."""
        return RunTests(self.paired, self.runs, self.names, self._documents)

    def rate(self, system: int, name: Name) -> Rate:
        """The rate of a system, or the mean of its runs."""
        values = tuple(float(self.exact[name[0]][run][name[1]]) for run in self.runs[system])
        if system in self.places:
            return Rate(values[0], self.drawn.of_rate(self.places[system], name, **self.kind))
        return Rate(math.fsum(values) / len(values), self.by_runs.interval(system, name, self.options.level), values)

    def pair(self, a: int, b: int) -> _PairTest:
        """The tests of two systems: randomisation if both have one run."""
        if a in self.places and b in self.places:
            found = randomisation(self.units, self.runs[a][0], self.runs[b][0], **self.how)
            return _PairTest({name: float(found.p[found.names.index(name)]) for name in self.names}, {}, found.rounds, found.exact)
        tests = {name: self.by_runs.test(a, b, name, self.options.level) for name in self.names}
        return _PairTest({name: test.p for name, test in tests.items()}, tests)

    def difference(self, name: Name, a: int, b: int, test: _PairTest, p_holm: float) -> Difference:
        """The difference of a rate between two systems."""
        by_runs = test.by_runs.get(name)
        if by_runs is not None:
            interval = by_runs.interval
        else:
            interval = self.drawn.of_difference(self.places[a], self.places[b], name, **self.kind)
        if by_runs is not None or self.n_documents:
            effect = self.by_runs.effect(a, b, name)
        else:
            effect = self.drawn.effect_size(self.places[a], self.places[b], name)
        ours, theirs = (self.rate(system, name).value for system in (a, b))
        signs = self._signs(a, b)[name]
        return Difference(name, ours, theirs, interval, test.p[name], p_holm, effect, signs, _is_lower_better(name), by_runs)

    def with_power(self, numbers: Sequence[tuple[int, int]], pairs: Sequence[PairOfSystems]) -> tuple[PairOfSystems, ...]:
        """The pairs with the tests of equivalence and the power that the options ask for."""
        points = self.options.equivalence
        found = [list(pair.differences) for pair in pairs]
        for place, name in enumerate(self.names):
            margin = in_units(name, points or math.nan)
            p = classical.holm(
                [self._equivalence(a, b, of[place], margin) for of, (a, b) in zip(found, numbers, strict=True)] if points else []
            )
            for number, (a, b) in enumerate(numbers):
                seen = found[number][place]
                power = self._power(a, b, seen) if self.options.power else None
                found[number][place] = replace(seen, equivalence=Equivalence(margin, p[number]) if points else None, power=power)
        return tuple(replace(pair, differences=tuple(of_pair)) for pair, of_pair in zip(pairs, found, strict=True))

    def _equivalence(self, a: int, b: int, seen: Difference, margin: float) -> float:
        if seen.runs is not None:
            return self.by_runs.equivalence(a, b, seen.name, margin)
        return equivalence(self._paired_differences(a, b, seen.name), seen.value, margin)

    def _paired_differences(self, a: int, b: int, name: Name) -> Floats:
        column = self.units.names.index(name)
        return np.nan_to_num(self.units.swapped_alone(self.runs[a][0], self.runs[b][0], [column])[:, 0])

    def _power(self, a: int, b: int, seen: Difference) -> Power:
        """The power for the difference seen, or assumed."""
        true = abs(seen.value) if self.options.assume is None else in_units(seen.name, self.options.assume)
        per_unit = len(self.paired) / len(self.units)
        if seen.runs is not None:
            return power_of_runs(self.by_runs.spread((a, b), seen.name), true, len(self.units), per_unit=per_unit)
        return power_of(math.copysign(1, seen.value) * self._paired_differences(a, b, seen.name), true, per_unit=per_unit)

    def plans(self, name: Name) -> dict[float, Power]:
        """The power to find the assumed difference from an imagined system, for several correlations with it."""
        true, values = in_units(name, self.options.assume or math.nan), len(self.units) * self.by_runs.contributions(0, name)
        return {r: power_of(values, true, r, per_unit=len(self.paired) / len(self.units)) for r in CORRELATIONS}

    @lru_cache(maxsize=1)  # noqa: B019
    def _signs(self, a: int, b: int) -> dict[Name, classical.SignTest]:
        return _sign_tests(self.paired, self.runs[a], self.runs[b], self.names)

    def documents(self, pairs: Sequence[tuple[int, int]]) -> Documents | None:
        """The documents, if sentences are in some, and how much wider they make intervals."""
        if not self.n_documents:
            return None
        wider = [self.by_runs.widening(a, b, name) for a, b in pairs for name in self.names]
        defined = [ratio for ratio in wider if not math.isnan(ratio)] or [math.nan]
        return Documents(self.n_documents, min(defined), max(defined))


def _of_sentences(kept: Rows, sentences: Int64) -> Rows:
    """The rows or sets of some of the sentences."""
    return kept if len(sentences) == len(kept) else kept[sentences]


def _is_lower_better(name: Name) -> bool:
    return name[1] in find_metric(name[0]).lower_is_better


def _sign_tests(paired: PairedColumns, a: Sequence[int], b: Sequence[int], names: Sequence[Name]) -> dict[Name, classical.SignTest]:
    """The sign test of each rate, on its values for single sentences, which are means over the runs of a system."""
    signs = {name: -1 if _is_lower_better(name) else 1 for name in names}
    counts = {name: np.zeros(3, dtype=np.int64) for name in names}
    for ours, theirs in zip(*(_mean_rates(paired, runs, names) for runs in (a, b)), strict=True):
        for number, (name, sign) in enumerate(signs.items()):
            counts[name] += classical.sign_counts(sign * ours[:, number], sign * theirs[:, number])
    return {name: classical.sign_test_of(of_name) for name, of_name in counts.items()}


def _mean_rates(paired: PairedColumns, runs: Sequence[int], names: Sequence[Name]) -> Iterator[Floats]:
    """The rates of single sentences, means over runs, a block at a time."""
    for blocks in zip(*(paired.sentence_rates(run, names) for run in runs), strict=True):
        yield blocks[0] if len(blocks) == 1 else np.mean(blocks, axis=0)


def _cells(sets: Sequence[Rows], brackets: Sequence[Rows]) -> classical.Cells:
    """YY, YN, NY and NN of all sentences, given the brackets that each system reproduced and the numbers of brackets (TTB)."""
    if not np.array_equal(brackets[0], brackets[1]):
        raise MismatchError("the two systems were not scored against the same treebank brackets")
    return classical.Cells(*rows_of_bits(sets[0], sets[1], brackets[0].astype(np.int64)).sum(axis=0).tolist())
