"""Places shown in their sentences: what ``--examples`` prints."""

from __future__ import annotations

from collections.abc import Sequence

from treegauge.metrics.breakdowns.base import Place
from treegauge.metrics.tokens import has_tag
from treegauge.metrics.traces import without_traces
from treegauge.normalise.preset import Preset
from treegauge.trees.treebank import Treebank

__all__ = ["kept_words", "marked", "shown"]


def kept_words(gold: Treebank, preset: Preset, sentence: int) -> list[str]:
    """The words of a sentence that a preset keeps: those that places count."""
    bank = without_traces(gold[sentence : sentence + 1], preset)
    deleted: list[bool] = has_tag(bank, preset.delete_tags).tolist()
    return [word for word, is_deleted in zip(bank.words(0), deleted, strict=True) if not is_deleted]


def marked(words: Sequence[str], place: Place, around: int = 8) -> str:
    """The words of a place in brackets with its label, and up to ``around`` words on either side.

    >>> marked("I saw a man with wide eyes".split(), Place(0, "gold", 4, 7, "PP"), around=2)
    '... a man [PP with wide eyes]'
    """
    first, last = max(place.start - around, 0), place.end + around
    before, after = words[first : place.start], words[place.end : last]
    inside = " ".join(words[place.start : place.end])
    bracket = f"[{place.label} {inside}]" if place.label else inside
    return " ".join([*(["..."] if first else []), *before, bracket, *after, *(["..."] if last < len(words) else [])])


def shown(gold: Treebank, preset: Preset, place: Place) -> str:
    """A place with where it was read, its side and its words.

    A place in a sentence whose tokens were cut to fit those of the test tree may lie behind its last word; then the whole
    sentence is shown.

    >>> from treegauge.normalise.preset import load_preset
    >>> gold = Treebank.parse("(S (NP (PRP I)) (, ,) (VP (VBD left)) (. .))")
    >>> shown(gold, load_preset("default"), Place(0, "test", 1, 2, "VP"))
    'tree 1: test: I [VP left]'
    """
    words = kept_words(gold, preset, place.sentence)
    text = marked(words, place) if place.end <= len(words) else f"[{place.label}] in: {' '.join(words)}"
    return f"{gold.place(place.sentence)}: {place.side}: {text}"
