"""The exact errors of bracketed text, found by a careful scanner where the fast reader fails.

It goes through the text line by line and continues after an error, so that all errors of a file can be listed; and it keeps the
text of the complete trees, so that these can still be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treegauge.errors import BracketError, EncodingError, InputError
from treegauge.io.bracketed_columns import find_events, is_nested_at_margin
from treegauge.io.sources import IN_STRINGS, ReadOptions, TextPosition, is_comment

# No group is repeated: the memory of a match would grow with the number of brackets in a row.
_TOKEN = rb"\([( \t\r\v\f]*|\)[) \t\r\v\f]*|[^() \t\n\r\v\f]+"
_BLANK = bytes(byte if byte == ord("\n") else ord(" ") for byte in range(256))
_BALANCE = "Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets."
OUTSIDE = "text outside brackets"
_OUTSIDE = 'A word belongs in a bracket, as in (NP (NN word)); comment="#" skips lines with #, format="brackets" reads bare words.'
_LINES = "Each line was declared to be one sentence: leave out lines=True for trees over several lines."
_SHOWN_BYTES = 400
_STRETCH = 1 << 16


def first_error(text: bytes, path: str, place: TextPosition, options: ReadOptions) -> InputError | None:
    """The first error of a text that begins between trees, or None."""
    scanner = Scanner(path, place, options, is_nested_at_margin(text))
    for line in text.removesuffix(b"\n").split(b"\n"):
        for error in scanner.scan(line):
            return error
    return next(scanner.end(), None)


class GoodText(NamedTuple):
    """Text that can be read, its position in the file, and the numbers of the lines that had errors, if each line is a tree."""

    text: bytes
    place: TextPosition
    bad_lines: set[int]


class Scanner:
    """Scans a text line by line; it keeps the text with blanks in place of everything outside complete trees."""

    def __init__(self, path: str, place: TextPosition, options: ReadOptions, nested_at_margin: bool) -> None:
        self.path, self.place, self.options = path, place, options
        self.nested_at_margin = nested_at_margin
        self.depth = 0
        self._good = bytearray()
        self._bad_lines: set[int] = set()
        self._good_from = place
        self._reported: set[str] = set()  # on the present line
        # The outermost open bracket: its index in `_good`; and the position of its line, the line, and its index there.
        self._tree_start = 0
        self._tree_place: tuple[TextPosition, bytes, int] = (place, b"", 0)

    @property
    def good_bytes(self) -> int:
        return len(self._good)

    def take_good(self) -> GoodText:
        """Remove and return the correct text so far; only between trees."""
        good = GoodText(bytes(self._good), self._good_from, self._bad_lines)
        self._good, self._bad_lines, self._good_from = bytearray(), set(), self.place
        return good

    def accept(self, lines: list[bytes]) -> bool:
        """Accept the next lines as a whole if a quick check finds no error in them; whether it did."""
        text = b"\n".join([*lines, b""])
        if self.depth or self.options.lines or self.options.comment or b"\0" in text:
            return False
        if text.count(b"(") != text.count(b")") or not find_events(text).balance():
            return False
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return False
        self._good += text
        self.place = TextPosition(self.place.line + len(lines), 0)
        return True

    def scan(self, line: bytes) -> Iterator[InputError]:
        """Scan the next line, given without its end, and yield its errors, at most one of each kind."""
        base = len(self._good)
        self._good += _readable(line) + b"\n"
        if not (self.place.begins_line and is_comment(line, self.options)):
            self._reported.clear()
            for error in self._errors(line, base):
                if self.options.lines:
                    self._bad_lines.add(self.place.line)
                yield error
        elif self.depth and self.options.comments_part_trees:
            yield self._never_closed(f"; a comment follows on line {self.place.line}")
            self._forget_tree(base)
        self.place = TextPosition(self.place.line + 1, 0)

    def _errors(self, line: bytes, base: int) -> Iterator[InputError]:
        if (error := encoding_error(line, self.path, self.place)) is not None:
            yield error
        for match in re.finditer(_TOKEN, line):
            token, at = match.group(), match.start()
            if token.startswith(b"("):
                at_margin = at == 0 and self.place.begins_line
                if at_margin and self.depth and not (self.options.lines or self.nested_at_margin):
                    yield self._never_closed(f"; a new tree begins on line {self.place.line}")
                    self._forget_tree(base)
                if not self.depth:
                    self._tree_start, self._tree_place = base + at, (self.place, line, at)
                self.depth += token.count(b"(")
            elif token.startswith(b")"):
                surplus = token.count(b")") - self.depth
                self.depth = max(-surplus, 0)
                if surplus > 0:
                    at = match.end() - _length_with(token, surplus)
                    yield from self._outside(line, base, at, match.end(), "closing bracket without an opening one", _BALANCE)
            elif not self.depth:
                yield from self._outside(line, base, at, match.end(), OUTSIDE, _OUTSIDE)
        if self.options.lines and self.depth:
            place, text, at = self._tree_place
            yield error_at(BracketError, "the tree does not end on its line", self.path, place, text, at, _LINES)
            self._forget_tree(len(self._good))

    def end(self) -> Iterator[InputError]:
        """End the text, and yield the error of a tree that is still open, if any."""
        if self.depth:
            yield self._never_closed("" if self.path == IN_STRINGS else f"; the text ends on line {max(self.place.line - 1, 1)}")
        self.abandon()

    def abandon(self) -> None:
        """Remove an incomplete tree, because the text cannot be read any further."""
        if self.depth:
            self._forget_tree(len(self._good))

    def _outside(self, line: bytes, base: int, start: int, end: int, problem: str, advice: str) -> Iterator[InputError]:
        self._good[base + start : base + end] = b" " * (end - start)
        if problem not in self._reported:
            self._reported.add(problem)
            yield error_at(BracketError, problem, self.path, self.place, line, start, advice)

    def _never_closed(self, rest: str) -> InputError:
        place, text, at = self._tree_place
        problem = "opening bracket that is never closed"
        if self.depth > 1:
            problem = f"{self.depth} opening brackets that are never closed"
        return error_at(BracketError, problem + rest, self.path, place, text, at, _BALANCE)

    def _forget_tree(self, end: int) -> None:
        bad = bytes(self._good[self._tree_start : end])
        self._good[self._tree_start : end] = bad.translate(_BLANK)
        self.depth = 0


def error_at(kind: type[InputError], problem: str, path: str, place: TextPosition, line: bytes, at: int, advice: str) -> InputError:
    """An error at byte ``at`` of a line, or of the rest of a line, that begins at ``place``."""
    column = place.characters + len(line[:at].decode("utf-8", "replace")) + 1
    shown_from = max(0, at - _SHOWN_BYTES)
    while shown_from < at and line[shown_from] & 0xC0 == 0x80:  # not in the middle of a character
        shown_from += 1
    first_column = column - len(line[shown_from:at].decode("utf-8", "replace"))
    text = line[shown_from : at + _SHOWN_BYTES].decode("utf-8", "replace")
    return kind(problem, path=path, line=place.line, column=column, text=text, first_column=first_column, advice=advice)


def bad_bytes(line: bytes) -> tuple[str, int, str] | None:
    """The problem with the bytes of a line, its byte position, and advice; None if the line is text."""
    zero = line.find(b"\0")
    if zero >= 0:
        return "zero byte", zero, 'This does not look like text: is the file compressed, or UTF-16 (encoding="utf-16")?'
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{line[error.start]:02x} is not UTF-8"
        advice = 'Give the encoding of the file, for example encoding="latin-1"; if all else is UTF-8, correct this line.'
        return problem, error.start, advice
    return None


def encoding_error(line: bytes, path: str, place: TextPosition) -> InputError | None:
    """The error of a line, which begins at ``place``, whose bytes are not text; None if they are."""
    fault = bad_bytes(line)
    return None if fault is None else error_at(EncodingError, fault[0], path, place, line, *fault[1:])


def _length_with(token: bytes, closing: int) -> int:
    """The length of the shortest end of a token that has so many closing brackets.

    >>> _length_with(b") ) )", 2)
    3
    """
    end = len(token)
    while closing:
        begin = max(end - _STRETCH, 0)
        there = np.flatnonzero(np.frombuffer(token, np.uint8, end - begin, begin) == ord(")"))
        if len(there) >= closing:
            return len(token) - begin - int(there[-closing])
        closing -= len(there)
        end = begin
    return len(token) - end


def _readable(line: bytes) -> bytes:
    """The line with a question mark in place of each byte that is not text."""
    if bad_bytes(line) is None:
        return line
    text = line.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff\0]", "?", text).encode("utf-8")
