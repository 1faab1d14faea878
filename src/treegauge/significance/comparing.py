"""Comparing systems: every metric, every pair, on all sentences, by length and by structure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from treegauge import __version__, io
from treegauge.engines import HERE, Engine
from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.base import Metric, total_of
from treegauge.metrics.hogenhout import Hogenhout, Judgements, comparative_rows, crossing_histogram
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.metrics.sides import TreebankLike
from treegauge.normalise.preset import Preset, load_preset
from treegauge.significance.bootstrap import Bootstrap, bootstrap
from treegauge.significance.cautions import bracket_cautions, sample_cautions
from treegauge.significance.comparison import BracketTests, Comparison, Difference, Group, PairOfSystems, Rate
from treegauge.significance.contingency import Cells, binomial, mcnemar, real_test
from treegauge.significance.holm import holm
from treegauge.significance.paired import Floats, Name, Paired
from treegauge.significance.randomisation import Randomised, randomisation
from treegauge.significance.resampling import DEFAULT_ROUNDS, DEFAULT_SEED, Progress, no_progress
from treegauge.significance.sentences import sign_test
from treegauge.significance.systems import Systems
from treegauge.trees.treebank import Int64

__all__ = ["LENGTHS", "Settings", "compare", "compare_prepared"]

LENGTHS = (10, 20, 30, 40)
"""The upper ends of the usual buckets of sentence lengths; what is longer is one more."""

USUAL_RATES = {("parseval", rate) for rate in ("recall", "precision", "f1", "exact_match")}
BY_STRUCTURE: tuple[Name, ...] = (("hogenhout", "recall_hard"), ("hogenhout", "precision_hard"))


@dataclass(frozen=True)
class Settings:
    """How to compare: what is counted, how often is resampled, which groups are looked at.

    ``metrics`` are names (none: every metric there is). ``rates`` are names of rates (none: each metric's headline, and PARSEVAL's
    recall, precision, F1 and exact match; ``all``: all of them). ``lengths`` are the upper ends of buckets of sentence lengths;
    ``structure`` are labels, each looked at alone.
    """

    metrics: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    preset: str | Preset = "default"
    on_mismatch: str = "align"
    rounds: int = DEFAULT_ROUNDS
    seed: int = DEFAULT_SEED
    level: float = 0.95
    interval: str = "percentile"
    lengths: tuple[int, ...] = ()
    structure: tuple[str, ...] = ()

    def all_rounds(self, systems: int) -> int:
        """About how many rounds a comparison of so many systems takes."""
        groups = 1 + len(self.structure) + (len(set(self.lengths)) + 1 if self.lengths else 0)
        return self.rounds * groups * (1 + math.comb(systems, 2))


def compare(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike],
    settings: Settings | None = None,
    *,
    judgements: Mapping[str, Judgements] | None = None,
    progress: Progress = no_progress,
    engine: Engine = HERE,
) -> Comparison:
    """Compare two or more systems on the same treebank.

    Trees come in any form: paths, Treebanks, bracketed text, iterables of trees. ``judgements`` are a person's, by system: with
    them Hogenhout & Matsumoto's measures are all there, and a rejected exact match is not reproduced. ``progress`` is told how
    many rounds have been done, of :meth:`Settings.all_rounds`. ``engine`` says where the rounds run; it changes nothing else.

    >>> gold = "(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e))))" * 5
    >>> flat = "(S (D a) (N b) (VP (V c) (NP (D d) (N e))))" * 5
    >>> comparison = compare(gold, {"flat": flat, "perfect": gold}, Settings(metrics=("parseval",), rounds=100))
    >>> recall = comparison.overall.pair("flat", "perfect").of(("parseval", "recall"))
    >>> round(recall.value, 2), recall.p
    (0.25, 0.0625)
    """
    settings = settings or Settings()
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    banks = {system: io.as_treebank(trees) for system, trees in systems.items()}
    prepared = Systems(io.as_treebank(gold), banks, load_preset(settings.preset), settings.on_mismatch, judgements or {})
    return compare_prepared(prepared, settings, progress=progress, engine=engine)


def compare_prepared(
    prepared: Systems, settings: Settings, *, progress: Progress = no_progress, engine: Engine = HERE
) -> Comparison:
    """The comparison of systems that are prepared already; of a single one there are rates and intervals, but no pairs."""
    metrics = [find_metric(name) for name in settings.metrics or metric_names()]
    groups = tuple(_groups(prepared, metrics, _Tests(prepared, settings, progress, engine)))
    digests = prepared.digests()
    return Comparison(
        tuple(prepared.names),
        groups,
        settings.rounds,
        settings.seed,
        settings.level,
        _signature(prepared, settings, digests),
        {
            system: {metric.name: prepared.signature(metric, system, digests, settings.seed) for metric in metrics}
            for system in prepared.names
        },
        tuple(prepared.cautions()),
    )


def _signature(systems: Systems, settings: Settings, digests: Mapping[str, str]) -> str:
    """What was compared and how, in a line."""
    parts = [
        ("metrics", ",".join(settings.metrics or metric_names())),
        ("preset", systems.preset.name),
        ("on_mismatch", systems.on_mismatch),
        ("sentences", len(systems.kept)),
        ("rounds", settings.rounds),
        ("seed", settings.seed),
        ("level", f"{settings.level:g}"),
        ("interval", settings.interval),
        *((name or "gold", digest) for name, digest in digests.items()),
        ("version", __version__),
    ]
    return "|".join(["compare", *(f"{key}:{value}" for key, value in parts)])


def _groups(systems: Systems, metrics: Sequence[Metric], tests: _Tests) -> Iterator[Group]:
    """All sentences, then those of each length, then the brackets of each structure."""
    settings = tests.settings
    hogenhout = next((metric for metric in metrics if isinstance(metric, Hogenhout)), Hogenhout())
    everything = np.arange(len(systems.kept))
    paired = Paired.stack([systems.paired(metric) for metric in metrics])
    names = _chosen(paired.names, metrics, settings.rates)
    yield tests.group("all", "all sentences", paired, names, hogenhout, everything)
    edges = [0, *sorted(set(settings.lengths)), math.inf] if settings.lengths else []
    for low, high in itertools.pairwise(edges):
        where = np.flatnonzero((systems.length > low) & (systems.length <= high))
        title = f"{int(low) + 1}-{int(high)} words" if high < math.inf else f"more than {int(low)} words"
        if len(where):
            yield tests.group("length", title, paired.take(where), names, hogenhout, where)
    for label in settings.structure:
        metric = replace(hogenhout, structure=(label,))
        yield tests.group("structure", label, systems.paired(metric), BY_STRUCTURE, metric, everything)


def _chosen(names: Sequence[Name], metrics: Sequence[Metric], wanted: Sequence[str]) -> list[Name]:
    """The rates to compare."""
    if tuple(wanted) == ("all",):
        return list(names)
    if not wanted:
        usual = USUAL_RATES | {(metric.name, metric.headline) for metric in metrics}
        return [name for name in names if name in usual]
    valid = {rate for _, rate in names} | {".".join(name) for name in names}
    for rate in wanted:
        if rate not in valid:
            raise UnknownName("rate", rate, {"all", *valid})
    return [name for name in names if name[1] in wanted or ".".join(name) in wanted]


class _How(TypedDict):
    """How all tests resample."""

    rounds: int
    seed: int
    progress: Progress
    engine: Engine


class _Tests:
    """All tests on one group of sentences after the other."""

    def __init__(self, systems: Systems, settings: Settings, progress: Progress, engine: Engine) -> None:
        self.systems, self.settings, self.progress, self.engine = systems, settings, progress, engine

    def group(self, kind: str, title: str, paired: Paired, names: Sequence[Name], hogenhout: Hogenhout, sentences: Int64) -> Group:
        """The comparison on some sentences, of which ``paired`` has the rows."""
        settings, systems = self.settings, self.systems.names
        how = _How(rounds=settings.rounds, seed=settings.seed, progress=self.progress, engine=self.engine)
        drawn = bootstrap(paired, **how)
        values = [paired.rates_of(columns) for columns in paired.columns]
        numbers = list(itertools.combinations(range(len(systems)), 2))
        tested = [randomisation(paired, a, b, **how) for a, b in numbers]
        corrected = {name: holm([float(test.p[paired.names.index(name)]) for test in tested]) for name in names}
        pairs = tuple(
            PairOfSystems(
                systems[a],
                systems[b],
                tuple(self._difference(name, a, b, drawn, test, values, corrected[name][number]) for name in names),
                self._bracket_tests(systems[a], systems[b], hogenhout, sentences),
                test.rounds,
                test.exact,
            )
            for number, ((a, b), test) in enumerate(zip(numbers, tested, strict=True))
        )
        rates = {system: {name: self._rate(name, index, drawn) for name in names} for index, system in enumerate(systems)}
        counted = self._hogenhout(hogenhout, sentences)
        cautions = tuple(sample_cautions(len(paired)))
        return Group(kind, title, len(paired), tuple(names), rates, *counted, pairs, cautions)

    def _rate(self, name: Name, system: int, drawn: Bootstrap) -> Rate:
        interval = drawn.of_rate(system, name, level=self.settings.level, method=self.settings.interval)
        return Rate(float(drawn.observed[system][drawn.paired.names.index(name)]), interval)

    def _difference(
        self, name: Name, a: int, b: int, drawn: Bootstrap, test: Randomised, values: Sequence[Floats], p_holm: float
    ) -> Difference:
        column = drawn.paired.names.index(name)
        return Difference(
            name,
            float(drawn.observed[a][column]),
            float(drawn.observed[b][column]),
            drawn.of_difference(a, b, name, level=self.settings.level, method=self.settings.interval),
            float(test.p[column]),
            p_holm,
            drawn.effect_size(a, b, name),
            sign_test(values[a][:, column], values[b][:, column]),
        )

    def _bracket_tests(self, a: str, b: str, metric: Hogenhout, sentences: Int64) -> BracketTests:
        pairs = self.systems.pairs(metric)
        rows = comparative_rows(pairs[a], pairs[b], *(self.systems.judged(metric, system) for system in (a, b)))
        cells = Cells(*rows[sentences].sum(axis=0).tolist())
        real = real_test(cells)
        return BracketTests(cells, binomial(cells), mcnemar(cells), real, tuple(bracket_cautions(cells, real)))

    def _hogenhout(
        self, metric: Hogenhout, sentences: Int64
    ) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]], dict[str, list[int]]]:
        """Items, measures and the histogram of crossing errors of each system."""
        items: dict[str, dict[str, int]] = {}
        measures: dict[str, dict[str, float]] = {}
        crossing_errors: dict[str, list[int]] = {}
        for system, pair in self.systems.pairs(metric).items():
            judged = self.systems.judged(metric, system)
            rows = judged.rows(pair)[sentences]
            total = total_of(rows)
            items[system] = dict(zip(judged.columns, total, strict=True))
            measures[system] = judged.rates(total)
            crossing_errors[system] = crossing_histogram(rows[:, judged.columns.index("CE")]).tolist()
        return items, measures, crossing_errors
