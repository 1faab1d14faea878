"""Alpino XML: nested ``<node>`` elements; the attribute ``begin`` is the place of a word, so branches may cross.

::

    <alpino_ds version="1.3">
      <node begin="0" end="3" cat="top" rel="top">
        <node begin="0" end="3" cat="smain" rel="--">
          <node begin="0" end="1" pos="pron" rel="su" lemma="hij" word="Hij"/>
          <node begin="1" end="2" pos="verb" rel="hd" lemma="slapen" word="slaapt"/>
        </node>
        <node begin="2" end="3" pos="punct" rel="--" lemma="." word="."/>
      </node>
      <sentence sentid="1">Hij slaapt .</sentence>
    </alpino_ds>

A file holds one sentence, or several within ``<treebank>``. A node with neither category nor word stands for the node elsewhere
with the same index: it is a secondary edge to that node. It becomes a feature of labels if the options ask for it; otherwise it is
left out. Nodes that then have no words are left out, and with them the secondary edges from and to them;
``Source.on_left_out`` is called with their numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.graphs import ROOT, Graph, GraphNode, Word
from treegauge.io.label_parts import NONE, LabelParts, join_label, node_parts, parts_left_out, split_label
from treegauge.io.secondary import BadEdge, SecondaryEdge, TreeEdge, edges_of_tree
from treegauge.io.sources import LeftOut, ReadOptions, Text
from treegauge.io.writing import tree_lines
from treegauge.io.xml import XmlHandler, attribute_text, graph_treebanks, morphology_of
from treegauge.trees.discontinuous import walk
from treegauge.trees.notation import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

_MOST_ELEMENTS = 1 << 20
_TOP = "top"
_NOT_FEATURES = {"id", "begin", "end", "word", "pos", "cat", "rel", "lemma", "index", "morph"}


def read_alpino(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of an Alpino XML file, in blocks, and all its errors; after an error in the XML itself nothing more can be read.

    With another ``options.on_error`` than ``stop``, each sentence is read by itself, and broken ones have no parse.
    """
    return graph_treebanks(text, _Handler(text, options), "alpino_ds", options)


class _Handler(XmlHandler):
    """Collects sentences from the events of the XML parser."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        super().__init__(text, options)
        self.is_alpino = self.has_errors = False
        self.root = ""
        self.count = 0
        self.graph: Graph | None = None
        self.path_down: list[str] = []
        self.words: dict[int, Word] = {}
        self.standing: dict[str, SecondaryEdge] = {}  # elements that stand for others
        # By index, the name of the node or the place of the word that has it; None if there are two.
        self.indexed: dict[str, str | int | None] = {}
        self.tags: set[str] = set()  # elements with a word
        self.elements = 0
        self.left_out = LeftOut()

    def missing(self) -> str:
        return "" if self.is_alpino else f"this XML is not a treebank: <{self.root}> holds neither Alpino XML nor TIGER-XML"

    def start(self, element: str, attributes: dict[str, str]) -> None:
        self.root = self.root or element
        self.is_alpino |= element == "alpino_ds" or self.root == "treebank"
        if element == "alpino_ds":
            self.count += 1
            self.graph = Graph(attributes.get("id", str(self.count)), self.line, has_root=False)
            self.path_down, self.words, self.elements, self.has_errors = [], {}, 0, False
            self.standing, self.indexed, self.tags, self.left_out = {}, {}, set(), LeftOut()
        elif self.graph is not None and element == "sentence":
            self.graph.name = attributes.get("sentid", self.graph.name)
        elif self.graph is not None and element == "node":
            self.elements += 1
            if self.elements > _MOST_ELEMENTS:
                raise FormatError(f"a sentence has more than {_MOST_ELEMENTS} elements", path=self.path, line=self.graph.line)
            self._node(self.graph, attributes)

    def _node(self, graph: Graph, attributes: dict[str, str]) -> None:
        parent = self.path_down[-1] if self.path_down else ROOT
        name = f"n{self.elements}"
        self.path_down.append(name)
        index = attributes.get("index", "")
        if parent in self.standing:  # it has a child, so it is a node without a category and stands for no other
            edge = self.standing.pop(parent)
            label = join_label(LabelParts(NONE, edge.function), self.options)
            graph.nodes[parent] = GraphNode(label, edge.above, edge.line, edge.column)
        elif parent in self.tags:
            self._fault("a node that has a word has another node below it")
        if "word" in attributes:
            self.tags.add(name)
            self._word(attributes, parent)
        elif index and not attributes.get("cat"):
            self.standing[name] = SecondaryEdge(index, attributes.get("rel") or NONE, parent, self.line, self.column)
            return
        else:
            parts = LabelParts(attributes.get("cat") or NONE, _function(attributes))
            graph.nodes[name] = GraphNode(join_label(parts, self.options), parent, self.line, self.column)
        if index in self.indexed:
            self.indexed[index] = None
        elif index:
            self.indexed[index] = int(attributes["begin"]) if "word" in attributes and not self.has_errors else name

    def _word(self, attributes: dict[str, str], parent: str) -> None:
        begin, word = attributes.get("begin", ""), attributes["word"]
        if not (begin.isascii() and begin.isdigit() and len(begin) < 10):
            self._fault(f"the word {word[:60]!r} has no place (attribute begin): {begin[:60]!r}")
            return
        if not word:
            self._fault(f"the word at {begin} has no text (attribute word)")
            return
        if int(begin) in self.words:
            self._fault(f"two words begin at {begin}: {self.words[int(begin)].word[:60]!r} and {word[:60]!r}")
            return
        morphology = attributes.get("morph") or morphology_of(attributes, _NOT_FEATURES) or NONE
        tag = attributes.get("pos") or attributes.get("pt") or NONE
        parts = LabelParts(tag, _function(attributes), morphology, attributes.get("lemma") or NONE)
        self.left_out = self.left_out.plus(parts_left_out([parts], self.options))
        self.words[int(begin)] = Word(restore_word(word), join_label(parts, self.options), parent, self.line, self.column)

    def end(self, element: str) -> None:
        if element == "node" and self.path_down:
            self.path_down.pop()
        if element != "alpino_ds" or self.graph is None:
            return
        graph, self.graph = self.graph, None
        if not self.has_errors:
            in_order = sorted(self.words)
            graph.words = [self.words[begin] for begin in in_order]
            all_nodes = set(graph.nodes)
            _remove_wordless(graph)
            removed = all_nodes - set(graph.nodes)
            if self.options.secondary:
                self._resolve_indices(graph, {begin: number for number, begin in enumerate(in_order)}, removed)
            n_edges = len(self.standing) - len(graph.secondary) - len(graph.bad_edges)
            graph.left_out = self.left_out._replace(edges=n_edges, nodes=len(removed))
            self.found.append(graph)

    def _resolve_indices(self, graph: Graph, number: dict[int, int], removed: set[str]) -> None:
        """Resolve the indices of secondary edges to words and nodes; edges from or to removed nodes are dropped."""
        edges: list[SecondaryEdge] = []
        for edge in self.standing.values():
            below = self.indexed.get(str(edge.below))
            if below is None:
                problem = "two nodes with words have" if edge.below in self.indexed else "no node with words has"
                graph.bad_edges.append(BadEdge(f"{problem} the index {str(edge.below)[:60]!r}", edge.line, edge.column))
            elif edge.above not in removed and below not in removed:
                edges.append(edge._replace(below=number[below] if isinstance(below, int) else below))
        graph.secondary = edges

    def _fault(self, problem: str) -> None:
        assert self.graph is not None
        self.has_errors = True
        self.report(self.graph.name, problem)


def _function(attributes: dict[str, str]) -> str:
    relation = attributes.get("rel") or NONE
    return NONE if relation == _TOP else relation


def _remove_wordless(graph: Graph) -> None:
    """Remove the nodes that have no words below them."""
    with_words: set[str] = {ROOT}
    for word in graph.words:
        name = word.parent
        while name not in with_words and name in graph.nodes:
            with_words.add(name)
            name = graph.nodes[name].parent
    graph.nodes = {name: node for name, node in graph.nodes.items() if name in with_words}


def alpino_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as Alpino XML within ``<treebank>``; sentences keep their numbers."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<treebank>\n'
    yield from tree_lines(blocks, _sentence)
    yield b"</treebank>\n"


def _sentence(tree: Tree, number: int) -> Iterator[str]:
    yield '<alpino_ds version="1.3">'
    if tree.children or tree.label:
        yield from _nodes(tree)
    yield f'<sentence sentid="{number}">{attribute_text(" ".join(tree.words))[1:-1]}</sentence>'
    yield "</alpino_ds>"


def _nodes(tree: Tree) -> Iterator[str]:
    tree, edges = edges_of_tree(tree)
    index, standing = _index_nodes(tree, edges)
    nodes: list[Tree] = []
    to_come: list[int] = []  # for each open node, the number of children still to come
    for node, places, parent in walk(tree):
        if isinstance(node, str):
            if not nodes[parent].is_preterminal:
                raise WriteError(f"the word {node!r} has no tag of its own, which Alpino XML needs.\n  Give it one.")
            continue
        if not node.width:
            raise WriteError(f"the node {node.label!r} has no words: Alpino XML cannot hold it.\n  Remove it first.")
        attributes = {"begin": str(places[0]), "end": str(places[-1] + 1), **_names(node, is_root=parent < 0)}
        number = len(nodes)
        attributes |= {"index": str(index[number])} if number in index else {}
        nodes.append(node)
        written = " ".join(f"{key}={attribute_text(value)}" for key, value in attributes.items())
        blank = "  " * min(len(to_come) + 1, 40)
        if not node.is_preterminal:
            yield f"{blank}<node {written}>"
            yield from (f"  {blank}{element}" for element in standing.get(number, ()))
            to_come.append(len(node.children))
            continue
        yield f"{blank}<node {written}/>"
        while to_come:
            to_come[-1] -= 1
            if to_come[-1]:
                break
            to_come.pop()
            yield "  " * min(len(to_come) + 1, 40) + "</node>"


def _index_nodes(tree: Tree, edges: list[TreeEdge]) -> tuple[dict[int, int], dict[int, list[str]]]:
    """The indices of the nodes that secondary edges lead to, and, by the node that they come from, the elements for these edges."""
    index = {below: number for number, below in enumerate(sorted({edge.below for edge in edges}), start=1)}
    elements: dict[int, list[str]] = {}
    if edges:
        of_nodes = [places for node, places, _ in walk(tree) if isinstance(node, Tree)]
        for edge in edges:
            places = of_nodes[edge.below]
            if not places:
                raise WriteError("a secondary edge leads to a node without words: Alpino XML cannot hold it.\n  Remove it first.")
            span = f'begin="{places[0]}" end="{places[-1] + 1}"'
            element = f'<node index="{index[edge.below]}" {span} rel={attribute_text(edge.function)}/>'
            elements.setdefault(edge.above, []).append(element)
    return index, elements


def _names(node: Tree, *, is_root: bool) -> dict[str, str]:
    """The attributes that hold the parts of a label; a relation ``top`` is not written, since it would be read as none."""
    if node.is_preterminal:
        parts = split_label(node.label, has_lemma=True, has_blanks=True)
    else:
        parts = node_parts(node.label, is_root=is_root)
    if parts.function == _TOP or (is_root and parts.function != NONE):
        parts = node_parts(node.label, is_root=True)
    relation = _TOP if is_root else parts.function
    if not node.is_preterminal:
        return {"cat": parts.tag, "rel": relation}
    word = str(node.children[0])
    if not word or restore_word(word) != word:
        raise WriteError(f"the word {word!r} cannot be written in Alpino XML: it would be read back as {restore_word(word)!r}.")
    return {"pos": parts.tag, "rel": relation, "lemma": parts.lemma, "morph": parts.morphology, "word": word}
