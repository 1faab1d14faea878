"""From events to columns: what the Treebank table says of each node and each word, computed for all of them at once."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from treegauge.io.events import Events, Mask, find_events
from treegauge.io.interning import Interner, Words
from treegauge.io.nesting import nesting_of
from treegauge.trees.brackets import restore_label, restore_word
from treegauge.trees.treebank import Int32, Int64, Origin, Treebank

__all__ = ["Columns", "Names", "Part", "join_parts", "part_of"]

_NEWLINE = np.uint8(ord("\n"))
_SET_OFF = re.compile(rb"\(([ \t\n\r\v\f]+)([^() \t\n\r\v\f]++)(?=[ \t\n\r\v\f]*[^) \t\n\r\v\f])")


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
    origins: tuple[Origin, ...]


def join_parts(parts: list[Part], names: Names) -> Treebank:
    """One treebank of parts that share their names; the list is emptied, so that memory is free as early as possible."""
    origins = tuple(origin for part in parts for origin in part.origins)
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
    """The columns of text whose brackets balance.

    Raises UnicodeDecodeError if it is not UTF-8.
    """
    opens, words = events.opens, events.words
    open_position = events.position.take(opens)
    has_label = ~events.outside.take(open_position + 1)
    every = bool(has_label.all())
    if not every and _has_label_set_off(events, opens[~has_label]):
        return part_of(find_events(_with_labels_at_brackets(events)), names, path, first_line)
    start, end, parent, roots, above, is_tagged, nodes_before = nesting_of(events)

    text = Words(events.data)
    label_end, word_end = _ends(events, opens, words, has_label, start, nodes_before)
    if every:
        label = names.label_names.ids(text, open_position + 1, label_end)
    else:
        label = np.full(len(opens), names.empty_label, dtype=np.int32)
        label[has_label] = names.label_names.ids(text, open_position[has_label] + 1, label_end)
    word = names.word_names.ids(text, events.position.take(words), word_end)
    tag = label.take(above)
    if is_tagged is not None:
        tag[~is_tagged] = -1

    n_nodes = np.diff(roots, append=len(opens))
    first_word = start.take(roots)
    n_tokens = np.diff(first_word.astype(np.int64), append=len(words))
    shift = np.repeat(first_word, n_nodes)
    start -= shift
    end -= shift
    parent -= np.repeat(roots.astype(np.int32), n_nodes)
    parent[roots] = -1
    above = above - np.repeat(roots, n_tokens)
    columns = Columns(label, start, end, parent, word, tag, above.astype(np.int32))
    origin = Origin(path, _lines_of(events, open_position.take(roots), first_line))
    return Part(columns, n_nodes, n_tokens, (origin,))


def _ends(
    events: Events, opens: Int64, words: Int64, has_label: Mask, words_before: Int32, nodes_before: Int64
) -> tuple[Int64, Int64]:
    """Where labels and words end, given the numbers of words before nodes and of nodes before words."""
    every = bool(has_label.all())
    label_end = events.end_before((opens if every else opens[has_label]) + 1)
    word_end = events.end_before(words + 1)
    if label_end is not None and word_end is not None:
        return label_end, word_end
    # Labels and words are all the atoms there are, so the number of those before tells which one it is.
    labels_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(has_label)])
    label_atom = labels_before[:-1] + words_before
    word_atom = np.arange(len(words)) + labels_before.take(nodes_before)
    return events.atom_end.take(label_atom if every else label_atom[has_label]), events.atom_end.take(word_atom)


def _has_label_set_off(events: Events, opens: Int64) -> bool:
    """Whether an opening bracket has its label behind a blank, ``( NP ...``; the lone atom of ``( word)`` is no label."""
    set_off = opens[events.is_word.take(opens + 1)]
    return bool((~events.is_close.take(set_off + 2)).any())


def _with_labels_at_brackets(events: Events) -> bytes:
    """The text with each opening bracket moved to its label."""
    text = events.data[: int(events.position[-1]) + 1].tobytes()
    return _SET_OFF.sub(rb"\1(\2", text)


def _lines_of(events: Events, position: Int64, first_line: int) -> Int64:
    """The line of each position, which ascend."""
    data = events.data[: int(position[-1])] if len(position) else events.data[:0]
    lines = np.arange(first_line, first_line + len(position))
    if int(np.count_nonzero(data == _NEWLINE)) == len(position) - 1 and bool((data.take(position[1:] - 1) == _NEWLINE).all()):
        return lines  # the usual case: each begins its line
    return np.searchsorted(np.flatnonzero(data == _NEWLINE), position) + first_line
