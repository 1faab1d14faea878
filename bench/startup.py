"""The cost of starting commands: CPU time beyond the bare interpreter, and the number of modules loaded.

python bench/startup.py [--rounds 11] [--save]

Each command runs on one sentence. The commands and the bare interpreter take turns; the table has the median of the rounds and the
minimum, which other processes disturb least.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from results import machine, save_section

from treegauge.grammar.model import SHIPPED

SENTENCE = "(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n"
COUNT = """
import sys
from treegauge.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
ours = sum(name.split(".")[0] == "treegauge" for name in sys.modules)
heavy = [name for name in ("click", "numpy", "numba", "scipy", "rich", "jinja2") if name in sys.modules]
print(ours, len(sys.modules), ",".join(heavy) or "-", file=sys.stderr)
"""


def commands(folder: Path) -> dict[str, list[str]]:
    """The arguments of each command that is measured, by its name in the table."""
    trees, words = folder / "one.mrg", folder / "one.txt"
    trees.write_text(SENTENCE)
    words.write_text("the rain fell\n")
    return {
        "evalb": ["evalb", str(trees), str(trees)],
        "score": ["score", str(trees), str(trees)],
        "--help": ["--help"],
        "parse": ["parse", str(SHIPPED), str(words)],
    }


def cpu_time(words: list[str]) -> float:
    """Seconds of CPU time of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loaded(words: list[str]) -> list[str]:
    """The number of treegauge's modules, of all modules, and the heavy packages among them, after a command ran."""
    done = subprocess.run([sys.executable, "-c", COUNT, *words], check=True, capture_output=True, text=True)
    return done.stderr.splitlines()[-1].split(" ")


def table(rounds: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        jobs = commands(Path(name))
        times: dict[str, list[float]] = {command: [] for command in ("", *jobs)}
        for _ in range(rounds + 1):
            times[""].append(cpu_time(["-c", "pass"]))
            for command, words in jobs.items():
                times[command].append(cpu_time(["-m", "treegauge", *words]))
        counts = {command: loaded(words) for command, words in jobs.items()}
    bare, *_ = (seconds[1:] for seconds in times.values())  # the first round only warms the disk's cache and Numba's
    lines = [
        "| command | CPU seconds beyond the interpreter, median | least | treegauge modules | all modules | heavy packages |",
        "|---|---|---|---|---|---|",
    ]
    for command, (ours, everything, heavy) in counts.items():
        seconds = times[command][1:]
        beyond = f"{median(seconds) - median(bare):.3f} | {min(seconds) - min(bare):.3f}"
        lines.append(f"| `treegauge {command}` | {beyond} | {ours} | {everything} | {heavy} |")
    return "\n".join([*lines, "", f"The bare interpreter: {median(bare):.3f} s (least {min(bare):.3f} s)."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--save", action="store_true", help="replace the section of RESULTS.md")
    options = parser.parse_args()
    text = f"{table(options.rounds)}\n\n{machine()}"
    print(text)
    if options.save:
        save_section("Start-up", text)


if __name__ == "__main__":
    main()
