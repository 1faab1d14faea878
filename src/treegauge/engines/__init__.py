"""Engines that run a command's work: in this process, in worker processes, or on a Dask cluster.

An engine maps a function over shards and returns the results in the order of the shards. It does not depend on trees or parsers. A
shard is a piece of work, most often a block of sentences; results are small, and add up. Since neither the shards nor the order of
addition depend on the engine, the result has the same bits on any engine.

A shard that fails is tried again; if it fails every time, it is halved until the sentences that make it fail are found and named.
Nothing is left out: either every shard has a result, or there is an error. The errors of treegauge itself are about the input; they
would occur again, and are raised at once.
"""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from treegauge.errors import ShardFailed, TreegaugeError, UsageError
from treegauge.tables import whole_number

__all__ = ["ENGINE_NAMES", "IN_PROCESS", "Engine", "InProcess", "Shard", "Threads", "open_engine", "usable_processors"]

TRIES = 3
"""The number of times a shard is tried before the run fails."""
_MOST_NAMED = 20

SharedT = TypeVar("SharedT")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
ShardFunction = Callable[[SharedT, ItemT], ResultT]
"""A function of the value that all shards share and of a shard."""


@runtime_checkable
class Shard(Protocol):
    """A shard that can be split: ``str`` names its sentences, ``halves`` are two smaller shards, or none if it is one sentence."""

    def halves(self) -> Sequence[Any]: ...


@dataclass(frozen=True, eq=False)
class SentenceBlock:
    """Consecutive sentences, the first of which has the number ``first``, counted from 0: the same stretch of one or several
    sequences.

    >>> str(SentenceBlock(10, ("abcde",))), [(str(half), half.sides) for half in SentenceBlock(10, ("ab", "xy")).halves()]
    ('sentences 11 to 15', [('sentence 11', ('a', 'x')), ('sentence 12', ('b', 'y'))])
    """

    first: int
    sides: tuple[Any, ...]

    def __len__(self) -> int:
        return max(map(len, self.sides))

    def __str__(self) -> str:
        last = self.first + len(self)
        return f"sentence {last}" if len(self) == 1 else f"sentences {self.first + 1} to {last}"

    def halves(self) -> list[SentenceBlock]:
        middle = len(self) // 2
        if not middle:
            return []
        return [
            SentenceBlock(self.first, tuple(side[:middle] for side in self.sides)),
            SentenceBlock(self.first + middle, tuple(side[middle:] for side in self.sides)),
        ]


def blocks_of(items: Iterable[Any], size: int, first: int = 0) -> Iterator[SentenceBlock]:
    """Items in blocks of ``size``, numbered from ``first`` on.

    >>> [(block.first, block.sides) for block in blocks_of("abc", 2)]
    [(0, (('a', 'b'),)), (2, (('c',),))]
    """
    rest = iter(items)
    while taken := tuple(itertools.islice(rest, size)):
        yield SentenceBlock(first, (taken,))
        first += len(taken)


class Engine:
    """A way to map a function over shards; leaving a ``with`` block closes the engine.

    ``in_process`` tells whether work runs in this process, so that nothing is gained by cutting it into shards.
    """

    in_process = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """``function(shared, item)`` for each item, in the order of the items; ``title`` names the work for the progress bar.

        Functions, shared values, items and results must be picklable.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Stop the workers."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class InProcess(Engine):
    """The engine that runs all work in this process, one shard after the other.

    >>> import operator
    >>> list(InProcess().map(operator.mul, 3, range(4)))
    [0, 3, 6, 9]
    """

    in_process = True

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`Engine`."""
        return (function(shared, item) for item in items)


class Threads(Engine):
    """The engine that runs work in threads of this process, for functions that release the interpreter lock.

    >>> import operator
    >>> list(Threads(2).map(operator.mul, 3, range(4)))
    [0, 3, 6, 9]
    """

    in_process = True

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def map(
        self, function: ShardFunction[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`Engine`."""
        return in_threads(partial(function, shared), items, self._threads)


def in_threads(work: Callable[[ItemT], ResultT], items: Iterable[ItemT], threads: int, *, ahead: int = 1) -> Iterator[ResultT]:
    """The results of ``work`` for each item, in the order of the items; ``ahead`` items per thread are begun before their turn.

    >>> list(in_threads(abs, [-2, 1, -3], threads=2))
    [2, 1, 3]
    """
    if threads <= 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    rest = iter(items)
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque(pool.submit(work, item) for item in itertools.islice(rest, ahead * threads))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(work, item) for item in itertools.islice(rest, 1))
                yield result
        finally:
            for task in waiting:
                task.cancel()


def usable_processors() -> int:
    """The number of processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


IN_PROCESS = InProcess()
"""The default engine."""


class WorkerLost(Exception):
    """A worker died while it worked on some shard; the message tells how."""


class Pool(Protocol):
    """The interface of a pool of workers. A task is the pool's own handle of a submitted shard."""

    @property
    def window(self) -> int:
        """The largest number of shards that are submitted before the first result is taken."""
        ...

    def start(self, item: Any) -> Any:
        """Submit a shard."""
        ...

    def finish(self, task: Any) -> Any:
        """The result of a task; raises :class:`WorkerLost` if its worker died, and whatever the work itself raised."""
        ...

    def alone(self, item: Any) -> Any:
        """The result of a shard, computed by a worker of its own, so that a crash affects no other shard."""
        ...

    def abandon(self, tasks: Iterable[Any]) -> None:
        """Cancel tasks whose results are no longer wanted."""
        ...


def in_order(pool: Pool, items: Iterable[Any]) -> Iterator[Any]:
    """The results of all shards, in order.

    All shards of a sequence are submitted at once, those of an iterator only one window ahead of the results taken.
    """
    rest = iter(items)
    window = len(items) if isinstance(items, Sequence) else pool.window
    waiting: deque[tuple[Any, Any]] = deque()
    try:
        waiting.extend((item, pool.start(item)) for item in itertools.islice(rest, window))
        while waiting:
            item, task = waiting.popleft()
            yield _with_retries(pool, item, task)
            waiting.extend((item, pool.start(item)) for item in itertools.islice(rest, 1))
    finally:
        pool.abandon(task for _, task in waiting)


def _with_retries(pool: Pool, item: Any, task: Any) -> Any:
    """The result of a shard, tried up to ``TRIES`` times."""
    failure = Exception()
    for again in range(TRIES):
        try:
            return pool.alone(item) if again else pool.finish(task)
        except TreegaugeError:
            raise
        except Exception as error:
            failure = error
    raise ShardFailed(_report(failure, item, _culprits(pool, item))) from failure


def _culprits(pool: Pool, item: Any) -> list[Any]:
    """The smallest parts of a shard that fail, in order; empty if its halves do not fail."""
    found: list[Any] = []
    parts = list(_halves(item))[::-1]
    while parts and len(found) < _MOST_NAMED:
        part = parts.pop()
        try:
            pool.alone(part)
        except Exception:
            smaller = _halves(part)
            if smaller:
                parts += list(smaller)[::-1]
            else:
                found.append(part)
    return found


def _halves(item: Any) -> Sequence[Any]:
    return item.halves() if isinstance(item, Shard) else ()


def _report(failure: Exception, item: Any, culprits: Sequence[Any]) -> str:
    why = str(failure) if isinstance(failure, WorkerLost) else f"{type(failure).__name__}: {failure}"
    lines = [f"work failed {TRIES} times on {item}: {why}"]
    lines += [f"  it fails on {culprit}" for culprit in culprits]
    if not culprits and _halves(item):
        lines.append("  its halves do not fail: perhaps the whole shard needed too much memory")
    return "\n".join([*lines, "  Nothing was left out: there is no result without these sentences."])


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
