"""What runs in a worker: the function of a map on one shard, with what all its shards share unpacked but once."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from treegauge.errors import UsageError

__all__ = ["call_with_bytes", "call_with_file"]

_KEPT = 4
_unpacked: OrderedDict[str, tuple[Callable[[Any, Any], Any], Any]] = OrderedDict()


def call_with_file(path: str, item: Any) -> Any:
    """The result of a shard; function and shared value are in a file."""
    return _call(path, lambda: Path(path).read_bytes(), item)


def call_with_bytes(name: str, version: str, folder: str, packed: bytes, item: Any) -> Any:
    """The result of a shard; function and shared value are packed.

    A worker of another version would count otherwise. Relative paths mean what they mean in ``folder``, where the command runs.
    """
    if os.path.isdir(folder) and os.getcwd() != folder:
        os.chdir(folder)
    if version != (own := metadata.version("treegauge")):
        raise UsageError(f"a worker of the cluster has treegauge {own}, but this is {version}: install the same everywhere")
    return _call(name, lambda: packed, item)


def _call(name: str, packed: Callable[[], bytes], item: Any) -> Any:
    if name not in _unpacked:
        _unpacked[name] = pickle.loads(packed())
        while len(_unpacked) > _KEPT:
            _unpacked.popitem(last=False)
    function, shared = _unpacked[name]
    return function(shared, item)
