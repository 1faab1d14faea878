"""Agreement against its definition, pair by pair; golden numbers stand in the doctests."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import pytest
from humancheck_helpers import said
from hypothesis import given, settings, strategies as st

from treegauge.humancheck.judgements import JudgementLog
from treegauge.humancheck.questions import Check
from treegauge.humancheck.results import all_agreements, cohens_kappa, find_agreement, krippendorffs_alpha, ratings

ANSWERS = st.lists(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=6, max_size=6), min_size=2, max_size=4)


def alpha_by_definition(answers: list[list[int | None]]) -> float:
    """1 - observed / expected disagreement over all pairs of values that could be paired."""
    units = [[row[unit] for row in answers if row[unit] is not None] for unit in range(len(answers[0]))]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    observed = sum(sum(a != b for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units)
    expected = sum(a != b for a, b in permutations(values, 2))
    return 1 - observed * (len(values) - 1) / expected if expected else math.nan


@given(ANSWERS)
def test_alpha(answers: list[list[int | None]]) -> None:
    assert krippendorffs_alpha(answers) == pytest.approx(alpha_by_definition(answers), nan_ok=True)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_kappa(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    observed = sum(x == y for x, y in pairs) / len(pairs)
    by_chance = sum(a.count(k) * b.count(k) for k in range(3)) / len(pairs) ** 2
    expected = (observed - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan
    assert cohens_kappa(a, b) == pytest.approx(expected, nan_ok=True)


@settings(max_examples=20)
@given(ANSWERS)
def test_all_pairs_and_all_together(answers: list[list[int | None]]) -> None:
    names = "abcd"[: len(answers)]
    found = all_agreements(dict(zip(names, answers, strict=True)))
    assert [agreement.annotators for agreement in found] == [*combinations(names, 2), tuple(names)]
    assert found[-1].value == pytest.approx(krippendorffs_alpha(answers), nan_ok=True)
    for agreement in found:
        if not math.isnan(agreement.low):
            assert agreement.low <= agreement.high <= 1 + 1e-12


def test_agreement_of_a_check(check: Check) -> None:
    numbers = check.order[:20]
    log = [said(check, n, "accepted" if i % 2 else "rejected", "anna") for i, n in enumerate(numbers)]
    log += [said(check, n, "accepted" if i % 4 else "rejected", "ben") for i, n in enumerate(numbers[:16])]
    log += [said(check, numbers[16], "unsure", "ben"), said(check, numbers[2], "rejected", "x", role="adjudicator")]
    log = JudgementLog(log)
    table = find_agreement(check, log)
    assert [row[:3] for row in table.rows] == [("anna, ben", "Cohen's kappa", 16), ("anna, ben", "Krippendorff's alpha", 16)]
    assert table.rows[0][3] == 0.75
    assert table.notes == ("4 brackets accepted by one annotator and rejected by another, 1 settled by an adjudicator",)
    brackets = [check.questions[n].bracket for n in numbers]
    assert ratings(log, brackets, unsure=True)["ben"][16] == 2
    assert find_agreement(check, log, ["anna"]).rows == ()
    assert find_agreement(check, JudgementLog([])).notes == (
        "agreement needs answers of two annotators; so far 0 annotators answered",
    )


def test_nobody_and_one_have_no_agreement() -> None:
    assert all_agreements({}) == []
    assert all_agreements({"anna": [0, 1]}) == []
    (kappa, alpha) = all_agreements({"anna": [0, None], "ben": [None, 1]})
    assert (kappa.shared, alpha.shared) == (0, 0)
    assert math.isnan(kappa.value)
    assert math.isnan(alpha.value)
