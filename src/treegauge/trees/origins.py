"""Where trees came from: file, line and sentence id, kept through slicing, picking and joining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["Origin", "parts_of", "pick_origins", "place_of"]

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Origin:
    """Where a run of trees came from: the file, and for each tree its line (1-based) and, if the format has one, its id."""

    path: str
    line: Int64
    ids: tuple[str, ...] | None = None

    def place(self, index: int) -> str:
        """``file:line`` of a tree, with the sentence id where there is one."""
        identity = f" (sentence {self.ids[index]})" if self.ids is not None else ""
        return f"{self.path or '<input>'}:{self.line[index]}{identity}"

    def part(self, first: int, last: int) -> Origin:
        return Origin(self.path, self.line[first:last], None if self.ids is None else self.ids[first:last])

    def pick(self, indices: Int64) -> Origin:
        numbers: list[int] = indices.tolist()
        return Origin(self.path, self.line[indices], None if self.ids is None else tuple(self.ids[i] for i in numbers))


def place_of(origins: Sequence[Origin], index: int) -> str:
    """``file:line`` of tree ``index``, or ``tree N`` for one that was not read from a file."""
    first = 0
    for origin in origins:
        if index - first < len(origin.line):
            return origin.place(index - first) if origin.line[index - first] else f"tree {index + 1}"
        first += len(origin.line)
    return f"tree {index + 1}"


def parts_of(origins: Sequence[Origin], first: int, last: int) -> Iterator[Origin]:
    """The origins of the trees ``first:last``."""
    seen = 0
    for origin in origins:
        low, high = max(first - seen, 0), min(last - seen, len(origin.line))
        if low < high:
            yield origin.part(low, high)
        seen += len(origin.line)


def pick_origins(origins: Sequence[Origin], indices: Int64) -> Iterator[Origin]:
    """The origins of the trees at ``indices``: one for each run of trees from the same file."""
    if not origins or not len(indices):
        return
    ends = np.cumsum([len(origin.line) for origin in origins])
    which = np.searchsorted(ends, indices, side="right")
    bounds: list[int] = [0, *(np.flatnonzero(np.diff(which)) + 1).tolist(), len(indices)]
    for low, high in pairwise(bounds):
        number = int(which[low])
        origin = origins[number]
        yield origin.pick(indices[low:high] - (int(ends[number]) - len(origin.line)))
