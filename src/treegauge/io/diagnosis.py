"""What exactly is wrong with bracketed text: the careful scanner behind the fast reader.

It walks line by line, knows every open bracket, and goes on after an error so that all of a file's errors can be listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from treegauge.errors import BracketError, EncodingError, InputError
from treegauge.io.options import ReadOptions

__all__ = ["errors_in_lines", "first_error"]

_TOKEN = re.compile(rb"[()]|[^() \t\n\r\v\f]+")
_BALANCE = "Each tree needs as many '(' as ')'; write -LRB- and -RRB- for literal brackets."
_OUTSIDE = "Every word belongs inside a bracket, as in (NP (NN word)); --comment PREFIX leaves comment lines out."
_LINES = "Each line was declared to be one sentence (--lines); leave that out for trees over several lines."


def first_error(text: bytes, *, path: str, first_line: int, options: ReadOptions) -> InputError | None:
    """The first error of a text, or None."""
    lines = text.splitlines(keepends=True) if b"\n" not in text else text.split(b"\n")
    return next(errors_in_lines(lines, path=path, first_line=first_line, options=options), None)


def errors_in_lines(lines: Iterable[bytes], *, path: str, first_line: int = 1, options: ReadOptions) -> Iterator[InputError]:
    """All errors, in the order in which they are noticed.

    A tree that is not closed is noticed where the next one begins, at a bracket in the first column of a line.
    """
    comment = options.comment.encode()
    open_brackets: list[tuple[int, int, bytes]] = []
    number = first_line - 1
    for number, line in enumerate(lines, start=first_line):
        if comment and line.lstrip().startswith(comment):
            continue
        fault = _bad_bytes(line, path, number)
        if fault is not None:
            yield fault
        text_reported = False
        for match in _TOKEN.finditer(line):
            token, at = match.group(), match.start()
            if token == b"(":
                if at == 0 and open_brackets and not options.lines:
                    yield _never_closed(open_brackets, path, f"; a new tree begins on line {number}")
                    open_brackets.clear()
                open_brackets.append((number, at, line))
            elif token == b")":
                if open_brackets:
                    open_brackets.pop()
                else:
                    yield _error(BracketError, "closing bracket without an opening one", path, number, at, line, _BALANCE)
            elif not open_brackets and not text_reported:
                yield _error(BracketError, "text outside brackets", path, number, at, line, _OUTSIDE)
                text_reported = True
        if options.lines and open_brackets:
            opened, at, text = open_brackets[0]
            yield _error(BracketError, "the tree does not end on its line", path, opened, at, text, _LINES)
            open_brackets.clear()
    if open_brackets:
        yield _never_closed(open_brackets, path, f"; the text ends on line {max(number, 1)}")


def _never_closed(open_brackets: list[tuple[int, int, bytes]], path: str, rest: str) -> InputError:
    line, at, text = open_brackets[0]
    count = len(open_brackets)
    problem = "opening bracket that is never closed" if count == 1 else f"{count} opening brackets that are never closed"
    return _error(BracketError, problem + rest, path, line, at, text, _BALANCE)


def _bad_bytes(line: bytes, path: str, number: int) -> InputError | None:
    zero = line.find(b"\0")
    if zero >= 0:
        advice = "This does not look like text: is the file compressed, or UTF-16 (--encoding utf-16)?"
        return _error(EncodingError, "zero byte", path, number, zero, line, advice)
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte 0x{line[error.start]:02x} is not UTF-8"
        advice = "Give the file's encoding, for example --encoding latin-1."
        return _error(EncodingError, problem, path, number, error.start, line, advice)
    return None


def _error(kind: type[InputError], problem: str, path: str, line: int, at: int, text: bytes, advice: str) -> InputError:
    column = len(text[:at].decode("utf-8", "replace")) + 1
    return kind(problem, path=path, line=line, column=column, text=text.decode("utf-8", "replace"), advice=advice)
