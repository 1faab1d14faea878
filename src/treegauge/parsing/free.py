"""Free objectives: the best of all trees over the words, whether the grammar generates it or not (Goodman 1996, Figure 1, section
4).

There is one dynamic programme over spans: MAXC(s, t) = weight(s, t) + max over r of MAXC(s, r) + MAXC(r, t). Objectives differ in
the weight of a span: the posterior of its best label, that of its bracket, or any other number.

A shown constituent (span, label) counts once, whichever symbols show as that label. Under a grammar with unary rules several labels
may have one span. Each label whose posterior exceeds its price is kept, in an order that the grammar's chains allow; labels that
are most often the top of their chain come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.compilation import Floats, Ints
from treegauge.errors import UnknownName, UsageError
from treegauge.parsing.chain_labels import LabelOrders, SpanLabels, shown_labels
from treegauge.parsing.derivations import DUMMY, Best
from treegauge.parsing.semirings import LOG_SUM
from treegauge.parsing.span_kernels import best_tree
from treegauge.trees.tree import Child, Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

LabelChoice = Literal["one", "set"]
"""The labels of one span: one, or a set of them if the grammar has unary rules."""

TIE = 1e-12
"""Values closer than this count as equal; the first one wins."""


def best_spans(weight: Floats, optional: bool) -> tuple[float, Ints]:
    """The largest sum of the weights of a binary tree's spans, and for each span the first best split.

    ``weight`` is (n, n+1). With ``optional``, a span below the root whose weight is not positive is no node, and adds nothing.
    """
    own = weight[:, 1:].copy()
    if optional:
        root = own[0, -1]
        own = np.maximum(own, 0.0)
        own[0, -1] = root
    return best_tree(own, own, len(own))


def _build(
    words: Sequence[str],
    split: Ints,
    label: Callable[[int, int], str | None],
    tag: Callable[[int], str | None],
    root: str,
) -> Tree:
    """The tree over ``words`` with these splits. A span whose label is ``None`` is no node: its children go to the span above.

    A word is under its tag, if it has one, and under the label of its span, unless that is the same label. ``root`` is the label of
    the root if no span gives it one.
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
    ``pre`` counts them. With ``labels="set"``, the default if the grammar has unary rules, the best label of a span of two words or
    more costs nothing; each further label of a span, and each phrase over one word, is worth g - ``lam``. The labels of a span come
    in an order that the grammar's chains allow. A span is not a node if it is more probable that only hidden symbols have it.
    """
    if _reading(forest, labels) == "one":
        return _one_label(forest, pre=pre, lam=None)
    return _label_sets(forest, pre=pre, lam=lam, free=True)


def labelled_precision_recall(
    forest: Forest, *, lam: float | None = None, pre: bool = False, labels: LabelChoice | None = None
) -> Best:
    """The n-ary tree with the largest sum of g - ``lam`` over its nodes; the root is always kept.

    With ``lam`` = 0 every node that can be right is kept; a larger ``lam`` trades recall for precision. Symbols that do not show
    are never kept. With ``labels="set"``, the default if the grammar has unary rules, several nodes may have one span, including
    phrases over one word; ``lam`` is then 0.5 unless given (a node is kept if it is more probable than not). Otherwise it is 0
    unless given.
    """
    if _reading(forest, labels) == "one":
        return _one_label(forest, pre=pre, lam=0.0 if lam is None else lam)
    return _label_sets(forest, pre=pre, lam=0.5 if lam is None else lam, free=False)


def bracketed_recall(forest: Forest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, section 4).

    A bracket is worth the probability that some shown node has its span. The root is labelled with the start symbol (or with its
    likeliest label if the start symbol does not show), other brackets with ``X``; with ``labels="argmax"`` every bracket has its
    likeliest label.
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
"""A weight below this means that a label cannot have a span."""


def general(forest: Forest, *, weights: ArrayLike | Callable[[Forest], ArrayLike]) -> Best:
    """The tree with the largest sum of any span weights (Goodman's General Recall).

    ``weights`` is an (n, n+1) array, an (n, n+1, labels) array for the labels of ``forest.span_labels.names``, or a function of the
    forest that returns one of these (-1e300 for a label that cannot have a span). Labels are the likeliest ones, or those with the
    largest weight; single words add nothing unless they have a weight.
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
    """The label of each span (-1 for none) and its weight, given weights of spans or of labels over spans."""
    given = np.array(weights, np.float64)
    if given.shape == (n, n + 1, len(found.names)):
        # A span that no label can have gets neither a label nor a weight.
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
    """The best tree with one label per span: a binary tree, or with ``lam`` an n-ary one of the spans that are worth more than
    it."""
    found, n = forest.span_labels, forest.n
    weight, label = found.best(found.any)
    if lam is None:
        # A span is no node if it is more probable that only hidden symbols have it; the paper's grammars have no hidden symbols.
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
    """The labels of a span from the top down, its tag if it is a word that has one, and the sum of their worths."""

    labels: tuple[int, ...]
    tag: str | None
    worth: float


def _label_sets(forest: Forest, *, pre: bool, lam: float, free: bool) -> Best:
    """The best tree with any number of labels per span; with ``free`` the best label of a span of two words or more costs
    nothing."""
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
        # Of several tags with equally good phrases above them the likeliest is taken.
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


def _phrase_labels(found: SpanLabels, orders: LabelOrders, s: int, t: int, lam: float) -> tuple[int, ...]:
    own = found.of_span(s, t)
    return orders.best(_candidates(found, own, found.any[own], lam))


def _candidates(found: SpanLabels, own: slice, g: Floats, lam: float) -> dict[int, float]:
    """The labels worth more than ``lam``, each with its gain; those that are most often the top of their chain come first."""
    share = found.top[own] / np.maximum(found.any[own], 1e-300)
    order = np.lexsort((found.label[own], -np.round(share, 9)))
    labels, values = found.label[own].tolist(), g.tolist()
    return {labels[i]: values[i] - lam for i in order.tolist() if values[i] > lam + TIE}


def _word_cell(forest: Forest, orders: LabelOrders, s: int, tag: str | None, *, pre: bool, lam: float, free: bool) -> _Cell:
    """The best phrases over one word that has this tag. With ``pre`` the tag counts too, and is kept only if it gains something or
    costs nothing."""
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
        # The root of a one-word sentence is always kept; it may be the tag.
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


def _with_root(nodes: list[Child], label: str) -> Tree:
    """The only node, or else a root with that label over all nodes."""
    return nodes[0] if len(nodes) == 1 and isinstance(nodes[0], Tree) else Tree(label, nodes)


def _without_words(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, with 0 for single words."""
    weight = weight.copy()
    words = np.arange(len(weight))
    weight[words, words + 1] = 0.0
    return weight


def _root(n: int) -> NDArray[np.bool_]:
    """The span of the whole sentence, as a mask."""
    mask = np.zeros((n, n + 1), np.bool_)
    mask[0, n] = True
    return mask


def _tagger(forest: Forest) -> Callable[[int], str | None]:
    """A function from the position of a word to the likeliest label right above it in the shown tree, or to ``None`` if only rules
    that contain words apply there."""
    return lambda position: next(iter(_word_tags(forest, position)), None)


def _word_tags(forest: Forest, position: int) -> list[str]:
    """The labels that can be right above a word in the shown tree, the most probable first."""
    total: dict[str, float] = {}
    for X, p in sorted(_right_above(forest, position)):
        name = forest.output_labels[X]
        if name is not None and p > 0:
            total[name] = total.get(name, 0.0) + p
    return sorted(total, key=lambda name: -round(total[name] / TIE) * TIE)


def _right_above(forest: Forest, position: int) -> Iterator[tuple[int, float]]:
    """The symbols right above a word, or with only hidden symbols in between, each with its posterior."""
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
