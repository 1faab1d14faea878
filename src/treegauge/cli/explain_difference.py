"""``treegauge explain-difference``: the options that make two scores differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treegauge.cli._group import INPUT, Command, as_typed
from treegauge.cli._options import format_option
from treegauge.errors import FormatError, UsageError, refusing_unreadable

if TYPE_CHECKING:
    from treegauge.scoring.result import Result


@click.command(cls=Command)
@click.argument("first", type=INPUT, metavar="A.json")
@click.argument("second", type=INPUT, metavar="B.json")
@click.option("-r", "--rate", metavar="NAME", help="The rate to explain. Default: the metric's main one.")
@click.option("-m", "--metric", metavar="NAME", help="Which metric, if the files hold several.")
@click.option("--system", metavar="NAME[,NAME]", help="Which system, if the files hold several: of A and, if it differs, of B.")
@click.option("--gold", type=INPUT, metavar="FILE", help="The gold trees, if they are no longer in the file that the results name.")
@click.option("--test", type=INPUT, metavar="FILE", help="The test trees, if they are no longer in the file that the results name.")
@format_option()
def command(
    first: str, second: str, rate: str | None, metric: str | None, system: str | None, gold: str | None, test: str | None,
    form: str,
) -> None:  # fmt: skip
    """Show which options changed the score from A.json to B.json, and by how much each.

    Both files are results of `treegauge score --format json`. If the trees are at hand, they are scored again, and one option after
    another is changed from A's to B's, so that the effects add up; the effect of each option alone is shown beside it. Otherwise
    only the options that differ are listed.

    \b
    Example:
      treegauge score gold.mrg parser.mrg --format json > A.json
      treegauge score gold.mrg parser.mrg -p collins --on-mismatch evalb --format json > B.json
      treegauge explain-difference A.json B.json
    """
    from treegauge.scoring.difference import explain_difference
    from treegauge.tables import render

    ours, _, theirs = (system or "").partition(",")
    before, after = _result(first, metric, ours), _result(second, metric, theirs or ours)
    for result in (before, after):
        if rate is not None and rate not in result.rates:
            raise UsageError(f"there is no rate {rate!r} in a result of {result.metric}; there are: {', '.join(result.rates)}")
    difference = explain_difference(before, after, rate, gold=gold, test=test)
    if form == "json":
        click.echo(json.dumps(difference.to_dict(), ensure_ascii=False, indent=1, allow_nan=False))
    else:
        click.echo(as_typed(render(difference.table(), form)))


def _result(path: str, metric: str | None, system: str) -> Result:
    from treegauge.scoring.result import Scores

    with refusing_unreadable(path):
        text = Path(path).read_text("utf-8", "backslashreplace")
    try:
        results = Scores.from_json(text)
    except FormatError as error:
        raise FormatError(error.problem, path=path, advice="Write it with: treegauge score ... --format json") from None
    found = [result for result in results if metric in (None, result.metric) and system in ("", result.system)]
    if len(found) != 1:
        known = ", ".join(f"{result.system} by {result.metric}" for result in results)
        raise UsageError(f"{path}: choose one result with --metric and --system; it holds {known}")
    return found[0]
