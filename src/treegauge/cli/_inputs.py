"""The files a command was given, with a progress bar over their bytes."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from treegauge.cli._progress import progress
from treegauge.errors import InputError, UsageError
from treegauge.io.options import ReadOptions
from treegauge.io.sources import Source, find_sources
from treegauge.trees.treebank import Treebank

__all__ = ["gold_and_tests", "watched_sources"]

_MEGABYTE = 1 << 20


def gold_and_tests(gold: str, tests: Sequence[str], options: ReadOptions) -> tuple[Treebank, list[Treebank]]:
    """The treebank and the systems' trees, read two at a time; a file without trees is an accident and is refused."""
    from treegauge.io import read

    paths = [gold, *tests]
    with ThreadPoolExecutor(2) as pool:
        banks = list(pool.map(read, paths, [options] * len(paths)))
    for number, (path, bank) in enumerate(zip(paths, banks, strict=True)):
        if not len(bank):
            side = "test" if number else "gold"
            raise InputError(f"no trees in the {side} file", path=path, advice="Nothing was compared.")
    return banks[0], banks[1:]


@contextmanager
def watched_sources(paths: Sequence[str], title: str) -> Generator[list[Source]]:
    """The sources that some paths stand for; as they are read, the progress bar moves."""
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
    """How much there is to read; None if one of the sources is not a file, so that nobody knows."""
    if not all(os.path.isfile(source.name) for source in sources):
        return None
    return sum(os.path.getsize(source.name) for source in sources) // _MEGABYTE
