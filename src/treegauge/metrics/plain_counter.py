"""Counting of plain sentences by a kernel, from the columns of the scanner; other sentences are marked for slower code.

:mod:`treegauge.metrics.count_kernels` defines which sentences are plain. A :class:`PlainCounter` keeps the tables of labels and
words that the kernel needs, and extends them as new labels and words are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.counted_brackets import LabelNumbers
from treegauge.alignment.words import plain_word
from treegauge.compiled import Kernels, kernels
from treegauge.io.bracketed_columns import TreeColumns
from treegauge.io.scanning import NameCounts, ScannedNames
from treegauge.presets import Preset
from treegauge.trees.bracketed import restore_label, restore_word
from treegauge.trees.columns import Int64, with_room

DROPPED, DELETED, FREE, EVALB_DELETED, DISPUTED = 1, 2, 4, 8, 16
"""Bits of a label, see :mod:`treegauge.metrics.count_kernels`."""
_SPECIAL_WORD = 1 << 30
_NOWHERE = -2
_RECENT = 4
_COLUMNS, _ROOMS = 13, 11


def counter() -> Kernels | None:
    """The compiled kernel; None if it is not available."""
    return kernels("treegauge.metrics.count_kernels")


@dataclass(frozen=True)
class TreeSlice:
    """The trees ``first:last`` of a scanned block ``part``, in which the rows of tree ``i`` begin at ``offset[i]``."""

    part: TreeColumns
    node_offset: Int64
    token_offset: Int64
    first: int
    last: int

    @classmethod
    def of(cls, part: TreeColumns) -> TreeSlice:
        zero = np.zeros(1, np.int64)
        nodes, tokens = (np.concatenate([zero, np.cumsum(sizes)]) for sizes in (part.n_nodes, part.n_tokens))
        return cls(part, nodes, tokens, 0, len(part.n_nodes))

    def __len__(self) -> int:
        return self.last - self.first

    def split(self, count: int) -> tuple[TreeSlice, TreeSlice]:
        """The first ``count`` trees, and the rest."""
        middle = self.first + count
        return replace(self, last=middle), replace(self, first=middle)

    @property
    def most(self) -> int:
        """The number of nodes or tokens, whichever is larger, of the largest tree."""
        sizes = (self.part.n_nodes, self.part.n_tokens)
        return max(int(size[self.first : self.last].max(initial=0)) for size in sizes)


class PlainCounts(NamedTuple):
    """The counts of some sentences, as columns; ``is_odd`` marks the sentences that are not plain and were not counted."""

    is_odd: NDArray[np.bool_]
    matched: Int64
    gold: Int64
    test: Int64
    unlabelled: Int64
    crossing: Int64
    words: Int64
    tags: Int64
    length: Int64
    status: Int64
    evalb_matched: Int64
    evalb_gold: Int64
    evalb_test: Int64

    def select(self, chosen: NDArray[np.bool_] | slice) -> PlainCounts:
        """Some of the sentences."""
        return PlainCounts(self.is_odd[chosen], *(column[chosen] for column in self[1:]))


def join_counts(parts: Sequence[PlainCounts]) -> PlainCounts:
    """The counts of several slices, one after the other."""
    columns = zip(*(part[1:] for part in parts), strict=True)
    return PlainCounts(np.concatenate([part.is_odd for part in parts]), *(np.concatenate(column) for column in columns))


class LabelColumn(NamedTuple):
    """A label for the kernel: its class as a phrase for us and for EVALB (-1: it does not count), its class as a tag, and bits."""

    ours: int
    evalbs: int
    tag: int
    bits: int


class CountingRules(Protocol):
    """The rules by which a kernel counts.

    ``asks_evalb``: whether EVALB's result is wanted too; ``may_repair``: whether EVALB may repair quotes.
    """

    asks_evalb: bool
    may_repair: bool

    def column(self, label: bytes) -> LabelColumn:
        """The column of a label in the kernel's table."""
        ...

    def plain_word(self, word: bytes) -> str | None:
        """The word in the form in which it is compared; None if it is compared by its bytes."""
        ...


class PresetRules:
    """The rules of a preset; ``evalb`` is the preset of EVALB's parameter file, None if EVALB's result is not wanted.

    The two may differ in the labels that they delete, and in nothing else.
    """

    def __init__(self, preset: Preset, evalb: Preset | None, *, may_repair: bool) -> None:
        self.asks_evalb, self.may_repair = evalb is not None, may_repair
        self._preset, self._evalb = preset, evalb or preset
        self._labels = LabelNumbers(preset.equal_labels)
        self._classes = self._labels.classes(preset.equal_labels)

    def column(self, label: bytes) -> LabelColumn:
        name, preset, evalb = restore_label(label.decode("utf-8")), self._preset, self._evalb
        cut = preset.cut_label(name)
        of_class = self._class(cut) if preset.labelled else 0
        ours, evalbs = (-1 if each.deletes(cut) else of_class for each in (preset, evalb))
        bits = DROPPED if name in preset.traces else 0
        bits |= DELETED if name in preset.delete_tags else 0
        bits |= FREE if name in preset.delete_tags_for_length else 0
        bits |= EVALB_DELETED if name in evalb.delete_tags else 0
        bits |= DISPUTED if ours != evalbs else 0
        return LabelColumn(ours, evalbs, self._class(preset.cut_tag(name)), bits)

    def _class(self, label: str) -> int:
        number = self._labels.number(label)
        return int(self._classes[number]) if number < len(self._classes) else number

    def plain_word(self, word: bytes) -> str | None:
        return plain_word(restore_word(word.decode("utf-8")))


class PlainCounter:
    """The tables of labels and words of two files for the kernel, by some rules.

    Other threads may go on reading both files, except that gold must not be read while :meth:`learn` looks up its words.
    """

    def __init__(self, engine: Kernels, gold: ScannedNames, test: ScannedNames, rules: CountingRules) -> None:
        self._engine, self._gold, self._test, self._rules = engine, gold, test, rules
        self._tables = [np.zeros((4, 0), dtype=np.int32), np.zeros((4, 0), dtype=np.int32)]
        self._known = NameCounts(0, 0), NameCounts(0, 0)
        self._numbers = [np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)]
        self._same = np.zeros(0, dtype=np.int32)
        self._special: dict[str, int] = {}
        self._lacking: list[Int64] = []

    def learn(self, gold: NameCounts, test: NameCounts) -> None:
        """Add the labels and words that were read since the last call, up to these numbers."""
        for side, (names, known, new) in enumerate(zip((self._gold, self._test), self._known, (gold, test), strict=True)):
            if known.labels < new.labels:
                columns = [self._rules.column(label) for label in names.label_strings.raw(range(known.labels, new.labels))]
                wider = np.concatenate([self._tables[side], np.array(columns, dtype=np.int32).T], axis=1)
                self._tables[side] = np.ascontiguousarray(wider)
        first, first_test = self._known[0].words, self._known[1].words
        self._known = gold, test
        self._numbers[0] = with_room(self._numbers[0], gold.words)
        self._numbers[0][first : gold.words] = np.arange(first, gold.words)
        self._number_test_words(first_test, test.words)
        for side, names, since in ((0, self._gold, first), (1, self._test, first_test)):
            strings, numbers = names.word_strings, self._numbers[side]
            special: list[int] = (since + np.flatnonzero(strings.marks[since : self._known[side].words])).tolist()
            for number, word in zip(special, strings.raw(special), strict=True):
                plain = self._rules.plain_word(word)
                if plain is not None:
                    numbers[number] = self._special.setdefault(plain, _SPECIAL_WORD + len(self._special))

    def _number_test_words(self, first: int, count: int) -> None:
        """Give the test words ``first:count``, and recent ones that gold lacked, the numbers of the same words in gold."""
        self._same = with_room(self._same, count)
        self._numbers[1] = with_room(self._numbers[1], count)
        self._numbers[1][first:count] = _NOWHERE
        # A test word that gold does not have yet may occur in its next block.
        new = np.arange(first, count)
        wanted = np.concatenate([*self._lacking, new])
        self._test.word_strings.places_in(self._gold.word_strings, wanted, self._same)
        # A word with other spellings keeps the number of its plain form.
        regular = wanted[self._numbers[1][wanted] < _SPECIAL_WORD]
        self._numbers[1][regular] = np.where(self._same[regular] < 0, _NOWHERE, self._same[regular])
        recent = [*self._lacking, new] if len(new) else self._lacking
        self._lacking = [left[self._same[left] < 0] for left in recent[-_RECENT:]]

    def count(self, gold: TreeSlice, test: TreeSlice) -> PlainCounts:
        """Count gold against test; both slices have the same number of trees."""
        out = np.empty((_COLUMNS, len(gold)), dtype=np.int64)
        room = np.empty((_ROOMS, max(gold.most, test.most) + 2), dtype=np.int32)
        sides: list[NDArray[np.generic]] = []
        for number, side in enumerate((gold, test)):
            columns, last = side.part.columns, side.last + 1
            sides += [columns.label, columns.start, columns.end, columns.word, columns.tag, columns.above]
            sides += [side.node_offset[side.first : last], side.token_offset[side.first : last]]
            sides += [self._tables[number], self._numbers[number]]
        self._engine["count"](*sides, self._same, int(self._rules.asks_evalb), int(self._rules.may_repair), room, out)
        return PlainCounts(out[0] != 0, *out[1:])
