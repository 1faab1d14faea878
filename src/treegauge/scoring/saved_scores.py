"""Files of scores: results with their rows, as a zip of one JSON document and NumPy arrays, without pickle.

``scores.json`` holds what :meth:`Result.to_json` writes; the arrays of result i are ``i.rows.npy`` and so on. Unbounded integers
(FREVAL's counts by size, sets of bits) are three arrays: how many integers each cell has, how many bytes each integer, the bytes.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, InputError
from treegauge.io.writing import write_chunks
from treegauge.metrics.freval import BySize
from treegauge.metrics.metric import Rows
from treegauge.scoring.result import Result, Sentences, result_from_dict, result_to_dict

__all__ = [
    "SCORE_FILE_SCHEMA",
    "integers_from_arrays",
    "integers_to_arrays",
    "load_scores",
    "load_systems",
    "save_scores",
]

SCORE_FILE_SCHEMA = "treegauge.score-file/1"
_DOCUMENT = "scores.json"
_ADVICE = "Write it with: treegauge score ... --save FILE"


def save_scores(results: Sequence[Result], path: str) -> None:
    """Write results with their rows to a file."""
    documents: list[dict[str, Any]] = []
    places: list[list[str]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for number, result in enumerate(results):
        sentences = result.scored_sentences
        of_result = list(sentences.places)
        if of_result not in places:
            places.append(of_result)
        documents.append({**result_to_dict(result), "places": places.index(of_result)})
        columns = {"rows": sentences.rows, "index": sentences.index, "length": sentences.length, "status": sentences.status}
        columns |= {} if sentences.evalb is None else {"evalb": sentences.evalb}
        columns |= {} if sentences.reproduced is None else {"reproduced": sentences.reproduced}
        for name, array in columns.items():
            parts = {name: array} if array.dtype.kind != "O" else _prefixed(name, integers_to_arrays(array))
            arrays |= {f"{number}.{part}": values for part, values in parts.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        document = {"schema": SCORE_FILE_SCHEMA, "results": documents, "places": places}
        _write(file, _DOCUMENT, json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, array, allow_pickle=False)
            _write(file, f"{name}.npy", content.getvalue())
    write_chunks([buffer.getvalue()], path)


def _write(file: zipfile.ZipFile, name: str, content: bytes) -> None:
    # With a fixed date the same scores are the same bytes.
    file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def _prefixed(name: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{name}.{part}": array for part, array in arrays.items()}


def integers_to_arrays(array: Rows) -> dict[str, NDArray[Any]]:
    """An array of integers without bound, or of counts by size, as four arrays of numbers."""
    cells = [_integers(cell) for cell in array.ravel().tolist()]
    integers = [integer for cell in cells for integer in cell]
    sizes = [(integer.bit_length() + 7) // 8 for integer in integers]
    content = b"".join(integer.to_bytes(size, "little") for integer, size in zip(integers, sizes, strict=True))
    return {
        "shape": np.array(array.shape, dtype=np.int64),
        # A single number is told from counts by size, which may be of one size.
        "cells": np.array([-1 if isinstance(cell, int) else len(cell.counts) for cell in array.ravel().tolist()], np.int32),
        "sizes": np.array(sizes, dtype=np.int32),
        "bytes": np.frombuffer(content, dtype=np.uint8),
    }


def _integers(cell: int | BySize) -> Sequence[int]:
    return (cell,) if isinstance(cell, int) else cell.counts


def load_scores(path: str) -> list[Result]:
    """The results of a file that :func:`save_scores` wrote."""
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            document = cast("dict[str, Any]", json.loads(file.read(_DOCUMENT)))
            if document.get("schema") != SCORE_FILE_SCHEMA:
                found = document.get("schema")
                raise FormatError(f"not scores of this version: the schema is {found!r}, not {SCORE_FILE_SCHEMA!r}", path=path)
            return [_result(file, number, data, document["places"]) for number, data in enumerate(document["results"])]
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError) as error:
        raise FormatError(f"not a file of scores: {error}", path=path, advice=_ADVICE) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OSError) as error:
        raise FormatError(
            f"a file of scores in which something is missing or wrong: {error!r}", path=path, advice=_ADVICE
        ) from None


def load_systems(paths: Sequence[str]) -> list[Result]:
    """The results of several files side by side; where two files have a system of one name, the file's name is added to it."""
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
        return cast("NDArray[Any]", np.load(io.BytesIO(file.read(f"{number}.{name}.npy")), allow_pickle=False))

    def column(name: str) -> NDArray[Any] | None:
        if f"{number}.{name}.npy" in names:
            return array(name)
        if f"{number}.{name}.shape.npy" not in names:
            return None
        return integers_from_arrays({part: array(f"{name}.{part}") for part in ("shape", "cells", "sizes", "bytes")})

    rows = column("rows")
    if rows is None:
        raise KeyError(f"{number}.rows.npy")
    sentences = Sentences(
        rows=rows,
        index=array("index"),
        length=array("length"),
        status=array("status"),
        places=places[int(data["places"])],
        evalb=column("evalb"),
        reproduced=column("reproduced"),
    )
    if rows.ndim != 2 or len(rows) != len(sentences.index) or len(sentences.length) != len(sentences.places):
        raise ValueError("arrays of unequal length")
    return replace(result_from_dict(data), sentences=sentences)


def integers_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """The array that :func:`integers_to_arrays` was given."""
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
