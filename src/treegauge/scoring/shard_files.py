"""Counts of shards as JSON and arrays, for the part files of a distributed run; counts that were read back can be added.

Integers are unbounded and floats may be infinite, so both are strings in JSON: hexadecimal integers, and the ``repr`` of floats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np

from treegauge.alignment.notes import Note, TagUse
from treegauge.engines.parts import PartFormat
from treegauge.io.archive import ArrayStore
from treegauge.metrics.breakdowns import PlaceArray
from treegauge.metrics.compact_rows import BitSets, CompactIndex, CompactRows, narrow
from treegauge.metrics.fragments import BySize
from treegauge.metrics.metric import ExactSum, Rows
from treegauge.scoring.counts import SystemCounts
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.scoring.inputs import PlacesInFile, SentencePlaces
from treegauge.scoring.saved_scores import integers_from_arrays, integers_to_arrays
from treegauge.scoring.sentence_rows import MetricCounts
from treegauge.scoring.shards import HashOfFiles, RangeCounts, ShardCounts
from treegauge.trees.columns import Blocks
from treegauge.trees.treebank import Origin, Treebank

_COLUMNS = ("label", "start", "end", "parent", "word", "tag", "above", "node_offset", "token_offset")


def _save_value(value: ShardCounts, store: ArrayStore) -> Any:
    """The value of a shard: counts of a range of sentences, or a hash."""
    if isinstance(value, HashOfFiles):
        return value._asdict()
    counts = None if value.counts is None else save_counts(value.counts, store)
    return {"system": value.system, "pair": value.pair, "counts": counts}


def _load_value(data: Mapping[str, Any], store: ArrayStore) -> ShardCounts:
    """The value that :func:`_save_value` saved."""
    if "digest" in data:
        return HashOfFiles(tuple((int(system), str(side)) for system, side in data["sides"]), data["digest"])
    return RangeCounts(data["system"], data["pair"], None if data["counts"] is None else load_counts(data["counts"], store))


PART_FORMAT = PartFormat(_save_value, _load_value)


def save_counts(counts: SystemCounts, store: ArrayStore) -> dict[str, Any]:
    """The counts of a range of sentences as plain data; arrays are added to the store."""
    return {
        "first": counts.first,
        "n_gold": counts.n_gold,
        "n_test": counts.n_test,
        "of_metrics": [_save_metric(of_metric, store) for of_metric in counts.of_metrics],
        "notes": list(counts.notes),
        "repairs": dict(counts.repairs),
        "punctuation": dict(counts.punctuation),
        "n_words": counts.n_words,
        "tags": [[sorted(use.tags), sorted(use.phrases), use.words, use.tagged] for use in counts.tags],
        "texts": counts.texts,
        "gold": [_save_treebank(bank, store) for bank in counts.gold],
        "test": [_save_treebank(bank, store) for bank in counts.test],
        "partner": [store.add(partner) for partner in counts.partner],
        "places": [[file.path, store.add(file.lines.array()), file.ids] for file in counts.places.files],
        "breakdowns": {
            name: {
                "counts": [[key, numbers] for key, numbers in breakdown.counts.items()],
                "places": [
                    [key, [[store.add(places.rows), places.labels] for places in of_key]]
                    for key, of_key in breakdown.places.items()
                ],
                "sentences": breakdown.sentences,
            }
            for name, breakdown in counts.breakdowns.items()
        },
        "evalb": None if counts.evalb is None else astuple(counts.evalb),
        "gap": counts.gap,
        "evalb_status": [store.add(status) for status in counts.evalb_status],
    }


def load_counts(data: Mapping[str, Any], store: ArrayStore) -> SystemCounts:
    """The counts that :func:`save_counts` saved."""
    counts = SystemCounts.__new__(SystemCounts)
    counts.__setstate__(
        {
            "first": data["first"],
            "n_gold": data["n_gold"],
            "n_test": data["n_test"],
            "of_metrics": [_load_metric(of_metric, store) for of_metric in data["of_metrics"]],
            "notes": [Note(*note) for note in data["notes"]],
            "repairs": Counter(data["repairs"]),
            "tags": tuple(TagUse(set(tags), set(phrases), words, tagged) for tags, phrases, words, tagged in data["tags"]),
            "punctuation": Counter(data["punctuation"]),
            "n_words": data["n_words"],
            "texts": [(gold, test) for gold, test in data["texts"]],
            "gold": [_load_treebank(bank, store) for bank in data["gold"]],
            "test": [_load_treebank(bank, store) for bank in data["test"]],
            "partner": [store[name] for name in data["partner"]],
            "places": SentencePlaces(
                PlacesInFile(path, CompactIndex.of(store[lines].astype(np.int64)), None if ids is None else tuple(ids))
                for path, lines, ids in data["places"]
            ),
            "breakdowns": {name: _load_breakdown(breakdown, store) for name, breakdown in data["breakdowns"].items()},
            "evalb": None if data["evalb"] is None else EvalbOutcome(*data["evalb"]),
            "gap": data.get("gap"),
            "evalb_status": [store[name] for name in data["evalb_status"]],
        }
    )
    return counts


def _load_breakdown(data: Mapping[str, Any], store: ArrayStore) -> tuple[Any, Any, int]:
    counts = {tuple(key): tuple(numbers) for key, numbers in data["counts"]}
    places = {
        tuple(key): tuple(PlaceArray(store[rows], tuple(labels)) for rows, labels in of_key) for key, of_key in data["places"]
    }
    return counts, places, data["sentences"]


def _save_metric(of_metric: MetricCounts, store: ArrayStore) -> dict[str, Any]:
    return {
        "total": _save_sum(of_metric.total),
        "short": _save_sum(of_metric.short),
        "n_total": of_metric.n_total,
        "n_short": of_metric.n_short,
        "rows": [_save_rows(rows[:], store) for rows in of_metric.rows],
        "index": [store.add(index.array()) for index in of_metric.index],
        "length": [store.add(length) for length in of_metric.length],
        "status": [store.add(status) for status in of_metric.status],
        "reproduced": [_save_rows(bits.integers(), store) for bits in of_metric.reproduced],
    }


def _load_metric(data: Mapping[str, Any], store: ArrayStore) -> MetricCounts:
    of_metric = MetricCounts.__new__(MetricCounts)
    of_metric.total, of_metric.short = _load_sum(data["total"]), _load_sum(data["short"])
    of_metric.n_total, of_metric.n_short = data["n_total"], data["n_short"]
    of_metric.rows = [CompactRows.of(_load_rows(rows, store)) for rows in data["rows"]]
    of_metric.index = [CompactIndex.of(store[index].astype(np.int64)) for index in data["index"]]
    of_metric.length = [narrow(store[length]) for length in data["length"]]
    of_metric.status = [narrow(store[status]) for status in data["status"]]
    of_metric.reproduced = [BitSets.of(_load_rows(bits, store)) for bits in data["reproduced"]]
    return of_metric


def _save_rows(rows: Rows, store: ArrayStore) -> Any:
    if rows.dtype.kind != "O":
        return store.add(rows)
    return {name: store.add(array) for name, array in integers_to_arrays(rows).items()}


def _load_rows(data: Any, store: ArrayStore) -> Rows:
    return store[data] if isinstance(data, str) else integers_from_arrays({name: store[array] for name, array in data.items()})


def _save_sum(total: ExactSum) -> list[Any]:
    integers, fractions, is_float, infinite = total.state()
    return [list(map(_save_number, integers)), list(map(hex, fractions)), is_float, list(map(repr, infinite))]


def _load_sum(data: list[Any]) -> ExactSum:
    integers, fractions, is_float, infinite = data
    numbers = [int(fraction, 16) for fraction in fractions]
    return ExactSum.from_state((list(map(_load_number, integers)), numbers, is_float, list(map(float, infinite))))


def _save_number(number: int | BySize) -> Any:
    return [hex(count) for count in number.counts] if isinstance(number, BySize) else hex(number)


def _load_number(data: Any) -> int | BySize:
    return int(data, 16) if isinstance(data, str) else BySize(tuple(int(count, 16) for count in data))


def _save_treebank(bank: Treebank, store: ArrayStore) -> dict[str, Any]:
    columns = {name: store.add(getattr(bank, name)) for name in _COLUMNS}
    origins = [[origin.path, store.add(origin.line), origin.ids] for origin in bank.origins]
    blocks = (
        None if bank.blocks is None else [store.add(column) for column in (bank.blocks.row, bank.blocks.start, bank.blocks.end)]
    )
    return {"labels": bank.labels, "vocabulary": bank.vocabulary, "columns": columns, "origins": origins, "blocks": blocks}


def _load_treebank(data: Mapping[str, Any], store: ArrayStore) -> Treebank:
    columns = {name: store[data["columns"][name]] for name in _COLUMNS}
    origins = tuple(
        Origin(path, store[line].astype(np.int64), None if ids is None else tuple(ids)) for path, line, ids in data["origins"]
    )
    blocks = None if data["blocks"] is None else Blocks(*(store[name] for name in data["blocks"]))
    return Treebank(tuple(data["labels"]), tuple(data["vocabulary"]), *columns.values(), origins=origins, blocks=blocks)
