"""Comparing systems: every metric, every pair, on all sentences, by length and by structure.

What a reader of a comparison has to be warned of.

Systems: a treebank and several parsers' trees of it, brought to the sentences that all of them share.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TypedDict

import numpy as np

from treegauge import __version__, io
from treegauge.alignment.alignment import Fit
from treegauge.alignment.brackets import sum_within
from treegauge.alignment.pair import Pair, prepare
from treegauge.alignment.words import has_tag
from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import MismatchError, UnknownName, UsageError
from treegauge.metrics.base import Metric, Rows, adapted, total_of
from treegauge.metrics.hogenhout import Hogenhout, Judgements, comparative_rows, crossing_histogram
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.presets import Preset, load_preset
from treegauge.scoring.evalb_view import evalb_parameters, evalb_rows
from treegauge.scoring.inputs import TreebankLike
from treegauge.scoring.signature import Signature
from treegauge.significance.bootstrap import Bootstrap, bootstrap
from treegauge.significance.classical import DEPENDENCE, Cells, RealTest, binomial, holm, mcnemar, real_test, sign_test
from treegauge.significance.comparison import BracketTests, Comparison, Difference, Group, PairOfSystems, Rate
from treegauge.significance.randomisation import Randomised, randomisation
from treegauge.significance.resampling import DEFAULT_ROUNDS, DEFAULT_SEED, Floats, Name, Paired, Progress, no_progress
from treegauge.tables import number_of
from treegauge.trees.columns import rows_of
from treegauge.trees.treebank import Int64, Treebank

__all__ = [
    "FEW_SENTENCES",
    "LENGTHS",
    "SMALL_REAL_TEST",
    "Settings",
    "Systems",
    "bracket_cautions",
    "compare",
    "compare_prepared",
    "evalb_cautions",
    "sample_cautions",
    "unpaired_cautions",
]

FEW_SENTENCES = 30
SMALL_REAL_TEST = 100
COMPLEMENTING = 0.05
"""Systems complement each other when each alone reproduces at least this share of the treebank's brackets."""


def sample_cautions(sentences: int) -> list[str]:
    """Cautions about a test of so many sentences."""
    if sentences >= FEW_SENTENCES:
        return []
    return [f"small test: {number_of(sentences, 'sentence')}; intervals are unreliable and only large differences can be seen"]


def bracket_cautions(cells: Cells, real: RealTest) -> list[str]:
    """Cautions beside McNemar's test and the real test.

    >>> from treegauge.significance.classical import real_test
    >>> cells = Cells(60, 20, 15, 30)
    >>> [caution.partition(":")[0] for caution in bracket_cautions(cells, real_test(cells))[1:]]
    ['the systems complement each other', 'small real test']
    """
    cautions = [DEPENDENCE]
    if real.reason:
        cautions.append(real.reason)
    if cells.total and min(cells.YN, cells.NY) >= COMPLEMENTING * cells.total:
        shares = f"YN {100 * cells.YN / cells.total:.1f}%, NY {100 * cells.NY / cells.total:.1f}%"
        cautions.append(f"the systems complement each other: {shares}; test on specific structures (--structure)")
    if not math.isnan(real.size) and real.size < SMALL_REAL_TEST:
        cautions.append(f"small real test: {real.size:.0f} of {cells.total} brackets tell the systems apart")
    return cautions


def unpaired_cautions(pairs: Mapping[str, Pair], kept: Int64, n_gold: int) -> list[str]:
    """Cautions about sentences that do not fit the treebank, or were left out for one system and not for another."""
    cautions: list[str] = []
    for system, pair in pairs.items():
        misfit = int((pair.alignment.fit >= Fit.TEXT_DIFFERS).sum())
        missed = misfit - (n_gold - len(pair.index)) if len(pair.index) < n_gold else misfit
        if missed > 0:
            cautions.append(f"{system}: {missed} of {n_gold} sentences do not fit the treebank; their brackets count as missed")
        if pair.alignment.extra:
            cautions.append(f"{system}: {len(pair.alignment.extra)} sentences belong to no sentence of the treebank")
    left_out = {system: n_gold - len(pair.index) for system, pair in pairs.items()}
    if any(not np.array_equal(pair.index, kept) for pair in pairs.values()):
        counts = ", ".join(f"{system} {count}" for system, count in left_out.items())
        cautions.append(
            f"differently skipped sentences ({counts}): only the {len(kept)} sentences that all systems have are compared. Scores "
            "of each system on its own sentences, as EVALB gives them, favour the one that skips the harder ones"
        )
    elif len(kept) < n_gold:
        cautions.append(f"{n_gold - len(kept)} of {n_gold} sentences are left out for every system")
    return cautions


def evalb_cautions(gold: Treebank, systems: Mapping[str, Treebank], pairs: Mapping[str, Pair], preset: Preset) -> list[str]:
    """A caution where EVALB would drop other sentences of one system than of another, so that its scores are not paired."""
    try:
        evalb_parameters(preset)
    except UsageError:
        return []
    dropped = {
        system: dropped_by_evalb(gold, bank, pairs[system], preset) for system, bank in systems.items() if len(bank) == len(gold)
    }
    union = set[int]().union(*dropped.values())
    uneven = sum(any(sentence not in of_system for of_system in dropped.values()) for sentence in union)
    if not uneven:
        return []
    counts = ", ".join(f"{system} {len(of_system)}" for system, of_system in dropped.items())
    return [
        f"EVALB would drop sentences ({counts}), {uneven} of them not for every system: its scores of these "
        "systems are on different sentences, those here on the same"
    ]


def dropped_by_evalb(gold: Treebank, test: Treebank, pair: Pair, preset: Preset) -> set[int]:
    """The sentences that EVALB would not score: only where words or deleted words differ has it to be asked."""
    alignment = pair.alignment
    plain = (alignment.fit == Fit.TOKENS) & (alignment.test == np.arange(len(gold)))
    plain &= np.diff(gold.token_offset) == np.diff(test.token_offset)
    sentences = np.flatnonzero(plain)
    rows, offset = rows_of(gold.token_offset, sentences)
    test_rows, _ = rows_of(test.token_offset, sentences)
    differs = has_tag(gold, preset.delete_tags)[rows] != has_tag(test, preset.delete_tags)[test_rows]
    plain[sentences[sum_within(differs, offset) > 0]] = False
    asked = np.flatnonzero(~plain)
    scored = evalb_rows(gold.take(asked), test.take(asked), preset).index
    return set(np.delete(asked, scored).tolist())


class Systems:
    """Gold and test trees, prepared once for every preset that a metric asks for.

    ``kept`` are the gold sentences on which all systems are compared: all of them, unless ``on_mismatch`` is ``skip``.
    """

    def __init__(
        self,
        gold: Treebank,
        banks: Mapping[str, Treebank],
        preset: Preset,
        on_mismatch: str,
        judgements: Mapping[str, Judgements],
    ) -> None:
        self.gold, self.banks, self.preset, self.on_mismatch, self.judgements = gold, banks, preset, on_mismatch, judgements
        self._prepared: dict[Preset, dict[str, Pair]] = {}
        self._rows: dict[Metric, list[Rows]] = {}
        pairs = list(self._pairs(preset).values())
        self.kept: Int64 = reduce(np.intersect1d, [pair.index for pair in pairs])
        if not len(self.kept):
            raise MismatchError("there is no sentence of the treebank on which all systems can be compared")
        self.length = pairs[0].gold.length[np.isin(pairs[0].index, self.kept)]

    @property
    def names(self) -> list[str]:
        return list(self.banks)

    def __len__(self) -> int:
        return len(self.banks)

    def _pairs(self, preset: Preset) -> dict[str, Pair]:
        if preset not in self._prepared:
            banks = self.banks.items()
            self._prepared[preset] = {name: prepare(self.gold, bank, preset, on_mismatch=self.on_mismatch) for name, bank in banks}
        return self._prepared[preset]

    def pairs(self, metric: Metric) -> dict[str, Pair]:
        """Each system against the treebank, as the metric wants it, on the sentences that all systems have."""
        pairs = self._pairs(adapted(metric, self.preset))
        return {name: _restricted(pair, self.kept) for name, pair in pairs.items()}

    def judged(self, metric: Hogenhout, system: str) -> Hogenhout:
        """The metric with the judgements of a system, if any were given."""
        return replace(metric, judgements=self.judgements.get(system, Judgements())) if self.judgements else metric

    def paired(self, metric: Metric) -> Paired:
        """The rows of all systems."""
        if not isinstance(metric, Hogenhout):
            return Paired.of(metric, self.rows(metric))
        pairs = self.pairs(metric)
        judged = {system: self.judged(metric, system) for system in pairs}
        # Verdicts decide what is counted; the rates of the counts are the same for all.
        return Paired.of(judged[self.names[0]], [judged[system].rows(pair) for system, pair in pairs.items()])

    def rows(self, metric: Metric) -> list[Rows]:
        """The rows of each system, counted once."""
        if metric not in self._rows:
            self._rows[metric] = [metric.rows(pair) for pair in self.pairs(metric).values()]
        return self._rows[metric]

    def cautions(self) -> list[str]:
        """What to know about sentences that do not fit or would be dropped."""
        pairs = self._pairs(self.preset)
        return [
            *unpaired_cautions(pairs, self.kept, len(self.gold)),
            *evalb_cautions(self.gold, self.banks, pairs, self.preset),
        ]

    def digests(self) -> dict[str, str]:
        """The first digits of the trees' hashes: of gold, and of each system under its name."""
        return {"": self.gold.sha256()[:12], **{name: bank.sha256()[:12] for name, bank in self.banks.items()}}

    def signature(self, metric: Metric, system: str, digests: Mapping[str, str], seed: int) -> str:
        """The signature of a system's score by a metric."""
        signature = Signature(
            metric=metric.name,
            options=metric.options,
            preset=adapted(metric, self.preset),
            on_mismatch=self.on_mismatch,
            sentences=len(self.kept),
            skipped=len(self.gold) - len(self.kept),
            gold=digests[""],
            test=digests[system],
            seed=seed,
            version=__version__,
        )
        return str(signature)


def _restricted(pair: Pair, kept: Int64) -> Pair:
    """The pair reduced to some gold sentences."""
    if len(pair.index) == len(kept):
        return pair
    rows = np.flatnonzero(np.isin(pair.index, kept))
    return replace(pair, gold=pair.gold.take(rows), test=pair.test.take(rows), index=pair.index[rows])


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
    engine: Engine = IN_PROCESS,
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
    prepared: Systems, settings: Settings, *, progress: Progress = no_progress, engine: Engine = IN_PROCESS
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
