"""Judgements, the entries of a log that only grows, and the current verdicts that follow from them.

Brackets are identified by their content: the words of the sentence, a span over them, a label, and the gold tree. So judgements
outlive files, parsers and runs. A span is over all words, punctuation included, and does not depend on what a preset leaves out.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from treegauge.errors import check_name
from treegauge.metrics.hogenhout import Verdict
from treegauge.trees.tree import Tree, to_flat

# What PostgreSQL cannot hold in text, and no reader of a label can see.
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")


class BracketId(NamedTuple):
    """A bracket by its content: the hash of its sentence, a span, a label, and the hash of the gold tree it was compared with.

    The words are those of the gold tree without traces, punctuation included. The same text can occur twice in a treebank with
    different analyses; the hash of the gold tree tells them apart. ``blocks`` are the spans of a bracket with gaps, as in
    ``0-1 3-5``.
    """

    sentence: str
    start: int
    end: int
    label: str
    gold: str
    blocks: str = ""

    @property
    def key(self) -> str:
        """A short name, for URLs."""
        return hashlib.sha256(repr(self._content).encode()).hexdigest()[:24]

    @property
    def _content(self) -> tuple[object, ...]:
        """All fields, but no ``blocks`` if there are no gaps, so that keys and ranks are the same as in older versions."""
        return tuple(self) if self.blocks else tuple(self[:5])

    def words(self, sentence: Sequence[str]) -> list[str]:
        """The words inside the bracket, with a mark where it has a gap."""
        return words_inside(sentence, self.start, self.end, read_blocks(self.blocks))

    def rank(self, seed: int) -> bytes:
        """The rank in the random order of a seed.

        It depends on the bracket alone: a bracket that comes before another for one parser does so for every other, too. So the
        brackets judged so far stay a random sample of all, however often parsers are run again.
        """
        return hashlib.sha256(f"{seed} {self._content!r}".encode()).digest()


WordBlocks = tuple[tuple[int, int], ...]

_BLOCKS = re.compile(r"\d{1,9}-\d{1,9}(?: \d{1,9}-\d{1,9})+")


def blocks_as_text(blocks: WordBlocks) -> str:
    """Blocks as text, the form in which a :class:`BracketId` holds them.

    >>> blocks_as_text(((0, 1), (3, 5)))
    '0-1 3-5'
    """
    return " ".join(f"{start}-{end}" for start, end in blocks)


def read_blocks(text: str) -> WordBlocks:
    """Blocks from their text; raises :class:`ValueError` if it is malformed, or if the blocks are not apart and from left to right.

    >>> read_blocks("0-1 3-5"), read_blocks("")
    (((0, 1), (3, 5)), ())
    """
    if not text:
        return ()
    if not _BLOCKS.fullmatch(text):
        raise ValueError(f"the blocks {text!r} are not written as 0-1 3-5")
    edges = [int(number) for block in text.split(" ") for number in block.split("-")]
    if any(first >= second for first, second in pairwise(edges)):
        raise ValueError(f"the blocks {text!r} are not in order, with gaps between them")
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def words_inside(words: Sequence[str], start: int, end: int, blocks: WordBlocks) -> list[str]:
    """The words of a bracket, with a mark where it has a gap.

    >>> words_inside("Wen hat sie gesehen".split(), 0, 4, ((0, 1), (3, 4)))
    ['Wen', '…', 'gesehen']
    """
    inside = list(words[start : blocks[0][1] if blocks else end])
    for first, last in blocks[1:]:
        inside += ["…", *words[first:last]]
    return inside


def sentence_hash(words: Sequence[str]) -> str:
    """A hash of the words of a sentence.

    >>> sentence_hash(["a", "b"])[:12], sentence_hash(["a b"])[:12]
    ('3554d2b8a1e3', '541e27fe8b97')
    """
    return hashlib.sha256(json.dumps(list(words)).encode()).hexdigest()


def tree_hash(tree: Tree) -> str:
    """A hash of a tree, independent of the file and layout it was read from."""
    return hashlib.sha256(json.dumps(list(to_flat(tree))).encode()).hexdigest()


def storable(text: str) -> str:
    r"""Text that every database can store: control characters and halves of surrogate pairs are replaced.

    >>> storable("NP\x00")
    'NP\ufffd'
    """
    return _UNSTORABLE.sub("\ufffd", text)


VERDICTS = ("accepted", "rejected", "unsure", "skipped", "withdrawn")
"""The possible verdicts; ``withdrawn`` takes an earlier judgement back."""

ROLES = ("annotator", "adjudicator")
"""The possible roles; an adjudicator's verdict counts where annotators disagree."""

LONGEST_NOTE = 2000
LONGEST_LABEL = 100
LONGEST_TREE = 40_000
MOST_SECONDS = 86_400.0
"""The longest time, a day, that a judgement can claim to have taken."""

TAGS = (
    "attachment",
    "coordination",
    "too wide",
    "too narrow",
    "clause level",
    "style only",
    "ambiguous",
    "word or tag wrong",
    "other",
)
"""The reasons that can be given with an answer, by the keys 1 to 9."""
LONGEST_NAME = 60


class Person(NamedTuple):
    """A role and a name."""

    role: str
    name: str


@dataclass(frozen=True)
class Judgement:
    """An entry of the log: a person's verdict on a bracket, and how the question was asked.

    An entry never changes; a change of mind is another entry. The sender chooses ``id``, so that an answer sent twice is stored
    once. ``correction``: the gold tree is wrong here and should get a bracket with ``correct_label`` or, if the whole tree was
    edited, become ``correct_tree`` (bracketed text). ``tags``: reasons, from :data:`TAGS`. ``undoes``: the id of the judgement that
    is withdrawn. ``blind``: the reason for the question was not shown. ``seconds``: the time spent on the bracket. The store sets
    ``at`` (UTC), for readers, and ``seq``, the position in the log. Since clocks can be wrong, only ``seq`` orders judgements.
    """

    id: str
    bracket: BracketId
    kind: str
    verdict: str
    annotator: str
    role: str = "annotator"
    note: str = ""
    correction: bool = False
    undoes: str = ""
    blind: bool = False
    seconds: float | None = None
    correct_label: str = ""
    tags: tuple[str, ...] = ()
    correct_tree: str = ""
    at: str = ""
    seq: int = 0

    @property
    def person(self) -> Person:
        """The person who made this judgement."""
        return Person(self.role, self.annotator)

    def repeats(self, other: Judgement) -> bool:
        """Whether both are the same judgement, apart from the time and position of their arrival."""
        return self._without_arrival() == other._without_arrival()

    def _without_arrival(self) -> Judgement:
        return replace(self, at="", seq=0, seconds=None)


def utc_now() -> str:
    """The present time in the format of the log."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


_VERDICT = {"accepted": Verdict.ACCEPTED, "rejected": Verdict.REJECTED}
_order = attrgetter("seq")


class JudgementLog:
    """All judgements by bracket and person, in order. Withdrawn judgements stay in the log but do not count.

    >>> bracket = BracketId("hash", 0, 2, "NP", "gold")
    >>> log = JudgementLog()
    >>> log.add([Judgement("1", bracket, "SP", "accepted", "anna", seq=1),
    ...          Judgement("2", bracket, "SP", "rejected", "anna", seq=2)])
    >>> log.current(bracket, Person("annotator", "anna")).verdict
    'rejected'
    >>> log.add([Judgement("3", bracket, "SP", "withdrawn", "anna", undoes="2", seq=3)])
    >>> log.current(bracket, Person("annotator", "anna")).verdict
    'accepted'
    """

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._entries: dict[BracketId, dict[Person, list[Judgement]]] = {}
        self._versions: dict[BracketId, set[BracketId]] = {}
        self.withdrawn_ids: set[str] = set()
        self.by_id: dict[str, Judgement] = {}
        self.last_seq = 0
        self.add(judgements)

    def add(self, judgements: Iterable[Judgement]) -> None:
        """Add further entries of the log; an entry that is known already changes nothing."""
        for judgement in judgements:
            self.last_seq = max(self.last_seq, judgement.seq)
            if judgement.id in self.by_id:
                continue
            self.by_id[judgement.id] = judgement
            if judgement.verdict == "withdrawn":
                self.withdrawn_ids.add(judgement.undoes)
                continue
            of_bracket = self._entries.setdefault(judgement.bracket, {})
            insort(of_bracket.setdefault(judgement.person, []), judgement, key=_order)
            self._versions.setdefault(judgement.bracket._replace(gold=""), set()).add(judgement.bracket)

    @property
    def brackets(self) -> Collection[BracketId]:
        """All brackets that were ever judged."""
        return self._entries.keys()

    def names(self, role: str = "annotator") -> list[str]:
        """The names of all who judged in a role."""
        return sorted({person.name for of_bracket in self._entries.values() for person in of_bracket if person.role == role})

    def current(self, bracket: BracketId, person: Person) -> Judgement | None:
        """A person's latest judgement of a bracket that was not withdrawn."""
        entries = self._entries.get(bracket, {}).get(person, ())
        return next((judgement for judgement in reversed(entries) if judgement.id not in self.withdrawn_ids), None)

    def history(self, bracket: BracketId, person: Person) -> list[Judgement]:
        """All judgements of a bracket by a person, withdrawn ones included, in their order."""
        return list(self._entries.get(bracket, {}).get(person, ()))

    def has_answered(self, bracket: BracketId, person: Person) -> bool:
        """Whether a person has ever answered about a bracket, even if the answer was withdrawn: they have then seen the reason."""
        return any(judgement.verdict != "skipped" for judgement in self._entries.get(bracket, {}).get(person, ()))

    def opinions(self, bracket: BracketId, role: str = "annotator") -> dict[str, Judgement]:
        """The current judgement of each person in a role, by name."""
        found = {person.name: self.current(bracket, person) for person in self._entries.get(bracket, {}) if person.role == role}
        return {name: judgement for name, judgement in sorted(found.items()) if judgement is not None}

    def is_disputed(self, bracket: BracketId) -> bool:
        """Whether one annotator accepts and another rejects a bracket."""
        verdicts = {judgement.verdict for judgement in self.opinions(bracket).values()}
        return {"accepted", "rejected"} <= verdicts

    def ruling(self, bracket: BracketId) -> Judgement | None:
        """The latest adjudicator's judgement that accepts or rejects a bracket."""
        rulings = [judgement for judgement in self.opinions(bracket, "adjudicator").values() if judgement.verdict in _VERDICT]
        return max(rulings, key=_order, default=None)

    def under_other_gold(self, bracket: BracketId) -> list[Judgement]:
        """The current verdicts on the same bracket over the same words, given when the gold tree was another."""
        others = sorted(self._versions.get(bracket._replace(gold=""), set()) - {bracket})
        opinions = [judgement for other in others for judgement in self.opinions(other).values()]
        return [judgement for judgement in opinions if judgement.verdict in _VERDICT]


def _majority(opinions: Mapping[str, Judgement]) -> Verdict | None:
    """The verdict of more than half of those who accept or reject; None if there is none."""
    verdicts = [_VERDICT[judgement.verdict] for judgement in opinions.values() if judgement.verdict in _VERDICT]
    return next((verdict for verdict in Verdict if 2 * verdicts.count(verdict) > len(verdicts)), None)


def _unanimous(opinions: Mapping[str, Judgement]) -> Verdict | None:
    """The verdict that all share; None if somebody disagrees or is unsure."""
    verdicts = {_VERDICT.get(judgement.verdict) for judgement in opinions.values() if judgement.verdict != "skipped"}
    return verdicts.pop() if len(verdicts) == 1 else None


RULES: Mapping[str, Callable[[Mapping[str, Judgement]], Verdict | None]] = {"majority": _majority, "unanimous": _unanimous}
"""The rules that combine several annotators' verdicts into one where the adjudicator has given none."""


def verdict_rule(
    log: JudgementLog, rule: str = "majority", annotators: Collection[str] = (), *, across_gold: bool = False
) -> Callable[[BracketId], Verdict | None]:
    """A function from a bracket to its verdict, or to None: the adjudicator's verdict, or else the annotators' by a rule.

    If ``annotators`` are named, only their verdicts count, and not the adjudicator's. ``across_gold``: for a bracket without
    judgements, use those given when the gold tree was another.
    """
    check_name("rule", rule, RULES)

    def verdict(bracket: BracketId) -> Verdict | None:
        ruling = None if annotators else log.ruling(bracket)
        if ruling is not None:
            return _VERDICT[ruling.verdict]
        opinions = log.opinions(bracket)
        if not opinions and across_gold:
            opinions = {judgement.annotator: judgement for judgement in sorted(log.under_other_gold(bracket), key=_order)}
        return RULES[rule]({name: judgement for name, judgement in opinions.items() if not annotators or name in annotators})

    return verdict
