"""log Z and marginals of labelled spans on a GPU: a few kernels from the scores on; second derivatives by torch operations."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from treegauge.neural.backend import Tensor
from treegauge.neural.triton_labels import LabelledSpans
from treegauge.neural.triton_spans import span_sums_triton

__all__ = ["FusedSums"]

torch: Any = importlib.import_module("torch")


class _FusedLogPartition(torch.autograd.Function):
    """log Z, already computed; its gradient by a kernel, or by operations where that is differentiated in turn."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, sums: FusedSums) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.sums = sums
        return sums.found[0].clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (scores,) = ctx.saved_tensors
        sums: FusedSums = ctx.sums
        if not torch.is_grad_enabled():
            return sums.spans.gradient(*sums.found[1:], grads[0]), None
        (grad,) = torch.autograd.grad(sums.by_operations(scores), scores, grads[0], create_graph=True)
        return grad, None


class FusedSums:
    """log Z of a batch and the posteriors of its labelled spans; ``by_operations`` is log Z as torch can differentiate it."""

    def __init__(self, spans: LabelledSpans, by_operations: Callable[[Tensor], Tensor]) -> None:
        self.scores = spans.scores
        self.spans = spans._replace(scores=spans.scores.detach())
        self.by_operations = by_operations
        self.found: tuple[Tensor, Tensor, Tensor] = span_sums_triton(*self.spans.weights(), spans.lengths, posteriors=True)

    def log_partition(self) -> Tensor:
        """log Z (B,), differentiable twice."""
        tracked = torch.is_grad_enabled() and self.scores.requires_grad
        return _FusedLogPartition.apply(self.scores, self) if tracked else self.found[0]

    def marginals(self) -> Tensor:
        """The posterior of each labelled span (B, n, n, labels), no part of the graph."""
        return self.spans.marginals(*self.found[1:])
