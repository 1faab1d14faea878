"""``treegauge cite``: the paper behind a metric, as BibTeX."""

from __future__ import annotations

import click

from treegauge.cli._group import Command


@click.command(cls=Command, epilog="\b\nExample: treegauge cite parseval goodman >> thesis.bib")
@click.argument("names", nargs=-1, required=True, metavar="METRIC...")
def command(names: tuple[str, ...]) -> None:
    """Print BibTeX for the paper behind each METRIC; a reference's key, such as collins1997, works too."""
    from treegauge.metrics.references import references_of

    found = {reference.key: reference for name in names for reference in references_of(name)}
    click.echo("\n\n".join(reference.bibtex() for reference in found.values()))
