"""Engines that run a command's work: in this process, in worker processes, or on a Dask cluster.

An engine maps a function over shards and returns the results in the order of the shards. It does not depend on trees or parsers. A
shard is a small value that describes a piece of work; results are small, and add up. Since neither the shards nor the order of
addition depend on the engine, the result has the same bits on any engine.
"""

from __future__ import annotations

from treegauge.engines.engine import IN_PROCESS, Engine, InProcess, Shard, Threads, usable_processors
from treegauge.errors import UsageError
from treegauge.tables import whole_number

__all__ = ["ENGINE_NAMES", "IN_PROCESS", "Engine", "InProcess", "Shard", "Threads", "open_engine", "usable_processors"]

ENGINE_NAMES = "local, local:N, dask, dask:N, dask:ADDRESS"


def open_engine(name: str) -> Engine:
    """The engine of that name; workers start only when there is work.

    ``local`` is this process, ``local:N`` are N worker processes. ``dask`` is a Dask cluster on this machine with one worker per
    processor, ``dask:N`` one with N workers, and ``dask:ADDRESS`` a running cluster, given by the address of its scheduler or by a
    scheduler file.

    >>> type(open_engine("local")).__name__, type(open_engine("local:2")).__name__, type(open_engine("dask")).__name__
    ('InProcess', 'Processes', 'Cluster')
    >>> open_engine("slurm")
    Traceback (most recent call last):
    treegauge.errors.UsageError: unknown engine 'slurm'; valid: local, local:N, dask, dask:N, dask:ADDRESS
    """
    kind, _, rest = name.partition(":")
    workers = whole_number(rest)
    if kind == "local" and (not rest or workers == 1):
        return InProcess()
    # Imported only when needed, because most commands run in this process and should start at once.
    from treegauge.engines.workers import Cluster, Processes

    if kind == "local" and workers:
        return Processes(workers)
    if kind == "dask" and (not rest or workers):
        return Cluster(workers=workers)
    if kind == "dask" and ("://" in rest or rest.endswith(".json")):
        return Cluster(rest)
    if kind == "dask":
        raise UsageError(f"engine {name}: give the address of a Dask scheduler (tcp://HOST:PORT) or a scheduler file (.json)")
    raise UsageError(f"unknown engine {name[:80]!r}; valid: {ENGINE_NAMES}")
