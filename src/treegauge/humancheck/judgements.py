"""A judgement as it is kept: who said what of which bracket, when, and how it was asked.

What holds now, given everything that was said: the log of judgements, folded.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter

from treegauge.errors import UnknownName
from treegauge.humancheck.questions import Bracket
from treegauge.metrics.hogenhout import Verdict

__all__ = ["LONGEST_NAME", "LONGEST_NOTE", "ROLES", "RULES", "VERDICTS", "Judgement", "Ledger", "Speaker", "decided", "now"]

VERDICTS = ("accepted", "rejected", "unsure", "skipped", "withdrawn")
"""What can be said; ``withdrawn`` takes an earlier judgement back."""

ROLES = ("annotator", "adjudicator")
"""An adjudicator's word counts where annotators disagree."""

LONGEST_NOTE = 2000
LONGEST_NAME = 60


@dataclass(frozen=True)
class Judgement:
    """One entry of the log. Nothing in it ever changes; a change of mind is another entry.

    ``id`` is made by whoever says it, so that saying it twice (a retry) is storing it once. ``correction``: the gold tree is wrong
    here and should be changed. ``undoes``: the id of the judgement that is withdrawn. ``blind``: the reason was not shown.
    ``seconds``: how long the bracket was looked at. The store gives ``at`` (UTC) and ``seq``, the place in the log.
    """

    id: str
    bracket: Bracket
    kind: str
    verdict: str
    annotator: str
    role: str = "annotator"
    note: str = ""
    correction: bool = False
    undoes: str = ""
    blind: bool = False
    seconds: float | None = None
    at: str = ""
    seq: int = 0

    def says_the_same(self, other: Judgement) -> bool:
        """Whether one is a repetition of the other: all is the same but when it came."""
        return self._unplaced() == other._unplaced()

    def _unplaced(self) -> Judgement:
        return replace(self, at="", seq=0, seconds=None)


def now() -> str:
    """The time as the log writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


Speaker = tuple[str, str]
"""A role and a name."""

_VERDICT = {"accepted": Verdict.ACCEPTED, "rejected": Verdict.REJECTED}
_when = attrgetter("at", "seq")


class Ledger:
    """All judgements by bracket and speaker, in the order of time; withdrawn ones are kept, but do not hold.

    >>> bracket = Bracket("hash", 0, 2, "NP", "gold")
    >>> ledger = Ledger()
    >>> ledger.add([Judgement("1", bracket, "SP", "accepted", "anna", at="1"),
    ...             Judgement("2", bracket, "SP", "rejected", "anna", at="2")])
    >>> ledger.standing(bracket, ("annotator", "anna")).verdict
    'rejected'
    >>> ledger.add([Judgement("3", bracket, "SP", "withdrawn", "anna", undoes="2", at="3")])
    >>> ledger.standing(bracket, ("annotator", "anna")).verdict
    'accepted'
    """

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._said: dict[Bracket, dict[Speaker, list[Judgement]]] = {}
        self._versions: dict[tuple[str, int, int, str], set[Bracket]] = {}
        self.withdrawn: set[str] = set()
        self.by_id: dict[str, Judgement] = {}
        self.last_seq = 0
        self.add(judgements)

    def add(self, judgements: Iterable[Judgement]) -> None:
        """Take up further entries of the log; one that is known already changes nothing."""
        for judgement in judgements:
            self.last_seq = max(self.last_seq, judgement.seq)
            if judgement.id in self.by_id:
                continue
            self.by_id[judgement.id] = judgement
            if judgement.verdict == "withdrawn":
                self.withdrawn.add(judgement.undoes)
                continue
            of_bracket = self._said.setdefault(judgement.bracket, {})
            insort(of_bracket.setdefault((judgement.role, judgement.annotator), []), judgement, key=_when)
            self._versions.setdefault(judgement.bracket[:4], set()).add(judgement.bracket)

    @property
    def brackets(self) -> Collection[Bracket]:
        """All brackets of which something was ever said."""
        return self._said.keys()

    def speakers(self, role: str = "annotator") -> list[str]:
        """The names of all who said something in a role."""
        return sorted({name for said in self._said.values() for which, name in said if which == role})

    def standing(self, bracket: Bracket, speaker: Speaker) -> Judgement | None:
        """What a speaker says of a bracket: the last word that was not withdrawn."""
        said = self._said.get(bracket, {}).get(speaker, ())
        return next((judgement for judgement in reversed(said) if judgement.id not in self.withdrawn), None)

    def was_shown(self, bracket: Bracket, speaker: Speaker) -> bool:
        """Whether a speaker answered about a bracket before, even if it was withdrawn: then the reason is known to them."""
        return any(judgement.verdict != "skipped" for judgement in self._said.get(bracket, {}).get(speaker, ()))

    def opinions(self, bracket: Bracket, role: str = "annotator") -> dict[str, Judgement]:
        """What each speaker in a role says of a bracket."""
        found = {name: self.standing(bracket, (which, name)) for which, name in self._said.get(bracket, {}) if which == role}
        return {name: judgement for name, judgement in sorted(found.items()) if judgement is not None}

    def is_disputed(self, bracket: Bracket) -> bool:
        """Whether one annotator accepts and another rejects a bracket."""
        verdicts = {judgement.verdict for judgement in self.opinions(bracket).values()}
        return {"accepted", "rejected"} <= verdicts

    def ruling(self, bracket: Bracket) -> Judgement | None:
        """The latest word of an adjudicator on a bracket, if it settles the matter."""
        found = [said for said in self.opinions(bracket, "adjudicator").values() if said.verdict in _VERDICT]
        return max(found, key=_when, default=None)

    def elsewhere(self, bracket: Bracket) -> list[Judgement]:
        """Verdicts on the same bracket of the same words when the gold tree was another."""
        others = sorted(self._versions.get(bracket[:4], set()) - {bracket})
        return [said for other in others for said in self.opinions(other).values() if said.verdict in _VERDICT]


def _majority(opinions: Mapping[str, Judgement]) -> Verdict | None:
    """What more than half of those say who accept or reject."""
    verdicts = [_VERDICT[said.verdict] for said in opinions.values() if said.verdict in _VERDICT]
    return next((verdict for verdict in Verdict if 2 * verdicts.count(verdict) > len(verdicts)), None)


def _unanimous(opinions: Mapping[str, Judgement]) -> Verdict | None:
    """What all say; nothing if somebody is unsure."""
    verdicts = {_VERDICT.get(said.verdict) for said in opinions.values() if said.verdict != "skipped"}
    return verdicts.pop() if len(verdicts) == 1 else None


RULES: Mapping[str, Callable[[Mapping[str, Judgement]], Verdict | None]] = {"majority": _majority, "unanimous": _unanimous}
"""How several annotators' verdicts become one, where no adjudicator has spoken."""


def decided(
    ledger: Ledger, rule: str = "majority", annotators: Collection[str] = (), *, across_gold: bool = False
) -> Callable[[Bracket], Verdict | None]:
    """The function from a bracket to the verdict on it, or None: the adjudicator's word, else the annotators' by a rule.

    Only the named ``annotators`` count, if any are named; then an adjudicator does not. ``across_gold``: where a bracket was not
    judged, take what was said when the gold tree was another.
    """
    if rule not in RULES:
        raise UnknownName("rule", rule, RULES)

    def verdict(bracket: Bracket) -> Verdict | None:
        ruling = None if annotators else ledger.ruling(bracket)
        if ruling is not None:
            return _VERDICT[ruling.verdict]
        opinions = ledger.opinions(bracket)
        if not opinions and across_gold:
            opinions = {said.annotator: said for said in sorted(ledger.elsewhere(bracket), key=_when)}
        return RULES[rule]({name: said for name, said in opinions.items() if not annotators or name in annotators})

    return verdict
