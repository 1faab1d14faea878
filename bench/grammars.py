"""The choice of the default grammar; its speed, memory, F1 and pruning; DOP.

    python bench/grammars.py FOLDER [--parts chosen,objectives,whole,dop] [--every 2] [--save]

FOLDER has train.mrg and dev.mrg. ``chosen`` and ``objectives`` compare settings on a tenth of train.mrg, held out in ten stretches
of neighbouring sentences (at most 40 words, every second one). ``whole`` parses all of dev.mrg, ``dop`` a part of it. Times are
CPU times.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, save_section

from treegauge import io
from treegauge.grammar import load_model, save_model
from treegauge.grammar.dop_reduction import plain_label
from treegauge.grammar.lexicon import USUAL
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.treebank_grammar import train
from treegauge.normalise import pipeline
from treegauge.normalise.markovisation import USUAL_SPLITS
from treegauge.parsing.coarse_to_fine import is_lost
from treegauge.parsing.parser import ParsedSentence, Parser, Sentence
from treegauge.scoring.evaluation import score
from treegauge.trees import Tree, Treebank

LONGEST, DOP_LONGEST = 40, 25
STRETCHES = 100
CLEAN = "traces,root,redundant"
PLAIN = "traces,functions,root,redundant"
PRUNED = 1e-5


class Recipe(NamedTuple):
    name: str
    options: dict[str, Any]


def annotated(*splits: str, **settings: Any) -> dict[str, Any]:
    """The default steps with other splits or settings."""
    chosen = " ".join(splits or USUAL_SPLITS)
    return {"steps": f'{CLEAN},annotate:splits="{chosen}"' + "".join(f":{name}={value}" for name, value in settings.items())}


WORDS = ("tag-pa", "in", "aux", "cc", "percent", "alone")
LADDER = [
    Recipe("right binarisation, h=1, v=1; Collins's unknown word", {"steps": f"{PLAIN},binarise:h=1:v=1", "lexicon": "collins"}),
    Recipe("+ parents (v=2)", {"steps": f"{PLAIN},binarise:h=1:v=2", "lexicon": "collins"}),
    Recipe("+ word signatures, smoothed", {"steps": f"{PLAIN},binarise:h=1:v=2"}),
    Recipe("+ tags know their parent", annotated("tag-pa")),
    Recipe("+ prepositions, auxiliaries, conjunctions, %, lone DT and RB", annotated(*WORDS)),
    Recipe("+ VPs by their head's tag", annotated(*WORDS, "vp")),
    Recipe("+ phrases that hold a verb", annotated(*WORDS, "vp", "verb")),
    Recipe("+ S without a subject: **the default**", {}),
]
ALTERNATIVES = [
    Recipe("default, rare words seen up to twice", {"smoothing": USUAL._replace(rare=2)}),
    *(Recipe(f"default + {name}", annotated(*USUAL_SPLITS, name)) for name in ("unary", "sentence", "right-np", "coordinated")),
    Recipe("default, h=2", annotated(h=2)),
    Recipe("default, head-outward", annotated(direction="head")),
    Recipe("default, rules smoothed (2)", {"rule_weight": 2.0}),
    Recipe("default, v=3", annotated(v=3)),
]
OBJECTIVES: list[tuple[str, dict[str, Any]]] = [
    ("viterbi", {}),
    *(("labelled-precision-recall", {"lam": lam}) for lam in (0.3, 0.4, 0.5)),
    ("frames", {}),
]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--parts", default=",".join(PARTS), help="which tables to make")
    arguments.add_argument("--every", type=int, default=2, help="of the held-out sentences, every so many-th")
    arguments.add_argument("--save", action="store_true")
    given = arguments.parse_args()
    for part in given.parts.split(","):
        title, make = PARTS[part]
        text = "\n".join([*make(given.folder, given.every), "", machine()])
        print(f"## {title}\n\n{text}\n", flush=True)
        if given.save:
            save_section(title, text)


def held_out(bank: Treebank, every: int) -> tuple[list[Tree], list[Tree]]:
    """All but every tenth stretch of neighbouring sentences, and of these sentences those of at most 40 words, every so many-th."""
    stretch = [i * STRETCHES // len(bank) for i in range(len(bank))]
    kept = bank.take([i for i, number in enumerate(stretch) if number % 10 != 9])
    apart = bank.take([i for i, number in enumerate(stretch) if number % 10 == 9])
    return list(kept), [tree for tree in apart if tree.width <= LONGEST][::every]


def chosen(folder: Path, every: int) -> list[str]:
    """The effect of each step of the default grammar, and of steps that were tried and not used."""
    trees, test = held_out(io.read(folder / "train.mrg"), every)
    lines = [
        f"Trained on {len(trees):,} trees of train.mrg, parsed {len(test):,} held-out sentences of it: words only, Viterbi, exact."
    ]
    lines += ["", "| grammar | symbols | rules | F1 | tags right | ms per sentence |", "|---|---|---|---|---|---|"]
    for recipe in (*LADDER, *ALTERNATIVES):
        grammar = train(trees, **recipe.options).grammar
        run = parsed_trees(Parser(grammar), test)
        rates = score(test, run.trees).rates
        inner = sum(not rule.is_lexical for rule in grammar.rules)
        row = f"| {recipe.name} | {len(grammar.nonterminals):,} | {inner:,} | {100 * rates['f1']:.2f} "
        lines.append(f"{row}| {100 * rates['tagging_accuracy']:.2f} | {1000 * run.seconds / len(test):.0f} |")
        print(lines[-1], flush=True)
    return lines


@dataclass(frozen=True)
class Run:
    """Parses, the processor time that they took, and the process's peak memory in MB."""

    parsed: list[ParsedSentence]
    seconds: float
    peak: int

    @property
    def trees(self) -> list[Tree]:
        return [one.tree for one in self.parsed]


def parsed_trees(parser: Parser, trees: Sequence[Tree], *, tags: bool = False) -> Run:
    sentences = [Sentence(tree.words, tree.tags if tags else None) for tree in trees]
    parser.parse(sentences[0])
    began = time.process_time()
    parsed = list(parser.parse_all(sentences))
    return Run(parsed, time.process_time() - began, peak_memory())


def peak_memory() -> int:
    """The peak memory of this process in MB; getrusage would include that of the process that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))


def in_own_process(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a fresh process, so that the peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def objectives(folder: Path, every: int) -> list[str]:
    trees, test = held_out(io.read(folder / "train.mrg"), every)
    grammar = train(trees).grammar
    lines = [f"The default grammar on the same {len(test):,} held-out sentences:"]
    lines += ["", "| objective | recall | precision | F1 | ms per sentence |", "|---|---|---|---|---|"]
    for name, options in OBJECTIVES:
        run = parsed_trees(Parser(grammar, name, options), test)
        rates = score(test, run.trees).rates
        shown = name + "".join(f", {key}={value}" for key, value in options.items())
        numbers = " | ".join(f"{100 * rates[key]:.2f}" for key in ("recall", "precision", "f1"))
        lines.append(f"| {shown} | {numbers} | {1000 * run.seconds / len(test):.0f} |")
        print(lines[-1], flush=True)
    return lines


def whole(folder: Path, every: int) -> list[str]:
    """All of dev.mrg with the default grammar of train.mrg: exact, and pruned with the search error of every sentence."""
    bank, dev = io.read(folder / "train.mrg"), list(io.read(folder / "dev.mrg"))
    began = time.process_time()
    grammar, notes = train(bank)
    lines = [
        f"`treegauge induce` without options on {notes['trees']:,} trees ({time.process_time() - began:.0f} s), then all "
        f"{len(dev):,} sentences of dev.mrg (the longest has {max(tree.width for tree in dev)} words), words only, one thread; "
        "`treegauge score` without options. Memory is the peak of the parsing process.",
        "",
        "| parsing | F1 | tags right | without a parse | best tree lost | sentences per second | s per sentence | memory (MB) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        model = Path(scratch) / "default.model"
        save_model(grammar, model)
        for name, options in (OBJECTIVES[0], OBJECTIVES[2]):
            exact: Run | None = None
            for prune in (0.0, PRUNED):
                run: Run = in_own_process(parsed_by_model, model, folder / "dev.mrg", name, options, prune)
                rates = score(dev, run.trees).rates
                lost = "exact" if exact is None else f"{losses(name, exact, run)} of {len(dev):,}"
                shown = name + (", --prune" if prune else "") + "".join(f", {key}={value}" for key, value in options.items())
                fallbacks = sum(one.fallback for one in run.parsed)
                row = f"| {shown} | {100 * rates['f1']:.2f} | {100 * rates['tagging_accuracy']:.2f} | {fallbacks} | {lost} "
                lines.append(f"{row}| {len(dev) / run.seconds:.1f} | {run.seconds / len(dev):.4f} | {run.peak:,} |")
                print(lines[-1], flush=True)
                exact = exact or run
    return lines


def parsed_by_model(model: Path, treebank: Path, objective: str, options: dict[str, Any], prune: float) -> Run:
    return parsed_trees(Parser(load_model(model).grammar, objective, options, prune=prune), list(io.read(treebank)))


def losses(objective: str, exact: Run, pruned: Run) -> int:
    return sum(is_lost(objective, a, b) for a, b in zip(exact.parsed, pruned.parsed, strict=True))


def dop(folder: Path, every: int) -> list[str]:
    """DOP compared with the plain grammar of the same binary trees, over tags, decoded by Labelled Recall; Goodman's rates."""
    lines = [
        f"All trees of train.mrg of at most 40 tags; every {8 * every}th sentence of dev.mrg of at most {DOP_LONGEST} tags. "
        "Memory is the peak of the whole process, reading and training included.",
        "",
        "| estimator | symbols | rules | Labelled Recall | Bracketed Recall | s to train | ms a parse | MB trained | MB parsed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for estimator, prune in (("counts", 0.0), ("dop1", 0.0), ("corrected", 0.0), ("corrected", PRUNED)):
        lines.append(in_own_process(dop_row, folder, 8 * every, estimator, prune))
        print(lines[-1], flush=True)
    return lines


def dop_row(folder: Path, every: int, estimator: str, prune: float) -> str:
    binary = pipeline("traces,functions,root,goodman")
    dev = [tree for tree in map(binary, io.read(folder / "dev.mrg")) if tree is not None and 2 <= tree.width <= DOP_LONGEST]
    gold, bank = dev[::every], io.read(folder / "train.mrg")
    began = time.process_time()
    grammar = train(bank, steps=f"length:40,{binary}", tags=True, estimator=estimator).grammar
    seconds, peak = time.process_time() - began, peak_memory()
    # X_Cont is a label like any other, since the gold trees are binary.
    shown: PCFG = grammar.with_labels(lambda symbol: None if symbol == "TOP" else plain_label(symbol))
    run = parsed_trees(Parser(shown, "labelled-recall", tag_words=True, prune=prune), gold, tags=True)
    rates = score(gold, run.trees, metric="goodman", preset="none").rates
    name = estimator + (", --prune" if prune else "")
    row = f"| {name} | {len(grammar.nonterminals):,} | {len(grammar.rules):,} | {100 * rates['labelled_recall']:.2f} "
    row += f"| {100 * rates['bracketed_recall']:.2f} | {seconds:.0f} | {1000 * run.seconds / len(gold):.1f} "
    return f"{row}| {peak:,} | {run.peak:,} |"


PARTS: dict[str, tuple[str, Callable[[Path, int], list[str]]]] = {
    "chosen": ("Grammars: how the default was chosen", chosen),
    "objectives": ("Grammars: objectives", objectives),
    "whole": ("Grammars: parsing GUM dev", whole),
    "dop": ("Grammars: DOP", dop),
}


if __name__ == "__main__":
    main()
