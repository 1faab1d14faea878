"""``treegauge explain``: the definition of a metric, with an example."""

from __future__ import annotations

import click

from treegauge.cli._group import Command


@click.command(cls=Command, epilog="\b\nExample: treegauge explain goodman:pre")
@click.argument("metric", metavar="METRIC")
def command(metric: str) -> None:
    """Explain what METRIC measures: its definition, an example, its counts, rates, options and paper."""
    from treegauge.reports.explanations import explanation

    click.echo(explanation(metric))
