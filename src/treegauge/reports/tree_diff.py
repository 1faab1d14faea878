"""Differences of trees, of one system or two: every bracket marked as matched, missed, spurious, crossing or wrongly labelled.

The names are those of :data:`treegauge.trees.drawing.MARKS`. A gold bracket is *matched*, has the *wrong label* (its span is in the
test tree under another label that matches nothing else) or is *missed*; a test bracket is *matched*, has the *wrong label*, is
*crossing* a gold bracket or is *spurious*. Tags of the same word that differ have the *wrong label*. In a terminal, the trees stand
side by side if they fit, else one below the other.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Literal, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from treegauge import alignment, io
from treegauge.alignment.brackets import Brackets
from treegauge.alignment.notes import Note, notes_with_remarks
from treegauge.alignment.pairing import Pair, over_common_tokens
from treegauge.alignment.words import is_deleted, without_traces
from treegauge.errors import UsageError, check_kind, checked, hinting
from treegauge.io.sources import ReadKeywords, ReadOptions
from treegauge.metrics.matching import crossing, has_partner, partners, partners_by_preset
from treegauge.metrics.parseval import has_right_tag
from treegauge.presets import Preset, load_preset
from treegauge.scoring.inputs import TreebankLike
from treegauge.tables import cut, number_of, terminal_width
from treegauge.trees import Tree
from treegauge.trees.drawing import draw_svg, draw_text, fold_settled, legend_svg, legend_text
from treegauge.trees.drawing.marks import clean, ems
from treegauge.trees.drawing.svg import PictureFrame, Theme
from treegauge.trees.tree import to_flat
from treegauge.trees.treebank import Int64, Treebank

NAMES = ("matched", "missed", "spurious", "crossing", "wrong-label")
"""The marks by their number in :class:`BracketMarks`."""
CODES = "=-+x~"
"""One character per mark, in the same order."""
_MATCHED, _MISSED, _SPURIOUS, _CROSSING, _WRONG_LABEL = range(len(NAMES))


@dataclass(frozen=True)
class BracketMarks:
    """The mark of each gold and each test bracket of a pair, as a number of :data:`NAMES`."""

    pair: Pair
    gold: NDArray[np.int8]
    test: NDArray[np.int8]

    def of_gold(self, row: int) -> dict[int, str]:
        """The marks of the gold tree in a row of the pair, by node in pre-order."""
        return _of_sentence(self.pair.gold, self.gold, row)

    def of_test(self, row: int) -> dict[int, str]:
        """The marks of the test tree in a row of the pair, by node in pre-order."""
        return _of_sentence(self.pair.test, self.test, row)

    @property
    def wrong(self) -> Int64:
        """The number of wrong brackets of each sentence, those missed and those in excess: 0 where the trees are the same."""
        return self.pair.gold.per_sentence(self.gold != _MATCHED) + self.pair.test.per_sentence(self.test != _MATCHED)


def mark_brackets(pair: Pair) -> BracketMarks:
    """The marks of all brackets of a pair.

    >>> from treegauge import alignment
    >>> from treegauge.presets import load_preset
    >>> from treegauge.trees import Treebank
    >>> gold = Treebank.parse("(S (NP (D a) (N b)) (VP (V c) (PP (P d) (N e))))")
    >>> test = Treebank.parse("(S (D a) (X (N b) (V c)) (NP (P d) (N e)))")
    >>> marks = mark_brackets(alignment.pair(gold, test, load_preset("none")))
    >>> marks.of_gold(0), marks.of_test(0)
    ({0: 'matched', 1: 'missed', 4: 'missed', 6: 'wrong-label'}, {0: 'matched', 2: 'crossing', 5: 'wrong-label'})
    """
    partner = partners_by_preset(pair, pair.gold, pair.test)
    is_matched = has_partner(partner, pair.test)
    gold = np.where(partner >= 0, _MATCHED, _MISSED).astype(np.int8)
    test = np.where(is_matched, _MATCHED, np.where(crossing(pair.gold, pair.test), _CROSSING, _SPURIOUS)).astype(np.int8)
    missed, spurious = np.flatnonzero(partner < 0), np.flatnonzero(~is_matched)
    beside = partners(pair.gold.select(partner < 0), pair.test.select(~is_matched), None)
    gold[missed[beside >= 0]] = _WRONG_LABEL
    test[spurious[beside[beside >= 0]]] = _WRONG_LABEL
    return BracketMarks(pair, gold, test)


def _of_sentence(brackets: Brackets, marks: NDArray[np.int8], row: int) -> dict[int, str]:
    rows = slice(brackets.offset[row], brackets.offset[row + 1])
    nodes: list[int] = brackets.node[rows].tolist()
    numbers: list[int] = marks[rows].tolist()
    return {node: NAMES[number] for node, number in zip(nodes, numbers, strict=True)}


@hinting
@dataclass(frozen=True)
class TreeDiff:
    """The gold and test tree of a sentence, with the marks of all counted nodes by their pre-order numbers.

    ``test`` is None if the sentence has no test tree, or one over different words; ``note`` then gives the reason. ``wrong_tags``
    are the gold and the test node over each word whose tags differ, -1 where the word has no tag. A difference prints as text and
    renders in notebooks.
    """

    sentence: int
    place: str
    gold: Tree
    test: Tree | None
    gold_marks: Mapping[int, str] = field(repr=False)
    test_marks: Mapping[int, str] = field(repr=False)
    note: str = ""
    names: tuple[str, str] = ("gold", "test")
    wrong_tags: tuple[tuple[int, int], ...] = ()

    def __repr__(self) -> str:
        return cut(f"<TreeDiff of sentence {self.sentence} ({self.place}): {self.summary}>")

    @property
    def wrong(self) -> int:
        """The number of brackets of both trees that are not matched."""
        return sum(mark != "matched" for marks in (self.gold_marks, self.test_marks) for mark in marks.values())

    @property
    def summary(self) -> str:
        """The numbers of brackets with each mark and of tags that differ, in a line."""
        sides = [_count_marks(self.names[0], self.gold_marks), _count_marks(self.names[1], self.test_marks)]
        tags = f"{number_of(len(self.wrong_tags), 'tag')} differ{'s' * (len(self.wrong_tags) == 1)}" if self.wrong_tags else ""
        return "; ".join(part for part in [*sides, tags, self.note] if part)

    @property
    def sides(self) -> list[tuple[str, Tree, Mapping[int, str]]]:
        """Name, tree and marks, of tags too, of the gold tree and, if there is one, of the test tree."""
        gold, test = ({pair[side]: "wrong-label" for pair in self.wrong_tags if pair[side] >= 0} for side in (0, 1))
        first = (self.names[0], self.gold, {**self.gold_marks, **gold})
        return [first] if self.test is None else [first, (self.names[1], self.test, {**self.test_marks, **test})]

    def __str__(self) -> str:
        return diff_text(self)

    def _repr_html_(self) -> str:
        """The trees one below the other with a legend, for notebooks."""
        content = repr([list(to_flat(tree)) for _, tree, _ in self.sides])
        key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:8]
        parts = [f"<p><b>{escape(self.place)}</b>: {escape(self.summary)}</p>"]
        for number, (name, tree, marks) in enumerate(self.sides):
            picture = draw_svg(
                tree, marks, id_prefix=f"d{key}{number}-", title=name, folded=fold_settled(tree, marks), legend=False
            )
            parts.append(f'<p>{escape(name)}</p><div style="overflow-x:auto">{picture}</div>')
        used = {mark for _, _, marks in self.sides for mark in marks.values()}
        return "".join(parts) + (legend_svg(used) if used else "")


def _count_marks(name: str, marks: Mapping[int, str]) -> str:
    counts = Counter(marks.values())
    return f"{name}: " + ", ".join(f"{count} {mark}" for mark, count in counts.most_common()) if counts else ""


_FAILING = ReadOptions(on_error="parse-fails")
"""By default a test tree that cannot be read counts as a sentence without a parse."""


@checked(ReadOptions)
def diff(
    gold: TreebankLike,
    test: TreebankLike,
    sentence: int | None = None,
    preset: str | Preset = "default",
    *,
    match_words: str = "exact",
    **reading: Unpack[ReadKeywords],
) -> TreeDiff:
    """The difference between gold and test tree of one sentence, counted from 0; only what counts under the preset is marked.

    Without ``sentence`` it is that with the most wrong brackets; :class:`TreeDiffs` has all that differ. ``match_words`` is that
    of :func:`treegauge.score`; options for reading as of :func:`treegauge.read`.

    >>> found = diff("(S (NP (PRP I)) (VP (VBD saw) (NP (NNS stars))))", "(S (NP (PRP I)) (VBD saw) (NP (NNS stars)))")
    >>> found.summary
    'gold: 3 matched, 1 missed; test: 3 matched'
    >>> print(found.gold_marks)
    {0: 'matched', 1: 'matched', 3: 'missed', 5: 'matched'}
    """
    check_kind("sentence", sentence, "int | None")
    diffs = TreeDiffs(gold, test, preset, match_words=match_words, options=replace(_FAILING, **reading))
    return diffs.of([sentence] if sentence is not None else diffs.differing()[:1] or [0])[0]


class TreeDiffs:
    """The comparison of a gold and a test treebank, from which the differences of single sentences are taken.

    >>> diffs = TreeDiffs("(S (A a) (B b)) (S (X (A a)))", "(S (A a) (C b)) (S (A a))")
    >>> [found.summary for found in diffs.of(diffs.differing())]
    ['gold: 1 matched, 1 missed; test: 1 matched', 'gold: 1 matched; test: 1 matched; 1 tag differs']
    """

    def __init__(
        self,
        gold: TreebankLike,
        test: TreebankLike,
        preset: str | Preset = "default",
        *,
        names: tuple[str, str] = ("gold", "test"),
        options: ReadOptions = _FAILING,
        match_words: str = "exact",
    ) -> None:
        self.gold, self.test = io.as_treebank(gold, options.of_gold), io.as_treebank(test, options)
        self.names = names
        self.pair = alignment.pair(self.gold, self.test, load_preset(preset), match_words=match_words)
        self.marks = mark_brackets(self.pair)
        self.tags = _wrong_tags(self.pair, self.gold, self.test, match_words)
        self._unlike = {
            note.sentence: note.what for note in self.pair.alignment.notes if note.kind not in ("characters", "repaired")
        }

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes on sentences whose words differ or that lack a parse, and the remarks on all of them together."""
        return notes_with_remarks(self.pair, self.gold, self.test)

    @property
    def wrong(self) -> Int64:
        """The number of wrong brackets of each gold sentence."""
        wrong = np.zeros(len(self.gold), np.int64)
        wrong[self.pair.index] = self.marks.wrong
        return wrong

    def differing(self) -> list[int]:
        """The sentences whose trees differ, in a bracket or a tag that counts: those with the most wrong brackets first."""
        wrong = self.wrong
        return sorted({*np.flatnonzero(wrong).tolist(), *self.tags}, key=lambda number: (-int(wrong[number]), number))

    def of(self, sentences: Sequence[int]) -> list[TreeDiff]:
        """The differences of the given sentences, counted from 0."""
        if absent := [sentence for sentence in sentences if not 0 <= sentence < len(self.gold)]:
            raise UsageError(f"there is no sentence {absent[0]}, counted from 0: the treebank has {len(self.gold)}")
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: int) -> TreeDiff:
        tree, partner = self.gold[sentence], int(self.pair.alignment.test[sentence])
        found = np.flatnonzero(self.pair.index == sentence)
        row = int(found[0]) if len(found) else -1
        note = self._unlike.get(sentence, "" if row >= 0 else "the preset leaves this sentence out")
        parsed = None if partner < 0 or sentence in self._unlike else self.test[partner]
        marks = [side(row) if row >= 0 else dict[int, str]() for side in (self.marks.of_gold, self.marks.of_test)]
        place, tags = self.gold.place(sentence), tuple(self.tags.get(sentence, ()))
        return TreeDiff(sentence, place, tree, parsed, marks[0], marks[1], note, self.names, tags)


def _wrong_tags(pair: Pair, gold: Treebank, test: Treebank, match_words: str) -> dict[int, list[tuple[int, int]]]:
    """The gold and the test node over each word that counts and whose tags differ, by sentence; -1 where a word has no tag."""
    gold, test = without_traces(gold, pair.preset), without_traces(test, pair.preset)
    common = over_common_tokens(gold, test, pair.alignment, match_words)
    keep = np.flatnonzero(~is_deleted(common.gold, pair.preset))
    sentence = np.searchsorted(common.gold.token_offset, keep, side="right") - 1
    in_pair = np.isin(sentence, pair.index)
    keep, sentence = keep[in_pair], sentence[in_pair]
    wrong = ~has_right_tag(pair) & pair.gold.counted & ((pair.gold.tag >= 0) | (pair.test.tag >= 0))
    if common.tags_comparable is not None:
        wrong &= common.tags_comparable[keep]
    tokens = keep[wrong]
    gold_node, test_node = (np.where(side.tag[tokens] >= 0, side.above[tokens], -1) for side in (common.gold, common.test))
    found: dict[int, list[tuple[int, int]]] = {}
    for number, *nodes in zip(sentence[wrong].tolist(), gold_node.tolist(), test_node.tolist(), strict=True):
        found.setdefault(number, []).append((nodes[0], nodes[1]))
    return found


_BETWEEN = 4
Charset = Literal["unicode", "ascii"]


def diff_text(diff: TreeDiff, *, width: int = 100, fold: bool = True, charset: Charset = "unicode") -> str:
    """Both trees with their marks as text, at most ``width`` columns wide where possible.

    >>> from treegauge.reports.tree_diff import diff as difference
    >>> print(diff_text(difference("(S (NP (N a)) (VP (V b) (NP (N c))))", "(S (NP (N a)) (V b) (NP (N c)))"), fold=False))
    <string>:1: gold: 3 matched, 1 missed; test: 3 matched
    <BLANKLINE>
    gold             test
        S ✓               S ✓
      ┌──┴──┐          ┌───┼────┐
    NP ✓  VP ∅       NP ✓  │  NP ✓
      │   ┌─┴──┐       │   │    │
      │   │  NP ✓      N   V    N
      │   │    │       a   b    c
      N   V    N
      a   b    c
    <BLANKLINE>
    ✓ matched   ∅ missed
    """
    pictures = [_lines(name, tree, marks, width, fold, charset) for name, tree, marks in diff.sides]
    lines = [f"{diff.place}: {diff.summary}", ""]
    widths = [max(map(terminal_width, picture)) for picture in pictures]
    if len(pictures) == 2 and sum(widths) + _BETWEEN <= width:
        lines += _beside(pictures[0], pictures[1], widths[0] + _BETWEEN)
    else:
        lines += [line for picture in pictures for line in [*picture, ""]][:-1]
    used = {mark for _, _, marks in diff.sides for mark in marks.values()}
    if used:
        lines += ["", legend_text(used, charset=charset)]
    return "\n".join(lines)


def _lines(name: str, tree: Tree, marks: Mapping[int, str], width: int, fold: bool, charset: Charset) -> list[str]:
    folded = fold_settled(tree, marks) if fold else frozenset[int]()
    return [name, *draw_text(tree, marks, width=width, charset=charset, folded=folded, legend=False).split("\n")]


def _beside(left: list[str], right: list[str], at: int) -> list[str]:
    """The lines of two pictures side by side; the second begins at column ``at``."""
    height = max(len(left), len(right))
    rows = zip(left + [""] * (height - len(left)), right + [""] * (height - len(right)), strict=True)
    return [(a + " " * (at - terminal_width(a)) + b).rstrip() for a, b in rows]


class MarkedBracket(NamedTuple):
    """A wrong bracket, or a wrong tag: its mark, its label and its words, with ``…`` for each gap."""

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
    """The wrong brackets and tags of the gold tree, then those of the test tree."""
    found: list[MarkedBracket] = []
    for _, tree, marks in diff.sides:
        words = tree.words
        for number, (node, blocks) in enumerate(tree.nodes_with_blocks()):
            if marks.get(number, "matched") != "matched":
                text = " … ".join(" ".join(words[start:end]) for start, end in blocks)
                found.append(MarkedBracket("wrong-tag" if node.is_preterminal else marks[number], node.label, text))
    return found


class SystemDiffs:
    """Two systems' differences from one treebank, sentence by sentence."""

    def __init__(self, first: TreeDiffs, second: TreeDiffs) -> None:
        self.first, self.second = first, second

    def differing(self) -> list[int]:
        """The sentences, counted from 0, in which the two systems do not get the same brackets and tags wrong.

        Those in which their numbers of wrong brackets differ most come first.
        """
        gap = np.abs(self.first.wrong - self.second.wrong)
        candidates = sorted({*self.first.differing(), *self.second.differing()}, key=lambda number: (-int(gap[number]), number))
        return [number for number, found in zip(candidates, self.of(candidates), strict=True) if any(found.wrong_brackets[:2])]

    def of(self, sentences: Sequence[int]) -> list[SystemDiff]:
        """The differences of the given sentences, counted from 0."""
        return list(map(SystemDiff, self.first.of(sentences), self.second.of(sentences)))

    def summary(self, differing: Sequence[int]) -> str:
        """The number of sentences in which the systems differ, and in how many of these each is better."""
        one, two = self.first.wrong, self.second.wrong
        names = self.first.names[1], self.second.names[1]
        better = sum(one[number] < two[number] for number in differing), sum(two[number] < one[number] for number in differing)
        said = f"{names[0]} and {names[1]} differ in {len(differing):,} of {number_of(len(self.first.gold), 'sentence')}"
        return f"{said}: {names[0]} has fewer wrong brackets in {better[0]:,}, {names[1]} in {better[1]:,}"


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
        lines += ["", *_lines(name, tree, marks, width, fold, charset)]
    used = {mark for _, _, marks in pictures for mark in marks.values()}
    return "\n".join([*lines, "", legend_text(used, charset=charset)] if used else lines)


_FONT, _SVG_MARGIN, _SVG_LINE = 14, 12, 24
_SIZE = re.compile(r'<svg xmlns="http://www.w3.org/2000/svg"([^>]*) width="(\d+)" height="(\d+)"')
_LONGEST_HEADING = 160


class _Stack:
    """Headings and pictures one below the other, as one picture."""

    def __init__(self) -> None:
        self.elements: list[str] = []
        self.right, self.bottom = 0, _SVG_MARGIN

    def write(self, text: str, *, bold: bool = True) -> None:
        """Add a line of text."""
        line = clean(text, _LONGEST_HEADING)
        weight = ' font-weight="600"' if bold else ' fill-opacity=".75"'
        place = f'x="{_SVG_MARGIN}" y="{self.bottom + _FONT}"'
        self.elements.append(f'<text {place} text-anchor="start"{weight}>{escape(line)}</text>')
        self.right = max(self.right, _SVG_MARGIN + ems(line) * _FONT * 108 // 10_000)
        self.bottom += _SVG_LINE

    def put(self, picture: str) -> None:
        """Add a picture at its own size."""
        found = _SIZE.match(picture)
        assert found is not None, "a picture begins with its size"
        inside = f'<svg x="{_SVG_MARGIN}" y="{self.bottom}"' + picture[len('<svg xmlns="http://www.w3.org/2000/svg"') :]
        self.elements.append(inside.rstrip("\n"))
        self.right, self.bottom = max(self.right, _SVG_MARGIN + int(found[2])), self.bottom + int(found[3])

    def svg(self, title: str, theme: Theme) -> str:
        """The whole picture."""
        frame = PictureFrame(clean(title, 400), theme=theme, font=_FONT)
        return frame.around(self.elements, self.right + _SVG_MARGIN, self.bottom + _SVG_MARGIN)


def diff_svg(diffs: Sequence[TreeDiff], *, fold: bool = True, theme: Theme = "auto") -> str:
    """The differences as one SVG picture, one below the other; ``fold`` folds subtrees in which everything matched.

    >>> from treegauge.reports.tree_diff import diff
    >>> picture = diff_svg([diff("(S (NP (N a)) (V b))", "(S (N a) (V b))")])
    >>> picture.count("<svg"), "1 missed" in picture
    (4, True)
    """
    stack = _Stack()
    for number, diff in enumerate(diffs):
        stack.write(f"{diff.place}: {diff.summary}")
        for side, (name, tree, marks) in enumerate(diff.sides):
            stack.write(clean(name, 60), bold=False)
            folded = fold_settled(tree, marks) if fold else frozenset[int]()
            prefix = f"s{number}t{side}-"
            stack.put(draw_svg(tree, marks, id_prefix=prefix, title=name, folded=folded, legend=False, stylesheet=False))
        stack.bottom += _SVG_MARGIN
    used = {mark for diff in diffs for _, _, marks in diff.sides for mark in marks.values()}
    if used:
        stack.put(legend_svg(used, width=max(stack.right, 400), stylesheet=False))
    return stack.svg("; ".join(f"{diff.place}: {diff.summary}" for diff in diffs[:3]) or "No difference", theme)


def trees_svg(trees: Sequence[tuple[str, Tree]], *, theme: Theme = "auto") -> str:
    """Trees as one SVG picture, one below the other, each under its heading; a single tree has none.

    >>> tree = Tree.parse("(S (NP (N a)) (V b))")
    >>> [trees_svg([("first", tree), ("second", tree)][:size]).count("<svg") for size in (1, 2)]
    [1, 3]
    """
    if len(trees) == 1:
        return draw_svg(trees[0][1], theme=theme)
    stack = _Stack()
    for number, (heading, tree) in enumerate(trees):
        stack.bottom += _SVG_MARGIN if number else 0
        stack.write(heading)
        stack.put(draw_svg(tree, id_prefix=f"t{number}-", stylesheet=False))
    return stack.svg(f"{number_of(len(trees), 'tree')}: {trees[0][0]} ...", theme)


def diff_picture(diffs: Sequence[TreeDiff], form: str, *, fold: bool = True) -> bytes:
    """The picture of :func:`diff_svg` as a file: SVG or, with the extra ``[plot]``, PNG or PDF on white."""
    from treegauge.reports.plots import draw_svg_as

    return draw_svg_as(diff_svg(diffs, fold=fold, theme="auto" if form == "svg" else "light"), form)
