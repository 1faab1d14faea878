"""The scores of a span chart, checked and turned into weights of the two roles that a span can have in a binary tree.

Without null labels all trees are binary, and a tree's potential is the sum of its spans' scores, including single words. With null
labels the distribution is over n-ary trees, each counted once: a constituent is worth its score less its span's null score (the
log-sum over the null labels), a span that is not a constituent 0. See :mod:`treegauge.parsing.span_kernels` for the two roles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import NoTree, UsageError
from treegauge.parsing.span_kernels import SpanInside, inside_of_spans, log_partition, parts_of_spans

Float64 = NDArray[np.float64]
Bool = NDArray[np.bool_]
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
    group_left: Bool
    group_right: Bool

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
        return float(log_partition(self.inside, self.n))

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
    allowed: Bool | None = None,
    required: Bool | None = None,
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


def spans_crossing(required: Bool) -> Bool:
    """A mask of the spans that cross a required one, indexed by first and last word."""
    n = len(required)
    crossing = np.zeros((n, n), np.bool_)
    for i, last in np.argwhere(required).tolist():
        crossing[:i, i:last] = True
        crossing[i + 1 : last + 1, last + 1 :] = True
    return crossing


def as_array(scores: Any) -> Float64:
    """The scores of one sentence as a new array (n, n, labels) of float64, with 0 below the diagonal."""
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
    array = np.array(array, np.float64)
    if array.ndim != 3 or array.shape[0] != array.shape[1] or 0 in array.shape:
        raise UsageError(f"span scores must be an array (n, n, labels), not of shape {array.shape}")
    if np.isnan(array[np.triu_indices(len(array))]).any() or (array == np.inf).any():
        raise UsageError("span scores must not be nan or +inf")
    array[np.tril_indices(len(array), -1)] = 0.0
    return array


def as_half_open(mask: Any, n: int, size: int) -> Bool:
    """Allowed spans as an array (n, n) or (n, n, labels) by first and last word; one (n, n+1) by start and end is converted."""
    array = np.asarray(mask, np.bool_)
    if array.shape == (n, n + 1):
        return array[:, 1:].copy()
    if array.shape not in ((n, n), (n, n, size)):
        raise UsageError(f"allowed spans of {n} words must be an array ({n}, {n}), ({n}, {n + 1}) or ({n}, {n}, {size})")
    return array


def required_spans(required: Required, n: int, names: Sequence[str]) -> tuple[Bool, Bool | None]:
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
