"""Calibration of ``compare --power`` and ``--equivalence``: claims from simulated test sets beside the tests they are about.

Two simulated parsers with a known true difference parse sentences, alone or in documents. Power: what ``--power`` claims for that
difference, a mean over 1,000 test sets, and the share of 6,000 such test sets on which the test of ``compare`` rejects at .05.
Equivalence: with the true difference as margin, the share of test sets on which equivalence is claimed at .05, which should be 5%,
and less where intervals are wider than the margins. The same for several runs of each parser, with the parsers of
``runs_simulation.py``. Plans (``--power --assume`` with one parser) are claims from one parser's test sets; in the tests, the other
parser is as it is imagined: on a share of the sentences it does as the first one, on the rest as that does on other sentences, but
better.

    python experiments/power_simulation.py [--experiments 6000] [--seed 1996] [--jobs N]

writes results/power_simulation.json and .md beside this script, with the seed in the name if it is another one.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from runs_simulation import TRUE_DIFFERENCE, experiments, true_difference, unit_contributions

from treegauge.significance import PairedColumns, randomisation
from treegauge.significance.power import PowerFunction, equivalence, power_function, power_function_of_runs
from treegauge.significance.runs import components

RESULTS = Path(__file__).parent / "results"
SENTENCES, DOCUMENTS, SHIFTS = (100, 400), (50, 200), (0.25, 0.6)
RATES, ROUNDS, LEVEL, SEED = ("f1", "exact_match"), 499, 0.05, 1996
ALIKE = 0.4
"""The share of sentences that both parsers parse alike."""
RUNS, EFFECTS = (3, 5), (0.5, 1.0, 2.0)
PLANS = {
    (False, 0.5, 100): (0.03, 0.1), (False, 0.5, 400): (0.02, 0.05), (False, 0.7, 400): (0.015, 0.035),
    (False, 0.9, 1600): (0.005, 0.01), (True, 0.5, 200): (0.015, 0.025), (True, 0.7, 200): (0.01, 0.02),
}  # fmt: skip
"""The differences that are planned for, in F1 and exact match: with documents or not, by correlation, and by test set.

At least 50 of the sentences or documents of a test set differ. With fewer, plans are rough."""


def parses(rng: np.random.Generator, units: int, documents: bool, shift: float, least: int = 5, most: int = 15) -> PairedColumns:
    """The counts of two parsers on simulated sentences, or on documents of 5 to 15 sentences."""
    numbers = np.repeat(np.arange(units), rng.integers(least, most + 1, units) if documents else 1)
    sentences = len(numbers)
    gold = rng.poisson(rng.gamma(2, 6, sentences)) + 1
    ease = 2.2 + rng.standard_normal((1, sentences)) + 0.7 * rng.standard_normal((2, sentences))
    if documents:
        ease = ease + 0.4 * rng.standard_normal((2, units))[:, numbers]
    ease[1] += shift
    test = np.maximum(gold + np.round(rng.normal(0, 0.08 * gold, (2, sentences))), 1).astype(np.int64)
    matched = np.minimum(rng.binomial(gold, 1 / (1 + np.exp(-ease))), test)
    alike = rng.random(sentences) < ALIKE
    test[1], matched[1] = np.where(alike, test[0], test[1]), np.where(alike, matched[0], matched[1])
    exact = (matched == gold) & (matched == test)
    columns = [np.stack([matched[k], gold, test[k], exact[k], np.ones(sentences)], axis=1).astype(float) for k in (0, 1)]
    paired = PairedColumns(tuple(("parseval", rate) for rate in RATES), tuple(columns), rates_of, exact=True)
    return paired.summed(numbers) if documents else paired


def rates_of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 and exact match of sums of matched, gold and test brackets, exact matches and sentences."""
    matched, gold, test, exact, sentences = sums.T
    return np.stack([2 * matched / (gold + test), exact / sentences], axis=1)


def true_rates(rng: np.random.Generator, documents: bool, shift: float, times: int) -> NDArray[np.float64]:
    """The rates of both parsers on so many times 200,000 documents of one sentence, whose rates vary less than those of others."""
    large = (parses(rng, 200_000, documents, shift, 1, 1) for _ in range(times))
    return rates_of(np.sum([np.concatenate([one.total(0), one.total(1)]) for one in large], axis=0))


def cell(seed: int, number: int, documents: bool, shift: float, n: int) -> dict[str, Any]:
    """Claims and tests of one kind of test set."""
    rng = np.random.default_rng([seed, number])
    first, second = true_rates(rng, documents, shift, 50)
    truth, sizes = second - first, DOCUMENTS if documents else SENTENCES
    power, equivalent = {}, {}
    for size in sizes:
        rejected, within = np.zeros(len(RATES)), np.zeros(len(RATES))
        for seed in range(n):
            paired = parses(rng, size, documents, shift)
            rejected += randomisation(paired, rounds=ROUNDS, seed=seed).p <= LEVEL
            if seed < n // 3:
                values, seen = paired.swapped_alone(0, 1, (0, 1)), paired.observed(1) - paired.observed(0)
                within += [equivalence(values[:, k], seen[k], truth[k], ROUNDS) <= LEVEL for k in (0, 1)]
        power[str(size)], equivalent[str(size)] = by_rate(rejected / n), by_rate(within / (n // 3))
    claims: dict[str, dict[str, float]] = {}
    for pilot in sizes:
        found = [power_functions(parses(rng, pilot, documents, shift).swapped_alone(0, 1, (0, 1))) for _ in range(n // 6)]
        claims |= {f"{pilot} for {size}": by_rate(mean_claim(found, truth, size)) for size in sizes}
    return {"documents": documents, "difference": by_rate(truth), "claims": claims, "power": power, "equivalence": equivalent}


def imagined(rng: np.random.Generator, units: int, documents: bool, r: float, better: tuple[float, float]) -> PairedColumns:
    """The counts of a parser and an imagined one, which is better by so much F1 and gets so many of the trees that were missed."""
    paired, others = parses(rng, units, documents, 0.0), parses(rng, units, documents, 0.0)
    own, other = paired.columns[0], others.columns[0].copy()
    other[:, 0] += better[0] / (1 - r) * (other[:, 1] + other[:, 2]) / 2
    if documents:
        other[:, 3] += better[1] / (1 - r) * other[:, 4]
    else:
        other[:, 3] += rng.binomial((other[:, 4] - other[:, 3]).astype(np.int64), better[1] / (1 - r))
    alike = rng.random(units) < r
    return PairedColumns(paired.names, (own, np.where(alike[:, np.newaxis], own, other)), rates_of, exact=False)


def cell_of_plan(seed: int, number: int, documents: bool, r: float, size: int, n: int) -> dict[str, Any]:
    """Claims from one parser, and tests that compare it with the imagined one."""
    rng = np.random.default_rng([seed, number])
    truth, (_, exact) = np.array(PLANS[documents, r, size]), true_rates(rng, documents, 0.0, 5)[0]
    better = (truth[0], truth[1] if documents else truth[1] / (1 - exact))
    tests = (randomisation(imagined(rng, size, documents, r, better), rounds=ROUNDS, seed=k) for k in range(n))
    rejected = np.mean([test.p <= LEVEL for test in tests], axis=0)
    claims: dict[str, dict[str, float]] = {}
    for pilot in DOCUMENTS if documents else SENTENCES:
        test_sets = (parses(rng, pilot, documents, 0.0) for _ in range(n // 6))
        found = [power_functions((pilot - 1) * (one.observed(0) - one.leave_one_out(0, (0, 1))), r) for one in test_sets]
        claims[f"{pilot} for {size}"] = by_rate(mean_claim(found, truth, size))
    power = {str(size): by_rate(rejected)}
    return {"documents": documents, "correlation": r, "difference": by_rate(truth), "claims": claims, "power": power}


def by_rate(values: NDArray[np.float64]) -> dict[str, float]:
    """Values by the names of the rates."""
    return dict(zip(RATES, values.tolist(), strict=True))


def power_functions(values: NDArray[np.float64], correlation: float | None = None) -> list[PowerFunction]:
    """The power by each rate."""
    return [power_function(values[:, k], correlation) for k in range(len(RATES))]


def mean_claim(found: Sequence[Sequence[PowerFunction]], truth: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The mean of the power that test sets claim for tests on so many sentences or documents."""
    return np.mean([[power(true, size) for power, true in zip(of_set, truth, strict=True)] for of_set in found], axis=0)


def cell_of_runs(seed: int, number: int, runs: int, effect: float, n: int) -> dict[str, Any]:
    """Claims and tests of parsers with several runs on 400 sentences."""
    rng = np.random.default_rng([seed, number])
    cell = (runs, 400, False, effect)
    truth = true_difference(rng, cell)
    claims: list[float] = []
    rejected = equivalent = 0
    for first in range(0, n, 250):
        for found, gold in zip(*experiments(rng, min(250, n - first), runs, 400, effect, False, TRUE_DIFFERENCE), strict=True):
            rates, _, units = unit_contributions(found, gold, documents=False)
            spread, difference = components(list(rates), list(units)), float(rates[1].mean() - rates[0].mean())
            rejected += spread.p(difference) <= LEVEL
            equivalent += spread.equivalence(difference, truth) <= LEVEL
            if len(claims) < n // 6:
                claims.append(power_function_of_runs(spread, 400)(truth, 400))
    return {
        "runs": runs, "effect": effect, "difference": truth, "claim": float(np.mean(claims)), "power": rejected / n,
        "equivalence": equivalent / n,
    }  # fmt: skip


def simulate(n: int, seed: int, jobs: int) -> dict[str, Any]:
    """All cells, in some processes."""
    kinds = list(enumerate(itertools.product((False, True), SHIFTS)))
    kinds_of_runs = list(enumerate(itertools.product(RUNS, EFFECTS), start=10))
    kinds_of_plans = list(enumerate(PLANS, start=20))
    with ProcessPoolExecutor(jobs) as pool:
        cells = [pool.submit(cell, seed, number, *kind, n) for number, kind in kinds]
        of_runs = [pool.submit(cell_of_runs, seed, number, *kind, n) for number, kind in kinds_of_runs]
        of_plans = [pool.submit(cell_of_plan, seed, number, *kind, n) for number, kind in kinds_of_plans]
        every = {"cells": cells, "runs": of_runs, "plans": of_plans}
        return {"experiments": n, "seed": seed, **{name: [one.result() for one in some] for name, some in every.items()}}


def markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    lines = [
        "# Power that is claimed, and power that tests have; equivalence at its boundary",
        "",
        f"{results['experiments']:,} simulated tests a cell, claims from a sixth as many test sets, equivalence in a third, "
        f"seed {results['seed']}. Made by `experiments/power_simulation.py`. Claims from, tests on: sentences, or documents.",
        "",
        "| documents | rate | true difference | claims from | tests on | claimed | power | equivalence |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for one in results["cells"]:
        for rate, sizes in itertools.product(RATES, one["claims"]):
            claims, (pilot, _, size) = one["claims"][sizes], sizes.partition(" for ")
            shown = (claims[rate], one["power"][size][rate], one["equivalence"][size][rate])
            values = " | ".join(f"{100 * value:.1f}%" for value in shown)
            where = f"{'yes' if one['documents'] else 'no'} | {rate} | {100 * one['difference'][rate]:.2f} | {pilot} | {size}"
            lines.append(f"| {where} | {values} |")
    lines += ["", "| runs | runs' effect | true difference | claimed | power | equivalence |", "|---:|---:|---:|---:|---:|---:|"]
    for one in results["runs"]:
        values = " | ".join(f"{100 * one[key]:.1f}%" for key in ("claim", "power", "equivalence"))
        lines.append(f"| {one['runs']} | {one['effect']:g} | {100 * one['difference']:.2f} | {values} |")
    lines += [
        "",
        "Plans with one parser; on 50 or more of the sentences or documents, the parsers differ:",
        "",
        "| documents | correlation | rate | planned difference | claims from | tests on | claimed | power |",
    ]
    lines += ["|---|---:|---|---:|---:|---:|---:|---:|"]
    for one in results["plans"]:
        for rate, sizes in itertools.product(RATES, one["claims"]):
            pilot, _, size = sizes.partition(" for ")
            where = f"{'yes' if one['documents'] else 'no'} | {one['correlation']} | {rate} | {100 * one['difference'][rate]:.2f}"
            values = f"{100 * one['claims'][sizes][rate]:.1f}% | {100 * one['power'][size][rate]:.1f}%"
            lines.append(f"| {where} | {pilot} | {size} | {values} |")
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=6000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    results = simulate(arguments.experiments, arguments.seed, arguments.jobs)
    RESULTS.mkdir(exist_ok=True)
    name = "power_simulation" + (f"-{arguments.seed}" if arguments.seed != SEED else "")
    (RESULTS / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (RESULTS / f"{name}.md").write_text(markdown(results), "utf-8")
    print(markdown(results))


if __name__ == "__main__":
    main()
