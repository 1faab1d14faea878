"""Words with columns of chunk marks, read as they are: what conlleval scores, in one file or in two."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from treegauge.chunks.corpus import iob_of_chunks
from treegauge.chunks.reading import ChunkFile
from treegauge.errors import EncodingError, FormatError, InputError
from treegauge.io.diagnosis import TextPosition, bad_bytes, error_at, is_comment
from treegauge.io.sources import ReadOptions, Source, Text
from treegauge.trees.bracketed import restore_word

__all__ = ["MarkFile", "MarkedSentence"]

_BOUNDARY = "-X-"
_MARK = re.compile(r"[O.]|[][BIESULM](-.*)?")
_OF_BIOES = re.compile(rb"[SUL]-\S")
_ADVICE = (
    "The last column is a mark such as B-NP, I-NP or O; in a single file, the last two columns are the gold mark and the test mark."
)


class MarkedSentence(NamedTuple):
    """Words with a column of marks, or with two: in a single file, those of gold and those of test."""

    words: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]


class MarkFile:
    """The words and marks of a file, read again each time: columns as they are, treebanks by their chunks as IOB2."""

    def __init__(self, chunks: ChunkFile, n_columns: int = 1) -> None:
        self.name, self.n_columns = chunks.name, n_columns
        self._chunks = chunks

    def __iter__(self) -> Iterator[MarkedSentence]:
        some = False
        for sentence in self._sentences():
            some = True
            yield sentence
        if not some:
            raise InputError("no sentences", path=self.name)

    def scheme(self) -> str:
        """``bioes`` if a last column has S, U or L marks somewhere, ``conlleval`` for all others."""
        options = self._chunks.options
        for source in self._chunks.sources:
            for line in Text(source, options).lines():
                fields = line.split()
                if len(fields) > 1 and any(map(_OF_BIOES.match, fields[-self.n_columns :])) and not is_comment(line, options):
                    return "bioes"
        return "conlleval"

    def _sentences(self) -> Iterator[MarkedSentence]:
        sources, options = self._chunks.sources, self._chunks.options
        if all(_has_marks(Text(source, options), options) for source in sources):
            for source in sources:
                yield from _column_sentences(source, options, self.n_columns)
        elif self.n_columns > 1:
            raise FormatError("this is not a file of columns with gold and test marks", path=self.name, advice=_ADVICE)
        else:
            for sentence in self._chunks:
                yield MarkedSentence(sentence.words, (tuple(iob_of_chunks(sentence.chunks, len(sentence))),))


def _has_marks(text: Text, options: ReadOptions) -> bool:
    """Whether the first line that is not blank ends with a mark and has other columns before it."""
    if options.format not in ("auto", "conll2000"):
        return False
    lines = (line for line in text.head.split(b"\n") if line.strip() and not is_comment(line, options))
    fields = next(lines, b"").split()
    if fields and fields[0] == _BOUNDARY.encode():
        return True
    return len(fields) > 1 and bool(_MARK.fullmatch(fields[-1].decode("utf-8", "replace")))


def _column_sentences(source: Source, options: ReadOptions, n_columns: int) -> Iterator[MarkedSentence]:
    text = Text(source, options)
    words: list[str] = []
    marks: list[list[str]] = [[] for _ in range(n_columns)]
    width = 0
    for number, line in enumerate(text.lines(), start=1):
        if is_comment(line, options):
            continue
        fields = _fields(line, text.name, number)
        if fields and fields[0] != _BOUNDARY:
            width = width or len(fields)
            _check(fields, width, n_columns, line, text.name, number)
            words.append(restore_word(fields[0]))
            for column, mark in zip(marks, fields[-n_columns:], strict=True):
                column.append(mark)
        elif words:
            yield MarkedSentence(tuple(words), tuple(map(tuple, marks)))
            words, marks = [], [[] for _ in range(n_columns)]
    if words:
        yield MarkedSentence(tuple(words), tuple(map(tuple, marks)))


def _fields(line: bytes, path: str, number: int) -> list[str]:
    fault = bad_bytes(line)
    if fault is not None:
        problem, at, advice = fault
        raise error_at(EncodingError, problem, path, TextPosition(number, 0), line, at, advice)
    return line.decode("utf-8").split()


def _check(fields: list[str], width: int, n_columns: int, line: bytes, path: str, number: int) -> None:
    place = TextPosition(number, 0)
    if len(fields) != width:
        problem = f"{len(fields)} columns, but {width} in the lines before"
        raise error_at(FormatError, problem, path, place, line, 0, _ADVICE)
    if len(fields) <= n_columns:
        problem = f"only {len(fields)} columns: a word and {n_columns} of marks are needed"
        raise error_at(FormatError, problem, path, place, line, 0, _ADVICE)
    for mark in fields[-n_columns:]:
        if not _MARK.fullmatch(mark):
            at = line.rindex(mark.encode("utf-8"))
            raise error_at(FormatError, f"{mark!r} is not a mark of a chunk", path, place, line, at, _ADVICE)
