"""Inside and outside of a PCFG with all rules, one matrix product per width, for NumPy arrays and torch tensors alike.

Letters: a span is [s, t) of width d, split at r; B sentences of up to n words, N nonterminals, T preterminals. A rule
A -> X Y has children among the nonterminals (spans of two words or more) and the preterminals (words); where grammars have one
set of symbols for both, they are *shared*.

Each span holds its numbers divided by their largest, and the logarithm of what they were divided by. The products of all splits
of a span are summed into one N x N matrix before any rule is applied, and a word's rules are multiplied by its emissions once,
so no span ever holds N^3 numbers. The outside is kept such that its product with the inside is a posterior.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treegauge.neural.backend import Array, is_tensor, torch_module, use_triton

__all__ = [
    "NEVER",
    "DensePosteriors",
    "DenseRules",
    "Inside",
    "at_least",
    "at_most",
    "diagonal",
    "inside",
    "limits",
    "module_of",
    "numbers_to",
    "outside",
    "root_posteriors",
    "transposed",
    "windows",
    "zeros",
]

NEVER = -1e30
"""The logarithm of 0, as in :mod:`treegauge.neural.recursion`."""


@dataclass(frozen=True, eq=False)
class DenseRules:
    """Rules as probabilities over the largest of their parent: ``both`` (N, N*N) over two spans, and with separate preterminals
    ``first`` (N, T, N), ``last`` (N, N, T), ``words`` (N, T, T) where the left, the right or both children are words.
    ``largest`` (N,) are the logarithms. All may have the batch in front."""

    both: Array
    first: Array | None
    last: Array | None
    words: Array | None
    largest: Array

    @property
    def batched(self) -> bool:
        """Whether each sentence has rules of its own."""
        return self.largest.ndim == 2

    @classmethod
    def of(cls, rules: Array, N: int, shared: bool) -> DenseRules:
        """Log-potentials (N, M, M) or (B, N, M, M) in parts."""
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
class Inside:
    """The numbers of all spans as ``chart[b, s, t]`` and ``ends[b, t, s]`` (B, n+1, n+1, N), and their log-scale both ways round.

    ``words`` (B, n, T) and ``word_scale`` (B, n) are those of words, ``by_first`` and ``by_last`` (B, n, N, N) the rules of a
    word's sibling, if words have symbols of their own. A span's numbers are ``factor`` times what the rules made of its splits,
    whose log-scale was ``top``. ``products`` (B, spans, N*N) are the sums over the splits, where Triton has kept them.
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
    """Posteriors: of spans (B, n, n, N) by first and last word, of words (B, n, T), of rules as expected counts shaped like the
    rules, of roots (B, N)."""

    spans: Array
    words: Array
    rules: Array
    roots: Array


def inside(emissions: Array, rules: DenseRules, roots: Array, lengths: Array, allowed: Array | None) -> tuple[Array, Inside]:
    """log Z (B,) and the inside chart; ``emissions`` and ``roots`` (B, N) are log-potentials, ``allowed`` is (B, n, n)."""
    xp = module_of(emissions)
    c = _empty_chart(emissions, rules)
    n = emissions.shape[1]
    fused = _use_triton(emissions, rules)
    for d in range(2, n + 1):
        if fused and (c.shared or d > 2):
            from treegauge.neural.triton_dense import inside_widths

            c = replace(c, products=inside_widths(c, rules, allowed, d))
            break
        total, top = _apply(c, rules, d)
        with np.errstate(divide="ignore"):
            value = xp.log(total) + rules.largest[..., None, :]
        high = xp.amax(value, -1)
        dead = high < NEVER / 2
        if allowed is not None:
            dead = dead | ~diagonal(allowed, d - 1)
        high = xp.where(dead, xp.zeros_like(high), high)
        factor = xp.where(dead[..., None], xp.zeros_like(total), xp.exp(rules.largest[..., None, :] - high[..., None]))
        diagonal(c.top, d)[...] = top
        diagonal(c.factor, d)[...] = factor
        _store(c, d, total * factor, xp.where(dead, xp.zeros_like(high) + NEVER, top + high))
    rows = numbers_to(emissions, len(emissions))
    largest = at_least(xp.amax(roots, -1), NEVER)
    with np.errstate(divide="ignore"):
        root = xp.log((c.chart[rows, 0, lengths] * xp.exp(roots - largest[:, None])).sum(-1))
    z = root + largest + c.scale[rows, 0, lengths]
    return xp.where(z < NEVER / 2, xp.zeros_like(z) - np.inf, z), c


def _empty_chart(emissions: Array, rules: DenseRules) -> Inside:
    """A chart with its words."""
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
    c = Inside(chart, ends, scale, ends_scale, words, word_scale, by_first, by_last, factor, top)
    if c.shared:
        _store(c, 1, words, word_scale)
    return c


def _store(c: Inside, d: int, numbers: Array, scale: Array) -> None:
    diagonal(c.chart, d)[...] = numbers
    diagonal(c.ends, d, below=True)[...] = numbers
    diagonal(c.scale, d)[...] = scale
    diagonal(c.ends_scale, d, below=True)[...] = scale


class _WidthSplits(NamedTuple):
    """The left and right numbers (B, k, splits, N) of all spans of a width, and the log-scales of the splits (B, k, splits)."""

    left: Array
    right: Array
    scale: Array


def _splits(c: Inside, d: int) -> _WidthSplits | None:
    """The splits whose parts have the symbols of spans; None if there are none."""
    at, width = (1, d - 1) if c.shared else (2, d - 3)
    if width < 1:
        return None
    k = c.chart.shape[1] - d
    scale = windows(c.scale, k, 0, at, width) + windows(c.ends_scale, k, d, at, width)
    return _WidthSplits(windows(c.chart, k, 0, at, width), windows(c.ends, k, d, at, width), scale)


def _apply(c: Inside, rules: DenseRules, d: int) -> tuple[Array, Array]:
    """The values of the spans of width d by rule, (B, k, N) as shares of the largest rule of each parent, and its log-scale."""
    xp = module_of(c.words)
    B, n, _ = c.words.shape
    k = n - d + 1
    if rules.words is not None and d == 2:
        pair = (c.words[:, :-1, :, None] * c.words[:, 1:, None, :]).reshape(B, k, -1)
        return pair @ transposed(_flat(rules.words)), c.word_scale[:, :-1] + c.word_scale[:, 1:]
    splits = _splits(c, d)
    top = None if splits is None else xp.amax(splits.scale, -1)
    borders = [] if c.shared else [_border(c, d, first) for first in (True, False)]
    for border in borders:
        top = border.scale if top is None else xp.maximum(top, border.scale)
    total = zeros(c.words, (B, k, rules.largest.shape[-1]))
    for by_word, numbers, scale in borders:
        total = total + (by_word @ (numbers * xp.exp(scale - top)[..., None])[..., None])[..., 0]
    if splits is not None:
        total = total + _summed(splits, top) @ transposed(rules.both)
    return total, top


class _Border(NamedTuple):
    """The splits that cut a word off: the rules that the word leaves (B, k, N, N), the numbers of its sibling, the log-scale."""

    by_word: Array
    numbers: Array
    scale: Array


def _border(c: Inside, d: int, first: bool) -> _Border:
    k = c.words.shape[1] - d + 1
    word, span = (slice(0, k), slice(1, None)) if first else (slice(d - 1, None), slice(0, k))
    by_word = c.by_first if first else c.by_last
    assert by_word is not None
    scale = diagonal(c.scale, d - 1)[:, span] + c.word_scale[:, word]
    return _Border(by_word[:, word], diagonal(c.chart, d - 1)[:, span], scale)


def _summed(splits: _WidthSplits, top: Array) -> Array:
    """The products of left and right numbers summed over the splits: (B, k, N*N)."""
    xp = module_of(top)
    B, k, _, N = splits.left.shape
    weighted = splits.left * xp.exp(splits.scale - top[..., None])[..., None]
    return (transposed(weighted) @ splits.right).reshape(B, k, N * N)


@dataclass(frozen=True, eq=False)
class _Gradient:
    """The gradients: to spans both ways round, to words, to the rules, to the rules of each word's sibling
    (the last three None for shared symbols)."""

    chart: Array
    ends: Array
    words: Array
    both: Array
    pairs: Array
    by_first: Array
    by_last: Array


def root_posteriors(chart: Array, roots: Array, lengths: Array, weight: Array | None) -> tuple[Array, Array]:
    """The posteriors (B, N) of the roots, times each sentence's ``weight``, and the same over the root's inside numbers."""
    xp = module_of(chart)
    numbers = chart[numbers_to(chart, len(chart)), 0, lengths]
    share = numbers * xp.exp(roots - at_least(xp.amax(roots, -1), NEVER)[:, None])
    smallest = limits(share)[0]
    share = share / at_least(share.sum(-1), smallest)[:, None]
    if weight is not None:
        share = share * weight[:, None]
    return share, share / at_least(numbers, smallest)


def outside(c: Inside, rules: DenseRules, roots: Array, lengths: Array, weight: Array | None = None) -> DensePosteriors:
    """The posteriors of everything, those of a sentence times its ``weight``; 0 where log Z is -inf."""
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
    """Whether Triton's kernels take it: float32, and not too many symbols."""
    if not is_tensor(array) or array.dtype != torch_module().float32 or not use_triton(array):
        return False
    from treegauge.neural.triton_dense import LARGEST_N

    return rules.largest.shape[-1] <= LARGEST_N


def _back_by_triton(c: Inside, rules: DenseRules, back: _Gradient) -> None:
    """All widths whose parts are spans; then the rules of all spans at once."""
    from treegauge.neural.triton_dense import outside_widths

    h, in_row = outside_widths(c, rules, back, 2 if c.shared else 3)
    back.both[...] += _outer(in_row, c.products, back.both, rules)
    if c.shared:
        return
    # Of a word cut off at the start: spans [s, t) and their parts [s + 1, t); at the end: [s, t) and [s, t - 1).
    weight = (c.scale[:, 1:] + c.word_scale[:, :, None] - c.top[:, :-1]).clamp_max(0.0).exp()[..., None]
    back.by_first[...] += transposed(h[:, :-1]) @ (c.chart[:, 1:] * weight)
    weight = (c.scale[:, :, :-1] + c.word_scale[:, None] - c.top[:, :, 1:]).clamp_max(0.0).exp()[..., None]
    part = (c.chart[:, :, :-1] * weight).transpose(1, 2)
    back.by_last[...] += transposed(h[:, :, 1:].transpose(1, 2)) @ part


def _back_to_pairs(c: Inside, rules: DenseRules, back: _Gradient, h: Array) -> None:
    """Spans of two words with symbols of their own."""
    B, n, T = c.words.shape
    pair = (c.words[:, :-1, :, None] * c.words[:, 1:, None, :]).reshape(B, n - 1, -1)
    down = (h @ _flat(rules.words)).reshape(B, n - 1, T, T)
    back.words[:, :-1] += (down @ c.words[:, 1:, :, None])[..., 0]
    back.words[:, 1:] += (c.words[:, :-1, None, :] @ down)[..., 0, :]
    back.pairs[...] += _outer(h, pair, back.pairs, rules)


def _back_to_splits(c: Inside, rules: DenseRules, back: _Gradient, d: int, h: Array) -> None:
    """From the spans of width d to their parts."""
    xp = module_of(h)
    B, k, N = h.shape
    top = diagonal(c.top, d)
    splits = _splits(c, d)
    if splits is not None:
        back.both[...] += _outer(h, _summed(splits, top), back.both, rules)
        down = (h @ rules.both).reshape(B, k, N, N)
        weight = xp.exp(splits.scale - top[..., None])[..., None]
        at, width = (1, d - 1) if c.shared else (2, d - 3)
        windows(back.chart, k, 0, at, width)[...] += weight * (splits.right @ transposed(down))
        windows(back.ends, k, d, at, width)[...] += weight * (splits.left @ down)
    for first in () if c.shared else (True, False):
        by_word, numbers, scale = _border(c, d, first)
        word, span = (slice(0, k), slice(1, None)) if first else (slice(d - 1, None), slice(0, k))
        weight = xp.exp(scale - top)[..., None]
        diagonal(back.chart, d - 1)[:, span] += weight * (h[..., None, :] @ by_word)[..., 0, :]
        of_word = back.by_first if first else back.by_last
        of_word[:, word] += h[..., :, None] * (weight * numbers)[..., None, :]


def _counts(c: Inside, rules: DenseRules, back: _Gradient, share: Array) -> DensePosteriors:
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
    """The sum over spans, and over the batch if the rules are shared by it, of h times product, shaped like the rules."""
    B, k, N = h.shape
    if rules.batched:
        return (transposed(h) @ product).reshape(like.shape)
    return (transposed(h.reshape(B * k, N)) @ product.reshape(B * k, -1)).reshape(like.shape)


def _flat(rules: Array) -> Array:
    return rules.reshape(*rules.shape[:-2], -1)


def module_of(array: Array) -> Any:
    """torch or NumPy, whichever an array is of."""
    return torch_module() if is_tensor(array) else np


def zeros(like: Array, shape: tuple[int, ...]) -> Array:
    """Zeros on the device and in the type of another array."""
    return like.new_zeros(shape) if is_tensor(like) else np.zeros(shape, like.dtype)


def numbers_to(like: Array, size: int) -> Array:
    """0, 1 ... below a size, where another array is."""
    return torch_module().arange(size, device=like.device) if is_tensor(like) else np.arange(size)


def limits(array: Array) -> tuple[float, float]:
    """Numbers so small and so large that their products with others are still in range."""
    return (1e-290, 1e290) if (array.element_size() if is_tensor(array) else array.itemsize) == 8 else (1e-37, 1e30)


def transposed(array: Array) -> Array:
    """The last two axes the other way round."""
    return module_of(array).swapaxes(array, -1, -2)


def at_least(array: Array, least: float) -> Array:
    """Nothing below a number."""
    return array.clamp_min(least) if is_tensor(array) else np.maximum(array, least)


def at_most(array: Array, most: float) -> Array:
    """Nothing above a number."""
    return array.clamp_max(most) if is_tensor(array) else np.minimum(array, most)


def _strided(array: Array, shape: tuple[int, ...], strides: tuple[int, ...], first: int) -> Array:
    """A view; strides and the first element counted in elements."""
    if is_tensor(array):
        return array.as_strided(shape, strides, array.storage_offset() + first)
    flat = array.reshape(-1)[first:]
    return np.lib.stride_tricks.as_strided(flat, shape, [step * array.itemsize for step in strides])


def _strides(array: Array) -> tuple[int, ...]:
    return array.stride() if is_tensor(array) else tuple(step // array.itemsize for step in array.strides)


def diagonal(array: Array, d: int, *, below: bool = False) -> Array:
    """array[b, s, s + d], or [b, s + d, s], for all s: (B, k, ...)."""
    steps, shape = _strides(array), tuple(array.shape)
    first = d * steps[1] if below else d * steps[2]
    return _strided(array, (shape[0], shape[1] - d, *shape[3:]), (steps[0], steps[1] + steps[2], *steps[3:]), first)


def windows(array: Array, k: int, row: int, column: int, width: int) -> Array:
    """array[b, s + row, s + column + j] for s < k and j < width: (B, k, width, ...)."""
    steps, shape = _strides(array), tuple(array.shape)
    first = row * steps[1] + column * steps[2]
    return _strided(array, (shape[0], k, width, *shape[3:]), (steps[0], steps[1] + steps[2], steps[2], *steps[3:]), first)
