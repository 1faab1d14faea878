"""The pages of the check: templates filled with questions, judgements, results and guidelines."""

from __future__ import annotations

import re
import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from treegauge.humancheck.judgements import LONGEST_LABEL, LONGEST_NOTE, TAGS, Judgement, Person
from treegauge.humancheck.questions import Question
from treegauge.humancheck.results import (
    STATES,
    States,
    SystemMeasures,
    estimate,
    find_agreement,
    find_results,
    sample_notes,
    states_of,
    tags_table,
)
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.views import excerpt, gold_is_first, question_view, reason_of
from treegauge.metrics.hogenhout import MEASURES
from treegauge.tables import cell_text
from treegauge.trees.treebank import Treebank

KINDS_IN_WORDS = {"CE": "crossing error", "SP": "spurious bracket", "EM": "exact match"}
_MOST_LISTED = 5000
_MOST_LABELS = 60
_MOST_EXAMPLES = 4
_AROUND = 8
# Control characters and halves of surrogate pairs, which no page may contain, and characters that change the direction of text.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Pages:
    """The pages of a session, made from templates; ``base`` is the sub-path behind a proxy."""

    def __init__(self, session: Session, base: str = "") -> None:
        self.session, self.base = session, base
        loader = FileSystemLoader(Path(__file__).parent / "templates")
        self._templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, auto_reload=False
        )

    def render(self, template: str, **values: Any) -> str:
        """A template filled with values."""
        return _UNSHOWABLE.sub("\ufffd", self._templates.get_template(template).render(values, percent=_percent, base=self.base))

    def page(self, person: Person, key: str = "", **view: Any) -> str:
        """The whole page with a question: the one with the given key, or else the next one."""
        worklist = self.session.worklists[person]
        number = self.session.check.by_key.get(key, None) if key else worklist.next()
        question = None if number is None else self.session.check.questions[number]
        return self.render(
            "page.html",
            person=person,
            question=None if question is None else Markup(self.question(person, question, **view)),
            key="" if question is None else question.key,
            draft=None if question is None else self._draft(person, question),
            last=Markup(self.last(person)),
            progress=worklist.progress(),
            fresh_id=secrets.token_hex(16),
            longest_note=LONGEST_NOTE,
            longest_label=LONGEST_LABEL,
            tags=TAGS,
            # Labels that only the treebank uses would reveal which tree is whose.
            labels=[] if self.session.blind else self._labels,
            blind=self.session.blind,
            by_sentence=self.session.check.plan.by_sentence,
        )

    @cached_property
    def _labels(self) -> list[str]:
        """The labels of the treebank, for corrections: the most frequent ones first."""
        gold = self.session.check.gold
        numbers, counts = np.unique(gold.label, return_counts=True)
        words = set(np.unique(gold.label[_preterminals(gold)]).tolist())
        ranking: list[tuple[int, int]] = sorted(zip(counts.tolist(), numbers.tolist(), strict=True), reverse=True)
        return [gold.labels[number] for _, number in ranking if number not in words and gold.labels[number]][:_MOST_LABELS]

    def _draft(self, person: Person, question: Question) -> Judgement | None:
        """The person's latest judgement of a bracket, withdrawn or not, with which a new answer begins."""
        history = self.session.log.history(question.bracket, person)
        return history[-1] if history else None

    def question(self, person: Person, question: Question, *, whole: bool = False, **view: Any) -> str:
        """The part of the page for one question; the options are those of :func:`question_view`."""
        session = self.session
        worklist = session.worklists[person]
        number = session.check.number[question.bracket]
        upcoming = worklist.next(besides=number)
        blind = session.is_blind(person, question)
        own = session.log.current(question.bracket, person)
        return self.render(
            "question.html",
            view=question_view(session.check, question, person.name, blind=blind, whole=whole, **view),
            svg=Markup,
            blind=blind,
            whole=whole,
            kind=KINDS_IN_WORDS[question.kind],
            after="" if upcoming is None else session.check.questions[upcoming].key,
            own=own if own is not None and own.verdict != "skipped" else None,
            earlier=[one for one in session.log.history(question.bracket, person) if one is not own and one.verdict != "skipped"],
            draft=self._draft(person, question),
            beside=self._beside(person, number),
            opinions=list(session.log.opinions(question.bracket).values()) if person.role == "adjudicator" else [],
            elsewhere=session.log.under_other_gold(question.bracket),
        )

    def _beside(self, person: Person, number: int) -> list[dict[str, Any]]:
        """The brackets that are asked about in the same sentence; none unless whole sentences are judged."""
        check, states = self.session.check, self.session.worklists[person].states
        if not check.plan.by_sentence or number not in check.unit_of:
            return []
        wanted = set(self.session.worklists[person].questions().tolist()) | {number}
        names = dict(enumerate(("open", *STATES)))
        return [
            {"question": one, "words": excerpt(one.words, 4), "state": names[states[other]], "is_current": other == number}
            for other in check.units[check.unit_of[number]]
            if other in wanted
            for one in (check.questions[other],)
        ]

    def guidelines(self, person: Person) -> str:
        """The guidelines: the criterion, examples of this check, and the project's own text."""
        examples = {verdict: self._examples(verdict) for verdict in ("accepted", "rejected")}
        own = Markup(render_markdown(self.session.guidelines)) if self.session.guidelines else ""
        return self.render("guidelines.html", person=person, examples=examples, own=own, tags=TAGS)

    def _examples(self, verdict: str) -> list[dict[str, Any]]:
        """Some brackets on which all annotators who judged them agree, those with a note first."""
        log, check = self.session.log, self.session.check
        found: list[Judgement] = []
        for bracket in log.brackets:
            opinions = list(log.opinions(bracket).values())
            if bracket in check.number and opinions and all(one.verdict == verdict for one in opinions):
                found.append(max(opinions, key=lambda one: (bool(one.note), one.seq)))
        found.sort(key=lambda one: (not one.note, -one.seq))
        return [self._describe(judgement) | self._surroundings(judgement) for judgement in found[:_MOST_EXAMPLES]]

    def _surroundings(self, judgement: Judgement) -> dict[str, str]:
        """Some words before and after a bracket, to understand an example."""
        span = self.session.check.questions[self.session.check.number[judgement.bracket]].span
        before, after = span.words[max(span.start - _AROUND, 0) : span.start], span.words[span.end : span.end + _AROUND]
        return {
            "before": " ".join((["…"] if span.start > _AROUND else []) + list(before)),
            "after": " ".join(list(after) + (["…"] if span.end + _AROUND < len(span.words) else [])),
        }

    def agreement(self, person: Person) -> str:
        """The agreement of the annotators, and every bracket that one accepts and another rejects."""
        session = self.session
        disputes: list[dict[str, Any]] = []
        numbers: list[int] = session.check.ranking.tolist()
        for number in numbers:
            question = session.check.questions[number]
            if session.log.is_disputed(question.bracket):
                ruling = session.log.ruling(question.bracket)
                opinions = session.log.opinions(question.bracket)
                disputes.append({"question": question, "words": excerpt(question.words), "opinions": opinions, "ruling": ruling})
        table = find_agreement(session.check, session.log)
        return self.render("agreement.html", person=person, table=table, disputes=disputes)

    def last(self, person: Person) -> str:
        """The person's last answer, with the button that undoes it."""
        judgement = self.session.worklists[person].last_judgement()
        if judgement is None:
            return ""
        return self.render("last.html", fresh_id=secrets.token_hex(16), **self._describe(judgement))

    def _describe(self, judgement: Judgement) -> dict[str, Any]:
        question = self.session.check.questions[self.session.check.number[judgement.bracket]]
        return {
            "judgement": judgement,
            "question": question,
            "words": excerpt(question.words),
            "kind": KINDS_IN_WORDS[question.kind],
            "revealed": self.session.blind and judgement.verdict != "skipped",
            "reason": reason_of(self.session.check, question),
            "gold_first": gold_is_first(question, judgement.annotator),
        }

    def estimates(self, person: Person) -> list[SystemMeasures]:
        """The measures of each system by a person's verdicts or, for the adjudicator, by everybody's."""
        check = self.session.check
        states = self.states(person)
        return [estimate(check, system, states) for system in range(len(check.systems))]

    def states(self, person: Person) -> States:
        """The state of each question by a person's verdicts or, for the adjudicator, by everybody's."""
        if person.role == "annotator":
            return self.session.worklists[person].states
        return states_of(self.session.check, self.session.verdicts_for(person))

    def measures(self, person: Person) -> str:
        """The twelve measures so far."""
        systems = self.estimates(person)
        return self.render(
            "measures.html", systems=systems, titles=MEASURES, notes=sample_notes(self.session.check, self.states(person))
        )

    def judgement_list(self, person: Person) -> str:
        """The list of a person's own judgements."""
        worklist = self.session.worklists[person]
        found = [self._describe(judgement) for judgement, _ in zip(worklist.own_judgements(), range(_MOST_LISTED), strict=False)]
        return self.render(
            "judged.html",
            person=person,
            judgements=found,
            progress=worklist.progress(),
            most=_MOST_LISTED,
            with_treebank=person.role == "adjudicator" or not self.session.blind,
            has_gaps=self.session.check.has_gaps,
        )

    def results(self, person: Person) -> str:
        """The paper's tables and, for the adjudicator, everybody's progress and the annotators' agreement."""
        session = self.session
        tables = find_results(session.check, session.verdicts_for(person)).tables()
        tags = tags_table(session.check, session.log, () if person.role == "adjudicator" else (person.name,))
        if tags.rows:
            tables.append(tags)
        if person.role == "adjudicator":
            tables.append(find_agreement(session.check, session.log))
        people = [
            (one.name, *(getattr(session.worklists[one].progress(), column) for column in _PROGRESS_COLUMNS[1:]))
            for one in session.people
            if person.role == "adjudicator"
        ]
        return self.render("results.html", person=person, tables=tables, people=people, people_columns=_PROGRESS_COLUMNS)

    def message(self, title: str, text: str) -> str:
        """A page with nothing but a message."""
        return self.render("message.html", title=title, text=text)


_PROGRESS_COLUMNS = ("annotator", "judged", "left", "accepted", "rejected", "unsure", "skipped")


def _preterminals(bank: Treebank) -> NDArray[np.int64]:
    """The numbers of all nodes directly above a word."""
    offsets = np.repeat(bank.node_offset[:-1], np.diff(bank.token_offset))
    return np.unique(offsets + bank.above)


def _percent(value: float) -> str:
    return cell_text(value, percent=True, digits=1)


def render_markdown(text: str) -> str:
    """Markdown (CommonMark) as HTML, with headings below those of the page; HTML tags, links and images are shown as text.

    >>> print(render_markdown("# Rules\\n\\nAccept *all*:\\n\\n- `NP`\\n- <b>"), end="")
    <h3>Rules</h3>
    <p>Accept <em>all</em>:</p>
    <ul>
    <li><code>NP</code></li>
    <li>&lt;b&gt;</li>
    </ul>
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).disable(["link", "image", "autolink", "reference"])
    tokens = reader.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    return str(reader.renderer.render(tokens, reader.options, {}))
