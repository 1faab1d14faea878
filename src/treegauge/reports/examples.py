"""The sentences behind the counts of a breakdown, as ``--examples`` prints them: place, words, marked bracket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treegauge.alignment.words import is_deleted, without_traces
from treegauge.metrics.breakdowns.counts_by_key import Place
from treegauge.presets import Preset
from treegauge.scoring.inputs import SentencePlaces
from treegauge.scoring.result import Result
from treegauge.trees.treebank import Treebank

__all__ = ["counted_words", "describe_place", "example_lines", "mark_words"]

_LONGEST = 100


def example_lines(result: Result, breakdown: str, most: int) -> Iterator[str]:
    """The first ``most`` brackets behind each row of a breakdown, one per line."""
    counted = result.breakdowns[breakdown]
    for key, cells in zip(counted.keys, counted.table.rows, strict=True):
        places = counted.examples(key, most)
        if places:
            yield f"{counted.table.title}, {_row_name(cells, counted.table.columns, key)}:"
            yield from (f"  {_example_line(result, place)}" for place in places)


def _row_name(cells: tuple[object, ...], columns: tuple[str, ...], key: tuple[str | int, ...]) -> str:
    """The name of a row: its first cells, as many as its key has parts."""
    named = zip(columns[: len(key)], cells, strict=False)
    return ", ".join(f"{column} {cell}" for column, cell in named)


def _example_line(result: Result, place: Place) -> str:
    places = result.scored_sentences.places
    where = places[place.sentence]
    what = f": {'missed' if place.side == 'gold' else 'spurious'} {place.label}" if place.label else ""
    if not isinstance(places, SentencePlaces):
        return f"{where}{what}"
    words = places.words(place.sentence, result.signature.preset.delete_tags)
    recut = any(note.sentence == place.sentence and note.kind in ("characters", "edited") for note in result.notes)
    if not place.label or recut:
        return f"{where}{what}: {_cut(' '.join(words))}"
    with_bracket = [*words[: place.start], "[" + " ".join(words[place.start : place.end]) + "]", *words[place.end :]]
    return f"{where}{what}: {_cut(' '.join(with_bracket), around=' '.join(words[: place.start]))}"


def _cut(text: str, around: str = "") -> str:
    """A text that fits on a line, cut so that what follows ``around`` is seen."""
    if len(text) <= _LONGEST:
        return text
    first = max(0, min(len(around) - _LONGEST // 3, len(text) - _LONGEST))
    return ("..." if first else "") + text[first : first + _LONGEST] + ("..." if first + _LONGEST < len(text) else "")


def counted_words(gold: Treebank, preset: Preset, sentence: int) -> list[str]:
    """The words of a sentence that count under a preset."""
    bank = without_traces(gold[sentence : sentence + 1], preset)
    deleted: list[bool] = is_deleted(bank, preset).tolist()
    return [word for word, is_deleted in zip(bank.words(0), deleted, strict=True) if not is_deleted]


def mark_words(words: Sequence[str], place: Place, around: int = 8) -> str:
    """The words of a place in brackets with its label, and up to ``around`` words on either side.

    >>> mark_words("I saw a man with wide eyes".split(), Place(0, "gold", 4, 7, "PP"), around=2)
    '... a man [PP with wide eyes]'
    """
    first, last = max(place.start - around, 0), place.end + around
    before, after = words[first : place.start], words[place.end : last]
    inside = " ".join(words[place.start : place.end])
    bracket = f"[{place.label} {inside}]" if place.label else inside
    return " ".join([*(["..."] if first else []), *before, bracket, *after, *(["..."] if last < len(words) else [])])


def describe_place(gold: Treebank, preset: Preset, place: Place) -> str:
    """A place in words: file and line, side, and the sentence with the bracket marked.

    A place in a sentence whose tokens were cut to fit those of the test tree may lie beyond its last word; then the whole
    sentence is shown.

    >>> from treegauge.presets import load_preset
    >>> gold = Treebank.parse("(S (NP (PRP I)) (, ,) (VP (VBD left)) (. .))")
    >>> describe_place(gold, load_preset("default"), Place(0, "test", 1, 2, "VP"))
    'tree 1: test: I [VP left]'
    """
    words = counted_words(gold, preset, place.sentence)
    text = mark_words(words, place) if place.end <= len(words) else f"[{place.label}] in: {' '.join(words)}"
    return f"{gold.place(place.sentence)}: {place.side}: {text}"
