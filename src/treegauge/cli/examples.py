"""``treegauge examples``: the files that README and docs use."""

from __future__ import annotations

import click

from treegauge.cli._group import Command


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  treegauge examples
  treegauge examples somewhere/else""",
)
@click.argument("folder", default=".")
def command(folder: str) -> None:
    """Write to FOLDER (here, unless given) the files that README and docs use: a treebank and two parsers' output, CC0."""
    from treegauge.data import EXAMPLES, write_examples

    for path in write_examples(folder):
        click.echo(f"{path!s:20}  {EXAMPLES[path.name]}")
