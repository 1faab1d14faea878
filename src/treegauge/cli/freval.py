"""``treegauge freval``: score connected fragments of every size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from treegauge.cli._group import INPUT, Command, OutputFile
from treegauge.cli._options import (
    counting_options,
    engine_option,
    format_option,
    list_notes,
    named_systems,
    preset_option,
    reading_both_options,
    write_figures,
)
from treegauge.engines import Engine
from treegauge.errors import MismatchError, UnknownName, UsageError
from treegauge.io.sources import ReadOptions
from treegauge.metrics.freval import MATCHINGS, MEANS, Freval, SizeScore
from treegauge.reports.scores import notes_by_system
from treegauge.scoring.evaluation import score_systems
from treegauge.scoring.inputs import Request
from treegauge.scoring.result import Result
from treegauge.tables import Table, plain, render, whole_number


@click.command(cls=Command, seldom=("figure_format",))
@click.argument("gold", type=INPUT)
@click.argument("tests", nargs=-1, required=True, type=INPUT, metavar="TEST...")
@click.option("--matching", type=click.Choice(MATCHINGS), default="edges", show_default=True,
              help="Edges that must agree for fragments to match: in both trees or, as published, in the gold tree.")  # fmt: skip
@click.option("--sizes", default="1,15,25,all", show_default=True, metavar="K,...",
              help="Largest sizes to sum up to; `all`: every size.")  # fmt: skip
@click.option("--alpha", default="uniform", show_default=True, metavar="WEIGHTS",
              help="Weights of the sizes: uniform, halving, sparsity (smaller sizes smooth those with few gold fragments), or "
              "numbers that sum to 1, as in 0.5,0.3,0.2 (divided by their sum over each range of sizes).")  # fmt: skip
@click.option("--mean", type=click.Choice(MEANS), default="linear", show_default=True, help="How sizes are averaged.")
@counting_options(preset_option("Which brackets and words count.  [default: freval]"), "align", "skip", "error", "edit")
@click.option("--by-size", is_flag=True, help="Also show counts, recall, precision and F1 of every size.")
@click.option("--baseline", metavar="SYSTEM", help="Reference system of the figure of differences.  [default: the first]")
@click.option("--figures", type=OutputFile(file_okay=False, path_type=Path), metavar="FOLDER",
              help="Write the paper's figures (F1 by size, differences, sizes 6 to 13) and their data as CSV.")  # fmt: skip
@click.option("--figure-format", type=click.Choice(["svg", "pdf", "png"]), default="svg", show_default=True,
              help="--figures: file format.")  # fmt: skip
@format_option()
@reading_both_options
@engine_option
def command(
    gold: str, tests: tuple[str, ...], matching: str, sizes: str, alpha: str, mean: str, preset: str, on_mismatch: str,
    match_words: str, by_size: bool, baseline: str | None, figures: Path | None, figure_format: str, form: str,
    options: ReadOptions, engine: Engine,
) -> None:  # fmt: skip
    """Score connected fragments of every size (FREVAL, Bastings & Sima'an 2014).

    Size 1 is PARSEVAL under the same preset; larger sizes ask whether brackets that belong together are right together. GOLD and
    TEST are treebank files, directories or globs; several TESTs are shown side by side, and NAME=FILE gives one a name. The scores
    are those of `treegauge score -m freval`, with the sentences and the preset of that command.

    \b
    Examples:
      treegauge freval gold.mrg parser.mrg
      treegauge freval gold.mrg A.mrg B.mrg --baseline A --figures figures/
      treegauge freval gold.mrg parser.mrg --matching published --by-size
    """
    name = _metric_name(matching, sizes, alpha, mean)
    systems = named_systems(tests)
    if baseline is not None and baseline not in systems:
        raise UnknownName("baseline system", baseline, systems)
    request = Request.of(
        [name],
        preset,
        on_mismatch=on_mismatch,
        match_words=match_words,
        reading=options,
        on_error=options.on_error,
        pair="text",
        sentences=False,
        engine=engine,
    )
    scores = list(map(FragmentScore.of, score_systems(gold, systems, request)))
    lines = list_notes(notes_by_system([each.result for each in scores]))
    _print(scores, form, by_size)
    if figures is not None:
        _write_figures(scores, figures, baseline, figure_format)
    if lines:
        raise MismatchError("\n".join(lines))


def _print(scores: Sequence[FragmentScore], form: str, by_size: bool) -> None:
    if form == "json":
        options, systems = dict(scores[0].metric.options), [each.to_dict() for each in scores]
        document = {"schema": "treegauge.freval/2", "options": options, "systems": systems}
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        tables = [_summary(scores, sparklines=form == "table"), *([each.by_size_table() for each in scores] if by_size else [])]
        click.echo("\n\n".join(render(table, form) for table in tables))


class FragmentScore(NamedTuple):
    """A system's score by FREVAL, and the scores of each size of fragment."""

    result: Result
    metric: Freval
    sizes: tuple[SizeScore, ...]

    @classmethod
    def of(cls, result: Result) -> FragmentScore:
        """The score of a result by FREVAL."""
        metric = Freval.from_options(result.signature.options)
        return cls(result, metric, tuple(metric.by_size(result.counts.values())))

    def by_size_table(self) -> Table:
        """Counts, recall, precision and F1 of each size."""
        rows = tuple((s.size, s.gold, s.test, s.matched, s.recall, s.precision, s.f1) for s in self.sizes)
        columns = ("size", "gold", "test", "matched", "LR", "LP", "F1")
        return Table(self.result.system, columns, rows, percent=("LR", "LP", "F1"))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = ("size", "gold", "test", "matched", "recall", "precision", "f1")
        return {
            "system": self.result.system,
            "sentences": self.result.total.sentences,
            "rates": plain(self.result.rates),
            "by_size": [{name: getattr(size, name) for name in names} for size in self.sizes],
            "signature": str(self.result.signature),
        }


def _metric_name(matching: str, sizes: str, alpha: str, mean: str) -> str:
    """The metric with its options after colons, as for `treegauge score -m`."""
    given = {"matching": matching, "alpha": alpha, "mean": mean}
    unset = Freval()
    words = [value for name, value in given.items() if value != getattr(unset, name)]
    if _sizes(sizes) != unset.ranges:
        words += ["all" if size == 0 else f"1-{size}" for size in _sizes(sizes)]
    return ":".join(["freval", *words])


def _sizes(text: str) -> tuple[int, ...]:
    words = [word.strip().removeprefix("1-") for word in text.split(",")]
    sizes = {word: whole_number(word) for word in words if word != "all"}
    if not all(sizes.values()):
        raise UsageError(f"--sizes {text[:80]!r}: sizes are positive numbers or `all`, as in 1,15,25,all")
    return tuple(sizes.get(word) or 0 for word in words)


def _summary(scores: Sequence[FragmentScore], *, sparklines: bool) -> Table:
    from treegauge.reports.figures import sparkline

    metric = scores[0].metric
    columns = metric.range_columns
    rows = [(each.result.system, *(each.result.rates[name] for name in metric.range_rates)) for each in scores]
    if sparklines:
        rows = [(*row, sparkline([size.f1 for size in each.sizes[:25]])) for row, each in zip(rows, scores, strict=True)]
    return Table(
        "",
        ("system", *columns, *(["F1 by size"] if sparklines else [])),
        tuple(rows),
        notes=tuple(str(each.result.signature) for each in scores),
        percent=columns,
    )


def _write_figures(scores: Sequence[FragmentScore], folder: Path, baseline: str | None, suffix: str) -> None:
    from treegauge.reports.figures import fragment_figures

    f1 = {each.result.system: [size.f1 for size in each.sizes] for each in scores}
    write_figures(fragment_figures(f1, baseline=baseline or "", zoom=(6, 13)), folder, suffix)
