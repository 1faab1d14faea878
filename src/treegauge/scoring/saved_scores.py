"""Files of scores: results as JSON; and results with their rows, as a zip of a JSON document and NumPy arrays, without pickle.

``scores.json`` holds what :meth:`Result.to_json` writes; the arrays of result i are ``i.rows.npy`` and so on. Unbounded integers
(FREVAL's counts by size, sets of bits) are stored as four arrays: the shape, the number of integers in each cell, the number of
bytes of each integer, and the bytes.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.notes import Note
from treegauge.errors import FormatError, refusing_damage
from treegauge.io.archive import array_of, file_content, refuse_bomb, zipped
from treegauge.io.writing import write_chunks
from treegauge.metrics.fragments import BySize
from treegauge.metrics.metric import Metric, Rows
from treegauge.metrics.registry import METRICS, metric_class
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.scoring.result import RESULT_SCHEMA, SCORES_SCHEMA, Inputs, IntervalOptions, Part, Result, Sentences
from treegauge.scoring.signature import Signature

SCORE_FILE_SCHEMA = "treegauge.score-file/1"
_DOCUMENT = "scores.json"
_ADVICE = "Score the parses again, and save the scores."
_PLAIN_BYTES, _MOST_RATIO = 1 << 28, 300
"""A file that unpacks to more than the first, and to more than that many times its size, is refused."""


def save_scores(results: Sequence[Result], path: str) -> None:
    """Write results with their rows to a file."""
    documents: list[dict[str, Any]] = []
    places: list[list[str]] = []
    for result in results:
        of_result = list(result.scored_sentences.places)
        number = places.index(of_result) if of_result in places else len(places)
        places += [of_result] if number == len(places) else []
        documents.append({**result.to_dict(), "places": number})
    document = {"schema": SCORE_FILE_SCHEMA, "results": documents, "places": places}
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    named = [_with_prefix(str(number), _arrays(result.scored_sentences)) for number, result in enumerate(results)]
    arrays = dict(item for of_result in named for item in of_result.items())
    write_chunks([zipped({_DOCUMENT: text.encode("utf-8", "surrogatepass")}, arrays)], path)


def _arrays(sentences: Sentences) -> dict[str, NDArray[Any]]:
    """The rows of a result, and all that belongs to its sentences, by name."""
    is_plain = sentences.rows.dtype.kind != "O"
    arrays = {"rows": sentences.rows} if is_plain else _with_prefix("rows", integers_to_arrays(sentences.rows))
    arrays |= {"index": sentences.index, "length": sentences.length, "status": sentences.status}
    arrays |= {} if sentences.evalb is None else {"evalb": sentences.evalb}
    reproduced = sentences.reproduced
    return arrays | ({} if reproduced is None else _with_prefix("reproduced", integers_to_arrays(reproduced)))


def _with_prefix(name: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{name}.{part}": array for part, array in arrays.items()}


def integers_to_arrays(array: Rows) -> dict[str, NDArray[Any]]:
    """An array of unbounded integers, or of counts by size, as four arrays of numbers."""
    cells: list[int | BySize] = array.ravel().tolist()
    integers = [integer for cell in cells for integer in ((cell,) if isinstance(cell, int) else cell.counts)]
    sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
    content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
    return {
        "shape": np.array(array.shape, dtype=np.int64),
        # -1 tells a single number from counts by size that have one size.
        "cells": np.array([-1 if isinstance(cell, int) else len(cell.counts) for cell in cells], np.int32),
        "sizes": np.array(sizes, dtype=np.int32),
        "bytes": np.frombuffer(content, dtype=np.uint8),
    }


def load_scores(path: str) -> list[Result]:
    """The results of a file that :func:`save_scores` wrote."""
    content = file_content(path)
    with refusing_damage(path, "a file of scores", advice=_ADVICE), zipfile.ZipFile(io.BytesIO(content)) as file:
        refuse_bomb(file, len(content), path, _PLAIN_BYTES, _MOST_RATIO)
        document = cast("dict[str, Any]", json.loads(file.read(_DOCUMENT)))
        if (found := document.get("schema")) != SCORE_FILE_SCHEMA:
            raise FormatError(f"not scores of this version: the schema is {found!r}, not {SCORE_FILE_SCHEMA!r}", path=path)
        return [_result(file, number, data, document["places"]) for number, data in enumerate(document["results"])]


def load_systems(paths: Sequence[str]) -> list[Result]:
    """The results of several files; the name of the file is added to a system whose name occurs in more than one of them."""
    loaded = [(Path(path).stem, load_scores(path)) for path in paths]
    holders: dict[str, set[str]] = {}
    for number, (stem, results) in enumerate(loaded):
        for result in results:
            holders.setdefault(result.system, set()).add(f"{number} {stem}")
    return [
        replace(result, system=f"{stem}/{result.system}") if len(holders[result.system]) > 1 else result
        for stem, results in loaded
        for result in results
    ]


def _result(file: zipfile.ZipFile, number: int, data: dict[str, Any], places: list[list[str]]) -> Result:
    names = set(file.namelist())

    def array(name: str) -> NDArray[Any]:
        return array_of(file.read(f"{number}.{name}.npy"))

    def integers(name: str) -> dict[str, NDArray[Any]] | None:
        parts = ("shape", "cells", "sizes", "bytes")
        return {part: array(f"{name}.{part}") for part in parts} if f"{number}.{name}.shape.npy" in names else None

    of_objects, reproduced = integers("rows"), integers("reproduced")
    sentences = Sentences(
        rows=array("rows") if of_objects is None else integers_from_arrays(of_objects),
        index=array("index").astype(np.int64),
        length=array("length").astype(np.int64),
        status=array("status").astype(np.int64),
        places=places[int(data["places"])],
        evalb=array("evalb").astype(np.int64) if f"{number}.evalb.npy" in names else None,
        reproduced=None if reproduced is None else integers_from_arrays(reproduced),
    )
    _check_lengths(sentences)
    return replace(result_from_dict(data), sentences=sentences)


def _check_lengths(sentences: Sentences) -> None:
    rows, n_rows, n_gold = sentences.rows, len(sentences.index), len(sentences.places)
    if rows.ndim != 2 or rows.dtype.kind not in "iufbO":
        raise ValueError(f"rows of shape {rows.shape} and type {rows.dtype}")
    if len(rows) != n_rows or {len(sentences.length), len(sentences.status)} != {n_gold}:
        raise ValueError("arrays of unequal length")
    if sentences.reproduced is not None and len(sentences.reproduced) != n_rows:
        raise ValueError("sets of bits of another length than the rows")


def integers_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """The array that :func:`integers_to_arrays` stored."""
    shape, cells, sizes = arrays["shape"], arrays["cells"], arrays["sizes"]
    packed = arrays["bytes"].tobytes()
    if int(sizes.sum(dtype=np.int64)) != len(packed):
        raise ValueError("bytes of another length than the integers")
    ends: list[int] = np.cumsum(sizes).tolist()
    integers = [int.from_bytes(packed[end - size : end], "little") for end, size in zip(ends, sizes.tolist(), strict=True)]
    values = np.empty(len(cells), dtype=object)
    first = 0
    for place, n_sizes in enumerate(cells.tolist()):
        used = 1 if n_sizes < 0 else n_sizes
        values[place] = integers[first] if n_sizes < 0 else BySize(tuple(integers[first : first + used]))
        first += used
    return cast("Rows", values.reshape(shape.tolist()))


def results_from_json(text: str) -> list[Result]:
    """The results of a file that ``treegauge score --format json`` wrote, one or several."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", path="<result>") from None
    data = cast("dict[str, Any]", data) if isinstance(data, dict) else {"schema": None}
    schema = data.get("schema")
    if schema not in (RESULT_SCHEMA, SCORES_SCHEMA):
        raise FormatError(f"not a result of treegauge score: the schema is {schema!r}, not {RESULT_SCHEMA!r}", path="<result>")
    with refusing_damage("<result>", "a result of treegauge score"):
        items: list[dict[str, Any]] = data["results"] if "results" in data or schema == SCORES_SCHEMA else [data]
        return [result_from_dict(item) for item in items]


def result_from_dict(data: Mapping[str, Any]) -> Result:
    """The result that :meth:`Result.to_dict` gave as plain data."""
    cutoff, inputs, evalb = data["cutoff"], data["inputs"], data["evalb"]
    columns = tuple(data["counts"])
    return Result(
        system=data["system"],
        run=data.get("run", ""),
        metric=data["metric"],
        headline=data["headline"],
        columns=columns,
        total=_part_from(data),
        short=_part_from(cutoff, cutoff["length"]),
        signature=Signature.from_dict(data["signature"]),
        notes=tuple(_note(note) for note in data["notes"]),
        evalb=None if evalb is None else EvalbOutcome.from_dict(evalb),
        inputs=None if inputs is None else Inputs(tuple(inputs["gold"]), tuple(inputs["test"]), inputs["reading"]),
        definition=_definition(data["metric"], data["signature"]["options"]),
        confidence=IntervalOptions(**data["confidence"]) if "confidence" in data else None,
        sentences=_sentences_from(data, columns) if "per_sentence" in data else None,
    )


def _note(data: Mapping[str, Any]) -> Note:
    """A note from plain data, in which the first sentence has number 1."""
    number: int | None = data["sentence"]
    values: dict[str, Any] = {**data, "sentence": -1 if number is None else number - 1}
    return Note(**values)


def _definition(name: str, options: Mapping[str, Any]) -> Metric | None:
    """The metric of that name with these options; None if it is not one of treegauge's, or used a person's judgements."""
    if name.partition(":")[0] not in METRICS or "judgements" in options:
        return None
    kind = metric_class(name.partition(":")[0])
    return kind.from_options({key: value for key, value in options.items() if key in kind.option_words()})


def _part_from(data: Mapping[str, Any], length: int | None = None) -> Part:
    rates = {name: math.nan if rate is None else float(rate) for name, rate in data["rates"].items()}
    ends = {name: [math.nan if end is None else float(end) for end in pair] for name, pair in data.get("intervals", {}).items()}
    return Part(data["sentences"], data["counts"], rates, length, {name: (low, high) for name, (low, high) in ends.items()})


def _sentences_from(data: Mapping[str, Any], columns: tuple[str, ...]) -> Sentences:
    records = [{**record, "sentence": record["sentence"] - 1} for record in data["per_sentence"]]
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
