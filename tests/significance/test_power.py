"""Power and equivalence: against tests that are really done, against their definitions, and as users ask for them."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from significance_rows import careless, own_treebank, rows

from treegauge import compare
from treegauge.cli import main
from treegauge.errors import UsageError
from treegauge.metrics.parseval import Parseval
from treegauge.significance import PairedColumns, randomisation
from treegauge.significance.classical import student_quantile
from treegauge.significance.power import (
    equivalence,
    power_function,
    power_function_of_runs,
    power_of,
    power_of_runs,
)
from treegauge.significance.runs import Components, components

RESULTS = Path(__file__).parents[2] / "experiments" / "results"
GOLD = own_treebank(60)
A, B = careless(GOLD, 1, 0.3), careless(GOLD, 2, 0.2)
RUNS = {"A": [careless(GOLD, seed, 0.3) for seed in range(3)], "B": [careless(GOLD, 10 + seed, 0.25) for seed in range(3)]}


def simulated(n: int, seed: int, better: float) -> PairedColumns:
    """PARSEVAL's rows of two parsers."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(2, 20, n)
    found = [rng.binomial(gold, share) for share in (0.8, 0.8 + better)]
    return PairedColumns.of(Parseval(), [rows(list(zip(of.tolist(), gold.tolist(), gold.tolist(), strict=True))) for of in found])


def test_power_is_that_of_tests_on_drawn_sentences() -> None:
    """Test sets are drawn from 300 sentences, and the randomisation test is done on each."""
    paired = simulated(300, 1, 0.03)
    place = paired.names.index(("parseval", "f1"))
    values = paired.swapped_alone(0, 1, [place])[:, 0]
    seen = float((paired.observed(1) - paired.observed(0))[place])
    assert values.mean() == pytest.approx(seen, rel=0.01)
    rng = np.random.default_rng(2)
    for units in (60, 150):
        drawn = (paired.take(rng.integers(0, 300, units)) for _ in range(400))
        rejected = np.mean([randomisation(test_set, rounds=199).p[place] <= 0.05 for test_set in drawn])
        assert power_function(values)(seen, units) == pytest.approx(rejected, abs=0.08)


def test_swapping_a_sentence_alone_is_what_the_randomisation_test_does() -> None:
    paired = simulated(7, 3, 0.1)
    place = paired.names.index(("parseval", "recall"))
    a, b = paired.columns
    for sentence, value in enumerate(paired.swapped_alone(0, 1, [place])[:, 0]):
        ours, theirs = a.copy(), b.copy()
        ours[sentence], theirs[sentence] = b[sentence], a[sentence]
        swapped = PairedColumns(paired.names, (ours, theirs), paired.rates_of, paired.exact)
        before, after = (of.observed(1)[place] - of.observed(0)[place] for of in (paired, swapped))
        assert value == pytest.approx(7 / 2 * (before - after))


def test_power_grows_and_is_enough_where_it_says() -> None:
    values = simulated(400, 4, 0.02).swapped_alone(0, 1, [2])[:, 0]
    found = power_of(values, 0.02)
    curve = [power for _, power in found.curve]
    assert curve == sorted(curve)
    assert dict(found.curve)[400] == found.power
    power = power_function(values)
    assert power(found.detectable, 400) == pytest.approx(0.8, abs=0.02)
    assert power(0.02, round(found.needed)) == pytest.approx(0.8, abs=0.04)
    assert power(0.0, 400) == pytest.approx(0.05, abs=0.02)
    assert power(1.0, 5) == 0  # five sentences can never have a p of .05
    assert math.isnan(power_of(np.zeros(50), 0.01).power)


def test_documents_count_as_so_many_sentences() -> None:
    values = np.random.default_rng(5).normal(0.01, 0.1, 80)
    alone, of_ten = power_of(values, 0.02), power_of(values, 0.02, per_unit=10)
    assert (of_ten.needed, of_ten.detectable) == (10 * alone.needed, alone.detectable)
    assert [size for size, _ in of_ten.curve] == [10 * size for size, _ in alone.curve]


def test_an_imagined_system_varies_as_much_and_correlates() -> None:
    """The smallest difference is 2.8 standard errors of a difference with the variance 2 s² (1 - r)."""
    values = np.random.default_rng(6).normal(0, 0.2, 2000)
    for correlation in (0.5, 0.9):
        error = math.sqrt(2 * (1 - correlation) / 2000) * values.std()
        assert power_of(values, 0.01, correlation).detectable == pytest.approx(2.8 * error, rel=0.05)


@pytest.mark.parametrize("free", [4, 8])
def test_power_by_runs_is_that_of_students_t_on_average(free: int) -> None:
    """Variances are drawn as they would be estimated; the power at an estimate, uncorrected, is up to 11 points too large."""
    scipy = pytest.importorskip("scipy.stats")
    drawn = scipy.chi2.ppf((np.arange(100) + 0.5) / 100, free) / free
    spreads = [Components(variance, 0.0, 0.0, 0.0, free, 200) for variance in drawn]
    crit = student_quantile(0.975, free)
    for t in (0.0, 1.0, 2.0, 3.0, 4.0, 6.0):
        expected = scipy.nct.sf(crit, free, t) + scipy.nct.cdf(-crit, free, t)
        claims = [power_function_of_runs(spread, 200)(t, 200) for spread in spreads]
        assert np.mean(claims) == pytest.approx(expected, abs=0.025)


def test_runs_do_not_vary_less_on_more_sentences() -> None:
    rng = np.random.default_rng(7)
    units = [rng.normal(0, 0.5, (4, 200)) / 200 for _ in range(2)]
    spread = components([of.sum(axis=1) + 0.01 * rng.standard_normal(4) for of in units], units)
    assert spread.on(1) == spread
    assert spread.on(1e9).variance == pytest.approx(spread.of_runs)
    assert power_of_runs(spread, math.sqrt(spread.of_runs), 200).needed == math.inf


@pytest.mark.parametrize("true", [0.05, 0.1, 0.15])
def test_power_by_exact_match_is_that_of_the_sign_test(true: float) -> None:
    """Every paired difference is -1, 0 or 1: all test sets, by the binomial distribution. Claims are means over samples of 150."""
    scipy = pytest.importorskip("scipy.stats")
    losses, n, expected = 0.08, 150, 0.0
    for k in range(n + 1):
        wins = np.arange(k + 1)
        p = 2 * scipy.binom.cdf(np.minimum(wins, k - wins), k, 0.5)
        rejected = scipy.binom.pmf(wins, k, (losses + true) / (2 * losses + true))[p <= 0.05].sum()
        expected += scipy.binom.pmf(k, n, 2 * losses + true) * rejected
    samples = np.random.default_rng(10).multinomial(n, [losses, 1 - 2 * losses - true, losses + true], 300)
    claims = [power_function(np.repeat([-1.0, 0.0, 1.0], sample))(true, n) for sample in samples]
    assert np.mean(claims) == pytest.approx(expected, abs=0.03)


def test_equivalence_of_normal_differences_is_that_of_two_t_tests() -> None:
    values = np.random.default_rng(8).normal(0.02, 0.4, 3000)
    difference, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(3000)
    for t in (-1.0, 0.0, 1.0, 1.645, 2.5):
        expected = 0.5 * math.erfc(t / math.sqrt(2))
        assert equivalence(values, difference, abs(difference) + t * error) == pytest.approx(expected, abs=0.015)
    assert equivalence(-values, -difference, difference + error) == pytest.approx(0.159, abs=0.015)
    assert equivalence(np.zeros(9), 0.0, 0.1) == 0
    assert math.isnan(equivalence(values, math.nan, 0.1))


def test_equivalence_is_not_shown_before_students_t_shows_it() -> None:
    """With a long tail away from the margin, the bootstrap alone has a smaller p than Student's t."""
    scipy = pytest.importorskip("scipy.stats")
    values = np.repeat([0.5, 0.3, -1.5], [50, 40, 10])
    difference, error = float(values.mean()), float(values.std(ddof=1)) / 10
    for sign in (1, -1):
        found = equivalence(sign * values, sign * difference, difference + 1.5 * error)
        assert found == pytest.approx(scipy.t.sf(1.5, 99))


def test_equivalence_by_runs_is_shown_where_the_90_percent_interval_is_within_the_margin() -> None:
    rng = np.random.default_rng(9)
    units = [rng.normal(0, 0.5, (3, 100)) / 100 for _ in range(2)]
    spread = components([of.sum(axis=1) for of in units], units)
    low, high, *_ = spread.interval(0.01, 0.9)
    assert spread.equivalence(0.01, high + 1e-9) < 0.05 < spread.equivalence(0.01, high - 1e-9)
    assert spread.equivalence(-0.01, high) == pytest.approx(spread.equivalence(0.01, high)) == pytest.approx(0.05)
    assert spread.equivalence(0.01, 0.005) > 0.5
    assert low < 0


@pytest.mark.parametrize("path", sorted(RESULTS.glob("power_simulation*.json")), ids=lambda path: path.stem)
def test_simulated_tests_have_the_power_that_is_claimed(path: Path) -> None:
    """Claims are within 3 points of the power of simulated tests; equivalence is claimed about 5% of the time, or less."""
    results = json.loads(path.read_text("utf-8"))
    assert results["experiments"] >= 4000
    assert (len(results["cells"]), len(results["runs"]), len(results["plans"])) == (4, 6, 6)
    for cell in results["cells"] + results["plans"]:
        for sizes, claims in cell["claims"].items():
            _, _, size = sizes.partition(" for ")
            for rate, claim in claims.items():
                assert abs(claim - cell["power"][size][rate]) <= 0.03, (cell["documents"], sizes, rate)
        for of_size in cell.get("equivalence", {}).values():
            assert max(of_size.values()) <= 0.065
    for of_runs in results["runs"]:
        assert abs(of_runs["claim"] - of_runs["power"]) <= 0.03, of_runs
        assert of_runs["equivalence"] <= 0.065
        assert of_runs["equivalence"] >= 0.035 or of_runs["effect"] == 2  # where intervals are often wider than the margins


def test_in_python() -> None:
    plain = compare(GOLD, {"A": A, "B": B}, metric="parseval", rounds=200)
    assert plain["f1"].power is None
    assert plain["f1"].equivalence is None
    found = compare(GOLD, {"A": A, "B": B}, metric="parseval", rounds=200, power=True, equivalence=50)
    power, equivalent = found["f1"].power, found["f1"].equivalence
    assert power is not None
    assert power.difference == pytest.approx(abs(found["f1"].difference))
    assert equivalent is not None
    assert equivalent.margin == 0.5
    assert equivalent.p < 0.01
    assert found["f1"][:4] == plain["f1"][:4]
    assert found.answer[1].startswith("They are equivalent within ±50.00 F1 (p ")
    assert "with 80% power" in found.answer[2]
    turned = compare(GOLD, {"B": B, "A": A}, metric="parseval", rounds=200, power=True)
    assert turned["f1"].power is not None
    assert turned["f1"].power.power == pytest.approx(power.power, abs=0.03)
    one = compare(GOLD, {"A": A}, metric="parseval", rounds=200, power=True, assume=2)
    assert [*one.overall.plans["parseval", "f1"]] == [0.5, 0.7, 0.9]
    assert "0.70  parseval  f1" in str(one)
    needed = sorted(float(f"{plan.needed:.2g}") for plan in one.overall.plans["parseval", "f1"].values())
    takes = f"takes about {needed[0]:,.0f} to {needed[2]:,.0f} sentences, depending on how alike the parsers are."
    assert one.answer == (f"To show a difference of 2.00 F1 with 80% power {takes}",)
    same = compare(GOLD, {"A": GOLD}, metric="parseval", rounds=20, power=True, assume=2)
    assert same.answer == ()  # nothing varies, so that nothing can be planned
    for wrong, options in {"assume=0.5, and only one run": {"power": True}, "positive difference": {"equivalence": -1.0}}.items():
        with pytest.raises(UsageError, match=wrong):
            compare(GOLD, {"A": A}, metric="parseval", **options)
    with pytest.raises(UsageError, match="needs power=True"):
        compare(GOLD, {"A": A, "B": B}, assume=1.0)


def test_with_runs_and_documents() -> None:
    labels = [number // 5 for number in range(60)]
    for systems in ({"A": A, "B": B}, RUNS):
        found = compare(GOLD, systems, metric="parseval", rounds=100, power=True, assume=3, equivalence=5, clusters=labels)
        power = found["f1"].power
        assert power is not None
        assert 0 < power.power < 1
        assert dict(power.curve)[60] == power.power
        document = json.loads(json.dumps(found.to_dict(), allow_nan=False))["groups"][0]["pairs"][0]["differences"]
        assert document["parseval"]["f1"]["power"]["power"] == power.power
        assert document["parseval"]["f1"]["equivalence"]["margin"] == 0.05
    with pytest.raises(UsageError, match="only one run of the system"):
        compare(GOLD, {"A": RUNS["A"]}, metric="parseval", power=True, assume=1)


def run(words: list[str]) -> int:
    with pytest.raises(SystemExit) as done:
        main(words)
    return int(done.value.code or 0)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, trees in (("gold", GOLD), ("a", A), ("b", B)):
        (tmp_path / f"{name}.mrg").write_text("".join(f"{tree}\n" for tree in trees), "utf-8")
    gold, a, b = (str(tmp_path / f"{name}.mrg") for name in ("gold", "a", "b"))
    figure = tmp_path / "power.svg"
    assert run(["compare", gold, a, b, "--rounds", "50", "--power", "--equivalence", "0.3", "--figure", str(figure)]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^parseval +f1 +\d+\.\d\d +\d+% +\d+\.\d\d +\d+$", shown, re.MULTILINE)
    assert "Equivalence" in shown
    assert "Power to find a difference" in figure.read_text("utf-8")
    assert run(["score", gold, a, "--save", str(tmp_path / "a.scores")]) == 0
    assert run(["compare", "--scores", str(tmp_path / "a.scores"), "--power", "--assume", "1", "--table", "power"]) == 0
    assert "correlation" in capsys.readouterr().out
    few = ["compare", gold, a, b, "--rounds", "50", "--power", "--clusters", str(tmp_path / "docs"), "-q"]
    (tmp_path / "docs").write_text("".join(f"d{i} {15 * i + 1} {15 * i + 15}\n" for i in range(4)), "utf-8")
    assert run(few) == 0  # four documents can never have a p of .05
    assert "Such a test set cannot show any difference with 80% power." in capsys.readouterr().out
    assert run(["compare", gold, a, "--power", "--assume", "1", "--rounds", "20"]) == 0
    assert capsys.readouterr().out.startswith("To show a difference of 1.00 F1 with 80% power takes ")
    assert run(["compare", gold, a, "--power"]) == 2
    assert "--assume 0.5" in capsys.readouterr().err
    assert run(["compare", gold, a, b, "--equivalence", "-1"]) == 2
    assert "--equivalence -1: give a positive difference" in capsys.readouterr().err
    assert run(["compare", gold, a]) == 2
