"""``treegauge freval``: score connected fragments of every size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from treegauge.cli._engines import Sharded, engine_options
from treegauge.cli._options import named_systems, reading_options
from treegauge.engines import Engine
from treegauge.errors import UnknownName, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.freval import MATCHINGS, MEANS, Freval
from treegauge.scoring.freval import FrevalScores, score_all_published, score_fragments
from treegauge.tables import Table, render

FORMATS = ("table", "json", "csv", "markdown", "latex", "program")


@click.command(
    cls=Sharded,
    epilog="""\b
Examples:
  treegauge freval gold.mrg parser.mrg
  treegauge freval gold.mrg A.mrg B.mrg --baseline A --figures figures/
  treegauge freval gold.mrg parser.mrg --matching published --format program""",
)
@click.argument("gold")
@click.argument("tests", nargs=-1, required=True, metavar="TEST...")
@click.option("--matching", type=click.Choice(MATCHINGS), default="edges", show_default=True,
              help="When two fragments match: edges of both trees agree, or as the authors' published program counts.")  # fmt: skip
@click.option(
    "--sizes", default="1,15,25,all", show_default=True, metavar="K,...", help="Largest sizes to sum up to; `all`: every size."
)
@click.option("--alpha", default="uniform", show_default=True, metavar="WEIGHTS",
              help="Weights of the sizes: uniform, halving, or numbers that sum to 1, as in 0.5,0.3,0.2.")  # fmt: skip
@click.option("--mean", type=click.Choice(MEANS), default="linear", show_default=True, help="How sizes are averaged.")
@click.option("-p", "--preset", default="freval", show_default=True, metavar="NAME|FILE", help="Which brackets and words count.")
@click.option("--by-size", is_flag=True, help="Also counts, recall, precision and F1 of every size.")
@click.option("--baseline", metavar="SYSTEM", help="For the figure of differences; the first system unless given.")
@click.option("--figures", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Write the paper's figures, F1 by size, difference, zoom, and their data as CSV.")  # fmt: skip
@click.option("--figure-format", type=click.Choice(["svg", "pdf", "png"]), default="svg", show_default=True)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True,
              help="program: the printout of the authors' program (with --matching published).")  # fmt: skip
@reading_options
@engine_options()
def command(
    gold: str,
    tests: tuple[str, ...],
    matching: str,
    sizes: str,
    alpha: str,
    mean: str,
    preset: str,
    by_size: bool,
    baseline: str | None,
    figures: Path | None,
    figure_format: str,
    form: str,
    options: ReadOptions,
    engine: Engine,
) -> None:
    """Score connected fragments of every size (FREVAL, Bastings & Sima'an 2014).

    Size 1 is PARSEVAL; larger sizes ask whether brackets that belong together are right together. GOLD and TEST are treebank files,
    directories or globs; several TESTs are shown side by side, and NAME=FILE gives one a name.
    """
    metric = Freval(matching, _sizes(sizes), _alpha(alpha), mean)
    systems = named_systems(tests)
    if baseline is not None and baseline not in systems:
        raise UnknownName("baseline system", baseline, systems)
    if form == "program":
        if not engine.in_process:
            raise UsageError("--format program goes through the files from their first line: leave out --engine and --shard")
        _print_as_program(gold, tests, matching)
        return
    if matching == "published":
        scores = score_all_published(gold, systems, metric, engine)
    else:
        scores = score_fragments(gold, systems, metric, preset, options, engine)
    for score in scores:
        for note in score.notes:
            click.echo(note, err=True)
    if figures is not None:
        _write_figures(scores, figures, baseline, figure_format)
    if form == "json":
        click.echo(json.dumps(_document(scores, metric), ensure_ascii=False, indent=1))
        return
    tables = [
        _summary(scores, metric, sparklines=form == "table"),
        *([score.by_size_table() for score in scores] if by_size else []),
    ]
    click.echo("\n\n".join(render(table, form) for table in tables))


def _sizes(text: str) -> tuple[int, ...]:
    words = [word.strip().removeprefix("1-") for word in text.split(",")]
    if not all(word == "all" or (word.isdigit() and int(word) > 0) for word in words):
        raise UsageError(f"--sizes {text!r}: sizes are positive numbers or `all`, as in 1,15,25,all")
    return tuple(0 if word == "all" else int(word) for word in words)


def _alpha(text: str) -> str | tuple[float, ...]:
    if "," not in text and not text.replace(".", "").isdigit():
        return text
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"--alpha {text!r}: weights are numbers with commas between, as in 0.5,0.3,0.2") from None


def _summary(scores: Sequence[FrevalScores], metric: Freval, *, sparklines: bool) -> Table:
    from treegauge.reports.figures import sparkline

    ranges = ["all" if largest == 0 else "1" if largest == 1 else f"1-{largest}" for largest in metric.ranges]
    columns = [f"{name} {span}" for span in ranges for name in ("FLR", "FLP", "F1")]
    rows = [(score.system, *(score.rates[name] for name in metric.rate_names)) for score in scores]
    if sparklines:
        rows = [(*row, sparkline([size.f1 for size in score.sizes[:25]])) for row, score in zip(rows, scores, strict=True)]
    return Table(
        "",
        ("system", *columns, *(["F1 by size"] if sparklines else [])),
        tuple(rows),
        notes=(scores[0].signature,),
        percent=tuple(columns),
    )


def _document(scores: Sequence[FrevalScores], metric: Freval) -> dict[str, Any]:
    return {
        "schema": "treegauge.freval/1",
        "options": dict(metric.options),
        "systems": [score.to_dict() for score in scores],
    }


def _write_figures(scores: Sequence[FrevalScores], folder: Path, baseline: str | None, suffix: str) -> None:
    from treegauge.reports.figures import fragment_figures
    from treegauge.reports.plots import write_figure

    folder.mkdir(parents=True, exist_ok=True)
    f1 = {score.system: [size.f1 for size in score.sizes] for score in scores}
    for figure in fragment_figures(f1, baseline=baseline or "", zoom=(6, 13)):
        for path in write_figure(figure, folder / f"{figure.name}.{suffix}", data=True):
            click.echo(f"wrote {path}", err=True)


def _print_as_program(gold: str, tests: Sequence[str], matching: str) -> None:
    from treegauge.metrics.freval_published import published_printout, published_sentences
    from treegauge.scoring.freval import lines_of

    if matching != "published" or len(tests) != 1:
        raise UsageError("--format program prints what the authors' program would: one TEST and --matching published")
    sentences = list(published_sentences(lines_of(gold), lines_of(tests[0])))
    for line in published_printout(sentences):
        click.echo(line)
