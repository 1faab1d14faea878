"""Batched span CRFs and dense PCFGs with gradients, for torch tensors on CPU and GPU (extra ``[torch]``) and NumPy arrays.

Modules are imported on first use; torch is imported only when a tensor is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treegauge._lazy import lazy_names

if TYPE_CHECKING:
    from treegauge.neural.adapters import (
        SentCFG as SentCFG,
        TreeCRF as TreeCRF,
        benepar_charts as benepar_charts,
        supar_charts as supar_charts,
    )
    from treegauge.neural.dense_pcfg import PCFG as PCFG, DensePCFG as DensePCFG
    from treegauge.neural.low_rank import LowRankPCFG as LowRankPCFG
    from treegauge.neural.span_crf import SpanCRF as SpanCRF
else:
    __getattr__, __dir__ = lazy_names(__name__)
