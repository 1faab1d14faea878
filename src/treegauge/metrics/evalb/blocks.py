"""The fast lane for many lines: blocks of them, read by the fast reader of brackets and counted as columns.

It counts the pairs of lines in which both sides are one well-formed tree within EVALB's limits, with the same words. All other
pairs are left to :class:`~treegauge.metrics.evalb.scoring.Scorer`, which gives the same results. Kernels count large files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import LabelNumbers, brackets_of, sentence_lengths, sum_within
from treegauge.alignment.words import has_tag
from treegauge.io.bracketed_columns import Names, TreeColumns, find_events, part_of
from treegauge.metrics.evalb import VALID, lines as limits
from treegauge.metrics.evalb.lines import Rules
from treegauge.metrics.evalb.scoring import Scorer, SentenceResult
from treegauge.metrics.matching import crossing, partners
from treegauge.metrics.plain_counter import DROPPED, FREE, LabelColumn, NameCounts, PlainCounter, TreeSlice
from treegauge.presets import from_parameters
from treegauge.presets.prm import Parameters
from treegauge.trees.columns import Int64, Mask, offsets_of
from treegauge.trees.treebank import Treebank

_LINES = 2048


class ValidLines(NamedTuple):
    """The counts of valid sentences as columns, in the order of a row of EVALB's table."""

    number: Int64
    length: Int64
    matched: Int64
    gold: Int64
    test: Int64
    crossing: Int64
    words: Int64
    tags: Int64

    def select(self, chosen: slice | Mask) -> ValidLines:
        """Some of the sentences."""
        return ValidLines(*(column[chosen] for column in self))

    def results(self) -> Iterator[SentenceResult]:
        """The result of each sentence."""
        for number, length, *counts in zip(*(column.tolist() for column in self), strict=True):
            yield SentenceResult(number, length, VALID, *counts)


def score_in_blocks(
    gold: Iterator[bytes], test: Iterator[bytes], parameters: Parameters, *, is_large: bool
) -> Iterator[ValidLines | SentenceResult]:
    """The results of two files in order; the last may be that of a line without a counterpart in the other file."""
    counts = (_kernel_counts(parameters) if is_large else None) or _ColumnCounts(parameters)
    scorer = Scorer(parameters)
    first = 1
    while True:
        ours, theirs = list(islice(gold, _LINES)), list(islice(test, _LINES))
        n = min(len(ours), len(theirs))
        if n:
            odd, counted = counts.count(ours[:n], theirs[:n])
            counted = counted._replace(number=np.arange(first, first + n))
            done = 0
            for line in [*np.flatnonzero(odd).tolist(), n]:
                if done < line:
                    yield counted.select(slice(done, line))
                if line < n:
                    yield scorer.score(first + line, ours[line], theirs[line])
                done = line + 1
        first += n
        if n < _LINES:
            yield from scorer.score_lines(ours[n:], theirs[n:], first)
            return


def _odd_lines(lines: Sequence[bytes]) -> Mask:
    """A mask of the lines that EVALB may read differently from the fast reader, or that are not one tree.

    EVALB does not look for a label after a blank, takes a blank before a closing bracket for an empty word, and ends its strings
    at a zero byte.
    """
    events = find_events(b"".join(lines))
    size = np.array([len(line) for line in lines], dtype=np.int64)
    end = np.cumsum(size)
    behind = np.searchsorted(events.position, end)
    n_events = np.diff(behind, prepend=0)
    first = behind - n_events
    depth_before = np.append(np.int32(0), events.depth).take(first)
    depth = events.depth - np.repeat(depth_before, n_events)
    line = np.repeat(np.arange(len(lines)), n_events)
    is_first = np.zeros(len(events), dtype=np.bool_)
    is_first[first[n_events > 0]] = True
    byte_before = events.data.take(events.position - 1, mode="clip")
    byte_after = events.data.take(events.position + 1, mode="clip")
    label_set_off = events.is_open & _is_blank(byte_after)
    label_set_off[:-2] &= events.is_word[1:-1] & ~events.is_close[2:]
    bad = (depth < events.is_word) | (events.is_close & _is_blank(byte_before)) | label_set_off
    bad |= events.is_open & (depth == 1) & ~is_first
    odd = (np.append(np.int32(0), events.depth).take(behind) != depth_before) | (n_events == 0)
    odd[line[bad]] = True
    odd[np.searchsorted(end, np.flatnonzero(events.data == 0), side="right")] = True
    return odd


def _is_blank(byte: NDArray[np.uint8]) -> Mask:
    return ((byte - np.uint8(ord("\t"))) < 5) | (byte == ord(" "))


def _text(lines: Sequence[bytes], odd: Mask) -> bytes:
    """The lines with an empty tree in place of each odd one."""
    return b"".join(b"()\n" if is_odd else line for line, is_odd in zip(lines, odd.tolist(), strict=True))


class _LineReader:
    """The fast reader of blocks of lines with one table of names, of which it knows the long ones."""

    def __init__(self, names: Names, *, is_compiled: bool) -> None:
        self.names, self._is_compiled = names, is_compiled
        self._long_words = self._long_labels = np.zeros(0, dtype=np.bool_)

    def read(self, lines: Sequence[bytes]) -> tuple[TreeColumns, Mask]:
        """The trees of some lines, one each, and a mask of the odd ones."""
        trees, odd = self._scan(lines), np.zeros(len(lines), dtype=np.bool_)
        if trees is None:
            odd = _odd_lines(lines)
            trees = part_of(find_events(_text(lines, odd)), self.names, "", 0, utf8=False)
        self._long_words = _with_new(self._long_words, self.names.word_numbers.strings, limits.WORD)
        self._long_labels = _with_new(self._long_labels, self.names.label_numbers.strings, limits.LABEL)
        if max(map(len, lines)) > limits.LINE:
            odd |= np.array([len(line) > limits.LINE for line in lines])
        special = self._long_words.take(trees.columns.word) | (trees.columns.tag < 0)
        for of_rows, sizes in ((special, trees.n_tokens), (self._long_labels.take(trees.columns.label), trees.n_nodes)):
            if of_rows.any():
                odd |= sum_within(of_rows, offsets_of([sizes])) > 0
        return trees, odd | (trees.n_nodes > limits.BRACKETS)

    def _scan(self, lines: Sequence[bytes]) -> TreeColumns | None:
        """The trees by the compiled scanner, if each line is certainly one that EVALB reads as we do."""
        if not self._is_compiled:
            return None
        scanned = self.names.scanner.scan(b"".join(lines), "", 0, is_last=True, may_nest=True, utf8=False)
        if scanned is None or self.names.scanner.is_loose:
            return None
        return scanned[0] if np.array_equal(scanned[0].origins[0].line, np.arange(len(lines))) else None


def _with_new(are_long: Mask, names: Sequence[bytes], limit: int) -> Mask:
    """A mask of the names of more than ``limit`` bytes, given that of the first of them."""
    return np.concatenate([are_long, np.array([len(name) > limit for name in names[len(are_long) :]], dtype=np.bool_)])


def _per_token(chosen: Mask, bank: Treebank) -> Mask:
    """A mask of the tokens of the chosen trees."""
    return np.repeat(chosen, np.diff(bank.token_offset))


class _ColumnCounts:
    """The count by NumPy: both sides share the numbers of their words, and a preset has EVALB's parameters."""

    def __init__(self, parameters: Parameters) -> None:
        # Bytes are read as Latin-1, in which every byte is a character.
        lists = [parameters.delete_labels, parameters.delete_labels_for_length]
        deleted, not_in_length = (tuple(label.decode("latin-1").encode() for label in labels) for labels in lists)
        equal = tuple((a.decode("latin-1").encode(), b.decode("latin-1").encode()) for a, b in parameters.equal_labels)
        recoded = parameters._replace(delete_labels=deleted, delete_labels_for_length=not_in_length, equal_labels=equal)
        self._preset = from_parameters(recoded, "EVALB")
        self._reader = _LineReader(Names(), is_compiled=False)

    def count(self, gold: Sequence[bytes], test: Sequence[bytes]) -> tuple[Mask, ValidLines]:
        """A mask of the lines that must be scored one by one, and the counts of all others."""
        (gold_trees, odd), (test_trees, test_odd) = (self._reader.read(lines) for lines in (gold, test))
        ours, theirs = self._bank(gold_trees), self._bank(test_trees)
        kept, test_kept = (~has_tag(bank, self._preset.delete_tags) for bank in (ours, theirs))
        n_words, n_test_words = sum_within(kept, ours.token_offset), sum_within(test_kept, theirs.token_offset)
        odd |= test_odd | (n_words != n_test_words) | (n_test_words == 0)
        words, test_words = ours.word[kept & _per_token(~odd, ours)], theirs.word[test_kept & _per_token(~odd, theirs)]
        odd[np.repeat(np.flatnonzero(~odd), n_words[~odd])[words != test_words]] = True
        numbers = LabelNumbers(self._preset.equal_labels)
        length = sentence_lengths(ours, self._preset)
        number = np.arange(len(self._reader.names.word_numbers), dtype=np.int32)
        gold_side, test_side = (
            brackets_of(bank, self._preset, keep & _per_token(~odd, bank), numbers, number, length=length)
            for bank, keep in ((ours, kept), (theirs, test_kept))
        )
        classes = numbers.classes(self._preset.equal_labels)
        matched = gold_side.per_sentence(partners(gold_side, test_side, classes if self._preset.labelled else None) >= 0)
        crossed = test_side.per_sentence(crossing(gold_side, test_side))
        tags = sum_within(classes.take(gold_side.tag) == classes.take(test_side.tag), gold_side.token_offset)
        return odd, ValidLines(length, length, matched, gold_side.counts, test_side.counts, crossed, n_words, tags)

    def _bank(self, trees: TreeColumns) -> Treebank:
        labels = tuple(label.decode("latin-1") for label in self._reader.names.label_numbers.strings)
        return Treebank(labels, (), *trees.columns, offsets_of([trees.n_nodes]), offsets_of([trees.n_tokens]))


def _kernel_counts(parameters: Parameters) -> _KernelCounts | None:
    from treegauge.compilation import can_compile

    rules = Rules(parameters)
    classes = rules.label_classes()
    if classes is None or not can_compile():
        return None
    return _KernelCounts(_KernelRules(rules, classes))


class _KernelRules:
    """EVALB's rules for the kernel: each side drops words by its own tags, and words are the same if their bytes are."""

    asks_evalb = may_repair = False

    def __init__(self, rules: Rules, classes: dict[bytes, bytes]) -> None:
        self._rules, self._classes = rules, classes
        self._numbers: dict[bytes, int] = {}

    def column(self, label: bytes) -> LabelColumn:
        counted = self._rules.counted_label(label)
        phrase = -1 if counted is None else self._number(counted) if self._rules.parameters.labelled else 0
        bits = DROPPED if label in self._rules.deleted_tags else 0
        bits |= FREE if label in self._rules.not_in_length else 0
        return LabelColumn(phrase, phrase, self._number(label), bits)

    def _number(self, label: bytes) -> int:
        return self._numbers.setdefault(self._classes.get(label, label), len(self._numbers))

    def plain_words(self, words: Sequence[bytes]) -> Mapping[int, str]:
        """Words are compared by their bytes."""
        return {}


class _KernelCounts:
    """The count by kernels."""

    def __init__(self, rules: _KernelRules) -> None:
        self._names = Names(), Names()
        self._gold, self._test = (_LineReader(names, is_compiled=True) for names in self._names)
        self._counter = PlainCounter(*self._names, rules)

    def count(self, gold: Sequence[bytes], test: Sequence[bytes]) -> tuple[Mask, ValidLines]:
        """A mask of the lines that must be scored one by one, and the counts of all others."""
        (ours, odd), (theirs, test_odd) = self._gold.read(gold), self._test.read(test)
        self._counter.learn(*map(NameCounts.of, self._names))
        counted = self._counter.count(TreeSlice.of(ours), TreeSlice.of(theirs))
        columns = (counted.length, counted.matched, counted.gold, counted.test, counted.crossing, counted.words, counted.tags)
        return odd | test_odd | counted.is_odd, ValidLines(counted.length, *columns)
