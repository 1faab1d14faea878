"""Fragments counted by the polynomial against fragments enumerated one by one."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from treegauge.metrics import fragments
from treegauge.metrics.fragments import BySize, count_fragments, count_marked_fragments, polynomial_product


@st.composite
def parents(draw: st.DrawFn, most: int = 9) -> list[int]:
    """The parents of a forest's nodes in pre-order."""
    found: list[int] = []
    for node in range(draw(st.integers(0, most))):
        path = [node - 1]
        while path[-1] >= 0:
            path.append(found[path[-1]])
        found.append(draw(st.sampled_from(path)))
    return found


def is_connected(nodes: tuple[int, ...], parent: list[int], edges: list[bool]) -> bool:
    tops = [node for node in nodes if parent[node] not in nodes or not edges[node]]
    return len(tops) == 1


def enumerated(parent: list[int], nodes: list[bool], edges: list[bool]) -> BySize:
    allowed = [node for node in range(len(parent)) if nodes[node]]
    counts = [
        sum(is_connected(chosen, parent, edges) for chosen in combinations(allowed, size)) for size in range(1, len(allowed) + 1)
    ]
    while counts and not counts[-1]:
        counts.pop()
    return BySize(tuple(counts))


@given(parents(), st.data())
def test_counts_are_those_of_enumeration(parent: list[int], data: st.DataObject) -> None:
    marks = st.lists(st.booleans(), min_size=len(parent), max_size=len(parent))
    nodes, edges = data.draw(marks), data.draw(marks)
    everything = [True] * len(parent)
    assert count_fragments(parent) == enumerated(parent, everything, everything)
    assert count_fragments(parent, nodes=nodes, edges=edges) == enumerated(parent, nodes, edges)


@given(parents(40), st.data())
def test_trees_of_thousands_of_nodes_are_counted_another_way_with_the_same_result(parent: list[int], data: st.DataObject) -> None:
    marks = st.lists(st.booleans(), min_size=len(parent), max_size=len(parent))
    nodes, edges = data.draw(marks), data.draw(marks)
    packed = count_fragments(parent, nodes=nodes, edges=edges)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragments, "_MANY_NODES", 0)
        assert count_fragments(parent, nodes=nodes, edges=edges) == packed


@given(*[st.lists(st.integers(0, 10**30) | st.just(0), min_size=1, max_size=60)] * 2)
def test_products_of_polynomials(one: list[int], other: list[int]) -> None:
    expected = [0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            expected[i + j] += a * b
    assert polynomial_product(one, other) == expected


def test_a_star_of_two_thousand_and_a_chain_of_a_hundred_thousand() -> None:
    n = 2000
    assert count_fragments([-1] + [0] * n).counts == (n + 1, *(comb(n, size) for size in range(1, n + 1)))
    assert count_fragments([-1, *range(99_999)]).counts == tuple(range(100_000, 0, -1))


def test_a_star_has_every_subset_of_its_leaves() -> None:
    star = [-1] + [0] * 200
    counts = count_fragments(star).counts
    assert sum(counts) == 2**200 + 200
    assert counts[200] == 1


def test_a_chain_of_a_thousand() -> None:
    assert count_fragments([-1, *range(999)]).counts == tuple(range(1000, 0, -1))


@pytest.mark.parametrize("most", [3, 4096])
def test_many_markings_of_a_tree_at_once_are_the_markings_one_by_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of random trees, and of a star whose counts do not fit into 64 bits; also in parts."""
    monkeypatch.setattr(fragments, "_MANY", most)
    generator = np.random.default_rng(5)
    shapes = [[-1, *(int(generator.integers(max(0, node - 4), node)) for node in range(1, n))] for n in (1, 2, 7, 20, 40)]
    for parent in [*shapes, [-1] + [0] * 70]:
        nodes, edges = generator.random((2, 10, len(parent))) < 0.8
        nodes[0], edges[0] = True, True
        nodes[1] = False
        one_by_one = [count_fragments(parent, nodes=n, edges=e) for n, e in zip(nodes.tolist(), edges.tolist(), strict=True)]
        assert count_marked_fragments(parent, nodes, edges) == one_by_one
    assert count_fragments([-1] + [0] * 70).at(36) == comb(70, 35) > 2**64
