"""Is ``parse --for recall`` best by recall, with every kind of model?

    python experiments/purposes.py NAME GOLD MODEL MODEL... [--save]

Each MODEL parses the words of GOLD, trees that it has not seen, for F1, exact match, recall and precision, with the settings that
it stores; every purpose is compared with the best one by its own rate, by a paired randomisation over sentences. Nothing is chosen
here. ``--save`` writes results/purposes-NAME.md beside this script. Only rates leave the treebank.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from treegauge.experiments.paper_comparison import RateTests
from treegauge.io import read
from treegauge.normalise import pipeline
from treegauge.parsing.objectives import CRITERIA
from treegauge.tables import Cell, Table, render
from treegauge.trees import Tree

RESULTS = Path(__file__).parent / "results"


def parsed(model: str, gold: Path, purpose: str) -> list[Tree]:
    """The trees of a model for a purpose, by the command that users type."""
    with tempfile.TemporaryDirectory() as folder:
        trees = Path(folder) / "trees.mrg"
        command = [
            sys.executable,
            "-m",
            "treegauge",
            "parse",
            model,
            str(gold),
            "--input",
            "trees",
            "--for",
            purpose,
            "-o",
            str(trees),
        ]
        subprocess.run(command, check=True)
        return list(read(trees))


def rows(model: str, gold: Path, trees: list[Tree]) -> list[tuple[Cell, ...]]:
    """A row for each purpose: all rates, the best purpose by its own rate, and the p of their difference."""
    tests = RateTests("parseval", trees, {purpose: parsed(model, gold, purpose) for purpose in CRITERIA})
    found: list[tuple[Cell, ...]] = []
    for purpose, rate in CRITERIA.items():
        best = max(CRITERIA, key=lambda other: (tests.rates[other][rate], other == purpose))
        verdict = "itself" if best == purpose else f"{best} (p = {tests.p(purpose, best, rate):.4f})"
        found.append((Path(model).stem, f"`--for {purpose}`", *(tests.rates[purpose][each] for each in CRITERIA.values()), verdict))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("gold", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    trees = [tree for tree in map(pipeline("traces"), read(given.gold)) if tree is not None]
    columns = ("model", "setting", *(rate.replace("_", " ") for rate in CRITERIA.values()), "best by its own rate")
    body = tuple(row for model in given.models for row in rows(model, given.gold, trees))
    table = Table(f"Purposes on {given.name}", columns, body, (f"{len(trees):,} sentences.",), columns[2:-1])
    text = render(table, "markdown") + "\n"
    print(text)
    if given.save:
        (RESULTS / f"purposes-{given.name}.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
