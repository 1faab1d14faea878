"""CPU time of scoring continuous trees: the support of trees with gaps must cost nothing where there are none.

    python bench/discontinuous.py [--copies 60] [--rounds 15] [--against COMMIT] [--save]

Two comparisons, each of two programs that take turns, so that other load on the machine affects both alike; the table has the
medians of their CPU times, and the median of the ratio in each turn:

* commands of this working tree and of an earlier commit (by default the last one before trees could have gaps) on the same files;
* in one process, a treebank alone and together with one tree with gaps, so that the code for gaps is used.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from results import machine, save_section

from treegauge import alignment
from treegauge.data import discontinuous_treebank, own_treebank
from treegauge.io import write
from treegauge.metrics.registry import find_metric
from treegauge.presets import load_preset
from treegauge.trees import Treebank

ROOT = Path(__file__).parents[1]
BEFORE = "001f128"
COMMANDS = {
    "score": ("score",),
    "score -m goodman": ("score", "-m", "goodman"),
    "score -m leaf-ancestor": ("score", "-m", "leaf-ancestor"),
    "score --per-sentence": ("score", "--per-sentence"),
}
METRICS = ("parseval", "goodman", "leaf-ancestor")


def cpu_seconds(source: Path, words: tuple[str, ...]) -> float:
    """The CPU time of a treegauge command that runs with the modules in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(source.parent / "numba")}
    command = [sys.executable, "-m", "treegauge", *words]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} with {source} ended with status {status}")
    return usage.ru_utime + usage.ru_stime


def in_turns(one: Callable[[], float], other: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """The medians of two times, and the median of their ratio (first to second); each round measures both, in alternating order."""
    first, second = list[float](), list[float]()
    for take in (one, other):  # compile, fill caches
        take()
    for number in range(rounds):
        for take, times in ((one, first), (other, second)) if number % 2 else ((other, second), (one, first)):
            times.append(take())
    ratios = [a / b for a, b in zip(first, second, strict=True)]
    return statistics.median(first), statistics.median(second), statistics.median(ratios)


def compare_commits(folder: Path, commit: str, copies: int, rounds: int) -> list[str]:
    """A row for each command, with the modules of this tree and with those of a commit."""
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    (folder / "before").mkdir()
    subprocess.run(["tar", "-x", "-C", str(folder / "before")], input=archive, check=True)
    (folder / "now").mkdir()
    (folder / "now" / "src").symlink_to(ROOT / "src")
    gold, test = folder / "gold.mrg", folder / "test.mrg"
    bank = Treebank.concatenate([own_treebank()] * copies)
    write(bank, gold)
    test.write_text(gold.read_text("utf-8").replace("(PP ", "(ADVP ").replace("(NP (DT", "(NX (DT"), "utf-8")
    rows = [f"| {len(bank):,} trees | now | before ({commit}) | ratio |", "|---|---|---|---|"]
    for name, words in COMMANDS.items():
        whole = (*words, str(gold), str(test))
        now, before, ratio = in_turns(
            lambda whole=whole: cpu_seconds(folder / "now" / "src", whole),
            lambda whole=whole: cpu_seconds(folder / "before" / "src", whole),
            rounds,
        )
        rows.append(f"| `{name}` | {now:.2f} s | {before:.2f} s | {ratio:.3f} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def compare_banks(copies: int, rounds: int) -> list[str]:
    """A row for each step of scoring, for a treebank with one tree with gaps and for the treebank alone."""
    plain = Treebank.concatenate([own_treebank()] * copies)
    mixed = Treebank.concatenate([plain, discontinuous_treebank("german")[:1]])
    preset = load_preset("default")

    def prepare(bank: Treebank) -> float:
        begin = time.process_time()
        alignment.pair(bank, bank, preset)
        return time.process_time() - begin

    def rows_of(name: str, bank: Treebank) -> float:
        pair = alignment.pair(bank, bank, preset)
        begin = time.process_time()
        find_metric(name).rows(pair)
        return time.process_time() - begin

    lines = ["| step | beside a tree with gaps | alone | ratio |", "|---|---|---|---|"]
    steps: dict[str, Callable[[Treebank], float]] = {"align": prepare}
    steps |= {name: lambda bank, name=name: rows_of(name, bank) for name in METRICS}
    for name, step in steps.items():
        beside, alone, ratio = in_turns(lambda step=step: step(mixed), lambda step=step: step(plain), rounds)
        lines.append(f"| {name} | {1000 * beside:.1f} ms | {1000 * alone:.1f} ms | {ratio:.2f} |")
    return lines


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--copies", type=int, default=60)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--against", default=BEFORE, metavar="COMMIT")
    arguments.add_argument("--save", action="store_true")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lines = compare_commits(Path(folder), chosen.against, chosen.copies, chosen.rounds)
    lines += ["", *compare_banks(chosen.copies, chosen.rounds), "", machine()]
    text = "\n".join(lines)
    print(text)
    if chosen.save:
        introduction = "CPU time of scoring continuous trees, medians of runs in turns: now and before trees could have gaps.\n\n"
        save_section("Continuous trees since trees can have gaps", introduction + text)


if __name__ == "__main__":
    main()
