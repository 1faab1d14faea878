"""Is each algorithm the best on the criterion that it maximises? One verdict a criterion, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treegauge.experiments.rate_tests import RateTests
from treegauge.metrics.tables import Cell, Table

__all__ = ["Verdict", "in_words", "verdict", "verdict_table"]

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Verdict:
    """The algorithm ``own`` less the best other one, on the criterion that it maximises; ``where`` names the grammar."""

    criterion: str
    own: str
    rival: str
    difference: float
    p: float
    where: str = ""

    @property
    def is_best(self) -> bool:
        return self.difference >= 0

    def __str__(self) -> str:
        """One sentence.

        >>> print(Verdict("LR", "M_LR", "MPP", -0.002, 0.4, "MH"))
        On LR (MH) MPP is 0.20 points above M_LR (p = 0.4000): not significant, so the sample cannot tell
        """
        place = f"On {self.criterion}" + (f" ({self.where})" if self.where else "")
        if self.is_best:
            lead = f"{place} {self.own} leads {self.rival} by {100 * self.difference:.2f} points (p = {self.p:.4f})"
            return lead if self.p < SIGNIFICANT else f"{lead}: not significant"
        found = f"{place} {self.rival} is {-100 * self.difference:.2f} points above {self.own} (p = {self.p:.4f})"
        if self.p >= SIGNIFICANT:
            return f"{found}: not significant, so the sample cannot tell"
        return f"{found}: significant; {self.own} is best on average over the grammar's own trees, and this treebank's are others"


def verdict(
    tests: RateTests, rate: str, criterion: str, own: str, names: Mapping[str, str] | None = None, where: str = ""
) -> Verdict:
    """The verdict on one criterion; ``names`` says how algorithms show where that is not their name in ``tests``."""
    shown = names or {name: name for name in tests.rates}
    rival = max((name for name in tests.rates if name != own), key=lambda name: tests.rates[name][rate])
    difference = tests.rates[own][rate] - tests.rates[rival][rate]
    return Verdict(criterion, shown[own], shown[rival], difference, tests.p(rival, own, rate), where)


def verdict_table(verdicts: Sequence[Verdict], notes: Sequence[str] = ()) -> Table:
    """A row a criterion."""
    several = any(each.where for each in verdicts)
    rows: list[tuple[Cell, ...]] = [
        (
            *([each.where] if several else []),
            *(each.criterion, each.own, each.rival, each.difference, f"{each.p:.4f}", "best" if each.is_best else "not best"),
        )
        for each in verdicts
    ]
    columns = ("criterion", "its algorithm", "best other", "difference", "p", "verdict")
    about = "p: two-sided, paired randomisation over sentences. A difference that is not significant decides nothing."
    return Table(
        "Is each algorithm the best on the criterion that it maximises?",
        (*(["grammar"] if several else []), *columns),
        tuple(rows),
        notes=(*notes, about),
        percent=("difference",),
    )


def in_words(verdicts: Sequence[Verdict]) -> str:
    """How many algorithms are best on their own criterion, and every exception with its significance."""
    best = [each for each in verdicts if each.is_best]
    weak = [each for each in best if each.p >= SIGNIFICANT]
    said = f"on {len(best)} of {len(verdicts)} criteria the algorithm made for it is best"
    said += f", on {len(best) - len(weak)} of them significantly (p < {SIGNIFICANT:g})." if best else "."
    for each in (*weak, *(each for each in verdicts if not each.is_best)):
        said += f" {each}."
    return said
