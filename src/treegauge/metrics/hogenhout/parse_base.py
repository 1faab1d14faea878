"""Parse Base: how ambiguous a grammar is, as the number of parses a word.

Hogenhout & Matsumoto 1996, section 7: the geometric mean over all sentences of the n-th root of p, for sentences of n words with
p parses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from treegauge.errors import UsageError

__all__ = ["ParseBase", "parse_base"]


class ParseBase(NamedTuple):
    """The mean, over how many sentences it goes, and how many had no parse (or no word) and are left out."""

    value: float
    sentences: int
    left_out: int


def parse_base(sentences: Iterable[tuple[int, float]]) -> ParseBase:
    """The geometric mean of p^(1/n) over sentences given as (n words, p parses); nan if no sentence has a parse.

    p may be any integer, however large, or infinite.

    >>> parse_base([(2, 4), (3, 8), (5, 0)])
    ParseBase(value=2.0, sentences=2, left_out=1)
    """
    logs: list[float] = []
    left_out = 0
    for n_words, n_parses in sentences:
        if n_words < 0 or n_parses < 0 or n_parses != n_parses:
            raise UsageError(f"a sentence of {n_words} words with {n_parses} parses cannot be")
        if n_words and n_parses:
            logs.append(math.log(n_parses) / n_words)
        else:
            left_out += 1
    # A sum of logarithms of which one is infinite is infinite; fsum would refuse it beside large terms.
    mean = (math.inf if math.inf in logs else math.fsum(logs) / len(logs)) if logs else math.nan
    return ParseBase(math.exp(mean), len(logs), left_out)
