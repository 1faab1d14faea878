"""Writing treebanks in any format that can be written, to any place."""

from __future__ import annotations

import os
from collections.abc import Iterable

from treegauge.io.formats import FORMATS, WRITABLE, Format, format_named, format_of_suffix
from treegauge.io.output import write_chunks
from treegauge.io.reading import as_treebank
from treegauge.io.sources import Source
from treegauge.trees.treebank import Treebank

__all__ = ["write", "write_blocks"]


def write(trees: object, path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write trees (whatever :func:`~treegauge.io.reading.as_treebank` takes) to a file, or to standard output for ``-``.

    ``to`` is a name of :data:`~treegauge.io.formats.WRITABLE`; ``auto`` goes by the suffix, and else is ``bracketed``.
    """
    write_blocks([as_treebank(trees)], path, to)


def write_blocks(blocks: Iterable[Treebank], path: str | os.PathLike[str], to: str = "auto") -> None:
    """Write the trees of a stream; no more than a block is in memory."""
    writer = _format(path, to).writer
    assert writer is not None
    write_chunks(writer(blocks), path)


def _format(path: str | os.PathLike[str], name: str) -> Format:
    if name != "auto":
        return format_named(name, WRITABLE)
    found = format_of_suffix(Source(os.fspath(path)).suffix)
    return found if found is not None and found.writer is not None else FORMATS["bracketed"]
