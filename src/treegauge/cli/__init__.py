"""The command ``treegauge``: one module a command, imported only when that command runs.

Results go to stdout, everything else to stderr. Exit codes: 0 fine; 1 a check asked for failed; 2 usage;
3 input cannot be read; 4 gold and test do not fit; 5 internal; 130 interrupted.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from treegauge.errors import TreegaugeError

COMMANDS: dict[str, str] = {
    "demo": "See what treegauge does, on a treebank that comes with it.",
    "score": "Score parses against a treebank by any metric, without losing a sentence.",
    "evalb": "Score as the C program EVALB does, byte for byte.",
    "freval": "Score connected fragments of every size.",
    "compare": "Compare parsers: difference, confidence interval and p for every metric.",
    "report": "Write everything about some parsers on one page.",
    "diff": "Draw what is right and wrong in a parse.",
    "check": "Let people judge brackets on a page, and count what they say.",
    "explain": "Say what a metric measures.",
    "explain-difference": "Find the options that make two scores differ, and by how much each.",
    "cite": "Print BibTeX for the paper behind a metric.",
    "validate": "List everything wrong with a treebank file.",
    "convert": "Translate treebanks between formats.",
    "normalise": "Transform trees: traces, function tags, unaries, binarisation ...",
    "induce": "Count a grammar from a treebank.",
    "parse": "Parse sentences for the criterion you measure by.",
    "posteriors": "Show how probable each constituent of a sentence is.",
    "learn": "Learn a grammar from bracketed sentences.",
    "chunks": "Train chunk models, measure them by entropy, score any chunker.",
    "reproduce": "Run a paper's experiment on a treebank, its numbers beside ours.",
    "merge": "Put together the parts of a run that --shard wrote.",
    "completion": "Print the script that lets a shell complete treegauge's words.",
}
"""Command name -> one line of help; the module is ``treegauge.cli.<name>`` with ``-`` as ``_``."""


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
            from treegauge.errors import UnknownName

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
    """Measure parsers by the criterion that matters, and parse for the criterion you measure by."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run one command and leave with its exit code; no traceback ever reaches the user."""
    stdout = sys.stdout
    # Nearly all objects made here live to the end: looking among them for garbage as often as usual is a seventh of the start.
    gc.set_threshold(200_000, 20, 20)
    # Our matrices are small: a BLAS of several threads mostly waits for itself, and sums in an order that depends on the machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        result = treegauge.main(args=None if args is None else list(args), prog_name="treegauge", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        _leave(stop.exit_code)
    except SystemExit as stop:
        # click meets a closed pipe before we do: it replaces stdout and leaves with 1, which here means that a check failed.
        _leave(stop.code if sys.stdout is stdout else 0)
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        _leave(130)
    except click.ClickException as error:
        error.show()
        _leave(error.exit_code)
    except TreegaugeError as error:
        _say(str(error))
        _leave(error.exit_code)
    except BrokenPipeError:
        # Whoever read our output has seen enough: point stdout at nothing so that the interpreter's last flush is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _leave(0)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _say(f"{name}{error.strerror or error}")
        _leave(3)
    except MemoryError:
        _say("out of memory: give it less at once (a smaller file, shorter sentences), or --stream where the command has it")
        _leave(5)
    except Exception as error:
        if os.environ.get("TREEGAUGE_TRACEBACK"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}\n"
            "  This is a bug in treegauge; set TREEGAUGE_TRACEBACK=1 to see where, and please report it."
        )
        _leave(5)
    _leave(result if isinstance(result, int) else 0)


def _say(message: str) -> None:
    click.echo(f"treegauge: {message}", err=True)


def _leave(code: str | int | None) -> NoReturn:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
