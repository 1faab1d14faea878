"""Penn-Treebank bracketed text, read into columns with vectorised NumPy.

The bytes are scanned for *events*: opening brackets, closing brackets and atoms (runs of anything else). Depth is a cumulative
sum over events, partners are found by a stable sort on depth, labels and words are slices. Nothing loops over nodes. Text that
does not balance is handed to :mod:`treegauge.io.diagnosis`, which finds the exact place.

What the text means is defined in :mod:`treegauge.trees.brackets`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import BracketError, InputError
from treegauge.io.diagnosis import first_error
from treegauge.io.interning import intern_slices
from treegauge.io.options import ReadOptions
from treegauge.io.sources import Source, text_chunks
from treegauge.trees.brackets import restore_label, restore_word
from treegauge.trees.treebank import Int32, Int64, Origin, Treebank

__all__ = ["stream_bracketed"]

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

_BLANK, _ATOM, _OPEN, _CLOSE = 0, 1, 2, 3
_KIND = np.full(256, _ATOM, dtype=np.uint8)
_KIND[list(b" \t\n\r\v\f")] = _BLANK
_KIND[ord("(")] = _OPEN
_KIND[ord(")")] = _CLOSE

_SUSPICIOUS_TREE_BYTES = 64 << 20
_LARGEST_TREE_BYTES = 1 << 30


def stream_bracketed(source: Source, options: ReadOptions) -> Iterator[Treebank]:
    """The trees of a source, a block at a time, in memory that does not grow with the file."""
    pieces: list[bytes] = []
    line, enough = 1, 0
    for chunk, is_last in text_chunks(source, options):
        pieces.append(chunk)
        if not is_last and sum(map(len, pieces)) < enough:
            continue
        block = _Block(b"".join(pieces), is_last, source.name, line, options)
        treebank, used = block.read()
        if len(treebank):
            yield treebank
        line += block.text.count(b"\n", 0, used)
        rest = block.text[used:]
        pieces = [rest]
        # A tree larger than a chunk: wait until there is twice as much, so that the work stays linear.
        enough = 0 if used else 2 * len(rest)


class _Block:
    """Text that begins at the beginning of a tree, and ends anywhere unless it is the last."""

    def __init__(self, text: bytes, is_last: bool, path: str, first_line: int, options: ReadOptions) -> None:
        self.text, self.is_last, self.path, self.first_line, self.options = text, is_last, path, first_line, options

    def read(self) -> tuple[Treebank, int]:
        """The trees that are complete in this block, and how many bytes they take."""
        if self.options.lines:
            used = len(self.text) if self.is_last else self.text.rfind(b"\n") + 1
            text = self._one_tree_a_line(self.text[:used])
            events = _events(text)
        else:
            text = _blank_comments(self.text, self.options.comment)
            events = _events(text)
            complete = len(events.depth) if self.is_last else _last_complete(events)
            used = len(self.text) if self.is_last else int(events.position[complete - 1]) + 1 if complete else 0
            events = events.first(complete)
            text = text[:used]
        if not used:
            self._refuse_endless()
        elif not _is_sound(text, events):
            raise self._error()
        return _treebank(text, events, self.path, self.first_line), used

    def _error(self) -> InputError:
        error = first_error(self.text, path=self.path, first_line=self.first_line, options=self.options)
        assert error is not None, "the fast reader refused what the careful one accepts"
        return error

    def _refuse_endless(self) -> None:
        """A bracket that is never closed must not make us read the rest of a huge file into memory."""
        if len(self.text) > _SUSPICIOUS_TREE_BYTES:
            head = self.text[:_SUSPICIOUS_TREE_BYTES].rpartition(b"\n")[0]
            error = first_error(head, path=self.path, first_line=self.first_line, options=self.options)
            if error is not None and "new tree begins" in error.problem:
                raise error
        if len(self.text) > _LARGEST_TREE_BYTES:
            raise BracketError(
                f"a tree of more than {_LARGEST_TREE_BYTES >> 20} MB", path=self.path, line=self.first_line, column=1
            )

    def _one_tree_a_line(self, text: bytes) -> bytes:
        """The text with blank lines as ``()`` and lines of several trees under one empty root."""
        comment = self.options.comment.encode()
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        for index, line in enumerate(lines):
            if comment and line.lstrip().startswith(comment):
                lines[index] = b""
            elif not line.strip():
                lines[index] = b"()"
            elif (count := _top_level_count(line)) != 1:
                if count < 0:
                    raise self._error()
                lines[index] = b"(" + b" " + line + b")"
        return b"\n".join(lines)


def _top_level_count(line: bytes) -> int:
    """The number of trees on a line; -1 if they do not balance."""
    if line.count(b"(") != line.count(b")"):
        return -1
    events = _events(line)
    if not _is_sound(line, events):
        return -1
    return int(((events.depth == 0) & (events.kind == _CLOSE)).sum())


def _blank_comments(text: bytes, comment: str) -> bytes:
    """The text with comment lines overwritten by blanks, so that every other byte keeps its place."""
    if not comment:
        return text
    pattern = re.compile(rb"^[ \t]*" + re.escape(comment.encode()) + rb"[^\n]*", re.MULTILINE)
    return pattern.sub(lambda match: b" " * len(match.group()), text)


@dataclass(frozen=True)
class _Events:
    """Brackets and atoms in text order: where each begins, its kind, how many brackets are open after it; where atoms end."""

    position: Int64
    kind: Bytes
    depth: Int32
    atom_end: Int64

    def first(self, count: int) -> _Events:
        if count == len(self.kind):
            return self
        atoms = int((self.kind[:count] == _ATOM).sum())
        return _Events(self.position[:count], self.kind[:count], self.depth[:count], self.atom_end[:atoms])


def _events(text: bytes) -> _Events:
    kind = _KIND[np.frombuffer(text, dtype=np.uint8)]
    in_atom = kind == _ATOM
    begins, ends = in_atom.copy(), in_atom.copy()
    begins[1:] &= ~in_atom[:-1]
    ends[:-1] &= ~in_atom[1:]
    begins |= kind >= _OPEN
    position = np.flatnonzero(begins)
    kind = kind[position]
    step = (kind == _OPEN).view(np.int8) - (kind == _CLOSE).view(np.int8)
    return _Events(position, kind, np.cumsum(step, dtype=np.int32), np.flatnonzero(ends) + 1)


def _last_complete(events: _Events) -> int:
    """How many events belong to complete trees."""
    ends = np.flatnonzero(events.depth == 0)
    return int(ends[-1]) + 1 if len(ends) else 0


def _is_sound(text: bytes, events: _Events) -> bool:
    """Whether brackets balance, no atom stands outside them, and the bytes are UTF-8 without zeros."""
    depth = events.depth
    if len(depth) and (depth[-1] != 0 or depth.min() < 0 or bool(((depth == 0) & (events.kind == _ATOM)).any())):
        return False
    if b"\0" in text:
        return False
    if not text.isascii():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return False
    return True


def _treebank(text: bytes, events: _Events, path: str, first_line: int) -> Treebank:
    """The columns of sound text."""
    kind, depth = events.kind, events.depth
    is_label = _label_mask(events)
    is_atom = kind == _ATOM
    is_word = is_atom & ~is_label
    words_before = np.cumsum(is_word, dtype=np.int32)
    opens = np.flatnonzero(kind == _OPEN)
    closes = np.flatnonzero(kind == _CLOSE)
    by_depth = _stable_order(depth[opens])
    partner = np.empty_like(opens)
    partner[by_depth] = closes[_stable_order(depth[closes] + 1)]
    words = np.flatnonzero(is_word)

    level = depth[opens]
    roots = np.flatnonzero(level == 1)
    node_offset = np.append(roots, len(opens))
    token_offset = np.append(words_before[opens[roots]], len(words)).astype(np.int64)
    first_node = np.repeat(roots, np.diff(node_offset))
    first_token = token_offset[:-1].repeat(np.diff(node_offset)).astype(np.int32)
    parent = _parents(level, by_depth) - first_node
    parent[roots] = -1
    above = _nodes_above(events, words, opens, level, by_depth)
    above_first = np.repeat(roots, np.diff(token_offset))

    label, labels = _label_column(text, events, opens, is_label, is_atom)
    word, vocabulary = _strings(text, events.position[words], events.atom_end[is_word[is_atom]])
    tag = np.where(_is_tagged(events, words, is_label), label[above], np.int32(-1)).astype(np.int32, copy=False)
    return Treebank(
        labels,
        tuple(map(restore_word, vocabulary)),
        label,
        words_before[opens] - first_token,
        words_before[partner] - first_token,
        parent.astype(np.int32),
        word,
        tag,
        (above - above_first).astype(np.int32),
        node_offset,
        token_offset,
        (Origin(path, _lines_of(text, events.position[opens[roots]], first_line)),),
    )


def _label_mask(events: _Events) -> Mask:
    """Which events are labels: atoms right after an opening bracket, but not the lone one of ``( word)``."""
    kind, position = events.kind, events.position
    after_open = np.zeros(len(kind), dtype=np.bool_)
    after_open[1:] = (kind[1:] == _ATOM) & (kind[:-1] == _OPEN)
    lone = np.zeros(len(kind), dtype=np.bool_)
    lone[1:-1] = after_open[1:-1] & (kind[2:] == _CLOSE) & (position[1:-1] - position[:-2] > 1)
    return after_open & ~lone


def _stable_order(depth: Int32) -> Int64:
    """Indices in the order of depth; NumPy sorts 16-bit integers by radix, which is many times faster."""
    small = len(depth) == 0 or int(depth.max()) < 1 << 16
    return np.argsort(depth.astype(np.uint16) if small else depth, kind="stable")


def _parents(level: Int32, by_depth: Int64) -> Int64:
    """The parent of each node (a root gets a meaningless one).

    A node one deeper than the node before it is that node's first child. In the order of depth, siblings stand together behind
    the first of them, and share its parent.
    """
    is_first = np.zeros(len(level), dtype=np.bool_)
    is_first[1:] = level[1:] == level[:-1] + 1
    place = np.where(is_first[by_depth], np.arange(len(level)), 0)
    parent = np.empty_like(by_depth)
    parent[by_depth] = by_depth[np.maximum.accumulate(place)] - 1
    return parent


def _nodes_above(events: _Events, words: Int64, opens: Int64, level: Int32, by_depth: Int64) -> Int64:
    """The node directly above each word: the last one opened, unless a bracket has closed since."""
    above = np.cumsum(events.kind == _OPEN)[words] - 1
    closed = np.cumsum(events.kind == _CLOSE)
    after_sibling = np.flatnonzero(closed[words] != closed[opens[above]])
    if len(after_sibling):
        # The last node opened before the word at the word's own depth.
        stride = len(events.kind)
        keys = level[by_depth].astype(np.int64) * stride + opens[by_depth]
        late = words[after_sibling]
        wanted = events.depth[late].astype(np.int64) * stride + late
        above[after_sibling] = by_depth[np.searchsorted(keys, wanted) - 1]
    return above


def _is_tagged(events: _Events, words: Int64, is_label: Mask) -> Mask:
    """Which words are the only child of the node above: ``(TAG word)`` or ``( word)``."""
    kind = events.kind
    closes_after = kind[words + 1] == _CLOSE
    begins = words - is_label[words - 1]
    return closes_after & (kind[begins - 1] == _OPEN)


def _label_column(text: bytes, events: _Events, opens: Int64, is_label: Mask, is_atom: Mask) -> tuple[Int32, tuple[str, ...]]:
    """The label of each node; a bracket with no label event after it has the empty one."""
    labelled = is_label[np.minimum(opens + 1, len(is_label) - 1)] if len(opens) else np.zeros(0, np.bool_)
    at = np.flatnonzero(is_label)
    ids, strings = _strings(text, events.position[at], events.atom_end[is_label[is_atom]])
    labels = [*map(restore_label, strings)]
    if labelled.all():
        return ids, tuple(labels)
    column = np.full(len(opens), len(labels), dtype=np.int32)
    column[labelled] = ids
    return column, (*labels, "")


def _strings(text: bytes, start: Int64, end: Int64) -> tuple[Int32, list[str]]:
    interned = intern_slices(np.frombuffer(text, dtype=np.uint8), start, end)
    first = zip(start[interned.first].tolist(), end[interned.first].tolist(), strict=True)
    return interned.ids, [text[low:high].decode("utf-8") for low, high in first]


def _lines_of(text: bytes, position: Int64, first_line: int) -> Int64:
    """The line of each position."""
    newlines = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    return np.searchsorted(newlines, position) + first_line
