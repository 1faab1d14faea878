"""How far MH is ahead of MRL by the number of training trees, and what unknown words cost either: both by MPP."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treegauge.experiments.base import Work
from treegauge.experiments.figures import Line, LineFigure
from treegauge.experiments.parsing_pieces import parse_in_pieces
from treegauge.experiments.simaan_grammars import GRAMMARS, Variant, unknown_share
from treegauge.metrics.scoring import score
from treegauge.metrics.tables import Cell, Table
from treegauge.parsing.parser import Parser, Sentence
from treegauge.trees.tree import Tree

__all__ = ["PAPER_TREES", "Found", "Point", "curve", "curve_figure", "curve_note", "curve_table"]

PAPER_TREES = 39_832
"""Sections 02-21 of the Wall Street Journal."""
PAPER_AHEAD = 0.8005 - 0.6144


class Found(NamedTuple):
    """F of a grammar, and the share of sentences that it has no parse for."""

    f1: float
    unparsed: float


@dataclass(frozen=True)
class Point:
    """What either grammar comes to after training on some trees: over words, and with the gold tags given."""

    trees: int
    unknown: float
    words: Mapping[str, Found]
    tags: Mapping[str, Found]

    def ahead(self, *, tags: bool = False) -> float:
        """F of MH less F of MRL."""
        found = self.tags if tags else self.words
        return found["MH"].f1 - found["MRL"].f1

    def cells(self) -> tuple[Cell, ...]:
        sides = ((self.words, self.ahead()), (self.tags, self.ahead(tags=True)))
        found = [(*(side[name].f1 for name in GRAMMARS), ahead, side["MH"].unparsed) for side, ahead in sides]
        return self.trees, self.unknown, *found[0], *found[1]


def curve(
    made: Sequence[Variant], train: Sequence[Tree], test: Sequence[Tree], halvings: int, below: int, work: Work
) -> list[Point]:
    """F by MPP with all trees, with every second one, every fourth and so on; the fewest first."""
    points: list[Point] = []
    for halving in range(halvings, -1, -1):
        part = train[:: 2**halving]
        found: dict[bool, dict[str, Found]] = {False: {}, True: {}}
        for variant in made:
            grammar = variant.grammar(part, below)
            gold = [variant.gold(tree) for tree in test]
            for tags, rates in found.items():
                sentences = [Sentence(tree.words, variant.tags(tree) if tags else None) for tree in test]
                # The whole treebank over words is what the table of the paper needs too: the same pieces.
                name = f"{variant.name} MPP" + (" tags" if tags else "") + (f" 1/{2**halving}" if halving else "")
                parsed = parse_in_pieces(work, name, Parser(grammar, gold_tags=tags), sentences)
                f1 = score(gold, [variant.scored(one.tree) for one in parsed]).rates["f1"]
                rates[variant.name] = Found(f1, sum(one.fallback for one in parsed) / len(parsed))
        points.append(Point(len(part), unknown_share(part, test, below), found[False], found[True]))
    return points


def curve_table(points: Sequence[Point]) -> Table:
    names = (*GRAMMARS, "MH less MRL", "MH without a parse")
    columns = ("trees to train on", "unknown words", *names, *(f"{name}, gold tags" for name in names))
    rows = tuple(point.cells() for point in points)
    return Table("F by MPP, as the training trees grow in number", columns, rows, percent=columns[1:])


def curve_figure(points: Sequence[Point], corpus: str) -> LineFigure:
    lines = [
        Line(f"{name}, {kind}", [100 * getattr(point, attribute)[name].f1 for point in points])
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
        slopes = [100 * (last.words[name].f1 - first.words[name].f1) / (len(points) - 1) for name in GRAMMARS]
        said += (
            f"From {first.trees:,} to {last.trees:,} trees each doubling is worth {slopes[0]:+.1f} points to MRL and "
            f"{slopes[1]:+.1f} to MH, whose lead goes from {100 * first.ahead():+.1f} to {100 * last.ahead():+.1f}. "
        )
    mrl, mh = (tuple(f"{point.tags[name].unparsed:.1%}" for point in (first, last)) for name in GRAMMARS)
    return said + (
        f"MH needs more trees because its symbols are many: held to the gold tags, it has no parse for {mh[0]} of the sentences "
        f"after {first.trees:,} trees and for {mh[1]} after {last.trees:,} (MRL: {mrl[0]} and {mrl[1]}). Without them it escapes "
        f"by way of the unknown word, which {last.unknown:.1%} of the test words are and which may have any tag."
    )
