"""``treegauge report``: everything about some parsers on one page."""

from __future__ import annotations

from pathlib import Path

import click

from treegauge.cli._options import named_systems, reading_options, spare_inputs
from treegauge.cli._progress import gold_and_tests, progress
from treegauge.io.sources import ReadOptions

FORMATS = ("html", "markdown", "latex")


@click.command(
    epilog="""\b
Examples:
  treegauge report gold.mrg parser.mrg
  treegauge report gold.mrg mine=A.mrg theirs=B.mrg -o report.html
  treegauge report gold.mrg A.mrg B.mrg --format latex > tables.tex"""
)
@click.argument("gold")
@click.argument("tests", nargs=-1, required=True, metavar="A [B...]")
@click.option("-o", "--output", metavar="FILE", help="Where to write; - is standard output. Default: report.html, tables to -.")
@click.option("--title", default="Parser report", show_default=True, help="What stands at the top of the page.")
@click.option("-p", "--preset", default="default", show_default=True, metavar="NAME|FILE", help="Which brackets and words count.")
@click.option("--on-mismatch", type=click.Choice(["align", "skip", "error"]), default="align", show_default=True,
              help="Sentences that do not fit the treebank: count as missed, leave out for all systems, or stop.")  # fmt: skip
@click.option("--rounds", type=click.IntRange(1), default=10_000, show_default=True,
              help="Random swaps for the tests, and bootstrap samples for the intervals.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
              help="Level of the confidence intervals.")  # fmt: skip
@click.option("--sentences", "most", type=click.IntRange(0), default=2000, show_default=True, metavar="N",
              help="Put in the trees of at most N sentences, those that differ most.")  # fmt: skip
@click.option(
    "--store", metavar="FILE|URL", help="Judgements of a human check (treegauge check): show what they make of the brackets."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="html", show_default=True,
              help="html: the page; markdown, latex: its tables.")  # fmt: skip
@reading_options
def command(
    gold: str,
    tests: tuple[str, ...],
    output: str | None,
    title: str,
    preset: str,
    on_mismatch: str,
    rounds: int,
    seed: int,
    level: float,
    most: int,
    store: str | None,
    form: str,
    options: ReadOptions,
) -> None:
    """Write one page about parsers A, B ...: scores with intervals, tests, fragments, labels, lengths, errors, trees.

    The page is one file that needs nothing else, not even a network. GOLD and A, B ... are treebank files, directories or globs;
    NAME=FILE gives a system a name.
    """
    from treegauge.io.writing import write_chunks
    from treegauge.reports.report import make_report
    from treegauge.significance.compare import Settings
    from treegauge.tables import render

    systems = named_systems(tests)
    spare_inputs(output, gold, *systems.values())
    bank, parsed = gold_and_tests(gold, list(systems.values()), options)
    banks = dict(zip(systems, parsed, strict=True))
    settings = Settings(preset=preset, on_mismatch=on_mismatch, rounds=rounds, seed=seed, level=level)
    checked = None
    if store:
        from treegauge.humancheck.results import checked_systems, plan_for

        checked = checked_systems(bank, banks, store, plan_for((), preset))
    with progress("Resampling", settings.all_rounds(len(systems)), unit="rounds") as advance:
        report = make_report(
            bank,
            banks,
            settings,
            title=title,
            gold_name=Path(gold).name or gold,
            judgements=checked.judgements if checked else None,
            checked=checked.results.tables() if checked else (),
            most=most,
            progress=advance,
        )
    if form == "html":
        path = output or "report.html"
        report.write(path)
        if path != "-":
            click.echo(f"wrote {path}", err=True)
    else:
        text = "\n\n".join(render(table, form) for table in report.tables()) + "\n"
        write_chunks([text.encode("utf-8", "replace")], output or "-")
