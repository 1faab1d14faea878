"""Inside and outside passes of a PCFG with all rules, one matrix product per width, for NumPy arrays and torch tensors.

Letters: a span is [s, t) of width d, split at r; there are B sentences of up to n words, N nonterminals, T preterminals. The
children of a rule A -> X Y are nonterminals (over spans of two words or more) or preterminals (over words); a grammar with one set
of symbols for both has *shared* symbols.

Each span stores its numbers divided by the largest of them, and the logarithm of the divisor (the *log-scale*). The products of all
splits of a span are summed into one N x N matrix before any rule is applied, and a word's rules are multiplied by its emissions
once, so no span ever holds N^3 numbers. Outside values are scaled such that their product with the inside values is a posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from treegauge.neural.backend import (
    NEVER,
    Array,
    at_least,
    at_most,
    diagonal,
    is_tensor,
    limits,
    module_of,
    numbers_to,
    torch_module,
    transpose,
    use_triton,
    windows,
    zeros,
)


@dataclass(frozen=True, eq=False)
class DenseRules:
    """The potentials of rules, each divided by the largest of its parent: ``both`` (N, N*N) for two spans as children, and with
    separate preterminals ``first`` (N, T, N), ``last`` (N, N, T) and ``words`` (N, T, T) for rules whose left child, right child or
    both are words. ``largest`` (N,) has the logarithms of the divisors. All may have a batch axis in front."""

    both: Array
    first: Array | None
    last: Array | None
    words: Array | None
    largest: Array

    @property
    def batched(self) -> bool:
        """Whether each sentence has its own rules."""
        return self.largest.ndim == 2

    @classmethod
    def of(cls, rules: Array, N: int, shared: bool) -> DenseRules:
        """The parts of an array of log-potentials (N, M, M) or (B, N, M, M)."""
        xp = module_of(rules)
        flat = rules.reshape(*rules.shape[:-2], -1)
        largest = at_least(xp.amax(flat, -1), NEVER)
        scaled = xp.exp(rules - largest[..., None, None])
        both = scaled[..., :N, :N]
        both = both.reshape(*both.shape[:-2], N * N)
        if shared:
            return cls(both, None, None, None, largest)
        return cls(both, scaled[..., N:, :N], scaled[..., :N, N:], scaled[..., N:, N:], largest)


@dataclass(frozen=True, eq=False)
class DenseInside:
    """The inside chart: the numbers of all spans as ``chart[b, s, t]`` and ``ends[b, t, s]`` (B, n+1, n+1, N), and their log-scales
    in both orders.

    ``words`` (B, n, T) and ``word_scale`` (B, n) are the numbers and log-scales of words; ``by_first`` and ``by_last`` (B, n, N, N)
    are the rules whose first or last child is the word, summed over its preterminals, if symbols are not shared. A span's numbers
    are ``factor`` times the result of applying the rules to its splits, whose log-scale is ``top``. ``products`` (B, spans, N*N)
    are the sums over splits, if Triton's kernels were used.
    """

    chart: Array
    ends: Array
    scale: Array
    ends_scale: Array
    words: Array
    word_scale: Array
    by_first: Array | None
    by_last: Array | None
    factor: Array
    top: Array
    products: Array | None = None

    @property
    def shared(self) -> bool:
        """Whether words and spans have the same symbols."""
        return self.by_first is None


class DensePosteriors(NamedTuple):
    """Posteriors of spans (B, n, n, N) by first and last word, of words (B, n, T) and of roots (B, N), and expected counts of rules
    in an array shaped like the rules."""

    spans: Array
    words: Array
    rules: Array
    roots: Array


def inside(emissions: Array, rules: DenseRules, roots: Array, lengths: Array, allowed: Array | None) -> tuple[Array, DenseInside]:
    """log Z (B,) and the inside chart; ``emissions`` (B, n, T) and ``roots`` (B, N) are log-potentials, ``allowed`` is a mask of
    spans (B, n, n)."""
    c = _empty_chart(emissions, rules)
    n = emissions.shape[1]
    fused = _use_triton(emissions, rules)
    for d in range(2, n + 1):
        if fused and (c.shared or d > 2):
            from treegauge.neural.triton_dense import inside_widths

            c = replace(c, products=inside_widths(c, rules, allowed, d))
            break
        total, top = _apply(c, rules, d)
        factor, scale = span_scales(total, rules.largest, top, allowed, d)
        diagonal(c.top, d)[...] = top
        diagonal(c.factor, d)[...] = factor
        _store(c, d, total * factor, scale)
    return root_total(c.chart, c.scale, roots, lengths), c


def span_scales(total: Array, largest: Array, top: Array, allowed: Array | None, d: int) -> tuple[Array, Array]:
    """The factor by which the ``total`` of the spans of a width is multiplied, and their log-scale: ``largest`` has the logarithms
    of the rules' divisors, ``top`` the log-scale of the splits."""
    xp = module_of(total)
    with np.errstate(divide="ignore"):
        value = xp.log(total) + largest[..., None, :]
    high = xp.amax(value, -1)
    dead = high < NEVER / 2
    if allowed is not None:
        dead = dead | ~diagonal(allowed, d - 1)
    high = xp.where(dead, xp.zeros_like(high), high)
    factor = xp.where(dead[..., None], xp.zeros_like(total), xp.exp(largest[..., None, :] - high[..., None]))
    return factor, xp.where(dead, xp.zeros_like(high) + NEVER, top + high)


def root_total(chart: Array, scale: Array, roots: Array, lengths: Array) -> Array:
    """log Z (B,), -inf where there is no parse."""
    xp, rows = module_of(chart), numbers_to(chart, len(chart))
    largest = at_least(xp.amax(roots, -1), NEVER)
    with np.errstate(divide="ignore"):
        root = xp.log((chart[rows, 0, lengths] * xp.exp(roots - largest[:, None])).sum(-1))
    z = root + largest + scale[rows, 0, lengths]
    return xp.where(z < NEVER / 2, xp.zeros_like(z) - np.inf, z)


def _empty_chart(emissions: Array, rules: DenseRules) -> DenseInside:
    """A chart that contains the words but no wider spans."""
    xp = module_of(emissions)
    B, n, _ = emissions.shape
    N = rules.largest.shape[-1]
    word_scale = at_least(xp.amax(emissions, -1), NEVER)
    words = xp.exp(emissions - word_scale[..., None])
    size = (B, n + 1, n + 1)
    chart, ends, factor = (zeros(emissions, (*size, N)) for _ in range(3))
    scale, ends_scale, top = (zeros(emissions, size) + NEVER for _ in range(3))
    by_first = by_last = None
    if rules.first is not None:
        b = "b" if rules.batched else ""
        by_first = xp.einsum(f"{b}axc,bix->biac", rules.first, words)
        by_last = xp.einsum(f"{b}acx,bix->biac", rules.last, words)
    c = DenseInside(chart, ends, scale, ends_scale, words, word_scale, by_first, by_last, factor, top)
    if c.shared:
        _store(c, 1, words, word_scale)
    return c


def _store(c: DenseInside, d: int, numbers: Array, scale: Array) -> None:
    diagonal(c.chart, d)[...] = numbers
    diagonal(c.ends, d, below=True)[...] = numbers
    diagonal(c.scale, d)[...] = scale
    diagonal(c.ends_scale, d, below=True)[...] = scale


class _WidthSplits(NamedTuple):
    """The numbers of the left and right parts (B, k, splits, N) of all spans of a width, and the splits' log-scales
    (B, k, splits)."""

    left: Array
    right: Array
    scale: Array


def _splits(c: DenseInside, d: int) -> _WidthSplits | None:
    """The splits of the spans of width d into parts that have nonterminals; ``None`` if there are none."""
    at, width = (1, d - 1) if c.shared else (2, d - 3)
    if width < 1:
        return None
    k = c.chart.shape[1] - d
    scale = windows(c.scale, k, 0, at, width) + windows(c.ends_scale, k, d, at, width)
    return _WidthSplits(windows(c.chart, k, 0, at, width), windows(c.ends, k, d, at, width), scale)


def _apply(c: DenseInside, rules: DenseRules, d: int) -> tuple[Array, Array]:
    """The values (B, k, N) of the spans of width d, relative to the largest rule of each parent, and their log-scale (B, k)."""
    xp = module_of(c.words)
    B, n, _ = c.words.shape
    k = n - d + 1
    if rules.words is not None and d == 2:
        pair = (c.words[:, :-1, :, None] * c.words[:, 1:, None, :]).reshape(B, k, -1)
        return pair @ transpose(_flat(rules.words)), c.word_scale[:, :-1] + c.word_scale[:, 1:]
    splits = _splits(c, d)
    top = None if splits is None else xp.amax(splits.scale, -1)
    borders = [] if c.shared else [_border(c, d, first) for first in (True, False)]
    for border in borders:
        top = border.scale if top is None else xp.maximum(top, border.scale)
    total = zeros(c.words, (B, k, rules.largest.shape[-1]))
    for by_word, numbers, scale in borders:
        total = total + (by_word @ (numbers * xp.exp(scale - top)[..., None])[..., None])[..., 0]
    if splits is not None:
        total = total + _sum_splits(splits, top) @ transpose(rules.both)
    return total, top


class _Border(NamedTuple):
    """The splits that cut off one word: the rules given the word (B, k, N, N), the numbers of its sibling, and the log-scale."""

    by_word: Array
    numbers: Array
    scale: Array


def _border(c: DenseInside, d: int, first: bool) -> _Border:
    """The splits of the spans of width d that cut off the first or the last word."""
    k = c.words.shape[1] - d + 1
    word, span = (slice(0, k), slice(1, None)) if first else (slice(d - 1, None), slice(0, k))
    by_word = c.by_first if first else c.by_last
    assert by_word is not None
    scale = diagonal(c.scale, d - 1)[:, span] + c.word_scale[:, word]
    return _Border(by_word[:, word], diagonal(c.chart, d - 1)[:, span], scale)


def _sum_splits(splits: _WidthSplits, top: Array) -> Array:
    """The products of left and right numbers, summed over splits: (B, k, N*N)."""
    xp = module_of(top)
    B, k, _, N = splits.left.shape
    weighted = splits.left * xp.exp(splits.scale - top[..., None])[..., None]
    return (transpose(weighted) @ splits.right).reshape(B, k, N * N)


@dataclass(frozen=True, eq=False)
class _Gradient:
    """Gradients with respect to spans in both orders, to words, to the rules, to the rules over two words, and to the rules given
    each word (the last three are ``None`` for shared symbols)."""

    chart: Array
    ends: Array
    words: Array
    both: Array
    pairs: Array
    by_first: Array
    by_last: Array


def root_posteriors(chart: Array, roots: Array, lengths: Array, weight: Array | None) -> tuple[Array, Array]:
    """The posteriors (B, N) of the roots, times each sentence's ``weight``, and the same divided by the root's inside numbers."""
    xp = module_of(chart)
    numbers = chart[numbers_to(chart, len(chart)), 0, lengths]
    share = numbers * xp.exp(roots - at_least(xp.amax(roots, -1), NEVER)[:, None])
    smallest = limits(share)[0]
    share = share / at_least(share.sum(-1), smallest)[:, None]
    if weight is not None:
        share = share * weight[:, None]
    return share, share / at_least(numbers, smallest)


def outside(c: DenseInside, rules: DenseRules, roots: Array, lengths: Array, weight: Array | None = None) -> DensePosteriors:
    """The posteriors of spans, words, rules and roots, times each sentence's ``weight``; 0 where log Z is -inf."""
    B, n, _ = c.words.shape
    share, of_numbers = root_posteriors(c.chart, roots, lengths, weight)
    largest = limits(share)[1]
    like = (c.chart, c.ends, c.words, rules.both, rules.words, c.by_first, c.by_last)
    back = _Gradient(*(None if x is None else zeros(c.words, tuple(x.shape)) for x in like))
    back.chart[numbers_to(c.words, B), 0, lengths] = of_numbers
    widths = range(n, 1, -1)
    if c.products is not None:
        _back_by_triton(c, rules, back)
        widths = () if c.shared else (2,)
    for d in widths:
        given = diagonal(back.chart, d) + diagonal(back.ends, d, below=True)
        h = at_most(given, largest) * diagonal(c.factor, d)
        if not c.shared and d == 2:
            _back_to_pairs(c, rules, back, h)
        else:
            _back_to_splits(c, rules, back, d, h)
    return _counts(c, rules, back, share)


def _use_triton(array: Array, rules: DenseRules) -> bool:
    """Whether Triton's kernels can be used: the type is float32, and there are not too many symbols."""
    if not is_tensor(array) or array.dtype != torch_module().float32 or not use_triton(array):
        return False
    from treegauge.neural.triton_dense import LARGEST_N

    return rules.largest.shape[-1] <= LARGEST_N


def _back_by_triton(c: DenseInside, rules: DenseRules, back: _Gradient) -> None:
    """Propagate gradients through all widths whose parts are spans, then to the rules of all spans at once."""
    from treegauge.neural.triton_dense import outside_widths

    h, in_row = outside_widths(c, rules, back, 2 if c.shared else 3)
    back.both[...] += _outer(in_row, c.products, back.both, rules)
    if c.shared:
        return
    # If the first word is cut off, the parts of spans [s, t) are [s + 1, t); if the last, [s, t - 1).
    weight = (c.scale[:, 1:] + c.word_scale[:, :, None] - c.top[:, :-1]).clamp_max(0.0).exp()[..., None]
    back.by_first[...] += transpose(h[:, :-1]) @ (c.chart[:, 1:] * weight)
    weight = (c.scale[:, :, :-1] + c.word_scale[:, None] - c.top[:, :, 1:]).clamp_max(0.0).exp()[..., None]
    part = (c.chart[:, :, :-1] * weight).transpose(1, 2)
    back.by_last[...] += transpose(h[:, :, 1:].transpose(1, 2)) @ part


def _back_to_pairs(c: DenseInside, rules: DenseRules, back: _Gradient, h: Array) -> None:
    """Propagate gradients from spans of two words to the words and their rules, if symbols are not shared."""
    B, n, T = c.words.shape
    pair = (c.words[:, :-1, :, None] * c.words[:, 1:, None, :]).reshape(B, n - 1, -1)
    down = (h @ _flat(rules.words)).reshape(B, n - 1, T, T)
    back.words[:, :-1] += (down @ c.words[:, 1:, :, None])[..., 0]
    back.words[:, 1:] += (c.words[:, :-1, None, :] @ down)[..., 0, :]
    back.pairs[...] += _outer(h, pair, back.pairs, rules)


def _back_to_splits(c: DenseInside, rules: DenseRules, back: _Gradient, d: int, h: Array) -> None:
    """Propagate gradients from the spans of width d to their parts and rules."""
    xp = module_of(h)
    B, k, N = h.shape
    top = diagonal(c.top, d)
    splits = _splits(c, d)
    if splits is not None:
        back.both[...] += _outer(h, _sum_splits(splits, top), back.both, rules)
        down = (h @ rules.both).reshape(B, k, N, N)
        weight = xp.exp(splits.scale - top[..., None])[..., None]
        at, width = (1, d - 1) if c.shared else (2, d - 3)
        windows(back.chart, k, 0, at, width)[...] += weight * (splits.right @ transpose(down))
        windows(back.ends, k, d, at, width)[...] += weight * (splits.left @ down)
    for first in () if c.shared else (True, False):
        by_word, numbers, scale = _border(c, d, first)
        word, span = (slice(0, k), slice(1, None)) if first else (slice(d - 1, None), slice(0, k))
        weight = xp.exp(scale - top)[..., None]
        diagonal(back.chart, d - 1)[:, span] += weight * (h[..., None, :] @ by_word)[..., 0, :]
        of_word = back.by_first if first else back.by_last
        of_word[:, word] += h[..., :, None] * (weight * numbers)[..., None, :]


def _counts(c: DenseInside, rules: DenseRules, back: _Gradient, share: Array) -> DensePosteriors:
    """The posteriors and expected counts that the gradients give; ``share`` has the posteriors of the roots."""
    xp = module_of(c.words)
    flow = back.chart + xp.swapaxes(back.ends, 1, 2)
    spans = (at_most(flow, limits(flow)[1]) * c.chart)[:, :-1, 1:]
    both = (back.both * rules.both).reshape(*rules.both.shape[:-1], share.shape[-1], share.shape[-1])
    if c.shared:
        words = spans[:, numbers_to(c.words, c.words.shape[1]), numbers_to(c.words, c.words.shape[1])]
        return DensePosteriors(spans, words, both, share)
    b = "b" if rules.batched else ""
    first = xp.einsum(f"biac,bix->{b}axc", back.by_first, c.words) * rules.first
    last = xp.einsum(f"biac,bix->{b}acx", back.by_last, c.words) * rules.last
    flow = back.words + xp.einsum(f"biac,{b}axc->bix", back.by_first, rules.first)
    flow = flow + xp.einsum(f"biac,{b}acx->bix", back.by_last, rules.last)
    top = xp.concatenate([both, last], -1)
    bottom = xp.concatenate([first, back.pairs * rules.words], -1)
    return DensePosteriors(spans, flow * c.words, xp.concatenate([top, bottom], -2), share)


def _outer(h: Array, product: Array, like: Array, rules: DenseRules) -> Array:
    """The sum of h times product over spans, and over sentences if these have the same rules; shaped like the rules."""
    B, k, N = h.shape
    if rules.batched:
        return (transpose(h) @ product).reshape(like.shape)
    return (transpose(h.reshape(B * k, N)) @ product.reshape(B * k, -1)).reshape(like.shape)


def _flat(rules: Array) -> Array:
    return rules.reshape(*rules.shape[:-2], -1)
