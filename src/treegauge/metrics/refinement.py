"""Two treebanks over the same tokens: test sentences in gold order, differing tokenisations cut at all edges of both.

Where one side writes ``can not`` and the other ``cannot``, both get the tokens ``can`` and ``not``; the gold token's second piece
does not count as a word of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.alignment import Alignment, Fit
from treegauge.metrics.tokens import without_tokens
from treegauge.metrics.words import plain_word
from treegauge.trees.treebank import Int64, Treebank

__all__ = ["Common", "over_common_tokens"]

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Common:
    """Gold and test over the same tokens; None stands for "all of them".

    ``counted`` marks the tokens that are a gold token or the first piece of one; ``tags_comparable`` those that are a whole
    token on both sides. A test sentence that does not exist or does not fit is a stand-in whose nodes must not count:
    ``has_test`` is False for it.
    """

    gold: Treebank
    test: Treebank
    counted: Mask | None = None
    tags_comparable: Mask | None = None
    has_test: Mask | None = None


def over_common_tokens(gold: Treebank, test: Treebank, alignment: Alignment) -> Common:
    """Bring both treebanks over common tokens; where all sentences fit token by token they are returned as they are."""
    if alignment.gold_aside is not None and alignment.test_aside is not None:
        gold, test = without_tokens(gold, alignment.gold_aside), without_tokens(test, alignment.test_aside)
    if alignment.is_identity:
        return Common(gold, test[: len(gold)] if len(test) > len(gold) else test)
    gold_parts: list[Treebank] = []
    test_parts: list[Treebank] = []
    counted: list[Mask] = []
    comparable: list[Mask] = []
    for run in _runs(alignment):
        gold_run = gold[run.first : run.last]
        everything = np.ones(gold_run.n_tokens, dtype=np.bool_)
        if run.fit == Fit.TOKENS:
            gold_parts.append(gold_run)
            test_parts.append(test[run.test : run.test + run.last - run.first])
            counted.append(everything)
            comparable.append(everything)
        elif run.fit == Fit.CHARACTERS:
            pieces = _Pieces(gold.words(run.first), test.words(run.test))
            gold_parts.append(_cut(gold_run, pieces.gold))
            test_parts.append(_cut(test[run.test : run.test + 1], pieces.test))
            counted.append(pieces.begins_gold)
            comparable.append(pieces.same_extent)
        else:
            gold_parts.append(gold_run)
            test_parts.append(gold_run)
            counted.append(everything)
            comparable.append(~everything)
    nothing = [np.zeros(0, dtype=np.bool_)]
    return Common(
        Treebank.concatenate(gold_parts),
        Treebank.concatenate(test_parts),
        np.concatenate(counted or nothing),
        np.concatenate(comparable or nothing),
        alignment.fit <= Fit.CHARACTERS,
    )


class _Run(NamedTuple):
    """Gold sentences ``first:last`` of one fit; those that fit by tokens belong to consecutive test sentences from ``test`` on."""

    first: int
    last: int
    test: int
    fit: int


def _runs(alignment: Alignment) -> list[_Run]:
    runs: list[_Run] = []
    for sentence, (fit, partner) in enumerate(zip(alignment.fit.tolist(), alignment.test.tolist(), strict=True)):
        if runs and fit == Fit.TOKENS == runs[-1].fit and partner == runs[-1].test + sentence - runs[-1].first:
            runs[-1] = runs[-1]._replace(last=sentence + 1)
        else:
            runs.append(_Run(sentence, sentence + 1, partner, fit))
    return runs


class _Pieces:
    """Two tokenisations of the same characters, cut at the edges of both.

    ``gold[k]`` and ``test[k]`` are the tokens that piece ``k`` belongs to.
    """

    def __init__(self, gold: list[str], test: list[str]) -> None:
        gold_edges, test_edges = _edges(gold), _edges(test)
        edges = np.union1d(gold_edges, test_edges)
        starts = edges[:-1]
        self.gold = np.searchsorted(gold_edges, starts, side="right") - 1
        self.test = np.searchsorted(test_edges, starts, side="right") - 1
        self.begins_gold = gold_edges[self.gold] == starts
        self.same_extent = (gold_edges[self.gold] == test_edges[self.test]) & (
            gold_edges[self.gold + 1] == test_edges[self.test + 1]
        )


def _edges(words: list[str]) -> Int64:
    return np.cumsum([0] + [len(plain_word(word)) for word in words])


def _cut(bank: Treebank, token: Int64) -> Treebank:
    """A treebank of one sentence with its tokens replaced by pieces of them; each piece keeps the tag and the node above."""
    edge = np.searchsorted(token, np.arange(bank.n_tokens + 1)).astype(np.int32)
    return Treebank(
        bank.labels,
        bank.vocabulary,
        bank.label,
        edge[bank.start],
        edge[bank.end],
        bank.parent,
        bank.word[token],
        bank.tag[token],
        bank.above[token],
        bank.node_offset,
        np.array([0, len(token)], dtype=np.int64),
        bank.origins,
    )
