"""The formats treegauge knows: a table of names, suffixes, readers and writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from treegauge.io.bracketed import stream_bracketed
from treegauge.io.options import ReadOptions
from treegauge.io.text import Text
from treegauge.trees.treebank import Treebank

__all__ = ["FORMATS", "READABLE", "Format"]


@dataclass(frozen=True)
class Format:
    """A file format: its name, a line of help, the suffixes that tell it for certain, and how it is read."""

    name: str
    help: str
    suffixes: tuple[str, ...]
    stream: Callable[[Text, ReadOptions], Iterator[Treebank]] | None


FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        Format(
            "bracketed",
            "Penn Treebank brackets, one tree a line or over several lines",
            (".mrg", ".ptb", ".psd", ".parse", ".brackets", ".bracketed"),
            stream_bracketed,
        ),
    )
}

READABLE = tuple(known.name for known in FORMATS.values() if known.stream is not None)
