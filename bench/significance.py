"""The time of 10,000 bootstrap samples and of 10,000 randomisation rounds, for all metrics at once.

    OPENBLAS_NUM_THREADS=1 python bench/significance.py [GOLD A B] [--save]

Target: at most 2 s for each on 2,400 sentences. Without files, the treebank that comes with treegauge is used, with two simulated
parsers that omit phrases; in both cases 2,400 rows are drawn with replacement. The yardstick is the same work done one round at a
time: the sum of the drawn rows, then the metric's own ``rates``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from results import machine, save_section

from treegauge import alignment, io
from treegauge.data import own_treebank
from treegauge.metrics.registry import find_metric, metric_names
from treegauge.presets import load_preset
from treegauge.significance import PairedColumns, bootstrap, randomisation
from treegauge.trees import Tree
from treegauge.trees.tree import Child, rebuild
from treegauge.trees.treebank import Treebank

SENTENCES, ROUNDS = 2_400, 10_000
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


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="GOLD A B")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    text = "\n".join([*measured(arguments.files), "", machine()])
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
