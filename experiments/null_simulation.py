"""Size and power of the significance tests, and coverage of the intervals, measured on two real parsers.

Null: whole sentences of the two systems are swapped at random, so that neither is better, and every test is run; a test at the 5%
level should reject 5% of the time. Power: n sentences are drawn with replacement, the systems stay as they are, and every test is
run; the more it rejects, the better, for a test that keeps its size. Coverage: how often an interval holds the true difference.

    python experiments/null_simulation.py GOLD A B [--repetitions 2000]

writes results/null_simulation.json and .md beside this script. Only counts leave the treebank.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge import alignment, io
from treegauge.alignment.pairing import Pair
from treegauge.metrics.hogenhout import Hogenhout, comparative_rows
from treegauge.metrics.matching import partners
from treegauge.metrics.parseval import Parseval
from treegauge.presets import load_preset
from treegauge.significance import Cells, PairedColumns, bootstrap, mcnemar, paired_t, randomisation, real_test, sign_test

Cells4 = NDArray[np.int64]
Name = tuple[str, str]
LEVEL = 0.05
RESULTS = Path(__file__).parent / "results"
NAMES: list[Name] = [("parseval", "f1"), ("parseval", "exact_match"), ("hogenhout", "recall_hard")]
METHODS = ("bca", "percentile")
ROUNDS = 999
SIZES = (100, 200, 400, 800)
DEPENDENT = ("McNemar", "real test")


@dataclass(frozen=True)
class Data:
    """Rows of counts of two systems, on which the tests are run."""

    paired: PairedColumns
    cells: dict[str, Cells4]

    @classmethod
    def read(cls, gold_path: str, a_path: str, b_path: str) -> Data:
        gold, *systems = (io.read(path) for path in (gold_path, a_path, b_path))
        preset = load_preset("default")
        pairs = [alignment.pair(gold, system, preset) for system in systems]
        metrics = [Parseval(), Hogenhout()]
        paired = PairedColumns.stack([PairedColumns.of(metric, [metric.rows(pair) for pair in pairs]) for metric in metrics])
        a, b = pairs
        cells = {"the paper's brackets": comparative_rows(a, b, Hogenhout()), "labelled brackets": labelled_cells(a, b)}
        return cls(paired, cells)

    def __len__(self) -> int:
        return len(self.paired)

    def swapped(self, rng: np.random.Generator) -> Data:
        """The data with the two parses of each sentence swapped with probability one half."""
        swap = rng.integers(0, 2, len(self)).astype(bool)[:, np.newaxis]
        a, b = self.paired.columns
        columns = np.where(swap, b, a), np.where(swap, a, b)
        cells = {name: np.where(swap, rows[:, [0, 2, 1, 3]], rows) for name, rows in self.cells.items()}
        return Data(PairedColumns(self.paired.names, columns, self.paired.rates_of, self.paired.exact), cells)

    def drawn(self, rng: np.random.Generator, n: int) -> Data:
        """The data of n sentences drawn with replacement."""
        drawn = rng.integers(0, len(self), n)
        return Data(self.paired.take(drawn), {name: rows[drawn] for name, rows in self.cells.items()})

    def overdispersion(self, brackets: str) -> float:
        """The variance of NY - YN when sentences are swapped, over the variance if brackets were swapped one by one."""
        only_a, only_b = self.cells[brackets][:, 1], self.cells[brackets][:, 2]
        return float(((only_b - only_a) ** 2).sum() / (only_a + only_b).sum())


def labelled_cells(a: Pair, b: Pair) -> Cells4:
    """YY, YN, NY, NN of each sentence for PARSEVAL's brackets: labelled, one-word and double ones included."""
    in_a, in_b = (partners(pair.gold, pair.test, pair.matching_classes) >= 0 for pair in (a, b))
    kinds = np.where(in_a, np.where(in_b, 0, 1), np.where(in_b, 2, 3))
    return np.bincount(a.gold.sentence * 4 + kinds, minlength=4 * len(a)).reshape(-1, 4)


def outcomes(data: Data, seed: int, truth: dict[Name, float]) -> Iterator[tuple[str, bool]]:
    """The outcome of every test on one data set: whether it rejects, and whether each interval holds the true difference."""
    names = data.paired.names
    tested = randomisation(data.paired, rounds=ROUNDS, seed=seed)
    sentence_values = [data.paired.rates_of(columns) for columns in data.paired.columns]
    drawn = bootstrap(data.paired, rounds=ROUNDS, seed=seed)
    for name in NAMES:
        label = " ".join(name)
        column = names.index(name)
        a, b = (values[:, column] for values in sentence_values)
        yield f"randomisation, {label}", float(tested.p[column]) <= LEVEL
        for method in METHODS:
            found = drawn.of_difference(0, 1, name, method=method)
            yield f"bootstrap {method}, {label}", not found.low <= 0 <= found.high
            yield f"coverage {method}, {label}", found.low <= truth[name] <= found.high
        yield f"sign test, {label}", sign_test(a, b).p <= LEVEL
        yield f"paired t, {label}", paired_t(a, b).p <= LEVEL
    for brackets, rows in data.cells.items():
        cells = Cells(*rows.sum(axis=0).tolist())
        by_brackets, real = mcnemar(cells), real_test(cells)
        yield f"McNemar exact, {brackets}", by_brackets.p_exact <= LEVEL
        yield f"McNemar z, {brackets}", by_brackets.p <= LEVEL
        yield f"real test z, {brackets}", real.p <= LEVEL


def shares(data_sets: Iterator[Data], truth: dict[Name, float]) -> dict[str, float]:
    """The share of data sets on which each test rejects (an undefined p does not) and each interval holds the truth."""
    counts: dict[str, int] = {}
    total = 0
    for seed, data in enumerate(data_sets):
        total += 1
        for outcome, happened in outcomes(data, seed, truth):
            counts[outcome] = counts.get(outcome, 0) + happened
    return {outcome: count / total for outcome, count in counts.items()}


def simulate(data: Data, repetitions: int, seed: int) -> dict[str, Any]:
    """All rejection rates, under the null and with the real difference, and the coverage of the intervals."""
    rng = np.random.default_rng(seed)
    names = data.paired.names
    rates = {name: [float(data.paired.observed(system)[names.index(name)]) for system in (0, 1)] for name in NAMES}
    zero, real = dict.fromkeys(NAMES, 0.0), {name: b - a for name, (a, b) in rates.items()}
    null = shares((data.swapped(rng) for _ in range(repetitions)), zero)
    by_size = {
        str(n): {
            "null": shares((data.drawn(rng, n).swapped(rng) for _ in range(repetitions)), zero),
            "power": shares((data.drawn(rng, n) for _ in range(repetitions)), real),
        }
        for n in SIZES
    }
    return {
        "sentences": len(data),
        "cells": {
            brackets: dict(zip(("YY", "YN", "NY", "NN"), rows.sum(axis=0).tolist(), strict=True))
            for brackets, rows in data.cells.items()
        },
        "overdispersion": {brackets: data.overdispersion(brackets) for brackets in data.cells},
        "rates": {" ".join(name): pair for name, pair in rates.items()},
        "repetitions": repetitions,
        "rounds": ROUNDS,
        "level": LEVEL,
        "seed": seed,
        "standard_error": math.sqrt(LEVEL * (1 - LEVEL) / repetitions),
        "null": {test: rate for test, rate in null.items() if not test.startswith("coverage")},
        "by_size": by_size,
    }


def markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    low, high = (results["level"] + sign * 2 * results["standard_error"] for sign in (-1, 1))
    spread = " and ".join(f"{value:.2f} times ({brackets})" for brackets, value in results["overdispersion"].items())
    rates = "; ".join(f"{name} {100 * a:.2f} and {100 * b:.2f}" for name, (a, b) in results["rates"].items())
    lines = [
        "# Size and power of the tests, on two real systems",
        "",
        f"{results['sentences']} sentences; {results['repetitions']} repetitions, {results['rounds']} rounds a test, "
        f"seed {results['seed']}. Made by `experiments/null_simulation.py`.",
        "",
        f"Rates of the two systems: {rates}.",
        "",
        "## Rejections",
        "",
        f"**null**: share of rejections at {results['level']} when whole sentences of the two systems are swapped at random. A "
        f"test that keeps its size is between {low:.3f} and {high:.3f} (two standard errors), or below. **n = ...**: the same for "
        "so many sentences drawn with replacement, first without a difference (null), then with the real one (power). An interval "
        "rejects if it leaves out 0.",
        "",
        f"Brackets of a sentence stand and fall together: the variance of NY - YN is {spread} what it would be if they were "
        "independent.",
        "",
        *table(results, list(results["null"])),
        "",
        "(*) takes brackets for independent, and so rejects far too often: its power is not power.",
        "",
        "## Coverage",
        "",
        "Share of 95% intervals that hold the true difference: 0 under the null, else that of the two systems on all sentences.",
        "",
        *table(results, [outcome for outcome in results["by_size"][str(SIZES[0])]["null"] if outcome.startswith("coverage")]),
        "",
    ]
    return "\n".join(lines)


def table(results: dict[str, Any], outcomes: list[str]) -> list[str]:
    sizes: dict[str, Any] = results["by_size"]
    has_all = all(outcome in results["null"] for outcome in outcomes)
    lines = ["| | " + ("null, all | " if has_all else "") + " | ".join(f"n = {n}: null | real" for n in sizes) + " |"]
    lines.append("|---|" + "---:|" * (has_all + 2 * len(sizes)))
    for outcome in outcomes:
        mark = " (*)" if outcome.startswith(DEPENDENT) else ""
        cells = [f"{results['null'][outcome]:.4f}"] if has_all else []
        cells += [f"{of_size[kind][outcome]:.4f}" for of_size in sizes.values() for kind in ("null", "power")]
        lines.append(f"| {outcome}{mark} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("gold")
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1996)
    arguments = parser.parse_args()
    results = simulate(Data.read(arguments.gold, arguments.a, arguments.b), arguments.repetitions, arguments.seed)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "null_simulation.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (RESULTS / "null_simulation.md").write_text(markdown(results), "utf-8")
    print(markdown(results))


if __name__ == "__main__":
    main()
