"""What the templates of the page are filled with."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from treegauge.humancheck.agreement import find_agreement
from treegauge.humancheck.desk import Progress
from treegauge.humancheck.estimation import Standing, States, estimate
from treegauge.humancheck.office import Office
from treegauge.humancheck.queue import Question
from treegauge.humancheck.records import LONGEST_NOTE, Judgement
from treegauge.humancheck.results import cautions, find_results, states_of
from treegauge.humancheck.security import Who
from treegauge.humancheck.view import excerpt, gold_stands_first, question_view, reason_of
from treegauge.metrics.hogenhout import MEASURES
from treegauge.metrics.tables import cell_text

__all__ = ["KINDS_IN_WORDS", "Pages"]

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
