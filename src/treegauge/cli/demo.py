"""``treegauge demo`` and ``examples``: a tour of the commands, and the files that it, README and docs use."""

from __future__ import annotations

import io
import shlex
import sys
import tempfile
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import click

from treegauge.cli._group import Command, treegauge
from treegauge.compilation import can_compile, when_compiling
from treegauge.data import EXAMPLES, write_examples


class _Step(NamedTuple):
    """A command, what it is for (empty if it belongs to the one before), and the beginnings of the lines shown, None for all."""

    line: str
    purpose: str
    shown: tuple[str, ...] | None = None


_STEPS = (
    _Step("score gold.mrg A.mrg", "score a parser", ("parseval ", "f1")),
    _Step("validate messy.mrg --lines", "find broken trees", ("messy.mrg:3", "messy.mrg:7", "messy.mrg: ")),
    _Step("compare gold.mrg A.mrg B.mrg", "is B better than A?", ("B is",)),
    _Step("diff gold.mrg A.mrg --sentence 85 --width 80", "draw what is wrong"),
    _Step("induce train.mrg -o counted.model --no-tune", "parse for precision", ()),
    _Step("parse counted.model sentences.txt --for precision -o C.mrg", "", ()),
    _Step("compare gold.mrg A.mrg C.mrg --rates precision", "", ("C is",)),
)
_ABOUT = """\
A tour on 103 held-out sentences. A and B are parses by a grammar of 418 trees:
A the most probable ones, B those with the best balance of precision and recall."""
_NEXT = """\
What to type next:
  treegauge examples                           # write these files here
  treegauge score GOLD YOURS                   # your files; or compare, diff
  treegauge report gold.mrg A.mrg B.mrg -o report.html
  treegauge train TREES -o MODEL               # then: parse MODEL TEXT
  treegauge help --all                         # all commands"""


@click.command(cls=Command)
def command() -> None:
    """Take a tour: score a parser, find a broken tree, compare two parsers, draw a difference, and parse for another metric.

    Every command of the tour is shown with the lines of its output that matter. The tour writes no files: `treegauge examples`
    writes the files it uses, so that you can type its commands yourself.

    \b
    Example:
      treegauge demo
    """
    click.echo(_ABOUT)
    stderr = sys.stderr  # it shows that kernels are compiled, even while the messages of a command are kept
    compiling = when_compiling(lambda _: click.echo("(compiling the parser: this takes a few seconds, once)", file=stderr))
    try:
        with tempfile.TemporaryDirectory() as folder, compiling if can_compile() else nullcontext():
            write_examples(folder)
            for step in _STEPS:
                click.echo(f"\n$ treegauge {step.line}  # {step.purpose}" if step.purpose else f"$ treegauge {step.line}")
                for line in _printed(step, Path(folder)):
                    click.echo(line)
    finally:
        click.echo(f"\n{_NEXT}")


def _printed(step: _Step, folder: Path) -> list[str]:
    """The lines of what a command prints that are shown."""
    written = io.BytesIO()
    printed = io.TextIOWrapper(written, sys.stdout.encoding, "backslashreplace", write_through=True)
    with chdir(folder), redirect_stdout(printed), redirect_stderr(printed):
        treegauge.main(shlex.split(step.line), prog_name="treegauge", standalone_mode=False)
    lines = [line for line in written.getvalue().decode(printed.encoding).splitlines() if line.strip()]
    return lines if step.shown is None else [line for line in lines if line.startswith(step.shown)]


@click.command(cls=Command)
@click.argument("folder", default=".")
def examples(folder: str) -> None:
    """Write to FOLDER (default: the current one) the files that README and docs use: a treebank and two parsers' output, CC0.

    Files that are there already are left as they are; if one of them differs, nothing is written.

    \b
    Examples:
      treegauge examples
      treegauge examples somewhere/else
    """
    known = {name for name in EXAMPLES if (Path(folder) / name).exists()}
    for path in write_examples(folder):
        click.echo(f"{path!s:20}  {'(already there) ' if path.name in known else ''}{EXAMPLES[path.name]}")
    inside = "" if folder == "." else f"cd {shlex.quote(folder)} && "
    click.echo(f"Now type: {inside}treegauge compare gold.mrg A.mrg B.mrg")
