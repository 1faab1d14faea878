"""Bootstrap intervals: SciPy's BCa on the same samples, coverage on a known case, and the corners."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from scipy import stats
from significance_rows import COLUMNS, F1, rows, two_systems

from treegauge.errors import UnknownName, UsageError
from treegauge.metrics.parseval import Parseval
from treegauge.significance import PairedColumns, bca_interval, bootstrap, percentile_interval, resampling

MEAN = ("parseval", "mean_f1")


def of_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of which only the mean of sentence F1 is of interest."""
    table = np.zeros((len(values), len(COLUMNS)))
    table[:, COLUMNS.index("f1_sum")] = values
    table[:, COLUMNS.index("f1_defined")] = 1
    return table


@pytest.mark.parametrize("seed", range(6))
def test_bca_is_scipys_on_the_same_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.gamma(0.7, size=40)

    def statistic(x: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.var(x, axis=axis) / np.mean(x, axis=axis)

    theirs = stats.bootstrap((data,), statistic, method="BCa", n_resamples=999, rng=rng)
    without_one = np.array([statistic(np.delete(data, i)) for i in range(len(data))])
    ours = bca_interval(float(statistic(data)), theirs.bootstrap_distribution, without_one)
    assert ours[:2] == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)
    assert ours.method == "bca"


def test_percentile_is_scipys_on_the_same_samples() -> None:
    rng = np.random.default_rng(1)
    theirs = stats.bootstrap((rng.normal(size=30),), np.mean, method="percentile", n_resamples=999, rng=rng)
    ours = percentile_interval(theirs.bootstrap_distribution)
    assert ours[:2] == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)


def test_coverage_of_bca_on_a_skewed_mean() -> None:
    """90% intervals of the mean of 40 exponential values, whose mean is 1, hold it about 90% of the time."""
    rng = np.random.default_rng(7)
    trials, held = 400, 0
    for trial in range(trials):
        paired = PairedColumns.of(Parseval(), [of_means(rng.exponential(size=40))])
        low, high, method, _ = bootstrap(paired, rounds=600, seed=trial).of_rate(0, MEAN, level=0.9, method="bca")
        assert method == "bca"
        held += low <= 1 <= high
    # 4,000 trials gave .872; 4 standard errors of 400 trials below and above.
    assert 0.805 <= held / trials <= 0.939


def test_the_interval_of_a_difference_is_paired() -> None:
    rng = np.random.default_rng(5)
    easy = rng.random(200)
    a, b = of_means(easy), of_means(easy + 0.01 + 0.001 * rng.random(200))
    drawn = bootstrap(PairedColumns.of(Parseval(), [a, b]), rounds=500)
    alone, difference = drawn.of_rate(0, MEAN), drawn.of_difference(0, 1, MEAN)
    assert difference.high - difference.low < 0.01 * (alone.high - alone.low)
    assert difference.low < 0.0105 < difference.high


@given(two_systems(largest=12))
@settings(max_examples=40)
def test_swapping_systems_mirrors_the_interval(systems: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    drawn = bootstrap(PairedColumns.of(Parseval(), systems), rounds=199)
    one = drawn.of_difference(0, 1, F1, method="percentile")
    other = drawn.of_difference(1, 0, F1, method="percentile")
    assert one.low == pytest.approx(-other.high, nan_ok=True, abs=1e-12)
    assert one.high == pytest.approx(-other.low, nan_ok=True, abs=1e-12)


def test_one_sentence_has_no_interval() -> None:
    drawn = bootstrap(PairedColumns.of(Parseval(), [rows([(1, 2, 3)]), rows([(2, 2, 3)])]), rounds=20)
    for found in (drawn.of_rate(0, F1), drawn.of_difference(0, 1, F1)):
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert "fewer than two" in found.warning
    assert math.isnan(drawn.effect_size(0, 1, F1))


def test_no_variation_gives_a_percentile_interval_and_says_so() -> None:
    drawn = bootstrap(PairedColumns.of(Parseval(), [rows([(1, 2, 3)] * 9), rows([(2, 2, 3)] * 9)]), rounds=50)
    for method in ("bca", "percentile"):
        found = drawn.of_difference(0, 1, F1, method=method)
        assert (found.low, found.high) == (pytest.approx(0.4), pytest.approx(0.4))
        assert found.method == "percentile"
        assert "no variation" in found.warning
    same = bootstrap(PairedColumns.of(Parseval(), [rows([(1, 2, 3)] * 9)] * 2), rounds=50).of_difference(0, 1, F1)
    assert same[:2] == (0, 0)
    assert math.isnan(drawn.effect_size(0, 1, F1))


def test_an_infinite_bias_gives_a_percentile_interval_and_says_so() -> None:
    found = bca_interval(5.0, np.arange(5.0), np.arange(9.0))
    assert found.method == "percentile"
    assert "one side" in found.warning


def test_a_rate_undefined_in_some_samples() -> None:
    # Precision is undefined in a sample that misses both sentences with brackets.
    a = rows([(1, 2, 2), (1, 2, 3), *[(0, 2, 0)] * 4])
    found = bootstrap(PairedColumns.of(Parseval(), [a]), rounds=400).of_rate(0, ("parseval", "precision"))
    assert "undefined in" in found.warning
    assert 0 < found.low <= found.high <= 1
    never = bootstrap(PairedColumns.of(Parseval(), [rows([(0, 2, 0)] * 4)]), rounds=20).of_rate(0, ("parseval", "precision"))
    assert math.isnan(never.low)
    assert "undefined" in never.warning


def test_effect_size_of_a_mean_is_cohens_d_of_the_sentences() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.random(50), rng.random(50)
    drawn = bootstrap(PairedColumns.of(Parseval(), [of_means(x), of_means(y)]), rounds=5)
    assert drawn.effect_size(0, 1, MEAN) == pytest.approx(np.mean(y - x) / np.std(y - x, ddof=1), rel=1e-9)


def test_bad_requests_are_refused() -> None:
    drawn = bootstrap(PairedColumns.of(Parseval(), [rows([(1, 2, 3)] * 3)]), rounds=5)
    with pytest.raises(UsageError, match="confidence level"):
        drawn.of_rate(0, F1, level=95)
    with pytest.raises(UnknownName):
        drawn.of_rate(0, F1, method="studentised")
    with pytest.raises(UsageError, match="no sentences"):
        bootstrap(PairedColumns.of(Parseval(), [rows([])]))


def test_leaving_one_out_in_blocks_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of what stands before and after each sentence are added in the same order, however many are in memory at once."""
    generator = np.random.default_rng(3)
    columns = generator.random((37, len(Parseval.columns))) * 10.0 ** generator.integers(-9, 9, size=(37, 1))
    paired = PairedColumns((), (columns,), lambda sums: sums, exact=False)
    before = np.cumsum(np.concatenate([np.zeros((1, columns.shape[1])), columns]), axis=0)
    after = np.cumsum(np.concatenate([np.zeros((1, columns.shape[1])), columns[::-1]]), axis=0)[::-1]
    for size in (1, 5, 37, 1000):
        monkeypatch.setattr(resampling, "_SENTENCES", size)
        assert np.array_equal(paired.leave_one_out(0, range(columns.shape[1])), before[:-1] + after[1:])
        assert np.array_equal(paired.leave_one_out(0, [2, 0]), (before[:-1] + after[1:])[:, [2, 0]])
