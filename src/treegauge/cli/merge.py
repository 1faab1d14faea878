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
    """Put together the parts of a run that `--shard` wrote, and print what the whole command would have printed.

    All parts must be there, each once, and of the same command, options and input files; their order does not matter. An output
    file is the one that the command was given. No shard is worked on again; of the input, only that is read again which no part
    could know: the grammar of parse, the sentences of learn, treebanks whose sentences have to be paired by their text.
    """
    from treegauge.engines import Here
    from treegauge.engines.parts import Merged, Plain, check_parts, read_part

    if len(set(parts)) < len(parts):
        raise UsageError("a part is named twice")
    plain = Plain(PART_CLASSES)
    found = {path: read_part(path, plain) for path in parts}
    check_parts(found)
    first = next(iter(found.values()))
    if first.command not in IN_PARTS:
        raise UnknownName("command with parts", first.command, IN_PARTS)
    merged: click.Command = importlib.import_module(f"treegauge.cli.{first.command}").command
    with merged.make_context(first.command, list(first.arguments), obj=Merged(list(found.values()), Here())) as context:
        merged.invoke(context)
