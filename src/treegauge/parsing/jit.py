"""The decorator of the compiled kernels, and a way to hear when one is being compiled."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["Bools", "Floats", "Ints", "NoKernelCache", "kernel", "when_compiling"]

Floats = Any
"""An array of float64 inside a kernel. There an index gives a number, which NumPy's types cannot promise."""
Ints = Any
"""An array of integers inside a kernel."""
Bools = Any
"""An array of truth values inside a kernel."""

# Numba has no types of its own.
_numba: Any = importlib.import_module("numba")
_event: Any = importlib.import_module("numba.core.event")
Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered so that they vectorise; infinities are kept, since -inf is log 0. No kernel makes a NaN.
_FAST = {"reassoc", "nsz", "contract", "nnan"}
_warned = False


class NoKernelCache(UserWarning):
    """Compiled kernels cannot be stored, so every run compiles them anew."""


def kernel(function: Function) -> Function:
    """``function`` compiled on first use, without the interpreter lock, and kept on disk where some place can be
    written."""
    global _warned
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FAST}
    try:
        return _numba.njit(cache=True, **options)(function)
    except RuntimeError as error:
        if not _warned:
            _warned = True
            warnings.warn(
                f"compiled kernels cannot be stored ({error}); each run will compile them anew. "
                "Set NUMBA_CACHE_DIR to a folder that can be written.",
                NoKernelCache,
                stacklevel=2,
            )
        return _numba.njit(**options)(function)


class _Once(_event.Listener):
    def __init__(self, say: Callable[[], None]) -> None:
        self.say, self.said = say, False

    def on_start(self, event: Any) -> None:
        if not self.said:
            self.said = True
            self.say()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def when_compiling(say: Callable[[], None]) -> Generator[None]:
    """Call ``say`` once if a kernel has to be compiled while the context is open (not when it comes from the
    cache)."""
    listener = _Once(say)
    _event.register("numba:compile", listener)
    try:
        yield
    finally:
        _event.unregister("numba:compile", listener)
