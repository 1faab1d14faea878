"""The scores of a span chart, checked and turned into weights of the two roles that a span can have in a binary tree; and its
trees: from labelled spans and back, the k best, and their expected F1.

Without null labels all trees are binary, and a tree's potential is the sum of its spans' scores, including single words. With null
labels the distribution is over n-ary trees, each counted once: a constituent is worth its score less its span's null score (the
log-sum over the null labels), a span that is not a constituent 0. See :mod:`treegauge.parsing.span_kernels` for the two roles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import NoTree, UsageError
from treegauge.parsing.span_kernels import LOG_BASE, SpanInside, inside_of_spans, parts_of_spans, size_posteriors
from treegauge.trees.columns import Float64, Mask
from treegauge.trees.tree import JOIN, Tree

Null = int | Iterable[int] | None
Required = Sequence[tuple[int, int] | tuple[int, int, str]]


@dataclass(frozen=True, eq=False)
class Potentials:
    """The log-weights of one chart, all indexed by first and last word.

    ``label`` (n, n, labels) has the weights of labelled constituents (-inf for null labels), ``real`` (n, n) their log-sums over
    the labels, ``left`` and ``right`` the weights of a span in each role; ``group_left`` and ``group_right`` tell where a span in
    that role need not be a constituent.
    """

    label: Float64
    real: Float64
    left: Float64
    right: Float64
    group_left: Mask
    group_right: Mask

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.real)

    @cached_property
    def inside(self) -> SpanInside:
        """The inside chart."""
        return inside_of_spans(self.left, self.right, self.n)

    @cached_property
    def log_partition(self) -> float:
        """The logarithm of the sum over all trees."""
        total = float(self.inside.A[0, self.n])
        return math.log(total) + int(self.inside.A_scale[0, self.n]) * LOG_BASE if total > 0 else -math.inf

    @cached_property
    def share(self) -> tuple[Float64, Float64]:
        """The probabilities that a left part, and that a right part, is a constituent."""
        with np.errstate(invalid="ignore"):
            left, right = (np.exp(np.where(role > -np.inf, self.real - role, -np.inf)) for role in (self.left, self.right))
        return left, right

    @cached_property
    def label_share(self) -> Float64:
        """The probability of each label of a constituent."""
        return np.exp(self.label - np.where(np.isfinite(self.real), self.real, 0.0)[:, :, None])

    @cached_property
    def span(self) -> Float64:
        """The probability that a span is a constituent."""
        as_left, as_right = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        parts_of_spans(self.n, self.inside, as_left, as_right)
        return as_left * self.share[0] + as_right * self.share[1]


def null_labels(null: Null, size: int) -> list[int]:
    """The numbers of the null labels; negative ones count from the end.

    >>> null_labels(-1, 4), null_labels({0, 2}, 4), null_labels(None, 4)
    ([3], [0, 2], [])
    """
    if null is None:
        return []
    plain: Any = cast(Any, null).tolist() if hasattr(null, "tolist") else null
    given: list[Any] = list(cast("Iterable[Any]", plain)) if isinstance(plain, Iterable) else [plain]
    for label in given:
        if isinstance(label, bool) or not isinstance(label, int | np.integer) or not -size <= label < size:
            raise UsageError(f"null must be the number of a label, from {-size} to {size - 1}, not {label!r}")
    chosen = sorted({int(label) % size for label in given})
    if not chosen or len(chosen) == size:
        raise UsageError(f"{len(chosen)} of {size} labels are null: at least one must be, and one must not")
    return chosen


def checked_temperature(temperature: float) -> float:
    """The temperature, if scores can be divided by it; else an error."""
    try:
        if temperature > 0 and math.isfinite(temperature):
            return float(temperature)
    except TypeError:
        pass
    raise UsageError(f"temperature must be a number above 0, not {temperature!r}")


def checked_root(root: bool) -> bool:
    """``root``, if it is a truth value; else an error."""
    if not isinstance(root, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"root says whether the whole sentence must be a constituent: True or False, not {root!r}")
    return root


def potentials(
    scores: Float64,
    null: Sequence[int],
    *,
    root: bool = True,
    temperature: float = 1.0,
    allowed: Mask | None = None,
    required: Mask | None = None,
) -> Potentials:
    """The weights of a checked chart; ``allowed`` and ``required`` are arrays indexed by first and last word.

    A group of children may have any span that crosses no required one.
    """
    n = len(scores)
    label = scores / checked_temperature(temperature)
    if null:
        label = label - log_sums(label[:, :, null])[:, :, None]
        label[:, :, null] = -np.inf
    if allowed is not None:
        label = np.where(allowed if allowed.ndim == 3 else allowed[:, :, None], label, -np.inf)
    real = log_sums(label)
    group_left, group_right = np.full((n, n), bool(null)), np.eye(n, dtype=np.bool_) & bool(null)
    if root:
        group_left[0, n - 1] = False
    crossing = np.zeros((n, n), np.bool_)
    if required is not None:
        group_left &= ~required
        group_right &= ~required
        crossing = spans_crossing(required)
    either = np.logaddexp(0.0, real)
    left, right = (np.where(crossing, -np.inf, np.where(group, either, real)) for group in (group_left, group_right))
    return Potentials(label, real, left, right, group_left & ~crossing, group_right & ~crossing)


def spans_crossing(required: Mask) -> Mask:
    """A mask of the spans that cross a required one, indexed by first and last word."""
    n = len(required)
    crossing = np.zeros((n, n), np.bool_)
    for i, last in np.argwhere(required).tolist():
        crossing[:i, i:last] = True
        crossing[i + 1 : last + 1, last + 1 :] = True
    return crossing


def as_array(scores: Any, fence: int = 0) -> Float64:
    """The scores of one sentence as a new array (n, n, labels) of float64, with 0 below the diagonal; given by fenceposts if
    ``fence`` is 1."""
    if hasattr(scores, "detach"):
        scores = scores.detach().cpu()
    if hasattr(scores, "__dlpack__"):
        try:
            scores = cast(Any, np).from_dlpack(scores)
        except (BufferError, RuntimeError, TypeError):  # a type that NumPy lacks, such as bfloat16
            scores = scores.tolist()
    try:
        array = np.asarray(scores)
    except ValueError as error:
        raise UsageError(f"span scores must be an array (n, n, labels): {error}") from None
    if array.dtype.kind not in "fiu":
        raise UsageError(f"span scores must be real numbers, not {array.dtype}")
    array = np.array(array[..., None] if array.ndim == 2 else array, np.float64)  # without labels
    if array.ndim != 3 or array.shape[0] != array.shape[1] or 0 in array[fence:].shape:
        wanted = ("(n, n, labels) or (n, n)", "(n+1, n+1, labels) by fenceposts, n at least 1")[fence]
        raise UsageError(f"span scores must be an array {wanted}, not of shape {array.shape}")
    array = array[: len(array) - fence, fence:]
    array[np.tril_indices(len(array), -1)] = 0.0
    if np.isnan(array).any() or (array == np.inf).any():
        raise UsageError("span scores must not be nan or +inf")
    return array


def as_half_open(mask: Any, n: int, size: int) -> Mask:
    """Allowed spans as an array (n, n) or (n, n, labels) by first and last word; one (n, n+1) by start and end is converted."""
    array = np.asarray(mask, np.bool_)
    if array.shape == (n, n + 1):
        return array[:, 1:].copy()
    if array.shape not in ((n, n), (n, n, size)):
        raise UsageError(f"allowed spans of {n} words must be an array ({n}, {n}), ({n}, {n + 1}) or ({n}, {n}, {size})")
    return array


def required_spans(required: Required, n: int, names: Sequence[str]) -> tuple[Mask, Mask | None]:
    """A mask of the required half-open spans (start, end) or (start, end, label), and the labels that remain allowed, if
    limited."""
    found, allowed = np.zeros((n, n), np.bool_), None
    for span in required:
        start, end = span[0], span[1]
        if not 0 <= start < end <= n:
            raise UsageError(f"required span {span!r} is not within {n} words")
        found[start, end - 1] = True
        if len(span) == 3:
            if span[2] not in names:
                raise UsageError(f"required label {span[2]!r} is not one of the chart's labels")
            allowed = np.ones((n, n, len(names)), np.bool_) if allowed is None else allowed
            allowed[start, end - 1] &= np.array([name == span[2] for name in names])
    if found[spans_crossing(found)].any():
        raise NoTree("required spans cross each other")
    return found, allowed


def log_sums(values: Float64, axis: int = -1) -> Float64:
    """log sum exp over an axis; -inf if all values are."""
    high = values.max(axis=axis, keepdims=True)
    finite = np.where(np.isfinite(high), high, 0.0)
    with np.errstate(divide="ignore"):
        return finite.squeeze(axis) + np.log(np.exp(values - finite).sum(axis=axis))


def labelled_spans(tree: Tree, *, tags: bool) -> dict[tuple[int, int], str]:
    """The constituents of a tree, the labels of nodes over one span joined; with ``tags``, nodes right above words are left out.

    >>> labelled_spans(Tree.parse("(S (P I) (VP (VP (V saw) (NP (P her)))))"), tags=True)
    {(0, 3): 'S', (1, 3): 'VP::VP', (2, 3): 'NP'}
    """
    found: dict[tuple[int, int], str] = {}
    for node, start, end in tree.nodes_with_spans():
        if end > start and not (tags and node.is_preterminal):
            found[start, end] = f"{found[start, end]}{JOIN}{node.label}" if (start, end) in found else node.label
    return found


class _RankedWays(NamedTuple):
    """The best ways to derive a part, best first: value, label (-1 for none), and the rank of the split inside."""

    value: NDArray[np.float64]
    label: NDArray[np.int64]
    below: NDArray[np.int64]


class _BestSplits(NamedTuple):
    """The best ways to split a span: value, position, and the ranks of the left and of the right part."""

    value: NDArray[np.float64]
    at: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


def best_trees(given: Potentials, k: int) -> list[tuple[float, dict[tuple[int, int], int]]]:
    """The k trees of largest potential, or all if there are fewer: for each its potential and its constituents with their labels.

    The k best sums of two sorted lists are among the pairs whose ranks, counted from 1, have a product of at most k.
    """
    n = given.n
    i, j = np.meshgrid(np.arange(k), np.arange(k), indexing="ij")
    near = (i + 1) * (j + 1) <= k
    i, j = i[near], j[near]
    splits: dict[tuple[int, int], _BestSplits] = {}
    left: dict[tuple[int, int], _RankedWays] = {}
    right: dict[tuple[int, int], _RankedWays] = {}
    one = np.zeros(1, np.int64)

    def best_splits(s: int, t: int) -> _BestSplits:
        pieces: list[tuple[NDArray[Any], ...]] = []
        for r in range(s + 1, t):
            a, b = left[s, r].value, right[r, t].value
            fit = (i < len(a)) & (j < len(b))
            pieces.append((a[i[fit]] + b[j[fit]], np.full(int(fit.sum()), r), i[fit], j[fit]))
        values, at, of_left, of_right = (np.concatenate(column) for column in zip(*pieces, strict=True))
        value, order = _top(values, k)
        return _BestSplits(value, at[order], of_left[order], of_right[order])

    def constituents(rank: int) -> dict[tuple[int, int], int]:
        found: dict[tuple[int, int], int] = {}
        stack = [(0, n, rank, left)]
        while stack:
            s, t, which, role = stack.pop()
            part, inner = role[s, t], splits[s, t]
            if part.label[which] >= 0:
                found[s, t] = int(part.label[which])
            if t > s + 1:
                below = part.below[which]
                r = int(inner.at[below])
                stack += [(s, r, int(inner.left[below]), left), (r, t, int(inner.right[below]), right)]
        return found

    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            inner = _BestSplits(np.zeros(1), one, one, one) if d == 1 else best_splits(s, t)
            splits[s, t] = inner
            own = given.label[s, t - 1]
            left[s, t] = _rank(inner.value, own, bool(given.group_left[s, t - 1]), given.left[s, t - 1] > -np.inf, k)
            right[s, t] = _rank(inner.value, own, bool(given.group_right[s, t - 1]), given.right[s, t - 1] > -np.inf, k)
    return [(float(value), constituents(rank)) for rank, value in enumerate(left[0, n].value)]


def _rank(inner: NDArray[np.float64], own: NDArray[np.float64], group: bool, possible: bool, k: int) -> _RankedWays:
    """The best parts over a span: each label, or no label if the part may be a group, over each way to derive the inside."""
    none = np.zeros(0, np.int64)
    if not possible or not len(inner):
        return _RankedWays(np.zeros(0), none, none)
    labels = np.flatnonzero(own > -np.inf)
    labels = labels[np.argsort(-own[labels], kind="stable")[:k]]
    weight = own[labels]
    if group:
        labels, weight = np.append(labels, -1), np.append(weight, 0.0)
    value, order = _top((weight[:, None] + inner[None, :]).reshape(-1), k)
    return _RankedWays(value, labels[order // len(inner)], order % len(inner))


def _top(values: NDArray[np.float64], k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    order = np.argsort(-values, kind="stable")[:k]
    return values[order], order


POINTS = 32
"""The number of points of the generating function that are computed at once."""


def expected_f1(given: Potentials, trees: Sequence[Mapping[tuple[int, int], Sequence[int]]]) -> list[float]:
    """The mean labelled F1, 2 matches / (both sizes), of each tree against random trees of the chart; two empty trees agree.

    A tree is given as its spans, each with the numbers of the labels that are right there. The distribution of the sizes of random
    trees that have a span comes from its generating function at n + 1 points, in time O(n^4) for all trees together.
    """
    n = given.n
    spans = sorted({span for tree in trees for span in tree})
    number = {span: i for i, span in enumerate(spans)}
    start, end = (np.array([span[k] for span in spans], np.int64) for k in (0, 1))
    points = np.exp(-2j * np.pi * np.arange(n + 1) / (2 * n))
    parts = [size_posteriors(given.inside, n, *given.share, points[k : k + POINTS], start, end) for k in range(0, n + 1, POINTS)]
    sizes, joint = (np.fft.irfft(np.concatenate(series), 2 * n, axis=0) for series in zip(*parts, strict=True))
    found: list[float] = []
    for tree in trees:
        if not tree:
            found.append(float(sizes[0]))
            continue
        weight = 2 / (np.arange(2 * n) + len(tree))
        own = {span: float(given.label_share[span[0], span[1] - 1, list(labels)].sum()) for span, labels in tree.items()}
        found.append(math.fsum(own[span] * float(weight @ joint[:, number[span]]) for span in tree))
    return found
