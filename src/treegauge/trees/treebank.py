"""Treebank: many trees as one table of NumPy columns, a row per node in pre-order.

A score never needs a Python object per node; ``treebank[i]`` makes a :class:`Tree` where one is wanted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.tree import Child, Tree

__all__ = ["Int32", "Int64", "Origin", "Treebank"]

Int32 = NDArray[np.int32]
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


@dataclass(frozen=True, eq=False, repr=False)
class Treebank(Sequence[Tree]):
    """A sequence of trees, stored as columns.

    Node columns, one row per node (preterminals included) in pre-order: ``label`` (an index into ``labels``), ``start`` and
    ``end`` (half-open word positions in the sentence), ``parent`` (the parent's row counted from the tree's first row; -1
    at the root). Token columns: ``word`` (an index into ``vocabulary``), ``above`` (the row, in the tree, of the node directly
    above) and ``tag`` (that node's label if it is a preterminal, else -1). Tree ``i`` owns the nodes
    ``node_offset[i]:node_offset[i+1]`` and the tokens ``token_offset[i]:token_offset[i+1]``.

    >>> bank = Treebank.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat))) (NP (NN rain))")
    >>> len(bank), bank.n_nodes, bank.n_tokens
    (2, 8, 4)
    >>> [bank.labels[i] for i in bank.label]
    ['S', 'NP', 'DT', 'NN', 'VP', 'VBD', 'NP', 'NN']
    >>> print(bank[1])
    (NP (NN rain))
    """

    labels: tuple[str, ...]
    vocabulary: tuple[str, ...]
    label: Int32
    start: Int32
    end: Int32
    parent: Int32
    word: Int32
    tag: Int32
    above: Int32
    node_offset: Int64
    token_offset: Int64
    origins: tuple[Origin, ...] = field(default=())

    @classmethod
    def parse(cls, text: str) -> Treebank:
        """All trees of a bracketed string."""
        from treegauge.trees.brackets import parse_all

        return cls.from_trees(parse_all(text))

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Treebank:
        """The columns of trees given as values."""
        return _Columns().add_all(trees).treebank()

    @classmethod
    def concatenate(cls, parts: Sequence[Treebank]) -> Treebank:
        """The trees of several treebanks one after the other."""
        if len(parts) == 1:
            return parts[0]
        labels, label_maps = _merge([part.labels for part in parts])
        vocabulary, word_maps = _merge([part.vocabulary for part in parts])
        return cls(
            labels,
            vocabulary,
            _join([m[part.label] for m, part in zip(label_maps, parts, strict=True)]),
            _join([part.start for part in parts]),
            _join([part.end for part in parts]),
            _join([part.parent for part in parts]),
            _join([m[part.word] for m, part in zip(word_maps, parts, strict=True)]),
            _join([np.append(m, np.int32(-1))[part.tag] for m, part in zip(label_maps, parts, strict=True)]),
            _join([part.above for part in parts]),
            _join_offsets([part.node_offset for part in parts]),
            _join_offsets([part.token_offset for part in parts]),
            tuple(origin for part in parts for origin in part._origins_or_blank()),
        )

    @property
    def n_nodes(self) -> int:
        return len(self.label)

    @property
    def n_tokens(self) -> int:
        return len(self.word)

    def __len__(self) -> int:
        return len(self.node_offset) - 1

    @overload
    def __getitem__(self, index: int) -> Tree: ...
    @overload
    def __getitem__(self, index: slice) -> Treebank: ...
    def __getitem__(self, index: int | slice) -> Tree | Treebank:
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"tree {index} of {len(self)}")
        return self._tree(position)

    def __iter__(self) -> Iterator[Tree]:
        return (self._tree(index) for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """The same trees in the same order; where they came from does not matter."""
        if not isinstance(other, Treebank):
            return NotImplemented
        return len(self) == len(other) and self.sha256() == other.sha256()

    def __hash__(self) -> int:
        return hash(self.sha256())

    def __repr__(self) -> str:
        return f"<Treebank of {len(self)} trees, {self.n_tokens} tokens, {self.n_nodes} nodes>"

    def words(self, index: int) -> list[str]:
        """The words of one sentence."""
        first, last = self.token_offset[index], self.token_offset[index + 1]
        return [self.vocabulary[i] for i in self.word[first:last].tolist()]

    def tags(self, index: int) -> list[str]:
        """The tags of one sentence; ``""`` for a word without a preterminal of its own."""
        first, last = self.token_offset[index], self.token_offset[index + 1]
        return [self.labels[i] if i >= 0 else "" for i in self.tag[first:last].tolist()]

    @property
    def is_preterminal(self) -> NDArray[np.bool_]:
        """For each node, whether it is a tag over its one word."""
        mask = np.zeros(self.n_nodes, dtype=np.bool_)
        tagged = self.tag >= 0
        first_node = np.repeat(self.node_offset[:-1], np.diff(self.token_offset))
        mask[(first_node + self.above)[tagged]] = True
        return mask

    def place(self, index: int) -> str:
        """Where a tree was read: ``file:line``, or ``tree N`` for one that was not read from a file."""
        first = 0
        for origin in self.origins:
            if index - first < len(origin.line):
                return origin.place(index - first) if origin.line[index - first] else f"tree {index + 1}"
            first += len(origin.line)
        return f"tree {index + 1}"

    def sha256(self) -> str:
        """A hash of the trees themselves: the same for the same trees from any file or format."""
        digest = hashlib.sha256(f"treegauge-treebank-1 {len(self)}\n".encode())
        for strings, columns in ((self.labels, (self.label, self.tag)), (self.vocabulary, (self.word,))):
            order, canonical = _first_occurrence(columns[0], len(strings))
            digest.update("\n".join(strings[int(i)] for i in order).encode("utf-8", "surrogatepass"))
            for column in columns:
                digest.update(np.ascontiguousarray(np.append(canonical, np.int32(-1))[column]).data)
        for column in (self.start, self.end, self.parent, self.above, self.node_offset, self.token_offset):
            digest.update(np.ascontiguousarray(column).data)
        return digest.hexdigest()

    def _origins_or_blank(self) -> tuple[Origin, ...]:
        return self.origins or (Origin("", np.zeros(len(self), np.int64)),)

    def _slice(self, first: int, last: int, step: int) -> Treebank:
        if step != 1:
            return Treebank.from_trees([self._tree(index) for index in range(first, last, step)])
        last = max(first, last)
        nodes = slice(self.node_offset[first], self.node_offset[last])
        tokens = slice(self.token_offset[first], self.token_offset[last])
        return Treebank(
            self.labels,
            self.vocabulary,
            self.label[nodes],
            self.start[nodes],
            self.end[nodes],
            self.parent[nodes],
            self.word[tokens],
            self.tag[tokens],
            self.above[tokens],
            self.node_offset[first : last + 1] - self.node_offset[first],
            self.token_offset[first : last + 1] - self.token_offset[first],
            tuple(_parts_of(self.origins, first, last)),
        )

    def _tree(self, index: int) -> Tree:
        """Tree ``index``, built bottom-up: rows in reverse pre-order find their child nodes already made."""
        nodes = slice(self.node_offset[index], self.node_offset[index + 1])
        tokens = slice(self.token_offset[index], self.token_offset[index + 1])
        label: list[int] = self.label[nodes].tolist()
        labels = [self.labels[i] for i in label]
        starts: list[int] = self.start[nodes].tolist()
        parents: list[int] = self.parent[nodes].tolist()
        above: list[int] = self.above[tokens].tolist()
        words: list[int] = self.word[tokens].tolist()
        children: list[list[tuple[int, int, Child]]] = [[] for _ in labels]
        for position, word in enumerate(words):
            children[above[position]].append((position, 1, self.vocabulary[word]))
        for row in range(len(labels) - 1, -1, -1):
            inside = children[row]
            if len(inside) > 1:
                # Children nodes were added last to first. A node without words stands before the word at its position.
                inside.reverse()
                inside.sort(key=_by_position)
            tree = Tree(labels[row], [child for _, _, child in inside])
            if row == 0:
                return tree
            children[parents[row]].append((starts[row], 0, tree))
        raise AssertionError("a tree has at least one node")


def _by_position(item: tuple[int, int, Child]) -> tuple[int, int]:
    return item[0], item[1]


class _Columns:
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

    def add_all(self, trees: Iterable[Tree]) -> _Columns:
        for tree in trees:
            self.add(tree)
        return self

    def add(self, tree: Tree) -> None:
        row = position = 0
        stack: list[tuple[Child, int]] = [(tree, -1)]
        while stack:
            node, parent = stack.pop()
            if isinstance(node, str):
                self.word.append(self.vocabulary.setdefault(node, len(self.vocabulary)))
                self.tag.append(-1)
                self.above.append(parent)
                position += 1
                continue
            label = self.labels.setdefault(node.label, len(self.labels))
            self.label.append(label)
            self.start.append(position)
            self.end.append(position + node.width)
            self.parent.append(parent)
            if node.is_preterminal:
                word = str(node.children[0])
                self.word.append(self.vocabulary.setdefault(word, len(self.vocabulary)))
                self.tag.append(label)
                self.above.append(row)
                position += 1
            else:
                stack.extend((child, row) for child in reversed(node.children))
            row += 1
        self.node_offset.append(len(self.label))
        self.token_offset.append(len(self.word))

    def treebank(self) -> Treebank:
        return Treebank(
            tuple(self.labels),
            tuple(self.vocabulary),
            np.array(self.label, np.int32),
            np.array(self.start, np.int32),
            np.array(self.end, np.int32),
            np.array(self.parent, np.int32),
            np.array(self.word, np.int32),
            np.array(self.tag, np.int32),
            np.array(self.above, np.int32),
            np.array(self.node_offset, np.int64),
            np.array(self.token_offset, np.int64),
        )


def _merge(vocabularies: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[Int32]]:
    """One vocabulary for several, and for each the new ids of its old ones."""
    ids: dict[str, int] = {}
    maps = [np.array([ids.setdefault(string, len(ids)) for string in strings], dtype=np.int32) for strings in vocabularies]
    return tuple(ids), maps


def _join(columns: Sequence[Int32]) -> Int32:
    return np.concatenate(columns) if columns else np.zeros(0, np.int32)


def _join_offsets(offsets: Sequence[Int64]) -> Int64:
    lengths = [np.diff(offset) for offset in offsets]
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))])


def _first_occurrence(column: Int32, size: int) -> tuple[Int64, Int32]:
    """The ids used in a column in the order of their first use, and for each id its place in that order (-1: unused)."""
    first = np.full(size, len(column), dtype=np.int64)
    np.minimum.at(first, column, np.arange(len(column)))
    order = np.argsort(first, kind="stable")[: int((first < len(column)).sum())]
    canonical = np.full(size, -1, dtype=np.int32)
    canonical[order] = np.arange(len(order), dtype=np.int32)
    return order, canonical


def _parts_of(origins: Sequence[Origin], first: int, last: int) -> Iterator[Origin]:
    """The origins of the trees ``first:last``."""
    seen = 0
    for origin in origins:
        low, high = max(first - seen, 0), min(last - seen, len(origin.line))
        if low < high:
            yield origin.part(low, high)
        seen += len(origin.line)
