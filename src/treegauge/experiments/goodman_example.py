"""Goodman 1996, section 3: four equally likely parses, and a tree of probability 0 that is better than all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treegauge.experiments.experiment import Experiment, ExperimentReport, NoSettings, Work
from treegauge.experiments.paper_comparison import paper_table
from treegauge.grammar.pcfg import PCFG
from treegauge.parsing.forest import Forest
from treegauge.tables import Cell, Table
from treegauge.trees.tree import Tree

GRAMMAR = "S -> A C [.25] | A D [.25] | E B [.25] | F B [.25]\n" + "\n".join(f'{X} -> "x" "x" [1]' for X in "ABCDEF")
PARSES = ("S(A C)", "S(A D)", "S(E B)", "S(F B)")
BEST = "S(A B)"
PAPER_NODES = {"S": 1.0, "A": 0.5, "B": 0.5, "C": 0.25}


def run(corpus: None, settings: NoSettings, work: Work) -> ExperimentReport:
    """The report: the expected number of right constituents of each parse, and of the tree with most."""
    forest = Forest(PCFG.parse(GRAMMAR), ["x"] * 4)
    best = forest.argmax("labelled-recall")
    parses = {_shape(parse.tree): parse for parse in forest.kbest(10)}
    ours: dict[tuple[str, ...], Sequence[Cell]] = {
        (shape,): (math.exp(parses[shape].log_probability), forest.expected_score(parses[shape].tree)) for shape in sorted(parses)
    }
    ours[_shape(best.tree),] = (math.exp(forest.log_probability(best.tree)), best.score)
    paper: dict[tuple[str, ...], Sequence[Cell]] = {(shape,): (0.25, 1.75) for shape in PARSES}
    paper[BEST,] = (0.0, 2.0)
    table = paper_table("Trees of x x x x", ("tree",), ("probability", "expected L"), paper, ours)
    nodes = {c.label: c.posterior for c in forest.constituents()}
    rows = tuple((label, PAPER_NODES.get(label), posterior) for label, posterior in sorted(nodes.items()))
    return ExperimentReport(
        tables=[table, Table("How probable each node is", ("node", "paper", "ours"), rows)],
        notes=[
            f"Outcome: {forest.n_parses} parses, each with {ours[PARSES[0],][1]} right constituents on average; the Labelled "
            f"Recall parse {_shape(best.tree)} has {best.score:g}, and the grammar does not generate it."
        ],
        data={"trees": {key[0]: list(values) for key, values in ours.items()}, "posteriors": nodes},
    )


def _shape(tree: Tree) -> str:
    """A tree in short: ``S(A B)`` for ``(S (A x x) (B x x))``."""
    return f"{tree.label}({' '.join(child.label for child in tree.children if isinstance(child, Tree))})"


EXPERIMENT = Experiment(
    "goodman-example", "Goodman 1996, section 3: the best tree need not be a parse", "goodman1996", NoSettings, run
)
