"""Report: everything there is to say about some parsers on one treebank, as a value; pages and tables are made from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Self

from treegauge import io
from treegauge.alignment.alignment import Note
from treegauge.errors import UsageError
from treegauge.io.writing import write_chunks
from treegauge.metrics.base import Rows, total_of
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.hogenhout import Judgements
from treegauge.metrics.parseval import Parseval
from treegauge.presets import Preset, load_preset
from treegauge.reports.report_sentences import DifferingSentences, find_sentences
from treegauge.reports.tree_diff import BracketMarks, mark_brackets
from treegauge.scoring.inputs import TreebankLike
from treegauge.significance.compare import Settings, Systems, compare_prepared
from treegauge.significance.comparison import Comparison
from treegauge.significance.resampling import Progress, no_progress
from treegauge.tables import Table
from treegauge.trees.treebank import Treebank

__all__ = ["MOST_SENTENCES", "Fragments", "Report", "make_report"]

MOST_SENTENCES = 2000
"""So many sentences go into a report unless one says otherwise."""

_FREVAL = Freval()
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
    settings: Settings | None = None,
    *,
    title: str = "Parser report",
    gold_name: str = "gold",
    judgements: Mapping[str, Judgements] | None = None,
    checked: Sequence[Table] = (),
    most: int = MOST_SENTENCES,
    progress: Progress = no_progress,
) -> Report:
    """Measure and compare one or more systems in every way.

    ``judgements`` are a person's, by system, and ``checked`` the tables they make; ``most`` limits the sentences that are kept with
    their trees. The other arguments are those of :func:`treegauge.compare`.

    >>> report = make_report("(S (NP (N a)) (VP (V b)))", {"flat": "(S (N a) (V b))"}, Settings(rounds=10))
    >>> report.systems, report.sentences.differing
    (('flat',), 1)
    """
    settings = settings or Settings()
    if not systems:
        raise UsageError("a report needs at least one system")
    preset = load_preset(settings.preset)
    bank = io.as_treebank(gold)
    banks = {system: io.as_treebank(trees) for system, trees in systems.items()}
    prepared = Systems(bank, banks, preset, settings.on_mismatch, judgements or {})
    with ThreadPoolExecutor(1) as pool, _Stoppable(progress) as watched:
        # Resampling is NumPy's work, which lets the other thread look for kinds of error meanwhile.
        comparing = pool.submit(compare_prepared, prepared, settings, progress=watched)
        pairs = prepared.pairs(Parseval())
        marks = {system: mark_brackets(pair) for system, pair in pairs.items()}
        breakdowns = {name: {system: BREAKDOWNS[name](pair) for system, pair in pairs.items()} for name in _BREAKDOWNS}
        sentences = find_sentences(bank, banks, marks, breakdowns["errors"], most=most)
        comparison = comparing.result()
    fragments = dict(zip(banks, map(_fragments, prepared.rows(_FREVAL)), strict=True))
    return Report(title, gold_name, bank, banks, preset, comparison, breakdowns, fragments, marks, sentences, tuple(checked))


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


def _fragments(rows: Rows) -> Fragments:
    total = total_of(rows)
    return Fragments(_FREVAL.rates(total), tuple(_FREVAL.by_size(total)))
