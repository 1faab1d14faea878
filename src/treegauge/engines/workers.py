"""Workers in other processes: on this machine, or on a Dask cluster.

A worker unpacks the function and the shared value of a map once, and applies them to one shard after the other.
"""

from __future__ import annotations

import hashlib
import logging
import multiprocessing
import os
import pickle
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from treegauge import __version__
from treegauge.compilation import SIGNALS, signals_held
from treegauge.engines import TRIES, Engine, ItemT, ResultT, ShardFunction, SharedT, WorkerLost, in_order
from treegauge.errors import EngineError, MissingExtra, UsageError

_SECONDS_TO_CONNECT = 30
_MOST_UNPACKED = 4
_WORKER_LOST = "a worker process died (killed, or out of memory)"
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
    if version != __version__:
        is_other = f"a worker of the cluster has treegauge {__version__}, but this is {version}"
        raise UsageError(f"{is_other}: install the same version everywhere")
    return _call(name, lambda: packed, item)


def _call(name: str, packed: Callable[[], bytes], item: Any) -> Any:
    if name not in _unpacked:
        _unpacked[name] = pickle.loads(packed())
        while len(_unpacked) > _MOST_UNPACKED:
            _unpacked.popitem(last=False)
    function, shared = _unpacked[name]
    return function(shared, item)


class Processes(Engine):
    """Worker processes on this machine; they start when there is work, and run until the engine is closed.

    With ``inherit`` they are forked from this process, if the system can do that and no other thread runs here, so that they need
    not load again what is loaded here.

    >>> import operator
    >>> with Processes(2) as engine:
    ...     list(engine.map(operator.mul, 3, range(4)))
    [0, 3, 6, 9]
    """

    def __init__(self, workers: int, *, inherit: bool = False) -> None:
        self.workers, self._inherit = workers, inherit
        self._folder: str | None = None
        self._executor: ProcessPoolExecutor | None = None

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.Engine`."""
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
            copies = self._inherit and sys.platform == "linux" and threading.active_count() == 1
            self._executor = _Workers(self.workers, self._folder, copies=copies)
            self._inherit = False
        return self._executor

    def give_up(self, executor: ProcessPoolExecutor | None) -> None:
        """Shut down a broken pool, unless it has been replaced already."""
        if executor is not None and executor is self._executor:
            executor.shutdown(cancel_futures=True)
            self._executor = None

    def close(self) -> None:
        """Stop the workers."""
        try:
            self.give_up(self._executor)
        finally:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None


class _Workers(ProcessPoolExecutor):
    """A pool of processes that does not wait for work that is going on when it is shut down: nobody wants its results any more."""

    def __init__(self, workers: int, folder: str | None = None, *, copies: bool = False) -> None:
        # Spawned and not forked, unless that is safe: this process may have threads.
        context = multiprocessing.get_context("fork" if copies else "spawn")
        stopped, self._stop = context.Pipe(duplex=False)
        super().__init__(workers, context, initializer=_begin, initargs=(workers, folder, stopped))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._stop.send_bytes(b"stop")  # not closed: a forked worker has this end, too
        super().shutdown(wait, cancel_futures=cancel_futures)


def _begin(workers: int, folder: str | None, stopped: Connection) -> None:
    """Prepare a worker: it leaves interrupts to the parent process, ends with it, and leaves other cores to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in SIGNALS[1:]:  # a forked worker has the handlers of its parent
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(folder, stopped), daemon=True).start()
    if workers > 1:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def _end_with_parent(folder: str | None, stopped: Connection) -> None:
    """End this process when it is stopped, or its parent has ended, however that came about, and left its temporary folder."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        if parent.sentinel in wait([parent.sentinel, stopped]) and folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


class _ProcessTasks:
    """The tasks of one map."""

    def __init__(self, engine: Processes, path: str) -> None:
        self._engine, self._path = engine, path
        self.window = 3 * engine.workers

    def start(self, item: Any, executor: ProcessPoolExecutor | None = None) -> tuple[ProcessPoolExecutor, Future[Any]]:
        executor = executor or self._engine.executor()
        try:
            with signals_held():
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
        with _Workers(1) as executor:
            return self.finish(self.start(item, executor))

    def abandon(self, tasks: Iterable[tuple[ProcessPoolExecutor, Future[Any]]]) -> None:
        for _, future in tasks:
            future.cancel()


class Cluster(Engine):
    """The workers of a Dask cluster.

    ``address`` is that of a scheduler (``tcp://host:8786``), a scheduler file, or empty for a cluster on this machine, which gets
    ``workers`` workers of one thread each.
    """

    def __init__(self, address: str = "", workers: int | None = None) -> None:
        self._address, self._workers = address, workers
        self._client: Any = None
        self._cluster: Any = None

    @property
    def client(self) -> Any:
        """The connection, made when it is first needed."""
        if self._client is None:
            self._connect()
        return self._client

    def _connect(self) -> None:
        try:
            import dask.config
            from distributed import Client, LocalCluster
        except ImportError:
            raise MissingExtra("the engine dask", "cluster") from None
        # The value that all shards share is part of a task, so that it survives any worker; for Dask a grammar is a large task.
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        try:
            if self._address.endswith(".json"):
                _wait_for(self._address)
                self._client = Client(scheduler_file=self._address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
            elif self._address:
                self._client = Client(self._address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
            else:
                self._cluster = self._start_cluster(LocalCluster)
                self._client = Client(self._cluster, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {self._address or 'this machine'}: {error}\n"
                "  Start one with `dask scheduler`, and workers of one thread each with `dask worker ADDRESS`."
            ) from None

    def _start_cluster(self, start: Callable[..., Any]) -> Any:
        """Start a cluster on this machine. Dask gives up if a worker is killed while it starts; then it is tried again."""
        failure: Exception | None = None
        for _ in range(TRIES):
            try:
                with signals_held():
                    return start(
                        n_workers=self._workers or os.cpu_count() or 1,
                        threads_per_worker=1,
                        memory_limit=0,
                        dashboard_address=":0",
                        silence_logs=logging.CRITICAL,
                    )
            except Exception as error:
                failure = error
        raise EngineError(
            f"the workers of a Dask cluster do not start on this machine (tried {TRIES} times): {failure}\n"
            "  Is there enough memory? The engine local:N uses processes without Dask."
        ) from failure

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`~treegauge.engines.Engine`."""
        yield from in_order(_ClusterTasks(self.client, function, shared), items)

    def close(self) -> None:
        """Disconnect from the cluster, and end it if it was started for this engine."""
        for part in (self._client, self._cluster):
            if part is not None:
                part.close()
        self._client = self._cluster = None


def _wait_for(path: str) -> None:
    """Wait until a scheduler has written its file, which Dask itself would do for ever."""
    until = time.monotonic() + _SECONDS_TO_CONNECT
    while not os.path.exists(path):
        if time.monotonic() > until:
            raise TimeoutError(f"no file of this name was written within {_SECONDS_TO_CONNECT} seconds")
        time.sleep(0.05)


class _ClusterTasks:
    """The tasks of one map."""

    def __init__(self, client: Any, function: ShardFunction[Any, Any, Any], shared: Any) -> None:
        self._client, self._version, self._folder = client, __version__, os.getcwd()
        packed = pickle.dumps((function, shared), pickle.HIGHEST_PROTOCOL)
        # Named by its content, so that a worker that has unpacked the same before need not do so again.
        self._name = f"treegauge-{hashlib.sha256(packed).hexdigest()}"
        # A task, which any worker can repeat, and not scattered data, which would be lost with the workers that have it.
        self._packed = client.submit(bytes, packed, key=f"{self._name}-shared", pure=False)
        self._map, self._started = f"treegauge-{getattr(function, '__name__', 'work')}-{secrets.token_hex(8)}", 0
        self.window = 3 * max(2, sum(client.nthreads().values()))

    def start(self, item: Any) -> Any:
        self._started += 1
        key = f"{self._map}-{self._started}"
        arguments = (self._name, self._version, self._folder, self._packed, item)
        return self._client.submit(call_with_bytes, *arguments, key=key, pure=False)

    def finish(self, task: Any) -> Any:
        from distributed import CancelledError, KilledWorker

        try:
            return task.result()
        except KilledWorker:
            raise WorkerLost("the workers that had it died (killed, or out of memory)") from None
        except CancelledError:
            raise EngineError("the connection to the Dask scheduler was lost") from None

    def alone(self, item: Any) -> Any:
        return self.finish(self.start(item))

    def abandon(self, tasks: Iterable[Any]) -> None:
        tasks = list(tasks)
        if tasks and self._client.status == "running":
            self._client.cancel(tasks)
