"""From events to columns: what the Treebank table says of each node and each word, computed for all of them at once.

Nothing loops over nodes: partners are found by a stable sort on depth, labels and words are slices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.io.events import Events, Mask
from treegauge.io.interning import Interner, Words
from treegauge.trees.brackets import restore_label, restore_word
from treegauge.trees.treebank import Int32, Int64, Origin, Treebank

__all__ = ["Columns", "Names", "Part", "join_parts", "part_of"]


class Names:
    """The labels and words met so far; parts made with the same Names number them alike."""

    def __init__(self) -> None:
        self.label_names, self.word_names = Interner(), Interner()
        self._labels: list[str] = []
        self._vocabulary: list[str] = []
        self._empty_label: int | None = None

    def __len__(self) -> int:
        return len(self.label_names.strings) + len(self.word_names.strings)

    @property
    def empty_label(self) -> int:
        """The number of the label of ``( (S ...))``, which is no slice of the text."""
        if self._empty_label is None:
            self._empty_label = self.label_names.add("")
        return self._empty_label

    def labels(self) -> tuple[str, ...]:
        new = self.label_names.strings[len(self._labels) :]
        self._labels += map(restore_label, new)
        return tuple(self._labels)

    def vocabulary(self) -> tuple[str, ...]:
        new = self.word_names.strings[len(self._vocabulary) :]
        self._vocabulary += [restore_word(name) if "RB-" in name else name for name in new]
        return tuple(self._vocabulary)


class Columns(NamedTuple):
    """The columns of :class:`~treegauge.trees.treebank.Treebank`."""

    label: Int32
    start: Int32
    end: Int32
    parent: Int32
    word: Int32
    tag: Int32
    above: Int32


class Part(NamedTuple):
    """Some trees: their columns, and how many nodes and tokens each has."""

    columns: Columns
    n_nodes: Int64
    n_tokens: Int64
    origin: Origin


def join_parts(parts: list[Part], names: Names) -> Treebank:
    """One treebank of parts that share their names; the list is emptied, so that memory is free as early as possible."""
    origins = tuple(part.origin for part in parts)
    node_offset, token_offset = _offsets([part.n_nodes for part in parts]), _offsets([part.n_tokens for part in parts])
    columns = [[part.columns[k] for part in parts] for k in range(len(Columns._fields))]
    parts.clear()
    return Treebank(names.labels(), names.vocabulary(), *Columns._make(map(_joined, columns)), node_offset, token_offset, origins)


def _joined(column: list[Int32]) -> Int32:
    joined = column[0] if len(column) == 1 else np.concatenate([np.zeros(0, np.int32), *column])
    column.clear()
    return joined


def _offsets(sizes: list[Int64]) -> Int64:
    return np.cumsum(np.concatenate([np.zeros(1, np.int64), *sizes]))


def part_of(events: Events, names: Names, path: str, first_line: int) -> Part:
    """The columns of text whose brackets balance."""
    is_label = _label_mask(events)
    atoms = np.flatnonzero(events.is_atom)
    atom_is_label = is_label.take(atoms)
    label_atoms, word_atoms = np.flatnonzero(atom_is_label), np.flatnonzero(~atom_is_label)
    words = atoms.take(word_atoms)
    opens, closes = np.flatnonzero(events.is_open), np.flatnonzero(events.is_close)

    level = events.depth.take(opens)
    by_depth = _stable_order(level)
    roots = np.flatnonzero(level == 1)
    n_nodes = np.diff(roots, append=len(opens))

    is_word = events.is_atom & ~is_label
    words_before = np.cumsum(is_word.view(np.int8), dtype=np.int32)
    start = words_before.take(opens)
    end = np.empty_like(start)
    end[by_depth] = words_before.take(closes).take(_stable_order(events.depth.take(closes)))
    first_word = start.take(roots)
    n_tokens = np.diff(first_word.astype(np.int64), append=len(words))
    shift = np.repeat(first_word, n_nodes)
    start -= shift
    end -= shift
    parent = _parents(level, by_depth)
    parent -= np.repeat(roots.astype(np.int32), n_nodes)
    parent[roots] = -1

    text = Words(events.data)
    label_starts = events.position.take(atoms.take(label_atoms))
    label_ids = names.label_names.ids(text, label_starts, events.atom_end.take(label_atoms))
    label = _label_column(label_ids, is_label, opens, names)
    word = names.word_names.ids(text, events.position.take(words), events.atom_end.take(word_atoms))
    above, tag = _above_and_tag(events, is_label, is_word, words, opens, level, by_depth, label)
    above -= np.repeat(roots, n_tokens)
    origin = Origin(path, _lines_of(events, events.position.take(opens.take(roots)), first_line))
    return Part(Columns(label, start, end, parent, word, tag, above.astype(np.int32)), n_nodes, n_tokens, origin)


def _label_mask(events: Events) -> Mask:
    """Which events are labels: atoms right after an opening bracket, but not the lone one of ``( word)``."""
    is_label = np.zeros(len(events), dtype=np.bool_)
    is_label[1:] = events.is_atom[1:] & events.is_open[:-1]
    alone = np.flatnonzero(is_label[:-1] & events.is_close[1:])
    set_off = events.position.take(alone) - events.position.take(alone - 1) > 1
    is_label[alone[set_off]] = False
    return is_label


def _stable_order(depth: Int32) -> Int64:
    """Indices in the order of depth; NumPy sorts 16-bit integers by radix, which is many times faster."""
    small = len(depth) == 0 or int(depth.max()) < 1 << 16
    return np.argsort(depth.astype(np.uint16) if small else depth, kind="stable")


def _parents(level: Int32, by_depth: Int64) -> Int32:
    """The parent of each node (a root gets a meaningless one).

    A node one deeper than the node before it is that node's first child. In the order of depth, siblings stand together behind
    the first of them, and share its parent.
    """
    is_first = np.zeros(len(level), dtype=np.bool_)
    is_first[1:] = level[1:] > level[:-1]
    order = by_depth.astype(np.int32)
    place = np.arange(len(level), dtype=np.int32)
    place *= is_first.take(by_depth)
    np.maximum.accumulate(place, out=place)
    parent = np.empty_like(order)
    parent[by_depth] = order.take(place) - 1
    return parent


def _label_column(ids: Int32, is_label: Mask, opens: Int64, names: Names) -> Int32:
    """The label of each node; a bracket with no label event after it has the empty one."""
    if len(ids) == len(opens):
        return ids
    column = np.full(len(opens), names.empty_label, dtype=np.int32)
    column[np.flatnonzero(is_label.take(opens + 1))] = ids
    return column


def _above_and_tag(
    events: Events, is_label: Mask, is_word: Mask, words: Int64, opens: Int64, level: Int32, by_depth: Int64, label: Int32
) -> tuple[Int64, Int32]:
    """The node directly above each word, and its label if the word is its only child."""
    begins_tag = np.zeros(len(events), dtype=np.bool_)
    begins_tag[:-3] = is_label[1:-2] & is_word[2:-1] & events.is_close[3:]
    begins_tag[:-2] |= events.is_open[:-2] & is_word[1:-1] & events.is_close[2:]
    above = np.flatnonzero(begins_tag.take(opens))
    if len(above) == len(words):
        return above, label.take(above)
    is_tagged = begins_tag.take(words - 1) | begins_tag.take(words - 2)
    tagged, bare = np.flatnonzero(is_tagged), words[~is_tagged]
    every_above = np.empty(len(words), dtype=np.int64)
    every_above[tagged] = above
    # A word among other children: the last node opened before it at its own depth.
    stride = len(events)
    keys = level.take(by_depth).astype(np.int64) * stride + opens.take(by_depth)
    wanted = events.depth.take(bare).astype(np.int64) * stride + bare
    every_above[~is_tagged] = by_depth.take(np.searchsorted(keys, wanted) - 1)
    tag = np.full(len(words), -1, dtype=np.int32)
    tag[tagged] = label.take(above)
    return every_above, tag


def _lines_of(events: Events, position: Int64, first_line: int) -> Int64:
    """The line of each position."""
    newlines = np.flatnonzero(events.data == ord("\n"))
    return np.searchsorted(newlines, position) + first_line
