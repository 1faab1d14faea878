"""Results as plain data and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from treegauge.errors import FormatError, UsageError
from treegauge.metrics.alignment import Note
from treegauge.metrics.evalb_outcome import EvalbOutcome
from treegauge.metrics.result import Inputs, Part, Result, Sentences, plain_count
from treegauge.metrics.signature import Signature

__all__ = ["RESULT_SCHEMA", "SCORES_SCHEMA", "arrow_table", "result_to_dict", "results_from_json", "without_nan"]

RESULT_SCHEMA = "treegauge.result/1"
SCORES_SCHEMA = "treegauge.scores/1"


def result_to_dict(result: Result, *, per_sentence: bool = False) -> dict[str, Any]:
    """A result as plain data."""
    data: dict[str, Any] = {
        "schema": RESULT_SCHEMA,
        "system": result.system,
        "metric": result.metric,
        "headline": result.headline,
        **_part_to_dict(result.total),
        "skipped": result.skipped,
        "cutoff": {"length": result.short.length, **_part_to_dict(result.short)},
        "evalb": None if result.evalb is None else result.evalb.to_dict(),
        "notes": [asdict(note) for note in result.notes],
        "signature": result.signature.to_dict(),
        "inputs": None if result.inputs is None else asdict(result.inputs),
    }
    if result.breakdowns:
        data["breakdowns"] = {name: counted.table.to_records() for name, counted in result.breakdowns.items()}
    if per_sentence:
        data["status"] = result.scored_sentences.status.tolist()
        data["per_sentence"] = list(result.per_sentence())
    return data


def _part_to_dict(part: Part) -> dict[str, Any]:
    return {"sentences": part.sentences, "rates": without_nan(part.rates), "counts": dict(part.counts)}


def without_nan(rates: Mapping[str, float]) -> dict[str, float | None]:
    """Rates as JSON can hold them: None for nan."""
    return {name: None if math.isnan(rate) else float(rate) for name, rate in rates.items()}


def results_from_json(text: str) -> list[Result]:
    """The results of a file that ``treegauge score --format json`` wrote, one or several."""
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", path="<result>") from None
    data = cast("dict[str, Any]", data) if isinstance(data, dict) else {"schema": None}
    schema = data.get("schema")
    if schema not in (RESULT_SCHEMA, SCORES_SCHEMA):
        raise FormatError(f"not a result of treegauge score: the schema is {schema!r}, not {RESULT_SCHEMA!r}", path="<result>")
    try:
        items: list[dict[str, Any]] = data["results"] if schema == SCORES_SCHEMA else [data]
        return [_from_dict(item) for item in items]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(
            f"a result of treegauge score in which something is missing or wrong: {error!r}", path="<result>"
        ) from None


def _from_dict(data: Mapping[str, Any]) -> Result:
    cutoff, inputs, evalb = data["cutoff"], data["inputs"], data["evalb"]
    names = ("file", "sentences", "errors", "skips", "matched", "gold", "test")
    columns = tuple(data["counts"])
    return Result(
        system=data["system"],
        metric=data["metric"],
        headline=data["headline"],
        columns=columns,
        total=_part_from(data),
        short=_part_from(cutoff, cutoff["length"]),
        signature=Signature.from_dict(data["signature"]),
        notes=tuple(Note(**note) for note in data["notes"]),
        evalb=None if evalb is None else EvalbOutcome(**{name: evalb[name] for name in names}),
        inputs=None if inputs is None else Inputs(tuple(inputs["gold"]), tuple(inputs["test"]), inputs["reading"]),
        sentences=_sentences_from(data, columns) if "per_sentence" in data else None,
    )


def _part_from(data: Mapping[str, Any], length: int | None = None) -> Part:
    rates = {name: math.nan if rate is None else float(rate) for name, rate in data["rates"].items()}
    return Part(data["sentences"], data["counts"], rates, length)


def _sentences_from(data: Mapping[str, Any], columns: tuple[str, ...]) -> Sentences:
    records = data["per_sentence"]
    status = np.array(data["status"], dtype=np.int64)
    length = np.zeros(len(status), dtype=np.int64)
    places = [f"sentence {number + 1}" for number in range(len(status))]
    for record in records:
        length[record["sentence"]] = record["length"]
        places[record["sentence"]] = record["place"]
    counts = [[record["counts"][name] for name in columns] for record in records]
    is_nested = any(isinstance(value, list) for row in counts for value in row)
    rows = np.empty((len(counts), len(columns)), dtype=object if is_nested else np.float64)
    for number, row in enumerate(counts):
        rows[number] = row
    return Sentences(rows, np.array([record["sentence"] for record in records], dtype=np.int64), length, status, places)


def arrow_table(result: Result) -> Any:
    """The rows of a result as a pyarrow table: sentence, length, and a column a count."""
    try:
        import pyarrow  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UsageError("Arrow export needs pyarrow: pip install pyarrow") from None
    sentences = result.scored_sentences
    columns: dict[str, Any] = {"sentence": sentences.index, "length": sentences.length[sentences.index]}
    for number, name in enumerate(result.columns):
        values = sentences.rows[:, number]
        # Counts beyond 64 bits, or of several sizes, have no Arrow type: they go as JSON.
        columns[name] = [json.dumps(plain_count(value)) for value in values] if values.dtype.kind == "O" else values
    return cast(Any, pyarrow).table(columns)
