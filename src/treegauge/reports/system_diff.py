"""Differences between two systems: the brackets of a sentence that the first, the second or both get wrong, and the three trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treegauge.reports.tree_diff import Charset, TreeDiff, TreeDiffs
from treegauge.tables import number_of
from treegauge.trees import Tree
from treegauge.trees.drawing import draw_text, fold_settled, legend_text

__all__ = ["MarkedBracket", "SystemDiff", "SystemDiffs", "system_diff_text"]


class MarkedBracket(NamedTuple):
    """A wrong bracket: its mark, its label and its words, with ``…`` for each gap."""

    mark: str
    label: str
    words: str

    def __str__(self) -> str:
        return f"{self.mark} {self.label}: {self.words}"


@dataclass(frozen=True)
class SystemDiff:
    """Two systems' differences from the gold tree of one sentence.

    >>> gold, one, two = "(S (NP (N a)) (VP (V b)))", "(S (N a) (VP (V b)))", "(S (NP (N a)) (XP (V b)))"
    >>> found = SystemDiffs(TreeDiffs(gold, one, names=("gold", "A")), TreeDiffs(gold, two, names=("gold", "B"))).of([0])[0]
    >>> print(found.summary)
    A: 1 wrong bracket, B: 2 wrong brackets
    >>> [[str(bracket) for bracket in brackets] for brackets in found.wrong_brackets]
    [['missed NP: a'], ['wrong-label VP: b', 'wrong-label XP: b'], []]
    """

    first: TreeDiff
    second: TreeDiff

    @property
    def summary(self) -> str:
        """The number of wrong brackets of each system, in a line."""
        return ", ".join(f"{one.names[1]}: {number_of(one.wrong, 'wrong bracket')}" for one in (self.first, self.second))

    @property
    def wrong_brackets(self) -> tuple[list[MarkedBracket], list[MarkedBracket], list[MarkedBracket]]:
        """The brackets that are wrong in the first system alone, in the second alone, and in both."""
        one, two = Counter(_wrong(self.first)), Counter(_wrong(self.second))
        return list((one - two).elements()), list((two - one).elements()), list((one & two).elements())


def _wrong(diff: TreeDiff) -> list[MarkedBracket]:
    """The wrong brackets of the gold tree, then those of the test tree."""
    found: list[MarkedBracket] = []
    for _, tree, marks in diff.sides:
        words = tree.words
        for number, (node, blocks) in enumerate(tree.nodes_with_blocks()):
            if marks.get(number, "matched") != "matched":
                text = " … ".join(" ".join(words[start:end]) for start, end in blocks)
                found.append(MarkedBracket(marks[number], node.label, text))
    return found


class SystemDiffs:
    """Two systems' differences from one treebank, sentence by sentence."""

    def __init__(self, first: TreeDiffs, second: TreeDiffs) -> None:
        self.first, self.second = first, second

    def differing(self) -> list[int]:
        """The sentences, counted from 0, in which the two systems do not get the same brackets wrong."""
        candidates = np.flatnonzero((self._wrong(self.first) > 0) | (self._wrong(self.second) > 0)).tolist()
        return [number for number, found in zip(candidates, self.of(candidates), strict=True) if any(found.wrong_brackets[:2])]

    def most_different(self, most: int) -> list[int]:
        """The sentences whose numbers of wrong brackets differ most, at most ``most`` of them."""
        gap = np.abs(self._wrong(self.first) - self._wrong(self.second))
        return sorted(self.differing(), key=lambda number: -int(gap[number]))[:most]

    def of(self, sentences: Sequence[int]) -> list[SystemDiff]:
        """The differences of the given sentences, counted from 0."""
        return list(map(SystemDiff, self.first.of(sentences), self.second.of(sentences)))

    def summary(self) -> str:
        """The number of sentences in which the systems differ, and in how many of these each is better."""
        differing, one, two = self.differing(), self._wrong(self.first), self._wrong(self.second)
        names = self.first.names[1], self.second.names[1]
        better = sum(one[number] < two[number] for number in differing), sum(two[number] < one[number] for number in differing)
        said = f"{names[0]} and {names[1]} differ in {len(differing):,} of {number_of(len(self.first.gold), 'sentence')}"
        return f"{said}: {names[0]} has fewer wrong brackets in {better[0]:,}, {names[1]} in {better[1]:,}"

    def _wrong(self, diffs: TreeDiffs) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The number of wrong brackets of each gold sentence."""
        wrong = np.zeros(len(diffs.gold), np.int64)
        wrong[diffs.pair.index] = diffs.marks.wrong
        return wrong


def system_diff_text(found: SystemDiff, *, width: int = 100, fold: bool = True, charset: Charset = "unicode") -> str:
    """The brackets that are wrong in one system or in both, then the three trees; gold brackets that a system lacks are marked."""
    names = found.first.names[1], found.second.names[1]
    lines = [f"{found.first.place}: {found.summary}"]
    for title, brackets in zip((f"{names[0]} alone", f"{names[1]} alone", "both"), found.wrong_brackets, strict=True):
        lines += [f"wrong in {title}:", *(f"  {bracket}" for bracket in brackets)] if brackets else []
    lines += [f"{one.names[1]}: {one.note}" for one in (found.first, found.second) if one.note]
    one, two = found.first.gold_marks, found.second.gold_marks
    gold = {node: mark if mark != "matched" else two.get(node, mark) for node, mark in one.items()}
    pictures: list[tuple[str, Tree, dict[int, str]]] = [("gold", found.first.gold, gold)]
    pictures += [(name, tree, dict(marks)) for each in (found.first, found.second) for name, tree, marks in each.sides[1:]]
    for name, tree, marks in pictures:
        folded = fold_settled(tree, marks) if fold else frozenset[int]()
        lines += ["", name, draw_text(tree, marks, width=width, charset=charset, folded=folded, legend=False)]
    used = {mark for _, _, marks in pictures for mark in marks.values()}
    return "\n".join([*lines, "", legend_text(used, charset=charset)] if used else lines)
