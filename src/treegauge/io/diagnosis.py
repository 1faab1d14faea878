"""What exactly is wrong with bracketed text: the careful scanner behind the fast reader.

It walks line by line and goes on after an error, so that all errors of a file can be listed; and it keeps the text of the whole
trees, so that these can still be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from treegauge.errors import BracketError, EncodingError, InputError
from treegauge.io.events import find_events
from treegauge.io.options import ReadOptions

__all__ = ["Scanner", "bad_bytes", "error_at", "first_error", "is_comment", "is_nested_at_margin"]

_TOKEN = re.compile(rb"(?:\([ \t\r\v\f]*)+|(?:\)[ \t\r\v\f]*)+|[^() \t\n\r\v\f]+")
_NOT_NEWLINE = re.compile(rb"[^\n]")
_BALANCE = "Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets."
_OUTSIDE = "Every word belongs inside a bracket, as in (NP (NN word)); --comment PREFIX leaves comment lines out."
_LINES = "Each line was declared to be one sentence (--lines); leave that out for trees over several lines."
_SHOWN_BYTES = 400


def is_comment(line: bytes, options: ReadOptions) -> bool:
    """Whether a line is to be left out."""
    comment = options.comment.strip().encode()
    return bool(comment) and line.lstrip(b" \t\r\v\f").startswith(comment)


def first_error(text: bytes, *, path: str, first_line: int, begins_line: bool, options: ReadOptions) -> InputError | None:
    """The first error of a text that begins at the beginning of a tree, or None."""
    scanner = Scanner(path, first_line, begins_line, options, is_nested_at_margin(text))
    for line in text.split(b"\n"):
        for error in scanner.scan(line):
            return error
    return next(scanner.end(), None)


def is_nested_at_margin(text: bytes) -> bool:
    """Whether the first tree is whole although it has brackets at the beginning of further lines.

    In most files such a bracket begins a new tree, which tells where an unclosed one should have ended; not in these.
    """
    events = find_events(text)
    opens = np.flatnonzero(events.is_open)
    if not len(opens):
        return False
    first = int(opens[0])
    closed = np.flatnonzero(events.depth[first:] < events.depth[first])
    if not len(closed):
        return False
    return b"\n(" in text[events.position[first] : events.position[first + int(closed[0])]]


class Good(NamedTuple):
    """Text that can be read, where it begins, and the numbers of the lines that had errors."""

    text: bytes
    first_line: int
    begins_line: bool
    bad_lines: set[int]


class Scanner:
    """Walks the lines of a text; what was right in them is kept, with blanks in place of all that belongs to no whole tree."""

    def __init__(self, path: str, first_line: int, begins_line: bool, options: ReadOptions, nested_at_margin: bool) -> None:
        self.path, self.number, self.begins_line, self.options = path, first_line, begins_line, options
        self.nested_at_margin = nested_at_margin
        self.depth = 0
        self._good = bytearray()
        self._bad_lines: set[int] = set()
        self._good_from, self._good_begins_line = first_line, begins_line
        self._reported: set[str] = set()  # on the present line
        self._tree_start = 0  # where in `good` the outermost open bracket is
        self._tree_place: tuple[int, bytes, int] = (0, b"", 0)  # its line's number, text, and its place in there

    @property
    def good_bytes(self) -> int:
        return len(self._good)

    def take_good(self) -> Good:
        """What was right so far; to be called between trees, and kept no longer."""
        good = Good(bytes(self._good), self._good_from, self._good_begins_line, self._bad_lines)
        self._good, self._bad_lines = bytearray(), set()
        self._good_from, self._good_begins_line = self.number, True
        return good

    def scan(self, line: bytes) -> Iterator[InputError]:
        """The errors noticed on the next line (given without its end), at most one of a kind."""
        begins_line, self.begins_line = self.begins_line, True
        base = len(self._good)
        self._good += _repaired(line) + b"\n"
        if not (begins_line and is_comment(line, self.options)):
            self._reported.clear()
            for error in self._errors(line, base, begins_line):
                self._bad_lines.add(self.number)
                yield error
        self.number += 1

    def _errors(self, line: bytes, base: int, begins_line: bool) -> Iterator[InputError]:
        fault = bad_bytes(line)
        if fault is not None:
            problem, at, advice = fault
            yield self._error(EncodingError, problem, line, at, advice)
        for match in _TOKEN.finditer(line):
            token, at = match.group(), match.start()
            if token.startswith(b"("):
                if at == 0 and self.depth and begins_line and not (self.options.lines or self.nested_at_margin):
                    yield self._never_closed(f"; a new tree begins on line {self.number}")
                    self._forget_tree(base)
                if not self.depth:
                    self._tree_start, self._tree_place = base + at, (self.number, line, at)
                self.depth += token.count(b"(")
            elif token.startswith(b")"):
                surplus = token.count(b")") - self.depth
                self.depth = max(-surplus, 0)
                if surplus > 0:
                    at += [m.start() for m in re.finditer(rb"\)", token)][-surplus]
                    yield from self._outside(line, base, at, match.end(), "closing bracket without an opening one", _BALANCE)
            elif not self.depth:
                yield from self._outside(line, base, at, match.end(), "text outside brackets", _OUTSIDE)
        if self.options.lines and self.depth:
            number, text, at = self._tree_place
            yield self._error(BracketError, "the tree does not end on its line", text, at, _LINES, number)
            self._forget_tree(len(self._good))

    def end(self) -> Iterator[InputError]:
        """The error noticed at the end of the text, if any."""
        if self.depth:
            yield self._never_closed(f"; the text ends on line {max(self.number - 1, 1)}")
            self._forget_tree(len(self._good))

    def _outside(self, line: bytes, base: int, start: int, end: int, problem: str, advice: str) -> Iterator[InputError]:
        self._good[base + start : base + end] = b" " * (end - start)
        if problem not in self._reported:
            self._reported.add(problem)
            yield self._error(BracketError, problem, line, start, advice)

    def _never_closed(self, rest: str) -> InputError:
        number, text, at = self._tree_place
        problem = "opening bracket that is never closed"
        if self.depth > 1:
            problem = f"{self.depth} opening brackets that are never closed"
        return self._error(BracketError, problem + rest, text, at, _BALANCE, number)

    def _forget_tree(self, end: int) -> None:
        bad = bytes(self._good[self._tree_start : end])
        self._good[self._tree_start : end] = _NOT_NEWLINE.sub(b" ", bad)
        self.depth = 0

    def _error(
        self, kind: type[InputError], problem: str, line: bytes, at: int, advice: str, number: int | None = None
    ) -> InputError:
        return error_at(kind, problem, self.path, self.number if number is None else number, line, at, advice)


def error_at(kind: type[InputError], problem: str, path: str, number: int, line: bytes, at: int, advice: str) -> InputError:
    """An error at a byte of a line."""
    column = len(line[:at].decode("utf-8", "replace")) + 1
    shown_from = max(0, at - _SHOWN_BYTES)
    while shown_from < at and line[shown_from] & 0xC0 == 0x80:  # not in the middle of a character
        shown_from += 1
    first_column = column - len(line[shown_from:at].decode("utf-8", "replace"))
    text = line[shown_from : at + _SHOWN_BYTES].decode("utf-8", "replace")
    return kind(problem, path=path, line=number, column=column, text=text, first_column=first_column, advice=advice)


def bad_bytes(line: bytes) -> tuple[str, int, str] | None:
    """What is wrong with the bytes of a line, where, and what to do."""
    zero = line.find(b"\0")
    if zero >= 0:
        return "zero byte", zero, "This does not look like text: is the file compressed, or UTF-16 (--encoding utf-16)?"
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{line[error.start]:02x} is not UTF-8"
        return problem, error.start, "Give the file's encoding, for example --encoding latin-1."
    return None


def _repaired(line: bytes) -> bytes:
    """The line with a question mark in place of each byte that is no text."""
    text = line.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff\0]", "?", text).encode("utf-8")
