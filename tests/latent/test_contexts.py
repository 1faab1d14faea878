"""First subcategories by context, compared with counts in the trees themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from tests.latent.toys import PLAIN, TREES

from treegauge.errors import UsageError
from treegauge.grammar.latent.latent_grammar import merge_counts, usage
from treegauge.grammar.latent.rule_rows import offsets
from treegauge.learning.latent.treebank_em import (
    Schedule,
    context_counts,
    expect,
    first_counts,
    initial_state,
    node_contexts,
    parameters,
    training_steps,
    treebank_arrays,
)
from treegauge.trees.tree import Tree

BANK = [*TREES, Tree.parse("(TOP (S (NP (DT the) (NN dog)) (VP (VBD sat) (NN milk))))")] * 20
"""Trees in which NN occurs in two contexts."""


def parents(trees: list[Tree], tags: bool) -> Counter[tuple[str, str]]:
    """The number of times that each tag (or phrase) is a child of each phrase (``-``: at the top), counted in the trees."""
    seen: Counter[tuple[str, str]] = Counter()
    for tree in trees:
        for node in tree.nodes():
            for child in node.children:
                if isinstance(child, Tree) and child.is_preterminal == tags:
                    seen[child.label, "-" if node.label == "TOP" else node.label] += 1
    return seen


@pytest.mark.parametrize("which", ["tags", "phrases"])
def test_contexts_are_the_phrases_above(which: str) -> None:
    arrays = treebank_arrays(BANK)
    base, nodes = arrays.base, arrays.nodes
    kind = 2 if which == "tags" else 0
    found: Counter[tuple[str, str]] = Counter()
    for symbol, context in zip(nodes.symbol.tolist(), node_contexts(arrays).tolist(), strict=True):
        if base.kind[symbol] == kind:
            found[base.names[symbol], base.names[context] if context >= 0 else "-"] += 1
    assert found == parents(BANK, which == "tags")


def test_inner_symbols_know_what_came_before() -> None:
    arrays = treebank_arrays([Tree.parse("(TOP (S (A a) (B b) (C c) (D d)))")])
    base, nodes = arrays.base, arrays.nodes
    contexts = [base.names[c] for s, c in zip(nodes.symbol, node_contexts(arrays), strict=True) if base.is_inner[s]]
    assert sorted(contexts) == ["A", "B"]


@pytest.mark.parametrize("which", [("tags",), ("phrases",), ("phrases", "tags", "inner")])
def test_counts_by_context_are_those_of_the_trees(which: tuple[str, ...]) -> None:
    arrays = treebank_arrays(BANK)
    counts = context_counts(arrays, which, np.float64)
    assert counts is not None
    together = merge_counts(arrays.base, arrays.table, counts, np.zeros(int(counts.sizes.sum()), np.int64))
    plain = first_counts(arrays, np.float64)
    for old, new in zip((*plain.binary, *plain.unary, *plain[3:]), (*together.binary, *together.unary, *together[3:]), strict=True):
        assert np.array_equal(old, new)
    begins, names = offsets(counts.sizes), arrays.base.names
    for kind, tags in ((0, False), (2, True)):
        seen = parents(BANK, tags)
        for symbol in np.flatnonzero(arrays.base.kind == kind).tolist():
            own = sorted(usage(arrays.base, counts)[begins[symbol] : begins[symbol + 1]].tolist())
            each = sorted(n for (label, _), n in seen.items() if label == names[symbol])
            most = (8 if tags else 3) if ("tags" if tags else "phrases") in which else 0
            rest = each[: max(0, len(each) - most)]
            assert own == sorted([float(n) for n in each[len(rest) :]] + ([float(sum(rest))] if rest else []))


def test_contexts_make_the_trees_likelier_and_take_the_first_round() -> None:
    arrays = treebank_arrays(BANK)
    counts = context_counts(arrays, ("phrases", "tags"), np.float64)
    assert counts is not None
    better, plain = (
        expect(arrays, parameters(arrays, each, PLAIN, 0.0)).log_likelihood for each in (counts, first_counts(arrays, np.float64))
    )
    assert better > plain
    made = [step.state for step in training_steps(arrays, initial_state(arrays), 2, (1,), Schedule(4, 2, 2), contexts=("tags",))]
    assert [(state.round, state.iteration) for state in made] == [(1, i) for i in range(5, 9)] + [(2, i) for i in range(1, 9)]
    assert [len(state.up) for state in made][:7] == [1] * 7
    assert not made[0].up[0].any()


def test_rare_contexts_split_nothing_and_unknown_ones_are_refused() -> None:
    arrays = treebank_arrays(TREES)
    assert context_counts(arrays, ("phrases",)) is None
    first = next(training_steps(arrays, initial_state(arrays), 1, (1,), Schedule(4, 2, 2), contexts=("phrases",)))
    assert (first.state.round, first.state.iteration) == (1, 1)
    with pytest.raises(UsageError, match="phrases, tags, inner"):
        context_counts(arrays, ("words",))
