"""Notes on sentences that do not match, why their words differ, and remarks on a whole file of parses that looks wrong.

A cause is the one difference in writing without which two sentences would match; each cause names the way of comparing words
(:data:`treegauge.alignment.words.MATCH_WORDS`) that ignores it. The tags of a parse can be the cause too: a word tagged as a trace
is not compared, and a trace tagged as a word is.

Remarks are notes of the kinds in :data:`REMARKS`. They concern no single sentence: the words, tags, labels or roots of the parses
are not those of the gold trees. The command line prints them, and in Python they are issued as a
:class:`~treegauge.errors.TreegaugeWarning`, together with the :func:`misfits` that make a command fail.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from treegauge._lazy import advice_on
from treegauge.alignment.words import is_unknown_word, loose_word, matched_word, plain_word
from treegauge.presets import Preset
from treegauge.presets.treebanks import TRACES
from treegauge.tables import number_of
from treegauge.trees.columns import Columns
from treegauge.trees.treebank import Int64, Treebank

if TYPE_CHECKING:
    from treegauge.alignment.pairing import Pair

MISSED = "its gold brackets count as missed"
LEFT_OUT = "it is left out"


class Note(NamedTuple):
    """A note on a sentence: its place, the kind of note, what was found, and the consequence for the score.

    * ``sentence``: the number of the gold sentence, from 0, as everywhere in Python (files, places and JSON count from 1); -1 for a
      test sentence without a gold sentence.
    * ``kind``: ``characters`` (its tokens were aligned by characters), ``text-differs``, ``edited`` (its words differ and were
      aligned by edit distance), ``no-parse``, ``missing``, ``extra``, ``broken`` (a test tree that cannot be read), ``repaired``,
      ``evalb`` (a message of EVALB), ``punctuation`` (of another treebank), ``misfit``, or one of :data:`REMARKS`.
    * ``cause``: why words or labels differ, which is a key of :data:`CAUSES`, ``tags`` if a tag hides a word, ``traces`` if traces
      count as words, ``features`` if labels have more than a category, or empty; for a broken tree, ``unrepaired`` if no repair was
      tried; of remarks also ``order`` and ``few``, and of ``root`` its label.
    """

    sentence: int
    kind: str
    place: str
    what: str
    consequence: str = ""
    cause: str = ""

    @property
    def text(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.what}" + (f"; {self.consequence}" if self.consequence else "")


# Strings rather than compiled patterns, as in :mod:`treegauge.alignment.words`.
_TRACE = r"0|\*(?:[A-Za-z?]+\*)?(?:-\d+)?"
_BACKSLASH = r"\\(?=[^\w\s])"
_BLANK = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
_QUOTES = "[\"'`´ʼ“”„‟‘’‚‛«»‹›「」『』《》〈〉＂＇]+"

CAUSES: dict[str, tuple[str, str]] = {
    "case": ("case", "capital and small letters"),
    "normal-form": ("loose", "the normal form of Unicode (NFC or NFD)"),
    "spacing": ("loose", "blanks and invisible characters inside words"),
    "escapes": ("loose", "escapes such as &amp; or \\("),
    "quotes": ("loose", "quotation marks"),
    "unknown-words": ("loose", "words replaced by <unk>"),
    "writing": ("loose", "case, normal form, escapes, quotation marks or spacing, several of them together"),
}
"""Cause -> the way of matching words that ignores it, and the cause in words."""

_WRITINGS: dict[str, Callable[[str], str]] = {
    "case": lambda word: matched_word(word, "case"),
    "normal-form": lambda word: unicodedata.normalize("NFC", plain_word(word)),
    "spacing": lambda word: re.sub(_BLANK, "", plain_word(word)),
    "escapes": lambda word: plain_word(_without_escapes(word)),
    "quotes": lambda word: re.sub(_QUOTES, "'", plain_word(word)),
    "writing": loose_word,
}


def _without_escapes(word: str) -> str:
    import html

    return re.sub(_BACKSLASH, "", html.unescape(word))


def cause_of_difference(gold: Sequence[str], test: Sequence[str]) -> str:
    r"""The reason why the words of two sentences differ, a key of :data:`CAUSES`; empty if the text itself differs.

    >>> cause_of_difference(["Rain", "fell"], ["rain", "fell"]), cause_of_difference(["f", "(", "x"], ["f", r"\(", "x"])
    ('case', '')
    >>> cause_of_difference(["Rain", "fell"], ["<unk>", "fell"]), cause_of_difference(["Rain", "fell"], ["Snow", "fell"])
    ('unknown-words', '')
    """
    if "".join(map(plain_word, gold)) == "".join(map(plain_word, test)):
        return ""
    if len(gold) == len(test) and _unknown_apart(gold, test, plain_word):
        return "unknown-words"
    for cause, writing in _WRITINGS.items():
        if "".join(map(writing, gold)) == "".join(map(writing, test)):
            return cause
    return "writing" if len(gold) == len(test) and _unknown_apart(gold, test, loose_word) else ""


def _unknown_apart(gold: Sequence[str], test: Sequence[str], writing: Callable[[str], str]) -> bool:
    pairs = zip(gold, test, strict=True)
    return all(writing(a) == writing(b) or is_unknown_word(a) or is_unknown_word(b) for a, b in pairs)


class TaggedWords:
    """The words of a sentence with their tags, and a mask of those that are traces by their tag."""

    def __init__(self, words: Sequence[str], tags: Sequence[str], traces: frozenset[str]) -> None:
        self.words, self.tags = list(words), list(tags)
        self.is_trace = [tag in traces for tag in tags]

    @property
    def visible(self) -> list[int]:
        """The positions of the words that are not traces."""
        return [place for place, is_trace in enumerate(self.is_trace) if not is_trace]


def kept_trace(gold: TaggedWords, test: TaggedWords) -> str:
    """A phrase about the trace that only one side has; empty if that is not why the words differ.

    >>> gold = TaggedWords(["*", "go"], ["-NONE-", "VB"], frozenset({"-NONE-"}))
    >>> kept_trace(gold, TaggedWords(["go"], ["VB"], frozenset({"-NONE-"})))
    "gold has the trace '*' (-NONE-), which counts as a word here, but the parse does not"
    """
    ours, theirs = ([plain_word(side.words[place]) for place in side.visible] for side in (gold, test))
    if ours != theirs:
        return ""
    for side, has, other in ((gold, "gold has", "the parse does not"), (test, "the parse has", "gold does not")):
        if (first := next((place for place, is_trace in enumerate(side.is_trace) if is_trace), -1)) >= 0:
            return f"{has} the trace {side.words[first]!r} ({side.tags[first]}), which counts as a word here, but {other}"
    return ""


def hidden_word(gold: TaggedWords, test: TaggedWords) -> str:
    """A phrase about the tag that makes the words differ; empty if that is not why they differ.

    >>> gold = TaggedWords(["dogs", "bark"], ["NNS", "VBP"], frozenset({"-NONE-"}))
    >>> hidden_word(gold, TaggedWords(["dogs", "bark"], ["-NONE-", "VBP"], frozenset({"-NONE-"})))
    "the parse tags the word 'dogs' as -NONE-, which hides it"
    """
    everything = range(len(gold.words)), range(len(test.words))
    for ours, theirs in (everything, (gold.visible, everything[1]), (everything[0], test.visible)):
        if [plain_word(gold.words[i]) for i in ours] != [plain_word(test.words[i]) for i in theirs]:
            continue
        for i, k in zip(ours, theirs, strict=True):
            if test.is_trace[k] and not gold.is_trace[i]:
                return f"the parse tags the word {test.words[k]!r} as {test.tags[k]}, which hides it"
            if gold.is_trace[i] and not test.is_trace[k]:
                shown = f"as {test.tags[k]}" if test.tags[k] else "without a tag"
                return f"the parse has {test.words[k]!r} {shown}, tagged as a word; gold's tag {gold.tags[i]} leaves it out"
    return ""


def trace_as_word(gold: Sequence[str], test: Sequence[str], tags: Sequence[str]) -> str:
    """A phrase about the first word of a parse that looks like a trace and is not in gold; empty if the words differ otherwise.

    >>> trace_as_word(["I", "go"], ["I", "*-1", "go"], ["PRP", "NN", "VB"])
    "the parse has '*-1' as NN, which is written as a trace, and gold has no such word"
    """
    traces: list[int] = []
    for place, word in enumerate(test):
        at = place - len(traces)
        if at < len(gold) and plain_word(gold[at]) == plain_word(word):
            continue
        if not re.fullmatch(_TRACE, word):
            return ""
        traces.append(place)
    if not traces or len(test) - len(traces) != len(gold):
        return ""
    shown = f"as {tags[traces[0]]}" if tags[traces[0]] else "without a tag"
    return f"the parse has {test[traces[0]]!r} {shown}, which is written as a trace, and gold has no such word"


REMARKS = ("all-empty", "all-words", "all-tags", "labels", "root", "exchanged")
"""The kinds of note on all parses together."""

_DIFFERS = ("text-differs", "edited")
UNPARSED = ("no-parse", "broken", "missing")
NOT_PARSED = (*UNPARSED, "text-differs", "evalb")
"""The kinds of note on gold sentences that have no readable tree over their words."""
_FEW = 2
_MANY = 0.05
_LEAST_PHRASES = 5
"""Labels of fewer phrases may differ by chance."""
_LEAST_ROOTS = 3
_EFFECT = "rates that compare tags (tagging accuracy, parent-child, frames) are not meaningful"


@dataclass
class LabelUse:
    """The numbers of tags, of labels of phrases with words, and of roots with the label of their only child (empty: there are
    several children, or none), in some trees; and the number of words."""

    tags: Counter[str] = field(default_factory=Counter[str])
    phrases: Counter[str] = field(default_factory=Counter[str])
    roots: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    words: int = 0

    @property
    def tagged(self) -> int:
        """The number of words with a tag."""
        return self.tags.total()

    def add(self, labels: Sequence[str], trees: Columns | Treebank, node_offset: Int64) -> None:
        """Add the trees of a block, whose labels have these names; a tag is a node over its one word."""
        tags = np.bincount(trees.tag + 1, minlength=len(labels) + 1)[1:]
        phrases = np.bincount(trees.label[trees.start < trees.end], minlength=len(labels)) - tags
        for known, counts in ((self.tags, tags), (self.phrases, phrases)):
            for number in np.flatnonzero(counts).tolist():
                known[labels[number]] += int(counts[number])
        for root, child, count in _root_counts(trees, node_offset):
            self.roots[labels[root], labels[child] if child >= 0 else ""] += count
        self.words += len(trees.word)

    def merge(self, other: LabelUse) -> None:
        """Add the labels and numbers of other trees."""
        self.tags += other.tags
        self.phrases += other.phrases
        self.roots += other.roots
        self.words += other.words


def _root_counts(trees: Columns | Treebank, node_offset: Int64) -> Iterator[tuple[int, int, int]]:
    """The labels of roots and of their only children (-1: none), and the number of trees with them."""
    n_nodes = np.diff(node_offset)
    root = node_offset[:-1][n_nodes > 0]
    below = np.minimum(root + 1, len(trees.label) - 1)
    is_only = (n_nodes[n_nodes > 0] > 1) & (trees.start[root] == trees.start[below]) & (trees.end[root] == trees.end[below])
    width = int(trees.label.max(initial=0)) + 2
    codes, counts = np.unique(
        trees.label[root].astype(np.int64) * width + np.where(is_only, trees.label[below] + 1, 0), return_counts=True
    )
    return ((code // width, code % width - 1, count) for code, count in zip(codes.tolist(), counts.tolist(), strict=True))


def remarks_on_parses(notes: Sequence[Note], n_gold: int, gold: LabelUse, test: LabelUse, preset: Preset) -> list[Note]:
    """The remarks on a system's parses, given the notes on them, the number of gold sentences, and the labels of both sides."""
    labels = _on_labels(gold, test, preset)
    if sum(note.kind == "no-parse" for note in notes) == n_gold > 1:
        return [Note(-1, "all-empty", "", f"all {n_gold:,} parses are empty")]
    return [
        *_on_words(notes, n_gold, are_few=2 * test.words < gold.words),
        *_on_tags(gold, test, preset),
        *(labels or _on_roots(gold, test, preset)),
        *_on_traces(notes, gold, test),
    ]


def notes_with_remarks(pair: Pair, gold: Treebank, test: Treebank) -> tuple[Note, ...]:
    """The notes on the sentences of a pair, and the remarks on all of them together."""
    uses = LabelUse(), LabelUse()
    for use, bank in zip(uses, (gold, test), strict=True):
        use.add(bank.labels, bank, bank.node_offset)
    return (*pair.alignment.notes, *remarks_on_parses(pair.alignment.notes, len(gold), *uses, pair.preset))


def misfits(notes: Sequence[Note]) -> list[Note]:
    """Notes on how many trees cannot be read, beside how many empty ones, and how many sentences are missing or too many."""
    broken = [note for note in notes if note.kind == "broken"]
    empty, missing, extra = (sum(note.kind == kind for note in notes) for kind in ("no-parse", "missing", "extra"))
    found: list[Note] = []
    if broken:
        cause = "unrepaired" if any(note.cause for note in broken) else ""
        others = f", and {empty:,} {'is' if empty == 1 else 'are'} empty" if empty else ""
        found.append(Note(-1, "misfit", "", f"{number_of(len(broken), 'tree')} could not be read{others}", "", cause))
    if missing or extra:
        without = f"{number_of(missing, 'gold sentence')} {'has' if missing == 1 else 'have'} no parse"
        further = f"{number_of(extra, 'parse')} {'has' if extra == 1 else 'have'} no gold sentence"
        what = ", ".join([*[without] * (missing > 0), *[further] * (extra > 0)])
        cause = "unpaired" if any(note.sentence < 0 for note in broken) else "order" if _in_another_order(notes) else ""
        found.append(Note(-1, "misfit", "", f"gold and test do not match: {what}", "", cause))
    return found


def _in_another_order(notes: Sequence[Note]) -> bool:
    """Whether most gold sentences without a parse, of several, are among the parses without a gold sentence."""
    missing, extra = ({note.what.partition(" for ")[2] for note in notes if note.kind == kind} for kind in ("missing", "extra"))
    return len(missing) > 1 and 2 * len(missing & {text.removeprefix("the test sentence ") for text in extra}) > len(missing)


def _on_words(notes: Sequence[Note], n_gold: int, *, are_few: bool) -> list[Note]:
    """A remark if words differ for a cause that can be ignored, or in many of the parsed sentences.

    It names the cause that explains more than half of these sentences, if there is one. ``are_few``: the parses have less than half
    as many words as gold, as if words were taken for labels.
    """
    differing = [note for note in notes if note.kind in _DIFFERS]
    parsed = n_gold - sum(note.kind in UNPARSED and note.sentence >= 0 for note in notes)
    if not differing:
        return []
    said = f"the words differ in {len(differing):,} of {number_of(parsed, 'parse')}"
    causes = Counter(note.cause for note in differing if note.cause)
    hidden, traces = causes.pop("tags", 0), causes.pop("traces", 0)
    if 2 * traces > len(differing):
        return [Note(-1, "all-words", "", f"{said}; in {traces:,} of them traces count as words", "", "traces")]
    is_many = len(differing) > max(min(1, parsed - 1), _MANY * parsed)
    if 2 * hidden > len(differing) and is_many:
        return [
            Note(-1, "all-words", "", f"{said}; in {hidden:,} of them a tag of the parse hides a word or shows a trace", "", "tags")
        ]
    fitting = causes.total()
    if 2 * fitting <= len(differing):
        aligned_all = all(note.kind == "edited" for note in differing)
        cause = "order" if _in_another_order(notes) else "few" if are_few else ""
        return [Note(-1, "all-words", "", said, "", cause)] if is_many and not hidden and not traces and not aligned_all else []
    cause, of_cause = causes.most_common(1)[0]
    if 2 * of_cause <= fitting:
        cause = "writing"
    fitting = of_cause if CAUSES[cause][0] == "case" else fitting
    differ = "differs" if fitting == 1 else "differ"
    return [Note(-1, "all-words", "", f"{said}; {fitting:,} {differ} only in {CAUSES[cause][1]}", "", cause)]


def _on_tags(gold: LabelUse, test: LabelUse, preset: Preset) -> list[Note]:
    """A remark if no word of the parses has a tag, or all have the same tag, although the gold trees have several.

    In a tree without tags, a phrase over one word looks like a tag: then all tags are phrase labels, and none is a gold tag.
    """
    if not preset.labelled or len(gold.tags) < _FEW or gold.tagged < gold.words or test.words < _FEW:
        return []
    if len(test.tags) == 1 and test.tagged == test.words:
        return [Note(-1, "all-tags", "", f"all words of the parses have the tag {next(iter(test.tags))}; {_EFFECT}")]
    phrases = {_category(label) for label in (*gold.phrases, *test.phrases)}
    if {_category(tag) for tag in test.tags} <= phrases and test.tags.keys().isdisjoint(gold.tags):
        lost = "; phrases over one word are taken for tags" if test.tagged else ""
        return [Note(-1, "all-tags", "", f"no word of the parses has a tag{lost}; {_EFFECT}")]
    return []


def _category(label: str) -> str:
    """A label without function tags and indices.

    >>> _category("NP-SBJ=2"), _category("-LRB-")
    ('NP', '-LRB-')
    """
    return re.split(r"(?<=.)[-=|]", label, maxsplit=1)[0] if not label.startswith("-") else label


def _on_labels(gold: LabelUse, test: LabelUse, preset: Preset) -> list[Note]:
    """A remark if most phrases of the parses have a label that no gold phrase has."""
    ours, theirs = (_counted(use.phrases, preset) for use in (gold, test))
    if preset.labelled and list(theirs) == ["X"] and "X" not in ours:
        return [Note(-1, "labels", "", "brackets without labels: each gets the label X", "", "bare")]
    if not preset.labelled or min(ours.total(), theirs.total()) < _LEAST_PHRASES:
        return []
    known = {*ours, *(label for pair in preset.equal_labels for label in pair if not ours.keys().isdisjoint(pair))}
    strange = Counter({label: count for label, count in theirs.items() if label not in known})
    if 2 * strange.total() <= theirs.total():
        return []

    def is_why(change: Callable[[str], str]) -> bool:
        alike = set(map(change, known))
        return 2 * sum(count for label, count in strange.items() if change(label) in alike) > strange.total()

    cause = next((cause for cause, change in _LABEL_CHANGES.items() if is_why(change)), "")
    shown = [", ".join(label or "(none)" for label, _ in counts.most_common(3)) for counts in (strange, ours)]
    what = f"{strange.total():,} of {number_of(theirs.total(), 'phrase')} of the parses have labels that gold does not have"
    return [Note(-1, "labels", "", f"{what} ({shown[0]}; gold has {shown[1]})", "", cause)]


_LABEL_CHANGES: dict[str, Callable[[str], str]] = {
    "case": str.casefold,
    "features": lambda label: re.split(r"(?<=.)[^\w$]", label, maxsplit=1)[0],
}


def _counted(labels: Mapping[str, int], preset: Preset) -> Counter[str]:
    """The numbers of labels that a preset counts, as it compares them."""
    found: Counter[str] = Counter()
    for label, count in labels.items():
        cut = preset.cut_label(label)
        found[cut] += 0 if preset.deletes(cut) else count
    return +found


def _on_roots(gold: LabelUse, test: LabelUse, preset: Preset) -> list[Note]:
    """A remark if nearly all parses, and hardly any gold trees, have one root that counts."""
    ours, theirs = Counter[str](), Counter[str]()
    for (root, _), count in test.roots.items():
        theirs[preset.cut_label(root)] += count
    for (root, child), count in gold.roots.items():
        cut = preset.cut_label(root)
        ours[preset.cut_label(child) if preset.deletes(cut) else cut] += count
    label, count = theirs.most_common(1)[0] if theirs else ("", 0)
    if not preset.labelled or count < _LEAST_ROOTS or count < (1 - _MANY) * theirs.total() or preset.deletes(label):
        return []
    if ours[label] > _MANY * ours.total() or gold.phrases[label] > _MANY * ours.total():
        return []
    of_all = f"{count:,} of {number_of(theirs.total(), 'parse')}"
    return [Note(-1, "root", "", f"{of_all} have the root {label or '()'}, which gold does not have and which counts", "", label)]


def _on_traces(notes: Sequence[Note], gold: LabelUse, test: LabelUse) -> list[Note]:
    """A remark if the parses have traces, as a treebank has them, and gold has none; not if words are tagged as traces."""
    ours, theirs = (sum(use.tags[tag] for tag in TRACES) for use in (gold, test))
    if ours or theirs < max(_FEW, _MANY / 5 * test.words) or any(note.cause == "tags" for note in notes):
        return []
    return [Note(-1, "exchanged", "", f"{number_of(theirs, 'word')} of the parses, and no word of gold, are traces")]


def with_advice(remark: Note) -> str:
    """A remark with advice on what to do.

    >>> with_advice(Note(-1, "all-words", "", "the words differ", "", "case"))
    'the words differ; give match_words="case"'
    """
    known = advice_on(f"remark {remark.kind}")
    advice = known.get(remark.cause, known.get("", ""))
    if remark.kind == "all-words" and remark.cause in CAUSES:
        advice = f'give match_words="{CAUSES[remark.cause][0]}"'
    if remark.kind == "root" and remark.cause:
        advice = advice.replace("step root", f"step root:{remark.cause}")
    return f"{remark.text}; {advice}" if advice else remark.text
