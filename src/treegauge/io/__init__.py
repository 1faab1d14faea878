"""Reading and writing treebanks: one module a format."""

from __future__ import annotations

import os
from collections.abc import Iterator

from treegauge.io.bracketed import bracketed_parts, stream_bracketed
from treegauge.io.columns import Names, join_parts
from treegauge.io.options import ReadOptions
from treegauge.io.sources import find_sources
from treegauge.io.text import Text
from treegauge.trees.treebank import Treebank

__all__ = ["ReadOptions", "read", "stream"]


def stream(path: str | os.PathLike[str], options: ReadOptions = ReadOptions()) -> Iterator[Treebank]:
    """The trees of a file, directory or glob, a block at a time."""
    for source in find_sources(path):
        yield from stream_bracketed(Text(source, options), options)


def read(path: str | os.PathLike[str], options: ReadOptions = ReadOptions()) -> Treebank:
    """All trees of a file, directory or glob as one treebank."""
    names = Names()
    return join_parts(
        [part for source in find_sources(path) for part in bracketed_parts(Text(source, options), options, names)], names
    )
