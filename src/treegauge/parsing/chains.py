"""The best n-ary tree where several nodes may have one span: chains of unary rules, chosen node by node.

Under a grammar with unary rules the nodes over one span do not exclude each other, so each label whose posterior is
worth its price is kept (Goodman 1996, section 6, for trees of any arity). Which of them stands higher is decided by
how often each is the top of its chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from treegauge.parsing.best import Best
from treegauge.parsing.free import best_spans
from treegauge.parsing.jit import Floats, Ints, kernel
from treegauge.parsing.layout import Chart
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["best_chains"]


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
    chart, n, size = forest.filled.chart, forest.n, max(1, len(names))
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

    return Best(_built(forest, split, labels, tag), float(value))


def _built(forest: Forest, split: Ints, labels: Callable[[int, int], list[str]], tag: Callable[[int], str | None]) -> Tree:
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
