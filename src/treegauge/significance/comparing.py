"""Comparing systems: every metric, every pair, on all sentences, by length and by structure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from treegauge.errors import MismatchError, UnknownName, UsageError
from treegauge.metrics.base import Metric, total_of
from treegauge.metrics.hogenhout import Hogenhout, Judgements, comparative_rows
from treegauge.metrics.preparation import Pair, prepare
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.normalise.preset import Preset, load_preset
from treegauge.significance.bootstrap import Bootstrap, bootstrap
from treegauge.significance.cautions import bracket_cautions, evalb_cautions, sample_cautions, unpaired_cautions
from treegauge.significance.comparison import BracketTests, Comparison, Difference, Group, PairOfSystems, Rate
from treegauge.significance.contingency import Cells, binomial, mcnemar, real_test
from treegauge.significance.holm import holm
from treegauge.significance.paired import Floats, Name, Paired
from treegauge.significance.randomisation import Randomised, randomisation
from treegauge.significance.resampling import DEFAULT_ROUNDS, DEFAULT_SEED
from treegauge.significance.sentences import sign_test
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["LENGTHS", "Settings", "compare"]

LENGTHS = (10, 20, 30, 40)
"""The upper ends of the usual buckets of sentence lengths; what is longer is one more."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Settings:
    """How to compare: what is counted, how often is resampled, which groups are looked at.

    ``rates`` are names of rates to compare (none: each metric's headline, and PARSEVAL's recall, precision, F1 and exact match;
    ``all``: all of them). ``lengths`` are the upper ends of buckets; ``structure`` are labels.
    """

    metrics: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    preset: str | Preset = "default"
    on_mismatch: str = "align"
    rounds: int = DEFAULT_ROUNDS
    seed: int = DEFAULT_SEED
    level: float = 0.95
    interval: str = "bca"
    lengths: tuple[int, ...] = ()
    structure: tuple[str, ...] = ()


def compare(
    gold: Treebank,
    systems: Mapping[str, Treebank],
    settings: Settings | None = None,
    *,
    judgements: Mapping[str, Judgements] | None = None,
    progress: Progress = lambda _: None,
) -> Comparison:
    """Compare two or more systems on the same treebank.

    ``judgements`` are a person's, by system: with them Hogenhout & Matsumoto's measures are all there, and a rejected exact match
    is not reproduced.

    >>> gold = Treebank.parse("(S (NP (D a) (N b)) (VP (V c) (NP (D d) (N e))))" * 5)
    >>> flat = Treebank.parse("(S (D a) (N b) (VP (V c) (NP (D d) (N e))))" * 5)
    >>> comparison = compare(gold, {"flat": flat, "perfect": gold}, Settings(metrics=("parseval",), rounds=100))
    >>> recall = comparison.overall.pair("flat", "perfect").of(("parseval", "recall"))
    >>> round(recall.value, 2), recall.p
    (0.25, 0.0625)
    """
    settings = settings or Settings()
    if len(systems) < 2:
        raise UsageError("a comparison needs at least two systems")
    work = _Work(gold, systems, settings, judgements or {}, progress)
    groups = [work.overall(), *work.by_length(), *work.by_structure()]
    return Comparison(
        tuple(systems),
        tuple(groups),
        settings.rounds,
        settings.seed,
        settings.level,
        work.signature(),
        tuple(work.cautions()),
    )


class _Work:
    """The pairs of treebanks, prepared once for each preset that a metric asks for, on the sentences that all systems share."""

    def __init__(
        self,
        gold: Treebank,
        systems: Mapping[str, Treebank],
        settings: Settings,
        judgements: Mapping[str, Judgements],
        progress: Progress,
    ) -> None:
        self.gold, self.systems, self.settings, self.judgements, self.progress = gold, systems, settings, judgements, progress
        self.metrics = [find_metric(name) for name in settings.metrics or metric_names()]
        self.preset = load_preset(settings.preset)
        self.prepared: dict[Preset, dict[str, Pair]] = {}
        pairs = self.pairs(self.preset)
        self.kept: Int64 = reduce(np.intersect1d, [pair.index for pair in pairs.values()])
        if not len(self.kept):
            raise MismatchError("there is no sentence of the treebank on which all systems can be compared")
        self.length = next(iter(pairs.values())).gold.length[np.isin(next(iter(pairs.values())).index, self.kept)]

    def pairs(self, preset: Preset) -> dict[str, Pair]:
        """Each system against the treebank."""
        if preset not in self.prepared:
            self.progress("aligning")
            self.prepared[preset] = {
                system: prepare(self.gold, bank, preset, on_mismatch=self.settings.on_mismatch)
                for system, bank in self.systems.items()
            }
        return self.prepared[preset]

    def shared(self, metric: Metric) -> dict[str, Pair]:
        """The pairs for a metric, reduced to the sentences that all systems have."""
        preset = metric.adapted(self.preset) if isinstance(metric, Hogenhout) else self.preset
        return {
            system: pair if len(pair.index) == len(self.kept) else _restricted(pair, self.kept)
            for system, pair in self.pairs(preset).items()
        }

    def cautions(self) -> list[str]:
        pairs = self.pairs(self.preset)
        return [
            *unpaired_cautions(pairs, self.kept, len(self.gold)),
            *evalb_cautions(self.gold, self.systems, pairs, self.preset),
        ]

    def signature(self) -> str:
        settings = self.settings
        names = ",".join(metric.name for metric in self.metrics)
        return (
            f"compare|metrics:{names}|preset:{self.preset.name}|on_mismatch:{settings.on_mismatch}|sentences:{len(self.kept)}"
            f"|rounds:{settings.rounds}|seed:{settings.seed}|level:{settings.level:g}|interval:{settings.interval}"
            f"|gold:{self.gold.sha256()[:12]}|" + "|".join(f"{s}:{b.sha256()[:12]}" for s, b in self.systems.items())
        )

    def paired(self, metric: Metric, *, name: str = "") -> Paired:
        self.progress(f"counting {metric.name}")
        rows = [self.judged(metric, system).rows(pair) for system, pair in self.shared(metric).items()]
        return Paired.of(self.judged(metric, next(iter(self.systems))), rows, name=name)

    def judged(self, metric: Metric, system: str) -> Metric:
        """The metric with the judgements of a system, if there are any."""
        if not isinstance(metric, Hogenhout) or not self.judgements:
            return metric
        judgements = self.judgements.get(system, Judgements())
        return Hogenhout(metric.structure, metric.reading, metric.keep, judgements, metric.with_emr)

    def overall(self) -> Group:
        paired = Paired.stack([self.paired(metric) for metric in self.metrics])
        self.stacked = paired
        self.shown = self.chosen(paired.names)
        return self.group("all", "all sentences", paired, self.shown, self.items(), np.arange(len(self.kept)))

    def by_length(self) -> list[Group]:
        groups: list[Group] = []
        edges = [0, *sorted(set(self.settings.lengths)), np.inf] if self.settings.lengths else []
        for low, high in itertools.pairwise(edges):
            where = np.flatnonzero((self.length > low) & (self.length <= high))
            title = f"{int(low) + 1}-{int(high)} words" if high < np.inf else f"more than {int(low)} words"
            if len(where):
                paired = self.stacked.take(where)
                groups.append(self.group("length", title, paired, self.shown, self.items(), where))
        return groups

    def by_structure(self) -> list[Group]:
        groups: list[Group] = []
        for label in self.settings.structure:
            base = next((metric for metric in self.metrics if isinstance(metric, Hogenhout)), Hogenhout())
            metric = Hogenhout((label,), base.reading, base.keep, None, base.with_emr)
            paired = self.paired(metric)
            names: list[Name] = [("hogenhout", "recall_hard"), ("hogenhout", "precision_hard")]
            groups.append(self.group("structure", label, paired, names, metric, np.arange(len(self.kept))))
        return groups

    def items(self) -> Hogenhout:
        """The metric whose items are shown: the one asked for, or the usual one."""
        return next((metric for metric in self.metrics if isinstance(metric, Hogenhout)), Hogenhout())

    def chosen(self, names: Sequence[Name]) -> list[Name]:
        """The rates to compare."""
        wanted = self.settings.rates
        if wanted == ("all",):
            return list(names)
        if not wanted:
            usual = {(metric.name, metric.headline) for metric in self.metrics}
            usual |= {("parseval", rate) for rate in ("recall", "precision", "f1", "exact_match")}
            return [name for name in names if name in usual]
        valid = {rate for _, rate in names} | {f"{metric}.{rate}" for metric, rate in names}
        for rate in wanted:
            if rate not in valid:
                raise UnknownName("rate", rate, {"all", *valid})
        return [name for name in names if name[1] in wanted or ".".join(name) in wanted]

    def group(self, kind: str, title: str, paired: Paired, names: Sequence[Name], hogenhout: Hogenhout, sentences: Int64) -> Group:
        """The comparison on some sentences; the paired rows are of these alone."""
        settings = self.settings
        self.progress(f"resampling {title}")
        drawn = bootstrap(paired, rounds=settings.rounds, seed=settings.seed)
        values = [paired.rates_of(columns) for columns in paired.columns]
        numbers = list(itertools.combinations(range(len(self.systems)), 2))
        tested = [randomisation(paired, a, b, rounds=settings.rounds, seed=settings.seed) for a, b in numbers]
        corrected = {name: holm([float(test.p[paired.names.index(name)]) for test in tested]) for name in names}
        systems = list(self.systems)
        pairs = [
            PairOfSystems(
                systems[a],
                systems[b],
                tuple(self.difference(name, a, b, drawn, test, values, corrected[name][number]) for name in names),
                self.bracket_tests(systems[a], systems[b], hogenhout, sentences),
                test.rounds,
                test.exact,
            )
            for number, ((a, b), test) in enumerate(zip(numbers, tested, strict=True))
        ]
        rates = {
            system: {
                name: Rate(
                    float(drawn.observed[index][paired.names.index(name)]),
                    drawn.of_rate(index, name, level=settings.level, method=settings.interval),
                )
                for name in names
            }
            for index, system in enumerate(systems)
        }
        items, measures = self.items_and_measures(hogenhout, sentences)
        cautions = sample_cautions(len(paired))
        return Group(kind, title, len(paired), tuple(names), rates, items, measures, tuple(pairs), tuple(cautions))

    def difference(
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

    def bracket_tests(self, a: str, b: str, metric: Hogenhout, sentences: Int64) -> BracketTests:
        pairs = self.shared(metric)
        of_a, of_b = (self.judged(metric, system) for system in (a, b))
        assert isinstance(of_a, Hogenhout)
        assert isinstance(of_b, Hogenhout)
        cells = Cells(*comparative_rows(pairs[a], pairs[b], of_a, of_b)[sentences].sum(axis=0).tolist())
        real = real_test(cells)
        return BracketTests(cells, binomial(cells), mcnemar(cells), real, tuple(bracket_cautions(cells, real)))

    def items_and_measures(
        self, metric: Hogenhout, sentences: Int64
    ) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        items: dict[str, dict[str, int]] = {}
        measures: dict[str, dict[str, float]] = {}
        for system, pair in self.shared(metric).items():
            judged = self.judged(metric, system)
            total = total_of(judged.rows(pair)[sentences])
            items[system] = dict(zip(judged.columns, total, strict=True))
            measures[system] = judged.rates(total)
        return items, measures


def _restricted(pair: Pair, kept: Int64) -> Pair:
    """The pair reduced to some gold sentences."""
    rows = np.flatnonzero(np.isin(pair.index, kept))
    return replace(pair, gold=pair.gold.take(rows), test=pair.test.take(rows), index=pair.index[rows])
