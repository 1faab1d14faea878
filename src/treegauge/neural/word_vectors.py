"""Word vectors trained elsewhere: text files of word2vec and GloVe, compressed or not.

A line is a word and its numbers; the first line of word2vec has the numbers of words and of dimensions instead.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import FileNote, InputError, warn
from treegauge.io.sources import ReadOptions, Source, Text

MOST_WORDS = 100_000
"""So many words from the beginning of a file, where the frequent ones are, are kept; of the rest those that are needed."""
MOST_DIMENSIONS = 2048
_LONGEST_LINE = 1 << 17


class WordVectors(NamedTuple):
    """Words, and a row of numbers for each, scaled so that their standard deviation is 1."""

    words: tuple[str, ...]
    values: NDArray[np.float16]


def read_vectors(path: str | Path, needed: Container[str] = (), most: int = MOST_WORDS) -> WordVectors:
    """The vectors of the ``needed`` words, and of the first ``most`` words of the file; the first vector of a word counts."""
    found, dimensions, first, last, number = dict[str, NDArray[np.float32]](), 0, 1, 0, 0
    for number, line in enumerate(Text(Source(str(path)), ReadOptions(encoding="utf-8")).lines(), start=1):
        fields = line.split() if len(line) < _LONGEST_LINE else []
        if number == 1:
            is_header = len(fields) == 2 and all(field.isdigit() for field in fields)
            dimensions = int(fields[1][:9]) if is_header else max(0, len(fields) - 1)
            if not 1 <= dimensions <= MOST_DIMENSIONS:
                problem = f"not word vectors: the first line has {dimensions:,} dimensions, not 1 to {MOST_DIMENSIONS:,}"
                advice = "Give the text format of word2vec or GloVe: a word and its numbers per line."
                raise InputError(problem, path=str(path), line=1, advice=advice)
            if is_header:
                first, last = 2, 1 + int(fields[0][:15])
                continue
        if len(fields) <= dimensions or (number == first and len(fields) > dimensions + 1):
            raise _bad_line(f"a word and {dimensions} numbers are expected", str(path), number, line)
        try:
            # A word of GloVe may have spaces in it.
            word = b" ".join(fields[:-dimensions]).decode()
            if word not in found and (number <= most or word in needed):
                found[word] = np.array(fields[-dimensions:], np.float32)
                if not np.abs(found[word]).max() < 1e6:
                    raise ValueError("a number is not finite")
        except ValueError as error:
            problem = "the word is not UTF-8" if isinstance(error, UnicodeError) else "not all of its values are numbers"
            raise _bad_line(problem, str(path), number, line) from None
    if not found:
        raise InputError("there are no word vectors in it", path=str(path))
    if number < last:
        warn(
            FileNote(str(path), f"it has {number - 1:,} of the {last - 1:,} words that its first line tells of: was it cut short?")
        )
    values = np.stack(list(found.values()))
    scale = max(float(values.std()), float(np.abs(values).max()) / 1000, 1e-6)  # so that half precision holds all values
    return WordVectors(tuple(found), (values / scale).astype(np.float16))


def _bad_line(problem: str, path: str, number: int, line: bytes) -> InputError:
    return InputError(problem, path=path, line=number, column=1, text=line[:200].decode("utf-8", "replace"))
