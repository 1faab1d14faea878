"""``treegauge explain`` and ``cite``: the definition of a metric with an example, and the paper behind it as BibTeX."""

from __future__ import annotations

import click

from treegauge.cli._group import Command


@click.command(cls=Command, epilog="\b\nExample: treegauge explain goodman:pre")
@click.argument("metric", metavar="METRIC")
def command(metric: str) -> None:
    """Explain what METRIC measures: its definition, an example, its counts, rates, options and paper."""
    from treegauge.reports.explanations import explanation

    click.echo(explanation(metric))


@click.command(cls=Command, epilog="\b\nExample: treegauge cite parseval goodman >> thesis.bib")
@click.argument("names", nargs=-1, required=True, metavar="METRIC...")
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX for the paper behind each METRIC; a reference's key, such as collins1997, works too."""
    from treegauge.metrics.references import references_of

    found = {reference.key: reference for name in names for reference in references_of(name)}
    click.echo("\n\n".join(reference.bibtex() for reference in found.values()))
