"""Unary rules that form cycles: closed exactly."""

from __future__ import annotations

import itertools
import math

import brute_force as brute
import pytest
from hypothesis import assume, given, strategies as st
from tests.parsing.grammars import SYMBOLS, WORDS, pcfgs, sentences

from treegauge.grammar import PCFG
from treegauge.parsing import Forest

pytestmark = pytest.mark.slow

LOOP = PCFG.parse('S -> A [.5] | "a" [.25] | S S [.25]\nA -> S [.5] | "b" [.25] | "a" [.25]')


def inside_by_iteration(grammar: PCFG, words: list[str]) -> float:
    """P(words) by repeating e = b + U e until it stands still, for binary, unary and lexical rules."""
    e: dict[tuple[int, int, str], float] = {}
    n = len(words)
    for s, d in sorted(((s, t - s) for t in range(n + 1) for s in range(t)), key=lambda span: span[1]):
        bottom = dict.fromkeys(SYMBOLS, 0.0)
        for rule in grammar.rules:
            if rule.is_lexical and d == 1 and rule.rhs[0] == words[s]:
                bottom[rule.lhs] += rule.probability
            elif len(rule.rhs) == 2:
                B, C = rule.rhs
                bottom[rule.lhs] += rule.probability * math.fsum(e[s, r, B] * e[r, s + d, C] for r in range(s + 1, s + d))
        now = dict(bottom)
        for _ in range(400):
            step = dict(bottom)
            for rule in grammar.rules:
                if rule.is_unary:
                    step[rule.lhs] += rule.probability * now[rule.rhs[0]]
            if step == now:
                break
            now = step
        e.update({(s, s + d, X): value for X, value in now.items()})
    return e[0, n, "S"]


@given(pcfgs(unary=True, cycles=True), sentences(3))
def test_the_sum_over_endless_chains(grammar: PCFG, words: list[str]) -> None:
    assert math.isclose(math.exp(Forest(grammar, words).log_partition), inside_by_iteration(grammar, words), rel_tol=1e-9)


def test_an_expected_count_may_exceed_one() -> None:
    """S -> S .5 | a .5: the chain has 1 / (1 - .5) = 2 nodes on average."""
    forest = Forest(PCFG.parse('S -> S [.5] | "a" [.5]'), ["a"])
    assert math.exp(forest.log_partition) == pytest.approx(1.0, rel=1e-14)
    assert [c.posterior for c in forest.constituents()] == [pytest.approx(2.0, rel=1e-14)]
    assert forest.n_parses == math.inf
    assert forest.expected_counts().tolist() == pytest.approx([1.0, 1.0])
    assert forest.entropy() == pytest.approx(2 * math.log(2))


def test_n_parses_is_finite_where_no_parse_meets_the_cycle() -> None:
    grammar = PCFG.parse('S -> B B [.5] | A "z" [.5]\nA -> A [.5] | "b" [.5]\nB -> "b" [1]')
    assert Forest(grammar, ["b", "b"]).n_parses == 1
    assert Forest(grammar, ["b", "z"]).n_parses == math.inf


def test_kbest_goes_round_the_cycle_in_order_and_never_ends() -> None:
    parses = Forest(LOOP, ["a"]).kbest(6)
    assert [str(parse.tree) for parse in parses[:3]] == ["(S a)", "(S (A a))", "(S (A (S a)))"]
    assert [round(math.exp(p.log_probability), 9) for p in parses] == [1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128]


@given(pcfgs(unary=True, cycles=True), sentences(3))
def test_kbest_and_samples_of_cyclic_grammars_are_parses(grammar: PCFG, words: list[str]) -> None:
    forest = Forest(grammar, words)
    assume(forest.has_parse)
    parses = forest.kbest(30)
    assert len({p.tree for p in parses}) == len(parses)
    values = [p.log_probability for p in parses]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(values))
    assert all(math.isclose(forest.log_probability(p.tree), p.log_probability, abs_tol=1e-9) for p in parses)
    assert all(forest.log_probability(tree) > -math.inf for tree in forest.sample(5, seed=1))
    enumerated = sorted((p for _, p in brute.all_parses(grammar, words)), reverse=True)[: len(parses)]
    assert math.exp(values[0]) == pytest.approx(enumerated[0])


@given(pcfgs(unary=True, cycles=True), st.sampled_from(WORDS), st.booleans())
def test_licensed_objectives_repeat_no_node(grammar: PCFG, word: str, pre: bool) -> None:
    """The best chain over one word that repeats no symbol; each (s, t, X) is worth the probability that it is there at all."""
    forest = Forest(grammar, [word])
    assume(forest.has_parse)
    chains = [tree for tree, _ in brute.all_parses(grammar, [word])]
    best = forest.argmax("labelled-recall-licensed", pre=pre)
    assert best.tree in chains
    assert best.score == pytest.approx(forest.expected_score(best.tree, pre=pre), abs=1e-12)
    assert best.score == pytest.approx(max(forest.expected_score(tree, pre=pre) for tree in chains), abs=1e-12)


@given(pcfgs(unary=True, cycles=True), st.sampled_from(WORDS))
def test_a_shown_constituent_is_there_or_not(grammar: PCFG, word: str) -> None:
    """P(some node X over the word), by chains of up to twelve visits a symbol."""
    forest = Forest(grammar, [word])
    assume(forest.has_parse)
    parses = Forest(grammar, [word]).kbest(400)
    total = math.exp(forest.log_partition)
    left = 1 - math.fsum(math.exp(p.log_probability) for p in parses) / total
    for c in forest.shown_constituents():
        seen = math.fsum(math.exp(p.log_probability) for p in parses if any(n.label == c.label for n in p.tree.nodes())) / total
        assert seen - 1e-9 <= c.posterior <= seen + left + 1e-9


def test_a_loop_of_probability_one_derives_nothing() -> None:
    grammar = PCFG.parse('S -> A [.5] | "a" [.5]\nA -> B [1]\nB -> A [1]')
    forest = Forest(grammar, ["a"])
    assert math.exp(forest.log_partition) == pytest.approx(0.5)
    assert forest.n_parses == 1
