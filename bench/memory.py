"""The peak memory of commands on two sizes of input, one eight times the other: what grows with the input and what does not.

python bench/memory.py [--data ../shared/data/outputs] [--sentences 200000] [--rounds 10000] [--save]
python bench/memory.py --huge 5000000 [--huge-rounds 100] [--save]    a comparison of very many short sentences, nothing else

Whole commands are measured, including their child processes. The files are made in a temporary folder: a huge comparison of
5,000,000 sentences of at most 12 words needs 1 GB there.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from generated import FilePair, generate, source_files, vocabulary
from results import machine, peak_memory, save_section

LONGEST = 12
"""Words of a sentence in a huge comparison: longer sentences would take more disk, and as many bytes a row."""
BYTES = 250
"""Of disk for each sentence and side of a huge comparison, with some to spare."""
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "outputs"
APART = 8
BRACKETS = 16
"""Megabytes."""


def commands(files: FilePair, folder: Path, options: argparse.Namespace) -> dict[str, list[object]]:
    """The commands by their names in the table."""
    gold, test = files.gold, files.test
    return {
        "`score`": ["score", gold, test],
        "`score --stream`": ["score", gold, test, "--stream"],
        "`evalb`": ["evalb", gold, test],
        "`validate`": ["validate", gold],
        "`convert --to export`": ["convert", gold, "--to", "export", "-o", folder / "out.export"],
        "`report`": ["report", gold, test, "-o", folder / "report.html", "--rounds", 100],
        "`compare -m parseval`": ["compare", gold, test, gold, "-m", "parseval", "--rounds", options.rounds],
        "`score --save`": ["score", gold, f"A={test}", "--save", folder / f"A.{files.sentences}"],
        "`score --save`, gold against itself": [
            "score",
            gold,
            f"B={gold}",
            "--save",
            folder / f"B.{files.sentences}",
        ],
        "`compare --scores`": ["compare", "--scores", *(folder / f"{name}.{files.sentences}" for name in "AB")],
        "`report --on-mismatch skip`": [
            *("report", gold, test, "-o", folder / "report.html", "--rounds", 100, "--on-mismatch", "skip"),
        ],
        "`score --save -m parseval -m freval`": [
            *("score", gold, f"A={test}", "-m", "parseval", "-m", "freval", "--save", folder / f"C.{files.sentences}"),
        ],
        "`report --scores`, of these": [
            *("report", "--scores", folder / f"C.{files.sentences}", "-o", folder / "report.html", "--rounds", 100),
        ],
    }


def brackets(folder: Path) -> list[str]:
    """What a file of opening brackets takes, all on one line, which is one error."""
    lines = ["", "| `validate` of opening brackets only | most memory |", "|---:|---:|"]
    for megabytes in (BRACKETS // APART, BRACKETS):
        path = folder / "brackets.mrg"
        path.write_bytes(b"(" * (megabytes << 20))
        lines.append(f"| {megabytes} MB | {peak_memory('validate', path, code=3) / 1e6:,.0f} MB |")
    return lines


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


def huge(gold: Path, test: Path, folder: Path, options: argparse.Namespace) -> list[str]:
    """Measure the comparison of very many sentences, and of an eighth as many."""
    free = shutil.disk_usage(folder).free
    if free < 2 * BYTES * options.huge * (1 + 1 / APART):
        raise SystemExit(f"{folder} has only {free / 1e9:.1f} GB of free disk space for files of {options.huge:,} sentences")
    rounds = options.huge_rounds
    lines = ["| sentences | both files | different words | most memory |", "|---:|---:|---:|---:|"]
    for sentences in (options.huge // APART, options.huge):
        files = generate(gold, test, sentences, folder, longest=LONGEST)
        words = ["compare", files.gold, f"A={files.test}", f"B={files.gold}", "-m", "parseval", "--rounds", rounds]
        most = peak_memory(*words) / 1e6
        lines.append(f"| {sentences:,} | {files.size / 1e6:,.0f} MB | {vocabulary(files.gold):,} | {most:,.0f} MB |")
        for path in (files.gold, files.test):
            path.unlink()
    about = (
        f"`compare -m parseval --rounds {rounds}` of two systems on sentences of at most {LONGEST} words, perturbed, with a "
        "growing vocabulary. Rounds are not held, but from 2,049 on threads share them, each with weights of its own."
    )
    return [about, "", *lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with gum_dev.gold.mrg and gum_dev.berkeley-maxrule.mrg")
    parser.add_argument("--sentences", type=int, default=200_000, help="of the larger files")
    parser.add_argument("--rounds", type=int, default=10_000, help="of `compare`")
    parser.add_argument("--huge", type=int, default=0, metavar="SENTENCES", help="only compare so many short sentences")
    parser.add_argument("--huge-rounds", type=int, default=100, help="of that comparison")
    parser.add_argument("--save", action="store_true", help="put the result into RESULTS.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold, test = source_files(options.data, folder)
        if options.huge:
            title, lines = "Memory of a huge comparison", huge(gold, test, folder, options)
        else:
            small, large = (generate(gold, test, n, folder) for n in (options.sentences // APART, options.sentences))
            base = peak_memory("score", "--list") / 1e6
            about = (
                f"{gold.name} against {test.name}, perturbed, with a growing vocabulary; `compare` with {options.rounds:,} rounds"
            )
            lines = [f"{about}; {base:.0f} MB before anything is read.", "", *measured(small, large, folder, options)]
            lines += brackets(folder)
            title = "Memory"
    text = "\n".join([*lines, "", machine()])
    print(text)
    if options.save:
        save_section(title, text)


if __name__ == "__main__":
    main()
