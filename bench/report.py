"""The time of a report and the size of its page: the whole command, for two systems on GUM dev.

python bench/report.py [--data ../shared/data/outputs] [--save]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import machine, save_section

SYSTEMS = ("berkeley-viterbi", "berkeley-maxrule")


def measured(command: list[str], rounds: int) -> tuple[float, float]:
    """The least wall time and the least CPU time of a command, children included."""
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(walls), min(cpus)


def reports(folder: Path, rounds: int) -> list[str]:
    gold = folder / "gum_dev.gold.mrg"
    if not gold.is_file():
        return [f"({folder} is not here: nothing measured)"]
    treegauge = [sys.executable, "-m", "treegauge"]
    lines = ["| command | wall | CPU | page |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as target:
        page = Path(target) / "report.html"
        for n in (1, 2):
            tests = [str(folder / f"gum_dev.{name}.mrg") for name in SYSTEMS[:n]]
            wall, cpu = measured([*treegauge, "report", str(gold), *tests, "-o", str(page)], rounds)
            lines.append(f"| report, {n} system{'s' * (n > 1)} | {wall:.2f} s | {cpu:.2f} s | {page.stat().st_size / 1e6:.2f} MB |")
    tests = [str(folder / f"gum_dev.{name}.mrg") for name in SYSTEMS]
    wall, cpu = measured([*treegauge, "compare", str(gold), *tests], rounds)
    lines.append(f"| compare, 2 systems (in the report, too) | {wall:.2f} s | {cpu:.2f} s | |")
    wall, cpu = measured([*treegauge, "diff", str(gold), tests[0]], rounds)
    lines.append(f"| diff, the worst sentence | {wall:.2f} s | {cpu:.2f} s | |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "outputs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write the section of RESULTS.md")
    arguments = parser.parse_args()
    text = "\n".join(
        [
            "1575 GUM dev sentences, 10,000 bootstrap samples and 10,000 random swaps; the least of the runs.",
            "",
            *reports(arguments.data, arguments.rounds),
            "",
            machine(),
        ]
    )
    print(text)
    if arguments.save:
        save_section("Reports", text)


if __name__ == "__main__":
    main()
