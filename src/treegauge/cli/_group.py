"""The click group ``treegauge``: every command by name, imported only when it is called; and the layout of the help.

``treegauge COMMAND --help`` explains the options that are used often and names the others: those for reading treebanks and for
clusters, which are the same in many commands, and those that a command declares as ``seldom`` used. ``treegauge help COMMAND``
explains every option.
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

SHARED = ("format_in", "encoding", "lines", "comment", "functions", "features", "attach_punctuation", "secondary", "engine")
"""Options that are the same in many commands, and that ``--help`` does not explain."""

_ALL = "treegauge.every-option"


class Command(click.Command):
    """A command that never overwrites a file that it reads, and names its own flags in the messages of the library.

    ``seldom`` are names of parameters that ``--help`` does not explain.
    """

    def __init__(self, *args: Any, seldom: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.seldom = frozenset((*SHARED, *seldom))

    def invoke(self, ctx: click.Context) -> Any:
        protect_inputs()
        try:
            return super().invoke(ctx)
        except TreegaugeError as error:
            error.rephrase(as_typed)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the options; those seldom used are only named, unless all are to be explained."""
        hidden = frozenset[str]() if ctx.meta.get(_ALL) else self.seldom
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        with formatter.section("Options"):
            explained = [option.get_help_record(ctx) for option in options if option.name not in hidden]
            formatter.write_dl([record for record in explained if record is not None])
        if named := [option.opts[-1] for option in options if option.name in hidden and not option.hidden]:
            formatter.write_paragraph()
            formatter.write_text(f"Also: {', '.join(named)}")
            formatter.write_text(f"All options are explained by: treegauge help {ctx.command_path.removeprefix('treegauge ')}")


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
