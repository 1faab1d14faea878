"""The paper's items: brackets that match, cross or are spurious, and that inherit this from their parents.

TTB and TPB are the numbers of brackets of the treebank and of the parser. A parser bracket is an exact match (EM), a crossing error
(CE) or spurious (SP: neither). PINH are crossing errors whose direct parent crosses too; TINH are reproduced treebank brackets
whose direct parent was reproduced too. Brackets are compared without labels. Brackets with gaps are sets of words: they match if
the sets are equal, and cross if they share words and neither contains the other.

Before counting, the paper removes punctuation and empty, double and one-word brackets; each step can be left out. The first two
steps are settings of the preset, which apply when trees become brackets; the last two are done here. A double bracket has the span
of its parent: the chain becomes one bracket that keeps all its labels.

A person's judgements refer to brackets by the number of the gold sentence (from 0), the span over the words that preprocessing
left, and the label; the label of a collapsed chain is its labels from the top, joined by ``+``. A label of None stands for any
label.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

import numpy as np

from treegauge.alignment.brackets import Brackets, nearest_kept
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import crossing, has_partner, partners
from treegauge.presets import Preset
from treegauge.trees.treebank import Int64, Mask

STEPS = ("punctuation", "empty", "double", "one-word")
"""The preprocessing steps: brackets that are dropped from both trees, in this order."""


@dataclass(frozen=True)
class ProcessedBrackets:
    """The brackets ``before`` and after preprocessing, and for each bracket before it the row that it ``became`` (-1: dropped)."""

    brackets: Brackets
    before: Brackets
    became: Int64

    def labelled(self, labels: Collection[str]) -> Mask:
        """A mask of the brackets with one of the labels in their chain; all brackets if no labels are given."""
        if not labels:
            return np.ones(self.brackets.n_brackets, dtype=np.bool_)
        wanted = np.array([label in labels for label in self.before.labels], dtype=np.bool_)[self.before.label]
        mask = np.zeros(self.brackets.n_brackets, dtype=np.bool_)
        mask[self.became[wanted & (self.became >= 0)]] = True
        return mask

    def chains(self, rows: Collection[int]) -> dict[int, str]:
        """For each row the labels of its chain from the top, joined by ``+``."""
        chosen = set(rows)
        labels: dict[int, list[str]] = {}
        numbers: list[int] = self.before.label.tolist()
        for label, row in zip(numbers, self.became.tolist(), strict=True):
            if row in chosen:
                labels.setdefault(row, []).append(self.before.labels[label])
        return {row: "+".join(chain) for row, chain in labels.items()}


def preset_keeping(preset: Preset, keep: Collection[str]) -> Preset:
    """The preset without the first two preprocessing steps, if they are in ``keep``."""
    if "punctuation" in keep:
        preset = replace(preset, delete_tags=frozenset())
    if "empty" in keep:
        preset = replace(preset, empty_brackets=True)
    return preset


def preprocess(brackets: Brackets, keep: Collection[str] = ()) -> ProcessedBrackets:
    """The brackets that are not empty, double or one-word, except for the kinds in ``keep``."""
    now = brackets
    became: Int64 = np.arange(brackets.n_brackets)
    for step, dropped_by, chain in (("empty", _empty, False), ("double", _double, True), ("one-word", _one_word, False)):
        if step in keep:
            continue
        stays = ~dropped_by(now)
        row = np.append(np.cumsum(stays) - 1, -1)
        goes_to = nearest_kept(now.parent, stays)[:-1] if chain else np.where(stays, np.arange(len(stays)), -1)
        became = np.append(row[goes_to], -1)[became]
        now = now.select(stays)
    return ProcessedBrackets(now, brackets, became)


def _empty(brackets: Brackets) -> Mask:
    return brackets.start >= brackets.end


def _double(brackets: Brackets) -> Mask:
    """A mask of the brackets with the span of their parent, in their own tree."""
    parent = brackets.parent
    if not brackets.n_brackets:
        return np.zeros(0, dtype=np.bool_)
    if brackets.own_width is not None:
        return (brackets.own_width == brackets.own_width[parent]) & (parent >= 0)
    same = (brackets.start == brackets.start[parent]) & (brackets.end == brackets.end[parent])
    if brackets.gap is not None:
        same &= brackets.gap == brackets.gap[parent]
    return same & (parent >= 0)


def _one_word(brackets: Brackets) -> Mask:
    """A mask of the brackets around a single word of the gold tokenisation, or a part of one."""
    words_before = np.append(0, np.cumsum(brackets.counted))
    first = brackets.token_offset[:-1][brackets.sentence]
    words = words_before[first + brackets.end] - words_before[first + brackets.start]
    if brackets.own_width is not None:
        is_edited = (brackets.n_shared < np.diff(brackets.token_offset))[brackets.sentence]
        words = np.where(is_edited, brackets.own_width, words)
    return (words <= 1) & (brackets.start < brackets.end) & (brackets.gap_numbers == 0)


READINGS = ("nontop", "literal", "parse", "both")
"""The readings of *inherited*, for a reproduced bracket.

``literal``: its parent in the treebank was reproduced, as the paper says. ``nontop``: the same, but the bracket around the whole
sentence is not counted as a parent, which gives the numbers of the paper's example. ``parse``: its parent in the *parse* is an
exact match. ``both``: both parents are.
"""


@dataclass(frozen=True)
class Items:
    """The kinds of all brackets: ``partner`` and ``reproduced`` for treebank brackets, the other masks for parser brackets."""

    gold: ProcessedBrackets
    test: ProcessedBrackets
    partner: Int64
    reproduced: Mask
    exact: Mask
    crosses: Mask
    crosses_with_parent: Mask

    @property
    def spurious(self) -> Mask:
        return ~self.exact & ~self.crosses


def find_items(pair: Pair, keep: Collection[str] = ()) -> Items:
    """Classify all brackets of a pair, after the preprocessing steps not in ``keep``."""
    gold, test = preprocess(pair.gold, keep), preprocess(pair.test, keep)
    partner = partners(gold.brackets, test.brackets, None)
    exact, crosses = has_partner(partner, test.brackets), crossing(gold.brackets, test.brackets)
    return Items(gold, test, partner, partner >= 0, exact, crosses, crosses & _of_parent(crosses, test.brackets.parent))


def _of_parent(mask: Mask, parent: Int64) -> Mask:
    """For each bracket, whether it has a parent that is in the mask."""
    return np.append(mask, False)[parent]


def inherits_match(items: Items, reading: str) -> Mask:
    """A mask of the reproduced treebank brackets whose parent was reproduced too, by one of the :data:`READINGS`."""
    gold, test = items.gold.brackets, items.test.brackets
    by_treebank = items.reproduced & _of_parent(items.reproduced, gold.parent)
    if reading == "literal":
        return by_treebank
    if reading == "nontop":
        whole = (gold.start == 0) & (gold.end == gold.n_shared[gold.sentence]) & (gold.gap_numbers == 0)
        return by_treebank & ~_of_parent(whole, gold.parent)
    by_parse = items.reproduced & np.append(_of_parent(items.exact, test.parent), False)[items.partner]
    return by_parse if reading == "parse" else by_treebank & by_parse


def crossing_histogram(crossing_errors: Int64) -> Int64:
    """The number of sentences with 0, 1, 2 ... crossing errors, given the number of each sentence.

    >>> crossing_histogram(np.array([0, 2, 0, 1, 0])).tolist()
    [3, 1, 1]
    """
    return np.bincount(np.asarray(crossing_errors, dtype=np.int64)).astype(np.int64)


class Verdict(Enum):
    """A person's verdict on a bracket.

    *Accepted* means that the bracket is right for the correct interpretation of the sentence, in the parser's style of bracketing,
    even if the treebank's style differs.
    """

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class BracketKey(NamedTuple):
    """The identity of a test bracket; ``blocks`` are the spans of a bracket with gaps."""

    sentence: int
    start: int
    end: int
    label: str | None = None
    blocks: tuple[tuple[int, int], ...] = ()


class BracketToJudge(NamedTuple):
    """A test bracket to be judged, and why: ``CE`` (crossing error), ``SP`` (spurious) or ``EM`` (exact match)."""

    bracket: BracketKey
    kind: str


@dataclass(frozen=True)
class Judgements(Mapping[BracketKey, Verdict]):
    """Verdicts on the brackets of one system; ``otherwise`` is the verdict on crossing and spurious brackets not among them.

    A bracket is looked up with its label first, then with any label. Exact matches without a verdict are accepted, as in the paper.

    >>> judged = Judgements({BracketKey(0, 2, 5): Verdict.ACCEPTED, BracketKey(1, 0, 3, "NP"): Verdict.REJECTED})
    >>> judged.of(0, 2, 5, "PP").value, judged.of(1, 0, 3, "NP").value, judged.of(1, 0, 3, "VP")
    ('accepted', 'rejected', None)
    """

    verdicts: Mapping[BracketKey, Verdict] = field(default_factory=dict[BracketKey, Verdict], repr=False)
    otherwise: Verdict | None = None

    def of(self, sentence: int, start: int, end: int, label: str, blocks: tuple[tuple[int, int], ...] = ()) -> Verdict | None:
        """The verdict on a bracket; None if it was not judged."""
        found = self.verdicts.get(BracketKey(sentence, start, end, label, blocks))
        return found or self.verdicts.get(BracketKey(sentence, start, end, None, blocks))

    def __getitem__(self, key: BracketKey) -> Verdict:
        return self.verdicts[key]

    def __iter__(self) -> Iterator[BracketKey]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def sha256(self) -> str:
        """A hash of all verdicts, whatever their order, for signatures."""
        lines = sorted(
            f"{key.sentence} {key.start} {key.end} {key.label!r} {verdict.value}{f' {key.blocks}' if key.blocks else ''}"
            for key, verdict in self.items()
        )
        lines.append(f"otherwise {self.otherwise.value if self.otherwise else '-'}")
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
