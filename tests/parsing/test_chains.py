"""Free objectives where nodes share a span: chains chosen node by node, and the root of a bracketed parse."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import brute_force as brute
import pytest
from hypothesis import given, settings, strategies as st

from treegauge.grammar import PCFG
from treegauge.grammar.tree_counts import induce
from treegauge.parsing import Forest
from treegauge.trees import Tree

RULES = [
    ("S", ["A", "B"]),
    ("S", ["B", "S"]),
    ("S", ["A"]),
    ("A", ["B"]),
    ("A", ["B", "B"]),
    ("B", ["A", "B"]),
    ("S", ["T"]),
    ("A", ["T"]),
    ("B", ["T"]),
    ("T", ["x"]),
]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 9), min_size=len(RULES), max_size=len(RULES)), st.integers(1, 4), st.sampled_from([0.1, 0.3, 0.5]))
def test_chains_are_the_best_sets_of_nodes(weights: list[int], n: int, lam: float) -> None:
    """Over all bracketings and all sets of labels on each span (unary chains without cycles, phrases over words among them)."""
    rules = [(lhs, rhs, float(weight)) for (lhs, rhs), weight in zip(RULES, weights, strict=True)]
    grammar = PCFG.from_rules(rules, start="S", nonterminals="SABT", renormalise=True)
    forest = Forest(grammar, ["x"] * n)
    parses = brute.all_parses(grammar, ["x"] * n)
    total = math.fsum(p for _, p in parses)
    g: Counter[tuple[int, int, str]] = Counter()
    for tree, p in parses:
        for span in set(brute.constituents(tree, preterminals=False)):
            g[span] += p / total  # pyright: ignore
    best = -math.inf
    for bracketing in brute.binary_bracketings(n):
        value = 0.0
        for s, t in bracketing:
            worth = [g[s, t, label] - lam for label in "SAB"]
            kept = math.fsum(w for w in worth if w > 0)
            value += kept if kept > 0 or t - s < n else max(worth)
        best = max(best, value)
    found = forest.argmax("labelled-precision-recall", lam=lam)
    assert found.score == pytest.approx(best)
    assert found.tree.words == ("x",) * n
    spans = set(brute.constituents(found.tree, preterminals=False))
    if n > 1:
        assert math.fsum(g[span] - lam for span in spans) == pytest.approx(best)  # pyright: ignore


def test_a_chain_stands_in_the_order_of_the_grammar() -> None:
    grammar = PCFG.parse('S -> V [.6] | N V [.4]\nV -> W N [1]\nW -> "go" [1]\nN -> P [1]\nP -> "home" [1]')
    forest = Forest(grammar, ["go", "home"])
    assert str(forest.argmax("labelled-precision-recall").tree) == "(S (V (W go) (N (P home))))"
    assert str(forest.argmax("labelled-precision-recall", labels="one", lam=0.0).tree).count("(S") == 1


def test_lambda_trades_nodes_for_precision() -> None:
    grammar = PCFG.parse('S -> V [.6] | W N [.4]\nV -> W N [1]\nW -> "go" [1]\nN -> "home" [1]')
    forest = Forest(grammar, ["go", "home"])
    sizes = [forest.argmax("labelled-precision-recall", lam=lam).tree.size for lam in (0.3, 0.7)]
    assert sizes == [4, 3]


@pytest.mark.parametrize("objective", ["bracketed-recall", "labelled-recall", "labelled-precision-recall"])
def test_the_root_has_its_likeliest_label_under_an_invisible_start(objective: str) -> None:
    bank = [Tree.parse("(S (A a) (B b) (C c))")] * 2 + [Tree.parse("(NP (A a) (C c))")]
    grammar = induce(bank, tags=False)
    assert grammar.label(grammar.start) is None
    for words, root in ((["a", "b", "c"], "S"), (["a", "c"], "NP")):
        assert Forest(grammar, words).argmax(objective).tree.label == root


def test_inner_brackets_of_a_bracketed_parse_stay_unlabelled() -> None:
    trees = ["(S (NP (A a) (B b)) (C c))", "(X (A a) (C c))"]
    forest = Forest(induce(map(Tree.parse, trees)), ["a", "b", "c"])
    labels = [node.label for node in forest.argmax("bracketed-recall").tree.nodes()]
    assert labels == ["S", "X", "A", "B", "C"]
    shown = [node.label for node in forest.argmax("bracketed-recall", labels="argmax").tree.nodes()]
    assert shown == ["S", "NP", "A", "B", "C"]


def test_sums_over_split_symbols() -> None:
    """Two splits of one label are one node."""
    grammar = PCFG.parse('S -> A1 [.5] | A2 [.5]\nA1 -> B B [1]\nA2 -> B B [1]\nB -> "b" [1]').with_labels(lambda x: x[0])
    best = Forest(grammar, ["b", "b"]).argmax("labelled-precision-recall", lam=0.9)
    assert str(best.tree) == "(S (A (B b) (B b)))"
    assert best.score == pytest.approx(0.2)
    assert len(list(itertools.islice(best.tree.nodes(), 9))) == 4
