"""A running check: people judge brackets and take judgements back; every judgement is stored before it is confirmed.

Each person has a worklist: the questions they are asked, their answers so far, and the next question.

Judgements are stored in batches: a commit waits for the disk, some milliseconds, however many judgements it holds, so ten
annotators who answer at once wait for one commit, not for ten.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import queue
import re
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from statistics import median
from typing import NamedTuple

import numpy as np

from treegauge.errors import RequestError, TreegaugeError, UsageError, WriteError
from treegauge.humancheck.corrected_text import corrected_files, patch_of
from treegauge.humancheck.corrections import correct_treebank, last_edited_tree, proposed_tree
from treegauge.humancheck.editing import edited_tree
from treegauge.humancheck.exchange import judgement_lines
from treegauge.humancheck.judgements import (
    LONGEST_LABEL,
    LONGEST_NAME,
    LONGEST_NOTE,
    TAGS,
    VERDICTS,
    Judgement,
    JudgementLog,
    Person,
    storable,
    verdict_rule,
)
from treegauge.humancheck.questions import Check, Question
from treegauge.humancheck.results import ACCEPTED, OPEN, REJECTED, SKIPPED, STATES, UNSURE, States, VerdictOf
from treegauge.humancheck.store import CONFLICT, Store
from treegauge.io.formats import FORMATS
from treegauge.trees.treebank import Int64

_PACES, _FEWEST_PACES = 30, 5
"""The time left is estimated from this many of the latest answers, and from no fewer than the second number."""


class AnnotatorProgress(NamedTuple):
    """One person's progress: the numbers of questions by answer and in all, the seconds spent, and those a question takes.

    A question is judged if it is accepted or rejected; the answer "unsure" is an answer, but not a judgement.
    """

    answered: int
    accepted: int
    rejected: int
    unsure: int
    skipped: int
    total: int
    seconds: float
    pace: float = math.nan

    @property
    def judged(self) -> int:
        """The number of questions accepted or rejected."""
        return self.accepted + self.rejected

    def __str__(self) -> str:
        """The progress in words.

        >>> print(AnnotatorProgress(40, 20, 11, 9, 0, 40, 0.0))
        31 of 40 judged, 9 unsure
        >>> print(AnnotatorProgress(40, 40, 0, 0, 0, 100, 400.0, 10.0))
        40 of 100 judged, 60 left (about 10 min)
        """
        minutes = math.ceil(self.left * self.pace / 60) if self.left and not math.isnan(self.pace) else 0
        about = f" (about {minutes} min)" if minutes < 90 else f" (about {minutes / 60:.0f} h)"
        left = f"left{about if minutes else ''}"
        parts = [(self.unsure, "unsure"), (self.skipped, "skipped"), (self.left, left)]
        return ", ".join([f"{self.judged} of {self.total} judged", *(f"{number} {word}" for number, word in parts if number)])

    @property
    def left(self) -> int:
        """The number of questions without an answer."""
        return self.total - self.answered


class Worklist:
    """One annotator's questions, all or a ``share`` of them, and answers, kept up to date as the log grows."""

    role = "annotator"

    def __init__(self, name: str, check: Check, log: JudgementLog, share: Collection[int] | None = None) -> None:
        self.name, self.check, self.log = name, check, log
        self._asked = np.array([number for number in check.order if share is None or number in share], dtype=np.int64)
        self.states: States = np.zeros(len(check.questions), dtype=np.int8)
        self._own: list[tuple[int, str]] = []
        self._seconds = 0.0
        self._paces: deque[float] = deque(maxlen=_PACES)
        for bracket in log.brackets:
            if bracket in check.number:
                self.refresh(check.number[bracket])
        for judgement in log.by_id.values():
            self._add_own(judgement)

    @property
    def person(self) -> Person:
        """The person whose worklist this is."""
        return Person(self.role, self.name)

    def update(self, judgements: Iterable[Judgement]) -> None:
        """Take new entries into account; they must be in the log already."""
        for judgement in judgements:
            number = self.check.number.get(judgement.bracket)
            if number is not None and self.affects(judgement):
                self.refresh(number)
                self._add_own(judgement)

    def affects(self, judgement: Judgement) -> bool:
        """Whether an entry can change this worklist."""
        return judgement.person == self.person

    def _add_own(self, judgement: Judgement) -> None:
        if judgement.person == self.person and judgement.bracket in self.check.number:
            if judgement.seconds is not None and math.isfinite(judgement.seconds):
                self._seconds += judgement.seconds
                self._paces.append(judgement.seconds)
            if judgement.verdict != "withdrawn":
                insort(self._own, (judgement.seq, judgement.id))

    def refresh(self, number: int) -> None:
        """Look up the current answer to a question."""
        judgement = self.log.current(self.check.questions[number].bracket, self.person)
        self.states[number] = OPEN if judgement is None else STATES[judgement.verdict]

    def last_judgement(self) -> Judgement | None:
        """This person's latest judgement on this check that was not withdrawn."""
        while self._own and self._own[-1][1] in self.log.withdrawn_ids:
            self._own.pop()
        return self.log.by_id[self._own[-1][1]] if self._own else None

    def own_judgements(self) -> Iterator[Judgement]:
        """This person's current judgements, the latest first."""
        for _, name in reversed(self._own):
            judgement = self.log.by_id[name]
            if self.log.current(judgement.bracket, self.person) is judgement:
                yield judgement

    def questions(self) -> Int64:
        """The questions for this person, in order."""
        return self._asked

    def upcoming(self) -> Iterator[int]:
        """The questions without an answer: those never answered, then those skipped, in the order in which they were skipped."""
        numbers = self.questions()
        unanswered: list[int] = numbers[self.states[numbers] == OPEN].tolist()
        yield from unanswered
        skipped = [self.check.number[one.bracket] for one in self.own_judgements() if one.verdict == "skipped"]
        yield from (number for number in reversed(skipped) if number in numbers)

    def next(self) -> int | None:
        """The next question."""
        return next(self.upcoming(), None)

    def progress(self) -> AnnotatorProgress:
        """This person's progress."""
        questions = self.questions()
        counts: list[int] = np.bincount(self.states[questions], minlength=len(STATES) + 1).tolist()
        answered = counts[ACCEPTED] + counts[REJECTED] + counts[UNSURE]
        pace = median(self._paces) if len(self._paces) >= _FEWEST_PACES else math.nan
        accepted, rejected, unsure, skipped = (counts[state] for state in (ACCEPTED, REJECTED, UNSURE, SKIPPED))
        return AnnotatorProgress(answered, accepted, rejected, unsure, skipped, len(questions), self._seconds, pace)


def share_of(check: Check, names: Sequence[str], name: str, overlap: float) -> set[int]:
    """The questions of one of several annotators: a fraction ``overlap`` of all goes to everybody, each other one to one annotator.

    The share depends on the sentences (or brackets) and the names alone, so it stays the same when a check is started again; an
    additional annotator takes over some of the others' questions, and nothing else changes.
    """
    share: set[int] = set()
    units = check.units if check.plan.by_sentence else tuple((number,) for number in check.order)
    for unit in units:
        bracket = check.questions[unit[0]].bracket
        key = f"{bracket.sentence} {bracket.gold}" if check.plan.by_sentence else bracket.key
        if _fraction(f"overlap {key}") < overlap or max(names, key=lambda other: _fraction(f"{other} {key}")) == name:
            share.update(unit)
    return share


def _fraction(text: str) -> float:
    """A pseudorandom number between 0 and 1 that is always the same for the same text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8]) / 2**64


class AdjudicatorWorklist(Worklist):
    """The worklist of the adjudicator, who decides where annotators disagree."""

    role = "adjudicator"

    def __init__(self, name: str, check: Check, log: JudgementLog) -> None:
        self._disputes: set[int] = set()
        super().__init__(name, check, log)

    def refresh(self, number: int) -> None:
        super().refresh(number)
        if self.log.is_disputed(self.check.questions[number].bracket):
            self._disputes.add(number)
        else:
            self._disputes.discard(number)

    def affects(self, judgement: Judgement) -> bool:
        return True

    def questions(self) -> Int64:
        ranking = self.check.ranking
        return ranking[np.isin(ranking, list(self._disputes))]


_LARGEST_BATCH = 200
_IDLE = 1.0
"""The seconds without an answer after which the store is tidied."""


class _Job(NamedTuple):
    """A judgement and the words of its sentence; ``outcome`` is set when it is stored."""

    judgement: Judgement
    words: Sequence[str]
    outcome: asyncio.Future[str]


class BatchWriter:
    """A thread that stores judgements in batches; ``publish`` is called in the event loop with all new entries of the log,
    including those that other processes have stored."""

    def __init__(self, store: Store, last_seq: int, publish: Callable[[list[Judgement]], None]) -> None:
        self._store, self._last_seq, self._publish = store, last_seq, publish
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="judgements", daemon=True)
        self._thread.start()

    async def append(self, judgement: Judgement, words: Sequence[str]) -> str:
        """Store a judgement; returns the outcome (see :meth:`Store.append`) once it is on the disk."""
        outcome: asyncio.Future[str] = self._loop.create_future()
        self._jobs.put(_Job(judgement, words, outcome))
        return await outcome

    def close(self) -> None:
        """Store the judgements that are waiting, then stop the thread."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        """Take jobs from the queue, as many as there are at a time, until None is met; when there are none, tidy the store."""
        is_tidy = True
        while True:
            try:
                job = self._jobs.get(timeout=None if is_tidy else _IDLE)
            except queue.Empty:
                self._store.checkpoint()
                is_tidy = True
                continue
            if job is None:
                self._store.checkpoint()
                return
            is_tidy = False
            jobs = [job]
            while len(jobs) < _LARGEST_BATCH and not self._jobs.empty():
                further = self._jobs.get()
                if further is None:
                    self._jobs.put(None)  # to be met again after this batch
                    break
                jobs.append(further)
            self._store_batch(jobs)

    def _store_batch(self, jobs: list[_Job]) -> None:
        """Store a batch and report the outcomes to the event loop; if it fails, store its judgements one by one."""
        try:
            words = {job.judgement.bracket.sentence: job.words for job in jobs}
            outcomes, news = self._store.append_and_read([job.judgement for job in jobs], words, self._last_seq)
        except Exception as error:
            if len(jobs) > 1:
                # One of them may be the cause: stored one by one, the others are not lost.
                for job in jobs:
                    self._store_batch([job])
                return
            trouble = error if isinstance(error, TreegaugeError) else WriteError(f"the judgement was not stored: {error}")
            self._loop.call_soon_threadsafe(self._fail, jobs[0], trouble)
            return
        self._last_seq = max((judgement.seq for judgement in news), default=self._last_seq)
        self._loop.call_soon_threadsafe(self._resolve, jobs, outcomes, news)

    def _resolve(self, jobs: list[_Job], outcomes: list[str], news: list[Judgement]) -> None:
        try:
            self._publish(news)
        finally:
            for job, outcome in zip(jobs, outcomes, strict=True):
                if not job.outcome.done():
                    job.outcome.set_result(outcome)

    def _fail(self, job: _Job, error: Exception) -> None:
        if not job.outcome.done():
            job.outcome.set_exception(error)


ADJUDICATOR = Person("adjudicator", "adjudicator")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MOST_SECONDS = 3600.0


class Answer(NamedTuple):
    """An answer as the page sends it: its own id, the question's key, the verdict, and remarks and corrections."""

    id: str
    question: str
    verdict: str
    note: str = ""
    correction: bool = False
    seconds: float | None = None
    correct_label: str = ""
    tags: tuple[str, ...] = ()
    correct_tree: str = ""


def people_named(annotators: Sequence[str]) -> list[Person]:
    """The annotators and, if there are several, an adjudicator who settles their disagreements."""
    names = list(dict.fromkeys(storable(name).strip() for name in annotators))
    if not all(0 < len(name) <= LONGEST_NAME for name in names):
        raise UsageError(f"an annotator's name has between 1 and {LONGEST_NAME} characters")
    if ADJUDICATOR.name in names:
        raise UsageError(
            f"an annotator cannot be called {ADJUDICATOR.name!r}: that is the name of the one who settles disagreements"
        )
    people = [Person("annotator", name) for name in names]
    return [*people, ADJUDICATOR] if len(people) > 1 else people


class Session:
    """A check in progress: questions, store, people and their worklists."""

    def __init__(
        self,
        check: Check,
        store: Store,
        people: Sequence[Person],
        *,
        blind: bool = False,
        overlap: float | None = None,
        guidelines: str = "",
    ) -> None:
        self.check, self.store, self.people, self.blind, self.guidelines = check, store, tuple(people), blind, guidelines
        self.log = JudgementLog(store.since(0))
        self.worklists = {person: self._worklist(person, overlap) for person in people}
        self._writer: BatchWriter | None = None

    def _worklist(self, person: Person, overlap: float | None) -> Worklist:
        if person.role == "adjudicator":
            return AdjudicatorWorklist(person.name, self.check, self.log)
        names = [other.name for other in self.people if other.role == "annotator"]
        share = None if overlap is None else share_of(self.check, names, person.name, overlap)
        return Worklist(person.name, self.check, self.log, share)

    def open(self) -> None:
        """Begin to accept answers, in the running event loop."""
        self._writer = BatchWriter(self.store, self.log.last_seq, self._publish)

    def close(self) -> None:
        """Store the answers that are waiting, and stop accepting others."""
        if self._writer is not None:
            self._writer.close()

    async def refresh(self) -> None:
        """Publish judgements that other processes have stored; if the store cannot be read, go on without them."""
        with suppress(TreegaugeError):
            self._publish(await asyncio.to_thread(self.store.since, self.log.last_seq))

    def _publish(self, news: list[Judgement]) -> None:
        """Pass new judgements to every worklist."""
        unknown = [judgement for judgement in news if judgement.id not in self.log.by_id]
        self.log.add(news)
        if unknown:
            for worklist in self.worklists.values():
                worklist.update(unknown)

    def question(self, key: str) -> Question:
        """The question with a key."""
        number = self.check.by_key.get(key)
        if number is None:
            raise RequestError("There is no such question in this check.", 404)
        return self.check.questions[number]

    async def judge(self, person: Person, answer: Answer) -> Judgement:
        """Store an answer, once, however often it is sent; returns the judgement."""
        _check_id(answer.id)
        question = self.question(answer.question)
        # Whoever names a label says that the treebank is wrong.
        answer = answer._replace(correction=answer.correction or bool(answer.correct_label.strip()))
        if answer.verdict not in VERDICTS[:-1]:
            raise RequestError(f"A verdict is one of {', '.join(VERDICTS[:-1])}.")
        if len(answer.note) > LONGEST_NOTE:
            raise RequestError(f"A note has at most {LONGEST_NOTE} characters.")
        if len(answer.correct_label) > LONGEST_LABEL or any(character.isspace() for character in answer.correct_label.strip()):
            raise RequestError(f"A label has at most {LONGEST_LABEL} characters and no blanks.")
        if answer.seconds is not None and not 0 <= answer.seconds < math.inf:
            raise RequestError("The time must be a number of seconds, 0 or more.")
        for tag in answer.tags:
            if tag not in TAGS:
                raise RequestError(f"A reason is one of {', '.join(TAGS)}.")
        known = self.log.by_id.get(answer.id)
        judgement = Judgement(
            answer.id,
            question.bracket,
            question.kind,
            answer.verdict,
            person.name,
            person.role,
            "\n".join(storable(line) for line in answer.note.strip().splitlines()),
            answer.correction,
            # An answer that is sent again keeps the first one's value, although the reason has been shown meanwhile.
            blind=known.blind if known else self.is_blind(person, question),
            seconds=None if answer.seconds is None else min(answer.seconds, _MOST_SECONDS),
            correct_label=storable(answer.correct_label.strip()),
            tags=tuple(tag for tag in TAGS if tag in answer.tags),
            correct_tree=known.correct_tree if known else self._correct_tree(person, question, answer),
        )
        await self._append(judgement, question)
        return judgement

    def _correct_tree(self, person: Person, question: Question, answer: Answer) -> str:
        """The text of the edited tree that goes with an answer: the one sent or, if this person has edited the sentence before,
        that tree with the new correction. Empty if no tree was edited, or if it is the treebank's own."""
        if not answer.correction:
            return ""
        gold = self.check.gold[question.occurrences[0].sentence]
        if answer.correct_tree:
            tree = edited_tree(gold, answer.correct_tree)
        elif answer.verdict in ("accepted", "rejected") and last_edited_tree(self.check, self.log, person, question):
            label = storable(answer.correct_label.strip())
            tree, _ = proposed_tree(self.check, self.log, person, question, answer.verdict, label)
        else:
            return ""
        return "" if tree == gold else str(tree)

    async def undo(self, person: Person, name: str, undoes: str) -> Judgement:
        """Withdraw one of the person's own judgements (``undoes``, by an entry with id ``name``) and all that were given together
        with it; returns the first of them."""
        _check_id(name)
        judgement = self.log.by_id.get(undoes)
        if judgement is None or judgement.person != person or judgement.bracket not in self.check.number:
            raise RequestError("There is no such judgement of yours to take back.", 404)
        given = self.given_together(judgement)
        for one in given:
            own = name if len(given) == 1 else f"{name}-{one.id.rpartition('-')[2]}"
            if one.id in self.log.withdrawn_ids and own not in self.log.by_id:
                continue
            question = self.check.questions[self.check.number[one.bracket]]
            withdrawal = Judgement(own, one.bracket, question.kind, "withdrawn", person.name, person.role, undoes=one.id)
            await self._append(withdrawal, question)
        return given[0]

    def given_together(self, judgement: Judgement) -> list[Judgement]:
        """The judgements that one key gave: the page numbers them, and the beginning of their ids is the same."""
        together, sign, _ = judgement.id.rpartition("-")
        ids = (f"{together}-{number}" for number in range(len(self.check.of_gold[judgement.bracket.gold]))) if sign else ()
        found = [one for name in ids if (one := self.log.by_id.get(name)) and one.person == judgement.person]
        return found if judgement in found else [judgement]

    async def _append(self, judgement: Judgement, question: Question) -> None:
        assert self._writer is not None, "the session is not open"
        outcome = await self._writer.append(judgement, question.span.words)
        if outcome == CONFLICT:
            raise RequestError("This answer's id belongs to another answer; reload the page.", 409)

    def export(self, person: Person, form: str) -> str:
        """A person's own judgements in this check, withdrawn ones included, as JSON lines or CSV."""
        own = [one for one in self.log.by_id.values() if one.person == person and one.bracket in self.check.number]
        words = {question.bracket.sentence: question.span.words for question in self.check.questions}
        return "".join(f"{line}\n" for line in judgement_lines(own, words, form))

    def export_corrected(self, person: Person, form: str) -> bytes:
        """The treebank with a person's own corrections (for the adjudicator: everybody's), or these corrections as a patch.

        ``form`` is ``patch``, ``mrg`` or, with crossing branches, ``discbracket`` or ``export``.
        """
        bank = correct_treebank(self.check, self.log, annotators=self.whose(person)).bank
        files = corrected_files(self.check.gold, bank) if form in ("patch", "mrg") else None
        if form == "patch":
            return b"".join(patch_of(files))
        if files:
            return b"".join(file.after for file in files)
        writer = FORMATS["bracketed" if form == "mrg" else form].writer
        assert writer is not None
        try:
            return b"".join(writer([bank]))
        except WriteError as error:
            raise RequestError(f"The corrected treebank cannot be written in this format: {error}") from None

    def is_blind(self, person: Person, question: Question) -> bool:
        """Whether a person judges a question without its reason: in a blind check, until they have answered it once."""
        return self.blind and person.role == "annotator" and not self.log.has_answered(question.bracket, person)

    def verdicts_for(self, person: Person) -> VerdictOf:
        """The verdicts behind a person's results: their own or, for the adjudicator, everybody's."""
        return verdict_rule(self.log, annotators=self.whose(person))

    def whose(self, person: Person) -> tuple[str, ...]:
        """The annotators whose judgements count for a person: they alone or, for the adjudicator, everybody (none named)."""
        return () if person.role == "adjudicator" else (person.name,)


def _check_id(name: str) -> None:
    if not _ID.fullmatch(name):
        raise RequestError("An answer needs an id of 8 to 64 letters and digits.")
