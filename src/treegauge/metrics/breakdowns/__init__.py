"""Breakdowns: counts by label, length, kind of error and so on, with the brackets or sentences behind each count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.errors import check_name
from treegauge.metrics.breakdowns.constituent_counts import (
    Breakdown,
    Counts,
    Key,
    Place,
    PlaceArray,
    TableLayout,
    by_crossing,
    by_depth,
    by_fan_out,
    by_gap_degree,
    by_label,
    by_length,
    confusions,
    unary_chains,
)
from treegauge.metrics.breakdowns.error_analysis import by_error
from treegauge.presets import Preset
from treegauge.trees.treebank import Treebank

__all__ = ["BREAKDOWNS", "Breakdown", "Place", "breakdown"]

BREAKDOWNS: dict[str, Callable[[Pair], Breakdown]] = {
    "labels": by_label,
    "confusions": confusions,
    "lengths": by_length,
    "depths": by_depth,
    "unaries": unary_chains,
    "crossings": by_crossing,
    "errors": by_error,
    "fan-outs": by_fan_out,
    "gap-degrees": by_gap_degree,
}
"""Name -> function of a pair."""


def breakdown(name: str, pair: Pair) -> Breakdown:
    """The breakdown of that name."""
    check_name("breakdown", name, BREAKDOWNS)
    return BREAKDOWNS[name](pair)


def breakdown_from_counts(name: str, counts: Counts, places: Mapping[Key, tuple[PlaceArray, ...]], sentences: int) -> Breakdown:
    """The breakdown of that name with counts that were computed in another process."""
    return Breakdown(counts, places, sentences, _layout(name))


@cache
def _layout(name: str) -> TableLayout:
    nothing = Treebank.from_trees([])
    return breakdown(name, alignment.pair(nothing, nothing, Preset())).layout
