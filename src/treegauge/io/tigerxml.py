"""TIGER-XML (Mengel & Lezius 2000): words ``<t>``, and nodes ``<nt>`` with edges to their children.

Edges may cross. A word or node may hold a ``<secedge>``, whose ``idref`` is a further parent; such edges are read if the options
ask for it. A sentence with the processing instruction ``<?treegauge no-vroot?>``, which :func:`tigerxml_text` writes, has no
virtual root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.graphs import ROOT, ROOT_LABEL, Graph, GraphNode, Word, WordRow, rows_of_tree
from treegauge.io.label_parts import NONE, LabelParts, join_label, node_parts, parts_left_out, split_label
from treegauge.io.secondary import BadEdge, SecondaryEdge, TreeEdge, edges_of_tree
from treegauge.io.sources import ReadOptions, Text
from treegauge.io.writing import tree_lines
from treegauge.io.xml import XmlHandler, attribute_text, graph_treebanks, morphology_of
from treegauge.trees.notation import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

NO_ROOT = "treegauge no-vroot"
_MOST_ELEMENTS = 1 << 20
_NOT_FEATURES = {"id", "word", "pos", "cat", "lemma", "morph"}


def read_tigerxml(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a TIGER-XML file, in blocks, and all its errors; after an error in the XML itself nothing more can be read.

    With another ``options.on_error`` than ``stop``, each sentence is read by itself, and broken ones have no parse.
    """
    return graph_treebanks(text, _Handler(text, options), "s", options)


class _TigerEdge(NamedTuple):
    """The edge above a word or node: its parent, its function, and its place in the file."""

    parent: str
    function: str
    line: int = 0
    column: int = 0


class _TigerItem(NamedTuple):
    """A word (its text) or node (None) with the parts of its label, and its place in the file."""

    word: str | None
    parts: LabelParts
    line: int
    column: int


class _TigerSentence:
    """A sentence under construction, while its elements are read."""

    def __init__(self, name: str, line: int) -> None:
        self.name, self.line = name, line
        self.root = ""
        self.words: dict[str, _TigerItem] = {}
        self.nodes: dict[str, _TigerItem] = {}
        self.edges: dict[str, _TigerEdge] = {}  # by the word or node below
        self.node = ""  # the node whose edges are being read
        self.element = ""  # the word or node whose secondary edges are being read
        self.secondary: list[SecondaryEdge] = []
        self.bad_edges: list[BadEdge] = []
        self.edges_left_out = 0
        self.elements = 0
        self.has_errors = False
        self.has_root = True

    def graph(self, options: ReadOptions) -> Graph:
        """The graph of the sentence; labels are made of the parts of words and nodes and of the edges above them."""
        root_label = self.nodes[self.root].parts.tag if self.root in self.nodes else ""
        virtual = self.root if root_label == ROOT_LABEL else ROOT

        def above(name: str, parts: LabelParts) -> tuple[str, str]:
            edge = self.edges.get(name, _TigerEdge(virtual, NONE))
            label = join_label(parts._replace(function=edge.function), options)
            return label, ROOT if edge.parent == virtual else edge.parent

        left_out = parts_left_out((item.parts for item in self.words.values()), options)._replace(edges=self.edges_left_out)
        graph = Graph(self.name, self.line, has_root=self.has_root, left_out=left_out, bad_edges=self.bad_edges)
        for name, (word, parts, line, column) in self.words.items():
            graph.words.append(Word(restore_word(word or ""), *above(name, parts), line, column))
        for name, (_, parts, line, column) in self.nodes.items():
            if name != virtual:
                graph.nodes[name] = GraphNode(*above(name, parts), line, column)
        numbers = {name: number for number, name in enumerate(self.words)}
        for edge in self.secondary:
            below = numbers.get(str(edge.below), edge.below)
            graph.secondary.append(edge._replace(below=below, above=ROOT if edge.above == virtual else edge.above))
        return graph


class _Handler(XmlHandler):
    """Collects sentences from the events of the XML parser."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        super().__init__(text, options)
        self.sentence: _TigerSentence | None = None
        self.root = ""
        self.is_tiger = self.is_empty = False

    def begin(self, line: int) -> None:
        super().begin(line)
        self.parser.ProcessingInstructionHandler = self.instruction

    def missing(self) -> str:
        is_treebank = self.is_tiger or (self.is_empty and self.root == "corpus")
        return "" if is_treebank else f"this XML is not a treebank: <{self.root}> holds neither TIGER-XML nor Alpino XML"

    def instruction(self, target: str, data: str) -> None:
        """Handle a processing instruction ``<?target data?>``."""
        if self.sentence is not None and f"{target} {data}" == NO_ROOT:
            self.sentence.has_root = False

    def start(self, element: str, attributes: dict[str, str]) -> None:
        self.is_empty, self.root = not self.root, self.root or element
        self.is_tiger |= element in ("graph", "t") or (element == "body" and self.root == "corpus")
        if element == "s":
            self.sentence = _TigerSentence(attributes.get("id", str(self.line)), self.line)
            return
        sentence = self.sentence
        if sentence is None:
            return
        sentence.elements += 1
        if sentence.elements > _MOST_ELEMENTS:
            raise FormatError(
                f"sentence {sentence.name} has more than {_MOST_ELEMENTS} elements", path=self.path, line=sentence.line
            )
        match element:
            case "graph":
                sentence.root = attributes.get("root", "")
            case "t":
                self._word(sentence, attributes)
            case "nt":
                sentence.node = sentence.element = self._new_name(sentence, attributes)
                parts = LabelParts(attributes.get("cat") or NONE)
                sentence.nodes[sentence.node] = _TigerItem(None, parts, self.line, self.column)
            case "edge":
                self._edge(sentence, attributes)
            case "secedge" if self.options.secondary:
                self._secondary_edge(sentence, attributes)
            case "secedge":
                sentence.edges_left_out += 1
            case _:
                pass

    def _word(self, sentence: _TigerSentence, attributes: dict[str, str]) -> None:
        name = self._new_name(sentence, attributes)
        word = attributes.get("word", "")
        if not word:
            self._fault(sentence, f"word {name} has no text (attribute word)")
        morphology = morphology_of(attributes, _NOT_FEATURES) or attributes.get("morph") or NONE
        parts = LabelParts(attributes.get("pos") or NONE, NONE, morphology, attributes.get("lemma") or NONE)
        sentence.words[name] = _TigerItem(word, parts, self.line, self.column)
        sentence.element = name

    def _edge(self, sentence: _TigerSentence, attributes: dict[str, str]) -> None:
        below = attributes.get("idref", "")
        if not sentence.node:
            self._fault(sentence, "an edge outside of any node <nt>")
            return
        if below in sentence.edges:
            self._fault(sentence, f"{below} has two parents, {sentence.edges[below].parent} and {sentence.node}")
        sentence.edges[below] = _TigerEdge(sentence.node, attributes.get("label") or NONE, self.line, self.column)

    def _secondary_edge(self, sentence: _TigerSentence, attributes: dict[str, str]) -> None:
        if not sentence.element or sentence.element == sentence.root:
            problem = "leads to the root" if sentence.element else "is outside of any word or node"
            sentence.bad_edges.append(BadEdge(f"a secondary edge {problem}", self.line, self.column))
            return
        function, above = attributes.get("label") or NONE, attributes.get("idref", "")
        sentence.secondary.append(SecondaryEdge(sentence.element, function, above, self.line, self.column))

    def _new_name(self, sentence: _TigerSentence, attributes: dict[str, str]) -> str:
        name = attributes.get("id", "")
        if not name:
            self._fault(sentence, "an element without an id")
        elif name in sentence.words or name in sentence.nodes or name == ROOT:
            self._fault(sentence, f"the id {name} occurs twice")
        return name

    def end(self, element: str) -> None:
        sentence = self.sentence
        if element in ("t", "nt") and sentence is not None:
            sentence.node = sentence.element = ""
        if element != "s" or sentence is None:
            return
        self.sentence = None
        for below, edge in sentence.edges.items():
            if below not in sentence.words and below not in sentence.nodes:
                self._fault(sentence, f"an edge of {edge.parent} leads to {below!r}, which does not exist", edge)
        if not sentence.has_errors:
            self.found.append(sentence.graph(self.options))

    def _fault(self, sentence: _TigerSentence, problem: str, edge: _TigerEdge | None = None) -> None:
        """Note a problem with the element that is being read, or with an edge."""
        sentence.has_errors = True
        self.report(sentence.name, problem, *((edge.line, edge.column) if edge is not None else ()))


_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<corpus id="treegauge">\n<body>\n'


def tigerxml_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as a TIGER-XML corpus; sentences keep their numbers."""
    yield _HEAD.encode()
    yield from tree_lines(blocks, _sentence)
    yield b"</body>\n</corpus>\n"


def _sentence(tree: Tree, number: int) -> Iterator[str]:
    """The lines of a sentence."""
    name = f"s{number}"
    if not tree.children and not tree.label:
        yield f'<s id="{name}">\n<graph>\n<terminals>\n</terminals>\n<nonterminals>\n</nonterminals>\n</graph>\n</s>'
        return
    tree, edges = edges_of_tree(tree)
    words, nodes = rows_of_tree(tree, "TIGER-XML")
    has_root = tree.label == ROOT_LABEL and not tree.is_preterminal
    names = {row: f"{name}_VROOT" if has_root and row == 0 else f"{name}_{500 + row}" for row in nodes}
    yield f'<s id="{name}">'
    if not has_root:
        yield f"<?{NO_ROOT}?>"
    yield f'<graph root="{names[0] if nodes else name + "_1"}"' + ("" if tree.is_continuous else ' discontinuous="true"') + ">"
    yield "<terminals>"
    further = _secondary_elements(edges, names)
    below: dict[int, list[tuple[str, str]]] = {row: [] for row in nodes}  # the names and functions of children
    for place, word in enumerate(words, start=1):
        parts = _word_parts(word)
        yield _word(f"{name}_{place}", word.word, parts, further.get(word.number, ""))
        if word.parent >= 0:
            below[word.parent].append((f"{name}_{place}", parts.function))
    yield "</terminals>\n<nonterminals>"
    categories: dict[int, str] = {}
    for row, node in nodes.items():
        parts = node_parts(node.label, is_root=node.parent < 0)
        categories[row] = parts.tag
        if node.parent >= 0:
            below[node.parent].append((names[row], parts.function))
    for row in nodes:
        yield f'<nt id="{names[row]}" cat={attribute_text(categories[row])}>'
        for child, function in below[row]:
            yield f'<edge label={attribute_text(function)} idref="{child}" />'
        yield further.get(row, "") + "</nt>"
    yield "</nonterminals>\n</graph>\n</s>"


def _secondary_elements(edges: list[TreeEdge], names: dict[int, str]) -> dict[int, str]:
    """The elements of secondary edges, by the number of the word or node below them."""
    elements: dict[int, str] = {}
    for edge in edges:
        element = f'<secedge label={attribute_text(edge.function)} idref="{names[edge.above]}" />'
        elements[edge.below] = elements.get(edge.below, "") + element
    return elements


def _word_parts(row: WordRow) -> LabelParts:
    """The parts of a word's label; a word without a parent has no edge that could hold its function."""
    parts = split_label(row.label, has_lemma=True, has_blanks=True)
    return parts if row.parent >= 0 or parts.function == NONE else node_parts(row.label, is_root=True)


def _word(name: str, word: str, parts: LabelParts, inside: str) -> str:
    if not word or restore_word(word) != word:
        raise WriteError(f"the word {word!r} cannot be written in TIGER-XML: it would be read back as {restore_word(word)!r}.")
    values = {"word": word, "lemma": parts.lemma, "pos": parts.tag, "morph": parts.morphology}
    written = " ".join(f"{key}={attribute_text(value)}" for key, value in values.items())
    return f'<t id="{name}" {written}' + (f">{inside}</t>" if inside else " />")
