"""The rules of a latent-variable grammar: those of the treebank's own labels, and their weights for all subcategories, in rows.

Trees are binarised to the right with one *inner* symbol per label: ``(NP a b c)`` is ``NP -> a @NP``, ``@NP -> b c``. A span has at
most one unary rule between phrases: a longer chain keeps its top and bottom, and parsing restores the labels that most often stood
between them. A phrase over one word has a unary rule to its tag, and roots have a distribution over symbols.

Letters: A -> B C is a base rule; i, j, k are subcategories of A, B, C. A rule has one *row* for each pair (j, k); a row holds the
weights of A_i -> B_j C_k for all i, next to each other. Inside values are then sums of rows, outside values dot products with
rows, and counting adds to rows. A unary rule A -> B has rows (j, 0). Rows of negligible weight are not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.trees.columns import Int32, Int64, offsets

PHRASE, INNER, TAG = 0, 1, 2


@dataclass(frozen=True, eq=False)
class BaseGrammar:
    """Symbols and rules without subcategories.

    ``names`` are the labels of symbols and ``kind`` their kinds: phrases come first, then inner symbols (which do not appear in
    trees), then tags. The tag with the empty name is for words without a tag, and does not appear in trees either. ``binary`` has
    rows (A, B, C), ``unary`` rows (A, B). ``middles[A, B]`` are the labels that most often stand between A and B in a chain.
    ``root`` is the label of the treebank's root nodes, if it has one.
    """

    names: tuple[str, ...]
    kind: NDArray[np.int8]
    binary: Int32
    unary: Int32
    middles: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict[tuple[int, int], tuple[str, ...]])
    root: str | None = None

    @property
    def size(self) -> int:
        """The number of symbols."""
        return len(self.names)

    @cached_property
    def is_tag(self) -> NDArray[np.bool_]:
        return self.kind == TAG

    @cached_property
    def is_inner(self) -> NDArray[np.bool_]:
        return self.kind == INNER

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The distinct labels of phrases, those in the middle of chains among them."""
        found = [name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == PHRASE]
        return tuple(dict.fromkeys([*found, *(name for middle in self.middles.values() for name in middle)]))

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The distinct names of tags."""
        return tuple(dict.fromkeys(name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == TAG))

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """A unique name for each symbol: the label of a phrase, ``@`` and the label of an inner symbol, or the name of a tag. More
        ``@`` in front of inner symbols, and ``^`` after tags, tell apart names that would be equal or empty."""
        taken = {name for name, kind in zip(self.names, self.kind.tolist(), strict=True) if kind == PHRASE} | {""}
        hidden = {name for middle in self.middles.values() for name in middle}
        made: list[str] = []
        for name, kind in zip(self.names, self.kind.tolist(), strict=True):
            title = f"@{name}" if kind == INNER else name
            while kind != PHRASE and (title in taken or title in hidden):
                title = f"@{title}" if kind == INNER else f"{title}^"
            taken.add(title)
            made.append(title)
        return tuple(made)

    def title(self, symbol: int) -> str:
        """The unique name of a symbol."""
        return self.titles[symbol]


class RuleRows(NamedTuple):
    """The rows of all binary or all unary rules. Those of rule r are ``first[r]:first[r+1]``, ordered by j (``left``), then k
    (``right``); row q has the weights ``value[offset[q]:offset[q+1]]``."""

    first: Int64
    left: Int32
    right: Int32
    offset: Int64
    value: Any


def sum_by_index(index: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.float64]:
    """An array of the given size whose element x is the sum of the values with index x.

    >>> sum_by_index(np.array([0, 2, 0]), np.array([1.0, 2.0, 3.0]), 4).tolist()
    [4.0, 0.0, 2.0, 0.0]
    """
    return np.bincount(index, values, size).astype(np.float64)


def _columns(rules: Int32) -> tuple[Int32, Int32, Int32 | None]:
    return rules[:, 0], rules[:, 1], rules[:, 2] if rules.shape[1] == 3 else None


def _build(rules: Int32, rule: Int64, left: NDArray[Any], right: NDArray[Any], sizes: Int64, value: NDArray[Any]) -> RuleRows:
    first = np.searchsorted(rule, np.arange(len(rules) + 1)).astype(np.int64)
    return RuleRows(first, left.astype(np.int32), right.astype(np.int32), offsets(sizes[rules[rule, 0]]), value)


def _rule_of_row(rows: RuleRows) -> Int64:
    return np.repeat(np.arange(len(rows.first) - 1), np.diff(rows.first))


def dense_rows(rules: Int32, sizes: Int64, value: NDArray[Any] | None = None, precision: Any = np.float32) -> RuleRows:
    """All rows of rules whose symbols have these numbers of subcategories, with weights ``value`` (default: all 1)."""
    _, B, C = _columns(rules)
    width = np.ones(len(rules), np.int64) if C is None else sizes[C]
    count = sizes[B] * width
    rule = np.repeat(np.arange(len(rules)), count)
    place = np.arange(len(rule)) - np.repeat(offsets(count)[:-1], count)
    total = int(offsets(sizes[rules[rule, 0]])[-1])
    filled = np.ones(total, precision) if value is None else value.astype(precision)
    return _build(rules, rule, place // width[rule], place % width[rule], sizes, filled)


def owners(rows: RuleRows, rules: Int32, sizes: Int64) -> Int64:
    """For each weight, the subcategory on the left-hand side of its rule, numbered consecutively over all symbols."""
    begin = offsets(sizes)[rules[_rule_of_row(rows), 0]]
    widths = np.diff(rows.offset)
    return np.arange(len(rows.value)) + np.repeat(begin - rows.offset[:-1], widths)


def scale_rows(rows: RuleRows, owner: Int64, total: NDArray[np.float64], smoothing: float) -> RuleRows:
    """Turn counts into probabilities: divide each by the total of its owner, then mix it with the mean of its row (Petrov et al.
    2006, section 2.4)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(total[owner] > 0, rows.value / total[owner], 0.0)
    if smoothing:
        widths = np.diff(rows.offset)
        mean = np.add.reduceat(value, rows.offset[:-1]) / widths if len(value) else value
        value = (1 - smoothing) * value + smoothing * np.repeat(mean, widths)
    return rows._replace(value=value.astype(rows.value.dtype))


def drop_small(rows: RuleRows, least: float) -> RuleRows:
    """The rows whose largest weight is at least ``least`` times the largest of their rule.

    The threshold is relative because splits divide the weight of a rule that was seen once among many rows, which must not all be
    dropped.
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
    return RuleRows(first, rows.left[kept], rows.right[kept], offsets(widths[kept]), rows.value[np.repeat(kept, widths)])


def split_rows(rows: RuleRows, rules: Int32, sizes: Int64, noise: NDArray[Any]) -> RuleRows:
    """Split each subcategory x into 2x and 2x+1, which share its weights.

    ``noise`` has a number near 0 for each new row and each old i. It is added to the share of one half and subtracted from that of
    the other, so merging the halves gives the old weights again.
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
    made = _build(rules, rule, left, right, 2 * sizes, value)
    return _sort_rows(made, rule)


def _sort_rows(rows: RuleRows, rule: Int64) -> RuleRows:
    """The same rows, ordered within each rule by left and right subcategory."""
    order = np.lexsort((rows.right, rows.left, rule))
    widths = np.diff(rows.offset)[order]
    made = offsets(widths)
    source = np.arange(len(rows.value)) + np.repeat(rows.offset[:-1][order] - made[:-1], widths)
    return RuleRows(rows.first, rows.left[order], rows.right[order], made, rows.value[source])


def _distinct(numbers: Int64, bound: int) -> tuple[Int64, Int64]:
    """The distinct numbers in order, and the position of each number among them; all are below ``bound``.

    Sorting would take most of the time in which a model is loaded, so numbers are marked in an array, unless it would be large.
    """
    if bound > 4_000_000:
        found, place = np.unique(numbers, return_inverse=True)
        return found, place.astype(np.int64)
    is_there = np.zeros(bound, np.bool_)
    is_there[numbers] = True
    return np.flatnonzero(is_there), np.cumsum(is_there)[numbers] - 1


def distinct_rows(rules: Int32, rule: Int64, left: NDArray[Any], right: NDArray[Any], sizes: Int64) -> tuple[RuleRows, Int64]:
    """The distinct rows among the given triples of rule, left and right subcategory, without values; and the row of each triple."""
    most = int(sizes.max(initial=1))
    keys, place = _distinct((rule * most + left) * most + right, len(rules) * most * most)
    return _build(rules, keys // most // most, keys // most % most, keys % most, sizes, np.zeros(0)), place


def merge_rows(rows: RuleRows, rules: Int32, old: Int64, new: Int64, to: Int64) -> RuleRows:
    """Merge subcategories: x, numbered consecutively over all symbols, becomes number ``to[x]`` of its symbol, and counts add up.

    ``old`` and ``new`` are the numbers of subcategories of each symbol before and after.
    """
    A, B, C = _columns(rules)
    begin = offsets(old)
    rule = _rule_of_row(rows)
    left = to[begin[B[rule]] + rows.left]
    right = np.zeros(len(rule), np.int64) if C is None else to[begin[C[rule]] + rows.right]
    made, place = distinct_rows(rules, rule, left, right, new)
    inner = to[np.repeat(begin[A[rule]] - rows.offset[:-1], np.diff(rows.offset)) + np.arange(len(rows.value))]
    where = np.repeat(made.offset[place], np.diff(rows.offset)) + inner
    value = sum_by_index(where, rows.value, int(made.offset[-1]))
    return made._replace(value=value.astype(rows.value.dtype))
