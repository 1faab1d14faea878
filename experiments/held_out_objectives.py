"""Does ``parse --for recall`` have the best recall? Every objective offered, on held-out trees, with paired tests.

    treegauge induce TRAIN -o MODEL
    python experiments/held_out_objectives.py NAME MODEL HELD_OUT [--longest 60] [--folder FOLDER] [--save]

MODEL has settings for recall, precision, F1 and exact match, chosen by `induce` on a part of TRAIN. HELD_OUT is a treebank that
neither the grammar nor the settings have seen. Each of its sentences is parsed from its words with the four settings and with every
objective at its default options; the trees are scored by PARSEVAL (EVALB's ``collins`` preset), and each setting is compared with
the best of all on its own rate by a paired randomisation over sentences. FOLDER keeps finished sentences, so that the command,
given again with ``--resume``, continues where it was interrupted. ``--save`` writes results/held_out_objectives-NAME.json and .md
beside this script, and a section of bench/RESULTS.md. Only rates leave the treebank.
"""

from __future__ import annotations

import argparse
import json
import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from treegauge.experiments.experiment import Checkpoint
from treegauge.experiments.paper_comparison import SIGNIFICANT, RateTests
from treegauge.grammar import load_model
from treegauge.io import read
from treegauge.normalise import pipeline
from treegauge.parsing.objectives import CRITERIA, DecodingSetting, settings_from_notes
from treegauge.parsing.parser import Parser, Sentence
from treegauge.parsing.tuned_decoding import SETTINGS
from treegauge.tables import Cell, Table, plain, render
from treegauge.trees.tree import Tree, from_flat, to_flat

RESULTS = Path(__file__).parent / "results"
BLOCK = 10
FREE = ("labelled-recall", "labelled-precision-recall")
"""The objectives whose lam is varied."""
DEFAULTS = (
    "viterbi", "labelled-recall", "bracketed-recall", "labelled-precision-recall", "labelled-recall-licensed", "parent-child",
    "frames", *(f"mbr:parseval.{rate}" for rate in CRITERIA.values()),
)  # fmt: skip


def systems(chosen: Mapping[str, DecodingSetting]) -> dict[str, DecodingSetting]:
    """Everything that is tried, by name: the settings for each criterion, each objective by default, and all that tuning tries."""
    found = {f"--for {criterion}": chosen[criterion] for criterion in CRITERIA}
    found |= {name: DecodingSetting(name) for name in DEFAULTS}
    return found | {str(setting): setting for setting in SETTINGS if setting.objective in FREE}


def parse_held_out(
    model: Any, settings: Sequence[DecodingSetting], gold: Sequence[Tree], checkpoint: Checkpoint
) -> dict[DecodingSetting, list[Tree]]:
    """The trees of every setting, block by block."""
    parsers = [Parser(model.grammar, setting.objective, setting.options, probabilities=True) for setting in settings]

    def block(first: int) -> list[list[Any]]:
        sentences = [Sentence(tree.words, tree.tags) for tree in gold[first : first + BLOCK]]
        return [[list(to_flat(one.scored_tree)) for one in Parser.parse_with_each(parsers, sentence)] for sentence in sentences]

    trees: dict[DecodingSetting, list[Tree]] = {setting: [] for setting in settings}
    for first in range(0, len(gold), BLOCK):
        for row in checkpoint.get(f"sentences from {first}", lambda first=first: block(first)):
            for own, flat in zip(trees.values(), row, strict=True):
                own.append(from_flat(flat))
        print(f"{min(first + BLOCK, len(gold))} of {len(gold)} sentences", flush=True)
    return trees


def tables(name: str, offered: Mapping[str, DecodingSetting], tests: RateTests, sentences: int) -> list[Table]:
    """The verdict on each criterion, and the rates of everything."""
    plainly = [system for system in offered if system.startswith("--for") or offered[system].lam is None]
    verdicts: list[tuple[Cell, ...]] = []
    for criterion, rate in CRITERIA.items():
        own = f"--for {criterion}"
        best = max(plainly, key=lambda system: tests.rates[system][rate])
        difference = tests.rates[own][rate] - tests.rates[best][rate]
        p = tests.p(own, best, rate) if own != best else 1.0
        verdict = "best" if difference >= 0 else "not significantly below the best" if p >= SIGNIFICANT else "below the best"
        shown = "itself" if difference >= 0 else best
        verdicts.append(
            (own, str(offered[own]), tests.rates[own][rate], shown, tests.rates[best][rate], difference, f"{p:.4f}", verdict)
        )
    recall = tests.rates["labelled-recall"]["recall"] - tests.rates["viterbi"]["recall"]
    notes = (
        f"{sentences:,} sentences, parsed from words. Best of: the four settings, and every objective at its default options.",
        "p: two-sided, paired randomisation over sentences (10,000 rounds).",
        f"--objective labelled-recall less viterbi in recall: {100 * recall:+.2f} points "
        f"(p = {tests.p('viterbi', 'labelled-recall', 'recall'):.4f}).",
    )
    columns = ("setting", "objective", "its rate", "best of all", "its rate there", "difference", "p", "verdict")
    first = Table(
        f"{name}: is each setting the best by its own rate?", columns, tuple(verdicts), notes, (columns[2], *columns[4:6])
    )
    rates = tuple(CRITERIA.values())
    bests = {rate: max(plainly, key=lambda system: tests.rates[system][rate]) for rate in rates}
    rows: list[tuple[Cell, ...]] = []
    for system in offered:
        values: list[Cell] = [tests.rates[system][rate] for rate in rates]
        ps = [
            f"{tests.p(system, bests[rate], rate):.4f}" if system in plainly and system != bests[rate] else None for rate in rates
        ]
        rows.append((system, *(cell for pair in zip(values, ps, strict=True) for cell in pair)))
    shown = tuple(cell for rate in rates for cell in (rate, f"p ({rate})"))
    about = "p: against the best of that column among the four settings and the objectives at their default options."
    second = Table(f"{name}: rates of everything offered", ("decoding", *shown), tuple(rows), (about,), rates)
    return [first, second]


def main() -> None:
    parser = argparse.ArgumentParser(description="Every decoding objective on held-out trees.")
    parser.add_argument("name")
    parser.add_argument("model")
    parser.add_argument("held_out")
    parser.add_argument("--longest", type=int, default=0, help="leave out longer sentences; 0 for none")
    parser.add_argument("--sentences", type=int, default=0, help="take only so many, spread evenly; 0 for all")
    parser.add_argument("--folder", default="", help="keep finished sentences here")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--save", action="store_true", help="write the results beside this script")
    args = parser.parse_args()
    model = load_model(args.model)
    chosen = settings_from_notes(model.notes)
    if not chosen:
        parser.error("the model has no settings: make it with treegauge induce, without --no-tune")
    clean = pipeline("traces,functions,root")
    gold = [tree for tree in map(clean, read(args.held_out)) if tree is not None and tree.width > 0]
    n_all = len(gold)
    gold = [tree for tree in gold if not args.longest or tree.width <= args.longest]
    if args.sentences:
        gold = gold[:: max(1, -(-len(gold) // args.sentences))]
    offered = systems(chosen)
    settings = list(dict.fromkeys(offered.values()))
    header = {"model": args.model, "held out": args.held_out, "sentences": len(gold), "settings": [str(s) for s in settings]}
    kept = Path(args.folder) / f"{args.name}.pieces.jsonl" if args.folder else None
    trees = parse_held_out(model, settings, gold, Checkpoint(kept, header, resume=args.resume))
    tests = RateTests("parseval", gold, {system: trees[setting] for system, setting in offered.items()}, preset="collins")
    found = tables(args.name, offered, tests, len(gold))
    text = "\n\n".join(render(table, "markdown") for table in found)
    left = f"{n_all - len(gold):,} of {n_all:,} sentences left out (longer than {args.longest} words)." if n_all > len(gold) else ""
    print("\n\n".join([text, left]))
    if args.save:
        RESULTS.mkdir(exist_ok=True)
        head = f"# Every objective on held-out trees: {args.name}\n\nWritten by `experiments/held_out_objectives.py`. {left}"
        (RESULTS / f"held_out_objectives-{args.name}.md").write_text(f"{head.strip()}\n\n{text}\n", "utf-8")
        data = {
            "sentences": len(gold),
            "left_out": n_all - len(gold),
            "settings": {criterion: str(setting) for criterion, setting in chosen.items()},
            "rates": tests.rates,
            "verdicts": [list(row) for row in found[0].rows],
        }
        save_section = runpy.run_path(str(Path(__file__).resolve().parents[1] / "bench" / "results.py"))["save_section"]
        save_section(f"Decoding for a rate, held-out trees of {args.name}", "\n\n".join([render(found[0], "markdown"), left]))
        (RESULTS / f"held_out_objectives-{args.name}.json").write_text(json.dumps(plain(data), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
