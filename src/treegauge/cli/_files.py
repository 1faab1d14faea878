"""Types of parameters that name files: one that a command reads, and one that it writes.

A :class:`~treegauge.cli._group.Command` refuses to overwrite a file that it reads, whatever its parameters are called.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

import click


class _File(click.Path):
    """A path as it is given: whether it can be read or written is found out by reading or writing (exit code 3)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(readable=False, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if "\0" in str(value) else super().convert(value, param, ctx)


class InputFile(_File):
    """A file, directory or glob that is read; a system may be NAME=FILE, a preset NAME+FILE, and ``-`` is standard input."""


class OutputFile(_File):
    """A file that is written, ``-`` being standard output; ``is_read``: what it holds already is read as well, as of a store."""

    def __init__(self, *, is_read: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        self.is_read = is_read


INPUT = InputFile()
OUTPUT = OutputFile()


def protect_inputs(*further: str | os.PathLike[str]) -> None:
    """Raise an error if an output of the running command, or a ``further`` file that it writes, is one of its inputs."""
    ctx = click.get_current_context()
    outputs = [(given, path) for given in ctx.command.params if isinstance(given.type, OutputFile) for path in _paths(ctx, given)]
    outputs += [(None, os.fspath(path)) for path in further]
    if not any(os.path.exists(path) for _, path in outputs):
        return
    from treegauge.io.writing import protect_inputs

    inputs = [(given, path) for given in ctx.command.params if _is_read(given) for path in _paths(ctx, given)]
    for output, path in outputs:
        protect_inputs(path, *(name for given, read in inputs if given is not output for name in _names(read)))


def _is_read(parameter: click.Parameter) -> bool:
    kind: object = parameter.type
    return isinstance(kind, InputFile) or (isinstance(kind, OutputFile) and kind.is_read)


def _paths(ctx: click.Context, parameter: click.Parameter) -> Iterator[str]:
    value: object = ctx.params.get(parameter.name or "")
    for path in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
        if isinstance(path, str | os.PathLike):
            yield os.fspath(cast("str | os.PathLike[str]", path))


def _names(given: str) -> tuple[str, ...]:
    """All that may be a file in the value of a parameter: the whole, FILE of NAME=FILE, and the parts of NAME+FILE."""
    return given, given.partition("=")[2], *given.split("+")
