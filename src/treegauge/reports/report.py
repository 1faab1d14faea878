"""Report: scores, comparisons, breakdowns and differing trees of some parsers on one treebank, as a value for pages and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from treegauge.alignment.alignment import Note
from treegauge.alignment.pair import Pair
from treegauge.errors import UsageError
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.hogenhout import Judgements
from treegauge.metrics.registry import compared_metrics
from treegauge.presets import Preset
from treegauge.reports.report_sentences import DifferingSentences, find_sentences
from treegauge.reports.tree_diff import BracketMarks, mark_brackets
from treegauge.scoring.inputs import TreebankLike
from treegauge.scoring.result import Result
from treegauge.scoring.scored_pairs import pair_behind, rescore
from treegauge.significance.compare import CompareOptions, common_sentences, comparable_scores, compare_scores
from treegauge.significance.comparison import Comparison
from treegauge.significance.resampling import Progress, no_progress
from treegauge.tables import Table
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["MOST_SENTENCES", "Fragments", "Report", "make_report", "report_of_scores"]

MOST_SENTENCES = 2000
"""So many sentences go into a report unless one says otherwise."""

_MAIN, _FRAGMENTS = "parseval", "freval"
"""The metrics whose brackets, and whose fragments, are shown."""
_BREAKDOWNS = ("labels", "confusions", "lengths", "crossings", "errors")


@dataclass(frozen=True)
class Fragments:
    """A system's FREVAL: its rates by range of sizes, and the scores of each size."""

    rates: Mapping[str, float]
    sizes: tuple[SizeScore, ...]


@dataclass(frozen=True)
class Report:
    """The findings: the comparison, breakdowns and fragments by system, the sentences that differ.

    ``title`` heads the page, ``gold_name`` names the treebank; ``checked`` are tables of a human check, if there was one.
    """

    title: str
    gold_name: str
    gold: Treebank = field(repr=False)
    banks: Mapping[str, Treebank] = field(repr=False)
    preset: Preset
    comparison: Comparison = field(repr=False)
    breakdowns: Mapping[str, Mapping[str, Breakdown]] = field(repr=False)
    fragments: Mapping[str, Fragments] = field(repr=False)
    marks: Mapping[str, BracketMarks] = field(repr=False)
    sentences: DifferingSentences = field(repr=False)
    checked: tuple[Table, ...] = ()
    command: str = ""

    @property
    def systems(self) -> tuple[str, ...]:
        return self.comparison.systems

    @property
    def notes(self) -> list[tuple[str, Note]]:
        """The notes on single sentences, by system."""
        return [(system, note) for system, found in self.marks.items() for note in found.pair.alignment.notes]

    def tables(self) -> list[Table]:
        """All tables of the report, for Markdown or LaTeX."""
        from treegauge.reports.report_tables import all_tables

        return all_tables(self)

    def html(self) -> str:
        """The report as one page that needs nothing else."""
        from treegauge.reports.html import report_page

        return report_page(self)

    def write(self, path: str) -> None:
        """Write the page to a file, or to standard output if the path is ``-``."""
        write_chunks([self.html().encode("utf-8", "replace")], path)


def make_report(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike],
    options: CompareOptions | None = None,
    *,
    reading: ReadOptions = ReadOptions(),
    title: str = "Parser report",
    gold_name: str = "gold",
    judgements: Mapping[str, Judgements] | None = None,
    checked: Sequence[Table] = (),
    most: int = MOST_SENTENCES,
    progress: Progress = no_progress,
) -> Report:
    """Score and compare one or more systems by every metric, and find the sentences that differ most.

    ``judgements`` are a person's, by system, and ``checked`` the tables they make; ``most`` limits the sentences that are kept with
    their trees. The other arguments are those of :func:`treegauge.compare`.

    >>> report = make_report("(S (NP (N a)) (VP (V b)))", {"flat": "(S (N a) (V b))"}, CompareOptions(rounds=10))
    >>> report.systems, report.sentences.differing
    (('flat',), 1)
    """
    options = options or CompareOptions()
    if not systems:
        raise UsageError("a report needs at least one system")
    scored = comparable_scores(gold, systems, _with_main_metrics(options), reading=reading, judgements=judgements)
    return report_of_scores(scored, options, title=title, gold_name=gold_name, checked=checked, most=most, progress=progress)


def _with_main_metrics(options: CompareOptions) -> CompareOptions:
    return replace(options, metrics=tuple(dict.fromkeys([_MAIN, *(options.metrics or compared_metrics()), _FRAGMENTS])))


def report_of_scores(
    scores: Sequence[Result],
    options: CompareOptions | None = None,
    *,
    title: str = "Parser report",
    gold_name: str = "gold",
    checked: Sequence[Table] = (),
    most: int = MOST_SENTENCES,
    progress: Progress = no_progress,
) -> Report:
    """The report of systems whose scores are given, by parseval, freval and any other metrics.

    Scores that were read back name the files of their trees, which are read again: other trees than were scored are a
    :class:`~treegauge.errors.MismatchError`.
    """
    options = options or CompareOptions()
    main = {result.system: rescore(result) for result in _by_metric(scores, _MAIN)}
    with ThreadPoolExecutor(1) as pool, _Stoppable(progress) as watched:
        # Resampling is NumPy's work, which lets the other thread look for kinds of error meanwhile.
        comparing = pool.submit(compare_scores, scores, options, progress=watched)
        kept = common_sentences(scores, options.on_mismatch)
        pairs = {system: _restricted(pair_behind(result), kept) for system, result in main.items()}
        banks = {system: Treebank.concatenate(list(result.scored_trees.test)) for system, result in main.items()}
        gold = Treebank.concatenate(list(next(iter(main.values())).scored_trees.gold))
        marks = {system: mark_brackets(pair) for system, pair in pairs.items()}
        breakdowns = {name: {system: BREAKDOWNS[name](pair) for system, pair in pairs.items()} for name in _BREAKDOWNS}
        sentences = find_sentences(gold, banks, marks, breakdowns["errors"], most=most)
        comparison = comparing.result()
    preset = next(iter(pairs.values())).preset
    fragments = {result.system: _fragments(result) for result in _by_metric(scores, _FRAGMENTS)}
    return Report(title, gold_name, gold, banks, preset, comparison, breakdowns, fragments, marks, sentences, tuple(checked))


def _by_metric(scores: Sequence[Result], metric: str) -> list[Result]:
    found = [result for result in scores if result.metric == metric]
    if not found or {result.system for result in found} != {result.system for result in scores}:
        raise UsageError(f"a report needs scores of every system by {metric}: score with -m {metric}")
    return found


def _restricted(pair: Pair, kept: Int64) -> Pair:
    """The pair reduced to some gold sentences."""
    if len(pair.index) == len(kept):
        return pair
    rows = np.flatnonzero(np.isin(pair.index, kept))
    return replace(pair, gold=pair.gold.take(rows), test=pair.test.take(rows), index=pair.index[rows])


class _Stoppable:
    """Progress of work in another thread, which stops at its next step when this thread is interrupted or fails."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._stopped = progress, False

    def __call__(self, rounds: int) -> None:
        if self._stopped:
            raise CancelledError
        self._progress(rounds)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stopped = failure[0] is not None


def _fragments(result: Result) -> Fragments:
    metric = Freval.from_options(result.signature.options)
    return Fragments(result.rates, tuple(metric.by_size(result.counts.values())))
