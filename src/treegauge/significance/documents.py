"""The documents of a test set: sentences of one document resemble each other, so they are resampled together."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np

from treegauge.errors import FormatError, UsageError
from treegauge.io.sources import Source, find_sources
from treegauge.tables import number_of, whole_number
from treegauge.trees.treebank import Int64

Clusters = str | os.PathLike[str] | Sequence[object]
"""``by-file``, ``comment:PATTERN``, a file with a name, the first and the last sentence of each document, or a label a sentence."""

_FORMS = "by-file, comment:PATTERN, or a file with the name, first and last sentence of each document"


def documents_of(clusters: Clusters, places: Sequence[str]) -> Int64:
    """The number of each sentence's document, given where the sentences stand (``file:line``).

    >>> documents_of(["news", "news", "fiction"], ["", "", ""]).tolist()
    [0, 0, 1]
    """
    if not isinstance(clusters, str | os.PathLike):
        labels: list[object] = list(clusters)
    elif clusters == "by-file":
        labels = [_file_and_line(place)[0] for place in places]
    elif isinstance(clusters, str) and clusters.startswith("comment:"):
        try:
            pattern = re.compile(clusters.removeprefix("comment:"))
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"clusters: {clusters!r} is not a regular expression: {error}") from None
        labels = list(_by_comment(pattern, places))
    else:
        labels = _by_table(os.fspath(clusters), len(places))
    if len(labels) != len(places):
        raise UsageError(f"clusters: {number_of(len(labels), 'label')} for {number_of(len(places), 'sentence')}")
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    if len(numbers) < 2:
        raise UsageError(f"there is only one document, so documents cannot be resampled; clusters are {_FORMS}")
    return np.array([numbers[label] for label in labels], dtype=np.int64)


def _file_and_line(place: str) -> tuple[str, int]:
    found = re.match(r"(.*):(\d+)(?: \(sentence .*\))?$", place, re.DOTALL)
    if found is None:
        raise UsageError(f"the documents of trees in memory are given by a label for each sentence, or by a file: not {place!r}")
    return found[1], int(found[2])


def _by_comment(pattern: re.Pattern[str], places: Sequence[str]) -> Iterator[object]:
    """For each sentence its file and the last line before it that matches the pattern."""
    beginnings: dict[str, list[int]] = {}
    for file, line in map(_file_and_line, places):
        if file not in beginnings:
            with Source(file).open() as content:
                lines = (text.decode("utf-8", "replace") for text in content)
                beginnings[file] = [number for number, text in enumerate(lines, start=1) if pattern.search(text)]
            if not beginnings[file]:
                raise UsageError(f"{file}: no line matches {pattern.pattern!r}, so its documents are not known")
        yield file, bisect_right(beginnings[file], line)


def _by_table(path: str, sentences: int) -> list[object]:
    """The document of each sentence in a table of names, first and last sentences, which are numbered from 1."""
    if not os.path.exists(path):
        raise UsageError(f"clusters: there is no file {path!r}; write {_FORMS}")
    found: list[object] = [None] * sentences
    (source,) = find_sources(path)
    with source.open() as content:
        lines = content.read().decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, start=1):
        words = line.split("\t") if "\t" in line else line.split()
        if not words or line.startswith("#"):
            continue
        first, last = (whole_number(word.strip()) or 0 for word in words[-2:]) if len(words) > 2 else (0, 0)
        if not 0 < first <= last <= sentences:
            raise FormatError(f"expected a document's name, first and last sentence (1 to {sentences})", path=path, line=number)
        if any(found[first - 1 : last]):
            raise FormatError("a sentence of this document is in another one, too", path=path, line=number)
        found[first - 1 : last] = [number] * (last - first + 1)
    if None in found:
        raise UsageError(f"{path}: sentence {found.index(None) + 1} is in no document")
    return found
