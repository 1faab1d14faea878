"""The exact answers of cases/pcfg.json, all fields, through the public API and through brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from typing import Any

import brute_force as brute
import pytest
from known_answers import exact_cases

from treegauge.grammar import PCFG
from treegauge.parsing import Forest
from treegauge.trees import Tree

Case = dict[str, Any]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return exact_cases("pcfg")


def forest_of(case: Case) -> Forest:
    grammar = case["grammar"]
    rules = [(lhs, rhs, float(Fraction(p))) for lhs, rhs, p in grammar["rules"]]
    pcfg = PCFG.from_rules(rules, start=grammar["start"], nonterminals=grammar["nonterminals"])
    return Forest(pcfg, case["sentence"])


def number(text: str) -> float:
    return float(Fraction(text))


def close(got: float, want: str | None) -> bool:
    if want is None:
        return math.isnan(got)
    return math.isclose(got, number(want), rel_tol=1e-10, abs_tol=1e-13)


def nested(tree: Tree) -> list[Any]:
    return [tree.label, *(child if isinstance(child, str) else nested(child) for child in tree.children)]


def test_probabilities_and_counts(cases: list[Case]) -> None:
    for case in cases:
        expected, forest = case["expected"], forest_of(case)
        assert close(math.exp(forest.log_partition), expected["prob"]), case["id"]
        if "n_parses" in expected:
            assert forest.n_parses == expected["n_parses"], case["id"]
        if forest.has_parse:
            assert close(math.exp(forest.best().log_probability), expected["viterbi_prob"]), case["id"]
        if "viterbi_tree" in expected:
            assert nested(forest.best().tree) == expected["viterbi_tree"], case["id"]
        if "n_viterbi" in expected:
            best = forest.best().log_probability
            ties = [parse for parse in forest.kbest(expected["n_viterbi"] + 1) if parse.log_probability > best - 1e-9]
            assert len(ties) == expected["n_viterbi"], case["id"]


def test_posteriors(cases: list[Case]) -> None:
    for case in cases:
        forest = forest_of(case)
        want = {(s, t, X): g for s, t, X, g in case["expected"]["posteriors"]}
        got = {(c.start, c.end, c.label): c.posterior for c in forest.constituents()}
        assert got.keys() == want.keys(), case["id"]
        assert all(close(got[key], want[key]) for key in want), case["id"]


def test_rule_posteriors(cases: list[Case]) -> None:
    for case in cases:
        forest = forest_of(case)
        want = {(s, t, A, tuple(rhs)): p for s, t, A, rhs, p in case["expected"]["rule_posteriors"]}
        got = {(f.start, f.end, f.production.lhs, f.production.rhs): f.posterior for f in forest.frames()}
        assert got.keys() == want.keys(), case["id"]
        assert all(close(got[key], want[key]) for key in want), case["id"]
        anchored: dict[Any, float] = {}
        for a in forest.anchored_rules():
            key = a.boundaries[0], a.boundaries[-1], a.production.lhs, a.production.rhs
            anchored[key] = anchored.get(key, 0.0) + a.posterior
        assert anchored.keys() == want.keys(), case["id"]
        assert all(close(anchored[key], want[key]) for key in want), case["id"]


def test_objectives(cases: list[Case]) -> None:
    names = {"LR": "labelled-recall", "BR": "bracketed-recall", "MLR": "labelled-recall-licensed"}
    for case in cases:
        forest, expected = forest_of(case), case["expected"]
        unary = any(rule.is_unary for rule in forest.grammar.rules)
        # A field is only left open where there is no parse, or, for brackets, where the sum over labels is not a probability.
        open_fields = {key for key in names if expected[key] is None}
        assert open_fields == (set(names) if not forest.has_parse else {"BR"} if unary else set()), case["id"]
        for key, objective in names.items():
            for reading in ("pre", "nopre") if expected[key] else ():
                # The answers for LR are the paper's reading: one label per span.
                labels = {"labels": "one"} if key == "LR" else {}
                score = forest.argmax(objective, pre=reading == "pre", **labels).score
                assert close(score, expected[key][reading]), (case["id"], key, reading)
        if expected["MPCh"] is not None:
            assert close(forest.argmax("parent-child").score, expected["MPCh"]), case["id"]
        for count, want in (expected["MCFP"] or {}).items():
            assert close(forest.argmax("frames", count=count).score, want), (case["id"], count)


def test_a_sentence_without_parse_has_empty_tables(cases: list[Case]) -> None:
    without = [case for case in cases if case["expected"]["LR"] is None]
    assert len(without) >= 3
    for case in without:
        forest = forest_of(case)
        assert not forest.has_parse
        assert forest.log_partition == -math.inf
        assert forest.constituents() == forest.frames() == forest.links() == forest.kbest(3) == []


def test_rates_by_consensus_over_all_parses(cases: list[Case]) -> None:
    """The best normalised rate: minimum risk over all parses, weighted by their probabilities, with the rate as metric."""
    parts: dict[str, brute.Parts] = {
        "lr_pre": partial(brute.constituents, preterminals=True),
        "lr_nopre": partial(brute.constituents, preterminals=False),
        "pc": partial(brute.pc_links, count="binary"),
        "cf_strict": partial(brute.productions, count="strict"),
        "cf_bin": partial(brute.productions, count="bin"),
        "cf_all": partial(brute.productions, count="all"),
    }
    for case in cases:
        rates = case["expected"].get("rates", {})
        if not rates or case["expected"]["n_parses"] > 60:
            continue
        forest = forest_of(case)
        for name, want in rates.items():

            @cache
            def of(tree: Tree, name: str = name) -> frozenset[Any]:
                return frozenset(parts[name](tree))

            def share(gold: Tree, test: Tree, of: Callable[[Tree], frozenset[Any]] = of) -> float:
                return len(of(gold) & of(test)) / len(of(gold)) if of(gold) else math.nan

            best = forest.argmax("mbr", score=share, candidates="kbest", size=case["expected"]["n_parses"])
            assert close(best.score, want), (case["id"], name)


def test_other_readings_are_told_apart(cases: list[Case]) -> None:
    """``alt``: child spans in links, splits in frames, preterminal children left out; by brute force."""

    def with_child_span(tree: Tree) -> set[Any]:
        return {
            (s, t, node.label, i, child.label, at, at + child.width)
            for node, s, t in tree.nodes_with_spans()
            if len(node.children) == 2
            for i, (child, at) in enumerate(zip(node.children, starts(node, s), strict=True))
            if isinstance(child, Tree)
        }

    def with_split(tree: Tree) -> set[Any]:
        return {
            (s, t, node.label, tuple(str(c) if isinstance(c, str) else c.label for c in node.children), *starts(node, s))
            for node, s, t in tree.nodes_with_spans()
            if len(node.children) == 2
        }

    def without_preterminals(tree: Tree) -> set[Any]:
        return {
            (s, t, node.label, i, child.label)
            for node, s, t in tree.nodes_with_spans()
            if len(node.children) == 2
            for i, child in enumerate(node.children)
            if isinstance(child, Tree) and not child.is_preterminal
        }

    readings = {"pc_span": with_child_span, "cf_split": with_split, "pc_nopre": without_preterminals}
    for case in cases:
        alt = case["expected"].get("alt", {})
        if alt and case["expected"]["n_parses"] <= 60:
            parses = [(p.tree, math.exp(p.log_probability)) for p in forest_of(case).parses()]
            for name, want in alt.items():
                best = max(brute.expected_matches(parses, tree, readings[name]) for tree, _ in parses)
                assert close(best, want), (case["id"], name)


def starts(node: Tree, start: int) -> list[int]:
    found: list[int] = []
    for child in node.children:
        found.append(start)
        start += child.width if isinstance(child, Tree) else 1
    return found
