"""Sima'an 2003, section 4.2: a sentence of eight words whose likeliest parse has fewer right constituents than another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treegauge.experiments.experiment import Experiment, ExperimentReport, NoSettings, Work
from treegauge.experiments.paper_comparison import paper_table
from treegauge.experiments.simaan_table2 import ALGORITHMS
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.forest import Forest
from treegauge.tables import Cell, Table

GRAMMAR = 'S -> "x" "x" [.1] | "x" S [.3] | S "x" [.3] | S S [.1] | A A [.2]\nA -> "x" "x" [1]'
PAPER: dict[tuple[str, ...], Sequence[Cell]] = {("MPP",): ("0.004", None, 1.69), ("M_LR",): ("0.0162", None, 1.94)}


def run(corpus: None, settings: NoSettings, work: Work) -> ExperimentReport:
    """The report: the probability, expected right constituents and expected right productions of each algorithm's tree."""
    forest = Forest(PCFG.parse(GRAMMAR), ["x"] * 8)
    frames = {(f.start, f.end, f.production): f.posterior for f in forest.frames()}
    ours: dict[tuple[str, ...], Sequence[Cell]] = {}
    trees: dict[str, str] = {}
    for objective, name in ALGORITHMS.items():
        tree = forest.argmax(objective).tree
        used = zip(tree.nodes_with_spans(), tree.productions(), strict=True)
        by_frames = math.fsum(frames[s, t, production] for (_, s, t), production in used)
        ours[name,] = (f"{math.exp(forest.log_probability(tree)):.6g}", forest.expected_score(tree, pre=True), by_frames)
        trees[name] = str(tree)
    columns = ("probability", "sum of g", "sum of productions' posteriors")
    table = paper_table("Trees of x x x x x x x x", ("algorithm",), columns, PAPER, ours)
    total = Table(
        "The sentence",
        ("", "paper", "ours"),
        (("parses", 500, int(forest.n_parses)), ("probability", "0.04539801", f"{math.exp(forest.log_partition):.8g}")),
    )
    return ExperimentReport(
        tables=[total, table],
        notes=[
            f"Outcome: the likeliest parse is balanced ({trees['MPP']}), M_LR's is {trees['M_LR']}.",
            "The printed probability of the sentence, .04539801, has its last digits swapped: it is .0453981. That of M_LR's tree "
            "lacks a zero: 81/50000, not 81/5000.",
            "The values at the nodes of Figure 2, and their sums 1.69 and 1.94, are posteriors of productions, not of "
            "constituents; both sums are shown.",
        ],
        data={"trees": trees, "rows": {key[0]: list(values) for key, values in ours.items()}},
    )


EXPERIMENT = Experiment(
    "simaan-example",
    "Sima'an 2003, section 4.2: the likeliest parse need not have the most right constituents",
    "simaan2003",
    NoSettings,
    run,
)
