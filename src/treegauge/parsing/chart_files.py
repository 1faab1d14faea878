"""Files of span charts: NumPy's ``.npz`` with a fixed layout that any parser can write.

===============  ==================================================================================================
``scores``       (sentences, n, n, labels), padded to the longest sentence; or ``scores.0``, ``scores.1`` ..., one
                 array (n, n, labels) per sentence
``lengths``      (sentences,) numbers of words; needed with padded ``scores``
``labels``       (labels,) strings; ``S::VP`` is a chain of two nodes
``words``        (sentences,) strings, the words separated by blanks; optional
``tags``         the tags in the same form; optional
``null``         the numbers of the labels that mean "no constituent"; optional
``convention``   ``inclusive``, the default: ``scores[i, j]`` belongs to the words i .. j; or ``fencepost``: it belongs
                 to the words between the fenceposts i and j, and the arrays are (n + 1, n + 1, labels)
===============  ==================================================================================================

Nothing in such a file is ever unpickled.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FormatError, UsageError, refusing_damage, refusing_unreadable
from treegauge.io.archive import array_of, refuse_bomb
from treegauge.io.writing import write_bytes
from treegauge.parsing.span_charts import SpanChart
from treegauge.tables import number_of

_PLAIN_BYTES, _MOST_RATIO = 64 << 20, 200
"""A file that unpacks to more than the first, and to more than that many times its size, is refused: compressed zeros could
otherwise fill all memory."""
_WHAT = "an .npz file of charts"


def read_charts(path: str | Path, *, null: Sequence[str | int] | None = None, **options: Any) -> Iterator[SpanChart]:
    """The charts of a file, one after the other.

    ``null`` (labels or their numbers) replaces the null labels of the file; further options are those of
    :class:`~treegauge.parsing.SpanChart`, of which ``convention`` replaces that of the file.
    """
    with _Arrays(path) as arrays:
        labels = arrays.labels()
        if "convention" in arrays.names:
            options = {"convention": str(arrays.get("convention")), **options}
        own_nulls: list[Any] = np.atleast_1d(arrays.get("null")).tolist() if "null" in arrays.names else []
        nulls = _nulls(own_nulls, labels, str(path)) if null is None else _nulls(null, labels)
        size = arrays.count()
        lines = {name: arrays.strings(name) for name in ("words", "tags") if name in arrays.names}
        for name, own in lines.items():
            if len(own) != size:
                raise FormatError(f"{name} has {number_of(len(own), 'line')} for {number_of(size, 'chart')}", path=str(path))
        for number, scores in enumerate(_each(arrays, options.get("convention"))):
            named: dict[str, Any] = {name: own[number].split() for name, own in lines.items()}
            try:
                yield SpanChart(scores, labels=labels, null=nulls or None, **named, **options)
            except UsageError as error:
                raise FormatError(f"chart {number + 1}: {error}", path=str(path)) from None


def write_charts(
    path: str | Path,
    scores: Sequence[Any],
    labels: Sequence[str],
    *,
    words: Sequence[Sequence[str]] | None = None,
    tags: Sequence[Sequence[str]] | None = None,
    null: Sequence[int] = (),
) -> None:
    """Write the scores of sentences, one array (n, n, labels) each, as a file of charts; its name gets ``.npz`` if it lacks it."""
    arrays: dict[str, NDArray[Any]] = {f"scores.{i}": np.asarray(one) for i, one in enumerate(scores)}
    arrays |= {"labels": np.array(list(labels), np.str_), "null": np.array(list(null), np.int64)}
    for name, lines in (("words", words), ("tags", tags)):
        if lines is not None:
            arrays[name] = np.array([" ".join(line) for line in lines], np.str_)
    packed = io.BytesIO()
    cast(Any, np).savez_compressed(packed, **arrays)
    name = str(path)
    write_bytes(packed.getvalue(), name if name.endswith(".npz") else f"{name}.npz")


class _Arrays:
    """The arrays of an ``.npz`` file, each read when it is asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)

    def __enter__(self) -> _Arrays:
        with refusing_unreadable(self.path):
            size = os.path.getsize(self.path)
        with refusing_damage(self.path, _WHAT):
            self._archive = zipfile.ZipFile(self.path)
            refuse_bomb(self._archive, size, self.path, _PLAIN_BYTES, _MOST_RATIO)
        self.names = {name.removesuffix(".npy") for name in self._archive.namelist()}
        return self

    def __exit__(self, *error: object) -> None:
        self._archive.close()

    def get(self, name: str) -> Any:
        """An array, which must be there."""
        if name not in self.names:
            advice = f"It has {', '.join(sorted(self.names)) or 'none'}; it must have scores, and labels for their last axis."
            raise FormatError(f"there is no array {name!r} in it", path=self.path, advice=advice)
        with refusing_damage(self.path, f"{_WHAT} with an array {name!r}"):
            return array_of(self._archive.read(f"{name}.npy"))

    def strings(self, name: str) -> list[str]:
        """A one-dimensional array of strings, as a list."""
        found = self.get(name)
        if found.ndim != 1 or found.dtype.kind not in "US":
            kind = f"{found.dtype} of shape {found.shape}"
            raise FormatError(f"array {name!r} must have one string for each entry, not {kind}", path=self.path)
        return [str(text) for text in found.astype(np.str_)]

    def labels(self) -> list[str]:
        """The labels: X alone if there are none, and the scores have no axis for them."""
        name, axes = ("scores.0", 2) if "scores.0" in self.names else ("scores", 3)
        if "labels" not in self.names and self.get(name).ndim == axes:
            return ["X"]
        return self.strings("labels")

    def count(self) -> int:
        """The number of charts."""
        if "scores" in self.names:
            return len(np.atleast_1d(self.get("lengths")))
        return sum(name.startswith("scores.") and name[7:].isdecimal() for name in self.names)


def _each(arrays: _Arrays, convention: str | None) -> Iterator[NDArray[Any]]:
    """The scores of each sentence, without padding."""
    fence = 1 if convention == "fencepost" else 0
    if "scores" not in arrays.names:
        for number in range(max(arrays.count(), 1)):
            yield arrays.get(f"scores.{number}")
        return
    scores, lengths = arrays.get("scores"), arrays.get("lengths")
    scores = scores[..., None] if scores.ndim == 3 else scores
    if scores.ndim != 4 or lengths.shape != scores.shape[:1]:
        shapes = f"{scores.shape} and {lengths.shape}"
        raise FormatError(f"scores and lengths must be (sentences, n, n, labels) and (sentences,), not {shapes}", path=arrays.path)
    if lengths.dtype.kind not in "iu":
        raise FormatError(f"lengths must be whole numbers, not {lengths.dtype}", path=arrays.path)
    if convention is None and scores.shape[1] - 1 == lengths.max(initial=0) > 0:
        advice = 'Add the array convention="fencepost" (or "inclusive") to it.'
        raise FormatError("scores is one larger than the longest sentence: by fenceposts?", path=arrays.path, advice=advice)
    for one, n in zip(scores, lengths.tolist(), strict=True):
        if not 1 <= n <= scores.shape[1] - fence:
            raise FormatError(f"a length of {n} does not fit scores of {scores.shape[1] - fence} words", path=arrays.path)
        yield one[: n + fence, : n + fence]


def _nulls(given: Sequence[Any], labels: Sequence[str], path: str | None = None) -> list[int]:
    """The numbers of null labels given by name or number; ``path`` is the file that names them, if a file does."""
    found: list[int] = []
    for label in given:
        if isinstance(label, str) and label in labels:
            found.append(labels.index(label))
        elif isinstance(label, int) or (isinstance(label, str) and label.removeprefix("-").isdecimal()):
            found.append(int(label))
        else:
            message = f"null label {label!r} is not one of the labels: {', '.join(labels[:20])}"
            raise FormatError(message, path=path) if path else UsageError(message)
    return found
