"""Real treebanks: every invertible transform comes back exactly, and heads are where the tree has words."""

from __future__ import annotations

from pathlib import Path

import pytest

from treegauge.normalise import collapse_unaries, head_positions, mh, pipeline, strip_functions, unmh
from treegauge.trees import Tree, Treebank

if not (Path(__file__).resolve().parents[3] / "shared" / "data").is_dir():
    pytest.skip("no folder ../shared with the licensed treebanks beside the project", allow_module_level=True)

INVERTIBLE = [
    "unaries:joined",
    "double",
    "parents:3",
    "binarise:right:h=inf",
    "binarise:left:v=2",
    "binarise:head:h=1:v=2",
    "xcont",
]


@pytest.fixture(scope="module", params=["wsj_sample", "gum"])
def bank(request: pytest.FixtureRequest, shared: Path) -> list[Tree]:
    text = (shared / "data" / request.param / "dev.mrg").read_text(encoding="utf-8")
    return list(pipeline("traces,root").apply(Treebank.parse(text)))[:300]


@pytest.mark.parametrize("written", INVERTIBLE)
def test_round_trip_through_text(bank: list[Tree], written: str) -> None:
    chain = pipeline(written)
    back = chain.inverse()
    for tree in bank:
        made = chain(tree)
        assert made is not None
        assert back(Tree.parse(str(made))) == tree


def test_mh(bank: list[Tree]) -> None:
    for tree in bank:
        made = mh(tree)
        assert all(len(node) == 2 or node.is_preterminal for node in made.nodes())
        assert unmh(Tree.parse(str(made))) == collapse_unaries(strip_functions(tree))


def test_sentences_are_headed_by_verbs(bank: list[Tree]) -> None:
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
