"""Chunk candidates (x, i, j): every category over every span, kept as arrays and never as objects.

The spans of a sentence of n words are numbered (0,1), (0,2) ... (0,n), (1,2) ...; a model's answer for a sentence is an array
with a row per span and a column per category.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from treegauge.chunks.corpus import Chunk

__all__ = ["n_spans", "span_lengths", "span_row", "spans", "truth"]


def n_spans(n: int) -> int:
    """The number of spans of n words.

    >>> n_spans(4)
    10
    """
    return n * (n + 1) // 2


def span_row(n: int, start: int, end: int) -> int:
    """The number of a span among those of n words.

    >>> [span_row(3, i, j) for i in range(3) for j in range(i + 1, 4)]
    [0, 1, 2, 3, 4, 5]
    """
    return start * n - start * (start - 1) // 2 + end - start - 1


@lru_cache(maxsize=512)
def spans(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Start and end of every span of n words, in order."""
    start, last = np.triu_indices(n)
    return start, last + 1


def span_lengths(n: int) -> NDArray[np.int64]:
    """The length of every span of n words, in order."""
    start, end = spans(n)
    return end - start


def truth(n: int, chunks: Sequence[Chunk], categories: Sequence[str]) -> NDArray[np.bool_]:
    """Which candidates are chunks; a chunk of a category that is not among ``categories`` is left out."""
    number = {category: index for index, category in enumerate(categories)}
    true = np.zeros((n_spans(n), len(categories)), dtype=np.bool_)
    for chunk in chunks:
        if chunk.category in number:
            true[span_row(n, chunk.start, chunk.end), number[chunk.category]] = True
    return true
