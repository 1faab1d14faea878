"""The columns of a treebank: built from Tree values, joined, picked, and hashed.

The hash of a treebank, from any number of blocks of it.

Each column has a hash of its own, so that blocks can be added one after the other: what comes out depends on the trees alone, not
on the file, the format, the blocks or the machine. Strings are numbered by first use, and go in with their lengths, so that no two
treebanks share what is hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.tree import Child, Tree

__all__ = [
    "ColumnBuilder",
    "HashState",
    "Int32",
    "Int64",
    "TreebankHash",
    "canonical_ids",
    "join",
    "join_offsets",
    "merge_strings",
    "rows_of",
]

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class ColumnBuilder:
    """Columns under construction, from Tree values."""

    def __init__(self) -> None:
        self.labels: dict[str, int] = {}
        self.vocabulary: dict[str, int] = {}
        self.label: list[int] = []
        self.start: list[int] = []
        self.end: list[int] = []
        self.parent: list[int] = []
        self.word: list[int] = []
        self.tag: list[int] = []
        self.above: list[int] = []
        self.node_offset = [0]
        self.token_offset = [0]

    def add_all(self, trees: Iterable[Tree]) -> ColumnBuilder:
        for tree in trees:
            self.add(tree)
        return self

    def add(self, tree: Tree) -> None:
        row = position = 0
        stack: list[tuple[Child, int]] = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            if isinstance(node, str):
                self._add_word(node, -1, parent)
                position += 1
                continue
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

    def _add_word(self, word: str, tag: int, above: int) -> None:
        self.word.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
        self.tag.append(tag)
        self.above.append(above)


def merge_strings(vocabularies: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Int32]]:
    """One vocabulary for several, and for each the new ids of its old ones (one more, -1, so that the id -1 stays -1)."""
    ids: dict[str, int] = {}
    maps = [np.array([*(ids.setdefault(string, len(ids)) for string in strings), -1], np.int32) for strings in vocabularies]
    return tuple(ids), maps


def join(columns: Sequence[Int32]) -> Int32:
    return np.concatenate(columns) if columns else np.zeros(0, np.int32)


def join_offsets(offsets: Sequence[Int64]) -> Int64:
    return offsets_of([np.diff(offset) for offset in offsets])


def offsets_of(lengths: Sequence[Int64]) -> Int64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))])


def rows_of(offset: Int64, trees: Int64) -> tuple[Int64, Int64]:
    """The rows that belong to ``trees``, in that order, and their new offsets.

    >>> rows, offset = rows_of(np.array([0, 2, 5, 6]), np.array([2, 0]))
    >>> rows.tolist(), offset.tolist()
    ([5, 0, 1], [0, 1, 3])
    """
    length = offset[trees + 1] - offset[trees]
    new = offsets_of([length])
    rows: Int64 = np.repeat(offset[trees] - new[:-1], length) + np.arange(int(new[-1]))
    return rows, new


def canonical_ids(strings: Sequence[str], column: Int32) -> tuple[list[str], Int32]:
    """The strings a column uses in the order of their first use, and for each old id its place there (-1: unused; last: -1).

    Equal strings under two ids get one place, so that the outcome depends on what the column says only.

    >>> used, ids = canonical_ids(("a", "b", "c", "b"), np.array([3, 0, 1], np.int32))
    >>> used, ids.tolist()
    (['b', 'a'], [1, 0, -1, 0, -1])
    """
    first = np.full(len(strings), len(column), dtype=np.int64)
    np.minimum.at(first, column, np.arange(len(column)))
    order = np.argsort(first, kind="stable")[: int((first < len(column)).sum())]
    places: dict[str, int] = {}
    canonical = np.full(len(strings) + 1, -1, dtype=np.int32)
    numbers: list[int] = order.tolist()
    canonical[order] = [places.setdefault(strings[number], len(places)) for number in numbers]
    return list(places), canonical


class Digest(Protocol):
    """A hash under construction, of :mod:`hashlib`."""

    def update(self, obj: bytes | memoryview, /) -> None: ...
    def digest(self) -> bytes: ...
    def copy(self) -> Digest: ...


class _Columns(Protocol):
    """The columns of a treebank, see :class:`~treegauge.trees.treebank.Treebank`."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def vocabulary(self) -> tuple[str, ...]: ...
    @property
    def label(self) -> Int32: ...
    @property
    def start(self) -> Int32: ...
    @property
    def end(self) -> Int32: ...
    @property
    def parent(self) -> Int32: ...
    @property
    def word(self) -> Int32: ...
    @property
    def tag(self) -> Int32: ...
    @property
    def above(self) -> Int32: ...
    @property
    def node_offset(self) -> Int64: ...
    @property
    def token_offset(self) -> Int64: ...


class HashState(NamedTuple):
    """The state of a :class:`TreebankHash` at some time."""

    trees: int
    labels: tuple[int, Digest]
    words: tuple[int, Digest]
    columns: list[Digest]


class TreebankHash:
    """A SHA-256 under construction; it remembers the distinct strings it has seen, and nothing else of the trees.

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

    def update(self, block: _Columns) -> None:
        """Add the trees of a block."""
        self._trees += len(block.node_offset) - 1
        label = self._labels.numbers(block.labels, block.label)
        word = self._words.numbers(block.vocabulary, block.word)
        columns = (
            *(np.diff(block.node_offset), np.diff(block.token_offset)),
            *(label[block.label], label[block.tag], word[block.word]),
            *(block.start, block.end, block.parent, block.above),
        )
        for digest, column in zip(self._columns, columns, strict=True):
            digest.update(np.ascontiguousarray(column, dtype="<i4").data)

    def mark(self) -> HashState:
        """The state so far, to go back to."""
        return HashState(self._trees, self._labels.mark(), self._words.mark(), [column.copy() for column in self._columns])

    def go_back(self, mark: HashState) -> None:
        """Forget the blocks that came after a mark."""
        self._trees = mark.trees
        self._labels.go_back(*mark.labels)
        self._words.go_back(*mark.words)
        self._columns = [column.copy() for column in mark.columns]

    def hexdigest(self) -> str:
        """The hash of all trees so far."""
        digest = hashlib.sha256(f"treegauge-treebank-2 {self._trees}\n".encode())
        for part in (self._labels.digest, self._words.digest, *self._columns):
            digest.update(part.digest())
        return digest.hexdigest()


class _Strings:
    """Numbers for strings by first use, and a hash of the strings in that order."""

    def __init__(self) -> None:
        self.digest: Digest = hashlib.sha256()
        self._numbers: dict[str, int] = {}
        self._last: tuple[tuple[str, ...], Int32] | None = None

    def numbers(self, strings: tuple[str, ...], column: Int32) -> Int32:
        """For each id of a column its string's number; ids that were never used get -1, and so does the id -1."""
        if self._last is None or self._last[0] is not strings:
            self._last = strings, np.full(len(strings) + 1, -1, dtype=np.int32)
        numbers = self._last[1]
        unseen = column[numbers[column] < 0]
        if len(unseen):
            first = np.full(len(strings), -1, dtype=np.int64)
            first[unseen[::-1]] = np.arange(len(unseen))[::-1]  # of several places the last one written stays: the first
            ids = np.flatnonzero(first >= 0)
            in_order: list[int] = ids[np.argsort(first[ids])].tolist()
            numbers[in_order] = [self._number(strings[number]) for number in in_order]
        return numbers

    def _number(self, string: str) -> int:
        number = self._numbers.get(string)
        if number is None:
            number = self._numbers[string] = len(self._numbers)
            encoded = string.encode("utf-8", "surrogatepass")
            self.digest.update(b"%d:%b" % (len(encoded), encoded))
        return number

    def mark(self) -> tuple[int, Digest]:
        return len(self._numbers), self.digest.copy()

    def go_back(self, size: int, digest: Digest) -> None:
        while len(self._numbers) > size:
            self._numbers.popitem()
        self.digest = digest.copy()
        self._last = None
