"""``treegauge demo`` and ``examples``: a tour on the treebank that comes with treegauge, and the files that README and docs use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from treegauge.cli._group import Command
from treegauge.cli._options import output_option
from treegauge.cli._progress import progress

if TYPE_CHECKING:
    from treegauge.experiments.goodman_table2 import Matrix
    from treegauge.experiments.sweep import Sweep

_OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall")


@click.command(cls=Command)
@click.option("--jobs", type=click.IntRange(1), default=2, show_default=True, help="Number of parsing threads.")
@output_option("Output file of the report.", "treegauge-demo.html", show_default=True)
def command(jobs: int, output: str) -> None:
    """Parse for the rate you report: one grammar of our own treebank, decoded for recall, precision, F1 and exact match.

    The grammar is counted from the training part, and the settings are chosen on a tenth of it; the held-out sentences decide
    nothing. Goodman's matrix of algorithms and criteria follows. A report compares Viterbi with another decoding.

    \b
    Example:
      treegauge demo
    """
    from treegauge.data import own_treebank
    from treegauge.experiments.goodman_table2 import objective_matrix
    from treegauge.experiments.sweep import decoding_sweep
    from treegauge.tables import render

    train, dev = own_treebank("train"), own_treebank("dev")
    click.echo(f"Our own treebank: {len(train)} trees to learn from, {len(dev)} held out. One of them:\n")
    click.echo(next(tree for tree in dev if 6 <= tree.width <= 10).draw())
    click.echo("\nCounting a grammar, choosing settings, parsing the held-out sentences (the first run compiles) ...", err=True)
    with progress("parsing", len(train) // 10 + len(dev)) as advance:
        sweep = decoding_sweep(list(train), list(dev), advance=advance)
    click.echo("\n" + render(sweep.table(), "table") + "\n")
    for line in (*sweep.verdicts(), *sweep.trades()):
        click.echo(line)
    click.echo("\n" + render(sweep.expected_table(), "table"))
    _show_difference(sweep)
    with progress("parsing tags", len(dev) * len(_OBJECTIVES)) as advance:
        matrix = objective_matrix(list(train), list(dev), objectives=_OBJECTIVES, jobs=jobs, advance=advance)
    click.echo("\nGoodman's matrix (1996, Table 2), grammars over tags alone:\n")
    click.echo(render(matrix.table(), "table"))
    click.echo(_why_alike(matrix))
    _write_report(sweep, output)
    click.echo(f"\nThe report of viterbi and another decoding, for a browser: {output}")
    click.echo("Next: treegauge parse --for recall, treegauge score GOLD TEST, treegauge report, treegauge --help")


def _show_difference(sweep: Sweep) -> None:
    """Print a short sentence on which Viterbi and the setting for recall give different trees."""
    from treegauge.parsing.objectives import VITERBI

    setting = sweep.best("recall")
    for gold, viterbi, other in zip(sweep.gold, sweep.trees[VITERBI], sweep.trees[setting], strict=True):
        if viterbi != other and gold.width <= 9:
            click.echo(f"\nWhere the most probable tree and the one for recall part:\n  {' '.join(gold.words)}")
            width = max(len(str(setting)), 7) + 2
            for name, tree in (("gold", gold), ("viterbi", viterbi), (str(setting), other)):
                click.echo(f"  {name:{width}}{tree}")
            return


def _why_alike(matrix: Matrix) -> str:
    """A sentence on why the algorithms hardly differ here."""
    rates = matrix.rates
    gap = 100 * (rates["labelled-recall"]["labelled_recall"] - rates["viterbi"]["labelled_recall"])
    return (
        f"Labelled Recall is {gap:+.1f} points from Viterbi here (the paper: +1.1 on 1,805 sentences): a grammar of tags from "
        f"{matrix.train_trees} trees knows too little for its posteriors to help, and {len(matrix.gold)} sentences cannot show a "
        "difference of a point."
    )


def _write_report(sweep: Sweep, output: str) -> None:
    """Write a report on Viterbi and the setting for F1 or, if that is Viterbi, the setting for recall."""
    from treegauge.parsing.objectives import VITERBI
    from treegauge.reports import reporting

    setting = sweep.chosen.best["f1"]
    other = setting if setting != VITERBI else sweep.best("recall")
    systems = {"viterbi": list(sweep.trees[VITERBI]), str(other): list(sweep.trees[other])}
    report = reporting.report(list(sweep.gold), systems, title="treegauge demo", gold_name="our own treebank, held out")
    report.write(output)


@click.command(cls=Command)
@click.argument("folder", default=".")
def examples(folder: str) -> None:
    """Write to FOLDER (here, unless given) the files that README and docs use: a treebank and two parsers' output, CC0.

    \b
    Examples:
      treegauge examples
      treegauge examples somewhere/else
    """
    from treegauge.data import EXAMPLES, write_examples

    for path in write_examples(folder):
        click.echo(f"{path!s:20}  {EXAMPLES[path.name]}")
