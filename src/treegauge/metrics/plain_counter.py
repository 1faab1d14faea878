"""Counting of plain sentences by a kernel, from the columns of the scanner; other sentences are marked for slower code.

:mod:`treegauge.metrics.count_kernels` defines which sentences are plain. A :class:`PlainCounter` keeps the tables of labels and
words that the kernel needs, and extends them as new labels and words are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import LabelNumbers
from treegauge.alignment.words import plain_word
from treegauge.io.bracketed_columns import Names, TreeColumns
from treegauge.presets import Preset
from treegauge.trees.columns import Int32, offsets_of
from treegauge.trees.notation import restore_label, restore_word
from treegauge.trees.treebank import Int64

DROPPED, DELETED, FREE, EVALB_DELETED, DISPUTED = 1, 2, 4, 8, 16
"""Bits of a label, see :mod:`treegauge.metrics.count_kernels`."""
_SPECIAL_WORD = 1 << 30
_NOWHERE = -2
_MOST_LACKING = 1 << 14
_COLUMNS, _ROOMS = 13, 11
# Every character that may be written in several ways contains one of these bytes; B- is in -LRB-, -LSB- and the like.
_VARIES = np.zeros(256, dtype=np.bool_)
_VARIES[list(b"'\"()[]{}/*`\\\xe2\xc2")] = True


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
        return cls(part, offsets_of([part.n_nodes]), offsets_of([part.n_tokens]), 0, len(part.n_nodes))

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

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The columns that the kernel reads."""
        label, start, end, _, word, tag, above = self.part.columns
        offsets = self.node_offset[self.first : self.last + 1], self.token_offset[self.first : self.last + 1]
        return label, start, end, word, tag, above, *offsets


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

    def plain_words(self, words: Sequence[bytes]) -> Mapping[int, str]:
        """By their places, the words that are not compared by their bytes, in the form in which they are compared."""
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

    def plain_words(self, words: Sequence[bytes]) -> Mapping[int, str]:
        text = np.frombuffer(b"\n".join(words), dtype=np.uint8)
        varies = _VARIES.take(text)
        varies[1:] |= (text[:-1] == ord("B")) & (text[1:] == ord("-"))
        varying: list[int] = np.unique(np.cumsum(text == ord("\n"))[varies]).tolist()
        return {place: plain_word(restore_word(words[place].decode("utf-8"))) for place in varying}


class NameCounts(NamedTuple):
    """The numbers of distinct labels and of distinct words of a text, up to some place in it."""

    labels: int
    words: int

    @classmethod
    def of(cls, names: Names) -> NameCounts:
        return cls(len(names.label_numbers.strings), len(names.word_numbers.strings))


def _with_room(array: Int32, size: int) -> Int32:
    """The array if it has at least ``size`` items; else a copy of at least twice its length."""
    return array if size <= len(array) else np.concatenate([array, np.zeros(max(size - len(array), len(array)), np.int32)])


class PlainCounter:
    """The tables of labels and words of two files for the kernel, by some rules. Other threads may go on reading both files."""

    def __init__(self, gold: Names, test: Names, rules: CountingRules) -> None:
        self._names, self._rules = (gold, test), rules
        self._tables = [np.zeros((4, 0), dtype=np.int32), np.zeros((4, 0), dtype=np.int32)]
        self._known = NameCounts(0, 0), NameCounts(0, 0)
        self._numbers = [np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)]
        self._same = np.zeros(0, dtype=np.int32)
        self._special: dict[str, int] = {}
        self._lacking: list[int] = []

    def learn(self, gold: NameCounts, test: NameCounts) -> None:
        """Add the labels and words that were read since the last call, up to these numbers."""
        for side, (names, known, new) in enumerate(zip(self._names, self._known, (gold, test), strict=True)):
            if known.labels < new.labels:
                columns = [self._rules.column(label) for label in names.label_numbers.strings[known.labels : new.labels]]
                wider = np.concatenate([self._tables[side], np.array(columns, dtype=np.int32).T], axis=1)
                self._tables[side] = np.ascontiguousarray(wider)
        first = self._known[1].words
        self._find_in_gold(first, test.words)
        self._number_words(0, np.arange(self._known[0].words, gold.words, dtype=np.int32))
        same = self._same[first : test.words]
        self._number_words(1, np.where(same < 0, np.int32(_NOWHERE), same))
        self._known = gold, test

    def _number_words(self, side: int, numbers: Int32) -> None:
        """Number new words of a side; those that may be written in several ways by their plain form, the others as given."""
        first, special = self._known[side].words, self._special
        last = first + len(numbers)
        words = self._names[side].word_numbers.strings[first:last]
        for place, plain in self._rules.plain_words(words).items():
            numbers[place] = special.setdefault(plain, _SPECIAL_WORD + len(special))
        self._numbers[side] = _with_room(self._numbers[side], last)
        self._numbers[side][first:last] = numbers

    def _find_in_gold(self, first: int, last: int) -> None:
        """Find the test words ``first:last`` in gold, and recent ones that gold lacked: they may occur in its next block."""
        find, words = self._names[0].word_numbers.numbers.get, self._names[1].word_numbers.strings
        new = np.fromiter(map(find, words[first:last], repeat(-1)), np.int32, last - first)
        self._same = _with_room(self._same, last)
        self._same[first:last] = new
        for number in self._lacking:
            self._same[number] = found = find(words[number], -1)
            if found >= 0 and self._numbers[1][number] == _NOWHERE:
                self._numbers[1][number] = found
        lacking = [*self._lacking, *(first + np.flatnonzero(new < 0)).tolist()]
        self._lacking = [number for number in lacking[-_MOST_LACKING:] if self._same[number] < 0]

    def count(self, gold: TreeSlice, test: TreeSlice) -> PlainCounts:
        """Count gold against test; both slices have the same number of trees."""
        from treegauge.metrics.count_kernels import count

        out = np.empty((_COLUMNS, len(gold)), dtype=np.int64)
        room = np.empty((_ROOMS, max(gold.most, test.most) + 2), dtype=np.int32)
        tables = zip(self._tables, self._numbers, strict=True)
        ours, theirs = ((*side.columns, *of_side) for side, of_side in zip((gold, test), tables, strict=True))
        count(ours, theirs, self._same, self._rules.asks_evalb, self._rules.may_repair, room, out)
        return PlainCounts(out[0] != 0, *out[1:])
