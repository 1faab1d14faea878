"""The table of decoding objectives, each written once for every view of posteriors, and the decoding settings that models store.

An objective returns the tree with the largest expected score, and that score. "Free" objectives choose among all trees over the
words by one dynamic programme over spans, MAXC(s, t) = worth(s, t) + max over r of MAXC(s, r) + MAXC(r, t) (Goodman 1996, Figure
1); they differ in the worth of a span. "Licensed" ones choose among the parses of a grammar, and differ in the parts that count.
A constituent (span, label) counts once, whichever symbols of the grammar show as that label.

Everywhere ``pre`` counts preterminals; ``labels`` is the reading, one label per span or a set of them (default: that of the view);
``lam`` is the price of a node (default: that of the model, else 0.5).

Sima'an's counterexample (2003, section 3): the likeliest of 500 parses is not the one with most right constituents.

>>> import math
>>> from treegauge.grammar import PCFG
>>> from treegauge.parsing import Forest
>>> grammar = PCFG.parse('''S -> "x" "x" [.1] | "x" S [.3] | S "x" [.3] | S S [.1] | A A [.2]
... A -> "x" "x" [1]''')
>>> forest = Forest(grammar, ["x"] * 8)
>>> forest.n_parses, round(math.exp(forest.log_partition), 12)
(500, 0.0453981)
>>> mpp, m_lr, m_cfp = (forest.argmax(name) for name in ("viterbi", "labelled-recall-licensed", "frames"))
>>> print(mpp.tree)
(S (S (A x x) (A x x)) (S (A x x) (A x x)))
>>> [round(math.exp(forest.log_probability(best.tree)), 12) for best in (mpp, m_lr)] == [1 / 250, 81 / 50000]
True
>>> round(forest.expected_score(mpp.tree), 3), round(m_lr.score, 3), round(m_cfp.score, 3)
(2.55, 3.132, 1.94)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import NoTree, UnknownName, UsageError
from treegauge.parsing.posterior_view import DUMMY, NEEDS, Best, CountedParts, PosteriorView, ProductionChild, Reading, SpanLabels
from treegauge.parsing.span_trees import TreeWorth, best_spans, split_tree, trees_by_price
from treegauge.parsing.tree_consensus import MetricRate, Score, consensus
from treegauge.spelling import british
from treegauge.trees.tree import Child, Tree

TIE = 1e-12
"""Values closer than this count as equal; the first one wins."""
Float64 = NDArray[np.float64]
Labels = Callable[[int, int], Sequence[str]]
"""The labels of a span, from the top down."""


@dataclass(frozen=True)
class Objective:
    """A decoding objective: its name, the quantity that it maximises, whether only over the grammar's parses, its reference, its
    function, and what it needs besides posteriors (see :data:`treegauge.parsing.posterior_view.NEEDS`)."""

    name: str
    maximises: str
    licensed: bool
    source: str
    decode: Callable[..., Best]
    needs: str = ""


def check_objective(objective: str, options: Mapping[str, Any], gives: frozenset[str]) -> tuple[Objective, dict[str, Any]]:
    """The objective of a name such as ``frames`` or ``mbr:parseval``, and its options; an error if the name or an option is
    unknown, or if it needs more than a view ``gives``."""
    name, _, metric = british(objective).partition(":")
    if name not in OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective", objective, [*OBJECTIVES, "mbr:METRIC"])
    found, given = OBJECTIVES[name], dict(options)
    if metric:
        given["score"] = MetricRate(metric, given.pop("preset", None))
    _check_options(name, found.decode, given)
    if found.needs and found.needs not in gives:
        raise UsageError(f"objective {name} {NEEDS[found.needs]}")
    return found, given


def _check_options(name: str, decode: Callable[..., Best], given: Mapping[str, Any]) -> None:
    """Refuse options that the function ``decode`` of objective ``name`` does not take, and missing ones that it needs."""
    takes = inspect.signature(decode).parameters
    wrong = [option for option in given if option not in takes]
    needed = [p.name for p in takes.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in given]
    if wrong or needed:
        what = f"takes no option {wrong[0]!r}" if wrong else f"needs the option {needed[0]!r}"
        raise UsageError(f"objective {name} {what}; its options: {', '.join(list(takes)[1:]) or 'none'}")
    for option, value in given.items():
        if isinstance(value, Real) and not math.isfinite(value):
            raise UsageError(f"{option} must be a finite number, not {value}")


def decode_view(view: PosteriorView, objective: str, **options: Any) -> Best:
    """The best tree of a view for an objective."""
    found, given = check_objective(objective, options, view.gives)
    return found.decode(view, **given)


def viterbi(view: PosteriorView) -> Best:
    """The likeliest parse. Its expected score is its probability given the sentence: the chance of an exact match."""
    parse = view.best()
    return Best(parse.tree, math.exp(parse.log_probability - view.log_partition))


def minimum_risk(
    view: PosteriorView,
    *,
    score: Score | MetricRate,
    candidates: Literal["samples", "kbest"] = "samples",
    size: int = 100,
    seed: int = 0,
) -> Best:
    """The candidate with the best mean score, by any metric, if each of the candidates may be the right tree.

    Candidates are ``size`` samples, or the ``size`` best parses weighted by their probabilities.
    """
    if candidates == "samples":
        trees = view.sample(size, seed)
        return consensus(trees, [1.0] * len(trees), score)
    parses = view.kbest(size)
    return consensus([p.tree for p in parses], [math.exp(p.log_probability - view.log_partition) for p in parses], score)


def labelled_recall(view: PosteriorView, *, pre: bool = False, labels: Reading | None = None, lam: float | None = None) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1).

    With ``labels="one"``, the paper's reading, every span of the binary tree has one label (a span that only hidden symbols are
    more likely to have has none), and words whose tags are labels too add nothing unless ``pre`` counts them. With
    ``labels="set"`` the best label of a span of two words or more costs nothing; each further label of a span, and each phrase
    over one word, is worth g - ``lam``. The labels of a span come in an order that the grammar's chains allow.
    """
    if _reading(view.reading, labels) == "one":
        return _one_label(view, pre=pre, lam=None).best
    return _label_sets(view, pre=pre, lam=_price(view, lam), free=True).best


def labelled_precision_recall(
    view: PosteriorView, *, lam: float | None = None, pre: bool = False, labels: Reading | None = None
) -> Best:
    """The n-ary tree with the largest sum of g - ``lam`` over its nodes; the root is always kept.

    With ``lam`` = 0 every node that can be right is kept; a larger ``lam`` trades recall for precision. Symbols that do not show
    are never kept. With ``labels="set"`` several nodes may have one span. The lam of a span chart is that with the best expected
    F1, which is then the score.
    """
    one = _reading(view.reading, labels) == "one"

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


def _reading(default: Reading, labels: Reading | None) -> Reading:
    if labels not in (None, "one", "set"):
        raise UnknownName("reading of labels", str(labels), ("one", "set"))
    return labels or default


def _price(view: PosteriorView, lam: float | None) -> float:
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

    def best(price: float) -> tuple[TreeWorth, Tree]:
        found = decode(price)
        return TreeWorth(found.size, found.best.score + price * found.size), found.best.tree

    if view.exact_f1([]) is None:
        return by_ratio
    trees = [by_ratio.tree, *trees_by_price(best, by_ratio.score / 8, 1.0)]
    values = view.exact_f1(trees) or []
    chosen = max(range(len(trees)), key=lambda i: (values[i], -i))
    return Best(trees[chosen], values[chosen])


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


def licensed_labelled_recall(
    view: PosteriorView, *, pre: bool = True, labels: Reading | None = None, lam: float | None = None
) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003).

    ``pre`` counts preterminals as constituents, as in the metric ``goodman:pre``. Only this objective does so by default, because
    the paper sums over all nodes; Goodman's metrics and objectives leave preterminals out unless asked.

    Each shown (span, label) counts once, and no chain repeats a shown label. With ``labels="set"`` each label of a span but the
    first, and each phrase over one word, costs ``lam``; with ``labels="one"``, the paper's reading, labels cost nothing. The
    default is ``"set"`` if ``lam`` is given or the grammar's symbols are annotated (shown as other labels), else ``"one"``.
    """
    reading = _reading("set" if lam is not None or view.annotated else "one", labels)
    return view.best_parse(CountedParts(("nodes", pre), nodes=True, preterminals=pre, lam=_price(view, lam) * (reading == "set")))


def parent_child(view: PosteriorView, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link consists of the parent's span and label and the child's index and label; words are not children, and an only child has no
    index. ``count`` has the values of the metric ``parent-child``: ``binary`` counts the links of productions with two children, as
    in the paper's grammars, ``all`` those of every production.
    """
    _check_count(count, ("all", "binary"))

    def links(parent: Hashable, children: Sequence[ProductionChild]) -> Sequence[Hashable]:
        if len(children) != 2 and count != "all":
            return ()
        index = range(len(children)) if len(children) > 1 else ("only",)
        return [(parent, i, child) for i, (child, is_word) in zip(index, children, strict=True) if not is_word]

    return view.best_parse(CountedParts(("links", count), links))


def frames(view: PosteriorView, *, count: Literal["strict", "bin", "many", "all"] = "many") -> Best:
    """The parse with most right productions on average, splits aside: M_CFP (Sima'an 2003).

    ``count`` has the values of the metric ``frames``: ``many`` counts productions with two children or more, ``bin`` those with
    two, ``strict`` those with two and no words, ``all`` every production.
    """
    _check_count(count, ("strict", "bin", "many", "all"))

    def productions(parent: Hashable, children: Sequence[ProductionChild]) -> Sequence[Hashable]:
        is_pair = len(children) == 2 and (count == "bin" or not any(is_word for _, is_word in children))
        counts = count == "all" or (len(children) > 1 if count == "many" else is_pair)
        return [(parent, tuple(children))] if counts else ()

    return view.best_parse(CountedParts(("frames", count), productions))


def _check_count(count: str, known: Sequence[str]) -> None:
    if count not in known:
        raise UnknownName("value of count", count, known)


def max_rule(view: PosteriorView) -> Best:
    """The parse whose rules have the largest product of posteriors, multiplied over all grammars (Petrov & Klein 2007; Petrov
    2010). Its score is the logarithm of that product."""
    return view.best_product()


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("viterbi", "the probability of the whole tree", True, "Goodman 1996; MPP in Sima'an 2003", viterbi, "trees"),
        Objective("labelled-recall", "right labelled constituents", False, "Goodman 1996, Figure 1", labelled_recall),
        Objective("bracketed-recall", "right brackets", False, "Goodman 1996, section 4", bracketed_recall),
        Objective("general", "any weights of spans", False, "Goodman 1996, General Recall", general),
        Objective(
            "labelled-precision-recall",
            "right constituents less lam per node",
            False,
            "Goodman 1996, section 6",
            labelled_precision_recall,
        ),
        Objective(
            "labelled-recall-licensed",
            "right labelled constituents",
            True,
            "Sima'an 2003, M_LR",
            licensed_labelled_recall,
            "grammar",
        ),
        Objective("parent-child", "right parent-child links", True, "Sima'an 2003, M_PCh", parent_child, "grammar"),
        Objective("frames", "right productions", True, "Sima'an 2003, M_CFP", frames, "grammar"),
        Objective("max-rule", "the product of the rules' posteriors", True, "Petrov & Klein 2007", max_rule, "subcategories"),
        Objective("mbr", "any metric, over samples or the k best parses", True, "Kumar & Byrne 2004", minimum_risk, "trees"),
    )
}
"""All decoding objectives, for counted grammars, trained models, span charts and mixtures."""


CRITERIA = {"f1": "f1", "exact": "exact_match", "recall": "recall", "precision": "precision"}
"""The purposes that a setting can be chosen for, and the rate that measures each."""


class DecodingSetting(NamedTuple):
    """An objective with its lam, if it takes one."""

    objective: str
    lam: float | None = None

    @property
    def options(self) -> dict[str, float]:
        """The options of the objective."""
        return {} if self.lam is None else {"lam": self.lam}

    def __str__(self) -> str:
        return self.objective if self.lam is None else f"{self.objective} --lam {self.lam:g}"


VITERBI = DecodingSetting("viterbi")


def settings_from_notes(notes: Mapping[str, Any]) -> dict[str, DecodingSetting]:
    """The settings in the notes of a model file, by purpose; empty if the model has none."""
    try:
        best: Mapping[str, Any] = notes.get("settings", {}).get("best", {})
        return {
            str(name): DecodingSetting(str(objective), None if lam is None else float(lam))
            for name, (objective, lam) in best.items()
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError("the settings of this model cannot be read: run treegauge induce again") from None
