"""Fail a build when the parser gets worse: put this file among your tests, and name your own files.

    pytest examples/test_parser_quality.py

The files come from the environment: ``GOLD`` and ``PARSES``. Without them, the treebank that comes with treegauge is scored against
itself with every PP called an NP, so that the example runs as it stands. ``LEAST_F1`` is the least that passes. ``BASELINE``
names a file written for the last release by ``treegauge score --save``: then F1 must not fall by more than half a point either.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

import treegauge
from treegauge.data import own_treebank

LEAST_F1 = float(os.environ.get("LEAST_F1", "0.8"))


@pytest.fixture(scope="session")
def gold() -> treegauge.Treebank:
    return treegauge.read(os.environ["GOLD"]) if "GOLD" in os.environ else treegauge.as_treebank(list(own_treebank("dev"))[:20])


@pytest.fixture(scope="session")
def parses(gold: treegauge.Treebank) -> Sequence[treegauge.Tree]:
    if "PARSES" in os.environ:
        return list(treegauge.read(os.environ["PARSES"]))
    return [treegauge.Tree.parse(str(tree).replace("(PP ", "(NP ")) for tree in gold]


def test_f1_is_high_enough(gold: treegauge.Treebank, parses: Sequence[treegauge.Tree]) -> None:
    result = treegauge.score(gold, parses)
    assert not result.problems, result.problems
    assert result.f1 >= LEAST_F1, f"F1 {100 * result.f1:.2f} is below {100 * LEAST_F1:.2f} ({result.signature})"


@pytest.mark.skipif("BASELINE" not in os.environ, reason="BASELINE names no saved scores")
def test_f1_has_not_fallen(gold: treegauge.Treebank, parses: Sequence[treegauge.Tree]) -> None:
    before = treegauge.Scores.load(os.environ["BASELINE"])[0]
    after = treegauge.score(gold, parses)
    assert after.f1 >= before.f1 - 0.005, f"F1 fell from {100 * before.f1:.2f} to {100 * after.f1:.2f}"
