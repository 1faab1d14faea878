"""McNemar, the binomial question and the real test: the exact cases, SciPy, and the corners."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from known_answers import exact_cases
from scipy.stats import binomtest

from treegauge.errors import UsageError
from treegauge.significance import Cells, binomial, mcnemar, real_test, real_test_at, real_test_m1

counts = st.builds(Cells, *[st.integers(0, 3000)] * 4)


@pytest.fixture(params=exact_cases("hm_significance"), ids=lambda case: case["id"])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    return request.param


def size_and_z(cells: Cells, M1: Fraction, M2: int) -> tuple[float, float]:
    """By the definition: z = (NY - YN) / sqrt(n pa qa + n pb qb) in what is left of the test."""
    n = cells.total - M1 - M2
    pa, pb = (cells.YY + cells.YN - M1) / n, (cells.YY + cells.NY - M1) / n
    return float(n), (cells.NY - cells.YN) / math.sqrt(n * pa * (1 - pa) + n * pb * (1 - pb))


def test_cases(case: dict[str, Any]) -> None:
    cells, expected = Cells(**case["input"]), case["expected"]
    found = binomial(cells)
    for name, value in expected["binomial"].items():
        assert getattr(found, name) == pytest.approx(float(Fraction(value)), rel=1e-14)
    z = expected["mcnemar_z"]
    assert mcnemar(cells).z == pytest.approx(math.nan if z is None else z, rel=1e-14, nan_ok=True)
    test = real_test(cells)
    for solution in expected["relation"]:
        M1 = real_test_m1(cells, solution["M2"])
        assert Fraction(solution["M1"]) == M1
        assert solution["feasible"] == (0 <= M1 <= cells.YY)
        if "z_unpooled" in solution:
            size, z = size_and_z(cells, M1, solution["M2"])
            assert size == pytest.approx(solution["size"], rel=1e-12)
            assert z == pytest.approx(solution["z_unpooled"], rel=1e-12)
            assert test.z_range[0] - 1e-9 <= z <= test.z_range[1] + 1e-9
            assert size >= test.size - 1e-9
    symmetric = expected["symmetric"]
    if symmetric["feasible"] and (cells.YN or cells.NY):
        assert (round(test.M1), round(test.M2)) == (symmetric["M1"], symmetric["M2"])
    elif not math.isnan(test.M1):
        assert 0 in (test.M1, test.M2)


@given(counts)
def test_the_real_test_solves_the_papers_equations(cells: Cells) -> None:
    test = real_test(cells)
    if math.isnan(test.z):
        assert test.reason
        return
    # YY and NN that remain are what two independent binomial systems would show on a test of this size.
    n = test.size
    pa, pb = (cells.YY + cells.YN - test.M1) / n, (cells.YY + cells.NY - test.M1) / n
    assert pytest.approx(n * pa * pb, rel=1e-6, abs=1e-6) == cells.YY - test.M1
    assert pytest.approx(n * (1 - pa) * (1 - pb), rel=1e-6, abs=1e-6) == cells.NN - test.M2
    assert -1e-9 <= test.M1 <= cells.YY
    assert -1e-9 <= test.M2 <= cells.NN
    assert test.z == pytest.approx((cells.NY - cells.YN) / math.sqrt(n * pa * (1 - pa) + n * pb * (1 - pb)), rel=1e-6, abs=1e-9)


@given(counts, st.floats(0, 1))
def test_the_range_holds_every_solution(cells: Cells, share: float) -> None:
    test = real_test(cells)
    if math.isnan(test.z):
        return
    product = cells.YN * cells.NY
    smallest = product / cells.NN
    yy = smallest + share * (cells.YY - smallest)
    nn = product / yy
    n = yy + nn + cells.YN + cells.NY
    pa, pb = (yy + cells.YN) / n, (yy + cells.NY) / n
    z = (cells.NY - cells.YN) / math.sqrt(n * pa * (1 - pa) + n * pb * (1 - pb))
    assert test.z_range[0] - 1e-6 <= z <= test.z_range[1] + 1e-6
    assert n >= test.size * (1 - 1e-9)


@given(counts)
def test_systems_change_places(cells: Cells) -> None:
    other = Cells(cells.YY, cells.NY, cells.YN, cells.NN)
    assert mcnemar(other).z == pytest.approx(-mcnemar(cells).z, nan_ok=True)
    assert mcnemar(other).p_exact == mcnemar(cells).p_exact
    assert real_test(other).z == pytest.approx(-real_test(cells).z, nan_ok=True)
    assert real_test(other).size == pytest.approx(real_test(cells).size, nan_ok=True)


@given(st.integers(0, 400), st.integers(0, 400))
def test_exact_mcnemar_is_scipys_binomial_test(yn: int, ny: int) -> None:
    expected = binomtest(yn, yn + ny).pvalue if yn + ny else 1.0
    assert mcnemar(Cells(5, yn, ny, 5)).p_exact == pytest.approx(expected, rel=1e-9)


@given(st.integers(5_001, 300_000), st.integers(-1_500, 1_500))
@settings(max_examples=50)
def test_mcnemar_of_many_brackets_is_scipys_binomial_test(yn: int, more: int) -> None:
    """Above 10,000 tosses the tail is a continued fraction and no longer a sum of integers."""
    expected = binomtest(yn, 2 * yn + more).pvalue
    assert mcnemar(Cells(5, yn, yn + more, 5)).p_exact == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (Cells(10, 0, 0, 5), "z is undefined"),
        (Cells(0, 0, 0, 0), "z is undefined"),
        (Cells(0, 4, 4, 0), "less often"),
        (Cells(50, 7, 13, 0), "less often"),
        (Cells(50, 0, 13, 9), "exact McNemar"),
        (Cells(50, 13, 0, 0), "exact McNemar"),
    ],
)
def test_where_there_is_no_z(cells: Cells, reason: str) -> None:
    test = real_test(cells)
    assert math.isnan(test.z)
    assert reason in test.reason


def test_a_cell_too_small_for_equal_remainders_is_kept_whole() -> None:
    test = real_test(Cells(1058, 22, 41, 8))
    assert (test.M1, test.M2) == (945.25, 0)
    assert test.size == 183.75


def test_negative_counts_and_impossible_m2_are_refused() -> None:
    for function in (binomial, mcnemar, real_test):
        with pytest.raises(UsageError, match="negative"):
            function(Cells(1, -1, 0, 3))
    with pytest.raises(UsageError, match="M2"):
        real_test_m1(Cells(5, 1, 2, 4), 4)


def test_binomial_against_simulation() -> None:
    rng = np.random.default_rng(3)
    cells = Cells(200, 100, 60, 140)
    pa, pb = 300 / 500, 260 / 500
    yy = ((rng.random((20000, 500)) < pa) & (rng.random((20000, 500)) < pb)).sum(axis=1)
    found = binomial(cells)
    assert yy.mean() == pytest.approx(found.E_YY, rel=0.01)
    assert yy.var() == pytest.approx(found.V_YY, rel=0.05)
    assert found.deviations[0] == pytest.approx((200 - found.E_YY) / math.sqrt(found.V_YY))
    assert all(math.isnan(value) for value in binomial(Cells(0, 0, 0, 0))[:4])


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 20), st.integers(1, 60))
def test_the_real_test_at_given_numbers(yy: int, yn: int, ny: int, nn: int) -> None:
    """Solving for M1 gives a remainder that is binomial; the default's own M give the default."""
    cells = Cells(yy, yn, ny, nn)
    default = real_test(cells)
    if default.reason:
        return
    again = real_test_at(cells, default.M1, default.M2)
    assert (again.size, again.z) == (pytest.approx(default.size), pytest.approx(default.z))
    solved = real_test_at(cells, M2=default.M2)
    assert pytest.approx(default.M1, abs=1e-6) == solved.M1
    assert pytest.approx(cells.YN * cells.NY, rel=1e-6) == (cells.YY - solved.M1) * (cells.NN - solved.M2)
    assert not solved.reason
    with pytest.raises(UsageError):
        real_test_at(cells, cells.YY + 1, 0)
