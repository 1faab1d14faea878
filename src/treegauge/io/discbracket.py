"""Discbracket files: brackets whose words carry their places, one tree per line.

::

    (S (VP (PWS 0=Wen) (VVFIN 2=kennt)) (PPER 1=er))

The text is read as brackets by :mod:`treegauge.io.bracketed`, which reports errors in them; then the words of each tree are put in
their places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from treegauge.errors import FormatError, InputError, WriteError
from treegauge.io.bracketed import read_bracketed
from treegauge.io.diagnosis import error_at
from treegauge.io.formats import BRACKET_OR_ATOM, PLACED
from treegauge.io.sources import ReadOptions, Text, TextPosition
from treegauge.io.writing import tree_lines
from treegauge.trees.notation import carries_places, discbracket_line, place_words, restore_label, restore_word
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Origin, Problem, Treebank, pick_origins

_MOST_LINES = 1000  # a tree is searched for an error no further than this


def read_discbracket(text: Text, options: ReadOptions) -> Iterator[Treebank | InputError]:
    """All trees of a discbracket file, in blocks, and all its errors; or sentences without a parse in place of the errors."""
    kept = _KeptText(text)
    for block in read_bracketed(kept, options):
        if isinstance(block, InputError):
            yield block
            continue
        yield from place_words_in_block(block, options, kept)
        kept.forget()


def place_words_in_block(block: Treebank, options: ReadOptions, text: _KeptText | None = None) -> Iterator[Treebank | InputError]:
    """The trees of a block that was read as brackets, with their words in the places that they carry, and the errors.

    ``text`` is the text that the trees were read from, if it is available; then errors have a column.
    """
    trees: list[Tree] = []
    good: list[int] = []
    problems: dict[int, Problem] = {}
    known = block.problems()
    for index, tree in enumerate(block):
        try:
            placed = tree if index in known and not known[index].repairs else place_words(tree)
        except FormatError as found:
            error = _at(block, index, found, text)
            if options.on_error == "stop":
                yield error
                continue
            problems[len(good)] = Problem(error.place, error.problem, error.advice, text=str(tree).encode())
            placed = Tree("")
        trees.append(placed)
        good.append(index)
    if trees:
        origins = pick_origins(block.origins, np.array(good, dtype=np.int64))
        yield replace(Treebank.from_trees(trees), origins=tuple(_with_problems(origins, problems)))


def first_carries_places(bank: Treebank) -> bool | None:
    """Whether the words of the first tree that has any carry their places, ``0=Wen``; None if no tree has words."""
    first = next((index for index in range(len(bank)) if bank.words(index)), None)
    return None if first is None else carries_places(bank.words(first))


class _KeptText(Text):
    """A text that keeps the chunks of the present block, so that an error can show its line."""

    def __init__(self, text: Text) -> None:
        self.__dict__.update(text.__dict__)
        self._text = text
        self._kept: list[bytes] = []
        self._lines: list[bytes] | None = None  # the lines of the chunks kept, once they were asked for
        self._line = 1  # the number of the first of them

    def original(self, text: bytes) -> bytes:
        return self._text.original(text)

    def chunks(self) -> Iterator[tuple[bytes, bool]]:
        for chunk, is_last in self._text.chunks():
            self._kept.append(chunk)
            self._lines = None
            yield chunk, is_last

    def forget(self) -> None:
        """Keep only the last chunk, in which the next tree may begin."""
        self._line += sum(chunk.count(b"\n") for chunk in self._kept[:-1])
        del self._kept[:-1]
        self._lines = None

    def lines_from(self, number: int) -> list[bytes]:
        """The lines from that number on, as far as they are kept."""
        if self._lines is None:
            self._lines = b"".join(self._kept).split(b"\n")
        first = number - self._line
        return self._lines[first : first + _MOST_LINES] if first >= 0 else []


def _with_problems(origins: Iterable[Origin], problems: Mapping[int, Problem]) -> Iterator[Origin]:
    """The origins with further problems, given by the number of the tree among all of them."""
    first = 0
    for origin in origins:
        own = {index - first: problem for index, problem in problems.items() if first <= index < first + len(origin.line)}
        yield replace(origin, problems={**origin.problems, **own})
        first += len(origin.line)


def _at(block: Treebank, index: int, error: FormatError, text: _KeptText | None) -> InputError:
    """The error with the file and line of its tree and, if the text is available, the column of the wrong word."""
    first = 0
    for origin in block.origins:
        if index - first >= len(origin.line):
            first += len(origin.line)
            continue
        line = int(origin.line[index - first])
        number = int(np.count_nonzero(origin.line[: index - first] == line))
        lines = text.lines_from(line) if text is not None else []
        where = _wrong_word(lines, number)
        if where is None:
            return FormatError(error.problem, path=origin.path, line=line, advice=error.advice)
        row, at = where
        return error_at(FormatError, error.problem, origin.path, TextPosition(line + row, 0), lines[row], at, error.advice)
    return error


def _wrong_word(lines: Sequence[bytes], number: int) -> tuple[int, int] | None:
    """The line and byte of the first word without a place, or with the place of another; if all have places, of the first bracket.

    The tree is the one with the given number among those that begin on the first line. None if it does not end in these lines.
    """
    seen: set[bytes] = set()
    depth, previous, begin = 0, b"", (0, 0)
    for row, line in enumerate(lines):
        for match in BRACKET_OR_ATOM.finditer(line):
            token = match[0]
            if token == b"(" and not depth:
                begin = row, match.start()
            depth += (token == b"(") - (token == b")")
            if token not in (b"(", b")") and previous != b"(" and not number:
                placed = PLACED.fullmatch(token)
                if placed is None or placed[1].lstrip(b"0") in seen:
                    return row, match.start()
                seen.add(placed[1].lstrip(b"0"))
            if token == b")" and not depth:
                if not number:
                    return begin
                number -= 1
            previous = token
    return None


def discbracket_text(blocks: Iterable[Treebank]) -> Iterator[bytes]:
    """The trees as discbracket text, one per line, whether or not they have gaps."""
    return tree_lines(blocks, _checked_line)


def _checked_line(tree: Tree, number: int) -> Iterator[str]:
    """The line of a tree; one with a label or word that would be read back as another is refused."""
    for node in tree.nodes():
        escaped = node.label.replace("(", "-LRB-").replace(")", "-RRB-")
        back = restore_label(escaped)
        if back != node.label:
            raise WriteError(f"the label {node.label!r} would be read back as {back!r}.\n  Give the node another label.")
    for word in tree.words:
        escaped = word.replace("(", "-LRB-").replace(")", "-RRB-")
        if restore_word(escaped) != word:
            raise WriteError(f"the word {word!r} would be read back as {restore_word(escaped)!r}.\n  Replace it.")
    yield discbracket_line(tree)
