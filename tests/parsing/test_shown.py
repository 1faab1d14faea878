"""Objectives on grammars with unary rules and annotated symbols: what counts is the shown constituent. All by enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import brute_force as brute
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.parsing.grammars import pcfgs, sentences

from treegauge.grammar import PCFG, induce
from treegauge.parsing import Forest
from treegauge.trees import Tree
from treegauge.trees.tree import Child

Span = tuple[int, int]
LABELLINGS: list[dict[str, str | None]] = [
    {},
    {"B": "A"},
    {"A": "S"},
    {"A": "S", "B": "S"},
    {"A": None},
    {"B": None},
    {"A": None, "B": "S"},
    {"A": None, "B": None},
    {"S": None},
    {"S": None, "B": "A"},
]
"""What symbols show as: annotated symbols as a common label, symbols of a binarisation and hidden annotation as nothing. A start
symbol that does not show still gives a tree its root where there is no other; it counts for nothing."""


class Truth:
    """All parses of a sentence as shown trees, and what follows from them by definition."""

    def __init__(self, grammar: PCFG, words: list[str]) -> None:
        self.grammar, self.words, self.n = grammar, words, len(words)
        parses = brute.all_parses(grammar, words)
        total = math.fsum(p for _, p in parses)
        self.parses = [(tree, p / total) for tree, p in parses]
        self.shown = [(shown(grammar, tree), p) for tree, p in self.parses]
        self.any = self._g(pre=True)
        self.phrase = self._g(pre=False)

    def _g(self, *, pre: bool) -> dict[Any, float]:
        g: dict[Any, float] = {}
        for tree, p in self.shown:
            for part in set(brute.constituents(tree, preterminals=pre)):
                if self.counts(part):
                    g[part] = g.get(part, 0.0) + p
        return g

    def counts(self, part: Any) -> bool:
        """Whether a part is a constituent: not a root that is there only because a tree has one."""
        return self.grammar.label(self.grammar.start) is not None or part[-1] != self.grammar.start

    def labels(self, span: Span, g: Mapping[Any, float]) -> dict[str, float]:
        return {label: p for (s, t, label), p in g.items() if (s, t) == span}

    def orders(self) -> set[tuple[str, ...]]:
        """The sequences of shown labels that chains of unary rules have, any of them left out."""
        found: set[tuple[str, ...]] = set()
        below = {X: [r.rhs[0] for r in self.grammar.rules if r.is_unary and r.lhs == X] for X in self.grammar.nonterminals}

        def grow(path: tuple[str, ...]) -> None:
            names = [label for X in path if (label := self.grammar.label(X)) is not None]
            for size in range(len(names) + 1):
                found.update(itertools.combinations(names, size))
            for child in below[path[-1]]:
                if child not in path:
                    grow((*path, child))

        for X in self.grammar.nonterminals:
            grow((X,))
        return found

    def worth(self, tree: Tree, lam: float, *, pre: bool, free: bool) -> float:
        """The expected worth of a tree."""
        total = 0.0
        by_span: dict[Span, list[tuple[str, bool]]] = {}
        for node, s, t in tree.nodes_with_spans():
            if self.counts((node.label,)):
                by_span.setdefault((s, t), []).append((node.label, node.is_preterminal))
        for (s, t), nodes in by_span.items():
            if t > s + 1:
                names = {label for label, _ in nodes}
                total += sum(self.any.get((s, t, label), 0.0) for label in names) - lam * (len(names) - free)
                continue
            tags = {label for label, is_tag in nodes if is_tag}
            phrases = {label for label, is_tag in nodes if not is_tag} - (tags if pre else set())
            g = self.any if pre else self.phrase
            total += sum(g.get((s, t, label), 0.0) - lam for label in phrases)
            if pre:
                total += sum(g.get((s, t, label), 0.0) - (0.0 if free else lam) for label in tags)
        return total


def shown(grammar: PCFG, tree: Tree) -> Tree:
    """The tree as it shows: labels replaced, nodes without one dissolved."""

    def of(node: Tree) -> list[Child]:
        children = [part for child in node.children for part in ([child] if isinstance(child, str) else of(child))]
        label = grammar.label(node.label)
        return children if label is None else [Tree(label, children)]

    made = of(tree)
    return made[0] if len(made) == 1 and isinstance(made[0], Tree) else Tree(grammar.start, made)


def no_repeats(tree: Tree) -> bool:
    nodes = [(s, t, node.label) for node, s, t in tree.nodes_with_spans()]
    return len(set(nodes)) == len(nodes)


@st.composite
def truths(draw: st.DrawFn) -> tuple[Forest, Truth]:
    labelling = draw(st.sampled_from(LABELLINGS))
    longest = draw(st.sampled_from([2, 4]))
    grammar = draw(pcfgs(unary=True, longest=longest)).with_labels(lambda symbol: labelling.get(symbol, symbol))
    words = draw(sentences(4))
    forest = Forest(grammar, words)
    assume(forest.has_parse and forest.n_parses <= 300)
    return forest, Truth(grammar, words)


@given(truths())
def test_shown_constituents_are_probabilities(case: tuple[Forest, Truth]) -> None:
    forest, truth = case
    found = {(c.start, c.end, c.label): c.posterior for c in forest.shown_constituents()}
    assert found.keys() == truth.any.keys()
    assert all(found[part] == pytest.approx(p, abs=1e-12) for part, p in truth.any.items())


LAMS = st.sampled_from([0.0, 0.2, 0.5, 0.8])


@settings(max_examples=150)
@given(truths(), LAMS, st.booleans())
def test_no_licensed_tree_is_better(case: tuple[Forest, Truth], lam: float, pre: bool) -> None:
    forest, truth = case
    best = forest.argmax("labelled-recall-licensed", labels="set", lam=lam, pre=pre)
    trees = [tree for tree, _ in truth.shown]
    among = [tree for tree in trees if no_repeats(tree)] or trees
    assert best.tree in trees
    assert best.score == pytest.approx(truth.worth(best.tree, lam, pre=pre, free=True), abs=1e-9)
    if any(map(no_repeats, trees)):
        assert no_repeats(best.tree)
        assert best.score == pytest.approx(max(truth.worth(tree, lam, pre=pre, free=True) for tree in among), abs=1e-9)


@settings(max_examples=150)
@given(truths(), LAMS)
def test_no_free_tree_is_better(case: tuple[Forest, Truth], lam: float) -> None:
    """Over all bracketings, all tags that words can have, and all sets of labels on each span that chains can have."""
    forest, truth = case
    orders = truth.orders()
    tags: list[set[str]] = [set() for _ in truth.words]
    for tree, p in truth.shown:
        for node, s, _ in tree.nodes_with_spans():
            if node.is_preterminal and p > 0 and truth.counts((node.label,)):
                tags[s].add(node.label)

    def cell(span: Span, *, free: bool) -> float:
        s, t = span
        if t == s + 1:
            g = truth.labels(span, truth.phrase)
            return max((best_set(g, orders, lam, 0, (tag,)) for tag in tags[s]), default=best_set(g, orders, lam, 0, ()))
        g, is_root = truth.labels(span, truth.any), span == (0, truth.n)
        top = max(g.values(), default=0.0)
        if free:
            return best_set(g, orders, lam, 1, ())
        value = best_set(g, orders, lam, 0, ())
        return top - lam if is_root and 0.0 < top <= lam and value == 0.0 else value

    for name, free in (("labelled-recall", True), ("labelled-precision-recall", False)):
        best = forest.argmax(name, labels="set", lam=lam)
        if truth.n > 1:
            ideal = max(math.fsum(cell(span, free=free) for span in b) for b in brute.binary_bracketings(truth.n))
            assert best.score == pytest.approx(ideal, abs=1e-9), name
            assert best.score == pytest.approx(truth.worth(best.tree, lam, pre=False, free=free), abs=1e-9), name
        assert best.tree.words == tuple(truth.words)


@settings(max_examples=60)
@given(pcfgs(unary=True, longest=4), sentences(5), LAMS)
def test_sets_of_labels_are_never_below_one_label(grammar: PCFG, words: list[str], lam: float) -> None:
    """Also where rules are longer than two, and symbols of the internal binarisation have most spans."""
    forest = Forest(grammar, words)
    assume(forest.has_parse and forest.n > 1 and forest.n_parses <= 300)
    truth = Truth(grammar, words)
    best, one = (forest.argmax("labelled-recall", labels=labels, lam=lam) for labels in ("set", "one"))
    assert best.score >= truth.worth(one.tree, lam, pre=False, free=True) - 1e-9
    assert best.score >= max(truth.worth(tree, lam, pre=False, free=True) for tree, _ in truth.shown) - 1e-9
    assert best.score == pytest.approx(truth.worth(best.tree, lam, pre=False, free=True), abs=1e-9)


def test_one_more_root_does_not_change_the_reading_of_licensed_recall() -> None:
    trees = [Tree.parse("(S (NP (NP (N a))) (VP (V b) (NP (N a))))"), Tree.parse("(S (NP (N a)) (VP (V b)))")]
    one, two = induce(trees), induce([*trees, Tree.parse("(FRAG (N c) (N c))")])
    assert one.label(one.start) is not None
    assert two.label(two.start) is None
    for words in (["a", "b"], ["a", "b", "a"]):
        first, second = (Forest(grammar, words).argmax("labelled-recall-licensed") for grammar in (one, two))
        assert (first.tree, first.score) == (second.tree, pytest.approx(second.score))


def test_a_one_word_sentence_has_no_label_twice() -> None:
    grammar = PCFG.parse('S -> "x" [.6] | A [.2] | B [.2]\nA -> "x" [1.]\nB -> "x" [1.]')
    best = Forest(grammar, ["x"]).argmax("labelled-precision-recall", labels="set", lam=0.5)
    assert (str(best.tree), best.score) == ("(S x)", 0.0)


def test_a_tag_is_chosen_with_the_phrases_above_it() -> None:
    """The likeliest tag of the first word is A; but A over B or C is worth more."""
    rules = 'S -> A D [1.]\nA -> B [.3] | C [.3] | "x" [.4]\nB -> "x" [1.]\nC -> "x" [1.]\nD -> "x" [1.]'
    best = Forest(PCFG.parse(rules), ["x", "x"]).argmax("labelled-recall", labels="set", lam=0.5)
    assert best.score == pytest.approx(1.1)
    assert str(best.tree) in ("(S (A (B x)) (D x))", "(S (A (C x)) (D x))")


def best_set(g: Mapping[str, float], orders: set[tuple[str, ...]], lam: float, free: int, last: tuple[str, ...]) -> float:
    """The best sum over a set of labels that have an order above ``last``: the first ``free`` of them cost nothing."""
    return max(
        (
            math.fsum(g[label] for label in some) - lam * max(0, len(some) - free)
            for some in subsets(g)
            if allowed(some, orders, last)
        ),
        default=0.0,
    )


def subsets(g: Mapping[str, float]) -> Iterator[tuple[str, ...]]:
    for size in range(len(g) + 1):
        yield from itertools.combinations(g, size)


def allowed(some: tuple[str, ...], orders: set[tuple[str, ...]], last: tuple[str, ...]) -> bool:
    return not some or any((*order, *last) in orders for order in itertools.permutations(some))


@settings(max_examples=100)
@given(truths(), st.booleans())
def test_brackets_are_those_that_show(case: tuple[Forest, Truth], pre: bool) -> None:
    forest, truth = case
    some: dict[Span, float] = {}
    for tree, p in truth.shown:
        for s, t in {(s, t) for s, t, label in tree.spans(preterminals=True) if truth.counts((label,))}:
            some[s, t] = some.get((s, t), 0.0) + p
    ideal = max(
        math.fsum(some.get(span, 0.0) for span in b if pre or span[1] > span[0] + 1) for b in brute.binary_bracketings(truth.n)
    )
    assert forest.argmax("bracketed-recall", pre=pre).score == pytest.approx(ideal, abs=1e-9)


@pytest.mark.parametrize("objective", ["parent-child", "frames"])
@given(case=truths())
def test_chains_of_other_licensed_objectives_repeat_no_label(objective: str, case: tuple[Forest, Truth]) -> None:
    forest, truth = case
    if any(no_repeats(tree) for tree, _ in truth.shown):
        assert no_repeats(forest.argmax(objective).tree)
