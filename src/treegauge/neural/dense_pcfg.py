"""Batched PCFGs with all rules, as neural and compound PCFGs use them, without N^3 numbers per span in memory.

``rules[A, X, Y]`` is the log-potential of A -> X Y. Its shape is (N, N+T, N+T) for N nonterminals and T preterminals, which come
after the nonterminals as children; words have preterminals. With shape (N, N, N) and N preterminals, both are the same symbols, as
in learning from brackets.

>>> import numpy as np
>>> pcfg = DensePCFG(root=np.zeros(1), rules=np.log(np.full((1, 1, 1), .5)), emissions=np.log(np.full((1, 3, 1), .5)))
>>> np.exp(pcfg.log_partition).tolist(), np.exp(pcfg.log_partition) == [2 * .5**5]
([0.0625], array([ True]))
>>> pcfg.marginals.spans[0, 0, 1, 0].round(9)
np.float64(0.5)

The most probable parse is read off the best values of all symbols over all spans, which are computed width by width.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.neural.backend import Array, as_mask, as_numpy, in_gradient_mode, is_tensor, torch_module
from treegauge.neural.dense import DensePosteriors, DenseRules, inside, outside
from treegauge.neural.span_crf import checked_lengths
from treegauge.parsing.posterior_view import Best
from treegauge.trees.columns import Float64
from treegauge.trees.tree import Tree


class GrammarBatch:
    """A batch of sentences with a grammar: checks of arguments, and decoding, for all kinds of grammars.

    ``root`` (N,) or (B, N) and ``emissions`` (B, n, T) are tensors or arrays of one type; ``kind`` is the type of results.
    """

    def __init__(self, root: Array, emissions: Array, lengths: Array | None, allowed: Array | None, kind: Any) -> None:
        if emissions.ndim == 3 and not len(emissions):
            raise UsageError("the batch has no sentence")
        if emissions.ndim != 3 or 0 in emissions.shape:
            raise UsageError(f"emissions must have shape (B, n, T), not {tuple(emissions.shape)}")
        self.B, self.n, _ = emissions.shape
        if root.ndim not in (1, 2) or (root.ndim == 2 and len(root) != self.B):
            raise UsageError(f"roots must have shape (N,) or ({self.B}, N), not {tuple(root.shape)}")
        self.N = int(root.shape[-1])
        self.root: Array = _repeat_root(root, self.B)
        self.emissions = emissions
        self.lengths = checked_lengths(lengths, self.B, self.n)
        self.allowed = None if allowed is None else self._mask(allowed)
        self.shared = False
        self.tracked: bool | None = None
        self._type = kind

    def _is_tracked(self, *given: Array) -> bool | None:
        """Whether gradients with respect to any of the tensors are recorded; ``None`` for arrays."""
        if not is_tensor(self.emissions):
            return None
        return bool(torch_module().is_grad_enabled() and any(x.requires_grad for x in given))

    def _mask(self, allowed: Array) -> Array:
        mask = as_mask(allowed, self.emissions)
        if tuple(mask.shape) != (self.B, self.n, self.n):
            raise UsageError(f"allowed spans must have shape ({self.B}, {self.n}, {self.n}), not {tuple(mask.shape)}")
        return mask

    @cached_property
    def _lengths(self) -> Array:
        return torch_module().as_tensor(self.lengths, device=self.emissions.device) if is_tensor(self.emissions) else self.lengths

    def _as_given(self, value: Array) -> Array:
        """A result in the type of the arguments, detached if torch does not record gradients now."""
        if not is_tensor(value):
            return value.astype(self._type)
        return value.to(self._type) if torch_module().is_grad_enabled() else value.detach().to(self._type)

    def _tokens(self, words: Sequence[Sequence[str]] | None) -> list[list[str]]:
        """The words of each sentence; without ``words``, their positions."""
        if words is None:
            return [[str(i) for i in range(n)] for n in self.lengths.tolist()]
        sizes = [len(own) for own in words]
        if sizes != self.lengths.tolist():
            raise UsageError(f"the lengths of words, {sizes}, are not the lengths of the batch, {self.lengths.tolist()}")
        return [list(own) for own in words]

    def _decode(
        self, spans: Float64, of_words: Float64, log_z: Float64, objective: str, words: Sequence[Sequence[str]] | None, options: Any
    ) -> list[Best]:
        """The best tree of each sentence for an objective over the posteriors of spans (B, n, n, N) and of words (B, n, T)."""
        from treegauge.parsing.span_charts import SpanChart

        tokens = self._tokens(words)
        names = [f"N{x}" for x in range(self.N)]
        if not self.shared:
            names += [f"T{x}" for x in range(of_words.shape[-1])]
            over_words = np.eye(self.n)[None, :, :, None] * of_words[:, :, None, :]
            spans = np.concatenate([spans, over_words], -1)
        found: list[Best] = []
        for b, n in enumerate(self.lengths.tolist()):
            chart = SpanChart(spans[b, :n, :n].astype(np.float64), kind="posteriors", labels=names, words=tokens[b])
            best = chart.argmax(objective, **options)
            found.append(best if log_z[b] > -np.inf else Best(Tree("X", tokens[b]), math.nan))
        return found


class DensePCFG(GrammarBatch):
    """A PCFG (or weighted grammar) for each sentence of a batch.

    * ``root``: (N,) or (B, N) log-potentials of the root's symbol.
    * ``rules``: (N, N+T, N+T), or (N, N, N) for shared symbols; one set for the batch, or (B, ...), one per sentence.
    * ``emissions``: (B, n, T) log-potentials of each word with each preterminal.
    * ``lengths``: (B,); ``allowed``: (B, n, n), a mask of the spans, by first and last word, that may be constituents.

    Arguments are NumPy arrays or tensors; if one is a tensor, all become tensors. The values of a span's symbols may differ by
    factors up to e^87 in float32 and e^700 in float64; float16 and bfloat16 are computed in float32. A sentence of one word has no
    parse unless symbols are shared.
    """

    def __init__(
        self, root: Array, rules: Array, emissions: Array, lengths: Array | None = None, *, allowed: Array | None = None
    ) -> None:
        root, rules, emissions, kind = to_one_type(root, rules, emissions)
        super().__init__(root, emissions, lengths, allowed, kind)
        T = emissions.shape[-1]
        self.shared = rules.shape[-1] == self.N == T
        size = self.N if self.shared else self.N + T
        own = (self.N, size, size)
        if tuple(rules.shape) not in (own, (self.B, *own)):
            raise UsageError(f"rules of {self.N} nonterminals and {T} preterminals must have shape {own}, not {tuple(rules.shape)}")
        self.rules = rules
        self.tracked = self._is_tracked(root, rules, emissions)

    @property
    def log_partition(self) -> Array:
        """log Z (B,), -inf where there is no parse. Its gradient is the expected counts."""
        return self._as_given(self._log_partition)

    @property
    def marginals(self) -> DensePosteriors:
        """Posteriors of spans, words and roots, and expected counts of the rules, summed over a sentence's spans (and over the
        batch, if it has one set of rules). They can be differentiated, in memory quadratic in the number of symbols."""
        return DensePosteriors(*map(self._as_given, self._marginals))

    @cached_property
    @in_gradient_mode
    def _log_partition(self) -> Array:
        if not is_tensor(self.emissions):
            return inside(self.emissions, DenseRules.of(self.rules, self.N, self.shared), self.root, self.lengths, self.allowed)[0]
        from treegauge.neural.dense_autograd import log_partition

        return log_partition(self.emissions, self.rules, self.root, self._lengths, self.allowed, self.shared)

    @cached_property
    @in_gradient_mode
    def _marginals(self) -> DensePosteriors:
        if is_tensor(self.emissions):
            from treegauge.neural.dense_autograd import expected_counts

            return expected_counts(self.emissions, self.rules, self.root, self._lengths, self.allowed, self.shared)
        dense = DenseRules.of(self.rules, self.N, self.shared)
        _, chart = inside(self.emissions, dense, self.root, self._lengths, self.allowed)
        return outside(chart, dense, self.root, self._lengths)

    def decode(self, objective: str = "viterbi", *, words: Sequence[Sequence[str]] | None = None, **options: Any) -> list[Best]:
        """The best tree of each sentence for an objective, and its expected score. The objective is ``viterbi``, or one over
        posteriors (see :meth:`treegauge.parsing.SpanChart.argmax`). Nonterminals are named N0, N1, ..., preterminals T0, T1, ..."""
        if objective == "viterbi":
            if options:
                raise UsageError(f"objective viterbi takes no option {next(iter(options))!r}")
            return self.argmax(words=words)
        spans, of_words = (as_numpy(x).astype(np.float64) for x in self._marginals[:2])
        return self._decode(spans, of_words, as_numpy(self._log_partition), objective, words, options)

    def argmax(self, *, words: Sequence[Sequence[str]] | None = None) -> list[Best]:
        """The most probable parse of each sentence and its probability given the sentence; a flat tree and nan if there is none."""
        return best_parses(self, as_numpy(self._log_partition), self._tokens(words))

    def __repr__(self) -> str:
        T = self.emissions.shape[-1]
        return f"<PCFG of {self.N} nonterminals and {'the same' if self.shared else T} preterminals over {self.B} sentences>"


PCFG = DensePCFG
"""Another name for :class:`DensePCFG`. (:class:`treegauge.grammar.PCFG` is a grammar given by a list of rules.)"""


def to_one_type(*given: Array) -> tuple[Array, ...]:
    """The arguments as arrays, or as tensors if one is a tensor, in the type for computing; then the type of the results."""
    if not any(map(is_tensor, given)):
        arrays = [np.asarray(x) for x in given]
        for array in arrays:
            if array.dtype.kind not in "fiu":
                raise UsageError(f"log-potentials must be real numbers, not {array.dtype}")
        kind = np.result_type(*arrays, np.float16)
        return (*(x.astype(np.float32 if kind == np.float16 else kind, copy=False) for x in arrays), kind)
    torch = torch_module()
    device = next(x for x in reversed(given) if is_tensor(x)).device
    tensors = [torch.as_tensor(x, device=device) for x in given]
    for tensor in tensors:
        if tensor.is_complex() or tensor.dtype == torch.bool:
            raise UsageError(f"log-potentials must be real numbers, not {tensor.dtype}")
    floats = [x.dtype for x in tensors if x.is_floating_point()] or [torch.get_default_dtype()]
    kind = max(floats, key=lambda dtype: (torch.finfo(dtype).bits, dtype == torch.float16))
    return (*(x.to(torch.float32 if torch.finfo(kind).bits == 16 else kind) for x in tensors), kind)


def _repeat_root(root: Array, B: int) -> Array:
    """The roots as (B, N), repeated for each sentence if there is one set."""
    if root.ndim == 2:
        return root
    return root[None].expand(B, -1) if is_tensor(root) else np.tile(root, (B, 1))


def best_values(pcfg: DensePCFG) -> list[Array]:
    """The log-potential of each symbol's best derivation over the spans of each width d, (B, n - d + 1, N), at index d - 2 of the
    list."""
    xp: Any = torch_module() if is_tensor(pcfg.emissions) else np
    emissions, rules = pcfg.emissions, pcfg.rules
    if is_tensor(emissions):
        emissions, rules = emissions.detach(), rules.detach()
    n, N = pcfg.n, pcfg.N
    of = [rules[..., A, :, :] for A in range(N)]
    by_width: dict[int, Array] = {1: emissions} if pcfg.shared else {}
    first: Array = None
    last: Array = None
    if not pcfg.shared:
        # The best preterminal of each word, for each rule and sibling: (B, n, N, N).
        first = xp.stack([xp.amax(emissions[..., :, None] + _spread(r[..., N:, :N]), -2) for r in of], 2)
        last = xp.stack([xp.amax(emissions[..., None, :] + _spread(r[..., :N, N:]), -1) for r in of], 2)
    for d in range(2, n + 1):
        k = n - d + 1
        if not pcfg.shared and d == 2:
            pairs = emissions[:, :-1, :, None] + emissions[:, 1:, None, :]
            value = xp.stack([_largest(xp, pairs + _spread(r[..., N:, N:])) for r in of], -1)
        else:
            best = None
            for w in range(1, d) if pcfg.shared else range(2, d - 1):
                pairs = by_width[w][:, :k, :, None] + by_width[d - w][:, w : w + k, None, :]
                best = pairs if best is None else xp.maximum(best, pairs)
            value = None if best is None else xp.stack([_largest(xp, best + _spread(r[..., :N, :N])) for r in of], -1)
            if not pcfg.shared:
                after = xp.amax(first[:, :k] + by_width[d - 1][:, 1:, None, :], -1)
                before = xp.amax(last[:, d - 1 :] + by_width[d - 1][:, :k, None, :], -1)
                border = xp.maximum(after, before)
                value = border if value is None else xp.maximum(value, border)
        if pcfg.allowed is not None:
            fits = pcfg.allowed[:, xp.arange(k), xp.arange(k) + d - 1]
            value = xp.where(fits[..., None], value, xp.zeros_like(value) - np.inf)
        by_width[d] = value
    return [by_width[d] for d in range(2, n + 1)]


def _spread(rules: Array) -> Array:
    """Rules (X, Y) or (B, X, Y) in a shape that broadcasts to (B, k, X, Y)."""
    return rules if rules.ndim == 2 else rules[:, None]


def _largest(xp: Any, values: Array) -> Array:
    return xp.amax(values.reshape(*values.shape[:2], -1), -1)


def best_parses(pcfg: DensePCFG, log_z: Float64, words: Sequence[Sequence[str]]) -> list[Best]:
    """The best parse of each sentence of a batch and its probability; a flat tree and nan if there is none."""
    values = [as_numpy(value) for value in best_values(pcfg)]
    emissions, rules, root = (as_numpy(x) for x in (pcfg.emissions, pcfg.rules, pcfg.root))
    found: list[Best] = []
    for b, n in enumerate(pcfg.lengths.tolist()):
        tokens = words[b]
        top = root[b] + (values[n - 2][b, 0] if n > 1 else emissions[b, 0] if pcfg.shared else -np.inf)
        A = int(top.argmax())
        if top[A] == -np.inf:
            found.append(Best(Tree("X", tokens), math.nan))
            continue
        own = rules if rules.ndim == 3 else rules[b]
        tree = _read_tree(n, A, [value[b] for value in values], emissions[b], own, pcfg.N, pcfg.shared, tokens)
        found.append(Best(tree, math.exp(float(top[A]) - float(log_z[b]))))
    return found


def _read_tree(n: int, A: int, values: list[Any], emissions: Any, rules: Any, N: int, shared: bool, words: Sequence[str]) -> Tree:
    """The best tree with root A over n words, read off the best values from the top down."""

    def cell(s: int, t: int) -> Any:
        """The best values over a span, for all symbols that a child can have."""
        if t - s > 1:
            return values[t - s - 2][s] if shared else np.concatenate([values[t - s - 2][s], np.full(emissions.shape[1], -np.inf)])
        return emissions[s] if shared else np.concatenate([np.full(N, -np.inf), emissions[s]])

    spans: list[tuple[int, int, str]] = []
    stack = [(0, n, A)]
    while stack:
        s, t, symbol = stack.pop()
        spans.append((s, t, f"N{symbol}" if symbol < N else f"T{symbol - N}"))
        if t > s + 1:
            sums = np.stack([cell(s, r)[:, None] + cell(r, t)[None, :] for r in range(s + 1, t)]) + rules[symbol]
            r, left, right = np.unravel_index(int(sums.argmax()), sums.shape)
            middle = s + 1 + int(r)
            stack += [(middle, t, int(right)), (s, middle, int(left))]
    return Tree.from_spans(words, spans)


ROOM = 1 << 28
"""The most numbers that an array of a batch may hold."""


class Expectation(NamedTuple):
    """Expected counts of binary rules (N, N, N), of each word under each symbol (words, N), and log P of each sentence."""

    binary: Float64
    lexical: Float64
    log_probability: Float64


def on_device(name: str) -> Any:
    """The torch device with this name; an error if it cannot be used."""
    torch = torch_module()
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {textwrap.shorten(str(error), 160)}") from None
    return device


def allowed_spans(n: int, brackets: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """A mask of the spans, by first and last word, that do not cross a bracket.

    >>> allowed_spans(3, [(0, 2)])[1].tolist()
    [True, True, False]
    """
    allowed = np.ones((n, n), np.bool_)
    for i, j in brackets:
        allowed[:i, i : j - 1] = False
        allowed[i + 1 : j, j:] = False
    return allowed


def expected_rule_counts(
    binary: Float64, lexical: Float64, sentences: Sequence[tuple[NDArray[np.int64], Sequence[tuple[int, int]]]], device: str
) -> Expectation:
    """Expected counts, in float64, under P(A -> B C) = ``binary[A, B, C]`` and P(A -> w) = ``lexical[w, A]``, with symbol 0 at the
    root.

    A sentence is the numbers of its words (-1: a word without a rule) and its brackets. Batches contain sentences of similar
    length, and their counts are added in a fixed order, so a device gives the same bits each time.
    """
    torch, where = torch_module(), on_device(device)
    N = len(binary)
    found = Expectation(np.zeros_like(binary), np.zeros((len(lexical) + 1, N)), np.full(len(sentences), -np.inf))
    with np.errstate(divide="ignore"):
        log_binary = torch.as_tensor(np.log(binary), device=where)
        log_lexical = torch.as_tensor(np.log(np.concatenate([lexical, np.zeros((1, N))])), device=where)
        root = torch.as_tensor(np.log(np.eye(N)[0]), device=where)
    order = sorted((i for i, (words, _) in enumerate(sentences) if len(words)), key=lambda i: (len(sentences[i][0]), i))
    while order:
        longest = len(sentences[order[-1]][0])
        size = max(1, ROOM // (longest * N * max(N, longest)))
        batch, order = order[-size:], order[:-size]
        words = np.full((len(batch), longest), -1, np.int64)
        allowed = np.zeros((len(batch), longest, longest), np.bool_)
        for row, i in enumerate(batch):
            own, brackets = sentences[i]
            words[row, : len(own)] = own
            allowed[row, : len(own), : len(own)] = allowed_spans(len(own), brackets)
        lengths = [len(sentences[i][0]) for i in batch]
        pcfg = DensePCFG(root, log_binary, log_lexical[torch.as_tensor(words, device=where)], lengths, allowed=allowed)
        found.log_probability[batch] = pcfg.log_partition.cpu().numpy()
        counts = pcfg.marginals
        found.binary[...] += counts.rules.cpu().numpy()
        np.add.at(found.lexical, words.reshape(-1), counts.words.cpu().numpy().reshape(-1, N))
    return Expectation(found.binary, found.lexical[:-1], found.log_probability)
