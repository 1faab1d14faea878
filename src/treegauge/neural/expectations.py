"""Expected rule counts of bracketed sentences under a dense PCFG (Pereira & Schabes 1992), in batches on a torch device."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.neural.backend import torch_module
from treegauge.neural.pcfg import DensePCFG

Float64 = NDArray[np.float64]
ROOM = 1 << 28
"""The most numbers that an array of a batch may hold."""


class Expectation(NamedTuple):
    """Expected counts of binary rules (N, N, N), of each word under each symbol (words, N), and log P of each sentence."""

    binary: Float64
    lexical: Float64
    log_probability: Float64


def on_device(name: str) -> Any:
    """The torch device with this name; an error if it cannot be used."""
    torch = torch_module()
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).tolist()
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used: {textwrap.shorten(str(error), 160)}") from None
    return device


def allowed_spans(n: int, brackets: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    """A mask of the spans, by first and last word, that do not cross a bracket.

    >>> allowed_spans(3, [(0, 2)])[1].tolist()
    [True, True, False]
    """
    allowed = np.ones((n, n), np.bool_)
    for i, j in brackets:
        allowed[:i, i : j - 1] = False
        allowed[i + 1 : j, j:] = False
    return allowed


def expected_rule_counts(
    binary: Float64,
    lexical: Float64,
    sentences: Sequence[tuple[NDArray[np.int64], Sequence[tuple[int, int]]]],
    device: str,
) -> Expectation:
    """Expected counts, in float64, under P(A -> B C) = ``binary[A, B, C]`` and P(A -> w) = ``lexical[w, A]``, with symbol 0 at the
    root.

    A sentence is the numbers of its words (-1: a word without a rule) and its brackets. Batches contain sentences of similar
    length, and their counts are added in a fixed order, so a device gives the same bits each time.
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
