"""Trees with crossing branches made continuous: by raising, by splitting (which can be undone), and by moving punctuation.

* *Raising*: children outside the block of a node's head move up to its parent, until no node has a gap.
* *Splitting* (Boyd 2007, Discontinuity Revisited): a node with gaps becomes a node for each block of its words, ``VP*1`` and
  ``VP*2``. :func:`merge_nodes` puts them together again. Where the marks alone would not show which blocks belong together, they
  carry a number, too, ``VP*1.4``, so that merging gives back the same tree.
* *Punctuation* that hangs from the root, as in NEGRA, TIGER and Alpino, is attached to the lowest node around it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from treegauge.normalise.labels import escape_marks, relabel, unescape_marks
from treegauge.trees import Tree, Treebank
from treegauge.trees.discontinuous import PlacedWord, attachments, blocks_of, from_placed_words, is_punctuation, walk

MARK = "*"
_PIECE = re.compile(r"(.*)\*(\d{1,6})(?:\.(\d{1,6}))?", re.DOTALL)
_HEADS = (frozenset({"HD", "hd"}), frozenset({"NK"}), frozenset({"PH"}))
"""Functions of heads, in order of preference: in NEGRA and TIGER a noun phrase has noun kernels (``NK``) instead of a head."""


@dataclass
class _Graph:
    """A tree as lists of labels, parents and words that can be changed; nodes are numbered in pre-order from the root, 0."""

    label: list[str] = field(default_factory=list[str])
    parent: list[int] = field(default_factory=list[int])
    places: list[Sequence[int]] = field(default_factory=list[Sequence[int]])
    words: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])  # in the order of the sentence: word, parent

    @classmethod
    def of(cls, tree: Tree) -> _Graph:
        graph = cls(words=[("", -1)] * tree.width)
        for node, places, parent in walk(tree):
            if isinstance(node, str):
                graph.words[places[0]] = node, parent
            else:
                graph.label.append(node.label)
                graph.parent.append(parent)
                graph.places.append(places)
        return graph

    def tree(self) -> Tree:
        """The tree, with children in the order of their first words; a node without words comes before the word that follows it."""
        top_down: list[int] = []
        below: dict[int, list[int]] = {}
        for number, parent in enumerate(self.parent):
            below.setdefault(parent, []).append(number)
        stack = list(below[-1])
        while stack:
            number = stack.pop()
            top_down.append(number)
            stack.extend(reversed(below.get(number, [])))
        made: dict[int, list[_OrderedChild]] = {number: [] for number in (*top_down, -1)}
        for place, (word, parent) in enumerate(self.words):
            made[parent].append(_OrderedChild(place, True, 0, PlacedWord(word, place)))
        for number in reversed(top_down):
            inside = sorted(made.pop(number), key=itemgetter(0, 1, 2))
            own = self.places[number]
            first = next((child.first for child in inside if child.has_words), own.start if isinstance(own, range) else 0)
            has_words = any(child.has_words for child in inside)
            node = Tree(self.label[number], [child.child for child in inside])
            made[self.parent[number]].append(_OrderedChild(first, has_words, number, node))
        root = made[-1][0].child
        assert isinstance(root, Tree)
        return from_placed_words(root)


class _OrderedChild(NamedTuple):
    """A word or a finished node, with the place of its first word or, without words, that of the word after it."""

    first: int
    has_words: bool
    number: int
    child: Tree | PlacedWord


def raise_nodes(tree: Tree, changes: Counter[str] | None = None) -> Tree:
    """The tree without gaps: children of a node with gaps that are outside the block of its head become children of its parent.

    The head is the child with the function ``HD`` (``hd``), else the first with ``NK``, else the placeholder ``PH``; if no child
    has such a function, the (first) block with the most words stays. ``changes`` counts the ``raised`` children.

    >>> from treegauge.trees import parse_discbracket
    >>> print(raise_nodes(parse_discbracket("(S (VP (NP 0=Wen) (V-HD 2=kennt)) (PPER 1=er))")))
    (S (NP Wen) (PPER er) (VP (V-HD kennt)))
    """
    if tree.is_continuous:
        return tree
    graph = _Graph.of(tree)
    below: list[list[_ChildSpan]] = [[] for _ in graph.label]
    for place, (_, parent) in enumerate(graph.words):
        below[parent].append(_ChildSpan(-1, place, place + 1))
    raised = 0
    for number in range(len(graph.label) - 1, 0, -1):
        parts = sorted(below[number], key=attrgetter("start"))
        stay = _head_block(parts, graph.label)
        if stay is not None:
            first, last = stay
            for part in parts[:first] + parts[last:]:
                raised += 1
                below[graph.parent[number]].append(part)
                if part.node < 0:
                    graph.words[part.start] = graph.words[part.start][0], graph.parent[number]
                else:
                    graph.parent[part.node] = graph.parent[number]
            parts = parts[first:last]
        if parts:
            below[graph.parent[number]].append(_ChildSpan(number, parts[0].start, parts[-1].end))
    if changes is not None:
        changes["raised"] += raised
    return graph.tree()


class _ChildSpan(NamedTuple):
    """A child without gaps, a node or a word (``node`` is -1), and the words ``start:end`` it covers."""

    node: int
    start: int
    end: int


def _head_block(parts: Sequence[_ChildSpan], labels: Sequence[str]) -> tuple[int, int] | None:
    """The children ``first:last`` in the block of the head, which stay; None if there is only one block."""
    cuts = [0, *(i for i in range(1, len(parts)) if parts[i].start > parts[i - 1].end), len(parts)]
    if len(cuts) <= 2:
        return None
    blocks = list(pairwise(cuts))
    for heads in _HEADS:
        for first, last in blocks:
            if any(part.node >= 0 and not heads.isdisjoint(labels[part.node].split("-")[1:]) for part in parts[first:last]):
                return first, last
    return max(blocks, key=lambda block: parts[block[1] - 1].end - parts[block[0]].start)


def split_nodes(tree: Tree, changes: Counter[str] | None = None) -> Tree:
    """The tree with a node for each block of a node with gaps, numbered by a mark; :func:`merge_nodes` undoes it.

    ``changes`` counts the ``split`` nodes and the ``pieces`` they became.

    >>> from treegauge.trees import parse_discbracket
    >>> print(split_nodes(parse_discbracket("(S (VP (NP 0=Wen) (V 2=kennt)) (PPER 1=er))")))
    (S (VP*1 (NP Wen)) (PPER er) (VP*2 (V kennt)))
    """
    graph = _Graph.of(tree)
    split = [number for number, places in enumerate(graph.places) if len(blocks_of(places)) > 1]
    if changes is not None and split:
        changes["split"] += len(split)
        changes["pieces"] += sum(len(blocks_of(graph.places[number])) for number in split)
    if not split:
        return relabel(tree, lambda label: escape_marks(label, MARK))
    plain = _split(graph, frozenset())
    return plain if merge_nodes(plain) == tree else _split(graph, frozenset(split))


def _split(graph: _Graph, numbered: frozenset[int]) -> Tree:
    """The tree of a graph with a node for each block; the marks of ``numbered`` nodes include the number of the node split."""
    made = _Graph(words=list(graph.words))
    pieces: list[list[tuple[int, int, int]]] = []  # of each node: start, end and number of each piece
    for number, (label, parent, places) in enumerate(zip(graph.label, graph.parent, graph.places, strict=True)):
        blocks = blocks_of(places)
        pieces.append([])
        for index, (start, end) in enumerate(blocks, start=1):
            mark = "" if len(blocks) == 1 else f"{MARK}{index}.{number}" if number in numbered else f"{MARK}{index}"
            pieces[-1].append((start, end, len(made.label)))
            made.label.append(escape_marks(label, MARK) + mark)
            made.parent.append(-1 if parent < 0 else _piece_at(pieces[parent], start))
            made.places.append(range(start, end))
    made.words = [(word, _piece_at(pieces[parent], place)) for place, (word, parent) in enumerate(graph.words)]
    return made.tree()


def _piece_at(pieces: Sequence[tuple[int, int, int]], place: int) -> int:
    return next((number for start, end, number in pieces if start <= place < end), pieces[-1][2])


@dataclass
class _MergedNode:
    """The node that pieces are merged into, and the number of the last piece so far."""

    last: int
    node: int


def merge_nodes(tree: Tree, changes: Counter[str] | None = None) -> Tree:
    """The inverse of :func:`split_nodes`, also for parses: pieces that belong together become one node, others lose their mark.

    Pieces belong together if they have the same label, consecutive numbers, and the same parent, or parents merged into one.
    ``changes`` counts the ``merged`` pieces and those left ``alone``.

    >>> from treegauge.trees import Tree
    >>> print(merge_nodes(Tree.parse("(S (VP*1 (NP Wen)) (PPER er) (VP*2 (V kennt)))")))
    (S (VP (NP 0=Wen) (V 2=kennt)) (PPER 1=er))
    """
    graph = _Graph.of(tree)
    if not any(map(_is_piece, graph.label)):
        return relabel(tree, unescape_marks)
    groups: dict[tuple[int, str, str], list[_MergedNode]] = {}
    node_of: list[int] = []
    merged = _Graph(words=[])
    joined: Counter[int] = Counter()
    for label, parent, places in zip(graph.label, graph.parent, graph.places, strict=True):
        above = -1 if parent < 0 else node_of[parent]
        match = _PIECE.fullmatch(label)
        if match is None or not _is_piece(label) or parent < 0:
            node_of.append(len(merged.label))
            merged.label.append(unescape_marks(label))
        else:
            name, number = match.group(1), int(match.group(2))
            open_groups = groups.setdefault((above, name, match.group(3) or ""), [])
            group = next((group for group in open_groups if group.last == number - 1), None) if number > 1 else None
            if group is not None:
                group.last = number
                joined[group.node] += 1
                node_of.append(group.node)
                continue
            open_groups.append(_MergedNode(number, len(merged.label)))
            joined[len(merged.label)] += 1
            node_of.append(len(merged.label))
            merged.label.append(unescape_marks(name))
        merged.parent.append(above)
        merged.places.append(places)
    merged.words = [(word, node_of[parent]) for word, parent in graph.words]
    if changes is not None:
        changes["merged"] += sum(n for n in joined.values() if n > 1)
        changes["alone"] += sum(1 for n in joined.values() if n == 1)
    return merged.tree()


def _is_piece(label: str) -> bool:
    match = _PIECE.fullmatch(label)
    # A mark after an odd number of backslashes is escaped.
    return match is not None and (len(match[1]) - len(match[1].rstrip("\\"))) % 2 == 0


def attach_punctuation(tree: Tree, changes: Counter[str] | None = None) -> Tree:
    """The tree with punctuation that hangs from the root attached to the lowest node that covers the words on both sides of it.

    Punctuation is a word without letters and digits, or one whose tag begins with ``$``. ``changes`` counts those ``attached``.

    >>> from treegauge.trees import Tree, parse_discbracket
    >>> print(attach_punctuation(parse_discbracket("(VROOT (S (NP 0=A 2=B) (V 3=c)) ($, 1=,) ($. 4=.))")))
    (VROOT (S (NP A ($, ,) B) (V c)) ($. .))
    """
    graph = _Graph.of(tree)
    parent_of_tag = [graph.parent[parent] if _is_tag(graph, parent) else parent for _, parent in graph.words]
    loose = [
        above <= 0 and parent != 0 and is_punctuation(word, graph.label[parent])
        for (word, parent), above in zip(graph.words, parent_of_tag, strict=True)
    ]

    def ancestors(place: int) -> Iterator[int]:
        node = parent_of_tag[place]
        while node >= 0:
            yield node
            node = graph.parent[node]

    attached = 0
    for place, target in attachments(loose, ancestors):
        tag = graph.words[place][1]
        attached += graph.parent[tag] != target
        graph.parent[tag] = target
    if changes is not None:
        changes["attached"] += attached
    return graph.tree() if attached else tree


def _is_tag(graph: _Graph, number: int) -> bool:
    return len(graph.places[number]) == 1 and (number + 1 == len(graph.parent) or graph.parent[number + 1] != number)


class GapCounts(NamedTuple):
    """Numbers of sentences and constituents (without tags), and of those with gaps.

    ``fan_out`` has the number of constituents with gaps by their *fan-out*, the number of their blocks of words; the *gap degree*
    is one less.
    """

    sentences: int = 0
    sentences_with_gaps: int = 0
    constituents: int = 0
    constituents_with_gaps: int = 0
    fan_out: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return (
            f"{self.sentences_with_gaps} of {self.sentences} sentences and {self.constituents_with_gaps} of {self.constituents} "
            "constituents have gaps"
        )


def add_gaps(counts: Iterable[GapCounts]) -> GapCounts:
    """The sums of several counts."""
    every, fan_out = list(counts), Counter[int]()
    for count in every:
        fan_out.update(dict(count.fan_out))
    sums = {name: sum(getattr(count, name) for count in every) for name in GapCounts._fields[:-1]}
    return GapCounts(**sums, fan_out=tuple(sorted(fan_out.items())))


def count_gaps(banks: Iterable[Treebank]) -> GapCounts:
    """The numbers of sentences and constituents with gaps in all of some treebanks.

    >>> print(count_gaps([Treebank.parse("(S (NP (N a)) (V b))")]))
    0 of 1 sentences and 0 of 2 constituents have gaps
    """
    sentences = with_gaps = constituents = 0
    fan_out: Counter[int] = Counter()
    for bank in banks:
        sentences += len(bank)
        constituents += bank.n_nodes - int((bank.tag >= 0).sum())
        if bank.blocks is not None:
            rows, counts = np.unique(bank.blocks.row, return_counts=True)
            fan_out.update(counts.tolist())
            with_gaps += len(np.unique(np.searchsorted(bank.node_offset, rows, side="right")))
    return GapCounts(sentences, with_gaps, constituents, fan_out.total(), tuple(sorted(fan_out.items())))
