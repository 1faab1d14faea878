"""The option ``--engine``, as a decorator for commands, which get the opened engine as the keyword argument ``engine``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from treegauge.errors import UsageError

if TYPE_CHECKING:
    from treegauge.engines import Engine

NO_SHARDS = (
    "runs are no longer cut into parts (--shard, --part, merge): use --engine with a Dask cluster\n"
    "  docs/howto/cluster.md shows how to start one inside a batch job, and how to split the input of parse."
)


def engine_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--engine``, and refuse ``--shard`` and ``--part``, which earlier releases had."""

    @functools.wraps(command)
    def with_engine(*args: Any, engine: str, shard: str | None, part: str | None, **others: Any) -> Any:
        if shard is not None or part is not None:
            raise UsageError(NO_SHARDS)
        from treegauge.engines import open_engine

        with closing(_EngineWithProgress(open_engine(engine))) as opened:
            return command(*args, engine=opened, **others)

    return _ENGINE(click.option("--shard", hidden=True)(click.option("--part", hidden=True)(with_engine)))


_ENGINE = click.option(
    "--engine",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where the work runs: local (this process), local:N (N processes), dask (a cluster on this machine) or "
    "dask:tcp://HOST:PORT. Does not change the result.",
)


class _EngineWithProgress:
    """An engine with a progress bar over its blocks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def in_process(self) -> bool:
        return self._engine.in_process

    def map(self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any], *, title: str = "") -> Iterator[Any]:
        results = self._engine.map(function, shared, items, title=title)
        return results if self._engine.in_process or not title else _with_progress(results, items, title)

    def close(self) -> None:
        self._engine.close()


def _with_progress(results: Iterator[Any], items: Iterable[Any], title: str) -> Iterator[Any]:
    from treegauge.cli._progress import progress

    with progress(title, len(items) if isinstance(items, list | tuple) else None, unit="blocks") as advance:
        for result in results:
            yield result
            advance()
