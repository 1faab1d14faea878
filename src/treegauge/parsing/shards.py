"""Parsing in shards: stretches of sentences, named by the bytes of the file they are in, each parsed anywhere.

What cannot be cut by bytes (standard input, compressed files, other treebank formats) is read where the command runs, and the
sentences themselves are sent: they are small beside the work of parsing them.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from treegauge.io.sources import ByteRange, ReadOptions, Source, find_sources
from treegauge.io.splitting import cut_files
from treegauge.parsing.output import record
from treegauge.parsing.parser import Parsed, Parser, Sentence
from treegauge.parsing.sentences import Kind, read_sentences, sentence_lines

__all__ = ["BLOCK", "ParseJob", "Recorded", "Stretch", "parse_stretch", "recorded", "stretches"]

BLOCK = 200
"""Sentences of a shard: some tenths of a second of work."""


class Recorded(NamedTuple):
    """What is written of a sentence, whether it has no parse, and the sentence itself if it is to be looked at again."""

    text: str
    fallback: bool
    sentence: Sentence | None = None


@dataclass(frozen=True)
class ParseJob:
    """How sentences are read, parsed and written; of those from ``done`` on, every ``check_every``-th up to ``check_most`` is kept
    to be looked at again (0: none)."""

    parser: Parser
    kind: Kind
    reading: ReadOptions
    form: str
    jobs: int = 1
    done: int = 0
    check_every: int = 1
    check_most: int = 0


@dataclass(frozen=True)
class Stretch:
    """Sentences from number ``first`` (counted from 0) on: ``sentences``, or those ``only`` of the sources.

    ``checksum`` is that of the bytes, so that stretches of changed files are not taken for the same.
    """

    first: int
    count: int
    sources: tuple[Source, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    only: tuple[int, int] | None = None
    checksum: int = 0

    def __str__(self) -> str:
        low, high = self.only or (0, self.count)
        which = (
            f"sentence {self.first + low + 1}" if high - low == 1 else f"sentences {self.first + low + 1} to {self.first + high}"
        )
        where = ""
        if self.sources:
            part = self.sources[0].part
            where = f" ({self.sources[0].name}, in what begins at line {part.line if part else 1})"
        return f"{which}{where}"

    def halves(self) -> list[Stretch]:
        low, high = self.only or (0, self.count)
        middle = (low + high) // 2
        return [replace(self, only=(low, middle)), replace(self, only=(middle, high))] if high - low > 1 else []

    def read(self, job: ParseJob) -> Iterator[tuple[int, Sentence]]:
        """The sentences with their numbers."""
        if self.sources:
            found = (sentence for source in self.sources for sentence in read_sentences(source, job.kind, job.reading))
        else:
            found = iter(self.sentences)
        low, high = self.only or (0, self.count)
        return zip(itertools.count(self.first + low), itertools.islice(found, low, high), strict=False)


def recorded(job: ParseJob, number: int, parsed: Parsed) -> Recorded:
    """A parsed sentence as it is written."""
    parser = job.parser
    text = record(job.form, number, parsed, parser.kbest, parser.posteriors, first=number == 0)
    times, rest = divmod(number - job.done, job.check_every)
    return Recorded(text, parsed.fallback, parsed.sentence if not rest and times < job.check_most else None)


def parse_stretch(job: ParseJob, stretch: Stretch) -> list[Recorded]:
    """The parses of a stretch of sentences."""
    numbered = list(stretch.read(job))
    parses = job.parser.parse_all((sentence for _, sentence in numbered), job.jobs)
    return [recorded(job, number, parsed) for (number, _), parsed in zip(numbered, parses, strict=True)]


def stretches(path: str, job: ParseJob, size: int = BLOCK) -> Iterator[Stretch]:
    """The sentences of a file, from the one after those done on, in stretches."""
    sources = find_sources(path)
    by_bytes = all(source.name != "-" and not source.is_compressed for source in sources)
    if by_bytes and job.kind == "trees":
        side = cut_files([source.name for source in sources], job.reading, size)
        if side.trees >= 0:
            for piece in side.pieces:
                if piece.first + piece.trees > job.done:
                    only = (job.done - piece.first, piece.trees) if piece.first < job.done else None
                    yield Stretch(piece.first, piece.trees, piece.sources, only=only, checksum=side.checksum)
            return
    if by_bytes and job.kind != "trees":
        yield from _by_lines(sources, job, size)
        return
    following = itertools.islice(read_sentences(path, job.kind, job.reading), job.done, None)
    first = job.done
    while block := tuple(itertools.islice(following, size)):
        yield Stretch(first, len(block), sentences=block)
        first += len(block)


def _by_lines(sources: list[Source], job: ParseJob, size: int) -> Iterator[Stretch]:
    number = 0
    for source in sources:
        waiting: list[ByteRange] = []
        checksum = 0
        for part, line in sentence_lines(source, job.kind, job.reading.encoding):
            number += 1
            if number <= job.done:
                continue
            waiting.append(part)
            checksum = zlib.crc32(line, checksum)
            if len(waiting) == size:
                yield _stretch(source, waiting, number, checksum)
                waiting, checksum = [], 0
        if waiting:
            yield _stretch(source, waiting, number, checksum)


def _stretch(source: Source, lines: list[ByteRange], number: int, checksum: int) -> Stretch:
    part = lines[0]._replace(end=lines[-1].end)
    return Stretch(number - len(lines), len(lines), (replace(source, part=part),), checksum=checksum)
