"""A person's judgements of brackets, as a value: the seam between the human check and the counts.

A bracket is named by its sentence (the gold sentence's number, from 0), its span over the words that preprocessing left, and
its label; a collapsed chain is named by its labels from the top, joined by ``+``. A label of None stands for any.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

__all__ = ["BracketKey", "Judgements", "Question", "Verdict"]


class Verdict(Enum):
    """What a person says of a bracket.

    *Accepted* means that it fits the right interpretation in the style of bracketing the parser aims at, whatever the treebank's
    style is.
    """

    ACCEPTED = "accepted"
    REJECTED = "rejected"


class BracketKey(NamedTuple):
    """The name of a test bracket."""

    sentence: int
    start: int
    end: int
    label: str | None = None


class Question(NamedTuple):
    """A test bracket to be judged, and why: ``CE`` (crossing error), ``SP`` (spurious) or ``EM`` (exact match)."""

    bracket: BracketKey
    kind: str


@dataclass(frozen=True)
class Judgements(Mapping[BracketKey, Verdict]):
    """Verdicts on the brackets of one system; ``otherwise`` is the verdict on crossing and spurious brackets not among them.

    A bracket is looked up by its label first, then as one of any label. Exact matches without a verdict are accepted, as in the
    paper.

    >>> judged = Judgements({BracketKey(0, 2, 5): Verdict.ACCEPTED, BracketKey(1, 0, 3, "NP"): Verdict.REJECTED})
    >>> judged.of(0, 2, 5, "PP").value, judged.of(1, 0, 3, "NP").value, judged.of(1, 0, 3, "VP")
    ('accepted', 'rejected', None)
    """

    verdicts: Mapping[BracketKey, Verdict] = field(default_factory=dict[BracketKey, Verdict])
    otherwise: Verdict | None = None

    def of(self, sentence: int, start: int, end: int, label: str) -> Verdict | None:
        """The verdict on a bracket; None if it was not judged."""
        found = self.verdicts.get(BracketKey(sentence, start, end, label))
        return found or self.verdicts.get(BracketKey(sentence, start, end, None))

    def __getitem__(self, key: BracketKey) -> Verdict:
        return self.verdicts[key]

    def __iter__(self) -> Iterator[BracketKey]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def sha256(self) -> str:
        """A hash of what was said, for signatures; the order does not matter."""
        lines = sorted(f"{key.sentence} {key.start} {key.end} {key.label!r} {verdict.value}" for key, verdict in self.items())
        lines.append(f"otherwise {self.otherwise.value if self.otherwise else '-'}")
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
