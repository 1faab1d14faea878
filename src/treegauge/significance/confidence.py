"""Confidence intervals beside the rates of one system: how far they might be off on other sentences of the same kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import overload

import numpy as np

from treegauge.errors import UsageError
from treegauge.scoring.counts import no_progress
from treegauge.scoring.result import IntervalOptions, Part, Result, Scores
from treegauge.significance.bootstrap_intervals import bootstrap
from treegauge.significance.resampling import DEFAULT_ROUNDS, DEFAULT_SEED, PairedColumns, Progress
from treegauge.trees.treebank import Int64

__all__ = ["with_confidence"]


@overload
def with_confidence(
    scored: Result, *, level: float = ..., rounds: int = ..., seed: int = ..., method: str = ..., progress: Progress = ...
) -> Result: ...
@overload
def with_confidence(
    scored: Iterable[Result], *, level: float = ..., rounds: int = ..., seed: int = ..., method: str = ..., progress: Progress = ...
) -> Scores: ...
def with_confidence(
    scored: Result | Iterable[Result],
    *,
    level: float = 0.95,
    rounds: int = DEFAULT_ROUNDS,
    seed: int = DEFAULT_SEED,
    method: str = "percentile",
    progress: Progress = no_progress,
) -> Result | Scores:
    """The result, or results, with a bootstrap interval of every rate, for all sentences and for the short ones.

    Sentences are drawn with replacement (Efron 1979), as in :func:`treegauge.compare`, and with the same seed the same ones.

    >>> import treegauge
    >>> gold = ["(S (NP (D a) (N b)) (V c))"] * 9
    >>> result = with_confidence(treegauge.score(gold, [*gold[:6], *["(S (D a) (N b) (V c))"] * 3]), rounds=1000)
    >>> low, high = result.total.intervals["recall"]
    >>> low < result.recall < high
    True
    """
    if not isinstance(scored, Result):
        return Scores(
            [with_confidence(one, level=level, rounds=rounds, seed=seed, method=method, progress=progress) for one in scored]
        )
    if scored.definition is None:
        raise UsageError(f"the metric of this result, {scored.metric}, is not one of treegauge's: its rates cannot be drawn again")
    sentences = scored.scored_sentences
    if not len(sentences.rows):
        raise UsageError("there are no sentences to draw from")
    paired = PairedColumns.of(scored.definition, [sentences.rows])
    limit = scored.short.length
    short = np.flatnonzero(sentences.length[sentences.index] <= limit) if limit is not None else np.arange(len(sentences.rows))

    def part(of: Part, chosen: Int64) -> Part:
        if not len(chosen):
            return of
        drawn = bootstrap(paired.take(chosen), rounds=rounds, seed=seed, progress=progress)
        found = {name: drawn.of_rate(0, name, level=level, method=method) for name in paired.names}
        return replace(of, intervals={rate: (interval.low, interval.high) for (_, rate), interval in found.items()})

    total = part(scored.total, np.arange(len(sentences.rows)))
    is_all = len(short) == len(sentences.rows)
    short_part = replace(scored.short, intervals=total.intervals) if is_all else part(scored.short, short)
    return replace(scored, total=total, short=short_part, confidence=IntervalOptions(level, method, rounds, seed))
