"""``treegauge help`` and ``completion``: a command with every one of its options, and a shell-completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from treegauge.cli._group import Command, full_help, unknown_command


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@click.option("--all", "every", is_flag=True, help="Without COMMAND: list all commands.")
@click.pass_context
def command(ctx: click.Context, words: tuple[str, ...], every: bool) -> None:
    """Explain COMMAND with all its options, including those on how files are read; without COMMAND, list the commands that most
    people need.

    \b
    Examples:
      treegauge help --all
      treegauge help score
      treegauge help chunks train
    """
    found: click.Command = ctx.find_root().command
    for word in words:
        below = found.get_command(ctx, word) if isinstance(found, click.Group) else None
        if below is None:
            raise unknown_command(word, found.list_commands(ctx) if isinstance(found, click.Group) else ())
        found = below
    click.echo(full_help(found, " ".join(("treegauge", *words)), every=every or bool(words)))


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell-completion script for SHELL.

    \b
    Examples:
      eval "$(treegauge completion bash)"                                   # now, in this shell
      treegauge completion zsh > ~/.zfunc/_treegauge                        # for good
      treegauge completion fish > ~/.config/fish/completions/treegauge.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "treegauge", "_TREEGAUGE_COMPLETE").source())
