"""Why does Sima'an's order M_CFP > M_PCh > M_LR (2003, Table 2, MRL) come out reversed? One factor at a time.

    python experiments/simaan_order.py NAME TRAIN TEST [--longest 25] [--sentences 300] [--save]

The paper's algorithms differ most in how many brackets they guess: precision exceeds recall by 2.8 points (MPP), 3.5 (M_CFP), 4.2
(M_PCh), 5.2 (M_LR). Binary trees without unary productions have one number of brackets, so unary productions must have been in the
grammar, and the algorithms must have kept different numbers of them. This script varies how unary productions are treated, what
M_LR counts on a span, whether tags are given, how many trees there are to learn from, and which brackets are scored; for each it
prints recall, precision and F of the four algorithms, and p of M_CFP less M_LR. ``--save`` writes results/simaan_order-NAME.md and
.json beside this script. Only rates leave the treebank.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treegauge.experiments.paper_comparison import RateTests
from treegauge.experiments.simaan_table2 import Variant, cleaner, variants
from treegauge.io import read
from treegauge.parsing.parser import Parser, Sentence
from treegauge.tables import Cell, Table, plain, render
from treegauge.trees.tree import Tree

RESULTS = Path(__file__).parent / "results"
ALGORITHMS = ("MPP", "M_LR", "M_PCh", "M_CFP")
OBJECTIVES = {"MPP": "viterbi", "M_LR": "labelled-recall-licensed", "M_PCh": "parent-child", "M_CFP": "frames"}
PAPER = {
    "MPP": (60.06, 62.90, 61.44),
    "M_LR": (60.36, 65.55, 62.84),
    "M_PCh": (61.10, 65.25, 63.10),
    "M_CFP": (61.69, 65.22, 63.40),
}


@dataclass(frozen=True)
class Condition:
    """An experimental condition: the treatment of unary productions, the options of the algorithms, and what is scored."""

    name: str
    unaries: str = "joined"
    options: Mapping[str, Mapping[str, Any]] | None = None
    gold_tags: bool = False
    share: int = 1
    original: bool = False


ONE = {"M_LR": {"labels": "set", "lam": 1.0}}
CONDITIONS = (
    Condition("as `reproduce`: chains joined into one symbol"),
    Condition("gold tags given", gold_tags=True),
    Condition("a quarter of the training trees", share=4),
    Condition("scored without linearisation nodes", original=True),
    Condition("unary rules kept; M_LR counts every label of a chain", "kept", {"M_LR": {"labels": "one"}}),
    Condition("unary rules kept; M_LR pays for all but one label of a span", "kept", ONE),
    Condition(
        "the same; unary links and productions count for M_PCh and M_CFP", "kept",
        {**ONE, "M_PCh": {"count": "all"}, "M_CFP": {"count": "all"}},
    ),
)  # fmt: skip


def parse_all(condition: Condition, variant: Variant, train: Sequence[Tree], test: Sequence[Tree]) -> dict[str, list[Tree]]:
    """The parses of the four algorithms, from one chart per sentence."""
    grammar = variant.grammar(train[:: condition.share], 5)
    options = condition.options or {}
    parsers = [Parser(grammar, OBJECTIVES[name], options.get(name, {}), gold_tags=condition.gold_tags) for name in ALGORITHMS]
    found: dict[str, list[Tree]] = {name: [] for name in ALGORITHMS}
    for tree in test:
        sentence = Sentence(tree.words, variant.tags(tree) if condition.gold_tags else None)
        for name, parsed in zip(ALGORITHMS, Parser.parse_with_each(parsers, sentence), strict=True):
            found[name].append(parsed.scored_tree)
    return found


def scored(condition: Condition, variant: Variant, test: Sequence[Tree], trees: Mapping[str, Sequence[Tree]]) -> RateTests:
    """The rates against the binarised trees, or against the original ones."""
    clean = cleaner("functions")
    show: Callable[[Tree], Tree] = variant.plain if condition.original else variant.scored
    gold = list(map(clean, test)) if condition.original else [variant.gold(tree) for tree in test]
    return RateTests("parseval", gold, {name: list(map(show, own)) for name, own in trees.items()}, rounds=5_000)


def main() -> None:
    parser = argparse.ArgumentParser(description="What decides the order of Sima'an's algorithms.")
    parser.add_argument("name")
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--longest", type=int, default=25)
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--save", action="store_true")
    args = parser.parse_args()
    ready = cleaner("traces,root")
    train = [tree for tree in map(ready, read(args.train)) if tree.width]
    test = [tree for tree in map(ready, read(args.test)) if 0 < tree.width <= args.longest][: args.sentences]
    rows: list[tuple[Cell, ...]] = [
        ("the paper", *(cell / 100 for name in ALGORITHMS for cell in PAPER[name]), 0.0056, None, "M_CFP > M_PCh > M_LR > MPP")
    ]
    data: dict[str, Any] = {}
    made: dict[tuple[Any, ...], tuple[Variant, dict[str, list[Tree]]]] = {}
    for condition in CONDITIONS:
        key = (condition.unaries, str(condition.options), condition.gold_tags, condition.share)
        if key not in made:
            variant = variants(condition.unaries)[0]
            made[key] = variant, parse_all(condition, variant, train, test)
        tests = scored(condition, made[key][0], test, made[key][1])
        rates = tests.rates
        order = " > ".join(sorted(ALGORITHMS, key=lambda name: -rates[name]["f1"]))
        cells = [rates[name][rate] for name in ALGORITHMS for rate in ("recall", "precision", "f1")]
        difference = rates["M_CFP"]["f1"] - rates["M_LR"]["f1"]
        rows.append((condition.name, *cells, difference, f"{tests.p('M_LR', 'M_CFP', 'f1'):.4f}", order))
        data[condition.name] = {"rates": rates, "difference": difference, "p": tests.p("M_LR", "M_CFP", "f1"), "order": order}
        print(f"{condition.name}: {order}", flush=True)
    columns = tuple(f"{name} {rate}" for name in ALGORITHMS for rate in ("LR", "LP", "F"))
    about = (
        f"{len(train):,} trees to train on, {len(test):,} sentences of at most {args.longest} words to test on.",
        "p: of M_CFP less M_LR, paired randomisation over sentences.",
    )
    table = Table(
        f"The order of the algorithms under MRL: {args.name}", ("condition", *columns, "M_CFP less M_LR", "p", "order by F"),
        tuple(rows), about, (*columns, "M_CFP less M_LR"),
    )  # fmt: skip
    text = render(table, "markdown")
    print(text)
    if args.save:
        (RESULTS / f"simaan_order-{args.name}.md").write_text(f"# The order of the algorithms\n\n{text}\n", "utf-8")
        (RESULTS / f"simaan_order-{args.name}.json").write_text(json.dumps(plain(data), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
