"""Weights of latent rules, as rows; and splitting, putting together and scaling them.

Letters: A -> B C is a base rule, i, j, k are subcategories of A, B, C; K their numbers. A rule's *rows* are its pairs (j, k);
each row has the weights of A_i -> B_j C_k for all i, next to each other, so that inside is a sum of rows, outside a dot product
with a row, and counting an addition to a row. A unary rule A -> B has rows (j, 0). Rows that do not matter are not there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.grammar.latent.symbols import Int32, Int64

__all__ = [
    "Rows",
    "added",
    "dense_rows",
    "distinct_rows",
    "drop_small",
    "join_rows",
    "offsets",
    "owners",
    "scale_rows",
    "split_rows",
]


class Rows(NamedTuple):
    """The rows of rule r are ``first[r]:first[r+1]``, by j, then k; row q has the weights ``value[offset[q]:offset[q+1]]``."""

    first: Int64
    left: Int32
    right: Int32
    offset: Int64
    value: Any


def offsets(sizes: NDArray[Any]) -> Int64:
    """The beginnings of parts of these sizes, and the end of the last.

    >>> offsets(np.array([2, 3])).tolist()
    [0, 2, 5]
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def added(place: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    """Values added up by place.

    >>> added(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [4.0, 0.0, 2.0, 0.0]
    """
    return np.bincount(place, values, size).astype(np.float64)


def _columns(rules: Int32) -> tuple[Int32, Int32, Int32 | None]:
    return rules[:, 0], rules[:, 1], rules[:, 2] if rules.shape[1] == 3 else None


def _made(rules: Int32, rule: Int64, left: NDArray[Any], right: NDArray[Any], sizes: Int64, value: NDArray[Any]) -> Rows:
    first = np.searchsorted(rule, np.arange(len(rules) + 1)).astype(np.int64)
    return Rows(first, left.astype(np.int32), right.astype(np.int32), offsets(sizes[rules[rule, 0]]), value)


def _rule_of_row(rows: Rows) -> Int64:
    return np.repeat(np.arange(len(rows.first) - 1), np.diff(rows.first))


def dense_rows(rules: Int32, sizes: Int64, value: NDArray[Any] | None = None, precision: Any = np.float32) -> Rows:
    """All rows of rules whose symbols have these numbers of subcategories; all 1 if no values are given."""
    _, B, C = _columns(rules)
    width = np.ones(len(rules), np.int64) if C is None else sizes[C]
    count = sizes[B] * width
    rule = np.repeat(np.arange(len(rules)), count)
    place = np.arange(len(rule)) - np.repeat(offsets(count)[:-1], count)
    total = int(offsets(sizes[rules[rule, 0]])[-1])
    filled = np.ones(total, precision) if value is None else value.astype(precision)
    return _made(rules, rule, place // width[rule], place % width[rule], sizes, filled)


def owners(rows: Rows, rules: Int32, sizes: Int64) -> Int64:
    """For each weight the subcategory (numbered through all symbols) of its left-hand side."""
    begin = offsets(sizes)[rules[_rule_of_row(rows), 0]]
    widths = np.diff(rows.offset)
    return np.arange(len(rows.value)) + np.repeat(begin - rows.offset[:-1], widths)


def scale_rows(rows: Rows, owner: Int64, total: NDArray[np.float64], smoothing: float) -> Rows:
    """Counts as probabilities: divided by their owner's total, then mixed with the mean of their row (Petrov et al. 2006, 2.4)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(total[owner] > 0, rows.value / total[owner], 0.0)
    if smoothing:
        widths = np.diff(rows.offset)
        mean = np.add.reduceat(value, rows.offset[:-1]) / widths if len(value) else value
        value = (1 - smoothing) * value + smoothing * np.repeat(mean, widths)
    return rows._replace(value=value.astype(rows.value.dtype))


def drop_small(rows: Rows, least: float) -> Rows:
    """The rows whose largest weight is at least ``least`` times the largest of their rule.

    The threshold is relative: a rule seen once under a frequent symbol is spread thin by a split and must not be lost.
    """
    if not len(rows.value) or least <= 0:
        return rows
    largest = np.maximum.reduceat(rows.value, rows.offset[:-1])
    rule = _rule_of_row(rows)
    of_rule = np.maximum.reduceat(largest, rows.first[:-1])
    kept = largest >= of_rule[rule] * np.float32(least)
    if kept.all():
        return rows
    widths = np.diff(rows.offset)
    first = offsets(np.bincount(rule[kept], minlength=len(rows.first) - 1))
    return Rows(first, rows.left[kept], rows.right[kept], offsets(widths[kept]), rows.value[np.repeat(kept, widths)])


def split_rows(rows: Rows, rules: Int32, sizes: Int64, noise: NDArray[Any]) -> Rows:
    """Each subcategory as two, which share its weights: x as 2x and 2x+1.

    ``noise`` (numbers near 0, one for each row that is made and each old i) is given to one half and taken from the other, so that
    putting all halves together again gives the old weights.
    """
    _, _, C = _columns(rules)
    ways = 2 if C is None else 4
    rule = np.repeat(_rule_of_row(rows), ways)
    turn = np.tile(np.arange(ways), len(rows.left))
    left = 2 * np.repeat(rows.left, ways) + (turn if C is None else turn // 2)
    right = np.repeat(rows.right, ways) if C is None else 2 * np.repeat(rows.right, ways) + turn % 2
    widths = np.repeat(np.diff(rows.offset), ways)
    source = np.arange(int(widths.sum())) + np.repeat(np.repeat(rows.offset[:-1], ways) - offsets(widths)[:-1], widths)
    share = rows.value[source] / rows.value.dtype.type(2 * ways)
    value = np.stack([share + share * noise, share - share * noise], axis=1).ravel()
    made = _made(rules, rule, left, right, 2 * sizes, value)
    return _in_order(made, rule)


def _in_order(rows: Rows, rule: Int64) -> Rows:
    """The same rows, those of a rule by left and right."""
    order = np.lexsort((rows.right, rows.left, rule))
    widths = np.diff(rows.offset)[order]
    made = offsets(widths)
    source = np.arange(len(rows.value)) + np.repeat(rows.offset[:-1][order] - made[:-1], widths)
    return Rows(rows.first, rows.left[order], rows.right[order], made, rows.value[source])


def distinct_rows(rules: Int32, rule: Int64, left: NDArray[Any], right: NDArray[Any], sizes: Int64) -> tuple[Rows, Int64]:
    """The rows, without values, that have these rules and subcategories, each once; and where each of those given is among
    them."""
    most = int(sizes.max(initial=1))
    keys, place = np.unique((rule * most + left) * most + right, return_inverse=True)
    return _made(rules, keys // most // most, keys // most % most, keys % most, sizes, np.zeros(0)), place.astype(np.int64)


def join_rows(rows: Rows, rules: Int32, old: Int64, new: Int64, to: Int64) -> Rows:
    """Counts of subcategories put together: subcategory x (numbered through all symbols) becomes number ``to[x]`` of its symbol."""
    A, B, C = _columns(rules)
    begin = offsets(old)
    rule = _rule_of_row(rows)
    left = to[begin[B[rule]] + rows.left]
    right = np.zeros(len(rule), np.int64) if C is None else to[begin[C[rule]] + rows.right]
    made, place = distinct_rows(rules, rule, left, right, new)
    inner = to[np.repeat(begin[A[rule]] - rows.offset[:-1], np.diff(rows.offset)) + np.arange(len(rows.value))]
    where = np.repeat(made.offset[place], np.diff(rows.offset)) + inner
    value = added(where, rows.value, int(made.offset[-1]))
    return made._replace(value=value.astype(rows.value.dtype))
