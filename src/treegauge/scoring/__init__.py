"""Scoring: rows of counts become a :class:`Result` with its rates and its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.scoring.baselines import BASELINES as BASELINES, baseline_for as baseline_for
    from treegauge.scoring.result import Result as Result, Scores as Scores
    from treegauge.scoring.signature import Signature as Signature
else:
    __getattr__, __dir__ = lazy_names(__name__)
