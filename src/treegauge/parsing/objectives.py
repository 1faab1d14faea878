"""Objectives: what the best tree is best for. One registry; each objective finds the tree with the largest expected
score, and says that score.

"Free" objectives may return a tree that the grammar does not generate; "licensed" ones only choose among its parses.
Where the grammar says that several symbols show as one label, their posteriors are added.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treegauge.errors import UnknownName, UsageError
from treegauge.grammar.pcfg import Rule
from treegauge.parsing.consensus import Metric
from treegauge.parsing.free import TIE, best_labels, best_spans, build
from treegauge.parsing.licensed import Parts, best_licensed
from treegauge.parsing.rounds import licensed_steps
from treegauge.trees.tree import Tree

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest

__all__ = ["OBJECTIVES", "Best", "Objective", "check_objective", "consensus", "decode_forest"]

Score = Callable[[Tree, Tree], float]
"""``score(gold, test)``: how well a tree does if another is the right one."""

DUMMY = "X"
"""The label of a bracket whose label was not asked for."""


class Best(NamedTuple):
    """The best tree for an objective, and its expected score."""

    tree: Tree
    score: float


@dataclass(frozen=True)
class Objective:
    """A name, what is maximised, over which trees, where it comes from, and how it is done."""

    name: str
    maximises: str
    licensed: bool
    source: str
    decode: Callable[..., Best]


def check_objective(objective: str, options: Mapping[str, Any]) -> tuple[Objective, dict[str, Any]]:
    """The objective of a name such as ``frames`` or ``mbr:parseval``, and its options; an error if there is none, or
    it takes others."""
    name, _, metric = objective.partition(":")
    if name not in OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective", objective, [*OBJECTIVES, "mbr:METRIC"])
    found, given = OBJECTIVES[name], {**options, **({"score": Metric(metric)} if metric else {})}
    takes = inspect.signature(found.decode).parameters
    wrong = [option for option in given if option not in takes]
    needed = [p.name for p in takes.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in given]
    if wrong or needed:
        what = f"takes no option {wrong[0]!r}" if wrong else f"needs the option {needed[0]!r}"
        raise UsageError(f"objective {name} {what}; its options: {', '.join(list(takes)[1:]) or 'none'}")
    return found, given


def decode_forest(forest: Forest, objective: str, **options: Any) -> Best:
    """The best tree of a forest for an objective."""
    found, given = check_objective(objective, options)
    return found.decode(forest, **given)


def viterbi(forest: Forest) -> Best:
    """The likeliest parse; its expected score is its probability given the sentence, the chance of an exact match."""
    parse = forest.best()
    return Best(parse.tree, math.exp(parse.log_probability - forest.log_partition))


def labelled_recall(forest: Forest, *, pre: bool = False) -> Best:
    """The tree with most right labelled constituents on average (Goodman 1996, Figure 1): one label a span.

    ``pre`` counts the spans of single words too.
    """
    weight, label, names = _labels_of_spans(forest, hidden=True)
    return _free(forest, weight if pre else _without_words(weight), label, names, optional=False)


def bracketed_recall(forest: Forest, *, pre: bool = False, labels: Literal["dummy", "argmax"] = "dummy") -> Best:
    """The tree with most right brackets on average (Goodman 1996, Figure 4).

    A bracket is worth the probability that some node has its span: the sum over the tops of unary chains. The root
    shows the start symbol, other brackets ``X``, or with ``labels="argmax"`` each its likeliest label.
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
        if labels == "argmax" and label[s, t] >= 0:
            return names[int(label[s, t])]
        return (forest.grammar.label(forest.grammar.start) or DUMMY) if t - s == forest.n else DUMMY

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


def labelled_precision_recall(forest: Forest, *, lam: float = 0.0, pre: bool = False) -> Best:
    """The n-ary tree with the largest sum over its nodes of g - lam; the root is always kept.

    ``lam`` = 0 keeps every node worth having; more trades recall for precision. Symbols made by a binarisation are
    never kept.
    """
    weight, label, names = _labels_of_spans(forest, hidden=False)
    weight = np.where(label >= 0, weight - lam, -1.0)
    if not pre:
        weight = _without_words(weight)
    kept = weight > 0
    return _free(forest, weight, np.where(kept | _root(forest.n), label, -1), names, optional=True)


def licensed_labelled_recall(forest: Forest, *, pre: bool = True) -> Best:
    """The parse with most right labelled constituents on average: M_LR (Sima'an 2003). Without ``pre`` preterminals
    do not count."""

    def number() -> Parts:
        ids = _Numbers()
        return _parts(forest, ids, node=[ids.of(key) for key in _label_keys(forest)], preterminals=pre)

    return _licensed(forest, ("nodes", pre), number)


def parent_child(forest: Forest, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link is the parent's span and label, the child's index and label; words are no children. ``binary`` counts the
    links of productions with two children, ``all`` those of every production, as the metric PC does.
    """
    return _licensed(forest, ("links", count), lambda: _numbered_links(forest, count))


def _numbered_links(forest: Forest, count: str) -> Parts:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        children = [None if word else keys[x] for x, word in zip(rule.rhs, rule.words, strict=True)]
        if len(children) == 2 or (len(children) > 2 and count == "all"):
            links = [(keys[rule.lhs], i, child) for i, child in enumerate(children) if child is not None]
            rules[source] = [ids.of(link) for link in links]
        elif count == "all" and rule.is_unary:
            alone[source] = ids.of((keys[rule.lhs], "only", children[0]))
    return _parts(forest, ids, rules=rules, alone=alone)


def frames(forest: Forest, *, count: Literal["strict", "bin", "many", "all"] = "bin") -> Best:
    """The parse with most right productions on average, splits aside: M_CFP (Sima'an 2003).

    ``bin`` counts productions with two children, ``strict`` only those of them without words, ``many`` those with
    two or more children (as the metric CF does), ``all`` every production.
    """
    return _licensed(forest, ("frames", count), lambda: _numbered_frames(forest, count))


def _numbered_frames(forest: Forest, count: str) -> Parts:
    ids, keys = _Numbers(), _keys_by_name(forest)
    rules: dict[int, list[int]] = {}
    alone: dict[int, int] = {}
    for source, rule in enumerate(forest.grammar.rules):
        right = tuple((x, True) if word else (keys[x], False) for x, word in zip(rule.rhs, rule.words, strict=True))
        if len(right) > 1 and _counts(rule, count):
            rules[source] = [ids.of((keys[rule.lhs], right))]
        elif rule.is_unary and count == "all":
            alone[source] = ids.of((keys[rule.lhs], right))
    leaf = [ids.of((key, "word")) for key in _label_keys(forest)] if count == "all" else None
    return _parts(forest, ids, rules=rules, alone=alone, leaf=leaf)


def _counts(rule: Rule, count: str) -> bool:
    return count in ("many", "all") or (len(rule.rhs) == 2 and (count == "bin" or not any(rule.words)))


def minimum_risk(
    forest: Forest,
    *,
    score: Score | Metric,
    candidates: Literal["samples", "kbest"] = "samples",
    size: int = 100,
    seed: int = 0,
) -> Best:
    """The candidate that scores best on average if the truth is another candidate: consensus by any metric.

    Candidates are ``size`` samples, or the ``size`` best parses weighted by their probability.
    """
    if candidates == "samples":
        trees = forest.sample(size, seed)
        return consensus(trees, [1.0] * len(trees), score)
    parses = forest.kbest(size)
    return consensus([p.tree for p in parses], [math.exp(p.log_probability - forest.log_partition) for p in parses], score)


def consensus(trees: Sequence[Tree], weights: Sequence[float], score: Score | Metric) -> Best:
    """Of some trees the one with the best mean score against all of them; the first among equals.

    Where a score is 0/0 the choice goes by the others, and the mean is nan.
    """
    pooled: dict[Tree, float] = {}
    for tree, weight in zip(trees, weights, strict=True):
        pooled[tree] = pooled.get(tree, 0.0) + weight
    candidates, shares = list(pooled), np.array(list(pooled.values()))
    if isinstance(score, Metric):
        table = score.table(candidates)
    else:
        table = np.array([[score(gold, test) for test in candidates] for gold in candidates], np.float64)
    defined = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        means = (shares @ np.where(defined, table, 0.0)) / (shares @ defined)
    best = int(np.argmax(np.where(np.isnan(means), -np.inf, means)))
    return Best(candidates[best], float(means[best]) if defined[:, best].all() else math.nan)


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("viterbi", "the probability of the whole tree", True, "Goodman 1996; MPP in Sima'an 2003", viterbi),
        Objective("labelled-recall", "right labelled constituents", False, "Goodman 1996, Figure 1", labelled_recall),
        Objective("bracketed-recall", "right brackets", False, "Goodman 1996, Figure 4", bracketed_recall),
        Objective("general", "any weights of spans", False, "Goodman 1996, General Recall", general),
        Objective(
            "labelled-precision-recall",
            "right constituents less lam a node",
            False,
            "Goodman 1996, section 6",
            labelled_precision_recall,
        ),
        Objective("labelled-recall-licensed", "right labelled constituents", True, "Sima'an 2003, M_LR", licensed_labelled_recall),
        Objective("parent-child", "right parent-child links", True, "Sima'an 2003, M_PCh", parent_child),
        Objective("frames", "right productions", True, "Sima'an 2003, M_CFP", frames),
        Objective("mbr", "any metric, over samples or the k best parses", True, "Kumar & Byrne 2004", minimum_risk),
    )
}


class _Numbers:
    """Parts and their numbers."""

    def __init__(self) -> None:
        self.ids: dict[object, int] = {}

    def of(self, part: object) -> int:
        return self.ids.setdefault(part, len(self.ids))


def _label_keys(forest: Forest) -> list[object]:
    """For each visible symbol what it counts as: its output label, or itself if it does not show."""
    symbols = forest.binary.symbols[: forest.binary.visible]
    return [(symbol,) if label is None else label for symbol, label in zip(symbols, forest.output_labels, strict=False)]


def _keys_by_name(forest: Forest) -> dict[str, object]:
    return dict(zip(forest.binary.symbols[: forest.binary.visible], _label_keys(forest), strict=True))


def _licensed(forest: Forest, key: tuple[object, ...], number: Callable[[], Parts]) -> Best:
    """The best parse where things count as numbered parts; the numbers are made once for a grammar."""
    derived = forest.binary.derived
    if ("parts", *key) not in derived:
        derived["parts", *key] = number()
    parts: Parts = derived["parts", *key]
    filled = forest.filled
    made = best_licensed(filled.mode, forest.n, filled.grid, forest.outer, parts)
    steps = licensed_steps(filled.mode, filled.grid, forest.outer, made, parts, filled.root, forest.n)
    return Best(forest.tree(steps), float(made.best[filled.root]))


def _parts(
    forest: Forest,
    ids: _Numbers,
    *,
    node: Sequence[int] | None = None,
    leaf: Sequence[int] | None = None,
    rules: dict[int, list[int]] | None = None,
    alone: dict[int, int] | None = None,
    preterminals: bool = True,
) -> Parts:
    """What nodes, leaves, rules of two or more children and unary rules count as, in the order of the binarised
    grammar."""
    binary, n_symbols = forest.binary, forest.binary.n_symbols
    by_rule = [(rules or {}).get(source, []) for source in binary.binary_source.tolist()]
    none = [-1] * n_symbols
    return Parts(
        size=len(ids.ids),
        node=np.array([*(node or none), *none][:n_symbols], np.int32),
        leaf=np.array([*(leaf or none), *none][:n_symbols], np.int32),
        unary=np.array([(alone or {}).get(source, -1) for source in binary.unary_source.tolist()], np.int32),
        binary_first=np.concatenate([[0], np.cumsum([len(p) for p in by_rule], dtype=np.int64)]).astype(np.int64),
        binary=np.array([part for p in by_rule for part in p], np.int32),
        preterminals=preterminals,
        cyclic=binary.cyclic,
    )


def _labels_of_spans(forest: Forest, *, hidden: bool) -> tuple[NDArray[np.float64], NDArray[np.int32], list[str | None]]:
    """For each span its best label's posterior and number, and the labels; ``hidden`` lets symbols that do not show
    compete."""
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
    weight, label = best_labels(forest.n, forest.filled.chart, forest.posterior, group, max(1, len(names)))
    return weight, label, names


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
