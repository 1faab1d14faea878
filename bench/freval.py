"""The time for counting all fragments, compared with explicit enumeration, and its growth with the size of trees.

python bench/freval.py [--data ../shared/data] [--save]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import nltk
from results import machine, save_section

from treegauge import alignment
from treegauge.io import read
from treegauge.metrics.fragments import count_fragments
from treegauge.metrics.freval import Freval
from treegauge.metrics.metric import total_of
from treegauge.presets import load_preset


def best_of(rounds: int, work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def enumerated(parent: list[int]) -> Iterator[frozenset[int]]:
    """Every connected set of nodes, one by one, which the polynomial algorithm makes unnecessary."""
    children: list[list[int]] = [[] for _ in parent]
    for node, above in enumerate(parent):
        if above >= 0:
            children[above].append(node)

    def headed_by(node: int) -> list[frozenset[int]]:
        found = [frozenset([node])]
        for child in children[node]:
            below = headed_by(child)
            found += [one | other for one in found for other in below]
        return found

    for node in range(len(parent)):
        yield from headed_by(node)


def against_enumeration() -> list[str]:
    lines = ["| tree | fragments | enumeration | polynomial | ratio |", "|---|---|---|---|---|"]
    for name, parent in (
        ("10 leaves under one node", [-1] + [0] * 10),
        ("14 leaves under one node", [-1] + [0] * 14),
        ("17 leaves under one node", [-1] + [0] * 17),
        ("binary, 16 leaves", [-1, *((node - 1) // 2 for node in range(1, 15))]),
    ):
        fragments = sum(count_fragments(parent).counts)
        slow = best_of(3, lambda parent=parent: sum(1 for _ in enumerated(parent)))
        fast = best_of(20, lambda parent=parent: count_fragments(parent))
        lines.append(f"| {name} | {fragments:,} | {1e3 * slow:.2f} ms | {1e3 * fast:.3f} ms | {slow / fast:,.0f} |")
    return lines


def growth() -> list[str]:
    lines = ["| phrases in a tree | all under one | right-branching | a chain |", "|---|---|---|---|"]
    for n in (50, 100, 200, 400, 800, 1600, 3200):
        shapes = [-1] + [0] * (n - 1), [-1, *(node - 2 + node % 2 for node in range(1, n))], [-1, *range(n - 1)]
        times = [best_of(3 if n < 1000 else 1, lambda shape=shape: count_fragments(shape)) for shape in shapes]
        lines.append(f"| {n:,} | {' | '.join(f'{1e3 * seconds:.2f} ms' for seconds in times)} |")
    return lines


def most_fragments(treebank: Path) -> int:
    bank = read(treebank)
    rows = Freval().rows(alignment.pair(bank, bank, load_preset("freval")))
    return max(sum(row[1].counts) for row in rows)


def beside_the_java_program(treebank: Path, n: int = 500) -> list[str]:
    """Our time on WSJ trees beside that of the paper's authors' program, estimated by nltk in the same run.

    Measured once, on 10,000 trees, the program took 36 times as long as nltk takes to read them twice.
    """
    if not treebank.is_file():
        return [f"({treebank} is not here: not measured)"]
    trees = [str(tree) for tree in read(treebank)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wsj.mrg"
        path.write_text("\n".join(trees[:n]) + "\n", "utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "treegauge", "freval", path, path], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    ours = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    began = time.process_time()
    for tree in islice(cycle(trees), 20_000):
        nltk.Tree.fromstring(tree)
    java = 36 * (time.process_time() - began)
    return [
        f"Of the {len(trees):,} trees of the WSJ sample the one with the most fragments has {most_fragments(treebank):.2g}. {n} "
        f"WSJ-sample sentences against themselves, all sizes, whole command: {ours:.2f} s of CPU time. By the yardstick of 36 "
        f"times what nltk needs to read 10,000 such trees twice, the authors' program would take {java:.0f} s: {java / ours:,.0f} "
        "times as long."
    ]


def corpus(folder: Path) -> list[str]:
    gold, test = folder / "gum_dev.gold.mrg", folder / "gum_dev.berkeley-maxrule.mrg"
    if not gold.is_file():
        return [f"({folder} is not here: no corpus measured)"]
    command = [sys.executable, "-m", "treegauge", "freval", str(gold), str(test)]
    whole = best_of(3, lambda: subprocess.run(command, check=True, capture_output=True))
    pair = alignment.pair(read(gold), read(test), load_preset("freval"))
    metric = Freval()
    rows = metric.rows(pair)
    counting = best_of(5, lambda: metric.rows(pair))
    total = total_of(rows)
    fragments = sum(total[1].counts)
    return [
        f"{len(pair)} GUM dev sentences, all sizes (largest {total[1].largest}), {fragments:.3g} gold fragments: whole command "
        f"{whole:.2f} s, counting alone {counting:.3f} s."
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    parts = [
        corpus(arguments.data / "outputs"),
        beside_the_java_program(arguments.data / "wsj_sample" / "train.mrg"),
        against_enumeration(),
        growth(),
        [machine()],
    ]
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    if arguments.save:
        save_section("FREVAL", text)


if __name__ == "__main__":
    main()
