"""Running totals of one system: rows are added block by block, with notes about single sentences.

Gold and test files are read in parallel as long as test sentence i is a parse of gold sentence i. If it is not, the test file may
have blank lines for failed parses, so it is read again line by line. If that does not help either, because sentences are missing or
repeated, both files are read whole and paired by text, which is impossible for a stream.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from treegauge.alignment.alignment import Fit, align_pairs, differing_texts, is_displaced, pairs_by_text
from treegauge.alignment.brackets import sentence_lengths
from treegauge.alignment.notes import LabelUse, Note, remarks_on_parses, with_advice
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, without_traces
from treegauge.engines import IN_PROCESS, SentenceBlock
from treegauge.errors import Discontinuous, InputError, MismatchError, WriteError
from treegauge.io.bracketed import treebank_of_texts
from treegauge.io.reading import may_hold_trees
from treegauge.metrics.metric import ExactSum, Metric, Rows
from treegauge.presets import EvalbFile, Preset
from treegauge.scoring.evalb_view import AlignedBlock, EvalbOutcome, EvalbRows, evalb_rows, evalb_verdicts
from treegauge.scoring.inputs import Request, Trees, no_progress
from treegauge.scoring.result import Sentences, join_blocks
from treegauge.tables import number_of
from treegauge.trees.columns import TreebankHash
from treegauge.trees.treebank import Int64, Treebank

if TYPE_CHECKING:
    from treegauge.metrics.breakdowns import Breakdown


class NotParallel(Exception):
    """Test sentence i is not a parse of gold sentence i, or one side has more sentences."""


class MetricCounts:
    """The sum of a metric's rows, the sum over short sentences, and, if they are kept, the rows themselves.

    ``preset`` is the preset of the signature, ``pairing_preset`` the one by which trees are paired for this metric. Rows are kept
    in blocks of sentences, whose places are kept for all metrics together.
    """

    def __init__(self, metric: Metric, preset: Preset) -> None:
        self.metric, self.preset, self.pairing_preset = metric, preset, metric.preset_for(preset)
        self.total, self.short = ExactSum(len(metric.columns)), ExactSum(len(metric.columns))
        self.n_total = self.n_short = 0
        self.kept: list[Sentences] = []

    def add(self, rows: Rows, length: Int64) -> None:
        """Add the rows of some sentences, given their lengths."""
        is_short = length <= self.preset.cutoff_length
        self.total.add(rows)
        self.short.add(rows[is_short])
        self.n_total += len(rows)
        self.n_short += int(is_short.sum())

    def sentences(self, places: Sequence[str], evalb_status: Sequence[Int64] = ()) -> Sentences:
        """The rows that were kept, with the place of each gold sentence and, if EVALB was asked, its status of each."""
        reproduced = [block.reproduced for block in self.kept if block.reproduced is not None]
        return Sentences(
            rows=np.concatenate([block.rows for block in self.kept] or [np.zeros((0, len(self.metric.columns)))]),
            index=join_blocks([block.index for block in self.kept]),
            length=join_blocks([block.length for block in self.kept]),
            status=join_blocks([block.status for block in self.kept]),
            places=places,
            evalb=join_blocks(evalb_status) if evalb_status else None,
            reproduced=np.concatenate(reproduced) if reproduced else None,
        )

    def __getstate__(self) -> dict[str, Any]:
        """The state that is sent to other processes, without the metric, which the receiver has."""
        return {name: value for name, value in self.__dict__.items() if name not in ("metric", "preset", "pairing_preset")}

    def merge(self, other: MetricCounts) -> None:
        self.total.merge(other.total)
        self.short.merge(other.short)
        self.n_total += other.n_total
        self.n_short += other.n_short
        self.kept += other.kept


def _narrow(rows: Rows) -> Rows:
    """The rows, with 32 bits for integers that fit."""
    fits = rows.dtype == np.int64 and max(int(rows.max(initial=0)), -int(rows.min(initial=0))) <= np.iinfo(np.int32).max
    return rows.astype(np.int32) if fits else rows


class SystemCounts:
    """The counts of one system, from gold sentence ``first`` on.

    ``preset`` is that of the first metric, which also decides about notes and breakdowns. ``texts`` are pairs of different texts,
    of gold and test sentences in the same position. ``evalb`` is what EVALB would print, ``gap`` the place of a tree with a gap,
    which EVALB could not read. If the request keeps them: EVALB's status and the place of each gold sentence, and the trees with
    the number of the test sentence of each gold sentence (-1: none).
    """

    def __init__(self, request: Request, first: int = 0) -> None:
        self.request, self.first = request, first
        self.n_gold = self.n_test = 0
        self.of_metrics = [MetricCounts(metric, request.preset_of(metric)) for metric in request.metrics]
        self.preset = self.of_metrics[0].preset
        self._words = {
            counts.pairing_preset.equal_words: WordNumbers(counts.pairing_preset, request.match_words) for counts in self.of_metrics
        }
        self.notes: list[Note] = []
        self.repairs: Counter[str] = Counter()
        self.labels = LabelUse(), LabelUse()
        self.texts: list[tuple[str, str]] = []
        self.gold: list[Treebank] = []
        self.test: list[Treebank] = []
        self.partner: list[Int64] = []
        self.places: list[str] = []
        self.breakdowns: dict[str, Breakdown] = {}
        file = _evalb_file(request)
        self.evalb = None if file is None else EvalbOutcome(file.name, max_error=file.parameters.max_error)
        self.gap: str | None = None
        self.evalb_status: list[Int64] = []
        self._like_evalb = next((counts for counts in self.of_metrics if counts.metric.compared_with_evalb), None)

    def add(self, gold: Treebank, test: Treebank, pairs: Int64, *, in_step: bool = False) -> None:
        """Count a block: gold sentence i against test sentence ``pairs[i]`` (-1: none).

        With ``in_step``, NotParallel is raised if the text of a gold sentence occurs at another position of the test trees.
        """
        first = self.first + self.n_gold
        if self.request.on_mismatch == "evalb":
            self._add_as_evalb(evalb_rows(gold, test, self.preset), first)
        else:
            self._add_aligned(gold, test, pairs, first, in_step)
        self._keep_block(gold, test, pairs, first)
        self.n_gold += len(gold)
        self.n_test += len(test)
        for use, bank in zip(self.labels, (gold, test), strict=True):
            use.add(bank.labels, bank, bank.node_offset)
        for problem in test.problems().values():
            self.repairs.update(problem.repairs)
        self.request.progress(len(gold))

    def read_bare(self, gold: Treebank, test: Treebank) -> Treebank:
        """The parses, of which those are read as brackets without labels, ``((the cat) sat)``, that have the words of gold only so.

        Read as labelled trees they lack words, which are their labels. Each sentence is decided by itself.
        """
        request, reading = self.request, replace(self.request.test_reading, format="brackets", on_error="parse-fails")
        if request.reading.format == "bracketed" or request.match_words == "length" or request.on_mismatch == "evalb":
            return test
        n_gold, n_test, n_nodes = (np.diff(offset) for offset in (gold.token_offset, test.token_offset, test.node_offset))
        chosen = np.flatnonzero((n_test < n_gold) & (n_test + n_nodes < 2 * n_gold)).tolist()
        if not chosen:
            return test
        problems = {i: problem.text for i, problem in test.problems().items() if not problem.repairs and b"(" in problem.text}
        unread = {i: text.decode("utf-8", "replace") for i, text in problems.items()}
        bare = replace(treebank_of_texts([unread.get(i) or str(test[i]) for i in chosen], "", reading), origins=())
        words, ours = self._words[self.preset.equal_words], without_traces(gold.take(chosen), self.preset)
        fits = align_pairs(ours, bare, np.arange(len(chosen)), self.preset, words).fit <= Fit.CHARACTERS
        order = np.arange(len(test))
        order[np.array(chosen)[fits]] = len(test) + np.flatnonzero(fits)
        return Treebank.concatenate([test, bare]).take(order) if fits.any() else test

    def add_block(self, block: SentenceBlock) -> None:
        """Count gold sentence i of a block against test sentence i; NotParallel as in :meth:`add`."""
        gold, test = block.sides
        self.add(gold, test, _pairs(block), in_step=True)

    def add_counted(self, counted: SystemCounts | None, block: SentenceBlock) -> None:
        """Add the counts of a block that a worker has counted; None, or texts in other places, raise NotParallel."""
        if counted is None or is_displaced([*self.texts, *counted.texts]):
            raise NotParallel
        gold, test = block.sides
        self._keep_block(gold, test, _pairs(block), block.first)
        self.merge(counted)
        self.request.progress(counted.n_gold)

    def _keep_block(self, gold: Treebank, test: Treebank, pairs: Int64, first: int) -> None:
        if self.request.keep and self.request.trees:
            self._keep_trees(gold, test, pairs, first)
        if self.request.keep and self.request.places:
            self.places += gold.places(first)

    def _keep_trees(self, gold: Treebank, test: Treebank, pairs: Int64, first: int) -> None:
        """Keep the trees of a block that begins at gold sentence ``first``, or those of them that the request wants."""
        if self.request.only is not None:
            wanted = np.array(self.request.only, dtype=np.int64)
            chosen = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + len(gold))] - first
            partners = pairs[chosen]
            gold, test = gold.take(chosen), test.take(partners[partners >= 0])
            pairs = np.where(partners < 0, -1, np.cumsum(partners >= 0) - 1)
        self.partner.append(np.where(pairs < 0, -1, pairs + sum(map(len, self.test))))
        self.gold.append(gold)
        self.test.append(test)

    def _add_aligned(self, gold: Treebank, test: Treebank, pairs: Int64, first: int, in_step: bool) -> None:
        main = self._aligned_block(gold, test, pairs, self.preset, in_step=in_step)
        prepared = {self.preset: main}
        for counts in self.of_metrics:
            if counts.pairing_preset not in prepared:
                prepared[counts.pairing_preset] = self._aligned_block(gold, test, pairs, counts.pairing_preset)
            block = prepared[counts.pairing_preset]
            rows, index = counts.metric.rows(block.pair), block.pair.index + first
            counts.add(rows, block.pair.gold.length)
            if self.request.keep:
                length = sentence_lengths(block.gold_words, counts.pairing_preset)
                reproduced = counts.metric.reproduced(block.pair)
                counts.kept.append(Sentences(_narrow(rows), index, length, _status(block.pair), (), None, reproduced))
            if self.evalb is not None and counts is self._like_evalb:
                self._add_verdicts(block, rows, self.evalb)
        self._break_down(main.pair, first)
        self._note(main.pair.alignment.notes, first)

    def _add_verdicts(self, block: AlignedBlock, rows: Rows, so_far: EvalbOutcome) -> None:
        file = block.pair.preset.parameters
        assert file is not None
        try:
            outcome, status = evalb_verdicts(block, rows, file)
        except (WriteError, Discontinuous) as error:
            # Trees of a format whose words may hold blanks, or trees with gaps: there is no file that EVALB could read.
            self.evalb = None
            if isinstance(error, Discontinuous):
                self.gap = _first_gap(block)
            return
        self.evalb = so_far + outcome
        if self.request.keep:
            self.evalb_status.append(status)

    def _aligned_block(
        self, gold: Treebank, test: Treebank, pairs: Int64, preset: Preset, *, in_step: bool = False
    ) -> AlignedBlock:
        request = self.request
        gold_words, test_words = without_traces(gold, preset), without_traces(test, preset)
        words = self._words[preset.equal_words]
        alignment = align_pairs(
            gold_words, test_words, pairs, preset, words, edit=request.on_mismatch == "edit", with_traces=(gold, test)
        )
        if in_step and (texts := differing_texts(gold_words, test_words, alignment, request.match_words)):
            self.texts += texts
            if is_displaced(self.texts):
                raise NotParallel
        # The message of "error" lists all sentences that do not match: the caller checks the notes at the end.
        on_mismatch = "skip" if request.on_mismatch == "skip" else "align"
        pair = pair_of(gold_words, test_words, alignment, preset, words, on_mismatch=on_mismatch)
        return AlignedBlock(gold, test, gold_words, test_words, replace(pair, first=self.first + self.n_gold), words)

    def _add_as_evalb(self, scored: EvalbRows, first: int) -> None:
        for counts in self.of_metrics:
            counts.add(scored.rows, scored.length[scored.index])
            if self.request.keep:
                counts.kept.append(Sentences(_narrow(scored.rows), scored.index + first, scored.length, scored.status, ()))
        self._note(scored.notes, first)

    def _break_down(self, pair: Pair, first: int) -> None:
        if self.request.breakdowns:
            from treegauge.metrics.breakdowns import breakdown

            if self.request.among is not None:
                low, high = np.searchsorted(self.request.among, [first, first + len(pair.alignment.test)]).tolist()
                pair = pair.only(self.request.among[low:high] - first)
            for name in self.request.breakdowns:
                counted = breakdown(name, pair)
                if self.request.thinned is not None:
                    counted = self.request.thinned(counted, pair)
                self.breakdowns[name] = self.breakdowns[name] + counted if name in self.breakdowns else counted

    def _note(self, notes: Sequence[Note], first: int) -> None:
        self.notes += [note if note.sentence < 0 else note._replace(sentence=note.sentence + first) for note in notes]

    def all_notes(self) -> tuple[Note, ...]:
        """The notes on sentences, and the remarks on all of them together."""
        return (*self.notes, *remarks_on_parses(self.notes, self.n_gold, *self.labels, self.preset))

    def __getstate__(self) -> dict[str, Any]:
        """The state that is sent to other processes, without the request and the layouts of breakdowns, which the receiver has."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("request", "preset", "_words", "_like_evalb")}
        return state | {"breakdowns": {name: (b.counts, b.places, b.sentences) for name, b in self.breakdowns.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.breakdowns:
            from treegauge.metrics.breakdowns import breakdown_from_counts

            self.breakdowns = {name: breakdown_from_counts(name, *counted) for name, counted in state["breakdowns"].items()}

    def merge(self, other: SystemCounts) -> None:
        """Add the counts of the sentences that follow."""
        for ours, theirs in zip(self.of_metrics, other.of_metrics, strict=True):
            ours.merge(theirs)
        n_kept = sum(map(len, self.test))
        self.partner += [np.where(partner < 0, -1, partner + n_kept) for partner in other.partner]
        self.n_gold += other.n_gold
        self.n_test += other.n_test
        self.notes += other.notes
        self.texts += other.texts
        self.repairs += other.repairs
        for ours, theirs in zip(self.labels, other.labels, strict=True):
            ours.merge(theirs)
        self.gold += other.gold
        self.test += other.test
        self.places += other.places
        self.evalb_status += other.evalb_status
        for name, counted in other.breakdowns.items():
            self.breakdowns[name] = self.breakdowns[name] + counted if name in self.breakdowns else counted
        self.evalb = None if self.evalb is None or other.evalb is None else self.evalb + other.evalb
        self.gap = self.gap or other.gap


def _pairs(block: SentenceBlock) -> Int64:
    gold, test = block.sides
    return np.arange(len(gold)) if len(test) else np.full(len(gold), -1, dtype=np.int64)


def _first_gap(block: AlignedBlock) -> str:
    """The place of the first tree with a gap."""
    places = (bank.place(i) for bank in (block.gold, block.test) for i in range(len(bank)) if not bank[i].is_continuous)
    return next(places, "")


def _evalb_file(request: Request) -> EvalbFile | None:
    """The parameter file by which to compute EVALB's result, if it is computed beside ours."""
    metric = next((metric for metric in request.metrics if metric.compared_with_evalb), None)
    if metric is None or request.on_mismatch == "evalb" or request.match_words == "length":
        return None
    preset = request.preset_of(metric)
    if preset.parameters is None:
        return None
    deleted = {label.decode("utf-8", "replace") for label in preset.parameters.parameters.delete_labels}
    return preset.parameters if preset.traces <= deleted else None


def _status(pair: Pair) -> Int64:
    fit = pair.alignment.fit
    status = np.where(fit == Fit.NO_PARSE, 2, 1)
    status[pair.index] = 0
    return status


_MOST_NOTES = 100


class HashedCounts(NamedTuple):
    """The counts of a system, and the hashes of gold and test."""

    counts: SystemCounts
    digests: tuple[str, str]


class Hasher:
    """The hashes of gold and test."""

    def __init__(self) -> None:
        self._hashes = TreebankHash(), TreebankHash()

    def add(self, gold: Treebank, test: Treebank) -> None:
        """Add a block of both sides."""
        for digest, block in zip(self._hashes, (gold, test), strict=True):
            digest.update(block)

    def mark(self) -> tuple[TreebankHash, TreebankHash]:
        """Both hashes as they are now, to return to."""
        return self._hashes[0].copy(), self._hashes[1].copy()

    def go_back(self, marks: tuple[TreebankHash, TreebankHash]) -> None:
        self._hashes = marks[0].copy(), marks[1].copy()

    def digests(self) -> tuple[str, str]:
        """The hashes of gold and test."""
        return self._hashes[0].hexdigest(), self._hashes[1].hexdigest()


def count_files(files: Sequence[tuple[Trees, Trees]], request: Request, hasher: Hasher) -> SystemCounts:
    """Count all files of a system, each against its gold file."""
    total = SystemCounts(request)
    for gold, test in files:
        counts = _count_file(gold, test, request, hasher, total.n_gold)
        is_other = not counts.labels[1].words and any(note.kind == "broken" for note in counts.notes)
        n_test = counts.n_test if not is_other or any(may_hold_trees(path, request.test_reading) for path in test.paths) else 0
        for side, trees, n_trees in (("gold", gold, counts.n_gold), ("test", test, n_test)):
            if not n_trees and (trees.paths or side == "gold"):
                where = f"in the {side} file" if trees.paths else f"in {side}"
                advice = f"Nothing was scored{'; leave this file out to score others' if side == 'test' else ''}."
                raise InputError(f"no trees {where}", path=trees.name, advice=advice)
        if len(test.paths) > max(len(gold.paths), 1) and counts.n_test > counts.n_gold:
            found = f"{counts.n_test:,} parses in {len(test.paths)} files for {number_of(counts.n_gold, 'gold sentence')}"
            raise MismatchError(f"{found}; nothing was scored\n{_RUNS}")
        total.merge(counts)
    check_fit(total)
    return total


_RUNS = "  Give one of the files, or several runs of a parser as a list of files or 'runs:GLOB'; in a command: NAME=runs:'GLOB'"
_PAIRING = '  Give a parse for each sentence, an empty one where there is none, or let them be paired by text (pair="text").'
"""Advice where a system has more files than gold, and where it has other sentences."""


def check_fit(counts: SystemCounts) -> None:
    """Refuse all sentences that do not match, in one error, if the request says so."""
    if counts.request.on_mismatch == "error" and counts.notes:
        raise MismatchError(_refusal(counts.notes, counts.all_notes()[len(counts.notes) :]))


def _refusal(notes: Sequence[Note], remarks: Sequence[Note]) -> str:
    lines = [f"gold and test do not match in {number_of(len(notes), 'sentence')}; nothing was scored:"]
    lines += [f"  {note.place}: {note.what}" for note in notes[:_MOST_NOTES]]
    lines += [f"  and {len(notes) - _MOST_NOTES:,} more"] if len(notes) > _MOST_NOTES else []
    return "\n".join([*lines, *(f"  {with_advice(remark)}" for remark in remarks)])


def _count_file(gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int) -> SystemCounts:
    marks = hasher.mark()
    once = not (gold.can_be_read_again and test.can_be_read_again)
    try:
        return _in_step(gold, test, request, hasher, first, may_end_apart=once)
    except NotParallel:
        hasher.go_back(marks)
    lines = test.line_by_line()
    if lines is not None and not once:
        try:
            return _in_step(gold, lines, request, hasher, first)
        except (NotParallel, InputError):
            hasher.go_back(marks)
        finally:
            lines.close()
    if request.keep and request.on_mismatch != "evalb":
        counts = _by_text(gold, test, request, hasher, first)
        if lines is not None and len(lines.whole()) != counts.n_test:
            counts.evalb, counts.evalb_status = None, []  # EVALB pairs lines, of which these trees are not one each.
        return counts
    try:
        if not once:
            return _in_step(gold, test, request, hasher, first, may_end_apart=True)
    except NotParallel:
        pass
    raise MismatchError(
        f"{gold.name} and {test.name} do not have the same sentences in the same order, so they cannot be streamed\n"
        "  Score them without streaming: then sentences are paired by their text."
    )


def _in_step(
    gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int, *, may_end_apart: bool = False
) -> SystemCounts:
    """Count gold sentence i against test sentence i, or raise NotParallel.

    With ``may_end_apart``, one side may have more sentences, provided that all before them match. Blocks are read here and counted
    on the engine; the blocks, and the order in which their counts are added, are the same on every engine.
    """
    counts, in_work, ends_apart = SystemCounts(request, first), deque[SentenceBlock](), False

    def blocks() -> Iterator[SentenceBlock]:
        nonlocal ends_apart
        with closing(_steps(gold.blocks(), test.blocks())) as steps:
            number = first
            for sides in steps:
                ends_apart = len(sides[0]) != len(sides[1])
                if ends_apart and not may_end_apart:
                    raise NotParallel
                sides = sides if ends_apart else (sides[0], counts.read_bare(*sides))
                hasher.add(*sides)
                yield SentenceBlock(number, sides)
                number += len(sides[0])

    def sent_blocks() -> Iterator[SentenceBlock]:
        for block in blocks():
            in_work.append(block)
            yield block

    if request.engine.in_process:
        for block in blocks():
            counts.add_block(block)
    else:
        small = replace(request, trees=False, places=False, progress=no_progress, engine=IN_PROCESS)
        for counted in request.engine.map(_count_block, small, sent_blocks(), title="scoring"):
            counts.add_counted(counted, in_work.popleft())
    if ends_apart and counts.texts and request.on_mismatch != "evalb":
        raise NotParallel
    return counts


def _count_block(request: Request, block: SentenceBlock) -> SystemCounts | None:
    """The counts of a block of sentences; None if test sentence i is not a parse of gold sentence i."""
    counts = SystemCounts(request, block.first)
    try:
        counts.add_block(block)
    except NotParallel:
        return None
    return counts


def _steps(gold: Iterator[Treebank], test: Iterator[Treebank]) -> Generator[tuple[Treebank, Treebank]]:
    """Blocks with the same number of trees on both sides; at the end, those that only one side has, beside an empty block."""
    nothing = Treebank.from_trees([])
    ours, theirs = nothing, nothing
    while True:
        if not len(ours):
            ours = next(gold, nothing)
        if not len(theirs):
            theirs = next(test, nothing)
        if not len(ours) and not len(theirs):
            return
        size = min(len(ours), len(theirs))
        if not size:
            yield ours, theirs
            ours = theirs = nothing
        else:
            yield ours[:size], theirs[:size]
            ours, theirs = ours[size:], theirs[size:]


def _by_text(gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int) -> SystemCounts:
    """Count each gold sentence against the test sentence with its text."""
    ours, theirs = gold.whole(), test.whole()
    if len(ours) != len(theirs) and request.pair != "text":
        sentences = f"{number_of(len(ours), 'gold sentence')} but {number_of(len(theirs), 'parse')}"
        raise MismatchError(
            f"there are {sentences}, so it is not clear which parse belongs to which sentence; nothing was scored\n"
            + '  Skip lines with # (comment="#").\n' * any("comment=" in each.reason for each in theirs.problems().values())
            + (_RUNS if len(test.paths) > max(len(gold.paths), 1) else _PAIRING)
        )
    hasher.add(ours, theirs)
    counts = SystemCounts(request, first)
    # Traces are not text: a parser's trees have none.
    gold_text, test_text = (without_traces(bank, counts.preset) for bank in (ours, theirs))
    counts.add(ours, theirs, pairs_by_text(gold_text, test_text, request.match_words))
    return counts
