"""Span charts from elsewhere: the scores that any parser gives to labelled spans, decoded by the same objectives.

``scores[i, j, X]`` belongs to label X over the words i .. j, both included, so an array of n words is (n, n,
labels); entries with j < i are ignored. They are log-potentials of a tree-CRF, P(tree) proportional to the
exponential of the sum over its spans (single words too), or posteriors already. In a notebook:

>>> import numpy as np
>>> from treegauge.parsing import decode
>>> scores = np.random.default_rng(1).normal(size=(4, 4, 3))
>>> best = decode(scores, "labelled-recall", labels=["NP", "VP", "S"], words="time flies like arrows".split())
>>> print(best.tree)
(S (VP time) (VP (NP flies) (NP (NP like) (NP arrows))))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.free import best_spans, build
from treegauge.parsing.jit import Floats, kernel

__all__ = ["Marginals", "decode", "marginals"]

Float64 = NDArray[np.float64]
SPAN_OBJECTIVES = ("viterbi", "labelled-recall", "bracketed-recall", "labelled-precision-recall")


class Marginals(NamedTuple):
    """The logarithm of the sum over all trees, and the posterior of each labelled span, shaped like the scores."""

    log_partition: float
    posterior: Float64


def decode(
    scores: Any,
    objective: str = "labelled-recall",
    *,
    kind: Literal["potentials", "posteriors"] = "potentials",
    labels: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    null: int | None = None,
    lam: float = 0.0,
) -> Best:
    """The best tree for an objective, and its expected score, from an array of span scores (NumPy, or anything with
    DLPack).

    ``null`` is the number of the label that means "no constituent", if there is one: it takes part in the tree-CRF,
    but it does not show, and it is never right. Single words count like other spans. ``viterbi`` scores the
    probability of the tree, and needs potentials.
    """
    array = _array(scores)
    n, size = array.shape[0], array.shape[2]
    if objective not in SPAN_OBJECTIVES:
        raise UnknownName("objective for span charts", objective, SPAN_OBJECTIVES)
    names = [str(x) for x in range(size)] if labels is None else list(labels)
    if len(names) != size or (words is not None and len(words) != n):
        raise UsageError(f"scores of shape {array.shape} need {size} labels and {n} words")
    if objective == "viterbi":
        if kind == "posteriors":
            raise UsageError("objective viterbi needs potentials: posteriors do not say how likely a whole tree is")
        return _viterbi(array, names, words, null)
    posterior = array if kind == "posteriors" else marginals(array).posterior
    real = posterior.copy()
    if null is not None:
        real[:, :, null] = 0.0
    weight = real.sum(axis=2) if objective == "bracketed-recall" else real.max(axis=2, initial=0.0)
    if objective == "labelled-precision-recall":
        weight = weight - lam
    label = real.argmax(axis=2)
    shown = real.max(axis=2, initial=0.0) > (lam if objective == "labelled-precision-recall" else 0.0)
    value, split = best_spans(_half_open(weight), objective == "labelled-precision-recall")

    def name(s: int, t: int) -> str | None:
        if objective == "bracketed-recall":
            return DUMMY
        return names[int(label[s, t - 1])] if shown[s, t - 1] or t - s == n else None

    return _best(name, split, float(value), words, n)


def _viterbi(array: Float64, names: Sequence[str], words: Sequence[str] | None, null: int | None) -> Best:
    value, split = best_spans(_half_open(array.max(axis=2)), False)
    label = array.argmax(axis=2)

    def name(s: int, t: int) -> str | None:
        return None if label[s, t - 1] == null else names[int(label[s, t - 1])]

    probability = math.exp(float(value) - marginals(array).log_partition)
    return _best(name, split, probability, words, len(array))


def _best(name: Any, split: Any, value: float, words: Sequence[str] | None, n: int) -> Best:
    tokens = [str(i) for i in range(n)] if words is None else words
    return Best(build(tokens, split, name, lambda s: name(s, s + 1), DUMMY), value)


def marginals(scores: Any) -> Marginals:
    """The posteriors of a tree-CRF over labelled binary trees.

    >>> uniform = marginals(np.zeros((3, 3, 1)))
    >>> round(math.exp(uniform.log_partition)), uniform.posterior[0, 1, 0].round(9)
    (2, np.float64(0.5))
    """
    array = _array(scores)
    n = array.shape[0]
    high = array.max(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = high + np.log(np.exp(array - np.where(np.isfinite(high), high, 0.0)[:, :, None]).sum(axis=2))
    log_partition, span = span_marginals(_half_open(np.where(np.isfinite(high), total, -np.inf)))
    if log_partition == -math.inf:
        raise UsageError("every tree over these spans has potential 0 (score -inf)")
    with np.errstate(invalid="ignore"):
        share = np.exp(array - np.where(np.isfinite(total), total, 0.0)[:, :, None])
    return Marginals(float(log_partition), span[:, 1 : n + 1, None] * share)


@kernel
def log_add(x: float, y: float) -> float:
    high, low = max(x, y), min(x, y)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@kernel
def span_marginals(weight: Floats) -> tuple[float, Floats]:
    """log Z and P(span) of binary trees whose potential is the sum of (n, n+1) span weights."""
    n = weight.shape[0]
    e, f = np.full((n, n + 1), -np.inf), np.full((n, n + 1), -np.inf)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            x = 0.0 if d == 1 else -np.inf
            for r in range(s + 1, t):
                x = log_add(x, e[s, r] + e[r, t])
            e[s, t] = x + weight[s, t]
    f[0, n] = 0.0
    for d in range(n, 1, -1):
        for s in range(n - d + 1):
            t = s + d
            above = f[s, t] + weight[s, t]
            if above == -np.inf:
                continue
            for r in range(s + 1, t):
                f[s, r] = log_add(f[s, r], above + e[r, t])
                f[r, t] = log_add(f[r, t], above + e[s, r])
    log_z = e[0, n]
    return log_z, np.exp(e + f - log_z) if log_z > -np.inf else np.zeros((n, n + 1))


def _half_open(weight: Float64) -> Float64:
    """(n, n) with last words as (n, n+1) with ends."""
    return np.concatenate([np.zeros((len(weight), 1)), weight], axis=1)


def _array(scores: Any) -> Float64:
    if hasattr(scores, "__dlpack__"):
        scores = cast(Any, np).from_dlpack(scores)
    array = np.array(scores, np.float64)
    if array.ndim != 3 or array.shape[0] != array.shape[1] or 0 in array.shape:
        raise UsageError(f"span scores must be an array (n, n, labels), not of shape {array.shape}")
    if np.isnan(array[np.triu_indices(len(array))]).any() or (array == np.inf).any():
        raise UsageError("span scores must not be nan or +inf")
    array[np.tril_indices(len(array), -1)] = 0.0
    return array
