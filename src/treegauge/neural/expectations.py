"""Expected rule counts of bracketed sentences under a grammar with all rules, in batches on a device (Pereira & Schabes 1992)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.neural.backend import torch_module
from treegauge.neural.pcfg import DensePCFG

__all__ = ["Expectation", "allowed_spans", "expected_counts", "on_device"]

Float64 = NDArray[np.float64]
ROOM = 1 << 28
"""Numbers that the largest array of a batch may hold."""


class Expectation(NamedTuple):
    """Expected counts of binary rules (N, N, N), of each word under each symbol (words, N), and log P of each sentence."""

    binary: Float64
    lexical: Float64
    log_probability: Float64


def on_device(name: str) -> Any:
    """The torch device of a name; an error if it is not there."""
    torch = torch_module()
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {textwrap.shorten(str(error), 160)}") from None
    return device


def allowed_spans(n: int, brackets: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """The spans, by first and last word, that cross no bracket.

    >>> allowed_spans(3, [(0, 2)])[1].tolist()
    [True, True, False]
    """
    allowed = np.ones((n, n), np.bool_)
    for i, j in brackets:
        allowed[:i, i : j - 1] = False
        allowed[i + 1 : j, j:] = False
    return allowed


def expected_counts(
    binary: Float64,
    lexical: Float64,
    sentences: Sequence[tuple[NDArray[np.int64], Sequence[tuple[int, int]]]],
    device: str,
) -> Expectation:
    """Counts under P(A -> B C) = ``binary`` and P(A -> w) = ``lexical[w, A]``, symbol 0 at the root, in float64.

    A sentence is the numbers of its words (-1: one that no rule makes) and its brackets. Batches are of sentences of like length
    and counts are added in their order, so that a device gives the same bits each time.
    """
    torch, where = torch_module(), on_device(device)
    N = len(binary)
    found = Expectation(np.zeros_like(binary), np.zeros((len(lexical) + 1, N)), np.full(len(sentences), -np.inf))
    with np.errstate(divide="ignore"):
        log_binary = torch.as_tensor(np.log(binary), device=where)
        log_lexical = torch.as_tensor(np.log(np.concatenate([lexical, np.zeros((1, N))])), device=where)
        root = torch.as_tensor(np.log(np.eye(N)[0]), device=where)
    order = sorted((i for i, (words, _) in enumerate(sentences) if len(words)), key=lambda i: (len(sentences[i][0]), i))
    while order:
        longest = len(sentences[order[-1]][0])
        size = max(1, ROOM // (longest * N * max(N, longest)))
        batch, order = order[-size:], order[:-size]
        words = np.full((len(batch), longest), -1, np.int64)
        allowed = np.zeros((len(batch), longest, longest), np.bool_)
        for row, i in enumerate(batch):
            own, brackets = sentences[i]
            words[row, : len(own)] = own
            allowed[row, : len(own), : len(own)] = allowed_spans(len(own), brackets)
        lengths = [len(sentences[i][0]) for i in batch]
        pcfg = DensePCFG(root, log_binary, log_lexical[torch.as_tensor(words, device=where)], lengths, allowed=allowed)
        found.log_probability[batch] = pcfg.log_partition.cpu().numpy()
        counts = pcfg.marginals
        found.binary[...] += counts.rules.cpu().numpy()
        np.add.at(found.lexical, words.reshape(-1), counts.words.cpu().numpy().reshape(-1, N))
    return Expectation(found.binary, found.lexical[:-1], found.log_probability)
