"""Reports: scores, comparisons, breakdowns and differing trees of some parsers on one treebank, as a value for pages and tables.

A report shows at most some thousand sentences of a large treebank. Which ones is known only after scoring; then only their trees
are read again.

The sentences that parsers got wrong are compact data, from which the page draws trees. A tree is given by its columns, as in
:class:`~treegauge.trees.treebank.Treebank`: labels and parents of its nodes in pre-order, the node above each word, the words.
Marks are one character per node (:data:`~treegauge.reports.tree_diff.CODES`; a blank where a node does not count).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import PurePath
from typing import Any, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from treegauge import io
from treegauge.alignment.alignment import Fit, align_pairs
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.notes import Note, notes_with_remarks
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, without_traces
from treegauge.errors import MismatchError, UsageError, checked
from treegauge.io.reading import holds_gaps
from treegauge.io.sources import ReadOptions
from treegauge.io.writing import write_chunks
from treegauge.metrics.breakdowns import BREAKDOWNS, Breakdown
from treegauge.metrics.breakdowns.constituent_counts import PlaceArray
from treegauge.metrics.freval import Freval, SizeScore
from treegauge.metrics.hogenhout import Judgements
from treegauge.metrics.registry import compared_metrics, find_metric
from treegauge.presets import Preset
from treegauge.reports.tree_diff import CODES, BracketMarks, mark_brackets
from treegauge.scoring.evaluation import score_systems
from treegauge.scoring.inputs import Request, TreebankLike, no_progress, path_of, runs_of
from treegauge.scoring.result import Result
from treegauge.significance.comparison import Comparison
from treegauge.significance.paired_comparison import comparable_scores, compare_scores, systems_by_name, with_settings
from treegauge.significance.resampling import Progress
from treegauge.significance.score_table import CompareOptions, common_sentences
from treegauge.tables import Table, cut
from treegauge.trees.treebank import Int64, Treebank

READABLE = 12
"""The length, in words, of a sentence that makes a good example: long enough to be telling, short enough to be read at a glance."""
MOST_CANDIDATES = 12
"""The number of sentences among which the examples of a kind of error are chosen."""
LARGE_BYTES = 32 << 20
"""Files of more bytes than these together count as large: only the trees that are shown are kept."""


def are_large(*sides: TreebankLike) -> bool:
    """Whether the trees are in files so large that they should not all be kept in memory."""
    paths = [path_of(side) for side in sides]
    if not all(path is not None and os.path.isfile(path) for path in paths):
        return False
    return sum(os.path.getsize(path) for path in {*paths} if path is not None) > LARGE_BYTES


def may_hold_few(results: Iterable[Result]) -> bool:
    """Whether results without trees are of files so large that only the trees that are shown should be read again.

    Breakdowns of trees with gaps, and files that are several to a treebank, are for those who hold all trees.
    """
    every = list(results)
    sides = [(*result.inputs.gold, *result.inputs.test) for result in every if result.inputs is not None]
    if any(result.trees is not None for result in every) or any(len(paths) != 2 for paths in sides) or len(sides) < len(every):
        return False
    paths = {path for pair in sides for path in pair}
    return are_large(*paths) and not any(holds_gaps(path, reading_of(every[0])) for path in paths)


def rescore(result: Result, only: Sequence[int] | None = None) -> Result:
    """The result with its trees or, if ``only`` is given, with the trees of these gold sentences.

    Trees that were not kept are read from the files that the result names; if these have changed, a
    :class:`~treegauge.errors.MismatchError` is raised.
    """
    return result if result.trees is not None else _score_again(result, only=None if only is None else tuple(only))


def break_down(result: Result, names: Sequence[str], sentences: Int64) -> Result:
    """The result with breakdowns of some gold sentences, one place behind each key; its trees are read again, and not kept.

    A result that has these breakdowns already, and was scored on no other sentences, stays as it is.
    """
    if result.breakdowns.keys() >= {*names} and len(result.scored_sentences.index) == len(sentences):
        return result
    again = _score_again(result, trees=False, places=False, breakdowns=tuple(names), thinned=best_places, among=sentences)
    return replace(result, breakdowns=again.breakdowns)


class _RequestOptions(TypedDict, total=False):
    """The options of a :class:`~treegauge.scoring.inputs.Request` that a second look at the same trees may choose."""

    only: tuple[int, ...] | None
    trees: bool
    places: bool
    breakdowns: tuple[str, ...]
    thinned: Callable[[Breakdown, Pair], Breakdown] | None
    among: Int64 | None


def reading_of(result: Result) -> ReadOptions:
    """The options with which the files behind a result were read."""
    said: Mapping[str, Any] = {} if result.inputs is None else result.inputs.reading
    return ReadOptions(**{item.name: said[item.name] for item in fields(ReadOptions) if item.name in said})


def _score_again(result: Result, **options: Unpack[_RequestOptions]) -> Result:
    """The same score from the files that the result names, which must hold the same trees."""
    inputs, reading = result.inputs, reading_of(result)
    if inputs is None:
        raise UsageError(f"{result.system}: {missing_trees(result)}; give the trees")
    signature = result.signature
    metric = find_metric(result.metric) if result.definition is None else result.definition
    request = Request(
        (metric,),
        signature.preset,
        on_mismatch=signature.on_mismatch,
        match_words=signature.match_words,
        on_error=reading.on_error,
        pair="text",
        names=(result.metric,),
        reading=reading,
        **options,
    )
    trees = {result.system: _trees(inputs.test, reading)}
    (again,) = score_systems(_trees(inputs.gold, reading.of_gold), trees, request)
    for side, path, before, now in (
        ("gold", inputs.gold[0], signature.gold, again.signature.gold),
        ("test", inputs.test[0], signature.test, again.signature.test),
    ):
        if before != now:
            raise MismatchError(f"{path} has changed since it was scored: the hash of the {side} trees was {before} and is {now}")
    return again


def missing_trees(result: Result) -> str:
    """The reason why the trees of a result are not available; empty if they are."""
    if result.trees is not None:
        return ""
    if result.inputs is None:
        return "the scores are of trees in memory, which cannot be read again"
    absent = [path for path in (*result.inputs.gold, *result.inputs.test) if not os.path.exists(path)]
    return f"{absent[0]} is not there" if absent else ""


def _trees(paths: Sequence[str], reading: ReadOptions) -> str | Treebank:
    """A single file by its name, so that it is read just as when it was scored; several files as one treebank."""
    return paths[0] if len(paths) == 1 else Treebank.concatenate([io.read(path, reading) for path in paths])


def pair_behind(result: Result) -> Pair:
    """The brackets that a result was counted from, as one pair of all sentences."""
    trees, signature = result.scored_trees, result.signature
    preset = signature.preset
    whole = Treebank.concatenate(list(trees.gold)), Treebank.concatenate(list(trees.test))
    gold, test = (without_traces(bank, preset) for bank in whole)
    words, edit = WordNumbers(preset, signature.match_words), signature.on_mismatch == "edit"
    alignment = align_pairs(gold, test, trees.partner, preset, words, edit=edit, with_traces=whole)
    return pair_of(gold, test, alignment, preset, words, on_mismatch="skip" if signature.on_mismatch == "skip" else "align")


def wrong_brackets(result: Result, kept: Int64) -> Int64:
    """The number of wrong brackets of each sentence ``kept``, those missed and those in excess, from PARSEVAL's rows."""
    rows = result.scored_sentences.rows
    gold, test, matched = (rows[:, result.columns.index(name)].astype(np.int64) for name in ("gold", "test", "matched"))
    wrong = gold + test - 2 * matched
    return wrong if len(wrong) == len(kept) else wrong[np.isin(result.scored_sentences.index, kept)]


def best_places(breakdown: Breakdown, pair: Pair) -> Breakdown:
    """The breakdown with the places of :func:`candidates` alone."""
    length = np.zeros(len(pair.alignment.test), dtype=np.int64)
    length[pair.index] = pair.gold.length
    return replace(breakdown, places={key: candidates(of_key, length) for key, of_key in breakdown.places.items()})


def candidates(places: Sequence[PlaceArray], length: Int64) -> tuple[PlaceArray, ...]:
    """Places that make good examples, one a sentence: those in the sentences whose lengths are nearest to :data:`READABLE`."""
    found: list[tuple[int, int, PlaceArray]] = []
    for some in places:
        sentences, first = np.unique(some.rows[:, 0], return_index=True)
        distance = np.abs(length[sentences] - READABLE)
        for at in np.lexsort((sentences, distance))[:MOST_CANDIDATES].tolist():
            row = int(first[at])
            found.append((int(distance[at]), int(sentences[at]), PlaceArray(some.rows[row : row + 1], some.labels)))
    return tuple(place for *_, place in sorted(found, key=lambda one: one[:2])[:MOST_CANDIDATES])


def example_sentences(breakdown: Breakdown, length: Int64) -> set[int]:
    """The sentences of the candidates for examples of each key."""
    return {int(place.rows[0, 0]) for of_key in breakdown.places.values() for place in candidates(of_key, length)}


_MOST_BYTES = 3_600_000


@dataclass(frozen=True)
class DifferingSentences:
    """Sentences with a wrong bracket; those on which the systems differ most come first.

    ``documents`` are the sentences as JSON, and ``rows`` their rows in the compared pairs; ``labels`` and ``kinds`` (of error) are
    what the numbers in the documents stand for. ``differing`` counts all such sentences, ``compared`` all that were compared.
    ``characters`` are those of all words, whose widths the page needs.
    """

    labels: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    differing: int = 0
    compared: int = 0
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

    ``banks``, ``marks`` and ``errors`` (the breakdown by kind of error) are given by system. If ``gold`` holds only some sentences
    of a treebank, ``numbers`` are their numbers in it, counted from 0.
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
    """The sentences with wrong brackets: those on which the systems are furthest apart first, and among equals the worst first.

    ``wrong`` is the number of wrong brackets, a row per system and a column per sentence.

    >>> rank_sentences(np.array([[0, 2, 5, 1], [0, 6, 5, 0]]))
    [1, 3, 2]
    """
    spread: Int64 = wrong.max(axis=0) - wrong.min(axis=0)
    total: Int64 = wrong.sum(axis=0)
    # The sort is stable: ties stay in the order of the treebank.
    order = np.lexsort((-total, -spread))
    return order[total[order] > 0].tolist()


class _SentenceEncoder:
    """An encoder that makes a JSON document of each sentence; labels are numbered in the order of their first use."""

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
        self._of_gold = self._label_numbers(gold)
        self._of_system = {system: self._label_numbers(bank) for system, bank in banks.items()}
        self._kinds = {system: self._kinds_of(found) for system, found in errors.items()}
        self._notes = {system: {note.sentence: note for note in found.pair.alignment.notes} for system, found in marks.items()}

    def _label_numbers(self, bank: Treebank) -> Int64:
        """The report's number of each label of a treebank."""
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
        """The document of a row of the pairs: number, place, gold tree, and what each system made of it."""
        first = next(iter(self.marks.values())).pair
        sentence = int(first.index[row])
        return {
            "n": self.numbers[sentence] + 1,
            "p": PurePath(self.gold.place(sentence)).name,
            "g": self._tree(self.gold, self._of_gold, sentence),
            "t": [self._system(system, row, sentence) for system in self.banks],
        }

    def _system(self, system: str, row: int, sentence: int) -> dict[str, Any]:
        found, bank = self.marks[system], self.banks[system]
        pair = found.pair
        of_gold, of_test = (slice(*brackets.offset[row : row + 2].tolist()) for brackets in (pair.gold, pair.test))
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
            # The first parent is left out: it is always the root's -1.
            "p": bank.parent[nodes][1:].tolist(),
            "a": bank.above[tokens].tolist(),
            "w": bank.words(index),
        }
        self.characters.update(*tree["w"])
        empty = np.flatnonzero(bank.start[nodes] == bank.end[nodes])
        if len(empty):
            tree["e"] = dict(zip(empty.tolist(), bank.start[nodes][empty].tolist(), strict=True))
        return tree


def _codes(brackets: Brackets, rows: slice, marks: NDArray[np.int8]) -> str:
    """The marks of a tree, one character per node, up to the last node that counts."""
    nodes: list[int] = brackets.node[rows].tolist()
    codes = [" "] * (max(nodes, default=-1) + 1)
    numbers: list[int] = marks.tolist()
    for node, number in zip(nodes, numbers, strict=True):
        codes[node] = CODES[number]
    return "".join(codes)


MOST_SENTENCES = 2000
"""The largest number of sentences shown in a report, unless another is given."""

_MAIN = "parseval"
"""The metric whose brackets are shown and broken down."""
_FRAGMENTS, _DISCONTINUOUS = "freval", "discontinuous"
"""The metric of fragments, and the one that takes its place where trees have gaps."""
_BREAKDOWNS = ("labels", "confusions", "lengths", "crossings", "errors")
_BY_GAPS = ("fan-outs", "gap-degrees")
"""The breakdowns for discontinuous trees only."""
_NOT_OF_TREES = ("punctuation", "evalb")
"""The kinds of notes that are not about trees."""
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
    fields are empty, and ``left_out`` tells the reader what is missing and why. A ``full`` report is printed with everything that
    the screen shows behind lines that open.
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
    full: bool = False

    def __repr__(self) -> str:
        return cut(f"<Report {self.title!r} on {', '.join(self.systems)}>")

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.comparison.systems

    @property
    def notes(self) -> list[tuple[str, Note]]:
        """The notes on single sentences and the remarks on all of them together, each with the name of its system."""
        of_systems = self.kept_notes or {
            system: notes_with_remarks(found.pair, self.gold, self.banks[system]) for system, found in self.marks.items()
        }
        return [(system, note) for system, notes in of_systems.items() for note in notes]

    def number_of(self, sentence: int) -> int:
        """The number in the treebank, counted from 1, of a sentence of ``gold``."""
        return 1 + (sentence if self.numbers is None else self.numbers[sentence])

    def tables(self) -> list[Table]:
        """All tables of the report, for Markdown or LaTeX."""
        from treegauge.reports.report_contents import section_tables

        return [table for tables in section_tables(self).values() for table in tables]

    def _repr_html_(self) -> str:
        return "".join(table.as_html() for table in self.tables())

    def html(self) -> str:
        """The report as one HTML page without external files."""
        from treegauge.reports.html import report_page

        return report_page(self)

    def write(self, path: str) -> None:
        """Write the page to a file, or to standard output if the path is ``-``."""
        write_chunks([self.html().encode("utf-8", "replace")], path)


@checked(CompareOptions, ReadOptions)
def report(
    gold: TreebankLike,
    systems: Mapping[str, TreebankLike] | Sequence[TreebankLike],
    options: CompareOptions | None = None,
    *,
    metric: str | Sequence[str] = (),
    reading: ReadOptions = ReadOptions(),
    title: str = "Parser report",
    gold_name: str = "gold",
    judgements: Mapping[str, Judgements] | None = None,
    checked: Sequence[Table] = (),
    most: int = MOST_SENTENCES,
    progress: Progress = no_progress,
    **settings: Any,
) -> Report:
    """Score and compare one or more systems by every metric, and find the sentences that differ most.

    ``judgements`` are the verdicts of a human check on each system's brackets, and ``checked`` its tables; at most ``most``
    sentences are shown with their trees. The other arguments are those of :func:`treegauge.compare`.

    >>> found = report("(S (NP (N a)) (VP (V b)))", {"flat": "(S (N a) (V b))"}, rounds=10)
    >>> found.systems, found.sentences.differing
    (('flat',), 1)
    """
    options, reading = with_settings("report", options or CompareOptions(), reading, metric, settings)
    runs = {name: list(runs_of(trees).values()) for name, trees in systems_by_name(gold, systems).items()}
    for name in (name for name, of_system in runs.items() if len(of_system) > 1):
        raise UsageError(f"{name}: the trees of one run are shown; give one file per system, or use treegauge.compare")
    systems = {name: of_system[0] for name, of_system in runs.items()}
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
    breakdowns = {name: {system: result.breakdowns[name] for system, result in scores.items()} for name in _BREAKDOWNS}
    # All kinds of error that were found, with their places in the sentences read again, among which are those for examples.
    breakdowns["errors"] = {
        system: replace(found, places=BREAKDOWNS["errors"](marks[system].pair).places)
        for system, found in breakdowns["errors"].items()
    }
    sentences = find_sentences(gold, banks, marks, breakdowns["errors"], most=most, numbers=numbers)
    return replace(
        report,
        gold=gold,
        banks=banks,
        breakdowns=breakdowns,
        marks=marks,
        sentences=replace(sentences, differing=len(order), compared=len(kept)),
        numbers=tuple(numbers),
        kept_notes={system: [note for note in result.notes if note.kind not in _NOT_OF_TREES] for system, result in scores.items()},
    )


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
