"""Penn-Treebank bracketed text, read into columns block by block.

What the text means is defined in :mod:`treegauge.trees.bracketed`. Text whose brackets do not balance is handed to
:mod:`treegauge.io.diagnosis`, which finds the exact place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from treegauge.errors import BracketError, InputError
from treegauge.io.bracketed_columns import Events, Names, TreeColumns, begin_at_margin, find_events, join_parts, part_of
from treegauge.io.diagnosis import Scanner, TextPosition, first_error, is_nested_at_margin
from treegauge.io.escapes import has_escapes, read_escapes
from treegauge.io.sources import ReadOptions, Text
from treegauge.trees.treebank import Origin, Problem, Treebank

if TYPE_CHECKING:
    from treegauge.io.scanning import ScannedNames

__all__ = ["AnyNames", "bracketed_parts", "check_bracketed", "names_for", "small_files_part", "treebank_of_texts"]

_SUSPICIOUS_TREE_BYTES = 16 << 20
_LARGEST_TREE_BYTES = 64 << 20
_MOST_NAMES = 1 << 16  # that blocks of a stream carry along, though they may have but few of them themselves
_GOOD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 14
_BLANKS_TO_NEWLINE = re.compile(rb"[ \t\r\v\f]*\n")


AnyNames: TypeAlias = "Names | ScannedNames"
"""Names that the NumPy reader numbers, or the compiled scanner."""


def names_for(*texts: Text) -> AnyNames:
    """Names for reading texts: the compiled scanner's where one is large and there is a scanner."""
    if all(text.is_whole for text in texts):
        return Names()
    from treegauge.io.scanning import ScannedNames, scanner

    engine = scanner()
    return Names() if engine is None else ScannedNames(engine)


def bracketed_parts(text: Text, options: ReadOptions, names: AnyNames) -> Iterator[TreeColumns]:
    """The trees of a text as columns, a block at a time."""
    return _Reader(text, options, names).parts()


def small_files_part(texts: Sequence[Text], options: ReadOptions, names: AnyNames) -> TreeColumns | None:
    """The trees of several small texts, read as if they were one, which is many times faster than one by one.

    None if there is an error in one of them; the names are then as they were.
    """
    files = [text.head + b"\n" if text.head and not text.head.endswith(b"\n") else text.head for text in texts]
    # Where the whole is right and each text has as many opening as closing brackets, each is right by itself.
    if any(file.count(b"(") != file.count(b")") for file in files):
        return None
    whole = b"".join(files)
    try:
        whole.decode("utf-8")
        part, _ = _TextBlock(whole, "", TextPosition(1, 0), True, options).read(names)
    except (UnicodeDecodeError, InputError):
        return None
    if part is None:
        return None
    first = 1 + np.cumsum([0, *(file.count(b"\n") for file in files)])
    lines = part.origins[0].line
    cuts = np.searchsorted(lines, first)
    origins = (Origin(text.name, lines[cuts[k] : cuts[k + 1]] - first[k] + 1) for k, text in enumerate(texts))
    return part._replace(origins=tuple(origin for origin in origins if len(origin.line)))


def treebank_of_texts(
    texts: Sequence[str], path: str, options: ReadOptions, problems: Mapping[int, Problem] = MappingProxyType({}), line: int = 1
) -> Treebank:
    """A tree for each text, the first being on ``line``; a blank text is an empty parse, and ``problems`` are known already."""
    from treegauge.io.repairs import ReadableText, mend_texts

    names, place = Names(), TextPosition(line, 0)
    if options.on_error == "stop":
        whole = "".join(" ".join(text.splitlines()) + "\n" for text in texts).encode("utf-8")
        mended = ReadableText(whole, {}, len(whole))
    else:
        mended = mend_texts(texts, path, line, options)
    part, _ = _TextBlock(mended.text, path, place, True, replace(options, lines=True, comment="")).read(names)
    return join_parts([] if part is None else [with_problems(part, {**mended.problems, **problems})], names)


def check_bracketed(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All errors of a text, and all its trees that are whole: from the fast reader up to the first error, then from the careful."""
    reader = _Reader(text, options, names_for(text))
    try:
        yield from reader.treebanks()
    except InputError as error:
        if reader.failed_block is None or len(reader.failed_block) > _LARGEST_TREE_BYTES:
            yield error
        else:
            yield from _check_on(reader, reader.failed_block)


def _check_on(reader: _Reader, block: bytes) -> Iterator[Treebank | InputError]:
    """The errors and trees from the block on in which the fast reader failed."""
    path, options = reader.path, reader.options
    block = read_escapes(block, lines=options.lines, is_whole=False)
    scanner = Scanner(path, reader.place, options, is_nested_at_margin(block))
    try:
        for lines in _pieces(_lines(block, reader.chunks)):
            if max(scanner.good_bytes, len(lines[-1])) > _LARGEST_TREE_BYTES:
                raise _too_large(path, scanner.place.line)
            if not scanner.accept(lines):
                for line in lines:
                    yield from scanner.scan(line)
            if scanner.good_bytes > _GOOD_BYTES and not scanner.depth:
                yield _good_trees(scanner, path, options)
        yield from scanner.end()
    except InputError as error:
        scanner.abandon()
        yield error
    yield _good_trees(scanner, path, options)


def _pieces(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines in pieces that end where, most likely, a tree ends: before a bracket at the beginning of a line."""
    piece: list[bytes] = []
    size = 0
    for line in lines:
        if size > (_PIECE_BYTES if line.startswith(b"(") else _GOOD_BYTES):
            yield piece
            piece, size = [], 0
        piece.append(line)
        size += len(line) + 1
    if piece:
        yield piece


def _lines(first: bytes, chunks: Iterable[tuple[bytes, bool]]) -> Iterator[bytes]:
    """The lines; one that is too long to be kept is given before it ends."""
    *lines, rest = first.split(b"\n")
    yield from lines
    for chunk, _ in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > _LARGEST_TREE_BYTES:
            yield rest
    if rest:
        yield rest


def _good_trees(scanner: Scanner, path: str, options: ReadOptions) -> Treebank:
    names = Names()
    good = scanner.take_good()
    part, _ = _TextBlock(good.text, path, good.place, True, options, good.bad_lines).read(names)
    return join_parts([] if part is None else [part], names)


class _Reader:
    """Cuts a text into blocks that end where a tree ends, and reads them."""

    def __init__(self, text: Text, options: ReadOptions, names: AnyNames) -> None:
        self.path, self.options, self.names = text.name, options, names
        self.chunks = text.chunks()
        # Where the present block begins.
        self.place = TextPosition(1, 0) if text.part is None else TextPosition(text.part.line, text.part.characters)
        self.failed_block: bytes | None = None
        # Whether brackets at the beginning of a line may be inside a tree; None: not yet known.
        self.nested: bool | None = None

    def treebanks(self) -> Iterator[Treebank]:
        for part in self.parts():
            yield join_parts([part], self.names)
            if len(self.names) > _MOST_NAMES:
                self.names = names_for() if isinstance(self.names, Names) else self.names.fresh()

    def parts(self) -> Iterator[TreeColumns]:
        pieces: list[bytes] = []
        enough = 0
        for chunk, is_last in self.chunks:
            pieces.append(chunk)
            if not is_last and sum(map(len, pieces)) < enough:
                continue
            block = self._block(b"".join(pieces), is_last)
            self.failed_block = block.text
            part, used = block.read(self.names) if self.options.on_error == "stop" else self._read_mended(block)
            self.failed_block = None
            if part is not None:
                yield part
            self.place = self.place.after(block.text, used)
            pieces = [block.text[used:]]
            # A tree larger than a chunk: wait until there is twice as much, so that the work stays linear.
            enough = 0 if used else 2 * len(block.text)

    def _block(self, text: bytes, is_last: bool) -> _TextBlock:
        if self.nested is None and self.options.on_error != "stop":
            self.nested = is_nested_at_margin(text)
        return _TextBlock(text, self.path, self.place, is_last, self.options, may_nest_at_margin=self.nested is not False)

    def _read_mended(self, block: _TextBlock) -> tuple[TreeColumns | None, int]:
        """The trees of a block in which some may be broken."""
        try:
            return block.read(self.names)
        except InputError:
            text, _ = _without_comments(block.text, self.options.comment, block.place.begins_line)
            from treegauge.io.repairs import mend

            mended = mend(text, self.path, block.place, self.options, is_last=block.is_last, nested=bool(self.nested))
            if not mended.used and len(text) > _LARGEST_TREE_BYTES:
                raise
        if not mended.used:
            return None, 0
        part, _ = block._replace(text=mended.text, is_last=True, may_nest_at_margin=True).read(self.names)
        return None if part is None else with_problems(part, mended.problems), mended.used


def with_problems(part: TreeColumns, problems: Mapping[int, Problem]) -> TreeColumns:
    """Trees of one origin with what was wrong with them."""
    return part._replace(origins=(replace(part.origins[0], problems=problems),))


class _TextBlock(NamedTuple):
    """Text that begins between trees, and ends anywhere unless it is the last."""

    text: bytes
    path: str
    place: TextPosition
    is_last: bool
    options: ReadOptions
    bad_lines: AbstractSet[int] = frozenset()
    may_nest_at_margin: bool = True

    def read(self, names: AnyNames) -> tuple[TreeColumns | None, int]:
        """The trees that are complete in this block, and how many bytes they take."""
        if isinstance(names, Names):
            return self._read(names)
        if (found := self._scanned(names)) is not None:
            return found
        own = Names()
        part, used = self._read(own)
        return None if part is None else names.adopt(part, own), used

    def _scanned(self, names: ScannedNames) -> tuple[TreeColumns, int] | None:
        """The same from the compiled scanner, if the text is plain."""
        if self.options.lines or (self.options.comment.strip() and self.options.comment.strip().encode() in self.text):
            return None
        if has_escapes(self.text):
            names.has_escapes = True
            return None
        found = names.scan(self.text, self.path, self.place.line, is_last=self.is_last, may_nest=self.may_nest_at_margin)
        if found is None:
            return None
        part, used = found
        return part, len(self.text) if self.is_last else self._with_blanks(used)

    def _with_blanks(self, used: int) -> int:
        """The end of a tree, or that of its line if the rest of it is blank."""
        blanks = _BLANKS_TO_NEWLINE.match(self.text, used)
        return blanks.end() if blanks else used

    def _read(self, names: Names) -> tuple[TreeColumns | None, int]:
        text, comment_lines = _without_comments(self.text, self.options.comment, self.place.begins_line)
        text = read_escapes(text, lines=self.options.lines, is_whole=self.is_last)
        if self.options.lines:
            used = len(text) if self.is_last else text.rfind(b"\n") + 1
            left_out = comment_lines | {line - self.place.line for line in self.bad_lines}
            events = self._one_tree_a_line(text[:used], left_out)
        else:
            events, used = self._complete(find_events(text))
        if not used:
            self._refuse_endless(text)
            return None, 0
        if not events.balance() or b"\0" in text or not (self.may_nest_at_margin or begin_at_margin(events)):
            raise self._error()
        try:
            part = part_of(events, names, self.path, self.place.line)
        except UnicodeDecodeError:
            raise self._error() from None
        return (part if len(part.n_nodes) else None), used

    def _complete(self, events: Events) -> tuple[Events, int]:
        """The events of complete trees, and how many bytes these take with the rest of a line that is otherwise blank."""
        if self.is_last:
            return events, len(self.text)
        complete = events.complete()
        if not complete:
            # Whole lines without a bracket are not part of a tree; a line that is not over may still become a comment.
            return events, 0 if len(events) else self.text.rfind(b"\n") + 1
        return events.first(complete), self._with_blanks(int(events.position[complete - 1]) + 1)

    def _one_tree_a_line(self, text: bytes, left_out: AbstractSet[int]) -> Events:
        """The events of a text with blank lines as ``()`` and lines of several trees under one empty root."""
        events = find_events(text)
        if not events.balance():
            raise self._error()
        newlines = np.flatnonzero(events.data == ord("\n"))
        if not text.endswith(b"\n"):
            newlines = np.append(newlines, len(text))
        before = np.searchsorted(events.position, newlines)
        if len(events) and bool((events.depth[before[before > 0] - 1] != 0).any()):
            raise self._error()
        roots = events.position[(events.depth == 1) & events.is_open]
        count = np.bincount(np.searchsorted(newlines, roots), minlength=len(newlines))
        special = [line for line in np.flatnonzero(count != 1).tolist() if line not in left_out]
        return find_events(_with_lines_mended(text, special, newlines.tolist())) if special else events

    def _error(self) -> InputError:
        if not self.may_nest_at_margin:
            return BracketError("a tree that is broken", path=self.path, line=self.place.line)
        text = read_escapes(self.text, lines=self.options.lines, is_whole=self.is_last)
        error = first_error(text, self.path, self.place, self.options)
        assert error is not None, "the fast reader refused what the careful one accepts"
        return error

    def _refuse_endless(self, text: bytes) -> None:
        """A bracket that is never closed must not make us read the rest of a huge file into memory."""
        if len(text) > _SUSPICIOUS_TREE_BYTES and not self.options.lines and b"\n(" in text.lstrip():
            raise self._error()
        if len(text) > _LARGEST_TREE_BYTES:
            raise _too_large(self.path, self.place.line)


def _too_large(path: str, line: int) -> InputError:
    return BracketError(
        f"a tree of more than {_LARGEST_TREE_BYTES >> 20} MB",
        path=path,
        line=line,
        advice="Is a closing bracket missing? Or has a file read line by line (option lines) no line ends?",
    )


def _with_lines_mended(text: bytes, special: list[int], newlines: list[int]) -> bytes:
    pieces: list[bytes] = []
    done = 0
    for line in special:
        start, end = newlines[line - 1] + 1 if line else 0, newlines[line]
        content = text[start:end].strip()
        pieces += [text[done:start], b"( " + content + b")" if content else b"()"]
        done = end
    return b"".join([*pieces, text[done:]])


def _without_comments(text: bytes, comment: str, begins_line: bool) -> tuple[bytes, set[int]]:
    """The text with comment lines overwritten by blanks, so that every other byte keeps its place; and which lines they are."""
    prefix = comment.strip().encode()
    if not prefix or prefix not in text:
        return text, set()
    lines = text.split(b"\n")
    found = {number for number, line in enumerate(lines) if line.lstrip(b" \t\r\v\f").startswith(prefix)}
    found -= set() if begins_line else {0}
    for number in found:
        lines[number] = b" " * len(lines[number])
    return b"\n".join(lines), found
