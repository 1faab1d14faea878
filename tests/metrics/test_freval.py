"""FREVAL through the public way in: cases with exact answers, the paper's example, symmetry, weights."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from known_answers import exact_cases

import treegauge
from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.freval import Freval
from treegauge.metrics.metric import total_of
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.trees import Tree, Treebank

CASES = exact_cases("freval")
PRESET = replace(load_preset("none"), delete_labels=frozenset({"TOP", "ROOT", "S1"}))


def tree(nested: list[Any]) -> Tree:
    return Tree(nested[0], [child if isinstance(child, str) else tree(child) for child in nested[1:]])


def pair_of(case: dict[str, Any]) -> Pair:
    gold = Treebank.from_trees([tree(gold) for gold, _ in case["pairs"]])
    test = Treebank.from_trees([tree(test) for _, test in case["pairs"]])
    return alignment.pair(gold, test, PRESET)


def without_zeros(counts: list[int]) -> tuple[int, ...]:
    while counts and not counts[-1]:
        counts = counts[:-1]
    return tuple(counts)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_exact_cases(case: dict[str, Any]) -> None:
    pair, expected = pair_of(case), case["expected"]
    for matching, key, side in (("edges", "match", "gold"), ("published", "match_tool", "both")):
        metric = Freval(matching, ranges=(1, 3, 0))
        rows = metric.rows(pair)
        for row, counts in zip(rows, expected["per_pair"], strict=True):
            assert row[1].counts == tuple(counts["gold"])
            assert row[2].counts == tuple(counts["guess"])
            assert row[3].counts == without_zeros(counts[key])
        total = total_of(rows)
        assert_rates(metric.rates(total), "", expected[f"{key}_{side}"])
        if matching == "edges" and "sizes_1_3" in expected:
            # The cases divide by 3 also where the largest gold tree is smaller; a tree against itself would have less than 1.
            most = min(3, expected["match_gold"]["M"])
            whole = {name: str(Fraction(rate) * Fraction(3, most)) for name, rate in expected["sizes_1_3"].items()}
            assert_rates(metric.rates(total), "_1-3", whole)
            assert_rates(metric.rates(total), "_1", expected["alpha_1"])
            assert_rates(Freval(alpha="halving").rates(total), "", expected["alpha_halving"])
            largest = expected["match_gold"]["M"]
            only_largest = Freval(alpha=(*[0.0] * (largest - 1), 1.0))
            assert_rates(only_largest.rates(total), "", expected["alpha_max"])


def assert_rates(rates: dict[str, float], suffix: str, expected: dict[str, str]) -> None:
    for name in ("FLR", "FLP", "F1"):
        assert rates[name.lower() + suffix] == pytest.approx(float(Fraction(expected[name])), abs=1e-12)


GOLD = "(S (NP (N a)) (VP (V b) (NP (N c))))"
TEST = "(S (NP (N a)) (XP (V b) (NP (N c))))"


def score(gold: str, test: str, metric: Freval) -> dict[str, float]:
    return metric.rates(total_of(metric.rows(alignment.pair(Treebank.parse(gold), Treebank.parse(test), load_preset("freval")))))


def test_one_wrong_label_spoils_every_fragment_through_it() -> None:
    pair = alignment.pair(Treebank.parse(GOLD), Treebank.parse(TEST), load_preset("freval"))
    sizes = Freval().by_size(total_of(Freval().rows(pair)))
    assert [(size.gold, size.test, size.matched) for size in sizes] == [(4, 4, 3), (3, 3, 1), (2, 2, 0), (1, 1, 0)]


def test_the_largest_gold_tree_sets_the_scale() -> None:
    """Fragments match in both directions with `edges`, but only rates of size 1 are the same for exchanged trees."""
    flat = "(S (A (N a)) (B (N b)))"
    deep = "(S (A (N a)) (X (B (N b))))"
    edges, published = Freval("edges"), Freval("published")
    one, other = score(flat, deep, edges), score(deep, flat, edges)
    assert (one["flr"], one["flp"]) == pytest.approx(((1 + 1 / 2) / 3, (3 / 4 + 1 / 3) / 3))
    assert (other["flr"], other["flp"]) == pytest.approx(((3 / 4 + 1 / 3) / 4, (1 + 1 / 2) / 4))
    assert one["f1_1"] == other["f1_1"] == pytest.approx(6 / 7)
    assert one["f1_1-15"] == one["f1"] != pytest.approx(other["f1_1-15"])
    assert edges.counterpart("flr_1") == "flp_1"
    assert edges.counterpart("f1_1-15") is edges.counterpart("f1") is None
    flat, deep = "(S (A (N a)) (B (N b)) (C (N c)) (D (N d)))", "(S (A (N a)) (X (B (N b)) (X (C (N c)) (D (N d)))))"
    assert score(flat, deep, edges)["flr"] == pytest.approx((1 + 1 / 4) / 5)
    assert score(flat, deep, published)["f1"] > 3 * score(deep, flat, published)["f1"]


@pytest.mark.parametrize(
    "options", ["", ":halving", ":sparsity", ":geometric", ":0.5,0.3,0.2", ":0.5,0.3,0.2:geometric", ":published"]
)
def test_a_tree_against_itself_has_100_in_every_range(options: str) -> None:
    result = treegauge.score([GOLD, "(X (N a))"], [GOLD, "(X (N a))"], f"freval{options}")
    assert result.rates == pytest.approx(dict.fromkeys(result.rates, 1.0))
    metric = find_metric(f"freval{options}")
    sums = metric.float_columns([result.rows])[0][0].sum(axis=0, keepdims=True)
    assert metric.rates_of_sums(sums) == pytest.approx(np.ones((1, len(metric.rate_names))))


def test_given_weights_are_those_of_the_range() -> None:
    """Recalls 3/4, 1/3, 0, 0 by size: the weights of a range are divided by their sum, and without weights there is no rate."""
    rates = score(GOLD, TEST, Freval(alpha=(0.5, 0.3, 0.2), ranges=(1, 2, 0)))
    expected = [3 / 4, (5 * 3 / 4 + 3 * 1 / 3) / 8, 0.5 * 3 / 4 + 0.3 * 1 / 3]
    assert [rates["flr_1"], rates["flr_1-2"], rates["flr"]] == pytest.approx(expected)
    for mean in ("linear", "geometric"):
        metric = Freval(alpha=(0.0, 1.0), mean=mean, ranges=(1, 2))
        rates = score(GOLD, TEST, metric)
        assert [math.isnan(rates[name]) for name in ("flr_1", "flp_1", "f1_1", "f1_1-2")] == [True, True, True, False]
        columns, _ = metric.float_columns([treegauge.score(GOLD, TEST, metric).rows])
        assert metric.rates_of_sums(columns[0])[0] == pytest.approx([rates[name] for name in metric.rate_names], nan_ok=True)


def test_redundant_nodes_do_not_count_in_the_papers_cleaning() -> None:
    assert score("(S (NP (NP (N a))) (VP (V b)))", "(S (NP (N a)) (VP (V b)))", Freval())["f1"] == 1
    assert score("(S (NP (NP (-NONE- *)) (NP (N a))) (VP (V b)))", "(S (NP (N a)) (VP (V b)))", Freval())["f1"] == 1


def test_geometric_mean_is_zero_as_soon_as_one_size_is() -> None:
    assert score(GOLD, TEST, Freval(mean="geometric"))["f1"] == 0
    assert score(GOLD, TEST, Freval(mean="geometric", ranges=(2,)))["flr_1-2"] == pytest.approx((3 / 4 * 1 / 3) ** 0.5)


def test_options_by_name_and_their_errors() -> None:
    assert find_metric("freval:published:1-10").options["ranges"] == (10,)
    with pytest.raises(UnknownName, match="edges"):
        find_metric("freval:edge")
    with pytest.raises(UsageError, match="sum to 1"):
        Freval(alpha=(0.5, 0.4))
    for alpha in ((), (1.5, -0.5), (math.nan, 1.0)):
        with pytest.raises(UsageError, match="0 or more"):
            Freval(alpha=alpha)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.data())
def test_sparsity_smooths_large_sizes_by_small_ones(gold: list[int], data: st.DataObject) -> None:
    """The weighted mean is the uniform mean of scores smoothed one after the other."""
    gold[0] += 1
    values = [data.draw(st.floats(0, 1)) for _ in gold]
    weights = Freval(alpha="sparsity").weights(len(gold), gold)
    assert math.fsum(weights) == pytest.approx(1)
    smoothed = [values[0]]
    for n, value in zip(gold[1:], values[1:], strict=True):
        share = n / (n + gold[0])
        smoothed.append(share * value + (1 - share) * smoothed[-1])
    expected = math.fsum(smoothed) / len(smoothed)
    assert math.fsum(w * v for w, v in zip(weights, values, strict=True)) == pytest.approx(expected)


def test_sparsity_is_the_same_for_one_corpus_and_for_many_samples() -> None:
    gold, test = "(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (N a)) (XP (V b) (NP (N c))))"
    result = treegauge.score(gold, test, metric="freval:sparsity")
    metric = Freval(alpha="sparsity")
    assert result.rows is not None
    columns, _ = metric.float_columns([result.rows])
    rates = dict(zip(metric.rate_names, metric.rates_of_sums(columns[0].sum(axis=0, keepdims=True))[0], strict=True))
    assert rates == pytest.approx(dict(result.rates))
    assert rates["f1"] > treegauge.score(gold, test, metric="freval").rates["f1"]


def test_columns_of_counts_beyond_64_bits_and_beyond_floats_keep_the_rates() -> None:
    """All sizes of stars with 5, 70 and 1,200 children, one of them wrong: the ratios of whole numbers."""
    metric = Freval(ranges=(0,))
    for children in (5, 70, 1200):
        phrases = [f"(P{i} (T w{i}))" for i in range(children)]
        gold = f"(S {' '.join(phrases)})"
        result = treegauge.score(gold, gold.replace("(P0 ", "(Q "), metric=metric)
        assert result.rows is not None
        columns, is_exact = metric.float_columns([result.rows])
        assert is_exact == (children == 5)
        rates = dict(zip(metric.rate_names, metric.rates_of_sums(columns[0])[0].tolist(), strict=True))
        exact = [children / (children + 1), *((children + 1 - size) / children for size in range(2, children + 2))]
        assert rates["flr"] == pytest.approx(math.fsum(exact) / len(exact))
        assert rates == pytest.approx(dict(result.rates))
