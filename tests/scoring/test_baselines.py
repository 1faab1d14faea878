"""Baselines: the trees themselves against small recursive definitions, and what they must reach when scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from treegauge import alignment
from treegauge.errors import UnknownName
from treegauge.metrics.metric import total_of
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.scoring.baselines import BASELINES, baseline, baseline_for, most_frequent_label
from treegauge.testing import trees as any_trees
from treegauge.trees import Child, Tree, Treebank

Split = Callable[[int], int]
SPLITS: dict[str, Split] = {
    "right-branching": lambda n: 1,
    "left-branching": lambda n: n - 1,
    "balanced": lambda n: (n + 1) // 2,
}


def flat(n: int) -> Tree:
    return Tree("S", [Tree("N", [f"w{i}"]) for i in range(n)])


def by_recursion(leaves: list[Child], split: Split) -> Child:
    if len(leaves) == 1:
        return leaves[0]
    cut = split(len(leaves))
    return Tree("X", [by_recursion(leaves[:cut], split), by_recursion(leaves[cut:], split)])


@pytest.mark.parametrize("name", SPLITS)
def test_shapes(name: str) -> None:
    gold = Treebank.from_trees([flat(n) for n in range(1, 12)])
    assert list(baseline(name, gold)) == [by_recursion(list(tree.children), SPLITS[name]) for tree in gold]


@pytest.mark.parametrize("name", BASELINES)
@settings(max_examples=40)
@given(st.lists(any_trees(preterminals=False, empty=True), max_size=4), st.data())
def test_any_treebank_gets_binary_trees_over_its_words(name: str, trees: list[Tree], data: st.DataObject) -> None:
    gold = Treebank.from_trees(trees)
    counts = np.array(data.draw(st.lists(st.booleans(), min_size=gold.n_tokens, max_size=gold.n_tokens)), dtype=np.bool_)
    made = baseline(name, gold, counts=counts, seed=3)
    assert made == Treebank.from_trees(list(made)), "the columns are those of the trees"
    for index, tree in enumerate(made):
        assert tree.words == trees[index].words
        assert [tag for tag, before in zip(tree.tags, trees[index].tags, strict=True) if before] == list(
            filter(None, trees[index].tags)
        )
        kept = counts[gold.token_offset[index] : gold.token_offset[index + 1]]
        for node, start, _ in tree.nodes_with_spans():
            assert children_that_count(node, start, kept) <= 2
        if name != "oracle-binary":
            assert n_brackets(tree, kept) == max(int(kept.sum()) - 1, 0)


def children_that_count(node: Tree, start: int, kept: np.ndarray) -> int:
    number = 0
    for child in node.children:
        width = child.width if isinstance(child, Tree) else 1
        number += bool(kept[start : start + width].any())
        start += width
    return number


def n_brackets(tree: Tree, kept: np.ndarray) -> int:
    """How many different brackets of two words or more the tree has over the words that count."""
    before = np.append(0, np.cumsum(kept))
    spans = {(before[start], before[end]) for start, end, _ in tree.spans(preterminals=False)}
    return sum(last - first > 1 for first, last in spans)


def test_random_trees_are_uniform_and_seeded() -> None:
    gold = Treebank.from_trees([flat(5)] * 7000)
    made = baseline("random", gold, seed=1)
    numbers = Counter(map(str, made))
    assert len(numbers) == 14  # the Catalan number of binary trees over five words
    expected = 7000 / 14
    # Chi-square with 13 degrees of freedom: 34.5 is the 0.1% point; the seed makes the outcome one and the same.
    assert sum((count - expected) ** 2 / expected for count in numbers.values()) < 34.5
    assert made == baseline("random", gold, seed=1)
    assert made != baseline("random", gold, seed=2)


@settings(max_examples=50)
@given(st.lists(any_trees(), max_size=4))
def test_oracle_keeps_every_gold_bracket(trees: list[Tree]) -> None:
    gold = Treebank.from_trees(trees)
    made = baseline("oracle-binary", gold, label="new node")
    for tree, binary in zip(trees, made, strict=True):
        expected = Counter(tree.spans())
        found = Counter(binary.spans())
        assert not expected - found
        added = found - expected
        assert {span.label for span in added} <= {"new node"}
        assert added.total() == sum(max(len(node.children) - 2, 0) for node in tree.nodes())


def test_oracle_on_real_trees_has_full_recall(shared: Path) -> None:
    gold = Treebank.parse((shared / "data" / "outputs" / "gum_dev.gold.mrg").read_text("utf-8"))[:300]
    metric = find_metric("parseval")
    rates: dict[str, dict[str, float]] = {}
    for name in BASELINES:
        preset = load_preset("default")
        rates[name] = metric.rates(total_of(metric.rows(alignment.pair(gold, baseline_for(name, gold, preset), preset))))
    assert rates["oracle-binary"]["recall"] == 1
    assert all(rates["oracle-binary"]["unlabelled_f1"] > rates[name]["unlabelled_f1"] for name in SPLITS)
    assert rates["right-branching"]["unlabelled_f1"] > rates["random"]["unlabelled_f1"] > rates["left-branching"]["unlabelled_f1"]


def test_most_frequent_label_is_one_that_counts() -> None:
    gold = Treebank.parse("(TOP (S (NP-SBJ (N a) (N b)) (VP (V c) (NP (N d))))) (TOP (X (N a))) (TOP (X (N a)))")
    assert most_frequent_label(gold, load_preset("default")) == "X"
    assert most_frequent_label(gold[:1], load_preset("default")) == "NP"
    assert most_frequent_label(Treebank.parse("(N a)"), load_preset("default")) == "X"


def test_unknown_baseline_is_named() -> None:
    with pytest.raises(UnknownName, match="right-branching"):
        baseline("right", Treebank.parse("(S (N a) (N b))"))
