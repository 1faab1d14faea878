"""Each person's worklist: the questions they are asked, their answers so far, and the next question."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from treegauge.humancheck.judgements import Judgement, JudgementLog, Person
from treegauge.humancheck.questions import Check
from treegauge.humancheck.results import ACCEPTED, OPEN, REJECTED, SKIPPED, STATES, UNSURE, States
from treegauge.trees.treebank import Int64


class AnnotatorProgress(NamedTuple):
    """One person's progress: the numbers of questions by answer and in all, and the seconds spent.

    A question is judged if it is accepted or rejected; the answer "unsure" is an answer, but not a judgement.
    """

    answered: int
    accepted: int
    rejected: int
    unsure: int
    skipped: int
    total: int
    seconds: float

    @property
    def judged(self) -> int:
        """The number of questions accepted or rejected."""
        return self.accepted + self.rejected

    def __str__(self) -> str:
        """The progress in words.

        >>> print(AnnotatorProgress(40, 20, 11, 9, 0, 40, 0.0))
        31 of 40 judged, 9 unsure
        """
        parts = [(self.unsure, "unsure"), (self.skipped, "skipped"), (self.left, "left")]
        return ", ".join([f"{self.judged} of {self.total} judged", *(f"{number} {word}" for number, word in parts if number)])

    @property
    def left(self) -> int:
        """The number of questions without an answer."""
        return self.total - self.answered


class Worklist(ABC):
    """One person's questions and answers, kept up to date as the log grows."""

    role = "annotator"

    def __init__(self, name: str, check: Check, log: JudgementLog) -> None:
        self.name, self.check, self.log = name, check, log
        self.states: States = np.zeros(len(check.questions), dtype=np.int8)
        self._own: list[tuple[int, str]] = []
        self._seconds = 0.0
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
            self._seconds += judgement.seconds if judgement.seconds is not None and math.isfinite(judgement.seconds) else 0.0
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
        return self.check.selection

    @abstractmethod
    def upcoming(self) -> Iterator[int]:
        """The questions without an answer: those never answered, then those skipped, in the order in which they were skipped."""

    def next(self, besides: int | None = None) -> int | None:
        """The next question other than ``besides``."""
        return next((number for number in self.upcoming() if number != besides), None)

    def progress(self) -> AnnotatorProgress:
        """This person's progress."""
        questions = self.questions()
        counts: list[int] = np.bincount(self.states[questions], minlength=len(STATES) + 1).tolist()
        answered = counts[ACCEPTED] + counts[REJECTED] + counts[UNSURE]
        return AnnotatorProgress(
            answered, counts[ACCEPTED], counts[REJECTED], counts[UNSURE], counts[SKIPPED], len(questions), self._seconds
        )

    def _skipped_questions(self) -> list[int]:
        """The skipped questions, in the order in which they were skipped."""
        numbers = (self.check.number[judgement.bracket] for judgement in self.own_judgements() if judgement.verdict == "skipped")
        return list(numbers)[::-1]


class AnnotatorWorklist(Worklist):
    """The worklist of an annotator, who judges all questions or a ``share`` of them."""

    def __init__(self, name: str, check: Check, log: JudgementLog, share: Collection[int] | None = None) -> None:
        self._order = check.order if share is None else tuple(number for number in check.order if number in share)
        self._position = {number: position for position, number in enumerate(self._order)}
        self._cursor = 0
        super().__init__(name, check, log)

    def questions(self) -> Int64:
        return np.array(self._order, dtype=np.int64)

    def refresh(self, number: int) -> None:
        super().refresh(number)
        if self.states[number] == OPEN:
            self._cursor = min(self._cursor, self._position.get(number, self._cursor))

    def upcoming(self) -> Iterator[int]:
        while self._cursor < len(self._order) and self.states[self._order[self._cursor]] != OPEN:
            self._cursor += 1
        yield from (number for number in self._order[self._cursor :] if self.states[number] == OPEN)
        yield from (number for number in self._skipped_questions() if number in self._position)


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

    def upcoming(self) -> Iterator[int]:
        numbers: list[int] = self.questions().tolist()
        yield from (number for number in numbers if self.states[number] == OPEN)
        yield from (number for number in self._skipped_questions() if number in self._disputes)
