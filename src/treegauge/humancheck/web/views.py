"""Views of questions: everything the page shows about a bracket, such as its sentence, the reason for asking, and two trees."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from treegauge.humancheck.questions import Check, Occurrence, Question, System
from treegauge.humancheck.web.pictures import (
    Picture,
    anonymise,
    crossed_brackets,
    draw_all,
    enclosing_bracket,
    gold_label,
    gold_marks,
    is_right_to_left,
    parse_marks,
)
from treegauge.trees.tree import Tree

_MOST_WORDS = 12


class Segment(NamedTuple):
    """Some words of the sentence, the bracket signs before and after them, and whether they are inside the brackets.

    ``[`` and ``]`` enclose the bracket in question, ``⟨`` and ``⟩`` the treebank bracket that it crosses.
    """

    before: str
    text: str
    after: str
    in_bracket: bool
    in_gold: bool


class GoldBracket(NamedTuple):
    """A treebank bracket: its label and its words ``start:end``; if it has gaps, ``blocks`` are its parts."""

    label: str
    words: str
    start: int
    end: int
    blocks: tuple[tuple[int, int], ...] = ()


class Reason(NamedTuple):
    """The reason for a question: the bracket's kind, the treebank brackets it crosses (smallest first), and the one around it."""

    kind: str
    crosses: tuple[GoldBracket, ...]
    around: GoldBracket | None


@dataclass(frozen=True)
class View:
    """Everything that is shown about a question."""

    question: Question
    systems: tuple[str, ...]
    system: str
    segments: tuple[Segment, ...]
    reason: Reason
    pictures: tuple[Picture, ...]
    right_to_left: bool
    place: str
    context: tuple[str, str]
    gold_first: bool
    is_folded: bool


Toggled = tuple[frozenset[int], ...]
"""The nodes of each tree that the reader folded or unfolded."""
NO_NODES: Toggled = (frozenset(), frozenset())


def question_view(
    check: Check,
    question: Question,
    reader: str,
    *,
    blind: bool,
    whole: bool = False,
    system: str = "",
    toggled: Toggled = NO_NODES,
) -> View:
    """The view of a question; ``system`` chooses whose tree to show if several made the bracket.

    ``whole`` shows whole trees, ``toggled`` are the nodes of each tree that the reader folded or unfolded. If ``blind``, the order
    of the two trees is random for each reader and question, and no bracket is marked in them.
    """
    occurrence = _choose_occurrence(check, question, system)
    shown_system = check.systems[occurrence.system]
    preset = check.plan.metric.preset_for(check.plan.preset)
    traces = preset.traces & {*check.gold.labels, *shown_system.bank.labels}
    gold_tree, test_tree = check.gold[occurrence.sentence], _test_tree(shown_system, occurrence)
    beside = _rows_beside(check, question, occurrence) if check.plan.by_sentence else []
    gold = gold_marks(shown_system, gold_tree, occurrence, traces, beside)
    test = parse_marks(shown_system, test_tree, occurrence, traces, beside)
    if blind:
        gold, test = anonymise(gold, preset), anonymise(test, preset)
    right_to_left = is_right_to_left(question.span.words)
    gold_first = not blind or gold_is_first(question, reader)
    names = ("Tree 1", "Tree 2") if blind else ("Treebank", f"Parser {shown_system.name}")
    trees = (gold, test) if gold_first else (test, gold)
    pictures = draw_all(trees, names, whole=whole, right_to_left=right_to_left, toggled=toggled)
    reason = reason_of(check, question, occurrence)
    return View(
        question,
        tuple(check.systems_with(question)),
        shown_system.name,
        _segments(question, None if blind or not reason.crosses else reason.crosses[0]),
        reason,
        tuple(pictures),
        right_to_left,
        os.path.basename(check.gold.place(occurrence.sentence)),
        (_sentence(shown_system, occurrence.sentence - 1), _sentence(shown_system, occurrence.sentence + 1)),
        gold_first,
        not whole and not all(picture.is_whole for picture in pictures),
    )


def _choose_occurrence(check: Check, question: Question, system: str) -> Occurrence:
    """The occurrence to show: the wanted system's, or else one chosen by the bracket's key, so that no system is favoured."""
    wanted = [found for found in question.occurrences if check.systems[found.system].name == system]
    if wanted:
        return wanted[0]
    first = {found.system: found for found in reversed(question.occurrences)}
    systems = sorted(first)
    return first[systems[int(question.key, 16) % len(systems)]]


def _rows_beside(check: Check, question: Question, occurrence: Occurrence) -> list[int]:
    """The rows of the brackets of the same system that are asked about in the same sentence."""
    unit = check.units[check.unit_of[check.number[question.bracket]]] if check.number[question.bracket] in check.unit_of else ()
    return [
        found.row
        for number in unit
        for found in check.questions[number].occurrences
        if (found.system, found.sentence) == (occurrence.system, occurrence.sentence)
    ]


def _test_tree(system: System, occurrence: Occurrence) -> Tree:
    return system.bank[int(system.pair.alignment.test[occurrence.sentence])]


def gold_is_first(question: Question, reader: str) -> bool:
    """Whether a blind reader sees the treebank's tree as Tree 1: random, but always the same for a question and a reader."""
    return hashlib.sha256((question.key + reader).encode("utf-8", "replace")).digest()[0] % 2 == 0


def reason_of(check: Check, question: Question, occurrence: Occurrence | None = None) -> Reason:
    """The reason for a question."""
    occurrence = occurrence or question.occurrences[0]
    system = check.systems[occurrence.system]
    found = [_gold_bracket(system, occurrence.sentence, row) for row in crossed_brackets(system, occurrence.row).tolist()]
    found.sort(key=lambda gold: gold.end - gold.start)
    outer = enclosing_bracket(system, occurrence.row)
    return Reason(question.kind, tuple(found), _gold_bracket(system, occurrence.sentence, outer) if outer >= 0 else None)


def _gold_bracket(system: System, sentence: int, row: int) -> GoldBracket:
    brackets = system.items.gold.brackets
    blocks = brackets.blocks_by_row().get(row, ())
    span = system.spans.of(sentence, int(brackets.start[row]), int(brackets.end[row]), blocks)
    return GoldBracket(gold_label(system, row), excerpt(span.inside), span.start, span.end, span.blocks)


def excerpt(words: tuple[str, ...], most: int = _MOST_WORDS) -> str:
    """Some words, or their beginning and end.

    >>> excerpt(("a", "b", "c", "d", "e", "f"), 4)
    'a b … e f'
    """
    if len(words) <= most:
        return " ".join(words)
    return " ".join([*words[: most // 2], "…", *words[-(most // 2) :]])


def _segments(question: Question, gold: GoldBracket | None) -> tuple[Segment, ...]:
    """The sentence, cut where the bracket in question and the treebank bracket that it crosses begin and end."""
    words = question.span.words
    asked = question.span.blocks or ((question.span.start, question.span.end),)
    crossed = () if gold is None or not question.span.by_gold else gold.blocks or ((gold.start, gold.end),)
    (begins, ends), (gold_begins, gold_ends) = ([{edge[side] for edge in spans} for side in (0, 1)] for spans in (asked, crossed))
    edges = sorted({0, len(words)} | begins | ends | gold_begins | gold_ends)
    return tuple(
        Segment(
            ("⟨" if first in gold_begins else "") + ("[" if first in begins else ""),
            " ".join(words[first:last]),
            ("]" if last in ends else "") + ("⟩" if last in gold_ends else ""),
            any(start <= first < end for start, end in asked),
            any(start <= first < end for start, end in crossed),
        )
        for first, last in pairwise(edges)
    )


def _sentence(system: System, index: int) -> str:
    gold = system.spans.gold
    return excerpt(tuple(gold.words(index)), 60) if 0 <= index < len(gold) else ""
