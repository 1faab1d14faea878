"""Worker processes on this machine.

A worker unpacks the function and the shared value of a map once, and applies them to one shard after the other.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import metadata
from pathlib import Path
from typing import Any

from treegauge.engines.engine import EngineBase, ItemT, ResultT, ShardFunction, SharedT, WorkerLost, in_order
from treegauge.errors import UsageError

_MOST_UNPACKED = 4
_unpacked: OrderedDict[str, tuple[Callable[[Any, Any], Any], Any]] = OrderedDict()


def call_with_file(path: str, item: Any) -> Any:
    """The result of a shard, with the function and the shared value from a file."""
    return _call(path, lambda: Path(path).read_bytes(), item)


def call_with_bytes(name: str, version: str, folder: str, packed: bytes, item: Any) -> Any:
    """The result of a shard, with the function and the shared value from pickled bytes.

    A worker with another version of treegauge is refused, because it might count differently. Relative paths start from ``folder``,
    in which the command runs.
    """
    if os.path.isdir(folder) and os.getcwd() != folder:
        os.chdir(folder)
    if version != (own := metadata.version("treegauge")):
        raise UsageError(f"a worker of the cluster has treegauge {own}, but this is {version}: install the same version everywhere")
    return _call(name, lambda: packed, item)


def _call(name: str, packed: Callable[[], bytes], item: Any) -> Any:
    if name not in _unpacked:
        _unpacked[name] = pickle.loads(packed())
        while len(_unpacked) > _MOST_UNPACKED:
            _unpacked.popitem(last=False)
    function, shared = _unpacked[name]
    return function(shared, item)


class Processes(EngineBase):
    """Worker processes on this machine; they start when there is work, and run until the engine is closed.

    With ``inherit`` they are forked from this process, if the system can do that and no other thread runs here, so that they need
    not load again what is loaded here.

    >>> import operator
    >>> with Processes(2) as engine:
    ...     list(engine.map(operator.mul, 3, range(4)))
    [0, 3, 6, 9]
    """

    in_process = False

    def __init__(self, workers: int, *, inherit: bool = False) -> None:
        self.workers, self._inherit = workers, inherit
        self._folder: str | None = None
        self._executor: ProcessPoolExecutor | None = None

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.engine.Engine`."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="treegauge-")
        # A file and not an argument, because the shared value may be large, and each worker needs it only once. The file is named
        # by its content, so that a worker that has unpacked the same before need not do so again.
        packed = pickle.dumps((function, shared), pickle.HIGHEST_PROTOCOL)
        path = Path(self._folder) / hashlib.sha256(packed).hexdigest()
        path.write_bytes(packed)
        if self._inherit:
            _unpacked[str(path)] = function, shared
        try:
            yield from in_order(_ProcessTasks(self, str(path)), items)
        finally:
            path.unlink(missing_ok=True)
            _unpacked.pop(str(path), None)

    def executor(self) -> ProcessPoolExecutor:
        """The pool of workers, a new one if the last broke."""
        if self._executor is None:
            # Only the first pool may be forked: since then this process has had threads, which may hold locks.
            self._executor = _executor(self.workers, copies=self._inherit and _can_be_copied())
            self._inherit = False
        return self._executor

    def give_up(self, executor: ProcessPoolExecutor | None) -> None:
        """Shut down a broken pool, unless it has been replaced already."""
        if executor is not None and executor is self._executor:
            executor.shutdown(cancel_futures=True)
            self._executor = None

    def close(self) -> None:
        """Stop the workers."""
        self.give_up(self._executor)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _can_be_copied() -> bool:
    """Whether this process may be forked: on Linux, if it has a single thread."""
    return sys.platform == "linux" and threading.active_count() == 1


def _executor(workers: int, *, copies: bool = False) -> ProcessPoolExecutor:
    # Spawned and not forked, unless that is safe: this process may have threads.
    context = multiprocessing.get_context("fork" if copies else "spawn")
    return ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(workers,))


def _begin(workers: int) -> None:
    """Prepare a worker: leave interrupts to the parent process, and the other cores to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if workers > 1:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ.setdefault(name, "1")


class _ProcessTasks:
    """The tasks of one map."""

    def __init__(self, engine: Processes, path: str) -> None:
        self._engine, self._path = engine, path
        self.window = 3 * engine.workers

    def start(self, item: Any) -> tuple[ProcessPoolExecutor, Future[Any]]:
        executor = self._engine.executor()
        try:
            return executor, executor.submit(call_with_file, self._path, item)
        except BrokenProcessPool as error:
            # Some earlier shard broke the pool; that shard is found when its turn comes.
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return executor, failed

    def finish(self, task: tuple[ProcessPoolExecutor, Future[Any]]) -> Any:
        executor, future = task
        try:
            return future.result()
        except BrokenProcessPool:
            self._engine.give_up(executor)
            raise WorkerLost(_WORKER_LOST) from None

    def alone(self, item: Any) -> Any:
        with _executor(1) as executor:
            try:
                return executor.submit(call_with_file, self._path, item).result()
            except BrokenProcessPool:
                raise WorkerLost(_WORKER_LOST) from None

    def abandon(self, tasks: Iterable[tuple[ProcessPoolExecutor, Future[Any]]]) -> None:
        for _, future in tasks:
            future.cancel()


_WORKER_LOST = "a worker process died (killed, or out of memory)"
