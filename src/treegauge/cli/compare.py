"""``treegauge compare``: which parser is better, by how much, and how sure one may be."""

from __future__ import annotations

import json

import click

from treegauge.cli._engines import engine_options
from treegauge.cli._options import named_systems, reading_options
from treegauge.cli._progress import gold_and_tests, progress
from treegauge.engines import Engine
from treegauge.errors import UnknownName, UsageError
from treegauge.io.sources import ReadOptions

FORMATS = ("table", "json", "csv", "markdown", "latex")


@click.command(
    epilog="""\b
Examples:
  treegauge compare gold.mrg A.mrg B.mrg
  treegauge compare gold.mrg mine=out1.mrg theirs=out2.mrg --structure PP,NP --by-length
  treegauge compare gold.mrg runs/*.mrg -m parseval --rates f1 --format latex"""
)
@click.argument("gold")
@click.argument("tests", nargs=-1, required=True, metavar="A B...")
@click.option("-m", "--metric", "metrics", multiple=True, metavar="NAME[:OPTION...]",
              help="A metric to compare by; may be given several times. Default: every metric.")  # fmt: skip
@click.option("--rates", default="", metavar="NAME,...",
              help="Rates to compare: names as `f1` or `parseval.f1`, or `all`. Default: each metric's main one.")  # fmt: skip
@click.option("-p", "--preset", default="default", show_default=True, metavar="NAME|FILE", help="Which brackets and words count.")
@click.option("--on-mismatch", type=click.Choice(["align", "skip", "error"]), default="align", show_default=True,
              help="Sentences that do not fit the treebank: count as missed, leave out for all systems, or stop.")  # fmt: skip
@click.option(
    "--structure", default="", metavar="LABEL,...", help="Compare the brackets of these labels, too, one label at a time."
)
@click.option("--by-length", is_flag=True, help="Compare by sentence length, too.")
@click.option("--lengths", default="10,20,30,40", show_default=True, metavar="N,...", help="Upper ends of the lengths.")
@click.option("--rounds", type=click.IntRange(1), default=10_000, show_default=True,
              help="Random swaps for the tests, and bootstrap samples for the intervals.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Level of the confidence intervals.")  # fmt: skip
@click.option("--interval", type=click.Choice(["percentile", "bca"]), default="percentile", show_default=True,
              help="Kind of bootstrap interval.")  # fmt: skip
@click.option("--table", "tables", multiple=True, metavar="NAME",
              help="Show only this table, may be given several times: rates, differences, matrix, length, structure, items, "
              "comparative, measures, crossing, brackets, tidy.")  # fmt: skip
@click.option("--store", metavar="FILE|URL", help="Judgements of a human check (treegauge check): with them all twelve measures.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@reading_options
@engine_options(no_shards="a test needs all sentences at once, and takes seconds; --engine shares out its rounds")
def command(
    gold: str,
    tests: tuple[str, ...],
    metrics: tuple[str, ...],
    rates: str,
    preset: str,
    on_mismatch: str,
    structure: str,
    by_length: bool,
    lengths: str,
    rounds: int,
    seed: int,
    level: float,
    interval: str,
    tables: tuple[str, ...],
    store: str | None,
    form: str,
    options: ReadOptions,
    engine: Engine,
) -> None:
    """Compare parsers: difference, confidence interval and p for every metric and pair.

    GOLD and A, B ... are treebank files, directories or globs; NAME=FILE gives a system a name. Every p is of a paired
    randomisation test that swaps whole sentences; McNemar's test and the real test of Hogenhout & Matsumoto (1996) stand
    beside it.
    """
    from treegauge.significance.compare import Settings, compare
    from treegauge.significance.tables import TABLES
    from treegauge.tables import render

    for name in tables:
        if name not in TABLES:
            raise UnknownName("table", name, TABLES)
    systems = named_systems(tests)
    if len(systems) < 2:
        raise UsageError("compare needs at least two systems: treegauge compare GOLD A B")
    settings = Settings(
        metrics=metrics,
        rates=_words(rates),
        preset=preset,
        on_mismatch=on_mismatch,
        rounds=rounds,
        seed=seed,
        level=level,
        interval=interval,
        lengths=_lengths(lengths) if by_length else (),
        structure=_words(structure),
    )
    gold_bank, banks = gold_and_tests(gold, list(systems.values()), options)
    parses = dict(zip(systems, banks, strict=True))
    checked = None
    if store is not None:
        from treegauge.humancheck.results import checked_systems, plan_for

        checked = checked_systems(gold_bank, parses, store, plan_for(metrics, preset))
    with progress("Resampling", settings.all_rounds(len(systems)), unit="rounds") as advance:
        comparison = compare(
            gold_bank, parses, settings, judgements=checked and checked.judgements, progress=advance, engine=engine
        )
    if form == "json":
        human_check = {"human_check": checked.results.to_dict()} if checked else {}
        click.echo(json.dumps(comparison.to_dict() | human_check, ensure_ascii=False, indent=1))
        return
    # A program that reads CSV wants one table: all differences, unless another is asked for.
    shown = comparison.tables(*(tables or (("tidy",) if form == "csv" else ())))
    if checked and on_mismatch != "skip":
        # The check's own tables of these names also estimate what nobody has judged yet; they are of all sentences.
        estimated = {table.title: table for table in checked.results.tables()}
        shown = [estimated.get(table.title, table) for table in shown]
    click.echo("\n\n".join(render(table, form) for table in shown))
    if form == "csv" or (tables and "differences" not in tables):
        for warning in comparison.warnings:
            click.echo(f"warning: {warning}", err=True)
    if form in ("table", "markdown"):
        click.echo(f"\n{comparison.signature}")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _lengths(text: str) -> tuple[int, ...]:
    words = _words(text)
    if not words or not all(word.isdigit() and int(word) > 0 for word in words):
        raise UsageError(f"--lengths {text!r}: lengths are positive numbers with commas between, as in 10,20,30,40")
    return tuple(int(word) for word in words)
