"""Reports: scores, comparisons, breakdowns and differing trees of some parsers on one treebank, as a value for pages and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

import numpy as np

from treegauge.alignment.notes import Note, notes_with_remarks
from treegauge.errors import UsageError
from treegauge.io.reading import holds_gaps
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.hogenhout import Judgements
from treegauge.metrics.registry import compared_metrics
from treegauge.presets import Preset
from treegauge.reports.differing_sentences import DifferingSentences, find_sentences, rank_sentences
from treegauge.reports.scored_trees import (
    are_large,
    best_places,
    break_down,
    example_sentences,
    examples_among,
    may_hold_few,
    missing_trees,
    pair_behind,
    rescore,
    wrong_brackets,
)
from treegauge.reports.tree_diff import BracketMarks, mark_brackets
from treegauge.scoring.counts import no_progress
from treegauge.scoring.inputs import TreebankLike
from treegauge.scoring.result import Result
from treegauge.significance.comparison import Comparison
from treegauge.significance.paired_comparison import CompareOptions, comparable_scores, compare_scores, systems_by_name
from treegauge.significance.resampling import Progress
from treegauge.significance.score_table import common_sentences
from treegauge.tables import Table
from treegauge.trees.treebank import Int64, Treebank

MOST_SENTENCES = 2000
"""The largest number of sentences shown in a report, unless another is given."""

_MAIN = "parseval"
"""The metric whose brackets are shown and broken down."""
_FRAGMENTS, _DISCONTINUOUS = "freval", "discontinuous"
"""The metric of fragments, and the one that takes its place where trees have gaps."""
_BREAKDOWNS = ("labels", "confusions", "lengths", "crossings", "errors")
_BY_GAPS = ("fan-outs", "gap-degrees")
"""The breakdowns for discontinuous trees only."""
_CONTINUOUS_ONLY = "errors"
"""The breakdown for continuous trees only."""


@dataclass(frozen=True)
class Fragments:
    """A system's FREVAL: its rates by range of sizes, and the scores of each size."""

    rates: Mapping[str, float]
    sizes: tuple[SizeScore, ...]


@dataclass(frozen=True)
class Report:
    """The findings about some systems: scores and comparison, breakdowns, fragments, and the sentences on which they differ.

    ``title`` heads the page; ``gold_name`` names the treebank; ``checked`` are tables of a human check, if there was one;
    ``parse_base`` is the table of a grammar's Parse Base, if one was given. There are no ``fragments`` on discontinuous trees.

    The other fields need the trees. Of a large treebank ``gold``, ``banks`` and ``marks`` hold only the sentences that are shown,
    and ``numbers`` are the numbers of these sentences in the treebank (from 0), in order. Where only scores are at hand, these
    fields are empty, and ``left_out`` tells the reader what is missing and why.
    """

    title: str
    gold_name: str
    preset: Preset
    comparison: Comparison = field(repr=False)
    fragments: Mapping[str, Fragments] = field(repr=False)
    checked: tuple[Table, ...] = ()
    command: str = ""
    parse_base: Table | None = None
    gold: Treebank = field(default_factory=lambda: Treebank.from_trees([]), repr=False)
    banks: Mapping[str, Treebank] = field(default_factory=dict[str, Treebank], repr=False)
    breakdowns: Mapping[str, Mapping[str, Breakdown]] = field(default_factory=dict[str, Mapping[str, Breakdown]], repr=False)
    marks: Mapping[str, BracketMarks] = field(default_factory=dict[str, BracketMarks], repr=False)
    sentences: DifferingSentences = field(default=DifferingSentences(), repr=False)
    numbers: tuple[int, ...] | None = field(default=None, repr=False)
    kept_notes: Mapping[str, Sequence[Note]] = field(default_factory=dict[str, Sequence[Note]], repr=False)
    left_out: str = ""

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.comparison.systems

    @property
    def notes(self) -> list[tuple[str, Note]]:
        """The notes on single sentences and the remarks on all of them together, each with the name of its system."""
        of_systems = self.kept_notes or {
            system: notes_with_remarks(found.pair.alignment.notes, self.gold, self.banks[system])
            for system, found in self.marks.items()
        }
        return [(system, note) for system, notes in of_systems.items() for note in notes]

    def number_of(self, sentence: int) -> int:
        """The number in the treebank, counted from 1, of a sentence of ``gold``."""
        return 1 + (sentence if self.numbers is None else self.numbers[sentence])

    def tables(self) -> list[Table]:
        """All tables of the report, for Markdown or LaTeX."""
        from treegauge.reports.report_contents import all_tables

        return all_tables(self)

    def html(self) -> str:
        """The report as one HTML page without external files."""
        from treegauge.reports.html import report_page

        return report_page(self)

    def write(self, path: str) -> None:
        """Write the page to a file, or to standard output if the path is ``-``."""
        write_chunks([self.html().encode("utf-8", "replace")], path)


def report(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike] | Sequence[TreebankLike],
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

    ``judgements`` are the verdicts of a human check on each system's brackets, and ``checked`` its tables; at most ``most``
    sentences are shown with their trees. The other arguments are those of :func:`treegauge.compare`.

    >>> found = report("(S (NP (N a)) (VP (V b)))", {"flat": "(S (N a) (V b))"}, CompareOptions(rounds=10))
    >>> found.systems, found.sentences.differing
    (('flat',), 1)
    """
    options = options or CompareOptions()
    systems = systems_by_name(gold, systems)
    if not systems:
        raise UsageError("a report needs at least one system")
    gaps = any(holds_gaps(side, reading) for side in (gold, *systems.values()))
    few = not gaps and are_large(gold, *systems.values())
    scored = comparable_scores(
        gold,
        systems,
        _with_main_metrics(options, gaps),
        reading=reading,
        judgements=judgements,
        trees=not few,
        breakdowns=_BREAKDOWNS if few else (),
        thinned=best_places if few else None,
    )
    return report_of_scores(scored, options, title=title, gold_name=gold_name, checked=checked, most=most, progress=progress)


def _with_main_metrics(options: CompareOptions, gaps: bool) -> CompareOptions:
    """The options with the metrics that a report needs; fragments are not defined on discontinuous trees."""
    names = [_MAIN, *(options.metrics or compared_metrics(discontinuous=gaps)), *([] if gaps else [_FRAGMENTS])]
    return replace(options, metrics=tuple(dict.fromkeys(names)))


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
    """The report of systems whose scores are given, by parseval, freval (unless trees have gaps) and any other metrics.

    Scores read from a file name the files of their trees, which are read again; if these are not the trees that were scored, a
    :class:`~treegauge.errors.MismatchError` is raised. If a file no longer exists, the report has no breakdowns and no trees, and
    ``left_out`` says so.
    """
    options = options or CompareOptions()
    by_system = {result.system: result for result in _by_metric(scores, _MAIN)}
    metrics = {result.metric for result in scores}
    gaps = _DISCONTINUOUS in metrics and _FRAGMENTS not in metrics
    fragments = {} if gaps else {result.system: _fragments(result) for result in _by_metric(scores, _FRAGMENTS)}
    preset = next(iter(by_system.values())).signature.preset
    of_scores = partial(Report, title, gold_name, preset, fragments=fragments, checked=tuple(checked))
    reasons = [reason for result in by_system.values() if (reason := missing_trees(result))]
    if reasons:
        comparison = compare_scores(scores, options, progress=progress)
        return _without_trees(of_scores(comparison=comparison), by_system, reasons[0])
    if may_hold_few(by_system.values()):
        comparison = compare_scores(scores, options, progress=progress)
        # Sentences that are left out for one system are left out for all, which is known only when all are scored.
        kept = common_sentences(scores, options.on_mismatch)
        by_system = {system: break_down(result, _BREAKDOWNS, kept) for system, result in by_system.items()}
        return _with_few_trees(of_scores(comparison=comparison), by_system, most, kept)
    main = {system: rescore(result) for system, result in by_system.items()}
    with ThreadPoolExecutor(1) as pool, _Stoppable(progress) as watched:
        # Resampling is NumPy's work, which lets this thread look for kinds of error meanwhile.
        comparing = pool.submit(compare_scores, scores, options, progress=watched)
        kept = common_sentences(scores, options.on_mismatch)
        pairs = {system: pair_behind(result).only(kept) for system, result in main.items()}
        banks = {system: Treebank.concatenate(list(result.scored_trees.test)) for system, result in main.items()}
        gold = Treebank.concatenate(list(next(iter(main.values())).scored_trees.gold))
        marks = {system: mark_brackets(pair) for system, pair in pairs.items()}
        gaps = not all(bank.is_continuous for bank in (gold, *banks.values()))
        names = (*_BREAKDOWNS, *(_BY_GAPS if gaps else ()))
        broken_down = {name: {} if gaps and name == _CONTINUOUS_ONLY else pairs for name in names}
        breakdowns = {name: {s: BREAKDOWNS[name](pair) for s, pair in found.items()} for name, found in broken_down.items()}
        sentences = find_sentences(gold, banks, marks, breakdowns["errors"], most=most)
        finished = of_scores(comparison=comparing.result())
    return replace(finished, gold=gold, banks=banks, breakdowns=breakdowns, marks=marks, sentences=sentences)


def _with_few_trees(report: Report, scores: Mapping[str, Result], most: int, kept: Int64) -> Report:
    """The report of a large treebank that has breakdowns of the sentences ``kept``: only the trees shown are read again."""
    first = next(iter(scores.values()))
    order = rank_sentences(np.stack([wrong_brackets(result, kept) for result in scores.values()]))
    length = first.scored_sentences.length
    examples = [example_sentences(result.breakdowns["errors"], length) for result in scores.values()]
    shown: list[int] = kept[order[:most]].tolist()
    numbers = sorted({*shown, *(sentence for of_system in examples for sentence in of_system)})
    again = {system: rescore(result, numbers) for system, result in scores.items()}
    gold = Treebank.concatenate(list(next(iter(again.values())).scored_trees.gold))
    banks = {system: Treebank.concatenate(list(result.scored_trees.test)) for system, result in again.items()}
    marks = {system: mark_brackets(pair_behind(result)) for system, result in again.items()}
    # All kinds of error that were found, with their places in the sentences shown.
    errors = {
        system: replace(result.breakdowns["errors"], places=BREAKDOWNS["errors"](marks[system].pair).places)
        for system, result in scores.items()
    }
    sentences = find_sentences(gold, banks, marks, errors, most=most, numbers=numbers)
    breakdowns = {name: {system: result.breakdowns[name] for system, result in scores.items()} for name in _BREAKDOWNS}
    breakdowns["errors"] = {
        system: examples_among(result.breakdowns["errors"], length, numbers) for system, result in scores.items()
    }
    return replace(
        report,
        gold=gold,
        banks=banks,
        breakdowns=breakdowns,
        marks=marks,
        sentences=replace(sentences, differing=len(order), compared=len(kept)),
        numbers=tuple(numbers),
        kept_notes={system: _notes_on_trees(result) for system, result in scores.items()},
    )


def _notes_on_trees(result: Result) -> list[Note]:
    """The notes of a result, except those about punctuation and about EVALB."""
    return [note for note in result.notes if note.kind not in ("punctuation", "evalb")]


def _without_trees(report: Report, scores: Mapping[str, Result], reason: str) -> Report:
    """The report of scores alone; it tells why there are no trees and what is left out."""
    left_out = "the tables and figures by label, length, crossing and kind of error, and the trees, are left out"
    notes = {system: result.notes for system, result in scores.items()}
    return replace(report, kept_notes=notes, left_out=f"{reason}, so {left_out}.")


def _by_metric(scores: Sequence[Result], metric: str) -> list[Result]:
    """The results by one metric, which every system must have."""
    found = [result for result in scores if result.metric == metric]
    if not found or {result.system for result in found} != {result.system for result in scores}:
        raise UsageError(f"a report needs scores of every system by {metric}: score with -m {metric}")
    return found


class _Stoppable:
    """Progress of work in another thread; that thread stops at its next step when this one is interrupted or fails."""

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
    """The rates and the scores of each size behind a result by FREVAL."""
    metric = Freval.from_options(result.signature.options)
    return Fragments(result.rates, tuple(metric.by_size(result.counts.values())))
