"""log Z of a dense PCFG with its gradient: the charts are kept, not the operations that made them."""

from __future__ import annotations

import importlib
from typing import Any

from treegauge.neural.backend import Tensor
from treegauge.neural.dense import DenseRules, inside, outside

__all__ = ["log_partition"]

torch: Any = importlib.import_module("torch")


class _LogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool
    ) -> Tensor:
        dense = DenseRules.of(rules, root.shape[-1], shared)
        z, chart = inside(emissions, dense, root, lengths, allowed)
        if emissions.requires_grad or rules.requires_grad or root.requires_grad:
            ctx.chart, ctx.dense = chart, dense
            ctx.save_for_backward(root, lengths)
        return z

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        root, lengths = ctx.saved_tensors
        found = outside(ctx.chart, ctx.dense, root, lengths, weight=grads[0])
        return found.words, found.rules, found.roots, None, None, None


def log_partition(emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool) -> Tensor:
    """log Z (B,), differentiable once."""
    return _LogPartition.apply(emissions, rules, root, lengths, allowed, shared)
