"""Objectives that may choose any tree, licensed by the grammar or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import UsageError
from treegauge.parsing.best import DUMMY, Best
from treegauge.parsing.chains import best_chains
from treegauge.parsing.free import TIE, best_labels, best_spans, build

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["bracketed_recall", "general", "labelled_precision_recall", "labelled_recall"]


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
    weight, _ = best_labels(forest.n, forest.filled.chart, forest.top_posterior, group, 1)
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
    weight, label = best_labels(forest.n, forest.filled.chart, forest.posterior, group, max(1, len(names)))
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
