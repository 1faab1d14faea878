"""A run in parts, without a scheduler: each job runs every n-th shard and writes a file; ``treegauge merge`` merges the files.

A part holds the results of its shards, how the work was cut, and the command it belongs to. To merge is to run the same command
with an engine that takes the results from the parts, so that it prints what the whole run would have printed.

Each command says how its results are saved (:class:`PartFormat`): as JSON and arrays, without pickle, so that reading a part runs
no code and finds no class by its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from treegauge.engines.engine import Engine, EngineBase, ItemT, ResultT, SharedT, Work
from treegauge.errors import FormatError, InputError, ModelError, UsageError
from treegauge.io.archive import ArrayStore, read_archive, write_archive

__all__ = [
    "SCHEMA",
    "VERSION",
    "MergedParts",
    "OnePart",
    "PartDone",
    "PartFormat",
    "RunPart",
    "check_parts",
    "parse_shard",
    "read_part",
    "write_part",
]

SCHEMA, VERSION = "treegauge-part", 2
_MOST_ARRAYS = 1 << 20
_VERSION_1 = b'{"schema": "treegauge.part/1"'


class PartFormat(NamedTuple):
    """The file format of one command's parts: how the result of a shard, and the plan of all shards, become JSON and arrays.

    A plan that merging does not look at is not saved.
    """

    save_result: Callable[[Any, ArrayStore], Any]
    load_result: Callable[[Any, ArrayStore], Any]
    save_plan: Callable[[Any], Any] = lambda plan: None
    load_plan: Callable[[Any], Any] = lambda data: None


@dataclass(frozen=True)
class RunPart:
    """The results of the shards ``number``, ``number + of`` ... of a run, numbered from 1.

    ``command`` and ``arguments`` are the run's; ``settings`` what they mean, all defaults spelt out; ``cut`` is a hash of all its
    shards and of ``plans``, which is how they came about; ``shards`` is how many there are.
    """

    command: str
    arguments: tuple[str, ...]
    settings: dict[str, Any]
    version: str
    number: int
    of: int
    shards: int
    cut: str
    plans: list[Any] = field(repr=False)
    results: list[Any] = field(repr=False)


_RUN = ("command", "arguments", "settings", "version", "number", "of", "shards", "cut")


class PartDone(Exception):
    """All shards of this part are done: the command has nothing more to do."""

    def __init__(self, shards: int, cut: str, plans: list[Any], results: list[Any]) -> None:
        super().__init__("all shards of this part are done")
        self.shards, self.cut, self.plans, self.results = shards, cut, plans, results


def parse_shard(text: str) -> tuple[int, int]:
    """The number of a part, and the number of parts.

    >>> parse_shard("3/10")
    (3, 10)
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise UsageError(f"shard {text!r}: write the part and the number of parts, counted from 1, as in 3/10")
    return int(number), int(of)


class OnePart(EngineBase):
    """The engine that does one part of the shards, on another engine, and then stops the command with :class:`PartDone`."""

    in_process = False

    def __init__(self, number: int, of: int, engine: Engine) -> None:
        self._number, self._of, self._engine = number, of, engine
        self._plans: list[Any] = []
        self._digest = hashlib.sha256()

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """See :class:`~treegauge.engines.engine.Engine`."""
        plan = make()
        self._plans.append(plan)
        self._see(plan)
        return plan

    def _see(self, value: Any) -> None:
        self._digest.update(repr(value).encode("utf-8", "surrogatepass") + b"\n")

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.engine.Engine`; but there is nothing to go on with."""
        self._stop(function, shared, items, title)

    def _stop(self, function: Work[Any, Any, Any], shared: Any, items: Iterable[Any], title: str) -> NoReturn:
        shards = 0

        def mine() -> Iterator[Any]:
            nonlocal shards
            for item in items:
                self._see(item)
                shards += 1
                if (shards - self._number) % self._of == 0:
                    yield item

        found = list(mine()) if isinstance(items, Sequence) else mine()
        results = list(self._engine.map(function, shared, found, title=title))
        raise PartDone(shards, self._digest.hexdigest(), self._plans, results)

    def close(self) -> None:
        """Let the workers go."""
        self._engine.close()


class MergedParts(EngineBase):
    """The engine whose results are in the parts already; what was not foreseen when they were made runs on another engine."""

    in_process = False

    def __init__(self, parts: Sequence[RunPart], engine: Engine) -> None:
        ordered = sorted(parts, key=lambda part: part.number)
        self._plans: list[Any] = list(ordered[0].plans)
        self._results = [ordered[k % len(ordered)].results[k // len(ordered)] for k in range(ordered[0].shards)]
        self._is_used, self._engine = False, engine

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """See :class:`~treegauge.engines.engine.Engine`."""
        return self._plans.pop(0) if self._plans else make()

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.engine.Engine`."""
        if self._is_used:
            return self._engine.map(function, shared, items, title=title)
        self._is_used = True
        return iter(self._results)

    def close(self) -> None:
        """Let the workers go."""
        self._engine.close()


def write_part(part: RunPart, path: str, form: PartFormat) -> None:
    """Write a part, whole or not at all."""
    store = ArrayStore()
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "run": {name: getattr(part, name) for name in _RUN},
        "plans": [form.save_plan(plan) for plan in part.plans],
        "results": [form.save_result(result, store) for result in part.results],
    }
    write_archive(path, document, store.arrays)


def read_part(path: str, form_of: Callable[[str], PartFormat]) -> RunPart:
    """The part in a file, in the format of its command; :class:`~treegauge.errors.FormatError` if it is none, or damaged."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(len(_VERSION_1))
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror or error}"
        raise InputError(reason, path=path) from None
    if head == _VERSION_1:
        advice = "Run the shards again with this version."
        raise FormatError(
            "this part was written by an older version of treegauge, whose format can no longer be read", path=path, advice=advice
        )
    if not head.startswith(b"PK"):
        raise FormatError("not a part of a run", path=path, advice="Parts are written by commands with the option shard.")
    try:
        document, arrays = read_archive(path, SCHEMA, VERSION, most_parts=_MOST_ARRAYS)
    except ModelError:
        raise FormatError("the part is damaged or cut short", path=path, advice="Run this part again.") from None
    try:
        run, store = dict[str, Any](document["run"]), ArrayStore(arrays)
        form = form_of(str(run["command"]))
        plans = [form.load_plan(plan) for plan in document["plans"]]
        results = [form.load_result(result, store) for result in document["results"]]
        run["arguments"] = tuple(run["arguments"])
        return RunPart(**run, plans=plans, results=results)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise FormatError(f"a part that cannot be read ({type(error).__name__}: {error})", path=path) from None


def check_parts(parts: dict[str, RunPart]) -> None:
    """Refuse parts, by the names of their files, that do not belong together, of which some are missing, or doubled."""
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
        if (part.cut, part.shards) != (first.cut, first.shards):
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
