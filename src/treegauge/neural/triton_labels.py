"""Triton kernels between the scores of labelled spans and the two weights of a span: what :mod:`treegauge.neural.weights` does in
dozens of operations, each a launch, is here one kernel before the recursion and one after it.

A program takes some spans with all their labels. Letters: ``s`` and ``last`` are a span's first and last word, ``x`` what each of
its labels is worth, ``real`` their log-sum, ``base`` the log-sum of the null labels.
"""

from functools import cache
from typing import Any, NamedTuple

from treegauge.neural.backend import Tensor, torch_module
from treegauge.neural.triton_language import tl, triton

__all__ = ["MOST_LABELS", "LabelledSpans"]

MOST_LABELS = 4096
"""Beyond that a span's labels no longer fit a program."""


@triton.jit
def log_sum(x: "Any") -> "Any":
    """log sum exp over the second axis."""
    high = tl.max(x, 1)
    return tl.log(tl.sum(tl.exp(x - high[:, None]), 1)) + high


@triton.jit
def cell_place(p: "Any", LENGTH: "Any", n: "Any", total: "Any") -> "Any":
    """The sentence, the first and the last word of the p-th cell, its sentence's length, and whether it is a span of it."""
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
    """The worth of each label, their log-sum (nan if one is nan or +inf), and each null label's share of the null score."""
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
    """The posteriors of some spans' labels; or, times each sentence's weight, the gradient to the scores, null labels too."""
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
    """1 for each null label; made once, since sending it costs as much as a kernel."""
    torch = torch_module()
    mask = torch.zeros(size, dtype=torch.int8)
    mask[list(null)] = 1
    return mask.to(device)


class LabelledSpans(NamedTuple):
    """Scores (B, n, n, labels) in float32 or float64 with any strides, and what they mean."""

    scores: Tensor
    lengths: Tensor
    null: tuple[int, ...]
    root: bool

    def weights(self) -> tuple[Tensor, Tensor]:
        """The weights of spans as left and as right parts (B, n, n), not set beyond a sentence: one tensor without null labels."""
        B, n, _, _ = self.scores.shape
        left = self.scores.new_empty((B, n, n))
        right = left.new_empty((B, n, n)) if self.null else left
        self._launch(weights_kernel, [left, right])
        return left, right

    def marginals(self, as_left: Tensor, as_right: Tensor) -> Tensor:
        """The posterior of each labelled span, given those of the parts; 0 for null labels."""
        made = self.scores.new_empty(self.scores.shape)
        self._launch(marginals_kernel, [as_left, as_right, as_left, made], GRADIENT=False)
        return made

    def gradient(self, as_left: Tensor, as_right: Tensor, weight: Tensor) -> Tensor:
        """The gradient of the log Z of each sentence, times its weight, to the scores."""
        made = self.scores.new_empty(self.scores.shape)
        self._launch(marginals_kernel, [as_left, as_right, weight.to(made.dtype).contiguous(), made], GRADIENT=True)
        return made

    def _launch(self, kernel: Any, arrays: list[Tensor], **options: Any) -> None:
        B, n, _, size = self.scores.shape
        labels = triton.next_power_of_2(size)
        spans = max(1, 1024 // labels)
        total = B * n * n
        kernel[(triton.cdiv(total, spans),)](
            self.scores, _null_mask(self.null, size, self.scores.device), self.lengths, *arrays, n, total,
            *self.scores.stride(), size, SPANS=spans, LABELS=labels, HAS_NULL=bool(self.null), ROOT=self.root, num_warps=4,
            **options,
        )  # fmt: skip
