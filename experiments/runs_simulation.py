"""Size of the tests for systems with several runs, and coverage of their intervals, in simulated experiments.

Every experiment has two parsers with 3 or 5 runs each on 100 or 400 sentences. A bracket is found with a probability that depends
on the sentence, on how the parser fares on it, on the run, on how the run fares on the sentence and, in some cells, on how the
parser fares on the document. The rate is F1. Without a difference between the parsers, a test at the 5% level should reject 5% of
the time; with one, 95% of the intervals should hold the true difference.

    python experiments/runs_simulation.py [--experiments 2000]

writes results/runs_simulation.json and .md beside this script. The test is that of ``treegauge.significance.runs``; the others are:

* sentences only: the sentences' contributions to the difference of the means, as if the runs were the only ones possible
* runs only: Student's t of the runs' scores, as if the test set were the whole language
* all pairs of sentences: each run of A beside one of B, their sentences taken for independent
* first runs: the sentences of the first run of each parser
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treegauge.significance.classical import student
from treegauge.significance.resampling import sums_of_documents
from treegauge.significance.runs import components

Floats = NDArray[np.float64]
LEVEL = 0.05
RESULTS = Path(__file__).parent / "results"
RUNS, SENTENCES, EFFECTS = (3, 5), (100, 400), (0.0, 0.5, 1.0, 2.0)
TRUE_DIFFERENCE = 0.15
"""The difference of the parsers in logits, where there is one."""
EASE, OF_SENTENCE, OF_PARSER, OF_RUN_AND_SENTENCE, OF_DOCUMENT = 1.6, 0.9, 0.5, 0.5, 0.25
"""The logit of finding a bracket, and the standard deviations of what it depends on."""
DOCUMENT_SIZES = (5, 15, 10, 8, 12)


@cache
def document_numbers(sentences: int) -> NDArray[np.int64]:
    """The document of each sentence."""
    sizes = itertools.cycle(DOCUMENT_SIZES)
    return np.concatenate([np.full(next(sizes), number) for number in range(sentences)])[:sentences]


def experiments(
    rng: np.random.Generator, n: int, runs: int, sentences: int, effect: float, documents: bool, shift: float
) -> tuple[Floats, Floats]:
    """Matched brackets (experiments, parsers, runs, sentences) and gold brackets (experiments, sentences)."""
    gold = rng.poisson(12, (n, sentences)) + 1
    of_document = np.zeros((n, 2, 1, sentences))
    if documents:
        numbers = document_numbers(sentences)
        of_document = OF_DOCUMENT * rng.standard_normal((n, 2, 1, numbers.max() + 1))[..., numbers]
    per_document = sum(DOCUMENT_SIZES) / len(DOCUMENT_SIZES)
    of_sentences = OF_PARSER**2 + OF_RUN_AND_SENTENCE**2 / runs + (per_document * OF_DOCUMENT**2 if documents else 0)
    of_run = effect * math.sqrt(runs * of_sentences / sentences)
    logits = (
        EASE
        + OF_SENTENCE * rng.standard_normal((n, 1, 1, sentences))
        + OF_PARSER * rng.standard_normal((n, 2, 1, sentences))
        + of_document
        + of_run * rng.standard_normal((n, 2, runs, 1))
        + OF_RUN_AND_SENTENCE * rng.standard_normal((n, 2, runs, sentences))
    )
    logits[:, 1] += shift
    found = rng.binomial(gold[:, None, None], 1 / (1 + np.exp(-logits)))
    return found.astype(float), gold.astype(float)


def unit_contributions(found: Floats, gold: Floats, documents: bool) -> tuple[Floats, Floats, Floats]:
    """The rates of the runs, and what each sentence, and each sentence or document, adds to them."""
    sentences = found.shape[2]
    rates = found.sum(axis=2) / gold.sum()
    without_one = (found.sum(axis=2, keepdims=True) - found) / (gold.sum() - gold)
    by_sentence = (sentences - 1) / sentences * (rates[..., None] - without_one)
    if not documents:
        return rates, by_sentence, by_sentence
    units = sums_of_documents(by_sentence.transpose(2, 0, 1), document_numbers(sentences)).transpose(1, 2, 0)
    return rates, by_sentence, units


def outcomes(found: Floats, gold: Floats, documents: bool, truth: float) -> dict[str, bool]:
    """What every test says of one experiment, and whether the interval holds the true difference."""
    runs = found.shape[1]
    rates, by_sentence, units = unit_contributions(found, gold, documents)
    difference = float(rates[1].mean() - rates[0].mean())
    tested = components(list(rates), list(units))
    means = units.mean(axis=1)
    alone = components(list(rates[:, :1]), list(units[:, :1]))
    stacked = [of.reshape(1, -1) / runs for of in by_sentence]
    return {
        "runs and sentences": tested.p(difference) <= LEVEL,
        "sentences only": components([rates[0, :1], rates[1, :1]], [means[:1], means[1:]]).p(difference) <= LEVEL,
        "runs only": student(difference / math.sqrt(2 / runs * rates.var(axis=1, ddof=1).mean()), 2 * runs - 2) <= LEVEL,
        "all pairs of sentences": components([rates[0, :1], rates[1, :1]], stacked).p(difference) <= LEVEL,
        "first runs": alone.p(float(rates[1, 0] - rates[0, 0])) <= LEVEL,
        "coverage": tested.p(difference - truth) > LEVEL,  # the interval holds what the test does not reject
    }


def shares(rng: np.random.Generator, n: int, shift: float, truth: float, cell: tuple[int, int, bool, float]) -> dict[str, float]:
    """The share of experiments in which each test rejects, and the interval holds the truth."""
    runs, sentences, documents, effect = cell
    counts: dict[str, int] = {}
    for first in range(0, n, 250):
        every = experiments(rng, min(250, n - first), runs, sentences, effect, documents, shift)
        for found, gold in zip(*every, strict=True):
            for name, happened in outcomes(found, gold, documents, truth).items():
                counts[name] = counts.get(name, 0) + bool(happened)
    return {name: count / n for name, count in counts.items()}


def true_difference(rng: np.random.Generator, cell: tuple[int, int, bool, float]) -> float:
    """The difference of the expected rates, from many experiments."""
    runs, sentences, documents, effect = cell
    total = 0.0
    for _ in range(20):
        found, gold = experiments(rng, 500, runs, sentences, effect, documents, TRUE_DIFFERENCE)
        total += float(
            (found.mean(axis=2).sum(axis=2) / gold.sum(axis=1, keepdims=True)) @ np.array([-1, 1]) @ np.full(500, 1 / 500)
        )
    return total / 20


def simulate(n: int, seed: int) -> dict[str, Any]:
    """The shares of all cells."""
    rng, cells = np.random.default_rng(seed), list[dict[str, Any]]()
    for cell in itertools.product(RUNS, SENTENCES, (False, True), EFFECTS):
        truth = true_difference(rng, cell)
        null, real = shares(rng, n, 0.0, 0.0, cell), shares(rng, n, TRUE_DIFFERENCE, truth, cell)
        names = dict(zip(("runs", "sentences", "documents", "effect"), cell, strict=True))
        cells.append({**names, "true_difference": truth, "null": null, "real": real})
        print(names, null["runs and sentences"], real["coverage"], flush=True)
    return {"experiments": n, "level": LEVEL, "seed": seed, "standard_error": math.sqrt(LEVEL * (1 - LEVEL) / n), "cells": cells}


def markdown(results: dict[str, Any]) -> str:
    """The results as a page."""
    tests = [name for name in results["cells"][0]["null"] if name != "coverage"]
    lines = [
        "# Size of the tests for several runs, and coverage of their intervals",
        "",
        f"{results['experiments']:,} simulated experiments a cell, seed {results['seed']}. "
        "Made by `experiments/runs_simulation.py`.",
        "",
        f"Share of rejections at {results['level']} where the parsers do not differ, by every test; then, for runs and sentences, "
        "how often the interval holds a true difference, and how often it is found. Runs' effect: the standard deviation of a mean "
        "over runs in multiples of that over sentences.",
        "",
        "| runs | sentences | documents | runs' effect | " + " | ".join(tests) + " | coverage | power |",
        "|---:|---:|---|---:|" + "---:|" * (len(tests) + 2),
    ]
    for cell in results["cells"]:
        shown = [*(cell["null"][test] for test in tests), cell["real"]["coverage"], cell["real"]["runs and sentences"]]
        values = " | ".join(f"{100 * value:.1f}%" for value in shown)
        lines.append(
            f"| {cell['runs']} | {cell['sentences']} | {'yes' if cell['documents'] else 'no'} | {cell['effect']:g} | {values} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiments", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1996)
    arguments = parser.parse_args()
    results = simulate(arguments.experiments, arguments.seed)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "runs_simulation.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    (RESULTS / "runs_simulation.md").write_text(markdown(results), "utf-8")
    print(markdown(results))


if __name__ == "__main__":
    main()
