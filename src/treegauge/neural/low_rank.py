"""PCFGs whose rules have low rank: P(A -> X Y) = sum over r of U[A, r] V[X, r] W[Y, r] (Cohen, Satta & Collins 2013; Yang, Zhao &
Tu 2021). Time and memory grow linearly with the number of symbols, so there can be thousands.

The letters are those of :mod:`treegauge.neural.dense`; R is the rank. A span stores R numbers each for its symbols as left and as
right children, so a split takes R products, and no array of all rules is ever made.

>>> import numpy as np
>>> half = np.log(np.full((1, 1), .5))
>>> pcfg = LowRankPCFG(root=np.zeros(1), parents=half, lefts=half * 0, rights=half * 0, emissions=np.log(np.full((1, 3, 1), .5)))
>>> np.exp(pcfg.log_partition).tolist(), pcfg.marginals.spans[0, 0, 1, 0].round(9)
([0.0625], np.float64(0.5))
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treegauge.errors import UsageError
from treegauge.neural.backend import (
    NEVER,
    Array,
    as_numpy,
    at_least,
    at_most,
    diagonal,
    in_gradient_mode,
    is_tensor,
    limits,
    module_of,
    numbers_to,
    transpose,
    windows,
    zeros,
)
from treegauge.neural.dense import root_posteriors, root_total, span_scales
from treegauge.neural.dense_pcfg import GrammarBatch, to_one_type
from treegauge.parsing.posterior_view import Best


class LowRankPosteriors(NamedTuple):
    """Posteriors of spans (B, n, n, N) by first and last word, of words (B, n, T) and of roots (B, N), and the expected counts of
    each entry of ``parents``, ``lefts`` and ``rights`` in the rules of a parse."""

    spans: Array
    words: Array
    roots: Array
    parents: Array
    lefts: Array
    rights: Array


class LowRankPCFG(GrammarBatch):
    """A PCFG (or weighted grammar) of low rank for each sentence of a batch. All numbers are log-potentials.

    * ``root``: (N,) or (B, N).
    * ``parents``: (N, R); ``lefts`` and ``rights``: (N+T, R), first the nonterminals, then the preterminals, or (N, R) if these are
      the same symbols. One set for the batch, or (B, ...), one per sentence. The rule A -> X Y has the log-potential
      log sum over r of exp(parents[A, r] + lefts[X, r] + rights[Y, r]).
    * ``emissions``: (B, n, T); ``lengths``: (B,); ``allowed``: (B, n, n), a mask of the spans, by first and last word, that may be
      constituents.

    Arguments are NumPy arrays or tensors, as for :class:`~treegauge.neural.DensePCFG`. log Z can be differentiated once.
    """

    def __init__(
        self,
        root: Array,
        parents: Array,
        lefts: Array,
        rights: Array,
        emissions: Array,
        lengths: Array | None = None,
        *,
        allowed: Array | None = None,
    ) -> None:
        root, parents, lefts, rights, emissions, kind = to_one_type(root, parents, lefts, rights, emissions)
        super().__init__(root, emissions, lengths, allowed, kind)
        T = emissions.shape[-1]
        self.shared = lefts.ndim > 1 and lefts.shape[-2] == self.N == T
        size, rank = self.N if self.shared else self.N + T, parents.shape[-1]
        for name, factor, rows in (("parents", parents, self.N), ("lefts", lefts, size), ("rights", rights, size)):
            if tuple(factor.shape) not in ((rows, rank), (self.B, rows, rank)):
                raise UsageError(
                    f"{name} must have shape ({rows}, {rank}) or ({self.B}, {rows}, {rank}), not {tuple(factor.shape)}"
                )
        self.parents, self.lefts, self.rights = parents, lefts, rights
        self.tracked = self._is_tracked(root, parents, lefts, rights, emissions)

    @property
    def log_partition(self) -> Array:
        """log Z (B,), -inf where there is no parse. Its gradient is the expected counts."""
        return self._as_given(self._log_partition)

    @property
    def marginals(self) -> LowRankPosteriors:
        """Posteriors and expected counts, which cannot be differentiated."""
        return LowRankPosteriors(*map(self._as_given, self._marginals))

    @property
    def _factors(self) -> tuple[Array, ...]:
        return self.root, self.parents, self.lefts, self.rights, self.emissions

    @cached_property
    @in_gradient_mode
    def _log_partition(self) -> Array:
        if not self.tracked:
            return self.inside[0]
        return _log_partition_function().apply(*self._factors, self)

    @cached_property
    def inside(self) -> tuple[Array, _LowRankInside]:
        """log Z and the inside chart, without gradients."""
        root, parents, lefts, rights, emissions = (x.detach() if is_tensor(x) else x for x in self._factors)
        return _inside(root, parents, lefts, rights, emissions, self._lengths, self.allowed)

    @cached_property
    def _marginals(self) -> LowRankPosteriors:
        return self.posteriors()

    def posteriors(self, weight: Array | None = None) -> LowRankPosteriors:
        """Posteriors and expected counts, times each sentence's weight."""
        return _outside(self.inside[1], self.root.detach() if is_tensor(self.root) else self.root, self._lengths, weight)

    def decode(
        self, objective: str = "bracketed-recall", *, words: Sequence[Sequence[str]] | None = None, **options: Any
    ) -> list[Best]:
        """The best tree of each sentence for an objective over posteriors (see :meth:`treegauge.parsing.SpanChart.argmax`), and its
        expected score. Nonterminals are named N0, N1, ..., preterminals T0, T1, ... The most probable parse is not available,
        because it needs all rules."""
        if objective == "viterbi":
            raise UsageError("the most probable parse needs all rules: make a DensePCFG of them, or choose another objective")
        spans, of_words = (as_numpy(x).astype(np.float64) for x in self._marginals[:2])
        return self._decode(spans, of_words, as_numpy(self.inside[0]), objective, words, options)

    def __repr__(self) -> str:
        return f"<PCFG of rank {self.parents.shape[-1]}, {self.N} nonterminals, over {self.B} sentences>"


@dataclass(frozen=True, eq=False)
class _LowRankInside:
    """The inside chart: the numbers of all spans ``chart[b, s, t]`` (B, n+1, n+1, N), their values as left children
    ``left[b, s, t]`` and as right children ``right[b, t, s]`` (B, n+1, n+1, R), and their log-scales in both orders; ``factor`` is
    as in :class:`treegauge.neural.dense.DenseInside`. ``U``, ``V``, ``W`` are the factors of the rules, scaled to at most 1; ``V``
    and ``W`` are pairs for spans and words.
    """

    chart: Array
    left: Array
    right: Array
    scale: Array
    ends_scale: Array
    factor: Array
    words: Array
    U: Array
    V: tuple[Array, Array]
    W: tuple[Array, Array]
    shared: bool


def _inside(
    root: Array, parents: Array, lefts: Array, rights: Array, emissions: Array, lengths: Array, allowed: Array | None
) -> tuple[Array, _LowRankInside]:
    """log Z (B,) and the inside chart."""
    xp = module_of(emissions)
    B, n, _ = emissions.shape
    N, R = parents.shape[-2:]
    shared = lefts.shape[-2] == N == emissions.shape[-1]
    of_left, of_right = (at_least(xp.amax(x, -2), NEVER)[..., None, :] for x in (lefts, rights))
    parents = parents + of_left + of_right
    largest = at_least(xp.amax(parents, -1), NEVER)
    U, V, W = xp.exp(parents - largest[..., None]), xp.exp(lefts - of_left), xp.exp(rights - of_right)
    cut = 0 if shared else N
    of_word = at_least(xp.amax(emissions, -1), NEVER)
    words = xp.exp(emissions - of_word[..., None])
    size = (B, n + 1, n + 1)
    chart, factor = (zeros(emissions, (*size, N)) for _ in range(2))
    left, right = (zeros(emissions, (*size, R)) for _ in range(2))
    scale, ends_scale = (zeros(emissions, size) + NEVER for _ in range(2))
    of_left, of_right = ((x[..., :N, :], x[..., cut:, :]) for x in (V, W))
    c = _LowRankInside(chart, left, right, scale, ends_scale, factor, words, U, of_left, of_right, shared)
    _store(c, 1, words, of_word)
    if shared:
        diagonal(c.chart, 1)[...] = words
    for d in range(2, n + 1):
        lefts_of, rights_of, weight, top = _splits(c, d)
        total = (lefts_of * weight * rights_of).sum(-2) @ transpose(U)
        own, of_spans = span_scales(total, largest, top, allowed, d)
        diagonal(c.factor, d)[...] = own
        diagonal(c.chart, d)[...] = total * own
        _store(c, d, total * own, of_spans)
    return root_total(c.chart, c.scale, root, lengths), c


def _store(c: _LowRankInside, d: int, numbers: Array, scale: Array) -> None:
    word = d == 1
    diagonal(c.left, d)[...] = numbers @ c.V[word]
    diagonal(c.right, d, below=True)[...] = numbers @ c.W[word]
    diagonal(c.scale, d)[...] = scale
    diagonal(c.ends_scale, d, below=True)[...] = scale


def _splits(c: _LowRankInside, d: int) -> tuple[Array, Array, Array, Array]:
    """The numbers of the left and right parts of all spans of a width (B, k, splits, R), the weight of each split, and the
    log-scale (B, k)."""
    xp = module_of(c.chart)
    k = c.chart.shape[1] - d
    scale = windows(c.scale, k, 0, 1, d - 1) + windows(c.ends_scale, k, d, 1, d - 1)
    top = xp.amax(scale, -1)
    return windows(c.left, k, 0, 1, d - 1), windows(c.right, k, d, 1, d - 1), xp.exp(scale - top[..., None])[..., None], top


def _outside(c: _LowRankInside, root: Array, lengths: Array, weight: Array | None = None) -> LowRankPosteriors:
    """All posteriors and expected counts, times each sentence's ``weight``; 0 where log Z is -inf."""
    xp = module_of(c.chart)
    B, n = c.words.shape[:2]
    share, of_numbers = root_posteriors(c.chart, root, lengths, weight)
    largest = limits(share)[1]
    given, to_left, to_right = (zeros(c.chart, tuple(x.shape)) for x in (c.chart, c.left, c.right))
    given[numbers_to(c.chart, B), 0, lengths] = of_numbers
    counts = [zeros(c.chart, tuple(x.shape)) for x in (c.U, *c.V, *c.W)]

    def add(number: int, product: Array) -> None:
        """Add a product of numbers and gradients (B, symbols, R) to a factor's counts, summed if the batch shares the factor."""
        counts[number][...] += product if counts[number].ndim == 3 else product.sum(0)

    def reach(d: int, own: Array) -> Array:
        """The gradient with respect to the symbols of the spans of a width, whose numbers are ``own``."""
        word, of_left, of_right = d == 1, diagonal(to_left, d), diagonal(to_right, d, below=True)
        add(1 + word, transpose(own) @ of_left)
        add(3 + word, transpose(own) @ of_right)
        return of_left @ transpose(c.V[word]) + of_right @ transpose(c.W[word])

    for d in range(n, 1, -1):
        diagonal(given, d)[...] += reach(d, diagonal(c.chart, d))
        h = at_most(diagonal(given, d), largest) * diagonal(c.factor, d)
        lefts, rights, weights, _ = _splits(c, d)
        add(0, transpose(h) @ (lefts * weights * rights).sum(-2))
        down = (h @ c.U)[..., None, :] * weights
        windows(to_left, n - d + 1, 0, 1, d - 1)[...] += down * rights
        windows(to_right, n - d + 1, d, 1, d - 1)[...] += down * lefts
    of_words = reach(1, c.words)
    of_words = at_most(of_words + diagonal(given, 1) if c.shared else of_words, largest) * c.words
    spans = (at_most(given, largest) * c.chart)[:, :-1, 1:]
    if c.shared:
        at = numbers_to(c.chart, n)
        spans[:, at, at] = of_words
    U, left, left_word, right, right_word = (x * y for x, y in zip(counts, (c.U, *c.V, *c.W), strict=True))
    if c.shared:
        return LowRankPosteriors(spans, of_words, share, U, left + left_word, right + right_word)
    joined = [xp.concatenate(parts, -2) for parts in ((left, left_word), (right, right_word))]
    return LowRankPosteriors(spans, of_words, share, U, *joined)


def _log_partition_function() -> Any:
    """log Z as a differentiable torch function, defined here because torch is imported on use."""
    torch: Any = importlib.import_module("torch")

    class LogPartition(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *given: Any) -> Array:
            ctx.pcfg = given[-1]
            return given[-1].inside[0].clone()

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if torch.is_grad_enabled():
                raise UsageError("log Z of a PCFG of low rank can be differentiated once only")
            pcfg: LowRankPCFG = ctx.pcfg
            found = pcfg.posteriors(grads[0])
            return found.roots, found.parents, found.lefts, found.rights, found.words, None

    return LogPartition
