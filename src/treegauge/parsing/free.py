"""Free objectives: the best tree of all, licensed by the grammar or not (Goodman 1996, Figures 1 and 4).

One dynamic programme over spans: MAXC(s, t) = weight(s, t) + max over r of MAXC(s, r) + MAXC(r, t). The weight of a
span makes the objective: the posterior of its best label, of its bracket, or any other number.

Under a grammar with unary rules the nodes over one span do not exclude each other, so each label whose posterior is
worth its price is kept (Goodman 1996, section 6, for trees of any arity). Which of them stands higher is decided by
how often each is the top of its chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import UsageError
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.jit import Floats, Ints, kernel
from treegauge.parsing.layout import Chart
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = [
    "best_chains",
    "best_labels",
    "best_spans",
    "bracketed_recall",
    "build",
    "general",
    "labelled_precision_recall",
    "labelled_recall",
]

TIE = 1e-12


@kernel
def best_labels(n: int, chart: Chart, posterior: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    """For each span the largest posterior of a label, and the label: the first of those that have it; 0 and -1 if
    none.

    A label is a group of symbols (``group[X]``, -1 for none) whose posteriors are added.
    """
    weight, label = np.zeros((n, n + 1)), np.full((n, n + 1), -1, np.int32)
    total = np.zeros(n_groups)
    for s in range(n):
        for t in range(s + 1, n + 1):
            for k in range(chart.first[s, t], chart.last[s, t]):
                if group[chart.symbol[k]] >= 0:
                    total[group[chart.symbol[k]]] += posterior[k]
            for k in range(chart.first[s, t], chart.last[s, t]):
                X = group[chart.symbol[k]]
                if X < 0 or total[X] <= 0:
                    continue
                nearly = abs(total[X] - weight[s, t]) <= TIE
                if (nearly and label[s, t] > X) or (not nearly and total[X] > weight[s, t]):
                    weight[s, t], label[s, t] = total[X], X
            for k in range(chart.first[s, t], chart.last[s, t]):
                if group[chart.symbol[k]] >= 0:
                    total[group[chart.symbol[k]]] = 0.0
    return weight, label


@kernel
def best_spans(weight: Floats, optional: bool) -> tuple[float, Ints]:
    """The largest sum of the weights of a binary tree's spans, and for each span the first best split.

    ``weight`` is (n, n+1). With ``optional`` a span below the root whose weight is not positive adds nothing: it is
    no node then.
    """
    n = weight.shape[0]
    value, split = np.zeros((n, n + 1)), np.full((n, n + 1), -1, np.int32)
    for d in range(1, n + 1):
        for s in range(n - d + 1):
            t = s + d
            best, at = (0.0, -1) if d == 1 else (-np.inf, -1)
            for r in range(s + 1, t):
                x = value[s, r] + value[r, t]
                if x > best + TIE:
                    best, at = x, r
            own = weight[s, t]
            value[s, t] = best + (max(0.0, own) if optional and d < n else own)
            split[s, t] = at
    return value[0, n], split


def build(
    words: Sequence[str],
    split: Ints,
    label: Callable[[int, int], str | None],
    tag: Callable[[int], str | None],
    root: str,
) -> Tree:
    """The tree over ``words`` with these splits; a span whose label is ``None`` gives its children to the span above.

    A word stands under its tag, if it has one, and that under the label of its span, if that is another. ``root`` is
    the label of the root if it has no other.
    """
    done: list[list[Child]] = [[]]
    n = len(words)
    stack: list[tuple[int, int, bool]] = [(0, n, False)]
    while stack:
        s, t, finished = stack.pop()
        if finished:
            children = done.pop()
            name = label(s, t)
            done[-1].extend(children if name is None else [Tree(name, children)])
        elif t == s + 1:
            name, above = tag(s), label(s, t)
            leaf = words[s] if name is None else Tree(name, [words[s]])
            done[-1].append(leaf if above is None or above == name else Tree(above, [leaf]))
        else:
            r = int(split[s, t])
            stack += [(s, t, True), (r, t, False), (s, r, False)]
            done.append([])
    top = done[0]
    return top[0] if len(top) == 1 and isinstance(top[0], Tree) else Tree(root, top)


@kernel
def gather(s: int, t: int, chart: Chart, posterior: Floats, group: Ints, total: Floats) -> None:
    """Add the posteriors of a cell's symbols to those of their labels."""
    for k in range(chart.first[s, t], chart.last[s, t]):
        X = group[chart.symbol[k]]
        if X >= 0:
            total[X] += posterior[k]


@kernel
def worth_of_spans(n: int, chart: Chart, posterior: Floats, group: Ints, n_groups: int, price: float) -> Floats:
    """For each span the sum over its labels of what their posteriors exceed the price by; the root must have one."""
    worth = np.zeros((n, n + 1))
    total = np.zeros(n_groups)
    for s in range(n):
        for t in range(s + 1, n + 1):
            gather(s, t, chart, posterior, group, total)
            best = 0.0
            for k in range(chart.first[s, t], chart.last[s, t]):
                X = group[chart.symbol[k]]
                if X >= 0:
                    best = max(best, total[X])
                    worth[s, t] += max(0.0, total[X] - price)
                    total[X] = 0.0
            if t - s == n and best <= price:
                worth[s, t] = best - price
    return worth


def best_chains(
    forest: Forest, lam: float, pre: bool, group: Ints, names: Sequence[str | None], tag: Callable[[int], str | None]
) -> Best:
    """The tree with the largest sum of g - lam over its nodes, several to a span if they are worth it, and a root.

    ``group`` numbers the label of each symbol, -1 for those that do not show. Without ``pre`` a node counts only as
    far as it is no preterminal.
    """
    chart, n, size = forest.inside_chart.chart, forest.n, max(1, len(names))
    posterior, top = forest.posterior, forest.top_posterior
    if not pre:
        posterior = posterior.copy()
        for s in range(n):
            for X, p in forest.leaf_posteriors(s):
                posterior[forest.entry(s, s + 1, X)] -= p
    value, split = best_spans(worth_of_spans(n, chart, posterior, group, size, lam), True)

    def labels(s: int, t: int) -> list[str]:
        own, above = np.zeros(size), np.zeros(size)
        gather(s, t, chart, posterior, group, own)
        gather(s, t, chart, top, group, above)
        kept: list[int] = np.flatnonzero(own > lam).tolist()
        if t - s == n and not kept and own.max() > 0:
            kept = [int(own.argmax())]
        return [str(names[X]) for X in sorted(kept, key=lambda X: (-above[X] / own[X], X))]

    return Best(_build_chains(forest, split, labels, tag), float(value))


def _build_chains(forest: Forest, split: Ints, labels: Callable[[int, int], list[str]], tag: Callable[[int], str | None]) -> Tree:
    done: list[list[Child]] = [[]]
    stack: list[tuple[int, int, bool]] = [(0, forest.n, False)]
    while stack:
        s, t, finished = stack.pop()
        if not finished and t > s + 1:
            r = int(split[s, t])
            stack += [(s, t, True), (r, t, False), (s, r, False)]
            done.append([])
            continue
        if finished:
            children = done.pop()
        else:
            name = tag(s)
            children: list[Child] = [forest.words[s] if name is None else Tree(name, [forest.words[s]])]
        for label in reversed(labels(s, t)):
            only = children[0]
            if len(children) == 1 and isinstance(only, Tree) and only.label == label:
                continue
            children = [Tree(label, children)]
        done[-1].extend(children)
    top = done[0]
    return top[0] if len(top) == 1 and isinstance(top[0], Tree) else Tree(forest.grammar.start, top)


def labelled_recall(forest: Forest, *, pre: bool = False) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1): one label a span.

    ``pre`` counts the spans of single words too.
    """
    weight, label, names = _labels_of_spans(forest, hidden=True)
    return _free(forest, weight if pre else _without_words(weight), label, names, optional=False)


def bracketed_recall(forest: Forest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, Figure 4).

    A bracket is worth the probability that some node has its span: the sum over the tops of unary chains. The root
    shows the start symbol (where that does not show, its likeliest label), other brackets ``X``, or with
    ``labels="argmax"`` each its likeliest label.
    """
    _, label, names = _labels_of_spans(forest, hidden=False)
    shown = np.arange(forest.binary.n_symbols, dtype=np.int32)
    group = np.where(shown < forest.binary.visible, 0, -1).astype(np.int32)
    weight, _ = best_labels(forest.n, forest.inside_chart.chart, forest.top_posterior, group, 1)
    weight = weight if pre else _without_words(weight)
    value, split = best_spans(weight, False)

    def name(s: int, t: int) -> str | None:
        if t == s + 1 < forest.n + s:
            return None
        likeliest = names[int(label[s, t])] if label[s, t] >= 0 else None
        if t - s == forest.n and labels == "dummy":
            return forest.grammar.label(forest.grammar.start) or likeliest or DUMMY
        return (likeliest if labels == "argmax" else None) or DUMMY

    return Best(build(forest.words, split, name, _tagger(forest), DUMMY), float(value))


def general(forest: Forest, *, weights: ArrayLike | Callable[[Forest], ArrayLike]) -> Best:
    """The tree with the largest sum of any span weights, an (n, n+1) array or a function of the forest (Goodman's
    General Recall).

    Labels are the likeliest ones; single words add nothing unless they have a weight.
    """
    given = np.array(weights(forest) if callable(weights) else weights, np.float64)
    if given.shape != (forest.n, forest.n + 1):
        raise UsageError(f"span weights of {forest.n} words must have shape ({forest.n}, {forest.n + 1}), not {given.shape}")
    _, label, names = _labels_of_spans(forest, hidden=False)
    return _free(forest, given, label, names, optional=False)


def labelled_precision_recall(forest: Forest, *, lam: float | None = None, pre: bool = False, chains: bool | None = None) -> Best:
    """The n-ary tree with the largest sum over its nodes of g - lam; the root is always kept.

    ``lam`` = 0 keeps every node worth having; more trades recall for precision. Symbols made by a binarisation are
    never kept. With ``chains`` several nodes may have one span, phrases over one word among them: the default where
    the grammar has unary rules. ``lam`` is then 0.5 unless given (a node is kept if it is more probable than not), else 0.
    """
    chains = _has_chains(forest) if chains is None else chains
    lam = (0.5 if chains else 0.0) if lam is None else lam
    if chains:
        return best_chains(forest, lam, pre, *_groups(forest, hidden=False), _tagger(forest))
    weight, label, names = _labels_of_spans(forest, hidden=False)
    weight = np.where(label >= 0, weight - lam, -1.0)
    if not pre:
        weight = _without_words(weight)
    kept = weight > 0
    return _free(forest, weight, np.where(kept | _root(forest.n), label, -1), names, optional=True)


def _labels_of_spans(forest: Forest, *, hidden: bool) -> tuple[NDArray[np.float64], NDArray[np.int32], list[str | None]]:
    """For each span its best label's posterior and number, and the labels; ``hidden`` lets symbols that do not show
    compete."""
    group, names = _groups(forest, hidden=hidden)
    weight, label = best_labels(forest.n, forest.inside_chart.chart, forest.posterior, group, max(1, len(names)))
    return weight, label, names


def _groups(forest: Forest, *, hidden: bool) -> tuple[NDArray[np.int32], list[str | None]]:
    """For each symbol the number of its label, -1 for none; and the labels. Kept with the grammar."""
    key, derived = ("groups", hidden), forest.binary.derived
    if key not in derived:
        derived[key] = _make_groups(forest, hidden=hidden)
    return derived[key]


def _make_groups(forest: Forest, *, hidden: bool) -> tuple[NDArray[np.int32], list[str | None]]:
    names: list[str | None] = []
    numbers: dict[str, int] = {}
    group = np.full(forest.binary.n_symbols, -1, np.int32)
    for X in range(forest.binary.visible):
        label = forest.output_labels[X]
        if label is None:
            if hidden and forest.binary.start != X:
                group[X] = len(names)
                names.append(None)
        else:
            if label not in numbers:
                numbers[label] = len(names)
                names.append(label)
            group[X] = numbers[label]
    return group, names


def _has_chains(forest: Forest) -> bool:
    """Whether two nodes that show can have one span."""
    derived = forest.binary.derived
    if "chains" not in derived:
        parents = np.unique(forest.binary.unary.parent).tolist()
        derived["chains"] = any(forest.output_labels[X] is not None for X in parents)
    return derived["chains"]


def _without_words(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights with those of single words 0."""
    weight = weight.copy()
    words = np.arange(len(weight))
    weight[words, words + 1] = 0.0
    return weight


def _root(n: int) -> NDArray[np.bool_]:
    mask = np.zeros((n, n + 1), np.bool_)
    mask[0, n] = True
    return mask


def _free(
    forest: Forest,
    weight: NDArray[np.float64],
    label: NDArray[np.int32],
    names: Sequence[str | None],
    *,
    optional: bool,
) -> Best:
    value, split = best_spans(weight, optional)

    def name(s: int, t: int) -> str | None:
        if label[s, t] >= 0:
            return names[int(label[s, t])]
        return None if optional or t == s + 1 else DUMMY

    return Best(build(forest.words, split, name, _tagger(forest), forest.grammar.start), float(value))


def _tagger(forest: Forest) -> Callable[[int], str | None]:
    """For each word the label that most probably stands right above it; ``None`` where only rules with words in them
    do."""

    def tag(position: int) -> str | None:
        total: dict[str, float] = {}
        for X, p in sorted(forest.leaf_posteriors(position)):
            name = forest.output_labels[X]
            if name is not None and p > 0:
                total[name] = total.get(name, 0.0) + p
        best = max(total.values(), default=0.0)
        return next((name for name, p in total.items() if p >= best - TIE), None)

    return tag
