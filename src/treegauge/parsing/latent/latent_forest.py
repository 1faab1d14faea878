"""LatentForest: the parses of one sentence under a latent-variable model, with their posteriors, best trees and samples.

It has the methods of :class:`treegauge.parsing.forest.Forest`, but coarse-to-fine passes have pruned its parses. The posteriors of
a model with several grammars, and the probability of the sentence, are the means over the grammars.

No efficient algorithm is known for the entropy of a sentence's trees, whose subcategories are summed out, but P(tree | words) of
one tree is easy to compute. If pruning has left few trees, the entropy is therefore summed over all of them; otherwise it is
estimated as the mean of -log P(tree | words) over a sample.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import NoParse, TooLong
from treegauge.grammar.latent.latent_grammar import Level
from treegauge.grammar.latent.latent_model import LatentModel
from treegauge.grammar.latent.rule_rows import Int64
from treegauge.parsing.latent.base_chart import UNARY, BaseRules, PackedForest, base_forest, base_inside, base_rules
from treegauge.parsing.latent.latent_derivations import (
    Derivation,
    best_derivation,
    best_derivations,
    best_trees,
    derivation_of,
    derivation_tree,
    sample_derivation,
    tree_probability,
)
from treegauge.parsing.latent.latent_parts import (
    ConstituentPosteriors,
    SymbolLabels,
    best_parse,
    best_product,
    constituent_posteriors,
    repeated_names,
    span_labels_of,
    symbol_labels,
    tags_below_chains,
)
from treegauge.parsing.latent.passes import ANY_TAG, Pass, Words, base_words, run_passes
from treegauge.parsing.posterior_view import AnyOrder, Best, Constituent, CountedParts, Parse, PosteriorView, SpanLabels
from treegauge.trees.tree import Tree

MOST_WORDS = 400
"""The longest sentence: the chart of a longer one would fill a gigabyte."""
_LONG = 120
"""In longer sentences the sums over pairs of children are recomputed instead of stored, to save memory."""
_MOST_EDGES = 10_000_000
_LEAST_SHARE = 1e-3
"""Tags with a smaller P(tag | word) are tried only if there is no parse without them."""
_FIRST_SCALE = 30.0
_SCALES = 16
"""The number of attempts to scale words before a sentence is given up as having no parse."""
_WEAKER = (1.0, 1e-2, 1e-4, 1e-8, 0.0)
"""The factors by which the thresholds are multiplied, tried in this order until there is a parse."""
_FLOAT64 = np.zeros(0, np.float64)
FEW = 200
"""The most trees over which the entropy is summed exactly."""
SAMPLES = 400
"""The number of trees sampled to estimate the entropy of more."""
_SEED = 1


class ModelTables(NamedTuple):
    """The tables of a model for parsing: the base rules, the labels of symbols, the unary rules above tags with repeated names,
    and for each grammar its levels and the maps between them (``paths``)."""

    rules: BaseRules
    labels: SymbolLabels
    repeated: Mapping[int, frozenset[int]]
    paths: tuple[tuple[tuple[Level, ...], tuple[Int64, ...]], ...]


def model_tables(model: LatentModel) -> ModelTables:
    """The tables of a model, computed once and cached in it."""
    if "tables" not in model.derived:
        paths = tuple(model.path(grammar) for grammar in range(len(model.grammars)))
        base = model.base
        model.derived["tables"] = ModelTables(base_rules(base, model.base_level), symbol_labels(base), repeated_names(base), paths)
    return model.derived["tables"]


class BaseChart(NamedTuple):
    """The inside values of the base grammar in both layers, the sums over pairs of children, and the factors of the words with
    which the probability of the sentence is 1."""

    high: NDArray[np.float64]
    low: NDArray[np.float64]
    pairs: NDArray[np.float64]
    scale: NDArray[np.float64]


def word_columns(model: LatentModel, words: Sequence[str]) -> Words:
    """The words of a sentence as the kernels need them, with scales of 1."""
    table = model.table
    number, signature = table.find(words)
    count = np.where(number >= 0, table.count[np.maximum(number, 0)], 1).astype(np.float64)
    return Words(number, signature, count, np.ones(len(words)), *table.pairs_of_word, table.pair_tag)


def _may_underflow(high: NDArray[np.float64]) -> bool:
    """Whether a chart has numbers so small that the product of two of them and of a rule's weight can be 0."""
    spans = high[np.triu_indices(len(high), 1, len(high) + 1)]
    return bool(((spans > 0) & (spans < 1e-140)).any())


def _next_step(step: float, z: float, n: int, too_small: float, too_large: float) -> float:
    """The next logarithm of the words' scale to try, after ``step`` gave the sentence the probability z.

    ``too_small`` and ``too_large`` are the steps known to underflow and to overflow.
    """
    if 0 < z < math.inf:
        return step - math.log(z) / n
    if too_small == -math.inf:
        return step - 1.0
    return step + 1.0 if too_large == math.inf else (too_small + too_large) / 2


class LatentForest(PosteriorView):
    """The parses of a sentence that pruning has left. ``exact`` turns pruning off, which is slow and meant for short sentences.

    ``tags`` has for each word the tags it may have (``None``: any).
    """

    def __init__(
        self, model: LatentModel, words: Sequence[str], *, tags: Sequence[Collection[str] | None] | None = None, exact: bool = False
    ) -> None:
        self.model, self.words, self.exact = model, self.checked_words(words, MOST_WORDS), exact
        self.tags, self.lam, self.treebank_root = tags, model.settings.lam, model.base.root

    gives = frozenset({"trees", "grammar", "subcategories"})

    @property
    def annotated(self) -> bool:
        """Symbols have subcategories, which do not show."""
        return True

    @cached_property
    def orders(self) -> AnyOrder:
        """Labels come in any order, above tags."""
        return AnyOrder(len(self.model.base.labels))

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        """The tags of a word with their posteriors, the most probable first; None for a word without a tag."""
        own, tags = self.posteriors.tag[position], self.model.base.tags
        return [(tags[T] or None, float(own[T])) for T in np.argsort(-own, kind="stable").tolist() if own[T] > 0]

    def best_parse(self, parts: CountedParts) -> Best:
        """The parse that is left whose parts have the largest sum of worths."""
        self.require_parse()
        return best_parse(self, parts)

    def best_product(self) -> Best:
        """The parse whose rules have the largest product of posteriors, over all grammars; the score is its logarithm."""
        self.require_parse()
        return best_product(self)

    @property
    def tables(self) -> ModelTables:
        return model_tables(self.model)

    @cached_property
    def _word_columns(self) -> Words:
        """The words of the sentence; the given tags of a word are possible even if the lexicon rules all of them out."""
        found = word_columns(self.model, self.words)
        if self.tags is None:
            return found
        rows = base_words(found, self.model.base_level, self.tables.rules.is_tag, 0.0)
        impossible = ~(rows * self._allowed_tags).any(axis=1)
        return found._replace(number=np.where(impossible, ANY_TAG, found.number))

    @cached_property
    def _allowed_tags(self) -> NDArray[np.bool_]:
        """The tags that each word may have, an (n, symbols) mask; all tags if the grammar has none of those given."""
        base = self.model.base
        allowed = np.tile(base.is_tag, (self.n, 1))
        for s, given in enumerate(self.tags or ()):
            mask = np.array([name in given for name in base.names]) & base.is_tag if given is not None else base.is_tag
            if mask.any():
                allowed[s] = mask
        return allowed

    @cached_property
    def _analysis(self) -> tuple[tuple[PackedForest, Words] | None, list[Pass | None]]:
        """The forest of the base grammar with the words scaled for it, and each grammar's last pass.

        If pruning leaves no grammar a parse, as can happen in very long sentences, it is repeated with smaller thresholds.
        """
        chart = self._scaled_chart(0.0 if self.exact else _LEAST_SHARE) or self._scaled_chart(0.0) if self.n else None
        if chart is None:
            return None, []
        words = self._word_columns._replace(scale=chart.scale)
        for weaker in _WEAKER:
            forest = self._base_forest(chart, weaker)
            passes = self._passes(forest, words, weaker)
            if self.exact or any(each is not None for each in passes):
                return (forest, words), passes
        return None, []

    @property
    def packed_forest(self) -> PackedForest:
        """The forest of the base grammar; only if there is a parse."""
        assert self._analysis[0] is not None
        return self._analysis[0][0]

    @property
    def scaled_words(self) -> Words:
        """The words scaled for the forest of the base grammar; only if there is a parse."""
        assert self._analysis[0] is not None
        return self._analysis[0][1]

    def _scaled_chart(self, least_share: float) -> BaseChart | None:
        """The chart of the base grammar, with words scaled so that nothing underflows or overflows; ``None`` without a parse."""
        rules, n = self.tables.rules, self.n
        rows = self._base_rows(least_share)
        first = _FIRST_SCALE / rows.max(axis=1)
        too_small, too_large, step = -math.inf, math.inf, 0.0
        for _ in range(_SCALES):
            scale = first * math.exp(step)
            high, low, pairs = self._base_chart(rows * scale[:, None])
            z = float(rules.root @ high[0, n])
            if 1e-200 < z < 1e200:
                return BaseChart(high, low, pairs, scale * math.exp(-math.log(z) / n))
            if z == 0 and not _may_underflow(high):
                return None
            if z == 0:
                too_small = step
            elif not z < math.inf:
                too_large = step
            step = _next_step(step, z, n, too_small, too_large)
        return None

    def _base_forest(self, chart: BaseChart, weaker: float) -> PackedForest:
        n, threshold = self.n, 0.0 if self.exact else self.model.settings.base * weaker
        room = 20_000 + 1000 * n
        while room <= _MOST_EDGES:
            done, forest = base_forest(n, self.tables.rules, chart.high, chart.low, chart.pairs, threshold, room)
            if done:
                return forest
            room *= 4
        raise TooLong(f"a sentence of {n:,} words has too many parses to look at all of them")

    def _base_rows(self, least_share: float) -> NDArray[np.float64]:
        """P(word | tag) under the base grammar, an (n, symbols) array, for the tags that the words may have."""
        rows = base_words(self._word_columns, self.model.base_level, self.tables.rules.is_tag, least_share)
        if self.tags is None:
            return rows
        limited = rows * self._allowed_tags
        rare = ~limited.any(axis=1)
        limited[rare] = self._allowed_tags[rare]
        return limited

    def _base_chart(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        n, rules = self.n, self.tables.rules
        high, low = np.empty((n, n + 1, self.model.base.size)), np.empty((n, n + 1, self.model.base.size))
        pairs = np.empty((n * (n + 1) // 2 if n <= _LONG else 1, len(rules.pair_left)))
        base_inside(n, rows, rules, high, low, pairs)
        return high, low, pairs

    def parsable_spans(self) -> NDArray[np.bool_]:
        """The spans that the base grammar can parse as sentences, an (n, n+1) mask."""
        rows = self._base_rows(0.0)
        high, _, _ = self._base_chart(rows * (_FIRST_SCALE / rows.max(axis=1))[:, None])
        with np.errstate(all="ignore"):  # below the diagonal the chart is not initialised
            return np.triu(high @ self.tables.rules.root > 0, 1)

    def _passes(self, forest: PackedForest, words: Words, weaker: float) -> list[Pass | None]:
        settings, made = self.model.settings, list[Pass | None]()
        for levels, ups in self.tables.paths:
            pruning = (
                np.full(len(levels), 0.0 if self.exact else settings.subcategory * weaker),
                np.full(len(levels), 0.0 if self.exact else settings.edge * weaker),
            )
            found = run_passes(self.n, forest, self.tables.rules.is_tag, levels, ups, words, *pruning, _FLOAT64)
            made.append(found if found.total > 0 else None)
        return made

    @cached_property
    def grammar_passes(self) -> list[tuple[Level, Pass]]:
        """The finest levels of the grammars that have a parse, and their last passes."""
        finest = (levels[-1] for levels, _ in self.tables.paths)
        return [(level, each) for level, each in zip(finest, self._analysis[1], strict=False) if each is not None]

    @property
    def has_parse(self) -> bool:
        """``True`` if there is a parse."""
        return bool(self.grammar_passes)

    @cached_property
    def log_probabilities(self) -> NDArray[np.float64]:
        """The log probability of the sentence under each grammar that has a parse."""
        return np.array([math.log(each.total) - float(np.log(each.scale).sum()) for _, each in self.grammar_passes])

    @property
    def log_partition(self) -> float:
        """The log probability of the sentence (the sum over the parses that are left) in the equal mixture of the grammars."""
        if not self.has_parse:
            return -math.inf
        return float(np.logaddexp.reduce(self.log_probabilities)) - math.log(len(self.model.grammars))

    @cached_property
    def item_posterior(self) -> NDArray[np.float64]:
        return np.mean([each.item for _, each in self.grammar_passes], axis=0)

    @cached_property
    def edge_posterior(self) -> NDArray[np.float64]:
        return np.mean([each.edge for _, each in self.grammar_passes], axis=0)

    @cached_property
    def posteriors(self) -> ConstituentPosteriors:
        """The posteriors of the constituents and tags that appear in trees."""
        self.require_parse()
        forest, tables = self.packed_forest, self.tables
        made = constituent_posteriors(self.n, forest, tables.labels, self.item_posterior, self.edge_posterior)
        if not tables.repeated:
            return made
        below = [
            tags_below_chains(self.n, forest, tables.labels, tables.repeated, level, each) for level, each in self.grammar_passes
        ]
        return made._replace(both=made.both + np.mean(below, axis=0))

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The posteriors of constituents and tags, span by span."""
        self.require_parse()
        packed, n, base = self.packed_forest, self.n, self.model.base
        inner = base.is_inner[packed.symbol]
        span = packed.start[inner].astype(np.int64) * (n + 1) + packed.end[inner]
        hidden = np.bincount(span, self.item_posterior[inner], n * (n + 1)).astype(np.float64).reshape(n, n + 1)
        return span_labels_of(n, base, self.posteriors, hidden)

    @cached_property
    def n_parses(self) -> int:
        """The number of trees that pruning has left."""
        if not self.has_parse:
            return 0
        forest = self.packed_forest
        is_tag = self.tables.rules.is_tag
        alive = self.edge_posterior > 0
        count = [0] * len(forest.symbol)
        for v in range(len(forest.symbol) - 1, -1, -1):
            if is_tag[forest.symbol[v]]:
                count[v] = 1
                continue
            for d in range(int(forest.first[v]), int(forest.first[v + 1])):
                if alive[d]:
                    count[v] += count[forest.left[d]] * (count[forest.right[d]] if forest.right[d] >= 0 else 1)
        return sum(count[v] for v in self.roots())

    def roots(self) -> list[int]:
        """The items that can be the root."""
        forest, rules = self.packed_forest, self.tables.rules
        may_be_root = (forest.high | rules.is_tag[forest.symbol]) & (rules.root[forest.symbol] > 0)
        whole = (forest.start == 0) & (forest.end == self.n) & may_be_root
        return np.flatnonzero(whole).tolist()

    def entropy(self) -> float:
        """The entropy of the tree given the sentence, in nats; an estimate if there are many trees."""
        return tree_entropy(self)

    def constituents(self) -> list[Constituent]:
        """g(s, t, X) by the base grammar's symbols, inner ones and tags included, in the order of the forest."""
        if not self.has_parse:
            return []
        forest, base = self.packed_forest, self.model.base
        total: dict[tuple[int, int, str], float] = {}
        for v in np.flatnonzero(self.item_posterior > 0).tolist():
            A = int(forest.symbol[v])
            if forest.high[v]:
                # Only edges of unary rules make a node; the rest of a high item's posterior belongs to the low item.
                edges = slice(int(forest.first[v]), int(forest.first[v + 1]))
                posterior = float(self.edge_posterior[edges][forest.kind[edges] == UNARY].sum())
            else:
                posterior = float(self.item_posterior[v])
            key = int(forest.start[v]), int(forest.end[v]), base.title(A)
            total[key] = total.get(key, 0.0) + posterior
        return [Constituent(*key, posterior) for key, posterior in sorted(total.items()) if posterior > 0]

    def shown_constituents(self, *, preterminals: bool = True) -> list[Constituent]:
        """g(s, t, label) by the labels of output trees: the probability that a tree has a node with the label over the span, once
        or several times. The treebank's root is one of them."""
        total = {c[:3]: c for c in super().shown_constituents(preterminals=preterminals)}
        root = self.model.base.root
        if root is not None and total:
            total[0, self.n, root] = Constituent(0, self.n, root, 1.0)  # every tree has it
        return [total[key] for key in sorted(total)]

    def best(self) -> Parse:
        """The tree of the likeliest derivation of any grammar, with that derivation's log probability in the mixture."""
        self.require_parse()
        forest = self.packed_forest
        best, value = Derivation(-1, ()), -math.inf
        for level, each in self.grammar_passes:
            root, p, choice = best_derivation(self.n, forest, self.tables.rules.is_tag, level, self.scaled_words, each)
            log_p = math.log(p) - float(np.log(each.scale).sum()) if root >= 0 else -math.inf
            if log_p > value:
                best, value = derivation_of(forest, root, choice), log_p
        return Parse(self.tree(best), value - math.log(len(self.model.grammars)))

    def sample(self, size: int, seed: int = 0) -> list[Tree]:
        """Trees drawn from the mean of the grammars' posteriors: each from a grammar chosen uniformly."""
        return [self.tree(derivation) for derivation in self.sample_derivations(size, seed)]

    def sample_derivations(self, size: int, seed: int) -> list[Derivation]:
        """The derivations of the trees of :meth:`sample`."""
        self.require_parse()
        forest = self.packed_forest
        rng = np.random.default_rng(seed)
        made: list[Derivation] = []
        for _ in range(size):
            level, each = self.grammar_passes[int(rng.integers(len(self.grammar_passes)))]
            root, choice = sample_derivation(self.n, forest, self.tables.rules.is_tag, level, each, rng)
            made.append(derivation_of(forest, root, choice))
        return made

    def kbest(self, k: int) -> list[Parse]:
        """The k likeliest trees, or all if pruning has left fewer, with their log probabilities in the mixture; the likeliest of
        10 k candidates, and of 100 at least."""
        return [parse.given(self.log_partition) for parse in best_trees(self, k)]

    def tree(self, derivation: Derivation) -> Tree:
        """The tree of a derivation."""
        return derivation_tree(self.model.base, self.packed_forest, derivation, self.words)

    def log_probabilities_of(self, derivation: Derivation, *, pruned: bool = False) -> list[float]:
        """The log probability of a derivation's tree under each grammar that has a parse, summed over all subcategories or, with
        ``pruned``, over those that pruning has left."""
        forest, is_tag, words = self.packed_forest, self.tables.rules.is_tag, self.scaled_words
        return [tree_probability(forest, is_tag, level, words, each, derivation, pruned) for level, each in self.grammar_passes]

    def log_probability_of(self, derivation: Derivation) -> float:
        """The log probability of a derivation's tree in the mixture, summed over subcategories."""
        return float(np.logaddexp.reduce(self.log_probabilities_of(derivation))) - math.log(len(self.model.grammars))

    def require_parse(self) -> None:
        """Raise an error if there is no parse."""
        if not self.has_parse:
            raise NoParse(f"the grammar has no parse for: {textwrap.shorten(' '.join(self.words), 200) or '(no words)'}")

    def __repr__(self) -> str:
        return f"<LatentForest over {self.n} words, log probability {self.log_partition:.6g}>"


def tree_entropy(forest: LatentForest, few: int = FEW, samples: int = SAMPLES) -> float:
    """The entropy of the tree given the sentence, in nats. With more than ``few`` trees it is an estimate from a fixed seed."""
    if not forest.has_parse:
        return math.nan
    if forest.n_parses <= few:
        shares = [_share(forest, derivation) for derivation in best_derivations(forest)]
        return max(0.0, -math.fsum(p * math.log(p) for p in shares if p > 0))
    drawn = forest.sample_derivations(samples, _SEED)
    value = {derivation: math.log(_share(forest, derivation)) for derivation in set(drawn)}
    return max(0.0, -math.fsum(value[derivation] for derivation in drawn) / len(drawn))


def _share(forest: LatentForest, derivation: Derivation) -> float:
    """P(tree | words), the mean over the grammars."""
    return float(np.mean(np.exp(np.array(forest.log_probabilities_of(derivation, pruned=True)) - forest.log_probabilities)))
