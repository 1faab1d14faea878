"""A line on stderr for what the files of a command have and its trees have not: secondary edges, and nodes without words."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace

import click

from treegauge.io.sources import LeftOut, ReadOptions, Source
from treegauge.tables import number_of

__all__ = ["sources_with_counts"]


@contextmanager
def sources_with_counts(sources: Iterable[Source], options: ReadOptions) -> Generator[list[Source]]:
    """The sources; when all is done, a line on stderr counts what was left out of their trees."""
    edges = nodes = 0

    def count(left_out: LeftOut) -> None:
        nonlocal edges, nodes
        edges += left_out.edges
        nodes += left_out.nodes

    yield [replace(source, on_left_out=count) for source in sources]
    if edges:
        what, hint = (" of nodes without words", "") if options.secondary else ("", " (--secondary keeps them)")
        click.echo(f"treegauge: {number_of(edges, 'secondary edge')}{what} left out{hint}", err=True)
    if nodes:
        click.echo(f"treegauge: {number_of(nodes, 'node')} without words left out", err=True)
