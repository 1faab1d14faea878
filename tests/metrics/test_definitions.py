"""The columnar metrics against their definitions on sets and multisets of Tree objects, and against the exact cases."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import brute_force as brute
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from known_answers import exact_cases
from tree_pairs import tree_pairs

import treegauge
from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.errors import InputError, UnknownName, UsageError
from treegauge.metrics import leaf_ancestor
from treegauge.metrics.leaf_ancestor import LeafAncestor, edit_costs
from treegauge.metrics.metric import total_of
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset, preset_names
from treegauge.trees import Tree, Treebank


def pair_of(gold: Tree, test: Tree) -> Pair:
    return alignment.pair(Treebank.from_trees([gold]), Treebank.from_trees([test]), load_preset("none"))


def counts(metric: str, pair: Pair) -> dict[str, float]:
    found = find_metric(metric)
    return dict(zip(found.columns, total_of(found.rows(pair)), strict=True))


def rates(metric: str, pair: Pair) -> dict[str, float]:
    found = find_metric(metric)
    return found.rates(total_of(found.rows(pair)))


def overlap(metric: str, pair: Pair) -> tuple[float, float, float]:
    found = counts(metric, pair)
    return found["matched"], found["gold"], found["test"]


@settings(max_examples=30)
@given(tree_pairs(bare_words=True))
def test_goodman_counts_sets_of_triples(trees: tuple[Tree, Tree]) -> None:
    pair = pair_of(*trees)
    for option in ("pre", "nopre"):
        expected = brute.goodman_counts(*trees, preterminals=option == "pre")
        found = counts(f"goodman:{option}", pair)
        assert {name: found[name] for name in expected} == expected
        assert all(0 <= rate <= 1 for rate in rates(f"goodman:{option}", pair).values() if not math.isnan(rate))
    ours, theirs = map(brute.constituents, trees)
    if len(set(ours)) == len(ours) and len(set(theirs)) == len(theirs) and ours:
        assert counts("goodman", pair)["labelled_tree"] == rates("parseval", pair)["exact_match"]


def test_towers_do_not_lift_bracketed_recall_over_1() -> None:
    """Two labels over one gold span: one of them is right by its span, and the tree is not."""
    gold = Treebank.parse("(S (NP (N a) (N b)) (V c))")
    test = Treebank.parse("(S (NP (FRAG (N a) (N b))) (V c))")
    found = rates("goodman", alignment.pair(gold, test, load_preset("none")))
    assert found["bracketed_recall"] == 1
    assert found["labelled_recall"] == 1
    assert (found["labelled_tree"], found["bracketed_tree"], found["consistent_brackets_tree"]) == (0, 0, 1)


def test_a_tower_does_not_make_up_for_a_missed_bracket() -> None:
    """Gold's A and D against two nodes over A's words: D is missed, whatever stands twice over the others."""
    gold, test = "(S (A (T w) (T x)) (D (T y) (T z)))", "(S (B (C (T w) (T x))) (T y) (T z))"
    found = treegauge.score(gold, test, "goodman").rates
    assert (found["bracketed_recall"], found["mean_bracketed_recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert (found["bracketed_tree"], found["labelled_tree"], found["labelled_recall"]) == (0, 0, pytest.approx(1 / 3))
    backwards = treegauge.score(test, gold, "goodman").rates
    assert (backwards["bracketed_recall"], backwards["bracketed_tree"]) == (pytest.approx(2 / 3), 0)


def test_the_mark_of_a_fallback_is_no_part_of_a_label() -> None:
    gold, test = Treebank.parse("(S (N a) (N b)) (N c)"), Treebank.parse("(S-FALLBACK (N a) (N b)) (N-FALLBACK c)")
    for preset in preset_names():
        pair = alignment.pair(gold, test, load_preset(preset))
        for metric in ("parseval", "goodman:pre"):
            assert (
                find_metric(metric).rows(pair).tolist()
                == find_metric(metric).rows(alignment.pair(gold, gold, pair.preset)).tolist()
            )


@settings(max_examples=30)
@given(tree_pairs(bare_words=True))
def test_parseval_counts_multisets(trees: tuple[Tree, Tree]) -> None:
    expected = brute.multiset_overlap(*map(brute.constituents, trees))
    assert overlap("parseval", pair_of(*trees)) == expected


@settings(max_examples=30)
@given(tree_pairs(bare_words=True))
def test_parent_child_counts_sets_of_links(trees: tuple[Tree, Tree]) -> None:
    for count in ("all", "binary"):
        expected = brute.multiset_overlap(*(brute.pc_links(tree, count) for tree in trees))
        assert overlap(f"parent-child:{count}", pair_of(*trees)) == expected


@pytest.mark.parametrize("which", ["strict", "bin", "many", "all"])
@settings(max_examples=30)
@given(trees=tree_pairs(bare_words=True))
def test_frames_count_sets_of_productions(which: str, trees: tuple[Tree, Tree]) -> None:
    expected = brute.multiset_overlap(*(brute.productions(tree, which) for tree in trees))
    assert overlap(f"frames:{which}", pair_of(*trees)) == expected


@settings(max_examples=30)
@given(tree_pairs(max_words=9, binary=True))
def test_binary_trees_have_the_papers_numbers_of_parts(trees: tuple[Tree, Tree]) -> None:
    n, pair = trees[0].width, pair_of(*trees)
    assert counts("goodman:pre", pair)["N_C"] == 2 * n - 1
    assert overlap("parent-child", pair)[1:] == (2 * n - 2, 2 * n - 2)
    assert overlap("frames", pair)[1:] == (n - 1, n - 1)


@pytest.mark.parametrize("option", ["letters", "plain"])
@settings(max_examples=30)
@given(trees=tree_pairs(bare_words=True))
def test_leaf_ancestor_compares_lineages(option: str, trees: tuple[Tree, Tree]) -> None:
    gold, test = map(brute.lineages, trees)
    found = LeafAncestor.with_options(option).similarities(pair_of(*trees)).tolist()
    for a, b, similarity in zip(gold, test, found, strict=True):
        if a or b:
            assert similarity == pytest.approx(float(brute.lineage_similarity(a, b, first_letter=option == "letters")))
        else:
            assert math.isnan(similarity)


def test_leaf_ancestor_by_hand() -> None:
    """Lineages of two and bills differ in N1 v. NP (0.5 of 6), those of tax and revision by a mark and an N1 more (2.5 of 6)."""
    gold = Tree.parse("(S (N1 (w two) (N1 (w tax) (w revision)) (w bills)) (w were) (w passed))")
    test = Tree.parse("(S (NP (w two) (w tax) (w revision) (w bills)) (w were) (w passed))")
    pair = pair_of(gold, test)
    expected = [1 - 0.5 / 6, 1 - 2.5 / 6, 1 - 2.5 / 6, 1 - 0.5 / 6, 1, 1]
    assert LeafAncestor().similarities(pair).tolist() == pytest.approx(expected)
    assert rates("leaf-ancestor", pair)["leaf_ancestor"] == pytest.approx(5 / 6)
    # Without credit for the shared N, replacing N1 by NP costs 2 of 6.
    assert LeafAncestor(first_letter=False).similarities(pair)[0] == pytest.approx(1 - 2 / 6)


def test_a_mark_is_never_like_a_label() -> None:
    gold = Tree.parse("([ ([x (w a) (w b)) (w c))")
    test = Tree.parse("([ (w a) ([y (w b) (w c)))")
    # By its strings alone the definition would take the label for the mark; rename it there.
    renamed = [Tree.parse(str(tree).replace("[", "B")) for tree in (gold, test)]
    expected = [float(brute.lineage_similarity(a, b)) for a, b in zip(*map(brute.lineages, renamed), strict=True)]
    assert LeafAncestor().similarities(pair_of(gold, test)).tolist() == pytest.approx(expected)


def test_trees_too_deep_for_leaf_ancestor_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left- and right-branching trees over 300 words: each pair of lineages is a table of up to 300 times 300."""
    n = 300
    right = "".join(f"(A{i % 7} (N w{i}) " for i in range(n)) + "(N z)" + ")" * n
    left = "".join(f"(B{i % 5} " for i in range(n)) + "(N w0)" + "".join(f" (N w{i}))" for i in range(1, n)) + " (N z))"
    assert treegauge.score(right, left, "leaf-ancestor").rates["leaf_ancestor"] < 0.1
    monkeypatch.setattr(leaf_ancestor, "MOST_CELLS", 1_000_000)
    refused = "<strings>:2: these trees are too deep for leaf-ancestor: more than 1,000,000 pairs"
    with pytest.raises(InputError, match=refused):
        treegauge.score(["(S (N a))", right], ["(S (N a))", left], "leaf-ancestor")
    monkeypatch.setattr(leaf_ancestor, "_costs", None)  # of these trees none is compared: the longest lineages alone are too many
    with pytest.raises(InputError, match=refused):
        treegauge.score(["(S (N a))", right], ["(S (N a))", right.replace("(A", "(B")], "leaf-ancestor")


def test_deep_trees_are_compared_without_recursion() -> None:
    deep = "(A " * 20_000 + "(w a)" + ")" * 20_000
    bank = Treebank.parse(f"(S {deep} (w b))")
    pair = alignment.pair(bank, bank, load_preset("none"))
    for name in ("goodman", "parent-child", "frames", "leaf-ancestor"):
        metric = find_metric(name)
        found = metric.rates(total_of(metric.rows(pair)))
        assert found[metric.headline] == 1, name


def test_deep_lineages_that_differ_in_the_middle() -> None:
    n = 10_000
    gold = "(A " * n + "(B " + "(A " * n + "(w a)" + ")" * (2 * n + 1)
    pair = alignment.pair(Treebank.parse(gold), Treebank.parse(gold.replace("B", "C")), load_preset("none"))
    assert LeafAncestor().similarities(pair).tolist() == [1 - 2 / (2 * (2 * n + 3))]


@settings(max_examples=30)
@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12), st.integers(0, 9))
def test_what_is_trimmed_costs_nothing(x: list[int], y: list[int], shared_ends: int) -> None:
    letter = np.array([0, 0, 1, 1, 2, 3, 4], dtype=np.int32)
    ends = [shared_ends % 6] * 201
    for first, second in ((x, y), (ends + x + ends, ends + y + ends), (x + ends, y + ends)):
        width = max(len(first), len(second), 1)
        rows = [np.array([row + [-1] * (width - len(row))], dtype=np.int32) for row in (first, second)]
        costs = edit_costs(*rows, np.array([len(first)]), np.array([len(second)]), letter, 1)
        names = [["aAbBcd"[symbol] for symbol in row] for row in (x, y)]
        expected = Fraction(0) if x == y else (1 - similarity(*names)) * (len(x) + len(y))
        assert costs.tolist() == [2 * expected]


def similarity(a: list[str], b: list[str]) -> Fraction:
    """As the definition, with upper and lower case sharing a letter."""
    spelt = [[f"{name.lower()}{name}" for name in row] for row in (a, b)]
    return brute.lineage_similarity(*spelt)


def test_goodmans_four_trees() -> None:
    """Goodman 1996, section 3: each tree of the grammar gets 1.75 expected labelled constituents, S(A B) gets 2."""
    grammars = {rhs: f"(S ({rhs[0]} (x x) (x x)) ({rhs[1]} (x x) (x x)))" for rhs in ("AC", "AD", "EB", "FB", "AB")}
    banks = {rhs: Treebank.parse(text) for rhs, text in grammars.items()}

    def expected_right(guess: str) -> float:
        pairs = (alignment.pair(banks[gold], banks[guess], load_preset("none")) for gold in ("AC", "AD", "EB", "FB"))
        return sum(counts("goodman", pair)["L"] for pair in pairs) / 4

    assert [expected_right(guess) for guess in ("AC", "AD", "EB", "FB")] == [1.75] * 4
    assert expected_right("AB") == 2


def test_means_leave_out_sentences_without_constituents() -> None:
    gold = Treebank.parse("(N a) (S (N a) (N b))")
    test = Treebank.parse("(V a) (X (N a) (N b))")
    found = rates("goodman", alignment.pair(gold, test, load_preset("none")))
    assert found["mean_labelled_recall"] == 0
    assert found["mean_bracketed_recall"] == found["mean_consistent_brackets_recall"] == 1
    assert found["labelled_tree"] == 0.5  # the tree without constituents has all of them right
    only_words = rates("goodman", alignment.pair(gold[:1], test[:1], load_preset("none")))
    assert math.isnan(only_words["labelled_recall"])
    assert math.isnan(only_words["mean_labelled_recall"])
    assert only_words["labelled_tree"] == 1


def test_equal_labels_and_unlabelled_presets_are_honoured() -> None:
    gold = Treebank.parse("(S (NP (N a) (N b)) (ADVP (R c) (R d)))")
    test = Treebank.parse("(S (VP (N a) (N b)) (PRT (R c) (R d)))")
    equal = alignment.pair(gold, test, load_preset("collins"))
    assert counts("goodman", equal)["L"] == 2
    assert counts("parent-child", equal)["matched"] == 3
    unlabelled = alignment.pair(gold, test, load_preset("induction"))
    assert rates("leaf-ancestor", unlabelled)["leaf_ancestor"] == 1
    assert rates("frames", unlabelled)["f1"] == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("goodman:prep", UnknownName),
        ("goodman:pre:nopre", UsageError),
        ("frames:binary", UnknownName),
        ("frames:bin:all", UsageError),
        ("leaf-ancestor:fuzzy", UnknownName),
        ("leaf-ancestor:plain:letters", UsageError),
        ("parent-child:left", UsageError),
    ],
)
def test_wrong_options_are_refused(name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_metric(name)


def as_tree(nested: Any) -> Tree:
    return Tree(nested[0], [child if isinstance(child, str) else as_tree(child) for child in nested[1:]])


def value(text: str | None) -> float:
    return math.nan if text is None else float(Fraction(text))


def test_exact_cases() -> None:
    """Every case of cases/trees.json: Goodman's counts and rates, PARSEVAL, PC, CF in three readings, exact match."""
    cases = exact_cases("trees")
    assert len(cases) >= 70
    for case in cases:
        gold, guess, expected = as_tree(case["gold"]), as_tree(case["guess"]), case["expected"]
        pair = pair_of(gold, guess)
        for option in ("pre", "nopre"):
            by_hand = brute.goodman_counts(gold, guess, preterminals=option == "pre")
            check_goodman(pair, option, expected[option], case["id"], by_hand)
        assert list(overlap("parseval", pair)) == expected["nopre"]["parseval_multiset"], case["id"]
        assert (gold == guess) == expected["exact_match"], case["id"]
        if "PC" in expected:
            names = {"PC": "parent-child", "CF_strict": "frames:strict", "CF_bin": "frames:bin", "CF_all": "frames:all"}
            for key, metric in names.items():
                assert list(overlap(metric, pair)) == expected[key], (case["id"], key)


def test_exact_cases_through_the_public_function() -> None:
    """The same cases, many sentences at once: rows come back in order, and rates are those of their sum."""
    cases = exact_cases("trees")
    gold, guess = ([as_tree(case[side]) for case in cases] for side in ("gold", "guess"))
    for option in ("pre", "nopre"):
        result = treegauge.score(gold, guess, metric=f"goodman:{option}", preset="none")
        first = result.columns.index("N_C")
        expected = [[case["expected"][option][name] for name in ("N_C", "N_G", "L", "B", "C")] for case in cases]
        assert result.rows is not None
        assert result.rows[:, first : first + 5].tolist() == expected
        assert result.rates["labelled_recall"] == sum(row[2] for row in expected) / sum(row[0] for row in expected)


def check_goodman(pair: Pair, option: str, expected: dict[str, Any], case: str, by_hand: dict[str, int]) -> None:
    """The cases have B, [L = N_C] and [B = N_C], the paper's definitions for binary trees; on others brute force decides."""
    found, found_rates = counts(f"goodman:{option}", pair), rates(f"goodman:{option}", pair)
    for name in ("N_C", "N_G", "L", "B", "C"):
        assert found[name] == expected[name], (case, option, name)
    assert [found["L"], found["N_C"], found["N_G"]] == expected["parseval_set"], (case, option)
    recalls = {
        "labelled_recall": value(expected["labelled_recall"]),
        "bracketed_recall": by_hand["B_limited"] / expected["N_C"] if expected["N_C"] else math.nan,
        "consistent_brackets_recall": value(expected["consistent_recall"]),
    }
    for name, recall in recalls.items():
        for rate in (name, f"mean_{name}"):
            np.testing.assert_allclose(found_rates[rate], recall, rtol=1e-15, err_msg=f"{case} {option} {rate}")
    if by_hand["B_limited"] == expected["B"]:
        np.testing.assert_allclose(found_rates["bracketed_recall"], value(expected["bracketed_recall"]), rtol=1e-15, err_msg=case)
    for name in ("labelled_tree", "bracketed_tree"):
        assert found_rates[name] == by_hand[name] <= expected[name], (case, option, name)
    assert found_rates["consistent_brackets_tree"] == expected["consistent_tree"], (case, option)
