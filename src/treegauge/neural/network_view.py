"""The posteriors of sentences under a network, as the view that every decoding objective reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.neural.sentence_batches import Vocabulary, encode_sentences, make_batch
from treegauge.parsing.posterior_view import DUMMY, AnyOrder, Float64, Parse, PosteriorView, SpanLabels
from treegauge.parsing.span_charts import SpanChart
from treegauge.parsing.span_trees import JOIN, best_trees
from treegauge.trees.tree import Tree

TagPosteriors = list[tuple[str | None, float]]
LEAST = 1e-6
"""Constituents and tags with a smaller posterior are left out."""
MOST_TOKENS, MOST_SPANS = 1500, 60_000
"""The most words and spans of sentences that are computed together."""


class NetworkView(PosteriorView):
    """The trees of one sentence under a network, with their probabilities given the words.

    ``scores`` (spans, labels) are in the order of :func:`~treegauge.neural.sentence_batches.span_row`, ``spans`` are the
    probabilities that a span is a constituent, ``tags`` has the tags of each word with their posteriors, the most probable first.
    Trees have the likeliest tags, and the probability of a tree is that of its constituents.
    """

    gives = frozenset({"trees"})

    def __init__(
        self, vocabulary: Vocabulary, lam: float, words: Sequence[str], scores: NDArray[Any], spans: Float64,
        tags: Sequence[TagPosteriors],
    ) -> None:  # fmt: skip
        self.vocabulary, self.lam, self.words = vocabulary, lam, tuple(words)
        self.scores, self.spans, self.tags, self.treebank_root = scores, spans, tags, vocabulary.root

    @property
    def log_partition(self) -> float:
        """0: the words are given, and the probabilities of their trees sum to 1."""
        return 0.0

    @cached_property
    def required(self) -> NDArray[np.bool_]:
        """The whole sentence is a constituent, unless it is a single word."""
        mask = np.zeros((self.n, self.n + 1), np.bool_)
        mask[0, self.n] = self.n > 1
        return mask

    @cached_property
    def orders(self) -> AnyOrder:
        """Labels come in any order, above tags."""
        return AnyOrder(len(self.vocabulary.phrase_labels))

    def tag_posteriors(self, position: int) -> TagPosteriors:
        """The tags of a word with their posteriors, the most probable first; None for a word without a tag."""
        return self.tags[position]

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The posteriors of constituents and tags, span by span. A label that is both a phrase's and a tag's counts once over a
        word; that the word has the one is independent of whether it has the other."""
        n, phrases = self.n, self.vocabulary.phrase_labels
        names = tuple(dict.fromkeys([*phrases, *self.vocabulary.tags, *(tag for own in self.tags for tag, _ in own if tag)]))
        number = {name: X for X, name in enumerate(names)}
        first, last = np.triu_indices(n)
        kept = np.flatnonzero(self.spans > LEAST)
        posterior = self.spans[kept, None] * _shares(self.scores[kept])
        phrase, top = (posterior @ part for part in _parts_of_labels(self.vocabulary.labels, self.vocabulary.phrase_labels))
        row, X = np.nonzero(phrase > LEAST)
        of_word = [(s, number[tag], p) for s, own in enumerate(self.tags) for tag, p in own if tag]
        word, tag = (np.array([each[i] for each in of_word], np.int64) for i in (0, 1))
        span = np.concatenate([first[kept][row] * (n + 1) + last[kept][row] + 1, word * (n + 1) + word + 1])
        none, no_tag = np.zeros(len(of_word)), np.zeros(len(row))
        columns = [
            np.concatenate(both) for both in ((no_tag, [p for *_, p in of_word]), (phrase[row, X], none), (top[row, X], none))
        ]
        some = np.zeros((n, n + 1))
        some[first, last + 1] = self.spans
        bare = np.array([sum(q for tag, q in own if tag is None) for own in self.tags])
        words = np.arange(n)
        some[words, words + 1] = 1 - bare * (1 - some[words, words + 1])
        made = SpanLabels.of_rows(names, n, span, np.concatenate([X, tag]), columns, some, np.zeros((n, n + 1)))
        return replace(made, any=made.phrase + made.any * (1 - made.phrase))

    @cached_property
    def chart(self) -> SpanChart:
        """The chart of all trees, whose labels are chains of nodes, and whose first label is null."""
        scores = np.zeros((self.n, self.n, self.scores.shape[1] + 1))
        scores[(*np.triu_indices(self.n), slice(1, None))] = self.scores
        return SpanChart(scores, labels=["", *self.vocabulary.labels], words=self.words, null=0, root=False)

    def kbest(self, k: int) -> list[Parse]:
        """The k likeliest trees, each with the logarithm of its probability given the words."""
        found, whole = best_trees(self.chart.potentials, k), self.chart.log_partition
        return [Parse(self._tree(spans), min(0.0, float(value - whole))).given(0.0) for value, spans in found]

    def sample(self, size: int, seed: int = 0) -> list[Tree]:
        """Trees drawn at random by their probabilities."""
        return [self._tree(spans) for spans in self.chart.sample_spans(size, seed)]

    def entropy(self) -> float:
        """The entropy of the tree, in nats."""
        return self.chart.entropy()

    def _tree(self, spans: Mapping[tuple[int, int], int]) -> Tree:
        tags = [own[0][0] or "" if own else "" for own in self.tags]
        made = Tree.from_spans(self.words, ((*span, self.chart.labels[X]) for span, X in spans.items()), tags, DUMMY)
        return self.rooted([made] if (0, self.n) in spans else list(made.children))

    def __repr__(self) -> str:
        return f"<NetworkView of {self.n} words>"


def _shares(scores: NDArray[Any]) -> Float64:
    """The probability of each label of a constituent (spans, labels)."""
    made = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return made / made.sum(axis=1, keepdims=True)


@cache
def _parts_of_labels(labels: tuple[str, ...], single: tuple[str, ...]) -> tuple[Float64, Float64]:
    """For each joined label 1 in the columns of its single labels, and 1 in that of its topmost (labels, single labels)."""
    number = {name: X for X, name in enumerate(single)}
    parts, tops = np.zeros((2, len(labels), len(number)))
    for row, label in enumerate(labels):
        own = [number[part] for part in label.split(JOIN)]
        parts[row, own], tops[row, own[0]] = 1.0, 1.0
    return parts, tops


def network_views(
    network: Any, vocabulary: Vocabulary, lam: float, sentences: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str] | None] | None = None,
) -> list[NetworkView]:  # fmt: skip
    """The views of sentences of one word or more, computed several at a time; ``tags`` are those of words whose tags are known."""
    from treegauge.neural.backend import as_numpy, full_precision, torch_module
    from treegauge.neural.span_network import on_device, tree_distribution

    torch: Any = torch_module()
    given, device = encode_sentences(vocabulary, sentences, network.tokeniser), str(network.bias.device)
    found: dict[int, NetworkView] = {}
    for chosen in _groups(given.lengths):
        batch = on_device(make_batch(given, chosen), device)
        with torch.inference_mode(), full_precision:
            scores, of_tags = network(batch)
            crf = tree_distribution(scores, batch, torch.float64)
            spans = as_numpy(crf.marginals[..., 1].flatten()[batch.cell])
            scores, of_tags = as_numpy(scores), as_numpy(of_tags.double().softmax(-1))
        span = word = 0
        for i, n in zip(map(int, batch.chosen), map(int, batch.lengths), strict=True):
            size, given_tags = n * (n + 1) // 2, None if tags is None else tags[i]
            predicted = (_likeliest(vocabulary, row) for row in of_tags[word : word + n])
            own = list(predicted) if given_tags is None else [[(tag or None, 1.0)] for tag in given_tags]
            posteriors = spans[span : span + size]
            found[i] = NetworkView(vocabulary, lam, sentences[i], scores[span : span + size], posteriors, own)
            span, word = span + size, word + n
    return [found[i] for i in range(len(sentences))]


def _likeliest(vocabulary: Vocabulary, row: Float64) -> TagPosteriors:
    """The tags of a word with their posteriors, the most probable first."""
    kept = [int(T) for T in np.argsort(-row, kind="stable") if row[T] > LEAST]
    return [(vocabulary.tags[T] or None, float(row[T])) for T in kept]


def _groups(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """The numbers of sentences that are computed together: of similar length, the shortest first."""
    order = np.argsort(lengths, kind="stable")
    begin, tokens, spans = 0, 0, 0
    for at, n in enumerate(lengths[order].tolist()):
        tokens, spans = tokens + n + 2, spans + n * (n + 1) // 2
        if at > begin and (tokens > MOST_TOKENS or spans > MOST_SPANS):
            yield order[begin:at]
            begin, tokens, spans = at, n + 2, n * (n + 1) // 2
    if len(order):
        yield order[begin:]
