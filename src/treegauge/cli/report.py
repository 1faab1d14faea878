"""``treegauge report``: a report on parsers as one HTML page."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treegauge.cli._group import INPUT, Command, OutputFile, protect_inputs
from treegauge.cli._options import (
    comparing_options,
    format_option,
    named_single_runs,
    output_option,
    progress,
    reading_both_options,
    report_problems,
    resampling_options,
    write_figures,
)
from treegauge.cli._treebanks import checked_by_people
from treegauge.errors import UsageError
from treegauge.io.sources import ReadOptions

if TYPE_CHECKING:
    from treegauge.reports.reporting import Report
    from treegauge.significance.score_table import CompareOptions


@click.command(
    cls=Command,
    seldom=("rounds", "seed", "level", "grammar"),
    epilog="""\b
Examples:
  treegauge report gold.mrg parser.mrg
  treegauge report gold.mrg mine=A.mrg theirs=B.mrg -o report.html
  treegauge report gold.mrg A.mrg B.mrg --format latex > tables.tex""",
)
@click.argument("gold", required=False, type=INPUT)
@click.argument("tests", nargs=-1, type=INPUT, metavar="A [B...]")
@click.option("--scores", "scored", is_flag=True,
              help="The arguments are score files written by `treegauge score --save`, not trees; the trees are read again from "
              "the files that were scored.")  # fmt: skip
@output_option("Where to write; - is standard output. Default: report.html, tables to -.", default=None)
@click.option("--figures", type=OutputFile(file_okay=False), metavar="DIR",
              help="Also write each figure there as SVG and PDF, with its data as CSV (needs the extra [plot]).")  # fmt: skip
@click.option("--title", default="Parser report", show_default=True, help="Heading of the page.")
@comparing_options
@resampling_options
@click.option("--sentences", "most", type=click.IntRange(0), default=2000, show_default=True, metavar="N",
              help="Include the trees of at most N sentences, those that differ most.")  # fmt: skip
@click.option(
    "--full", is_flag=True, help="When printed, show everything, including the tables folded on screen; the default is a few pages."
)
@click.option(
    "--store",
    type=INPUT,
    metavar="FILE|URL",
    help="Judgements of a human check (treegauge check): also show its items and measures.",
)
@click.option("--grammar", type=INPUT, metavar="MODEL", help="Also show the Parse Base of GOLD's sentences under this grammar.")
@format_option(("html", "markdown", "latex"), "html: the page; markdown, latex: its tables.", by_suffix=True)
@reading_both_options
def command(gold: str | None, tests: tuple[str, ...], options: ReadOptions, **chosen: Any) -> None:
    """Write one page about parsers A, B ...: scores with intervals, tests, fragments, labels, lengths, errors, trees.

    The page is one self-contained file that works offline. GOLD and A, B ... are treebank files, directories or globs;
    NAME=FILE gives a system a name. With --scores, all of them are score files.
    """
    from treegauge.io.writing import write_chunks
    from treegauge.significance.score_table import CompareOptions
    from treegauge.tables import render

    if gold is None or (not tests and not chosen["scored"]):
        raise click.UsageError("Missing argument 'GOLD' or 'A [B...]'.")
    systems = named_single_runs(tests)
    names = ("preset", "on_mismatch", "match_words", "rounds", "seed", "level")
    how = CompareOptions(
        **{name: chosen[name] for name in names}, treebank=options.treebank, on_error=options.on_error, pair="text"
    )
    report = _of_scores([gold, *tests], how, chosen) if chosen["scored"] else _of_trees(gold, systems, how, options, chosen)
    report = replace(report, command=shlex.join(["treegauge", *map(_without_folder, sys.argv[1:])]), full=chosen["full"])
    if chosen["grammar"]:
        from treegauge.cli._grammars import parse_base_table

        if chosen["scored"]:
            raise UsageError("--grammar needs the treebank: leave out --scores")
        report = replace(report, parse_base=parse_base_table(chosen["grammar"], gold, options))
    if report.left_out:
        click.echo(f"note: {report.left_out}", err=True)
    if chosen["figures"]:
        _write_figures(report, Path(chosen["figures"]))
    if chosen["form"] == "html":
        path = chosen["output"] or "report.html"
        protect_inputs(path)
        report.write(path)
        if path != "-":
            click.echo(f"wrote {path}", err=True)
    else:
        text = "\n\n".join(render(table, chosen["form"]) for table in report.tables()) + "\n"
        write_chunks([text.encode("utf-8", "replace")], chosen["output"] or "-")
    report_problems({system: [note for of, note in report.notes if of == system] for system in report.systems})


def _without_folder(word: str) -> str:
    """A word of a command line without the folder of the file in it, which may follow NAME= or --option=."""
    before, sign, path = word.partition("=") if "=" in word.partition(os.sep)[0] else ("", "", word)
    folder, name = os.path.split(path)
    return f"{before}{sign}{name}" if name and ("://" in folder or os.path.isdir(folder)) else word


def _write_figures(report: Report, folder: Path) -> None:
    from treegauge.reports.report_contents import report_figures, section_tables

    figures = report_figures(report, section_tables(report)).values()
    write_figures([figure for found in figures for figure in found], folder, "svg", "pdf")


def _of_scores(paths: Sequence[str], how: CompareOptions, chosen: Mapping[str, Any]) -> Report:
    from treegauge.reports.reporting import report_of_scores
    from treegauge.scoring.saved_scores import load_systems

    if chosen["store"] is not None or chosen["preset"] is not None or how.treebank:
        raise UsageError("--store, --preset and --treebank cannot be combined with --scores: they apply to trees")
    scores = load_systems(paths)
    inputs = scores[0].inputs if scores else None
    gold_name = Path(inputs.gold[0]).name if inputs else "gold"
    with progress("Resampling", how.rounds, unit="rounds") as advance:
        return report_of_scores(scores, how, title=chosen["title"], gold_name=gold_name, most=chosen["most"], progress=advance)


def _of_trees(gold: str, systems: dict[str, str], how: CompareOptions, options: ReadOptions, chosen: Mapping[str, Any]) -> Report:
    from treegauge.reports import reporting

    checked = checked_by_people(gold, systems, options, how, chosen["store"]) if chosen["store"] else None
    with progress("Resampling", how.rounds, unit="rounds") as advance:
        return reporting.report(
            gold,
            systems,
            how,
            reading=options,
            title=chosen["title"],
            gold_name=Path(gold).name or gold,
            judgements=checked.judgements if checked else None,
            checked=checked.results.tables() if checked else (),
            most=chosen["most"],
            progress=advance,
        )
