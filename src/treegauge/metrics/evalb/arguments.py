"""EVALB's command line: words taken strictly from left to right, files and options in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from treegauge.metrics.evalb.files import open_file
from treegauge.metrics.evalb.limits import parameter_remarks
from treegauge.normalise.prm import Parameters, atoi, parse_prm

__all__ = ["REMARK", "USAGE", "Invocation", "read_arguments"]

REMARK = b"treegauge: "
"""How each line on stderr begins that EVALB itself would not print."""

USAGE = (
    b" evalb [-dDh][-c n][-e n][-p param_file] gold-file test-file  \n"
    b"                                                         \n"
    b"    Evaluate bracketing in test-file against gold-file.  \n"
    b"    Return recall, precision, F-Measure, tag accuracy.              \n"
    b"                                                         \n"
    b"  <option>                                               \n"
    b"    -d             debug mode                            \n"
    b"    -D             debug mode plus bracketing info       \n"
    b"    -c n           cut-off length forstatistics (def.=40)\n"
    b"    -e n           number of error to kill (default=10)  \n"
    b"    -p param_file  parameter file                        \n"
    b"    -h    help                                           \n"
)

_VALUES = {
    b"c": b"cut-off length for statistices",
    b"e": b"number of error to kill",
    b"p": b"parameter file",
}
"""Options with a value, and what EVALB calls the value when it is missing."""


@dataclass
class Invocation:
    """What the words asked for; ``exit_code`` is set where they end the program at once."""

    parameters: Parameters = field(default_factory=Parameters)
    gold: bytes | None = None
    test: bytes | None = None
    said: bytes = b""
    exit_code: int | None = None


def read_arguments(words: Sequence[bytes]) -> Invocation:
    """The run that the words describe; parameter files are read on the way.

    Only the letter after ``-`` is looked at. A third file name and a lone ``-`` are ignored.

    >>> run = read_arguments([b"gold", b"-c5", b"-e", b"-1", b"test", b"other"])
    >>> run.gold, run.test, run.parameters.cutoff_length, run.parameters.max_error
    (b'gold', b'test', 5, -1)
    """
    run = Invocation()
    remaining = list(reversed(words))
    while remaining and run.exit_code is None:
        word = remaining.pop()
        if not word.startswith(b"-"):
            _name_file(run, word)
        elif (letter := word[1:2]) in _VALUES:
            value = word[2:]
            if not value and remaining:
                value = remaining.pop()
            elif not value:
                run.said += b"Missing argument: %s\n" % _VALUES[letter]
            _set_value(run, letter, value)
        elif letter:
            _set_flag(run, letter)
    if run.exit_code is None:
        run.said += b"".join(REMARK + remark + b"\n" for remark in parameter_remarks(run.parameters))
    return run


def _name_file(run: Invocation, name: bytes) -> None:
    if run.gold is None:
        run.gold = name
    elif run.test is None:
        run.test = name


def _set_flag(run: Invocation, letter: bytes) -> None:
    match letter:
        case b"d":
            run.parameters = replace(run.parameters, debug=1)
        case b"D":
            run.parameters = replace(run.parameters, debug=2)
        case _:
            run.said += USAGE
            run.exit_code = 1 if letter == b"h" else 0


def _set_value(run: Invocation, letter: bytes, value: bytes) -> None:
    match letter:
        case b"c":
            run.parameters = replace(run.parameters, cutoff_length=atoi(value))
        case b"e":
            run.parameters = replace(run.parameters, max_error=atoi(value))
        case _:
            _read_prm(run, value)


def _read_prm(run: Invocation, name: bytes) -> None:
    file = open_file(name)
    if file is None:
        run.said += b"Can't open parameter file (%s)\n" % name
        run.exit_code = 1
        return
    with file:
        run.parameters, messages = parse_prm(file.read(), run.parameters)
    for message in messages:
        if message.undefined:
            run.said += b"%s%s line %d: %s\n" % (REMARK, name, message.line, message.text)
        else:
            run.said += message.text + b"\n"
