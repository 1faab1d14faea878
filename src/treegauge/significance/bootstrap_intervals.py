"""Bootstrap confidence intervals of rates and of differences between rates: percentile and BCa (Efron 1987).

Sentences are drawn with replacement, the same sample for every system and every metric, so that differences are paired. The
percentile interval is the default: on real differences between parsers, its coverage was closer to the nominal level than that of
BCa almost everywhere we measured it (``experiments/null_simulation.py``). :func:`with_confidence` adds intervals to a result.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple, cast, overload

import numpy as np

from treegauge.engines import IN_PROCESS, Engine
from treegauge.errors import UsageError, check_name, checked
from treegauge.scoring.inputs import no_progress
from treegauge.scoring.result import IntervalOptions, Part, Result, Scores
from treegauge.significance.resampling import (
    DEFAULT_ROUNDS,
    DEFAULT_SEED,
    Floats,
    Interval,
    Name,
    PairedColumns,
    Progress,
    WeightedSums,
    bootstrap_weights,
    groups_of_blocks,
)
from treegauge.significance.runs import RunTests
from treegauge.trees.treebank import Int64

METHODS = ("percentile", "bca")


@dataclass(frozen=True)
class Bootstrap:
    """The rates of each system in each bootstrap sample: ``samples[system]`` has the shape (rounds, names).

    Intervals and effect sizes are available for the ``chosen`` rates.
    """

    paired: PairedColumns = field(repr=False)
    samples: tuple[Floats, ...] = field(repr=False)
    seed: int
    chosen: tuple[Name, ...] = field(repr=False)

    @cached_property
    def _leave_one_out(self) -> tuple[Floats, ...]:
        """For each system, the chosen rates without each sentence in turn; not of all rates, since sentences may be many."""
        places = [self.paired.names.index(name) for name in self.chosen]
        return tuple(self.paired.leave_one_out(system, places) for system in range(len(self.samples)))

    def _without_one(self, system: int, name: Name) -> Floats:
        return self._leave_one_out[system][:, self.chosen.index(name)]

    @cached_property
    def observed(self) -> tuple[Floats, ...]:
        """The rates of each system on the sentences themselves."""
        return tuple(self.paired.observed(system) for system in range(len(self.samples)))

    def of_rate(self, system: int, name: Name, *, level: float = 0.95, method: str = "percentile") -> Interval:
        """The interval of one system's rate."""
        column = self.paired.names.index(name)
        without_one = self._without_one(system, name)
        return interval(
            float(self.observed[system][column]), self.samples[system][:, column], without_one, level=level, method=method
        )

    def of_difference(self, a: int, b: int, name: Name, *, level: float = 0.95, method: str = "percentile") -> Interval:
        """The interval of B's rate minus A's."""
        column = self.paired.names.index(name)
        observed = float(self.observed[b][column] - self.observed[a][column])
        samples = self.samples[b][:, column] - self.samples[a][:, column]
        without_one = self._without_one(b, name) - self._without_one(a, name)
        return interval(observed, samples, without_one, level=level, method=method)

    def effect_size(self, a: int, b: int, name: Name) -> float:
        """The difference in standard deviations of one sentence: Cohen's d for pairs, of jackknife pseudo-values.

        For a mean over sentences, the pseudo-values are the differences of the sentences themselves, and the effect size is their
        mean over their standard deviation; for a rate over the corpus, they are the influence of each sentence. nan if nothing
        varies.
        """
        column = self.paired.names.index(name)
        n = len(self.paired)
        observed = float(self.observed[b][column] - self.observed[a][column])
        without_one = self._without_one(b, name) - self._without_one(a, name)
        if n < 2:
            return float("nan")
        deviation = float(np.std(n * observed - (n - 1) * without_one, ddof=1))
        return observed / deviation if deviation > _FLAT * max(abs(observed), 1.0) else float("nan")


_FLAT = 1e-12


def bootstrap(
    paired: PairedColumns,
    *,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
    progress: Progress = no_progress,
    engine: Engine = IN_PROCESS,
    chosen: Sequence[Name] | None = None,
) -> Bootstrap:
    """Draw ``rounds`` samples of the sentences and compute the rates of every system on each.

    ``progress`` is called with the number of samples drawn since the last call. ``chosen`` are the rates whose intervals will be
    needed; all, if it is not given.
    """
    if not len(paired):
        raise UsageError("there are no sentences to draw from")
    drawing = _Drawing(*_distinct_columns(paired), paired.exact, paired.rates_of, rounds, seed)
    samples: list[list[Floats]] = [[] for _ in paired.columns]
    for drawn in engine.map(_draw, drawing, groups_of_blocks(rounds)):
        for system, blocks in enumerate(drawn):
            samples[system] += blocks
        progress(sum(map(len, drawn[0])))
    return Bootstrap(
        paired, tuple(np.concatenate(blocks) for blocks in samples), seed, tuple(paired.names if chosen is None else chosen)
    )


class _Drawing(NamedTuple):
    """A bootstrap to draw: the distinct columns, the positions of each system's columns among them, and the rates of sums."""

    columns: Floats
    places: list[list[int]]
    is_exact: bool
    rates_of: Callable[[Floats], Floats]
    rounds: int
    seed: int


def _draw(drawing: _Drawing, blocks: range) -> list[list[Floats]]:
    """For each system, its rates in the samples of some blocks."""
    samples: list[list[Floats]] = [[] for _ in drawing.places]
    sums = WeightedSums(drawing.columns, exact=drawing.is_exact)
    for weights in bootstrap_weights(len(drawing.columns), drawing.rounds, drawing.seed, blocks):
        totals = sums.of(weights)
        for system, place in enumerate(drawing.places):
            samples[system].append(drawing.rates_of(totals[:, place]))
    return samples


def _distinct_columns(paired: PairedColumns) -> tuple[Floats, list[list[int]]]:
    """Each distinct column once (gold counts are the same for all systems), and the positions of each system's columns."""
    numbers: dict[bytes, int] = {}
    distinct: list[Floats] = []
    places: list[list[int]] = []
    for of_system in paired.columns:
        places.append([])
        for column in of_system.T:
            number = numbers.setdefault(hashlib.sha256(np.ascontiguousarray(column).data).digest(), len(numbers))
            if number == len(distinct):
                distinct.append(column)
            places[-1].append(number)
    return np.stack(distinct, axis=1) if distinct else np.zeros((len(paired), 0)), places


def check_interval(level: float, method: str) -> None:
    """Refuse a level or a kind of confidence interval that cannot be."""
    check_name("kind of interval", method, METHODS)
    if not 0 < level < 1:
        raise UsageError(f"a confidence level is between 0 and 1, not {level}")


def interval(observed: float, samples: Floats, without_one: Floats, *, level: float, method: str) -> Interval:
    """The confidence interval of a statistic from its value, its bootstrap samples and its leave-one-out values."""
    check_interval(level, method)
    if len(without_one) < 2 or np.isnan(observed):
        reason = "fewer than two sentences" if len(without_one) < 2 else "the value is undefined"
        return Interval(float("nan"), float("nan"), method, f"no interval: {reason}")
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return Interval(float("nan"), float("nan"), method, "no interval: undefined in every sample")
    if np.ptp(defined) <= _FLAT * max(1.0, abs(observed)):
        found = percentile_interval(defined, level)._replace(warning="no variation between samples")
    elif method == "bca":
        found = bca_interval(observed, defined, without_one, level)
    else:
        found = percentile_interval(defined, level)
    if len(defined) < len(samples):
        missing = f"undefined in {len(samples) - len(defined)} of {len(samples)} samples, which are left out"
        found = found._replace(warning="; ".join(filter(None, [found.warning, missing])))
    return found


def percentile_interval(samples: Floats, level: float = 0.95) -> Interval:
    """The middle ``level`` of the samples.

    >>> percentile_interval(np.arange(101.0), level=0.5)[:2]
    (25.0, 75.0)
    """
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), "percentile")


def bca_interval(observed: float, samples: Floats, without_one: Floats, level: float = 0.95) -> Interval:
    """The bias-corrected and accelerated interval (Efron 1987); the percentile interval, with a warning, where it is undefined.

    Bias z0 from the share of samples below the observed value (ties by half); acceleration from the skewness of the
    leave-one-out values.
    """
    normal = NormalDist()
    close = np.abs(samples - observed) <= _FLAT * max(1.0, abs(observed))
    share = float(((samples < observed) & ~close).mean() + close.mean() / 2)
    if share in (0.0, 1.0):
        return percentile_interval(samples, level)._replace(warning="all samples lie on one side of the value: percentile interval")
    z0 = normal.inv_cdf(share)
    influence = np.nanmean(without_one) - without_one[~np.isnan(without_one)]
    spread = float((influence**2).sum()) ** 1.5
    acceleration = float((influence**3).sum()) / (6 * spread) if spread > 0 else 0.0
    quantiles: list[float] = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + normal.inv_cdf(tail)
        if acceleration * z >= 1:
            return percentile_interval(samples, level)._replace(warning="too skewed for BCa: percentile interval")
        quantiles.append(normal.cdf(z0 + z / (1 - acceleration * z)))
    low, high = np.quantile(samples, quantiles)
    return Interval(float(low), float(high), "bca")


@overload
def with_confidence(
    scored: Result, *, level: float = ..., rounds: int = ..., seed: int = ..., method: str = ..., progress: Progress = ...
) -> Result: ...
@overload
def with_confidence(
    scored: Iterable[Result], *, level: float = ..., rounds: int = ..., seed: int = ..., method: str = ..., progress: Progress = ...
) -> Scores: ...
@checked()
def with_confidence(
    scored: Result | Iterable[Result],
    *,
    level: float = 0.95,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
    method: str = "percentile",
    progress: Progress = no_progress,
) -> Result | Scores:
    """The result, or results, with a bootstrap interval for every rate, of all sentences and of the short ones.

    Sentences are drawn with replacement (Efron 1979), as in :func:`treegauge.compare`; the same seed draws the same sentences.

    >>> import treegauge
    >>> gold = ["(S (NP (D a) (N b)) (V c))"] * 9
    >>> result = with_confidence(treegauge.score(gold, [*gold[:6], *["(S (D a) (N b) (V c))"] * 3]), rounds=1000)
    >>> low, high = result.total.intervals["recall"]
    >>> low < result.recall < high
    True
    """
    if not isinstance(scored, Result):
        how: dict[str, Any] = {"level": level, "rounds": rounds, "seed": seed, "method": method, "progress": progress}
        for one in (given := list(scored)):
            if not isinstance(cast("object", one), Result):
                raise UsageError(f"with_confidence takes what treegauge.score returns, not {type(one).__name__}")
        return _with_intervals_of_means([with_confidence(one, **how) for one in given], level)
    if scored.definition is None:
        raise UsageError(f"the metric of this result, {scored.metric}, is not one of treegauge's: its rates cannot be drawn again")
    sentences = scored.scored_sentences
    if not len(sentences.rows):
        raise UsageError("there are no sentences to draw from")
    paired = PairedColumns.of(scored.definition, [sentences.rows])
    short = _short_sentences(scored)

    def part(of: Part, chosen: Int64) -> Part:
        if not len(chosen):
            return of
        drawn = bootstrap(paired.take(chosen), rounds=rounds, seed=seed, progress=progress)
        found = {name: drawn.of_rate(0, name, level=level, method=method) for name in paired.names}
        return replace(of, intervals={rate: (interval.low, interval.high) for (_, rate), interval in found.items()})

    total = part(scored.total, np.arange(len(sentences.rows)))
    of_short = replace(scored.short, intervals=total.intervals) if len(short) == len(sentences.rows) else part(scored.short, short)
    return replace(scored, total=total, short=of_short, confidence=IntervalOptions(level, method, rounds, seed))


def _with_intervals_of_means(found: list[Result], level: float) -> Scores:
    """The results; the first of several runs also with the intervals of their mean, which count the variation between runs, too."""
    for place, first in enumerate(found):
        runs = [run for run in found if (run.system, run.metric) == (first.system, first.metric)]
        index = first.scored_sentences.index
        if len(runs) > 1 and runs[0] is first and all(np.array_equal(run.scored_sentences.index, index) for run in runs):
            total = _with_interval_of_mean(first.total, runs, np.arange(len(index)), level)
            short = _with_interval_of_mean(first.short, runs, _short_sentences(first), level)
            found[place] = replace(first, total=total, short=short)
    return Scores(found)


def _short_sentences(result: Result) -> Int64:
    """The rows of the short sentences."""
    sentences, limit = result.scored_sentences, result.short.length
    return np.flatnonzero(sentences.length[sentences.index] <= (math.inf if limit is None else limit))


def _with_interval_of_mean(part: Part, runs: Sequence[Result], rows: Int64, level: float) -> Part:
    """The part of a run with the intervals of the mean rates of all runs on these rows, as in :func:`treegauge.compare`."""
    metric = runs[0].definition
    if metric is None or not len(rows):
        return part
    paired = PairedColumns.of(metric, [run.scored_sentences.rows for run in runs]).take(rows)
    tests = RunTests(paired, [range(len(runs))], paired.names)
    return replace(part, intervals_of_mean={name[1]: tests.interval(0, name, level)[:2] for name in paired.names})
