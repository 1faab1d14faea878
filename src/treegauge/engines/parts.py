"""A run in parts, without a scheduler: each job runs every n-th shard and writes a file; ``treegauge merge`` adds the files up.

A part has the command's own value for each of its shards (sums of rows, trees in order, counts of trees, learned grammars) with the
shard's position, a hash of how the work was cut, and the command line that it belongs to. The values of parts add up
(:class:`ShardValues`), in any order, to those of all shards; the command then finishes as it does in a single run.

Each command defines how its values are stored (:class:`PartFormat`): as JSON and arrays, without pickle, so that reading a part
runs no code and looks up no class by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from treegauge.engines.engine import Engine, ShardFunction
from treegauge.errors import FormatError, InputError, ModelError, UsageError
from treegauge.io.archive import ArrayStore, read_archive, write_archive
from treegauge.spelling import whole_number

SCHEMA, VERSION = "treegauge-part", 4
_MOST_ARRAYS = 1 << 20
_VERSION_1 = b'{"schema": "treegauge.part/1"'


@dataclass(frozen=True)
class ShardValues:
    """The values of some shards of a run, by their positions counted from 0; ``cut`` is a hash of all its ``shards``.

    >>> first, second = ShardValues("ab", 3, {0: "x", 2: "z"}), ShardValues("ab", 3, {1: "y"})
    >>> (second + first).in_order()
    ['x', 'y', 'z']
    """

    cut: str
    shards: int
    values: Mapping[int, Any] = field(repr=False)

    def __add__(self, other: ShardValues) -> ShardValues:
        if (self.cut, self.shards) != (other.cut, other.shards):
            raise ValueError("values of shards that were cut in different ways do not add")
        if both := sorted(self.values.keys() & other.values.keys()):
            raise ValueError(f"shard {both[0]} would be counted twice")
        return ShardValues(self.cut, self.shards, {**self.values, **other.values})

    def in_order(self) -> list[Any]:
        """The values of all shards, in their order; KeyError if one is missing."""
        return [self.values[position] for position in range(self.shards)]


class ShardedWork(NamedTuple):
    """Work cut into shards: ``function(shared, item)`` is the value of a shard. ``checksum`` is of the files, unless the items have
    it."""

    function: ShardFunction[Any, Any, Any]
    shared: Any
    items: Iterable[Any]
    title: str = ""
    checksum: int = 0

    def values(self, engine: Engine) -> Iterator[Any]:
        """The values of all shards, in order."""
        return engine.map(self.function, self.shared, self.items, title=self.title)

    def part(self, number: int, of: int, engine: Engine) -> ShardValues:
        """The values of the shards ``number``, ``number + of``, ``number + 2 of`` ..., counted from 1."""
        digest, positions, shards = hashlib.sha256(b"%d" % self.checksum), list[int](), 0

        def own_items() -> Iterator[Any]:
            nonlocal shards
            for shards, item in enumerate(self.items, 1):
                digest.update(repr(item).encode("utf-8", "surrogatepass") + b"\n")
                if (shards - number) % of == 0:
                    positions.append(shards - 1)
                    yield item

        items = list(own_items()) if isinstance(self.items, Sequence) else own_items()
        values = list(engine.map(self.function, self.shared, items, title=self.title))
        return ShardValues(digest.hexdigest(), shards, dict(zip(positions, values, strict=True)))


class PartFormat(NamedTuple):
    """The file format of one command's parts: functions that turn the value of a shard into JSON and arrays, and back."""

    save: Callable[[Any, ArrayStore], Any]
    load: Callable[[Any, ArrayStore], Any]


@dataclass(frozen=True)
class RunPart:
    """Part ``number`` of ``of`` of a run, counted from 1. ``command`` and ``arguments`` are those of the run, ``settings`` the
    values of all its options, including defaults."""

    command: str
    arguments: tuple[str, ...]
    settings: dict[str, Any]
    version: str
    number: int
    of: int
    values: ShardValues


_RUN = ("command", "arguments", "settings", "version", "number", "of")


def parse_shard(text: str) -> tuple[int, int]:
    """The number of a part and the number of parts, from text.

    >>> parse_shard("3/10")
    (3, 10)
    """
    number, of = (whole_number(word) for word in text.partition("/")[::2])
    if number is None or of is None or not 1 <= number <= of:
        raise UsageError(f"shard {text[:40]!r}: write the part and the number of parts, counted from 1, as in 3/10")
    return number, of


def write_part(part: RunPart, path: str, form: PartFormat) -> None:
    """Write a part, completely or not at all."""
    store = ArrayStore()
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "run": {name: getattr(part, name) for name in _RUN},
        "cut": part.values.cut,
        "shards": part.values.shards,
        "values": [[position, form.save(value, store)] for position, value in part.values.values.items()],
    }
    write_archive(path, document, store.arrays)


def read_part(path: str, form_of: Callable[[str], PartFormat]) -> RunPart:
    """The part in a file, in the format of its command; a :class:`~treegauge.errors.FormatError` if it is no part, or damaged."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(len(_VERSION_1))
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror or error}"
        raise InputError(reason, path=path) from None
    if head == _VERSION_1:
        raise _older_version(path)
    if not head.startswith(b"PK"):
        raise FormatError("not a part of a run", path=path, advice="Parts are written by commands with the option shard.")
    try:
        document, arrays = read_archive(path, SCHEMA, None, most_parts=_MOST_ARRAYS)
    except ModelError:
        raise FormatError("the part is damaged or cut short", path=path, advice="Run this part again.") from None
    if document.get("version") != VERSION:
        raise _older_version(path)
    try:
        run, store = dict[str, Any](document["run"]), ArrayStore(arrays)
        form = form_of(str(run["command"]))
        values = {int(position): form.load(value, store) for position, value in document["values"]}
        run["arguments"] = tuple(run["arguments"])
        return RunPart(**run, values=ShardValues(str(document["cut"]), int(document["shards"]), values))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise FormatError(f"a part that cannot be read ({type(error).__name__}: {error})", path=path) from None


def _older_version(path: str) -> FormatError:
    problem = "this part was written by another version of treegauge, whose format cannot be read"
    return FormatError(problem, path=path, advice="Run the shards again with this version.")


def check_parts(parts: dict[str, RunPart]) -> None:
    """Refuse parts, given by the names of their files, that do not belong together, or of which one is missing or given twice."""
    (first_path, first), *others = parts.items()
    for path, part in others:
        for name in ("command", "version", "of"):
            if getattr(part, name) != getattr(first, name):
                what = {"of": "number of parts"}.get(name, name)
                raise UsageError(
                    f"{path} does not belong to {first_path}: its {what} is {getattr(part, name)}, not {getattr(first, name)}"
                )
        differs = sorted(
            name for name in {**first.settings, **part.settings} if first.settings.get(name) != part.settings.get(name)
        )
        if differs:
            raise UsageError(f"{path} does not belong to {first_path}: these settings differ: {', '.join(differs)}")
        if (part.values.cut, part.values.shards) != (first.values.cut, first.values.shards):
            raise UsageError(f"{path} does not belong to {first_path}: the input files have changed in between")
    numbers: dict[int, str] = {}
    for path, part in parts.items():
        if part.number in numbers:
            raise UsageError(f"part {part.number} of {part.of} is given twice: {numbers[part.number]} and {path}")
        numbers[part.number] = path
    missing = sorted(set(range(1, first.of + 1)) - set(numbers))
    if missing:
        shown = ", ".join(map(str, missing[:20])) + (" ..." if len(missing) > 20 else "")
        raise UsageError(f"{len(missing)} of {first.of} parts are missing: {shown}")
