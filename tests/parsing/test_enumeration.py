"""Every chart algorithm against the enumeration of all trees."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections import Counter
from dataclasses import fields
from functools import partial
from typing import Any

import brute_force as brute
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.parsing.grammars import pcfgs, sentences

from treegauge import alignment, find_metric, load_preset
from treegauge.grammar import PCFG
from treegauge.parsing import OBJECTIVES, Forest
from treegauge.trees import Tree, Treebank

pytestmark = pytest.mark.slow

ANY = st.one_of(pcfgs(), pcfgs(unary=True), pcfgs(mixed=True, longest=3), pcfgs(unary=True, mixed=True, longest=4))


def both(grammar: PCFG, words: list[str]) -> tuple[Forest, list[brute.Weighted]]:
    parses = brute.all_parses(grammar, words)
    assume(len(parses) <= 400)
    forest = Forest(grammar, words)
    assert forest.has_parse == bool(parses)
    assume(parses)
    return forest, parses


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


@given(ANY, sentences())
def test_partition_count_best_entropy(grammar: PCFG, words: list[str]) -> None:
    forest, parses = both(grammar, words)
    total = math.fsum(p for _, p in parses)
    assert near(math.exp(forest.log_partition), total)
    assert forest.n_parses == len(parses)
    assert near(math.exp(forest.best().log_probability), max(p for _, p in parses))
    assert near(forest.entropy(), -math.fsum(p / total * math.log(p / total) for _, p in parses))
    assert near(forest.log_probability(forest.best().tree), forest.best().log_probability)


@given(ANY, sentences())
def test_posteriors(grammar: PCFG, words: list[str]) -> None:
    forest, parses = both(grammar, words)
    total = math.fsum(p for _, p in parses)
    nodes: Counter[Any] = Counter()
    links: Counter[Any] = Counter()
    counts: Counter[Any] = Counter()
    for tree, p in parses:
        for part in set(brute.constituents(tree, preterminals=True)):
            nodes[part] += p / total
        for part in brute.pc_links(tree, count="all"):
            links[part] += p / total
        for production in tree.productions():
            counts[production] += p / total
    assert_same({c[:3]: c.posterior for c in forest.constituents()}, nodes)
    assert_same({link[:5]: link.posterior for link in forest.links()}, links)
    expected = dict(zip((rule.production for rule in grammar.rules), forest.expected_counts(), strict=True))
    assert_same({production: float(x) for production, x in expected.items() if x > 0}, counts)


def assert_same(got: dict[Any, float], want: dict[Any, float]) -> None:
    assert got.keys() == want.keys()
    assert all(near(got[key], want[key]) for key in want)


@given(ANY, sentences(4), st.booleans())
def test_licensed_objectives(grammar: PCFG, words: list[str], pre: bool) -> None:
    forest, parses = both(grammar, words)
    trees = {tree for tree, _ in parses}
    objectives: list[tuple[str, dict[str, Any], brute.Parts]] = [
        ("labelled-recall-licensed", {"pre": pre}, partial(brute.constituents, preterminals=pre)),
        *(("parent-child", {"count": c}, partial(brute.pc_links, count=c)) for c in ("all", "binary")),
        *(("frames", {"count": c}, partial(brute.productions, count=c)) for c in ("strict", "bin", "many", "all")),
    ]
    for name, options, parts in objectives:
        best = forest.argmax(name, **options)
        assert best.tree in trees
        assert near(best.score, brute.expected_matches(parses, best.tree, parts)), (name, options)
        assert near(best.score, max(brute.expected_matches(parses, tree, parts) for tree in trees)), (name, options)


OF_METRICS: list[tuple[str, dict[str, Any], str, str]] = [
    ("parent-child", {"count": "all"}, "parent-child", "matched"),
    ("parent-child", {"count": "binary"}, "parent-child:binary", "matched"),
    ("frames", {}, "frames", "matched"),
    *(("frames", {"count": count}, f"frames:{count}", "matched") for count in ("strict", "bin", "many", "all")),
    *(("labelled-recall-licensed", {"pre": pre}, f"goodman:{'pre' if pre else 'nopre'}", "L") for pre in (True, False)),
]
"""Objective, its options, the metric that counts the same parts, and the metric's column of right parts."""


@settings(max_examples=40)
@given(ANY, sentences(4))
def test_objective_and_metric_of_one_name_count_the_same_parts(grammar: PCFG, words: list[str]) -> None:
    """The score of the best tree is the expectation, over all parses, of the right parts that the metric itself counts."""
    forest, parses = both(grammar, words)
    gold, total = Treebank.from_trees([tree for tree, _ in parses]), math.fsum(p for _, p in parses)
    for objective, options, metric, column in OF_METRICS:
        best, found = forest.argmax(objective, **options), find_metric(metric)
        pair = alignment.pair(gold, Treebank.from_trees([best.tree] * len(parses)), found.preset_for(load_preset("none")))
        right = found.rows(pair)[:, list(found.columns).index(column)].tolist()
        assert near(best.score, math.fsum(p * k for (_, p), k in zip(parses, right, strict=True)) / total), (objective, options)


def test_objective_and_metric_of_one_name_take_the_same_words() -> None:
    for name in ("parent-child", "frames"):
        count = inspect.signature(OBJECTIVES[name].decode).parameters["count"]
        option = next(field for field in fields(find_metric(name)) if field.name == "count")
        assert set(re.findall(r"""['"](\w+)['"]""", str(count.annotation))) == set(option.metadata["words"].examples)
        # Exact cases have M_PCh for productions with two children; the metric takes every tree.
        assert (count.default, option.default) == {"parent-child": ("binary", "all"), "frames": ("many", "many")}[name]


@given(st.one_of(pcfgs(), pcfgs(mixed=True, longest=3)), sentences(), st.booleans(), st.sampled_from([0.0, 0.2, 0.5, 0.9]))
def test_free_objectives(grammar: PCFG, words: list[str], pre: bool, lam: float) -> None:
    """Over all bracketings, the best label on each span; unary-free grammars, where a tree has one label per span."""
    forest, parses = both(grammar, words)
    n = len(words)
    g = {c[:3]: c.posterior for c in forest.constituents()}
    spans = [(s, t) for s in range(n) for t in range(s + 1, n + 1) if pre or t > s + 1]
    top = {span: max((p for (s, t, _), p in g.items() if (s, t) == span), default=0.0) for span in spans}
    some = {span: math.fsum(p for (s, t, _), p in g.items() if (s, t) == span) for span in spans}
    for name, worth in (("labelled-recall", top), ("bracketed-recall", some)):
        best = forest.argmax(name, pre=pre)
        ideal = max(math.fsum(worth.get(span, 0.0) for span in b) for b in brute.binary_bracketings(n))
        assert near(best.score, ideal), name
        assert best.tree.words == tuple(words)
    assert near(
        forest.argmax("labelled-recall", pre=pre).score, mean_right(forest.argmax("labelled-recall", pre=pre).tree, parses, pre)
    )
    nary = forest.argmax("labelled-precision-recall", lam=lam, pre=pre)
    root = (0, n)
    ideal = max(
        math.fsum(top.get(span, 0.0) - lam for span in b if span in top or span == root)
        for b in kept_or_not(brute.nary_bracketings(n), pre)
    )
    if n > 1:
        assert near(nary.score, ideal)


def mean_right(tree: Tree, parses: list[brute.Weighted], pre: bool) -> float:
    """E(L) of a free tree; a phrase over one word counts only with ``pre``, as in the parsers."""

    def parts(t: Tree) -> set[Any]:
        return {span for span in brute.constituents(t, preterminals=True) if pre or span[1] - span[0] > 1}  # pyright: ignore

    return brute.expected_matches(parses, tree, parts)


def kept_or_not(bracketings: list[brute.Bracketing], pre: bool) -> list[frozenset[tuple[int, int]]]:
    """With ``pre`` the node over a word is optional too."""
    if not pre:
        return [frozenset(span for span in b if span[1] - span[0] > 1) for b in bracketings]
    found: list[frozenset[tuple[int, int]]] = []
    for b in bracketings:
        words = sorted(span for span in b if span[1] - span[0] == 1)
        rest = b - set(words)
        for mask in range(1 << len(words)):
            found.append(rest | {span for i, span in enumerate(words) if mask >> i & 1})
    return found


@given(pcfgs(unary=True), sentences())
def test_bracketed_recall_with_unary_rules_counts_each_span_once(grammar: PCFG, words: list[str]) -> None:
    forest, parses = both(grammar, words)
    total = math.fsum(p for _, p in parses)
    some: Counter[Any] = Counter()
    for tree, p in parses:
        for span in brute.brackets(tree, preterminals=True):
            some[span] += p / total
    ideal = max(math.fsum(some[span] for span in b) for b in brute.binary_bracketings(len(words)))
    assert near(forest.argmax("bracketed-recall", pre=True).score, ideal)


@given(pcfgs(), sentences(4), st.integers(0, 2**32 - 1))
def test_general_takes_any_weights(grammar: PCFG, words: list[str], seed: int) -> None:
    forest, _ = both(grammar, words)
    weights = np.random.default_rng(seed).normal(size=(len(words), len(words) + 1))
    ideal = max(math.fsum(weights[span] for span in b) for b in brute.binary_bracketings(len(words)))
    assert near(forest.argmax("general", weights=weights).score, ideal)


@given(ANY, sentences())
def test_kbest_lists_all_parses_in_order(grammar: PCFG, words: list[str]) -> None:
    forest, parses = both(grammar, words)
    found = forest.kbest(len(parses) + 5)
    assert Counter(p.tree for p in found) == Counter(tree for tree, _ in parses)
    probabilities = dict(parses)
    assert all(near(math.exp(p.log_probability), probabilities[p.tree]) for p in found)
    values = [p.log_probability for p in found]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(values))


@given(pcfgs(longest=3), sentences(4))
def test_each_objective_is_the_best_on_its_own_score(grammar: PCFG, words: list[str]) -> None:
    """Unary-free grammars: with them the free optimum can be below the licensed one."""
    forest, parses = both(grammar, words)
    trees = [forest.argmax(name).tree for name in ("viterbi", "labelled-recall-licensed", "parent-child", "frames")]
    scores: list[tuple[str, dict[str, Any], brute.Parts]] = [
        ("labelled-recall-licensed", {"pre": True}, partial(brute.constituents, preterminals=True)),
        ("labelled-recall", {"pre": True}, partial(brute.constituents, preterminals=True)),
        ("parent-child", {}, partial(brute.pc_links, count="binary")),
        ("frames", {}, brute.productions),
    ]
    for name, options, parts in scores:
        own = forest.argmax(name, **options).score
        assert all(own >= brute.expected_matches(parses, tree, parts) - 1e-9 for tree in trees), name
