"""``treegauge validate``: the errors and oddities in treebank files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import click

from treegauge.cli._group import INPUT, Command, as_typed
from treegauge.cli._options import TABLES, format_option, reading_options, stream_option
from treegauge.cli._treebanks import sources_with_progress
from treegauge.errors import UsageError
from treegauge.io import ReadOptions, stream as blocks_of
from treegauge.io.validation import FileReport, Remark, count_parts, examine
from treegauge.tables import number_of, render


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=INPUT, metavar="FILE...")
@click.option("--max", "most", type=click.IntRange(min=0), default=20, show_default=True, metavar="N",
              help="Show at most N errors and notes of each file.")  # fmt: skip
@click.option("--notes/--no-notes", default=True, show_default=True,
              help="Show oddities that are not errors, such as empty parses.")  # fmt: skip
@click.option(
    "--statistics", is_flag=True, help="Print a table of lengths, labels, tags, words and productions instead, --max of each."
)
@format_option(("text", "json", *TABLES[2:]), text="Output format; csv and the like are for --statistics.")
@reading_options
@stream_option
def command(files: tuple[str, ...], most: int, notes: bool, statistics: bool, form: str, options: ReadOptions, stream: bool) -> int:
    """List the errors in FILE... (treebank files, directories, globs; - is stdin): all are counted, at most --max per file shown.

    Exit code 3 if there are any. Notes point out what is odd but not wrong: empty parses, words without tags, nodes without words,
    several trees on a line, a detected encoding, and files that should be read with --treebank. Memory does not grow with
    the input, with or without --stream.

    \b
    Examples:
      treegauge validate train.mrg dev.mrg
      treegauge validate --max 5 parser-output.txt --lines
      treegauge validate train.mrg --statistics --max 1000 --format csv > train.csv
      treegauge validate --encoding latin-1 --attach-punctuation negra.export
      zcat huge.mrg.gz | treegauge validate -
    """
    if form in TABLES[2:] and not statistics:
        raise UsageError(f"--format {form} is a table: add --statistics")
    with sources_with_progress(files, "validating") as sources:
        if statistics:
            trees = (tree for source in sources for block in blocks_of(source, options) for tree in block)
            click.echo(render(count_parts(trees, most), "table" if form == "text" else form))
            return 0
        reports = [examine(source, options, most) for source in sources]
    for report in reports:
        for error in report.errors:
            error.rephrase(as_typed)
    click.echo(_as_json(reports) if form == "json" else "\n".join(_lines(reports, notes)))
    return 3 if any(report.n_errors for report in reports) else 0


def _lines(reports: list[FileReport], with_notes: bool) -> Iterator[str]:
    advice_given: set[str] = set()
    for report in reports:
        shown = report.remarks if with_notes else []
        yield from (_note(remark) for remark in shown if remark.place == report.path)
        for error in report.errors:
            message = str(error)
            yield message.removesuffix(f"\n  {error.advice}") if error.advice in advice_given else message
            advice_given.add(error.advice)
        if report.n_errors > len(report.errors):
            yield f"{report.path}: ... and {report.n_errors - len(report.errors):,} more errors"
        yield from (_note(remark) for remark in shown if remark.place != report.path)
        if with_notes and report.n_remarks > len(report.remarks):
            yield f"{report.path}: ... and {report.n_remarks - len(report.remarks):,} notes more"
        yield f"{report.path}: {_counts(report)}"
    if len(reports) > 1:
        names = [field.name for field in fields(FileReport) if field.name.startswith("n_")]
        total: dict[str, Any] = {name: sum(getattr(report, name) for report in reports) for name in names}
        yield f"{len(reports)} files: {_counts(FileReport('all', **total))}"


def _note(remark: Remark) -> str:
    return f"{remark.place}: note: {as_typed(remark.text)}"


def _counts(report: FileReport) -> str:
    traces = f" ({number_of(report.n_traces, 'trace')} among them)" if report.n_traces else ""
    gaps = f", {number_of(report.n_with_gaps, 'tree')} with crossing branches" if report.n_with_gaps else ""
    found = f"{number_of(report.n_errors, 'error')}, {number_of(report.n_remarks, 'note')}{gaps}"
    return f"{number_of(report.n_trees, 'tree')}, {number_of(report.n_words, 'word')}{traces}, {found}"


def _as_json(reports: list[FileReport]) -> str:
    files = [
        {
            "path": report.path,
            "trees": report.n_trees,
            "words": report.n_words,
            **({"traces": report.n_traces} if report.n_traces else {}),
            **({"trees_with_gaps": report.n_with_gaps} if report.n_with_gaps else {}),
            "n_errors": report.n_errors,
            "errors": [
                {"line": error.line, "column": error.column, "problem": error.problem, "advice": error.advice}
                for error in report.errors
            ],
            "n_notes": report.n_remarks,
            "notes": [remark._asdict() for remark in report.remarks],
        }
        for report in reports
    ]
    return json.dumps({"schema": "treegauge.validate/2", "files": files}, indent=2, ensure_ascii=False)
