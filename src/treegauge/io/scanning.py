"""The compiled scanner of bracketed text: the names that it numbers, and the columns that it makes.

It reads plain text, which almost all text is. Everything else, errors included, is read by
:mod:`treegauge.io.bracketed_columns`, and the outcome is renumbered with the scanner's numbers. So both give the same columns for
any text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.compiled import Kernels, kernels
from treegauge.io.bracketed_columns import Columns, Names, TreeColumns
from treegauge.io.scan_kernels import SPECIAL
from treegauge.trees.bracketed import restore_label, restore_word
from treegauge.trees.columns import Bytes, Int32, Int64, offsets_of, with_room
from treegauge.trees.treebank import Origin, Treebank

_N_NODES, _N_WORDS, _N_TREES, _N_LABELS, _N_DISTINCT, _NESTED, _OPEN, _LOOSE = 1, 2, 3, 4, 6, 9, 10, 11
_BLANKS = b" \t\n\v\f\r"


def scanner() -> Kernels | None:
    """The compiled kernels of the scanner, if they exist already."""
    return kernels("treegauge.io.scan_kernels")


def _kinds() -> Bytes:
    """For each byte its kind for the scanner; and, from index 256 on, whether it is in :data:`SPECIAL`."""
    kinds = np.zeros(512, dtype=np.uint8)
    kinds[list(_BLANKS)] = 1
    kinds[ord("(")], kinds[ord(")")], kinds[0] = 2, 3, 4
    kinds[[256 + byte for byte in SPECIAL]] = 1
    return kinds


_KINDS = _kinds()
_FEW = 256
_WAITING = 256
"""The largest number of words that are looked up together."""


class Strings:
    """Distinct strings in the order of their first occurrence, in the scanner's arrays."""

    def __init__(self, engine: Kernels, seed: NDArray[np.uint64]) -> None:
        self._engine, self.seed = engine, seed
        self.count = 0
        self.slots: NDArray[np.uint64] = np.zeros((1 << 10, 2), dtype=np.uint64)
        self.keys: NDArray[np.uint64] = np.zeros(1 << 9, dtype=np.uint64)
        self.starts: Int64 = np.zeros((1 << 9) + 1, dtype=np.int64)
        self.pool: Bytes = np.zeros(1 << 12, dtype=np.uint8)
        self.marks: Bytes = np.zeros(1 << 9, dtype=np.uint8)

    @property
    def arrays(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Int64, Bytes, Bytes]:
        return self.slots, self.keys, self.starts, self.pool, self.marks

    def make_room(self, more: int, more_bytes: int) -> None:
        """Make room for ``more`` strings of together ``more_bytes`` bytes."""
        count = self.count + more
        self.keys, self.marks = with_room(self.keys, count), with_room(self.marks, count)
        self.starts = with_room(self.starts, count + 1)
        if 4 * count > 3 * len(self.slots):
            self.slots = np.zeros((1 << (4 * count // 3).bit_length(), 2), dtype=np.uint64)
            self._engine["settle"](self.seed, self.count, self.slots, self.keys)
        self.pool = with_room(self.pool, int(self.starts[self.count]) + more_bytes)

    def text(self, first: int, last: int) -> list[str]:
        """The strings ``first:last``; UnicodeDecodeError if one is not UTF-8."""
        raw = self.pool[int(self.starts[first]) : int(self.starts[last])].tobytes()
        ends: list[int] = (self.starts[first + 1 : last + 1] - self.starts[first]).tolist()
        whole = raw.decode("utf-8")
        if len(whole) == len(raw):  # one byte per character
            return [whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
        return [raw[begin:end].decode("utf-8") for begin, end in zip([0, *ends], ends, strict=False)]

    def check(self, first: int, last: int) -> None:
        """Raise UnicodeDecodeError unless each of the strings ``first:last`` is UTF-8."""
        raw = self.pool[int(self.starts[first]) : int(self.starts[last])]
        if not len(raw) or int(raw.max()) < 0x80:
            return
        raw.tobytes().decode("utf-8")
        # All strings together are UTF-8, so each of them is, unless one begins in the middle of a character.
        begins = self.pool.take(self.starts[first:last])
        if bool(((begins & 0xC0) == 0x80).any()):
            self.text(first, last)

    def with_lengths(self, first: int, last: int, restore: Callable[[str], str]) -> list[bytes]:
        """The strings ``first:last``, each after its length, ``3:the``, in a few pieces of bytes."""
        pieces: list[bytes] = []
        special: list[int] = (first + np.flatnonzero(self.marks[first:last] & 2)).tolist()
        for number in [*special, last]:
            if first < number:
                size = int(self.starts[number] - self.starts[first])
                spelled = np.empty(size + (len(str(size)) + 1) * (number - first), dtype=np.uint8)
                used = self._engine["spell"](self.pool, self.starts, first, number, spelled)
                pieces.append(spelled[:used].tobytes())
            if number < last:
                encoded = restore(self.text(number, number + 1)[0]).encode("utf-8")
                pieces.append(b"%d:%b" % (len(encoded), encoded))
            first = number + 1
        return pieces

    def places_in(self, other: Strings, wanted: Int64, numbers: Int32) -> None:
        """Write into ``numbers`` the number that each wanted string has in another table, or -1."""
        self._engine["find_strings"](self.pool, self.starts, wanted, other.seed, numbers, *other.arrays)

    def raw(self, numbers: Sequence[int]) -> list[bytes]:
        """The bytes of the strings of these numbers."""
        places = np.array(numbers, dtype=np.int64)
        bounds = zip(self.starts.take(places).tolist(), self.starts.take(places + 1).tolist(), strict=True)
        return [self.pool[begin:end].tobytes() for begin, end in bounds]

    def longest(self, first: int, last: int) -> int:
        """The number of bytes of the longest of the strings ``first:last``."""
        return int(np.diff(self.starts[first : last + 1]).max(initial=0))


class NameCounts(NamedTuple):
    """The numbers of distinct labels and of distinct words of a text, up to some place in it."""

    labels: int
    words: int


class ScannedNames:
    """The labels and words of a text as numbered by the compiled scanner: its counterpart of :class:`Names`."""

    def __init__(self, engine: Kernels) -> None:
        self._engine = engine
        seed = np.array([int.from_bytes(os.urandom(8), "little") | 1], dtype=np.uint64)
        self.label_strings, self.word_strings = Strings(engine, seed), Strings(engine, seed)
        self._state = np.zeros(16, dtype=np.int64)
        self._waiting = np.zeros((3, _WAITING), dtype=np.uint64)
        self._labels: list[str] = []
        self._vocabulary: list[str] = []
        self.has_escapes = False
        """Whether some text had escaped brackets, which the scanner does not support."""

    def fresh(self) -> ScannedNames:
        """A new, empty table of names."""
        return ScannedNames(self._engine)

    def __len__(self) -> int:
        return self.label_strings.count + self.word_strings.count

    @property
    def counts(self) -> NameCounts:
        """The numbers of labels and of words so far."""
        return NameCounts(self.label_strings.count, self.word_strings.count)

    def labels(self) -> tuple[str, ...]:
        """All labels by number."""
        strings = self.label_strings
        self._labels += map(restore_label, strings.text(len(self._labels), strings.count))
        return tuple(self._labels)

    def vocabulary(self) -> tuple[str, ...]:
        """All words by number."""
        strings = self.word_strings
        new = strings.text(len(self._vocabulary), strings.count)
        self._vocabulary += [name if name.isalnum() and name.isascii() else restore_word(name) for name in new]
        return tuple(self._vocabulary)

    @property
    def is_loose(self) -> bool:
        """Whether the text scanned last has a blank before a closing bracket."""
        return bool(self._state[_LOOSE])

    def scan(
        self, text: bytes, path: str, first_line: int, *, is_last: bool, may_nest: bool, utf8: bool = True
    ) -> tuple[TreeColumns, int] | None:
        """The complete trees of a text, and the number of bytes up to their end; None if the text is not plain.

        ``utf8``: text with a name that is not UTF-8 is not plain.
        """
        data = np.frombuffer(text, dtype=np.uint8)
        most = int(np.count_nonzero(data == ord("("))) + 1
        if 3 * most > len(text) + _FEW:  # mostly brackets without labels, not worth tables for so many names
            return None
        labels, words = self.label_strings, self.word_strings
        labels.make_room(most, len(text))
        words.make_room(most, len(text))
        nodes, tokens = np.empty((4, most), dtype=np.int32), np.empty((3, most), dtype=np.int32)
        trees = np.empty((3, most), dtype=np.int64)
        state = self._state
        known = labels.count, words.count
        state[_N_LABELS], state[_N_DISTINCT] = known
        failed = self._engine["scan"](
            data, first_line, _KINDS, labels.seed, nodes, tokens, trees, *labels.arrays, *words.arrays, self._waiting, state
        )
        n_labels, n_distinct = (0, 0) if failed else (int(state[_N_LABELS]), int(state[_N_DISTINCT]))
        try:
            if failed or not state[_N_TREES] or (is_last and state[_OPEN]) or (state[_NESTED] and not may_nest):
                raise ValueError
            if utf8:
                labels.check(known[0], n_labels)
                words.check(known[1], n_distinct)
        except ValueError:  # a UnicodeDecodeError is one
            self._forget(*known)
            return None
        labels.count, words.count = n_labels, n_distinct
        n_nodes, n_words, n_trees = (int(state[place]) for place in (_N_NODES, _N_WORDS, _N_TREES))
        columns = Columns(*(row[:n_nodes] for row in nodes), *(row[:n_words] for row in tokens))
        return TreeColumns(columns, trees[0, :n_trees], trees[1, :n_trees], (Origin(path, trees[2, :n_trees]),)), int(state[0])

    def _forget(self, n_labels: int, n_words: int) -> None:
        """Remove all but the first ``n_labels`` labels and ``n_words`` words."""
        for strings, count in ((self.label_strings, n_labels), (self.word_strings, n_words)):
            strings.count = count
            strings.slots = np.zeros_like(strings.slots)
            self._engine["settle"](strings.seed, count, strings.slots, strings.keys)

    def adopt(self, part: TreeColumns, names: Names) -> TreeColumns:
        """Columns that were read with other names, renumbered with the numbers of these."""
        columns = part.columns
        label = self._numbers(self.label_strings, _N_LABELS, names.label_numbers.strings, columns.label)
        word = self._numbers(self.word_strings, _N_DISTINCT, names.word_numbers.strings, columns.word)
        moved = columns._replace(
            label=label.take(columns.label), tag=np.append(label, np.int32(-1)).take(columns.tag), word=word.take(columns.word)
        )
        return part._replace(columns=moved)

    def _numbers(self, strings: Strings, place: int, names: Sequence[bytes], column: Int32) -> Int32:
        """The number of each name that a column uses, -1 for others; new names are added in the order of their use."""
        first = np.full(len(names), len(column), dtype=np.int64)
        np.minimum.at(first, column, np.arange(len(column)))
        used = np.argsort(first, kind="stable")[: int((first < len(column)).sum())]
        places: list[int] = used.tolist()
        raw = [names[place] for place in places]
        joined = b"".join(raw)
        strings.make_room(len(raw), len(joined))
        found = np.empty(len(raw), dtype=np.int32)
        ends = np.cumsum([len(name) for name in raw], dtype=np.int64)
        self._state[place] = strings.count
        self._engine["add_strings"](
            np.frombuffer(joined, dtype=np.uint8), ends, _KINDS, strings.seed, found, *strings.arrays, self._state, place
        )
        strings.count = int(self._state[place])
        numbers = np.full(len(names), -1, dtype=np.int32)
        numbers[used] = found
        return numbers

    def treebank_of(self, part: TreeColumns, trees: Int64) -> Treebank:
        """The treebank of some trees of a part, with a vocabulary of their own."""
        whole = Treebank((), (), *part.columns, offsets_of([part.n_nodes]), offsets_of([part.n_tokens]), part.origins)
        chosen = whole.take(trees)
        used_labels, label = np.unique(chosen.label, return_inverse=True)
        used_words, word = np.unique(chosen.word, return_inverse=True)
        tag = np.where(chosen.tag < 0, -1, np.searchsorted(used_labels, chosen.tag)).astype(np.int32)
        columns = Columns(label.astype(np.int32), chosen.start, chosen.end, chosen.parent, word.astype(np.int32), tag, chosen.above)
        labels = tuple(restore_label(label.decode("utf-8")) for label in self.label_strings.raw(used_labels.tolist()))
        vocabulary = tuple(restore_word(word.decode("utf-8")) for word in self.word_strings.raw(used_words.tolist()))
        return Treebank(labels, vocabulary, *columns, chosen.node_offset, chosen.token_offset, chosen.origins)
