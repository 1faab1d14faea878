"""The sentences behind a count: where they stand, and which words are meant."""

from __future__ import annotations

from collections.abc import Iterator

from treegauge.metrics.breakdowns import Place
from treegauge.metrics.result import Result
from treegauge.metrics.sides import Places

__all__ = ["example_lines"]

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
