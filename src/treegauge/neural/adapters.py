"""Other libraries: span charts from the scores of benepar and supar, and drop-in replacements for torch-struct's ``TreeCRF`` and
``SentCFG``, with the same names and shapes.

from treegauge.neural import TreeCRF     # instead of: from torch_struct import TreeCRF

``gumbel_crf`` is missing, and so are ``kmax`` and ``topk`` of ``SentCFG``.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from treegauge.errors import UsageError
from treegauge.neural.backend import Array, Tensor, as_numpy, torch_module
from treegauge.neural.dense_pcfg import DensePCFG
from treegauge.neural.span_crf import SpanCRF, check_batch_size
from treegauge.tables import number_of

if TYPE_CHECKING:
    from treegauge.parsing import SpanChart


class TreeCRF:
    """A CRF over labelled binary trees: ``log_potentials`` (B, n, n, labels) by first and last word, ``lengths`` (B,).

    Trees are tensors of zeros and ones, shaped like the potentials.
    """

    def __init__(self, log_potentials: Tensor, lengths: Tensor | None = None) -> None:
        self.log_potentials, self.lengths = log_potentials, lengths
        self.crf = SpanCRF(log_potentials, lengths)
        self.batch_shape, self.event_shape = log_potentials.shape[:1], log_potentials.shape[1:]

    def __repr__(self) -> str:
        return f"<TreeCRF: {self.crf!r}>"

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
        size = math.prod(sample_shape)
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

    def __repr__(self) -> str:
        return f"<SentCFG: {self.pcfg!r}>"

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
        return self.partition - self._score(self.marginals)

    def log_prob(self, value: Sequence[Tensor]) -> Tensor:
        """The log probability of derivations (B,), given as counts of words, rules and roots."""
        return self._score(value) - self.partition

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
        return self._score(self.argmax)

    def _score(self, counts: Sequence[Tensor]) -> Tensor:
        """The sum of the log-potentials times the counts of words, rules and roots."""
        given: Any = zip(counts, self.log_potentials, strict=False)
        return sum((p * x.clamp_min(-1e30)).flatten(1).sum(1) for p, x in given)


def _by_width(spans: Tensor) -> Tensor:
    """Spans (B, n, n, NT) by first and last word, rearranged to [b, width - 2, start]."""
    n = spans.shape[1]
    made = torch_module().zeros_like(spans)
    for d in range(2, n + 1):
        made[:, d - 2, : n - d + 1] = torch_module().diagonal(spans, d - 1, 1, 2).transpose(1, 2)
    return made


def benepar_charts(
    parser: Any, sentences: Sequence[Any], *, tags: Sequence[Sequence[str]] | None = None, **options: Any
) -> list[SpanChart]:
    """The charts of sentences scored by a ``benepar.Parser``. A sentence is a list of words, or benepar's ``InputSentence``, whose
    missing fields the parser fills.

    A ``ChartParser`` of benepar works too if input sentences have all fields. Label 0 means "no constituent", the labels of chains
    are joined by ``::``, and the root is a constituent if the parser was trained that way. Tags are those of the argument ``tags``,
    or else those of sentences given to a ``benepar.Parser``, or those that the parser predicts, or those of the sentences. Trees do
    not have the node TOP that benepar adds to its own. Options are those of :class:`~treegauge.parsing.SpanChart`.
    """
    from treegauge.parsing import SpanChart

    model = getattr(parser, "_parser", parser)
    if not hasattr(model, "decoder"):
        raise UsageError(f"{type(parser).__name__} is not a benepar parser; give benepar.Parser(NAME)")
    given = _benepar_inputs(parser, sentences)
    labels = [model.decoder.label_from_index[i] for i in range(len(model.decoder.label_from_index))]
    root = bool(getattr(model.decoder, "force_root_constituent", True))
    own = _benepar_tags(model, given, keep_given=parser is not model) if tags is None else tags
    check_batch_size("tags", own, len(given))
    charts: list[SpanChart] = []
    for sentence, its_tags, scores in zip(given, own, model.parse(given, return_scores=True) if given else [], strict=True):
        words = [leaf for leaf, _ in sentence.pos()]
        charts.append(SpanChart(scores, labels=labels, words=words, tags=list(its_tags), null=0, root=root, **options))
    return charts


def _benepar_inputs(parser: Any, sentences: Sequence[Any]) -> list[Any]:
    """The sentences as benepar's input sentences with all fields."""
    fill = getattr(parser, "_with_missing_fields_filled", None)
    found: list[Any] = []
    for number, sentence in enumerate(sentences, 1):
        if fill is not None and isinstance(sentence, list | tuple):
            sentence = importlib.import_module("benepar").InputSentence(words=list(cast("Sequence[str]", sentence)))
        if isinstance(sentence, str | list | tuple):
            kind = (
                "words in a list" if fill is not None else "an input sentence of benepar; benepar.Parser(NAME) takes lists of words"
            )
            raise UsageError(f"sentence {number} must be {kind}")
        if fill is None and getattr(sentence, "escaped_words", True) is None:
            raise UsageError(f"sentence {number} has no escaped_words: give the whole benepar.Parser, which fills them")
        found.append(sentence if fill is None else fill(sentence))
    return found


def _benepar_tags(model: Any, sentences: Sequence[Any], *, keep_given: bool) -> list[list[str]]:
    """The tags that benepar's own trees would have; with ``keep_given``, those of the sentences that have tags."""
    if getattr(model, "f_tag", None) is None or not sentences:
        return [[tag for _, tag in sentence.pos()] for sentence in sentences]
    found = model.parse(sentences, return_compressed=True)
    predicted = [[model.tag_from_index[int(tag)] for tag in output.tags] for output in found]
    return [list(s.tags) if keep_given and s.tags is not None else own for s, own in zip(sentences, predicted, strict=True)]


def supar_charts(
    s_span: Array,
    s_label: Array,
    lengths: Array,
    labels: Sequence[str],
    *,
    words: Sequence[Sequence[str]] | None = None,
    tags: Sequence[Sequence[str]] | None = None,
) -> list[SpanChart]:
    """The charts of a batch scored by supar's ``CRFConstituencyModel``: its scores of spans (B, n+1, n+1) and of labels
    (B, n+1, n+1, labels) by fenceposts, the lengths in words, and the names of labels (``parser.CHART.vocab.itos``).

    supar's trees are binary, the labels of their spans are independent, and labels that end in ``|<>`` come from binarisation. The
    charts therefore hold the posteriors of supar's own distribution, with those labels as null labels.
    """
    from treegauge.parsing import SpanChart

    check_batch_size("words", words, len(s_label))
    check_batch_size("tags", tags, len(s_label))
    null = [X for X, name in enumerate(labels) if name.endswith("|<>")]
    if len(labels) != s_label.shape[-1]:
        raise UsageError(f"labels must have {number_of(s_label.shape[-1], 'name')}, not {len(labels)}")
    spans = as_numpy(SpanCRF(s_span[..., None], lengths, convention="fencepost").marginals)[..., 0].astype(np.float64)
    scores = as_numpy(s_label)[:, :-1, 1:].astype(np.float64)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    charts: list[SpanChart] = []
    for i, n in enumerate(np.asarray(as_numpy(lengths)).tolist()):
        named: dict[str, Any] = {"words": None if words is None else words[i], "tags": None if tags is None else tags[i]}
        posterior = spans[i, :n, :n, None] * shares[i, :n, :n]
        charts.append(SpanChart(posterior, kind="posteriors", labels=list(labels), null=null or None, **named))
    return charts
