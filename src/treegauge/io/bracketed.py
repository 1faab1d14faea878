"""Bracketed text of the Penn Treebank, read into columns block by block.

The meaning of the text is defined in :mod:`treegauge.trees.notation`. Text whose brackets do not balance is passed to
:mod:`treegauge.io.diagnosis`, which finds the exact place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treegauge.errors import BracketError, InputError
from treegauge.io.bracketed_columns import (
    Events,
    Names,
    TreeColumns,
    as_written,
    begin_at_margin,
    closing_bracket,
    find_events,
    has_escapes,
    is_nested_at_margin,
    join_parts,
    part_of,
    read_escapes,
)
from treegauge.io.sources import ReadOptions, Source, Text, TextPosition
from treegauge.trees.columns import Int64
from treegauge.trees.treebank import Origin, Problem, Treebank

if TYPE_CHECKING:
    from treegauge.io.diagnosis import Scanner

_SUSPICIOUS_TREE_BYTES = 16 << 20
_LARGEST_TREE_BYTES = 64 << 20
_LARGE_BLOCK_BYTES = 2 << 20  # more than a chunk and the rest of the chunk before: a tree of that size is unusual
_MOST_NAMES = 1 << 16  # a stream starts a new table beyond this, since every block carries all names so far
_GOOD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 14
_BLANKS_TO_NEWLINE = re.compile(rb"[ \t\r\v\f]*\n")


def bracketed_parts(text: Text, options: ReadOptions, names: Names) -> Iterator[TreeColumns]:
    """The trees of a text as columns, a block at a time."""
    return _Reader(text, options, names).parts()


def small_files_part(texts: Sequence[Text], options: ReadOptions, names: Names) -> TreeColumns | None:
    """The trees of several small texts, read as if they were one, which is many times faster than one by one.

    None if one of them has an error; the names are then unchanged.
    """
    files = [text.head + b"\n" if text.head and not text.head.endswith(b"\n") else text.head for text in texts]
    # If the joined text is correct and each text has as many opening as closing brackets, then each text is correct.
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
    """A treebank with one tree for each text; a blank text is an empty parse. With the format ``brackets`` texts have no labels.

    ``line`` is the line of the first text, and ``problems`` are those already found, by the number of the text.
    """
    from treegauge.io.repairs import ReadableText, mend_texts

    names, place = Names(), TextPosition(line, 0)
    texts = _with_labels(texts, options)
    if options.on_error == "stop":
        whole = "".join(" ".join(text.splitlines()) + "\n" for text in texts).encode("utf-8")
        mended = ReadableText(whole, {}, len(whole))
    else:
        mended = mend_texts(texts, path, line, options)
    part, _ = _TextBlock(mended.text, path, place, True, replace(options, lines=True, comment="")).read(names)
    return join_parts([] if part is None else [with_problems(part, {**mended.problems, **problems})], names)


def _with_labels(texts: Sequence[str], options: ReadOptions) -> Sequence[str]:
    """The texts of sentences with a label for each bracket, and one bracket around each of them, if they have no labels.

    >>> _with_labels(["((the cat) sat)", "(a b) c", "yes"], ReadOptions(format="brackets"))
    ['(X (X the cat) sat)', '(X (X a b) c)', '(X yes)']
    """
    return [_with_label(text) if text.strip() else "" for text in texts] if options.format == "brackets" else texts


def _with_label(text: str) -> str:
    data, labelled = text.strip().encode("utf-8", "replace"), text.replace("(", "(X ")
    is_whole = data.startswith(b"(") and closing_bracket(data, 0) in (-1, len(data) - 1)
    return labelled if is_whole else f"(X {labelled})"


def text_errors(texts: Sequence[str], path: str, options: ReadOptions, line: int = 1) -> Iterator[tuple[int, InputError]]:
    """The first error of each text that is not the bracketed text of a sentence, with the number of the text."""
    from treegauge.io.diagnosis import OUTSIDE, first_error

    for number, text in enumerate(_with_labels(texts, options)):
        plain = read_escapes(" ".join(text.splitlines()).encode("utf-8"), lines=True)
        if error := first_error(plain, path, TextPosition(line + number, 0), options):
            if error.problem == OUTSIDE:
                error.advice = 'A tree inside prose or a code fence is read with on_error="repair".'
                error.rephrase(str)
            yield number, error


def read_bracketed(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All complete trees of a text, in blocks, and all its errors; after the first error the careful scanner takes over."""
    reader = _Reader(text, options, Names())
    try:
        for part in reader.parts():
            yield join_parts([part], reader.names)
            if len(reader.names) > _MOST_NAMES:
                reader.names = Names()
        return
    except InputError as error:
        first = error.with_traceback(None)  # with it the events of the failed block would be held
    if reader.failed_block is None or len(reader.failed_block) > _LARGEST_TREE_BYTES:
        yield first
    else:
        yield from _check_on(reader)


def _check_on(reader: _Reader) -> Iterator[Treebank | InputError]:
    """The trees and errors of the rest of a text, from the block in which the fast reader failed."""
    from treegauge.io.diagnosis import Scanner

    path, options = reader.path, reader.options
    block = read_escapes(reader.failed_block or b"", lines=options.lines, is_whole=False)
    reader.failed_block = None
    scanner = Scanner(path, reader.place, options, is_nested_at_margin(block))
    try:
        lines_to_scan = _lines(block, reader.chunks)
        del block
        for lines in _pieces(lines_to_scan):
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
    """Lines in pieces that most likely end where a tree ends: before a bracket at the beginning of a line."""
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
    """The lines of the first bytes and of the chunks after them; a line that is too long is given before it ends."""
    *lines, rest = first.split(b"\n")
    del first
    yield from lines
    for chunk, _ in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > _LARGEST_TREE_BYTES:
            yield rest
    if rest:
        yield rest


def _good_trees(scanner: Scanner, path: str, options: ReadOptions) -> Treebank:
    """The complete trees that the careful scanner has passed since the last call."""
    names = Names()
    good = scanner.take_good()
    part, _ = _TextBlock(good.text, path, good.place, True, options, good.bad_lines).read(names)
    return join_parts([] if part is None else [part], names)


class _Reader:
    """Cuts a text into blocks that end where a tree ends, and reads each of them."""

    def __init__(self, text: Text, options: ReadOptions, names: Names) -> None:
        self.text, self.path, self.options, self.names = text, text.name, options, names
        self.chunks = text.chunks()
        # The place where the present block begins.
        self.place = TextPosition(1, 0)
        self.failed_block: bytes | None = None
        # Whether brackets at the beginning of a line may be inside a tree; None: not yet known.
        self.nested: bool | None = None

    def parts(self) -> Iterator[TreeColumns]:
        """The trees of the text as columns, a block at a time."""
        pieces: list[bytes] = []
        enough = 0
        for chunk, is_last in self.chunks:
            pieces.append(chunk)
            if not is_last and sum(map(len, pieces)) < enough:
                continue
            self.failed_block = whole = b"".join(pieces)
            if self.nested is None:
                self.nested = is_nested_at_margin(whole)
            stops = self.options.on_error == "stop"
            may_nest, source = stops or self.nested, self.text.source
            block = _TextBlock(whole, self.path, self.place, is_last, self.options, may_nest_at_margin=may_nest, source=source)
            part, used = block.read(self.names) if stops else self._read_mended(block)
            self.failed_block = None
            before, self.place = self.place, self.place.after(block.text, used)
            if part is not None:
                if self.place.line - before.line > len(part.n_nodes):
                    self._note_margins(block.text[:used], before.line, part.origins[0].line)
                yield part
            pieces = [block.text[used:]]
            # For a tree larger than a chunk, wait until there is twice as much text, so that the work stays linear.
            enough = 0 if used else 2 * len(block.text)

    def _note_margins(self, text: bytes, line: int, trees: Int64) -> None:
        """Tell of a bracket at the beginning of a line inside a tree, where that is not the rule in this file.

        A bracket that is missing and a superfluous one further on make one tree of several, without an error.
        """
        if self.nested or text.count(b"\n(") + text.startswith(b"(") <= len(trees):
            return
        margins = [number for number, content in enumerate(text.split(b"\n"), line) if content.startswith(b"(")]
        if inside := sorted(set(margins) - set(trees.tolist())):
            begin = trees[np.searchsorted(trees, inside[0]) - 1]
            what = f"begins with a bracket, inside the tree of line {begin}: is a bracket missing there, and an extra one later?"
            self.text.source.note(f"{what} lines=True (a tree per line) finds such errors", f"{self.path}:{inside[0]}")

    def _read_mended(self, block: _TextBlock) -> tuple[TreeColumns | None, int]:
        """The trees of a block that may have broken ones, and the number of bytes read."""
        try:
            return block.read(self.names)
        except InputError:
            text, comments = _without_comments(block.text, self.options.comment, block.place.begins_line)
            from treegauge.io.repairs import mend

            ends = _line_starts(text, comments) if self.options.comments_part_trees else []
            mended = mend(text, self.path, block.place, self.options, is_last=block.is_last, nested=bool(self.nested), ends=ends)
            if not mended.used and len(text) > _LARGEST_TREE_BYTES:
                raise
        if not mended.used:
            return None, 0
        part, _ = block._replace(text=mended.text, is_last=True, may_nest_at_margin=True).read(self.names)
        problems = {n: found._replace(text=self.text.original(as_written(found.text))) for n, found in mended.problems.items()}
        return None if part is None else with_problems(part, problems), mended.used


def with_problems(part: TreeColumns, problems: Mapping[int, Problem]) -> TreeColumns:
    """The columns of trees from one file, with their problems added."""
    return part._replace(origins=(replace(part.origins[0], problems=problems),))


class _TextBlock(NamedTuple):
    """Text that begins between trees; it may end inside a tree unless it is the last."""

    text: bytes
    path: str
    place: TextPosition
    is_last: bool
    options: ReadOptions
    bad_lines: AbstractSet[int] = frozenset()
    may_nest_at_margin: bool = True
    source: Source | None = None
    """The source that gets a note on several trees on a line, if each line is one tree."""

    def read(self, names: Names) -> tuple[TreeColumns | None, int]:
        """The complete trees of this block (None if there are none), and the number of bytes read."""
        return (self._scan(names) if names.compiled else None) or self._read(names)

    def _scan(self, names: Names) -> tuple[TreeColumns, int] | None:
        """The same by the compiled scanner; None if the text is not plain."""
        comment = self.options.comment.strip().encode()
        if self.options.lines or (comment and comment in self.text) or has_escapes(self.text):
            return None
        found = names.scanner.scan(self.text, self.path, self.place.line, is_last=self.is_last, may_nest=self.may_nest_at_margin)
        if found is None:
            return None
        part, used = found
        return part, len(self.text) if self.is_last else self._with_blanks(used)

    def _with_blanks(self, used: int) -> int:
        """The end of a tree, or the end of its line if the rest of the line is blank."""
        blanks = _BLANKS_TO_NEWLINE.match(self.text, used)
        return blanks.end() if blanks else used

    def _read(self, names: Names) -> tuple[TreeColumns | None, int]:
        """The same by NumPy."""
        text, comment_lines = _without_comments(self.text, self.options.comment, self.place.begins_line)
        text = read_escapes(text, lines=self.options.lines, is_whole=self.is_last)
        if len(text) > _LARGE_BLOCK_BYTES and self._never_closes(text):
            if self.is_last:
                raise self._error()
            self._refuse_endless(text)
            return None, 0
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
        if comment_lines and self.options.comments_part_trees:
            before = np.searchsorted(events.position, _line_starts(text, comment_lines))
            if bool((events.depth[before[before > 0] - 1] > 0).any()):
                raise self._error()
        try:
            part = part_of(events, names, self.path, self.place.line)
        except UnicodeDecodeError:
            raise self._error() from None
        return (part if len(part.n_nodes) else None), used

    def _never_closes(self, text: bytes) -> bool:
        """Whether a text is the beginning of a tree and nothing else: events of its brackets would take many times its memory."""
        opening = text.find(b"(")
        if opening < 0 or text[:opening].strip() or (self.options.lines and b"\n" in text):
            return False
        return closing_bracket(text, opening) < 0

    def _complete(self, events: Events) -> tuple[Events, int]:
        """The events of the complete trees, and the number of bytes up to their end, with blanks up to the end of the line."""
        if self.is_last:
            return events, len(self.text)
        complete = events.complete()
        if not complete:
            # Complete lines without a bracket belong to no tree; an incomplete line may still turn out to be a comment.
            return events, 0 if len(events) else self.text.rfind(b"\n") + 1
        return events.first(complete), self._with_blanks(int(events.position[complete - 1]) + 1)

    def _one_tree_a_line(self, text: bytes, left_out: AbstractSet[int]) -> Events:
        """The events of a text with ``()`` for blank lines and an empty root over lines of several trees."""
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
        if self.source is not None:
            for line in np.flatnonzero(count > 1)[:5].tolist():
                self.source.note(f"{count[line]} trees on this line", f"{self.path}:{self.place.line + line}")
        special = [line for line in np.flatnonzero(count != 1).tolist() if line not in left_out]
        return find_events(_with_lines_mended(text, special, newlines.tolist())) if special else events

    def _error(self) -> InputError:
        """The first error of the block; without its exact place where the block is going to be mended."""
        if not self.may_nest_at_margin:
            return BracketError("a tree that is broken", path=self.path, line=self.place.line)
        from treegauge.io.diagnosis import first_error

        text = read_escapes(self.text, lines=self.options.lines, is_whole=self.is_last)
        error = first_error(text, self.path, self.place, self.options)
        assert error is not None, "the fast reader refused what the careful one accepts"
        return error

    def _refuse_endless(self, text: bytes) -> None:
        """Raise an error if the text is too long for one tree, so that an unclosed bracket does not fill the memory."""
        if len(text) > _SUSPICIOUS_TREE_BYTES and not self.options.lines and b"\n(" in text.lstrip():
            raise self._error()
        if len(text) > _LARGEST_TREE_BYTES:
            raise _too_large(self.path, self.place.line)


def _too_large(path: str, line: int) -> InputError:
    return BracketError(
        f"a tree of more than {_LARGEST_TREE_BYTES >> 20} MB",
        path=path,
        line=line,
        advice="Is a closing bracket missing? Or does a file read with lines=True lack line ends?",
    )


def _with_lines_mended(text: bytes, special: list[int], newlines: list[int]) -> bytes:
    """The text with one tree on each of some lines, by number: ``()`` for a blank one, else an empty root over its trees."""
    pieces: list[bytes] = []
    done = 0
    for line in special:
        start, end = newlines[line - 1] + 1 if line else 0, newlines[line]
        content = text[start:end].strip()
        pieces += [text[done:start], b"( " + content + b")" if content else b"()"]
        done = end
    return b"".join([*pieces, text[done:]])


def _line_starts(text: bytes, lines: AbstractSet[int]) -> list[int]:
    """The positions at which some lines begin, by number."""
    newlines = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return [int(newlines[line - 1]) + 1 if line else 0 for line in sorted(lines)]


def _without_comments(text: bytes, comment: str, begins_line: bool) -> tuple[bytes, set[int]]:
    """The text with comment lines overwritten by blanks, so that other bytes keep their places; and the numbers of these lines."""
    prefix = comment.strip().encode()
    if not prefix or prefix not in text:
        return text, set()
    lines = text.split(b"\n")
    found = {number for number, line in enumerate(lines) if line.lstrip(b" \t\r\v\f").startswith(prefix)}
    found -= set() if begins_line else {0}
    for number in found:
        lines[number] = b" " * len(lines[number])
    return b"\n".join(lines), found
