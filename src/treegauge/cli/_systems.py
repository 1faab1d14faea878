"""Names for the systems whose outputs are given as files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from treegauge.errors import UsageError

__all__ = ["named_systems"]


def named_systems(paths: Sequence[str]) -> dict[str, str]:
    """Each path under a short name: what tells it from the others, or ``NAME=PATH`` as given.

    >>> named_systems(["out/gum.berkeley.mrg", "out/gum.charniak.mrg", "mine=x.mrg"])
    {'berkeley': 'out/gum.berkeley.mrg', 'charniak': 'out/gum.charniak.mrg', 'mine': 'x.mrg'}
    >>> named_systems(["a/dev.mrg", "b/dev.mrg"])
    {'a/dev': 'a/dev.mrg', 'b/dev': 'b/dev.mrg'}
    >>> named_systems(["ours=x.mrg", "theirs=y.mrg"])
    {'ours': 'x.mrg', 'theirs': 'y.mrg'}
    """
    given = [_given_name(path) for path in paths]
    unnamed = [path for name, path in given if not name]
    short = dict(zip(unnamed, _short_names(unnamed), strict=True))
    systems: dict[str, str] = {}
    for name, path in given:
        name = name or short[path]
        if name in systems:
            raise UsageError(f"two systems are called {name!r}; write NAME=FILE to tell them apart")
        systems[name] = path
    return systems


def _given_name(argument: str) -> tuple[str, str]:
    name, equals, path = argument.partition("=")
    is_name = bool(equals) and os.sep not in name and not os.path.exists(argument)
    return (name, path) if is_name and name else ("", argument)


def _short_names(paths: Sequence[str]) -> list[str]:
    stems = [_stem(Path(path)) for path in paths]
    if len(set(stems)) < len(stems):
        return [str(Path(path).parent / stem) for path, stem in zip(paths, stems, strict=True)]
    if len(stems) < 2:
        return stems
    before = len(_common_parts(stems))
    after = len(_common_parts([stem[::-1] for stem in stems]))
    return [stem[before : len(stem) - after] or stem for stem in stems]


def _stem(path: Path) -> str:
    name = path.name or str(path)
    for suffix in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(suffix)
    return Path(name).stem


def _common_parts(names: Sequence[str]) -> str:
    """The common beginning up to and with its last separator, so that names are cut between words only."""
    first, last = min(names), max(names)
    length = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[: max(first.rfind(separator, 0, length) for separator in "._-") + 1]
