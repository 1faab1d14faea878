"""Where work runs: in this process, in worker processes, on a Dask cluster, or one part at a time with no scheduler at all.

An engine maps a function over shards and gives the results in the shards' order. It knows nothing of trees or parsers; a shard is a
small value that says what to do, a result is small and adds to others. As shards and the order of addition do not depend on the
engine, neither does a single bit of what comes out.

Engines by name, as the command line gives them.
"""

from __future__ import annotations

from treegauge.engines.base import HERE, Engine, Here, Shard
from treegauge.errors import UsageError

__all__ = ["ENGINE_NAMES", "HERE", "Engine", "Here", "Shard", "open_engine"]

ENGINE_NAMES = "local, local:N, dask, dask:N, dask:ADDRESS"


def open_engine(name: str) -> Engine:
    """The engine of a name; nothing starts before there is work.

    ``local`` is this process, ``local:N`` are N worker processes; ``dask`` is a Dask cluster on this machine with a worker for
    each processor, ``dask:N`` one with N workers, and ``dask:ADDRESS`` one that is there already, given by the address of its
    scheduler or by a scheduler file.

    >>> type(open_engine("local")).__name__, type(open_engine("local:2")).__name__, type(open_engine("dask")).__name__
    ('Here', 'Processes', 'Cluster')
    >>> open_engine("slurm")
    Traceback (most recent call last):
    treegauge.errors.UsageError: unknown engine 'slurm'; valid: local, local:N, dask, dask:N, dask:ADDRESS
    """
    kind, _, rest = name.partition(":")
    is_number = rest.isdigit() and int(rest) > 0
    if kind == "local" and (not rest or is_number):
        return _processes(int(rest)) if is_number and int(rest) > 1 else Here()
    if kind == "dask" and (not rest or is_number):
        return _cluster(workers=int(rest) if rest else None)
    if kind == "dask" and ("://" in rest or rest.endswith(".json")):
        return _cluster(rest)
    if kind == "dask":
        raise UsageError(f"--engine {name}: the address of a Dask scheduler begins as in tcp://; a scheduler file ends in .json")
    raise UsageError(f"unknown engine {name!r}; valid: {ENGINE_NAMES}")


# Imported only when they are wanted: most commands run in this process, and should start at once.


def _processes(workers: int) -> Engine:
    from treegauge.engines.processes import Processes

    return Processes(workers)


def _cluster(address: str = "", workers: int | None = None) -> Engine:
    from treegauge.engines.cluster import Cluster

    return Cluster(address, workers)
