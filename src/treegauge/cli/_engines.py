"""The options ``--engine``, ``--shard`` and ``--part``, as a decorator for commands.

A command writes ``@engine_options()`` and gets one keyword argument ``engine``. With ``--shard`` that engine stops the command when
its part is done; ``treegauge merge`` runs the command again with an engine that knows all results.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._group import Command
from treegauge.errors import UsageError

if TYPE_CHECKING:
    from treegauge.engines import Engine
    from treegauge.engines.parts import PartDone

__all__ = ["ShardedCommand", "engine_options"]

_WHERE = ("engine", "shard", "part", "jobs", "quiet")
"""Options that do not change the result."""

_INPUTS = ("file", "gold", "treebank", "brackets")

Function = Callable[..., Any]


class ShardedCommand(Command):
    """A command that records its command line, so that its parts can name the run they belong to."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["treegauge.arguments"] = tuple(args)
        return super().parse_args(ctx, args)


def engine_options(*, no_shards: str | Callable[[Mapping[str, Any]], str] = "") -> Callable[[Function], Function]:
    """Add the options; ``no_shards`` is the reason why a command (or a command with such options) cannot be run in parts."""

    def add(command: Function) -> Function:
        @functools.wraps(command)
        def with_engine(*args: Any, engine: str, shard: str | None, part: str | None, **others: Any) -> Any:
            context = click.get_current_context()
            if context.obj is not None:
                return command(*args, engine=_EngineWithProgress(context.obj), **others)
            reason = no_shards if isinstance(no_shards, str) else no_shards(others)
            if shard is not None and reason:
                raise UsageError(f"{context.info_name} cannot be run in parts: {reason}")
            if shard is not None and others.get("resume"):
                raise UsageError("--resume cannot be combined with --shard: a part is written whole or not at all, so run it again")
            if shard is not None and "-" in [others.get(name) for name in _INPUTS]:
                raise UsageError("standard input can be read only once: save it to a file to split it into parts")
            if part is not None and shard is None:
                raise UsageError("--part names the output file of a part: choose the part with --shard, as in --shard 3/10")
            from treegauge.engines import open_engine

            if shard is None:
                with closing(open_engine(engine)) as opened:
                    return command(*args, engine=_EngineWithProgress(opened), **others)
            return _run_part(context, shard, part, engine, lambda opened: command(*args, engine=opened, **others))

        for option in reversed(_OPTIONS if no_shards == "" or callable(no_shards) else (_OPTIONS[0], _HIDDEN, _HIDDEN_PART)):
            with_engine = option(with_engine)
        return with_engine

    return add


_OPTIONS = (
    click.option(
        "--engine",
        default="local",
        show_default=True,
        metavar="NAME",
        help="Where the work runs: local (this process), local:N (N processes), dask (a cluster on this machine) or "
        "dask:tcp://HOST:PORT. Does not change the result.",
    ),
    click.option("--shard", metavar="I/N", help="Run only part I of N and write it to a file for treegauge merge."),
    click.option("--part", metavar="FILE", help="Output file of the part (with --shard).  [default: COMMAND.I-of-N.part]"),
)
_HIDDEN = click.option("--shard", hidden=True)
_HIDDEN_PART = click.option("--part", hidden=True)


class _EngineWithProgress:
    """An engine with a progress bar over its shards."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def in_process(self) -> bool:
        return self._engine.in_process

    def plan(self, make: Callable[[], Any]) -> Any:
        return self._engine.plan(make)

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


def _run_part(context: click.Context, shard: str, path: str | None, name: str, run: Callable[[Engine], Any]) -> None:
    from treegauge.engines import open_engine
    from treegauge.engines.parts import OnePart, PartDone, parse_shard

    number, of = parse_shard(shard)
    with closing(OnePart(number, of, _EngineWithProgress(open_engine(name)))) as engine:
        try:
            run(engine)
        except PartDone as done:
            _write(context, number, of, path or f"{context.info_name}.{number}-of-{of}.part", done)
            return
    raise UsageError("with these options there is nothing to split: leave out --shard")


def _write(context: click.Context, number: int, of: int, path: str, done: PartDone) -> None:
    from treegauge import __version__
    from treegauge.cli._parts import part_format
    from treegauge.engines.parts import RunPart, write_part

    settings = {name: value for name, value in context.params.items() if name not in _WHERE}
    part = RunPart(
        command=str(context.info_name),
        arguments=context.meta["treegauge.arguments"],
        settings=json.loads(json.dumps(settings, default=str)),
        version=__version__,
        number=number,
        of=of,
        shards=done.shards,
        cut=done.cut,
        plans=done.plans,
        results=done.results,
    )
    write_part(part, path, part_format(part.command))
    click.echo(f"wrote {path}: {len(done.results)} of {done.shards} shards", err=True)
