"""Bracketed text as events: opening brackets, closing brackets and atoms (runs of anything else), found by vectorised NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.treebank import Int32, Int64

__all__ = ["Events", "find_events"]

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]

_OPEN, _CLOSE = np.uint8(ord("(")), np.uint8(ord(")"))


@dataclass(frozen=True)
class Events:
    """The events of a text in order.

    ``position`` is where each begins, ``byte`` its first byte, ``depth`` the number of brackets open after it (less than zero
    where too many were closed); ``atom_end`` is where each atom ends.
    """

    data: Bytes
    position: Int64
    byte: Bytes
    depth: Int32
    atom_end: Int64

    def __len__(self) -> int:
        return len(self.byte)

    @cached_property
    def is_open(self) -> Mask:
        return self.byte == _OPEN

    @cached_property
    def is_close(self) -> Mask:
        return self.byte == _CLOSE

    @cached_property
    def is_atom(self) -> Mask:
        return ~(self.is_open | self.is_close)

    def complete(self) -> int:
        """How many events there are up to the last point where no bracket is open."""
        outside = self.depth[::-1] <= 0
        last = int(outside.argmax()) if len(outside) else 0
        return len(self) - last if len(outside) and outside[last] else 0

    def first(self, count: int) -> Events:
        """The first ``count`` events."""
        if count == len(self):
            return self
        atoms = int(np.count_nonzero(self.is_atom[:count]))
        return Events(self.data, self.position[:count], self.byte[:count], self.depth[:count], self.atom_end[:atoms])

    def balance(self) -> bool:
        """Whether every bracket has its partner and every atom is inside one."""
        if not len(self):
            return True
        if self.depth[-1] != 0 or int(self.depth.min()) < 0:
            return False
        return not bool(((self.depth == 0) & self.is_atom).any())


def find_events(text: bytes) -> Events:
    """The events of a text.

    >>> events = find_events(b"(NP the cat)")
    >>> events.position.tolist(), events.depth.tolist(), events.atom_end.tolist()
    ([0, 1, 4, 8, 11], [1, 1, 1, 1, 0], [3, 7, 11])
    """
    data = np.frombuffer(text, dtype=np.uint8)
    begins = (data - _OPEN) < 2  # unsigned, so that whatever is below wraps to far above
    outside = (data - np.uint8(ord("\t"))) < 5  # \t \n \v \f \r
    outside |= data == ord(" ")
    outside |= begins
    inside = ~outside
    ends = inside.copy()
    ends[:-1] &= outside[1:]
    begins[:1] |= inside[:1]
    begins[1:] |= inside[1:] & outside[:-1]
    position = np.flatnonzero(begins)
    byte = data.take(position)
    step = (byte == _OPEN).view(np.int8) - (byte == _CLOSE).view(np.int8)
    return Events(data, position, byte, np.cumsum(step, dtype=np.int32), np.flatnonzero(ends) + 1)
