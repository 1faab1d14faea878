"""``treegauge evalb``: the C program EVALB, with its options, parameter files, output and exit codes."""

from __future__ import annotations

import click


class RawCommand(click.Command):
    """A command that passes its arguments on as they are: options, their order and ``-h`` are EVALB's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args == ["--help"]:
            click.echo(ctx.get_help())
            ctx.exit()
        ctx.args = list(args)
        return ctx.args

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[-d] [-D] [-h] [-c N] [-e N] [-p FILE] GOLD TEST"]


@click.command(cls=RawCommand, add_help_option=False, short_help="Score as the C program EVALB does, byte for byte.")
@click.pass_context
def command(ctx: click.Context) -> int:
    """Score TEST against GOLD (one tree per line) as the C program EVALB does, byte for byte.

    \b
    -p FILE  a parameter file (.prm); several accumulate. Where there is no file
             of that name, collins, new and nk are EVALB's files of these names:
             the only departure from the C program
    -c N     the length for the second summary block (40)
    -e N     stop after N errors (10)
    -d, -D   print the words and brackets of each sentence; -D how they were matched, too
    -h       EVALB's own help

    Only the first letter of an option counts, later options override earlier ones, and files may stand anywhere.

    A sentence beyond EVALB's fixed sizes (200 words or brackets, lines of 5,000 bytes ...), where EVALB's own
    result is undefined, is scored properly, with a remark on stderr.

    Exit code: 0 for a completed run, 1 where errors stopped it or a file cannot be opened.

    \b
    Examples:
      treegauge evalb -p COLLINS.prm wsj_23.gold wsj_23.parsed
      treegauge evalb -p collins wsj_23.gold wsj_23.parsed
    """
    from treegauge.metrics.evalb import evalb

    return evalb(ctx.args)
