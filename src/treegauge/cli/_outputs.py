"""Files that a command must not write over."""

from __future__ import annotations

import os
from pathlib import Path

from treegauge.errors import InputError, UsageError
from treegauge.io.sources import find_sources

__all__ = ["spare_inputs"]


def spare_inputs(output: str | Path | None, *inputs: str | None) -> None:
    """Refuse an output that would take the place of a file the command reads."""
    if output is None or output == "-" or not os.path.isfile(output):
        return
    for given in inputs:
        if given and any(_is_same(output, name) for name in _names(given)):
            raise UsageError(f"{output} is read by this command and would be lost: name another file for the output")


def _names(given: str) -> list[str]:
    """The files that a path, a directory or a glob stands for; what is wrong with it is said when it is read."""
    try:
        return [source.name for source in find_sources(given)]
    except InputError:
        return []


def _is_same(one: str | Path, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False
