"""A progress bar on stderr, shown on a terminal after the first second, and input files whose reading moves it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from treegauge.errors import InputError, UsageError
from treegauge.io.sources import ReadOptions, Source, find_sources
from treegauge.trees.treebank import Treebank

__all__ = ["gold_and_tests", "progress", "sources_with_progress"]

_SECONDS_BEFORE_BAR = 1.0


@contextmanager
def progress(title: str, total: int | None, unit: str = "sentences") -> Generator[Callable[..., None]]:
    """A progress bar; yields the function to call after each unit of work, or with a number after several."""
    if not sys.stderr.isatty():
        yield _ignore_progress
        return
    bar = _Bar(title, total, unit)
    try:
        yield bar.advance
    finally:
        bar.close()


def _ignore_progress(count: int = 1) -> None:
    """Ignore progress."""


class _Bar:
    """A count that becomes a progress bar (by rich) after a second of work."""

    def __init__(self, title: str, total: int | None, unit: str) -> None:
        self.title, self.total, self.unit = title, total, unit
        self.done, self.started, self.shown = 0, time.monotonic(), None

    def advance(self, count: int = 1) -> None:
        self.done += count
        if self.shown is None and time.monotonic() - self.started > _SECONDS_BEFORE_BAR:
            self._show()
        if self.shown is not None:
            bar, task = self.shown
            bar.update(task, completed=self.done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(self.unit),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        bar.start()
        self.shown = bar, bar.add_task(self.title, total=self.total)

    def close(self) -> None:
        if self.shown is not None:
            self.shown[0].stop()


_MEGABYTE = 1 << 20


def gold_and_tests(gold: str, tests: Sequence[str], options: ReadOptions) -> tuple[Treebank, list[Treebank]]:
    """The treebank and the systems' trees, read two at a time; a file without trees is refused.

    Where a file has another number of trees than the treebank, but as many lines, each line is a sentence: a blank one is a failed
    parse, as it is for ``score``.
    """
    from concurrent.futures import ThreadPoolExecutor

    from treegauge.io import read

    paths = [gold, *tests]
    with ThreadPoolExecutor(2) as pool:
        banks = list(pool.map(read, paths, [options.of_gold, *[options] * len(tests)]))
    for number, (path, bank) in enumerate(zip(paths, banks, strict=True)):
        if not len(bank):
            side = "test" if number else "gold"
            raise InputError(f"no trees in the {side} file", path=path, advice="Nothing was compared.")
    gold_bank, *others = banks
    return gold_bank, [
        bank if len(bank) == len(gold_bank) else _line_by_line(path, options, len(gold_bank)) or bank
        for path, bank in zip(tests, others, strict=True)
    ]


def _line_by_line(path: str, options: ReadOptions, n_sentences: int) -> Treebank | None:
    """The trees of a file with a sentence on each line, if it has that many lines."""
    from treegauge.scoring.inputs import FileTrees

    trees = FileTrees([source.name for source in find_sources(path)], options, keep=False).line_by_line() if path != "-" else None
    if trees is None:
        return None
    try:
        bank = trees.whole()
    except InputError:
        return None
    finally:
        trees.close()
    return bank if len(bank) == n_sentences else None


@contextmanager
def sources_with_progress(paths: Sequence[str], title: str) -> Generator[list[Source]]:
    """The sources of some paths; reading them moves a progress bar."""
    if not paths:
        raise UsageError("no files given; write - for standard input")
    sources = [source for path in paths for source in find_sources(path)]
    with progress(title, _megabytes(sources), unit="MB") as advance:
        waiting = 0

        def on_read(count: int) -> None:
            nonlocal waiting
            waiting += count
            while waiting >= _MEGABYTE:
                waiting -= _MEGABYTE
                advance()

        yield [replace(source, on_read=on_read) for source in sources]


def _megabytes(sources: Sequence[Source]) -> int | None:
    """The megabytes to read; None if one of the sources is not a file."""
    if not all(os.path.isfile(source.name) for source in sources):
        return None
    return sum(os.path.getsize(source.name) for source in sources) // _MEGABYTE
