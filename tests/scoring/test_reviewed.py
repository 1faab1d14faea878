"""Faults that a reviewer found: each of these failed before."""

from __future__ import annotations

from typing import Any

import pytest

import treegauge
from treegauge.errors import UsageError
from treegauge.reports.scores import evalb_layout

GOLD = ["(S (NP (D a) (N b)) (VP (V c)))"] * 4


def test_evalbs_layout_follows_the_rule_for_missing_parses() -> None:
    """A sentence without a parse is not free of crossings, and no part of their average."""
    crossing = "(S (D a) (VP (N b) (V c)))"
    result = treegauge.score(GOLD, [GOLD[0], crossing, "(S (NP", ""])
    block = dict(
        line.split(" = ") for line in evalb_layout(result).split("-- All --")[1].split("--")[0].splitlines() if " = " in line
    )
    found = {name.strip(): float(value) for name, value in block.items()}
    assert found["No crossing"] == pytest.approx(100 * result.rates["no_crossing"], abs=0.01)
    assert found["2 or less crossing"] == pytest.approx(100 * result.rates["two_or_less_crossing"], abs=0.01)
    assert found["Average crossing"] == pytest.approx(result.rates["average_crossing"], abs=0.01)
    assert found["Complete match"] == pytest.approx(100 * result.rates["exact_match"], abs=0.01)


def test_parses_without_tags_are_noticed_where_gold_has_function_tags() -> None:
    gold = ["(S (WHNP-1 (DT a)) (VP (VB c) (NP-TMP (NN d) (RB e) (JJ f))))"] * 4
    result = treegauge.score(gold, ["(S (WHNP a) (VP c (NP d e f)))"] * 4)
    assert any("has a tag" in str(note) for note in result.notes)


def test_a_second_system_in_the_place_of_options_is_refused() -> None:
    compare: Any = treegauge.compare
    with pytest.raises(UsageError, match="all systems together"):
        compare(GOLD, GOLD, GOLD)
