"""Parsing in blocks of sentences, each of which any worker can parse: records of output in, in the order of the sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines.engine import SentenceBlock, blocks_of
from treegauge.io.sources import ReadOptions
from treegauge.parsing.expected import ExpectedCounts
from treegauge.parsing.input import InputKind, read_sentences
from treegauge.parsing.output import record
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser

BLOCK = 200
"""The number of sentences in a block: some tenths of a second of work."""


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


def parse_record(job: ParseJob, number: int, parsed: ParsedSentence) -> ParseRecord:
    """The record of a parsed sentence."""
    parser = job.parser
    text = record(job.form, number, parsed, parser.kbest, parser.posteriors, first=number == 0)
    times, rest = divmod(number - job.done, job.check_every)
    sentence = parsed.sentence if not rest and times < job.check_most else None
    return ParseRecord(text, parsed.fallback, sentence, parsed.too_long, parsed.expected, parsed.unknown_words, parsed.pruned)


def parse_block(job: ParseJob, block: SentenceBlock) -> list[ParseRecord]:
    """The parses of a block of sentences. The worker with the first block reports if kernels have to be compiled."""
    (sentences,) = block.sides
    with when_compiling(report_compiling if block.first == job.done else lambda: None):
        parses = job.parser.parse_all(sentences, job.jobs)
        return [parse_record(job, number, parsed) for number, parsed in enumerate(parses, block.first)]


def sentence_blocks(path: str, job: ParseJob, size: int = BLOCK) -> Iterator[SentenceBlock]:
    """The sentences of a file in blocks of ``size``, without those that are done."""
    return blocks_of(itertools.islice(read_sentences(path, job.kind, job.reading), job.done, None), size, job.done)
