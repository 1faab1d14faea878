"""The program EVALB: two files in, a table on stdout, messages on stderr, an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from treegauge.metrics.evalb.arguments import REMARK, read_arguments
from treegauge.metrics.evalb.files import open_file
from treegauge.metrics.evalb.printing import HEADER, Totals, row, summary
from treegauge.metrics.evalb.sentences import UNPAIRED, SentenceResult, score_lines
from treegauge.normalise.prm import Parameters

__all__ = ["MOST_REPETITIONS", "evalb"]

MOST_REPETITIONS = 10_000_000
"""How often a message is repeated on an endless line; EVALB goes on up to its error limit, or for ever."""

_BLOCK = 4096


class _LimitReached(Exception):
    """There were more errors than MAX_ERROR allows."""


def evalb(argv: Sequence[bytes | str], stdout: BinaryIO | None = None, stderr: BinaryIO | None = None) -> int:
    """Run EVALB with these words (without the program's name) and return its exit code.

    0 for a completed run, however many sentences failed; 1 where the error limit stopped it or a file is missing.

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
            return _Run(run.parameters, out, err).score(gold, test)


def _cannot_open(kind: bytes, name: bytes | None, stderr: BinaryIO) -> int:
    stderr.write(b"Can't open %s file (%s)\n" % (kind, b"(null)" if name is None else name))
    stderr.flush()
    return 1


class _Run:
    """One run: where it prints to, and how many errors it has seen."""

    def __init__(self, parameters: Parameters, stdout: BinaryIO, stderr: BinaryIO) -> None:
        self._parameters, self._stdout, self._stderr = parameters, stdout, stderr
        self._errors = 0

    def score(self, gold: Iterable[bytes], test: Iterable[bytes]) -> int:
        everything, short = Totals(), Totals()
        cutoff, write = self._parameters.cutoff_length, self._stdout.write
        write(HEADER)
        try:
            for result in score_lines(gold, test, self._parameters):
                if result.messages or result.remarks or result.trace:
                    self._report(result)
                if result.status == UNPAIRED:
                    break
                everything.add(result)
                if result.length <= cutoff:
                    short.add(result)
                write(row(result))
                if result.dump:
                    write(result.dump)
        except _LimitReached:
            self._stdout.flush()
            return 1
        write(summary(everything, short, cutoff))
        self._stdout.flush()
        return 0

    def _report(self, result: SentenceResult) -> None:
        """Print a sentence's trace, messages and remarks; raises where the error limit is passed."""
        trace = result.trace or (b"",) * (len(result.messages) + 1)
        for remark in result.remarks:
            self._say(REMARK + remark + b"\n")
        for piece, text in zip(trace, result.messages, strict=False):
            self._stdout.write(piece)
            self._count(b"%d : %s\n" % (result.id, text))
        if result.endless:
            self._repeat(b"%d : %s\n" % (result.id, result.messages[-1]))
        self._stdout.write(trace[-1])

    def _count(self, message: bytes) -> None:
        """Print a message; EVALB compares the count of the messages before it with the limit."""
        self._say(message)
        self._errors += 1
        if self._errors - 1 > self._parameters.max_error:
            raise _LimitReached

    def _repeat(self, message: bytes) -> None:
        """Print a message over and over until the limit is passed."""
        left = self._parameters.max_error + 2 - self._errors
        printed = min(left, MOST_REPETITIONS)
        for start in range(0, printed, _BLOCK):
            self._say(message * min(_BLOCK, printed - start))
        if printed < left:
            self._say(REMARK + b"stopped here; EVALB would print the last message %d times more\n" % (left - printed))
        raise _LimitReached

    def _say(self, text: bytes) -> None:
        # Rows first, so that a terminal or a common log shows both streams in order.
        self._stdout.flush()
        self._stderr.write(text)
        self._stderr.flush()
