"""The figures of a comparison: differences with their intervals around zero."""

from __future__ import annotations

import math

from treegauge.reports.figures import Figure, Series
from treegauge.scoring.paper_table import rate_heading
from treegauge.significance.comparison import Comparison, Group, PairOfSystems
from treegauge.significance.resampling import Name
from treegauge.significance.tabulation import power_rows


def comparison_figure(comparison: Comparison) -> Figure:
    """The power for numbers of sentences, if it was asked for, else the differences."""
    return power_figure(comparison) if power_rows(comparison.overall) else differences_figure(comparison)


def power_figure(comparison: Comparison) -> Figure:
    """A line for each rate and pair, or for each rate and correlation: the power over numbers of sentences."""
    found = [(which, cells, name, of) for which, cells, name, of in power_rows(comparison.overall) if of.curve]
    rates, pairs = [name for *_, name, _ in found], comparison.overall.pairs
    series: list[Series] = []
    for (a, b), cells, name, of in found:
        which = f": {b} − {a}" if len(pairs) > 1 else f", correlation {cells[0]}" if cells else ""
        size = f"{100 * of.difference:.2f}" if not name[1].startswith("average_") else f"{of.difference:.2f}"
        series.append(Series(f"{rate_heading(name, rates)}{which} ({size})", [power for _, power in of.curve]))
    names = [f"{size:,}" for size, _ in found[0][-1].curve] if found else []
    title = "Power to find a difference of the size in parentheses, by number of sentences"
    return Figure("power", "lines", title, names, series, "sentences", "power", percent=True, zero=True, key="sentences")


def differences_figure(comparison: Comparison) -> Figure:
    """A row for each rate and pair: the difference, second system minus first, with its interval around zero."""
    pairs = comparison.overall.pairs
    found = [(pair, difference) for pair in pairs for difference in pair.differences if math.isfinite(difference.value)]
    # Means of counts have another scale, so they are drawn only if there is nothing else.
    shares = [(pair, difference) for pair, difference in found if not difference.name[1].startswith("average_")]
    drawn = shares or found
    rates = [difference.name for _, difference in drawn]
    names = [
        rate_heading(difference.name, rates) + (f": {pair.b} − {pair.a}" if len(pairs) > 1 else "") for pair, difference in drawn
    ]
    which = f"{pairs[0].b} − {pairs[0].a}" if len(pairs) == 1 else "second − first"
    dots = "; dots: pairs of single runs" if comparison.overall.has_runs else ""
    title = f"Differences, {which}, with {100 * comparison.level:g}% intervals{dots}"
    percent = bool(shares) or not found
    series = [
        Series(
            "difference",
            [difference.value for _, difference in drawn],
            [difference.interval.low for _, difference in drawn],
            [difference.interval.high for _, difference in drawn],
            dots=[_pairs_of_runs(comparison.overall, pair, difference.name) for pair, difference in drawn],
        )
    ]
    axis = "percentage points" if percent else ""
    return Figure("differences", "forest", title, names, series, axis, percent=percent, zero=True, key="rate")


def _pairs_of_runs(group: Group, pair: PairOfSystems, name: Name) -> list[float]:
    """The differences between single runs of two systems, if a system has several."""
    ours, theirs = (group.rates[system][name] for system in (pair.a, pair.b))
    return [b - a for a in ours.runs or (ours.value,) for b in theirs.runs or (theirs.value,)] if ours.runs or theirs.runs else []
