"""What the page shows of a question: the sentence with its bracket, the reason, the two trees."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from treegauge.humancheck.pictures import (
    Picture,
    anonymous,
    around,
    crossed,
    draw,
    gold_label,
    gold_side,
    is_right_to_left,
    parse_side,
)
from treegauge.humancheck.queue import Check, Occurrence, Question, System
from treegauge.trees.tree import Tree

__all__ = ["Reason", "Segment", "View", "excerpt", "gold_stands_first", "question_view", "reason_of"]

_MOST_WORDS = 12


class Segment(NamedTuple):
    """Some words of the sentence; which bracket they are in, and which bracket signs stand before and after them.

    In the sentence ``[`` and ``]`` enclose the bracket in question, ``⟨`` and ``⟩`` the treebank bracket that it crosses.
    """

    before: str
    text: str
    after: str
    in_bracket: bool
    in_gold: bool


class Gold(NamedTuple):
    """A treebank bracket: its label, and its words ``start:end``."""

    label: str
    words: str
    start: int
    end: int


class Reason(NamedTuple):
    """Why a bracket is asked about: its kind, the treebank brackets that it crosses, smallest first, and the one around it."""

    kind: str
    crosses: tuple[Gold, ...]
    around: Gold | None


@dataclass(frozen=True)
class View:
    """Everything about a question that is shown."""

    question: Question
    systems: tuple[str, ...]
    shown_system: str
    segments: tuple[Segment, ...]
    reason: Reason
    pictures: tuple[Picture, ...]
    right_to_left: bool
    place: str
    context: tuple[str, str]
    gold_first: bool
    is_folded: bool


def question_view(check: Check, question: Question, reader: str, *, blind: bool, whole: bool = False, system: str = "") -> View:
    """The view of a question; ``system`` says whose tree to show where several made the bracket.

    Blind, the trees stand in an order that is random for each reader and question, and only the bracket in question is marked.
    """
    occurrence = _chosen(check, question, system)
    made_by = check.systems[occurrence.system]
    preset = check.plan.metric.adapted(check.plan.preset)
    traces = preset.delete_tags & preset.delete_tags_for_length & {*check.gold.labels, *made_by.bank.labels}
    gold_tree, test_tree = check.gold[occurrence.sentence], _test_tree(made_by, occurrence)
    gold = gold_side(made_by, gold_tree, occurrence, traces)
    test = parse_side(made_by, test_tree, occurrence, traces)
    if blind:
        gold, test = anonymous(gold, preset), anonymous(test, preset)
    turned = is_right_to_left(question.place.words)
    gold_first = not blind or gold_stands_first(question, reader)
    names = ("Tree 1", "Tree 2") if blind else ("Treebank", f"Parser {made_by.name}")
    sides = (gold, test) if gold_first else (test, gold)
    pictures = [
        draw(side, name, prefix, whole=whole, right_to_left=turned)
        for side, name, prefix in zip(sides, names, ("one-", "two-"), strict=True)
    ]
    reason = reason_of(check, question, occurrence)
    return View(
        question,
        tuple(check.name_of(question)),
        made_by.name,
        _segments(question, None if blind or not reason.crosses else reason.crosses[0]),
        reason,
        tuple(pictures),
        turned,
        os.path.basename(check.gold.place(occurrence.sentence)),
        (_sentence(made_by, occurrence.sentence - 1), _sentence(made_by, occurrence.sentence + 1)),
        gold_first,
        not whole and not all(picture.is_whole for picture in pictures),
    )


def _chosen(check: Check, question: Question, system: str) -> Occurrence:
    """The occurrence to show: of the wanted system, else of one that depends on the bracket, so that none is favoured."""
    wanted = [found for found in question.occurrences if check.systems[found.system].name == system]
    if wanted:
        return wanted[0]
    first = {found.system: found for found in reversed(question.occurrences)}
    systems = sorted(first)
    return first[systems[int(question.key, 16) % len(systems)]]


def _test_tree(system: System, occurrence: Occurrence) -> Tree:
    return system.bank[int(system.pair.alignment.test[occurrence.sentence])]


def gold_stands_first(question: Question, reader: str) -> bool:
    """Whether a blind reader sees the treebank's tree as Tree 1: random, but always the same for a question and a reader."""
    return hashlib.sha256((question.key + reader).encode("utf-8", "replace")).digest()[0] % 2 == 0


def reason_of(check: Check, question: Question, occurrence: Occurrence | None = None) -> Reason:
    """Why a bracket is asked about."""
    occurrence = occurrence or question.occurrences[0]
    system = check.systems[occurrence.system]
    found = [_gold(system, occurrence.sentence, row) for row in crossed(system, occurrence.row).tolist()]
    found.sort(key=lambda gold: gold.end - gold.start)
    outer = around(system, occurrence.row)
    return Reason(question.kind, tuple(found), _gold(system, occurrence.sentence, outer) if outer >= 0 else None)


def _gold(system: System, sentence: int, row: int) -> Gold:
    brackets = system.items.gold.brackets
    place = system.places.of(sentence, int(brackets.start[row]), int(brackets.end[row]))
    return Gold(gold_label(system, row), excerpt(place.words[place.start : place.end]), place.start, place.end)


def excerpt(words: tuple[str, ...], most: int = _MOST_WORDS) -> str:
    """Some words, or their beginning and end.

    >>> excerpt(("a", "b", "c", "d", "e", "f"), 4)
    'a b … e f'
    """
    if len(words) <= most:
        return " ".join(words)
    return " ".join([*words[: most // 2], "…", *words[-(most // 2) :]])


def _segments(question: Question, gold: Gold | None) -> tuple[Segment, ...]:
    """The sentence, cut where the bracket, and the treebank bracket that it crosses, begin and end."""
    words, start, end = question.place[:3]
    if gold is None or not question.place.by_gold:
        gold = Gold("", "", -1, -1)
    edges = sorted({0, start, end, len(words)} | ({gold.start, gold.end} - {-1}))
    return tuple(
        Segment(
            ("⟨" if first == gold.start else "") + ("[" if first == start else ""),
            " ".join(words[first:last]),
            ("]" if last == end else "") + ("⟩" if last == gold.end else ""),
            start <= first < end,
            gold.start <= first < gold.end,
        )
        for first, last in pairwise(edges)
    )


def _sentence(system: System, index: int) -> str:
    gold = system.places.gold
    return excerpt(tuple(gold.words(index)), 60) if 0 <= index < len(gold) else ""
