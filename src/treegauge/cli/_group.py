"""The click group ``treegauge``: every command by name, imported only when it is called; and the layout of the help.

Options are shown in groups: what to do, how to read files, how to print, where to run. ``treegauge COMMAND --help`` explains the
options that are used often and names the others: those for reading treebanks and for clusters, which are the same in many commands,
and those that a command declares as ``seldom`` used. ``treegauge help COMMAND`` explains every option.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import click

from treegauge.cli import COMMANDS
from treegauge.cli._files import protect_inputs
from treegauge.cli._messages import as_typed
from treegauge.errors import TreegaugeError, UnknownName, UsageError
from treegauge.spelling import british

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
_CLUSTER = ("engine",)
_FIGURES = ("figures", "figure", "figure_format", "svg", "width", "ascii_only", "fold")

_GROUPS: dict[str, frozenset[str]] = {
    "How to read": frozenset((*_READING, "on_error", "field", "on_mismatch", "match_words", "ignore_words", "kind")),
    "How to print": frozenset((*_TEXT, *_FIGURES)),
    "Where to run": frozenset((*_CLUSTER, "jobs", "stream", "resume", "checkpoint", "device")),
}
"""Names of parameters by group; all other options are in the group "What to do"."""

_ALL = "treegauge.every-option"


class Command(click.Command):
    """A command whose options are shown in groups, and which never overwrites a file that it reads.

    ``seldom`` are names of parameters that ``--help`` does not explain.
    """

    def __init__(self, *args: Any, seldom: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.seldom = frozenset((*_READING, *_CLUSTER, *seldom))

    def invoke(self, ctx: click.Context) -> Any:
        protect_inputs()
        try:
            return super().invoke(ctx)
        except TreegaugeError as error:
            error.rephrase(as_typed)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups; those seldom used are only named, unless all are to be explained."""
        hidden = frozenset[str]() if ctx.meta.get(_ALL) else self.seldom
        titles = ["What to do", *_GROUPS]
        explained: dict[str, list[tuple[str, str]]] = {title: [] for title in titles}
        named: dict[str, list[str]] = {title: [] for title in titles}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is None:
                continue
            title = next((title for title, names in _GROUPS.items() if parameter.name in names), "What to do")
            if parameter.name in hidden:
                named[title].append(parameter.opts[-1])
            else:
                explained[title].append(record)
        used = [title for title in titles if explained[title] or named[title]]
        for title in used:
            with formatter.section(title if len(used) > 1 else "Options"):
                if explained[title]:
                    formatter.write_dl(explained[title])
                if named[title]:
                    formatter.write_text(("Also: " if explained[title] else "") + ", ".join(named[title]))
        if any(named.values()):
            formatter.write_paragraph()
            formatter.write_text(f"All options are explained by: treegauge help {self._path(ctx)}")

    @staticmethod
    def _path(ctx: click.Context) -> str:
        return ctx.command_path.removeprefix("treegauge ")


def full_help(command: click.Command, path: str) -> str:
    """The help of a command with an explanation of every option; ``path`` is the command as it is typed."""
    context = click.Context(command, info_name=path, max_content_width=110, help_option_names=["-h", "--help"])
    context.meta[_ALL] = True
    return command.get_help(context)


class LazyGroup(click.Group):
    """A click group that lists its commands with their help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = _known_name(cmd_name)
        return importlib.import_module(f"treegauge.cli.{name.replace('-', '_')}").command if name else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[:1] == ["merge"]:
            from treegauge.cli._engines import NO_SHARDS

            raise UsageError(NO_SHARDS)
        if args and not _known_name(args[0]) and not args[0].startswith("-"):
            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _known_name(word: str) -> str:
    """The name of the command that a word means, in British or American spelling; empty if there is none."""
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
