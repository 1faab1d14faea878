"""Penn-Treebank bracketed text, read into columns block by block.

What the text means is defined in :mod:`treegauge.trees.brackets`. Text whose brackets do not balance is handed to
:mod:`treegauge.io.diagnosis`, which finds the exact place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from treegauge.errors import BracketError, InputError
from treegauge.io.columns import Names, Part, join_parts, part_of
from treegauge.io.diagnosis import first_error
from treegauge.io.events import find_events
from treegauge.io.options import ReadOptions
from treegauge.io.sources import Source, text_chunks
from treegauge.trees.treebank import Treebank

__all__ = ["bracketed_parts", "stream_bracketed"]

_SUSPICIOUS_TREE_BYTES = 64 << 20
_LARGEST_TREE_BYTES = 1 << 30


def stream_bracketed(source: Source, options: ReadOptions) -> Iterator[Treebank]:
    """The trees of a source, a block at a time, in memory that does not grow with the file."""
    names = Names()
    for part in bracketed_parts(source, options, names):
        yield join_parts([part], names)


def bracketed_parts(source: Source, options: ReadOptions, names: Names) -> Iterator[Part]:
    """The trees of a source as columns, a block at a time."""
    pieces: list[bytes] = []
    line, enough = 1, 0
    for chunk, is_last in text_chunks(source, options):
        pieces.append(chunk)
        if not is_last and sum(map(len, pieces)) < enough:
            continue
        block = _Block(b"".join(pieces), is_last, source.name, line, options)
        part, used = block.read(names)
        if len(part.n_nodes):
            yield part
        line += block.text.count(b"\n", 0, used)
        rest = block.text[used:]
        pieces = [rest]
        # A tree larger than a chunk: wait until there is twice as much, so that the work stays linear.
        enough = 0 if used else 2 * len(rest)


class _Block:
    """Text that begins at the beginning of a tree, and ends anywhere unless it is the last."""

    def __init__(self, text: bytes, is_last: bool, path: str, first_line: int, options: ReadOptions) -> None:
        self.text, self.is_last, self.path, self.first_line, self.options = text, is_last, path, first_line, options

    def read(self, names: Names) -> tuple[Part, int]:
        """The trees that are complete in this block, and how many bytes they take."""
        if self.options.lines:
            used = len(self.text) if self.is_last else self.text.rfind(b"\n") + 1
            text = self._one_tree_a_line(self.text[:used])
            events = find_events(text)
        else:
            text = _blank_comments(self.text, self.options.comment)
            events = find_events(text)
            complete = len(events) if self.is_last else events.complete()
            used = len(self.text) if self.is_last else int(events.position[complete - 1]) + 1 if complete else 0
            events = events.first(complete)
        if not used:
            self._refuse_endless()
        elif not events.balance() or b"\0" in text:
            raise self._error()
        try:
            return part_of(events, names, self.path, self.first_line), used
        except UnicodeDecodeError:
            raise self._error() from None

    def _error(self) -> InputError:
        error = first_error(self.text, path=self.path, first_line=self.first_line, options=self.options)
        assert error is not None, "the fast reader refused what the careful one accepts"
        return error

    def _refuse_endless(self) -> None:
        """A bracket that is never closed must not make us read the rest of a huge file into memory."""
        if len(self.text) > _SUSPICIOUS_TREE_BYTES:
            head = self.text[:_SUSPICIOUS_TREE_BYTES].rpartition(b"\n")[0]
            error = first_error(head, path=self.path, first_line=self.first_line, options=self.options)
            if error is not None and "new tree begins" in error.problem:
                raise error
        if len(self.text) > _LARGEST_TREE_BYTES:
            raise BracketError(
                f"a tree of more than {_LARGEST_TREE_BYTES >> 20} MB", path=self.path, line=self.first_line, column=1
            )

    def _one_tree_a_line(self, text: bytes) -> bytes:
        """The text with blank lines as ``()`` and lines of several trees under one empty root."""
        comment = self.options.comment.encode()
        lines = text.removesuffix(b"\n").split(b"\n") if text else []
        for index, line in enumerate(lines):
            if comment and line.lstrip().startswith(comment):
                lines[index] = b""
            elif not line.strip():
                lines[index] = b"()"
            elif (count := _top_level_count(line)) != 1:
                if count < 0:
                    raise self._error()
                lines[index] = b"(" + b" " + line + b")"
        return b"\n".join(lines)


def _top_level_count(line: bytes) -> int:
    """The number of trees on a line; -1 if they do not balance."""
    if line.count(b"(") != line.count(b")"):
        return -1
    events = find_events(line)
    if not events.balance():
        return -1
    return int(((events.depth == 0) & (events.is_close)).sum())


def _blank_comments(text: bytes, comment: str) -> bytes:
    """The text with comment lines overwritten by blanks, so that every other byte keeps its place."""
    if not comment:
        return text
    pattern = re.compile(rb"^[ \t]*" + re.escape(comment.encode()) + rb"[^\n]*", re.MULTILINE)
    return pattern.sub(lambda match: b" " * len(match.group()), text)
