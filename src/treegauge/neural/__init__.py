"""Batched span CRFs and dense PCFGs with gradients, for torch tensors on CPU and GPU (extra ``[torch]``) and NumPy arrays.

Modules are imported on first use; torch is imported only when a tensor is given.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from treegauge.neural.adapters import benepar_charts, supar_charts
    from treegauge.neural.low_rank import LowRankPCFG
    from treegauge.neural.pcfg import PCFG, DensePCFG
    from treegauge.neural.span_crf import SpanCRF
    from treegauge.neural.struct import SentCFG, TreeCRF

_HOME = {
    "DensePCFG": "pcfg",
    "LowRankPCFG": "low_rank",
    "PCFG": "pcfg",
    "SentCFG": "struct",
    "SpanCRF": "span_crf",
    "TreeCRF": "struct",
    "benepar_charts": "adapters",
    "supar_charts": "adapters",
}

__all__ = ["PCFG", "DensePCFG", "LowRankPCFG", "SentCFG", "SpanCRF", "TreeCRF", "benepar_charts", "supar_charts"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
