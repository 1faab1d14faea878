"""Gold and test compared from beginning to end, file by file.

As long as sentence i belongs to sentence i, both sides are worked through in step, block by block. Where they are out of step, a
file with blank lines for failed parses is read again line by line; and if that does not help, because sentences are missing or
doubled, the whole of both files is paired by text, which a stream cannot do.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from types import TracebackType
from typing import NamedTuple

import numpy as np

from treegauge.errors import InputError, MismatchError
from treegauge.metrics.alignment import Note, pairs_by_text
from treegauge.metrics.sides import Trees
from treegauge.metrics.tally import OutOfStep, Request, SystemTally
from treegauge.trees.hashing import Mark, TreebankHash
from treegauge.trees.treebank import Treebank

__all__ = ["Hasher", "Tallied", "check_fit", "compare", "count_in_step"]

_MOST_NOTES = 100


class Tallied(NamedTuple):
    """What was counted of a system, and the hashes of gold and test."""

    tally: SystemTally
    digests: tuple[str, str]


class Hasher:
    """The hashes of gold and test, made in a thread of its own while sentences are scored."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._hashes = TreebankHash(), TreebankHash()
        self._jobs: list[Future[None]] = []

    def __enter__(self) -> Hasher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def add(self, gold: Treebank, test: Treebank) -> None:
        """Add a block of both sides."""
        self._jobs += [self._pool.submit(digest.update, block) for digest, block in zip(self._hashes, (gold, test), strict=True)]

    def _wait(self) -> None:
        for job in self._jobs:
            job.result()
        self._jobs.clear()

    def mark(self) -> tuple[Mark, Mark]:
        """Where both hashes are, to go back to."""
        self._wait()
        return self._hashes[0].mark(), self._hashes[1].mark()

    def go_back(self, marks: tuple[Mark, Mark]) -> None:
        self._wait()
        for digest, mark in zip(self._hashes, marks, strict=True):
            digest.go_back(mark)

    def digests(self) -> tuple[str, str]:
        """The hashes of gold and test."""
        self._wait()
        return self._hashes[0].hexdigest(), self._hashes[1].hexdigest()


def compare(files: Sequence[tuple[Trees, Trees]], request: Request, hasher: Hasher) -> SystemTally:
    """Count all files of a system, each against its gold file."""
    total = SystemTally(request)
    for gold, test in files:
        tally = _compare_file(gold, test, request, hasher, total.n_gold)
        for side, trees, n_trees in (("gold", gold, tally.n_gold), ("test", test, tally.n_test)):
            if trees.paths and not n_trees:
                raise InputError(f"no trees in the {side} file", path=trees.name, advice="Nothing was scored.")
        total.merge(tally)
    check_fit(total)
    return total


def check_fit(tally: SystemTally) -> None:
    """Refuse sentences that do not fit, all of them together, where that was asked for."""
    if tally.request.on_mismatch == "error" and tally.notes:
        raise MismatchError(_refusal(tally.notes))


def _refusal(notes: Sequence[Note]) -> str:
    lines = [f"gold and test do not fit in {len(notes)} {'sentence' if len(notes) == 1 else 'sentences'}; nothing was scored:"]
    lines += [f"  {note.place}: {note.what}" for note in notes[:_MOST_NOTES]]
    return "\n".join([*lines, f"  and {len(notes) - _MOST_NOTES} more"] if len(notes) > _MOST_NOTES else lines)


def _compare_file(gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int) -> SystemTally:
    marks = hasher.mark()
    once = not (gold.can_be_read_again and test.can_be_read_again)
    try:
        return _in_step(gold, test, request, hasher, first, may_end_apart=once)
    except OutOfStep:
        hasher.go_back(marks)
    lines = test.line_by_line()
    if lines is not None and not once:
        try:
            return _in_step(gold, lines, request, hasher, first)
        except (OutOfStep, InputError):
            hasher.go_back(marks)
        finally:
            lines.close()
    if request.keep and request.on_mismatch != "evalb":
        return _by_text(gold, test, request, hasher, first)
    try:
        if not once:
            return _in_step(gold, test, request, hasher, first, may_end_apart=True)
    except OutOfStep:
        pass
    raise MismatchError(
        f"{gold.name} and {test.name} have not the same sentences in the same order, so they cannot be streamed\n"
        "  Score them without --stream: then sentences are paired by their text."
    )


def _in_step(gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int, *, may_end_apart: bool = False) -> SystemTally:
    return count_in_step(gold.blocks(), test.blocks(), request, hasher, first, may_end_apart=may_end_apart)


def count_in_step(
    gold: Iterator[Treebank],
    test: Iterator[Treebank],
    request: Request,
    hasher: Hasher | None = None,
    first: int = 0,
    *,
    may_end_apart: bool = False,
) -> SystemTally:
    """Count sentence i against sentence i, or raise OutOfStep.

    One side may end first, if that is allowed and all sentences before are in place.
    """
    tally = SystemTally(request, first)
    by_line = request.on_mismatch == "evalb"
    with closing(_steps(gold, test)) as steps:
        for gold_block, test_block in steps:
            if len(gold_block) != len(test_block) and not (may_end_apart and (by_line or not tally.texts)):
                raise OutOfStep
            if hasher is not None:
                hasher.add(gold_block, test_block)
            pairs = np.arange(len(gold_block)) if len(test_block) else np.full(len(gold_block), -1, dtype=np.int64)
            tally.add(gold_block, test_block, pairs, in_step=True)
    return tally


def _steps(gold: Iterator[Treebank], test: Iterator[Treebank]) -> Generator[tuple[Treebank, Treebank]]:
    """Blocks of equally many trees of both sides; at the end, what one side has more, against nothing."""
    nothing = Treebank.from_trees([])
    ours, theirs = nothing, nothing
    while True:
        if not len(ours):
            ours = next(gold, nothing)
        if not len(theirs):
            theirs = next(test, nothing)
        if not len(ours) and not len(theirs):
            return
        size = min(len(ours), len(theirs))
        if not size:
            yield ours, theirs
            ours = theirs = nothing
        else:
            yield ours[:size], theirs[:size]
            ours, theirs = ours[size:], theirs[size:]


def _by_text(gold: Trees, test: Trees, request: Request, hasher: Hasher, first: int) -> SystemTally:
    """Count each gold sentence against the test sentence with its text."""
    ours, theirs = gold.whole(), test.whole()
    hasher.add(ours, theirs)
    tally = SystemTally(request, first)
    tally.add(ours, theirs, pairs_by_text(ours, theirs))
    return tally
