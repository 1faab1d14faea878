"""How far MH is ahead of MRL by the number of training trees, and what unknown words cost either: both by MPP."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treegauge.experiments.base import Work
from treegauge.experiments.figures import Line, LineFigure
from treegauge.experiments.parsing_pieces import parse_in_pieces
from treegauge.experiments.simaan_grammars import GRAMMARS, Variant, unknown_share
from treegauge.metrics.scoring import score
from treegauge.metrics.tables import Table
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees.tree import Tree

__all__ = ["PAPER_TREES", "Point", "curve", "curve_figure", "curve_note", "curve_table"]

PAPER_TREES = 39_832
"""Sections 02-21 of the Wall Street Journal."""
PAPER_AHEAD = 0.8005 - 0.6144


@dataclass(frozen=True)
class Point:
    """F of either grammar after training on some trees: over words, and with the gold tags given."""

    trees: int
    unknown: float
    words: dict[str, float]
    tags: dict[str, float]

    def ahead(self, kind: str = "words") -> float:
        """MH less MRL."""
        f1 = self.words if kind == "words" else self.tags
        return f1["MH"] - f1["MRL"]


def curve(
    made: Sequence[Variant], train: Sequence[Tree], test: Sequence[Tree], halvings: int, below: int, work: Work
) -> list[Point]:
    """F by MPP with all trees, with every second one, every fourth and so on; the fewest first."""
    points: list[Point] = []
    for halving in range(halvings, -1, -1):
        part = train[:: 2**halving]
        f1: dict[bool, dict[str, float]] = {False: {}, True: {}}
        for variant in made:
            grammar = variant.grammar(part, below)
            gold = [variant.gold(tree) for tree in test]
            for tags, found in f1.items():
                sentences = [Sentence(tree.words, variant.tags(tree) if tags else None) for tree in test]
                # The whole treebank over words is what the table of the paper needs too: the same pieces.
                name = f"{variant.name} MPP" + (" tags" if tags else "") + (f" 1/{2**halving}" if halving else "")
                parsed = parse_in_pieces(work, name, Parser(grammar, gold_tags=tags), sentences)
                found[variant.name] = score(gold, [variant.scored(one.tree) for one in parsed]).rates["f1"]
        points.append(Point(len(part), unknown_share(part, test, below), f1[False], f1[True]))
    return points


def curve_table(points: Sequence[Point]) -> Table:
    names = (*GRAMMARS, "MH less MRL")
    columns = ("trees to train on", "unknown words", *names, *(f"{name}, gold tags" for name in names))
    rows = [
        (point.trees, point.unknown, *point.words.values(), point.ahead(), *point.tags.values(), point.ahead("tags"))
        for point in points
    ]
    return Table("F by MPP, as the training trees grow in number", columns, tuple(rows), percent=columns[1:])


def curve_figure(points: Sequence[Point], corpus: str) -> LineFigure:
    lines = [
        Line(f"{name}, {kind}", [100 * getattr(point, attribute)[name] for point in points])
        for attribute, kind in (("words", "words"), ("tags", "gold tags"))
        for name in GRAMMARS
    ]
    return LineFigure("curve", f"F by MPP: {corpus}", "trees to train on", "F (%)", [point.trees for point in points], lines)


def curve_note(points: Sequence[Point]) -> str:
    """Why MH is ahead by less than in the paper, in numbers."""
    first, last = points[0], points[-1]
    doublings = math.log2(PAPER_TREES / last.trees)
    said = (
        f"MH less MRL is {100 * last.ahead():+.1f} points here and {100 * PAPER_AHEAD:+.1f} in the paper, which trained on "
        f"{PAPER_TREES:,} trees, {doublings:.1f} doublings more. "
    )
    if len(points) > 1:
        slopes = [100 * (last.words[name] - first.words[name]) / (len(points) - 1) for name in GRAMMARS]
        said += f"From {first.trees:,} to {last.trees:,} trees each doubling is worth "
        said += f"{slopes[0]:+.1f} points to MRL, {slopes[1]:+.1f} to MH. "
    return said + (
        f"Of the test words {last.unknown:.1%} are the unknown word, which tells nothing of a tag; given the gold tags MH is "
        f"{100 * last.ahead('tags'):+.1f} points from MRL."
    )
