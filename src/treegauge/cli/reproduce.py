"""``treegauge reproduce``: a paper's experiment, with the paper's numbers beside ours."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from treegauge.cli._group import INPUT, Command, OutputFile, protect_inputs
from treegauge.cli._options import engine_option, format_option, reading_options
from treegauge.engines import Engine
from treegauge.errors import UnknownName
from treegauge.experiments import EXPERIMENTS, Experiment, load_experiment
from treegauge.experiments.experiment import Corpus, document, run_experiment
from treegauge.io import ReadOptions, read


class Reproduce(click.Group):
    """A group with a command for each experiment, made from the experiment's settings when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(EXPERIMENTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(load_experiment(cmd_name)) if cmd_name in EXPERIMENTS else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in EXPERIMENTS and not args[0].startswith("-"):
            raise UnknownName("experiment", args[0], EXPERIMENTS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Experiments"):
            formatter.write_dl(list(EXPERIMENTS.items()))


@click.group(
    cls=Reproduce,
    invoke_without_command=True,
    subcommand_metavar="EXPERIMENT [TREEBANK] [OPTIONS]...",
    epilog="""\b
Examples:
  treegauge reproduce --list
  treegauge reproduce goodman-table1
  treegauge reproduce goodman-table1 train.mrg -o results/ --runs 10 --iterations 75
  treegauge reproduce goodman-table1 train.mrg -o results/ --runs 10 --iterations 75 --resume""",
)
@click.option("--list", "listing", is_flag=True, help="List the experiments.")
@click.pass_context
def command(ctx: click.Context, listing: bool) -> None:
    """Run a paper's experiment on TREEBANK, or on our own, and show its numbers beside ours.

    `treegauge reproduce EXPERIMENT --help` lists the options.
    """
    if listing:
        for name, line in EXPERIMENTS.items():
            click.echo(f"{name:<18}{line}")
    elif ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _command(experiment: Experiment) -> click.Command:
    """The command of one experiment: the common options, and one for each of its settings."""
    fields = dataclasses.fields(experiment.settings)
    names = [field.name for field in fields]

    @click.command(
        experiment.name, cls=Command, help=f"{experiment.title}.", epilog=f"Example: treegauge reproduce {experiment.name}"
    )
    @click.option("-o", "--output", type=OutputFile(file_okay=False), metavar="FOLDER",
                  help="Write the report (JSON, Markdown, figures) there; keep finished parts.")  # fmt: skip
    @click.option("--resume", is_flag=True, help="Continue an interrupted run from the parts in FOLDER.")
    @format_option(("table", "markdown", "json", "csv", "latex"))
    @click.option("--jobs", type=click.IntRange(1), metavar="N",
                  help="Threads. Does not change the result.  [default: all processors]")  # fmt: skip
    @engine_option
    def run(output: str | None, resume: bool, form: str, jobs: int | None, engine: Engine, **given: Any) -> None:
        settings = experiment.settings(**{name: given.pop(name) for name in names})
        _run(experiment, settings, output, resume, form, jobs, engine, **given)

    for field in reversed(fields):
        run.params.insert(0, _option(field))
    return run if experiment.corpus is None else _with_treebank(run)


def _option(field: dataclasses.Field[Any]) -> click.Option:
    flag = f"--{field.name.replace('_', '-')}"
    default: Any = field.default
    declared = f"{flag}/--no-{flag[2:]}" if isinstance(default, bool) else flag
    # click infers the type from the default.
    return click.Option([declared], default=default, show_default=True, help=field.metadata["help"])


def _with_treebank(run: click.Command) -> click.Command:
    callback: Callable[..., Any] | None = run.callback
    assert callback is not None
    with_reading: Any = reading_options(callback)
    run.callback = with_reading
    run.params.append(click.Argument(["treebank"], required=False, type=INPUT))
    run.params.append(click.Option(["--name"], metavar="TEXT", help="Name of the treebank in the report."))
    run.params.extend(reversed(with_reading.__click_params__))
    return run


def _run(
    experiment: Experiment, settings: Any, output: str | None, resume: bool, form: str, jobs: int | None, engine: Engine,
    treebank: str | None = None, name: str | None = None, options: ReadOptions | None = None,
) -> None:  # fmt: skip
    from treegauge.tables import render

    if output:
        protect_inputs(*(os.path.join(output, experiment.name + suffix) for suffix in (".json", ".md", ".pieces.jsonl")))
    corpus: Corpus | None = None
    if experiment.corpus is not None:
        corpus = Corpus(name or Path(treebank).stem, read(treebank, options or ReadOptions())) if treebank else experiment.corpus()

    def progress(line: str) -> None:
        click.echo(line, err=True)

    report = run_experiment(
        experiment, corpus, settings, folder=output, resume=resume, threads=jobs, progress=progress, engine=engine
    )
    if form == "json":
        click.echo(json.dumps(document(experiment, report, experiment.fingerprint(corpus, settings)), ensure_ascii=False, indent=1))
        return
    click.echo("\n\n".join(render(table, form) for table in report.tables))
    for note in report.notes:
        click.echo(f"- {note}", err=True)
