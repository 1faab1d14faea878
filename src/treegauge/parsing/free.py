"""The best tree of all, licensed or not: one dynamic programme over spans (Goodman 1996, Figures 1 and 4).

MAXC(s, t) = weight(s, t) + max over r of MAXC(s, r) + MAXC(r, t). Which weight a span has makes the objective: its
best label's posterior, its bracket's, or any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from treegauge.parsing.jit import Floats, Ints, kernel
from treegauge.parsing.layout import Chart
from treegauge.trees.tree import Child, Tree

__all__ = ["best_labels", "best_spans", "build"]

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
