"""Reading and writing treebanks: one module a format."""

from __future__ import annotations

import os
from collections.abc import Iterator

from treegauge.io.bracketed import stream_bracketed
from treegauge.io.options import ReadOptions
from treegauge.io.sources import find_sources
from treegauge.trees.treebank import Treebank

__all__ = ["ReadOptions", "read", "stream"]


def stream(path: str | os.PathLike[str], options: ReadOptions = ReadOptions()) -> Iterator[Treebank]:
    """The trees of a file, directory or glob, a block at a time."""
    for source in find_sources(path):
        yield from stream_bracketed(source, options)


def read(path: str | os.PathLike[str], options: ReadOptions = ReadOptions()) -> Treebank:
    """All trees of a file, directory or glob as one treebank."""
    return Treebank.concatenate(list(stream(path, options)) or [Treebank.from_trees([])])
