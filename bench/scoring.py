"""How fast `treegauge score` is, as whole commands, beside nltk merely reading both files, PYEVALB and the C program EVALB.

python bench/scoring.py [--data ../shared/data/outputs] [--sentences 50000] [--rounds 5] [--pyevalb PYTHON] [--save]

PYEVALB (from PyPI) is measured if ``--pyevalb`` names a Python that has it. EVALB is measured if the environment variable
TREEGAUGE_EVALB names the program. The yardsticks are of one run on one machine: EVALB needs about a ninth of the time in which
``nltk.Tree.fromstring`` reads both files.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from results import machine, save_section

from treegauge import load_preset, read, write
from treegauge.scoring.baselines import baseline_for

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "outputs"
NLTK_PART = 5000
NLTK = """
import sys
from nltk import Tree
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        trees = [Tree.fromstring(line) for line in file]
"""
PYEVALB = """
import sys
from PYEVALB import scorer
scorer.Scorer().evalb(sys.argv[1], sys.argv[2], sys.argv[3])
"""
PEAK = """
import sys
from treegauge.cli import main
try:
    main(["score", *sys.argv[1:]])
except SystemExit as end:
    assert not end.code, end.code
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


class Cost(NamedTuple):
    """Seconds of the best round: on the clock, and of all processors together."""

    wall: float
    cpu: float


def run(command: Sequence[str]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def best(jobs: dict[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """The best of each; the jobs take turns, so that a busy moment of the machine strikes all of them."""
    found: dict[str, Cost] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            cost = job()
            known = found.get(name, cost)
            found[name] = Cost(min(cost.wall, known.wall), min(cost.cpu, known.cpu))
    return found


def repeated(path: Path, sentences: int, to: Path) -> Path:
    """The first so many lines of a file that is repeated as often as it takes."""
    lines = path.read_bytes().splitlines(keepends=True)
    with to.open("wb") as file:
        for number in range(sentences):
            file.write(lines[number % len(lines)])
    return to


def own_data(folder: Path) -> tuple[Path, Path]:
    """Where there is no parser's output: our own treebank, against the best binary tree of each sentence."""
    bank = read(str(resources.files("treegauge") / "data"))
    gold, test = folder / "own.gold.mrg", folder / "own.test.mrg"
    write(bank, gold)
    write(baseline_for("oracle-binary", bank, load_preset("default")), test)
    return gold, test


def score(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "treegauge", "score", *map(str, arguments)]


def peak_memory(*arguments: object) -> int:
    """The most memory a command ever held, in bytes."""
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return 1024 * int(done.stderr.split()[-1])


def speed_table(gold: Path, test: Path, folder: Path, options: argparse.Namespace) -> str:
    n = options.sentences
    large = [repeated(path, n, folder / f"{name}.large.mrg") for name, path in (("gold", gold), ("test", test))]
    medium = [repeated(path, 2400, folder / f"{name}.medium.mrg") for name, path in (("gold", gold), ("test", test))]
    part = [repeated(path, min(n, NLTK_PART), folder / f"{name}.part.mrg") for name, path in (("gold", gold), ("test", test))]
    jobs: dict[str, Callable[[], Cost]] = {
        "`treegauge score --help`": lambda: run(score("--help")),
        "`treegauge score`, 2,400 sentences": lambda: run(score(*medium)),
        "`treegauge score`, 2,400 sentences, all metrics": lambda: run(
            score(*medium, *(word for name in METRICS for word in ("-m", name)))
        ),
        f"`treegauge score`, {n:,} sentences": lambda: run(score(*large)),
        f"`treegauge score --stream`, {n:,} sentences": lambda: run(score(*large, "--stream")),
        f"`treegauge evalb`, {n:,} sentences": lambda: run([sys.executable, "-m", "treegauge", "evalb", *map(str, large)]),
    }
    if os.environ.get("TREEGAUGE_EVALB"):
        jobs[f"the C EVALB, {n:,} sentences"] = lambda: run([os.environ["TREEGAUGE_EVALB"], "-e", "1000000", *map(str, large)])
    costs = best(jobs, options.rounds)
    factor = n / min(n, NLTK_PART)
    slow = best({"nltk": lambda: run([sys.executable, "-c", NLTK, *map(str, part)])}, max(1, options.rounds // 2))
    nltk = Cost(slow["nltk"].wall * factor, slow["nltk"].cpu * factor)
    costs[f"`nltk.Tree.fromstring` of both files, {n:,} sentences"] = nltk
    if options.pyevalb:
        few = [repeated(path, 500, folder / f"{name}.few.mrg") for name, path in (("gold", gold), ("test", test))]
        command = [options.pyevalb, "-c", PYEVALB, *map(str, few), str(folder / "pyevalb.txt")]
        cost = best({"pyevalb": lambda: run(command)}, max(1, options.rounds // 2))["pyevalb"]
        costs[f"PYEVALB, {n:,} sentences (from 500)"] = Cost(cost.wall * n / 500, cost.cpu * n / 500)
    lines = ["| whole command | seconds | CPU seconds | nltk's time over it | nltk's CPU time over it |", "|---|---|---|---|---|"]
    for name, cost in costs.items():
        ratios = f"{nltk.wall / cost.wall:.1f} | {nltk.cpu / cost.cpu:.1f}" if f"{n:,}" in name else "|"
        lines.append(f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} | {ratios} |")
    return "\n".join(lines)


def growth_table(folder: Path, gold: Path, test: Path, n: int, rounds: int) -> str:
    """CPU time by the number of sentences, beyond that of starting."""
    lines = ["| sentences | CPU seconds | microseconds a sentence |", "|---|---|---|"]
    start = best({"start": lambda: run(score("--list"))}, rounds)["start"].cpu
    for sentences in (n // 8, n // 4, n // 2, n, 2 * n):
        files = [repeated(path, sentences, folder / f"{name}.growth.mrg") for name, path in (("gold", gold), ("test", test))]
        cost = best({"score": lambda files=files: run(score(*files))}, rounds)["score"].cpu - start
        lines.append(f"| {sentences:,} | {cost:.2f} | {1e6 * cost / sentences:.1f} |")
    return "\n".join(lines)


def memory_table(folder: Path, gold: Path, test: Path, n: int) -> str:
    lines = ["| sentences | both files | `score` | over the files | `score --stream` |", "|---|---|---|---|---|"]
    base = peak_memory("--list")
    for sentences in (n // 4, n, 2 * n):
        files = [repeated(path, sentences, folder / f"{name}.memory.mrg") for name, path in (("gold", gold), ("test", test))]
        size = sum(path.stat().st_size for path in files)
        whole, streamed = peak_memory(*files) - base, peak_memory(*files, "--stream") - base
        lines.append(
            f"| {sentences:,} | {size / 1e6:.1f} MB | {whole / 1e6:.0f} MB | {whole / size:.1f}x | {streamed / 1e6:.0f} MB |"
        )
    note = f"Beyond the {base / 1e6:.0f} MB that Python and NumPy take before anything is read."
    return "\n".join([*lines, "", note])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with gum_dev.gold.mrg and gum_dev.berkeley-maxrule.mrg")
    parser.add_argument("--sentences", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pyevalb", metavar="PYTHON", help="a Python that has PYEVALB")
    parser.add_argument("--save", action="store_true", help="put the result into RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, test = options.data / "gum_dev.gold.mrg", options.data / "gum_dev.berkeley-maxrule.mrg"
        if not gold.is_file():
            gold, test = own_data(folder)
        speed = speed_table(gold, test, folder, options)
        growth = growth_table(folder, gold, test, options.sentences, max(1, options.rounds // 2))
        memory = memory_table(folder, gold, test, options.sentences)
    about = f"{gold.name} against {test.name}, repeated; best of {options.rounds} rounds, nltk from {NLTK_PART:,} sentences."
    text = "\n\n".join([about, speed, "Growth, beyond the start of the program:", growth, "Most memory held:", memory, machine()])
    print(text)
    if options.save:
        save_section("Scoring", text)


METRICS = ("parseval", "goodman", "parent-child", "frames", "leaf-ancestor", "hogenhout", "freval")

if __name__ == "__main__":
    main()
