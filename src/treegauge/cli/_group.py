"""The click group ``treegauge``: every command by name, each imported when it is asked for."""

from __future__ import annotations

import importlib

import click

from treegauge.cli import COMMANDS
from treegauge.errors import UnknownName

__all__ = ["LazyGroup", "treegauge"]


class LazyGroup(click.Group):
    """A click group that knows its commands' names and help without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return importlib.import_module(f"treegauge.cli.{cmd_name.replace('-', '_')}").command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise UnknownName("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Try: treegauge demo",
)
@click.version_option(package_name="treegauge", prog_name="treegauge")
def treegauge() -> None:
    """Score constituency parsers, test differences, decode for the metric you report."""
