"""log Z and expected counts of a dense PCFG as differentiable functions, which store charts instead of a graph of operations."""

from __future__ import annotations

import importlib
from typing import Any

from treegauge.neural.backend import NEVER, Tensor
from treegauge.neural.dense import DensePosteriors, DenseRules, inside, outside

torch: Any = importlib.import_module("torch")


class _DenseLogPartition(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool
    ) -> Tensor:
        dense = DenseRules.of(rules, root.shape[-1], shared)
        z, chart = inside(emissions, dense, root, lengths, allowed)
        if emissions.requires_grad or rules.requires_grad or root.requires_grad:
            ctx.chart, ctx.dense, ctx.allowed, ctx.shared = chart, dense, allowed, shared
            ctx.save_for_backward(emissions, rules, root, lengths)
        return z

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        emissions, rules, root, lengths = ctx.saved_tensors
        if not torch.is_grad_enabled():
            found = outside(ctx.chart, ctx.dense, root, lengths, weight=grads[0])
            return found.words, found.rules, found.roots, None, None, None
        given: list[Tensor] = [x if x.requires_grad else x.detach().requires_grad_() for x in (emissions, rules, root)]
        spans = emissions.new_zeros((*emissions.shape[:2], emissions.shape[1], root.shape[-1]))
        z = log_partition_by_width(given[0], given[1], given[2], lengths, ctx.allowed, ctx.shared, spans)
        return (*torch.autograd.grad(z, given, grads[0], create_graph=True), None, None, None)


def log_partition(emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool) -> Tensor:
    """log Z (B,), differentiable twice; the second derivative uses torch operations."""
    return _DenseLogPartition.apply(emissions, rules, root, lengths, allowed, shared)


class _Counts(torch.autograd.Function):
    """Expected counts. Their gradient uses torch operations, one per width, which store the products of each span's symbols."""

    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool
    ) -> Any:
        ctx.save_for_backward(emissions, rules, root, lengths)
        ctx.allowed, ctx.shared = allowed, shared
        dense = DenseRules.of(rules, root.shape[-1], shared)
        return tuple(outside(inside(emissions, dense, root, lengths, allowed)[1], dense, root, lengths))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: Any) -> Any:
        with torch.enable_grad():
            emissions, rules, root = given = [x.detach().requires_grad_() for x in ctx.saved_tensors[:3]]
            spans = emissions.new_zeros((*emissions.shape[:2], emissions.shape[1], root.shape[-1]), requires_grad=True)
            z = log_partition_by_width(emissions, rules, root, ctx.saved_tensors[3], ctx.allowed, ctx.shared, spans)
            first = torch.autograd.grad(torch.sum(z[torch.isfinite(z)]), (spans, *given), create_graph=True)
            second = torch.autograd.grad(first, given, grads, allow_unused=True)
        return (*(torch.zeros_like(x) if y is None else y for x, y in zip(given, second, strict=True)), None, None, None)


def expected_counts(
    emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool
) -> DensePosteriors:
    """Posteriors and expected counts, differentiable once."""
    return DensePosteriors(*_Counts.apply(emissions, rules, root, lengths, allowed, shared))


def log_partition_by_width(
    emissions: Tensor, rules: Tensor, root: Tensor, lengths: Tensor, allowed: Tensor | None, shared: bool, spans: Tensor
) -> Tensor:
    """log Z by torch operations, which is slower but can be differentiated any number of times. ``spans`` (B, n, n, N) are
    log-weights of symbols over spans; the gradient with respect to them is the posteriors."""
    B, n, T = emissions.shape
    N = root.shape[-1]
    none = emissions.new_full((B, n, N if not shared else 0), NEVER)
    words = torch.cat([none, emissions.clamp_min(NEVER)], -1)
    cells = [words + torch.diagonal(spans, 0, 1, 2).transpose(1, 2) if shared else words]
    largest = rules.detach().flatten(-2).amax(-1).clamp_min(NEVER)
    shares = (rules - largest[..., None, None]).exp()
    batch = "b" if rules.ndim == 4 else ""
    for d in range(2, n + 1):
        k = n - d + 1
        left = torch.stack([cells[w - 1][:, :k] for w in range(1, d)], 2)
        right = torch.stack([cells[d - w - 1][:, w : w + k] for w in range(1, d)], 2)
        of_left, of_right = (x.detach().amax(-1).clamp_min(NEVER) for x in (left, right))
        top = (of_left + of_right).amax(-1, keepdim=True)
        weight = (of_left + of_right - top).exp()[..., None]
        pairs = torch.einsum("bkwx,bkwy->bkxy", (left - of_left[..., None]).exp() * weight, (right - of_right[..., None]).exp())
        total = torch.einsum(f"bkxy,{batch}axy->bka", pairs, shares)
        made = total.clamp_min(torch.finfo(total.dtype).tiny).log() + largest.reshape(-1, 1, N) + top
        made = made + torch.diagonal(spans, d - 1, 1, 2).transpose(1, 2)
        dead = total <= torch.finfo(total.dtype).tiny
        if allowed is not None:
            dead = dead | ~torch.diagonal(allowed, d - 1, 1, 2)[..., None]
        made = made.clamp_min(NEVER).masked_fill(dead, NEVER)
        cells.append(made if shared else torch.cat([made, made.new_full((B, k, T), NEVER)], -1))
    whole = torch.stack([cell[:, 0, :N] for cell in cells], 1)[torch.arange(B, device=root.device), lengths.to(torch.int64) - 1]
    z = torch.logsumexp(whole + root, -1)
    return z.masked_fill(z < NEVER / 2, -float("inf"))
