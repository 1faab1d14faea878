"""Blocks of lines of two large files, counted by kernels.

The kernels count blocks in which each line is one well-formed tree within EVALB's limits, and in them the sentences with the same
words on both sides. All other lines are left to :class:`~treegauge.metrics.evalb.scoring.Scorer`, which gives the same results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compiled import Kernels
from treegauge.io.bracketed_columns import TreeColumns
from treegauge.io.scanning import ScannedNames, Strings, scanner
from treegauge.metrics.evalb import reading as limits
from treegauge.metrics.evalb.printing import ROW, Totals
from treegauge.metrics.evalb.reading import Rules
from treegauge.metrics.evalb.scoring import Scorer, SentenceResult
from treegauge.metrics.plain_counter import DROPPED, FREE, LabelColumn, PlainCounter, PlainCounts, TreeSlice, counter
from treegauge.presets.prm import Parameters
from treegauge.trees.treebank import Int64

_LINES = 2048


class PlainLines(NamedTuple):
    """Consecutive sentences that a kernel counted, from number ``first`` on; all of them are valid."""

    first: int
    counted: PlainCounts

    def rows(self) -> bytes:
        """Their lines in EVALB's table."""
        counted, n = self.counted, len(self.counted.length)
        columns = (
            *(np.arange(self.first, self.first + n), counted.length, np.zeros(n, dtype=np.int64)),
            *(_percents(counted.matched, counted.gold), _percents(counted.matched, counted.test)),
            *(counted.matched, counted.gold, counted.test, counted.crossing, counted.words, counted.tags),
            _percents(counted.tags, counted.words),
        )
        values: list[float] = [value for row in zip(*(column.tolist() for column in columns), strict=True) for value in row]
        return ROW * n % tuple(values)

    def add_to(self, everything: Totals, short: Totals, cutoff: int) -> None:
        """Add them to the totals, those up to the cutoff length also to the totals of short sentences."""
        for totals, counted in ((everything, self.counted), (short, self.counted.select(self.counted.length <= cutoff))):
            matched, gold, test, crossing = counted.matched, counted.gold, counted.test, counted.crossing
            totals.sentences += len(matched)
            totals.matched += int(matched.sum())
            totals.gold += int(gold.sum())
            totals.test += int(test.sum())
            totals.crossing += int(crossing.sum())
            totals.words += int(counted.words.sum())
            totals.tags += int(counted.tags.sum())
            totals.complete += int(((gold == test) & (gold == matched)).sum())
            totals.no_crossing += int((crossing == 0).sum())
            totals.few_crossing += int((crossing <= 2).sum())


def _percents(part: Int64, whole: Int64) -> NDArray[np.float64]:
    return np.where(whole > 0, 100.0 * part / np.maximum(whole, 1), 0.0)


def line_blocks(gold: BinaryIO, test: BinaryIO, parameters: Parameters) -> Iterator[PlainLines | SentenceResult] | None:
    """The results of two files in order; None if the kernels cannot count them."""
    rules = Rules(parameters)
    classes = rules.label_classes()
    if classes is None or parameters.debug > 0 or parameters.equal_words:
        return None
    scan, count = scanner(), counter()
    if scan is None or count is None:
        return None
    return _Blocks(scan, count, parameters, rules, classes).results(gold, test)


class _EvalbRules:
    """EVALB's rules for the kernel: each side drops words by its own tags, and words are the same if their bytes are."""

    asks_evalb = may_repair = False

    def __init__(self, rules: Rules, classes: dict[bytes, bytes]) -> None:
        self._rules, self._classes = rules, classes
        self._numbers: dict[bytes, int] = {}

    def column(self, label: bytes) -> LabelColumn:
        counted = self._rules.counted_label(label)
        if counted is None:
            phrase = -1
        else:
            phrase = self._number(counted) if self._rules.parameters.labelled else 0
        bits = DROPPED if label in self._rules.deleted_tags else 0
        bits |= FREE if label in self._rules.not_in_length else 0
        return LabelColumn(phrase, phrase, self._number(label), bits)

    def _number(self, label: bytes) -> int:
        return self._numbers.setdefault(self._classes.get(label, label), len(self._numbers))

    def plain_word(self, word: bytes) -> None:
        """Words are compared by their bytes."""


class _Blocks:
    """Both files, a block of lines at a time."""

    def __init__(self, scan: Kernels, count: Kernels, parameters: Parameters, rules: Rules, classes: dict[bytes, bytes]) -> None:
        self._parameters = parameters
        self._names = ScannedNames(scan), ScannedNames(scan)
        self._counter = PlainCounter(count, *self._names, _EvalbRules(rules, classes))
        self._scorer = Scorer(parameters)

    def results(self, gold: BinaryIO, test: BinaryIO) -> Iterator[PlainLines | SentenceResult]:
        """All results; the last may be that of a line without a counterpart in the other file."""
        first = 1
        while True:
            ours, theirs = list(islice(gold, _LINES)), list(islice(test, _LINES))
            if len(ours) != len(theirs) or not ours:
                yield from self._scorer.score_lines(ours, theirs, first)
                return
            counted = self._count(ours, theirs)
            if counted is None:
                yield from self._scorer.score_lines(ours, theirs, first)
            else:
                yield from self._in_order(counted, ours, theirs, first)
            first += len(ours)

    def _count(self, gold: Sequence[bytes], test: Sequence[bytes]) -> PlainCounts | None:
        """The counts of a block; None if the kernels cannot count it."""
        ours, theirs = self._scan(self._names[0], gold), self._scan(self._names[1], test)
        if ours is None or theirs is None:
            return None
        self._counter.learn(self._names[0].counts, self._names[1].counts)
        counted = self._counter.count(TreeSlice.of(ours), TreeSlice.of(theirs))
        for part, lines in ((ours, gold), (theirs, test)):
            counted.is_odd[(part.n_nodes > limits.BRACKETS) | (_lengths(lines) > limits.LINE)] = True
        return counted

    def _scan(self, names: ScannedNames, lines: Sequence[bytes]) -> TreeColumns | None:
        """The trees of a block; None unless each line is one tree within EVALB's limits."""
        found = names.scan(b"".join(lines), "", 0, is_last=True, may_nest=True, utf8=False)
        if (
            found is None
            or names.is_loose
            or _has_long(names.label_strings, limits.LABEL)
            or _has_long(names.word_strings, limits.WORD)
        ):
            return None
        part = found[0]
        return part if np.array_equal(part.origins[0].line, np.arange(len(lines))) else None

    def _in_order(
        self, counted: PlainCounts, gold: Sequence[bytes], test: Sequence[bytes], first: int
    ) -> Iterator[PlainLines | SentenceResult]:
        odd: list[int] = np.flatnonzero(counted.is_odd).tolist()
        done = 0
        for number in [*odd, len(gold)]:
            if done < number:
                yield PlainLines(first + done, counted.select(slice(done, number)))
            if number < len(gold):
                yield self._scorer.score(first + number, gold[number], test[number])
            done = number + 1


def _lengths(lines: Sequence[bytes]) -> Int64:
    return np.array([len(line) for line in lines])


def _has_long(strings: Strings, limit: int) -> bool:
    """Whether some string is longer than EVALB's limit; if so, all sentences are scored one by one."""
    return strings.longest(0, strings.count) > limit
