"""The registry of decoding objectives, and the decoding settings that models store.

An objective returns the tree with the largest expected score, and that score. "Free" objectives may return a tree that the grammar
does not generate; "licensed" ones choose among its parses. The posteriors of symbols that the grammar shows as one label are added.

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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from treegauge.errors import UnknownName, UsageError
from treegauge.parsing.derivations import Best
from treegauge.parsing.free import bracketed_recall, general, labelled_precision_recall, labelled_recall
from treegauge.parsing.licensed import frames, licensed_labelled_recall, parent_child
from treegauge.parsing.tree_consensus import MetricRate, Score, consensus
from treegauge.spelling import british

if TYPE_CHECKING:
    from treegauge.parsing.forest import Forest


@dataclass(frozen=True)
class Objective:
    """A decoding objective: its name, the quantity that it maximises, whether only over the grammar's parses, its reference, and
    its function."""

    name: str
    maximises: str
    licensed: bool
    source: str
    decode: Callable[..., Best]


def with_metric(metric: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an objective; the metric named after ``mbr:``, if any, becomes the option ``score``, with ``preset`` applied
    to it."""
    if not metric:
        return dict(options)
    others = {name: value for name, value in options.items() if name != "preset"}
    return {**others, "score": MetricRate(metric, options.get("preset"))}


def check_objective(objective: str, options: Mapping[str, Any]) -> tuple[Objective, dict[str, Any]]:
    """The objective of a name such as ``frames`` or ``mbr:parseval``, and its options; an error if the name or an option is
    unknown."""
    name, _, metric = british(objective).partition(":")
    if name not in OBJECTIVES or (metric and name != "mbr"):
        raise UnknownName("objective", objective, [*OBJECTIVES, "mbr:METRIC"])
    found, given = OBJECTIVES[name], with_metric(metric, options)
    check_options(name, found.decode, given)
    return found, given


def check_options(name: str, decode: Callable[..., Best], given: Mapping[str, Any]) -> None:
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


def decode_forest(forest: Forest, objective: str, **options: Any) -> Best:
    """The best tree of a forest for an objective."""
    found, given = check_objective(objective, options)
    return found.decode(forest, **given)


def viterbi(forest: Forest) -> Best:
    """The likeliest parse. Its expected score is its probability given the sentence: the chance of an exact match."""
    parse = forest.best()
    return Best(parse.tree, math.exp(parse.log_probability - forest.log_partition))


def minimum_risk(
    forest: Forest,
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
        trees = forest.sample(size, seed)
        return consensus(trees, [1.0] * len(trees), score)
    parses = forest.kbest(size)
    return consensus([p.tree for p in parses], [math.exp(p.log_probability - forest.log_partition) for p in parses], score)


OBJECTIVES: dict[str, Objective] = {
    objective.name: objective
    for objective in (
        Objective("viterbi", "the probability of the whole tree", True, "Goodman 1996; MPP in Sima'an 2003", viterbi),
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
        Objective("labelled-recall-licensed", "right labelled constituents", True, "Sima'an 2003, M_LR", licensed_labelled_recall),
        Objective("parent-child", "right parent-child links", True, "Sima'an 2003, M_PCh", parent_child),
        Objective("frames", "right productions", True, "Sima'an 2003, M_CFP", frames),
        Objective("mbr", "any metric, over samples or the k best parses", True, "Kumar & Byrne 2004", minimum_risk),
    )
}


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
