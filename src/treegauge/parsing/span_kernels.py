"""Kernels of span charts: sums, posteriors, samples and the best of all binary trees whose spans have two weights.

Letters: a span is [s, t), split at r into a left part [s, r) and a right part [r, t). ``left[s, t-1]`` and ``right[s, t-1]`` are
the logarithms of the span's weights as a left and as a right part; the whole sentence counts as a left part. Two weights let one
recursion serve both binary trees, for which they are the same, and n-ary trees, each counted once: a right part must be a
constituent or a word, a left part may also be a group of children of the node above.

    I(s, t) = sum over r of A(s, r) R(r, t)      A = I e^left      R = I e^right      I of a word = 1      Z = A(0, n)

Numbers are stored as multiples of BASE ** scale, so that nothing overflows and sums are plain dot products. The outside value of a
part is scaled such that its product with the part's own number is a posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treegauge.compilation import Floats, Ints, helper, kernel, or_python

helper, kernel = or_python(helper), or_python(kernel)

TIE = 1e-12
BASE = 2.0**256
LOG_BASE = 256 * np.log(2.0)
HIGH, LOW = 2.0**128, 2.0**-128
_POWER = np.array([0.0, BASE**-3, BASE**-2, BASE**-1, 1.0, BASE])
_NONE = -(2**40)


class SpanInside(NamedTuple):
    """A[s, r], R[t, r] (indexed by the end first, so that splits are contiguous) and I[s, t] (``inner``), each with its scale."""

    A: Floats
    A_scale: Ints
    R: Floats
    R_scale: Ints
    inner: Floats
    inner_scale: Ints


@helper
def power(difference: int) -> float:
    """BASE ** difference, or 0 if that is too small to change a sum with a term of difference 0."""
    return _POWER[max(difference, -4) + 4]


@helper
def scaled_exp(x: float) -> tuple[float, int]:
    """e ** x as a number between 2 ** -128 and 2 ** 128, and its scale."""
    if x == -np.inf:
        return 0.0, _NONE
    scale = int(np.rint(x / LOG_BASE))
    return np.exp(x - scale * LOG_BASE), scale


@helper
def normal(x: float, scale: int) -> tuple[float, int]:
    """The same number, with another scale if the product of two has left the range."""
    if x == 0:
        return 0.0, _NONE
    if x > HIGH:
        return x / BASE, scale + 1
    if x < LOW:
        return x * BASE, scale - 1
    return x, scale


@helper
def _inside(left: Floats, right: Floats, n: int) -> SpanInside:
    """The inside chart of a sentence of n words; the arrays may be larger."""
    A, R, inner = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    a, b, c = (np.full((n + 1, n + 1), _NONE), np.full((n + 1, n + 1), _NONE), np.full((n + 1, n + 1), _NONE))
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            x, scale = 1.0, 0
            if d > 1:
                top, low = 2 * _NONE, -2 * _NONE
                for r in range(s + 1, t):
                    top = max(top, a[s, r] + b[t, r])
                    low = min(low, a[s, r] + b[t, r])
                x, scale = 0.0, top
                if top == low:
                    for r in range(s + 1, t):
                        x += A[s, r] * R[t, r]
                else:
                    for r in range(s + 1, t):
                        x += A[s, r] * R[t, r] * power(a[s, r] + b[t, r] - top)
                x, scale = normal(x, scale)
            inner[s, t], c[s, t] = x, scale
            if x == 0:
                continue
            weight, of_weight = scaled_exp(left[s, t - 1])
            A[s, t], a[s, t] = normal(x * weight, scale + of_weight)
            if right[s, t - 1] != left[s, t - 1]:
                weight, of_weight = scaled_exp(right[s, t - 1])
            R[t, s], b[t, s] = normal(x * weight, scale + of_weight)
    return SpanInside(A, a, R, b, inner, c)


@helper
def _log_partition(chart: SpanInside, n: int) -> float:
    """log Z, the logarithm of the sum over all trees."""
    x = chart.A[0, n]
    return np.log(x) + chart.A_scale[0, n] * LOG_BASE if x > 0 else -np.inf


@helper
def _parts(n: int, chart: SpanInside, as_left: Floats, as_right: Floats) -> None:
    """Fill in the probabilities that each span is a left part, and that it is a right part."""
    A, a, R, b, inner, c = chart
    of_left, of_right = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    if A[0, n] > 0:
        of_left[0, n] = 1.0 / A[0, n]
    for d in range(n, 0, -1):
        for s in range(n - d + 1):
            t = s + d
            as_left[s, t - 1], as_right[s, t - 1] = of_left[s, t] * A[s, t], of_right[t, s] * R[t, s]
            if d == 1 or inner[s, t] == 0:
                continue
            # A / I is e^left, and R / I is e^right.
            outer, scale = (as_left[s, t - 1] + as_right[s, t - 1]) / inner[s, t], c[s, t]
            if outer == 0:
                continue
            same = True
            for r in range(s + 1, t):
                same &= a[s, r] + b[t, r] == scale
            if same:
                for r in range(s + 1, t):
                    of_left[s, r] += outer * R[t, r]
                for r in range(s + 1, t):
                    of_right[t, r] += outer * A[s, r]
            else:
                for r in range(s + 1, t):
                    factor = outer * power(a[s, r] + b[t, r] - scale)
                    of_left[s, r] += factor * R[t, r]
                    of_right[t, r] += factor * A[s, r]


@kernel
def inside_of_spans(left: Floats, right: Floats, n: int) -> SpanInside:
    """The inside chart of one sentence."""
    return _inside(left, right, n)


@kernel
def parts_of_spans(n: int, chart: SpanInside, as_left: Floats, as_right: Floats) -> None:
    """The probabilities of one sentence's spans as left and as right parts."""
    _parts(n, chart, as_left, as_right)


@kernel
def marginals_of_batch(
    left: Floats, right: Floats, lengths: Ints, log_z: Floats, as_left: Floats, as_right: Floats, first: int, last: int
) -> None:
    """Fill in log Z of the sentences ``first:last`` and, unless ``as_left`` is empty, the posteriors of their parts."""
    for i in range(first, last):
        n = lengths[i]
        chart = _inside(left[i], right[i], n)
        log_z[i] = _log_partition(chart, n)
        if len(as_left) > 0:
            _parts(n, chart, as_left[i], as_right[i])


@kernel
def best_tree(left: Floats, right: Floats, n: int) -> tuple[float, Ints]:
    """The largest sum of the weights of a tree's parts, and for each span the first best split."""
    value, split = np.full((n, n + 1), -np.inf), np.full((n, n + 1), -1, np.int32)
    ends = np.full((n + 1, n + 1), -np.inf)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            best, at = (0.0, -1) if d == 1 else (-np.inf, -1)
            for r in range(s + 1, t):
                x = value[s, r] + ends[t, r]
                if x > best + TIE:
                    best, at = x, r
            value[s, t], ends[t, s] = best + left[s, t - 1], best + right[s, t - 1]
            split[s, t] = at
    return value[0, n], split


@kernel
def sample_parts(chart: SpanInside, n: int, uniform: Floats) -> Ints:
    """Rows (s, t, 1 for a right part) of one sampled tree, the whole sentence first; ``uniform`` are n - 1 random numbers."""
    parts = np.empty((2 * n - 1, 3), np.int64)
    parts[0, 0], parts[0, 1], parts[0, 2] = 0, n, 0
    size, used = 1, 0
    for k in range(2 * n - 1):
        s, t = parts[k, 0], parts[k, 1]
        if t == s + 1:
            continue
        rest = uniform[used] * chart.inner[s, t]
        used += 1
        at = -1
        for r in range(s + 1, t):
            difference = chart.A_scale[s, r] + chart.R_scale[t, r] - chart.inner_scale[s, t]
            x = chart.A[s, r] * chart.R[t, r] * power(min(difference, 1))
            if x > 0:
                at = r
                rest -= x
                if rest < 0:
                    break
        parts[size, 0], parts[size, 1], parts[size, 2] = s, at, 0
        parts[size + 1, 0], parts[size + 1, 1], parts[size + 1, 2] = at, t, 1
        size += 2
    return parts


@kernel
def size_posteriors(
    chart: SpanInside, n: int, real_left: Floats, real_right: Floats, points: Floats, start: Ints, end: Ints
) -> tuple[Floats, Floats]:
    """The generating function E x^size of the size of a random tree, at complex points x; and, points by spans, its part from the
    trees that have each of the spans ``start``, ``end``.

    ``real_left[s, t-1]`` and ``real_right[s, t-1]`` are the probabilities that a left, or a right, part is a constituent. The
    second result comes from the derivative of the first, backwards from the whole sentence.
    """
    k = len(points)
    g, g_left = np.zeros((n, n + 1, k), np.complex128), np.zeros((n, n + 1, k), np.complex128)
    g_right = np.zeros((n + 1, n + 1, k), np.complex128)
    of_left, of_right = np.zeros((n, n + 1, k), np.complex128), np.zeros((n + 1, n + 1, k), np.complex128)
    share = np.zeros((n, n + 1, n))
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            if d == 1:
                g[s, t] = 1.0
            for r in range(s + 1, t):
                difference = chart.A_scale[s, r] + chart.R_scale[t, r] - chart.inner_scale[s, t]
                if chart.inner[s, t] == 0 or difference < -4:
                    continue
                share[s, t, r] = chart.A[s, r] * chart.R[t, r] * power(min(difference, 1)) / chart.inner[s, t]
                for j in range(k):
                    g[s, t, j] += share[s, t, r] * g_left[s, r, j] * g_right[t, r, j]
            for j in range(k):
                g_left[s, t, j] = g[s, t, j] * (1 - real_left[s, t - 1] + real_left[s, t - 1] * points[j])
                g_right[t, s, j] = g[s, t, j] * (1 - real_right[s, t - 1] + real_right[s, t - 1] * points[j])
    of_left[0, n] = 1.0
    for d in range(n, 1, -1):
        for s in range(n - d + 1):
            t = s + d
            for r in range(s + 1, t):
                if share[s, t, r] == 0:
                    continue
                for j in range(k):
                    own = of_left[s, t, j] * (1 - real_left[s, t - 1] + real_left[s, t - 1] * points[j])
                    own += of_right[t, s, j] * (1 - real_right[s, t - 1] + real_right[s, t - 1] * points[j])
                    own *= share[s, t, r]
                    of_left[s, r, j] += own * g_right[t, r, j]
                    of_right[t, r, j] += own * g_left[s, r, j]
    found = np.empty((k, len(start)), np.complex128)
    for i in range(len(start)):
        s, t = start[i], end[i]
        for j in range(k):
            own = of_left[s, t, j] * real_left[s, t - 1] + of_right[t, s, j] * real_right[s, t - 1]
            found[j, i] = own * points[j] * g[s, t, j]
    return g_left[0, n], found
