"""The shape of bracketed trees as columns: how deep each bracket is, and what stands under it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treegauge.metrics.brackets import Brackets
from treegauge.trees.treebank import Int32, Int64

__all__ = ["Children", "children_of", "depths", "symbols", "token_positions"]


def depths(brackets: Brackets) -> Int64:
    """For each bracket the number of counted brackets above it.

    What stands before a bracket in pre-order is either above it or ends where it starts or earlier, so counting ends is enough.
    """
    first_edge = brackets.token_offset[:-1] + np.arange(len(brackets))
    base = first_edge[brackets.sentence]
    ends = np.bincount(base + brackets.end, minlength=int(brackets.token_offset[-1]) + len(brackets))
    ended = np.cumsum(ends)
    # Every bracket of the earlier sentences has ended as well: they cancel against the rows before the sentence.
    return np.arange(brackets.n_brackets) - ended[base + brackets.start]


def token_positions(brackets: Brackets) -> tuple[Int64, Int64]:
    """For each kept token its sentence and its place there."""
    n_tokens = np.diff(brackets.token_offset)
    sentence = np.repeat(np.arange(len(brackets)), n_tokens)
    return sentence, np.arange(len(brackets.tag)) - brackets.token_offset[:-1][sentence]


def symbols(brackets: Brackets, classes: Int32 | None) -> tuple[Int64, Int64]:
    """The symbol of each bracket and of each token: a class of labels; for a word without a tag one of its own.

    Without classes all labels are one symbol.
    """
    n_classes = len(brackets.labels)
    classes = np.zeros(n_classes, dtype=np.int32) if classes is None else classes
    tagged = brackets.tag >= 0
    of_token = brackets.word.astype(np.int64) + n_classes
    of_token[tagged] = classes[brackets.tag[tagged]]
    return classes[brackets.label].astype(np.int64), of_token


@dataclass(frozen=True)
class Children:
    """What stands directly under brackets: one row a child, ordered by parent and position.

    ``parent`` is a bracket, ``symbol`` the child's (see :func:`symbols`), ``is_word`` marks words without a tag, ``index`` is the
    child's place among ``arity[parent]`` children. The children of bracket ``b`` are the rows ``first[b]:first[b]+arity[b]``.
    """

    parent: Int64
    symbol: Int64
    is_word: NDArray[np.bool_]
    index: Int64
    first: Int64
    arity: Int64


def children_of(brackets: Brackets, classes: Int32 | None) -> Children:
    """The children of all brackets: brackets, preterminals and words; a further piece of a cut gold token is none of its own."""
    bracket_symbol, token_symbol = symbols(brackets, classes)
    inner = np.flatnonzero(brackets.parent >= 0)
    tokens = np.flatnonzero((brackets.above >= 0) & brackets.counted)
    parent = np.concatenate([brackets.parent[inner], brackets.above[tokens]])
    start = np.concatenate([brackets.start[inner], token_positions(brackets)[1][tokens]])
    symbol = np.concatenate([bracket_symbol[inner], token_symbol[tokens]])
    is_word = np.concatenate([np.zeros(len(inner), dtype=np.bool_), brackets.tag[tokens] < 0])
    order = np.lexsort((start, parent))
    arity = np.bincount(parent, minlength=brackets.n_brackets)
    first = np.cumsum(arity) - arity
    parent = parent[order]
    return Children(parent, symbol[order], is_word[order], np.arange(len(parent)) - first[parent], first, arity)
