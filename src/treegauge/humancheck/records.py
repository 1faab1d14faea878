"""A judgement as it is kept: who said what of which bracket, when, and how it was asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from treegauge.humancheck.content import Bracket

__all__ = ["LONGEST_NAME", "LONGEST_NOTE", "ROLES", "VERDICTS", "Judgement", "now"]

VERDICTS = ("accepted", "rejected", "unsure", "skipped", "withdrawn")
"""What can be said; ``withdrawn`` takes an earlier judgement back."""

ROLES = ("annotator", "adjudicator")
"""An adjudicator's word counts where annotators disagree."""

LONGEST_NOTE = 2000
LONGEST_NAME = 60


@dataclass(frozen=True)
class Judgement:
    """One entry of the log. Nothing in it ever changes; a change of mind is another entry.

    ``id`` is made by whoever says it, so that saying it twice (a retry) is storing it once. ``correction``: the gold tree is wrong
    here and should be changed. ``undoes``: the id of the judgement that is withdrawn. ``blind``: the reason was not shown.
    ``seconds``: how long the bracket was looked at. The store gives ``at`` (UTC) and ``seq``, the place in the log.
    """

    id: str
    bracket: Bracket
    kind: str
    verdict: str
    annotator: str
    role: str = "annotator"
    note: str = ""
    correction: bool = False
    undoes: str = ""
    blind: bool = False
    seconds: float | None = None
    at: str = ""
    seq: int = 0

    def says_the_same(self, other: Judgement) -> bool:
        """Whether one is a repetition of the other: all is the same but when it came."""
        return self._unplaced() == other._unplaced()

    def _unplaced(self) -> Judgement:
        return replace(self, at="", seq=0, seconds=None)


def now() -> str:
    """The time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
