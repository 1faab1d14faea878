"""Forest: all parses of one sentence, with their posteriors, best trees and samples."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import NoParse, UsageError, checked, hinting
from treegauge.grammar.binarisation import BinaryGrammar
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.chain_labels import LabelOrders, LabelPosteriors, label_posteriors, shown_labels, span_labels, word_tags
from treegauge.parsing.chart import InsideChart, Tags, fill, has_unary_cycle, leaves_of, limit_of, number_of_parses, outer_of
from treegauge.parsing.chart_layout import LOG_SUM, MAX, SUM, Limit, find_entry, leaf_entries
from treegauge.parsing.chart_passes import Outer
from treegauge.parsing.derivations import best_derivation, best_derivations, sampled_derivation, steps_to_tree
from treegauge.parsing.parse_parts import (
    AnchoredRule,
    Frame,
    Link,
    anchored_rules,
    best_parse,
    constituents,
    frames,
    links,
    rule_posteriors,
)
from treegauge.parsing.posterior_view import Best, Constituent, CountedParts, Float64, Parse, PosteriorView, Reading, SpanLabels
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest_views import ChartTable

MOST_WORDS = 10_000
"""The longest sentence that is accepted: a chart grows with the square of the length, and would fill all memory."""


_MOST_NAMED = 5
"""The largest number of unknown words that an error names."""


def no_parse(words: Sequence[str], unknown_words: Sequence[str] = ()) -> NoParse:
    """The error for a sentence without a parse; it names the words that are not in the grammar, if that is the reason.

    >>> print(no_parse(["I", "saw", "dogs"], ["dogs"]))
    the grammar has no parse for: I saw dogs; word 'dogs' is not in the grammar
    """
    named = ", ".join(map(repr, unknown_words[:_MOST_NAMED]))
    more = f" and {len(unknown_words) - _MOST_NAMED:,} more" if len(unknown_words) > _MOST_NAMED else ""
    reason = f"word {named} is not in the grammar" if len(unknown_words) == 1 else f"words {named}{more} are not in the grammar"
    sentence = textwrap.shorten(" ".join(words), 200) or "(no words)"
    return NoParse(f"the grammar has no parse for: {sentence}" + (f"; {reason}" if unknown_words else ""))


def check_grammar(name: str, given: object) -> None:
    """Refuse what is not a grammar, with a hint at what makes one."""
    if not isinstance(given, PCFG):
        kind = type(given).__name__
        hint = "call it, with () at the end" if callable(given) else "treegauge.load(path).parser.grammar, or trained.grammar"
        hint = "treegauge.induce(trees) makes one" if isinstance(given, list) else hint
        raise UsageError(f"{name} takes a grammar, a PCFG, not {kind}: {hint}")


@hinting
class Forest(PosteriorView):
    """All parses of a sentence under a grammar, in a chart. Everything is computed on first use; nothing is pruned unless ``limit``
    is given.

    ``tags`` limits the symbols above each word (see :data:`treegauge.parsing.chart.Tags`). ``brackets`` are spans that no
    constituent may cross (Pereira & Schabes 1992); ``allowed`` is an (n, n+1) array of the spans that constituents may have.
    Neither applies to symbols of the internal binarisation. ``limit``, given instead of these two, has the symbols that are allowed
    over each span (see :mod:`treegauge.parsing.coarse_to_fine`).

    Goodman's example of a sentence with four parses (1996, section 3):

    >>> grammar = PCFG.parse('''S -> A C [.25] | A D [.25] | E B [.25] | F B [.25]
    ... A -> "x" "x" [1]
    ... B -> "x" "x" [1]
    ... C -> "x" "x" [1]
    ... D -> "x" "x" [1]
    ... E -> "x" "x" [1]
    ... F -> "x" "x" [1]''')
    >>> forest = Forest(grammar, "x x x x".split())
    >>> forest.n_parses, round(math.exp(forest.log_partition), 12)
    (4, 1.0)
    >>> [round(forest.expected_score(parse.tree), 2) for parse in forest.kbest(4)]
    [1.75, 1.75, 1.75, 1.75]
    >>> best = forest.argmax("labelled-recall")
    >>> print(best.tree, round(best.score, 12), forest.log_probability(best.tree))
    (S (A x x) (B x x)) 2.0 -inf
    """

    def __init__(
        self,
        grammar: PCFG,
        words: Sequence[str],
        *,
        tags: Tags | None = None,
        brackets: Sequence[tuple[int, int]] | None = None,
        allowed: ArrayLike | None = None,
        limit: Limit | None = None,
    ) -> None:
        check_grammar("Forest", grammar)
        self.grammar, self.words = grammar, self.checked_words(words, MOST_WORDS)
        self._has_tags, self.root_label = tags is not None, grammar.label(grammar.start)
        self.leaves = leaves_of(self.binary, self.words, tags)
        self.limit = limit_of(self.n, self.binary, brackets, allowed) if limit is None else limit

    gives = frozenset({"trees", "grammar"})

    @property
    def reading(self) -> Reading:
        """A set of labels per span if two shown nodes can have one span."""
        return "set" if shown_labels(self).has_chains else "one"

    @property
    def annotated(self) -> bool:
        """Whether symbols other than the start symbol show as labels with another name."""
        return any(symbol != self.grammar.start for symbol in self.grammar.labels)

    @cached_property
    def orders(self) -> LabelOrders:
        """The orders of labels that the grammar's chains of unary rules allow."""
        return shown_labels(self).orders

    def tag_posteriors(self, position: int) -> list[tuple[str | None, float]]:
        """The labels that can be right above a word in the shown tree; none if only rules that contain words apply there."""
        return word_tags(self, position)

    def rooted(self, nodes: list[Child]) -> Tree:
        """The only node, or else all nodes below the start symbol."""
        return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Tree) else Tree(self.grammar.start, nodes)

    def best_parse(self, parts: CountedParts) -> Best:
        """The parse of the grammar whose parts have the largest sum of worths."""
        self.require_parse()
        return best_parse(self, parts)

    @property
    def binary(self) -> BinaryGrammar:
        """The grammar in binarised form."""
        return self.grammar.binary

    @cached_property
    def unknown_words(self) -> tuple[str, ...]:
        """The words that are not in the grammar, each once. A sentence with such a word has no parse.

        >>> Forest(PCFG.parse('S -> S S [.5] | "x" [.5]'), ["x", "y", "y"]).unknown_words
        ('y',)
        """
        if self._has_tags:
            return ()
        return tuple(dict.fromkeys(word for position, word in enumerate(self.words) if not self._leaf_range(position)))

    @cached_property
    def inside_chart(self) -> InsideChart:
        """The inside chart."""
        return fill(self.binary, self.leaves, SUM, self.limit)

    @cached_property
    def viterbi(self) -> InsideChart:
        """The chart of the best derivations."""
        return fill(self.binary, self.leaves, MAX, self.limit)

    @cached_property
    def outer(self) -> Outer:
        """The outside values of the inside chart's entries."""
        self.require_parse()
        return outer_of(self.inside_chart)

    @cached_property
    def posterior(self) -> Float64:
        """The posterior g of each entry of the inside chart, including symbols of the internal binarisation."""
        return _product(self.inside_chart, self.outer.value)

    @cached_property
    def top_posterior(self) -> Float64:
        """The probability that each entry of the inside chart is the top of a chain of unary rules."""
        return _product(self.inside_chart, self.outer.top)

    @cached_property
    def label_posteriors(self) -> LabelPosteriors:
        """The posteriors of shown constituents, entry by entry of the inside chart."""
        return label_posteriors(self)

    @cached_property
    def span_labels(self) -> SpanLabels:
        """The posteriors of shown constituents, span by span."""
        self.require_parse()
        return span_labels(self)

    @cached_property
    def rule_posteriors(self) -> tuple[NDArray[np.int64], Float64]:
        """Rows (s, t, binary rule), and the posterior of each."""
        return rule_posteriors(self.inside_chart.mode, self.n, self.inside_chart.grid, self.outer)

    @property
    def has_parse(self) -> bool:
        """Whether the grammar has a parse of the sentence."""
        # Either chart can tell: the Viterbi chart is enough if there is no inside chart yet.
        known = vars(self).get("viterbi") if "inside_chart" not in vars(self) else None
        return (known or self.inside_chart).root >= 0

    @property
    def log_partition(self) -> float:
        """The logarithm of the sentence's probability; -inf if it has no parse."""
        return self.inside_chart.log_value

    @cached_property
    def n_parses(self) -> int | float:
        """The exact number of parses; infinity if a parse can repeat a cycle of unary rules."""
        if not self.has_parse:
            return 0
        cyclic = has_unary_cycle(self.inside_chart, self.posterior, self.binary.cyclic)
        return number_of_parses(self.binary, self.leaves, self.limit, cyclic)

    def entry(self, start: int, end: int, symbol: int) -> int:
        """The index of a symbol over a span in the inside chart; -1 if it is not there."""
        return int(find_entry(self.inside_chart.chart, start, end, symbol))

    def leaf_posteriors(self, position: int) -> Iterator[tuple[int, float]]:
        """(symbol, posterior) of each symbol right above a word."""
        entries, posteriors = self._over_words
        own = slice(int(self.leaves.first[position]), int(self.leaves.first[position + 1]))
        for X, k, p in zip(self.leaves.symbol[own].tolist(), entries[own].tolist(), posteriors[own].tolist(), strict=True):
            if k >= 0:
                yield X, p

    @cached_property
    def _over_words(self) -> tuple[NDArray[np.int64], Float64]:
        """The entry of each leaf in the inside chart (-1 if it has none), and the posterior of each leaf."""
        leaves = self.inside_chart.grid.leaves
        entries = leaf_entries(self.inside_chart.chart, leaves)
        outer = self.outer.value[np.maximum(entries, 0)]
        return entries, np.exp(outer + leaves.weight) if self.inside_chart.mode == LOG_SUM else outer * leaves.weight

    def constituents(self) -> list[Constituent]:
        """The posteriors g(s, t, X) of all constituents, sorted by start, end, and the grammar's order of symbols."""
        return constituents(self) if self.has_parse else []

    def links(self) -> list[Link]:
        """The posteriors of all parent-child links."""
        return links(self) if self.has_parse else []

    def frames(self) -> list[Frame]:
        """The posteriors of all productions over all spans, summed over the places where children meet."""
        return frames(self) if self.has_parse else []

    def anchored_rules(self) -> list[AnchoredRule]:
        """The posteriors of all productions with the places where their children meet."""
        return list(anchored_rules(self)) if self.has_parse else []

    def expected_counts(self) -> Float64:
        """The expected number of uses of each rule of the grammar."""
        index = {rule.production: i for i, rule in enumerate(self.grammar.rules)}
        counts = np.zeros(len(index))
        for frame in self.frames():
            counts[index[frame.production]] += frame.posterior
        return counts

    def entropy(self) -> float:
        """The entropy of the parse given the sentence, in nats: log P(words) less the expected log P(words, parse).

        >>> round(Forest(PCFG.parse('S -> S S [.5] | "a" [.5]'), "a a a".split()).entropy() / math.log(2), 9)
        1.0
        """
        self.require_parse()
        where, posterior = self.rule_posteriors
        expected = math.fsum(np.log(self.binary.binary_probability[where[:, 2]]) * posterior)
        for s in range(self.n):
            weights = {int(self.leaves.symbol[i]): float(self.leaves.weight[i]) for i in self._leaf_range(s)}
            expected += math.fsum(p * math.log(weights[X]) for X, p in self.leaf_posteriors(s))
        probabilities = {rule.production: rule.probability for rule in self.grammar.rules if rule.is_unary}
        if probabilities:
            unary = (frame for frame in self.frames() if frame.production in probabilities)
            expected += math.fsum(frame.posterior * math.log(probabilities[frame.production]) for frame in unary)
        return max(0.0, self.log_partition - expected)

    @checked()
    def best(self) -> Parse:
        """The likeliest parse; :meth:`argmax` has the best tree for another objective. This needs only the Viterbi chart."""
        chart = self.viterbi
        self.require_parse()
        steps = best_derivation(MAX, chart.grid, self.n, self.binary.start)
        return Parse(self.tree(steps.tolist()), chart.log_value)

    def parses(self) -> Iterator[Parse]:
        """All parses, best first; without end if a parse can repeat a cycle of unary rules."""
        if self.viterbi.root >= 0:
            for value, steps in best_derivations(self.viterbi.grid, self.n, self.binary.start):
                yield Parse(self.tree(steps), value)

    @checked()
    def kbest(self, k: int) -> list[Parse]:
        """The k likeliest parses, or all if there are fewer.

        >>> forest = Forest(PCFG.parse('S -> S S [.5] | "a" [.5]'), "a a a".split())
        >>> [str(parse.tree) for parse in forest.kbest(5)]
        ['(S (S a) (S (S a) (S a)))', '(S (S (S a) (S a)) (S a))']
        """
        return [parse.given(self.log_partition) for parse in itertools.islice(self.parses(), max(0, k))]

    @checked()
    def sample(self, size: int = 1, seed: int = 0) -> list[Tree]:
        """``size`` trees, drawn at random by their probabilities given the sentence: the same trees with the same seed, so that
        further ones need another ``seed``."""
        self.require_parse()
        rng = np.random.default_rng(seed)
        mode, grid, start = self.inside_chart.mode, self.inside_chart.grid, self.binary.start
        return [self.tree(sampled_derivation(mode, grid, self.n, start, rng).tolist()) for _ in range(size)]

    def tree(self, steps: Sequence[int]) -> Tree:
        """The tree of a derivation, with the grammar's output labels."""
        return steps_to_tree(self.binary, self.output_labels, steps, self.words)

    @cached_property
    def output_labels(self) -> list[str | None]:
        """The output label of each symbol; ``None`` for symbols that do not show."""
        if "labels" not in self.binary.derived:
            own = [self.grammar.label(symbol) for symbol in self.binary.symbols[: self.binary.visible]]
            self.binary.derived["labels"] = own + [None] * (self.binary.n_symbols - self.binary.visible)
        return self.binary.derived["labels"]

    def log_probability(self, tree: Tree) -> float:
        """The logarithm of the probability of a tree labelled with the grammar's own symbols; -inf if the grammar does not generate
        it."""
        known = {rule.production: math.log(rule.probability) for rule in self.grammar.rules}
        if tree.label != self.grammar.start or tree.words != self.words:
            return -math.inf
        return math.fsum(known.get(production, -math.inf) for production in tree.productions())

    def _leaf_range(self, position: int) -> range:
        return range(int(self.leaves.first[position]), int(self.leaves.first[position + 1]))

    def require_parse(self) -> None:
        """Raise an error, which names unknown words, if there is no parse."""
        if not self.has_parse:
            raise no_parse(self.words, self.unknown_words)

    def __repr__(self) -> str:
        return f"<Forest over {self.n} words, log probability {self.log_partition:.6g}>"

    def chart_table(self, longest: int | None = None) -> ChartTable:
        """The chart as a table, up to spans of ``longest`` words: each symbol with its inside probability and its posterior.

        In a notebook a click on a cell opens it. Tables for 1, 2, 3 ... words show how CKY fills the chart.

        >>> print(Forest(PCFG.parse('S -> S S [.5] | "a" [.5]'), ["a", "a"]).chart_table())
        0-1 a: S 0.5 (1.0000)
        1-2 a: S 0.5 (1.0000)
        0-2 a a: S 0.125 (1.0000)
        """
        from treegauge.parsing.forest_views import ChartTable

        return ChartTable(self, self.n if longest is None else longest)

    def _repr_html_(self) -> str:
        from treegauge.parsing.forest_views import forest_html

        return forest_html(self)


def _product(inside_chart: InsideChart, outer: Float64) -> Float64:
    """The inside values times outside values, as probabilities."""
    if inside_chart.mode == LOG_SUM:
        return np.exp(inside_chart.chart.value + outer)
    return inside_chart.chart.value * outer
