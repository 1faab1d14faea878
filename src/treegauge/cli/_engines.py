"""The options ``--engine``, ``--shard`` and ``--part``, as decorators for commands.

A command with ``@engine_option`` gets the keyword argument ``engine``. A command that can be run in parts has ``@shard_options()``
and returns a :class:`ShardedRun`, in which it is divided in two: counting, on an engine or shard by shard, and finishing, which
prints or writes what was counted. With ``--shard`` only some shards are counted, and their values are written to a part;
``treegauge merge`` adds the parts and finishes.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click

from treegauge.cli._files import OUTPUT
from treegauge.cli._group import Command
from treegauge.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from treegauge.engines import Engine
    from treegauge.engines.parts import PartFormat, ShardedWork, ShardValues

_WHERE = ("engine", "shard", "part", "jobs", "quiet")
"""Options that do not change the result."""

_INPUTS = ("file", "gold", "treebank", "brackets")

_FORMATS = {
    "score": "treegauge.scoring.shard_files",
    "freval": "treegauge.scoring.shard_files",
    "parse": "treegauge.parsing.shards",
    "induce": "treegauge.grammar.tree_counts",
    "learn": "treegauge.learning.loop",
}
"""The module that defines the format of each command's parts."""

Function = Callable[..., Any]
CountedT = TypeVar("CountedT")


@dataclass(frozen=True, eq=False)
class ShardedRun(Generic[CountedT]):
    """A run of a command, divided in two: ``count`` computes a value on an engine, ``finish`` prints or writes it.

    ``work`` returns the same counting divided into shards, and ``total`` computes what ``count`` would have returned from the
    values of all shards in order.
    """

    work: Callable[[], ShardedWork]
    total: Callable[[Iterable[Any]], CountedT]
    count: Callable[[Engine], CountedT]
    finish: Callable[[CountedT], None]


class ShardedCommand(Command):
    """A command that records its command line, so that a part can name the run it belongs to."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["treegauge.arguments"] = tuple(args)
        return super().parse_args(ctx, args)


def engine_option(no_shards: str) -> Callable[[Function], Function]:
    """Add ``--engine``; ``no_shards`` is the reason why the command cannot be run in parts."""

    def add(command: Function) -> Function:
        @functools.wraps(command)
        def with_engine(*args: Any, engine: str, shard: str | None, part: str | None, **others: Any) -> Any:
            _check_shard_options(shard, part, others, no_shards)
            with closing(_open(engine)) as opened:
                return command(*args, engine=opened, **others)

        return _ENGINE(click.option("--shard", hidden=True)(click.option("--part", hidden=True)(with_engine)))

    return add


def shard_options(
    no_shards: Callable[[Mapping[str, Any]], str] = lambda chosen: "",
) -> Callable[[Callable[..., ShardedRun[Any] | None]], Function]:
    """Add ``--engine``, ``--shard`` and ``--part`` to a command that returns a :class:`ShardedRun`, or None if it is done already.

    ``no_shards`` returns the reason why the command cannot be run in parts with the chosen options; empty if it can.
    """

    def add(command: Callable[..., ShardedRun[Any] | None]) -> Function:
        @functools.wraps(command)
        def with_shards(*args: Any, engine: str, shard: str | None, part: str | None, **others: Any) -> None:
            context = click.get_current_context()
            values: ShardValues | None = context.obj  # the values of all shards, if treegauge merge runs the command
            if values is None:
                _check_shard_options(shard, part, others, no_shards(others))
            run = command(*args, **others)
            if run is not None and values is not None:
                run.finish(run.total(values.in_order()))
            elif shard is not None:
                _write_part(context, shard, part, engine, run)
            elif run is not None:
                with closing(_open(engine)) as opened:
                    run.finish(run.count(opened))

        return _ENGINE(_SHARD(_PART(with_shards)))

    return add


def _check_shard_options(shard: str | None, part: str | None, others: Mapping[str, Any], reason: str) -> None:
    if part is not None and shard is None:
        raise UsageError("--part names the output file of a part: choose the part with --shard, as in --shard 3/10")
    if shard is None:
        return
    if reason:
        raise UsageError(f"{click.get_current_context().info_name} cannot be run in parts: {reason}")
    if others.get("resume"):
        raise UsageError("--resume cannot be combined with --shard: a part is written whole or not at all, so run it again")
    if "-" in [others.get(name) for name in _INPUTS]:
        raise UsageError("standard input can be read only once: save it to a file to split it into parts")


_ENGINE = click.option(
    "--engine",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where the work runs: local (this process), local:N (N processes), dask (a cluster on this machine) or "
    "dask:tcp://HOST:PORT. Does not change the result.",
)
_SHARD = click.option("--shard", metavar="I/N", help="Run only part I of N and write it to a file for treegauge merge.")
_PART = click.option(
    "--part", type=OUTPUT, metavar="FILE", help="Output file of the part (with --shard).  [default: COMMAND.I-of-N.part]"
)


def _open(name: str) -> Engine:
    from treegauge.engines import open_engine

    return _EngineWithProgress(open_engine(name))


class _EngineWithProgress:
    """An engine with a progress bar over its shards."""

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

    with progress(title, len(items) if isinstance(items, list | tuple) else None, unit="shards") as advance:
        for result in results:
            yield result
            advance()


def _write_part(context: click.Context, shard: str, path: str | None, engine: str, run: ShardedRun[Any] | None) -> None:
    from treegauge import __version__
    from treegauge.engines.parts import RunPart, parse_shard, write_part

    number, of = parse_shard(shard)
    if run is None:
        raise UsageError("with these options there is nothing to split: leave out --shard")
    with closing(_open(engine)) as opened:
        values = run.work().part(number, of, opened)
    command, path = str(context.info_name), path or f"{context.info_name}.{number}-of-{of}.part"
    chosen = {name: value for name, value in context.params.items() if name not in _WHERE}
    settings = json.loads(json.dumps(chosen, default=str))
    part = RunPart(command, context.meta["treegauge.arguments"], settings, __version__, number, of, values)
    write_part(part, path, part_format(command))
    click.echo(f"wrote {path}: {len(values.values)} of {values.shards} shards", err=True)


def part_format(command: str) -> PartFormat:
    """The format of a command's parts."""
    if command not in _FORMATS:
        raise UnknownName("command with parts", command, _FORMATS)
    return importlib.import_module(_FORMATS[command]).PART_FORMAT
