"""Dask clusters: a running one, or one on this machine that exists as long as the engine."""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import secrets
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import metadata
from typing import Any

from treegauge.engines.engine import TRIES, EngineBase, ItemT, ResultT, ShardFunction, SharedT, WorkerLost, in_order
from treegauge.engines.processes import call_with_bytes
from treegauge.errors import EngineError, MissingExtra

_SECONDS_TO_CONNECT = 30


class Cluster(EngineBase):
    """The workers of a Dask cluster.

    ``address`` is that of a scheduler (``tcp://host:8786``), a scheduler file, or empty for a cluster on this machine, which gets
    ``workers`` workers of one thread each.
    """

    in_process = False

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
                with _children_without_interrupts():
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
        """See :class:`~treegauge.engines.engine.Engine`."""
        yield from in_order(_ClusterTasks(self.client, function, shared), items)

    def close(self) -> None:
        """Disconnect from the cluster, and end it if it was started for this engine."""
        for part in (self._client, self._cluster):
            if part is not None:
                part.close()
        self._client = self._cluster = None


@contextmanager
def _children_without_interrupts() -> Generator[None]:
    """A context in which new processes ignore interrupts from the keyboard, which this process handles for all."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _ClusterTasks:
    """The tasks of one map."""

    def __init__(self, client: Any, function: ShardFunction[Any, Any, Any], shared: Any) -> None:
        self._client, self._version, self._folder = client, metadata.version("treegauge"), os.getcwd()
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
