"""XML as events: a parser that streams, so memory does not grow with the file, and that refuses to expand anything."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar
from xml.parsers import expat

from treegauge.errors import FormatError, InputError
from treegauge.io.sources import Text

__all__ = ["XmlHandler", "attribute_text", "found_in"]

Item = TypeVar("Item")

_LONGEST_TAG_BYTES = 4 << 20
"""Of a tag with its attributes: the parser begins it anew with every chunk, so one without end takes the square of its length."""
_FORBIDDEN = {*map(chr, range(32)), "\ufffe", "\uffff"} - {"\t", "\n", "\r"}
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


class XmlHandler(ABC, Generic[Item]):
    """Collects items and errors from the events of an XML parser; ``found`` holds those not yet taken."""

    def __init__(self, text: Text) -> None:
        self.path = text.name
        # What was recoded is UTF-8 whatever the file declares.
        self.parser = expat.ParserCreate("utf-8" if text.is_recoded else None)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.ProcessingInstructionHandler = self.instruction
        self.parser.EntityDeclHandler = self._refuse_entity
        self.found: deque[Item | InputError] = deque()
        self._fed = 0

    @abstractmethod
    def start(self, element: str, attributes: dict[str, str]) -> None:
        """An element begins."""

    @abstractmethod
    def end(self, element: str) -> None:
        """An element ends."""

    def instruction(self, target: str, data: str) -> None:
        """A processing instruction ``<?target data?>``; most readers ignore them."""

    @abstractmethod
    def missing(self) -> str:
        """The problem of the file as a whole; empty if there is none."""

    @property
    def line(self) -> int:
        """The line that is being read."""
        return self.parser.CurrentLineNumber

    def feed(self, chunk: bytes, is_last: bool) -> InputError | None:
        """Parse some more; the error that makes going on impossible, if any."""
        try:
            self.parser.Parse(chunk, is_last)
            self._fed += len(chunk)
            if self._fed - max(self.parser.CurrentByteIndex, 0) > _LONGEST_TAG_BYTES:
                problem = f"a tag, text or comment of more than {_LONGEST_TAG_BYTES >> 20} MB"
                return FormatError(problem, path=self.path, line=self.line, advice="Is a quote or a '>' missing?")
        except expat.ExpatError as error:
            problem = expat.ErrorString(error.code)
            advice = "Was the file cut short, or is it another format (--format-in)?"
            return FormatError(
                f"this is not XML: {problem}", path=self.path, line=error.lineno, column=error.offset + 1, advice=advice
            )
        except (LookupError, ValueError) as error:
            return FormatError(f"this XML cannot be read: {error}", path=self.path, line=1, advice="Give its --encoding.")
        except InputError as error:
            return error
        problem = self.missing() if is_last else ""
        return FormatError(problem, path=self.path) if problem else None

    def _refuse_entity(self, *declaration: object) -> None:
        raise FormatError(
            f"the entity {declaration[0]} is declared: entities are not accepted, since they can be made to expand without end",
            path=self.path,
            line=self.line,
            advice="Write the characters themselves in place of the entity.",
        )


def found_in(text: Text, handler: XmlHandler[Item]) -> Iterator[Item | InputError]:
    """The items that a handler finds in a text; after an error of XML itself nothing more can be read."""
    for chunk, is_last in text.chunks():
        error = handler.feed(chunk, is_last)
        while handler.found:
            yield handler.found.popleft()
        if error is not None:
            yield error
            return


def attribute_text(value: str) -> str:
    """A value in double quotes, as an attribute has it; ValueError for characters that XML cannot hold.

    >>> attribute_text('Perot & "Söhne"')
    '"Perot &amp; &quot;Söhne&quot;"'
    """
    if not _FORBIDDEN.isdisjoint(value):
        raise ValueError(value)
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in value) + '"'
