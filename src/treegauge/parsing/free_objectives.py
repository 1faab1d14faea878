"""Free objectives: the best of all trees over the words, whether a grammar generates it or not (Goodman 1996, Figure 1, section 4).

There is one dynamic programme over spans: MAXC(s, t) = worth(s, t) + max over r of MAXC(s, r) + MAXC(r, t). Objectives differ in
the worth of a span: the posterior of its best label, of its set of labels less their price, that of its bracket, or any number.
Where several labels may have one span, each whose posterior exceeds its price is kept, in an order that the view allows; labels
that are most often the top of their chain come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import NoTree, UnknownName, UsageError
from treegauge.parsing.posterior_view import DUMMY, Best, Float64, PosteriorView, Reading, SpanLabels
from treegauge.parsing.span_kernels import best_tree
from treegauge.trees.tree import Child, Tree

TIE = 1e-12
"""Values closer than this count as equal; the first one wins."""
Labels = Callable[[int, int], Sequence[str]]
"""The labels of a span, from the top down."""


def labelled_recall(view: PosteriorView, *, pre: bool = False, labels: Reading | None = None, lam: float | None = None) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1).

    With ``labels="one"``, the paper's reading, every span of the binary tree has one label (or none, where a symbol that
    binarisation has made, and that trees do not show, is likelier than any label), and words whose tags are labels too add
    nothing unless ``pre`` counts them. With ``labels="set"`` the best label of a span of two words or more costs nothing; each
    further label of a span, and each phrase over one word, is worth g - ``lam``. The labels of a span come in an order that the
    grammar's chains allow.
    """
    if chosen_reading(view.reading, labels) == "one":
        return _one_label(view, pre=pre, lam=None).best
    return _label_sets(view, pre=pre, lam=price_of(view, lam), free=True).best


def labelled_precision_recall(
    view: PosteriorView, *, lam: float | None = None, pre: bool = False, labels: Reading | None = None
) -> Best:
    """The n-ary tree with the largest sum of g - ``lam`` over its nodes; the root is always kept.

    With ``lam`` = 0 every node that can be right is kept; a larger ``lam`` trades recall for precision. Symbols that do not show
    are never kept. With ``labels="set"`` several nodes may have one span. The lam of a span chart is that with the best expected
    F1, which is then the score.
    """
    one = chosen_reading(view.reading, labels) == "one"

    def decode(price: float) -> _Decoded:
        return _one_label(view, pre=pre, lam=price) if one else _label_sets(view, pre=pre, lam=price, free=False)

    lam = view.lam if lam is None else lam
    return _best_f1(view, decode) if lam is None else decode(lam).best


def bracketed_recall(view: PosteriorView, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, section 4).

    A bracket is worth the probability that some shown node has its span. The root has the label that all trees have there, or its
    likeliest, other brackets are labelled ``X``; with ``labels="argmax"`` every bracket has its likeliest label.
    """
    found = view.span_labels
    _, label = found.best(found.phrase)
    shown = (label >= 0) | view.required | view.is_binary

    def names(s: int, t: int) -> Sequence[str]:
        is_root = t - s == view.n
        if (t == s + 1 and found.tagged and not is_root) or not shown[s, t]:
            return ()
        likeliest = (found.names[int(label[s, t])],) if label[s, t] >= 0 else ()
        if is_root and labels == "dummy":
            return (view.root_label,) if view.root_label else likeliest or _stand_in(view, s, t)
        return likeliest if labels == "argmax" and likeliest else (DUMMY,)

    weight = found.some if pre or not found.tagged else _without_words(found.some)
    return _best_tree(view, weight, names).best


def _stand_in(view: PosteriorView, s: int, t: int) -> Sequence[str]:
    """The label of a span that no phrase can have; a tagged word needs none."""
    return () if t == s + 1 and view.span_labels.tagged else (view.stand_in,)


_IMPOSSIBLE = -1e299
"""A weight below this means that a label cannot have a span."""


def general(view: PosteriorView, *, weights: ArrayLike | Callable[[PosteriorView], ArrayLike]) -> Best:
    """The tree with the largest sum of any span weights (Goodman's General Recall).

    ``weights`` is an (n, n+1) array, an (n, n+1, labels) array for the labels of ``view.span_labels.names``, or a function of the
    view that returns one of these (-1e300 for a label that cannot have a span). Labels are the likeliest ones, or those with the
    largest weight; a single word adds nothing unless it has a weight. A span that need not be a node is one if it has a positive
    weight.
    """
    found, n = view.span_labels, view.n
    label, weight = weights_and_labels(n, found, weights(view) if callable(weights) else weights)
    phrase = found.dense(found.phrase)[np.arange(n), np.arange(1, n + 1)] > 0

    def names(s: int, t: int) -> Sequence[str]:
        X = int(label[s, t])
        if not view.is_binary and not view.required[s, t] and (X < 0 or weight[s, t] <= 0):
            return ()
        if t == s + 1 and found.tagged and ((weight[s, t] == 0.0 and n > 1) or X < 0 or not phrase[s, X]):
            return ()
        return (found.names[X],) if X >= 0 else _stand_in(view, s, t)

    if not view.is_binary:
        weight = np.where((label >= 0) | view.required, weight, 0.0)
    return _best_tree(view, weight, names, optional=not view.is_binary).best


def weights_and_labels(n: int, found: SpanLabels, weights: ArrayLike) -> tuple[NDArray[np.int64], Float64]:
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


def chosen_reading(default: Reading, labels: Reading | None) -> Reading:
    """The reading that ``labels`` names, or the default."""
    if labels not in (None, "one", "set"):
        raise UnknownName("reading of labels", str(labels), ("one", "set"))
    return labels or default


def price_of(view: PosteriorView, lam: float | None) -> float:
    """The price of a node: the one given, that of the view, or 0.5."""
    given = view.lam if lam is None else lam
    return 0.5 if given is None else given


class _Decoded(NamedTuple):
    """The best tree, and how many labels its spans have."""

    best: Best
    size: int


def _best_tree(
    view: PosteriorView, worth: Float64, labels: Labels, *, optional: bool = False, tags: Sequence[str | None] | None = None
) -> _Decoded:
    """The tree with the largest sum of the worths of its spans; with ``optional``, a span that need not be a node adds nothing if
    its worth is negative. ``tags`` are those of the words, by default the likeliest."""
    own = np.where(view.required, worth, np.maximum(worth, 0.0)) if optional else worth.copy()
    if view.forbidden is not None:
        own[view.forbidden] = -np.inf
    value, split = best_spans(own)
    if value == -math.inf:
        raise NoTree("no tree fits the allowed and required spans")
    size = 0

    def leaf(i: int) -> Child:
        tag = _likeliest_tag(view, i) if tags is None else tags[i]
        return view.words[i] if tag is None else Tree(tag, [view.words[i]])

    def nodes(s: int, t: int) -> Sequence[str]:
        nonlocal size
        names = labels(s, t)
        size += len(names)
        return [node for name in names for node in view.nodes_of(name)]

    return _Decoded(Best(view.rooted(split_tree(view.n, split, leaf, nodes)), float(value)), size)


def best_spans(weight: Float64) -> tuple[float, NDArray[np.int32]]:
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


def _likeliest_tag(view: PosteriorView, position: int) -> str | None:
    return next((tag for tag, _ in view.tag_posteriors(position)), None)


def _one_label(view: PosteriorView, *, pre: bool, lam: float | None) -> _Decoded:
    """The best tree with one label per span: a binary tree, or with ``lam`` an n-ary one of the spans that are worth more than
    it."""
    found, n = view.span_labels, view.n
    weight, label = found.best(found.any)
    if lam is None:
        shown = ~(found.hidden > weight + TIE) | view.required
        worth = np.where(shown, weight, 0.0)
        shown &= (label >= 0) | view.is_binary
    else:
        worth = weight - lam
        shown = ((label >= 0) & (worth > 0)) | view.required
    words_count = pre or not found.tagged

    def names(s: int, t: int) -> Sequence[str]:
        if not shown[s, t] or (t == s + 1 and not words_count):
            return ()
        if label[s, t] >= 0:
            return (found.names[int(label[s, t])],)
        return () if lam is not None and found.tagged else _stand_in(view, s, t)

    tags = [None] * n if pre and found.tagged else None
    made = _best_tree(view, worth if words_count else _without_words(worth), names, optional=lam is not None, tags=tags)
    if not pre or found.tagged:
        return made
    # Tags that are not among the labels add what they are worth to any tree.
    given = [view.tag_posteriors(i)[:1] for i in range(n)]
    worths = [p if lam is None else max(0.0, p - lam) for each in given for _, p in each]
    return made._replace(best=made.best._replace(score=made.best.score + math.fsum(worths)))


class _WordLabels(NamedTuple):
    """The labels over one word from the top down, its tag if it has one, and the sum of their worths."""

    labels: tuple[int, ...]
    tag: str | None
    worth: float


def _label_sets(view: PosteriorView, *, pre: bool, lam: float, free: bool) -> _Decoded:
    """The best tree with any number of labels per span; with ``free`` the best label of a span of two words or more costs
    nothing."""
    found, n = view.span_labels, view.n
    weight, label = found.best(found.any)
    above = found.any > max(lam, 0.0) + TIE
    number = found.total(above.astype(np.float64)).astype(np.int64)
    alone = weight if free else np.where(view.required & (label >= 0), weight - lam, 0.0)
    worth = np.where(number > 0, found.total(np.where(above, found.any - lam, 0.0)) + lam * free, alone)
    chosen: dict[tuple[int, int], Sequence[int]] = {}
    for s, t in np.argwhere(number > 1).tolist():
        if t > s + 1:
            own = found.of_span(s, t)
            gain = _candidates(found, own, found.any[own], lam)
            chosen[s, t] = view.orders.best(gain)
            worth[s, t] = math.fsum(gain[x] for x in chosen[s, t]) + lam * free
    words = [_word_labels(view, s, pre=pre, lam=lam, free=free) for s in range(n)]
    positions = np.arange(n)
    worth[positions, positions + 1] = [cell.worth for cell in words]
    must = view.required | (number > 0) | free

    def names(s: int, t: int) -> Sequence[str]:
        if t == s + 1:
            labels = words[s].labels
        elif (s, t) in chosen:
            labels = chosen[s, t]
        else:
            labels = (int(label[s, t]),) if must[s, t] and label[s, t] >= 0 else ()
        return [found.names[X] for X in labels]

    return _best_tree(view, worth, names, optional=not free, tags=[cell.tag for cell in words])


def _candidates(found: SpanLabels, own: slice, g: Float64, lam: float) -> dict[int, float]:
    """The labels worth more than ``lam``, each with its gain; those that are most often the top of their chain come first."""
    share = found.top[own] / np.maximum(found.any[own], 1e-300)
    order = np.lexsort((found.label[own], -np.round(share, 9)))
    labels, values = found.label[own].tolist(), g.tolist()
    return {labels[i]: values[i] - lam for i in order.tolist() if values[i] > max(lam, 0.0) + TIE}


def _word_labels(view: PosteriorView, s: int, *, pre: bool, lam: float, free: bool) -> _WordLabels:
    """The best phrases over one word with the best tag for them; of equally good tags the likeliest."""
    found = view.span_labels
    own = found.of_span(s, s + 1)
    g = found.any[own] if pre else found.phrase[own]
    if not pre and view.n > 1 and not (g > max(lam, 0.0) + TIE).any():
        return _WordLabels((), _likeliest_tag(view, s), 0.0)
    gain = _candidates(found, own, g, lam)
    tags = view.tag_posteriors(s) or [(None, 0.0)]
    every = [_with_tag(view, s, tag, p, gain, pre=pre, lam=lam, free=free) for tag, p in tags]
    best = max(cell.worth for cell in every)
    return next(cell for cell in every if cell.worth >= best - TIE)


def _with_tag(
    view: PosteriorView, s: int, tag: str | None, p: float, gain: Mapping[int, float], *, pre: bool, lam: float, free: bool
) -> _WordLabels:
    """The best phrases over one word that has this tag, of posterior ``p``. With ``pre`` the tag counts too, and is kept only if it
    gains something or costs nothing."""
    found = view.span_labels
    own = found.of_span(s, s + 1)
    last = found.names.index(tag) if tag is not None and found.tagged else -1
    value = 0.0
    if pre and tag is not None:
        of_tag = float(found.any[own][found.label[own] == last].sum()) if last >= 0 else p
        gain = {label: worth for label, worth in gain.items() if label != last}
        value = of_tag if free else max(0.0, of_tag - lam)
        tag = tag if free or of_tag > lam else None
    chosen = view.orders.best(gain, last) if gain else ()
    value += math.fsum(gain[x] for x in chosen)
    if view.required[s, s + 1] and not free and not chosen and not (pre and tag is not None) and own.stop > own.start:
        return _root_over_word(view, s, _WordLabels(chosen, tag, value), last, pre=pre, lam=lam)
    return _WordLabels(chosen, tag, value)


def _root_over_word(view: PosteriorView, s: int, cell: _WordLabels, last: int, *, pre: bool, lam: float) -> _WordLabels:
    """The labels of a one-word span that must be a node: its likeliest, which may be the tag."""
    found = view.span_labels
    own = found.of_span(s, s + 1)
    g = found.any[own] if pre else found.phrase[own]
    best = int(np.argmax(g))
    label = int(found.label[own][best])
    if pre and label == last:
        return _WordLabels((), found.names[last], float(g[best]) - lam)
    if g[best] > 0 and (cell.tag is None or (label != last and view.orders.order((label,), last) is not None)):
        return _WordLabels((label,), cell.tag, cell.worth + float(g[best]) - lam)
    return cell


def _without_words(weight: Float64) -> Float64:
    """The weights, with 0 for single words."""
    weight, words = weight.copy(), np.arange(len(weight))
    weight[words, words + 1] = 0.0
    return weight


def _best_f1(view: PosteriorView, decode: Callable[[float], _Decoded]) -> Best:
    """The tree with the largest expected F1 among the best trees for all values of lam, and that F1; where the view does not tell
    the F1, the tree with the largest ratio of expectations, 2 E(matches) / (E(size of the right tree) + its own size)."""
    by_ratio = _best_ratio(view, decode)
    if view.exact_f1([]) is None:
        return by_ratio
    trees = [by_ratio.tree, *_trees_by_price(decode, by_ratio.score / 8, 1.0)]
    values = view.exact_f1(trees) or []
    chosen = max(range(len(trees)), key=lambda i: (values[i], -i))
    return Best(trees[chosen], values[chosen])


def _trees_by_price(decode: Callable[[float], _Decoded], lowest: float, highest: float) -> list[Tree]:
    """The best trees at all prices of a node between ``lowest`` and ``highest``.

    The worth of a tree is a line over prices: the sum of its posteriors less the price of its nodes. Where the lines of two trees
    meet, either a third tree is better, or no tree is best between the two.
    """

    def best(price: float) -> tuple[Tree, int, float]:
        (tree, score), size = decode(price)
        return tree, size, score + price * size

    low, high = best(lowest), best(highest)
    found, stack = [low[0], high[0]], [(low, high)]
    while stack:
        low, high = stack.pop()
        if low[1] <= high[1]:
            continue
        price = (low[2] - high[2]) / (low[1] - high[1])
        own = best(price)
        if own[2] - price * own[1] > low[2] - price * low[1] + 1e-12:
            found.append(own[0])
            stack += [(low, own), (own, high)]
    return found


def _best_ratio(view: PosteriorView, decode: Callable[[float], _Decoded]) -> Best:
    """The tree with the largest ratio of expectations F, which is the best tree for lam = F / 2 (Dinkelbach 1967); two trees
    without constituents agree."""
    size, ratio = float(view.span_labels.any.sum()), 0.0
    while True:
        (tree, score), own = decode(ratio / 2)
        better = 2 * (score + own * ratio / 2) / (size + own) if size + own else 1.0
        if not better > ratio + 1e-12:
            return Best(tree, better)
        ratio = better
