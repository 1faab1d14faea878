"""Coarse-to-fine pruning: a coarse grammar finds the labels that a span may have, so that the fine grammar need not try all.

The symbols of the coarsest grammar are the labels that output trees show; those of the next one keep one mark, such as the parent.
The rules' probabilities are those in random trees of the fine grammar. Where a coarse symbol's posterior over a span is below a
threshold, the next finer grammar tries none of the symbols that it stands for. The best tree is lost if a part of it is below the
threshold; :func:`search_error` measures how often that happens.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.compilation import Bools, Floats, kernel
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.parsing.chart import NO_LIMIT, Tags
from treegauge.parsing.chart_layout import Chart, Limit
from treegauge.parsing.forest import Forest

if TYPE_CHECKING:
    from treegauge.parsing.parser import ParsedSentence, Sentence, SentenceParser

_MOST_ROUNDS = 1000
_SMALLEST = 1e-12
_MARK = re.compile(r"[\^|~@]")


def expected_usage(grammar: PCFG) -> dict[str, float]:
    """The expected number of nodes of each symbol in a random tree of the grammar, down to a depth of 1000.

    >>> expected_usage(PCFG.parse('S -> A A [.5] | A [.5]\\nA -> "a" [1]'))
    {'S': 1.0, 'A': 1.5}
    """
    index = {symbol: i for i, symbol in enumerate(grammar.nonterminals)}
    steps = [
        (index[rule.lhs], index[symbol], rule.probability)
        for rule in grammar.rules
        for symbol, word in zip(rule.rhs, rule.words, strict=True)
        if not word
    ]
    parent = np.array([step[0] for step in steps], np.int64)
    child = np.array([step[1] for step in steps], np.int64)
    probability = np.array([step[2] for step in steps], np.float64)
    level = np.zeros(len(index))
    level[index[grammar.start]] = 1.0
    usage = level.copy()
    for _ in range(_MOST_ROUNDS):
        level = np.bincount(child, level[parent] * probability, len(index))
        usage += level
        if level.max(initial=0.0) < _SMALLEST:
            break
    return dict(zip(index, usage.tolist(), strict=True))


def coarse_label(grammar: PCFG, symbol: str, marks: int = 0) -> str:
    """The output label of a symbol with its first ``marks`` marks; a symbol that does not show is its name followed by ``|``.

    >>> labels = {"S^R^U": "S", "S^R^U|A": None}
    >>> grammar = PCFG.from_rules([("S^R^U", ["a", "S^R^U|A"], 1), ("S^R^U|A", ["a", "b"], 1)], labels=labels)
    >>> [coarse_label(grammar, symbol, marks) for symbol in labels for marks in (0, 1)]
    ['S', 'S^R', 'S|', 'S^R|']
    """
    label = grammar.label(symbol)
    name, *rest = _MARK.split(symbol, maxsplit=marks + 1)
    kept = "^".join([name if label is None else label, *rest[:marks]])
    return kept if label is not None else f"{kept}|"


def project(grammar: PCFG, label: Callable[[str], str]) -> PCFG:
    """The grammar whose symbols are ``label(symbol)``; the probabilities of its rules are those in random trees of ``grammar``.

    >>> grammar = PCFG.parse('S -> A1 A2 [1]\\nA1 -> "a" [1]\\nA2 -> "b" [1]')
    >>> print(project(grammar, lambda symbol: symbol[0]))
    S -> A A [1]
    A -> "a" [0.5]
    A -> "b" [0.5]
    """
    usage = expected_usage(grammar)
    names = {symbol: label(symbol) for symbol in grammar.nonterminals}
    weights: dict[tuple[str, tuple[str, ...], tuple[bool, ...]], float] = {}
    for rule in grammar.rules:
        right = tuple(x if word else names[x] for x, word in zip(rule.rhs, rule.words, strict=True))
        key = names[rule.lhs], right, rule.words
        weights[key] = weights.get(key, 0.0) + usage[rule.lhs] * rule.probability
    rules = [Rule(*key, weight) for key, weight in weights.items()]
    return PCFG.from_rules(rules, start=names[grammar.start], renormalise=True)


_GROWTH = 1.5
"""The least ratio of a grammar's number of symbols to a coarser grammar's for which pruning pays."""
THRESHOLD = 1e-5
"""The least posterior under the coarse grammar of labels that are tried."""


@dataclass(frozen=True, eq=False)
class CoarseLevel:
    """A coarse grammar, its names for the symbols of the next finer grammar, and their groups, for :class:`Limit`.

    ``reach[A, B]`` tells whether coarse symbol A derives B by unary rules.
    """

    coarse: PCFG
    names: Mapping[str, str]
    group: NDArray[np.int32]
    member_first: NDArray[np.int64]
    member: NDArray[np.int32]
    reach: NDArray[np.bool_]

    @classmethod
    def of(cls, coarse: PCFG, fine: PCFG, names: Mapping[str, str]) -> CoarseLevel:
        index = {symbol: i for i, symbol in enumerate(coarse.nonterminals)}
        visible = fine.binary.visible
        group = np.full(fine.binary.n_symbols, -1, np.int32)
        # A symbol that no tree has is not a symbol of the coarse grammar: it gets no group.
        group[:visible] = [index.get(names[symbol], -1) for symbol in fine.binary.symbols[:visible]]
        closure = coarse.binary.closure
        reach = np.eye(len(index), dtype=np.bool_)
        for bottom in range(len(index)):
            tops = closure.top[closure.first[bottom] : closure.first[bottom + 1]]
            reach[tops[tops < len(index)], bottom] = True
        member = np.argsort(group[:visible], kind="stable").astype(np.int32)
        member_first = np.searchsorted(group[member], np.arange(len(index) + 1)).astype(np.int64)
        return cls(coarse, names, group, member_first, member, reach)


@dataclass(frozen=True, eq=False)
class Pruner:
    """The coarse grammars of a fine one, the coarsest first; ``limit(words)`` has the symbols that the fine chart may hold.

    >>> fine = PCFG.parse('S -> A1 B [1]\\nA1 -> "a" [.5] | A2 A1 [.5]\\nA2 -> "a" [1]\\nB -> "b" [1]')
    >>> fine = fine.with_labels(lambda symbol: symbol[0])
    >>> forest = Forest(fine, "a a b".split(), limit=Pruner.of(fine).limit("a a b".split(), 1e-5))
    >>> print(forest.best().tree)
    (S (A (A a) (A a)) (B b))
    """

    levels: tuple[CoarseLevel, ...]
    fine: PCFG

    @classmethod
    def of(cls, grammar: PCFG) -> Pruner:
        """The pruner of a grammar, made once and cached with it."""
        derived = grammar.binary.derived
        if "pruner" not in derived:
            derived["pruner"] = cls._make(grammar)
        return derived["pruner"]

    @classmethod
    def _make(cls, grammar: PCFG) -> Pruner:
        levels: list[CoarseLevel] = []
        fine, name_of = grammar, {symbol: symbol for symbol in grammar.nonterminals}
        for marks in (1, 0):
            names = {symbol: coarse_label(grammar, symbol, marks) for symbol in grammar.nonterminals}
            if not _GROWTH * len(set(names.values())) < len(fine.nonterminals):
                continue
            coarse = project(grammar, names.__getitem__)
            levels.insert(0, CoarseLevel.of(coarse, fine, {name_of[symbol]: name for symbol, name in names.items()}))
            fine, name_of = coarse, names
        return cls(tuple(levels), grammar)

    def limit(self, words: Sequence[str], threshold: float = THRESHOLD, tags: Tags | None = None) -> Limit:
        """The symbols that are allowed over each span of a sentence; no limit if a coarse grammar has no parse of it."""
        limit = NO_LIMIT
        for number, level in enumerate(self.levels):
            allowed_tags = None if tags is None else [self._coarse_tags(each, number) for each in tags]
            forest = Forest(level.coarse, words, tags=allowed_tags, limit=limit)
            if not forest.has_parse:
                return NO_LIMIT
            allowed = likely_symbols(forest.n, forest.inside_chart.chart, forest.posterior, threshold, level.reach)
            limit = Limit(allowed, level.group, level.member_first, level.member)
        return limit

    def _coarse_tags(self, given: Collection[str] | Mapping[str, float] | None, number: int) -> Any:
        """Tags of the fine grammar, by their names in coarse grammar ``number``."""
        if given is None:
            return None
        weights: dict[str, float] = {}
        for tag in given:
            name = tag
            for level in reversed(self.levels[number:]):
                name = level.names.get(name, name)
            weight = cast("Mapping[str, float]", given)[tag] if isinstance(given, Mapping) else 1.0
            weights[name] = max(weights.get(name, 0.0), weight)
        return weights if isinstance(given, Mapping) else set(weights)


@kernel
def likely_symbols(n: int, chart: Chart, posterior: Floats, threshold: float, reach: Bools) -> Bools:
    """The symbols with at least that posterior over each span, and those on a chain of unary rules between two of them."""
    size = len(reach)
    allowed = np.zeros((n, n + 1, size), np.bool_)
    for s in range(n):
        for t in range(s + 1, n + 1):
            here = allowed[s, t]
            for k in range(chart.first[s, t], chart.last[s, t]):
                if posterior[k] >= threshold and chart.symbol[k] < size:
                    here[chart.symbol[k]] = True
            for k in range(chart.first[s, t], chart.last[s, t]):
                X = chart.symbol[k]
                if size > X and not here[X]:
                    above, below = False, False
                    for i in range(chart.first[s, t], chart.last[s, t]):
                        Y = chart.symbol[i]
                        if posterior[i] >= threshold and size > Y:
                            above, below = above or reach[Y, X], below or reach[X, Y]
                    here[X] = above and below
    return allowed


@dataclass(frozen=True)
class SearchError:
    """The number of sentences in which pruning lost the best tree."""

    lost: int
    sentences: int

    def __str__(self) -> str:
        if not self.sentences:
            return "no sentences to measure the search error on"
        return (
            f"search error: the best tree was lost in {self.lost} of {self.sentences} sentences "
            f"({100 * self.lost / self.sentences:.1f}%)"
        )


def _log_probability(parsed: ParsedSentence) -> float:
    """The log probability of the tree, from the sentence's and the tree's share of it."""
    return -math.inf if parsed.fallback else parsed.sentence_log_probability + math.log(parsed.score)


def is_lost(objective: str, exact: ParsedSentence, pruned: ParsedSentence) -> bool:
    """Whether pruning lost the best tree: for ``viterbi`` if the pruned parse is less probable, else if the trees differ."""
    if objective == "viterbi":
        return _log_probability(pruned) < _log_probability(exact) - 1e-9
    return exact.tree != pruned.tree


def search_error(parser: SentenceParser, sentences: Sequence[Sentence]) -> SearchError:
    """The number of sentences in which pruning loses the best tree, by parsing with and without it."""
    exact = parser.without_pruning()
    lost = sum(is_lost(parser.objective, exact.parse(sentence), parser.parse(sentence)) for sentence in sentences)
    return SearchError(lost, len(sentences))
