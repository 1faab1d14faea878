"""The figures of a comparison: differences with their intervals around zero."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treegauge.reports.figures import Figure, Series
from treegauge.significance.comparison import Comparison, Difference
from treegauge.significance.resampling import Name


def differences_figure(comparison: Comparison) -> Figure:
    """A row for each rate and pair: the difference, second system minus first, with its interval around zero."""
    pairs = comparison.overall.pairs
    found = [(pair, difference) for pair in pairs for difference in pair.differences if math.isfinite(difference.value)]
    # Means of counts have another scale, so they are drawn only if there is nothing else.
    shares = [(pair, difference) for pair, difference in found if not difference.name[1].startswith("average_")]
    drawn = shares or found
    metrics = {difference.name[0] for _, difference in drawn}
    names = [
        rate_label(difference.name, metrics) + (f": {pair.b} − {pair.a}" if len(pairs) > 1 else "") for pair, difference in drawn
    ]
    which = f"{pairs[0].b} − {pairs[0].a}" if len(pairs) == 1 else "second − first"
    title = f"Differences, {which}, with {100 * comparison.level:g}% intervals"
    percent = bool(shares) or not found
    series = [_series([difference for _, difference in drawn])]
    axis = "points of a rate in percent" if percent else ""
    return Figure("differences", "forest", title, names, series, axis, percent=percent, zero=True, key="rate")


def _series(differences: Sequence[Difference]) -> Series:
    lows, highs = ([one.interval.low for one in differences], [one.interval.high for one in differences])
    return Series("difference", [difference.value for difference in differences], lows, highs)


def rate_label(name: Name, metrics: set[str]) -> str:
    """The name of a rate in words, with its metric where there are several.

    >>> rate_label(("parseval", "exact_match"), {"parseval"}), rate_label(("freval", "f1"), {"parseval", "freval"})
    ('exact match', 'freval f1')
    """
    metric, rate = name
    words = rate.replace("_", " ")
    return words if len(metrics) == 1 or metric.replace("-", " ") == words else f"{metric} {words}"
