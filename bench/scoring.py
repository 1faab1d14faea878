"""The speed of `treegauge score` and `treegauge evalb` as whole commands, compared with a yardstick on the same files.

python bench/scoring.py [--data ../shared/data/outputs] [--sentences 50000] [--rounds 5] [--pyevalb PYTHON] [--save]

The files grow in vocabulary as real text does (see generated.py). The yardstick is the C program EVALB (its standard build, -g) if
the environment variable TREEGAUGE_EVALB names it. Otherwise it is nltk reading both files, tree by tree without keeping any, not
counting its import; we have measured EVALB to be about ten times as fast as that (0.78 s against 8.3 s, and 0.97 s against 9.4 s
with a growing vocabulary, for 50,000 sentences), and the result says so. Every number of the table is measured on the file that its
row names; EVALB's time is among them only if the program was run.
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
from pathlib import Path
from typing import NamedTuple

from generated import FilePair, generate, source_files, vocabulary
from results import machine, save_section

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "outputs"
SMALL = 2400
NLTK_OVER_EVALB = 10
"""Measured: the CPU time of nltk reading both files over that of EVALB -g scoring them."""
NLTK = """
import sys, time
from nltk import Tree
began = time.process_time(), time.perf_counter()
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        for line in file:
            Tree.fromstring(line)
print(time.perf_counter() - began[1], time.process_time() - began[0])
"""
PYEVALB = """
import sys, time
from PYEVALB import scorer
began = time.process_time(), time.perf_counter()
scorer.Scorer().evalb(sys.argv[1], sys.argv[2], sys.argv[3])
print(time.perf_counter() - began[1], time.process_time() - began[0])
"""
LEAST = """
import sys
sys.path.insert(0, sys.argv[1])
from least import total
import numpy
total(numpy.ones(3))
"""
METRICS = ("parseval", "goodman", "parent-child", "frames", "leaf-ancestor", "hogenhout", "freval")


class Cost(NamedTuple):
    """Seconds of wall time, and of CPU time of all processors together."""

    wall: float
    cpu: float


def whole_command(command: Sequence[object], **variables: str) -> Cost:
    """The cost of a command from start to end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    environment = {**os.environ, **variables}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have byte code: compiling takes longer than the start
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def least_of_numba(folder: Path) -> list[str]:
    """A command that does nothing but import Numba and call one kernel, which is stored after its first run."""
    kernel = "import numba\n@numba.njit(cache=True)\ndef total(x):\n    y = 0.0\n    for z in x:\n        y += z\n    return y\n"
    (folder / "least.py").write_text(kernel)
    return [sys.executable, "-c", LEAST, str(folder)]


def without_import(python: str, program: str, *words: object) -> Cost:
    """The cost that a program reports for itself, without its imports."""
    done = subprocess.run([python, "-c", program, *map(str, words)], check=True, capture_output=True, text=True)
    wall, cpu = map(float, done.stdout.split()[-2:])
    return Cost(wall, cpu)


def best(jobs: dict[str, Callable[[], Cost]], rounds: int) -> dict[str, Cost]:
    """The best cost of each job; the jobs take turns, so that a busy moment of the machine affects all of them."""
    found: dict[str, Cost] = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            cost = job()
            known = found.get(name, cost)
            found[name] = Cost(min(cost.wall, known.wall), min(cost.cpu, known.cpu))
    return found


def treegauge(*words: object) -> list[object]:
    return [sys.executable, "-m", "treegauge", *words]


def yardstick(files: FilePair) -> tuple[str, Callable[[], Cost]]:
    """The name of the yardstick, and the job that measures it."""
    if program := os.environ.get("TREEGAUGE_EVALB"):
        return "the C EVALB (-g)", lambda: whole_command([program, "-e", 1_000_000, files.gold, files.test])
    return "nltk reading both files", lambda: without_import(sys.executable, NLTK, files.gold, files.test)


def speed_table(pairs: Sequence[FilePair], options: argparse.Namespace) -> str:
    """Each command on each size of file, as ratios to the yardstick on the same files."""
    name = yardstick(pairs[0])[0]
    lines = [
        f"| command | sentences | seconds | CPU seconds | its time over that of {name} | its CPU time over that |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for files in pairs:
        name, measure = yardstick(files)
        jobs: dict[str, Callable[[], Cost]] = {
            name: measure,
            "`treegauge score`": lambda files=files: whole_command(treegauge("score", files.gold, files.test)),
            "`treegauge score --stream`": lambda files=files: whole_command(treegauge("score", files.gold, files.test, "--stream")),
            "`treegauge evalb`": lambda files=files: whole_command(treegauge("evalb", files.gold, files.test)),
        }
        if files.sentences == SMALL:
            jobs["`treegauge score`, all metrics"] = lambda files=files: whole_command(
                treegauge("score", files.gold, files.test, *(word for metric in METRICS for word in ("-m", metric)))
            )
            if options.pyevalb:
                jobs["PYEVALB"] = lambda files=files: without_import(
                    options.pyevalb, PYEVALB, files.gold, files.test, files.gold.with_name("pyevalb.txt")
                )
        costs = best(jobs, options.rounds)
        peer = costs[name]
        for job, cost in costs.items():
            ratios = f"{cost.wall / peer.wall:.2f} | {cost.cpu / peer.cpu:.2f}"
            lines.append(f"| {job} | {files.sentences:,} | {cost.wall:.2f} | {cost.cpu:.2f} | {ratios} |")
    return "\n".join(lines)


def start_table(rounds: int) -> str:
    """The cost of starting, before the first tree is read."""
    jobs = {
        "`python -c pass`": lambda: whole_command([sys.executable, "-c", "pass"]),
        "`import numpy`, one BLAS thread": lambda: whole_command([sys.executable, "-c", "import numpy"], OPENBLAS_NUM_THREADS="1"),
        "`import nltk.Tree`": lambda: whole_command([sys.executable, "-c", "from nltk import Tree"]),
        "`treegauge score --list`": lambda: whole_command(treegauge("score", "--list")),
    }
    rows = [f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} |" for name, cost in best(jobs, rounds).items()]
    return "\n".join(["| start | seconds | CPU seconds |", "|---|---:|---:|", *rows])


def growth_table(pairs: Sequence[FilePair], rounds: int) -> str:
    """CPU time by the number of sentences, beyond that of starting."""
    lines = ["| sentences | words in the vocabulary | CPU seconds | microseconds per sentence |", "|---:|---:|---:|---:|"]
    start = best({"start": lambda: whole_command(treegauge("score", "--list"))}, rounds)["start"].cpu
    for files in pairs:
        measure = {"score": lambda files=files: whole_command(treegauge("score", files.gold, files.test))}
        cost = best(measure, rounds)["score"].cpu - start
        words = vocabulary(files.gold)
        lines.append(f"| {files.sentences:,} | {words:,} | {cost:.2f} | {1e6 * cost / files.sentences:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with gum_dev.gold.mrg and gum_dev.berkeley-maxrule.mrg")
    parser.add_argument("--sentences", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pyevalb", metavar="PYTHON", help="a Python that has PYEVALB")
    parser.add_argument("--save", action="store_true", help="put the result into RESULTS.md")
    options = parser.parse_args()
    n = options.sentences
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, test = source_files(options.data, folder)
        pairs = [generate(gold, test, sentences, folder) for sentences in (SMALL, n, 4 * n)]
        whole_command(treegauge("score", pairs[1].gold, pairs[1].test))  # compiles the kernels, unless they are there
        plain = whole_command(treegauge("score", pairs[1].gold, pairs[1].test), NUMBA_DISABLE_JIT="1")
        speed, start = speed_table(pairs, options), start_table(options.rounds)
        halves = [generate(gold, test, sentences, folder) for sentences in (n // 8, n // 2)]
        ordered = sorted([*pairs, *halves], key=lambda files: files.sentences)
        growth = growth_table(ordered, max(1, options.rounds // 2))
    about = f"{gold.name} against {test.name}, perturbed and with a growing vocabulary; best of {options.rounds} rounds."
    about += f" Without kernels `score` of {n:,} sentences takes {plain.wall:.2f} s, {plain.cpu:.2f} s of CPU time."
    about += " Whole commands; of nltk and PYEVALB without their import."
    if not os.environ.get("TREEGAUGE_EVALB"):
        about += f" EVALB was not measured here: it takes about 1/{NLTK_OVER_EVALB} of nltk's time, so a ratio of 0.1 is its speed."
    text = "\n\n".join([about, speed, start, "Growth, beyond the start of the program:", growth, machine()])
    print(text)
    if options.save:
        save_section("Scoring", text)


if __name__ == "__main__":
    main()
