"""Sets of bits, one for each sentence, such as the brackets of the sentence that were reproduced.

A set takes as many bytes as its highest bit needs, plus four for their number; a Python integer would take forty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.columns import Int64

_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)
"""The number of bits of each byte."""


class BitSets:
    """A set of bits for each sentence: ``sizes`` are the numbers of bytes, ``content`` all bytes, the lowest bits first.

    >>> sets = BitSets.of(np.array([0b101, 0, 1 << 9], dtype=object))
    >>> sets.sizes.tolist(), sets.content.tolist(), sets.integers().tolist()
    ([1, 0, 2], [5, 0, 2], [5, 0, 512])
    """

    def __init__(self, sizes: NDArray[Any], content: NDArray[np.uint8]) -> None:
        self.sizes, self.content = sizes, content

    @classmethod
    def of(cls, sets: BitSets | NDArray[Any]) -> BitSets:
        """The sets of the bits of Python integers."""
        if isinstance(sets, BitSets):
            return sets
        integers: list[int] = sets.tolist()
        sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
        content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
        return cls(np.array(sizes, dtype=np.int32), np.frombuffer(content, dtype=np.uint8))

    @classmethod
    def of_masks(cls, mask: NDArray[np.bool_], counts: Int64) -> BitSets:
        """The sets of marked items, given the mask of all items and the number of items of each sentence; item i is bit i."""
        items = np.flatnonzero(mask)
        sentence = np.repeat(np.arange(len(counts)), counts)[items]
        bit = items - (np.cumsum(counts) - counts)[sentence]
        sizes = np.zeros(len(counts), dtype=np.int64)
        sizes[sentence] = bit // 8 + 1  # the last assignment stays: that of the highest bit
        bits = np.zeros(8 * int(sizes.sum()), dtype=np.bool_)
        bits[bit + 8 * (np.cumsum(sizes) - sizes)[sentence]] = True
        return cls(sizes.astype(np.int32), np.packbits(bits, bitorder="little"))

    @classmethod
    def concatenate(cls, parts: Sequence[BitSets]) -> BitSets:
        """The sets of several blocks, one after the other."""
        return cls(np.concatenate([part.sizes for part in parts]), np.concatenate([part.content for part in parts]))

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, places: Int64) -> BitSets:
        """The sets at some positions."""
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
        """The positions of the first byte of each set, and after its last."""
        last = np.cumsum(self.sizes, dtype=np.int64)
        return last - self.sizes, last


def _bytes_of(first: Int64, sizes: NDArray[Any]) -> Int64:
    """The positions of ``sizes[i]`` bytes from ``first[i]`` on, for all i."""
    last = np.cumsum(sizes, dtype=np.int64)
    return np.arange(int(last[-1]) if len(last) else 0) + np.repeat(first - (last - sizes), sizes)


def _sums(numbers: NDArray[np.uint8], sizes: NDArray[Any]) -> Int64:
    """The sums of consecutive stretches of these sizes."""
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(numbers, dtype=np.int64)])
    last = np.cumsum(sizes, dtype=np.int64)
    return running[last] - running[last - sizes]
