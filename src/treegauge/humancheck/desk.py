"""A person's place at the check: what they have answered, what comes next, what can be taken back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import insort
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from treegauge.humancheck.estimation import ACCEPTED, OPEN, REJECTED, SKIPPED, STATES, UNSURE, States
from treegauge.humancheck.ledger import Ledger, Speaker
from treegauge.humancheck.queue import Check
from treegauge.humancheck.records import Judgement
from treegauge.trees.treebank import Int64

__all__ = ["AdjudicatorDesk", "AnnotatorDesk", "Desk", "Progress"]


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
