"""Sign test, paired t-test and Holm's correction, against SciPy and by their properties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from treegauge.errors import MismatchError
from treegauge.significance import paired_t, sign_test
from treegauge.significance.classical import holm

NAN = math.nan


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60))
def test_sign_test_is_scipys_binomial_test(pairs: list[tuple[int, int]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    found = sign_test(a, b)
    wins, losses = sum(y > x for x, y in pairs), sum(y < x for x, y in pairs)
    assert found[:3] == (wins, losses, len(pairs) - wins - losses)
    assert found.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0, rel=1e-9)
    assert sign_test(b, a).p == found.p


def test_sign_test_with_undefined_values() -> None:
    assert sign_test([NAN, NAN, 0.5, 0.0], [NAN, 0.3, NAN, 0.0])[:3] == (1, 1, 1)


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), min_size=2, max_size=40))
def test_paired_t_is_scipys(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])
    found = paired_t(a, b)
    if np.std(b - a) < 1e-6:
        return
    theirs = stats.ttest_rel(b, a)
    assert (found.t, found.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-6)
    assert found.df == len(pairs) - 1


def test_goodmans_table_1() -> None:
    """Goodman 1996, experiment 1: ten runs, t(9) = 2.98 has p = .015."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=10)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    differences = noise + 2.98 / math.sqrt(10)
    found = paired_t(np.zeros(10), differences)
    assert (round(found.t, 2), found.df, round(found.p, 3)) == (2.98, 9, 0.015)


def test_paired_t_at_its_edges() -> None:
    assert math.isnan(paired_t([1.0], [2.0]).p)
    assert math.isnan(paired_t([], []).mean)
    assert paired_t([1, 2], [1, 2]).p == 1
    assert math.isnan(paired_t([1, 2], [1, 2]).t)
    assert paired_t([1, 2], [2, 3])[1:] == (math.inf, 1, 0.0)
    assert paired_t([1, 2, NAN], [2, 5, 7]).df == 1
    with pytest.raises(MismatchError):
        paired_t([1, 2], [1])
    with pytest.raises(MismatchError):
        sign_test([1, 2], [1])


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p_values)
def test_holm_is_monotone_and_never_smaller(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(x <= y <= 1 for x, y in zip(p, adjusted, strict=True))
    order = sorted(range(len(p)), key=lambda index: p[index])
    assert all(adjusted[i] <= adjusted[j] for i, j in itertools.pairwise(order))
    assert adjusted[order[0]] == pytest.approx(min(1.0, len(p) * p[order[0]]))
    assert holm(p[::-1]) == pytest.approx(adjusted[::-1])


@given(p_values, st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_procedure_rejects(p: list[float], alpha: float) -> None:
    rejected: set[int] = set()
    order = sorted(range(len(p)), key=lambda index: p[index])
    for rank, index in enumerate(order):
        if p[index] * (len(p) - rank) > alpha:
            break
        rejected.add(index)
    assert {index for index, value in enumerate(holm(p)) if value <= alpha} == rejected


def test_holm_leaves_undefined_tests_out() -> None:
    adjusted = holm([0.01, NAN, 0.04])
    assert (adjusted[0], adjusted[2]) == (0.02, 0.04)
    assert math.isnan(adjusted[1])
    assert holm([]) == []
