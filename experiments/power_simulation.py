"""Calibration of ``compare --power`` and ``--equivalence``: claims from simulated test sets beside the tests they are about.

Two simulated parsers with a known true difference parse sentences, alone or in documents. Power: what ``--power`` claims for that
difference, a mean over 250 test sets, and the share of 2,000 such test sets on which the test of ``compare`` rejects at .05.
Equivalence: with the true difference as margin, the share of test sets on which equivalence is claimed at .05, which should be 5%,
and less where intervals are wider than the margins. The same for several runs of each parser, with the parsers of
``runs_simulation.py``.

    python experiments/power_simulation.py [--experiments 2000] [--jobs N]

writes results/power_simulation.json and .md beside this script.
"""

from __future__ import annotations

import argparse
import itertools
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from runs_simulation import TRUE_DIFFERENCE, experiments, true_difference, unit_contributions

from treegauge.significance import PairedColumns, randomisation
from treegauge.significance.power import equivalence, power_function, power_function_of_runs
from treegauge.significance.runs import components

RESULTS = Path(__file__).parent / "results"
SENTENCES, DOCUMENTS, SHIFTS = (100, 400), (50, 200), (0.25, 0.6)
RATES, ROUNDS, LEVEL = ("f1", "exact_match"), 499, 0.05
ALIKE = 0.4
"""The share of sentences that both parsers parse alike."""
RUNS, EFFECTS = (3, 5), (0.5, 1.0)


def parses(rng: np.random.Generator, units: int, documents: bool, shift: float) -> PairedColumns:
    """The counts of two parsers on simulated sentences, or on documents of 5 to 15 sentences."""
    numbers = np.repeat(np.arange(units), rng.integers(5, 16, units) if documents else 1)
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


def cell(seed: int, number: int, documents: bool, shift: float, n: int) -> dict[str, Any]:
    """Claims and tests of one kind of test set."""
    rng = np.random.default_rng([seed, number])
    truth = np.zeros(len(RATES))
    for _ in range(10):
        large = parses(rng, 20_000 if documents else 200_000, documents, shift)
        truth += (large.observed(1) - large.observed(0)) / 10
    sizes = DOCUMENTS if documents else SENTENCES
    power, equivalent = {}, {}
    for size in sizes:
        rejected, within = np.zeros(len(RATES)), np.zeros(len(RATES))
        for seed in range(n):
            paired = parses(rng, size, documents, shift)
            rejected += randomisation(paired, rounds=ROUNDS, seed=seed).p <= LEVEL
            if seed < n // 4:
                values, seen = paired.swapped_alone(0, 1, (0, 1)), paired.observed(1) - paired.observed(0)
                within += [equivalence(values[:, k], seen[k], truth[k], 2 * ROUNDS + 1) <= LEVEL for k in (0, 1)]
        power[str(size)], equivalent[str(size)] = by_rate(rejected / n), by_rate(within / (n // 4))
    claims = {
        f"{pilot} for {size}": by_rate(claimed(rng, documents, shift, truth, pilot, size, n // 8))
        for pilot, size in itertools.product(sizes, sizes)
    }
    return {"documents": documents, "difference": by_rate(truth), "claims": claims, "power": power, "equivalence": equivalent}


def by_rate(values: NDArray[np.float64]) -> dict[str, float]:
    """Values by the names of the rates."""
    return dict(zip(RATES, values.tolist(), strict=True))


def claimed(
    rng: np.random.Generator, documents: bool, shift: float, truth: NDArray[np.float64], pilot: int, size: int, n: int
) -> NDArray[np.float64]:
    """The mean of the power that test sets of one size claim for another size."""
    total = np.zeros(len(truth))
    for _ in range(n):
        values = parses(rng, pilot, documents, shift).swapped_alone(0, 1, (0, 1))
        total += [power_function(values[:, k])(true, size) for k, true in enumerate(truth)]
    return total / n


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
            if len(claims) < n // 8:
                claims.append(power_function_of_runs(spread, 400)(truth, 400))
    return {
        "runs": runs, "effect": effect, "difference": truth, "claim": float(np.mean(claims)), "power": rejected / n,
        "equivalence": equivalent / n,
    }  # fmt: skip


def simulate(n: int, seed: int, jobs: int) -> dict[str, Any]:
    """All cells, in some processes."""
    kinds = list(enumerate(itertools.product((False, True), SHIFTS)))
    kinds_of_runs = list(enumerate(itertools.product(RUNS, EFFECTS), start=len(kinds)))
    with ProcessPoolExecutor(jobs) as pool:
        cells = [pool.submit(cell, seed, number, *kind, n) for number, kind in kinds]
        of_runs = [pool.submit(cell_of_runs, seed, number, *kind, n) for number, kind in kinds_of_runs]
        return {"experiments": n, "seed": seed, "cells": [one.result() for one in cells], "runs": [one.result() for one in of_runs]}


def markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    lines = [
        "# Power that is claimed, and power that tests have; equivalence at its boundary",
        "",
        f"{results['experiments']:,} simulated tests a cell, claims from an eighth as many test sets, equivalence in a quarter, "
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
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1996)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    results = simulate(arguments.experiments, arguments.seed, arguments.jobs)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "power_simulation.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (RESULTS / "power_simulation.md").write_text(markdown(results), "utf-8")
    print(markdown(results))


if __name__ == "__main__":
    main()
