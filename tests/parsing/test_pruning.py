"""Coarse-to-fine pruning: exact where nothing is left out, measured where something is."""

from __future__ import annotations

import math
import subprocess
import sys

import brute_force as brute
import numpy as np
import pytest

from treegauge.data import own_treebank
from treegauge.errors import UsageError
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.treebank_grammar import train
from treegauge.parsing import Forest
from treegauge.parsing.chart_layout import Limit
from treegauge.parsing.coarse_to_fine import Pruner, SearchError, expected_usage, project, search_error
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees import Tree

SENTENCES = [Sentence(tree.words) for tree in own_treebank("dev")][::8]


@pytest.fixture(scope="module")
def grammar() -> PCFG:
    return train(own_treebank("train")).grammar


def test_a_threshold_that_keeps_everything_is_exact(grammar: PCFG) -> None:
    exact, pruned = Parser(grammar), Parser(grammar, prune=1e-300)
    for sentence in SENTENCES:
        a, b = exact.parse(sentence), pruned.parse(sentence)
        assert a.tree == b.tree
        assert b.sentence_log_probability == pytest.approx(a.sentence_log_probability)
        assert b.score == pytest.approx(a.score)


def test_pruning_leaves_out_and_loses_little(grammar: PCFG) -> None:
    assert len(Pruner.of(grammar).levels) == 2
    words = SENTENCES[0].words
    whole = Forest(grammar, words)
    part = Forest(grammar, words, limit=Pruner.of(grammar).limit(words, 1e-4))
    assert len(part.inside_chart.chart.symbol) < len(whole.inside_chart.chart.symbol) / 3
    assert part.log_partition <= whole.log_partition + 1e-9
    assert part.best().log_probability == pytest.approx(whole.best().log_probability)
    assert search_error(Parser(grammar, prune=1e-6), SENTENCES).lost == 0


def test_the_search_error_counts_what_a_rough_threshold_loses(grammar: PCFG) -> None:
    rough = Parser(grammar, prune=0.4)
    found = search_error(rough, SENTENCES)
    lost = 0
    for sentence in SENTENCES:
        a, b = Parser(grammar).parse(sentence), rough.parse(sentence)
        exact, pruned = (each.sentence_log_probability + math.log(each.score) for each in (a, b))
        lost += exact > pruned + 1e-9
    assert found == SearchError(lost, len(SENTENCES))
    assert lost > 0
    assert f"{lost} of {len(SENTENCES)}" in str(found)


def test_without_a_parse_left_the_whole_chart_is_searched(grammar: PCFG) -> None:
    parsed = Parser(grammar, prune=0.999999).parse(SENTENCES[0])
    assert not parsed.fallback


def test_symbols_out_of_reach_do_not_matter() -> None:
    splits = "\n".join(f'A{i} -> "a" [1]' for i in range(2, 8))
    chosen = " | ".join(f"A{i} A1 [.1]" for i in range(2, 8))
    text = f'S -> A1 B [1]\nA1 -> "a" [.4] | {chosen}\n{splits}\nB -> "b" [1]\nC -> A1 B [.5] | "b" [.5]'
    grammar = PCFG.parse(text).with_labels(lambda symbol: symbol[0])
    assert Pruner.of(grammar).levels
    parsed = Parser(grammar, prune=1e-5).parse(Sentence(("a", "a", "b")))
    assert str(parsed.tree) == "(S (A (A a) (A a)) (B b))"


def test_tags_are_kept_under_pruning(grammar: PCFG) -> None:
    tree = next(tree for tree in own_treebank("dev") if tree.width > 5)
    sentence = Sentence(tree.words, tree.tags)
    assert Parser(grammar, gold_tags=True, prune=1e-6).parse(sentence).tree.tags == tree.tags


def test_a_limited_chart_holds_the_parses_that_keep_within_it() -> None:
    grammar = PCFG.parse('S -> S S [.3] | A [.2] | A S [.2] | "a" [.3]\nA -> S S [.5] | "a" [.5]')
    words = ["a"] * 4
    index = {symbol: i for i, symbol in enumerate(grammar.binary.symbols)}
    rng = np.random.default_rng(3)
    group, first, member = np.array([0, 1], np.int32), np.array([0, 1, 2]), np.array([0, 1], np.int32)
    for _ in range(20):
        allowed = rng.random((4, 5, 2)) < 0.8
        allowed[0, 4, index["S"]] = True
        forest = Forest(grammar, words, limit=Limit(allowed, group, first, member))

        def within(tree: Tree, allowed: np.ndarray = allowed) -> bool:
            return all(allowed[s, t, index[label]] for s, t, label in tree.spans())

        kept = [(tree, p) for tree, p in brute.all_parses(grammar, words) if within(tree)]
        assert forest.has_parse == bool(kept)
        if kept:
            assert math.exp(forest.log_partition) == pytest.approx(math.fsum(p for _, p in kept))
            assert math.exp(forest.best().log_probability) == pytest.approx(max(p for _, p in kept))
            expected: dict[tuple[int, int, str], float] = {}
            for tree, p in kept:
                for span in tree.spans():
                    expected[tuple(span)] = expected.get(tuple(span), 0.0) + p / math.fsum(q for _, q in kept)
            assert {c[:3]: c.posterior for c in forest.constituents()} == {k: pytest.approx(v) for k, v in expected.items()}


def test_a_projection_has_the_expected_counts_of_the_grammar() -> None:
    grammar = PCFG.parse('S -> S1 S2 [.25] | "a" [.75]\nS1 -> S S [.25] | "b" [.75]\nS2 -> "a" [1]')
    usage = expected_usage(grammar)
    coarse = project(grammar, lambda symbol: symbol[0])
    assert sum(usage.values()) == pytest.approx(expected_usage(coarse)["S"])
    (found,) = [rule.probability for rule in coarse.rules if rule.rhs == ("a",)]
    assert found == pytest.approx((usage["S"] * 0.75 + usage["S2"]) / sum(usage.values()))


def test_the_command_says_how_often_the_best_tree_was_lost() -> None:
    text = "\n".join(" ".join(sentence.words) for sentence in SENTENCES[:4])
    command = [sys.executable, "-m", "treegauge", "parse", "own", "-", "--prune"]
    done = subprocess.run(command, capture_output=True, text=True, input=text, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "search error: the best tree was lost in 0 of 1 sentences" in done.stderr
    with pytest.raises(UsageError):
        Parser(PCFG.parse('S -> "a" [1]'), prune=1.5).check()
