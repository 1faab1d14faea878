"""``treegauge explain``, ``cite`` and ``treebanks``: metrics and objectives, papers as BibTeX, and the styles of treebanks."""

from __future__ import annotations

import click

from treegauge.cli._group import Command


@click.command(cls=Command)
@click.argument("name", metavar="[NAME]", default="")
def command(name: str) -> None:
    """Explain a metric (its definition, an example, its counts, rates, options and paper), a decoding objective or a baseline.

    Without NAME, list all names.

    \b
    Example: treegauge explain goodman:pre
    """
    from treegauge.reports.explanations import explained_names, explanation

    click.echo(explanation(name) if name else "\n".join(explained_names()))


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[METRIC...]")
def cite(names: tuple[str, ...]) -> None:
    """Print BibTeX for the paper behind each METRIC. METRIC may also be the key of a reference, such as collins1997, or treegauge.
    Without METRIC, list all references.

    \b
    Example: treegauge cite parseval goodman >> thesis.bib
    """
    from treegauge.metrics.references import REFERENCES, references_of

    if not names:
        click.echo("\n".join(f"{key:18} {reference}" for key, reference in REFERENCES.items()))
        return
    found = {reference.key: reference for name in names for reference in references_of(name)}
    click.echo("\n\n".join(reference.bibtex() for reference in found.values()))


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME...]")
def treebanks(names: tuple[str, ...]) -> None:
    """List the treebanks that --treebank knows: what they are, how their files are read, and an example tree.

    \b
    Example: treegauge treebanks icepahc
    """
    from treegauge.errors import check_name
    from treegauge.presets.treebanks import TREEBANKS

    for name in names or TREEBANKS:
        check_name("treebank", name, TREEBANKS)
        style = TREEBANKS[name]
        click.echo(f"{name}: {style.files} ({style.language})")
        for line in (style.example, *style.description()):
            click.echo(f"  {line}")
