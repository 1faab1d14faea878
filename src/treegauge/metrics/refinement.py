"""Two treebanks over the same tokens: test sentences in gold order, differing tokenisations cut at all edges of both.

Where one side writes ``can not`` and the other ``cannot``, both get the tokens ``can`` and ``not``; the gold token's second piece
does not count as a word of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    has_test = alignment.fit <= Fit.CHARACTERS
    test = _in_gold_order(gold, test, alignment.test, has_test)
    counted, comparable = None, np.repeat(has_test, np.diff(gold.token_offset))
    recut = np.flatnonzero(alignment.fit == Fit.CHARACTERS).tolist()
    if recut:
        pieces = {sentence: _Pieces(gold.words(sentence), test.words(sentence)) for sentence in recut}
        counted = _begins_token(gold, {sentence: cut.gold for sentence, cut in pieces.items()})
        gold = _recut(gold, {sentence: cut.gold for sentence, cut in pieces.items()})
        test = _recut(test, {sentence: cut.test for sentence, cut in pieces.items()})
        comparable = np.repeat(has_test, np.diff(gold.token_offset))
        for sentence, cut in pieces.items():
            comparable[gold.token_offset[sentence] : gold.token_offset[sentence + 1]] = cut.same_extent
    return Common(gold, test, counted, comparable, has_test)


def _in_gold_order(gold: Treebank, test: Treebank, partner: Int64, has_test: Mask) -> Treebank:
    """The test sentences in gold order, and the gold sentence itself where there is none that fits."""
    if bool(has_test.all()):
        return test.take(partner)
    both = Treebank.concatenate([test, gold])
    return both.take(np.where(has_test, partner, len(test) + np.arange(len(gold))))


class _Pieces:
    """Two tokenisations of the same characters, cut at the edges of both.

    ``gold[k]`` and ``test[k]`` are the tokens that piece ``k`` belongs to; ``same_extent`` says where they are the same token.
    """

    def __init__(self, gold: list[str], test: list[str]) -> None:
        gold_edges, test_edges = _edges(gold), _edges(test)
        starts = np.union1d(gold_edges, test_edges)[:-1]
        self.gold = np.searchsorted(gold_edges, starts, side="right") - 1
        self.test = np.searchsorted(test_edges, starts, side="right") - 1
        same_start = gold_edges[self.gold] == test_edges[self.test]
        self.same_extent = same_start & (gold_edges[self.gold + 1] == test_edges[self.test + 1])


def _edges(words: list[str]) -> Int64:
    return np.cumsum([0] + [len(plain_word(word)) for word in words])


def _token_of_piece(bank: Treebank, pieces: dict[int, Int64]) -> Int64:
    """For each piece of a treebank's tokens the token it belongs to; sentences that are not named are not cut."""
    n_pieces = np.ones(bank.n_tokens, dtype=np.int64)
    for sentence, tokens in pieces.items():
        first, last = int(bank.token_offset[sentence]), int(bank.token_offset[sentence + 1])
        n_pieces[first:last] = np.bincount(tokens, minlength=last - first)
    return np.repeat(np.arange(bank.n_tokens), n_pieces)


def _begins_token(bank: Treebank, pieces: dict[int, Int64]) -> Mask:
    token = _token_of_piece(bank, pieces)
    begins = np.ones(len(token), dtype=np.bool_)
    begins[1:] = token[1:] != token[:-1]
    return begins


def _recut(bank: Treebank, pieces: dict[int, Int64]) -> Treebank:
    """A treebank with tokens replaced by pieces of them; each piece keeps the tag and the node above."""
    token = _token_of_piece(bank, pieces)
    edge = np.searchsorted(token, np.arange(bank.n_tokens + 1))
    first_token = np.repeat(bank.token_offset[:-1], np.diff(bank.node_offset))
    return replace(
        bank,
        start=(edge[first_token + bank.start] - edge[first_token]).astype(np.int32),
        end=(edge[first_token + bank.end] - edge[first_token]).astype(np.int32),
        word=bank.word[token],
        tag=bank.tag[token],
        above=bank.above[token],
        token_offset=edge[bank.token_offset],
    )
