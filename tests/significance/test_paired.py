"""Rating many sums at once gives what rating them one by one gives, for every metric and for FREVAL's endless integers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from treegauge import alignment
from treegauge.alignment.pairing import Pair
from treegauge.metrics.fragments import BySize
from treegauge.metrics.freval import Freval
from treegauge.metrics.metric import Metric, Rates, Rows, Total, on_a_grid, total_of
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.presets import load_preset
from treegauge.significance import PairedColumns, bootstrap, randomisation
from treegauge.trees import Tree
from treegauge.trees.treebank import Treebank


def random_tree(rng: np.random.Generator, n: int) -> Tree:
    """A random tree over n words."""
    parts: list[Tree] = [Tree("N", [f"w{i}"]) for i in range(n)]
    while len(parts) > 1:
        width = int(rng.integers(2, min(4, len(parts)) + 1))
        at = int(rng.integers(0, len(parts) - width + 1))
        label = str(rng.choice(["NP", "VP", "PP", "S"]))
        parts[at : at + width] = [Tree(label, parts[at : at + width])]
    return Tree("S", parts)


@pytest.fixture(scope="module")
def rows_of() -> dict[str, list[NDArray[np.object_]]]:
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 9, 30)
    gold, *systems = (Treebank.from_trees([random_tree(rng, int(n)) for n in lengths]) for _ in range(3))
    pairs = [alignment.pair(gold, system, load_preset("default")) for system in systems]
    return {name: [find_metric(name).rows(pair) for pair in pairs] for name in metric_names()}


def one_by_one(metric: Metric, rows: NDArray[np.object_], weights: NDArray[np.float64]) -> dict[str, float]:
    """The rates of the rows, each taken as often as its weight says."""
    return metric.rates(total_of(np.repeat(rows, weights.astype(int), axis=0)))


FREVALS = ["freval:published", "freval:geometric:1-2:1-4", "freval:halving", "freval:published:1-5", "freval:1-3:1-40"]


@pytest.mark.parametrize("name", [*metric_names(), *FREVALS])
def test_many_sums_at_once(rows_of: dict[str, list[NDArray[np.object_]]], name: str) -> None:
    metric = find_metric(name)
    rows = rows_of[name.partition(":")[0]]
    paired = PairedColumns.of(metric, rows)
    assert paired.exact
    weights = np.random.default_rng(2).integers(0, 3, size=(20, len(paired))).astype(np.float64)
    weights[0] = 0
    for system, of_system in enumerate(rows):
        found = paired.rates_of(weights @ paired.columns[system])
        for sample, row in zip(weights, found, strict=True):
            expected = one_by_one(metric, of_system, sample) if sample.any() else metric.rates([0] * len(metric.columns))
            for (_, rate), value in zip(paired.names, row, strict=True):
                assert value == pytest.approx(expected[rate], nan_ok=True, abs=1e-11), rate


@pytest.mark.parametrize("name", metric_names())
def test_leaving_one_out(rows_of: dict[str, list[NDArray[np.object_]]], name: str) -> None:
    metric = find_metric(name)
    paired = PairedColumns.of(metric, rows_of[name])
    found = paired.leave_one_out(1, range(len(paired.names)))
    for left_out in (0, 7, len(paired) - 1):
        expected = metric.rates(total_of(np.delete(rows_of[name][1], left_out, axis=0)))
        for (_, rate), value in zip(paired.names, found[left_out], strict=True):
            assert value == pytest.approx(expected[rate], nan_ok=True, abs=1e-11)


@pytest.mark.parametrize("name", metric_names())
def test_every_metric_can_be_tested(rows_of: dict[str, list[NDArray[np.object_]]], name: str) -> None:
    metric = find_metric(name)
    paired = PairedColumns.of(metric, rows_of[name])
    tested = randomisation(paired, rounds=199)
    place = tested.names.index((metric.name, metric.headline))
    rates = [metric.rates(total_of(rows))[metric.headline] for rows in rows_of[name]]
    assert tested.difference[place] == pytest.approx(rates[1] - rates[0], abs=1e-11, nan_ok=True)
    assert np.isnan(rates).all() == (name == "discontinuous"), "these trees have no constituent with a gap"
    found = bootstrap(paired, rounds=99).of_difference(0, 1, (metric.name, metric.headline))
    assert found.low <= found.high or np.isnan([rates[0], found.low, found.high]).all()


def freval_rows(*sentences: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]) -> NDArray[np.object_]:
    rows = np.empty((len(sentences), 4), dtype=object)
    for index, counts in enumerate(sentences):
        rows[index] = (1, *map(BySize, counts))
    return rows


def test_counts_beyond_float64() -> None:
    """A sentence with 10^400 fragments of a size beside one with 2: no overflow, and without the first the second still counts."""
    huge = 10**400
    a = freval_rows(((3, huge), (3, huge), (1, huge // 2)), ((2, 2), (2, 2), (2, 1)))
    b = freval_rows(((3, huge), (3, huge), (3, huge)), ((2, 2), (2, 1), (1, 0)))
    metric = Freval(ranges=(0,))
    paired = PairedColumns.of(metric, [a, b])
    assert not paired.exact
    for system, rows in enumerate((a, b)):
        for sentences in ([0], [1], [0, 1]):
            expected = metric.rates(total_of(rows[sentences]))
            found = paired.take(np.array(sentences)).observed(system)
            assert found == pytest.approx([expected[rate] for _, rate in paired.names], rel=1e-9)
    result = randomisation(paired)
    assert result.exact
    # All four swaps by hand: nothing and everything swapped have the observed difference.
    values = []
    for first, second in ((a, b), (np.stack([a[0], b[1]]), np.stack([b[0], a[1]]))):
        values.append(abs(metric.rates(total_of(second))["f1"] - metric.rates(total_of(first))["f1"]))
    expected_p = 1.0 if values[1] >= values[0] else 0.5
    assert result.p[result.names.index(("freval", "f1"))] == expected_p


def test_a_metric_whose_rates_cannot_take_arrays() -> None:
    class Awkward(Metric):
        name, headline, columns = "awkward", "best", ("x", "y")

        def rows(self, pair: Pair) -> Rows:
            raise NotImplementedError

        def rates(self, total: Total) -> Rates:
            return {"best": float(max(total[0], total[1]))}

    rows = np.array([[1, 2], [5, 1]])
    paired = PairedColumns.of(Awkward(), [rows, rows])
    assert paired.rates_of(np.array([[1.0, 2.0], [7.0, 3.0]])).tolist() == [[2.0], [7.0]]


def test_sums_on_the_grid_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(4)
    raw = np.column_stack([rng.random(1000), rng.integers(0, 50, 1000), rng.random(1000) * 1e-9])
    rows = on_a_grid(raw)
    assert np.array_equal(rows[:, 1], raw[:, 1])
    np.testing.assert_allclose(rows, raw, rtol=0, atol=1e-12)
    for _ in range(5):
        assert np.array_equal(rows[rng.permutation(1000)].sum(axis=0), rows.sum(axis=0))
    weights = rng.multinomial(1000, np.full(1000, 1e-3)).astype(float)
    assert np.array_equal(weights @ rows, (weights[::-1] @ rows[::-1]))
