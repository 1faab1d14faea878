"""Report: scores, comparisons, breakdowns and differing trees of some parsers on one treebank, as a value for pages and tables.

The differing sentences are compact data from which the page draws trees. A tree is its columns, as in
:class:`~treegauge.trees.treebank.Treebank`: labels and parents of its nodes in pre-order, the node above each word, the words.
Marks are one character per node (:data:`~treegauge.reports.tree_diff.CODES`, a blank where a node does not count).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.alignment import Fit, Note
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.remarks import notes_with_remarks
from treegauge.errors import UsageError
from treegauge.io.reading import holds_gaps
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.hogenhout import Judgements
from treegauge.metrics.registry import compared_metrics
from treegauge.presets import Preset
from treegauge.reports.scored_trees import (
    are_large,
    best_places,
    example_sentences,
    examples_among,
    missing_trees,
    pair_behind,
    rescore,
    restricted,
    wrong_brackets,
)
from treegauge.reports.tree_diff import CODES, BracketMarks, mark_brackets
from treegauge.scoring.counts import no_progress
from treegauge.scoring.inputs import TreebankLike
from treegauge.scoring.result import Result
from treegauge.significance.comparison import Comparison
from treegauge.significance.paired_comparison import CompareOptions, comparable_scores, compare_scores, systems_by_name
from treegauge.significance.resampling import Progress
from treegauge.significance.score_table import common_sentences
from treegauge.tables import Table
from treegauge.trees.treebank import Int64, Treebank

__all__ = [
    "MOST_SENTENCES",
    "DifferingSentences",
    "Fragments",
    "Report",
    "find_sentences",
    "report",
    "report_of_scores",
    "short_place",
]


_MOST_BYTES = 3_600_000


@dataclass(frozen=True)
class DifferingSentences:
    """Sentences with something wrong, those first on which the systems differ most.

    ``documents`` are JSON; ``rows`` are the rows of the compared pairs behind them; ``differing`` counts all there are;
    ``characters`` are those of all words.
    """

    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    documents: tuple[str, ...]
    rows: tuple[int, ...]
    differing: int
    compared: int
    characters: frozenset[str] = field(default=frozenset(), repr=False)


def find_sentences(
    gold: Treebank,
    banks: Mapping[str, Treebank],
    marks: Mapping[str, BracketMarks],
    errors: Mapping[str, Breakdown],
    *,
    most: int,
    most_bytes: int = _MOST_BYTES,
    numbers: Sequence[int] | None = None,
) -> DifferingSentences:
    """The sentences in which some system has a wrong bracket, at most ``most`` of them, in at most ``most_bytes`` of JSON.

    ``numbers`` are those of the sentences in the treebank (from 0), where some only are given.
    """
    wrong = np.stack([found.wrong for found in marks.values()])
    order = rank_sentences(wrong)
    encoder = _SentenceEncoder(gold, banks, marks, errors, range(len(gold)) if numbers is None else numbers)
    found: list[str] = []
    rows: list[int] = []
    room = most_bytes
    for row in order[:most]:
        document = json.dumps(encoder.sentence(row), ensure_ascii=False, separators=(",", ":"))
        room -= len(document)
        if room < 0 and found:
            break
        found.append(document)
        rows.append(row)
    return DifferingSentences(
        tuple(encoder.labels), encoder.kinds, tuple(found), tuple(rows), len(order), wrong.shape[1], frozenset(encoder.characters)
    )


def rank_sentences(wrong: Int64) -> list[int]:
    """The sentences with wrong brackets (systems by sentences): where the systems are furthest apart first, then the worst.

    >>> rank_sentences(np.array([[0, 2, 5, 1], [0, 6, 5, 0]]))
    [1, 3, 2]
    """
    spread: Int64 = wrong.max(axis=0) - wrong.min(axis=0)
    total: Int64 = wrong.sum(axis=0)
    # Stable, so that what ties stays in the order of the treebank.
    order = np.lexsort((-total, -spread))
    return order[total[order] > 0].tolist()


def short_place(place: str) -> str:
    """The place where a sentence was read, without folders.

    >>> short_place("data/gum/dev.mrg:12")
    'dev.mrg:12'
    """
    return PurePath(place).name


class _SentenceEncoder:
    """An encoder of one sentence after the other; labels are numbered in the order of their first use."""

    def __init__(
        self,
        gold: Treebank,
        banks: Mapping[str, Treebank],
        marks: Mapping[str, BracketMarks],
        errors: Mapping[str, Breakdown],
        numbers: Sequence[int],
    ) -> None:
        self.gold, self.banks, self.marks, self.numbers = gold, banks, marks, numbers
        self.labels: dict[str, int] = {}
        self.characters: set[str] = set()
        self.kinds = tuple(dict.fromkeys(str(key[0]) for found in errors.values() for key in found.keys))
        self._of_gold = self._numbered(gold)
        self._of_system = {system: self._numbered(bank) for system, bank in banks.items()}
        self._kinds = {system: self._kinds_of(found) for system, found in errors.items()}
        self._notes = {system: {note.sentence: note for note in found.pair.alignment.notes} for system, found in marks.items()}

    def _numbered(self, bank: Treebank) -> Int64:
        """The number, in the report, of each label number of a treebank."""
        return np.array([self.labels.setdefault(label, len(self.labels)) for label in bank.labels] or [0], dtype=np.int64)

    def _kinds_of(self, errors: Breakdown) -> dict[int, list[int]]:
        """The kinds of error in each gold sentence."""
        kinds: dict[int, list[int]] = {}
        for number, kind in enumerate(self.kinds):
            sentences = {sentence for places in errors.places.get((kind,), ()) for sentence in places.rows[:, 0].tolist()}
            for sentence in sorted(sentences):
                kinds.setdefault(sentence, []).append(number)
        return kinds

    def sentence(self, row: int) -> dict[str, Any]:
        first = next(iter(self.marks.values())).pair
        sentence = int(first.index[row])
        return {
            "n": self.numbers[sentence] + 1,
            "p": short_place(self.gold.place(sentence)),
            "g": self._tree(self.gold, self._of_gold, sentence),
            "t": [self._system(system, row, sentence) for system in self.banks],
        }

    def _system(self, system: str, row: int, sentence: int) -> dict[str, Any]:
        found, bank = self.marks[system], self.banks[system]
        pair = found.pair
        of_gold, of_test = (_rows(brackets, row) for brackets in (pair.gold, pair.test))
        gold_marks, test_marks = found.gold[of_gold], found.test[of_test]
        document: dict[str, Any] = {
            "g": _codes(pair.gold, of_gold, gold_marks),
            "c": [int((gold_marks == 0).sum()), len(gold_marks), len(test_marks), int((test_marks == 3).sum())],
        }
        if kinds := self._kinds.get(system, {}).get(sentence):
            document["k"] = kinds
        partner = int(pair.alignment.test[sentence])
        if partner < 0 or pair.alignment.fit[sentence] > Fit.EDITED:
            note = self._notes[system].get(sentence)
            return document | {"x": note.what if note else "no parse"}
        tree = self._tree(bank, self._of_system[system], partner)
        if tree["w"] == self.gold.words(sentence):
            del tree["w"]
        return document | tree | {"m": _codes(pair.test, of_test, test_marks)}

    def _tree(self, bank: Treebank, numbers: Int64, index: int) -> dict[str, Any]:
        nodes = slice(bank.node_offset[index], bank.node_offset[index + 1])
        tokens = slice(bank.token_offset[index], bank.token_offset[index + 1])
        tree: dict[str, Any] = {
            "l": numbers[bank.label[nodes]].tolist(),
            # The root's -1 goes without saying.
            "p": bank.parent[nodes][1:].tolist(),
            "a": bank.above[tokens].tolist(),
            "w": bank.words(index),
        }
        self.characters.update(*tree["w"])
        empty = np.flatnonzero(bank.start[nodes] == bank.end[nodes])
        if len(empty):
            tree["e"] = dict(zip(empty.tolist(), bank.start[nodes][empty].tolist(), strict=True))
        return tree


def _rows(brackets: Brackets, row: int) -> slice:
    return slice(int(brackets.offset[row]), int(brackets.offset[row + 1]))


def _codes(brackets: Brackets, rows: slice, marks: NDArray[np.int8]) -> str:
    """The marks of a tree, one character per node up to the last that counts."""
    nodes: list[int] = brackets.node[rows].tolist()
    codes = [" "] * (max(nodes, default=-1) + 1)
    numbers: list[int] = marks.tolist()
    for node, number in zip(nodes, numbers, strict=True):
        codes[node] = CODES[number]
    return "".join(codes)


MOST_SENTENCES = 2000
"""The number of sentences in a report by default."""

_MAIN, _FRAGMENTS, _OF_GAPS = "parseval", "freval", "discontinuous"
"""The metrics whose brackets, and whose fragments, are shown; that which stands for fragments where trees have gaps."""
_BREAKDOWNS = ("labels", "confusions", "lengths", "crossings", "errors")
_BY_GAPS = ("fan-outs", "gap-degrees")
"""The breakdowns that only discontinuous trees have."""
_OF_SPANS = "errors"
"""The breakdown that discontinuous trees do not have."""


@dataclass(frozen=True)
class Fragments:
    """A system's FREVAL: its rates by range of sizes, and the scores of each size."""

    rates: Mapping[str, float]
    sizes: tuple[SizeScore, ...]


@dataclass(frozen=True)
class Report:
    """The findings: the comparison, breakdowns and fragments (none on discontinuous trees) by system, the sentences that differ.

    ``title`` heads the page, ``gold_name`` names the treebank; ``checked`` are tables of a human check, if there was one. Where
    only scores are at hand, there are no trees, marks and breakdowns, and ``left_out`` says what is missing for want of them.
    ``parse_base`` is the table of a grammar's Parse Base, if one was given. Of a large treebank ``gold``, ``banks`` and ``marks``
    have only the sentences that are shown; ``numbers`` are those of these sentences (from 0), in order.
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
    left_out: str = ""
    kept_notes: Mapping[str, Sequence[Note]] = field(default_factory=dict[str, Sequence[Note]], repr=False)
    parse_base: Table | None = None
    numbers: tuple[int, ...] | None = field(default=None, repr=False)

    @property
    def systems(self) -> tuple[str, ...]:
        return self.comparison.systems

    @property
    def notes(self) -> list[tuple[str, Note]]:
        """The notes on single sentences, and the remarks on all of them together, by system."""
        of_systems = self.kept_notes or {
            system: notes_with_remarks(found.pair.alignment.notes, self.gold, self.banks[system])
            for system, found in self.marks.items()
        }
        return [(system, note) for system, notes in of_systems.items() for note in notes]

    def number_of(self, sentence: int) -> int:
        """The number in the treebank (from 1) of a sentence of ``gold``."""
        return 1 + (sentence if self.numbers is None else self.numbers[sentence])

    def tables(self) -> list[Table]:
        """All tables of the report, for Markdown or LaTeX."""
        from treegauge.reports.report_contents import all_tables

        return all_tables(self)

    def html(self) -> str:
        """The report as one page that needs nothing else."""
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

    ``judgements`` are a person's, by system, and ``checked`` the tables they make; ``most`` limits the sentences that are kept with
    their trees. The other arguments are those of :func:`treegauge.compare`.

    >>> found = report("(S (NP (N a)) (VP (V b)))", {"flat": "(S (N a) (V b))"}, CompareOptions(rounds=10))
    >>> found.systems, found.sentences.differing
    (('flat',), 1)
    """
    options = options or CompareOptions()
    systems = systems_by_name(gold, systems)
    if not systems:
        raise UsageError("a report needs at least one system")
    gaps = any(holds_gaps(side, reading) for side in (gold, *systems.values()))
    # Sentences that are left out for one system are left out for all, which is known only when all are scored.
    few = options.on_mismatch != "skip" and not gaps and not judgements and are_large(gold, *systems.values())
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
    """The options with the metrics that a report shows; on discontinuous trees there are no fragments."""
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

    Scores that were read back name the files of their trees, which are read again: other trees than were scored are a
    :class:`~treegauge.errors.MismatchError`. Where a file is not there, the report has no breakdowns and no trees, and says so.
    """
    options = options or CompareOptions()
    by_system = {result.system: result for result in _by_metric(scores, _MAIN)}
    gaps = any(result.metric == _OF_GAPS for result in scores) and not any(result.metric == _FRAGMENTS for result in scores)
    fragments = {} if gaps else {result.system: _fragments(result) for result in _by_metric(scores, _FRAGMENTS)}
    reasons = [reason for result in by_system.values() if (reason := missing_trees(result))]
    if reasons:
        comparison = compare_scores(scores, options, progress=progress)
        return _without_trees(title, gold_name, by_system, comparison, fragments, tuple(checked), reasons[0])
    if all(result.trees is None and result.breakdowns.keys() >= {*_BREAKDOWNS} for result in by_system.values()):
        comparison = compare_scores(scores, options, progress=progress)
        return _with_few_trees(title, gold_name, by_system, comparison, fragments, tuple(checked), most)
    main = {system: rescore(result) for system, result in by_system.items()}
    with ThreadPoolExecutor(1) as pool, _Stoppable(progress) as watched:
        # Resampling is NumPy's work, which lets the other thread look for kinds of error meanwhile.
        comparing = pool.submit(compare_scores, scores, options, progress=watched)
        kept = common_sentences(scores, options.on_mismatch)
        pairs = {system: restricted(pair_behind(result), kept) for system, result in main.items()}
        banks = {system: Treebank.concatenate(list(result.scored_trees.test)) for system, result in main.items()}
        gold = Treebank.concatenate(list(next(iter(main.values())).scored_trees.gold))
        marks = {system: mark_brackets(pair) for system, pair in pairs.items()}
        gaps = not all(bank.is_continuous for bank in (gold, *banks.values()))
        names = (*_BREAKDOWNS, *(_BY_GAPS if gaps else ()))
        broken_down = {name: {} if gaps and name == _OF_SPANS else pairs for name in names}
        breakdowns = {name: {s: BREAKDOWNS[name](pair) for s, pair in found.items()} for name, found in broken_down.items()}
        sentences = find_sentences(gold, banks, marks, breakdowns["errors"], most=most)
        comparison = comparing.result()
    preset = next(iter(pairs.values())).preset
    return Report(title, gold_name, gold, banks, preset, comparison, breakdowns, fragments, marks, sentences, tuple(checked))


def _with_few_trees(
    title: str,
    gold_name: str,
    scores: Mapping[str, Result],
    comparison: Comparison,
    fragments: Mapping[str, Fragments],
    checked: tuple[Table, ...],
    most: int,
) -> Report:
    """The report of a large treebank that was broken down while it was scored: only the trees that are shown are read again."""
    first = next(iter(scores.values()))
    order = rank_sentences(np.stack([wrong_brackets(result) for result in scores.values()]))
    length = first.scored_sentences.length
    examples = [example_sentences(result.breakdowns["errors"], length) for result in scores.values()]
    numbers = sorted({*order[:most], *(sentence for of_system in examples for sentence in of_system)})
    again = {system: rescore(result, numbers) for system, result in scores.items()}
    gold = Treebank.concatenate(list(next(iter(again.values())).scored_trees.gold))
    banks = {system: Treebank.concatenate(list(result.scored_trees.test)) for system, result in again.items()}
    marks = {system: mark_brackets(pair_behind(result)) for system, result in again.items()}
    # All kinds of error that there are, and where they are in the sentences that are shown.
    errors = {
        system: replace(result.breakdowns["errors"], places=BREAKDOWNS["errors"](marks[system].pair).places)
        for system, result in scores.items()
    }
    found = find_sentences(gold, banks, marks, errors, most=most, numbers=numbers)
    breakdowns = {name: {system: result.breakdowns[name] for system, result in scores.items()} for name in _BREAKDOWNS}
    breakdowns["errors"] = {
        system: examples_among(result.breakdowns["errors"], length, numbers) for system, result in scores.items()
    }
    return Report(
        title,
        gold_name,
        gold,
        banks,
        first.signature.preset,
        comparison,
        breakdowns,
        fragments,
        marks,
        replace(found, differing=len(order), compared=len(first.scored_sentences.compact_rows)),
        checked,
        kept_notes={system: _notes_on_trees(result) for system, result in scores.items()},
        numbers=tuple(numbers),
    )


def _notes_on_trees(result: Result) -> list[Note]:
    """The notes of a result without those on its preset and on EVALB."""
    return [note for note in result.notes if note.kind not in ("punctuation", "evalb")]


def _without_trees(
    title: str,
    gold_name: str,
    scores: Mapping[str, Result],
    comparison: Comparison,
    fragments: Mapping[str, Fragments],
    checked: tuple[Table, ...],
    reason: str,
) -> Report:
    """The report of scores alone, which says why there are no trees and what is left out."""
    left_out = "the tables and figures by label, length, crossing and kind of error, and the trees, are left out"
    return Report(
        title,
        gold_name,
        gold=Treebank.from_trees([]),
        banks={},
        preset=next(iter(scores.values())).signature.preset,
        comparison=comparison,
        breakdowns={},
        fragments=fragments,
        marks={},
        sentences=DifferingSentences((), (), (), (), 0, 0),
        checked=checked,
        left_out=f"{reason}, so {left_out}.",
        kept_notes={system: result.notes for system, result in scores.items()},
    )


def _by_metric(scores: Sequence[Result], metric: str) -> list[Result]:
    found = [result for result in scores if result.metric == metric]
    if not found or {result.system for result in found} != {result.system for result in scores}:
        raise UsageError(f"a report needs scores of every system by {metric}: score with -m {metric}")
    return found


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
