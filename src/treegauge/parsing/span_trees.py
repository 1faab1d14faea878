"""Trees of a span chart: from labelled spans and back, the k best, their expected F1, and the best at each price of a node."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import UsageError
from treegauge.parsing.span_kernels import best_tree, size_posteriors
from treegauge.parsing.span_potentials import Potentials
from treegauge.trees.tree import Child, Tree

JOIN = "::"
"""The separator between the labels of nodes that have one span, the highest first: ``S::VP``."""


def make_tree(spans: Mapping[tuple[int, int], str], words: Sequence[str], tags: Sequence[str] | None, top: str) -> Tree:
    """The tree with these constituents; ``S::VP`` makes two nodes. ``top`` labels the root if no constituent spans all words.

    >>> print(make_tree({(0, 3): "S", (1, 3): "VP::VP", (2, 3): "NP"}, "I saw her".split(), ["P", "V", "P"], "X"))
    (S (P I) (VP (VP (V saw) (NP (P her)))))
    """
    n = len(words)
    ordered = sorted({**({} if (0, n) in spans else {(0, n): top}), **spans}.items(), key=lambda item: (item[0][0], -item[0][1]))
    done: list[tuple[int, str, list[Child]]] = []
    following = iter([*ordered, ((n, n), "")])
    (start, end), label = next(following)
    for position in range(n):
        while start == position < n:
            done.append((end, label, []))
            (start, end), label = next(following)
        done[-1][2].append(words[position] if tags is None else Tree(tags[position], [words[position]]))
        while done and done[-1][0] == position + 1:
            _, name, children = done.pop()
            for part in reversed(name.split(JOIN)):
                children: list[Child] = [Tree(part, children)]
            if not done:
                (root,) = children
                assert isinstance(root, Tree)
                return root
            done[-1][2].extend(children)
    raise UsageError("a tree needs at least one word")


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


def best_spans(weight: NDArray[np.float64]) -> tuple[float, NDArray[np.int32]]:
    """The largest sum of the (n, n+1) weights of a binary tree's spans, and for each span the first best split."""
    own = weight[:, 1:].copy()
    return best_tree(own, own, len(own))


def split_tree(
    n: int, split: NDArray[np.int32], leaf: Callable[[int], Child], labels: Callable[[int, int], Sequence[str]]
) -> list[Child]:
    """The topmost nodes over n words. A span of two words or more is divided at ``split[s, t]``; word i becomes ``leaf(i)``; the
    ``labels`` of a span, highest first, become nodes over it, and a span without labels leaves its parts to the span above."""
    done: list[list[Child]] = [[]]
    stack: list[tuple[int, int, bool]] = [(0, n, False)]
    while stack:
        s, t, finished = stack.pop()
        if not finished and t > s + 1:
            r = int(split[s, t])
            stack += [(s, t, True), (r, t, False), (s, r, False)]
            done.append([])
            continue
        children = done.pop() if finished else [leaf(s)]
        for label in reversed(labels(s, t)):
            children = [Tree(label, children)]
        done[-1].extend(children)
    return done[0]


def spans_below(split: NDArray[np.int32], n: int) -> list[tuple[int, int]]:
    """The spans of a binary tree over n words, given the split of each span; a span comes before those inside it."""
    spans: list[tuple[int, int]] = []
    stack = [(0, n)]
    while stack:
        s, t = stack.pop()
        spans.append((s, t))
        if t > s + 1:
            r = int(split[s, t])
            stack += [(r, t), (s, r)]
    return spans


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
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            inner = _BestSplits(np.zeros(1), one, one, one) if d == 1 else _best_splits(s, t, left, right, i, j, k)
            splits[s, t] = inner
            own = given.label[s, t - 1]
            left[s, t] = _rank(inner.value, own, bool(given.group_left[s, t - 1]), given.left[s, t - 1] > -np.inf, k)
            right[s, t] = _rank(inner.value, own, bool(given.group_right[s, t - 1]), given.right[s, t - 1] > -np.inf, k)
    found = left[0, n]
    return [(float(found.value[rank]), _read_tree(n, rank, splits, left, right)) for rank in range(len(found.value))]


def _best_splits(
    s: int,
    t: int,
    left: dict[tuple[int, int], _RankedWays],
    right: dict[tuple[int, int], _RankedWays],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    k: int,
) -> _BestSplits:
    pieces: list[tuple[NDArray[Any], ...]] = []
    for r in range(s + 1, t):
        a, b = left[s, r].value, right[r, t].value
        fit = (i < len(a)) & (j < len(b))
        pieces.append((a[i[fit]] + b[j[fit]], np.full(int(fit.sum()), r), i[fit], j[fit]))
    values, at, of_left, of_right = (np.concatenate(column) for column in zip(*pieces, strict=True))
    value, order = _top(values, k)
    return _BestSplits(value, at[order], of_left[order], of_right[order])


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


def _read_tree(
    n: int,
    rank: int,
    splits: Mapping[tuple[int, int], _BestSplits],
    left: Mapping[tuple[int, int], _RankedWays],
    right: Mapping[tuple[int, int], _RankedWays],
) -> dict[tuple[int, int], int]:
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


POINTS = 32
"""The number of points of the generating function that are computed at once."""
T = TypeVar("T")


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


class TreeWorth(NamedTuple):
    """A tree's number of constituents and the sum of their posteriors, which give its worth at any price of a constituent."""

    size: int
    posterior: float

    def worth(self, price: float) -> float:
        """The sum of the posteriors less the price of all constituents."""
        return self.posterior - price * self.size


def trees_by_price(best: Callable[[float], tuple[TreeWorth, T]], lowest: float, highest: float) -> list[T]:
    """The best trees at all prices of a constituent between ``lowest`` and ``highest``; ``best`` gives the best tree at a price.

    The worth of a tree is a line over prices. Where the lines of two trees meet, either a third tree is better, or no tree is best
    between the two.
    """
    first, last = best(lowest), best(highest)
    found, stack = [first[1], last[1]], [(first[0], last[0])]
    while stack:
        low, high = stack.pop()
        if low.size <= high.size:
            continue
        price = (low.posterior - high.posterior) / (low.size - high.size)
        own, tree = best(price)
        if own.worth(price) > low.worth(price) + 1e-12:
            found.append(tree)
            stack += [(low, own), (own, high)]
    return found
