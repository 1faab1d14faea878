"""Notes below the tables of a comparison, in words."""

from __future__ import annotations

from collections.abc import Sequence

from treegauge.significance.comparison import Group, PairOfSystems

__all__ = ["interval_warnings", "methods", "number_of", "pairs", "rounds"]


def methods(group: Group) -> str:
    """The kinds of interval in a group."""
    return ", ".join(sorted({d.interval.method for pair in group.pairs for d in pair.differences})).replace("bca", "BCa")


def pairs(group: Group) -> str:
    """How many pairs of systems there are."""
    return number_of(len(group.pairs), "pair")


def number_of(number: int, noun: str) -> str:
    """A number and what it counts.

    >>> number_of(1, "pair"), number_of(3, "pair")
    ('1 pair', '3 pairs')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def rounds(pairs: Sequence[PairOfSystems]) -> str:
    """How many ways of swapping sentences were looked at."""
    kinds = [f"all {pair.rounds} ways" if pair.exact else f"{pair.rounds} rounds" for pair in pairs]
    return ", ".join(sorted({"no sentence differs" if kind == "all 1 ways" else kind for kind in kinds}))


def interval_warnings(group: Group) -> list[str]:
    """What there is to say of intervals, each remark once with the rates it is about."""
    about: dict[str, list[str]] = {}
    for pair in group.pairs:
        for difference in pair.differences:
            rates = about.setdefault(difference.interval.warning, [])
            if (rate := " ".join(difference.name)) not in rates:
                rates.append(rate)
    return [f"{'all rates' if len(r) == len(group.names) else ', '.join(r)}: {warning}" for warning, r in about.items() if warning]
