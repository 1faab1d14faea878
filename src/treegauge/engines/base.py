"""What an engine is, the one that runs everything in this process, and how a pool of workers is used in order and with patience.

A shard that fails is tried again; if it fails every time, it is cut into halves until the sentences are found that make it fail,
and these are named. Nothing is left out: there is a result of everything, or an error. Errors that treegauge raises on purpose are
about the input, would come again, and are raised at once.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

from treegauge.errors import ShardFailed, TreegaugeError

__all__ = ["HERE", "TRIES", "Broken", "Closing", "Engine", "Here", "Pool", "Shard", "Work", "in_order"]

TRIES = 3
"""How often a shard is tried before it is given up."""
_MOST_NAMED = 20

SharedT = TypeVar("SharedT")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")
Work = Callable[[SharedT, ItemT], ResultT]
"""What is done with each shard, given what all shards have in common."""


@runtime_checkable
class Shard(Protocol):
    """A shard that can be cut: ``str`` says which sentences it has, ``halves`` are two smaller ones, or none if it has but one."""

    def halves(self) -> Sequence[Any]: ...


class Engine(Protocol):
    """Something that maps a function over shards."""

    @property
    def in_process(self) -> bool:
        """Whether work runs in this process, so that there is nothing to gain from cutting it into shards."""
        ...

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """``function(shared, item)`` of each item, in the order of the items; ``title`` says in a word what is being done.

        Functions, shared values, items and results must be such that pickle can carry them.
        """
        ...

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """What ``make`` gives: how work is cut into shards, where that takes a look at the files; parts of a run agree on it."""
        ...

    def close(self) -> None:
        """Let the workers go."""
        ...


class Closing:
    """What all engines do alike: make a plan when asked for one, and close when the ``with`` is left."""

    def plan(self, make: Callable[[], ResultT]) -> ResultT:
        """See :class:`Engine`."""
        return make()

    def close(self) -> None:
        """Let the workers go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class Here(Closing):
    """The engine that does all work in this process, one shard after the other.

    >>> import operator
    >>> list(Here().map(operator.mul, 3, range(4)))
    [0, 3, 6, 9]
    """

    in_process = True

    def map(
        self, function: Work[SharedT, ItemT, ResultT], shared: SharedT, items: Iterable[ItemT], *, title: str = ""
    ) -> Iterator[ResultT]:
        """See :class:`Engine`."""
        return (function(shared, item) for item in items)


HERE = Here()
"""The engine where no other is asked for."""


class Broken(Exception):
    """A worker went away while it worked, for whatever reason and on whatever shard; the message says how."""


class Pool(Protocol):
    """Workers that can be given one shard after the other. A task is whatever stands for a shard that was handed out."""

    @property
    def window(self) -> int:
        """How many shards may be handed out before the first result is taken."""
        ...

    def start(self, item: Any) -> Any:
        """Hand out a shard."""
        ...

    def finish(self, task: Any) -> Any:
        """The result of a task; :class:`Broken` if its worker went away, else whatever its work raised."""
        ...

    def alone(self, item: Any) -> Any:
        """The result of a shard, worked on while nothing else is, so that it takes nobody else down."""
        ...

    def abandon(self, tasks: Iterable[Any]) -> None:
        """Forget tasks whose results nobody wants any more."""
        ...


def in_order(pool: Pool, items: Iterable[Any]) -> Iterator[Any]:
    """The results of all shards, in order.

    Shards that come one by one are handed out never far ahead of what has been taken; of those that are there already all are, so
    that nobody waits for the first one if it takes longest.
    """
    rest = iter(items)
    window = len(items) if isinstance(items, Sequence) else pool.window
    waiting: deque[tuple[Any, Any]] = deque()
    try:
        waiting.extend((item, pool.start(item)) for item in itertools.islice(rest, window))
        while waiting:
            item, task = waiting.popleft()
            yield _patiently(pool, item, task)
            waiting.extend((item, pool.start(item)) for item in itertools.islice(rest, 1))
    finally:
        pool.abandon(task for _, task in waiting)


def _patiently(pool: Pool, item: Any, task: Any) -> Any:
    """The result of a shard, however often it takes."""
    try:
        return pool.finish(task)
    except TreegaugeError:
        raise
    except Exception as error:
        failure = error
    for _ in range(TRIES - 1):
        try:
            return pool.alone(item)
        except TreegaugeError:
            raise
        except Exception as error:
            failure = error
    raise ShardFailed(_report(failure, item, _culprits(pool, item))) from failure


def _culprits(pool: Pool, item: Any) -> list[Any]:
    """The smallest parts of a shard that fail, in order; none if its halves do not fail."""
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
    why = str(failure) if isinstance(failure, Broken) else f"{type(failure).__name__}: {failure}"
    lines = [f"work failed {TRIES} times on {item}: {why}"]
    lines += [f"  it fails on {culprit}" for culprit in culprits]
    if not culprits and _halves(item):
        lines.append("  its halves do not fail: was there too little memory for the whole?")
    return "\n".join([*lines, "  Nothing was left out: there is no result without these sentences."])
