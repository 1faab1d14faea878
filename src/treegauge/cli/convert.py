"""``treegauge convert``: treebanks from one format to another."""

from __future__ import annotations

from collections.abc import Iterator

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import output_option, reading_options, stream_option
from treegauge.cli._progress import sources_with_counts, sources_with_progress
from treegauge.io import FORMATS, WRITABLE, ReadOptions, Source, stream, write_blocks
from treegauge.trees import Treebank

_EXAMPLES = """\b
Examples:
  treegauge convert wsj/ -o wsj.mrg.gz                       a directory as one file, a tree per line
  treegauge convert tiger.xml -o tiger.mrg --no-functions    TIGER-XML as brackets
  treegauge convert --encoding latin-1 negra.export --to pretty | less
  treegauge convert train.mrg --to export -o train.export

\b
Formats:
"""


def _formats() -> str:
    width = max(map(len, FORMATS))
    return "\n".join(f"  {known.name:{width}}  {known.help} {' '.join(known.suffixes)}".rstrip() for known in FORMATS.values())


@click.command(cls=Command, epilog=_EXAMPLES + _formats())
@click.argument("files", nargs=-1, type=INPUT, metavar="IN...")
@output_option("Output file; .gz, .bz2 and .xz are compressed.", metavar="OUT", show_default=True)
@click.option(
    "--to",
    "to",
    type=click.Choice(["auto", *WRITABLE]),
    default="auto",
    show_default=True,
    help="Output format; auto goes by the suffix.",
)
@reading_options
@stream_option
def command(files: tuple[str, ...], output: str, to: str, options: ReadOptions, stream: bool) -> None:
    """Write the trees of IN... (files, directories, globs; - is stdin) in another format.

    Trees that the format cannot hold exactly are refused. Secondary edges (without --secondary) and nodes without words are left
    out and counted on stderr. OUT is written whole or not at all. Memory does not grow with the input, with or without --stream.
    """
    with sources_with_progress(files, "converting") as sources, sources_with_counts(sources, options) as counted:
        write_blocks(_blocks(counted, options), output, to)


def _blocks(sources: list[Source], options: ReadOptions) -> Iterator[Treebank]:
    for source in sources:
        yield from stream(source, options)
