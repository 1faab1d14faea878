"""Parsing in shards: blocks of sentences, given as ranges of bytes in files, each of which any worker can parse.

Input that cannot be cut by bytes (standard input, compressed files, other treebank formats) is read in the main process, and the
sentences themselves are sent; that takes little time compared with parsing them.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines.parts import PartFormat
from treegauge.io.archive import ArrayStore
from treegauge.io.sources import ByteRange, ReadOptions, Source, find_sources
from treegauge.io.splitting import cut_files
from treegauge.parsing.expected import ExpectedCounts
from treegauge.parsing.input import InputKind, read_sentences, sentence_lines
from treegauge.parsing.output import record
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser

BLOCK = 200
"""The number of sentences in a shard: some tenths of a second of work."""


class ParseRecord(NamedTuple):
    """The output text of a sentence and, as in :class:`~treegauge.parsing.parser.ParsedSentence`, how its tree was found.

    ``sentence`` is the sentence itself if its pruning is to be checked, else None.
    """

    text: str
    fallback: bool
    sentence: Sentence | None = None
    too_long: bool = False
    expected: ExpectedCounts | None = None
    unknown_words: tuple[str, ...] = ()
    pruned: bool = False

    @classmethod
    def of_json(cls, data: Sequence[Any]) -> ParseRecord:
        """The record that was stored as JSON."""
        text, fallback, given, too_long, expected, unknown_words, pruned = data
        words, tags = (None, None) if given is None else given
        sentence = None if words is None else Sentence(tuple(words), None if tags is None else tuple(tags))
        counts = None if expected is None else ExpectedCounts(*expected)
        return cls(text, fallback, sentence, too_long, counts, tuple(unknown_words), pruned)


def _save(parses: list[ParseRecord], store: ArrayStore) -> Any:
    return parses


def _load(data: Sequence[Any], store: ArrayStore) -> list[ParseRecord]:
    return list(map(ParseRecord.of_json, data))


PART_FORMAT = PartFormat(_save, _load)
"""The parses of a block, in order."""


@dataclass(frozen=True)
class ParseJob:
    """The options of reading, parsing and writing. The first ``done`` sentences are skipped; of the others every
    ``check_every``-th, ``check_most`` in all, is returned for a check of the pruning."""

    parser: SentenceParser
    kind: InputKind
    reading: ReadOptions
    form: str
    jobs: int = 1
    done: int = 0
    check_every: int = 1
    check_most: int = 0


@dataclass(frozen=True)
class SentenceBlock:
    """``count`` sentences, the first of which has the number ``first``, counted from 0: the given ``sentences``, or those in the
    sources.

    ``only`` limits the block to some of these, from one index to another. ``checksum`` is of the bytes, so that blocks of changed
    files are not taken for the same.
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

    def halves(self) -> list[SentenceBlock]:
        low, high = self.only or (0, self.count)
        middle = (low + high) // 2
        return [replace(self, only=(low, middle)), replace(self, only=(middle, high))] if high - low > 1 else []

    def read(self, job: ParseJob) -> Iterator[tuple[int, Sentence]]:
        """The sentences, each with its number."""
        if self.sources:
            found = (sentence for source in self.sources for sentence in read_sentences(source, job.kind, job.reading))
        else:
            found = iter(self.sentences)
        low, high = self.only or (0, self.count)
        return zip(itertools.count(self.first + low), itertools.islice(found, low, high), strict=False)


def parse_record(job: ParseJob, number: int, parsed: ParsedSentence) -> ParseRecord:
    """The record of a parsed sentence."""
    parser = job.parser
    text = record(job.form, number, parsed, parser.kbest, parser.posteriors, first=number == 0)
    times, rest = divmod(number - job.done, job.check_every)
    sentence = parsed.sentence if not rest and times < job.check_most else None
    return ParseRecord(text, parsed.fallback, sentence, parsed.too_long, parsed.expected, parsed.unknown_words, parsed.pruned)


def parse_block(job: ParseJob, block: SentenceBlock) -> list[ParseRecord]:
    """The parses of a block of sentences. The worker with the first block reports if kernels have to be compiled."""
    numbered = list(block.read(job))
    with when_compiling(report_compiling if block.first == job.done else lambda: None):
        parses = job.parser.parse_all((sentence for _, sentence in numbered), job.jobs)
        return [parse_record(job, number, parsed) for (number, _), parsed in zip(numbered, parses, strict=True)]


def sentence_blocks(path: str, job: ParseJob, size: int = BLOCK) -> Iterator[SentenceBlock]:
    """The sentences of a file in blocks of ``size``, without those that are done."""
    sources = find_sources(path)
    by_bytes = all(source.name != "-" and not source.is_compressed for source in sources)
    if by_bytes and job.kind == "trees":
        side = cut_files([source.name for source in sources], job.reading, size)
        if side.trees >= 0:
            for piece in side.pieces:
                if piece.first + piece.trees > job.done:
                    only = (job.done - piece.first, piece.trees) if piece.first < job.done else None
                    yield SentenceBlock(piece.first, piece.trees, piece.sources, only=only, checksum=side.checksum)
            return
    if by_bytes and job.kind != "trees":
        yield from _by_lines(sources, job, size)
        return
    following = itertools.islice(read_sentences(path, job.kind, job.reading), job.done, None)
    first = job.done
    while block := tuple(itertools.islice(following, size)):
        yield SentenceBlock(first, len(block), sentences=block)
        first += len(block)


def _by_lines(sources: list[Source], job: ParseJob, size: int) -> Iterator[SentenceBlock]:
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
                yield _block(source, waiting, number, checksum)
                waiting, checksum = [], 0
        if waiting:
            yield _block(source, waiting, number, checksum)


def _block(source: Source, lines: list[ByteRange], number: int, checksum: int) -> SentenceBlock:
    part = lines[0]._replace(end=lines[-1].end)
    return SentenceBlock(number - len(lines), len(lines), (replace(source, part=part),), checksum=checksum)
