"""Drop-in replacements for torch-struct's ``TreeCRF`` and ``SentCFG``, with the same names and shapes.

from treegauge.neural import TreeCRF     # instead of: from torch_struct import TreeCRF

``gumbel_crf`` is missing, and so are ``kmax`` and ``topk`` of ``SentCFG``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from treegauge.neural.backend import Tensor, torch_module
from treegauge.neural.pcfg import DensePCFG
from treegauge.neural.span_crf import SpanCRF


class TreeCRF:
    """A CRF over labelled binary trees: ``log_potentials`` (B, n, n, labels) by first and last word, ``lengths`` (B,).

    Trees are tensors of zeros and ones, shaped like the potentials.
    """

    def __init__(self, log_potentials: Tensor, lengths: Tensor | None = None) -> None:
        self.log_potentials, self.lengths = log_potentials, lengths
        self.crf = SpanCRF(log_potentials, lengths)
        self.batch_shape, self.event_shape = log_potentials.shape[:1], log_potentials.shape[1:]

    @property
    def partition(self) -> Tensor:
        """log Z (B,)."""
        return self.crf.log_partition

    @property
    def marginals(self) -> Tensor:
        """The probability of each labelled span."""
        return self.crf.marginals

    @property
    def entropy(self) -> Tensor:
        """In nats (B,)."""
        return self.crf.entropy

    def cross_entropy(self, other: TreeCRF) -> Tensor:
        """The expected -log probability under another distribution, in nats (B,)."""
        return other.partition - self._score_of(self.marginals, other.log_potentials)

    def kl(self, other: TreeCRF) -> Tensor:
        """The Kullback-Leibler divergence from another distribution, in nats (B,)."""
        return self.cross_entropy(other) - self.entropy

    @property
    def count(self) -> Tensor:
        """The number of trees whose potential is not 0 (B,)."""
        torch = torch_module()
        ones = torch.zeros_like(self.log_potentials).masked_fill(self.log_potentials == -float("inf"), -float("inf"))
        return SpanCRF(ones.double(), self.lengths).log_partition.exp().round().to(self.log_potentials.dtype)

    @cached_property
    def argmax(self) -> Tensor:
        """The most probable tree."""
        return self.topk(1)[0]

    @property
    def mode(self) -> Tensor:
        """The most probable tree."""
        return self.argmax

    @property
    def max(self) -> Tensor:
        """The potential of the most probable tree (B,)."""
        return self._score(self.argmax)

    def topk(self, k: int) -> Tensor:
        """The k most probable trees (k, B, n, n, labels); 0 where there are fewer."""
        from treegauge.parsing.span_trees import best_trees

        found = [best_trees(chart.potentials, k) for chart in self.crf.charts]
        return self._events([[trees[rank][1] if rank < len(trees) else {} for trees in found] for rank in range(k)])

    def to_event(self, sequence: Tensor, extra: object = None, lengths: Tensor | None = None) -> Tensor:
        """The tree unchanged, since this class has no other representation."""
        return sequence

    def from_event(self, event: Tensor) -> tuple[Tensor, None]:
        """The tree unchanged, and no extra value."""
        return event, None

    def kmax(self, k: int) -> Tensor:
        """The potentials of the k most probable trees (k, B)."""
        return self._score(self.topk(k))

    def sample(self, sample_shape: Sequence[int] = (), seed: int | None = None) -> Tensor:
        """Trees drawn with their probabilities (\\*sample_shape, B, n, n, labels); the default seed is drawn by torch."""
        torch = torch_module()
        size = 1
        for extent in sample_shape:
            size *= extent
        first = int(torch.randint(2**31, ())) if seed is None else seed
        drawn = [chart.sample_spans(size, first + i) for i, chart in enumerate(self.crf.charts)]
        events = self._events([[trees[k] for trees in drawn] for k in range(size)])
        return events.reshape(*sample_shape, *events.shape[1:])

    def log_prob(self, value: Tensor) -> Tensor:
        """The log probability of trees (..., B, n, n, labels)."""
        return self._score(value) - self.partition

    def _score(self, value: Tensor) -> Tensor:
        return self._score_of(value, self.log_potentials)

    @staticmethod
    def _score_of(value: Tensor, potentials: Tensor) -> Tensor:
        """The sum of the log-potentials where the value is not 0; elsewhere they may be -inf."""
        return torch_module().where(value == 0, value.new_zeros(()), value * potentials).sum((-1, -2, -3))

    def _events(self, rows: Sequence[Sequence[Mapping[tuple[int, int], int]]]) -> Tensor:
        made = self.log_potentials.new_zeros((len(rows), *self.log_potentials.shape))
        for k, row in enumerate(rows):
            for b, spans in enumerate(row):
                for (s, t), X in spans.items():
                    made[k, b, s, t - 1, X] = 1
        return made


class SentCFG:
    """A CFG in Chomsky normal form for each sentence: ``log_potentials`` are those of words with preterminals (B, n, T), of rules
    (B, NT, NT+T, NT+T) and of roots (B, NT).

    ``marginals`` and ``argmax`` are tuples for words, rules (counts summed over the sentence), roots, and spans (B, n, n, NT),
    which are indexed by width - 2 and start.
    """

    def __init__(self, log_potentials: Sequence[Tensor], lengths: Tensor | None = None) -> None:
        self.log_potentials, self.lengths = tuple(log_potentials), lengths
        terms, rules, roots = log_potentials
        self.pcfg = DensePCFG(roots, rules, terms, lengths)
        self.batch_shape, self.event_shape = terms.shape[:1], terms.shape[1:]

    @property
    def partition(self) -> Tensor:
        """log Z (B,)."""
        return self.pcfg.log_partition

    @cached_property
    def marginals(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Posteriors of words, roots and spans, and expected counts of rules."""
        found = self.pcfg.marginals
        return found.words, found.rules, found.roots, _by_width(found.spans)

    @property
    def entropy(self) -> Tensor:
        """In nats (B,)."""
        words, rules, roots, _ = self.marginals
        given = zip((words, rules, roots), self.log_potentials, strict=True)
        return self.partition - sum((p * x.clamp_min(-1e30)).flatten(1).sum(1) for p, x in given)

    def log_prob(self, value: Sequence[Tensor]) -> Tensor:
        """The log probability of derivations (B,), given as counts of words, rules and roots."""
        given = zip(value, self.log_potentials, strict=False)
        return sum((counts * x.clamp_min(-1e30)).flatten(1).sum(1) for counts, x in given) - self.partition

    @cached_property
    def argmax(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The most probable derivation, as counts of words, rules, roots and spans."""
        terms, rules, roots = (torch_module().zeros_like(x.detach()) for x in self.log_potentials)
        spans = terms.new_zeros((*terms.shape[:2], terms.shape[1], roots.shape[1]))
        N = self.pcfg.N
        number: dict[str, int] = {f"N{x}": x for x in range(N)} | {f"T{x}": N + x for x in range(terms.shape[-1])}
        for b, best in enumerate(self.pcfg.argmax()):
            roots[b, number[best.tree.label]] = 1
            for node, s, t in best.tree.nodes_with_spans():
                own = number[node.label]
                if t == s + 1:
                    terms[b, s, own - N] = 1
                else:
                    left, right = (number[child.label] for child in node.children if not isinstance(child, str))
                    rules[b, own, left, right] += 1
                    spans[b, t - s - 2, s, own] = 1
        return terms, rules, roots, spans

    @property
    def mode(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The most probable derivation."""
        return self.argmax

    @property
    def max(self) -> Tensor:
        """The log-potential of the most probable derivation (B,)."""
        given: Any = zip(self.argmax, self.log_potentials, strict=False)
        return sum((p * x.clamp_min(-1e30)).flatten(1).sum(1) for p, x in given)


def _by_width(spans: Tensor) -> Tensor:
    """Spans (B, n, n, NT) by first and last word, rearranged to [b, width - 2, start]."""
    n = spans.shape[1]
    made = torch_module().zeros_like(spans)
    for d in range(2, n + 1):
        made[:, d - 2, : n - d + 1] = torch_module().diagonal(spans, d - 1, 1, 2).transpose(1, 2)
    return made
