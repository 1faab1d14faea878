"""TreeDiff: a gold tree and a test tree with every bracket marked, as a value that draws itself."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from treegauge import io
from treegauge.errors import UsageError
from treegauge.io.options import ReadOptions
from treegauge.metrics.preparation import prepare
from treegauge.metrics.sides import TreebankLike
from treegauge.normalise.preset import Preset, load_preset
from treegauge.reports.tree_marks import mark_brackets
from treegauge.trees import Tree
from treegauge.trees.drawing import draw_svg, fold_settled, legend_svg
from treegauge.trees.tree import to_flat

__all__ = ["TreeDiff", "diff", "diffs", "worst_diffs"]


@dataclass(frozen=True)
class TreeDiff:
    """Two trees of a sentence; ``gold_marks`` and ``test_marks`` say what each node that counts is, by its place in pre-order.

    ``test`` is None where the sentence has no test tree, or one over other words (``note`` says so). It prints as text
    (:mod:`treegauge.reports.diff_text`) and shows itself in a notebook.
    """

    sentence: int
    place: str
    gold: Tree
    test: Tree | None
    gold_marks: Mapping[int, str] = field(repr=False)
    test_marks: Mapping[int, str] = field(repr=False)
    note: str = ""
    names: tuple[str, str] = ("gold", "test")

    @property
    def wrong(self) -> int:
        """The number of brackets that are not matched, on both sides."""
        return sum(mark != "matched" for marks in (self.gold_marks, self.test_marks) for mark in marks.values())

    @property
    def summary(self) -> str:
        """How many brackets of each side are what, in a line."""
        sides = [_counted(self.names[0], self.gold_marks), _counted(self.names[1], self.test_marks)]
        return "; ".join(side for side in sides if side) + (f"; {self.note}" if self.note else "")

    @property
    def sides(self) -> list[tuple[str, Tree, Mapping[int, str]]]:
        """Name, tree and marks of the trees there are, gold first."""
        gold = (self.names[0], self.gold, self.gold_marks)
        return [gold] if self.test is None else [gold, (self.names[1], self.test, self.test_marks)]

    def folded(self, tree: Tree, marks: Mapping[int, str]) -> frozenset[int]:
        """The subtrees in which everything matched."""
        return fold_settled(tree, marks)

    def __str__(self) -> str:
        from treegauge.reports.diff_text import diff_text

        return diff_text(self)

    def _repr_html_(self) -> str:
        """For notebooks: the trees one below the other, each as wide as it is, and what the marks mean."""
        content = repr([list(to_flat(tree)) for _, tree, _ in self.sides])
        key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:8]
        parts = [f"<p><b>{escape(self.place)}</b>: {escape(self.summary)}</p>"]
        for number, (name, tree, marks) in enumerate(self.sides):
            picture = draw_svg(tree, marks, id_prefix=f"d{key}{number}-", title=name, folded=self.folded(tree, marks), legend=False)
            parts.append(f'<p>{escape(name)}</p><div style="overflow-x:auto">{picture}</div>')
        used = {mark for _, _, marks in self.sides for mark in marks.values()}
        return "".join(parts) + (legend_svg(used) if used else "")


def _counted(name: str, marks: Mapping[int, str]) -> str:
    counts = Counter(marks.values())
    return f"{name}: " + ", ".join(f"{count} {mark}" for mark, count in counts.most_common()) if counts else ""


def diff(gold: TreebankLike, test: TreebankLike, sentence: int = 0, preset: str | Preset = "default") -> TreeDiff:
    """The difference of one sentence, counted from 0, as a preset sees it.

    >>> found = diff("(S (NP (PRP I)) (VP (VBD saw) (NP (NNS stars))))", "(S (NP (PRP I)) (VBD saw) (NP (NNS stars)))")
    >>> found.summary
    'gold: 3 matched, 1 missed; test: 3 matched'
    >>> print(found.gold_marks)
    {0: 'matched', 1: 'matched', 3: 'missed', 5: 'matched'}
    """
    return diffs(gold, test, [sentence], preset)[0]


def diffs(
    gold: TreebankLike,
    test: TreebankLike,
    sentences: Sequence[int] | None = None,
    preset: str | Preset = "default",
    *,
    names: tuple[str, str] = ("gold", "test"),
    options: ReadOptions = ReadOptions(),
) -> list[TreeDiff]:
    """The differences of some sentences, counted from 0; without a choice, of all that differ."""
    return _Diffs(gold, test, preset, names, options).of(sentences)


def worst_diffs(
    gold: TreebankLike,
    test: TreebankLike,
    most: int,
    preset: str | Preset = "default",
    *,
    names: tuple[str, str] = ("gold", "test"),
    options: ReadOptions = ReadOptions(),
) -> list[TreeDiff]:
    """The differences of the sentences with the most wrong brackets, at most so many, the worst first."""
    found = _Diffs(gold, test, preset, names, options)
    return found.of(found.worst(most))


class _Diffs:
    """Two treebanks compared, from which single differences are taken."""

    def __init__(
        self, gold: TreebankLike, test: TreebankLike, preset: str | Preset, names: tuple[str, str], options: ReadOptions
    ) -> None:
        self.gold, self.test = io.as_treebank(gold, options), io.as_treebank(test, options)
        self.names = names
        self.pair = prepare(self.gold, self.test, load_preset(preset))
        self.marks = mark_brackets(self.pair)
        self.notes = {note.sentence: note.what for note in self.pair.alignment.notes if note.kind != "characters"}

    def worst(self, most: int) -> list[int]:
        wrong = self.marks.wrong
        order = np.argsort(-wrong, kind="stable")[:most]
        return self.pair.index[order[wrong[order] > 0]].tolist()

    def of(self, sentences: Sequence[int] | None) -> list[TreeDiff]:
        differing: list[int] = self.pair.index[self.marks.wrong > 0].tolist()
        chosen = differing if sentences is None else sentences
        for sentence in chosen:
            if not 0 <= sentence < len(self.gold):
                raise UsageError(f"there is no sentence {sentence + 1}: the treebank has {len(self.gold)}")
        return [self._one(sentence) for sentence in chosen]

    def _one(self, sentence: int) -> TreeDiff:
        tree, partner = self.gold[sentence], int(self.pair.alignment.test[sentence])
        found = np.flatnonzero(self.pair.index == sentence)
        row = int(found[0]) if len(found) else -1
        note = self.notes.get(sentence, "" if row >= 0 else "the preset leaves this sentence out")
        parsed = None if partner < 0 or sentence in self.notes else self.test[partner]
        return TreeDiff(
            sentence,
            self.gold.place(sentence),
            tree,
            parsed,
            self.marks.of_gold(row) if row >= 0 else {},
            self.marks.of_test(row) if row >= 0 else {},
            note,
            self.names,
        )
