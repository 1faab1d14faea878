"""Treebank: many trees as one table of NumPy columns, a row per node in pre-order.

A score never needs a Python object per node; ``treebank[i]`` makes a :class:`Tree` where one is wanted. An :class:`Origin` records
where trees were read (file, line and sentence id), and stays with them through slicing, picking and joining.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np

from treegauge.errors import Discontinuous, UsageError, hinting
from treegauge.tables import number_of
from treegauge.trees.columns import (
    Blocks,
    ColumnBuilder,
    Columns,
    Int32,
    Int64,
    Mask,
    TreebankHash,
    depths,
    join_blocks,
    merge_strings,
    offsets_of,
    rows_of,
)
from treegauge.trees.discontinuous import PlacedWord, from_placed_words
from treegauge.trees.tree import Child, Tree


class Problem(NamedTuple):
    """A problem with the text of a tree: its place (``file:line:column``), the reason, advice, and the repairs.

    A tree with repairs was read after all; one without any could not be read, and is a sentence without a parse. ``may_repair`` is
    true if no repair has been tried. ``text`` is what was left out, in the encoding of its file, if it is kept.
    """

    place: str
    reason: str
    advice: str = ""
    repairs: tuple[str, ...] = ()
    may_repair: bool = False
    text: bytes = b""


def named_place(path: str, line: int, identity: str | None) -> str:
    """``file:line``, with the sentence id where there is one."""
    return f"{path or '<input>'}:{line}" + ("" if identity is None else f" (sentence {identity})")


@dataclass(frozen=True, eq=False)
class Origin:
    """The origin of a run of trees: the file, and for each tree its line (1-based) and, if the format has ids, its id.

    ``problems`` has the problems of single trees, by their number within the run.
    """

    path: str
    line: Int64 = field(repr=False)
    ids: tuple[str, ...] | None = field(default=None, repr=False)
    problems: Mapping[int, Problem] = field(default_factory=dict[int, Problem], repr=False)

    def place(self, index: int) -> str:
        """``file:line`` of a tree, with the sentence id where there is one."""
        return named_place(self.path, int(self.line[index]), None if self.ids is None else self.ids[index])

    def pick(self, indices: Int64) -> Origin:
        """The origin of the trees at ``indices`` of the run, in that order."""
        numbers: list[int] = indices.tolist() if self.problems or self.ids else []
        ids = None if self.ids is None else tuple(self.ids[i] for i in numbers)
        problems = {index: self.problems[number] for index, number in enumerate(numbers) if number in self.problems}
        return Origin(self.path, self.line[indices], ids, problems)


def place_of(origins: Sequence[Origin], index: int) -> str:
    """``file:line`` of tree ``index``, or ``tree N`` for one that was not read from a file."""
    first = 0
    for origin in origins:
        if index - first < len(origin.line):
            return origin.place(index - first) if origin.line[index - first] else f"tree {index + 1}"
        first += len(origin.line)
    return f"tree {index + 1}"


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


@hinting
@dataclass(frozen=True, eq=False, repr=False)
class Treebank(Sequence[Tree]):
    """A sequence of trees, stored as columns.

    Node columns, one row per node (preterminals included) in pre-order: ``label`` (an index into ``labels``), ``start`` and
    ``end`` (half-open word positions in the sentence), ``parent`` (the parent's row counted from the tree's first row; -1
    at the root). Token columns: ``word`` (an index into ``vocabulary``), ``above`` (the row, in the tree, of the node directly
    above) and ``tag`` (that node's label if it is a preterminal, else -1). Tree ``i`` owns the nodes
    ``node_offset[i]:node_offset[i+1]`` and the tokens ``token_offset[i]:token_offset[i+1]``. ``blocks`` has the blocks of words of
    nodes with a gap; it is None if every node of every tree is continuous.

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
    blocks: Blocks | None = field(default=None)

    def __new__(cls, *columns: Any, **named: Any) -> Treebank:
        if len(columns) == 1 and not named:
            raise UsageError("Treebank.from_trees(trees) makes a treebank of trees, treegauge.as_treebank(value) of anything else")
        return super().__new__(cls)

    @classmethod
    def parse(cls, text: str) -> Treebank:
        """All trees of a bracketed string."""
        from treegauge.trees.notation import parse_all

        return cls.from_trees(parse_all(text))

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Treebank:
        """The treebank of trees given as values."""
        return cls.from_builder(ColumnBuilder().add_all(trees))

    @classmethod
    def from_builder(cls, built: ColumnBuilder) -> Treebank:
        """The treebank of the trees that a builder was given."""
        columns = Columns._make(np.array(getattr(built, name), np.int32) for name in Columns._fields)
        offsets = np.array(built.node_offset, np.int64), np.array(built.token_offset, np.int64)
        blocks = None
        if built.block_row:
            edges = np.array(built.block_start, np.int32), np.array(built.block_end, np.int32)
            blocks = Blocks(np.array(built.block_row, np.int64), *edges)
        return cls(tuple(built.labels), tuple(built.vocabulary), *columns, *offsets, blocks=blocks)

    @classmethod
    def concatenate(cls, parts: Sequence[Treebank]) -> Treebank:
        """The trees of several treebanks one after the other."""
        if len(parts) == 1:
            return parts[0]
        labels, label_maps = merge_strings([part.labels for part in parts])
        vocabulary, word_maps = merge_strings([part.vocabulary for part in parts])
        renumber = {"label": label_maps, "word": word_maps, "tag": label_maps}
        columns = (
            [
                getattr(part, name) if name not in renumber else renumber[name][k][getattr(part, name)]
                for k, part in enumerate(parts)
            ]
            for name in Columns._fields
        )
        return cls(
            labels,
            vocabulary,
            *Columns._make(np.concatenate([np.zeros(0, np.int32), *column]) for column in columns),
            offsets_of([np.diff(part.node_offset) for part in parts]),
            offsets_of([np.diff(part.token_offset) for part in parts]),
            tuple(origin for part in parts for origin in part._origins_or_blank()),
            join_blocks([part.blocks for part in parts], [part.n_nodes for part in parts]),
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
        return self._tree(self._position(index))

    def _position(self, index: int) -> int:
        """A tree's index counted from the beginning; a negative one counts from the end, as in a list."""
        try:
            position = operator.index(index)
        except TypeError:
            problem = f"the index of a tree is a whole number or a slice, not {index!r}; take([0, 2]) takes several trees"
            raise UsageError(problem) from None
        position += len(self) if position < 0 else 0
        if not 0 <= position < len(self):
            raise IndexError(f"tree {index} of {len(self)}")
        return position

    def over_tokens(self, token: Int64, position: Int64) -> Treebank:
        """The same nodes over a changed sequence of tokens.

        ``token`` lists the old tokens that are the new ones, in order: a token may be left out, or repeated. ``position[i]`` is the
        number of new tokens before old token ``i``. A node left without words covers nothing.
        """
        first_token = np.repeat(self.token_offset[:-1], np.diff(self.node_offset))
        start = (position[first_token + self.start] - position[first_token]).astype(np.int32)
        end = (position[first_token + self.end] - position[first_token]).astype(np.int32)
        blocks = None
        if self.blocks is not None:
            moved = self.blocks.over(first_token[self.blocks.row], position)
            start[moved.row], end[moved.row], blocks = moved.start, moved.end, moved.blocks
        return self._select(slice(None), token, start=start, end=end, token_offset=position[self.token_offset], blocks=blocks)

    def take(self, indices: Sequence[int] | Int64) -> Treebank:
        """The trees at ``indices``, in that order, repeated where an index is; each keeps its place in the file.

        >>> bank = Treebank.parse("(A a) (B b) (C c)")
        >>> [str(tree) for tree in bank.take([2, 0, 0])]
        ['(C c)', '(A a)', '(A a)']
        """
        trees = np.asarray(indices, dtype=np.int64)
        outside = (trees < -len(self)) | (trees >= len(self))
        if outside.any():
            raise IndexError(f"tree {trees[outside][0]} of {len(self)}")
        trees = np.where(trees < 0, trees + len(self), trees)
        nodes, node_offset = rows_of(self.node_offset, trees)
        tokens, token_offset = rows_of(self.token_offset, trees)
        blocks = None if self.blocks is None else self.blocks.take(self.node_offset, trees, node_offset)
        origins = tuple(pick_origins(self.origins, trees))
        offsets = {"node_offset": node_offset, "token_offset": token_offset}
        return self._select(nodes, tokens, **offsets, origins=origins, blocks=blocks)

    def __add__(self, other: Treebank) -> Treebank:
        """The trees of both, one after the other."""
        return Treebank.concatenate([self, other]) if isinstance(other, Treebank) else NotImplemented  # pyright: ignore

    def __iter__(self) -> Iterator[Tree]:
        return (self._tree(index) for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same trees in the same order, wherever these were read."""
        if not isinstance(other, Treebank):
            return NotImplemented
        return len(self) == len(other) and self.sha256() == other.sha256()

    def __hash__(self) -> int:
        return hash(self.sha256())

    def __repr__(self) -> str:
        sizes = number_of(len(self), "tree"), number_of(self.n_tokens, "token"), number_of(self.n_nodes, "node")
        return f"<Treebank of {', '.join(sizes)}>"

    def words(self, index: int) -> list[str]:
        """The words of one sentence."""
        first, last = self._tokens(index)
        return [self.vocabulary[i] for i in self.word[first:last].tolist()]

    def tags(self, index: int) -> list[str]:
        """The tags of one sentence; ``""`` for a word without a preterminal of its own."""
        first, last = self._tokens(index)
        return [self.labels[i] if i >= 0 else "" for i in self.tag[first:last].tolist()]

    def _tokens(self, index: int) -> tuple[int, int]:
        position = self._position(index)
        return int(self.token_offset[position]), int(self.token_offset[position + 1])

    @property
    def is_preterminal(self) -> Mask:
        """For each node, whether it is a tag over its one word."""
        mask = np.zeros(self.n_nodes, dtype=np.bool_)
        tagged = self.tag >= 0
        first_node = np.repeat(self.node_offset[:-1], np.diff(self.token_offset))
        mask[(first_node + self.above)[tagged]] = True
        return mask

    @property
    def is_continuous(self) -> bool:
        """Whether no node of any tree has a gap."""
        return self.blocks is None

    def has_gaps(self, index: int) -> bool:
        """Whether some node of tree ``index`` has a gap."""
        if self.blocks is None:
            return False
        low, high = np.searchsorted(self.blocks.row, self.node_offset[[index, index + 1]]).tolist()
        return low < high

    def tree_of_row(self, row: int) -> int:
        """The tree that owns a node."""
        found: list[int] = np.searchsorted(self.node_offset, [row], side="right").tolist()
        return found[0] - 1

    def require_continuous(self, purpose: str) -> None:
        """Refuse discontinuous trees; ``purpose`` begins the message: ``"FREVAL needs trees without gaps"``."""
        if self.blocks is None:
            return
        row = int(self.blocks.row[0])
        tree = self.tree_of_row(row)
        raise Discontinuous(
            f"{purpose}, but at {self.place(tree)} {self.labels[self.label[row]] or 'a node'} has a gap",
            path=next((origin.path for origin in self.origins if origin.path), ""),
            advice="Make the trees continuous first, with the normalisation step continuous:raise (or continuous:split).",
        )

    def place(self, index: int) -> str:
        """The place of a tree: ``file:line``, or ``tree N`` for one that was not read from a file."""
        return place_of(self.origins, self._position(index))

    def places(self, first: int = 0) -> list[str]:
        """The places of all trees; ``first`` is the number of trees before those that were not read from a file."""
        found = [origin.place(i) if origin.line[i] else "" for origin in self.origins for i in range(len(origin.line))]
        return [place or f"tree {first + number}" for number, place in enumerate(found or [""] * len(self), 1)]

    def id_numbers(self) -> Iterator[int]:
        """The number at the end of each sentence's id in its file; 0 for a sentence without one."""
        for origin in self._origins_or_blank():
            for name in origin.ids or [""] * len(origin.line):
                yield int("".join(re.findall(r"[0-9]{1,9}$", name)) or 0)

    def problems(self) -> dict[int, Problem]:
        """The problems of the trees that could not be read or had to be repaired, by the number of the tree."""
        found: dict[int, Problem] = {}
        first = 0
        for origin in self.origins:
            found |= {first + index: problem for index, problem in origin.problems.items()}
            first += len(origin.line)
        return found

    def sha256(self) -> str:
        """A hash of the trees themselves: the same for the same trees from any file, format, slice or machine.

        :class:`~treegauge.trees.columns.TreebankHash` computes the same hash block by block.
        """
        digest = TreebankHash()
        digest.update(self)
        return digest.hexdigest()

    def _origins_or_blank(self) -> tuple[Origin, ...]:
        return self.origins or (Origin("", np.zeros(len(self), np.int64)),)

    def _slice(self, first: int, last: int, step: int) -> Treebank:
        if step != 1:
            return self.take(range(first, last, step))
        last = max(first, last)
        nodes = slice(self.node_offset[first], self.node_offset[last])
        tokens = slice(self.token_offset[first], self.token_offset[last])
        node_offset = self.node_offset[first : last + 1] - self.node_offset[first]
        token_offset = self.token_offset[first : last + 1] - self.token_offset[first]
        blocks = None if self.blocks is None else self.blocks.within(int(self.node_offset[first]), int(self.node_offset[last]))
        origins = tuple(pick_origins(self.origins, np.arange(first, last)))
        offsets = {"node_offset": node_offset, "token_offset": token_offset}
        return self._select(nodes, tokens, **offsets, origins=origins, blocks=blocks)

    def _select(self, nodes: slice | Int64, tokens: slice | Int64, **rest: Any) -> Treebank:
        """The treebank of some rows of the columns, with the offsets, origins and blocks, or other columns, that belong to them."""
        columns = {name: getattr(self, name)[nodes] for name in ("label", "start", "end", "parent")}
        columns |= {name: getattr(self, name)[tokens] for name in ("word", "tag", "above")}
        return replace(self, **columns | rest)

    def _tree(self, index: int) -> Tree:
        """Tree ``index``, built bottom-up: in reverse pre-order the children of a row are made before it."""
        has_gaps = self.blocks is not None and self.has_gaps(index)
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
            form = self.vocabulary[word]
            children[above[position]].append((position, 1, PlacedWord(form, position) if has_gaps else form))
        for row in range(len(labels) - 1, -1, -1):
            inside = children[row]
            if len(inside) > 1:
                # Child nodes were added last to first. A node without words comes before the word at its position.
                inside.reverse()
                inside.sort(key=operator.itemgetter(0, 1))
            tree = Tree(labels[row], [child for _, _, child in inside])
            if row == 0:
                return from_placed_words(tree) if has_gaps else tree
            children[parents[row]].append((starts[row], 0, tree))
        raise AssertionError("a tree has at least one node")


class TextOrder(NamedTuple):
    """Nodes and words in the order of the text.

    ``item`` is the row of a node, or the number of rows plus that of a token; ``closing`` is the number of brackets that close
    after it; ``is_first`` and ``is_last`` mark the first and last item of a tree.
    """

    item: Int64
    closing: Int64
    is_first: Mask
    is_last: Mask


def text_order(bank: Treebank) -> TextOrder:
    """The nodes and words of a treebank in the order of its text."""
    n_rows, n_tokens = bank.n_nodes, bank.n_tokens
    first_row = np.repeat(bank.node_offset[:-1], np.diff(bank.node_offset))
    is_root = bank.parent < 0
    level = depths(np.where(is_root, -1, bank.parent + first_row)) + 1
    start = bank.start + np.repeat(bank.token_offset[:-1], np.diff(bank.node_offset))
    # Before a word come all nodes that begin at it or earlier.
    rows_before = np.cumsum(np.bincount(start, minlength=n_tokens + 1))[:n_tokens]
    is_token = np.zeros(n_rows + n_tokens, dtype=np.bool_)
    is_token[np.arange(n_tokens) + rows_before] = True
    tokens, rows = np.flatnonzero(is_token), np.flatnonzero(~is_token)
    item = np.empty(n_rows + n_tokens, dtype=np.int64)
    item[rows], item[tokens] = np.arange(n_rows), np.arange(n_rows, n_rows + n_tokens)
    depth = np.empty_like(item)
    depth[rows] = level
    depth[tokens] = level.take(bank.above + np.repeat(bank.node_offset[:-1], np.diff(bank.token_offset)))
    depth_before = depth - ~is_token
    is_first = np.zeros(n_rows + n_tokens, dtype=np.bool_)
    is_first[rows[is_root]] = True
    return TextOrder(item, depth - np.append(depth_before[1:], 0), is_first, np.append(is_first[1:], True))
