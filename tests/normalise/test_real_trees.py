"""Treebanks of real sentences: every invertible transform comes back exactly, and heads are where the tree has words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from treegauge.data import own_treebank
from treegauge.normalise import collapse_unaries, head_positions, mh, pipeline, strip_functions, unmh
from treegauge.trees import Tree, Treebank

INVERTIBLE = [
    "unaries:joined",
    "double",
    "parents:3",
    "binarise:right:h=inf",
    "binarise:left:v=2",
    "binarise:head:h=1:v=2",
    "xcont",
]


def without_traces(bank: Treebank) -> list[Tree]:
    return list(pipeline("traces,root").apply(bank))[:300]


@pytest.fixture(scope="module")
def own() -> list[Tree]:
    return without_traces(own_treebank())


def check_round_trip(bank: Sequence[Tree], written: str) -> None:
    chain = pipeline(written)
    back = chain.inverse()
    for tree in bank:
        made = chain(tree)
        assert made is not None
        assert back(Tree.parse(str(made))) == tree


def check_mh(bank: Sequence[Tree]) -> None:
    for tree in bank:
        made = mh(tree)
        assert all(len(node) == 2 or node.is_preterminal for node in made.nodes())
        assert unmh(Tree.parse(str(made))) == collapse_unaries(strip_functions(tree))


def check_verbal_heads(bank: Sequence[Tree]) -> None:
    """Of declarative sentences with a VP child nearly all have a verb, a modal or `to` as head."""
    clauses = [
        (tree, position)
        for tree in bank
        for node, position in zip(tree.nodes(), head_positions(tree), strict=True)
        if node is tree and node.label == "S" and any(isinstance(child, Tree) and child.label == "VP" for child in node)
    ]
    verbal = sum(tree.tags[position][:2] in ("VB", "MD", "TO") for tree, position in clauses)
    assert len(clauses) > 100
    assert verbal > 0.95 * len(clauses)


@pytest.mark.parametrize("written", INVERTIBLE)
def test_round_trip_through_text(own: list[Tree], written: str) -> None:
    check_round_trip(own, written)


def test_mh(own: list[Tree]) -> None:
    check_mh(own)


def test_sentences_are_headed_by_verbs(own: list[Tree]) -> None:
    check_verbal_heads(own)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wsj_sample", "gum"])
def test_the_licensed_treebanks_too(shared: Path, name: str) -> None:
    bank = without_traces(Treebank.parse((shared / "data" / name / "dev.mrg").read_text(encoding="utf-8")))
    for written in INVERTIBLE:
        check_round_trip(bank, written)
    check_mh(bank)
    check_verbal_heads(bank)
