"""PCFGs with all rules, in batches: what neural and compound PCFGs need, with memory that does not hold N^3 numbers a span.

``rules[A, X, Y]`` is the log-potential of A -> X Y over N nonterminals: first the N nonterminals, then the T preterminals as
children, so (N, N+T, N+T), as neural PCFGs have it; words stand under preterminals. With (N, N, N) and as many preterminals as
nonterminals the two are the same symbols, as in learning from brackets.

>>> import numpy as np
>>> pcfg = PCFG(root=np.zeros(1), rules=np.log(np.full((1, 1, 1), .5)), emissions=np.log(np.full((1, 3, 1), .5)))
>>> np.exp(pcfg.log_partition).tolist(), np.exp(pcfg.log_partition) == [2 * .5**5]
([0.0625], array([ True]))
>>> pcfg.marginals.spans[0, 0, 1, 0].round(9)
np.float64(0.5)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from treegauge.errors import UsageError
from treegauge.neural.backend import Array, as_numpy, is_tensor, torch_module
from treegauge.neural.dense import Counts, DenseRules, inside, outside
from treegauge.neural.span_crf import checked_lengths

if TYPE_CHECKING:
    from treegauge.parsing import Best

__all__ = ["PCFG"]


class PCFG:
    """A PCFG, or a weighted grammar, over each sentence of a batch.

    * ``root``: (N,) or (B, N) log-potentials of the root's symbol.
    * ``rules``: (N, N+T, N+T), or (N, N, N) for shared symbols; one set for the batch, or (B, ...), one a sentence.
    * ``emissions``: (B, n, T) log-potentials of each word under each preterminal.
    * ``lengths``: (B,); ``allowed``: (B, n, n), the spans by first and last word that constituents may have.

    NumPy arrays or tensors; float32 holds symbols of one span that are up to e^87 apart, float64 e^700.
    """

    def __init__(
        self, root: Array, rules: Array, emissions: Array, lengths: Array | None = None, *, allowed: Array | None = None
    ) -> None:
        if not is_tensor(emissions):
            root, rules, emissions = np.asarray(root), np.asarray(rules), np.asarray(emissions)
        if emissions.ndim != 3 or 0 in emissions.shape:
            raise UsageError(f"emissions must have shape (B, n, T), not {tuple(emissions.shape)}")
        self.B, self.n, T = emissions.shape
        self.N = int(root.shape[-1])
        self.shared = rules.shape[-1] == self.N == T
        size = self.N if self.shared else self.N + T
        own = (self.N, size, size)
        if tuple(rules.shape) not in (own, (self.B, *own)):
            raise UsageError(f"rules of {self.N} nonterminals and {T} preterminals must have shape {own}, not {tuple(rules.shape)}")
        if tuple(root.shape) not in ((self.N,), (self.B, self.N)):
            raise UsageError(f"roots must have shape ({self.N},) or ({self.B}, {self.N}), not {tuple(root.shape)}")
        self.root: Array = _repeated(root, self.B)
        self.rules, self.emissions = rules, emissions
        self.lengths = checked_lengths(lengths, self.B, self.n)
        self.allowed = None if allowed is None else self._mask(allowed)

    def _mask(self, allowed: Array) -> Array:
        if is_tensor(self.emissions):
            torch = torch_module()
            mask = torch.as_tensor(allowed, device=self.emissions.device).to(torch.bool).contiguous()
        else:
            mask = np.ascontiguousarray(as_numpy(allowed), np.bool_)
        if tuple(mask.shape) != (self.B, self.n, self.n):
            raise UsageError(f"allowed spans must have shape ({self.B}, {self.n}, {self.n}), not {tuple(mask.shape)}")
        return mask

    @cached_property
    def _lengths(self) -> Array:
        return torch_module().as_tensor(self.lengths, device=self.emissions.device) if is_tensor(self.emissions) else self.lengths

    @cached_property
    def log_partition(self) -> Array:
        """log Z (B,), -inf where there is no parse; its gradient are the expected counts."""
        if not is_tensor(self.emissions):
            return inside(self.emissions, DenseRules.of(self.rules, self.N, self.shared), self.root, self.lengths, self.allowed)[0]
        from treegauge.neural.dense_autograd import log_partition

        return log_partition(self.emissions, self.rules, self.root, self._lengths, self.allowed, self.shared)

    @cached_property
    def marginals(self) -> Counts:
        """Posteriors of spans, words and roots, and expected counts of the rules (summed over a sentence's spans; over the
        batch, if the rules are one set for it); differentiable, in memory that grows with the square of the symbols."""
        if is_tensor(self.emissions):
            from treegauge.neural.dense_autograd import expected_counts

            return expected_counts(self.emissions, self.rules, self.root, self._lengths, self.allowed, self.shared)
        dense = DenseRules.of(self.rules, self.N, self.shared)
        _, chart = inside(self.emissions, dense, self.root, self._lengths, self.allowed)
        return outside(chart, dense, self.root, self._lengths)

    def decode(self, objective: str = "viterbi", *, words: Sequence[Sequence[str]] | None = None, **options: Any) -> list[Best]:
        """The best tree of each sentence for an objective, and its expected score: ``viterbi``, or one that posteriors allow (see
        :meth:`treegauge.parsing.SpanChart.argmax`). Nonterminals are called N0, N1 ..., preterminals T0, T1 ..."""
        if objective == "viterbi":
            return self.argmax(words=words)
        from treegauge.parsing import SpanChart

        spans, of_words = (as_numpy(x).astype(np.float64) for x in self.marginals[:2])
        names = [f"N{x}" for x in range(self.N)]
        if not self.shared:
            names += [f"T{x}" for x in range(of_words.shape[-1])]
            over_words = np.eye(self.n)[None, :, :, None] * of_words[:, :, None, :]
            spans = np.concatenate([spans, over_words], -1)
        found: list[Best] = []
        for b, n in enumerate(self.lengths.tolist()):
            tokens = None if words is None else words[b]
            chart = SpanChart(spans[b, :n, :n], kind="posteriors", labels=names, words=tokens)
            found.append(chart.argmax(objective, **options))
        return found

    def argmax(self, *, words: Sequence[Sequence[str]] | None = None) -> list[Best]:
        """The most probable parse of each sentence, and its probability given the sentence."""
        from treegauge.neural.dense_viterbi import best_parses

        log_z = as_numpy(self.log_partition)
        return best_parses(self, log_z, words)

    def __repr__(self) -> str:
        T = self.emissions.shape[-1]
        return f"<PCFG of {self.N} nonterminals and {'the same' if self.shared else T} preterminals over {self.B} sentences>"


def _repeated(root: Array, B: int) -> Array:
    """(B, N), the same for each sentence if there is one row."""
    if root.ndim == 2:
        return root
    return root[None].expand(B, -1) if is_tensor(root) else np.tile(root, (B, 1))
