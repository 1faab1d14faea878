"""Treebanks without some of their tokens: the nodes stay, and spans close up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.treebank import Treebank

__all__ = ["has_tag", "without_tokens"]

Mask = NDArray[np.bool_]


def has_tag(bank: Treebank, tags: frozenset[str]) -> Mask:
    """For each token, whether its tag is one of ``tags``; a word without a tag of its own has none.

    >>> has_tag(Treebank.parse("(S (NP (NN cats)) (VP (V sleep)) (. .))"), frozenset({"."})).tolist()
    [False, False, True]
    """
    return np.array([*(label in tags for label in bank.labels), False], dtype=np.bool_).take(bank.tag)


def without_tokens(bank: Treebank, left_out: Mask) -> Treebank:
    """The treebank without the marked tokens; a node left without words spans nothing.

    >>> bank = Treebank.parse("(S (NP (-NONE- *)) (VP (V go) (. .)))")
    >>> without_tokens(bank, has_tag(bank, frozenset({"-NONE-"}))).words(0)
    ['go', '.']
    """
    if not left_out.any():
        return bank
    kept = np.flatnonzero(~left_out)
    position = np.zeros(len(left_out) + 1, dtype=np.int64)
    np.cumsum(~left_out, out=position[1:])
    first_token = np.repeat(bank.token_offset[:-1], np.diff(bank.node_offset))
    return replace(
        bank,
        start=(position[first_token + bank.start] - position[first_token]).astype(np.int32),
        end=(position[first_token + bank.end] - position[first_token]).astype(np.int32),
        word=bank.word[kept],
        tag=bank.tag[kept],
        above=bank.above[kept],
        token_offset=position[bank.token_offset],
    )
