"""Equal byte slices get equal numbers: the vocabulary of a whole block at NumPy speed.

Each slice is read eight bytes at a time into one 64-bit word; a slice of at most eight bytes *is* its word, a longer one is a
hash of its words. Slices with equal hashes are then compared word by word, so the result is exact, not probable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.treebank import Int32, Int64

__all__ = ["Interned", "intern_slices"]

UInt64 = NDArray[np.uint64]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_REHASH = np.uint64(0xD6E8FEB86659FD93)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], dtype=np.uint64)


class Interned(NamedTuple):
    """``ids[i]`` is the number of slice ``i``; ``first[k]`` is the first slice with number ``k``."""

    ids: Int32
    first: Int64


def intern_slices(data: NDArray[np.uint8], start: Int64, end: Int64) -> Interned:
    """Number the distinct slices ``data[start:end]`` by first occurrence; ``data`` holds no zero byte.

    >>> text = np.frombuffer(b"NP VP NP", dtype=np.uint8)
    >>> intern_slices(text, np.array([0, 3, 6]), np.array([2, 5, 8])).ids.tolist()
    [0, 1, 0]
    """
    if not len(start):
        return Interned(np.zeros(0, np.int32), np.zeros(0, np.int64))
    words = _words_at_every_byte(data)
    length = end - start
    hashes = words[start] & _MASKS[np.minimum(length, 8)]
    long = np.flatnonzero(length > 8)
    if len(long):
        hashes[long] = _hash_long(words, start[long], length[long])
    representative = _group(hashes)
    if len(long):
        _separate_collisions(data, words, start, end, long, representative)
    return _number(representative)


def _words_at_every_byte(data: NDArray[np.uint8]) -> UInt64:
    """The little-endian 64-bit word that begins at each byte; the data is padded with zeros."""
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    return np.ndarray(shape=(len(data) + 1,), dtype="<u8", buffer=padded.data, strides=(1,))


def _hash_long(words: UInt64, start: Int64, length: Int64) -> UInt64:
    """A hash of each slice of more than eight bytes."""
    hashes = words[start] ^ (length.astype(np.uint64) * _MULTIPLIER)
    done, live = 8, np.arange(len(start))
    while len(live):
        word = words[start[live] + done] & _MASKS[np.minimum(length[live] - done, 8)]
        mixed = (hashes[live] ^ (hashes[live] >> np.uint64(29))) * _MULTIPLIER
        hashes[live] = mixed ^ word
        done += 8
        live = live[length[live] > done]
    # Set the top bit pattern apart from short slices, whose hash is their own bytes (at most eight, none zero).
    return (hashes ^ (hashes >> np.uint64(32))) * _REHASH


def _group(hashes: UInt64) -> Int64:
    """For each hash the index of the first equal one, through a table of slots that is refilled until none are left over."""
    bits = max(10, len(hashes).bit_length() - 3)
    shift = np.uint64(64 - min(bits, 22))
    table = np.zeros(1 << min(bits, 22), dtype=np.int64)
    representative = np.arange(len(hashes))
    pending, multiplier = representative, int(_MULTIPLIER)
    while len(pending):
        key = hashes[pending]
        slot = ((key ^ (key >> np.uint64(31))) * np.uint64(multiplier)) >> shift
        table[slot[::-1]] = pending[::-1]  # of several in one slot the last written stays: the first in order
        candidate = table[slot]
        same = hashes[candidate] == key
        representative[pending[same]] = candidate[same]
        pending = pending[~same]
        multiplier = (multiplier * int(_REHASH)) % (1 << 64) | 1
    return representative


def _separate_collisions(
    data: NDArray[np.uint8], words: UInt64, start: Int64, end: Int64, long: Int64, representative: Int64
) -> None:
    """Give a slice that only shares its hash with its representative, not its bytes, a representative of its own."""
    other = representative[long]
    length = end[long] - start[long]
    equal = length == (end[other] - start[other])
    done, live = 0, np.flatnonzero(equal & (other != long))
    while len(live):
        mask = _MASKS[np.minimum(length[live] - done, 8)]
        same = (words[start[long[live]] + done] & mask) == (words[start[other[live]] + done] & mask)
        equal[live[~same]] = False
        done += 8
        live = live[same & (length[live] > done)]
    seen: dict[bytes, int] = {}
    for index in long[~equal].tolist():
        representative[index] = seen.setdefault(data[start[index] : end[index]].tobytes(), index)


def _number(representative: Int64) -> Interned:
    first = np.flatnonzero(representative == np.arange(len(representative)))
    number = np.empty(len(representative), dtype=np.int32)
    number[first] = np.arange(len(first), dtype=np.int32)
    return Interned(number[representative], first)
