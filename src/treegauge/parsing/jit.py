"""Decorators for compiled kernels, their cache on disk, and a callback for compilation."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import pickle
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import treegauge
from treegauge.compiled import DamagedKernelCache

Floats = Any
"""An array of float64 inside a kernel. NumPy's types cannot express that an index gives a plain number there."""
Ints = Any
"""An array of integers inside a kernel."""
Bools = Any
"""An array of truth values inside a kernel."""

# Numba ships no type annotations.
_numba: Any = importlib.import_module("numba")
_event: Any = importlib.import_module("numba.core.event")
_caching: Any = importlib.import_module("numba.core.caching")
_runtime: Any = importlib.import_module("numba.core.runtime")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # Sums may be reordered so that they vectorise. Infinities are respected, since -inf is log 0; no kernel computes a NaN.
    "fastmath": {"reassoc", "nsz", "contract", "nnan"},
}
_PACKAGE = Path(treegauge.__file__).parent
_TYPE_MODULES = ("grammar/binarisation.py", "grammar/latent/grammar.py", "grammar/latent/lexicon.py", "grammar/latent/rule_rows.py")
"""The modules without kernels that define types of kernels' arguments."""


def _import_without_scipy() -> None:
    """Import Numba's array functions, which all kernels need, without SciPy. Numba imports SciPy's linear algebra only to check
    that it is there, and that takes nearly as long as importing Numba."""
    linalg: Any = importlib.import_module("numba.np.linalg")
    if importlib.util.find_spec("scipy") is None or not hasattr(linalg, "ensure_blas"):
        return
    find_blas, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = find_blas


_import_without_scipy()


class _SealedFiles(_caching.IndexDataCacheFile):
    """Numba's index and data files of one kernel, each preceded by the sha256 of its bytes.

    Numba does not check the files it finds, and damaged machine code can crash the process. A file that does not match its hash is
    removed, as if it had never been there. The cache is a convenience: a full disk does not stop the run.

    If several processes need a kernel at the same time, one compiles it and the others wait.
    """

    _lock: int | None = None

    def load(self, key: Any) -> Any:
        found = _caching.IndexDataCacheFile.load(self, key)
        if found is None and self._lock is None:
            self._lock = _lock_file(f"{self._index_path}.lock")
            found = _caching.IndexDataCacheFile.load(self, key)
            if found is not None:
                self._unlock()
        return found

    def save(self, key: Any, data: Any) -> None:
        try:
            _caching.IndexDataCacheFile.save(self, key, data)
        except OSError:
            return
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _load_index(self) -> dict[Any, Any]:
        found = self._read_sealed(self._index_path)
        if found is None:
            return {}
        version, stamp, names = pickle.loads(found)
        return names if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._seal(self._index_path, self._dump((self._version, self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        found = self._read_sealed(self._data_path(name))
        return None if found is None else pickle.loads(found)

    def _save_data(self, name: str, data: Any) -> None:
        self._seal(self._data_path(name), self._dump(data))

    def _seal(self, path: str, content: bytes) -> None:
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _read_sealed(self, path: str) -> bytes | None:
        """The content of a file; None if there is no such file, or if it is damaged and was removed."""
        try:
            stored = Path(path).read_bytes()
        except OSError:
            return None
        content = stored[_SEAL:]
        if stored[:_SEAL] == hashlib.sha256(content).digest():
            return content
        message = f"a stored kernel is damaged ({os.path.basename(path)}); it is thrown away and compiled again"
        warnings.warn(message, DamagedKernelCache, stacklevel=2)
        with suppress(OSError):
            Path(path).unlink()
        return None


_SEAL = hashlib.sha256().digest_size
_LONGEST_WAIT = 120.0
"""The seconds that a process waits for another one to compile a kernel before it compiles its own: the other may be suspended."""


def _lock_file(path: str) -> int | None:
    """Wait until no other process has a file locked, lock it, and return its descriptor; None if files cannot be locked here, or
    after a long wait."""
    if sys.platform == "win32":
        return None
    import fcntl

    def lock() -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    try:
        if lock():
            return file
        with _event.trigger_event("numba:compile"):
            end = time.monotonic() + _LONGEST_WAIT
            while time.monotonic() < end:
                time.sleep(0.02)
                if lock():
                    return file
    except OSError:  # a file system without locks
        pass
    os.close(file)
    return None


class _KernelCache(_caching.FunctionCache):
    """The stored machine code of one kernel, by the types of its arguments."""

    def __init__(self, function: Callable[..., Any]) -> None:
        _caching.FunctionCache.__init__(self, function)
        sealed = _SealedFiles.__new__(_SealedFiles)
        sealed.__dict__.update(self._cache_file.__dict__)
        self._cache_file = sealed

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load machine code without importing Numba's compiler, which takes longer than loading the code."""
        _runtime.rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def kernel(function: FunctionT) -> FunctionT:
    """``function``, compiled on first use, released from the interpreter lock, and cached on disk if a folder can be written."""
    compiled = _numba.njit(no_cfunc_wrapper=True, **_OPTIONS)(function)
    folder = _folder()
    if folder is not None:
        before, _numba.config.CACHE_DIR = _numba.config.CACHE_DIR, folder
        try:
            compiled._cache = _KernelCache(function)
        finally:
            _numba.config.CACHE_DIR = before
    return compiled


def inline(function: FunctionT) -> FunctionT:
    """``function``, inlined into the kernels that call it, so that constant arguments stay constants."""
    return _numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


def _inline_in_order(function: FunctionT) -> FunctionT:
    """``function`` inlined as by :func:`inline`, but its sums keep their order, and with it their last bits."""
    options = _OPTIONS | {"fastmath": _OPTIONS["fastmath"] - {"reassoc"}}
    return _numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)(function)


@_inline_in_order
def dot_in_order(a: Floats, b: Floats) -> float:
    """The dot product of two rows of the same length (at least 1), summed from left to right."""
    total = a[0] * b[0]
    for i in range(1, len(a)):
        total += a[i] * b[i]
    return total


@inline
def add_multiple(w: float, row: Floats, to: Floats) -> None:
    """Add w times a row to another. On slices, whose indices are never negative, such a loop is vectorised."""
    for i in range(len(to)):
        to[i] += w * row[i]


def helper(function: FunctionT) -> FunctionT:
    """``function``, compiled with the kernels that call it. Python cannot call it: the wrapper that would unpack Python's arguments
    takes long to compile for tuples of many arrays, and is left out."""
    return _numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS)(function)


@cache
def _folder() -> str | None:
    """The folder of the kernel cache, one for each version of the sources; None if no folder can be written.

    Numba checks only the file of a kernel for changes, and fails on kernels of an older treegauge in which a class was elsewhere.
    The name of the folder therefore depends on all sources that kernels are compiled from.
    """
    texts = [path.read_bytes() for part in ("learning", "parsing") for path in sorted((_PACKAGE / part).rglob("*.py"))]
    kernels = [text for text in texts if b"parsing.jit import" in text or b"class _SealedFiles" in text]
    types = [path.read_bytes() for path in map(_PACKAGE.joinpath, _TYPE_MODULES)]
    digest = hashlib.sha256(b"\0".join([*kernels, *types])).hexdigest()[:16]
    given = _numba.config.CACHE_DIR
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for place in [Path(given)] if given else [_PACKAGE / "__pycache__", Path(caches) / "treegauge"]:
        folder = place / f"kernels-{digest}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        _remove_others(folder)
        return str(folder)
    return None


def report_compiling() -> None:
    """Report on stderr that kernels are being compiled, and whether this happens once or in every run."""
    how_often = (
        "they cannot be stored: set NUMBA_CACHE_DIR to a folder that can be written" if _folder() is None else "this happens once"
    )
    print(f"treegauge: compiling the kernels; {how_often}", file=sys.stderr, flush=True)


def _remove_others(folder: Path) -> None:
    """Remove the folders of kernels of other sources that have not been used for a month."""
    for other in folder.parent.glob("kernels-*"):
        if other != folder and other.stat().st_mtime < time.time() - 30 * 86_400:
            shutil.rmtree(other, ignore_errors=True)


class _Once(_event.Listener):
    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback, self.called = callback, False

    def on_start(self, event: Any) -> None:
        if not self.called:
            self.called = True
            self.callback()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def when_compiling(callback: Callable[[], None]) -> Generator[None]:
    """Call ``callback`` once if a kernel is compiled inside the context, and not loaded from the cache."""
    listener = _Once(callback)
    _event.register("numba:compile", listener)
    try:
        yield
    finally:
        _event.unregister("numba:compile", listener)
