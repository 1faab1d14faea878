"""Values as plain JSON and back, bit for bit: what a part of a run is stored as. No pickle: reading runs no code.

What JSON has stays as it is; what it has not becomes an object with a single key that says what it is. Of classes only those are
known whose names are given, as ``module:Class``; they come back with the state they had, without being made anew.
"""

from __future__ import annotations

import base64
import dataclasses
import importlib
import math
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Plain"]

_LARGEST = 1 << 53


class Plain:
    """A translator for values made of plain data, arrays and objects of some classes.

    >>> from fractions import Fraction
    >>> plain = Plain([])
    >>> value = {("a", 1): [2**100, math.inf, b"x", None], "b": np.arange(3)}
    >>> back = plain.decoded(plain.encoded(value))
    >>> back["a", 1], back["b"]
    ([1267650600228229401496703205376, inf, b'x', None], array([0, 1, 2]))
    >>> plain.encoded(Fraction(1, 2))
    Traceback (most recent call last):
    TypeError: no part of a run holds a Fraction
    """

    def __init__(self, classes: Collection[str]) -> None:
        self._classes = frozenset(classes)

    def encoded(self, value: Any) -> Any:
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
            return [self.encoded(item) for item in cast("list[Any]", value)]
        if type(value) is tuple:
            return {"tuple": [self.encoded(item) for item in cast("tuple[Any, ...]", value)]}
        if isinstance(value, Counter):
            return {"counter": self._pairs(cast("Counter[Any]", value))}
        if type(value) is dict:
            return {"dict": self._pairs(cast("dict[Any, Any]", value))}
        if isinstance(value, np.ndarray):
            return {"array": self._array(cast("NDArray[Any]", value))}
        if isinstance(value, np.generic):
            return self.encoded(value.item())
        return self._object(value)

    def _pairs(self, mapping: Mapping[Any, Any]) -> list[Any]:
        return [[self.encoded(key), self.encoded(item)] for key, item in mapping.items()]

    def _array(self, array: NDArray[Any]) -> list[Any]:
        if array.dtype.kind == "O":
            return ["O", list(array.shape), [self.encoded(item) for item in array.ravel().tolist()]]
        data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        return [array.dtype.newbyteorder("<").str, list(array.shape), base64.b64encode(data).decode("ascii")]

    def _object(self, value: Any) -> Any:
        kind: Any = value.__class__
        name = f"{kind.__module__}:{kind.__qualname__}"
        if name not in self._classes:
            raise TypeError(f"no part of a run holds a {kind.__name__}")
        return {"object": [name, self.encoded(_state(value))]}

    def decoded(self, value: Any) -> Any:
        """The value that was encoded; :class:`ValueError` if none was."""
        if isinstance(value, list):
            return [self.decoded(item) for item in cast("list[Any]", value)]
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
            return tuple(self.decoded(item) for item in content)
        if kind in ("dict", "counter"):
            pairs = {self.decoded(key): self.decoded(item) for key, item in content}
            return Counter(pairs) if kind == "counter" else pairs
        if kind == "array":
            return self._decoded_array(*content)
        if kind == "object":
            return self._decoded_object(*content)
        raise ValueError(f"unknown kind of value {kind!r}")

    def _decoded_array(self, dtype: str, shape: list[int], data: Any) -> NDArray[Any]:
        if dtype != "O":
            return np.frombuffer(base64.b64decode(data, validate=True), np.dtype(dtype)).reshape(shape).copy()
        array = np.empty(len(data), dtype=object)
        for number, item in enumerate(data):
            array[number] = self.decoded(item)
        return array.reshape(shape)

    def _decoded_object(self, name: str, state: Any) -> Any:
        if name not in self._classes:
            raise ValueError(f"unknown class {name!r}")
        module, _, path = name.partition(":")
        kind: Any = importlib.import_module(module)
        for part in path.split("."):
            kind = getattr(kind, part)
        found = self.decoded(state)
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
    """What is to be known of an object: a tuple's items, a dataclass's fields, or whatever the object itself says."""
    if isinstance(value, tuple):
        return tuple(cast("tuple[Any, ...]", value))
    kind: Any = value.__class__
    if "__getstate__" not in vars(kind) and dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    return value.__getstate__()
