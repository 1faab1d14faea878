"""What is to be said beside scores: sentences that do not fit, checks that failed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from treegauge.errors import UsageError
from treegauge.metrics.result import Result

__all__ = ["failed_checks", "misfits", "note_lines", "one_of_each_system", "parse_check"]


def one_of_each_system(results: Sequence[Result]) -> list[Result]:
    """The first result of each system: notes and breakdowns belong to a system, whatever the metric."""
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.system, result)
    return list(first.values())


def note_lines(results: Sequence[Result]) -> Iterator[str]:
    """Every sentence that does not fit, one a line; those that only have other tokens are counted."""
    systems = one_of_each_system(results)
    for result in systems:
        who = f"{result.system}: " if len(systems) > 1 else ""
        yield from (f"{who}{note.text}" for note in result.notes if note.kind != "characters")
        recut = sum(note.kind == "characters" for note in result.notes)
        if recut:
            yield f"{who}sentences with other tokens over the same text, aligned by characters: {recut}"


def misfits(results: Sequence[Result]) -> list[str]:
    """A line for each system that lacks sentences, or has too many."""
    lines: list[str] = []
    for result in one_of_each_system(results):
        missing = sum(note.kind == "missing" for note in result.notes)
        extra = sum(note.kind == "extra" for note in result.notes)
        if missing or extra:
            lines.append(f"{result.system}: gold and test do not fit: {missing} missing, {extra} extra (listed above)")
    return lines


def parse_check(text: str) -> tuple[str, float]:
    """A rate and the least it may be.

    >>> parse_check("f1=0.90")
    ('f1', 0.9)
    """
    name, equals, value = text.partition("=")
    try:
        limit = float(value)
    except ValueError:
        limit = math.nan
    if not equals or not 0 <= limit <= 1:
        raise UsageError(f"--fail-under {text!r}: write a rate and a fraction of 1, as in f1=0.90")
    return name.strip().replace(" ", "_"), limit


def failed_checks(results: Sequence[Result], checks: Sequence[tuple[str, float]]) -> list[str]:
    """A line for each rate that is below its limit, or undefined; ``parseval.f1`` means the rate of that metric only."""
    lines: list[str] = []
    for asked, limit in checks:
        metric, _, name = asked.rpartition(".")
        found = [result for result in results if name in result.rates and metric in ("", result.metric)]
        if not found:
            known = sorted({rate for result in results for rate in result.rates})
            raise UsageError(f"--fail-under: there is no rate {asked!r}; there are: {', '.join(known)}")
        for result in found:
            rate = result.rates[name]
            if not rate >= limit:
                shown = "undefined" if math.isnan(rate) else f"{rate:.6g}"
                lines.append(f"{result.system}: {asked} is {shown}, not {limit:g} or more")
    return lines
