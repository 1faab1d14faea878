"""Numbers for byte slices, equal for equal slices: the vocabulary of a treebank, by NumPy.

A slice is read as 64-bit words of eight bytes; the key of a slice of at most eight bytes is its word, that of a longer one a hash
of its words. A hash table, in which all slices of a block are looked up at once, leads from the key to the number. Slices of more
than eight bytes are then compared with the string found for them, so the result is exact.
"""

from __future__ import annotations

import hashlib
import os
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.columns import Bytes, Int32, Int64

UInt64 = NDArray[np.uint64]
Number = TypeVar("Number", bound=np.generic)

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_REHASH = np.uint64(0xD6E8FEB86659FD93)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(8)] + [(1 << 64) - 1], dtype=np.uint64)
_SMALLEST_TABLE, _LARGEST_FIRST_TABLE = 1 << 10, 1 << 16
_GIANT_BYTES = 1 << 10
_FIRST = 1 << 12


class WordView:
    """The little-endian 64-bit words that begin at each byte of some data; zeros follow the data."""

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self._aligned = np.zeros(len(data) // 8 + 2, dtype="<u8")
        self._aligned.view(np.uint8)[: len(data)] = data
        self.every = np.ndarray(shape=(len(data) + 1,), dtype="<u8", buffer=self._aligned.data, strides=(1,))

    def at(self, start: Int64) -> UInt64:
        """``every[start]``, computed from the two aligned words that contain it: NumPy gathers unaligned words slowly."""
        index = start >> 3
        bits = ((start & 7) << 3).view(np.uint64)
        word = self._aligned.take(index)
        word >>= bits
        index += 1
        rest = self._aligned.take(index)
        rest <<= np.uint64(63) - bits
        rest <<= np.uint64(1)
        word |= rest
        return word


class Interner:
    """Numbers for the distinct slices of the blocks it has seen, in the order of their first occurrence.

    >>> interner = Interner()
    >>> text = WordView(np.frombuffer(b"NP VP NP", dtype=np.uint8))
    >>> interner.ids(text, np.array([0, 3, 6]), np.array([2, 5, 8])).tolist(), interner.strings
    ([0, 1, 0], ['NP', 'VP'])
    """

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._table = np.zeros(_SMALLEST_TABLE, dtype=np.int32)  # slot -> number + 1; 0 is free
        self._keys = np.zeros(_SMALLEST_TABLE + 1, dtype=np.uint64)  # number + 1 -> key
        # Random, so that no file can be made whose words all begin their search at the same slot; the numbers do not depend on it.
        self._multiplier = np.uint64(int.from_bytes(os.urandom(8), "little") | 1)
        self._pool = _StringPool()
        self._collisions: dict[bytes, int] = {}  # strings with the hash of an earlier string

    def ids(self, words: WordView, start: Int64, end: Int64) -> Int32:
        """The number of each slice ``start:end``; slices must not be empty or contain a blank or a zero byte.

        Raises UnicodeDecodeError if a new slice is not UTF-8.
        """
        if self.strings:
            return self._ids(words, start, end)
        self._make_room(len(start) // 4)
        # Once the frequent strings have their numbers, nearly all slices are found at the first look-up.
        return np.concatenate([self._ids(words, start[:_FIRST], end[:_FIRST]), self._ids(words, start[_FIRST:], end[_FIRST:])])

    def _ids(self, words: WordView, start: Int64, end: Int64) -> Int32:
        length = end - start
        keys = words.at(start)
        keys &= _MASKS.take(length, mode="clip")
        long = np.flatnonzero(length > 8)
        if len(long):
            keys[long] = _hash_long(words, start.take(long), length.take(long))
        numbers, new = self._look_up(keys)
        try:
            self.strings += self._pool.add(words.data, start.take(new), end.take(new))
        except UnicodeDecodeError:
            self._rehash(len(self.strings), len(self._table))  # without the new keys, which have no strings
            raise
        if len(long):
            self._resolve_collisions(words, start, length, long, numbers)
        return numbers

    def _look_up(self, keys: UInt64) -> tuple[Int32, Int64]:
        """The number of each key, and the indices of the first occurrences of new keys, which are numbered in that order."""
        known = count = len(self.strings)
        slot = self._home(keys)
        numbers = self._table.take(slot)
        pending = np.flatnonzero(self._keys.take(numbers) != keys)
        new: list[Int64] = []
        slot = slot.take(pending)
        while len(pending):
            pending_keys = keys.take(pending)
            free = np.flatnonzero(self._table.take(slot) == 0)
            if len(free):
                settled = self._settle(slot, free, pending_keys, count)
                new.append(pending.take(settled))
                count += len(settled)
            holder = self._table.take(slot)
            same = self._keys.take(holder) == pending_keys
            numbers[pending] = holder  # final for those with the same key; the others are looked up again
            others = np.flatnonzero(~same)
            pending = pending.take(others)
            if 2 * count > len(self._table):
                self._grow(count)
                slot = self._home(keys.take(pending))
            else:
                slot = (slot.take(others) + 1) & (len(self._table) - 1)
        numbers -= 1
        if len(new) > 1:
            return numbers, self._renumber(numbers, known, np.concatenate(new))
        return numbers, new[0] if new else np.zeros(0, np.int64)

    def _home(self, keys: UInt64) -> Int64:
        """The slot where the search for a key begins."""
        shift = np.uint64(65 - len(self._table).bit_length())
        return ((keys ^ (keys >> np.uint64(31))) * self._multiplier >> shift).view(np.int64)

    def _make_room(self, count: int) -> None:
        """Start with an empty table for about so many keys, which saves growing it step by step."""
        size = min(max(_SMALLEST_TABLE, 1 << (2 * count).bit_length()), _LARGEST_FIRST_TABLE)
        self._table, self._keys = np.zeros(size, dtype=np.int32), np.zeros(size + 1, dtype=np.uint64)

    def _settle(self, slot: Int64, free: Int64, keys: UInt64, count: int) -> Int64:
        """Give each free slot to the first key that needs it, and return the indices of those keys."""
        wanted = slot.take(free)
        # The last write to a slot wins; written in reverse, that is the first key in the order of the text.
        self._table[wanted[::-1]] = np.arange(len(free), 0, -1, dtype=np.int32)
        winners = np.flatnonzero(self._table.take(wanted) == np.arange(1, len(free) + 1, dtype=np.int32))
        settled = free.take(winners)
        self._table[wanted.take(winners)] = np.arange(count + 1, count + 1 + len(winners), dtype=np.int32)
        self._keys[count + 1 : count + 1 + len(winners)] = keys.take(settled)
        return settled

    def _grow(self, count: int) -> None:
        """Make the table four times as large."""
        self._rehash(count, 4 * len(self._table))

    def _rehash(self, count: int, size: int) -> None:
        """Make a table of the given size with the first ``count`` keys."""
        keys = self._keys[1 : count + 1]
        self._table = np.zeros(size, dtype=np.int32)
        self._keys = np.zeros(size + 1, dtype=np.uint64)
        self._keys[1 : count + 1] = keys
        pending, slot = np.arange(1, count + 1, dtype=np.int32), self._home(keys)
        while len(pending):
            free = np.flatnonzero(self._table.take(slot) == 0)
            self._table[slot.take(free)] = pending.take(free)
            left = np.flatnonzero(self._table.take(slot) != pending)
            pending, slot = pending.take(left), (slot.take(left) + 1) & (size - 1)

    def _renumber(self, numbers: Int32, known: int, first: Int64) -> Int64:
        """Renumber the new keys by their first occurrences, and return these in order."""
        order = np.argsort(first)
        rank = np.empty(len(order) + known + 1, dtype=np.int32)
        rank[: known + 1] = np.arange(known + 1)
        rank[order + known + 1] = np.arange(known + 1, known + 1 + len(order))
        numbers[:] = rank.take(numbers + 1) - 1
        self._table = rank.take(self._table)
        self._keys[known + 1 : known + 1 + len(order)] = self._keys.take(order + known + 1)
        return first.take(order)

    def _resolve_collisions(self, words: WordView, start: Int64, length: Int64, long: Int64, numbers: Int32) -> None:
        """Give a number of its own to each long slice that has the hash of a string but differs from it."""
        number = numbers.take(long)
        for index in long.take(self._pool.differences(words, start.take(long), length.take(long), number)).tolist():
            name = words.data[start[index] : start[index] + length[index]].tobytes()
            if name not in self._collisions:
                self._collisions[name] = self.add(name.decode("utf-8"))
            numbers[index] = self._collisions[name]

    def add(self, string: str) -> int:
        """A new number for a string that no look-up finds, such as the empty one."""
        self.strings.append(string)
        name = np.frombuffer(string.encode("utf-8") + b" ", dtype=np.uint8)
        self._pool.add(name, np.array([0]), np.array([len(name) - 1]))
        if len(self.strings) >= len(self._keys):
            self._grow(len(self.strings) - 1)
        return len(self.strings) - 1


class _StringPool:
    """The bytes of all strings, one after the other."""

    def __init__(self) -> None:
        self.data = np.zeros(1 << 12, dtype=np.uint8)
        self.size = 0
        self.start = np.zeros(1 << 8, dtype=np.int64)
        self.length = np.zeros(1 << 8, dtype=np.int64)
        self.count = 0

    def add(self, data: Bytes, start: Int64, end: Int64) -> list[str]:
        """Store slices, and return them as strings."""
        if not len(start):
            return []
        length = end - start
        behind = np.cumsum(length + 1)
        offset = behind - length - 1
        where: Int64 = np.repeat(start - offset, length + 1)
        where += np.arange(len(where))
        joined = data.take(where, mode="clip")
        joined[behind - 1] = ord(" ")
        strings = joined[:-1].tobytes().decode("utf-8").split(" ")
        first, last = self.count, self.count + len(start)
        self.start, self.length = with_room(self.start, last), with_room(self.length, last)
        self.start[first:last], self.length[first:last] = offset + self.size, length
        # Eight extra bytes, so that a word can be read at every stored byte.
        self.data = with_room(self.data, self.size + len(joined) + 8)
        self.data[self.size : self.size + len(joined)] = joined
        self.size, self.count = self.size + len(joined), last
        return strings

    def differences(self, words: WordView, start: Int64, length: Int64, number: Int32) -> Int64:
        """The indices of the slices that differ from the string with their number."""
        own = np.ndarray(shape=(self.size + 1,), dtype="<u8", buffer=self.data.data, strides=(1,))
        own_start = self.start.take(number)
        equal = self.length.take(number) == length
        for index in np.flatnonzero(equal & (length > _GIANT_BYTES)).tolist():
            here, there, size = start[index], own_start[index], length[index]
            equal[index] = np.array_equal(words.data[here : here + size], self.data[there : there + size])
        done, live = 0, np.flatnonzero(equal & (length <= _GIANT_BYTES))
        while len(live):
            mask = _MASKS.take(length.take(live) - done, mode="clip")
            same = (words.every[start.take(live) + done] & mask) == (own[own_start.take(live) + done] & mask)
            equal[live[~same]] = False
            done += 8
            live = live[same & (length.take(live) > done)]
        return np.flatnonzero(~equal)


def with_room(array: NDArray[Number], size: int) -> NDArray[Number]:
    """The array if it has at least ``size`` items; else a copy of at least twice its length, zeros at the end."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _hash_long(words: WordView, start: Int64, length: Int64) -> UInt64:
    """A hash of each slice of more than eight bytes; it never equals the key of a shorter slice."""
    hashes = words.every[start] ^ (length.astype(np.uint64) * _MULTIPLIER)
    done, live = 8, np.flatnonzero(length <= _GIANT_BYTES)
    while len(live):
        word = words.every[start.take(live) + done] & _MASKS.take(length.take(live) - done, mode="clip")
        mixed = hashes.take(live)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _MULTIPLIER
        hashes[live] = mixed ^ word
        done += 8
        live = live.take(np.flatnonzero(length.take(live) > done))
    for index in np.flatnonzero(length > _GIANT_BYTES).tolist():
        digest = hashlib.blake2b(words.data[start[index] : start[index] + length[index]].tobytes(), digest_size=8).digest()
        hashes[index] = int.from_bytes(digest, "little")
    # The lowest byte of a hash is zero; that of a word never is.
    return ((hashes ^ (hashes >> np.uint64(32))) * _REHASH) & ~np.uint64(0xFF)
