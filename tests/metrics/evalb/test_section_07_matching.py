"""EVALB.md 7: matching and crossing."""

from __future__ import annotations

import random

import pytest
from evalb_helpers import run

from treegauge.metrics.evalb import scoring as crossing


def matched(gold: str, test: str, prm: str = "") -> int:
    return run(gold, test, prm).row.matched


def test_duplicates_are_a_multiset():
    assert matched("(A (A (N a) (N b)))", "(A (A (A (N a) (N b))))") == 2
    assert matched("(A (A (A (N a))))", "(A (B (A (N a))))") == 2


def test_order_in_a_unary_chain_is_irrelevant():
    assert matched("(A (B (N a)))", "(B (A (N a)))") == 2


def test_equal_labels_match():
    assert matched("(S (ADVP (R a)) (V b))", "(S (PRT (R a)) (V b))", "EQ_LABEL ADVP PRT\n") == 2
    assert matched("(S (PRT (R a)) (V b))", "(S (ADVP (R a)) (V b))", "EQ_LABEL ADVP PRT\n") == 2


def test_eq_label_greedy():
    prm = "EQ_LABEL A B\nEQ_LABEL B C\n"
    # B takes A, the first free one it equals, and leaves nothing for A; in the other order B takes C.
    assert matched("(B (A (N x)))", "(A (C (N x)))", prm) == 1
    assert matched("(B (A (N x)))", "(C (A (N x)))", prm) == 2
    assert matched("(A (C (N x)))", "(C (A (N x)))", prm) == 2
    assert matched("(A (N x))", "(C (N x))", prm) == 0


def test_an_equivalence_of_three_is_no_matter_of_order():
    prm = "EQ_LABEL A B\nEQ_LABEL B C\nEQ_LABEL A C\n"
    assert matched("(B (A (N x)))", "(A (C (N x)))", prm) == 2


def test_unlabelled():
    prm = "LABELED 0\nDELETE_LABEL TOP\n"
    assert matched("(TOP (A (B (N x)) (N y)))", "(C (D (N x)) (N y))", prm) == 2
    row = run("(TOP (A (B (N x)) (N y)))", "(A (TOP (N x)) (N y))", prm).row
    assert (row.matched, row.gold, row.test) == (1, 2, 1)


@pytest.mark.parametrize(
    ("gold", "test", "crosses"),
    [
        ("(S (X (N a) (N b)) (N c) (N d))", "(S (N a) (Y (N b) (N c)) (N d))", 1),
        ("(S (N a) (X (N b) (N c)) (N d))", "(S (Y (N a) (N b)) (N c) (N d))", 1),
        ("(S (X (N a) (N b)) (N c) (N d))", "(S (N a) (N b) (Y (N c) (N d)))", 0),
        ("(S (X (N a) (N b)) (N c) (N d))", "(S (Y (N a)) (N b) (N c) (N d))", 0),
        ("(S (X (N a) (N b)) (N c) (N d))", "(S (N a) (Y (Z (N b) (N c))) (N d))", 2),
        ("(S (W (X (N a) (N b)) (N c)) (N d))", "(S (N a) (Y (N b) (N c) (N d)))", 1),
    ],
)
def test_crossing(gold: str, test: str, crosses: int):
    assert run(gold, test, "").row.crossing == crosses


def test_deleted_brackets_neither_cross_nor_are_crossed():
    gold, test = "(S (TOP (N a) (N b)) (N c))", "(S (N a) (Y (N b) (N c)))"
    assert run(gold, test, "").row.crossing == 1
    assert run(gold, test, "DELETE_LABEL TOP\n").row.crossing == 0
    assert run(test, gold, "DELETE_LABEL TOP\n").row.crossing == 0


def test_crossing_is_counted_in_test():
    gold, test = "(S (X (N a) (N b)) (Y (N c) (N d)))", "(S (N a) (Z (N b) (N c)) (N d))"
    assert run(gold, test, "").row.crossing == 1
    assert run(test, gold, "").row.crossing == 2


def test_the_sweep_counts_what_the_pairs_count():
    chance = random.Random(0)
    for _ in range(500):
        spans = [[(chance.randint(0, 12), chance.randint(-1, 12)) for _ in range(chance.randint(0, 12))] for _ in range(2)]
        by_pairs = sum(any(c < a < d < b or a < c < b < d for c, d in spans[0]) for a, b in spans[1])
        assert crossing.count_crossing(*spans) == by_pairs
