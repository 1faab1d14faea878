"""``treegauge convert``: treebanks from one format to another."""

from __future__ import annotations

from dataclasses import replace

import click

from treegauge.cli._group import INPUT, Command
from treegauge.cli._options import broken_trees_options, output_option, reading_options, remark, stream_option
from treegauge.cli._treebanks import sources_with_counts, sources_with_progress
from treegauge.io import FORMATS, WRITABLE, ReadOptions, stream as blocks_of, write_blocks
from treegauge.io.broken import BrokenTrees
from treegauge.io.writing import output_format

_EXAMPLES = """\b
Examples:
  treegauge convert wsj/ -o wsj.mrg.gz                       a directory as one file, a tree per line
  treegauge convert tiger.xml -o tiger.export --no-functions
  treegauge convert --encoding latin-1 negra.export -o negra.discbracket
  treegauge normalise tiger.xml --steps attach-punctuation,continuous:raise -o tiger.mrg     brackets cannot hold gaps
  treegauge convert train.mrg --to export -o train.export
  treegauge convert floresta.ptb --treebank floresta --on-error repair -o floresta.mrg

\b
Formats:
"""


def _formats() -> str:
    width = max(map(len, FORMATS))
    return "\n".join(f"  {known.name:{width}}  {known.help}: {' '.join(known.suffixes)}".rstrip(": ") for known in FORMATS.values())


@click.command(cls=Command, epilog=_EXAMPLES + _formats())
@click.argument("files", nargs=-1, type=INPUT, metavar="IN...")
@output_option("Output file; .gz, .bz2 and .xz are compressed.", metavar="OUT", show_default=True)
@click.option("--to", "to", type=click.Choice(["auto", *WRITABLE]), default="auto", show_default=True,
              help="Output format; auto goes by the suffix.")  # fmt: skip
@reading_options
@broken_trees_options(drop=True)
@stream_option
def command(files: tuple[str, ...], output: str, to: str, options: ReadOptions, broken: BrokenTrees, stream: bool) -> None:
    """Write the trees of IN... (files, directories, globs; - is stdin) in another format.

    Trees that the format cannot hold exactly are refused. Secondary edges (without --secondary), nodes without words, and lemmas
    and features for which the format has no place are left out and counted on stderr. OUT is written whole or not at all. Exit code
    4 if --on-error skipped or repaired trees. Memory does not grow with the input, with or without --stream.
    """
    if click.get_current_context().params["features"] is None:
        options = replace(options, features=output_format(output, to).features)
    with sources_with_progress(files, "converting") as sources, sources_with_counts(sources, options) as counted:
        write_blocks((broken.pass_on(block) for source in counted for block in blocks_of(source, options)), output, to)
    if options.of_categories != options:
        remark(f"labels keep FUNCTION+form: give --treebank {options.treebank} with the result, or normalise --steps functions")
