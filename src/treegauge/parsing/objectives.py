"""The table of decoding objectives, each written once for every view of posteriors, and the decoding settings that models store.

An objective returns the tree with the largest expected score, and that score. "Free" objectives choose among all trees over the
words; "licensed" ones choose among the parses of a grammar, and differ in the parts that count. A constituent (span, label) counts
once, whichever symbols of the grammar show as that label.

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
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, NamedTuple, cast

from treegauge.errors import UnknownName, UsageError, check_name
from treegauge.parsing.free_objectives import (
    bracketed_recall,
    chosen_reading,
    general,
    labelled_precision_recall,
    labelled_recall,
    price_of,
)
from treegauge.parsing.posterior_view import NEEDS, Best, CountedParts, PosteriorView, ProductionChild, Reading
from treegauge.parsing.tree_consensus import MetricRate, Score, consensus
from treegauge.tables import british


@dataclass(frozen=True)
class Objective:
    """A decoding objective: its name, the quantity that it maximises, whether only over the grammar's parses, its reference, its
    function, and what it needs besides posteriors (see :data:`treegauge.parsing.posterior_view.NEEDS`)."""

    name: str
    maximises: str
    licensed: bool
    source: str = field(repr=False)
    decode: Callable[..., Best] = field(repr=False)
    needs: str = ""


def check_objective(
    objective: str, options: Mapping[str, Any], gives: frozenset[str] = frozenset(NEEDS)
) -> tuple[Objective, dict[str, Any]]:
    """The objective of a name such as ``frames`` or ``mbr:parseval``, and its options; an error if the name or an option is
    unknown, or if it needs more than a view ``gives``."""
    name, _, metric = british(str(objective)).partition(":")
    if name not in OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective", str(objective), [*OBJECTIVES, "mbr:METRIC"])
    found, given = OBJECTIVES[name], dict(options)
    if metric:
        given["score"] = MetricRate(metric, given.pop("preset", None))
    if name == "mbr" and "score" not in given:
        raise UsageError(f"objective {objective} needs a metric after a colon: mbr:parseval, mbr:parseval.recall ...")
    _check_options(name, found.decode, given)
    if found.needs and found.needs not in gives:
        usable = [each for each, other in OBJECTIVES.items() if not other.needs or other.needs in gives]
        raise UsageError(f"objective {name} {NEEDS[found.needs]}; usable here: {', '.join(usable)}")
    return found, given


def _check_options(name: str, decode: Callable[..., Best], given: Mapping[str, Any]) -> None:
    """Refuse options that the function ``decode`` of objective ``name`` does not take, and missing ones that it needs."""
    takes = inspect.signature(decode).parameters
    wrong = [option for option in given if option not in takes]
    needed = [p.name for p in takes.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name not in given]
    if wrong or needed:
        what = f"takes no option {wrong[0]!r}" if wrong else f"needs {needed[0]}=..."
        raise UsageError(f"objective {name} {what}; its options: {', '.join(list(takes)[1:]) or 'none'}")
    for option, value in given.items():
        if not (-1e100 < cast(float, value) < 1e100 if isinstance(value, Real) else option != "lam" or value is None):
            raise UsageError(f"{option} must be a finite number, not {value!r}")


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
    reading = chosen_reading("set" if lam is not None or view.annotated else "one", labels)
    return view.best_parse(CountedParts(("nodes", pre), nodes=True, preterminals=pre, lam=price_of(view, lam) * (reading == "set")))


def parent_child(view: PosteriorView, *, count: Literal["binary", "all"] = "binary") -> Best:
    """The parse with most right parent-child links on average: M_PCh (Sima'an 2003).

    A link consists of the parent's span and label and the child's index and label; words are not children, and an only child has no
    index. ``count`` has the values of the metric ``parent-child``: ``binary`` counts the links of productions with two children, as
    in the paper's grammars, ``all`` those of every production.
    """
    check_name("value of count", count, ("all", "binary"))

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
    check_name("value of count", count, ("strict", "bin", "many", "all"))

    def productions(parent: Hashable, children: Sequence[ProductionChild]) -> Sequence[Hashable]:
        is_pair = len(children) == 2 and (count == "bin" or not any(is_word for _, is_word in children))
        counts = count == "all" or (len(children) > 1 if count == "many" else is_pair)
        return [(parent, tuple(children))] if counts else ()

    return view.best_parse(CountedParts(("frames", count), productions))


def max_rule(view: PosteriorView) -> Best:
    """The parse whose rules have the largest product of posteriors, multiplied over all grammars (Petrov & Klein 2007; Petrov
    2010). Its score is the logarithm of that product."""
    return view.best_product()


LPR = "labelled-precision-recall"
OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("viterbi", "the probability of the whole tree", True, "Goodman 1996; MPP in Sima'an 2003", viterbi, "trees"),
        Objective("labelled-recall", "right labelled constituents", False, "Goodman 1996, Figure 1", labelled_recall),
        Objective("bracketed-recall", "right brackets", False, "Goodman 1996, section 4", bracketed_recall),
        Objective("general", "any weights of spans", False, "Goodman 1996, General Recall", general),
        Objective(LPR, "right constituents less lam per node", False, "Goodman 1996, section 6", labelled_precision_recall),
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
