"""Whole commands of another checkout and of this one, in turns on the same files.

python bench/before_after.py OTHER_CHECKOUT [--data ../shared/data] [--model TRAINED.model] [--rounds 3] [--save]

OTHER_CHECKOUT is a clone of an earlier commit (0.2 ended with a1cb9c0), whose folder ``src`` is put first on the path. Rows:
start-up on one sentence, scoring (beside the C program EVALB: the time that nltk needs to read the same files, without its import,
divided by 9.7, as we have measured it), parsing with a counted grammar and with a model of ``treegauge train``, and the first parse
on an empty cache of compiled kernels; and what Numba takes by itself, which every command with kernels pays. The least of the
rounds is shown, which other processes disturb least.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from generated import generate, source_files
from results import machine, save_section

from scoring import NLTK, Cost, least_of_numba, whole_command

HERE = Path(__file__).resolve().parents[1]
SHARED = HERE.parent / "shared" / "data"
NLTK_OVER_EVALB = 9.7
SIZES = (2_400, 50_000, 200_000)
SENTENCES = 300


def cost(checkout: Path, arguments: Sequence[object], cache: Path) -> Cost:
    """The cost of a command of a checkout from start to end."""
    return whole_command(
        [sys.executable, "-m", "treegauge", *arguments], PYTHONPATH=str(checkout / "src"), NUMBA_CACHE_DIR=str(cache)
    )


def least(costs: Sequence[Cost]) -> Cost:
    return Cost(min(each.wall for each in costs), min(each.cpu for each in costs))


def evalb_cost(files: Sequence[Path]) -> Cost:
    """The cost of the C program on two files, from nltk's."""
    printed = subprocess.run([sys.executable, "-c", NLTK, *map(str, files)], check=True, capture_output=True, text=True).stdout
    wall, cpu = map(float, printed.split())
    return Cost(wall / NLTK_OVER_EVALB, cpu / NLTK_OVER_EVALB)


def repeated(source: Path, n: int, target: Path) -> Path:
    """A file with the first n lines of a file that is repeated as often as needed."""
    lines = source.read_bytes().splitlines(keepends=True)
    with open(target, "wb") as file:
        for start in range(0, n, len(lines)):
            file.writelines(lines[: n - start])
    return target


def jobs(data: Path, model: Path | None, folder: Path) -> dict[str, tuple[list[object], list[Path]]]:
    """The arguments of each command by its name in the table, and the files that EVALB would score."""
    one, text = folder / "one.mrg", folder / "one.txt"
    one.write_text("(S (NP (DT the) (NN rain)) (VP (VBD fell)))\n")
    text.write_text("the rain fell\n")
    found: dict[str, tuple[list[object], list[Path]]] = {
        "evalb, one sentence": (["evalb", one, one], []),
        "score, one sentence": (["score", one, one], []),
        "parse own, one sentence": (["parse", "own", text], []),
    }
    for n in SIZES:
        made = generate(*source_files(data / "outputs", folder), n, folder)
        files = [made.gold, made.test]
        found[f"score, {n:,} sentences"] = (["score", *files], files if n > SIZES[0] else [])
        found[f"evalb, {n:,} sentences"] = (["evalb", *files], files if n > SIZES[0] else [])
    trees = repeated(data / "wsj_sample" / "dev.mrg", SENTENCES, folder / "dev.mrg")
    counted = folder / "counted.model"
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src")}
    induce = [sys.executable, "-m", "treegauge", "induce", data / "wsj_sample" / "train.mrg", "--no-tune", "-o", counted]
    subprocess.run(induce, env=environment, check=True)
    for objective in ("viterbi", "labelled-precision-recall"):
        arguments = ["parse", counted, trees, "--input", "trees", "--objective", objective]
        found[f"parse, counted grammar, {objective}, {SENTENCES} sentences"] = (arguments, [])
    if model is not None:
        trees = repeated(data / "gum" / "dev.mrg", SENTENCES, folder / "gum.mrg")
        found[f"parse, trained model, {SENTENCES} sentences"] = (["parse", model, trees, "--input", "trees"], [])
    return found


def table(other: Path, data: Path, model: Path | None, rounds: int) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sides = {"before": other, "after": HERE}
        lines = [
            "| command | CPU before | after | wall before | after | CPU after / C EVALB | wall after / C EVALB |",
            "|---|---|---|---|---|---|---|",
        ]
        given = jobs(data, model, folder)
        for title, (arguments, files) in given.items():
            costs: dict[str, list[Cost]] = {side: [] for side in sides}
            for number in range(rounds + 1):
                for side, checkout in sides.items():
                    taken = cost(checkout, arguments, folder / side)
                    if number:  # the first round compiles
                        costs[side].append(taken)
            yardstick = evalb_cost(files) if files else None
            before, after = least(costs["before"]), least(costs["after"])
            beside = f"{after.cpu / yardstick.cpu:.2f} | {after.wall / yardstick.wall:.2f}" if yardstick else " | "
            lines.append(f"| {title} | {before.cpu:.2f} | {after.cpu:.2f} | {before.wall:.2f} | {after.wall:.2f} | {beside} |")
            print(lines[-1], flush=True)
        numba = [whole_command(least_of_numba(folder)) for _ in range(rounds + 1)][1:]
        lines.append(f"| Numba imported, one stored kernel called | | {least(numba).cpu:.2f} | | {least(numba).wall:.2f} | | |")
        for title in [title for title in given if title.startswith("parse") and ("own" in title or "trained" in title)]:
            costs = {
                side: [cost(checkout, given[title][0], folder / f"empty-{side}-{title[:12]}")] for side, checkout in sides.items()
            }
            (before,), (after,) = costs["before"], costs["after"]
            lines.append(
                f"| {title}, no compiled kernels | {before.cpu:.2f} | {after.cpu:.2f} | {before.wall:.2f} | {after.wall:.2f} | | |"
            )
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--model", type=Path, help="a model of treegauge train")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    text = (
        f"{machine()}, least of {args.rounds} rounds in turns, seconds\n\n{table(args.other, args.data, args.model, args.rounds)}"
    )
    if args.save:
        save_section("Before and after", text)


if __name__ == "__main__":
    main()
