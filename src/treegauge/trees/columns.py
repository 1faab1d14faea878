"""The columns of a treebank: built from Tree values, joined, picked, and hashed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.tree import Child, Tree

__all__ = ["ColumnBuilder", "Int32", "Int64", "canonical_ids", "join", "join_offsets", "merge_strings", "rows_of"]

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
