"""The sentences behind a count: where they stand, and which words are meant.

Places shown in their sentences: what ``--examples`` prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treegauge.alignment.words import has_tag, without_traces
from treegauge.metrics.breakdowns.base import Place
from treegauge.presets import Preset
from treegauge.scoring.inputs import Places
from treegauge.scoring.result import Result
from treegauge.trees.treebank import Treebank

__all__ = ["example_lines", "kept_words", "marked", "shown"]

_LONGEST = 100


def example_lines(result: Result, breakdown: str, most: int) -> Iterator[str]:
    """For each row of a breakdown the first ``most`` brackets behind it, one a line."""
    counted = result.breakdowns[breakdown]
    for key, cells in zip(counted.keys, counted.table.rows, strict=True):
        places = counted.examples(key, most)
        if places:
            yield f"{counted.table.title}, {_row_name(cells, counted.table.columns, key)}:"
            yield from (f"  {_shown(result, place)}" for place in places)


def _row_name(cells: tuple[object, ...], columns: tuple[str, ...], key: tuple[str | int, ...]) -> str:
    """What tells the row from others: its first cells, as many as there are parts of its key."""
    named = zip(columns[: len(key)], cells, strict=False)
    return ", ".join(f"{column} {cell}" for column, cell in named)


def _shown(result: Result, place: Place) -> str:
    places = result.scored_sentences.places
    where = places[place.sentence]
    what = f": {'missed' if place.side == 'gold' else 'spurious'} {place.label}" if place.label else ""
    if not isinstance(places, Places):
        return f"{where}{what}"
    words = places.words(place.sentence, result.signature.preset.delete_tags)
    recut = any(note.sentence == place.sentence and note.kind == "characters" for note in result.notes)
    if not place.label or recut:
        return f"{where}{what}: {_cut(' '.join(words))}"
    marked = [*words[: place.start], "[" + " ".join(words[place.start : place.end]) + "]", *words[place.end :]]
    return f"{where}{what}: {_cut(' '.join(marked), around=' '.join(words[: place.start]))}"


def _cut(text: str, around: str = "") -> str:
    """A text that fits on a line, cut so that what follows ``around`` is seen."""
    if len(text) <= _LONGEST:
        return text
    first = max(0, min(len(around) - _LONGEST // 3, len(text) - _LONGEST))
    return ("..." if first else "") + text[first : first + _LONGEST] + ("..." if first + _LONGEST < len(text) else "")


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

    >>> from treegauge.presets import load_preset
    >>> gold = Treebank.parse("(S (NP (PRP I)) (, ,) (VP (VBD left)) (. .))")
    >>> shown(gold, load_preset("default"), Place(0, "test", 1, 2, "VP"))
    'tree 1: test: I [VP left]'
    """
    words = kept_words(gold, preset, place.sentence)
    text = marked(words, place) if place.end <= len(words) else f"[{place.label}] in: {' '.join(words)}"
    return f"{gold.place(place.sentence)}: {place.side}: {text}"
