"""Span CRFs on tensors: the two weights of each span, the recursion from them to log Z, and its first and second derivatives.

:mod:`treegauge.parsing.span_trees` defines the weights. On a CPU the recursion is a Numba kernel over the batch, in float64
and on several threads; on a GPU it is one Triton program per sentence, between two kernels over the labels; without Triton, and
for second derivatives, it is a torch operation per width. The letters are those of :mod:`treegauge.parsing.span_kernels`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treegauge.neural.backend import NEVER, Tensor, use_triton

torch: Any = importlib.import_module("torch")

LARGEST = 1e14
"""The limit on weights, whose exponents the kernels of the CPU can hold; scores of +inf, and null scores of -inf, exceed it."""
CHUNK = 16
"""The number of sentences that a thread processes at once."""


@dataclass(frozen=True, eq=False)
class SpanWeights:
    """The weights of a batch of span scores: ``label`` of each labelled constituent (B, n, n, labels), ``real`` their log-sum over
    labels, and ``left`` and ``right`` of a span as a left and as a right part (B, n, n). ``null`` are the null labels."""

    label: Tensor
    real: Tensor
    left: Tensor
    right: Tensor
    null: Sequence[int]

    def constituents(self, as_left: Tensor, as_right: Tensor) -> Tensor:
        """The probability of each labelled constituent, given the probabilities of the parts; 0 for null labels."""
        if self.left is self.right:
            span = as_left + as_right
        else:
            span = as_left * (self.real - self.left).clamp_max(0.0).exp() + as_right * (self.real - self.right).clamp_max(0.0).exp()
        # With one label, a span that is not allowed has a posterior of 0 anyway.
        return span[..., None] if self.label.shape[-1] == 1 else span[..., None] * self.label_share

    @cached_property
    def label_share(self) -> Tensor:
        """The probability of each label, given that the span is a constituent."""
        return (self.label - self.real[..., None]).exp() * (self.label > NEVER / 2)


def span_weights(
    scores: Tensor, lengths: Tensor, null: Sequence[int], root: bool, allowed: Tensor | None, required: Tensor | None
) -> SpanWeights:
    """The weights of a batch of checked scores (B, n, n, labels). Scores beyond a sentence have no effect, and a gradient of 0."""
    if scores.requires_grad or scores.shape[-1] > 1 or not use_triton(scores):  # Triton's kernels read no other cells anyway
        scores = scores.masked_fill(~within(lengths, scores.shape[1])[..., None], 0.0)
    label = scores
    if null:
        label = scores - log_sum(scores[..., list(null)])[..., None]
        label[..., list(null)] = NEVER
    if allowed is not None:
        label = label.masked_fill(~(allowed if allowed.ndim == 4 else allowed[..., None]), NEVER)
    real = log_sum(label)
    if not null and required is None:
        return SpanWeights(label, real, real, real, null)
    n = real.shape[1]
    words = torch.eye(n, dtype=torch.bool, device=real.device)
    group_left = torch.full_like(real, bool(null), dtype=torch.bool)
    group_right = (words & bool(null)).expand_as(group_left)
    if root:
        ends = torch.arange(n, device=real.device) == (lengths[:, None] - 1)
        group_left = group_left & ~(ends[:, None, :] & (torch.arange(n, device=real.device) == 0)[None, :, None])
    if required is not None:
        group_left, group_right = group_left & ~required, group_right & ~required
    either = torch.logaddexp(real, torch.zeros_like(real))
    left, right = torch.where(group_left, either, real), torch.where(group_right, either, real)
    if required is not None:
        never = crossing_required(required)
        left, right = left.masked_fill(never, NEVER), right.masked_fill(never, NEVER)
    return SpanWeights(label, real, left, right, null)


def crossing_required(required: Tensor) -> Tensor:
    """A mask of the spans (B, n, n) that cross a required span, by first and last word."""
    given = required.to(torch.int32)
    # longer[i, j] counts required spans that begin at i and end after j; [s, t] crosses those that begin in it, but not at s.
    longer = given.flip(2).cumsum(2).flip(2) - given
    after = longer.cumsum(1)
    begins_in = torch.diagonal(after, 0, 1, 2)[:, None, :] - after
    # earlier[i, j] counts required spans that end at j and begin before i; [s, t] crosses those that end in it, but not at t.
    earlier = given.cumsum(1) - given
    before = earlier.cumsum(2) - earlier
    ends_in = before - torch.diagonal(before, 0, 1, 2)[:, :, None]
    return ((begins_in > 0) | (ends_in > 0)) & torch.ones_like(required).triu()


def log_sum(values: Tensor) -> Tensor:
    """log sum exp over the last axis, at least NEVER, with finite gradients."""
    if values.shape[-1] == 1:
        return values[..., 0].clamp_min(NEVER)
    high = values.detach().amax(-1, keepdim=True).clamp_min(NEVER)
    total = (values - high).exp().sum(-1)
    return total.clamp_min(torch.finfo(values.dtype).tiny).log() + high[..., 0]


def span_sums(left: Tensor, right: Tensor, lengths: Tensor, *, posteriors: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """log Z (B,) and the posteriors of left and right parts (B, n, n), or ``None`` for these; all without gradients.

    A sentence with a weight that is too large or not a number has nan everywhere.
    """
    left, right = left.detach(), right.detach()
    if not left.is_cuda and not use_triton(left):
        return _by_numba(left, right, lengths, posteriors)
    if use_triton(left):
        from treegauge.neural.triton_spans import span_sums_triton

        return span_sums_triton(left.contiguous(), right.contiguous(), lengths, posteriors)
    return mark_broken(_by_autograd(left, right, lengths, posteriors), left < LARGEST, lengths)


def within(lengths: Tensor, n: int) -> Tensor:
    """A mask of the cells (B, n, n), by first and last word, that are spans of a sentence."""
    at = torch.arange(n, device=lengths.device)
    return (at[:, None] <= at) & (at < lengths[:, None, None])


def mark_broken(found: tuple[Tensor, Tensor, Tensor], fits: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The sums, with nan for sentences that have a span whose weight does not fit (B, n, n). This does not wait for a GPU.

    Training loops that check losses or scale gradients look for nan, which torch's own operations would give too.
    """
    broken = ~(fits | ~within(lengths, fits.shape[1])).flatten(1).all(1)
    z, as_left, as_right = (None if x is None else x.masked_fill(broken.reshape(-1, *[1] * (x.ndim - 1)), np.nan) for x in found)
    return z, as_left, as_right


def _by_numba(left: Tensor, right: Tensor, lengths: Tensor, posteriors: bool) -> tuple[Tensor, Tensor, Tensor]:
    """The sums by a Numba kernel over the batch in float64, on as many threads as torch uses."""
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
    """log Z by torch operations, one per width, which is slower but can be differentiated any number of times."""
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
    """log Z, already computed; its gradient is the posteriors of the parts."""

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


class SpanSums:
    """log Z of a batch and the posteriors of its parts, each computed once, on first use."""

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
    return SpanSums(left, right, lengths).log_partition()
