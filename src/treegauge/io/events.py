"""Bracketed text as events: opening brackets, closing brackets and words, found by vectorised NumPy.

A label is no event of its own: it is the atom (run of anything but blanks and brackets) right behind an opening bracket.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.treebank import Int32, Int64

__all__ = ["Bytes", "Events", "Mask", "find_events"]

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

_OPEN, _CLOSE = np.uint8(ord("(")), np.uint8(ord(")"))
_TAIL = 1 << 12


@dataclass(frozen=True)
class Events:
    """The events of a text in order.

    ``position`` is where each begins, ``byte`` its first byte, ``depth`` the number of brackets open after it (less than zero
    where too many were closed). ``outside`` says of each byte of the text whether it is a blank or a bracket.
    """

    data: Bytes
    outside: Mask
    position: Int64
    byte: Bytes
    depth: Int32

    def __len__(self) -> int:
        return len(self.byte)

    @cached_property
    def is_open(self) -> Mask:
        return self.byte == _OPEN

    @cached_property
    def is_close(self) -> Mask:
        return self.byte == _CLOSE

    @cached_property
    def is_word(self) -> Mask:
        return ~(self.is_open | self.is_close)

    @cached_property
    def opens(self) -> Int64:
        """The indices of opening brackets among the events."""
        return np.flatnonzero(self.is_open)

    @cached_property
    def words(self) -> Int64:
        """The indices of words among the events."""
        return np.flatnonzero(self.is_word)

    @cached_property
    def atom_end(self) -> Int64:
        """Where each atom of the text ends, be it a label or a word."""
        edge = ~self.outside
        edge[:-1] &= self.outside[1:]
        return np.flatnonzero(edge) + 1

    def end_before(self, event: Int64) -> Int64 | None:
        """Where the atom ends that comes before each of some events; None if one is set off by more than a single blank."""
        end = self.position.take(event)
        end -= self.outside.take(end - 1)
        return None if bool(self.outside.take(end - 1).any()) else end

    def complete(self) -> int:
        """How many events there are up to the last point where no bracket is open."""
        for tail in (self.depth[-_TAIL:], self.depth):  # that point is almost always near the end
            outside = np.flatnonzero(tail <= 0)
            if len(outside):
                return len(self) - len(tail) + int(outside[-1]) + 1
        return 0

    def first(self, count: int) -> Events:
        """The first ``count`` events."""
        if count == len(self):
            return self
        return Events(self.data, self.outside, self.position[:count], self.byte[:count], self.depth[:count])

    def balance(self) -> bool:
        """Whether every bracket has its partner and every word is inside one."""
        if not len(self):
            return True
        if self.depth[-1] != 0 or int(self.depth.min()) < 0:
            return False
        return not len(self.words) or int(self.depth.take(self.words).min()) > 0


def find_events(text: bytes) -> Events:
    """The events of a text.

    >>> events = find_events(b"(NP the cat)")
    >>> events.position.tolist(), events.depth.tolist()
    ([0, 4, 8, 11], [1, 1, 1, 0])
    """
    data = np.frombuffer(text, dtype=np.uint8)
    is_bracket = (data - _OPEN) < 2  # unsigned, so that whatever is below wraps to far above
    outside = (data - np.uint8(ord("\t"))) < 5  # \t \n \v \f \r
    outside |= data == ord(" ")
    outside |= is_bracket
    edge = ~outside
    edge[1:] &= outside[:-1]
    edge[1:] &= data[:-1] != _OPEN
    edge |= is_bracket
    position = np.flatnonzero(edge)
    byte = data.take(position)
    step = (byte == _OPEN).view(np.int8) - (byte == _CLOSE).view(np.int8)
    return Events(data, outside, position, byte, np.cumsum(step, dtype=np.int32))
