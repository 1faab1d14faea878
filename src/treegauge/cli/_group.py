"""The click group ``treegauge``: every command by name, each imported when it is asked for; and how its help is laid out.

Options are shown in groups: what to do, how files are read, what is printed, where the work runs. Those that say how treebanks are
read are the same seven in twenty commands: ``treegauge COMMAND --help`` names them in one line, ``treegauge help COMMAND``
explains every option.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import click

from treegauge.cli import COMMANDS
from treegauge.errors import UnknownName
from treegauge.spelling import british

__all__ = ["Command", "LazyGroup", "full_help", "treegauge"]

_READING = ("format_in", "encoding", "lines", "comment", "functions", "features", "attach_punctuation", "secondary")
_TEXT = (
    "form",
    "output",
    "quiet",
    "title",
    "save",
    "raw",
    "notes",
    "most",
    "everything",
    "per_sentence",
    "examples",
    "worst",
    "tables",
)
_FIGURES = ("figures", "figure", "figure_format", "svg", "width", "ascii_only", "fold")

_GROUPS: dict[str, frozenset[str]] = {
    "How to read": frozenset((*_READING, "on_error", "field", "on_mismatch", "match_words", "ignore_words", "kind")),
    "How to print": frozenset((*_TEXT, *_FIGURES)),
    "Where to run": frozenset(("engine", "shard", "part", "jobs", "stream", "resume", "checkpoint", "device")),
}
"""Names of parameters by group; every other option says what to do."""

_ALL = "treegauge.every-option"
_WRITTEN = ("output", "save", "figure", "svg", "export", "corrected", "patch", "part", "checkpoint", "blame_file")
_READ = (
    *("gold", "tests", "test", "first", "second", "file", "files", "treebank", "trees", "brackets", "charts", "parts"),
    *("preset", "store", "guidelines", "import_", "certificate", "key", "grammar", "model", "start", "tune", "calibration"),
    *("baseline", "candidates", "marginals"),
)
"""Names of parameters that name files: those that a command writes, and those that it reads."""


class Command(click.Command):
    """A command whose options are shown in groups, and which never writes over a file that it reads."""

    def invoke(self, ctx: click.Context) -> Any:
        written = [ctx.params[name] for name in _WRITTEN if ctx.params.get(name)]
        if any(os.path.exists(path) for path in written if isinstance(path, str | Path)):
            from treegauge.io.writing import spare_inputs

            for path in written:
                spare_inputs(path, *_files_read(ctx.params))
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        everything = bool(ctx.meta.get(_ALL))
        sections: dict[str, list[tuple[str, str]]] = {"What to do": [], **{title: [] for title in _GROUPS}}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is None or (parameter.name in _READING and not everything):
                continue
            title = next((title for title, names in _GROUPS.items() if parameter.name in names), "What to do")
            sections[title].append(record)
        named = "" if everything else self._reading_options()
        titled = sum(map(bool, sections.values())) > 1
        for title, records in sections.items():
            if records or (named and title == "How to read"):
                with formatter.section(title if titled else "Options"):
                    if records:
                        formatter.write_dl(records)
                    if named and title == "How to read":
                        formatter.write_text(f"{named}: see treegauge help {self._path(ctx)}")

    def _reading_options(self) -> str:
        return ", ".join(each.opts[-1] for each in self.params if each.name in _READING)

    @staticmethod
    def _path(ctx: click.Context) -> str:
        return ctx.command_path.removeprefix("treegauge ")


def _files_read(given: Mapping[str, Any]) -> Iterator[str]:
    """The possible names of files among the parameters that a command reads; a system can be NAME=FILE, a preset NAME+FILE."""
    for name in _READ:
        value: object = given.get(name)
        for one in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
            text = str(one) if isinstance(one, str | Path) else ""
            yield from (text, text.partition("=")[2], *text.split("+"))


def full_help(command: click.Command, path: str) -> str:
    """The help of a command with every option explained; ``path`` is what one types to call it."""
    context = click.Context(command, info_name=path, max_content_width=110, help_option_names=["-h", "--help"])
    context.meta[_ALL] = True
    return command.get_help(context)


class LazyGroup(click.Group):
    """A click group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = _known_name(cmd_name)
        return importlib.import_module(f"treegauge.cli.{name.replace('-', '_')}").command if name else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not _known_name(args[0]) and not args[0].startswith("-"):
            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _known_name(word: str) -> str:
    """The command that a word names, in British or American spelling; empty if there is none."""
    if word in COMMANDS:
        return word
    return british(word) if british(word) in COMMANDS else ""


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "token_normalize_func": british},
    epilog="Try: treegauge demo",
)
@click.version_option(package_name="treegauge", prog_name="treegauge")
def treegauge() -> None:
    """Score constituency parsers, test differences, decode for the metric you report."""
