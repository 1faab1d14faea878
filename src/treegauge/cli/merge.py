"""``treegauge merge``: the result of a run from its parts."""

from __future__ import annotations

import importlib

import click

from treegauge.cli._engines import PART_CLASSES
from treegauge.errors import UnknownName, UsageError

IN_PARTS = ("score", "freval", "parse", "induce", "learn")


@click.command(
    epilog="""\b
Examples:
  treegauge score gold.mrg parser.mrg --shard 1/2 --part one.part
  treegauge score gold.mrg parser.mrg --shard 2/2 --part two.part
  treegauge merge one.part two.part"""
)
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
def command(parts: tuple[str, ...]) -> None:
    """Merge the parts of a run written with `--shard`, and print what the whole command would have printed.

    Give every part exactly once, in any order; all must come from the same command, options and input files. Output goes where the
    command would have written it. No shard is run again, and only inputs missing from the parts are re-read: the grammar of parse,
    the sentences of learn, and treebanks whose sentences have to be paired by their text.
    """
    from treegauge.engines import InProcess
    from treegauge.engines.parts import Merged, ValueCodec, check_parts, read_part

    if len(set(parts)) < len(parts):
        raise UsageError("a part is named twice")
    plain = ValueCodec(PART_CLASSES)
    found = {path: read_part(path, plain) for path in parts}
    check_parts(found)
    first = next(iter(found.values()))
    if first.command not in IN_PARTS:
        raise UnknownName("command with parts", first.command, IN_PARTS)
    merged: click.Command = importlib.import_module(f"treegauge.cli.{first.command}").command
    with merged.make_context(first.command, list(first.arguments), obj=Merged(list(found.values()), InProcess())) as context:
        merged.invoke(context)
