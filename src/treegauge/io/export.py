"""The NEGRA export format, versions 3 and 4 (Brants 1997): a line per word, then a line per node, each with its parent.

::

    #FORMAT 3
    #BOS 1 0 0 0
    Es      PPER    --      SB      500
    regnet  VVFIN   --      HD      500
    .       $.      --      --      0
    #500    S       --      --      0
    #EOS 1

Version 4 has a column for the lemma after the word. Tables (``#BOT`` ... ``#EOT``) and comments (``%%``) are skipped. After the
parent there may be pairs of columns, the function and the parent of a secondary edge; they are read if the options ask for it. A
sentence with the comment ``%% no VROOT`` in its ``#BOS`` line has no virtual root. :func:`export_text` writes such comments;
reading its output with functions and features gives back the same trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from treegauge.errors import EncodingError, FormatError, InputError, WriteError
from treegauge.io.diagnosis import bad_bytes, error_at
from treegauge.io.graphs import (
    ROOT,
    ROOT_LABEL,
    Graph,
    GraphNode,
    NodeRow,
    Word,
    WordRow,
    broken_as_graph,
    rows_of_tree,
    treebanks_of,
)
from treegauge.io.label_parts import LabelParts, join_label, parts_left_out, split_label
from treegauge.io.secondary import BadEdge, SecondaryEdge, TreeEdge, edges_of_tree
from treegauge.io.sources import LeftOut, ReadOptions, Text, TextPosition
from treegauge.io.writing import tree_lines
from treegauge.tables import number_of
from treegauge.trees.notation import restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

NO_ROOT = "%% no VROOT"
_MOST_NAMES = 1 << 16
_KEYWORDS = frozenset({b"#FORMAT", b"#BOT", b"#EOT", b"#BOS", b"#EOS"})
_NODE = re.compile(rb"#(\d{3,9})")
_COLUMN = re.compile(rb"[^ \t\n\r\v\f]+")
_COLUMNS = {3: "word, tag, morphology, edge, parent", 4: "word, lemma, tag, morphology, edge, parent"}


def read_export(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of an export file, in blocks, and all its errors; or sentences without a parse in place of the errors."""
    scanner = _ExportScanner(text.name, options)
    lines = enumerate(text.lines(), start=1)
    found = scanner.graphs(lines) if options.on_error == "stop" else _sentence_by_sentence(scanner, lines)
    return treebanks_of(found, text, options)


def _sentence_by_sentence(scanner: _ExportScanner, lines: Iterable[tuple[int, bytes]]) -> Iterator[Graph]:
    """The sentences of a file, each from its ``#BOS`` to the next one; broken ones, and text outside of any, carry their error."""
    for has_begun, piece in _pieces(lines):
        number, first = piece[0]
        fields = first.split()
        name = fields[1].decode("utf-8", "replace") if has_begun and len(fields) > 1 else str(number)
        items = list(scanner.graphs(piece))
        if items or has_begun:
            yield from broken_as_graph(items, name, number, b"\n".join(line for _, line in piece))


def _pieces(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[bool, list[tuple[int, bytes]]]]:
    """The numbered lines up to each ``#BOS``, and whether they begin with a ``#BOS``."""
    piece: list[tuple[int, bytes]] = []
    has_begun = False
    for number, line in lines:
        if line.split(maxsplit=1)[:1] == [b"#BOS"]:
            if piece:
                yield has_begun, piece
            piece, has_begun = [], True
        piece.append((number, line))
    if piece:
        yield has_begun, piece


def is_node_name(word: bytes) -> bool:
    """Whether a line that begins with this word describes a node: ``#`` and a number from 500 on."""
    match = _NODE.fullmatch(word)
    return match is not None and int(match.group(1)) >= 500


class _ExportScanner:
    """The sentences of an export file, found line by line."""

    def __init__(self, path: str, options: ReadOptions) -> None:
        self.path, self.options = path, options
        self.version: int | None = None
        # Most words and labels come again and again.
        self.word = lru_cache(_MOST_NAMES)(_word)
        self.label = lru_cache(_MOST_NAMES)(partial(_label, options))
        self.number, self.line = 0, b""
        self.graph: Graph | None = None
        self.identity = b""  # the name of the sentence in its #BOS line
        self.has_errors = False
        self.is_lost = False  # whether an error outside of sentences was already reported
        self.in_table = False

    def graphs(self, lines: Iterable[tuple[int, bytes]]) -> Iterator[Graph | InputError]:
        """The sentences and errors in numbered lines."""
        for self.number, self.line in lines:
            fields = self.line.split()
            if not fields:
                continue
            try:
                if fields[0] in _KEYWORDS:
                    self._read_keyword(fields)
                elif self.in_table or fields[0].startswith(b"%%"):
                    pass
                elif self.graph is not None:
                    self._read_row(fields, self.graph)
                elif not self.is_lost:
                    self.is_lost = True
                    raise self._error("a line outside of any sentence", advice="Sentences stand between #BOS and #EOS.")
            except InputError as error:
                self.has_errors = fields[0] != b"#BOS"  # an error of a #BOS line is about the sentence before
                yield error
            if fields[0] == b"#EOS" and self.graph is not None:
                if not self.has_errors:
                    yield self.graph
                self.graph = None
        if self.graph is not None:
            unfinished, self.graph = self.graph, None
            where = "the file ends in it" if self.options.on_error == "stop" else "the next one or the end of the file comes first"
            yield self._error(f"sentence {unfinished.name} has no #EOS: {where}", advice="Was the file cut short?")

    def _read_keyword(self, fields: list[bytes]) -> None:
        """Process a line that begins with a keyword. At ``#EOS`` the caller takes the sentence."""
        match fields[0]:
            case b"#FORMAT":
                version = fields[1] if len(fields) > 1 else b""
                if version not in (b"3", b"4"):
                    raise self._error(
                        f"unknown version {version.decode('utf-8', 'replace')!r}", advice="Versions 3 and 4 can be read."
                    )
                self.version = int(version)
            case b"#BOT":
                self.in_table = True
            case b"#EOT":
                self.in_table = False
            case b"#BOS":
                self._begin(fields)
            case _:  # #EOS
                self.in_table = False
                if self.graph is None:
                    raise self._error("#EOS without a #BOS before it")
                if len(fields) > 1 and self.identity and fields[1] != self.identity:
                    ends, began = (name[:60].decode("utf-8", "replace") for name in (fields[1], self.identity))
                    advice = "A #EOS and the #BOS after it may be missing: each sentence has its own #BOS and #EOS."
                    raise self._error(f"#EOS of sentence {ends}, but the sentence began as {began}", advice)

    def _begin(self, fields: list[bytes]) -> None:
        unfinished, self.has_errors, self.is_lost, self.in_table = self.graph, False, False, False
        self.identity = b" ".join(fields[1:2])
        name = self.identity.decode("utf-8", "replace") or str(self.number)
        self.graph = Graph(name, self.number, has_root=not self.line.rstrip().endswith(NO_ROOT.encode()))
        if unfinished is not None:
            raise self._error(f"sentence {unfinished.name} has no #EOS before the next #BOS")

    def _read_row(self, fields: list[bytes], graph: Graph) -> None:
        if b"\0" in self.line:
            raise self._bad_bytes()
        if self.version is None:
            self.version = 4 if len(fields) > 5 and fields[5].isdigit() and not fields[4].isdigit() else 3
        width = self.version + 2
        if len(fields) < width:
            raise self._error(f"{number_of(len(fields), 'column')} instead of {width}", self._columns_advice(fields))
        if not fields[width - 1].isdigit():
            parent = fields[width - 1].decode("utf-8", "replace")
            raise self._error(f"the parent {parent!r} is not a number", self._columns_advice(fields))
        try:
            label, left_out = self.label(*fields[1 : width - 1])
            word = self.word(fields[0])
        except UnicodeDecodeError:
            raise self._bad_bytes() from None
        parent = fields[width - 1].decode("ascii")
        below: str | int = len(graph.words)
        if not (fields[0].startswith(b"#") and is_node_name(fields[0])):
            graph.words.append(Word(word, label, parent, self.number))
            graph.left_out = graph.left_out.plus(left_out)
        elif word[1:] in graph.nodes:
            raise self._error(f"node {word[1:]} occurs twice")
        else:
            below = word[1:]
            graph.nodes[below] = GraphNode(label, parent, self.number)
        graph.rows[self.number] = self.line
        if len(fields) > width and self.options.secondary:
            graph.secondary += self._secondary_edges(below, width, graph.bad_edges)
        elif len(fields) > width:
            end = next((k for k in range(width, len(fields)) if fields[k].startswith(b"%%")), len(fields))
            graph.left_out = graph.left_out.plus(LeftOut(edges=(end - width) // 2))

    def _columns_advice(self, fields: list[bytes]) -> str:
        assert self.version is not None
        other = 7 - self.version
        looks_other = len(fields) >= other + 2 and fields[other + 1].isdigit() and not fields[other].isdigit()
        advice = f"Version {self.version} has {_COLUMNS[self.version]}."
        return f"{advice}\n  This looks like version {other}: correct the line #FORMAT." if looks_other else advice

    def _secondary_edges(self, below: str | int, width: int, bad: list[BadEdge]) -> Iterator[SecondaryEdge]:
        """The secondary edges in the pairs of columns after the parent, up to a comment; what follows a bad one is not read."""
        found = list(_COLUMN.finditer(self.line))[width:]
        end = next((k for k, column in enumerate(found) if column[0].startswith(b"%%")), len(found))
        before, place = 0, 1
        for k in range(0, end, 2):
            place += len(self.line[before : found[k].start()].decode("utf-8", "replace"))
            before = found[k].start()
            if k + 1 == end or not found[k + 1][0].isdigit():
                problem = "a secondary edge needs two columns, its function and the number of its parent"
                bad.append(BadEdge(problem, self.number, place))
                return
            try:
                function = found[k][0].decode("utf-8")
            except UnicodeDecodeError:
                raise self._bad_bytes() from None
            yield SecondaryEdge(below, function, found[k + 1][0].decode("ascii"), self.number, place)

    def _bad_bytes(self) -> InputError:
        problem, at, advice = bad_bytes(self.line) or ("these bytes are not text", 0, "")
        return error_at(EncodingError, problem, self.path, TextPosition(self.number, 0), self.line, at, advice)

    def _error(self, problem: str, advice: str = "", at: int = 0) -> InputError:
        return error_at(FormatError, problem, self.path, TextPosition(self.number, 0), self.line, at, advice)


def _word(column: bytes) -> str:
    return restore_word(column.decode("utf-8"))


def _label(options: ReadOptions, *columns: bytes) -> tuple[str, LeftOut]:
    """The label made of the columns between word and parent, and what it leaves out."""
    *lemma, tag, morphology, function = (column.decode("utf-8") for column in columns)
    parts = LabelParts(tag, function, morphology, *lemma)
    return join_label(parts, options), parts_left_out([parts], options)


_FIRST_NODE = 500
_RESERVED = re.compile(r"%%|#(FORMAT|BOT|EOT|BOS|EOS)$")
_BLANK = re.compile(r"[ \t\n\r\v\f\0]")


def export_text(blocks: Iterable[Treebank], version: int = 3) -> Iterator[bytes]:
    """The trees as an export file of version 3 or 4; sentences keep their numbers.

    A tree whose root is not ``VROOT`` is marked by a comment in its first line, so that reading does not add one.
    """
    yield f"#FORMAT {version}\n".encode()
    yield from tree_lines(blocks, partial(_sentence, version=version))


def _sentence(tree: Tree, number: int, version: int) -> Iterator[str]:
    """The lines of a sentence: its words, then its nodes, children before parents."""
    tree, edges = edges_of_tree(tree)
    has_root = tree.label == ROOT_LABEL and not tree.is_preterminal
    is_empty = not tree.children and not tree.label
    yield f"#BOS {number} 0 0 0" + ("" if has_root or is_empty else f" {NO_ROOT}")
    if not is_empty:
        words, nodes = rows_of_tree(tree, "the export format")
        if has_root:
            del nodes[0]
        names = {row: str(name) for name, row in enumerate(_children_first(words, nodes), start=_FIRST_NODE)}
        further = _further_columns(edges, names)
        for word in words:
            name = _checked_word(word.word)
            yield _row(name, word.label, names.get(word.parent, ROOT), version) + further.get(word.number, "")
        for row, name in names.items():
            node = nodes[row]
            yield _row("#" + name, node.label, names.get(node.parent, ROOT), version) + further.get(row, "")
    yield f"#EOS {number}"


def _further_columns(edges: list[TreeEdge], names: dict[int, str]) -> dict[int, str]:
    """The columns of secondary edges, by the place of the node or word below them."""
    columns: dict[int, str] = {}
    for edge in edges:
        columns[edge.below] = columns.get(edge.below, "") + f"\t{edge.function}\t{names.get(edge.above, ROOT)}"
    return columns


def _children_first(words: Sequence[WordRow], nodes: Mapping[int, NodeRow]) -> list[int]:
    """The numbers of nodes in pre-order, put in post-order: by the last node or tag below each, deeper ones first."""
    parents = {row: node.parent for row, node in nodes.items()} | {word.number: word.parent for word in words}
    last = {row: row for row in parents}
    for row in sorted(parents, reverse=True):
        if parents[row] in last:
            last[parents[row]] = max(last[parents[row]], last[row])
    return sorted(nodes, key=lambda row: (last[row], -row))


def _checked_word(word: str) -> str:
    if not word or _BLANK.search(word):
        raise WriteError(
            f"the word {word!r} cannot be written in the export format: blanks separate columns there.\n"
            "  Replace the blank (for example by '_') or split the word into two tokens."
        )
    if _RESERVED.match(word) or is_node_name(word.encode("utf-8", "replace")) or restore_word(word) != word:
        raise WriteError(f"the word {word!r} has a meaning of its own in the export format.\n  Replace it.")
    return word


def _row(name: str, label: str, parent: str, version: int) -> str:
    parts = split_label(label, has_lemma=version == 4)
    columns = [name, *([parts.lemma] if version == 4 else []), parts.tag, parts.morphology, parts.function, parent]
    return "\t".join(columns)
