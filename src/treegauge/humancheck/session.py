"""The state behind the page: the questions, everybody's desk, and the two things that can happen, judging and undoing.

A person's place at the check: what they have answered, what comes next, what can be taken back.

Judgements on their way to the store: whatever waits is stored in one transaction.

A commit costs a sync of the disk, some milliseconds, however much is in it; so ten annotators who answer at once wait for one
sync, not for ten. Nobody is told that a judgement is stored before it is.
"""

from __future__ import annotations

import asyncio
import queue
import re
import threading
from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from treegauge.errors import Refused, TreegaugeError, UsageError, WriteError
from treegauge.humancheck.judgements import LONGEST_NAME, LONGEST_NOTE, VERDICTS, Judgement, Ledger, Speaker, decided
from treegauge.humancheck.questions import Check, Question, storable
from treegauge.humancheck.results import ACCEPTED, OPEN, REJECTED, SKIPPED, STATES, UNSURE, Decision, States
from treegauge.humancheck.store import CONFLICT, Store
from treegauge.humancheck.web.security import Who
from treegauge.trees.treebank import Int64

__all__ = ["AdjudicatorDesk", "AnnotatorDesk", "Answer", "Desk", "Office", "Progress", "Writer", "people_of"]


class Progress(NamedTuple):
    """How far one is: questions answered, of them accepted, rejected and unsure; put off; in all; seconds spent."""

    answered: int
    accepted: int
    rejected: int
    unsure: int
    skipped: int
    total: int
    seconds: float

    @property
    def left(self) -> int:
        return self.total - self.answered


class Desk(ABC):
    """What somebody says of each question, kept up to date as the log grows."""

    role = "annotator"

    def __init__(self, name: str, check: Check, ledger: Ledger) -> None:
        self.name, self.check, self.ledger = name, check, ledger
        self.states: States = np.zeros(len(check.questions), dtype=np.int8)
        self._own: list[tuple[str, int, str]] = []
        self._seconds = 0.0
        for bracket in ledger.brackets:
            if bracket in check.number:
                self.refresh(check.number[bracket])
        for judgement in ledger.by_id.values():
            self._take(judgement)

    @property
    def speaker(self) -> Speaker:
        return self.role, self.name

    def hear(self, judgements: Iterable[Judgement]) -> None:
        """Take up new entries, which the ledger has already."""
        for judgement in judgements:
            number = self.check.number.get(judgement.bracket)
            if number is not None and self.minds(judgement):
                self.refresh(number)
                self._take(judgement)

    def minds(self, judgement: Judgement) -> bool:
        """Whether an entry can change anything here."""
        return (judgement.role, judgement.annotator) == self.speaker

    def _take(self, judgement: Judgement) -> None:
        if (judgement.role, judgement.annotator) == self.speaker and judgement.bracket in self.check.number:
            self._seconds += judgement.seconds or 0.0
            if judgement.verdict != "withdrawn":
                insort(self._own, (judgement.at, judgement.seq, judgement.id))

    def refresh(self, number: int) -> None:
        """Look again at what holds of a question."""
        said = self.ledger.standing(self.check.questions[number].bracket, self.speaker)
        self.states[number] = OPEN if said is None else STATES[said.verdict]

    def last(self) -> Judgement | None:
        """The latest judgement of this person on this check that was not withdrawn."""
        while self._own and self._own[-1][2] in self.ledger.withdrawn:
            self._own.pop()
        return self.ledger.by_id[self._own[-1][2]] if self._own else None

    def own(self) -> Iterator[Judgement]:
        """All judgements of this person that hold, the latest first."""
        for _, _, name in reversed(self._own):
            judgement = self.ledger.by_id[name]
            if self.ledger.standing(judgement.bracket, self.speaker) is judgement:
                yield judgement

    def asked(self) -> Int64:
        """The questions for this person, in order."""
        return self.check.asked

    @abstractmethod
    def upcoming(self) -> Iterator[int]:
        """What is still to answer: first what was never shown, then what was put off, longest ago first."""

    def next(self, besides: int | None = None) -> int | None:
        """The next question, other than one."""
        return next((number for number in self.upcoming() if number != besides), None)

    def progress(self) -> Progress:
        asked = self.asked()
        counts: list[int] = np.bincount(self.states[asked], minlength=len(STATES) + 1).tolist()
        answered = counts[ACCEPTED] + counts[REJECTED] + counts[UNSURE]
        return Progress(answered, counts[ACCEPTED], counts[REJECTED], counts[UNSURE], counts[SKIPPED], len(asked), self._seconds)

    def _put_off(self) -> list[int]:
        """The questions that were put off, longest ago first."""
        numbers = (self.check.number[judgement.bracket] for judgement in self.own() if judgement.verdict == "skipped")
        return list(numbers)[::-1]


class AnnotatorDesk(Desk):
    """Somebody who judges all questions."""

    def __init__(self, name: str, check: Check, ledger: Ledger) -> None:
        self._cursor = 0
        super().__init__(name, check, ledger)

    def refresh(self, number: int) -> None:
        super().refresh(number)
        if self.states[number] == OPEN:
            self._cursor = min(self._cursor, self.check.position.get(number, self._cursor))

    def upcoming(self) -> Iterator[int]:
        order = self.check.order
        while self._cursor < len(order) and self.states[order[self._cursor]] != OPEN:
            self._cursor += 1
        yield from (number for number in order[self._cursor :] if self.states[number] == OPEN)
        yield from (number for number in self._put_off() if number in self.check.position)


class AdjudicatorDesk(Desk):
    """Somebody who settles what annotators disagree about."""

    role = "adjudicator"

    def __init__(self, name: str, check: Check, ledger: Ledger) -> None:
        self._disputed: set[int] = set()
        super().__init__(name, check, ledger)

    def refresh(self, number: int) -> None:
        super().refresh(number)
        if self.ledger.is_disputed(self.check.questions[number].bracket):
            self._disputed.add(number)
        else:
            self._disputed.discard(number)

    def minds(self, judgement: Judgement) -> bool:
        return True

    def asked(self) -> Int64:
        ranked = self.check.ranked
        return ranked[np.isin(ranked, list(self._disputed))]

    def upcoming(self) -> Iterator[int]:
        numbers: list[int] = self.asked().tolist()
        yield from (number for number in numbers if self.states[number] == OPEN)
        yield from (number for number in self._put_off() if number in self._disputed)


_MOST_TOGETHER = 200


class _Job(NamedTuple):
    """A judgement and the words of its sentence, or None to read only; and whom to tell."""

    judgement: Judgement | None
    words: Sequence[str]
    told: asyncio.Future[str]


class Writer:
    """A thread that stores judgements; ``hear`` is called in the event loop with every new entry of the log, others' included."""

    def __init__(self, store: Store, seen: int, hear: Callable[[list[Judgement]], None]) -> None:
        self._store, self._seen, self._hear = store, seen, hear
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="judgements", daemon=True)
        self._thread.start()

    async def append(self, judgement: Judgement, words: Sequence[str]) -> str:
        """Store a judgement; gives what became of it when it is safe on the disk."""
        return await self._put(judgement, words)

    async def refresh(self) -> None:
        """Hear what others have put into the store."""
        await self._put(None, ())

    async def _put(self, judgement: Judgement | None, words: Sequence[str]) -> str:
        told: asyncio.Future[str] = self._loop.create_future()
        self._jobs.put(_Job(judgement, words, told))
        return await told

    def close(self) -> None:
        """Store what waits, then stop."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            stopping = False
            while len(jobs) < _MOST_TOGETHER and not self._jobs.empty():
                further = self._jobs.get()
                if further is None:
                    stopping = True
                    break
                jobs.append(further)
            self._do(jobs)
            if stopping:
                return

    def _do(self, jobs: list[_Job]) -> None:
        try:
            outcomes, news = self._stored(jobs)
        except Exception as error:
            if len(jobs) > 1:
                # One of them may be the trouble: each on its own, so that no one else's is lost.
                for job in jobs:
                    self._do([job])
                return
            trouble = error if isinstance(error, TreegaugeError) else WriteError(f"the judgement was not stored: {error}")
            self._loop.call_soon_threadsafe(self._fail, jobs[0], trouble)
            return
        self._loop.call_soon_threadsafe(self._tell, jobs, outcomes, news)

    def _stored(self, jobs: list[_Job]) -> tuple[list[str], list[Judgement]]:
        judgements = [job.judgement for job in jobs if job.judgement is not None]
        words = {job.judgement.bracket.sentence: job.words for job in jobs if job.judgement is not None}
        if judgements:
            outcomes, news = self._store.append_and_read(judgements, words, self._seen)
        else:
            outcomes, news = [], self._store.since(self._seen)
        self._seen = max((judgement.seq for judgement in news), default=self._seen)
        told = iter(outcomes)
        return ["" if job.judgement is None else next(told) for job in jobs], news

    def _tell(self, jobs: list[_Job], outcomes: list[str], news: list[Judgement]) -> None:
        try:
            self._hear(news)
        finally:
            for job, outcome in zip(jobs, outcomes, strict=True):
                if not job.told.done():
                    job.told.set_result(outcome)

    def _fail(self, job: _Job, error: Exception) -> None:
        if not job.told.done():
            job.told.set_exception(error)


ADJUDICATOR = Who("adjudicator", "adjudicator")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MOST_SECONDS = 3600.0


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
