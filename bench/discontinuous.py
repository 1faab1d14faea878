"""CPU time of scoring continuous trees, alone and beside one discontinuous tree; run it at two commits to compare them.

    python bench/discontinuous.py [--copies 40] [--repeats 7]

prints, for each step, the smallest time of all repeats in milliseconds.
"""

from __future__ import annotations

import argparse
import time

from treegauge import alignment
from treegauge.data import discontinuous_treebank, own_treebank
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.trees import Treebank

METRICS = ("parseval", "goodman", "leaf-ancestor")


def times(bank: Treebank, repeats: int) -> dict[str, float]:
    """The smallest CPU time of preparing a treebank against itself, and of the rows of each metric."""
    best: dict[str, float] = {}
    for _ in range(repeats):
        begin = time.process_time()
        pair = alignment.pair(bank, bank, load_preset("default"))
        taken = {"prepare": time.process_time() - begin}
        for name in METRICS:
            begin = time.process_time()
            find_metric(name).rows(pair)
            taken[name] = time.process_time() - begin
        best = {name: min(value, best.get(name, value)) for name, value in taken.items()}
    return best


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--copies", type=int, default=40)
    arguments.add_argument("--repeats", type=int, default=7)
    chosen = arguments.parse_args()
    plain = Treebank.concatenate([own_treebank()] * chosen.copies)
    mixed = Treebank.concatenate([plain, discontinuous_treebank("german")[:1]])
    alone, beside = times(plain, chosen.repeats), times(mixed, chosen.repeats)
    print(f"{len(plain)} continuous trees: ms alone, ms beside one discontinuous tree")
    for name in alone:
        print(f"{name:14} {1000 * alone[name]:8.1f} {1000 * beside[name]:8.1f}")


if __name__ == "__main__":
    main()
