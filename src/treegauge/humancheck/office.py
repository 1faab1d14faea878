"""The state behind the page: the questions, everybody's desk, and the two things that can happen, judging and undoing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treegauge.errors import TreegaugeError, UsageError
from treegauge.humancheck.content import storable
from treegauge.humancheck.desk import AdjudicatorDesk, AnnotatorDesk, Desk
from treegauge.humancheck.ledger import Ledger, decided
from treegauge.humancheck.queue import Check, Question
from treegauge.humancheck.records import LONGEST_NAME, LONGEST_NOTE, VERDICTS, Judgement
from treegauge.humancheck.results import Decision
from treegauge.humancheck.security import Who
from treegauge.humancheck.store import CONFLICT, Store
from treegauge.humancheck.writer import Writer

__all__ = ["Answer", "Office", "Refused", "people_of"]

ADJUDICATOR = Who("adjudicator", "adjudicator")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MOST_SECONDS = 3600.0


class Refused(TreegaugeError):
    """A request that makes no sense here; ``status`` is what HTTP calls it."""

    exit_code = 2

    def __init__(self, message: str, status: int = 400) -> None:
        self.status = status
        super().__init__(message)


class Answer(NamedTuple):
    """What a person sends: the id of this answer, the question's key, the verdict, and what goes with it."""

    id: str
    question: str
    verdict: str
    note: str = ""
    correction: bool = False
    seconds: float | None = None


@dataclass(frozen=True)
class _Heard:
    """What is told to all desks."""

    ledger: Ledger
    desks: dict[Who, Desk]

    def __call__(self, news: list[Judgement]) -> None:
        fresh = [judgement for judgement in news if judgement.id not in self.ledger.by_id]
        self.ledger.add(news)
        if fresh:
            for desk in self.desks.values():
                desk.hear(fresh)


def people_of(annotators: Sequence[str]) -> list[Who]:
    """The annotators and, where there are several, an adjudicator for what they disagree about."""
    names = list(dict.fromkeys(storable(name).strip() for name in annotators))
    if not all(0 < len(name) <= LONGEST_NAME for name in names):
        raise UsageError(f"an annotator's name has between 1 and {LONGEST_NAME} characters")
    if ADJUDICATOR.name in names:
        raise UsageError(
            f"an annotator cannot be called {ADJUDICATOR.name!r}: that is the name of the one who settles disagreements"
        )
    people = [Who("annotator", name) for name in names]
    return [*people, ADJUDICATOR] if len(people) > 1 else people


class Office:
    """A check that is going on."""

    def __init__(self, check: Check, store: Store, people: Sequence[Who], *, blind: bool = False) -> None:
        self.check, self.store, self.people, self.blind = check, store, tuple(people), blind
        self.ledger = Ledger(store.since(0))
        kinds: dict[str, Callable[[str, Check, Ledger], Desk]] = {"annotator": AnnotatorDesk, "adjudicator": AdjudicatorDesk}
        self.desks = {who: kinds[who.role](who.name, check, self.ledger) for who in people}
        self._writer: Writer | None = None

    def open(self) -> None:
        """Begin to take answers, in the running event loop."""
        self._writer = Writer(self.store, self.ledger.last_seq, _Heard(self.ledger, self.desks))

    def close(self) -> None:
        """Store what is under way, and stop."""
        if self._writer is not None:
            self._writer.close()

    @property
    def writer(self) -> Writer:
        assert self._writer is not None, "the office is not open"
        return self._writer

    def question(self, key: str) -> Question:
        """The question of that name."""
        number = self.check.by_key.get(key)
        if number is None:
            raise Refused("There is no such question in this check.", 404)
        return self.check.questions[number]

    async def judge(self, who: Who, answer: Answer) -> Judgement:
        """Store an answer, once, however often it is sent."""
        _check_id(answer.id)
        question = self.question(answer.question)
        if answer.verdict not in VERDICTS[:-1]:
            raise Refused(f"A verdict is one of {', '.join(VERDICTS[:-1])}.")
        if len(answer.note) > LONGEST_NOTE:
            raise Refused(f"A note has at most {LONGEST_NOTE} characters.")
        known = self.ledger.by_id.get(answer.id)
        judgement = Judgement(
            answer.id,
            question.bracket,
            question.kind,
            answer.verdict,
            who.name,
            who.role,
            "\n".join(storable(line) for line in answer.note.strip().splitlines()),
            answer.correction,
            # A repeated answer says what the first one said, though by now the reason was shown.
            blind=known.blind if known else self.is_blind(who, question),
            seconds=None if answer.seconds is None else min(max(answer.seconds, 0.0), _MOST_SECONDS),
        )
        await self._append(judgement, question)
        return judgement

    async def undo(self, who: Who, name: str, undoes: str) -> Judgement:
        """Withdraw a judgement of one's own; gives the withdrawn one."""
        _check_id(name)
        judgement = self.ledger.by_id.get(undoes)
        if judgement is None or (judgement.role, judgement.annotator) != who or judgement.bracket not in self.check.number:
            raise Refused("There is no such judgement of yours to take back.", 404)
        if undoes in self.ledger.withdrawn and name not in self.ledger.by_id:
            return judgement
        question = self.check.questions[self.check.number[judgement.bracket]]
        withdrawal = Judgement(name, judgement.bracket, question.kind, "withdrawn", who.name, who.role, undoes=undoes)
        await self._append(withdrawal, question)
        return judgement

    async def _append(self, judgement: Judgement, question: Question) -> None:
        outcome = await self.writer.append(judgement, question.place.words)
        if outcome == CONFLICT:
            raise Refused("This answer's id belongs to another answer; reload the page.", 409)

    def is_blind(self, who: Who, question: Question) -> bool:
        """Whether somebody is to judge a question without knowing the reason: a blind check, and they did not see it before."""
        return self.blind and who.role == "annotator" and not self.ledger.was_shown(question.bracket, who)

    def decision(self, who: Who) -> Decision:
        """The verdicts that somebody's numbers are made of: their own, or for the adjudicator what holds of all."""
        if who.role == "adjudicator":
            return decided(self.ledger)
        return decided(self.ledger, annotators=(who.name,))


def _check_id(name: str) -> None:
    if not _ID.fullmatch(name):
        raise Refused("An answer needs an id of 8 to 64 letters and digits.")
