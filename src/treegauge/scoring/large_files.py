"""Large files, scanned, hashed and counted by kernels, a block of both sides at a time.

Sentences that the kernel does not count, because their words differ or EVALB has to be asked, are collected and counted by the
NumPy code in batches. If the files are not parallel or cannot be read, the attempt ends, and the NumPy code counts everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treegauge.alignment.brackets import LabelNumbers
from treegauge.alignment.notes import LabelUse
from treegauge.errors import InputError
from treegauge.io.bracketed import bracketed_parts
from treegauge.io.bracketed_columns import Columns, NameNumbers, Names, TreeColumns
from treegauge.io.formats import detect_format
from treegauge.io.sources import ReadOptions, Source, Text
from treegauge.metrics.evalb import ERROR, SKIP, VALID
from treegauge.metrics.parseval import Parseval
from treegauge.metrics.plain_counter import NameCounts, PlainCounter, PlainCounts, PresetRules, TreeSlice, join_counts
from treegauge.presets import Preset, from_parameters
from treegauge.scoring.counts import HashedCounts, NotParallel, SystemCounts
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.scoring.inputs import Request, no_progress, read_ahead
from treegauge.trees.columns import Int32, TreebankHash, offsets_of
from treegauge.trees.notation import ESCAPED_BRACKETS, restore_label, restore_word
from treegauge.trees.treebank import Int64, Treebank

_ESCAPED = re.compile("|".join(ESCAPED_BRACKETS).encode()).search
_BRACKET = re.compile(rb"[^ ]*RB-[^ ]*")
_BATCH = 1 << 12
_ODD_BATCH = 1 << 11


def count_large_files(gold: str, test: str, request: Request, reading: ReadOptions) -> HashedCounts | None:
    """The counts of two files; None if the kernels cannot count them."""
    evalb = _evalb_preset(request)
    if evalb is _UNFIT:
        return None
    try:
        sides = _Side(gold, reading.of_gold), _Side(test, reading)
        preset = request.preset_of(request.metrics[0])
        may_repair = evalb is not None and preset.parameters is not None and bool(preset.parameters.parameters.quote_labels)
        counted = PlainCounter(sides[0].names, sides[1].names, PresetRules(preset, evalb, may_repair=may_repair))
        return _FilePairCounter(sides, counted, replace(request, keep=False)).counts()
    except (InputError, NotParallel, _NotPlain):
        return None


class _NotPlain(Exception):
    """A file of another format, or with escaped brackets."""


_UNFIT = Preset("unfit")


def _evalb_preset(request: Request) -> Preset | None:
    """The preset of EVALB's parameter file, None if EVALB is not asked, or ``_UNFIT`` if the kernel cannot serve the request."""
    metric = request.metrics[0]
    if len(request.metrics) > 1 or type(metric) is not Parseval or request.match_words != "exact" or request.breakdowns:
        return _UNFIT
    if request.on_mismatch in ("evalb", "edit") or (request.keep and request.sentences):
        return _UNFIT
    preset, plain = request.preset_of(metric), Preset()
    if preset.equal_words or metric.preset_for(preset) != preset or preset.delete_words or preset.delete_root_preterminals:
        return _UNFIT
    rules = ("trivial_spans", "duplicate_spans", "redundant_nodes", "empty_gold", "empty_brackets")
    is_transitive = LabelNumbers(preset.equal_labels).equality(preset.equal_labels) is None
    if any(getattr(preset, rule) != getattr(plain, rule) for rule in rules) or not is_transitive:
        return _UNFIT
    if SystemCounts(request).evalb is None:
        return None
    assert preset.parameters is not None
    evalb = from_parameters(preset.parameters.parameters, preset.parameters.name)
    alike = replace(preset, name="", ignored=(), cutoff_length=0, delete_labels=evalb.delete_labels)
    return evalb if alike == replace(evalb, name="", ignored=(), cutoff_length=0) else _UNFIT


class _ScannedBlock(NamedTuple):
    """Some trees of a file, and the numbers of labels and words in the file up to their end."""

    trees: TreeSlice
    names: NameCounts


class _Side:
    """One file that is scanned and hashed block by block."""

    def __init__(self, path: str, options: ReadOptions) -> None:
        text = Text(Source(path), options)
        if detect_format(text, options).name != "bracketed" or options.changes_trees:
            raise _NotPlain
        self.names = Names(compiled=True)
        self._parts = bracketed_parts(text, options, self.names)
        self.hash = TreebankHash()
        self.labels = LabelUse()

    def blocks(self) -> Iterator[_ScannedBlock]:
        """The trees, a block at a time."""
        labels, words = self.names.label_numbers, self.names.word_numbers
        known = NameCounts(0, 0)
        for part in self._parts:
            new_labels = _new_names(part.columns.label, labels, known.labels, restore_label)
            new_words = _new_names(part.columns.word, words, known.words, restore_word)
            self.hash.update_numbered(part.columns, part.n_nodes, part.n_tokens, new_labels, new_words)
            trees = TreeSlice.of(part)
            self.labels.add(self.names.labels(), part.columns, trees.node_offset)
            known = NameCounts.of(self.names)
            yield _ScannedBlock(trees, known)


def _new_names(column: Int32, names: NameNumbers, known: int, restore: Callable[[str], str]) -> list[bytes]:
    """The names that a block is the first to have, each after its length, ``3:the``; _NotPlain if they are not numbered in the
    order of their first use, or have escaped brackets: only then numbers alone would not determine the hash."""
    new = names.strings[known:]
    if not new:
        return []
    joined = b" ".join(new)
    largest = np.maximum.accumulate(column[column >= known])
    if (
        int(largest.max(initial=known - 1)) != len(names) - 1
        or bool((np.diff(largest, prepend=known - 1) > 1).any())
        or _ESCAPED(joined)
    ):
        raise _NotPlain
    if b"RB-" in joined:
        new = _BRACKET.sub(lambda found: restore(found[0].decode("utf-8")).encode(), joined).split(b" ")
    lengths = {length: b"%d:" % length for length in set(map(len, new))}
    pieces = [*new, *new]
    pieces[::2], pieces[1::2] = map(lengths.__getitem__, map(len, new)), new
    return pieces


def _treebank_of(names: Names, part: TreeColumns, trees: Int64) -> Treebank:
    """The treebank of some trees of a part, with a vocabulary of their own."""
    whole = Treebank((), (), *part.columns, offsets_of([part.n_nodes]), offsets_of([part.n_tokens]), part.origins)
    chosen = whole.take(trees)
    label_names, word_names = names.label_numbers.strings, names.word_numbers.strings
    used_labels, label = np.unique(chosen.label, return_inverse=True)
    used_words, word = np.unique(chosen.word, return_inverse=True)
    tag = np.where(chosen.tag < 0, -1, np.searchsorted(used_labels, chosen.tag)).astype(np.int32)
    columns = Columns(label.astype(np.int32), chosen.start, chosen.end, chosen.parent, word.astype(np.int32), tag, chosen.above)
    label_ids: list[int] = used_labels.tolist()
    word_ids: list[int] = used_words.tolist()
    labels = tuple(restore_label(label_names[number].decode("utf-8")) for number in label_ids)
    vocabulary = tuple(restore_word(word_names[number].decode("utf-8")) for number in word_ids)
    return Treebank(labels, vocabulary, *columns, chosen.node_offset, chosen.token_offset, chosen.origins)


class _OddSentences(NamedTuple):
    """Sentences that the kernel did not count: their numbers, and their trees."""

    numbers: Int64
    gold: Treebank
    test: Treebank


class _FilePairCounter:
    """Two files that are counted in parallel."""

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
        with closing(read_ahead(gold.blocks())) as ours, closing(read_ahead(test.blocks())) as theirs:
            self._count_all(ours, theirs)
        self._add_batch()
        self._add_odd()
        return HashedCounts(self._total(), (gold.hash.hexdigest(), test.hash.hexdigest()))

    def _count_all(self, ours: Iterator[_ScannedBlock], theirs: Iterator[_ScannedBlock]) -> None:
        """Count the sentences of both files while more are read."""
        gold, test = next(ours, None), next(theirs, None)
        while gold is not None and test is not None:
            self._counter.learn(gold.names, test.names)
            size = min(len(gold.trees), len(test.trees))
            (head, gold_rest), (test_head, test_rest) = gold.trees.split(size), test.trees.split(size)
            self._count(head, test_head)
            gold = gold._replace(trees=gold_rest) if len(gold_rest) else next(ours, None)
            test = test._replace(trees=test_rest) if len(test_rest) else next(theirs, None)
        if gold is not None or test is not None or not self._n:
            raise NotParallel

    def _count(self, gold: TreeSlice, test: TreeSlice) -> None:
        """Count the same number of sentences of both files."""
        counted = self._counter.count(gold, test)
        problems = [number - test.first for origin in test.part.origins for number in origin.problems]
        counted.is_odd[[number for number in problems if 0 <= number < len(test)]] = True
        odd = np.flatnonzero(counted.is_odd)
        if len(odd):
            parts = zip(self._sides, (gold, test), strict=True)
            trees = [_treebank_of(side.names, stretch.part, odd + stretch.first) for side, stretch in parts]
            self._odd_batch.append(_OddSentences(odd + self._n, *trees))
        self._batch.append(counted)
        self._n += len(gold)
        if sum(len(each.is_odd) for each in self._batch) >= _BATCH:
            self._add_batch()
        if sum(len(each.numbers) for each in self._odd_batch) >= _ODD_BATCH:
            self._add_odd()
        self._request.progress(len(gold))

    def _add_batch(self) -> None:
        """Add the rows of the sentences that the kernel counted."""
        if not self._batch:
            return
        plain = join_counts([counted.select(~counted.is_odd) for counted in self._batch])
        is_odd = np.concatenate([counted.is_odd for counted in self._batch])
        self._batch = []
        counts = self._plain.of_metrics[0]
        rows = Parseval().rows_of(
            *(plain.matched, plain.gold, plain.test, plain.unlabelled, plain.crossing, plain.words, plain.tags)
        )
        counts.add(rows, plain.length)
        if self._plain.evalb is not None:
            valid = plain.status == VALID
            sums = [int(column[valid].sum()) for column in (plain.evalb_matched, plain.evalb_gold, plain.evalb_test)]
            refused = [int((plain.status == status).sum()) for status in (ERROR, SKIP)]
            failures = (np.flatnonzero(~is_odd)[plain.status == ERROR] + self._n - len(is_odd)).tolist()
            self._plain.evalb += EvalbOutcome(self._plain.evalb.file, len(rows), *refused, *sums, failures=tuple(failures))

    def _add_odd(self) -> None:
        """Count the other sentences by the NumPy code."""
        if not self._odd_batch:
            return
        gold = Treebank.concatenate([each.gold for each in self._odd_batch])
        test = Treebank.concatenate([each.test for each in self._odd_batch])
        self._odd_index += [each.numbers for each in self._odd_batch]
        self._odd_batch = []
        self._odd.request = replace(self._request, progress=no_progress)
        self._odd.add(gold, test, np.arange(len(gold)), in_step=True)

    def _total(self) -> SystemCounts:
        """The counts of all sentences."""
        odd, total = self._odd, self._plain
        index = np.concatenate([np.zeros(0, np.int64), *self._odd_index])
        odd.notes = [note if note.sentence < 0 else note._replace(sentence=int(index[note.sentence])) for note in odd.notes]
        if odd.evalb is not None:
            odd.evalb = replace(odd.evalb, failures=tuple(int(index[failure]) for failure in odd.evalb.failures))
        total.merge(odd)
        total.n_gold = total.n_test = self._n
        total.labels = self._sides[0].labels, self._sides[1].labels
        return total
