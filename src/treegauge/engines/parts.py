"""A run in parts, without a scheduler: each job runs every n-th shard and writes a file; ``treegauge merge`` merges the files.

A part holds the results of its shards, how the work was cut, and the command it belongs to. To merge is to run the same command
with an engine that takes the results from the parts, so that it prints what the whole run would have printed.

Values are stored as plain JSON, bit for bit, without pickle: reading a part runs no code. A value that JSON lacks becomes an object
with a single key that names its kind. Only the classes named as ``module:Class`` are known; they come back with the state they had.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import importlib
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.engines.base import Engine, EngineBase, ItemT, ResultT, SharedT, Work
from treegauge.errors import FormatError, UsageError
from treegauge.io.sources import Source
from treegauge.io.writing import write_chunks

__all__ = [
    "SCHEMA",
    "Merged",
    "OnePart",
    "PartDone",
    "RunPart",
    "ValueCodec",
    "check_parts",
    "parse_shard",
    "read_part",
    "write_part",
]

_LARGEST = 1 << 53


class ValueCodec:
    """A translator for values made of plain data, arrays and objects of some classes.

    >>> from fractions import Fraction
    >>> plain = ValueCodec([])
    >>> value = {("a", 1): [2**100, math.inf, b"x", None], "b": np.arange(3)}
    >>> back = plain.decode(plain.encode(value))
    >>> back["a", 1], back["b"]
    ([1267650600228229401496703205376, inf, b'x', None], array([0, 1, 2]))
    >>> plain.encode(Fraction(1, 2))
    Traceback (most recent call last):
    TypeError: no part of a run holds a Fraction
    """

    def __init__(self, classes: Collection[str]) -> None:
        self._classes = frozenset(classes)

    def encode(self, value: Any) -> Any:
        """The value as JSON can hold it."""
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return int(value) if abs(value) < _LARGEST else {"int": hex(value)}
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"float": repr(float(value))}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if isinstance(value, list):
            return [self.encode(item) for item in cast("list[Any]", value)]
        if type(value) is tuple:
            return {"tuple": [self.encode(item) for item in cast("tuple[Any, ...]", value)]}
        if isinstance(value, Counter):
            return {"counter": self._pairs(cast("Counter[Any]", value))}
        if type(value) is dict:
            return {"dict": self._pairs(cast("dict[Any, Any]", value))}
        if isinstance(value, np.ndarray):
            return {"array": self._array(cast("NDArray[Any]", value))}
        if isinstance(value, np.generic):
            return self.encode(value.item())
        return self._object(value)

    def _pairs(self, mapping: Mapping[Any, Any]) -> list[Any]:
        return [[self.encode(key), self.encode(item)] for key, item in mapping.items()]

    def _array(self, array: NDArray[Any]) -> list[Any]:
        if array.dtype.kind == "O":
            return ["O", list(array.shape), [self.encode(item) for item in array.ravel().tolist()]]
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        return [array.dtype.newbyteorder("<").str, list(array.shape), base64.b64encode(data).decode("ascii")]

    def _object(self, value: Any) -> Any:
        kind: Any = value.__class__
        name = f"{kind.__module__}:{kind.__qualname__}"
        if name not in self._classes:
            raise TypeError(f"no part of a run holds a {kind.__name__}")
        return {"object": [name, self.encode(_state(value))]}

    def decode(self, value: Any) -> Any:
        """The value that was encoded; :class:`ValueError` if none was."""
        if isinstance(value, list):
            return [self.decode(item) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = cast("dict[str, Any]", value).items()
        if kind == "int":
            return int(content, 16)
        if kind == "float":
            return float(content)
        if kind == "bytes":
            return base64.b64decode(content, validate=True)
        if kind == "tuple":
            return tuple(self.decode(item) for item in content)
        if kind in ("dict", "counter"):
            pairs = {self.decode(key): self.decode(item) for key, item in content}
            return Counter(pairs) if kind == "counter" else pairs
        if kind == "array":
            return self._decode_array(*content)
        if kind == "object":
            return self._decode_object(*content)
        raise ValueError(f"unknown kind of value {kind!r}")

    def _decode_array(self, dtype: str, shape: list[int], data: Any) -> NDArray[Any]:
        if dtype != "O":
            return np.frombuffer(base64.b64decode(data, validate=True), np.dtype(dtype)).reshape(shape).copy()
        array = np.empty(len(data), dtype=object)
        for number, item in enumerate(data):
            array[number] = self.decode(item)
        return array.reshape(shape)

    def _decode_object(self, name: str, state: Any) -> Any:
        if name not in self._classes:
            raise ValueError(f"unknown class {name!r}")
        module, _, path = name.partition(":")
        kind: Any = importlib.import_module(module)
        for part in path.split("."):
            kind = getattr(kind, part)
        found = self.decode(state)
        if tuple in kind.__mro__:
            return kind(*found)
        made = kind.__new__(kind)
        if hasattr(kind, "__setstate__"):
            made.__setstate__(found)
        else:
            for field, item in found.items():
                object.__setattr__(made, field, item)
        return made


def _state(value: Any) -> Any:
    """The state of an object: a tuple's items, a dataclass's fields, or the object's own ``__getstate__``."""
    if isinstance(value, tuple):
        return tuple(cast("tuple[Any, ...]", value))
    kind: Any = value.__class__
    if "__getstate__" not in vars(kind) and dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    return value.__getstate__()


SCHEMA = "treegauge.part/1"


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
        raise UsageError(f"--shard {text!r}: write the part and the number of parts, counted from 1, as in 3/10")
    return int(number), int(of)


class OnePart(EngineBase):
    """The engine that does one part of the shards, on another engine, and then stops the command with :class:`PartDone`."""

    in_process = False

    def __init__(self, number: int, of: int, engine: Engine) -> None:
        self._number, self._of, self._engine = number, of, engine
        self._plans: list[Any] = []
        self._digest = hashlib.sha256()

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """See :class:`~treegauge.engines.base.Engine`."""
        plan = make()
        self._plans.append(plan)
        self._see(plan)
        return plan

    def _see(self, value: Any) -> None:
        self._digest.update(repr(value).encode("utf-8", "surrogatepass") + b"\n")

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.base.Engine`; but there is nothing to go on with."""
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


class Merged(EngineBase):
    """The engine whose results are in the parts already; what was not foreseen when they were made runs on another engine."""

    in_process = False

    def __init__(self, parts: Sequence[RunPart], engine: Engine) -> None:
        ordered = sorted(parts, key=lambda part: part.number)
        self._plans: list[Any] = list(ordered[0].plans)
        self._results = [ordered[k % len(ordered)].results[k // len(ordered)] for k in range(ordered[0].shards)]
        self._is_used, self._engine = False, engine

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """See :class:`~treegauge.engines.base.Engine`."""
        return self._plans.pop(0) if self._plans else make()

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.base.Engine`."""
        if self._is_used:
            return self._engine.map(function, shared, items, title=title)
        self._is_used = True
        return iter(self._results)

    def close(self) -> None:
        """Let the workers go."""
        self._engine.close()


def write_part(part: RunPart, path: str, plain: ValueCodec) -> None:
    """Write a part, whole or not at all."""
    content = {
        "command": part.command,
        "arguments": list(part.arguments),
        "settings": part.settings,
        "version": part.version,
        "number": part.number,
        "of": part.of,
        "shards": part.shards,
        "cut": part.cut,
        "plans": plain.encode(part.plans),
        "results": plain.encode(part.results),
    }
    body = json.dumps(content, separators=(",", ":"))
    head = json.dumps({"schema": SCHEMA, "sha256": hashlib.sha256(body.encode()).hexdigest()})
    write_chunks([f"{head}\n{body}\n".encode()], path)


def read_part(path: str, plain: ValueCodec) -> RunPart:
    """The part in a file; :class:`~treegauge.errors.FormatError` if it is none, or not as it was written."""
    with Source(path).open() as stream:
        data = stream.read()
    try:
        head, body = data.split(b"\n", 1)
        found = json.loads(head)
        if found["schema"] != SCHEMA:
            raise ValueError(f"the schema is {found['schema']!r}, not {SCHEMA!r}")
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"no part of a run ({error})", path=path, advice="Parts are written by --shard.") from None
    if hashlib.sha256(body.rstrip(b"\n")).hexdigest() != found["sha256"]:
        raise FormatError("the part is damaged or cut short", path=path, advice="Run this part again.")
    try:
        content = json.loads(body)
        names = ("command", "settings", "version", "number", "of", "shards", "cut")
        values = {name: plain.decode(content[name]) for name in ("plans", "results")}
        return RunPart(arguments=tuple(content["arguments"]), **{name: content[name] for name in names}, **values)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
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
            raise UsageError(f"{path} does not belong to {first_path}: other settings: {', '.join(differs)}")
        if (part.cut, part.shards) != (first.cut, first.shards):
            raise UsageError(f"{path} does not belong to {first_path}: the input files have changed in between")
    numbers: dict[int, str] = {}
    for path, part in parts.items():
        if part.number in numbers:
            raise UsageError(f"part {part.number} of {part.of} is there twice: {numbers[part.number]} and {path}")
        numbers[part.number] = path
    missing = sorted(set(range(1, first.of + 1)) - set(numbers))
    if missing:
        shown = ", ".join(map(str, missing[:20])) + (" ..." if len(missing) > 20 else "")
        raise UsageError(f"{len(missing)} of {first.of} parts are missing: {shown}")
