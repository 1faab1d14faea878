"""Alignment by edit distance: the tokens that two different sentences share, and the brackets over them.

Inserting or deleting a token costs 1, and a token is never replaced: two words that differ are one deletion and one insertion. So
the cheapest alignment shares the most tokens (a longest common subsequence); among equally cheap ones, the one that shares the
earliest tokens is taken.

The brackets of both sides are then over common tokens: in each sentence the shared tokens come first, then those of gold alone,
then those of test alone. A bracket covers its shared tokens. A bracket that has none is placed over its own tokens after the shared
ones, where no bracket of the other side can match it; so it counts as missed in gold, and against precision in test.

Myers (1986), An O(ND) difference algorithm and its variations, section 1, for the equivalence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, nearest_kept, sum_within
from treegauge.trees.columns import Blocks, Mask
from treegauge.trees.treebank import Int32, Int64

KindT = TypeVar("KindT", bound=np.generic)

_LARGEST_TABLE = 1 << 27
"""The largest table of token pairs that is computed; real sentences need less, and longer ones are taken to share nothing."""


def shared_tokens(same: Mask) -> tuple[Int64, Int64]:
    """The positions of the shared tokens, in gold and in test; ``same[i, k]`` tells whether gold token i equals test token k.

    >>> gold, test = "the dog barked loudly".split(), "a dog has barked".split()
    >>> same = np.array([[ours == theirs for theirs in test] for ours in gold])
    >>> [places.tolist() for places in shared_tokens(same)]
    [[1, 2], [1, 3]]
    """
    n_gold, n_test = same.shape
    if n_gold * n_test > _LARGEST_TABLE:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # most[i, k]: how many tokens can be shared from gold token i and test token k on.
    most = np.zeros((n_gold + 1, n_test + 1), dtype=np.int32)
    for i in range(n_gold - 1, -1, -1):
        best = np.where(same[i], most[i + 1, 1:] + 1, most[i + 1, :-1])
        # Test tokens may be skipped, so the best from k on is a running maximum from the right.
        most[i, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    gold: list[int] = []
    test: list[int] = []
    i = k = 0
    while i < n_gold and k < n_test:
        if same[i, k] and most[i, k] > most[i + 1, k + 1]:
            gold.append(i)
            test.append(k)
            i, k = i + 1, k + 1
        elif most[i, k] == most[i + 1, k]:
            i += 1
        else:
            k += 1
    return np.array(gold, dtype=np.int64), np.array(test, dtype=np.int64)


def over_shared_tokens(gold: Brackets, test: Brackets, gold_shared: Mask, test_shared: Mask) -> tuple[Brackets, Brackets]:
    """Both sides over common tokens; the masks mark, among the own tokens of each side, those that the other side has too."""
    n_shared = sum_within(gold_shared, gold.token_offset)
    only_gold, only_test = sum_within(~gold_shared, gold.token_offset), sum_within(~test_shared, test.token_offset)
    offset = np.append(0, np.cumsum(n_shared + only_gold + only_test))
    return (
        _over_common(gold, gold_shared, n_shared, n_shared, offset),
        _over_common(test, test_shared, n_shared, n_shared + only_gold, offset),
    )


def _over_common(side: Brackets, shared: Mask, n_shared: Int64, first_own: Int64, offset: Int64) -> Brackets:
    """One side over common tokens; in each sentence, the tokens that only this side has begin at ``first_own``."""
    shared_before, own_before = (np.append(0, np.cumsum(mask)) for mask in (shared, ~shared))
    first_token = side.token_offset[:-1]
    start, end, blocks = _over_subset(side, first_token, shared_before)
    own_start, own_end, own_blocks = _over_subset(side, first_token, own_before)
    is_empty = side.start == side.end
    filled_above = nearest_kept(side.parent, ~is_empty)[side.parent]
    apart = (start == end) & ~is_empty
    apart |= is_empty & np.append(apart, False)[filled_above]
    shift = first_own[side.sentence].astype(np.int32)
    rows = [] if blocks is None else [(blocks, ~apart, np.zeros_like(shift))]
    rows += [] if own_blocks is None else [(own_blocks, apart, shift)]

    sentence = np.repeat(np.arange(len(side)), np.diff(side.token_offset))
    rank = np.where(shared, shared_before[:-1], own_before[:-1])
    rank -= np.where(shared, shared_before[first_token][sentence], own_before[first_token][sentence])
    place = offset[sentence] + rank + np.where(shared, 0, first_own[sentence])
    is_shared = np.zeros(int(offset[-1]), dtype=np.bool_)
    position = np.arange(len(is_shared)) - np.repeat(offset[:-1], np.diff(offset))
    is_shared[position < np.repeat(n_shared, np.diff(offset))] = True
    return replace(
        side,
        start=np.where(apart, own_start + shift, start).astype(np.int32),
        end=np.where(apart, own_end + shift, end).astype(np.int32),
        tag=_scatter(side.tag, place, len(is_shared), -1),
        word=_scatter(side.word, place, len(is_shared), -1),
        above=_scatter(side.above, place, len(is_shared), -1),
        counted=_scatter(side.counted, place, len(is_shared), False),
        token_offset=offset,
        blocks=_join_blocks(rows),
        shared=is_shared,
        own_width=side.width,
    )


def _over_subset(side: Brackets, first_token: Int64, before: Int64) -> tuple[Int32, Int32, Blocks | None]:
    """Start, end and blocks of all brackets over a subset of the tokens, of which ``before[i]`` come before token ``i``."""
    first = first_token[side.sentence]
    start = (before[first + side.start] - before[first]).astype(np.int32)
    end = (before[first + side.end] - before[first]).astype(np.int32)
    if side.blocks is None:
        return start, end, None
    moved = side.blocks.over(first[side.blocks.row], before)
    start[moved.row], end[moved.row] = moved.start, moved.end
    return start, end, moved.blocks


def _join_blocks(parts: list[tuple[Blocks, Mask, Int32]]) -> Blocks | None:
    """The blocks of several sources in the order of rows; from each source the rows that its mask marks, shifted."""
    chosen = [
        Blocks(blocks.row[of], blocks.start[of] + shift[blocks.row[of]], blocks.end[of] + shift[blocks.row[of]])
        for blocks, mask, shift in parts
        for of in [np.flatnonzero(mask[blocks.row])]
    ]
    rows = np.concatenate([blocks.row for blocks in chosen]) if chosen else np.zeros(0, dtype=np.int64)
    if not len(rows):
        return None
    order = np.argsort(rows, kind="stable")
    start, end = (np.concatenate([getattr(blocks, name) for blocks in chosen])[order] for name in ("start", "end"))
    return Blocks(rows[order], start.astype(np.int32), end.astype(np.int32))


def _scatter(values: NDArray[KindT], place: Int64, size: int, rest: int | bool) -> NDArray[KindT]:
    """An array with the values at the given places and ``rest`` everywhere else."""
    everywhere = np.full(size, rest, dtype=values.dtype)
    everywhere[place] = values
    return everywhere
