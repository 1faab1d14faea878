"""What the templates of the page are filled with.

What the page shows of a question: the sentence with its bracket, the reason, the two trees.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from treegauge.humancheck.agreement import find_agreement
from treegauge.humancheck.judgements import LONGEST_NOTE, Judgement
from treegauge.humancheck.questions import Check, Occurrence, Question, System
from treegauge.humancheck.results import Standing, States, cautions, estimate, find_results, states_of
from treegauge.humancheck.session import Office, Progress
from treegauge.humancheck.web.pictures import (
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
from treegauge.humancheck.web.security import Who
from treegauge.metrics.hogenhout import MEASURES
from treegauge.tables import cell_text
from treegauge.trees.tree import Tree

__all__ = ["KINDS_IN_WORDS", "Pages", "Reason", "Segment", "View", "excerpt", "gold_stands_first", "question_view", "reason_of"]

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


KINDS_IN_WORDS = {"CE": "crossing error", "SP": "spurious bracket", "EM": "exact match"}
_MOST_LISTED = 500
# Control characters and halves of surrogate pairs, which no page may hold, and characters that turn the text after them round.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Pages:
    """The templates, and what they show."""

    def __init__(self, office: Office) -> None:
        self.office = office
        loader = FileSystemLoader(Path(__file__).parent / "templates")
        self._templates = Environment(
            loader=loader,
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )

    def render(self, template: str, **values: Any) -> str:
        """A template, filled."""
        return _UNSHOWABLE.sub("\ufffd", self._templates.get_template(template).render(values, percent=_percent))

    def page(self, who: Who, key: str = "", *, whole: bool = False, system: str = "") -> str:
        """The whole page with a question: the one asked for, or the next."""
        desk = self.office.desks[who]
        number = self.office.check.by_key.get(key, None) if key else desk.next()
        question = None if number is None else self.office.check.questions[number]
        return self.render(
            "page.html",
            who=who,
            desk=desk,
            question=None if question is None else Markup(self.question(who, question, whole=whole, system=system)),
            key="" if question is None else question.key,
            last=Markup(self.last(who)),
            measures=Markup(self.measures(who)),
            progress=desk.progress(),
            fresh_id=secrets.token_hex(16),
            longest_note=LONGEST_NOTE,
            blind=self.office.blind,
            several=len(self.office.people) > 1,
        )

    def question(self, who: Who, question: Question, *, whole: bool = False, system: str = "") -> str:
        """The part of the page that belongs to a question."""
        office = self.office
        desk = office.desks[who]
        number = office.check.number[question.bracket]
        upcoming = desk.next(besides=number)
        blind = office.is_blind(who, question)
        own = office.ledger.standing(question.bracket, who)
        return self.render(
            "question.html",
            view=question_view(office.check, question, who.name, blind=blind, whole=whole, system=system),
            svg=Markup,
            blind=blind,
            whole=whole,
            kind=KINDS_IN_WORDS[question.kind],
            after="" if upcoming is None else office.check.questions[upcoming].key,
            own=own if own is not None and own.verdict != "skipped" else None,
            opinions=list(office.ledger.opinions(question.bracket).values()) if who.role == "adjudicator" else [],
            elsewhere=office.ledger.elsewhere(question.bracket),
        )

    def last(self, who: Who) -> str:
        """What one said last, and a way to take it back."""
        judgement = self.office.desks[who].last()
        if judgement is None:
            return ""
        return self.render("last.html", fresh_id=secrets.token_hex(16), **self._said(judgement))

    def _said(self, judgement: Judgement) -> dict[str, Any]:
        question = self.office.check.questions[self.office.check.number[judgement.bracket]]
        return {
            "said": judgement,
            "question": question,
            "words": excerpt(question.words),
            "kind": KINDS_IN_WORDS[question.kind],
            "revealed": self.office.blind and judgement.verdict != "skipped",
            "reason": reason_of(self.office.check, question),
            "gold_first": gold_stands_first(question, judgement.annotator),
        }

    def standings(self, who: Who) -> list[Standing]:
        """Where each system stands by somebody's verdicts; for the adjudicator, by all."""
        check = self.office.check
        states = self.states(who)
        return [estimate(check, system, states) for system in range(len(check.systems))]

    def states(self, who: Who) -> States:
        """The state of each question by somebody's verdicts."""
        if who.role == "annotator":
            return self.office.desks[who].states
        return states_of(self.office.check, self.office.decision(who))

    def measures(self, who: Who) -> str:
        """The twelve measures as they stand."""
        standings = self.standings(who)
        return self.render(
            "measures.html",
            standings=standings,
            titles=MEASURES,
            notes=cautions(self.office.check, self.states(who)),
        )

    def judged(self, who: Who) -> str:
        """The list of one's own judgements."""
        desk = self.office.desks[who]
        found = [self._said(judgement) for judgement, _ in zip(desk.own(), range(_MOST_LISTED), strict=False)]
        return self.render("judged.html", who=who, judgements=found, progress=desk.progress(), most=_MOST_LISTED)

    def results(self, who: Who) -> str:
        """The paper's tables; for the adjudicator also how well annotators agree."""
        office = self.office
        tables = find_results(office.check, office.decision(who)).tables()
        if who.role == "adjudicator":
            tables.append(find_agreement(office.check, office.ledger))
        people = [_how_far(person, office.desks[person].progress()) for person in office.people if who.role == "adjudicator"]
        return self.render("results.html", who=who, tables=tables, people=people, people_columns=_HOW_FAR)

    def message(self, title: str, text: str) -> str:
        """A page that only says something."""
        return self.render("message.html", title=title, text=text)


_HOW_FAR = ("Who", "judged", "left", "accepted", "rejected", "unsure", "put off")


def _how_far(who: Who, progress: Progress) -> tuple[str | int, ...]:
    return (who.name, progress.answered, progress.left, progress.accepted, progress.rejected, progress.unsure, progress.skipped)


def _percent(value: float) -> str:
    return cell_text(value, percent=True, digits=1)
