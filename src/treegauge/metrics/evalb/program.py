"""The program EVALB: two files in, a table on stdout to the byte, messages on stderr, an exit code.

The command line is read strictly from left to right, with files and options in any order; files are opened as by C's fopen.
``Recal`` and ``Accracy`` are EVALB's spelling.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, BinaryIO

from treegauge import presets
from treegauge.metrics.evalb import ERROR, SKIP, UNPAIRED, VALID
from treegauge.metrics.evalb.lines import parameter_remarks
from treegauge.metrics.evalb.scoring import SentenceResult, score_blocks
from treegauge.presets.prm import Parameters, atoi, parse_prm

if TYPE_CHECKING:
    from treegauge.metrics.evalb.blocks import ValidLines


def open_file(name: bytes) -> BinaryIO | None:
    """An open file, or ``None`` if it cannot be opened; a directory can be opened, and is empty.

    >>> open_file(b"no such file") is None
    True
    """
    try:
        return open(os.fsdecode(name), "rb")
    except IsADirectoryError:
        return io.BytesIO()
    except (OSError, ValueError):
        return None


REMARK = b"treegauge: "
"""The beginning of each line on stderr that EVALB itself would not print."""

USAGE = (
    b" evalb [-dDh][-c n][-e n][-p param_file] gold-file test-file  \n"
    b"                                                         \n"
    b"    Evaluate bracketing in test-file against gold-file.  \n"
    b"    Return recall, precision, F-Measure, tag accuracy.              \n"
    b"                                                         \n"
    b"  <option>                                               \n"
    b"    -d             debug mode                            \n"
    b"    -D             debug mode plus bracketing info       \n"
    b"    -c n           cut-off length forstatistics (def.=40)\n"
    b"    -e n           number of error to kill (default=10)  \n"
    b"    -p param_file  parameter file                        \n"
    b"    -h    help                                           \n"
)

_VALUES = {b"c": b"cut-off length for statistices", b"e": b"number of error to kill", b"p": b"parameter file"}
"""The options that have a value, and the name of the value in EVALB's message if it is missing."""


@dataclass
class Invocation:
    """A run of the program as its arguments describe it; ``exit_code`` is set if they end it at once."""

    parameters: Parameters = field(default_factory=Parameters)
    gold: bytes | None = None
    test: bytes | None = None
    said: bytes = b""
    exit_code: int | None = None


def read_arguments(words: Sequence[bytes]) -> Invocation:
    """The run that the arguments describe; parameter files are read at once.

    Only the letter after ``-`` matters. A third file name and a single ``-`` are ignored.

    >>> run = read_arguments([b"gold", b"-c5", b"-e", b"-1", b"test", b"other"])
    >>> run.gold, run.test, run.parameters.cutoff_length, run.parameters.max_error
    (b'gold', b'test', 5, -1)
    """
    run = Invocation()
    remaining = list(reversed(words))
    while remaining and run.exit_code is None:
        word = remaining.pop()
        if not word.startswith(b"-"):
            _name_file(run, word)
        elif (letter := word[1:2]) in _VALUES:
            value = word[2:]
            if not value and remaining:
                value = remaining.pop()
            elif not value:
                run.said += b"Missing argument: %s\n" % _VALUES[letter]
            _set_value(run, letter, value)
        elif letter:
            _set_flag(run, letter)
    if run.exit_code is None:
        run.said += b"".join(REMARK + remark + b"\n" for remark in parameter_remarks(run.parameters))
    return run


def _name_file(run: Invocation, name: bytes) -> None:
    if run.gold is None:
        run.gold = name
    elif run.test is None:
        run.test = name


def _set_flag(run: Invocation, letter: bytes) -> None:
    match letter:
        case b"d":
            run.parameters = run.parameters._replace(debug=1)
        case b"D":
            run.parameters = run.parameters._replace(debug=2)
        case _:
            run.said += USAGE
            run.exit_code = 1 if letter == b"h" else 0


def _set_value(run: Invocation, letter: bytes, value: bytes) -> None:
    match letter:
        case b"c":
            run.parameters = run.parameters._replace(cutoff_length=atoi(value))
        case b"e":
            run.parameters = run.parameters._replace(max_error=atoi(value))
        case _:
            _read_prm(run, value)


def _read_prm(run: Invocation, name: bytes) -> None:
    file = open_file(name) or _preset_file(name)
    if file is None:
        run.said += b"Can't open parameter file (%s)\n" % name
        run.exit_code = 1
        return
    with file:
        run.parameters, messages = parse_prm(file.read(), run.parameters)
    for message in messages:
        if message.undefined:
            run.said += b"%s%s line %d: %s\n" % (REMARK, name, message.line, message.text)
        else:
            run.said += message.text + b"\n"


def _preset_file(name: bytes) -> BinaryIO | None:
    """The parameter file of that name that comes with treegauge, used if there is no file of that name; EVALB has no such names."""
    return open_file(os.fsencode(os.path.join(_PRESETS, f"{name.decode()}.prm"))) if name in NAMED_PRESETS else None


NAMED_PRESETS = (b"collins", b"new", b"nk")
_PRESETS = os.path.dirname(presets.__file__)

MOST_REPETITIONS = 10_000_000
"""The largest number of times that a message is repeated for an endless line; EVALB continues up to its error limit."""

_BLOCK = 4096
_LARGE_BYTES = 16 << 20
"""Kernels are used for two files of at least this size together; smaller ones are scored sooner than Numba is imported."""


RULE = b"=" * 76 + b"\n"
HEADER = (
    b"  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    b" ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n" + RULE
)
ROW = b"%4d  %3d    %d  %6.2f %6.2f   %3d    %3d  %3d    %3d   %4d  %4d   %6.2f\n"


def row(counts: Sequence[int]) -> bytes:
    """The line of one sentence; counts are in the order of a SentenceResult, rates are percentages (0 if there is nothing).

    >>> row((1, 6, 0, 3, 4, 4, 0, 5, 5))
    b'   1    6    0   75.00  75.00     3      4    4      0      5     5   100.00\\n'
    """
    number, length, status, m, g, t, crossing, w, tags = counts
    recall, precision, accuracy = 100.0 * m / g if g else 0.0, 100.0 * m / t if t else 0.0, 100.0 * tags / w if w else 0.0
    return ROW % (number, length, status, recall, precision, m, g, t, crossing, w, tags, accuracy)


class Totals:
    """Running sums of one summary block; only valid sentences enter the sums of brackets, words and tags."""

    def __init__(self) -> None:
        self.sentences = self.errors = self.skipped = self.unparsed = 0
        self.matched = self.gold = self.test = self.crossing = self.words = self.tags = 0
        self.complete: int = 0
        self.no_crossing: int = 0
        self.few_crossing: int = 0

    def add(self, result: SentenceResult) -> None:
        """Add a sentence; one without brackets that count on either side is a complete match."""
        if result.status in (ERROR, SKIP):
            self.sentences += 1
            self.errors += result.status == ERROR
            self.skipped += result.status == SKIP
        else:
            matched, gold, test, crossing = counts = result[3:7]
            self._add(1, (*counts, *result[7:9]), (gold == test == matched, crossing == 0, crossing <= 2))

    def add_lines(self, lines: ValidLines) -> None:
        """Add several valid sentences."""
        _, _, *counts = lines
        matched, gold, test, crossing = counts[:4]
        kinds = (gold == test) & (gold == matched), crossing == 0, crossing <= 2
        self._add(len(matched), [int(column.sum()) for column in counts], [int(kind.sum()) for kind in kinds])

    def _add(self, sentences: int, counts: Sequence[int], kinds: Sequence[int]) -> None:
        """Add the counts of valid sentences, and the numbers of those that match, have no crossing, and have at most two."""
        self.sentences += sentences
        names = ("matched", "gold", "test", "crossing", "words", "tags", "complete", "no_crossing", "few_crossing")
        for name, number in zip(names, (*counts, *kinds), strict=True):
            setattr(self, name, getattr(self, name) + number)

    def add_unparsed(self, result: SentenceResult) -> None:
        """Add a sentence without a parse, for which EVALB has no rule.

        Its brackets are missed, it is neither a complete match nor free of crossings, and it does not enter the average crossing.
        """
        before = self.complete, self.no_crossing, self.few_crossing
        self.add(result)
        self.complete, self.no_crossing, self.few_crossing = before
        self.unparsed += 1

    @property
    def valid(self) -> int:
        return self.sentences - self.errors - self.skipped

    @property
    def recall(self) -> float:
        return _percent(self.matched, self.gold)

    @property
    def precision(self) -> float:
        return _percent(self.matched, self.test)

    @property
    def tagging_accuracy(self) -> float:
        return _percent(self.tags, self.words)


def _mean(total: int, number: int) -> float:
    return total / number if number else 0.0


def _percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0


def summary(everything: Totals, short: Totals, cutoff_length: int) -> bytes:
    """The text after the last row: the rule, the line of totals, and a block for all and one for short sentences."""
    total = b""
    if everything.gold and everything.test:
        rates, brackets = (everything.recall, everything.precision), (everything.matched, everything.gold, everything.test)
        total = b"                %6.2f %6.2f %6d %5d %5d  %5d" % (*rates, *brackets, everything.crossing)
    total += b"  %5d %5d   %6.2f\n" % (everything.words, everything.tags, everything.tagging_accuracy)
    blocks = _block(b"All", everything) + _block(b"len<=%d" % cutoff_length, short)
    return RULE + total + b"=== Summary ===\n" + blocks


def _block(title: bytes, totals: Totals) -> bytes:
    counts = (
        (b"Number of sentence", totals.sentences),
        (b"Number of Error sentence", totals.errors),
        (b"Number of Skip  sentence", totals.skipped),
        (b"Number of Valid sentence", totals.valid),
    )
    rates = (
        (b"Bracketing Recall", b"%6.2f" % totals.recall),
        (b"Bracketing Precision", b"%6.2f" % totals.precision),
        (b"Bracketing FMeasure", _f_measure(totals)),
        (b"Complete match", b"%6.2f" % _percent(totals.complete, totals.valid)),
        (b"Average crossing", b"%6.2f" % _mean(totals.crossing, totals.valid - totals.unparsed)),
        (b"No crossing", b"%6.2f" % _percent(totals.no_crossing, totals.valid)),
        (b"2 or less crossing", b"%6.2f" % _percent(totals.few_crossing, totals.valid)),
        (b"Tagging accuracy", b"%6.2f" % totals.tagging_accuracy),
    )
    lines = [b"", b"-- %s --" % title]
    lines += [b"%-25s = %6d" % pair for pair in counts]
    lines += [b"%-25s = %s" % pair for pair in rates]
    return b"\n".join(lines) + b"\n"


def _f_measure(totals: Totals) -> bytes:
    """2PR/(P+R), in EVALB's order of operations; its 0/0 prints a negative nan on x86-64."""
    recall, precision = totals.recall, totals.precision
    if precision + recall == 0:
        return b"  -nan"
    return b"%6.2f" % (2 * precision * recall / (precision + recall))


class _LimitReached(Exception):
    """There were more errors than MAX_ERROR allows."""


def evalb(argv: Sequence[bytes | str], stdout: BinaryIO | None = None, stderr: BinaryIO | None = None) -> int:
    """Run EVALB with these arguments (without the program's name) and return its exit code.

    It is 0 for a completed run, however many sentences failed, and 1 if the error limit stopped it or a file is missing.

    >>> import io
    >>> errors = io.BytesIO()
    >>> evalb(["no-such-file"], io.BytesIO(), errors), errors.getvalue()
    (1, b"Can't open gold file (no-such-file)\\n")
    """
    out: BinaryIO = sys.stdout.buffer if stdout is None else stdout
    err: BinaryIO = sys.stderr.buffer if stderr is None else stderr
    run = read_arguments([os.fsencode(word) for word in argv])
    err.write(run.said)
    err.flush()
    if run.exit_code is not None:
        return run.exit_code
    gold = open_file(run.gold) if run.gold is not None else None
    if gold is None:
        return _cannot_open(b"gold", run.gold, err)
    with gold:
        test = open_file(run.test) if run.test is not None else None
        if test is None:
            return _cannot_open(b"test", run.test, err)
        with test:
            return _ProgramRun(run.parameters, out, err).score(gold, test)


def _cannot_open(kind: bytes, name: bytes | None, stderr: BinaryIO) -> int:
    stderr.write(b"Can't open %s file (%s)\n" % (kind, b"(null)" if name is None else name))
    stderr.flush()
    return 1


def _size(file: BinaryIO) -> int:
    try:
        return os.fstat(file.fileno()).st_size
    except (OSError, io.UnsupportedOperation):
        return 0


class _ProgramRun:
    """One run: its parameters and output streams, and the number of errors so far."""

    def __init__(self, parameters: Parameters, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self._parameters, self._stdout, self._stderr = parameters, stdout, stderr
        self._errors = 0

    def score(self, gold: BinaryIO, test: BinaryIO) -> int:
        everything, short = Totals(), Totals()
        cutoff, write = self._parameters.cutoff_length, self._write
        write(HEADER)
        try:
            is_large = _size(gold) + _size(test) >= _LARGE_BYTES
            for result in score_blocks(gold, test, self._parameters, is_large=is_large):
                if not isinstance(result, SentenceResult):
                    everything.add_lines(result)
                    short.add_lines(result.select(result.length <= cutoff))
                    number, length, *counts = (column.tolist() for column in result)
                    write(b"".join(map(row, zip(number, length, repeat(VALID), *counts, strict=False))))
                    continue
                if result.messages or result.remarks or result.trace:
                    self._report(result)
                if result.status == UNPAIRED:
                    break
                everything.add(result)
                if result.length <= cutoff:
                    short.add(result)
                write(row(result[:9]))
                if result.dump:
                    write(result.dump)
        except _LimitReached:
            self._flush()
            return 1
        write(summary(everything, short, cutoff))
        self._flush()
        return 0

    def _write(self, text: bytes) -> None:
        """Write to standard output; a reader that has gone does not change the exit code."""
        with suppress(BrokenPipeError):
            self._stdout.write(text)

    def _flush(self) -> None:
        with suppress(BrokenPipeError):
            self._stdout.flush()

    def _report(self, result: SentenceResult) -> None:
        """Print the trace, messages and remarks of a sentence; raise _LimitReached if the error limit is exceeded."""
        trace = result.trace or (b"",) * (len(result.messages) + 1)
        for remark in result.remarks:
            self._say(REMARK + remark + b"\n")
        for piece, text in zip(trace, result.messages, strict=False):
            self._write(piece)
            self._count(b"%d : %s\n" % (result.id, text))
        if result.endless:
            self._repeat(b"%d : %s\n" % (result.id, result.messages[-1]))
        self._write(trace[-1])

    def _count(self, message: bytes) -> None:
        """Print a message; EVALB compares the number of messages before it with the limit."""
        self._say(message)
        self._errors += 1
        if self._errors - 1 > self._parameters.max_error:
            raise _LimitReached

    def _repeat(self, message: bytes) -> None:
        """Print a message again and again until the limit is exceeded."""
        left = self._parameters.max_error + 2 - self._errors
        printed = min(left, MOST_REPETITIONS)
        for start in range(0, printed, _BLOCK):
            self._say(message * min(_BLOCK, printed - start))
        if printed < left:
            self._say(REMARK + b"stopped here; EVALB would print the last message %d times more\n" % (left - printed))
        raise _LimitReached

    def _say(self, text: bytes) -> None:
        # Flush the rows first, so that a terminal or a common log shows both streams in order.
        self._flush()
        self._stderr.write(text)
        self._stderr.flush()
