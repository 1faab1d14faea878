"""EVALB.md 13: what EVALB_SPMRL does otherwise is not what ``treegauge evalb`` does."""

from __future__ import annotations

import pytest
from evalb_helpers import COLLINS, TRAM, run, run_words


def test_terminals_are_deleted():
    assert run(TRAM, TRAM).row.words == 5


def test_labels_are_not_cut_at_a_hash():
    assert run("(S (NP#1 (N a)) (N b))", "(S (NP (N a)) (N b))").row.matched == 1


def test_tags_are_not_cut():
    assert run("(S (-LRB- a))", "(S (-RRB- a))").row.tags == 0


def test_a_length_mismatch_is_an_error_and_no_complete_match():
    outcome = run("(S (N a))\n", "(S (N a) (N b))\n")
    assert (outcome.row.status, outcome.block(0)["Complete match"]) == (1, "0.00")


@pytest.mark.parametrize("option", ["-X", "-K", "-L", "-l", "-V"])
def test_its_options_are_unknown(option: str):
    outcome = run_words([option, "gold", "test"], gold=TRAM, test=TRAM, prm=COLLINS)
    assert (outcome.code, outcome.stdout) == (0, b"")
    assert outcome.messages[0].startswith(" evalb [-dDh]")
