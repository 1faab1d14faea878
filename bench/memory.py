"""The most memory that commands hold, at two sizes of file eight times apart: what grows with the input, and what does not.

python bench/memory.py [--data ../shared/data/outputs] [--sentences 200000] [--rounds 1000] [--save]
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from generated import FilePair, generate, source_files
from results import machine, peak_memory, save_section

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "outputs"
APART = 8


def commands(files: FilePair, folder: Path, options: argparse.Namespace) -> dict[str, list[object]]:
    """The commands by what they are called in the table."""
    gold, test = files.gold, files.test
    return {
        "`score`": ["score", gold, test],
        "`score --stream`": ["score", gold, test, "--stream"],
        "`evalb`": ["evalb", gold, test],
        "`validate`": ["validate", gold],
        "`convert --to export`": ["convert", gold, "--to", "export", "-o", folder / "out.export"],
        "`report`": ["report", gold, test, "-o", folder / "report.html", "--rounds", 100],
        "`compare -m parseval`": ["compare", gold, test, gold, "-m", "parseval", "--rounds", options.rounds],
    }


def measured(small: FilePair, large: FilePair, folder: Path, options: argparse.Namespace) -> list[str]:
    lines = [
        "| command | "
        + " | ".join(f"{files.sentences:,} sentences ({files.size / 1e6:.0f} MB)" for files in (small, large))
        + " |",
        "|---|---:|---:|",
    ]
    larger = commands(large, folder, options)
    for name, words in commands(small, folder, options).items():
        lines.append(f"| {name} | {peak_memory(*words) / 1e6:,.0f} MB | {peak_memory(*larger[name]) / 1e6:,.0f} MB |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with gum_dev.gold.mrg and gum_dev.berkeley-maxrule.mrg")
    parser.add_argument("--sentences", type=int, default=200_000, help="of the larger files")
    parser.add_argument("--rounds", type=int, default=1_000, help="of `compare`, whose memory does not depend on them")
    parser.add_argument("--save", action="store_true", help="put the result into RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, test = source_files(options.data, folder)
        small, large = (generate(gold, test, n, folder) for n in (options.sentences // APART, options.sentences))
        lines = measured(small, large, folder, options)
    base = peak_memory("score", "--list")
    about = f"{gold.name} against {test.name}, perturbed, with a growing vocabulary; {base / 1e6:.0f} MB before anything is read."
    text = "\n".join([about, "", *lines, "", machine()])
    print(text)
    if options.save:
        save_section("Memory", text)


if __name__ == "__main__":
    main()
