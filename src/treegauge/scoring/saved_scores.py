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
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.notes import Note
from treegauge.errors import FormatError, InputError
from treegauge.io.writing import write_chunks
from treegauge.metrics.compact_rows import BitSets, CompactIndex, CompactRows, narrow
from treegauge.metrics.fragments import BySize
from treegauge.metrics.metric import Metric, Rows
from treegauge.metrics.registry import METRICS, metric_class
from treegauge.scoring.evalb_view import EvalbOutcome
from treegauge.scoring.inputs import SentencePlaces
from treegauge.scoring.result import (
    RESULT_SCHEMA,
    SCHEMAS_OF_VERSION_1,
    SCORES_SCHEMA,
    Inputs,
    IntervalOptions,
    Part,
    Result,
    result_to_dict,
)
from treegauge.scoring.sentence_rows import Sentences
from treegauge.scoring.signature import Signature

SCORE_FILE_SCHEMA = "treegauge.score-file/1"
_DOCUMENT = "scores.json"
_ADVICE = "Score the parses again, and save the scores."


def save_scores(results: Sequence[Result], path: str) -> None:
    """Write results with their rows to a file."""
    documents: list[dict[str, Any]] = []
    places: list[Sequence[str]] = []
    for result in results:
        of_result = result.scored_sentences.places
        number = next((number for number, known in enumerate(places) if _are_same(known, of_result)), len(places))
        places += [of_result] if number == len(places) else []
        documents.append({**result_to_dict(result), "places": number})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        with _member(file, _DOCUMENT, _BYTES_OF_PLACE * sum(map(len, places))) as member:
            member.writelines(piece.encode("utf-8", "surrogatepass") for piece in _document(documents, places))
        for number, result in enumerate(results):
            _write_sentences(file, number, result.scored_sentences)
    write_chunks([buffer.getvalue()], path)


_BYTES_OF_PLACE = 400
"""More than most places take as text: a guess tells whether the document may be too large for a plain zip file."""
_PLACES = 1 << 12
"""The places that are spelt out at once."""


def _are_same(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    if isinstance(ours, SentencePlaces) and isinstance(theirs, SentencePlaces):
        return ours.is_same(theirs)
    return len(ours) == len(theirs) and all(one == other for one, other in zip(ours, theirs, strict=True))


def _document(results: Sequence[dict[str, Any]], places: Sequence[Sequence[str]]) -> Iterator[str]:
    """The JSON of results and of the places of their sentences, piece by piece."""
    head = json.dumps({"schema": SCORE_FILE_SCHEMA, "results": results}, ensure_ascii=False, allow_nan=False)
    yield f'{head[:-1]}, "places": ['
    for number, of_result in enumerate(places):
        yield ", [" if number else "["
        for first in range(0, len(of_result), _PLACES):
            listed = json.dumps(list(of_result[first : first + _PLACES]), ensure_ascii=False)
            yield (", " if first else "") + listed[1:-1]
        yield "]"
    yield "]}"


def _write_sentences(file: zipfile.ZipFile, number: int, sentences: Sentences) -> None:
    """Write the rows of a result, and all that belongs to its sentences, as arrays."""
    rows = sentences.compact_rows
    if rows.dtype.kind == "O":
        for part, array in _with_prefix("rows", integers_to_arrays(rows[:])).items():
            _write_array(file, f"{number}.{part}", array)
    else:
        with _member(file, f"{number}.rows.npy", rows.shape[0] * rows.shape[1] * rows.dtype.itemsize) as member:
            header = {"descr": np.lib.format.dtype_to_descr(rows.dtype), "fortran_order": False, "shape": rows.shape}
            np.lib.format.write_array_header_1_0(member, header)
            for block in rows.blocks():
                member.write(block.tobytes())
    columns = {"index": sentences.index, "length": sentences.length, "status": sentences.status}
    columns |= {} if sentences.evalb is None else {"evalb": sentences.evalb}
    columns |= {} if sentences.bits is None else _with_prefix("reproduced", _arrays_of_bits(sentences.bits))
    for name, array in columns.items():
        _write_array(file, f"{number}.{name}", array)


def _write_array(file: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    with _member(file, f"{name}.npy", array.nbytes) as member:
        np.save(member, array, allow_pickle=False)


def _member(file: zipfile.ZipFile, name: str, size: int) -> IO[bytes]:
    """A member of the zip file, of about that size, to write to; its date is fixed, so that the same scores give the same bytes."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    info.file_size = size
    return file.open(info, "w")


def _arrays_of_bits(bits: BitSets) -> dict[str, NDArray[Any]]:
    """The arrays that :func:`integers_to_arrays` makes of the sets as integers."""
    return {
        "shape": np.array([len(bits)], dtype=np.int64),
        "cells": np.full(len(bits), -1, dtype=np.int32),
        "sizes": bits.sizes.astype(np.int32),
        "bytes": bits.content,
    }


def _with_prefix(name: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{name}.{part}": array for part, array in arrays.items()}


def integers_to_arrays(array: Rows) -> dict[str, NDArray[Any]]:
    """An array of unbounded integers, or of counts by size, as four arrays of numbers."""
    cells = [_integers(cell) for cell in array.ravel().tolist()]
    integers = [integer for cell in cells for integer in cell]
    sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
    content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
    return {
        "shape": np.array(array.shape, dtype=np.int64),
        # -1 tells a single number from counts by size that have one size.
        "cells": np.array([-1 if isinstance(cell, int) else len(cell.counts) for cell in array.ravel().tolist()], np.int32),
        "sizes": np.array(sizes, dtype=np.int32),
        "bytes": np.frombuffer(content, dtype=np.uint8),
    }


def _integers(cell: int | BySize) -> Sequence[int]:
    return (cell,) if isinstance(cell, int) else cell.counts


def load_scores(path: str) -> list[Result]:
    """The results of a file that :func:`save_scores` wrote."""
    try:
        with open(path, "rb") as content:
            return _load(content, path)
    except (OSError, ValueError) as error:  # the latter of a name with a zero byte
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=path) from None


def _load(content: IO[bytes], path: str) -> list[Result]:
    try:
        with zipfile.ZipFile(content) as file:
            document = cast("dict[str, Any]", json.loads(file.read(_DOCUMENT)))
            if document.get("schema") != SCORE_FILE_SCHEMA:
                found = document.get("schema")
                raise FormatError(f"not scores of this version: the schema is {found!r}, not {SCORE_FILE_SCHEMA!r}", path=path)
            return [_result(file, number, data, document["places"]) for number, data in enumerate(document["results"])]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        raise FormatError(f"not a file of scores: {error}", path=path, advice=_ADVICE) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OSError, zlib.error) as error:
        raise FormatError(
            f"a file of scores in which something is missing or wrong: {error!r}", path=path, advice=_ADVICE
        ) from None


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
        with file.open(f"{number}.{name}.npy") as member:
            return cast("NDArray[Any]", np.load(io.BytesIO(member.read()), allow_pickle=False))

    def integers(name: str) -> dict[str, NDArray[Any]] | None:
        parts = ("shape", "cells", "sizes", "bytes")
        return {part: array(f"{name}.{part}") for part in parts} if f"{number}.{name}.shape.npy" in names else None

    of_objects, bits = integers("rows"), integers("reproduced")
    if of_objects is None:
        with file.open(f"{number}.rows.npy") as member:
            rows = _read_rows(member)
    else:
        rows = CompactRows.of(integers_from_arrays(of_objects))
    sentences = Sentences(
        compact_rows=rows,
        compact_index=CompactIndex.of(array("index").astype(np.int64)),
        compact_length=narrow(array("length")),
        compact_status=narrow(array("status")),
        places=places[int(data["places"])],
        compact_evalb=narrow(array("evalb")) if f"{number}.evalb.npy" in names else None,
        bits=None if bits is None else BitSets(narrow(bits["sizes"]), bits["bytes"]),
    )
    n_rows, n_gold = len(sentences.compact_index), len(sentences.places)
    if len(rows) != n_rows or {len(sentences.compact_length), len(sentences.compact_status)} != {n_gold}:
        raise ValueError("arrays of unequal length")
    if sentences.bits is not None and (len(sentences.bits), int(sentences.bits.sizes.sum(dtype=np.int64))) != (
        n_rows,
        len(sentences.bits.content),
    ):
        raise ValueError("sets of bits of another length than the rows")
    return replace(result_from_dict(data), sentences=sentences)


_BLOCK_BYTES = 1 << 22


def _read_rows(member: IO[bytes]) -> CompactRows:
    """Rows (sentences, columns) from a NumPy file, block by block."""
    version = np.lib.format.read_magic(member)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = header(member)
    if len(shape) != 2 or is_fortran or dtype.kind not in "iufb":
        raise ValueError(f"rows of shape {shape} and type {dtype}")
    n_rows, n_columns = shape
    width = n_columns * dtype.itemsize
    step = max(_BLOCK_BYTES // max(width, 1), 1)
    blocks: list[CompactRows] = []
    for first in range(0, max(n_rows, 1), step):
        size = min(step, n_rows - first)
        content = member.read(size * width)
        blocks.append(CompactRows.of(np.frombuffer(content, dtype=dtype).reshape(size, n_columns)))
    return CompactRows.concatenate(blocks)


def integers_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """The array that :func:`integers_to_arrays` stored."""
    shape, cells, sizes = arrays["shape"], arrays["cells"], arrays["sizes"]
    packed = arrays["bytes"].tobytes()
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
    except ValueError as error:
        raise FormatError(f"not JSON: {error}", path="<result>") from None
    data = cast("dict[str, Any]", data) if isinstance(data, dict) else {"schema": None}
    schema = data.get("schema")
    if schema not in (RESULT_SCHEMA, SCORES_SCHEMA, *SCHEMAS_OF_VERSION_1):
        raise FormatError(f"not a result of treegauge score: the schema is {schema!r}, not {RESULT_SCHEMA!r}", path="<result>")
    try:
        items: list[dict[str, Any]] = data["results"] if "results" in data or schema == SCORES_SCHEMA else [data]
        return [result_from_dict(item) for item in items]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(
            f"a result of treegauge score in which something is missing or wrong: {error!r}", path="<result>"
        ) from None


def result_from_dict(data: Mapping[str, Any]) -> Result:
    """The result that :func:`result_to_dict` gave as plain data."""
    cutoff, inputs, evalb = data["cutoff"], data["inputs"], data["evalb"]
    names = ("file", "sentences", "errors", "skips", "matched", "gold", "test")
    columns = tuple(data["counts"])
    first = 0 if data["schema"] in SCHEMAS_OF_VERSION_1 else 1
    return Result(
        system=data["system"],
        metric=data["metric"],
        headline=data["headline"],
        columns=columns,
        total=_part_from(data),
        short=_part_from(cutoff, cutoff["length"]),
        signature=Signature.from_dict(data["signature"]),
        notes=tuple(_note(note, first) for note in data["notes"]),
        evalb=None if evalb is None else EvalbOutcome(**{name: evalb[name] for name in names}),
        inputs=None if inputs is None else Inputs(tuple(inputs["gold"]), tuple(inputs["test"]), inputs["reading"]),
        definition=_definition(data["metric"], data["signature"]["options"]),
        confidence=IntervalOptions(**data["confidence"]) if "confidence" in data else None,
        sentences=_sentences_from(data, columns, first) if "per_sentence" in data else None,
    )


def _note(data: Mapping[str, Any], first: int) -> Note:
    """A note from plain data, where ``first`` is the number of the first sentence."""
    number: int | None = data["sentence"]
    values: dict[str, Any] = {**data, "sentence": -1 if number is None or number < first else number - first}
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


def _sentences_from(data: Mapping[str, Any], columns: tuple[str, ...], first: int) -> Sentences:
    records = [{**record, "sentence": record["sentence"] - first} for record in data["per_sentence"]]
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
    index = CompactIndex.of(np.array([record["sentence"] for record in records], dtype=np.int64))
    return Sentences(CompactRows.of(rows), index, narrow(length), narrow(status), places)
