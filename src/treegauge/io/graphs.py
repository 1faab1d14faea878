"""Sentences as graphs, in which words and nodes name their parents, as in NEGRA and TIGER, and the trees made of them.

In these treebanks words outside of all constituents, above all punctuation, hang from a virtual root ``VROOT``; here it is the root
of every tree. Children are put in the order of their first words. A constituent may have gaps. It is common practice on these
treebanks to attach punctuation that hangs from the root to a constituent around it; since that changes the trees, it is an option
(``attach_punctuation``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.diagnosis import error_at
from treegauge.io.secondary import BadEdge, SecondaryEdge, features_of_edges, is_function, with_features
from treegauge.io.sources import LeftOut, ReadOptions, Text, TextPosition
from treegauge.trees.columns import ColumnBuilder
from treegauge.trees.discontinuous import PlacedWord, attachments, from_placed_words, is_punctuation, walk
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank

ROOT, ROOT_LABEL = "0", "VROOT"
_BLOCK_SIZE = 1 << 16


class Word(NamedTuple):
    """A word with its tag, the name of its parent, its line and, where known, its column."""

    word: str
    label: str
    parent: str
    line: int
    column: int | None = None


class GraphNode(NamedTuple):
    """A node with its label, the name of its parent, its line and, where known, its column."""

    label: str
    parent: str
    line: int
    column: int | None = None


@dataclass
class Graph:
    """A sentence: its words, and its nodes by name; ``has_root`` if its tree has the virtual root.

    ``secondary`` are its secondary edges, if they are to become features of labels, and ``bad_edges`` those that cannot, each of
    which gets a note; ``left_out`` counts what its tree leaves out.
    ``rows`` are the lines of its words and nodes, for messages about formats that have lines. ``error`` is the error of a sentence
    that becomes one without a parse, and ``source`` its text.
    """

    name: str
    line: int
    words: list[Word] = field(default_factory=list[Word])
    nodes: dict[str, GraphNode] = field(default_factory=dict[str, GraphNode])
    has_root: bool = True
    secondary: list[SecondaryEdge] = field(default_factory=list[SecondaryEdge])
    bad_edges: list[BadEdge] = field(default_factory=list[BadEdge])
    left_out: LeftOut = field(default_factory=LeftOut)
    rows: dict[int, bytes] = field(default_factory=dict[int, bytes])
    error: InputError | None = None
    source: bytes = b""


def broken_as_graph(items: Iterable[Graph | InputError], name: str, line: int, source: bytes) -> Iterator[Graph]:
    """The items found in the text of one sentence, with an error as a broken sentence; an empty one if there are no items."""
    is_good = False
    for item in items:
        if isinstance(item, Graph):
            is_good = True
            item.source = source
            yield item
        else:
            yield Graph(name, line, error=item, source=source)
            return
    if not is_good:
        yield Graph(name, line)


def treebanks_of(graphs: Iterable[Graph | InputError], text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of graphs in blocks, and the errors between them: those given, and those of graphs that are not trees.

    Unless ``options.on_error`` is ``stop``, a graph that is not a tree becomes a sentence without a parse.
    """
    path = text.name
    trees = ColumnBuilder()
    lines: list[int] = []
    names: list[str] = []
    problems: dict[int, Problem] = {}
    size = 0
    for graph in graphs:
        if isinstance(graph, InputError):
            yield graph
            continue
        try:
            if graph.error is not None:
                raise graph.error
            _add_tree(trees, graph, path, options)
            for bad in graph.bad_edges:
                place = ":".join(str(part) for part in (path, bad.line, bad.column) if part is not None)
                text.source.note(f"sentence {graph.name}: {bad.problem}; the edge is left out", place)
            if text.on_left_out is not None and any(graph.left_out):
                text.on_left_out(graph.left_out)
        except InputError as error:
            if options.on_error == "stop":
                yield error
                continue
            problems[len(lines)] = Problem(error.place, error.problem, error.advice, text=text.original(graph.source))
            trees.add(Tree(""))
        lines.append(graph.line)
        names.append(graph.name)
        size += len(graph.words) + 1
        if size > _BLOCK_SIZE:
            yield _block(trees, path, lines, names, problems)
            trees, lines, names, problems, size = ColumnBuilder(), [], [], {}, 0
    if lines:
        yield _block(trees, path, lines, names, problems)


def _block(trees: ColumnBuilder, path: str, lines: list[int], names: list[str], problems: Mapping[int, Problem]) -> Treebank:
    origin = Origin(path, np.array(lines, np.int64), tuple(names), problems)
    return replace(Treebank.from_builder(trees), origins=(origin,))


def _add_tree(trees: ColumnBuilder, graph: Graph, path: str, options: ReadOptions) -> None:
    """Add the tree of a graph to others."""
    if not graph.words and not graph.nodes:
        trees.add(Tree(""))
        return
    order = _bottom_up(graph, path)
    if options.attach_punctuation:
        graph = _with_punctuation_attached(graph)
    features = _secondary_features(graph, order) if graph.secondary else {}
    continuous = None if features else _continuous_tree(graph, order)
    trees.add(_tree(graph, order, features, path) if continuous is None else continuous)


def _tree(graph: Graph, order: list[str], features: Mapping[str | int, str], path: str) -> Tree:
    """The tree of a graph that may have gaps, or features from secondary edges."""
    below: dict[str, list[Tree]] = {name: [] for name in (*order, ROOT)}
    for position, word in enumerate(graph.words):
        label = with_features(word.label, features.get(position, ""))
        below[word.parent].append(Tree(label, [PlacedWord(word.word, position)]))
    for name in order:
        node = graph.nodes[name]
        children = below.pop(name)
        if not children:
            raise _fault(f"node {name} ({node.label}) covers no word", graph, node, path, f"#{name}")
        below[node.parent].append(Tree(with_features(node.label, features.get(name, "")), children))
    tops = below[ROOT]
    has_root = graph.has_root or len(tops) != 1
    try:
        return from_placed_words(Tree(with_features(ROOT_LABEL, features.get(ROOT, "")), tops) if has_root else tops[0])
    except FormatError as error:
        raise FormatError(f"sentence {graph.name}: {error.problem}", path=path, line=graph.line) from None


_Part = tuple[int, int, Tree]
"""A node or tag, after its words ``start:end``."""


def _continuous_tree(graph: Graph, order: list[str]) -> Tree | None:
    """The tree of a graph in which no node has a gap, as in most graphs; None for any other graph."""
    below: dict[str, list[_Part]] = {name: [] for name in (*order, ROOT)}
    for position, word in enumerate(graph.words):
        below[word.parent].append((position, position + 1, Tree(word.label, [word.word])))
    for name in order:
        parts, node = below[name], graph.nodes[name]
        if not _follow_each_other(parts):
            return None
        below[node.parent].append((parts[0][0], parts[-1][1], Tree(node.label, [part for *_, part in parts])))
    tops = below[ROOT]
    if not _follow_each_other(tops):
        return None
    return Tree(ROOT_LABEL, [part for *_, part in tops]) if graph.has_root or len(tops) != 1 else tops[0][2]


def _follow_each_other(parts: list[_Part]) -> bool:
    """Whether parts, which are put in order, follow one another; none do not."""
    parts.sort(key=itemgetter(0))
    return bool(parts) and all(one[1] == other[0] for one, other in pairwise(parts))


def _bottom_up(graph: Graph, path: str) -> list[str]:
    """The names of the nodes, each after all nodes below it; FormatError if the graph is not a tree."""
    below: dict[str, list[str]] = {ROOT: [], **{name: [] for name in graph.nodes}}
    for item in (*graph.words, *graph.nodes.values()):
        if item.parent not in below:
            kind = "word" if isinstance(item, Word) else "node"
            raise _fault(f"a {kind} has the parent {item.parent[:60]}, which does not exist", graph, item, path, item.parent)
    for name, node in graph.nodes.items():
        below[node.parent].append(name)
    top_down: list[str] = []
    stack = list(below[ROOT])
    while stack:
        name = stack.pop()
        top_down.append(name)
        stack.extend(below[name])
    if len(top_down) < len(graph.nodes):
        found = set(top_down)
        name = next(name for name in graph.nodes if name not in found)
        node = graph.nodes[name]
        raise _fault(f"node {name} is not below the root: its ancestors form a cycle", graph, node, path, node.parent)
    top_down.reverse()
    return top_down


def _secondary_features(graph: Graph, bottom_up: list[str]) -> dict[str | int, str]:
    """The features that express the secondary edges, by word or node; nodes are numbered by their first word, then by depth."""
    _remove_bad_edges(graph)
    first: dict[str, int] = {ROOT: -1}
    for position, word in enumerate(graph.words):
        name = word.parent
        while name not in first:
            first[name] = position
            name = graph.nodes[name].parent
    depth = {name: -rank for rank, name in enumerate(bottom_up)}
    above = {edge.above for edge in graph.secondary}
    in_order = sorted(above, key=lambda name: (first.get(name, -1), depth.get(name, 0)))
    return features_of_edges(graph.secondary, {name: number for number, name in enumerate(in_order, start=1)})


def _remove_bad_edges(graph: Graph) -> None:
    """Remove secondary edges with a missing end, or with a function that a label cannot hold."""
    n_tops = sum(item.parent == ROOT for item in (*graph.words, *graph.nodes.values()))
    has_root = graph.has_root or n_tops != 1
    edges, graph.secondary = graph.secondary, []
    for edge in edges:
        if edge.above not in graph.nodes and not (edge.above == ROOT and has_root):
            problem = f"a secondary edge comes from {edge.above[:60]!r}, which is not a node of the sentence"
        elif not has_root and not isinstance(edge.below, int) and graph.nodes[edge.below].parent == ROOT:
            problem = "a secondary edge leads to the root"
        elif not is_function(edge.function):
            problem = f"the function {edge.function[:60]!r} of a secondary edge has a blank, '|' or '#', which a label cannot hold"
        else:
            graph.secondary.append(edge)
            continue
        graph.bad_edges.append(BadEdge(problem, edge.line, edge.column))


def _fault(problem: str, graph: Graph, item: Word | GraphNode, path: str, field: str) -> InputError:
    """The error of a word or node; in a format with rows, it points to the given field of its row."""
    problem = f"sentence {graph.name}: {problem}"
    row = graph.rows.get(item.line)
    if row is None:
        return FormatError(problem, path=path, line=item.line, column=item.column)
    # A word, in the first column, may look like the number of a parent; only a node's own name is looked for there.
    fields = [found.start() for found in _FIELD.finditer(row) if found[0] == field.encode()]
    at = fields[0] if field.startswith("#") else next((start for start in fields if start), 0)
    return error_at(FormatError, problem, path, TextPosition(item.line, 0), row, at, "")


_FIELD = re.compile(rb"\S+")


def _root_of(graph: Graph) -> str:
    """The name of the root: the virtual root or, without one, the node at the top, as in Alpino XML."""
    tops = [name for name, node in graph.nodes.items() if node.parent == ROOT]
    is_virtual = graph.has_root or len(tops) != 1 or any(word.parent == ROOT for word in graph.words)
    return ROOT if is_virtual else tops[0]


def _with_punctuation_attached(graph: Graph) -> Graph:
    """The graph with punctuation that hangs from the root attached to the lowest node that covers the words on both sides of it."""
    root = _root_of(graph)
    words = list(graph.words)

    def ancestors(position: int) -> Iterator[str]:
        name = graph.words[position].parent
        while name != ROOT:
            yield name
            name = graph.nodes[name].parent
        yield ROOT

    for position, parent in attachments([w.parent == root and is_punctuation(w.word, w.label) for w in words], ancestors):
        words[position] = words[position]._replace(parent=parent)
    return replace(graph, words=words)


class WordRow(NamedTuple):
    """A word with its label, the number of its parent (-1: none), and the number of its tag."""

    word: str
    label: str
    parent: int
    number: int


class NodeRow(NamedTuple):
    """A node's label, and the number of its parent (-1 for the root)."""

    label: str
    parent: int


def rows_of_tree(tree: Tree, format_name: str) -> tuple[list[WordRow], dict[int, NodeRow]]:
    """The words in order, and the nodes above tags by their number in pre-order; WriteError for a shape that graphs cannot have."""
    words: list[WordRow] = [WordRow("", "", -1, -1)] * tree.width
    nodes: dict[int, NodeRow] = {}
    all_nodes: list[tuple[Tree, int]] = []
    for node, places, parent in walk(tree):
        if isinstance(node, Tree):
            if not node.width:
                raise WriteError(f"the node {node.label!r} has no words: {format_name} cannot hold it.\n  Remove it first.")
            if not node.is_preterminal:
                nodes[len(all_nodes)] = NodeRow(node.label, parent)
            all_nodes.append((node, parent))
            continue
        above, higher = all_nodes[parent]
        if not above.is_preterminal:
            raise WriteError(f"the word {node!r} has no tag of its own, which {format_name} needs.\n  Give it one.")
        words[places[0]] = WordRow(node, above.label, higher, parent)
    return words, nodes
