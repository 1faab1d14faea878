"""Alpino XML: nested ``<node>`` elements; a word knows its place by ``begin``, so branches may cross.

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

A file holds one sentence, or several within ``<treebank>``. A node with neither category nor word stands for one elsewhere with the
same index; it is left out, and so is what then has no words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.graphs import (
    NONE,
    ROOT,
    Graph,
    GraphNode,
    LabelParts,
    Word,
    join_label,
    node_parts,
    split_label,
)
from treegauge.io.sources import ReadOptions, Text
from treegauge.io.writing import refusal
from treegauge.io.xml import XmlHandler, attribute_text, graph_treebanks
from treegauge.trees.bracketed import restore_word
from treegauge.trees.discontinuous import walk
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["alpino_text", "check_alpino"]

_MOST_ELEMENTS = 1 << 20
_TOP = "top"
_NOT_FEATURES = {"id", "begin", "end", "word", "pos", "cat", "rel", "lemma", "index", "morph"}


def check_alpino(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of an Alpino XML file, in blocks, and all its errors; after one of XML itself nothing more can be read.

    Or a sentence without a parse for each broken one; then each is read by itself.
    """
    return graph_treebanks(text, _Handler(text, options), "alpino_ds", options)


class _Handler(XmlHandler[Graph]):
    """Collects sentences from the events of the XML parser."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        super().__init__(text)
        self.options = options
        self.is_alpino = self.has_errors = False
        self.count = 0
        self.graph: Graph | None = None
        self.path_down: list[str] = []
        self.words: dict[int, Word] = {}
        self.elements = 0

    def missing(self) -> str:
        return "" if self.is_alpino else "no <alpino_ds> in this XML file: it is not Alpino XML"

    def start(self, element: str, attributes: dict[str, str]) -> None:
        if element in ("alpino_ds", "treebank"):
            self.is_alpino = True
        if element == "alpino_ds":
            self.count += 1
            self.graph = Graph(attributes.get("id", str(self.count)), self.line, has_root=False)
            self.path_down, self.words, self.elements, self.has_errors = [], {}, 0, False
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
        if "word" in attributes:
            self._word(attributes, parent)
        else:
            parts = LabelParts(attributes.get("cat") or NONE, _function(attributes))
            graph.nodes[name] = GraphNode(join_label(parts, self.options), parent, self.line)

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
        features = "|".join(f"{k}={v}" for k, v in attributes.items() if k not in _NOT_FEATURES and v not in ("", NONE))
        morphology = attributes.get("morph") or features or NONE
        tag = attributes.get("pos") or attributes.get("pt") or NONE
        parts = LabelParts(tag, _function(attributes), morphology, attributes.get("lemma") or NONE)
        self.words[int(begin)] = Word(restore_word(word), join_label(parts, self.options), parent, self.line)

    def end(self, element: str) -> None:
        if element == "node" and self.path_down:
            self.path_down.pop()
        if element != "alpino_ds" or self.graph is None:
            return
        graph, self.graph = self.graph, None
        if not self.has_errors:
            graph.words = [self.words[begin] for begin in sorted(self.words)]
            _remove_wordless(graph)
            self.found.append(graph)

    def _fault(self, problem: str) -> None:
        assert self.graph is not None
        self.has_errors = True
        self.found.append(FormatError(f"sentence {self.graph.name}: {problem}", path=self.path, line=self.line))


def _function(attributes: dict[str, str]) -> str:
    relation = attributes.get("rel") or NONE
    return NONE if relation == _TOP else relation


def _remove_wordless(graph: Graph) -> None:
    """Remove nodes that stand for others elsewhere, and those that have nothing else below them."""
    with_words: set[str] = {ROOT}
    for word in graph.words:
        name = word.parent
        while name not in with_words and name in graph.nodes:
            with_words.add(name)
            name = graph.nodes[name].parent
    graph.nodes = {name: node for name, node in graph.nodes.items() if name in with_words}


def alpino_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as Alpino XML within ``<treebank>``, sentences numbered from 1."""
    yield b'<?xml version="1.0" encoding="UTF-8"?>\n<treebank>\n'
    number = 0
    for block in blocks:
        for index, tree in enumerate(block):
            number += 1
            try:
                yield ("\n".join(_sentence(tree, number)) + "\n").encode("utf-8")
            except WriteError as error:
                raise refusal(block, index, str(error)) from None
            except ValueError:  # also half of a surrogate pair
                raise refusal(block, index, "a label or word holds a character that XML cannot have") from None
    yield b"</treebank>\n"


def _sentence(tree: Tree, number: int) -> Iterator[str]:
    yield '<alpino_ds version="1.3">'
    if tree.children or tree.label:
        yield from _nodes(tree)
    yield f'<sentence sentid="{number}">{attribute_text(" ".join(tree.words))[1:-1]}</sentence>'
    yield "</alpino_ds>"


def _nodes(tree: Tree) -> Iterator[str]:
    nodes: list[Tree] = []
    to_come: list[int] = []  # children of open nodes still to come
    for node, places, parent in walk(tree):
        if isinstance(node, str):
            if not nodes[parent].is_preterminal:
                raise WriteError(f"the word {node!r} has no tag of its own, which Alpino XML needs.\n  Give it one.")
            continue
        if not node.width:
            raise WriteError(f"the node {node.label!r} has no words: Alpino XML cannot hold it.\n  Remove it first.")
        attributes = {"begin": str(places[0]), "end": str(places[-1] + 1), **_names(node, is_root=parent < 0)}
        nodes.append(node)
        written = " ".join(f"{key}={attribute_text(value)}" for key, value in attributes.items())
        blank = "  " * min(len(to_come) + 1, 40)
        if not node.is_preterminal:
            yield f"{blank}<node {written}>"
            to_come.append(len(node.children))
            continue
        yield f"{blank}<node {written}/>"
        while to_come:
            to_come[-1] -= 1
            if to_come[-1]:
                break
            to_come.pop()
            yield "  " * min(len(to_come) + 1, 40) + "</node>"


def _names(node: Tree, *, is_root: bool) -> dict[str, str]:
    """The parts of a label as attributes; a relation that is ``top`` would be read as none."""
    parts = split_label(node.label, has_lemma=True) if node.is_preterminal else node_parts(node.label, is_root=is_root)
    if parts.function == _TOP or (is_root and parts.function != NONE):
        parts = node_parts(node.label, is_root=True)
    relation = _TOP if is_root else parts.function
    if not node.is_preterminal:
        return {"cat": parts.tag, "rel": relation}
    word = str(node.children[0])
    if not word or restore_word(word) != word:
        raise WriteError(f"the word {word!r} cannot be written in Alpino XML: it would be read back as {restore_word(word)!r}.")
    return {"pos": parts.tag, "rel": relation, "lemma": parts.lemma, "morph": parts.morphology, "word": word}
