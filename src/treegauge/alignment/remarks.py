"""Remarks on a whole file of parses that looks wrong: its words differ from gold's, or its tags say nothing.

They are notes of the kinds in :data:`REMARKS`, about no single sentence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from treegauge.alignment.alignment import Note
from treegauge.tables import number_of
from treegauge.trees.treebank import Treebank

__all__ = ["REMARKS", "TagUse", "advice_on", "notes_with_remarks", "remarks_on_parses", "with_advice"]

REMARKS = ("all-words", "all-tags")
"""The kinds of note about all parses together."""

_DIFFERS = ("text-differs", "edited")
_UNPARSED = ("no-parse", "broken", "missing")
_FEW = 2
_MANY = 0.05
_EFFECT = "rates that compare tags (tagging accuracy, parent-child, frames) say nothing"


@dataclass
class TagUse:
    """The tags and the labels of phrases in some trees, and how many words have a tag."""

    tags: set[str] = field(default_factory=set[str])
    phrases: set[str] = field(default_factory=set[str])
    words: int = 0
    tagged: int = 0

    def add(self, bank: Treebank) -> None:
        """Add the trees of a block."""
        tags = np.bincount(bank.tag + 1, minlength=len(bank.labels) + 1)[1:]
        nodes = np.bincount(bank.label, minlength=len(bank.labels))
        self.words += bank.n_tokens
        self.tagged += int(tags.sum())
        # Each tag is a node over its one word: a label on more nodes than words is a phrase's.
        for found, counts in ((self.tags, tags), (self.phrases, nodes - tags)):
            found.update(bank.labels[number] for number in np.flatnonzero(counts).tolist())

    def merge(self, other: TagUse) -> None:
        """Add what another counted."""
        self.tags |= other.tags
        self.phrases |= other.phrases
        self.words += other.words
        self.tagged += other.tagged


def remarks_on_parses(notes: Sequence[Note], n_gold: int, gold: TagUse, test: TagUse) -> list[Note]:
    """The remarks on a system's parses, given the notes on them, the number of gold sentences, and the tags of both sides."""
    return [*_on_words(notes, n_gold), *_on_tags(gold, test)]


def notes_with_remarks(notes: Sequence[Note], gold: Treebank, test: Treebank) -> tuple[Note, ...]:
    """The notes on sentences, and the remarks on all of them together."""
    uses = TagUse(), TagUse()
    for use, bank in zip(uses, (gold, test), strict=True):
        use.add(bank)
    return (*notes, *remarks_on_parses(notes, len(gold), *uses))


def _on_words(notes: Sequence[Note], n_gold: int) -> list[Note]:
    """A remark if words differ for a cause that can be left aside, or in many of the parsed sentences.

    The cause is the one that explains most of the sentences, if one does.
    """
    differing = [note for note in notes if note.kind in _DIFFERS]
    parsed = n_gold - sum(note.kind in _UNPARSED and note.sentence >= 0 for note in notes)
    if not differing:
        return []
    said = f"the words differ in {len(differing):,} of {number_of(parsed, 'parsed sentence')}"
    causes = Counter(note.cause for note in differing if note.cause)
    hidden, traces = causes.pop("tags", 0), causes.pop("traces", 0)
    if 2 * traces > len(differing):
        return [Note(-1, "all-words", "", f"{said}; in {traces:,} of them traces count as words", "", "traces")]
    is_many = len(differing) > max(1, _MANY * parsed)
    if 2 * hidden > len(differing) and is_many:
        return [
            Note(-1, "all-words", "", f"{said}; in {hidden:,} of them a tag of the parse hides a word or shows a trace", "", "tags")
        ]
    fitting = causes.total()
    if 2 * fitting <= len(differing):
        aligned_all = all(note.kind == "edited" for note in differing)
        return [Note(-1, "all-words", "", said)] if is_many and not hidden and not traces and not aligned_all else []
    cause, of_cause = causes.most_common(1)[0]
    if 2 * of_cause <= fitting:
        cause = "writing"
    from treegauge.alignment.causes import CAUSES

    fitting = of_cause if CAUSES[cause][0] == "case" else fitting
    return [Note(-1, "all-words", "", f"{said}; {fitting:,} would fit but for {CAUSES[cause][1]}", "", cause)]


def _on_tags(gold: TagUse, test: TagUse) -> list[Note]:
    """A remark if no word of the parses has a tag, or all have the same one, though gold tells words apart by tags.

    In a tree without tags a phrase over one word looks like a tag: there all tags are labels of phrases, and none is gold's.
    """
    if len(gold.tags) < _FEW or gold.tagged < gold.words or test.words < _FEW:
        return []
    if len(test.tags) == 1 and test.tagged == test.words:
        return [Note(-1, "all-tags", "", f"all words of the parses have the tag {next(iter(test.tags))}; {_EFFECT}")]
    phrases = {_category(label) for label in gold.phrases | test.phrases}
    if {_category(tag) for tag in test.tags} <= phrases and test.tags.isdisjoint(gold.tags):
        lost = "; phrases over one word are taken for tags" if test.tagged else ""
        return [Note(-1, "all-tags", "", f"no word of the parses has a tag{lost}; {_EFFECT}")]
    return []


def _category(label: str) -> str:
    """A label without function tags and indices.

    >>> _category("NP-SBJ=2"), _category("-LRB-")
    ('NP', '-LRB-')
    """
    return re.split(r"(?<=.)[-=|]", label, maxsplit=1)[0] if not label.startswith("-") else label


def advice_on(remark: Note, option: str, otherwise: str) -> str:
    """The advice on a remark; ``option`` is how to say which words match, and ``otherwise`` how to align by edit distance.

    >>> advice_on(Note(-1, "all-words", "", "", "", "case"), "match_words={}", "on_mismatch=edit")
    'give match_words=case'
    """
    if remark.kind != "all-words" or remark.cause == "tags":
        return ""
    if remark.cause == "traces":
        return "take them out by the normalisation step traces, or choose a preset that leaves them out"
    from treegauge.alignment.causes import CAUSES

    if remark.cause in CAUSES:
        return f"give {option.format(CAUSES[remark.cause][0])}"
    return (
        f"are they parses of the same text? {option.format('length')} compares lengths only, {otherwise} scores the brackets over "
        "the words that both have"
    )


def with_advice(remark: Note) -> str:
    """A remark and the advice on it, in an error message."""
    advice = advice_on(remark, "match_words {}", "on_mismatch edit")
    return remark.text + (f"; {advice} (options match_words and on_mismatch)" if advice else "")
