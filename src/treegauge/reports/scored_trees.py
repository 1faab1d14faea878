"""The trees behind scores, read again if they were not kept: all of them, or only those that are shown.

A report shows at most some thousand sentences of a large treebank. Which ones is known only after scoring; then only their trees
are read again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from treegauge import io
from treegauge.alignment.alignment import align_pairs
from treegauge.alignment.pairing import Pair, pair_of
from treegauge.alignment.words import WordNumbers, without_traces
from treegauge.errors import MismatchError, UsageError
from treegauge.io.reading import holds_gaps
from treegauge.io.sources import ReadOptions
from treegauge.metrics.breakdowns import Breakdown
from treegauge.metrics.breakdowns.counts_by_key import Key, PlaceArray
from treegauge.metrics.registry import find_metric
from treegauge.scoring.counts import Request
from treegauge.scoring.evaluation import score_systems
from treegauge.scoring.inputs import TreebankLike, path_of
from treegauge.scoring.result import Result
from treegauge.trees.treebank import Int64, Treebank

READABLE = 12
"""The length, in words, of a sentence that makes a good example: long enough to be telling, short enough to be read at a glance."""
LARGE_BYTES = 32 << 20
"""Files of more bytes than these together count as large: only the trees that are shown are kept."""


def are_large(*sides: TreebankLike) -> bool:
    """Whether the trees are in files so large that they should not all be kept in memory."""
    paths = [path_of(side) for side in sides]
    if not all(path is not None and os.path.isfile(path) for path in paths):
        return False
    return sum(os.path.getsize(path) for path in {*paths} if path is not None) > LARGE_BYTES


def may_hold_few(results: Iterable[Result]) -> bool:
    """Whether results without trees are of files so large that only the trees that are shown should be read again.

    Breakdowns of trees with gaps, and files that are several to a treebank, are for those who hold all trees.
    """
    every = list(results)
    sides = [(*result.inputs.gold, *result.inputs.test) for result in every if result.inputs is not None]
    if any(result.trees is not None for result in every) or any(len(paths) != 2 for paths in sides) or len(sides) < len(every):
        return False
    paths = {path for pair in sides for path in pair}
    return are_large(*paths) and not any(holds_gaps(path, reading_of(every[0])) for path in paths)


def rescore(result: Result, only: Sequence[int] | None = None) -> Result:
    """The result with its trees or, if ``only`` is given, with the trees of these gold sentences.

    Trees that were not kept are read from the files that the result names; if these have changed, a
    :class:`~treegauge.errors.MismatchError` is raised.
    """
    return result if result.trees is not None else _score_again(result, only=None if only is None else tuple(only))


def break_down(result: Result, names: Sequence[str], sentences: Int64) -> Result:
    """The result with breakdowns of some gold sentences, one place behind each key; its trees are read again, and not kept.

    A result that has these breakdowns already, and was scored on no other sentences, stays as it is.
    """
    if result.breakdowns.keys() >= {*names} and len(result.scored_sentences.index) == len(sentences):
        return result
    again = _score_again(result, trees=False, places=False, breakdowns=tuple(names), thinned=best_places, among=sentences)
    return replace(result, breakdowns=again.breakdowns)


class _RequestOptions(TypedDict, total=False):
    """The options of a :class:`~treegauge.scoring.counts.Request` that a second look at the same trees may choose."""

    only: tuple[int, ...] | None
    trees: bool
    places: bool
    breakdowns: tuple[str, ...]
    thinned: Callable[[Breakdown, Pair], Breakdown] | None
    among: Int64 | None


def reading_of(result: Result) -> ReadOptions:
    """The options with which the files behind a result were read."""
    said: Mapping[str, Any] = {} if result.inputs is None else result.inputs.reading
    return ReadOptions(**{item.name: said[item.name] for item in fields(ReadOptions) if item.name in said})


def _score_again(result: Result, **options: Unpack[_RequestOptions]) -> Result:
    """The same score from the files that the result names, which must hold the same trees."""
    inputs, reading = result.inputs, reading_of(result)
    if inputs is None:
        raise UsageError(f"{result.system}: {missing_trees(result)}; give the trees")
    signature = result.signature
    metric = find_metric(result.metric) if result.definition is None else result.definition
    request = Request(
        (metric,),
        signature.preset,
        on_mismatch=signature.on_mismatch,
        match_words=signature.match_words,
        on_error=reading.on_error,
        pair="text",
        names=(result.metric,),
        reading=reading,
        **options,
    )
    trees = {result.system: _trees(inputs.test, reading)}
    (again,) = score_systems(_trees(inputs.gold, reading.of_gold), trees, request)
    for side, path, before, now in (
        ("gold", inputs.gold[0], signature.gold, again.signature.gold),
        ("test", inputs.test[0], signature.test, again.signature.test),
    ):
        if before != now:
            raise MismatchError(f"{path} has changed since it was scored: the hash of the {side} trees was {before} and is {now}")
    return again


def missing_trees(result: Result) -> str:
    """The reason why the trees of a result are not available; empty if they are."""
    if result.trees is not None:
        return ""
    if result.inputs is None:
        return "the scores are of trees in memory, which cannot be read again"
    absent = [path for path in (*result.inputs.gold, *result.inputs.test) if not os.path.exists(path)]
    return f"{absent[0]} is not there" if absent else ""


def _trees(paths: Sequence[str], reading: ReadOptions) -> str | Treebank:
    """A single file by its name, so that it is read just as when it was scored; several files as one treebank."""
    return paths[0] if len(paths) == 1 else Treebank.concatenate([io.read(path, reading) for path in paths])


def pair_behind(result: Result) -> Pair:
    """The brackets that a result was counted from, as one pair of all sentences."""
    trees, signature = result.scored_trees, result.signature
    preset = signature.preset
    whole = Treebank.concatenate(list(trees.gold)), Treebank.concatenate(list(trees.test))
    gold, test = (without_traces(bank, preset) for bank in whole)
    words, edit = WordNumbers(preset, signature.match_words), signature.on_mismatch == "edit"
    alignment = align_pairs(gold, test, trees.partner, preset, words, edit=edit, with_traces=whole)
    return pair_of(gold, test, alignment, preset, words, on_mismatch="skip" if signature.on_mismatch == "skip" else "align")


def wrong_brackets(result: Result, kept: Int64) -> Int64:
    """The number of wrong brackets of each sentence ``kept``, those missed and those in excess, from PARSEVAL's rows."""
    rows = result.scored_sentences.rows
    gold, test, matched = (rows[:, result.columns.index(name)].astype(np.int64) for name in ("gold", "test", "matched"))
    wrong = gold + test - 2 * matched
    return wrong if len(wrong) == len(kept) else wrong[np.isin(result.scored_sentences.index, kept)]


def best_places(breakdown: Breakdown, pair: Pair) -> Breakdown:
    """The breakdown with one place for each key, in the sentence whose length is nearest to :data:`READABLE`."""
    length = np.zeros(len(pair.alignment.test), dtype=np.int64)
    length[pair.index] = pair.gold.length
    return replace(breakdown, places={key: _best(of_key, length) for key, of_key in breakdown.places.items()})


def _best(places: Sequence[PlaceArray], length: Int64) -> tuple[PlaceArray, ...]:
    """The place in the sentence whose length is nearest to :data:`READABLE`; among several, the first."""
    found: list[tuple[int, int, PlaceArray]] = []
    for some in places:
        sentence = some.rows[:, 0]
        distance = np.abs(length[sentence] - READABLE)
        first = int(np.lexsort((sentence, distance))[0])
        found.append((int(distance[first]), int(sentence[first]), PlaceArray(some.rows[first : first + 1], some.labels)))
    return (min(found, key=lambda one: one[:2])[2],)


def examples_among(breakdown: Breakdown, length: Int64, numbers: Sequence[int]) -> Breakdown:
    """The breakdown with one place for each key; its sentence is given by the position among ``numbers``."""
    places: dict[Key, tuple[PlaceArray, ...]] = {}
    for key, of_key in breakdown.places.items():
        (best,) = _best(of_key, length)
        rows = best.rows.copy()
        rows[:, 0] = np.searchsorted(np.array(numbers, dtype=np.int64), rows[:, 0])
        places[key] = (PlaceArray(rows, best.labels),)
    return replace(breakdown, places=places)


def example_sentences(breakdown: Breakdown, length: Int64) -> set[int]:
    """The sentences of the best place of each key."""
    return {int(_best(of_key, length)[0].rows[0, 0]) for of_key in breakdown.places.values()}
