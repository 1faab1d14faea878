"""Re-estimation against the exact cases, against enumeration of all parses, and against its own theory."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from brute_force import all_parses
from hypothesis import given, settings, strategies as st
from known_answers import exact_cases

from treegauge.errors import MismatchError
from treegauge.grammar import PCFG
from treegauge.learning import BracketedSentences, DenseGrammar, learnable, random_grammar, reestimate, reestimation_steps
from treegauge.learning.kernels import OUT_OF_RANGE, BlockCounts, BlockRules, count_block, new_chart
from treegauge.learning.reestimation import cut_blocks, expect_dense, expect_rules
from treegauge.trees.tree import Production, Tree

Corpus = list[tuple[list[str], list[tuple[int, int]]]]
Probabilities = dict[tuple[str, tuple[str, ...]], float]


def crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def compatible(tree: Tree, brackets: Sequence[tuple[int, int]]) -> bool:
    spans = [(span.start, span.end) for span in tree.spans(preterminals=True)]
    return not any(crosses(span, bracket) for span in spans for bracket in brackets)


def by_enumeration(grammar: PCFG, corpus: Corpus) -> dict[Production, float]:
    """New probabilities by the definition: sums over all parses that fit the brackets."""
    counts = {rule.production: 0.0 for rule in grammar.rules}
    for words, brackets in corpus:
        parses = [(tree, p) for tree, p in all_parses(grammar, words) if compatible(tree, brackets)]
        total = math.fsum(p for _, p in parses)
        for tree, p in parses:
            for production in tree.productions():
                counts[production] += p / total
    totals: dict[str, float] = {}
    for production, count in counts.items():
        totals[production.lhs] = totals.get(production.lhs, 0.0) + count
    old = {rule.production: rule.probability for rule in grammar.rules}
    return {p: count / totals[p.lhs] if totals[p.lhs] else old[p] for p, count in counts.items()}


@st.composite
def corpora(draw: st.DrawFn, longest: int = 5) -> Corpus:
    corpus: Corpus = []
    for _ in range(draw(st.integers(1, 3))):
        words = draw(st.lists(st.sampled_from(["a", "b"]), min_size=1, max_size=longest))
        positions = st.integers(0, len(words))
        spans = st.tuples(positions, positions).filter(lambda span: span[0] < span[1])
        corpus.append((words, draw(st.lists(spans, max_size=3))))
    return corpus


@st.composite
def normal_form_grammars(draw: st.DrawFn, largest: int = 6) -> PCFG:
    grammar = random_grammar(draw(st.integers(1, largest)), ["a", "b"], draw(st.integers(0, 1000)))
    keep = np.random.default_rng(draw(st.integers(0, 1000))).random(grammar.binary.shape) < draw(st.sampled_from([0.3, 1.0]))
    grammar = DenseGrammar(grammar.symbols, grammar.terminals, grammar.binary * keep, grammar.lexical)
    return PCFG.from_rules(grammar.to_pcfg(threshold=1e-300).rules, start="S", renormalise=True)


@pytest.mark.parametrize("case", exact_cases("em"), ids=lambda case: f"{case['id']} {case['kind']}")
def test_exact_case(case: Any) -> None:
    symbols = case["grammar"]["nonterminals"]
    triples = [(lhs, rhs, float(Fraction(p))) for lhs, rhs, p in case["grammar"]["rules"]]
    grammar = PCFG.from_rules(triples, start=case["grammar"]["start"], nonterminals=symbols)
    corpus = [(s["words"], [(i, j) for i, j in s["brackets"]]) for s in case["corpus"]]
    expected = case["expected"]
    made = reestimate_or_same(grammar, corpus)
    wanted = {(lhs, tuple(rhs)): float(Fraction(p)) for lhs, rhs, p in expected["rules"]}
    assert table(made) == pytest.approx({key: p for key, p in wanted.items() if p > 0}, abs=1e-12)
    before, after = log_probabilities(grammar, corpus), log_probabilities(made, corpus)
    assert [math.exp(x) for x in before] == pytest.approx([float(Fraction(p)) for p in expected["sentence_probs"]], rel=1e-9)
    assert [math.exp(x) for x in after] == pytest.approx([float(Fraction(p)) for p in expected["sentence_probs_after"]], rel=1e-9)
    assert sum(x == -math.inf for x in before) == expected["n_skipped"]


def table(grammar: PCFG) -> Probabilities:
    return {(rule.lhs, rule.rhs): rule.probability for rule in grammar.rules}


def reestimate_or_same(grammar: PCFG, corpus: Corpus) -> PCFG:
    """One step; where no sentence has a parse every symbol keeps its rules."""
    try:
        return reestimate(grammar, BracketedSentences.of(corpus))
    except MismatchError:
        return grammar


def log_probabilities(grammar: PCFG, corpus: Corpus) -> list[float]:
    form = learnable(grammar)
    sentences = BracketedSentences.of(corpus)
    if isinstance(form, PCFG):
        return expect_rules(form, sentences).log_probability.tolist()
    return expect_dense(form, cut_blocks(sentences)).log_probability.tolist()


@given(normal_form_grammars(largest=3), corpora(longest=4))
@settings(max_examples=30)
def test_a_step_of_a_dense_grammar_is_what_enumeration_gives(grammar: PCFG, corpus: Corpus) -> None:
    assert isinstance(learnable(grammar), DenseGrammar)
    corpus = [(w, b) for w, b in corpus if any(compatible(tree, b) for tree, _ in all_parses(grammar, w))]
    if corpus:
        made = {rule.production: rule.probability for rule in reestimate(grammar, BracketedSentences.of(corpus)).rules}
        wanted = {production: p for production, p in by_enumeration(grammar, corpus).items() if p > 0}
        assert made == pytest.approx(wanted, rel=1e-9)


MIXED = PCFG.parse('S -> "a" S "b" [.3] | S S [.2] | A [.3] | "b" [.2]\nA -> "a" [.5] | "b" S A [.25] | S "a" [.25]')


@given(corpora(longest=4))
@settings(max_examples=40)
def test_a_step_of_any_grammar_is_what_enumeration_gives(corpus: Corpus) -> None:
    corpus = [(w, b) for w, b in corpus if any(compatible(tree, b) for tree, _ in all_parses(MIXED, w))]
    if corpus:
        made = {rule.production: rule.probability for rule in reestimate(MIXED, BracketedSentences.of(corpus)).rules}
        wanted = {production: p for production, p in by_enumeration(MIXED, corpus).items() if p > 0}
        assert made == pytest.approx(wanted, rel=1e-9)


@given(normal_form_grammars(), corpora(longest=8))
@settings(max_examples=60)
def test_the_likelihood_never_falls(grammar: PCFG, corpus: Corpus) -> None:
    sentences = BracketedSentences.of(corpus)
    made = []
    try:
        for number, taken in enumerate(reestimation_steps(learnable(grammar), sentences)):
            made.append(taken)
            if number == 6:
                break
    except MismatchError:
        assert not made
        return
    assert len({taken.skipped for taken in made}) == 1, "a sentence that has a parse keeps one"
    entropies = [taken.cross_entropy for taken in made]
    assert all(after <= before + 1e-12 * abs(before) for before, after in itertools.pairwise(entropies))


def test_what_is_impossible_stays_impossible() -> None:
    grammar = random_grammar(4, ["a", "b"], 5)
    grammar.binary[0, 1, 2] = grammar.lexical[1, 3] = 0.0
    sentences = BracketedSentences.of([(["a", "b", "a", "b"], [(0, 2)]), (["b", "b"], [])])
    for number, taken in enumerate(reestimation_steps(grammar, sentences)):
        now = taken.better
        assert isinstance(now, DenseGrammar)
        assert now.binary[0, 1, 2] == now.lexical[1, 3] == 0.0
        if number == 5:
            break


def test_a_symbol_that_no_parse_uses_keeps_its_rules() -> None:
    grammar = PCFG.parse('S -> S S [.5] | "a" [.5]\nZ -> S Z [.25] | "a" [.75]')
    made = {str(rule.production): rule.probability for rule in reestimate(grammar, BracketedSentences.of([(["a", "a"], [])])).rules}
    assert made["Z -> S Z"] == 0.25
    assert made['Z -> "a"'] == 0.75


def test_sentences_without_a_compatible_parse_are_counted_and_teach_nothing() -> None:
    grammar = PCFG.parse('S -> S S [.5] | "a" [.5]')
    good: Corpus = [(["a", "a", "a"], [(0, 2)])]
    bad: Corpus = [(["a", "x"], []), (["a"] * 3, [(0, 2), (1, 3)])]
    alone, together = (next(reestimation_steps(learnable(grammar), BracketedSentences.of(c))) for c in (good, good + bad))
    assert together.skipped == 2
    assert together.cross_entropy == alone.cross_entropy
    assert table_of(together.better) == table_of(alone.better)


def table_of(grammar: DenseGrammar | PCFG) -> Probabilities:
    return table(grammar if isinstance(grammar, PCFG) else grammar.to_pcfg())


def test_a_corpus_without_a_parse_keeps_the_grammar() -> None:
    grammar = PCFG.parse('S -> A S [.25] | "a" [.75]\nA -> "a" [1]')
    assert reestimate(grammar, BracketedSentences.of([(["b"], [])])) == grammar


def random_corpus(size: int, longest: int, words: Sequence[str], seed: int) -> Corpus:
    rng = np.random.default_rng(seed)
    corpus: Corpus = []
    for _ in range(size):
        n = int(rng.integers(1, longest + 1))
        spans = [tuple(sorted(rng.choice(n + 1, 2, replace=False).tolist())) for _ in range(3)]
        tree: list[tuple[int, int]] = []
        for i, j in spans:
            if not any(crosses((i, j), other) for other in tree):
                tree.append((i, j))
        corpus.append((rng.choice(words, n).tolist(), tree))
    return corpus


def test_threads_do_not_change_a_bit() -> None:
    sentences = BracketedSentences.of(random_corpus(200, 12, list("abcdef"), 3))
    grammar, prepared = random_grammar(7, sentences.terminals, 1), cut_blocks(sentences)
    one, two, five = (expect_dense(grammar, prepared, threads=threads) for threads in (1, 2, 5))
    for other in (two, five):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("brackets", [[], [(0, 60), (30, 50)]])
def test_long_sentences_do_not_underflow(brackets: list[tuple[int, int]]) -> None:
    words = np.random.default_rng(1).choice(list("abcd"), 120).tolist()
    sentences = BracketedSentences.of([(words, brackets)])
    # Probabilities so small that 120 words go far beyond what a float64 holds.
    grammar = random_grammar(3, [*"abcd", *(f"never{i}" for i in range(3000))], 2)
    dense = expect_dense(grammar, cut_blocks(sentences))
    rules = grammar.to_pcfg()
    wanted = expect_rules(rules, sentences)
    assert dense.log_probability[0] == pytest.approx(wanted.log_probability[0], rel=1e-12)
    assert dense.log_probability[0] < -800
    lexical = {rule.rhs[0]: count for rule, count in zip(rules.rules, wanted.counts, strict=True) if rule.lhs == "S"}
    assert dense.lexical[:4, 0].tolist() == pytest.approx([lexical[word] for word in "abcd"], rel=1e-9)


def test_a_sentence_that_leaves_the_range_of_the_kernels_is_counted_exactly() -> None:
    """Over 300 words A is 10 ** 200 times likelier than S, but only S can be the root."""
    grammar = PCFG.parse('S -> B S [.5] | B B [.5]\nB -> B B [.1] | "a" [.1] | "z" [.8]\nA -> A A [.45] | "a" [.55]')
    n = 300
    sentences = BracketedSentences.of([(["a"] * n, [(i, n) for i in range(n)]), (["a", "a"], [])])
    dense = DenseGrammar.from_pcfg(grammar)
    block = cut_blocks(sentences).blocks[0]
    counts = BlockCounts(np.zeros((3, 9)), np.zeros((1, 3)), np.empty(2))
    lexical = dense.lexical[:1] / 0.55
    count_block(block.tokens, BlockRules(dense.binary.reshape(3, 9), lexical, np.log([0.55])), new_chart(n, 3, 2 * n), counts)
    assert counts.log_probability[0] == OUT_OF_RANGE, "else this tests nothing"
    counted, wanted = expect_dense(dense, cut_blocks(sentences)), expect_rules(grammar, sentences)
    assert counted.log_probability.tolist() == pytest.approx(wanted.log_probability.tolist(), rel=1e-12)
    assert counted.lexical[0].tolist() == pytest.approx([0.0, n + 2, 0.0], rel=1e-9)
