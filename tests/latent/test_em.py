"""EM over trees with hidden subcategories, compared with enumeration of all assignments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.latent.toys import PLAIN, TREES, assignments, toy

from treegauge.grammar.latent.latent_grammar import LatentSmoothing, coarser_sizes, level_of, merge_counts, usage
from treegauge.grammar.latent.rule_rows import drop_small, offsets
from treegauge.learning.latent.treebank_em import (
    BINARY,
    LEXICAL,
    Schedule,
    expect,
    first_counts,
    initial_state,
    merge_map,
    parameters,
    split_counts,
    training_steps,
    treebank_arrays,
)
from treegauge.trees.tree import Tree


def test_one_step_equals_enumeration() -> None:
    short = [tree for tree in TREES if tree.width <= 5]
    arrays, counts = toy(short)
    probabilities = parameters(arrays, counts, PLAIN, 0.0)
    made = expect(arrays, probabilities)
    nodes = arrays.nodes
    log_likelihood = 0.0
    pair, root = np.zeros_like(made.counts.pair), np.zeros_like(made.counts.root)
    rules: dict[tuple[int, int, int, int, int], float] = {}
    for tree in range(nodes.n_trees):
        ways = list(assignments(arrays, probabilities, tree))
        total = math.fsum(p for _, p in ways)
        log_likelihood += math.log(total)
        low = int(nodes.start[tree])
        for chosen, p in ways:
            top = int(nodes.symbol[nodes.start[tree + 1] - 1])
            root[probabilities.first[top] + chosen[-1]] += p / total
            for v, x in enumerate(chosen):
                rule, kind = int(nodes.rule[low + v]), int(nodes.kind[low + v])
                if kind == LEXICAL:
                    pair[probabilities.pair_offset[rule] + x] += p / total
                else:
                    k = chosen[nodes.right[low + v]] if kind == BINARY else 0
                    key = kind, rule, x, chosen[nodes.left[low + v]], k
                    rules[key] = rules.get(key, 0.0) + p / total
    assert made.log_likelihood == pytest.approx(log_likelihood, abs=1e-9)
    assert made.counts.pair == pytest.approx(pair, abs=1e-9)
    assert made.counts.root == pytest.approx(root, abs=1e-9)
    for (kind, rule, i, j, k), expected in rules.items():
        rows = made.counts.binary if kind == BINARY else made.counts.unary
        (q,) = [q for q in range(int(rows.first[rule]), int(rows.first[rule + 1])) if (rows.left[q], rows.right[q]) == (j, k)]
        assert rows.value[rows.offset[q] + i] == pytest.approx(expected, abs=1e-9)
    total_counts = made.counts.binary.value.sum() + made.counts.unary.value.sum() + made.counts.pair.sum()
    assert total_counts == pytest.approx(len(nodes.kind), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 2))
def test_the_likelihood_never_falls_before_smoothing(seed: int, splits: int) -> None:
    arrays, counts = toy(splits=splits, seed=seed)
    before = -math.inf
    for _ in range(8):
        made = expect(arrays, parameters(arrays, counts, PLAIN, 0.0))
        assert made.log_likelihood >= before - 1e-9
        before, counts = made.log_likelihood, made.counts


def test_splitting_and_merging_everything_returns_the_old_grammar() -> None:
    arrays, counts = toy()
    split = split_counts(arrays, counts, np.random.default_rng(5), 0.3)
    assert split.sizes.tolist() == (2 * counts.sizes).tolist()
    to, up = merge_map(split.sizes, np.zeros(int(split.sizes.sum())), 1.0)
    assert up.tolist() == [x for size in counts.sizes for x in range(size)]
    back = merge_counts(arrays.base, arrays.table, split, to)
    for old, new in zip((*counts.binary, *counts.unary, *counts[3:]), (*back.binary, *back.unary, *back[3:]), strict=True):
        assert new == pytest.approx(old, abs=1e-12)


def test_a_split_changes_no_probability_of_a_tree() -> None:
    arrays, counts = toy()
    split = split_counts(arrays, counts, np.random.default_rng(5), 0.0)
    before, after = (expect(arrays, parameters(arrays, each, PLAIN, 0.0)).log_likelihood for each in (counts, split))
    assert after == pytest.approx(before, abs=1e-9)


def test_what_a_merge_costs_is_the_loss_of_likelihood() -> None:
    """At one node of one tree: the likelihood if the two subcategories are merged at that node only."""
    arrays, counts = toy([Tree.parse("(TOP (S (A a) (B b)))")])
    probabilities = parameters(arrays, counts, PLAIN, 0.0)
    used = usage(arrays.base, counts)
    made = expect(arrays, probabilities, usage=used)
    ways = list(assignments(arrays, probabilities, 0))
    total = math.fsum(p for _, p in ways)
    nodes = arrays.nodes
    for v in range(len(nodes.kind)):
        symbol = int(nodes.symbol[v])
        first = int(probabilities.first[symbol])
        share = used[first : first + 2] / used[first : first + 2].sum()
        inside = np.zeros(2)
        outside = np.zeros(2)
        pair = probabilities.pair[probabilities.pair_offset[nodes.rule[v]] :][:2] if nodes.kind[v] == LEXICAL else None
        for x in range(2):
            joint = math.fsum(p for chosen, p in ways if chosen[v] == x)
            inside[x] = pair[x] if pair is not None else joint / probabilities.root[first + x]
            outside[x] = joint / inside[x]
        merged = (share @ inside) * outside.sum()
        assert made.loss[first] == pytest.approx(math.log(merged / total), abs=1e-9)


def test_threads_do_not_change_the_result() -> None:
    arrays, counts = toy(TREES * 5)
    given_probabilities = parameters(arrays, counts, LatentSmoothing())
    one, two = (expect(arrays, given_probabilities, threads) for threads in (1, 2))
    assert one.log_likelihood == two.log_likelihood
    assert np.array_equal(one.counts.binary.value, two.counts.binary.value)
    assert np.array_equal(one.counts.pair, two.counts.pair)


def test_rows_are_dropped_relative_to_their_rule() -> None:
    arrays, counts = toy()
    rows = counts.binary
    rows.value[:] = 1.0
    rule = 1
    q = int(rows.first[rule])
    rows.value[rows.offset[q] : rows.offset[q + 1]] = 1e-9
    rows.value[rows.offset[rows.first[0]] : rows.offset[rows.first[1]]] *= 1e-9
    kept = drop_small(rows, 1e-6)
    assert (np.diff(rows.first) - np.diff(kept.first)).tolist() == [int(r == rule) for r in range(len(arrays.base.binary))]


def test_smoothing_keeps_probabilities() -> None:
    arrays, counts = toy()
    level = level_of(arrays.base, arrays.table, counts, LatentSmoothing(0.2))
    total = np.zeros(int(level.sizes.sum()))
    for rows, rules in ((level.binary, arrays.base.binary), (level.unary, arrays.base.unary)):
        for rule in range(len(rules)):
            A = int(rules[rule, 0])
            for q in range(int(rows.first[rule]), int(rows.first[rule + 1])):
                total[level.first[A] : level.first[A + 1]] += rows.value[rows.offset[q] : rows.offset[q + 1]]
    phrases = np.repeat(~arrays.base.is_tag, level.sizes)
    assert total[phrases] == pytest.approx(1.0)


def test_training_goes_through_its_stages_and_can_go_on_from_any_state() -> None:
    arrays = treebank_arrays(TREES * 3)
    schedule = Schedule(after_split=4, after_merge=2, smoothed=2)
    whole = list(training_steps(arrays, initial_state(arrays), 2, (7,), schedule))
    assert [(s.state.round, s.state.iteration, s.complete) for s in whole] == [(r, i, i == 8) for r in (1, 2) for i in range(1, 9)]
    for cut in (2, 4, 8, 11):
        rest = list(training_steps(arrays, whole[cut - 1].state, 2, (7,), schedule))
        assert len(rest) == len(whole) - cut
        for old, new in zip(whole[-1].state.counts.binary, rest[-1].state.counts.binary, strict=True):
            assert np.array_equal(old, new)
    last = whole[-1].state
    assert len(last.up) == 2
    assert coarser_sizes(arrays.base, last.counts.sizes, last.up[-1]).tolist() == whole[7].state.counts.sizes.tolist()
    assert int(last.counts.sizes.sum()) < 4 * arrays.base.size


def test_half_of_the_splits_are_undone() -> None:
    sizes = np.array([2, 4, 2])
    to, up = merge_map(sizes, np.array([-5.0, 0, -1.0, 0, -3.0, 0, -2.0, 0]), 0.5)
    assert to.tolist() == [0, 1, 0, 0, 1, 2, 0, 0]
    assert up.tolist() == [0, 0, 0, 1, 1, 0]


def test_counts_of_the_base_grammar() -> None:
    arrays = treebank_arrays(TREES)
    counts = first_counts(arrays)
    assert counts.root.sum() == len(TREES)
    assert counts.pair.sum() == sum(tree.width for tree in TREES)
    named = {
        tuple(arrays.base.title(s) for s in rule): n
        for rule, n in zip(arrays.base.binary.tolist(), counts.binary.value, strict=True)
    }
    assert named["NP", "DT", "NN"] == 4
    assert named["@NP", "JJ", "NN"] == 2
    assert arrays.base.root == "TOP"
    chains = {
        tuple(arrays.base.title(s) for s in rule): n for rule, n in zip(arrays.base.unary.tolist(), counts.unary.value, strict=True)
    }
    assert chains["S", "VP"] == 1
    assert offsets(counts.sizes)[-1] == arrays.base.size
