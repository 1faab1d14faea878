"""Accuracy, speed and cost of the parsers that can be trained on a treebank: grammars, networks and mixtures, on its dev part.

    python bench/treebank_parsers.py [--data ../shared/data] [--treebank gum] [--models FOLDER] [--jobs 2] [--device auto]
                                     [--rows grammars,quick] [--times 3] [--curves] [--plot docs/images] [--details] [--seeds 5]
                                     [--save]

FOLDER keeps the models (never commit them). Those that it holds already are used, the rest is trained by these commands, which
leave out the same 3% of the trees, with what they print on stderr in a .log file beside the model:

    treegauge train train.mrg --hold-out 0.03 --jobs 2 -o gum-grammars.model
    treegauge train train.mrg --hold-out 0.03 --neural --seed 1 -o gum-1.model       (and 2, 3)
    treegauge train train.mrg --hold-out 0.03 --neural --quick --device cpu --jobs 2 -o gum-quick.model
    treegauge mix gum-grammars.model gum-quick.model --tune gum-held.mrg -o gum-mix-quick.model

Shares and lam of mixtures are chosen on the trees that were left out; nothing is chosen on dev. Every row is stored as soon as it
is measured, in gum-rows.json, and measured again only if its model has changed (``--again``: in any case). Times of parsing are the
CPU time of one thread, the median of ``--times``; time and memory of training come from the last line of the .log file.

``--curves`` trains on 1,000 and 3,000 trees, too, and draws F1 by the number of trees into the folder of ``--plot``. ``--details``
makes a section of its own about the grammars: objectives, F1 by rounds and by the number of grammars, the first parse, a long
sentence, how often pruning loses the best tree, and with ``--seeds N`` the F1 of N quick models. ``--treebank own`` uses the small
treebank that comes with treegauge.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from results import machine, save_section

from treegauge.data import own_treebank
from treegauge.grammar.latent.latent_model import Hierarchy, LatentModel, load_latent
from treegauge.grammar.training_sentences import hold_out_by_words
from treegauge.io import read
from treegauge.learning.latent.latent_training import middle_levels
from treegauge.models.loading import load_parser
from treegauge.normalise import pipeline
from treegauge.parsing.coarse_to_fine import search_error
from treegauge.parsing.latent.latent_parser import LatentParser
from treegauge.parsing.parser import Sentence, SentenceParser
from treegauge.reports.figures import Figure, Series
from treegauge.reports.plots import write_figure
from treegauge.scoring.evaluation import evaluator
from treegauge.trees.tree import Tree

BERKELEY = "outputs/gum_dev.berkeley-maxrule.mrg"
OBJECTIVES = ("viterbi", "max-rule", "labelled-recall-licensed", "frames", "labelled-precision-recall")
HOLD_OUT = 0.03
ROWS = {
    "grammars": "`train` (grammars)",
    "quick-grammars": "`train --quick` (two grammars)",
    "1": "`train --neural`",
    "quick": "`train --neural --quick`",
    "mix-quick": "mixture of grammars and the quick network",
    "mix": "mixture of grammars and three networks",
}
"""The names of the models, and what the rows of the table are called."""
PARTS = {"mix-quick": ("grammars", "quick"), "mix": ("grammars", "1", "2", "3")}
RATES = ("f1", "recall", "precision", "exact_match", "no_crossing", "tagging_accuracy")
SIZES = (1000, 3000)


def model_name(kind: str, size: int = 0) -> str:
    """The name of a model's file: ``grammars``, ``1``; ``1000-grammars`` if it was trained on so many trees."""
    return f"{size}-{kind}" if size else kind


class Models:
    """The models of one treebank in a folder, trained or mixed where they are missing."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder, self.prefix = given, folder, given.treebank.split("_")[0]
        if given.treebank == "own":
            self.treebank, dev = folder / "own.mrg", own_treebank("dev")
            self.treebank.write_text("".join(f"{tree}\n" for tree in own_treebank("train")), "utf-8")
        else:
            self.treebank, dev = given.data / given.treebank / "train.mrg", read(given.data / given.treebank / "dev.mrg")
        self.gold = [tree for tree in map(pipeline("traces"), dev) if tree is not None]
        self.rest, held = hold_out_by_words(list(read(self.treebank)), HOLD_OUT)
        self.held = self.file("held", ".mrg")
        self.held.write_text("".join(f"{tree}\n" for tree in held), "utf-8")

    def file(self, name: str, suffix: str = ".model") -> Path:
        return self.folder / f"{self.prefix}-{name}{suffix}"

    def model(self, kind: str, size: int = 0) -> Path:
        """The file of a model, trained on so many trees (0: all): grammars, a network by its seed, the quick one, or a mixture."""
        path = self.file(model_name(kind, size))
        if path.exists():
            return path
        jobs = ("--jobs", str(self.given.jobs))
        if kind in PARTS:
            parts = [str(self.model(part, size)) for part in PARTS[kind]]
            self._run(path, "mix", *parts, "--tune", str(self.held))
            return path
        if kind.startswith("seed-"):
            self._run(path, "train", str(self.treebank), "--quick", *jobs, "--seed", kind.removeprefix("seed-"))
            return path
        network = ("--neural", "--device", self.given.device, *jobs, "--seed", kind)
        options = {
            "grammars": jobs,
            "quick-grammars": ("--quick", *jobs),
            "quick": ("--neural", "--quick", "--device", "cpu", *jobs),
        }.get(kind, network)
        self._run(path, "train", str(self._part(size) if size else self.treebank), "--hold-out", str(HOLD_OUT), *options)
        return path

    def _run(self, path: Path, *command: str) -> None:
        with open(path.with_suffix(".log"), "wb") as log:
            subprocess.run([sys.executable, "-m", "treegauge", *command, "-o", str(path)], check=True, stderr=log)

    def _part(self, size: int) -> Path:
        """A file of so many trees, a random choice."""
        path = self.file(str(size), ".mrg")
        path.write_text("".join(f"{tree}\n" for tree in random.Random(1).sample(self.rest, size)), "utf-8")
        return path

    def cost(self, name: str) -> tuple[str, str]:
        """The device and time of a model's training, and its memory, from the last line that training printed."""
        log = self.file(name, ".log")
        found = re.findall(r"(?:on (\w+) )?in (\d+) s(?: with (.*?))?: ", log.read_text("utf-8") if log.exists() else "")
        if not found:
            return "", ""
        device, seconds, memory = found[-1]
        return f"{int(seconds) / 60:.1f} min{f' on {device}' if device else ''}", memory.replace(" of memory", "")


def f1(gold: list[Tree], test: list[Tree]) -> float:
    return 100 * evaluator("parseval").compute(predictions=test, references=gold)["f1"]


def parsed(parser: SentenceParser, gold: list[Tree]) -> list[Tree]:
    return [each.tree for each in parser.parse_all(Sentence(tree.words) for tree in gold)]


def timed(parser: SentenceParser, gold: list[Tree], times: int = 1) -> tuple[list[Tree], float]:
    """The trees, and the milliseconds of CPU time per sentence with kernels loaded, the median of several ``times``."""
    trees, found = parsed(parser, gold[:20]), list[float]()
    for _ in range(times):
        began = time.process_time()
        trees = parsed(parser, gold)
        found.append(time.process_time() - began)
    return trees, 1000 * statistics.median(found) / len(gold)


class Rows:
    """What was measured for each model, kept in a file with the hash of the model."""

    def __init__(self, models: Models) -> None:
        self.models, self.path = models, models.file("rows", ".json")
        self.known = self._stored()

    def _stored(self) -> dict[str, dict[str, Any]]:
        return json.loads(self.path.read_text("utf-8")) if self.path.exists() else {}

    def row(self, kind: str, size: int = 0) -> Mapping[str, Any]:
        """All rates of a model in percent, and the time per sentence."""
        path, name = self.models.model(kind, size), model_name(kind, size)
        sha256, old = hashlib.sha256(path.read_bytes()).hexdigest(), self.known.get(name, {})
        if old.get("sha256") == sha256 and not self.models.given.again:
            return old
        trees, milliseconds = timed(load_parser(str(path), device="cpu").parser, self.models.gold, self.models.given.times)
        rates = evaluator("parseval").compute(predictions=trees, references=self.models.gold)
        training, memory = self.models.cost(name)
        # Read again, since another run may have stored rows in the meantime.
        self.known = self._stored()
        self.known[name] = {"sha256": sha256, "ms": milliseconds, "training": training, "memory": memory}
        self.known[name] |= {"size": path.stat().st_size, "machine": machine()}
        self.known[name] |= {rate: 100 * float(rates[rate]) for rate in RATES}
        self.path.write_text(json.dumps(self.known, indent=1), "utf-8")
        return self.known[name]


def table(rows: Rows, names: Sequence[str]) -> list[str]:
    """The table of models, as far as it is measured."""
    head = ["", *(rate.replace("_", " ") for rate in RATES), "ms a sentence", "training", "memory", "file"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for name in names:
        if name in rows.known:
            row = rows.known[name]
            shown = [f"{row[rate]:.2f}" for rate in RATES]
            shown += [f"{row['ms']:.1f}", row["training"], row["memory"], f"{row['size'] / 1e6:.1f} MB"]
            lines.append(f"| {ROWS[name]} | {' | '.join(shown)} |")
    return lines


def curves(rows: Rows, plot: Path | None) -> list[str]:
    """F1 by the number of trees of grammars, of the quick network, and of the mixture of both."""
    kinds = {"grammars": "grammars", "quick": "quick network", "mix-quick": "mixture"}
    sizes = [size for size in SIZES if size < len(rows.models.rest)]
    lines = [f"| training trees | {' | '.join(kinds.values())} |", f"|{'---|' * (len(kinds) + 1)}"]
    series: dict[str, list[float]] = {kind: [] for kind in kinds}
    for size in (*sizes, len(rows.models.rest)):
        for kind in kinds:
            series[kind].append(rows.row(kind, size if size in sizes else 0)["f1"])
        lines.append(f"| {size:,} | {' | '.join(f'{values[-1]:.2f}' for values in series.values())} |")
    if plot is not None:
        x = [*sizes, len(rows.models.rest)]
        shown = [Series(kinds[kind], values) for kind, values in series.items()]
        name = f"parsers-{rows.models.prefix}-trees"
        figure = Figure(name, "lines", "F1 by number of training trees", [f"{n:,}" for n in x], shown, "training trees", "F1", x=x)
        plot.mkdir(parents=True, exist_ok=True)
        write_figure(figure, plot / f"{name}.svg")
    return lines


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


def long_sentence(parser: SentenceParser, gold: list[Tree], size: int = 200) -> str:
    """The CPU time of a sentence made of the first words of dev, as many as given."""
    words = tuple(word for tree in gold for word in tree.words)[:size]
    began = time.process_time()
    found = parser.parse(Sentence(words))
    return f"{len(words)} words as one sentence: {time.process_time() - began:.1f} s{' (fallback)' if found.fallback else ''}."


def details(models: Models) -> list[str]:
    """More about the grammars: F1 by objectives, by rounds and by their number, and what pruning costs."""
    path, gold = models.model("grammars"), models.gold
    model = load_latent(path)
    lines = [long_sentence(LatentParser(model), gold), "", first_parse(path), "", "| objective | F1 |", "|---|---|"]
    lines += [f"| {name} | {f1(gold, parsed(LatentParser(model, name), gold)):.2f} |" for name in OBJECTIVES]
    by_rounds: dict[int, float] = {}
    for rounds in range(model.rounds + 1):
        part = Hierarchy(model.counts(0, rounds), model.grammars[0].up[:rounds])
        settings = model.settings._replace(levels=middle_levels(rounds))
        by_rounds[rounds] = f1(gold, parsed(LatentParser(_with(model, (part,), settings)), gold))
    lines += ["", "| rounds (one grammar, projected) | F1 |", "|---|---|"]
    lines += [f"| {rounds} | {value:.2f} |" for rounds, value in by_rounds.items()]
    lines += ["", "| grammars | F1 | ms per sentence |", "|---|---|---|"]
    by_grammars: dict[int, float] = {}
    for count in range(1, len(model.grammars) + 1):
        trees, milliseconds = timed(LatentParser(_with(model, model.grammars[:count], model.settings)), gold)
        by_grammars[count] = f1(gold, trees)
        lines.append(f"| {count} | {by_grammars[count]:.2f} | {milliseconds:.1f} |")
    short = [Sentence(tree.words) for tree in gold if tree.width <= 15][:100]
    lines += ["", f"Pruned and exact ({len(short)} sentences of at most 15 words): {search_error(LatentParser(model), short)}."]
    if models.given.seeds:
        scores = [
            f1(gold, parsed(load_parser(str(models.model(f"seed-{n}"))).parser, gold)) for n in range(1, models.given.seeds + 1)
        ]
        shown = ", ".join(f"{score:.2f}" for score in scores)
        lines += ["", f"`--quick` with {len(scores)} seeds: {shown} (spread {max(scores) - min(scores):.2f})."]
    if models.given.plot is not None:
        models.given.plot.mkdir(parents=True, exist_ok=True)
        for name, title, values in (
            ("rounds", "rounds of splitting (one grammar)", by_rounds),
            ("grammars", "grammars", by_grammars),
        ):
            key, line = f"latent-{models.prefix}-{name}", Series("F1", list(values.values()))
            figure = Figure(key, "lines", f"F1 by {name}", list(map(str, values)), [line], title, "F1", x=list(values))
            write_figure(figure, models.given.plot / f"{key}.svg")
    return lines


def _with(model: LatentModel, grammars: tuple[Hierarchy, ...], settings: Any) -> LatentModel:
    return replace(model, grammars=grammars, settings=settings, derived={})


def report(given: argparse.Namespace, folder: Path) -> None:
    """Measure row by row, and print, or save, what there is after each."""
    models = Models(given, folder)
    rows, wanted = Rows(models), given.rows.split(",") if given.rows else list(ROWS)
    more = list[str]()

    def show() -> None:
        head = (
            f"Trained on {len(models.rest):,} trees; mixtures chose their shares on {len(read(models.held)):,} others. "
            f"{len(models.gold):,} sentences of dev parsed, none left out; `treegauge score` default. Times: CPU, one thread."
        )
        lines = [head, "", *table(rows, [name for name in ROWS if name in rows.known])]
        berkeley = given.data / BERKELEY
        if given.treebank == "gum" and berkeley.exists():
            lines += ["", f"Berkeley parser 1.7, 4 rounds, max-rule: F1 {f1(models.gold, list(read(berkeley))):.2f}."]
        text = "\n".join([*lines, *more, "", machine()])
        print(text, flush=True)
        if given.save:
            save_section(f"Parsers trained on {given.treebank}", text)

    for name in wanted:
        rows.row(name)
        show()
    if given.curves:
        more += ["", *curves(rows, given.plot)]
        show()
    if given.details:
        text = "\n".join([*details(models), "", machine()])
        print(text)
        if given.save:
            save_section(f"Latent-variable models on {given.treebank}", text)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--treebank", default="gum", help="gum, wsj_sample or own")
    options.add_argument("--models", type=Path, help="where models are kept; never commit them")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--device", default="auto", help="where missing networks are trained, except the quick one")
    options.add_argument("--rows", default="", help=f"some of {','.join(ROWS)}")
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--again", action="store_true", help="measure rows that are known, too")
    options.add_argument("--curves", action="store_true")
    options.add_argument("--details", action="store_true")
    options.add_argument("--seeds", type=int, default=0)
    options.add_argument("--plot", type=Path, help="the folder that pictures go to")
    options.add_argument("--save", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.models or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report(given, folder)


if __name__ == "__main__":
    main()
