"""Abney's models of a chunk candidate, 0, 1, XK, G and C, and model S of whole chunk sequences.

The first five give P(T | candidate), the probability that a candidate is a true chunk, for all candidates of a sentence at once.
Estimates are plain proportions. Models 1 and XK are estimated from corpus 1; the rules x -> tags of G and C come from corpus 1, and
their probabilities from corpus 2. If no rule applies, C falls back to G, and G to XK.

Model S generates a sequence from left to right: at position i, one of the candidates that start there is chosen with a probability
proportional to its P(T | c) by model G, and the sequence continues at its end. The entropy of a sentence is -lg P(true sequence).

A model file holds the tables of the models, the rules, and the tagger, unless gold tags are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import Chunk, ChunkedSentence, n_spans, span_lengths, span_row, spans, truth
from treegauge.chunks.tagger import Array, CertainTags, HmmTagger, TagLattice
from treegauge.io.archive import read_archive, refusing_damaged_model, write_archive
from treegauge.metrics.metric import ratio


class CandidateModel(Protocol):
    """A model of the probability that a candidate is a true chunk, for all candidates of a sentence."""

    def probabilities(self, tags: TagLattice) -> Array:
        """A row per span, a column per category."""
        ...


ROUNDING = 1e-14
"""Less than this is left of 1 when probabilities that sum to 1 are taken off, in the order of any processor."""


@dataclass(frozen=True)
class Constant:
    """Models 0 and 1: every candidate has the same probability."""

    probability: float
    n_categories: int

    def probabilities(self, tags: TagLattice) -> Array:
        return np.full((n_spans(len(tags)), self.n_categories), self.probability)


@dataclass(frozen=True)
class ByLength:
    """Model XK: the probability depends on category and length; a pair (x, k) that was never seen has probability 0."""

    table: Array
    """A row per length (row 0 unused), a column per category."""

    def probabilities(self, tags: TagLattice) -> Array:
        lengths = span_lengths(len(tags))
        known = lengths < len(self.table)
        return np.where(known[:, None], self.table[np.where(known, lengths, 0)], 0.0)


class RuleTrie:
    """Tag sequences as a trie: node 0 is the empty sequence, each node has a child per tag."""

    def __init__(self) -> None:
        self.children: list[dict[str, int]] = [{}]

    def add(self, tags: Iterable[str]) -> int:
        """The node of a tag sequence, which is added if it is new."""
        node = 0
        for tag in tags:
            if tag not in self.children[node]:
                self.children[node][tag] = len(self.children)
                self.children.append({})
            node = self.children[node][tag]
        return node

    def matches(self, tags: TagLattice) -> Iterator[tuple[int, int, float, Sequence[tuple[str, float]]]]:
        """All (span row, node, probability of its tags, following tags) whose tag sequence is in the trie."""
        n = len(tags)
        for start in range(n):
            frontier = [(0, 1.0, tags.first(start))]
            end = start
            while frontier:
                longer: list[tuple[int, float, Sequence[tuple[str, float, tuple[str, ...]]]]] = []
                row = span_row(n, start, end + 1)
                for node, probability, choices in frontier:
                    children = self.children[node]
                    for tag, share, state in choices:
                        child = children.get(tag)
                        if child is not None:
                            following = tags.following(end + 1, state)
                            yield row, child, probability * share, [(tag, p) for tag, p, _ in following]
                            if end + 1 < n and self.children[child]:
                                longer.append((child, probability * share, following))
                frontier, end = longer, end + 1


@dataclass(frozen=True)
class ChunkRules:
    """The rules of model G: for each tag sequence and category, whether it is a rule, and its probability.

    The probability is nan if corpus 2 does not have the tag sequence; then the rule does not apply.
    """

    trie: RuleTrie
    is_rule: NDArray[np.bool_]
    probability: Array

    @property
    def n_rules(self) -> int:
        return int(self.is_rule.sum())

    def coverage(self, tags: TagLattice) -> Array:
        """For each candidate, the probability that its tags are those of a rule, which is 0 or 1 if tags are certain."""
        mass = np.zeros((n_spans(len(tags)), self.is_rule.shape[1]))
        for row, node, share, _ in self.trie.matches(tags):
            mass[row] += share * self.is_rule[node]
        return mass


@dataclass(frozen=True)
class ByTags:
    """Model G: P(T | x, tags), summed over the possible tag sequences; XK for those to which no rule applies."""

    grammar: ChunkRules
    otherwise: ByLength

    def probabilities(self, tags: TagLattice) -> Array:
        result = np.zeros((n_spans(len(tags)), self.grammar.is_rule.shape[1]))
        unmatched = np.ones_like(result)
        known = np.nan_to_num(self.grammar.probability)
        has_estimate = ~np.isnan(self.grammar.probability)
        for row, node, share, _ in self.grammar.trie.matches(tags):
            result[row] += share * known[node]
            unmatched[row] -= share * has_estimate[node]
        return result + np.where(unmatched > ROUNDING, unmatched, 0.0) * self.otherwise.probabilities(tags)


@dataclass(frozen=True)
class ByContext:
    """Model C: like G, but given the following tag too; ``contexts[node][tag]`` has the probabilities by category (nan: use G)."""

    grammar: ChunkRules
    contexts: dict[int, dict[str, Array]]
    otherwise: ByLength

    def probabilities(self, tags: TagLattice) -> Array:
        result = np.zeros((n_spans(len(tags)), self.grammar.is_rule.shape[1]))
        unmatched = np.ones_like(result)
        for row, node, share, following in self.grammar.trie.matches(tags):
            without_context = self.grammar.probability[node]
            for tag, next_share in following:
                known = self.contexts.get(node, {}).get(tag)
                estimate = without_context if known is None else np.where(np.isnan(known), without_context, known)
                has_estimate = ~np.isnan(estimate)
                result[row] += share * next_share * np.where(has_estimate, estimate, 0.0)
                unmatched[row] -= share * next_share * has_estimate
        return result + np.where(unmatched > ROUNDING, unmatched, 0.0) * self.otherwise.probabilities(tags)


@dataclass(frozen=True)
class Models:
    """The estimates of one training run: model 1's probability, the table of XK, the rules of G and C, the probabilities of C.

    ``categories`` are those of the columns; ``one_corpus`` tells whether rules and probabilities come from the same corpus.
    """

    categories: tuple[str, ...]
    one: float
    by_length: ByLength = field(repr=False)
    grammar: ChunkRules = field(repr=False)
    contexts: dict[int, dict[str, Array]] = field(repr=False)
    one_corpus: bool

    def with_categories(self, categories: Sequence[str]) -> Models:
        """The models with more categories as candidates; since these did not occur in training, only models 0 and 1 allow them."""
        new = [category for category in categories if category not in self.categories]
        if not new:
            return self

        def wider(array: Array, value: float) -> Array:
            return np.concatenate([array, np.full((*array.shape[:-1], len(new)), value)], axis=-1)

        grammar = ChunkRules(
            self.grammar.trie, wider(self.grammar.is_rule.astype(np.float64), 0.0) > 0, wider(self.grammar.probability, np.nan)
        )
        contexts = {node: {tag: wider(row, np.nan) for tag, row in rows.items()} for node, rows in self.contexts.items()}
        by_length = ByLength(wider(self.by_length.table, 0.0))
        return Models((*self.categories, *new), self.one, by_length, grammar, contexts, self.one_corpus)

    def by_name(self) -> dict[str, CandidateModel]:
        """The models by their names in the paper, in its order."""
        zero, one = (Constant(probability, len(self.categories)) for probability in (0.5, self.one))
        in_context = ByContext(self.grammar, self.contexts, self.by_length)
        return {"0": zero, "1": one, "XK": self.by_length, "G": ByTags(self.grammar, self.by_length), "C": in_context}


Tagged = tuple[ChunkedSentence, TagLattice]


def with_gold_tags(sentences: Iterable[ChunkedSentence]) -> list[Tagged]:
    """Sentences with their own tags as certain."""
    return [(sentence, CertainTags(sentence.tags)) for sentence in sentences]


def train_models(first: Sequence[Tagged], second: Sequence[Tagged] | None, categories: Sequence[str]) -> Models:
    """Estimate all models: rules from the ``first`` corpus, their probabilities from the ``second`` (None: the first again)."""
    by_length, one = _length_proportions(first, categories)
    trie, is_rule, contexts = _rules(first, categories)
    grammar, by_context = _estimates(trie, is_rule, contexts, first if second is None else second, categories)
    return Models(tuple(categories), one, by_length, grammar, by_context, second is None)


def _length_proportions(corpus: Sequence[Tagged], categories: Sequence[str]) -> tuple[ByLength, float]:
    longest = max((len(sentence) for sentence, _ in corpus), default=0)
    true = np.zeros((longest + 1, len(categories)))
    candidates = np.zeros(longest + 1)
    for sentence, _ in corpus:
        n = len(sentence)
        lengths = span_lengths(n)
        np.add.at(true, lengths, truth(n, sentence.chunks, categories))
        candidates[1 : n + 1] += np.arange(n, 0, -1)
    table = np.divide(true, candidates[:, None], out=np.zeros_like(true), where=candidates[:, None] > 0)
    total = candidates.sum() * len(categories)
    return ByLength(table), float(true.sum() / total) if total else 0.0


def _rules(corpus: Sequence[Tagged], categories: Sequence[str]) -> tuple[RuleTrie, set[tuple[int, int]], set[tuple[int, str, int]]]:
    """The rules x -> tags of the true chunks, and the same with the following tag."""
    number = {category: index for index, category in enumerate(categories)}
    trie = RuleTrie()
    rules: set[tuple[int, int]] = set()
    contexts: set[tuple[int, str, int]] = set()
    for sentence, tags in corpus:
        for chunk in sentence.chunks:
            for sequence, following in _tag_sequences(tags, chunk.start, chunk.end):
                node, category = trie.add(sequence), number[chunk.category]
                rules.add((node, category))
                contexts.add((node, following, category))
    return trie, rules, contexts


def _tag_sequences(tags: TagLattice, start: int, end: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """The possible tag sequences of a span, each with each tag that may follow."""
    stack: list[tuple[tuple[str, ...], int, Sequence[tuple[str, float, tuple[str, ...]]]]] = [((), start, tags.first(start))]
    while stack:
        sequence, word, choices = stack.pop()
        for tag, _, state in choices:
            if word == end:
                yield sequence, tag
            else:
                stack.append(((*sequence, tag), word + 1, tags.following(word + 1, state)))


def _estimates(
    trie: RuleTrie,
    rules: set[tuple[int, int]],
    contexts: set[tuple[int, str, int]],
    corpus: Sequence[Tagged],
    categories: Sequence[str],
) -> tuple[ChunkRules, dict[int, dict[str, Array]]]:
    """The proportion of true chunks among the candidates of each rule, with and without the following tag."""
    shape = (len(trie.children), len(categories))
    true, seen = np.zeros(shape), np.zeros(shape[0])
    true_next: dict[tuple[int, str], Array] = {}
    seen_next: dict[tuple[int, str], float] = {}
    for sentence, tags in corpus:
        is_true = truth(len(sentence), sentence.chunks, categories)
        for row, node, share, following in trie.matches(tags):
            seen[node] += share
            true[node] += share * is_true[row]
            for tag, next_share in following:
                key = (node, tag)
                seen_next[key] = seen_next.get(key, 0.0) + share * next_share
                if key not in true_next:
                    true_next[key] = np.zeros(len(categories))
                true_next[key] += share * next_share * is_true[row]
    is_rule = np.zeros(shape, dtype=np.bool_)
    for node, category in rules:
        is_rule[node, category] = True
    estimated = is_rule & (seen > 0)[:, None]
    probability = np.where(estimated, true / np.where(seen > 0, seen, 1.0)[:, None], np.nan)
    by_context: dict[int, dict[str, Array]] = {}
    for node, tag, category in contexts:
        if seen_next.get((node, tag), 0.0) > 0:
            row = by_context.setdefault(node, {}).setdefault(tag, np.full(len(categories), np.nan))
            row[category] = true_next[node, tag][category] / seen_next[node, tag]
    return ChunkRules(trie, is_rule, probability), by_context


@dataclass(frozen=True)
class BestSequence:
    """The most probable chunk sequence, its log (base 2) probability, and how many sequences share that probability."""

    chunks: tuple[Chunk, ...]
    log2_probability: float
    ties: int


class SequenceModel:
    """The chunk sequences of one sentence, from P(T | c) for its candidates."""

    def __init__(self, probability: Array, length: int, categories: Sequence[str]) -> None:
        self.length, self.categories = length, tuple(categories)
        start, _ = spans(length)
        total = np.zeros(length)
        np.add.at(total, start, probability.sum(axis=1))
        here = total[start][:, None]
        self.choice = np.divide(probability, here, out=np.zeros_like(probability), where=here > 0)

    def __repr__(self) -> str:
        return f"<SequenceModel of {self.length} words, {len(self.categories)} categories>"

    def log2_probability(self, chunks: Sequence[Chunk]) -> float:
        """lg P(s); minus infinity for an impossible sequence."""
        number = {category: index for index, category in enumerate(self.categories)}
        log = 0.0
        for category, start, end in chunks:
            index = number.get(category)
            p = 0.0 if index is None else float(self.choice[span_row(self.length, start, end), index])
            if p == 0.0:
                return -math.inf
            log += math.log2(p)
        return log

    def best(self) -> BestSequence:
        """The most probable sequence; among equals, the first category, then the shortest last chunk."""
        n = self.length
        category = self.choice.argmax(axis=1)
        rows = np.arange(len(category))
        with np.errstate(divide="ignore"):
            log = np.log2(self.choice[rows, category]) if len(rows) else np.zeros(0)
        equal = np.isclose(self.choice, self.choice[rows, category][:, None], rtol=1e-12, atol=0).sum(axis=1) if len(rows) else rows
        value, ways, back = [0.0] + [-math.inf] * n, [1] + [0] * n, [0] * (n + 1)
        for end in range(1, n + 1):
            for start in range(end):
                row = span_row(n, start, end)
                new = value[start] + float(log[row])
                if new == -math.inf:
                    continue
                if math.isclose(new, value[end], rel_tol=1e-12, abs_tol=1e-12):
                    ways[end] += ways[start] * int(equal[row])
                elif new > value[end]:
                    value[end], ways[end], back[end] = new, ways[start] * int(equal[row]), start
        chunks: list[Chunk] = []
        end = n if value[n] > -math.inf else 0
        while end:
            start = back[end]
            chunks.append(Chunk(self.categories[int(category[span_row(n, start, end)])], start, end))
            end = start
        return BestSequence(tuple(reversed(chunks)), value[n], ways[n])


@dataclass
class SequenceScores:
    """Sums over sentences: entropy of the true sequences, and how many chunks of the best ones are true."""

    sentences: int = 0
    impossible: int = 0
    bits: float = 0.0
    predicted: int = 0
    correct: int = 0
    true: int = 0

    def add(self, model: SequenceModel, chunks: Sequence[Chunk]) -> BestSequence:
        """Count one sentence and return its best sequence."""
        log = model.log2_probability(chunks)
        best = model.best()
        self.sentences += 1
        self.impossible += log == -math.inf
        self.bits += 0.0 if log == -math.inf else -log
        self.predicted += len(best.chunks)
        self.correct += len(set(best.chunks) & set(chunks))
        self.true += len(chunks)
        return best

    @property
    def bits_per_sentence(self) -> float:
        if self.impossible:
            return math.inf
        return ratio(self.bits, self.sentences)

    @property
    def finite_bits_per_sentence(self) -> float:
        """The mean over the sentences whose true sequence is possible."""
        return ratio(self.bits, self.sentences - self.impossible)

    @property
    def precision(self) -> float:
        return ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return ratio(self.correct, self.true)


_SCHEMA, _VERSION = "treegauge-chunks", 1


def save_models(path: str | Path, models: Models, tagger: HmmTagger | None, trained_on: str) -> None:
    """Write the models, and the tagger they were trained with (None: gold tags), atomically."""
    names = [tag for children in models.grammar.trie.children for tag in children]
    contexts = [(node, tag, row) for node, rows in models.contexts.items() for tag, row in rows.items()]
    document: dict[str, Any] = {
        "schema": _SCHEMA,
        "version": _VERSION,
        "categories": list(models.categories),
        "one": models.one,
        "one_corpus": models.one_corpus,
        "trained_on": trained_on,
        "trie_tags": names,
        "context_tags": [tag for _, tag, _ in contexts],
        "tagger": None if tagger is None else tagger.document(),
    }
    arrays: dict[str, NDArray[Any]] = {
        "length_table": models.by_length.table,
        "is_rule": models.grammar.is_rule,
        "rule_probability": models.grammar.probability,
        "trie_children": np.array([len(children) for children in models.grammar.trie.children], dtype=np.int64),
        "trie_targets": np.array([c for children in models.grammar.trie.children for c in children.values()], dtype=np.int64),
        "context_nodes": np.array([node for node, _, _ in contexts], dtype=np.int64),
        "context_probability": np.array([row for _, _, row in contexts]).reshape(len(contexts), len(models.categories)),
    }
    write_archive(path, document, {**arrays, **({} if tagger is None else tagger.arrays())})


def load_models(path: str | Path) -> tuple[Models, HmmTagger | None]:
    """The models and the tagger of a file."""
    document, arrays = read_archive(path, _SCHEMA, _VERSION)
    with refusing_damaged_model(path):
        targets: list[int] = arrays["trie_targets"].tolist()
        counts: list[int] = arrays["trie_children"].tolist()
        edges = iter(zip(list[str](document["trie_tags"]), targets, strict=True))
        trie = RuleTrie()
        trie.children = [dict(next(edges) for _ in range(count)) for count in counts]
        grammar = ChunkRules(trie, arrays["is_rule"], arrays["rule_probability"])
        contexts: dict[int, dict[str, NDArray[np.float64]]] = {}
        rows = zip(arrays["context_nodes"].tolist(), document["context_tags"], arrays["context_probability"], strict=True)
        for node, tag, row in rows:
            contexts.setdefault(node, {})[tag] = row
        by_length, one, one_corpus = ByLength(arrays["length_table"]), document["one"], document["one_corpus"]
        models = Models(tuple(document["categories"]), one, by_length, grammar, contexts, one_corpus)
        tagger = None if document["tagger"] is None else HmmTagger.from_parts(document["tagger"], arrays)
        return models, tagger
