"""Accuracy and speed of latent-variable models trained on GUM, on its dev part, compared with the Berkeley parser's output.

    python bench/latent.py [--data ../shared/data] [--treebank gum] [--models FOLDER] [--jobs 2] [--seeds 5] [--curves]
                            [--plot docs/images] [--exact 100] [--save]

Trains the default and the ``--quick`` model with the command ``treegauge train`` (models that FOLDER already holds are used), and
parses all sentences of dev with the settings that training chose on its own trees; nothing is chosen on dev. Times of parsing are
CPU time of one thread, including base pass and decoding. Also shown is the wall time of the command with one job and with two, in
turns, as a whole and without its start (the time of a single sentence). Each is the median of three times. The very first command,
which compiles the kernels, is timed once. ``--seeds N`` trains N quick models with other seeds, ``--curves`` shows F1 by rounds, by
grammars and by trees (and draws it into the folder of ``--plot``), ``--exact N`` how often pruning loses the best tree of N short
sentences. ``--treebank own`` uses the small treebank that comes with treegauge, and trains also with five rounds, which tuning on
held-out trees avoids. On two quiet cores the default takes about 5 minutes to train on GUM, a quick one 2.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from results import machine, save_section

from treegauge.data import own_treebank
from treegauge.grammar.latent.latent_model import Hierarchy, LatentModel, load_latent
from treegauge.io import read
from treegauge.learning.latent.latent_training import middle_levels
from treegauge.normalise import pipeline
from treegauge.parsing.coarse_to_fine import search_error
from treegauge.parsing.latent.latent_parser import LatentParser
from treegauge.parsing.parser import Sentence
from treegauge.reports.figures import Figure, Series
from treegauge.reports.plots import write_figure
from treegauge.scoring.evaluation import evaluator
from treegauge.trees.tree import Tree

BERKELEY = "outputs/gum_dev.berkeley-maxrule.mrg"
OBJECTIVES = ("viterbi", "max-rule", "labelled-recall-licensed", "frames", "labelled-precision-recall")
TIMES = 3
"""How often a time is taken; the median counts."""


def trained(folder: Path, name: str, treebank: Path, *options: str) -> tuple[LatentModel, str]:
    """The model of that name, trained if it is not there yet; and how long that took."""
    path, log = folder / f"{name}.model", folder / f"{name}.log"
    if not path.exists():
        began = time.monotonic()
        command = [sys.executable, "-m", "treegauge", "train", str(treebank), "-o", str(path), *options]
        with open(log, "wb") as stream:
            subprocess.run(command, check=True, stderr=stream)
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        (folder / f"{name}.cost").write_text(f"{time.monotonic() - began:.0f} s, {largest:,.0f} MB", "utf-8")
    return load_latent(path), (folder / f"{name}.cost").read_text("utf-8")


def f1(gold: list[Tree], test: list[Tree]) -> float:
    return 100 * evaluator("parseval").compute(predictions=test, references=gold)["f1"]


def parsed(parser: LatentParser, gold: list[Tree]) -> list[Tree]:
    return [each.tree for each in parser.parse_all(Sentence(tree.words) for tree in gold)]


def timed(parser: LatentParser, gold: list[Tree], times: int = 1) -> tuple[list[Tree], float]:
    """The trees, and the milliseconds of CPU time per sentence with kernels loaded, the median of several ``times``."""
    trees, found = parsed(parser, gold[:20]), list[float]()
    for _ in range(times):
        began = time.process_time()
        trees = parsed(parser, gold)
        found.append(time.process_time() - began)
    return trees, 1000 * statistics.median(found) / len(gold)


def row(name: str, path: Path, cost: str, gold: list[Tree]) -> str:
    model = load_latent(path)
    trees, milliseconds = timed(LatentParser(model), gold, TIMES)
    turns = [[command_seconds(path, *each) for each in ((gold[:1], 1), (gold, 1), (gold, 2))] for _ in range(TIMES)]
    begin, one, two = map(statistics.median, zip(*turns, strict=True))
    return (
        f"| {name} | {len(model.grammars)} of {model.rounds} rounds | {f1(gold, trees):.2f} | {milliseconds:.1f} | "
        f"{one:.1f} s, {two:.1f} s: {one / two:.2f}x | {begin:.1f} s: {(one - begin) / (two - begin):.2f}x | {cost} | "
        f"{path.stat().st_size / 1e6:.1f} MB |"
    )


def command_seconds(model: Path, gold: list[Tree], jobs: int) -> float:
    """The wall time of ``treegauge parse`` on these sentences, including its start."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "sentences.txt"
        text.write_text("".join(f"{' '.join(tree.words)}\n" for tree in gold), "utf-8")
        command = [sys.executable, "-m", "treegauge", "parse", str(model), str(text), "--jobs", str(jobs), "-o", f"{folder}/out"]
        began = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - began


def first_parse(model: Path) -> str:
    """The time of the first ``treegauge parse``, which has to compile its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "treegauge", "parse", str(model)]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        done = subprocess.run(command, check=True, capture_output=True, input=b"it is here .\n", env=environment)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert b"compiling the kernels" in done.stderr
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"The first `treegauge parse` of a sentence, kernels compiled: {wall:.1f} s ({cpu:.1f} s of CPU time)."


def objectives(model: LatentModel, gold: list[Tree]) -> list[str]:
    lines = ["| objective | F1 |", "|---|---|"]
    for name in OBJECTIVES:
        lines.append(f"| {name} | {f1(gold, parsed(LatentParser(model, name), gold)):.2f} |")
    return lines


def curves(
    given: argparse.Namespace, folder: Path, model: LatentModel, quick: LatentModel, treebank: Path, gold: list[Tree]
) -> list[str]:
    """F1 by rounds and by grammars of a trained model, and by the number of training trees of quick ones."""
    by_rounds: dict[int, float] = {}
    for rounds in range(model.rounds + 1):
        part = Hierarchy(model.counts(0, rounds), model.grammars[0].up[:rounds])
        settings = model.settings._replace(levels=middle_levels(rounds))
        by_rounds[rounds] = f1(gold, parsed(LatentParser(_with(model, (part,), settings)), gold))
    lines = ["| rounds (one grammar, projected) | F1 |", "|---|---|", *(f"| {r} | {value:.2f} |" for r, value in by_rounds.items())]
    lines += ["", "| grammars | F1 | ms per sentence |", "|---|---|---|"]
    by_grammars: dict[int, float] = {}
    for count in range(1, len(model.grammars) + 1):
        trees, milliseconds = timed(LatentParser(_with(model, model.grammars[:count], model.settings)), gold)
        by_grammars[count] = f1(gold, trees)
        lines.append(f"| {count} | {by_grammars[count]:.2f} | {milliseconds:.1f} |")
    lines += ["", "| training trees (`--quick`) | rounds chosen | F1 |", "|---|---|---|"]
    bank, by_trees = list(read(treebank)), dict[int, float]()
    for share in (16, 8, 4, 2):
        size = len(bank) // share
        key = f"{given.treebank}-part-{share}"
        part = folder / f"{key}.mrg"
        part.write_text("".join(f"{tree}\n" for tree in bank[:size]), "utf-8")
        small, _ = trained(folder, key, part, "--quick", "--jobs", str(given.jobs))
        by_trees[size] = f1(gold, parsed(LatentParser(small), gold))
        lines.append(f"| {size:,} | {small.rounds} | {by_trees[size]:.2f} |")
    by_trees[len(bank)] = f1(gold, parsed(LatentParser(quick), gold))
    lines.append(f"| {len(bank):,} | {quick.rounds} | {by_trees[len(bank)]:.2f} |")
    if given.plot is not None:
        given.plot.mkdir(parents=True, exist_ok=True)
        draw(given, "rounds", "rounds of splitting (one grammar)", by_rounds)
        draw(given, "grammars", "grammars", by_grammars)
        draw(given, "trees", "training trees (--quick)", by_trees)
    return lines


def draw(given: argparse.Namespace, name: str, x_label: str, values: Mapping[int, float]) -> None:
    """Draw one curve."""
    key = f"latent-{given.treebank}-{name}"
    line = Series("F1", list(values.values()))
    figure = Figure(key, "lines", f"F1 by {name}", list(map(str, values)), [line], x_label, "F1", x=list(values))
    write_figure(figure, given.plot / f"{key}.svg")


def _with(model: LatentModel, grammars: tuple[Hierarchy, ...], settings: object) -> LatentModel:
    return replace(model, grammars=grammars, settings=settings, derived={})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--treebank", default="gum")
    options.add_argument("--models", type=Path, help="where models are kept; never commit them")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--seeds", type=int, default=0)
    options.add_argument("--curves", action="store_true")
    options.add_argument("--plot", type=Path, help="the folder that pictures of the curves go to")
    options.add_argument("--exact", type=int, default=0)
    options.add_argument("--save", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.models or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        text = report(given, folder)
    print(text)
    if given.save:
        save_section(f"Latent-variable models on {given.treebank}", text)


def long_sentence(model: LatentModel, gold: list[Tree], size: int = 200) -> str:
    """The CPU time of a sentence made of the first words of dev, as many as given."""
    words = tuple(word for tree in gold for word in tree.words)[:size]
    began = time.process_time()
    parsed = LatentParser(model).parse(Sentence(words))
    return f"{len(words)} words as one sentence: {time.process_time() - began:.1f} s{' (fallback)' if parsed.fallback else ''}."


def seed_score(folder: Path, name: str, treebank: Path, gold: list[Tree], seed: int, jobs: str) -> float:
    """F1 of a quick model with another seed."""
    model, _ = trained(folder, f"{name}-quick-{seed}", treebank, "--quick", "--seed", str(seed), "--jobs", jobs)
    return f1(gold, parsed(LatentParser(model), gold))


def banks(given: argparse.Namespace, folder: Path) -> tuple[Path, list[Tree]]:
    """The file to train on, and the trees of dev without traces."""
    if given.treebank == "own":
        path = folder / "own.mrg"
        path.write_text("".join(f"{tree}\n" for tree in own_treebank("train")), "utf-8")
        dev = own_treebank("dev")
    else:
        path, dev = given.data / given.treebank / "train.mrg", read(given.data / given.treebank / "dev.mrg")
    return path, [tree for tree in map(pipeline("traces"), dev) if tree is not None]


def report(given: argparse.Namespace, folder: Path) -> str:
    treebank, gold = banks(given, folder)
    jobs = str(given.jobs)
    lines = [
        f"Trained on {len(read(treebank)):,} trees, {len(gold):,} sentences of dev parsed, none left out; `treegauge score` "
        "default. Settings were chosen on training trees.",
        "",
        "| model | grammars | F1 | ms per sentence | `parse --jobs 1`, `--jobs 2` | start-up; jobs without it | training | file |",
        "|---|---|---|---|---|---|---|---|",
    ]
    models: dict[str, LatentModel] = {}
    rows = [("default", ()), ("quick", ("--quick",))]
    if given.treebank == "own":
        rows.append(("five rounds, nothing held out", ("--rounds", "5", "--no-tune")))
    for name, extra in rows:
        key = f"{given.treebank}-{name.replace(',', '').replace(' ', '-')}"
        models[name], cost = trained(folder, key, treebank, "--jobs", jobs, *extra)
        lines.append(row(name, folder / f"{key}.model", cost, gold))
    berkeley = given.data / BERKELEY
    if given.treebank == "gum" and berkeley.exists():
        score = f1(gold, list(read(berkeley)))
        lines.append(f"| Berkeley parser 1.7, 4 rounds, max-rule | 1 | {score:.2f} | 69, measured elsewhere | | | | |")
    lines += ["", long_sentence(models["default"], gold)]
    lines += ["", first_parse(folder / f"{given.treebank}-default.model")]
    lines += ["", "Objectives, default model:", "", *objectives(models["default"], gold)]
    if given.seeds:
        scores = [seed_score(folder, given.treebank, treebank, gold, seed, jobs) for seed in range(1, given.seeds + 1)]
        shown = ", ".join(f"{score:.2f}" for score in scores)
        lines += ["", f"`--quick` with {len(scores)} seeds: {shown} (spread {max(scores) - min(scores):.2f})."]
    if given.curves:
        lines += ["", *curves(given, folder, models["default"], models["quick"], treebank, gold)]
    if given.exact:
        short = [Sentence(tree.words) for tree in gold if tree.width <= 15][: given.exact]
        lines += [
            "",
            f"Pruned and exact ({len(short)} sentences of at most 15 words): {search_error(LatentParser(models['quick']), short)}.",
        ]
    return "\n".join([*lines, "", machine()])


if __name__ == "__main__":
    main()
