"""Random weights for sentences, in blocks with a generator of their own each.

A block's numbers depend on the seed and the block's number only, so that any order, any number of threads and any set of metrics
sees the same permutations and the same bootstrap samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError

__all__ = [
    "DEFAULT_ROUNDS",
    "DEFAULT_SEED",
    "Progress",
    "all_swaps",
    "bootstrap_weights",
    "groups_of_blocks",
    "no_progress",
    "random_swaps",
]

Floats = NDArray[np.float64]
Progress = Callable[[int], None]
"""What is told how many rounds have been done."""

DEFAULT_ROUNDS = 10_000
DEFAULT_SEED = 1

_BLOCK, _GROUP = 512, 4
_SWAPS, _BOOTSTRAP = 1, 2


def no_progress(rounds: int) -> None:
    """Nobody watches."""


def groups_of_blocks(rounds: int) -> list[range]:
    """The numbers of the blocks that make up so many rounds, some at a time: what a worker does at once.

    >>> groups_of_blocks(5000)
    [range(0, 4), range(4, 8), range(8, 10)]
    """
    if rounds < 1:
        raise UsageError(f"the number of rounds must be positive, not {rounds}")
    blocks = -(-rounds // _BLOCK)
    return [range(first, min(first + _GROUP, blocks)) for first in range(0, blocks, _GROUP)]


def _blocks(rounds: int, seed: int, purpose: int, only: range | None) -> Iterator[tuple[int, np.random.Generator]]:
    """The number of rounds of each block, and its generator; of all blocks, or of some."""
    if seed < 0:
        raise UsageError(f"a seed is 0 or a positive integer, not {seed}")
    for block in only or range(-(-rounds // _BLOCK)):
        yield min(_BLOCK, rounds - block * _BLOCK), np.random.default_rng([seed, purpose, block])


def random_swaps(n: int, rounds: int, seed: int, only: range | None = None) -> Iterator[Floats]:
    """Blocks (rounds, n) of 0 and 1 with equal chances: whether a sentence's two parses change places; ``only`` some blocks.

    >>> [block.shape for block in random_swaps(5, 600, seed=1)]
    [(512, 5), (88, 5)]
    """
    for size, generator in _blocks(rounds, seed, _SWAPS, only):
        bits = generator.integers(0, 256, size=(size, (n + 7) // 8), dtype=np.uint8)
        yield np.unpackbits(bits, axis=1, count=n).astype(np.float64)


def all_swaps(n: int, only: range | None = None) -> Iterator[Floats]:
    """All 2^n choices, in blocks; ``only`` some of them.

    >>> next(all_swaps(2)).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    for block in only or range(-(-(1 << n) // _BLOCK)):
        numbers = np.arange(block * _BLOCK, min((block + 1) * _BLOCK, 1 << n))[:, np.newaxis]
        yield ((numbers >> np.arange(n)) & 1).astype(np.float64)


def bootstrap_weights(n: int, rounds: int, seed: int, only: range | None = None) -> Iterator[Floats]:
    """Blocks (rounds, n): how often each sentence is in a sample of n drawn with replacement; ``only`` some blocks.

    >>> next(bootstrap_weights(4, 3, seed=1)).sum(axis=1).tolist()
    [4.0, 4.0, 4.0]
    """
    for size, generator in _blocks(rounds, seed, _BOOTSTRAP, only):
        drawn = generator.integers(0, n, size=(size, n), dtype=np.int64)
        drawn += np.arange(size)[:, np.newaxis] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
