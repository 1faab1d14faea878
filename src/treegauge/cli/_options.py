"""Options that several commands share, as decorators: how treebanks are read, and whether as a stream.

A command writes ``@reading_options`` and gets one keyword argument ``options``, a
:class:`~treegauge.io.options.ReadOptions`; ``@stream_option`` gives it ``stream``, a bool.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click

from treegauge.io.formats import READABLE
from treegauge.io.options import ReadOptions

__all__ = ["reading_options", "stream_option"]

Command = Callable[..., Any]


def reading_options(command: Command) -> Command:
    """Add the options that say how treebanks are read; the command gets ``options: ReadOptions``."""

    @functools.wraps(command)
    def with_options(
        *args: Any,
        format_in: str,
        encoding: str,
        lines: bool,
        comment: str,
        functions: bool,
        features: bool,
        attach_punctuation: bool,
        **others: Any,
    ) -> Any:
        options = ReadOptions(format_in, encoding, lines, comment, functions, features, attach_punctuation)
        return command(*args, options=options, **others)

    for add in reversed(_READING):
        with_options = add(with_options)
    return with_options


def stream_option(command: Command) -> Command:
    """Add ``--stream``; the command gets ``stream: bool``."""
    return click.option(
        "--stream",
        is_flag=True,
        help="Work through the files block by block, in memory that does not grow with them.",
    )(command)


_READING = (
    click.option(
        "--format-in",
        type=click.Choice(["auto", *READABLE]),
        default="auto",
        show_default=True,
        help="The input's format; auto looks at the file's suffix, then at what is in it.",
    ),
    click.option(
        "--encoding",
        default="utf-8",
        show_default=True,
        metavar="NAME",
        help="The input's encoding, for example latin-1 or utf-16.",
    ),
    click.option(
        "--lines",
        is_flag=True,
        help="Bracketed text: each line is one sentence, so a blank line is an empty parse and several trees on a line are one.",
    ),
    click.option(
        "--comment", default="", metavar="PREFIX", help="Leave out lines that begin with this (bracketed text and CoNLL-2000)."
    ),
    click.option(
        "--functions/--no-functions",
        default=True,
        show_default=True,
        help="Export and TIGER-XML: grammatical functions become part of the label, NP-SB.",
    ),
    click.option(
        "--features",
        is_flag=True,
        help="Export and TIGER-XML: lemmas and morphology become SPMRL features of the label, NN##lem=Haus##.",
    ),
    click.option(
        "--attach-punctuation",
        is_flag=True,
        help="Export and TIGER-XML: punctuation that hangs from the root, inside a constituent, becomes part of that constituent.",
    ),
)
