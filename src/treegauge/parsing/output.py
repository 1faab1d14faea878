"""Output of parses: bracketed text, JSON lines or one JSON document, in a file that a later run can continue; parsed in blocks of
sentences, each of which any worker can parse."""

from __future__ import annotations

import bz2
import itertools
import json
import lzma
import os
import stat
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from treegauge.compilation import report_compiling, when_compiling
from treegauge.engines import SentenceBlock
from treegauge.errors import TreegaugeError, UsageError, WriteError
from treegauge.io.archive import refuse_other_run, refusing_damaged_checkpoint
from treegauge.io.sources import COMPRESSED, ReadOptions, compressed_file, is_stream
from treegauge.io.writing import partial_path, write_standard_output
from treegauge.parsing.input import InputKind
from treegauge.parsing.parse_parts import Constituent
from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser
from treegauge.tables import plain
from treegauge.trees.notation import escape_word, restore_word
from treegauge.trees.tree import Tree

FORMATS = ("bracketed", "json", "jsonl")
SCHEMA = "treegauge.parse/3"
UNFINISHED = ".unfinished"
"""The end of the name of a file that is to replace an earlier one."""
CHECKPOINT = ".checkpoint"
"""The end of the name of the file that says what run an unfinished output is of."""


def header(form: str, grammar: str, objective: str, options: Mapping[str, Any]) -> str:
    """The text before the first record."""
    if form != "json":
        return ""
    head = json.dumps({"schema": SCHEMA, "grammar": grammar, "objective": objective, "options": dict(options)})
    return head[:-1] + ', "sentences": ['


def footer(form: str) -> str:
    """The text after the last record."""
    return "\n]}\n" if form == "json" else ""


def record(
    form: str, number: int, parsed: ParsedSentence, kbest: int, posteriors: bool, *, first: bool, expected_f1: bool = False
) -> str:
    """The text of one sentence. Bracketed text of k-best parses has one tree per line, a comment with its probabilities above each
    tree, and a blank line after each sentence; that of trees with their expected F1 has the comment and the blank line, too."""
    if form == "bracketed":
        trees = [parse.tree for parse in parsed.kbest] if kbest and not parsed.fallback else [parsed.tree]
        shown = [with_posteriors(tree, parsed.constituents) if posteriors and not parsed.fallback else tree for tree in trees]
        if not kbest:
            lines = "".join(f"{tree}\n" for tree in shown)
            return f"{confidence_line(number, parsed)}\n{lines}\n" if expected_f1 else lines
        if parsed.fallback:
            return f"# sentence {number + 1}, no parse\n{parsed.tree}\n\n"
        heads = [kbest_line(number, i, p.posterior or 0.0, p.log_probability) for i, p in enumerate(parsed.kbest)]
        return "".join(f"{head}\n{tree}\n" for head, tree in zip(heads, shown, strict=True)) + "\n"
    values = _values(number, parsed, kbest, posteriors)
    if expected_f1:
        values["confidence"] = None if parsed.confidence is None else parsed.confidence._asdict()
    text = json.dumps(values, ensure_ascii=False, allow_nan=False)
    if form == "jsonl":
        return text + "\n"
    return ("\n" if first else ",\n") + text


def kbest_line(number: int, rank: int, posterior: float, log_probability: float | None = None) -> str:
    """The comment above a tree of a k-best list; ``number`` and ``rank`` count from 0.

    >>> kbest_line(0, 1, 0.428571, -6.096825)
    '# sentence 1, parse 2, posterior 0.4286, log probability -6.0968'
    """
    line = f"# sentence {number + 1}, parse {rank + 1}, posterior {posterior:.4g}"
    return line if log_probability is None else f"{line}, log probability {log_probability:.4f}"


def confidence_line(number: int, parsed: ParsedSentence) -> str:
    """The comment above a tree that tells its expected F1; ``number`` counts from 0."""
    if parsed.confidence is None:
        return f"# sentence {number + 1}, {'no parse' if parsed.fallback else 'no constituents'}"
    mark = "" if parsed.confidence.calibrated else " (not calibrated)"
    return f"# sentence {number + 1}, expected F1 {parsed.confidence.expected_f1:.4f}{mark}"


def _values(number: int, parsed: ParsedSentence, kbest: int, posteriors: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "sentence": number + 1,
        "words": list(parsed.sentence.words),
        "tree": str(parsed.tree),
        "expected_score": plain(parsed.score),
        "sentence_log_probability": None if parsed.fallback else plain(parsed.sentence_log_probability),
        "fallback": parsed.fallback,
    }
    if parsed.sentence.line is not None:
        values["line"] = parsed.sentence.line
    if kbest:
        values["kbest"] = [parse._asdict() | {"tree": str(parse.tree)} for parse in parsed.kbest]
    if posteriors:
        values["posteriors"] = [list(constituent) for constituent in parsed.constituents]
        if parsed.expected is not None:
            rates = ("recall", "precision", "f1")
            values["expected"] = {name: plain(getattr(parsed.expected, name)) for name in rates}
    return values


def with_posteriors(tree: Tree, constituents: Sequence[Constituent]) -> Tree:
    """The tree with the posterior of each node in its label, after an equals sign, where most tools cut a label.

    >>> print(with_posteriors(Tree.parse("(S (A a) (B b))"), [Constituent(0, 2, "S", 1.0), Constituent(0, 1, "A", 0.25)]))
    (S=1.000 (A=0.250 a) (B=0.000 b))
    """
    g = {(c.start, c.end, c.label): c.posterior for c in constituents}
    labels = [f"{node.label}={g.get((s, t, node.label), 0.0):.3f}" for node, s, t in tree.nodes_with_spans()]
    return _relabel(tree, labels)


def _relabel(tree: Tree, labels: Sequence[str]) -> Tree:
    """The tree with other labels, given in pre-order."""
    nodes = list(tree.nodes())
    made: list[Tree] = []
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        children = [child if isinstance(child, str) else made.pop() for child in node.children]
        made.append(Tree(labels[number], children))
    return made[0]


_CHUNK_BYTES = 1 << 20


class RecordFile:
    """A file of records; ``path`` may be ``-`` for standard output. ``done`` is the number of complete records that it already has;
    ``discards`` tells whether it will replace those of an unfinished run.

    A record is a line, but bracketed trees below comments (``has_comments``) are a record of several lines that ends with a blank
    one.

    A file of an earlier run is replaced only when all records are written. Until then they are in a file beside it, whose name
    ends in ``.unfinished``; ``resume`` continues that file if there is one, and a run that is not resumed drops it.

    ``plan`` holds everything that determines the records. Until all are written it is in a file beside them, whose name ends in
    ``.checkpoint``; only a run with the same plan is resumed.
    """

    def __init__(self, path: str, form: str, has_comments: bool, *, resume: bool, plan: Mapping[str, Any] | None = None) -> None:
        self._path, self._suffix = path, Path(path).suffix.lower()
        self._form, self._by_blank_lines = form, form == "bracketed" and has_comments
        self._target = path if is_stream(path) else os.path.realpath(path)
        unfinished = f"{self._target}{UNFINISHED}"
        has_earlier = path != "-" and os.path.isfile(self._target) and os.path.getsize(self._target) > 0
        self._place = unfinished if (os.path.exists(unfinished) if resume else has_earlier) else self._target
        self._abandoned = None if resume or self._place == unfinished else unfinished
        self._plan = None if plan is None or is_stream(path) else Path(f"{self._target}{CHECKPOINT}")
        # The plan of a file that is to replace an earlier one is not that of the earlier one.
        self._run = plan if plan is None or self._place == self._target else {**plan, "the output": UNFINISHED}
        # Hashes of the words of complete records: a compressed file is written anew before the sentences are read.
        self._kept: list[int | None] = []
        if resume and self._has_records():
            self._refuse_other_run()
            self._kept = [_record_hash(self._form, record) for record in self._records()]
        self.done = len(self._kept)
        self.discards = not resume and self._plan is not None and self._plan.exists()

    def _refuse_other_run(self) -> None:
        """Raise an error unless the records are of an unfinished run with the same plan."""
        if self._plan is None:
            return
        if not self._plan.exists():
            raise UsageError(f"{self._path}: not an unfinished run that can be resumed; start without resume=True")
        with refusing_damaged_checkpoint(self._plan):
            found = dict[str, Any](json.loads(self._plan.read_text("utf-8")))
        refuse_other_run(self._plan, found, self._run or {}, "model, input")

    def missing(self, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
        """The sentences after those of the complete records; an error if these are of other sentences."""
        for number, (kept, sentence) in enumerate(itertools.zip_longest(self._kept, itertools.islice(sentences, self.done)), 1):
            if kept is None or sentence is None or kept != hash(tuple(restore_word(escape_word(word)) for word in sentence.words)):
                raise UsageError(
                    f"{self._path}: record {number} is not of the sentence that the input has there.\n"
                    "  Resume with the same input, or start again (without resume=True)."
                )
        yield from sentences

    @contextmanager
    def open(self) -> Generator[Callable[[str], object]]:
        """A context with a function that appends records after the complete ones; an incomplete record is removed first."""
        if self._path == "-":
            yield lambda text: write_standard_output([text.encode("utf-8")])
            return
        try:
            with self._planned(), self._replacing(), self._stream() as stream:
                yield lambda text: stream.write(text.encode("utf-8"))
        except OSError as error:
            raise WriteError(f"{self._path}: cannot be written: {error.strerror or error}") from None

    @contextmanager
    def _planned(self) -> Generator[None]:
        """A context with the plan in its file, which stays only if an error is raised after something was written."""
        if self._plan is None:
            yield
            return
        with partial_path(self._plan) as partial:
            Path(partial).write_text(json.dumps(dict(self._run or {}), indent=1), "utf-8")
        try:
            yield
        except BaseException:
            if not self._has_records():
                self._plan.unlink()
            raise
        self._plan.unlink()

    def _has_records(self) -> bool:
        return os.path.isfile(self._place) and os.path.getsize(self._place) > 0

    @contextmanager
    def _replacing(self) -> Generator[None]:
        """A context after which the file has its name; if an error is raised, the records written so far stay where they are."""
        if self._abandoned is not None:
            # Otherwise a later resume would continue what an older run has left, and not this one.
            Path(self._abandoned).unlink(missing_ok=True)
        try:
            yield
        except BaseException:
            if os.path.isfile(self._place) and not os.path.getsize(self._place):
                os.unlink(self._place)
            raise
        if self._place != self._target:
            if os.path.exists(self._target):
                os.chmod(self._place, stat.S_IMODE(os.stat(self._target).st_mode))
            os.replace(self._place, self._target)

    def _stream(self) -> AbstractContextManager[BinaryIO]:
        if not self.done:
            return self._compress_to(self._place) if self._suffix in COMPRESSED else open(self._place, "wb")
        return self._recompress() if self._suffix in COMPRESSED else self._truncate()

    @contextmanager
    def _compress_to(self, path: str, append: bool = False) -> Generator[BinaryIO]:
        with open(path, "ab" if append else "wb") as raw, compressed_file(raw, self._suffix, "wb") as stream:
            yield stream

    @contextmanager
    def _truncate(self) -> Generator[BinaryIO]:
        size = sum(map(len, self._records()))
        with open(self._place, "r+b") as raw:
            raw.truncate(size)
            raw.seek(size)
            yield raw

    def _recompress(self) -> AbstractContextManager[BinaryIO]:
        """Replace the file by one of the complete records that can be decompressed, closed before as Windows wants; then append."""
        with partial_path(self._place) as unfinished, self._compress_to(unfinished) as stream:
            stream.writelines(self._records())
        return self._compress_to(self._place, append=True)

    def _records(self) -> Iterator[bytes]:
        """The complete records of the file."""
        if self._suffix in COMPRESSED:
            yield from _complete_records(_lines(_decompress(self._place, self._suffix)), self._by_blank_lines)
        else:
            with open(self._place, "rb") as raw:
                yield from _complete_records(raw, self._by_blank_lines)


def _record_hash(form: str, text: bytes) -> int | None:
    """A hash of the words of a record; None if it is none."""
    try:
        if form == "jsonl":
            return hash(tuple(restore_word(escape_word(word)) for word in json.loads(text)["words"]))
        return hash(tuple(Tree.parse(next(line for line in text.decode().splitlines() if not line.startswith("#"))).words))
    except (ValueError, LookupError, TypeError, RecursionError, StopIteration, TreegaugeError):
        return None


def _complete_records(lines: Iterable[bytes], by_blank_lines: bool) -> Iterator[bytes]:
    """The records that are complete, each with the end that marks it."""
    record: list[bytes] = []
    for line in lines:
        record.append(line)
        if line == b"\n" if by_blank_lines else line.endswith(b"\n"):
            yield b"".join(record)
            record.clear()


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    ".gz": lambda: zlib.decompressobj(wbits=31),
    ".bz2": bz2.BZ2Decompressor,
    ".xz": lzma.LZMADecompressor,
}


def _decompress(path: str, suffix: str) -> Iterator[bytes]:
    """The readable part of a compressed file, which may be cut short."""
    decompressor = _DECOMPRESSORS[suffix]()
    with open(path, "rb") as raw:
        try:
            while chunk := raw.read(_CHUNK_BYTES):
                while chunk:
                    yield decompressor.decompress(chunk)
                    chunk = decompressor.unused_data  # of the records after those that were there when the run was resumed
                    decompressor = _DECOMPRESSORS[suffix]() if decompressor.eof else decompressor
        except (zlib.error, lzma.LZMAError, OSError) as error:
            raise UsageError(f"{path}: cannot be resumed: {error}; start again without resume=True") from None


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


BLOCK = 200
"""The number of sentences in a block: some tenths of a second of work."""


class ParseRecord(NamedTuple):
    """The output text of a sentence, how its tree was found (without the tree), and the sentence itself if its pruning is to be
    checked."""

    text: str
    parsed: ParsedSentence
    checked: Sentence | None = None


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
    shown = parser.kbest, parser.posteriors
    text = record(job.form, number, parsed, *shown, first=number == 0, expected_f1=parser.expected_f1)
    times, rest = divmod(number - job.done, job.check_every)
    checked = parsed.sentence if not rest and times < job.check_most else None
    failed = parsed.fallback and bool(parsed.sentence.words)
    return ParseRecord(
        text, replace(parsed, sentence=Sentence(()), tree=Tree(""), fallback=failed, kbest=(), constituents=()), checked
    )


def parse_block(job: ParseJob, block: SentenceBlock) -> list[ParseRecord]:
    """The parses of a block of sentences. The worker with the first block reports if kernels have to be compiled."""
    (sentences,) = block.sides
    with when_compiling(report_compiling if block.first == job.done else lambda _: None):
        parses = job.parser.parse_all(sentences, job.jobs)
        return [parse_record(job, number, parsed) for number, parsed in enumerate(parses, block.first)]
