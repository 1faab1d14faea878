"""Large files counted by kernels: both sides are scanned, hashed and counted at once, a block at a time.

The sentences that the kernel does not count, because words differ or EVALB has to be asked, are collected and given to the NumPy
code in batches. Whatever is not as usual ends the attempt, and all is counted by the NumPy code: files that are not parallel, or
cannot be read.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treegauge.alignment.remarks import TagUse
from treegauge.errors import InputError
from treegauge.io.bracketed import bracketed_parts
from treegauge.io.bracketed_columns import TreeColumns
from treegauge.io.formats import detect_format
from treegauge.io.scanning import ScannedNames, scanner
from treegauge.io.sources import ReadOptions, Source, Text
from treegauge.metrics.evalb import ERROR, SKIP, VALID
from treegauge.metrics.parseval import Parseval
from treegauge.metrics.plain import PlainCounter, PlainCounts, PresetRules, TreeSlice, counter, joined
from treegauge.presets import Preset, from_parameters
from treegauge.presets.treebanks import counted_punctuation
from treegauge.scoring.counts import HashedCounts, NotParallel, Request, SystemCounts
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.trees.bracketed import restore_label, restore_word
from treegauge.trees.columns import TreebankHash
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["count_plainly"]

_BATCH = 1 << 13
_ODD_BATCH = 1 << 11


def count_plainly(gold: str, test: str, request: Request, reading: ReadOptions) -> HashedCounts | None:
    """The counts of two files; None if they are not as the kernels want them."""
    evalb = _evalb_preset(request)
    if evalb is _UNFIT:
        return None
    scan, count = scanner(), counter()
    if scan is None or count is None:
        return None
    try:
        sides = _Side(gold, reading.of_gold, ScannedNames(scan)), _Side(test, reading, ScannedNames(scan))
        preset = request.preset_of(request.metrics[0])
        may_repair = evalb is not None and preset.parameters is not None and bool(preset.parameters.parameters.quote_labels)
        counted = PlainCounter(count, sides[0].names, sides[1].names, PresetRules(preset, evalb, may_repair=may_repair))
        return _FilePairCounter(sides, counted, replace(request, keep=False)).counts()
    except (InputError, NotParallel, _NotPlain):
        return None


class _NotPlain(Exception):
    """A file of another format, or with escaped brackets."""


_UNFIT = Preset("unfit")


def _evalb_preset(request: Request) -> Preset | None:
    """The preset of EVALB's parameter file, None if EVALB is not asked; ``_UNFIT`` where the kernel cannot count what is wanted."""
    metric = request.metrics[0]
    if len(request.metrics) > 1 or type(metric) is not Parseval or request.match_words != "exact" or request.breakdowns:
        return _UNFIT
    if request.on_mismatch in ("evalb", "edit") or (request.keep and request.sentences):
        return _UNFIT
    preset, plain = request.preset_of(metric), Preset()
    if preset.equal_words or metric.preset_for(preset) != preset or preset.delete_words or preset.delete_root_preterminals:
        return _UNFIT
    rules = ("trivial_spans", "duplicate_spans", "redundant_nodes", "empty_gold", "empty_brackets")
    if any(getattr(preset, rule) != getattr(plain, rule) for rule in rules) or not _is_transitive(preset):
        return _UNFIT
    if SystemCounts(request).evalb is None:
        return None
    assert preset.parameters is not None
    evalb = from_parameters(preset.parameters.parameters, preset.parameters.name)
    alike = replace(preset, name="", ignored=(), cutoff_length=0, delete_labels=evalb.delete_labels)
    return evalb if alike == replace(evalb, name="", ignored=(), cutoff_length=0) else _UNFIT


def _is_transitive(preset: Preset) -> bool:
    from treegauge.alignment.brackets import LabelNumbers

    return LabelNumbers(preset.equal_labels).equality(preset.equal_labels) is None


class _Side:
    """One file: scanned block by block, and hashed."""

    def __init__(self, path: str, options: ReadOptions, names: ScannedNames) -> None:
        text = Text(Source(path), options)
        if detect_format(text, options).name != "bracketed":
            raise _NotPlain
        self.names = names
        self._parts: Iterator[TreeColumns] = bracketed_parts(text, options, names)
        self._hash = TreebankHash()
        self._read: deque[TreeSlice] = deque()
        self.waiting: deque[TreeSlice] = deque()
        self._is_read = self.is_over = False
        self.n_words = 0
        self._tags = np.zeros(0, dtype=np.int64)
        self._labels = np.zeros(0, dtype=np.int64)

    def advance(self) -> None:
        """Read a block, unless enough is waiting."""
        if self._is_read or len(self.waiting) > 2:
            return
        labels, words = self.names.label_strings, self.names.word_strings
        known = labels.count, words.count
        part = next(self._parts, None)
        if self.names.has_escapes:
            raise _NotPlain
        if part is None:
            self._is_read = True
            return
        new_labels = labels.spelled(known[0], labels.count, restore_label)
        new_words = words.spelled(known[1], words.count, restore_word)
        self._hash.update_numbered(part.columns, part.n_nodes, part.n_tokens, new_labels, new_words)
        self._read.append(TreeSlice.of(part))
        self.n_words += len(part.columns.word)
        tags = np.bincount(part.columns.tag + 1, minlength=labels.count + 1)[1:]
        tags[: len(self._tags)] += self._tags
        of_nodes = np.bincount(part.columns.label, minlength=labels.count)
        of_nodes[: len(self._labels)] += self._labels
        self._tags, self._labels = tags, of_nodes

    def take_over(self) -> None:
        """Let what has been read wait to be counted; not while :meth:`advance` runs in another thread."""
        self.waiting.extend(self._read)
        self._read.clear()
        self.is_over = self._is_read

    def tag_use(self) -> TagUse:
        """The tags and the labels of phrases, and how many words have a tag; a label on more nodes than words is a phrase's."""
        names = self.names.labels()
        tags, phrases = (np.flatnonzero(counts > 0).tolist() for counts in (self._tags, self._labels - self._tags))
        return TagUse({names[k] for k in tags}, {names[k] for k in phrases}, self.n_words, int(self._tags.sum()))

    def punctuation(self) -> Counter[str]:
        """The number of words with each tag that is punctuation in some treebank."""
        return counted_punctuation(zip(self.names.labels(), self._tags.tolist(), strict=False))

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


class _OddSentences(NamedTuple):
    """Sentences that are not plain: their numbers, and their trees."""

    numbers: Int64
    gold: Treebank
    test: Treebank


class _FilePairCounter:
    """Counting two files side by side."""

    def __init__(self, sides: tuple[_Side, _Side], counted: PlainCounter, request: Request) -> None:
        self._sides, self._counter, self._request = sides, counted, request
        self._plain, self._odd = SystemCounts(request), SystemCounts(request)
        self._batch: list[PlainCounts] = []
        self._odd_batch: list[_OddSentences] = []
        self._odd_index: list[Int64] = []
        self._n = 0

    def counts(self) -> HashedCounts:
        """The counts of both files; NotParallel if they are not parallel."""
        gold, test = self._sides
        with ThreadPoolExecutor(2) as pool:
            while not (gold.is_over and test.is_over):
                # The next blocks are read while the last ones are counted; what is new in them is learnt in between.
                reading = [pool.submit(side.advance) for side in self._sides]
                self._count_waiting()
                if (gold.is_over and test.waiting) or (test.is_over and gold.waiting):
                    raise NotParallel
                for job in reading:
                    job.result()
                self._counter.learn()
                for side in self._sides:
                    side.take_over()
        self._count_waiting()
        if gold.waiting or test.waiting or not self._n:
            raise NotParallel
        self._add_batch()
        self._add_odd()
        return HashedCounts(self._together(), (gold.hexdigest(), test.hexdigest()))

    def _count_waiting(self) -> None:
        """Count the sentences that both sides have waiting."""
        while all(side.waiting for side in self._sides):
            self._count()

    def _count(self) -> None:
        """Count the sentences that both sides have waiting in their first blocks."""
        gold, test = (side.waiting.popleft() for side in self._sides)
        size = min(len(gold), len(test))
        rest: list[TreeSlice] = []
        for side, stretch in zip(self._sides, (gold, test), strict=True):
            head, tail = stretch.split(size)
            rest.append(head)
            if len(tail):
                side.waiting.appendleft(tail)
        counted = self._counter.count(rest[0], rest[1])
        problems = [number - rest[1].first for origin in rest[1].part.origins for number in origin.problems]
        counted.is_odd[[number for number in problems if 0 <= number < size]] = True
        odd = np.flatnonzero(counted.is_odd)
        if len(odd):
            trees = [side.names.treebank_of(part.part, odd + part.first) for side, part in zip(self._sides, rest, strict=True)]
            self._odd_batch.append(_OddSentences(odd + self._n, *trees))
        self._batch.append(counted)
        self._n += size
        if sum(len(each.is_odd) for each in self._batch) >= _BATCH:
            self._add_batch()
        if sum(len(each.numbers) for each in self._odd_batch) >= _ODD_BATCH:
            self._add_odd()
        self._request.progress(size)

    def _add_batch(self) -> None:
        """Add the rows of plain sentences."""
        if not self._batch:
            return
        plain = joined([counted.select(~counted.is_odd) for counted in self._batch])
        self._batch = []
        counts = self._plain.of_metrics[0]
        rows = Parseval().rows_of(
            *(plain.matched, plain.gold, plain.test, plain.unlabelled, plain.crossing, plain.words, plain.tags)
        )
        counts.add(rows, np.zeros(0, np.int64), plain.length)
        if self._plain.evalb is not None:
            valid = plain.status == VALID
            sums = [int(column[valid].sum()) for column in (plain.evalb_matched, plain.evalb_gold, plain.evalb_test)]
            refused = [int((plain.status == status).sum()) for status in (ERROR, SKIP)]
            self._plain.evalb += EvalbOutcome(self._plain.evalb.file, len(rows), *refused, *sums)

    def _add_odd(self) -> None:
        """Count the sentences that are not plain."""
        if not self._odd_batch:
            return
        gold = Treebank.concatenate([each.gold for each in self._odd_batch])
        test = Treebank.concatenate([each.test for each in self._odd_batch])
        self._odd_index += [each.numbers for each in self._odd_batch]
        self._odd_batch = []
        self._odd.request = replace(self._request, progress=_ignore)
        self._odd.add(gold, test, np.arange(len(gold)), in_step=True)

    def _together(self) -> SystemCounts:
        """The counts of all sentences."""
        odd, total = self._odd, self._plain
        index = np.concatenate([np.zeros(0, np.int64), *self._odd_index])
        odd.notes = [note if note.sentence < 0 else replace(note, sentence=int(index[note.sentence])) for note in odd.notes]
        total.merge(odd)
        total.texts = odd.texts
        total.n_gold = total.n_test = self._n
        total.tags = self._sides[0].tag_use(), self._sides[1].tag_use()
        total.punctuation, total.n_words = self._sides[0].punctuation(), self._sides[0].n_words
        return total


def _ignore(done: int) -> None:
    """Ignore progress."""
