"""The meaning of the scores of a batch of span charts, as tensors: see :mod:`treegauge.parsing.span_potentials`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from treegauge.neural.backend import Tensor, use_triton
from treegauge.neural.recursion import NEVER, within

__all__ = ["Weights", "crossing_required", "log_sum", "make_weights"]

torch: Any = importlib.import_module("torch")


@dataclass(frozen=True, eq=False)
class Weights:
    """The score of each labelled constituent (B, n, n, labels), ``real`` their log-sum over the labels, and the score of a span
    as a left and as a right part."""

    label: Tensor
    real: Tensor
    left: Tensor
    right: Tensor
    null: Sequence[int]

    def constituents(self, as_left: Tensor, as_right: Tensor) -> Tensor:
        """The probability of each labelled constituent, given those of the parts; 0 for null labels."""
        if self.left is self.right:
            span = as_left + as_right
        else:
            span = as_left * (self.real - self.left).clamp_max(0.0).exp() + as_right * (self.real - self.right).clamp_max(0.0).exp()
        # A span with one label that may not be has no posterior anyway.
        return span[..., None] if self.label.shape[-1] == 1 else span[..., None] * self.label_share

    @cached_property
    def label_share(self) -> Tensor:
        """The probability of each label of a constituent."""
        return (self.label - self.real[..., None]).exp() * (self.label > NEVER / 2)


def make_weights(
    scores: Tensor, lengths: Tensor, null: Sequence[int], root: bool, allowed: Tensor | None, required: Tensor | None
) -> Weights:
    """The weights of a batch of checked scores (B, n, n, labels); what stands beyond a sentence has no effect, and no gradient."""
    if scores.requires_grad or scores.shape[-1] > 1 or not use_triton(scores):  # Triton's kernels look at nothing else anyway
        scores = scores.masked_fill(~within(lengths, scores.shape[1])[..., None], 0.0)
    label = scores
    if null:
        label = scores - log_sum(scores[..., list(null)])[..., None]
        label[..., list(null)] = NEVER
    if allowed is not None:
        label = label.masked_fill(~(allowed if allowed.ndim == 4 else allowed[..., None]), NEVER)
    real = log_sum(label)
    if not null and required is None:
        return Weights(label, real, real, real, null)
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
    return Weights(label, real, left, right, null)


def crossing_required(required: Tensor) -> Tensor:
    """The spans (B, n, n) that cross a required one, all by first and last word."""
    given = required.to(torch.int32)
    # longer[i, j]: required spans that begin at i and end after j; a span [s, t] crosses one that begins in it, not at s.
    longer = given.flip(2).cumsum(2).flip(2) - given
    after = longer.cumsum(1)
    begins_in = torch.diagonal(after, 0, 1, 2)[:, None, :] - after
    # earlier[i, j]: required spans that end at j and begin before i; a span [s, t] crosses one that ends in it, not at t.
    earlier = given.cumsum(1) - given
    before = earlier.cumsum(2) - earlier
    ends_in = before - torch.diagonal(before, 0, 1, 2)[:, :, None]
    return ((begins_in > 0) | (ends_in > 0)) & torch.ones_like(required).triu()


def log_sum(values: Tensor) -> Tensor:
    """log sum exp over the last axis, never less than NEVER, with gradients that are numbers."""
    if values.shape[-1] == 1:
        return values[..., 0].clamp_min(NEVER)
    high = values.detach().amax(-1, keepdim=True).clamp_min(NEVER)
    total = (values - high).exp().sum(-1)
    return total.clamp_min(torch.finfo(values.dtype).tiny).log() + high[..., 0]
