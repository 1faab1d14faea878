"""A set of bits for each sentence, all of them in one array of bytes: which of its brackets were reproduced, say.

A set takes as many bytes as its highest bit needs, and one or two for their number, where a Python integer takes forty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.compact_rows import BLOCK, narrow
from treegauge.trees.treebank import Int64

__all__ = ["BitSets"]

_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


class BitSets:
    """Sets of bits: ``sizes`` are the bytes of each set, ``content`` the bytes of all, the lowest bits first.

    >>> sets = BitSets.of(np.array([0b101, 0, 1 << 9], dtype=object))
    >>> sets.sizes.tolist(), sets.content.tolist(), sets.integers().tolist()
    ([1, 0, 2], [5, 0, 2], [5, 0, 512])
    """

    def __init__(self, sizes: NDArray[Any], content: NDArray[np.uint8]) -> None:
        self.sizes, self.content = sizes, content

    @classmethod
    def of(cls, sets: BitSets | NDArray[Any]) -> BitSets:
        """The sets that Python integers stand for."""
        if isinstance(sets, BitSets):
            return sets
        integers: list[int] = sets.tolist()
        sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
        content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
        return cls(narrow(np.array(sizes, dtype=np.int64)), np.frombuffer(content, dtype=np.uint8))

    @classmethod
    def of_masks(cls, mask: NDArray[np.bool_], counts: Int64) -> BitSets:
        """Masks of so many items for each sentence, one after the other: item i is bit i."""
        items = np.flatnonzero(mask)
        sentence = np.repeat(np.arange(len(counts)), counts)[items]
        bit = items - (np.cumsum(counts) - counts)[sentence]
        sizes = np.zeros(len(counts), dtype=np.int64)
        sizes[sentence] = bit // 8 + 1  # the last of a sentence, which is its highest, is what stays
        bits = np.zeros(8 * int(sizes.sum()), dtype=np.bool_)
        bits[bit + 8 * (np.cumsum(sizes) - sizes)[sentence]] = True
        return cls(narrow(sizes), np.packbits(bits, bitorder="little"))

    @classmethod
    def concatenate(cls, parts: Sequence[BitSets]) -> BitSets:
        """The sets of several one after the other."""
        return cls(np.concatenate([part.sizes for part in parts]), np.concatenate([part.content for part in parts]))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """The memory that the sets take."""
        return self.sizes.nbytes + self.content.nbytes

    def blocks(self) -> Iterator[BitSets]:
        """The sets, a block of sentences at a time; nothing is copied."""
        start = 0
        for first in range(0, len(self), BLOCK):
            sizes = self.sizes[first : first + BLOCK]
            end = start + int(sizes.sum(dtype=np.int64))
            yield BitSets(sizes, self.content[start:end])
            start = end

    def take(self, places: Int64) -> BitSets:
        """The sets at some places."""
        first, _ = self._edges()
        sizes = self.sizes.take(places)
        return BitSets(sizes, self.content.take(_bytes_of(first.take(places), sizes)))

    def integers(self) -> NDArray[Any]:
        """Each set as a Python integer."""
        first, last = self._edges()
        content = self.content.tobytes()
        sets = np.empty(len(self), dtype=object)
        for number, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            sets[number] = int.from_bytes(content[start:end], "little")
        return sets

    def counts(self) -> Int64:
        """The number of bits in each set."""
        return _sums(_ONES.take(self.content), self.sizes)

    def shared(self, other: BitSets) -> Int64:
        """The number of bits that each set shares with the set of the same sentence in ``other``."""
        sizes = np.minimum(self.sizes, other.sizes)
        ours, theirs = (sets.content.take(_bytes_of(sets._edges()[0], sizes)) for sets in (self, other))
        return _sums(_ONES.take(ours & theirs), sizes)

    def _edges(self) -> tuple[Int64, Int64]:
        """The first byte of each set, and the one after its last."""
        last = np.cumsum(self.sizes, dtype=np.int64)
        return last - self.sizes, last


def _bytes_of(first: Int64, sizes: NDArray[Any]) -> Int64:
    """The places of so many bytes from each first one on."""
    last = np.cumsum(sizes, dtype=np.int64)
    return np.arange(int(last[-1]) if len(last) else 0) + np.repeat(first - (last - sizes), sizes)


def _sums(numbers: NDArray[np.uint8], sizes: NDArray[Any]) -> Int64:
    """The sum of each of some stretches of these sizes."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(numbers, dtype=np.int64)])
    last = np.cumsum(sizes, dtype=np.int64)
    return running[last] - running[last - sizes]
