"""``treegauge completion``: a shell-completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from treegauge.cli._group import Command


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  eval "$(treegauge completion bash)"                                   # now, in this shell
  treegauge completion zsh > ~/.zfunc/_treegauge                        # for good
  treegauge completion fish > ~/.config/fish/completions/treegauge.fish""",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a shell-completion script for SHELL."""
    from treegauge.cli._group import treegauge

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(treegauge, {}, "treegauge", "_TREEGAUGE_COMPLETE").source())
