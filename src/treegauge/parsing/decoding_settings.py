"""Settings of decoding: an objective with its lam, by what it is best for, as model files store them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from treegauge.errors import UsageError

__all__ = ["CRITERIA", "VITERBI", "DecodingSetting", "from_notes"]

CRITERIA = {"f1": "f1", "exact": "exact_match", "recall": "recall", "precision": "precision"}
"""The purposes of a setting, and the rate that measures each."""


class DecodingSetting(NamedTuple):
    """An objective with its lam, if it takes one."""

    objective: str
    lam: float | None = None

    @property
    def options(self) -> dict[str, float]:
        """The options of the objective."""
        return {} if self.lam is None else {"lam": self.lam}

    def __str__(self) -> str:
        return self.objective if self.lam is None else f"{self.objective} --lam {self.lam:g}"


VITERBI = DecodingSetting("viterbi")


def from_notes(notes: Mapping[str, Any]) -> dict[str, DecodingSetting]:
    """The settings of a model file; none if it has none."""
    try:
        best: Mapping[str, Any] = notes.get("settings", {}).get("best", {})
        return {
            str(name): DecodingSetting(str(objective), None if lam is None else float(lam))
            for name, (objective, lam) in best.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError("the settings of this model cannot be read: run treegauge induce again") from None
