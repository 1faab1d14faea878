"""``treegauge merge``: merge the parts of a run into its result."""

from __future__ import annotations

import functools
import importlib
import operator

import click

from treegauge.cli._engines import part_format
from treegauge.cli._files import INPUT
from treegauge.cli._group import Command
from treegauge.errors import UsageError


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  treegauge score gold.mrg parser.mrg --shard 1/2 --part one.part
  treegauge score gold.mrg parser.mrg --shard 2/2 --part two.part
  treegauge merge one.part two.part""",
)
@click.argument("parts", type=INPUT, nargs=-1, required=True, metavar="PART...")
def command(parts: tuple[str, ...]) -> None:
    """Merge the parts of a run written with `--shard`, and print what the whole command would have printed.

    Give every part exactly once, in any order; all must come from the same command, options and input files. Output goes where the
    command would have written it. No shard is run again, and only inputs missing from the parts are re-read: the grammar of parse,
    the sentences of learn, and treebanks whose sentences have to be paired by their text.
    """
    from treegauge.engines.parts import check_parts, read_part

    if len(set(parts)) < len(parts):
        raise UsageError("a part is named twice")
    found = {path: read_part(path, part_format) for path in parts}
    check_parts(found)
    first = next(iter(found.values()))
    values = functools.reduce(operator.add, (part.values for part in found.values()))
    merged: click.Command = importlib.import_module(f"treegauge.cli.{first.command}").command
    with merged.make_context(first.command, list(first.arguments), obj=values) as context:
        merged.invoke(context)
