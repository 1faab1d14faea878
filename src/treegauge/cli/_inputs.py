"""The files a command was given, with a progress bar over their bytes."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from treegauge.cli._progress import progress
from treegauge.errors import UsageError
from treegauge.io.sources import Source, find_sources

__all__ = ["watched_sources"]

_MEGABYTE = 1 << 20


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
