"""Numba's options for compiled kernels, and the message that kernels are being compiled.

Numba is imported when the first module with kernels is; it comes with the extra ``[parse]``. Kernels are compiled on their first
call and stored where Numba stores them: beside the sources, in the user's cache, or in the folder ``NUMBA_CACHE_DIR``.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from treegauge.errors import MissingExtra

Array = Any
"""An array inside a kernel. NumPy's types cannot express that an index gives a plain number there."""
Floats = Any
"""An array of float64 inside a kernel."""
Ints = Any
"""An array of integers inside a kernel."""
Bools = Any
"""An array of truth values inside a kernel."""

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    # Sums may be reordered so that they vectorise. Infinities are respected, since -inf is log 0; no kernel computes a NaN.
    "fastmath": {"reassoc", "nsz", "contract", "nnan"},
}
_INLINE = {"forceinline": True, "no_cpython_wrapper": True}
_IN_ORDER = {"fastmath": _OPTIONS["fastmath"] - {"reassoc"}}
# Kernels of scoring allocate nothing, so they need not wait for Numba's memory manager to be compiled or loaded.
_SCORING = {"fastmath": False, "_nrt": False}

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end a command."""

_can_be_stored = True


class DamagedKernelCache(UserWarning):
    """A stored kernel cannot be used: it is removed and compiled again."""


@cache
def _numba() -> Any:
    # Numba ships no type annotations.
    try:
        return importlib.import_module("numba")
    except ImportError as error:
        raise MissingExtra("what Numba compiles (parsing, learning, decoding)", "parse") from error


@cache
def can_compile() -> bool:
    """Whether Numba can be imported and compiles: ``NUMBA_DISABLE_JIT`` tells it not to."""
    if importlib.util.find_spec("numba") is None:
        return False
    try:
        return not _numba().config.DISABLE_JIT
    except MissingExtra:
        return False


def kernel(function: FunctionT) -> FunctionT:
    """``function``, compiled for the arguments of its first call, released from the interpreter lock, and stored."""
    # Numba compares only the file of a kernel, not those of the helpers and types it is compiled from; a name that depends on
    # all of them keeps kernels of other sources from being loaded.
    name, function.__qualname__ = function.__qualname__, f"{function.__qualname__}-{_sources()}"
    try:
        return _stored(function, _OPTIONS)
    finally:
        function.__qualname__ = name


@cache
def _sources() -> str:
    """A digest of all sources with kernels of parsing and learning, or with the types of their arguments."""
    package = Path(__file__).parent
    texts = [path.read_bytes() for part in ("grammar", "learning", "parsing") for path in sorted((package / part).rglob("*.py"))]
    used = [text for text in texts if b"treegauge.compilation import" in text or b"(NamedTuple)" in text]
    return hashlib.sha256(b"\0".join(used)).hexdigest()[:8]


def scoring_kernel(function: FunctionT) -> FunctionT:
    """A kernel that allocates no memory and needs nothing of other modules; that it is compiled is reported."""
    call, is_known = _stored(function, _OPTIONS | _SCORING), False

    @wraps(function)
    def reporting(*arguments: Any) -> Any:
        nonlocal is_known
        if is_known:
            return call(*arguments)
        is_known = True
        with when_compiling(report_compiling):
            return call(*arguments)

    return cast(Any, reporting)


def helper(function: FunctionT) -> FunctionT:
    """``function``, compiled with the kernels that call it. Python cannot call it: the wrapper that would unpack Python's arguments
    takes long to compile for tuples of many arrays, and is left out."""
    return _numba().njit(**_OPTIONS, no_cpython_wrapper=True)(function)


def inline(function: FunctionT) -> FunctionT:
    """``function``, inlined into the kernels that call it, so that constant arguments stay constants."""
    return _numba().njit(**_OPTIONS, **_INLINE)(function)


def inline_in_order(function: FunctionT) -> FunctionT:
    """``function`` inlined as by :func:`inline`, but its sums keep their order, and with it their last bits."""
    return _numba().njit(**_OPTIONS | _IN_ORDER, **_INLINE)(function)


def or_python(decorator: FunctionT) -> FunctionT:
    """The decorator, or one that leaves functions as they are where Numba is not installed: for kernels that are quick enough in
    Python, so that networks can be trained with torch alone."""
    return decorator if importlib.util.find_spec("numba") is not None else cast(Any, _unchanged)


def _unchanged(function: FunctionT) -> FunctionT:
    return function


def scoring_inline(function: FunctionT) -> FunctionT:
    """``function``, inlined into kernels of scoring."""
    return _numba().njit(**_OPTIONS | _SCORING, **_INLINE)(function)


def _stored(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """``function`` compiled with these options, and stored if a folder can be written."""
    global _can_be_stored
    try:
        compiled = _numba().njit(cache=True, **options)(function)
    except RuntimeError:  # no folder can be written
        _can_be_stored = False
        compiled = _numba().njit(**options)(function)

    @wraps(function)
    def call(*arguments: Any) -> Any:
        nonlocal compiled
        try:
            if not getattr(compiled, "overloads", True):  # compiling can be interrupted
                compiled.compile(tuple(compiled.typeof_pyval(argument) for argument in arguments))
            with signals_held():
                return compiled(*arguments)
        except Exception as error:
            if not _is_from_cache(error):
                raise
            _remove_stored(function, compiled.stats.cache_path, error)
            compiled = _numba().njit(**options)(function)
        return compiled(*arguments)

    return call


@contextmanager
def signals_held() -> Generator[None]:
    """A context in which signals wait. Numba calls Python to convert a kernel's results, and crashes if a signal raises an
    exception there; one in the middle of starting a worker would leave it half started. New processes do not notice interrupts
    from the keyboard, which this process handles for all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    ours = {n: signal.signal(n, lambda number, _: came.append(number)) for n in SIGNALS if callable(signal.getsignal(n))}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in ours.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)


def _is_from_cache(error: Exception) -> bool:
    """Whether Numba failed to read or write a stored kernel: it is damaged, of another version, or the disk is full."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__name__") != "numba.core.caching":
        trace = trace.tb_next
    return trace is not None


def _remove_stored(function: Callable[..., Any], folder: str, error: Exception) -> None:
    """Remove the stored files of one kernel; what cannot be removed will be reported again."""
    name = f"{Path(function.__code__.co_filename).stem}.{function.__qualname__}"
    message = f"the stored kernel {name} cannot be used ({type(error).__name__}: {error}); it is compiled again"
    warnings.warn(message, DamagedKernelCache, stacklevel=4)
    for path in Path(folder).glob(f"{name}-*.nb[ic]"):
        with suppress(OSError):
            path.unlink()


@cache
def report_compiling(kernels: str) -> None:
    """Report on stderr, once for each module, that kernels are being compiled, and whether this happens once or in every run."""
    how_often = (
        "this happens once" if _can_be_stored else "they cannot be stored: set NUMBA_CACHE_DIR to a folder that can be written"
    )
    print(f"treegauge: compiling the kernels of {kernels}; {how_often}", file=sys.stderr, flush=True)


@contextmanager
def when_compiling(callback: Callable[[str], None]) -> Generator[None]:
    """Call ``callback`` once if a kernel is compiled inside the context, and not loaded from where it is stored.

    It gets the name of the part of treegauge whose kernel is compiled first, such as ``parsing.chart_passes``.
    """
    event: Any = importlib.import_module("numba.core.event")
    called: list[bool] = []

    class Once(event.Listener):
        def on_start(self, event: Any) -> None:
            if not called:
                called.append(True)
                callback(event.data["dispatcher"].py_func.__module__.removeprefix("treegauge."))

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Once()):
        yield
