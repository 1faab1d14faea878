"""log Z and marginals of labelled spans by Triton kernels: one from scores to the weights of spans, the recursion, and one back.

:mod:`treegauge.neural.recursion` computes the weights by dozens of operations, each of which is a launch. Second derivatives still
use those operations. A program handles a few spans with all their labels. Letters: ``s`` and ``last`` are a span's first and last
word, ``x`` the weight of each label, ``real`` their log-sum, ``base`` the log-sum of the null labels.
"""

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from treegauge.neural.backend import Tensor
from treegauge.neural.triton_language import tl, triton
from treegauge.neural.triton_spans import span_sums_triton

torch: Any = importlib.import_module("torch")

MOST_LABELS = 4096
"""The most labels: with more, those of a span do not fit one program."""


@triton.jit
def log_sum(x: "Any") -> "Any":
    """log sum exp over the second axis."""
    high = tl.max(x, 1)
    return tl.log(tl.sum(tl.exp(x - high[:, None]), 1)) + high


@triton.jit
def cell_place(p: "Any", LENGTH: "Any", n: "Any", total: "Any") -> "Any":
    """The sentence, first and last word of cell p, the sentence's length, and whether the cell is a span of the sentence."""
    b = p // (n * n)
    cell = (p - b * n * n).to(tl.int32)
    s = cell // n
    last = cell - s * n
    length = tl.load(LENGTH + b, mask=p < total, other=0)
    return b, s, last, length, (s <= last) & (last < length)


@triton.jit
def worth_of(
    SCORES: "Any", NULL: "Any", at: "Any", mask: "Any", label_step: "Any", size: "Any",
    LABELS: tl.constexpr, HAS_NULL: tl.constexpr,
) -> "Any":  # fmt: skip
    """The weight of each label, their log-sum (nan if one is nan or +inf), and each null label's share of the null score."""
    own = tl.arange(0, LABELS)
    scores = tl.load(SCORES + at[:, None] + own[None, :] * label_step, mask=mask[:, None] & (own < size)[None, :], other=-1e30)
    x = tl.maximum(scores, -1e30)
    share = tl.zeros_like(x)
    if HAS_NULL:
        null = (tl.load(NULL + own, mask=own < size, other=0) > 0)[None, :]
        base = log_sum(tl.where(null, x, -1e30))
        share = tl.where(null & (x > -5e29), tl.exp(tl.minimum(x - base[:, None], 0.0)), 0.0)
        x = tl.where(null | (x <= -1e30), -1e30, x - base[:, None])
    broken = tl.max(tl.where(scores < float("inf"), 0, 1), 1)
    return x, tl.where(broken > 0, float("nan"), log_sum(x)), share


@triton.jit
def is_root(s: "Any", last: "Any", length: "Any", ROOT: tl.constexpr) -> "Any":
    """Whether a span must be a constituent because it is the whole sentence."""
    whole = (s == 0) & (last == length - 1)
    if not ROOT:
        whole = s < 0
    return whole


@triton.jit
def softplus(x: "Any") -> "Any":
    """log(1 + e^x)."""
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


@triton.jit(do_not_specialize=["n", "total"])
def weights_kernel(
    SCORES: "Any", NULL: "Any", LENGTH: "Any", LEFT: "Any", RIGHT: "Any", n: "Any", total: "Any",
    step_b: "Any", step_s: "Any", step_last: "Any", label_step: "Any", size: "Any",
    SPANS: tl.constexpr, LABELS: tl.constexpr, HAS_NULL: tl.constexpr, ROOT: tl.constexpr,
) -> "Any":  # fmt: skip
    """The weights of some spans as left and as right parts."""
    p = tl.program_id(0).to(tl.int64) * SPANS + tl.arange(0, SPANS)
    b, s, last, length, mask = cell_place(p, LENGTH, n, total)
    at = b * step_b + s * step_s + last * step_last
    _, real, _ = worth_of(SCORES, NULL, at, mask, label_step, size, LABELS, HAS_NULL)
    if HAS_NULL:
        either = softplus(real)
        whole = is_root(s, last, length, ROOT)
        tl.store(LEFT + p, tl.where(whole, real, either), mask=mask)
        tl.store(RIGHT + p, tl.where(s == last, either, real), mask=mask)
    else:
        tl.store(LEFT + p, real, mask=mask)


@triton.jit(do_not_specialize=["n", "total"])
def marginals_kernel(
    SCORES: "Any", NULL: "Any", LENGTH: "Any", AS_LEFT: "Any", AS_RIGHT: "Any", WEIGHT: "Any", OUT: "Any", n: "Any", total: "Any",
    step_b: "Any", step_s: "Any", step_last: "Any", label_step: "Any", size: "Any",
    SPANS: tl.constexpr, LABELS: tl.constexpr, HAS_NULL: tl.constexpr, ROOT: tl.constexpr, GRADIENT: tl.constexpr,
) -> "Any":  # fmt: skip
    """The posteriors of some spans' labels; or the gradient with respect to the scores, including null labels, times each
    sentence's weight."""
    p = tl.program_id(0).to(tl.int64) * SPANS + tl.arange(0, SPANS)
    b, s, last, length, mask = cell_place(p, LENGTH, n, total)
    at = b * step_b + s * step_s + last * step_last
    x, real, share = worth_of(SCORES, NULL, at, mask, label_step, size, LABELS, HAS_NULL)
    left = tl.load(AS_LEFT + p, mask=mask, other=0.0)
    right = tl.load(AS_RIGHT + p, mask=mask, other=0.0)
    if HAS_NULL:
        of_part = tl.exp(real - softplus(real))
        whole = is_root(s, last, length, ROOT)
        left = tl.where(whole, left, left * of_part)
        right = tl.where(s == last, right * of_part, right)
    span = left + right
    out = span[:, None] * tl.where(x > -5e29, tl.exp(tl.minimum(x - real[:, None], 0.0)), 0.0)
    if GRADIENT:
        weight = tl.load(WEIGHT + b, mask=p < total, other=0.0)
        out = (out - span[:, None] * share) * weight[:, None]
    own = tl.arange(0, LABELS)
    cells = (p < total)[:, None] & (own < size)[None, :]
    tl.store(OUT + p[:, None] * size + own[None, :], tl.where(mask[:, None], out, 0.0), mask=cells)


@cache
def _null_mask(null: tuple[int, ...], size: int, device: Any) -> Tensor:
    """A mask of null labels, cached because its transfer takes as long as a kernel."""
    mask = torch.zeros(size, dtype=torch.int8)
    mask[list(null)] = 1
    return mask.to(device)


class LabelledSpans(NamedTuple):
    """Scores (B, n, n, labels) in float32 or float64 with any strides, with lengths, null labels and the constraint on roots."""

    scores: Tensor
    lengths: Tensor
    null: tuple[int, ...]
    root: bool

    def weights(self) -> tuple[Tensor, Tensor]:
        """The weights of spans as left and as right parts (B, n, n), undefined beyond a sentence. Without null labels both are one
        tensor."""
        B, n, _, _ = self.scores.shape
        left = self.scores.new_empty((B, n, n))
        right = left.new_empty((B, n, n)) if self.null else left
        self._launch(weights_kernel, [left, right])
        return left, right

    def marginals(self, as_left: Tensor, as_right: Tensor) -> Tensor:
        """The posterior of each labelled span, given the posteriors of the parts; 0 for null labels."""
        made = self.scores.new_empty(self.scores.shape)
        self._launch(marginals_kernel, [as_left, as_right, as_left, made], GRADIENT=False)
        return made

    def gradient(self, as_left: Tensor, as_right: Tensor, weight: Tensor) -> Tensor:
        """The gradient of each sentence's log Z with respect to the scores, times the sentence's weight."""
        made = self.scores.new_empty(self.scores.shape)
        self._launch(marginals_kernel, [as_left, as_right, weight.to(made.dtype).contiguous(), made], GRADIENT=True)
        return made

    def _launch(self, kernel: Any, arrays: list[Tensor], **options: Any) -> None:
        """Launch a kernel over all cells, with as many spans per program as their labels allow."""
        B, n, _, size = self.scores.shape
        labels = triton.next_power_of_2(size)
        spans = max(1, 1024 // labels)
        total = B * n * n
        kernel[(triton.cdiv(total, spans),)](
            self.scores, _null_mask(self.null, size, self.scores.device), self.lengths, *arrays, n, total,
            *self.scores.stride(), size, SPANS=spans, LABELS=labels, HAS_NULL=bool(self.null), ROOT=self.root, num_warps=4,
            **options,
        )  # fmt: skip


class _FusedLogPartition(torch.autograd.Function):
    """log Z, already computed; its gradient is computed by a kernel, or by torch operations if it will be differentiated too."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, sums: "FusedSums") -> Tensor:
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
    """log Z of a batch and the posteriors of its labelled spans; ``by_operations`` computes log Z from scores by torch
    operations."""

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
        """The posterior of each labelled span (B, n, n, labels), without gradients."""
        return self.spans.marginals(*self.found[1:])
