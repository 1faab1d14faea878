"""All tests on one group of sentences: intervals, randomisation, sign tests and tests on brackets, with their warnings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Protocol, TypedDict, TypeVar

import numpy as np

from treegauge.engines import Engine
from treegauge.errors import MismatchError
from treegauge.metrics.bit_sets import BitSets
from treegauge.metrics.hogenhout import crossing_histogram, rows_of_bits
from treegauge.metrics.metric import Rates, Rows, total_of
from treegauge.metrics.registry import find_metric
from treegauge.significance.bootstrap_intervals import Bootstrap, bootstrap
from treegauge.significance.classical import (
    DEPENDENCE,
    Cells,
    RealTest,
    SignCounts,
    SignTest,
    binomial,
    holm,
    mcnemar,
    real_test,
    sign_counts,
)
from treegauge.significance.comparison import BracketTests, Difference, Group, PairOfSystems, Rate
from treegauge.significance.randomisation_test import RandomisationResult, randomisation
from treegauge.significance.resampling import Name, PairedColumns, Progress
from treegauge.significance.score_table import ScoreTable
from treegauge.tables import number_of
from treegauge.trees.treebank import Int64

FEW_SENTENCES = 30
SMALL_REAL_TEST = 100
COMPLEMENTING = 0.05
"""Two systems complement each other if each reproduces at least this share of the treebank's brackets that the other misses."""


def sample_warnings(sentences: int) -> list[str]:
    """A warning if the test has few sentences."""
    if sentences >= FEW_SENTENCES:
        return []
    return [f"small test: {number_of(sentences, 'sentence')}; intervals are unreliable and only large differences can be seen"]


def bracket_warnings(cells: Cells, real: RealTest) -> list[str]:
    """Warnings for McNemar's test and the real test.

    >>> from treegauge.significance.classical import real_test
    >>> cells = Cells(60, 20, 15, 30)
    >>> [warning.partition(":")[0] for warning in bracket_warnings(cells, real_test(cells))[1:]]
    ['the systems complement each other', 'small real test']
    """
    warnings = [DEPENDENCE]
    if real.reason:
        warnings.append(real.reason)
    if cells.total and min(cells.YN, cells.NY) >= COMPLEMENTING * cells.total:
        shares = f"YN {100 * cells.YN / cells.total:.1f}%, NY {100 * cells.NY / cells.total:.1f}%"
        warnings.append(f"the systems complement each other: {shares}; test on specific structures (structure=...)")
    if not math.isnan(real.size) and real.size < SMALL_REAL_TEST:
        warnings.append(f"small real test: {real.size:.0f} of {cells.total} brackets tell the systems apart")
    return warnings


class ResamplingOptions(Protocol):
    """The options of a comparison that its tests need."""

    @property
    def rounds(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def level(self) -> float: ...
    @property
    def interval(self) -> str: ...


class _Resampling(TypedDict):
    """The settings of all resampling tests."""

    rounds: int
    seed: int
    progress: Progress
    engine: Engine


class GroupTests:
    """All tests, for one group of sentences at a time."""

    def __init__(self, table: ScoreTable, options: ResamplingOptions, progress: Progress, engine: Engine) -> None:
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
        options, systems = self.options, self.table.systems
        how = _Resampling(rounds=options.rounds, seed=options.seed, progress=self.progress, engine=self.engine)
        drawn = bootstrap(paired, **how, chosen=names)
        exact = self._exact_rates(names, sentences, scored_as or {})
        numbers = list(itertools.combinations(range(len(systems)), 2))
        tested = [randomisation(paired, a, b, **how) for a, b in numbers]
        signs = [_sign_tests(paired, a, b, names) for a, b in numbers]
        corrected = {name: holm([float(test.p[paired.names.index(name)]) for test in tested]) for name in names}
        pairs = tuple(
            PairOfSystems(
                systems[a],
                systems[b],
                tuple(self._difference(name, a, b, exact, drawn, test, signs[number], corrected[name][number]) for name in names),
                None if brackets is None else self._bracket_tests(a, b, brackets, sentences),
                test.rounds,
                test.exact,
            )
            for number, ((a, b), test) in enumerate(zip(numbers, tested, strict=True))
        )
        rates = {system: {name: self._rate(name, index, exact, drawn) for name in names} for index, system in enumerate(systems)}
        counted = self._brackets(brackets, sentences)
        warnings = tuple(sample_warnings(len(paired)))
        return Group(kind, title, len(paired), tuple(names), rates, *counted, pairs, warnings)

    def _exact_rates(self, names: Sequence[Name], sentences: Int64, scored_as: Mapping[str, str]) -> dict[str, list[Rates]]:
        """The rates of each metric and system, which are those of a score on these sentences to the last bit."""
        exact: dict[str, list[Rates]] = {}
        for shown in dict.fromkeys(metric for metric, _ in names):
            metric = scored_as.get(shown, shown)
            chosen = (_of_sentences(rows, sentences) for rows in self.table.rows(metric))
            exact[shown] = [self.table.metric(metric).rates(total_of(rows)) for rows in chosen]
        return exact

    def _rate(self, name: Name, system: int, exact: Mapping[str, Sequence[Rates]], drawn: Bootstrap) -> Rate:
        interval = drawn.of_rate(system, name, level=self.options.level, method=self.options.interval)
        return Rate(float(exact[name[0]][system][name[1]]), interval)

    def _difference(
        self,
        name: Name,
        a: int,
        b: int,
        exact: Mapping[str, Sequence[Rates]],
        drawn: Bootstrap,
        test: RandomisationResult,
        signs: Mapping[Name, SignTest],
        p_holm: float,
    ) -> Difference:
        column = drawn.paired.names.index(name)
        metric, rate = name
        return Difference(
            name,
            float(exact[metric][a][rate]),
            float(exact[metric][b][rate]),
            drawn.of_difference(a, b, name, level=self.options.level, method=self.options.interval),
            float(test.p[column]),
            p_holm,
            drawn.effect_size(a, b, name),
            signs[name],
            _is_lower_better(name),
        )

    def _bracket_tests(self, a: int, b: int, metric: str, sentences: Int64) -> BracketTests | None:
        reproduced = self.table.reproduced(metric)
        if reproduced is None:
            return None
        column = self.table.metric(metric).columns.index("TTB")
        rows = self.table.rows(metric)
        brackets = [_of_sentences(rows[system][:, column], sentences) for system in (a, b)]
        sets = [_of_sentences(reproduced[system], sentences) for system in (a, b)]
        cells = _cells(sets, brackets)
        real = real_test(cells)
        return BracketTests(cells, binomial(cells), mcnemar(cells), real, tuple(bracket_warnings(cells, real)))

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
        for system, all_rows in zip(self.table.systems, self.table.rows(name), strict=True):
            rows = _of_sentences(all_rows, sentences)
            total = [int(count) for count in total_of(rows)]
            items[system] = dict(zip(metric.columns, total, strict=True))
            measures[system] = metric.rates(total)
            crossing_errors[system] = crossing_histogram(rows[:, metric.columns.index("CE")]).tolist()
        return items, measures, crossing_errors


Kept = TypeVar("Kept", Rows, BitSets)


def _of_sentences(kept: Kept, sentences: Int64) -> Kept:
    """The rows or sets of some of the sentences."""
    return kept if len(sentences) == len(kept) else kept[sentences]


def _is_lower_better(name: Name) -> bool:
    return name[1] in find_metric(name[0]).lower_is_better


def _sign_tests(paired: PairedColumns, a: int, b: int, names: Sequence[Name]) -> dict[Name, SignTest]:
    """The sign test of each rate, on its values for single sentences."""
    signs = {name: -1 if _is_lower_better(name) else 1 for name in names}
    counts = {name: SignCounts() for name in names}
    for ours, theirs in zip(paired.sentence_rates(a, names), paired.sentence_rates(b, names), strict=True):
        for number, (name, sign) in enumerate(signs.items()):
            counts[name] = counts[name].plus(sign_counts(sign * ours[:, number], sign * theirs[:, number]))
    return {name: of_name.test() for name, of_name in counts.items()}


def _cells(sets: Sequence[BitSets], brackets: Sequence[Rows]) -> Cells:
    """YY, YN, NY and NN of all sentences, given the brackets that each system reproduced and the numbers of brackets (TTB)."""
    if not np.array_equal(brackets[0], brackets[1]):
        raise MismatchError("the two systems were not scored against the same treebank brackets")
    return Cells(*rows_of_bits(sets[0], sets[1], brackets[0].astype(np.int64)).sum(axis=0).tolist())
