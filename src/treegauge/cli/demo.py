"""``treegauge demo``: a tour of treegauge on the treebank that comes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from treegauge.cli._group import Command
from treegauge.cli._progress import progress

if TYPE_CHECKING:
    from treegauge.experiments.parsing import Matrix

_OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall", "labelled-recall-licensed", "parent-child", "frames")


@click.command(
    cls=Command,
    epilog="""\b
Example:
  treegauge demo""",
)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Number of parsing threads.")
@click.option("-o", "--output", default="treegauge-demo.html", show_default=True, metavar="FILE", help="Output file of the report.")
def command(jobs: int, output: str) -> None:
    """Count a grammar from our own treebank, parse held-out sentences with every objective, and score them by every criterion.

    Each objective looks for the tree that is best by its own criterion; the matrix shows what that buys. A report compares the
    two best known, Viterbi and Labelled Recall.
    """
    from treegauge.data import own_treebank
    from treegauge.experiments.parsing import objective_matrix
    from treegauge.tables import render

    train, dev = own_treebank("train"), own_treebank("dev")
    click.echo(f"Our own treebank: {len(train)} trees to learn from, {len(dev)} held out. One of them:\n")
    click.echo(next(tree for tree in dev if 6 <= tree.width <= 10).draw())
    click.echo("\nParsing the held-out sentences with a grammar counted from the others (the first run compiles) ...", err=True)
    with progress("parsing", len(dev) * len(_OBJECTIVES)) as advance:
        matrix = objective_matrix(list(train), list(dev), objectives=_OBJECTIVES, jobs=jobs, advance=advance)
    click.echo("\n" + render(matrix.table(), "table"))
    for criterion, title in (("labelled_recall", "constituents"), ("labelled_tree", "whole trees")):
        click.echo(f"Best at getting {title} right here: {matrix.best(criterion)}")
    for gold, viterbi, recall in zip(matrix.binary_gold, matrix.trees["viterbi"], matrix.trees["labelled-recall"], strict=True):
        if viterbi != recall and gold.width <= 9:
            click.echo(f"\nWhere the most probable tree and the most right constituents part:\n  {' '.join(gold.words)}")
            for name, tree in (("gold", gold), ("viterbi", viterbi), ("labelled-recall", recall)):
                click.echo(f"  {name:16}{tree}")
            break
    _write_report(matrix, output)
    click.echo(f"\nThe report of viterbi and labelled-recall, for a browser: {output}")
    click.echo("Next: treegauge score GOLD TEST, treegauge parse, treegauge report, treegauge --help")


def _write_report(matrix: Matrix, output: str) -> None:
    """The report on two of the objectives, scored against the binarised trees that the matrix scores by."""
    from treegauge.reports import reporting

    systems = {name: matrix.trees[name] for name in ("viterbi", "labelled-recall")}
    report = reporting.report(
        matrix.binary_gold, systems, title="treegauge demo", gold_name="our own treebank, held out, binarised"
    )
    report.write(output)
