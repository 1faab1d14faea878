"""The pages of the check: templates filled with questions, judgements, results and guidelines."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from treegauge.humancheck.judgements import LONGEST_LABEL, LONGEST_NOTE, TAGS, Judgement, Person
from treegauge.humancheck.questions import Question
from treegauge.humancheck.results import STATES, agreement_by_label, confusion_tables, find_agreement, find_results, tags_table
from treegauge.humancheck.session import Session
from treegauge.humancheck.web.views import excerpt, gold_is_first, question_view, reason_of
from treegauge.tables import Table, cell_text

KINDS_IN_WORDS = {"CE": "crossing error", "SP": "spurious bracket", "EM": "exact match"}
_MOST_LISTED = 5000
_MOST_LABELS = 60
_MOST_EXAMPLES = 4
_MOST_UPCOMING, _MOST_PINNED, _MOST_SENTENCES = 20, 10, 100
_AROUND = 8
# Control characters and halves of surrogate pairs, which no page may contain, and characters that change the direction of text.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


SHOWS = ("all", "open", "with my answers", "disagreed")
_STATE_NAMES = ("open", *STATES)


class _BracketState(NamedTuple):
    """A bracket in the list of sentences: the key of its question, its label, a person's answer, and whether people disagree."""

    key: str
    label: str
    state: str
    is_disputed: bool


class _Sentence(NamedTuple):
    """A sentence in the list: its number in the treebank, its words (all, and some), and its brackets."""

    number: int
    text: str
    words: str
    brackets: list[_BracketState]

    @property
    def answered(self) -> int:
        return sum(bracket.state not in ("open", "skipped") for bracket in self.brackets)

    @property
    def key(self) -> str:
        """The first open question, or else the first."""
        return next((one.key for one in self.brackets if one.state in ("open", "skipped")), self.brackets[0].key)

    def fits(self, show: str, label: str, search: str) -> bool:
        """Whether some bracket is to be shown, with the label if one is wanted, and the words or the number are as searched for."""
        brackets = [bracket for bracket in self.brackets if not label or bracket.label == label]
        if show == "disagreed":
            brackets = [bracket for bracket in brackets if bracket.is_disputed]
        elif show in SHOWS[1:]:
            brackets = [one for one in brackets if (one.state in ("open", "skipped")) == (show == "open")]
        text = search.strip().lower()
        return bool(brackets) and (text.lstrip("#") == str(self.number) or text in self.text.lower())


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
        words = set(np.unique(gold.label[gold.is_preterminal]).tolist())
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
        upcoming = islice((other for other in worklist.upcoming() if other != number), _MOST_UPCOMING)
        blind = session.is_blind(person, question)
        own = session.log.current(question.bracket, person)
        return self.render(
            "question.html",
            view=question_view(session.check, question, person.name, blind=blind, whole=whole, **view),
            svg=Markup,
            blind=blind,
            whole=whole,
            kind=KINDS_IN_WORDS[question.kind],
            upcoming=[session.check.questions[other].key for other in upcoming],
            words=excerpt(question.words, _MOST_PINNED),
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
        return [
            {"question": one, "words": excerpt(one.words, 4), "state": _STATE_NAMES[states[other]], "is_current": other == number}
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

    def sentences(self, person: Person, show: str, label: str, search: str, page: int) -> str:
        """A list of all sentences of a person's worklist (the adjudicator: of the check): those that fit, some at a time."""
        found = [one for one in self._sentences(person) if one.fits(show, label, search)]
        first = min(max(page - 1, 0), max(len(found) - 1, 0) // _MOST_SENTENCES) * _MOST_SENTENCES
        labels = sorted({bracket.label for one in self._sentences(person) for bracket in one.brackets})
        return self.render(
            "sentences.html",
            person=person,
            sentences=found[first : first + _MOST_SENTENCES],
            n_found=len(found),
            first=first,
            page=first // _MOST_SENTENCES + 1,
            pages=-(-len(found) // _MOST_SENTENCES),
            labels=labels,
            chosen={"show": show, "label": label, "search": search},
            shows=SHOWS if person.role == "adjudicator" else SHOWS[:3],
        )

    def _sentences(self, person: Person) -> Iterator[_Sentence]:
        """The sentences of a person's worklist, in the order of the treebank."""
        check, log, states = self.session.check, self.session.log, self.session.worklists[person].states
        own = person.role == "annotator"
        wanted = set(self.session.worklists[person].questions().tolist() if own else check.order)
        units = [[number for number in unit if number in wanted] for unit in check.units]
        for unit in sorted(filter(None, units), key=lambda unit: check.questions[unit[0]].occurrences[0].sentence):
            questions = [check.questions[number] for number in unit]
            brackets = [
                _BracketState(one.key, one.bracket.label, _STATE_NAMES[states[number]], not own and log.is_disputed(one.bracket))
                for number, one in zip(unit, questions, strict=True)
            ]
            words = questions[0].span.words
            yield _Sentence(questions[0].occurrences[0].sentence + 1, " ".join(words), excerpt(words, 40), brackets)

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
        check, log = session.check, session.log
        return self.render(
            "agreement.html",
            person=person,
            table=find_agreement(check, log),
            by_label=agreement_by_label(check, log),
            confusions=confusion_tables(check, log),
            disputes=disputes,
            labels=sorted({one["question"].bracket.label for one in disputes}),
        )

    def last(self, person: Person) -> str:
        """The person's last answer, with the button that undoes it."""
        judgement = self.session.worklists[person].last_judgement()
        if judgement is None:
            return ""
        together = len(self.session.given_together(judgement))
        return self.render("last.html", fresh_id=secrets.token_hex(16), together=together, **self._describe(judgement))

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

    def measures(self, person: Person) -> str:
        """The twelve measures so far, by a person's verdicts or, for the adjudicator, by everybody's."""
        found = find_results(self.session.check, self.session.verdicts_for(person))
        return self.render("measures.html", systems=found.systems, titles=found.titles, notes=found.notes)

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
        tags = tags_table(session.check, session.log, session.whose(person))
        if tags.rows:
            tables.append(tags)
        if person.role == "adjudicator":
            tables.append(find_agreement(session.check, session.log))
        people = [
            (one.name, *(getattr(session.worklists[one].progress(), column) for column in _PROGRESS_COLUMNS[1:]))
            for one in session.people
            if person.role == "adjudicator"
        ]
        progress = Table("Annotators", _PROGRESS_COLUMNS, tuple(people))
        return self.render("results.html", person=person, tables=tables, people=progress)

    def message(self, title: str, text: str, script: str = "") -> str:
        """A page with nothing but a message and, if named, a script that may lead on."""
        return self.render("message.html", title=title, text=text, script=script)


_PROGRESS_COLUMNS = ("annotator", "judged", "left", "accepted", "rejected", "unsure", "skipped")


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
