"""Views of questions: everything the page shows about a bracket, such as its sentence, the reason for asking, and pictures of the
two trees; and the editor of a tree.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from treegauge.errors import RequestError, WriteError
from treegauge.humancheck.corrections import last_edited_tree, proposed_tree
from treegauge.humancheck.editing import Bracket, brackets_of, changed_brackets, edit_tree, edited_tree
from treegauge.humancheck.judgements import Person
from treegauge.humancheck.questions import Check, Occurrence, Question, System
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.pictures import (
    Picture,
    Toggled,
    anonymise,
    crossed_brackets,
    draw_all,
    enclosing_bracket,
    gold_marks,
    nodes_of,
    parse_marks,
)
from treegauge.trees.drawing import draw_svg
from treegauge.trees.tree import Tree

_MOST_NODES = 1500


def is_right_to_left(words: Collection[str]) -> bool:
    """Whether most letters of a sentence are written from right to left.

    >>> is_right_to_left(["שלום", "עולם", "OK"]), is_right_to_left(["hello"])
    (True, False)
    """
    kinds = [unicodedata.bidirectional(character) for word in words for character in word if character.isalpha()]
    return 2 * sum(kind in ("R", "AL") for kind in kinds) > len(kinds)


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
    is_folded: bool


def question_view(
    check: Check,
    question: Question,
    reader: str,
    *,
    blind: bool,
    whole: bool = False,
    system: str = "",
    toggled: Sequence[Toggled] = (Toggled(), Toggled()),
) -> View:
    """The view of a question; ``system`` chooses whose tree to show if several made the bracket.

    ``whole`` shows whole trees, ``toggled`` has the reader's changes to each picture. If ``blind``, the order
    of the two trees is random for each reader and question, and no bracket is marked in them.
    """
    occurrence = _choose_occurrence(check, question, system)
    shown_system = check.systems[occurrence.system]
    preset = check.plan.metric.preset_for(check.plan.preset)
    traces = preset.traces & {*check.gold.labels, *shown_system.bank.labels}
    gold_tree = check.gold[occurrence.sentence]
    test_tree = shown_system.bank[int(shown_system.pair.alignment.test[occurrence.sentence])]
    gold = gold_marks(shown_system, gold_tree, occurrence, traces)
    test = parse_marks(shown_system, test_tree, occurrence, traces)
    if blind:
        gold, test = anonymise(gold, preset), anonymise(test, preset)
    right_to_left = is_right_to_left(question.span.words)
    gold_first = not blind or gold_is_first(question, reader)
    names = ("Tree 1", "Tree 2") if blind else ("Treebank", f"Parser {shown_system.name}")
    trees = (gold, test) if gold_first else (test, gold)
    pictures = draw_all(trees, names, toggled, whole=whole, right_to_left=right_to_left)
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


def gold_label(system: System, row: int) -> str:
    """The label of a treebank bracket or, for a chain, its labels from the top, joined by ``+``."""
    gold = system.items.gold
    sentence = int(gold.brackets.sentence[row])
    return "+".join(gold.before.labels[label] for label, became, _ in nodes_of(gold, sentence) if became == row)


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


def _in_words(bracket: Bracket, words: tuple[str, ...]) -> dict[str, str]:
    """A bracket that was removed or is new."""
    return {"label": bracket.label, "words": " … ".join(" ".join(words[start:end]) for start, end in bracket.blocks)}


class TreeEditor:
    """The part of the page in which a tree is edited; ``render`` fills a template."""

    def __init__(self, session: Session, render: Callable[..., str]) -> None:
        self.session, self._render = session, render

    def start(self, person: Person, question: Question, label: str, verdict: str, begin: str) -> str:
        """The tree to begin with: the person's own so far or, as ``begin`` tells, the treebank's or that of a named annotator."""
        session = self.session
        gold = self._gold(question)
        problem = ""
        if begin == "treebank":
            tree = gold
        elif begin:
            text = self._trees_of_others(person, question).get(begin, "")
            tree = edited_tree(gold, text) if text else gold
        else:
            tree, problem = proposed_tree(session.check, session.log, person, question, verdict, label)
        return self._show(person, question, tree, self._first_node(question, tree), problem)

    def edit(self, person: Person, question: Question, text: str, name: str, label: str, node: int, last: int) -> str:
        """The tree after the edit ``name``; ``show`` changes nothing."""
        tree = edited_tree(self._gold(question), text)
        if name == "show":
            return self._show(person, question, tree, self._first_node(question, tree), "")
        found = edit_tree(tree, name, node, last, label, has_gaps=self.session.check.has_gaps)
        return self._show(person, question, found.tree, found.node, "")

    def _gold(self, question: Question) -> Tree:
        gold = self.session.check.gold[question.occurrences[0].sentence]
        if gold.size > _MOST_NODES:
            raise RequestError(f"A tree of more than {_MOST_NODES} nodes cannot be edited here.")
        return gold

    def _trees_of_others(self, person: Person, question: Question) -> dict[str, str]:
        """The trees that annotators made of the sentence, for the adjudicator."""
        if person.role != "adjudicator":
            return {}
        check, log = self.session.check, self.session.log
        found = {name: last_edited_tree(check, log, Person("annotator", name), question) for name in log.names()}
        return {name: text for name, text in found.items() if text}

    def _first_node(self, question: Question, tree: Tree) -> int:
        """The lowest node over the bracket in question, where editing begins."""
        words = [index for index, tag in enumerate(tree.tags) if tag not in self._traces()]
        span = question.span
        if not span.by_gold or span.end > len(words) or span.start == span.end:
            return 0
        asked = {words[at] for first, last in span.blocks or ((span.start, span.end),) for at in range(first, last)}
        nodes = (blocks for _, blocks in tree.nodes_with_blocks())
        holding = [number for number, blocks in enumerate(nodes) if asked <= {at for block in blocks for at in range(*block)}]
        return max(holding, default=0)

    def _traces(self) -> frozenset[str]:
        preset = self.session.check.plan.metric.preset_for(self.session.check.plan.preset)
        return preset.delete_tags & preset.delete_tags_for_length

    def _show(self, person: Person, question: Question, tree: Tree, node: int, problem: str) -> str:
        gold = self._gold(question)
        removed, new = changed_brackets(gold, tree)
        direction: Literal["ltr", "rtl"] = "rtl" if is_right_to_left(gold.words) else "ltr"
        nodes = zip(tree.nodes(), brackets_of(tree), strict=True)
        marks = {number: "spurious" for number, (one, bracket) in enumerate(nodes) if bracket in new and not one.is_preterminal}
        options: dict[str, Any] = {"id_prefix": "new-", "title": "Corrected tree", "legend": False, "stylesheet": False}
        try:
            text = str(tree)
        except WriteError as error:
            raise RequestError(str(error).splitlines()[0]) from None
        return self._render(
            "edited.html",
            text=text,
            node=node,
            is_gold=tree == gold,
            picture=Markup(draw_svg(tree, marks, direction=direction, **options)),
            problem=problem,
            removed=[_in_words(bracket, gold.words) for bracket in removed],
            new=[_in_words(bracket, gold.words) for bracket in new],
            others=list(self._trees_of_others(person, question)),
            has_gaps=self.session.check.has_gaps,
        )
