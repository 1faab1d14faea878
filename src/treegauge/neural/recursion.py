"""The span recursion on tensors: log Z of two weights per span, its gradient, and the gradient of that.

On a CPU one Numba pass over the batch, in float64, on threads; on a GPU one Triton program per sentence, between two kernels over
the labels; where Triton is missing, and for second derivatives, torch operations, one per width.

The letters are those of :mod:`treegauge.parsing.span_kernels`.
"""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from treegauge.neural.backend import Tensor, use_triton

__all__ = ["NEVER", "Sums", "log_partition", "mark_broken", "span_sums", "sums_by_width", "within"]

torch: Any = importlib.import_module("torch")

NEVER = -1e30
"""The logarithm of 0 where gradients flow: -inf would make them nan."""
LARGEST = 1e14
"""The largest weight whose exponent the kernels of the CPU can hold; +inf, and a null score of -inf, make larger ones."""
CHUNK = 16
"""Sentences that a thread takes at once."""


def span_sums(left: Tensor, right: Tensor, lengths: Tensor, *, posteriors: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """log Z (B,) and the posteriors of left and right parts (B, n, n), or None; nothing here is differentiated.

    A sentence with a weight that is not a number has nan everywhere.
    """
    left, right = left.detach(), right.detach()
    if not left.is_cuda and not use_triton(left):
        return _by_numba(left, right, lengths, posteriors)
    if use_triton(left):
        from treegauge.neural.triton_spans import span_sums_triton

        return span_sums_triton(left.contiguous(), right.contiguous(), lengths, posteriors)
    return mark_broken(_by_autograd(left, right, lengths, posteriors), left < LARGEST, lengths)


def within(lengths: Tensor, n: int) -> Tensor:
    """The cells (B, n, n) by first and last word that are spans of a sentence."""
    at = torch.arange(n, device=lengths.device)
    return (at[:, None] <= at) & (at < lengths[:, None, None])


def mark_broken(found: tuple[Tensor, Tensor, Tensor], fits: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The sums, with nan for the sentences that have a span whose weight does not fit (B, n, n); without waiting for a GPU.

    nan, as from torch's own operations, is what a loop that watches its losses or scales its gradients looks for.
    """
    broken = ~(fits | ~within(lengths, fits.shape[1])).flatten(1).all(1)
    z, as_left, as_right = (None if x is None else x.masked_fill(broken.reshape(-1, *[1] * (x.ndim - 1)), np.nan) for x in found)
    return z, as_left, as_right


def _by_numba(left: Tensor, right: Tensor, lengths: Tensor, posteriors: bool) -> tuple[Tensor, Tensor, Tensor]:
    from treegauge.parsing.span_kernels import marginals_of_batch

    same = left is right or left.data_ptr() == right.data_ptr()
    of_left = left.to(torch.float64).contiguous().numpy()
    of_right = of_left if same else right.to(torch.float64).contiguous().numpy()
    B, n, _ = of_left.shape
    fit = bool(of_left.max() < LARGEST)
    if not fit:
        of_left, of_right = (np.where(x < LARGEST, x, NEVER) for x in (of_left, of_right))
    size = lengths.to(torch.int64).contiguous().numpy()
    z = np.empty(B)
    as_left, as_right = np.zeros((2, B, n, n) if posteriors else (2, 0, 0, 0))

    def work(first: int) -> None:
        marginals_of_batch(of_left, of_right, size, z, as_left, as_right, first, min(first + CHUNK, B))

    threads = min(torch.get_num_threads(), -(-B // CHUNK))
    if threads > 1:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(0, B, CHUNK)))
    else:
        for first in range(0, B, CHUNK):
            work(first)
    made = [torch.from_numpy(x).to(left.dtype) for x in (z, as_left, as_right)]
    found = made[0], made[1] if posteriors else None, made[2] if posteriors else None
    return found if fit else mark_broken(found, left < LARGEST, lengths)


def sums_by_width(left: Tensor, right: Tensor, lengths: Tensor) -> Tensor:
    """log Z by torch operations, one per width: slower, but differentiable as often as one likes."""
    n = left.shape[1]
    left, right = left.clamp_min(NEVER), right.clamp_min(NEVER)
    A, R = [torch.diagonal(left, 0, 1, 2)], [torch.diagonal(right, 0, 1, 2)]
    for d in range(2, n + 1):
        k = n - d + 1
        splits = torch.stack([A[w - 1][:, :k] + R[d - w - 1][:, w : w + k] for w in range(1, d)])
        inner = torch.logsumexp(splits, 0).clamp_min(NEVER)
        A.append((inner + torch.diagonal(left, d - 1, 1, 2)).clamp_min(NEVER))
        R.append((inner + torch.diagonal(right, d - 1, 1, 2)).clamp_min(NEVER))
    whole = torch.stack([of_width[:, 0] for of_width in A], 1)
    z = whole.gather(1, (lengths.to(torch.int64) - 1)[:, None])[:, 0]
    return torch.where(z <= NEVER / 2, torch.full_like(z, float("-inf")), z)


def _by_autograd(left: Tensor, right: Tensor, lengths: Tensor, posteriors: bool) -> tuple[Tensor, Tensor, Tensor]:
    if not posteriors:
        return sums_by_width(left, right, lengths), None, None
    with torch.enable_grad():
        left, right = left.clone().requires_grad_(), right.clone().requires_grad_()
        z = sums_by_width(left, right, lengths)
        as_left, as_right = torch.autograd.grad(z.sum(), (left, right))
    return z.detach(), as_left, as_right


class _SpanLogPartition(torch.autograd.Function):
    """log Z, already computed; its gradient are the posteriors of the parts."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, lengths: Tensor, z: Tensor, as_left: Tensor, as_right: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, lengths, as_left, as_right)
        return z.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        left, right, lengths, as_left, as_right = ctx.saved_tensors
        if torch.is_grad_enabled():
            as_left, as_right = _PartPosteriors.apply(left, right, lengths, as_left, as_right)
        grad = grads[0][:, None, None]
        return grad * as_left, grad * as_right, None, None, None, None


class _PartPosteriors(torch.autograd.Function):
    """The posteriors of the parts, already computed, with their own gradient."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, lengths: Tensor, as_left: Tensor, as_right: Tensor) -> Any:
        ctx.save_for_backward(left, right, lengths)
        return as_left.clone(), as_right.clone()

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        left, right, lengths = ctx.saved_tensors
        with torch.enable_grad():
            left, right = left.detach().requires_grad_(), right.detach().requires_grad_()
            z = sums_by_width(left, right, lengths)
            first = torch.autograd.grad(z.sum(), (left, right), create_graph=True)
            second = torch.autograd.grad(first, (left, right), grads, allow_unused=True)
        return (*(torch.zeros_like(left) if x is None else x for x in second), None, None, None)


class Sums:
    """log Z of a batch and the posteriors of its parts, computed once and as far as they are asked for."""

    def __init__(self, left: Tensor, right: Tensor, lengths: Tensor) -> None:
        self.given = left, right, lengths
        self.tracked = torch.is_grad_enabled() and (left.requires_grad or right.requires_grad)
        self.found: tuple[Tensor, Tensor, Tensor] | None = None

    def _all(self) -> tuple[Tensor, Tensor, Tensor]:
        if self.found is None:
            self.found = span_sums(*self.given)
        return self.found

    def log_partition(self) -> Tensor:
        """log Z (B,), differentiable twice."""
        if self.tracked:
            return _SpanLogPartition.apply(*self.given, *self._all())
        return self.found[0] if self.found else span_sums(*self.given, posteriors=False)[0]

    def parts(self) -> tuple[Tensor, Tensor]:
        """The posteriors of left and right parts (B, n, n), differentiable once."""
        _, as_left, as_right = self._all()
        return _PartPosteriors.apply(*self.given, as_left, as_right) if self.tracked else (as_left, as_right)


def log_partition(left: Tensor, right: Tensor, lengths: Tensor) -> Tensor:
    """log Z (B,), differentiable twice."""
    return Sums(left, right, lengths).log_partition()
