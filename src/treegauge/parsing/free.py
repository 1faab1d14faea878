"""Free objectives: the best tree of all, licensed by the grammar or not (Goodman 1996, Figure 1 and section 4).

One dynamic programme over spans: MAXC(s, t) = weight(s, t) + max over r of MAXC(s, r) + MAXC(r, t). The weight of a
span makes the objective: the posterior of its best label, of its bracket, or any other number.

What counts is the shown constituent: (span, label), once whatever symbols carry it. Under a grammar with unary rules the nodes
over one span do not exclude each other; each label whose posterior is worth its price is kept, in an order that the grammar's
chains allow, first the label that is most often the top of its chain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.jit import Floats, Ints, kernel
from treegauge.parsing.labels import Orders, SpanLabels, shown_labels
from treegauge.parsing.semirings import LOG_SUM
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = [
    "LabelChoice",
    "best_spans",
    "bracketed_recall",
    "general",
    "labelled_precision_recall",
    "labelled_recall",
    "split_tree",
    "weights_and_labels",
]

LabelChoice = Literal["one", "set"]
"""The labels of one span: one, or a set of them where the grammar has unary rules."""

TIE = 1e-12


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


def _build(
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
    tags = [tag(position) for position in range(len(words))]

    def leaf(position: int) -> Child:
        name = tags[position]
        return words[position] if name is None else Tree(name, [words[position]])

    def labels(s: int, t: int) -> list[str]:
        name = label(s, t)
        return [] if name is None or (t == s + 1 and name == tags[s]) else [name]

    return _with_root(split_tree(len(words), split, leaf, labels), root)


def labelled_recall(forest: Forest, *, pre: bool = False, labels: LabelChoice | None = None, lam: float = 0.5) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1).

    With ``labels="one"``, the paper's reading, every span of the binary tree has one label, and single words add nothing unless
    ``pre`` counts them. With ``labels="set"``, the default where the grammar has unary rules, a span of two words or more has its
    best label free; each further label of a span, and each phrase over one word, is worth g - ``lam``; the labels of a span
    stand in an order that the grammar's chains allow. A span that more probably has only symbols that do not show is not a node.
    """
    if _reading(forest, labels) == "one":
        return _one_label(forest, pre=pre, lam=None)
    return _label_sets(forest, pre=pre, lam=lam, free=True)


def labelled_precision_recall(
    forest: Forest, *, lam: float | None = None, pre: bool = False, labels: LabelChoice | None = None
) -> Best:
    """The n-ary tree with the largest sum over its nodes of g - ``lam``; the root is always kept.

    ``lam`` = 0 keeps every node worth having; more trades recall for precision. Symbols that do not show are never kept. With
    ``labels="set"``, the default where the grammar has unary rules, several nodes may have one span, phrases over one word
    among them; ``lam`` is then 0.5 unless given (a node is kept if it is more probable than not), else 0.
    """
    if _reading(forest, labels) == "one":
        return _one_label(forest, pre=pre, lam=0.0 if lam is None else lam)
    return _label_sets(forest, pre=pre, lam=0.5 if lam is None else lam, free=False)


def bracketed_recall(forest: Forest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, section 4).

    A bracket is worth the probability that some shown node has its span. The root shows the start symbol (where that does not
    show, its likeliest label), other brackets ``X``, or with ``labels="argmax"`` each its likeliest label.
    """
    found = forest.span_labels
    _, label = found.best(found.any)
    weight = found.some if pre else _without_words(found.some)
    value, split = best_spans(weight, False)

    def name(s: int, t: int) -> str | None:
        if t == s + 1 < forest.n + s:
            return None
        likeliest = found.names[int(label[s, t])] if label[s, t] >= 0 else None
        if t - s == forest.n and labels == "dummy":
            return forest.grammar.label(forest.grammar.start) or likeliest or DUMMY
        return (likeliest if labels == "argmax" else None) or DUMMY

    return Best(_build(forest.words, split, name, _tagger(forest), DUMMY), float(value))


_IMPOSSIBLE = -1e299
"""Below this, a weight says that a label cannot stand over a span."""


def general(forest: Forest, *, weights: ArrayLike | Callable[[Forest], ArrayLike]) -> Best:
    """The tree with the largest sum of any span weights (Goodman's General Recall).

    ``weights`` is an (n, n+1) array, an (n, n+1, labels) array for the labels of ``forest.span_labels.names``, or a function of the
    forest that makes one (-1e300: the label cannot stand there). Labels are the likeliest ones, or those of the largest weight;
    single words add nothing unless they have a weight.
    """
    found = forest.span_labels
    label, weight = weights_and_labels(forest.n, found, weights(forest) if callable(weights) else weights)
    value, split = best_spans(weight, False)

    def name(s: int, t: int) -> str | None:
        if t == s + 1 and weight[s, t] == 0.0:
            return None
        return found.names[int(label[s, t])] if label[s, t] >= 0 else None if t == s + 1 else DUMMY

    return Best(_build(forest.words, split, name, _tagger(forest), forest.grammar.start), float(value))


def weights_and_labels(n: int, found: SpanLabels, weights: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The label of each span (-1: none) and its weight, by weights of spans or of labels over spans."""
    given = np.array(weights, np.float64)
    if given.shape == (n, n + 1, len(found.names)):
        # A span over which no label can stand has neither a label nor a weight.
        possible = given.max(axis=2) > _IMPOSSIBLE
        return np.where(possible, given.argmax(axis=2), -1), np.where(possible, given.max(axis=2), 0.0)
    if given.shape == (n, n + 1):
        return found.best(found.any)[1], given
    raise UsageError(
        f"span weights of {n} words must have shape ({n}, {n + 1}) or ({n}, {n + 1}, {len(found.names)}), not {given.shape}"
    )


def _reading(forest: Forest, labels: LabelChoice | None) -> LabelChoice:
    if labels not in (None, "one", "set"):
        raise UnknownName("reading of labels", str(labels), ("one", "set"))
    return labels or ("set" if shown_labels(forest).has_chains else "one")


def _one_label(forest: Forest, *, pre: bool, lam: float | None) -> Best:
    """One label per span: every span of a binary tree, or with ``lam`` the spans of an n-ary tree that are worth more than it."""
    found, n = forest.span_labels, forest.n
    weight, label = found.best(found.any)
    if lam is None:
        # A span that more probably has only symbols that do not show is not a node; the paper's grammars have no such symbols.
        hides = any(label is None for symbol, label in forest.grammar.labels.items() if symbol != forest.grammar.start)
        shown = ~(found.hidden > weight + TIE) | _root(n) if hides else np.ones((n, n + 1), np.bool_)
        weight = np.where(shown, weight, 0.0)
    else:
        weight = np.where(label >= 0, weight - lam, -1.0)
        shown = (weight > 0) | _root(n)
    value, split = best_spans(weight if pre else _without_words(weight), lam is not None)

    def name(s: int, t: int) -> str | None:
        if t == s + 1 and not pre:
            return None
        if label[s, t] >= 0:
            return found.names[int(label[s, t])] if shown[s, t] else None
        return None if lam is not None or not shown[s, t] or t == s + 1 else DUMMY

    if n == 1 and not pre:
        # Over one word there is nothing but the preterminal, which does not count.
        tag = _tagger(forest)(0)
        return Best(Tree(forest.grammar.start if tag is None else tag, [forest.words[0]]), 0.0)
    return Best(_build(forest.words, split, name, (lambda _: None) if pre else _tagger(forest), forest.grammar.start), float(value))


class _Cell(NamedTuple):
    """The labels of a span from the top down, its tag if it is one word and has one, and what they are worth together."""

    labels: tuple[int, ...]
    tag: str | None
    worth: float


def _label_sets(forest: Forest, *, pre: bool, lam: float, free: bool) -> Best:
    """Several labels per span. ``free``: the best label of a span of two words or more costs nothing."""
    found, n = forest.span_labels, forest.n
    orders = shown_labels(forest).orders
    weight, label = found.best(found.any)
    root = (0, n)
    cells: dict[tuple[int, int], _Cell] = {}
    worth = np.zeros((n, n + 1))
    above = found.any > lam
    number = np.add.reduceat(np.append(above, False).astype(np.int64), found.first[:-1]) * (np.diff(found.first) > 0)
    number = number.reshape(n, n + 1)
    for s in range(n):
        # Of tags with equally good phrases above them, the likeliest.
        tags = _word_tags(forest, s) or [None]
        every = [_word_cell(forest, orders, s, tag, pre=pre, lam=lam, free=free) for tag in tags]
        best = max(cell.worth for cell in every)
        cells[s, s + 1] = next(cell for cell in every if cell.worth >= best - TIE)
        worth[s, s + 1] = cells[s, s + 1].worth
        for t in range(s + 2, n + 1):
            is_root = (s, t) == root
            if not is_root and (weight[s, t] <= 0 or (found.hidden[s, t] > weight[s, t] + TIE if free else number[s, t] == 0)):
                continue
            chosen = _phrase_labels(found, orders, s, t, lam) if number[s, t] > 1 else ()
            if not chosen and (free or is_root or weight[s, t] > lam):
                chosen = (int(label[s, t]),) if label[s, t] >= 0 else ()
            g = dict(zip(found.label[found.of_span(s, t)].tolist(), found.any[found.of_span(s, t)].tolist(), strict=True))
            value = sum(g[x] for x in chosen) - lam * (len(chosen) - free if chosen else 0)
            cells[s, t] = _Cell(chosen, None, value)
            worth[s, t] = value
    value, split = best_spans(worth, not free)
    return Best(_build_sets(forest, split, cells), float(value))


def _phrase_labels(found: SpanLabels, orders: Orders, s: int, t: int, lam: float) -> tuple[int, ...]:
    own = found.of_span(s, t)
    return orders.best(_candidates(found, own, found.any[own], lam))


def _candidates(found: SpanLabels, own: slice, g: Floats, lam: float) -> dict[int, float]:
    """The labels worth more than ``lam``, those that are most often the top of their chain first."""
    share = found.top[own] / np.maximum(found.any[own], 1e-300)
    order = np.lexsort((found.label[own], -np.round(share, 9)))
    labels, values = found.label[own].tolist(), g.tolist()
    return {labels[i]: values[i] - lam for i in order.tolist() if values[i] > lam + TIE}


def _word_cell(forest: Forest, orders: Orders, s: int, tag: str | None, *, pre: bool, lam: float, free: bool) -> _Cell:
    """The phrases over one word. With ``pre`` its tag counts too, and is there only if it is worth it or costs nothing."""
    found, n = forest.span_labels, forest.n
    own = found.of_span(s, s + 1)
    last = found.names.index(tag) if tag is not None else -1
    g = found.any[own] if pre else found.phrase[own]
    worth = _candidates(found, own, g, lam)
    value = 0.0
    if pre and tag is not None:
        of_tag = float(g[found.label[own] == last].sum())
        worth.pop(last, None)
        value = of_tag if free else max(0.0, of_tag - lam)
        tag = tag if free or of_tag > lam else None
    chosen = orders.best(worth, last) if worth else ()
    value += sum(worth[x] for x in chosen)
    if n == 1 and not free and not chosen and not (pre and tag is not None) and len(g):
        # The root of a one-word sentence is kept in any case; its tag can be the root.
        best = int(np.argmax(g))
        label = int(found.label[own][best])
        if pre and label == last:
            return _Cell((), found.names[last], float(g[best]) - lam)
        if tag is None or (label != last and orders.order((label,), last) is not None):
            chosen, value = (label,), value + float(g[best]) - lam
    return _Cell(chosen, tag, value)


def _build_sets(forest: Forest, split: Ints, cells: Mapping[tuple[int, int], _Cell]) -> Tree:
    names, none = forest.span_labels.names, _Cell((), None, 0.0)

    def leaf(i: int) -> Child:
        tag = cells.get((i, i + 1), none).tag
        return forest.words[i] if tag is None else Tree(tag, [forest.words[i]])

    top = split_tree(forest.n, split, leaf, lambda s, t: [names[label] for label in cells.get((s, t), none).labels])
    return _with_root(top, forest.grammar.start)


def split_tree(n: int, split: Ints, leaf: Callable[[int], Child], labels: Callable[[int, int], Sequence[str]]) -> list[Child]:
    """The nodes over n words: a span of two or more falls apart at ``split[s, t]``, a word is ``leaf(i)``, and the ``labels`` of
    each span stand over it, the highest first; a span without labels shows its parts."""
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


def _with_root(nodes: list[Child], label: str) -> Tree:
    """The only node, or else a root with that label over all nodes."""
    return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Tree) else Tree(label, nodes)


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


def _tagger(forest: Forest) -> Callable[[int], str | None]:
    """For each word the label that most probably stands right above it in the tree shown; ``None`` where only rules with
    words in them do."""
    return lambda position: next(iter(_word_tags(forest, position)), None)


def _word_tags(forest: Forest, position: int) -> list[str]:
    """The labels that can stand right above a word in the tree shown, the most probable first."""
    total: dict[str, float] = {}
    for X, p in sorted(_right_above(forest, position)):
        name = forest.output_labels[X]
        if name is not None and p > 0:
            total[name] = total.get(name, 0.0) + p
    return sorted(total, key=lambda name: -round(total[name] / TIE) * TIE)


def _right_above(forest: Forest, position: int) -> Iterator[tuple[int, float]]:
    """(symbol, posterior) of each symbol right above a word, or above it with only symbols in between that do not show."""
    down, leaves = shown_labels(forest).down_to_word, forest.inside_chart.grid.leaves
    weights = {int(leaves.symbol[i]): float(leaves.weight[i]) for i in range(leaves.first[position], leaves.first[position + 1])}
    for X, p in forest.leaf_posteriors(position):
        if forest.output_labels[X] is not None:
            yield X, p
            continue
        for c in range(int(down.first[X]), int(down.first[X + 1])):
            k = forest.entry(position, position + 1, int(down.top[c]))
            if k >= 0 and forest.output_labels[int(down.top[c])] is not None:
                f, chain = float(forest.outer.value[k]), float(down.weight[c])
                log = forest.inside_chart.mode == LOG_SUM
                yield int(down.top[c]), chain * (math.exp(f + weights[X]) if log else f * weights[X])
