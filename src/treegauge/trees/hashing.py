"""The hash of a treebank, from any number of blocks of it.

Each column has a hash of its own, so that blocks can be added one after the other: what comes out depends on the trees alone, not
on the file, the format, the blocks or the machine. Strings are numbered by first use, and go in with their lengths, so that no two
treebanks share what is hashed.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple, Protocol

import numpy as np

from treegauge.trees.columns import Int32, Int64

__all__ = ["Mark", "TreebankHash"]


class Digest(Protocol):
    """A hash under construction, of :mod:`hashlib`."""

    def update(self, obj: bytes | memoryview, /) -> None: ...
    def digest(self) -> bytes: ...
    def copy(self) -> Digest: ...


class _Block(Protocol):
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


class Mark(NamedTuple):
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

    def update(self, block: _Block) -> None:
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

    def mark(self) -> Mark:
        """The state so far, to go back to."""
        return Mark(self._trees, self._labels.mark(), self._words.mark(), [column.copy() for column in self._columns])

    def go_back(self, mark: Mark) -> None:
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
