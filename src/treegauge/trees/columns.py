"""The columns of a treebank: built from Tree values, joined, picked, and hashed.

In the hash each column has a hash of its own, so that blocks of trees can be added one after the other: the outcome depends on the
trees alone, not on the file, the format, the blocks or the machine. Strings are numbered by first use and hashed with their
lengths, so that different treebanks never feed the same bytes to the hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.trees.discontinuous import blocks_of, walk
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.trees.treebank import Treebank

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


class Columns(NamedTuple):
    """The columns of :class:`~treegauge.trees.treebank.Treebank`."""

    label: Int32
    start: Int32
    end: Int32
    parent: Int32
    word: Int32
    tag: Int32
    above: Int32


@dataclass(frozen=True, eq=False)
class Blocks:
    """The blocks of words of the nodes with a gap, two or more each: ``row`` of the node, ``start`` and ``end`` of the block.

    Rows are in ascending order, and the blocks of a row from left to right, none touching the next. A node's own ``start`` is that
    of its first block, its ``end`` that of its last.
    """

    row: Int64
    start: Int32
    end: Int32

    def within(self, first_row: int, last_row: int) -> Blocks | None:
        """The blocks of the rows ``first_row:last_row``, renumbered from 0; None if there are none."""
        low, high = np.searchsorted(self.row, [first_row, last_row]).tolist()
        if low == high:
            return None
        return Blocks(self.row[low:high] - first_row, self.start[low:high], self.end[low:high])

    def take(self, node_offset: Int64, trees: Int64, new_offset: Int64) -> Blocks | None:
        """The blocks of some trees, in that order; None if there are none.

        The nodes of tree ``i`` were the rows ``node_offset[i]:node_offset[i+1]``; ``new_offset`` says the same of the chosen trees.
        """
        offset = np.searchsorted(self.row, node_offset)
        chosen, bounds = rows_of(offset, trees)
        if not len(chosen):
            return None
        moved = np.repeat(new_offset[:-1] - node_offset[trees], np.diff(bounds))
        return Blocks(self.row[chosen] + moved, self.start[chosen], self.end[chosen])

    def over(self, first_token: Int64, position: Int64) -> MovedBlocks:
        """The blocks over a changed sequence of tokens, in which ``position[i]`` tokens stand before old token ``i``.

        ``first_token`` is, for each block, the first token of its sentence.
        """
        base = position.take(first_token)
        start = position.take(first_token + self.start) - base
        end = position.take(first_token + self.end) - base
        rows, at = np.unique(self.row, return_index=True)
        filled = np.flatnonzero(start < end)
        row, low, high = self.row[filled], start[filled], end[filled]
        opens = np.ones(len(row), dtype=np.bool_)
        opens[1:] = (row[1:] != row[:-1]) | (low[1:] > high[:-1])
        first = np.flatnonzero(opens)
        row, low, high = row[first], low[first], high[np.append(first[1:], len(row))[: len(first)] - 1]
        left, right = np.searchsorted(row, rows), np.searchsorted(row, rows, side="right")
        # A node that has lost all its words stays where it began.
        hull_start, hull_end = start[at].copy(), start[at].copy()
        has_words = right > left
        hull_start[has_words], hull_end[has_words] = low[left[has_words]], high[right[has_words] - 1]
        stay = np.repeat(right - left > 1, right - left)
        blocks = Blocks(row[stay], low[stay].astype(np.int32), high[stay].astype(np.int32)) if stay.any() else None
        return MovedBlocks(rows, hull_start.astype(np.int32), hull_end.astype(np.int32), blocks)


class MovedBlocks(NamedTuple):
    """Nodes with gaps over changed tokens: the new ``start`` and ``end`` of each ``row``, and the ``blocks`` that are left."""

    row: Int64
    start: Int32
    end: Int32
    blocks: Blocks | None


def join_blocks(parts: Sequence[Blocks | None], n_nodes: Sequence[int]) -> Blocks | None:
    """The blocks of several treebanks joined into one; ``n_nodes`` are their numbers of nodes."""
    first_row = np.cumsum([0, *n_nodes])
    found = [(part, int(first)) for part, first in zip(parts, first_row, strict=False) if part is not None]
    if not found:
        return None
    return Blocks(
        np.concatenate([part.row + first for part, first in found]),
        np.concatenate([part.start for part, _ in found]),
        np.concatenate([part.end for part, _ in found]),
    )


class ColumnBuilder:
    """Columns under construction, from Tree values."""

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.vocabulary: dict[str, int] = {}
        self.label, self.start, self.end, self.parent = (list[int]() for _ in range(4))
        self.word, self.tag, self.above = (list[int]() for _ in range(3))
        self.node_offset, self.token_offset = [0], [0]
        self.block_row, self.block_start, self.block_end = (list[int]() for _ in range(3))

    def add_all(self, trees: Iterable[Tree]) -> ColumnBuilder:
        """Add trees, and return the builder."""
        for tree in trees:
            self.add(tree)
        return self

    def add(self, tree: Tree) -> None:
        """Add the rows of one tree."""
        row = position = 0
        stack: list[tuple[Child, int]] = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            if isinstance(node, str):
                self._add_word(node, -1, parent)
                position += 1
                continue
            if node.__class__ is not Tree:
                self._forget_tree()
                self._add_discontinuous(tree)
                break
            label = self.labels.setdefault(node.label, len(self.labels))
            self.label.append(label)
            self.start.append(position)
            self.end.append(position + node.width)
            self.parent.append(parent)
            if node.is_preterminal:
                self._add_word(str(node.children[0]), label, row)
                position += 1
            else:
                stack.extend((child, row) for child in reversed(node.children))
            row += 1
        self.node_offset.append(len(self.label))
        self.token_offset.append(len(self.word))

    def _forget_tree(self) -> None:
        """Remove the rows of the tree that is being added."""
        for column in (self.label, self.start, self.end, self.parent):
            del column[self.node_offset[-1] :]
        for column in (self.word, self.tag, self.above):
            del column[self.token_offset[-1] :]

    def _add_discontinuous(self, tree: Tree) -> None:
        first_row = self.node_offset[-1]
        words: list[tuple[str, int, int]] = [("", -1, -1)] * tree.width
        above: list[Tree] = []
        for node, places, parent in walk(tree):
            if isinstance(node, str):
                tag = self.label[first_row + parent] if above[parent].is_preterminal else -1
                words[places[0]] = node, tag, parent
                continue
            blocks = blocks_of(places)
            if len(blocks) > 1:
                self.block_row.extend(first_row + len(above) for _ in blocks)
                self.block_start.extend(block.start for block in blocks)
                self.block_end.extend(block.end for block in blocks)
            self.label.append(self.labels.setdefault(node.label, len(self.labels)))
            self.start.append(blocks[0].start)
            self.end.append(blocks[-1].end)
            self.parent.append(parent)
            above.append(node)
        for word, tag, parent in words:
            self._add_word(word, tag, parent)

    def _add_word(self, word: str, tag: int, above: int) -> None:
        self.word.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
        self.tag.append(tag)
        self.above.append(above)


def merge_strings(vocabularies: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Int32]]:
    """One vocabulary for several, and for each of them its strings' new ids; a last -1 is added, so that the id -1 stays -1."""
    ids: dict[str, int] = {}
    maps = [np.array([*(ids.setdefault(string, len(ids)) for string in strings), -1], np.int32) for strings in vocabularies]
    return tuple(ids), maps


def offsets(lengths: ArrayLike) -> Int64:
    """The offsets of consecutive runs of these lengths: 0, and the sum of the lengths up to each.

    >>> offsets([2, 3]).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def offsets_of(lengths: Sequence[Int64]) -> Int64:
    """The offsets of consecutive runs, given their lengths in several arrays."""
    return offsets(np.concatenate([np.zeros(0, np.int64), *lengths]))


def sum_within(values: Mask | Int64 | Int32, offset: Int64) -> Int64:
    """Sums over the runs ``offset[i]:offset[i+1]``; an empty run sums to 0."""
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total[offset[1:]] - total[offset[:-1]]


def depths(parent: Int64) -> Int64:
    """The number of rows above each row, by pointer doubling; ``parent`` has the row of the parent, -1 where there is none."""
    nothing = len(parent)
    up = np.append(np.where(parent < 0, nothing, parent), nothing)
    depth = np.append((parent >= 0).astype(np.int64), 0)
    while bool((more := depth.take(up)).any()):
        depth = depth + more
        up = up.take(up)
    return depth[:-1]


def rows_of(offset: Int64, trees: Int64) -> tuple[Int64, Int64]:
    """The rows that belong to ``trees``, in that order, and their new offsets.

    >>> rows, offset = rows_of(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> rows.tolist(), offset.tolist()
    ([5, 0, 1], [0, 1, 3])
    """
    length = offset[trees + 1] - offset[trees]
    new = offsets(length)
    rows: Int64 = np.repeat(offset[trees] - new[:-1], length) + np.arange(int(new[-1]))
    return rows, new


class Digest(Protocol):
    """A hash under construction, of :mod:`hashlib`."""

    def update(self, obj: bytes | memoryview, /) -> None: ...
    def digest(self) -> bytes: ...
    def copy(self) -> Digest: ...


class TreebankHash:
    """A SHA-256 under construction; of the trees it stores only the distinct strings.

    >>> from treegauge.trees.treebank import Treebank
    >>> bank = Treebank.parse("(S (NP (NN a)) (VP (V b))) (NP (NN b))")
    >>> whole, parts = TreebankHash(), TreebankHash()
    >>> whole.update(bank)
    >>> parts.update(bank[:1])
    >>> parts.update(bank[1:])
    >>> whole.hexdigest() == parts.hexdigest() == bank.sha256()
    True
    """

    def __init__(self) -> None:
        self._trees = 0
        self._labels = _Strings()
        self._words = _Strings()
        self._columns: list[Digest] = [hashlib.sha256() for _ in range(9)]
        self._nodes = 0
        self._blocks: Digest | None = None  # only where there are discontinuous trees

    def update(self, block: Treebank) -> None:
        """Add the trees of a block."""
        self._trees += len(block.node_offset) - 1
        label = self._labels.numbers(block.labels, block.label)
        word = self._words.numbers(block.vocabulary, block.word)
        columns = (
            *(np.diff(block.node_offset), np.diff(block.token_offset)),
            *(label[block.label], label[block.tag], word[block.word]),
            *(block.start, block.end, block.parent, block.above),
        )
        self._update_columns(columns)
        if block.blocks is not None:
            self._blocks = self._blocks or hashlib.sha256()
            gaps = np.stack([block.blocks.row + self._nodes, block.blocks.start, block.blocks.end], axis=1)
            self._blocks.update(np.ascontiguousarray(gaps, dtype="<i8").data)
        self._nodes += len(block.label)

    def update_numbered(self, block: Columns, n_nodes: Int64, n_tokens: Int64, labels: list[bytes], words: list[bytes]) -> None:
        """Add the trees of a block whose labels and words are numbered by their first use in all trees so far.

        ``labels`` and ``words`` are the new ones, each preceded by its length. One hash takes only such blocks, or only others.
        """
        self._trees += len(n_nodes)
        self._labels.digest.update(b"".join(labels))
        self._words.digest.update(b"".join(words))
        nodes = block.start, block.end, block.parent
        self._update_columns((n_nodes, n_tokens, block.label, block.tag, block.word, *nodes, block.above))

    def _update_columns(self, columns: Sequence[Int32 | Int64]) -> None:
        for digest, column in zip(self._columns, columns, strict=True):
            digest.update(np.ascontiguousarray(column, dtype="<i4").data)

    def copy(self) -> TreebankHash:
        """Another hash of the same trees, to which others can be added."""
        other = TreebankHash()
        other._trees, other._nodes = self._trees, self._nodes
        other._labels, other._words = self._labels.copy(), self._words.copy()
        other._columns = [column.copy() for column in self._columns]
        other._blocks = None if self._blocks is None else self._blocks.copy()
        return other

    def hexdigest(self) -> str:
        """The hash of all trees so far."""
        digest = hashlib.sha256(f"treegauge-treebank-2 {self._trees}\n".encode())
        for part in (self._labels.digest, self._words.digest, *self._columns):
            digest.update(part.digest())
        if self._blocks is not None:
            digest.update(self._blocks.digest())
        return digest.hexdigest()


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


class _Strings:
    """Numbers for strings by first use, and a hash of the strings in that order."""

    def __init__(self) -> None:
        self.digest: Digest = hashlib.sha256()
        self._numbers: dict[str, int] = {}
        self._last: tuple[tuple[str, ...], Int32] | None = None

    def numbers(self, strings: tuple[str, ...], column: Int32) -> Int32:
        """The number of each id's string; -1 for ids that were never used and, as the last one, for the id -1."""
        if self._last is None or self._last[0] is not strings:
            self._last = strings, np.full(len(strings) + 1, -1, dtype=np.int32)
        numbers = self._last[1]
        unseen = column[numbers[column] < 0]
        if len(unseen):
            first = np.full(len(strings), -1, dtype=np.int64)
            first[unseen[::-1]] = np.arange(len(unseen))[::-1]  # the last write wins, so it is made the first occurrence
            ids = np.flatnonzero(first >= 0)
            in_order: list[int] = ids[np.argsort(first[ids])].tolist()
            used = [strings[number] for number in in_order]
            self._learn(used)
            numbers[in_order] = list(map(self._numbers.__getitem__, used))
        return numbers

    def _learn(self, strings: list[str]) -> None:
        """Number the new strings, in the order of their use."""
        known = self._numbers
        new = dict.fromkeys([string for string in strings if string not in known] if known else strings)
        spelled = [f"{len(string) if string.isascii() else len(_utf8(string))}:{string}" for string in new]
        self.digest.update(_utf8("".join(spelled)))
        known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))

    def copy(self) -> _Strings:
        other = _Strings()
        other.digest, other._numbers = self.digest.copy(), self._numbers.copy()
        return other
