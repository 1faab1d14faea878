"""The command ``treegauge``: a module for each command, imported only when it runs (short commands share one).

Results go to stdout, everything else to stderr. Exit codes: 0 fine; 1 a check asked for failed; 2 usage;
3 input cannot be read; 4 gold and test do not fit; 5 internal; 130 interrupted, 143 by SIGTERM, 129 by SIGHUP.
"""

from __future__ import annotations

import _thread
import errno
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, BinaryIO, NoReturn, TextIO

from treegauge.errors import TreegaugeError

SECTIONS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "Take a tour: score, compare, draw and parse in a minute.",
        "examples": "Write the files that README and docs use: a treebank and two parsers' output.",
        "help": "Explain a command with every one of its options.",
        "completion": "Print a shell-completion script.",
    },
    "Score": {
        "score": "Score parses against a treebank by any metric, without losing a sentence.",
        "evalb": "Score as the C program EVALB does, byte for byte.",
        "freval": "Score connected fragments of every size.",
        "explain": "Explain what a metric measures or an objective maximises.",
        "explain-difference": "Find the options that make two scores differ, and the effect of each.",
        "cite": "Print BibTeX for the paper behind a metric.",
    },
    "Compare": {
        "compare": "Test whether a difference between parsers is significant.",
        "report": "Write a report on parsers as one HTML page.",
        "diff": "Draw where one parser's trees, or two parsers', differ from the treebank's.",
        "check": "Annotate brackets in the browser.",
    },
    "Treebanks": {
        "validate": "List all errors of treebank files.",
        "convert": "Convert treebanks between formats.",
        "normalise": "Transform trees: traces, function tags, unaries, binarisation ...",
        "draw": "Draw trees as text, SVG, PNG or PDF.",
        "treebanks": "List the treebanks whose file style is known, with an example of each.",
    },
    "Parse": {
        "induce": "Count a grammar from a treebank.",
        "train": "Train a parser on a treebank: latent-variable grammars, or a network.",
        "mix": "Mix models: the mean of their posteriors, with shares chosen on held-out trees.",
        "parse": "Parse sentences, decoding for the metric you report.",
        "posteriors": "Show how probable each constituent of a sentence is.",
        "decode": "Decode a neural parser's span scores for the metric you report.",
        "consensus": "Choose from several parsers' trees the one that agrees most with the others.",
        "learn": "Learn a grammar from bracketed sentences.",
        "chunks": "Train chunk models, measure them by entropy, score any chunker.",
        "reproduce": "Reproduce a paper's experiment and print its numbers beside ours.",
    },
}
COMMANDS: dict[str, str] = {name: text for section in SECTIONS.values() for name, text in section.items()}
"""One line of help for each command; the module is ``treegauge.cli.<name>``, with ``-`` as ``_``, unless it shares another's."""


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run one command and exit with its code; no traceback ever reaches the user, and a program that calls this stays as it was."""
    before = gc.get_threshold(), warnings.formatwarning, sys.stdout, sys.stderr, sys.unraisablehook
    # Nearly all objects made at the start live to the end; collecting garbage as often as usual would take a seventh of the start.
    gc.set_threshold(200_000, 20, 20)
    # Our matrices are small: BLAS with several threads would mostly wait, and sum in an order that depends on the machine.
    if args is None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.formatwarning = _warning_text
    output, sys.stderr = _output(sys.stdout), _messages(sys.stderr)
    sys.stdout = output
    try:
        code = _flushed(output, _code(args))
    finally:
        sys.stderr.flush()
        # The process ends: looking for garbage among Numba's objects once more would take 0.3 s; Triton's would be called leaks.
        if args is None and "triton" not in sys.modules:
            gc.freeze()
        gc.set_threshold(*before[0])
        _, warnings.formatwarning, sys.stdout, sys.stderr, sys.unraisablehook = before
        if isinstance(output, _Output) and before[2] is not None:
            output.detach()
    sys.exit(code)


class _Output(io.TextIOWrapper):
    """Standard output on which a closed pipe stops no command that prints text, so that it gets to its exit code.

    Trees are written as bytes: there the error is raised, so that a long command ends. Any character can be written, those that
    the encoding lacks as escapes.
    """

    def __init__(self, buffer: BinaryIO, encoding: str | None = None, *, line_buffering: bool = False) -> None:
        super().__init__(buffer, encoding, "backslashreplace", line_buffering=line_buffering)

    def write(self, text: str, /) -> int:
        with suppress(BrokenPipeError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(BrokenPipeError):
            super().flush()


class _Closed(io.FileIO):
    """A stand-in for a closed standard output; it opens a file, so that no other file gets the number of standard output."""

    def __init__(self) -> None:
        super().__init__(os.devnull, "r")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        raise OSError(errno.EBADF, "standard output is closed")


class _Messages(io.FileIO):
    """Standard error: messages that cannot be written are dropped, so that no result is lost for them."""

    def write(self, data: Any, /) -> int:
        with suppress(OSError):
            return super().write(data)
        return len(data)


def _output(stream: TextIO | None) -> TextIO:
    if stream is None:
        return _Output(io.BufferedWriter(_Closed()))
    buffer: BinaryIO | None = getattr(stream, "buffer", None)
    if buffer is None:  # standard output of a notebook
        return stream
    stream.flush()
    return _Output(buffer, stream.encoding, line_buffering=bool(stream.line_buffering))


def _messages(stream: TextIO | None) -> TextIO:
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # Python's option -u leaves out the buffer
    if stream is not None and not isinstance(raw, io.FileIO):
        return stream
    raw = _Messages(os.open(os.devnull, os.O_WRONLY) if raw is None else raw.fileno(), "w", closefd=stream is None)
    encoding = None if stream is None else stream.encoding
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=True)


def _code(args: Sequence[str] | None) -> str | int | None:
    """Run one command and return its exit code, after the message of an error is shown."""
    stdout = sys.stdout
    try:
        code = _run(args)
        stdout.flush()
        return code
    except SystemExit as stop:
        # On a closed pipe, click replaces stdout and exits with 1, which here would mean that a check failed.
        return stop.code if sys.stdout is stdout else 0
    except KeyboardInterrupt as error:
        return _interrupted(error)
    except TreegaugeError as error:
        _print_error(str(error))
        return error.exit_code
    except BrokenPipeError:
        return 0
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        _print_error(f"{name}{error.strerror or error}")
        return 3
    except MemoryError:
        _print_error(
            "out of memory: give it less at once (a smaller file, shorter sentences), or use --stream if the command has it"
        )
        return 5
    except Exception as error:
        return _code_of(error)


def _interrupted(error: BaseException | None) -> int:
    number = getattr(error, "number", signal.SIGINT)
    _print_error("interrupted" if number == signal.SIGINT else f"interrupted by {signal.Signals(number).name}")
    return 128 + number


class _Signal(KeyboardInterrupt):
    """A signal, after which a command ends as after Ctrl-C.

    Finalisers, and some compiled modules while they are imported, drop any exception. ``gone`` is called when nobody has this one
    any more, with whether it was dealt with, which its ``args`` say.
    """

    def __init__(self, number: int, gone: Callable[[int, bool], None]) -> None:
        self.number, self.gone = number, gone
        super().__init__()

    def __del__(self) -> None:
        self.gone(self.number, bool(self.args))


@contextmanager
def _ending_by_signals() -> Generator[None]:
    """A context in which signals raise an exception; not if they are ignored (``nohup``) or a program handles them."""
    raised, runs = set[int](), True

    def stop(number: int, frame: object) -> None:
        if number in raised and number != signal.SIGINT:
            return  # a second one would stop what is done at the end
        raised.add(number)
        raise _Signal(number, gone)

    def gone(number: int, dealt_with: bool) -> None:
        if runs:
            raised.discard(number)
        if runs and not dealt_with:
            # pthread_kill ends a system call, too.
            kills = hasattr(signal, "pthread_kill")
            send = partial(signal.pthread_kill, threading.main_thread().ident or 0) if kills else _thread.interrupt_main
            threading.Timer(0.01, send, (number,)).start()

    # After a signal, finalisers meet what it left half made. main puts the hook back, when the signal's traceback is gone, too.
    usual = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if raised else usual(lost)
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = {n: handler for n in numbers if (handler := signal.getsignal(n)) in (signal.SIG_DFL, signal.default_int_handler)}
    try:
        for number in ours:
            with suppress(ValueError):  # only the main thread may
                signal.signal(number, stop)
        yield
    except Exception as error:
        if raised:  # an error that came of it, as when a module could not be imported
            raise _Signal(min(raised), gone) from error
        raise
    finally:
        runs = False
        for number, handler in ours.items():
            with suppress(ValueError):
                signal.signal(number, handler)


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

    with _ending_by_signals():
        # With args=None, click itself expands wildcards on systems whose shell does not.
        result = treegauge.main(args=None if args is None else words, prog_name="treegauge", standalone_mode=False)
    return result if isinstance(result, int) else 0


def _code_of(error: Exception) -> str | int | None:
    """The exit code for an exception, after its message is shown; one that is not click's is reported as a bug."""
    import click

    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.Abort):
        return _interrupted(error.__cause__)
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
    """Print a message on stderr."""
    import click

    click.echo(f"treegauge: {message}", err=True)


def _flushed(output: TextIO, code: str | int | None) -> str | int | None:
    """The exit code after what was printed is written; a closed pipe is not an error, a full disk is."""
    stream: BinaryIO | None = getattr(output, "buffer", None)
    try:
        output.flush()
        if stream is not None:
            stream.flush()
    except OSError as error:
        _discard(stream)
        if not code and not isinstance(error, BrokenPipeError):
            _print_error(error.strerror or str(error))
            return 3
    return code


def _discard(stream: BinaryIO | None) -> None:
    """Drop what a stream could not write, so that nothing tries again."""
    if stream is None:
        return
    number = stream.fileno()
    kept, nowhere = os.dup(number), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    with suppress(OSError):
        stream.flush()
    os.dup2(kept, number)
    os.close(kept)
    os.close(nowhere)
