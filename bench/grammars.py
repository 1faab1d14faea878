"""From a plain treebank grammar to the default one, step by step; speed, memory and pruning of the default.

    python bench/grammars.py FOLDER [--every 8] [--whole] [--save]

FOLDER has train.mrg and dev.mrg. ``--every N`` scores each step on every Nth sentence of dev; ``--whole`` parses all of dev with
the default grammar too.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from results import machine, save_section

from treegauge import io
from treegauge.grammar.dop import plain_label
from treegauge.grammar.pcfg import PCFG
from treegauge.grammar.training import train
from treegauge.metrics.scoring import score
from treegauge.normalise import pipeline
from treegauge.parsing.parser import Parser, Sentence
from treegauge.parsing.pruning import search_error
from treegauge.trees import Tree, Treebank

DOP_LONGEST = 25
CLEAN = "traces,root,redundant"
PLAIN = "traces,functions,root,redundant"


class Recipe(NamedTuple):
    name: str
    options: dict[str, Any]


def annotated(*splits: str) -> dict[str, Any]:
    return {"steps": f'{CLEAN},annotate:splits="{" ".join(splits)}"'}


WORDS = ("tag-pa", "in", "aux", "cc", "percent", "alone")
LADDER = [
    Recipe("right binarisation h=1, v=1; Collins's unknown word", {"steps": f"{PLAIN},binarise:h=1:v=1", "lexicon": "collins"}),
    Recipe("+ parents (v=2)", {"steps": f"{PLAIN},binarise:h=1:v=2", "lexicon": "collins"}),
    Recipe("+ word signatures, smoothed", {"steps": f"{PLAIN},binarise:h=1:v=2"}),
    Recipe("+ tags know their parent", annotated("tag-pa")),
    Recipe("+ prepositions, auxiliaries, conjunctions, %, lone DT and RB", annotated(*WORDS)),
    Recipe("+ phrases over one child", annotated(*WORDS, "unary")),
    Recipe("+ VPs by their head's tag", annotated(*WORDS, "unary", "vp")),
    Recipe("+ phrases that hold a verb", annotated(*WORDS, "unary", "vp", "verb")),
    Recipe("+ S without a subject: the default", {}),
    Recipe("the same, head-outward binarisation", {"steps": f"{CLEAN},annotate:direction=head"}),
    Recipe("the default, h=2", {"steps": f"{CLEAN},annotate:h=2"}),
    Recipe("the default, rules smoothed with weight 2", {"rule_weight": 2.0}),
]
OBJECTIVES = [
    ("viterbi", {}),
    ("labelled-precision-recall", {"lam": 0.5}),
    ("labelled-precision-recall", {"lam": 0.4}),
    ("labelled-precision-recall", {"lam": 0.3}),
    ("frames", {}),
]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--every", type=int, default=8)
    arguments.add_argument("--dop", type=int, default=3000, help="trees of the DOP grammar")
    arguments.add_argument("--whole", action="store_true")
    arguments.add_argument("--save", action="store_true")
    given = arguments.parse_args()
    bank = io.read(given.folder / "train.mrg")
    dev = list(io.read(given.folder / "dev.mrg"))
    sample = dev[:: given.every]
    lines = [f"{len(bank):,} trees to train on, every {given.every}th of {len(dev):,} dev sentences ({len(sample)}), words only."]
    lines += ["", "| grammar | symbols | rules | F1, Viterbi | tags right | ms a sentence |", "|---|---|---|---|---|---|"]
    default: PCFG | None = None
    for recipe in LADDER:
        grammar = train(bank, **recipe.options).grammar
        default = grammar if not recipe.options else default
        rates, seconds = measured(Parser(grammar), sample)
        inner = sum(not rule.is_lexical for rule in grammar.rules)
        row = f"| {recipe.name} | {len(grammar.nonterminals):,} | {inner:,} | {100 * rates['f1']:.2f} "
        lines.append(f"{row}| {100 * rates['tagging_accuracy']:.2f} | {1000 * seconds / len(sample):.0f} |")
        print(lines[-1], flush=True)
    assert default is not None
    lines += ["", *objectives(default, sample), "", *pruning(default, sample)]
    lines += ["", *dop(bank, sample, given.dop)]
    if given.whole:
        lines += ["", *whole(default, dev)]
    text = "\n".join([*lines, "", machine()])
    print(text)
    if given.save:
        save_section("Grammars", text)


def measured(parser: Parser, trees: Sequence[Tree]) -> tuple[dict[str, float], float]:
    """The rates, and the processor time of parsing."""
    sentences = [Sentence(tree.words) for tree in trees]
    parser.parse(sentences[0])
    began = time.process_time()
    parsed = [parser.parse(sentence).tree for sentence in sentences]
    seconds = time.process_time() - began
    return dict(score(trees, parsed).rates), seconds


def objectives(grammar: PCFG, sample: Sequence[Tree]) -> list[str]:
    lines = ["| the default grammar, objective | recall | precision | F1 | ms a sentence |", "|---|---|---|---|---|"]
    for name, options in OBJECTIVES:
        rates, seconds = measured(Parser(grammar, name, options), sample)
        shown = name + "".join(f", {key}={value}" for key, value in options.items())
        numbers = " | ".join(f"{100 * rates[key]:.2f}" for key in ("recall", "precision", "f1"))
        lines.append(f"| {shown} | {numbers} | {1000 * seconds / len(sample):.0f} |")
        print(lines[-1], flush=True)
    return lines


def pruning(grammar: PCFG, sample: Sequence[Tree]) -> list[str]:
    lines = ["| --prune (Viterbi) | F1 | best tree lost | ms a sentence |", "|---|---|---|---|"]
    for threshold in (0.0, 1e-6, 1e-5, 1e-4, 1e-3):
        parser = Parser(grammar, prune=threshold)
        rates, seconds = measured(parser, sample)
        error = search_error(parser, [Sentence(tree.words) for tree in sample]) if threshold else None
        lost = f"{error.lost} of {error.sentences}" if error else "exact"
        lines.append(f"| {threshold:g} | {100 * rates['f1']:.2f} | {lost} | {1000 * seconds / len(sample):.0f} |")
        print(lines[-1], flush=True)
    return lines


def dop(bank: Treebank, dev: Sequence[Tree], trees: int) -> list[str]:
    """DOP beside the plain grammar of the same binary trees, over tags, parsed by Labelled Recall; Goodman's rates."""
    binary = pipeline("traces,functions,root,goodman")
    gold = [tree for tree in map(binary, dev) if tree is not None and 2 <= tree.width <= DOP_LONGEST]
    sentences = [Sentence(tree.words, tree.tags) for tree in gold]
    lines = [
        f"DOP, the first {trees:,} trees of at most 40 tags, {len(gold)} sentences of at most {DOP_LONGEST} tags:",
        "",
        "| estimator | symbols | rules | Labelled Recall | Bracketed Recall | ms a sentence | peak memory (MB) |",
        "|---|---|---|---|---|---|---|",
    ]
    for estimator in ("counts", "dop1", "corrected"):
        grammar = train(bank[:trees], steps=f"length:40,{binary}", tags=True, estimator=estimator).grammar
        # X_Cont is a label like others: the gold trees are binary.
        grammar = grammar.relabelled(lambda symbol: None if symbol == "TOP" else plain_label(symbol))
        parser = Parser(grammar, "labelled-recall", tag_words=True)
        parser.parse(sentences[0])
        began = time.process_time()
        parsed = [parser.parse(sentence).tree for sentence in sentences]
        seconds = time.process_time() - began
        rates = score(gold, parsed, metric="goodman", preset="none").rates
        row = f"| {estimator} | {len(grammar.nonterminals):,} | {len(grammar.rules):,} | {100 * rates['labelled_recall']:.2f} "
        row += f"| {100 * rates['bracketed_recall']:.2f} | {1000 * seconds / len(gold):.1f} "
        lines.append(f"{row}| {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} |")
        print(lines[-1], flush=True)
    return lines


def whole(grammar: PCFG, dev: Sequence[Tree]) -> list[str]:
    lines = ["| all of dev, exact, one thread | F1 | sentences a second (processor) |", "|---|---|---|"]
    for name, options in OBJECTIVES[:3:2]:
        rates, seconds = measured(Parser(grammar, name, options), dev)
        lines.append(f"| {name} {options or ''} | {100 * rates['f1']:.2f} | {len(dev) / seconds:.1f} |")
        print(lines[-1], flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    longest = max(tree.width for tree in dev)
    return [*lines, "", f"Peak memory of the process, training included: {peak} MB; the longest sentence has {longest} words."]


if __name__ == "__main__":
    main()
