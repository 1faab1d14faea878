"""Choice of settings on held-out trees: the number of rounds, the smoothing, lam, and the pruning.

Ten stretches of neighbouring trees are held out, grammars are trained on the rest, and the settings with the best F1 on the
held-out trees are chosen. Differences too small for a few hundred sentences count as ties, which go to the cheaper pruning, but to
more rounds: a mean of several grammars gains from rounds that a single grammar does not gain from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from treegauge.errors import TreegaugeError
from treegauge.grammar.latent.latent_grammar import LatentSmoothing, LexiconSmoothing
from treegauge.grammar.latent.latent_model import Hierarchy, LatentModel, ParseSettings, settings_document, settings_from
from treegauge.learning.latent.treebank_em import TreebankArrays
from treegauge.normalise import pipeline
from treegauge.parsing.latent.latent_forest import LatentForest
from treegauge.scoring.evaluation import evaluator
from treegauge.tables import number_of
from treegauge.trees.tree import Tree

SHARE = 0.08
MOST_SENTENCES = 600
MOST_WORDS = 60
FEW_SENTENCES = 20
LAMS = (0.3, 0.35, 0.4, 0.45, 0.5)
SMOOTHINGS = ((0.05, 0.3), (0.01, 0.1), (0.1, 0.5))
"""Weights of the mean over subcategories, for rules and for words."""
PRUNINGS = ((1e-4, 1e-4, 1e-5), (1e-4, 1e-3, 1e-4))
"""Thresholds of the base pass, of subcategories and of edges; the slowest setting first."""
TIE = 0.0005
"""The loss of F1 that is accepted for cheaper pruning."""
ROUNDS_TIE = 0.002
"""The loss of F1 that is accepted for more rounds."""
CLEARLY = 0.01
"""If fewer rounds lose more F1 than this, still fewer are not tried."""


class Trial(NamedTuple):
    """A setting, its F1 on the held-out trees with the best lam, and that lam."""

    what: str
    f1: float
    lam: float


class TunedTraining(NamedTuple):
    """The number of rounds and the settings that were chosen, and all trials."""

    rounds: int
    settings: ParseSettings
    tried: tuple[Trial, ...]


def hold_out(trees: Sequence[Tree]) -> tuple[list[Tree], list[Tree]]:
    """The trees to train on, and the held-out trees: the ends of ten stretches, a larger share if there are few trees.

    >>> rest, held = hold_out([Tree("A", ["a"])] * 5000)
    >>> len(rest), len(held)
    (4600, 400)
    """
    share = max(SHARE, min(0.25, 100 / max(1, len(trees))))
    rest: list[Tree] = []
    held: list[Tree] = []
    for part in range(10):
        low, high = len(trees) * part // 10, len(trees) * (part + 1) // 10
        cut = high - round((high - low) * share)
        rest += trees[low:cut]
        held += trees[cut:high]
    return rest, held


def middle_levels(rounds: int) -> tuple[int, ...]:
    """The levels of the hierarchy that parsing goes through before the finest."""
    return (2,) if rounds >= 4 else (1,) if rounds == 3 else ()


def choose_settings(
    arrays: TreebankArrays,
    grammars: Sequence[Mapping[int, Hierarchy]],
    held: Sequence[Tree],
    *,
    jobs: int = 1,
    on_try: Callable[[Trial], None] = lambda _: None,
) -> TunedTraining:
    """Choose settings by their F1 on held-out trees; ``grammars[g][r]`` is grammar g after r rounds.

    ``on_try`` is called after each trial.
    """
    gold = _gold(held)
    tried: list[Trial] = []

    def attempt(what: str, rounds: int, settings: ParseSettings) -> Trial:
        parts = tuple(each[rounds] for each in grammars)[: 1 if rounds == 0 else None]
        model = LatentModel(arrays.base, arrays.table, parts, settings)
        made = Trial(what, *_best_lam(model, gold, jobs))
        tried.append(made)
        on_try(made)
        return made

    by_rounds: dict[int, Trial] = {}
    for rounds in sorted(grammars[0], reverse=True):
        made = attempt(number_of(rounds, "round"), rounds, ParseSettings(levels=middle_levels(rounds)))
        by_rounds[rounds] = made
        if made.f1 < max(each.f1 for each in by_rounds.values()) - CLEARLY:
            break
    best = max(each.f1 for each in by_rounds.values())
    rounds = max(r for r, each in by_rounds.items() if each.f1 >= best - ROUNDS_TIE)
    settings, best_try = ParseSettings(levels=middle_levels(rounds)), by_rounds[rounds]
    for rules, flat in SMOOTHINGS[1:]:
        smoothing = LatentSmoothing(rules, LexiconSmoothing(flat=flat))
        made = attempt(f"smoothing {rules:g} of rules, {flat:g} of words", rounds, settings._replace(smoothing=smoothing))
        if made.f1 > best_try.f1:
            best_try, settings = made, settings._replace(smoothing=smoothing)
    for base, subcategory, edge in PRUNINGS[1:]:
        pruned = settings._replace(base=base, subcategory=subcategory, edge=edge)
        made = attempt(f"pruning {base:g} {subcategory:g} {edge:g}", rounds, pruned)
        if made.f1 >= best_try.f1 - TIE:
            settings, best_try = pruned, made
    return TunedTraining(rounds, settings._replace(lam=best_try.lam), tuple(tried))


def _gold(held: Sequence[Tree]) -> list[Tree]:
    """At most :data:`MOST_SENTENCES` of the trees, evenly spread, without traces and long sentences; the shortest if all are
    long."""
    traces = pipeline("traces")
    whole = [tree for tree in map(traces, held) if tree is not None and tree.width]
    made = [tree for tree in whole if tree.width <= MOST_WORDS] or sorted(whole, key=lambda tree: tree.width)[:FEW_SENTENCES]
    every = max(1, -(-len(made) // MOST_SENTENCES))
    return made[::every]


def _best_lam(model: LatentModel, gold: Sequence[Tree], jobs: int) -> tuple[float, float]:
    """The best F1 of labelled-precision-recall over lam, and that lam; 0 and the default lam if the trees have no brackets."""

    def decode(tree: Tree) -> list[Tree]:
        try:
            forest = LatentForest(model, tree.words)
            if forest.has_parse:
                return [forest.argmax("labelled-precision-recall", lam=lam).tree for lam in LAMS]
        except TreegaugeError:
            pass
        return [Tree("")] * len(LAMS)

    with ThreadPoolExecutor(max(1, jobs)) as pool:
        trees = list(pool.map(decode, gold))
    metric = evaluator("parseval")
    scores = [metric.compute(predictions=[each[i] for each in trees], references=list(gold))["f1"] for i in range(len(LAMS))]
    best = max(range(len(LAMS)), key=lambda i: scores[i])
    return (0.0, ParseSettings().lam) if any(map(math.isnan, scores)) else (scores[best], LAMS[best])


def as_document(chosen: TunedTraining) -> dict[str, Any]:
    """The choice as plain data for JSON."""
    return {"rounds": chosen.rounds, "settings": settings_document(chosen.settings), "tried": [list(t) for t in chosen.tried]}


def from_document(document: Mapping[str, Any]) -> TunedTraining:
    """The inverse of :func:`as_document`."""
    return TunedTraining(
        int(document["rounds"]), settings_from(document["settings"]), tuple(Trial(*each) for each in document["tried"])
    )
