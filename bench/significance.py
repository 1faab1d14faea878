"""The time of 10,000 bootstrap samples and of 10,000 randomisation rounds, for all metrics at once.

    OPENBLAS_NUM_THREADS=1 python bench/significance.py [GOLD A B] [--save]

Target: at most 2 s for each on 2,400 sentences; and for five systems with five runs each, PARSEVAL and all ten pairs, at most 5 s
beyond reading the 26 files, and 400 MB (``--runs`` measures nothing else). Without files, the treebank that comes with treegauge
is used, with simulated parsers that omit phrases; 2,400 rows are drawn with replacement. The yardstick is the same work done one
round at a time: the sum of the drawn rows, then the metric's own ``rates``.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from results import machine, save_section

from treegauge import alignment, io
from treegauge.data import own_treebank
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.presets import load_preset
from treegauge.significance import CompareOptions, PairedColumns, bootstrap, compare_scores, randomisation
from treegauge.significance.paired_comparison import comparable_scores
from treegauge.trees import Tree
from treegauge.trees.tree import Child, rebuild
from treegauge.trees.treebank import Treebank

SENTENCES, ROUNDS, RUNS = 2_400, 10_000, 5
SLOW_ROUNDS = 20


def forgetful(bank: Treebank, share: float) -> Treebank:
    rng = np.random.default_rng(round(1000 * share))

    def make(node: Tree, children: list[Child]) -> list[Child]:
        forgotten = not node.is_preterminal and rng.random() < share
        return children if forgotten else [node.replace(children=children)]

    return Treebank.from_trees(rebuild(tree, make) or tree for tree in bank)


def treebanks(paths: list[str]) -> list[Treebank]:
    if paths:
        return [io.read(path) for path in paths]
    gold = own_treebank()
    return [gold, forgetful(gold, 0.2), forgetful(gold, 0.15)]


def seconds(work: Callable[[], object]) -> float:
    """The CPU time of the best of three runs."""
    times: list[float] = []
    for _ in range(3):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def one_by_one(name: str, rows: list[Any]) -> None:
    """Bootstrap in its simplest form, one sample at a time."""
    metric = find_metric(name)
    rng = np.random.default_rng(0)
    for _ in range(SLOW_ROUNDS):
        drawn = rng.integers(0, len(rows[0]), len(rows[0]))
        for of_system in rows:
            metric.rates(of_system[drawn].sum(axis=0).tolist())


def several_runs(files: list[str]) -> list[str]:
    """The CPU time of a comparison of five systems with five runs each, and the part of it that is reading."""
    gold = treebanks(files)[0]
    with TemporaryDirectory() as folder:

        def written(name: str, bank: Treebank) -> str:
            texts = [str(tree) for tree in bank]
            path = Path(folder, f"{name}.mrg")
            path.write_text("\n".join((texts * (SENTENCES // len(texts) + 1))[:SENTENCES]) + "\n", "utf-8")
            return str(path)

        gold_file = written("gold", gold)
        systems = {
            f"system {number}": [
                written(f"{number}-{run}", forgetful(gold, 0.1 + 0.02 * number + 0.003 * run)) for run in range(RUNS)
            ]
            for number in range(RUNS)
        }
        every = [gold_file, *(path for runs in systems.values() for path in runs)]
        reading = seconds(lambda: [io.read(path) for path in every])
        options = CompareOptions(metrics=("parseval",), rounds=ROUNDS)
        scoring = seconds(lambda: comparable_scores(gold_file, systems, options, trees=False))
        scores = comparable_scores(gold_file, systems, options, trees=False)
        testing = seconds(lambda: compare_scores(scores, options))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        f"Five systems with five runs each, {SENTENCES:,} sentences, PARSEVAL, ten pairs: reading {reading:.2f} s, scoring beyond "
        f"it {scoring - reading:.2f} s, testing {testing:.2f} s (CPU, best of three); most memory {memory:.0f} MB."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="GOLD A B")
    parser.add_argument("--runs", action="store_true", help="measure the comparison of several runs only")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    lines = [] if arguments.runs else [*measured(arguments.files), ""]
    text = "\n".join([*lines, *several_runs(arguments.files), "", machine()])
    print(text)
    if arguments.save:
        save_section("Significance", text)


def measured(files: list[str]) -> list[str]:
    gold, *systems = treebanks(files)
    pairs = [alignment.pair(gold, system, load_preset("default")) for system in systems]
    drawn = np.random.default_rng(0).integers(0, len(gold), SENTENCES)
    rows = {name: [find_metric(name).rows(pair)[drawn] for pair in pairs] for name in metric_names()}
    prepared = {name: PairedColumns.of(find_metric(name), of_metric) for name, of_metric in rows.items()}
    every = PairedColumns.stack(list(prepared.values()))
    lines = [
        f"{SENTENCES:,} sentences, {ROUNDS:,} rounds, {len(every.names)} rates, {every.columns[0].shape[1]} columns, two systems; "
        "the target is 2 s for all metrics. CPU time, best of three; of the work one by one, 20 rounds are measured.",
        "",
        "| metric | bootstrap s | randomisation s | bootstrap, ms a round | one by one, ms a round |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, paired in prepared.items():
        slow = seconds(lambda name=name: one_by_one(name, rows[name])) / SLOW_ROUNDS
        fast = seconds(lambda paired=paired: bootstrap(paired, rounds=ROUNDS))
        swaps = seconds(lambda paired=paired: randomisation(paired, rounds=ROUNDS))
        each = fast / ROUNDS
        lines.append(f"| {name} | {fast:.2f} | {swaps:.2f} | {1e3 * each:.3f} | {1e3 * slow:.2f} ({slow / each:.0f}x) |")
    fast = seconds(lambda: bootstrap(every, rounds=ROUNDS))
    swaps = seconds(lambda: randomisation(every, rounds=ROUNDS))
    return [*lines, f"| all | {fast:.2f} | {swaps:.2f} | {1e3 * fast / ROUNDS:.3f} | |"]


if __name__ == "__main__":
    main()
