"""A breakdown: counts by some key, their table, and the brackets behind each row of it.

Counts can be added, so the breakdown of a corpus is the sum of those of its shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.pairing import Pair
from treegauge.tables import Cell, Table
from treegauge.trees.treebank import Int64

Key = tuple[str | int, ...]
Counts = Mapping[Key, tuple[int, ...]]


class Place(NamedTuple):
    """A bracket to look at: gold sentence (numbered from 0), side (``gold`` or ``test``), span over the kept tokens, label."""

    sentence: int
    side: str
    start: int
    end: int
    label: str


@dataclass(frozen=True)
class PlaceArray:
    """Many places as rows of sentence, side (0 gold, 1 test), start, end and label number (-1: the whole sentence)."""

    rows: Int64
    labels: tuple[str, ...]

    def shift(self, sentences: int) -> PlaceArray:
        rows = self.rows.copy()
        rows[:, 0] += sentences
        return PlaceArray(rows, self.labels)

    def __iter__(self) -> Iterator[Place]:
        for sentence, side, start, end, label in self.rows.tolist():
            yield Place(sentence, ("gold", "test")[side], start, end, self.labels[label] if label >= 0 else "")


class TableLayout(NamedTuple):
    """The layout of a table of counts: ``order`` gives the keys of the rows, ``cells`` the cells of a row."""

    title: str
    columns: tuple[str, ...]
    percent: tuple[str, ...]
    order: Callable[[Counts], list[Key]]
    cells: Callable[[Key, Counts], tuple[Cell, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Breakdown:
    """Counts by key over ``sentences`` gold sentences; ``places`` has the wrong brackets behind the counts of each key."""

    counts: Counts
    places: Mapping[Key, tuple[PlaceArray, ...]] = field(repr=False)
    sentences: int
    layout: TableLayout = field(repr=False)

    @property
    def keys(self) -> list[Key]:
        """The key of each row of the table."""
        return self.layout.order(self.counts)

    @property
    def table(self) -> Table:
        rows = tuple(self.layout.cells(key, self.counts) for key in self.keys)
        return Table(self.layout.title, self.layout.columns, rows, self.layout.notes, self.layout.percent)

    def examples(self, key: Key, n: int | None = None) -> list[Place]:
        """The first ``n`` places behind a row (default: all)."""
        return list(islice((place for places in self.places.get(key, ()) for place in places), n))

    def _repr_html_(self) -> str:
        return self.table.as_html()

    def __add__(self, other: Breakdown) -> Breakdown:
        """The breakdown of two treebanks, one after the other."""
        counts: dict[Key, tuple[int, ...]] = dict(self.counts)
        for key, more in other.counts.items():
            counts[key] = tuple(map(sum, zip(counts[key], more, strict=True))) if key in counts else more
        places = dict(self.places)
        for key, more in other.places.items():
            places[key] = places.get(key, ()) + tuple(part.shift(self.sentences) for part in more)
        return Breakdown(counts, places, self.sentences + other.sentences, self.layout)


def places_of(pair: Pair, gold: Int64, test: Int64) -> Int64:
    """Rows of places for some gold brackets, then some test brackets."""
    return np.concatenate([_place_rows(pair, 0, gold), _place_rows(pair, 1, test)])


def _place_rows(pair: Pair, side: int, rows: Int64) -> Int64:
    brackets = (pair.gold, pair.test)[side]
    columns = (
        pair.index[brackets.sentence[rows]],
        np.full(len(rows), side),
        brackets.start[rows],
        brackets.end[rows],
        brackets.label[rows],
    )
    return np.stack([column.astype(np.int64) for column in columns], axis=1)


def places_by_key(
    pair: Pair, keys: Sequence[Key], which: NDArray[np.integer[Any]], rows: Int64
) -> dict[Key, tuple[PlaceArray, ...]]:
    """Rows of places by key, in the order of the treebank; ``which[i]`` is the number of row i's key."""
    order = np.lexsort((rows[:, 0], which))
    cuts = np.searchsorted(which[order], np.arange(len(keys) + 1))
    return {
        key: (PlaceArray(rows[order[first:last]], pair.gold.labels),)
        for key, first, last in zip(keys, cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)
        if last > first
    }


def class_names(pair: Pair) -> list[str]:
    """For each class of labels its name: the labels that the preset treats as equal, in its order, joined by ``=``.

    A class has the whole name even if only one of its labels occurs, so that the counts of all shards have the same keys.
    """
    names: list[list[str]] = [[] for _ in pair.gold.labels]
    numbers: list[int] = pair.classes.tolist()
    for label, number in zip(pair.gold.labels, numbers, strict=True):
        names[number].append(label)
    return ["=".join(parts) for parts in names]
