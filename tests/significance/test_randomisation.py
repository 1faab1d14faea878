"""Paired randomisation against enumeration of all swaps, and what must hold of any test of two systems."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from significance_rows import F1, rows, two_systems

from treegauge.errors import MismatchError, UsageError
from treegauge.metrics.parseval import Parseval
from treegauge.significance import PairedColumns, randomisation, resampling
from treegauge.significance.resampling import all_swaps, bootstrap_weights, random_swaps


def brute_force(a: NDArray[np.float64], b: NDArray[np.float64], rate: str) -> float:
    """The share of all 2^n swaps whose difference is at least as large, by the definition."""
    metric = Parseval()

    def difference(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
        of_a, of_b = (metric.rates([math.fsum(column) for column in table.T])[rate] for table in (first, second))
        return abs(of_b - of_a)

    observed = difference(a, b)
    if math.isnan(observed):
        return math.nan
    hits = 0
    for swaps in itertools.product([False, True], repeat=len(a)):
        mask = np.array(swaps)[:, None]
        found = difference(np.where(mask, b, a), np.where(mask, a, b))
        hits += math.isnan(found) or found >= observed - 1e-12
    return hits / 2 ** len(a)


@given(two_systems())
@settings(max_examples=60)
def test_exact_p_is_the_share_of_all_swaps(systems: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    result = randomisation(PairedColumns.of(Parseval(), systems))
    assert result.exact
    for rate in ("recall", "precision", "f1", "mean_f1"):
        p = result.p[result.names.index(("parseval", rate))]
        assert p == pytest.approx(brute_force(*systems, rate), nan_ok=True), rate


@given(two_systems(largest=30))
@settings(max_examples=40)
def test_swapping_the_systems_changes_the_sign_only(systems: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    a, b = systems
    one = randomisation(PairedColumns.of(Parseval(), [a, b]), rounds=99)
    other = randomisation(PairedColumns.of(Parseval(), [b, a]), rounds=99)
    np.testing.assert_allclose(one.difference, -other.difference, equal_nan=True)
    np.testing.assert_allclose(one.p, other.p, equal_nan=True)


@given(two_systems(largest=40))
@settings(max_examples=40)
def test_identical_systems_have_p_1(systems: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    a, _ = systems
    result = randomisation(PairedColumns.of(Parseval(), [a, a.copy()]), rounds=50)
    assert all(math.isnan(p) or p == 1 for p in result.p)
    assert result.exact


def test_a_rate_that_is_equal_has_p_1_beside_one_that_is_not() -> None:
    a = rows([(2, 4, 5)] * 40)
    b = rows([(2, 4, 3)] * 40)
    result = randomisation(PairedColumns.of(Parseval(), [a, b]), rounds=999)
    p = dict(zip(result.names, result.p, strict=True))
    assert not result.exact
    assert p["parseval", "recall"] == 1
    assert p["parseval", "precision"] == pytest.approx(1 / 1000)


def test_random_rounds_agree_with_enumeration() -> None:
    rng = np.random.default_rng(8)
    right = [int(count) for count in rng.integers(0, 8, 14)]
    a = rows([(count, 9, 9) for count in right])
    b = rows([(count + int(rng.choice([-count or 1, 1, 2])), 9, 9) for count in right])
    paired = PairedColumns.of(Parseval(), [a, b])
    exact = randomisation(paired, rounds=2**14)
    random = randomisation(paired, rounds=2**14 - 1, seed=4)
    assert (exact.exact, random.exact) == (True, False)
    place = paired.names.index(F1)
    p = exact.p[place]
    assert 0.05 < p < 0.95
    assert random.p[place] == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 2**14))


def test_the_seed_and_nothing_else_decides() -> None:
    rng = np.random.default_rng(2)
    a, b = (rows([(int(rng.integers(0, 5)), 5, 5) for _ in range(200)]) for _ in range(2))
    alone = PairedColumns.of(Parseval(), [a, b])
    other = PairedColumns.of(Parseval(), [a[:, :], b[:, :]], name="again")
    together = PairedColumns.stack([other, alone])
    first = randomisation(alone, rounds=700, seed=5)
    second = randomisation(together, rounds=700, seed=5)
    assert np.array_equal(first.p, second.p[len(first.p) :], equal_nan=True)
    assert len({randomisation(alone, rounds=700, seed=seed).p[0] for seed in range(5)}) > 1
    assert second.seed == 5


def test_blocks_do_not_depend_on_how_many_there_are() -> None:
    few, many = ([block.floats() for block in random_swaps(9, rounds, 3)] for rounds in (512, 2000))
    assert np.array_equal(few[0], many[0])
    assert not np.array_equal(many[0], many[1])
    assert sum(len(block) for block in many) == 2000
    assert np.array_equal(next(bootstrap_weights(9, 512, 3)), next(bootstrap_weights(9, 5000, 3)))


def test_all_swaps_are_all_different() -> None:
    swaps = np.concatenate(list(all_swaps(10)))
    assert len(np.unique(swaps, axis=0)) == len(swaps) == 1024


def test_swaps_are_fair_and_bootstrap_weights_are_multinomial() -> None:
    swaps = np.concatenate([block.floats() for block in random_swaps(50, 4000, 1)])
    assert swaps.mean() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(swaps.size))
    weights = np.concatenate(list(bootstrap_weights(50, 4000, 1)))
    assert (weights.sum(axis=1) == 50).all()
    assert weights.var() == pytest.approx(1 - 1 / 50, rel=0.03)


def test_bad_input_is_refused() -> None:
    a = rows([(1, 2, 3)] * 3)
    with pytest.raises(MismatchError, match="same sentences"):
        PairedColumns.of(Parseval(), [a, a[:2]])
    with pytest.raises(UsageError, match="no sentences"):
        randomisation(PairedColumns.of(Parseval(), [a[:0], a[:0]]))
    with pytest.raises(UsageError, match="no systems"):
        PairedColumns.of(Parseval(), [])
    b = rows([(0, 2, 3)] * 60)
    with pytest.raises(UsageError, match="rounds"):
        randomisation(PairedColumns.of(Parseval(), [rows([(1, 2, 3)] * 60), b]), rounds=0)
    with pytest.raises(UsageError, match="seed"):
        randomisation(PairedColumns.of(Parseval(), [rows([(1, 2, 3)] * 60), b]), seed=-1)
    with pytest.raises(MismatchError):
        PairedColumns.stack([PairedColumns.of(Parseval(), [a, a]), PairedColumns.of(Parseval(), [b, b])])


def test_large_samples_in_pieces_are_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rounds of a block are drawn in pieces where they are many sentences; no number depends on that."""

    def draw(n: int) -> list[list[NDArray[np.float64]]]:
        swaps = [block.floats() for block in random_swaps(n, 700, 3)]
        return [swaps, [block.astype(np.float64) for block in bootstrap_weights(n, 700, 3)]]

    for n in (1, 9, 50, 203):
        whole = [np.concatenate(blocks) for blocks in draw(n)]
        for most in (1, 60, 4 * 203, 5000):
            monkeypatch.setattr(resampling, "_MOST_NUMBERS", most)
            monkeypatch.setattr(resampling, "_MOST_FLOATS", most)
            pieces = draw(n)
            assert all(np.array_equal(a, np.concatenate(b)) for a, b in zip(whole, pieces, strict=True))
            assert max(len(piece) for piece in pieces[1]) <= max(most // n, 4)
            monkeypatch.undo()
