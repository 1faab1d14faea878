"""Streaming XML: items collected from the events of a parser, in constant memory; entities are refused."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from xml.parsers import expat

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.graphs import Graph, broken_as_graph, treebanks_of
from treegauge.io.label_parts import NONE
from treegauge.io.sources import ReadOptions, Text
from treegauge.trees.treebank import Treebank

_LONGEST_TAG_BYTES = 4 << 20
"""The limit for a tag with its attributes: the parser starts it again with every chunk, so an endless tag takes quadratic time."""
_LONGEST_ELEMENT_BYTES = 64 << 20
_DECLARATION = re.compile(rb"\s*<\?xml[^>]*\?>")
_ID = re.compile(rb"""\bid\s*=\s*["']([^"'<>]*)["']""")
_FORBIDDEN = {*map(chr, range(32)), "\ufffe", "\uffff"} - {"\t", "\n", "\r"}
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


class XmlHandler(ABC):
    """Collects sentences and errors from the events of an XML parser; ``found`` holds those not yet removed."""

    def __init__(self, text: Text, options: ReadOptions) -> None:
        self.path, self.options = text.name, options
        # Recoded text is UTF-8, whatever the file declares.
        self._encoding = "utf-8" if text.is_recoded else None
        self.found: deque[Graph | InputError] = deque()
        self.begin(1)

    def begin(self, line: int) -> None:
        """Begin a document, or a part of one that is read by itself, on that line of the file."""
        self.parser = expat.ParserCreate(self._encoding)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.EntityDeclHandler = self._refuse_entity
        self._lines_before, self._fed = line - 1, 0

    @abstractmethod
    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Handle the beginning of an element."""

    @abstractmethod
    def end(self, element: str) -> None:
        """Handle the end of an element."""

    @abstractmethod
    def missing(self) -> str:
        """The problem with the file as a whole, such as a missing element; empty if there is none."""

    @property
    def line(self) -> int:
        """The line that is being read."""
        return self.parser.CurrentLineNumber + self._lines_before

    @property
    def column(self) -> int:
        """The column at which the present event begins."""
        return self.parser.CurrentColumnNumber + 1

    def feed(self, chunk: bytes, is_last: bool) -> InputError | None:
        """Parse the next chunk, and return the error after which parsing cannot continue, if any."""
        try:
            self.parser.Parse(chunk, is_last)
            self._fed += len(chunk)
            if self._fed - max(self.parser.CurrentByteIndex, 0) > _LONGEST_TAG_BYTES:
                problem = f"a tag, text or comment of more than {_LONGEST_TAG_BYTES >> 20} MB"
                return FormatError(problem, path=self.path, line=self.line, advice="Is a quote or a '>' missing?")
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            advice = "Was the file cut short, or is it another format (format=...)?"
            line = error.lineno + self._lines_before
            return FormatError(f"this is not XML: {problem}", path=self.path, line=line, column=error.offset + 1, advice=advice)
        except (LookupError, ValueError) as error:
            advice = 'Give its encoding, for example encoding="latin-1".'
            return FormatError(f"this XML cannot be read: {error}", path=self.path, line=1, advice=advice)
        except InputError as error:
            return error
        problem = self.missing() if is_last else ""
        return FormatError(problem, path=self.path) if problem else None

    def report(self, sentence: str, problem: str, line: int | None = None, column: int | None = None) -> None:
        """Note a problem in a sentence, at the element that is being read unless a place is given."""
        line, column = line or self.line, column or self.column
        self.found.append(FormatError(f"sentence {sentence}: {problem}", path=self.path, line=line, column=column))

    def _refuse_entity(self, *declaration: object) -> None:
        raise FormatError(
            f"the entity {declaration[0]} is declared: entities are not accepted, since they can be made to expand without end",
            path=self.path,
            line=self.line,
            column=self.column,
            advice="Write the characters themselves in place of the entity.",
        )


def graph_treebanks(text: Text, handler: XmlHandler, element: str, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """The trees of a file's sentences, in blocks, and its errors; or a sentence without a parse for each broken ``element``."""
    if re.search(rb"(?i)<(!doctype\s+)?html\b", text.head[:1000]):
        raise FormatError("this is HTML, not a treebank", path=text.name)
    if options.on_error == "stop":
        return treebanks_of(found_in(text, handler), text, options)
    sentences = found_by_sentence(text, handler, element)
    graphs = (graph for line, name, found, source in sentences for graph in broken_as_graph(found, name, line, source))
    return treebanks_of(graphs, text, options)


def found_in(text: Text, handler: XmlHandler) -> Iterator[Graph | InputError]:
    """The sentences that a handler finds in a text; after an error in the XML itself nothing more can be read."""
    for chunk, is_last in text.chunks():
        error = handler.feed(chunk, is_last)
        while handler.found:
            yield handler.found.popleft()
        if error is not None:
            yield error
            return


class XmlSentence(NamedTuple):
    """A sentence that was read by itself: its line, its id, the items and errors found in it, and its text."""

    line: int
    name: str
    found: list[Graph | InputError]
    source: bytes


def found_by_sentence(text: Text, handler: XmlHandler, element: str) -> Iterator[XmlSentence]:
    """The items of each element of that name, read by itself, so that an error in one of them does not affect the others.

    An element ends at its end tag or, where that is missing, before the next one begins.
    """
    declaration = _DECLARATION.match(text.head)
    header = declaration[0].replace(b"\n", b" ") if declaration else b""
    end = f"</{element}>".encode()
    is_empty = True
    for line, piece in _elements(text, re.compile(rf"<{element}(?=[\s>/])".encode())):
        is_empty = False
        close = piece.find(end)
        piece = piece[: close + len(end)] if close >= 0 else piece.rstrip()
        handler.begin(line)
        error = handler.feed(header + piece, is_last=True)
        found = [*handler.found, *([error] if error is not None else [])]
        handler.found.clear()
        name = _ID.search(piece[: piece.find(b">") + 1])
        yield XmlSentence(line, name[1].decode("utf-8", "replace") if name else str(line), found, piece)
    if is_empty:
        raise handler.feed(text.head, text.is_whole) or FormatError(f"no <{element}> in this XML file", path=text.name)


def _elements(text: Text, begin: re.Pattern[bytes]) -> Iterator[tuple[int, bytes]]:
    """The line of each element, and the text from its beginning to that of the next."""
    rest, line = b"", 1
    for chunk, is_last in text.chunks():
        rest += chunk
        starts = [found.start() for found in begin.finditer(rest)]
        cuts = [0, *(start for start in starts if start), *([len(rest)] if is_last else [])]
        for first, last in pairwise(cuts):
            if begin.match(rest, first):
                yield line, rest[first:last]
            line += rest.count(b"\n", first, last)
        rest = rest[cuts[-1] :]
        if len(rest) > _LONGEST_ELEMENT_BYTES:
            raise FormatError(f"a sentence of more than {_LONGEST_ELEMENT_BYTES >> 20} MB", path=text.name, line=line)


def morphology_of(attributes: dict[str, str], other: set[str]) -> str:
    """The features in the attributes of a word, ``case=nom|number=sg``; ``other`` are the attributes that are none."""
    return "|".join(f"{name}={value}" for name, value in attributes.items() if name not in other and value not in ("", NONE))


def attribute_text(value: str) -> str:
    """The value of an attribute, escaped and in double quotes; WriteError for characters that XML cannot hold.

    >>> attribute_text('Perot & "Söhne"')
    '"Perot &amp; &quot;Söhne&quot;"'
    """
    if not _FORBIDDEN.isdisjoint(value):
        raise WriteError("a label or word holds a character that XML cannot have")
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value) + '"'
