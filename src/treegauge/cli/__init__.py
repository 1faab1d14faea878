"""The command ``treegauge``: a module for each command, imported only when it runs (short commands share one).

Results go to stdout, everything else to stderr. Exit codes: 0 fine; 1 a check asked for failed; 2 usage;
3 input cannot be read; 4 gold and test do not fit; 5 internal; 130 interrupted.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from treegauge.errors import TreegaugeError

COMMANDS: dict[str, str] = {
    "demo": "Take a tour of treegauge on the treebank that comes with it.",
    "examples": "Write the files that README and docs use: a treebank and two parsers' output.",
    "score": "Score parses against a treebank by any metric, without losing a sentence.",
    "evalb": "Score as the C program EVALB does, byte for byte.",
    "freval": "Score connected fragments of every size.",
    "compare": "Test whether a difference between parsers is significant.",
    "report": "Write a report on parsers as one HTML page.",
    "diff": "Draw where one parser's trees, or two parsers', differ from the treebank's.",
    "check": "Annotate brackets in the browser.",
    "explain": "Explain what a metric measures.",
    "explain-difference": "Find the options that make two scores differ, and the effect of each.",
    "cite": "Print BibTeX for the paper behind a metric.",
    "validate": "List all errors of treebank files.",
    "convert": "Convert treebanks between formats.",
    "normalise": "Transform trees: traces, function tags, unaries, binarisation ...",
    "induce": "Count a grammar from a treebank.",
    "train": "Train a parser on a treebank: latent-variable grammars.",
    "parse": "Parse sentences, decoding for the metric you report.",
    "decode": "Decode a neural parser's span scores for the metric you report.",
    "consensus": "Choose, of several parsers' trees, the one that agrees most with the others.",
    "posteriors": "Show how probable each constituent of a sentence is.",
    "learn": "Learn a grammar from bracketed sentences.",
    "chunks": "Train chunk models, measure them by entropy, score any chunker.",
    "reproduce": "Reproduce a paper's experiment and print its numbers beside ours.",
    "help": "Explain a command with every one of its options.",
    "completion": "Print a shell-completion script.",
}
"""One line of help for each command; the module is ``treegauge.cli.<name>``, with ``-`` as ``_``, unless it shares another's."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code; no traceback ever reaches the user."""
    stdout = sys.stdout
    # Nearly all objects made at the start live to the end; collecting garbage as often as usual would take a seventh of the start.
    gc.set_threshold(200_000, 20, 20)
    # Our matrices are small: BLAS with several threads would mostly wait, and sum in an order that depends on the machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Trees are written as UTF-8 bytes; any other output must not fail on a terminal that lacks a character.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    warnings.formatwarning = _warning_text
    try:
        code = _run(args)
        sys.stdout.flush()
    except SystemExit as stop:
        # On a closed pipe, click replaces stdout and exits with 1, which here would mean that a check failed.
        _exit(stop.code if sys.stdout is stdout else 0)
    except KeyboardInterrupt:
        _print_error("interrupted")
        _exit(130)
    except TreegaugeError as error:
        _print_error(str(error))
        _exit(error.exit_code)
    except BrokenPipeError:
        _exit(0)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _print_error(f"{name}{error.strerror or error}")
        _exit(3)
    except MemoryError:
        _print_error(
            "out of memory: give it less at once (a smaller file, shorter sentences), or --stream where the command has it"
        )
        _exit(5)
    except Exception as error:
        _exit(_code_of(error))
    _exit(code)


_text_of_others = warnings.formatwarning


def _warning_text(message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """The text of a warning: one line for treegauge's own, without the place in the program."""
    if category.__module__.startswith("treegauge."):
        return f"treegauge: {message}\n"
    return _text_of_others(message, category, filename, lineno, line)


def _run(args: Sequence[str] | None) -> int:
    """Run the command that the arguments name, and return its exit code."""
    words = sys.argv[1:] if args is None else list(args)
    if words[:1] == ["evalb"] and words[1:] != ["--help"]:
        # EVALB parses its own arguments, so that scripts which call it for every sentence need not wait for click.
        from treegauge.metrics.evalb.program import evalb

        return evalb(words[1:])
    from treegauge.cli._group import treegauge

    # With args=None, click itself expands wildcards on systems whose shell does not.
    result = treegauge.main(args=None if args is None else words, prog_name="treegauge", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _code_of(error: Exception) -> str | int | None:
    """The exit code for an exception, after its message is shown; one that is not click's is reported as a bug."""
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        _print_error("interrupted")
        return 130
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    if os.environ.get("TREEGAUGE_TRACEBACK"):
        raise error
    _print_error(
        f"internal error: {type(error).__name__}: {error}\n"
        "  This is a bug in treegauge; set TREEGAUGE_TRACEBACK=1 to see where, and please report it."
    )
    return 5


def _print_error(message: str) -> None:
    """Print a message on stderr, if that can be written."""
    import click

    with suppress(OSError):
        click.echo(f"treegauge: {message}", err=True)


def _exit(code: str | int | None) -> NoReturn:
    """Flush what was printed and exit; a closed pipe is not an error, a full disk is."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Redirect stdout to nothing, so that the interpreter's last flush is quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not code and not isinstance(error, BrokenPipeError):
            _print_error(error.strerror or str(error))
            code = 3
    sys.exit(code)
