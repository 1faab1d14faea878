"""Scoring: rows of counts become a :class:`Result` with its rates and its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.scoring.baselines import BASELINES, baseline_for
    from treegauge.scoring.result import Result, Scores
    from treegauge.scoring.signature import Signature
else:
    __getattr__ = lazy_names(__name__)

__all__ = ["BASELINES", "Result", "Scores", "Signature", "baseline_for"]
