"""Tuning of mixtures: the shares of the models and the decoding settings, chosen on trees that none of the models has seen.

The posteriors of each model are computed once. Models of one kind make similar errors, so each kind begins with the same share, and
its models with equal parts of it. The share of a kind is doubled or halved as long as F1 rises, each time with the best lam; that
of a single model only if F1 rises by more than chance: the best of many shares on a few hundred trees is not the best elsewhere.
Nor is the best lam: the usual one is about half of the F1 of a good mixture, which is best in theory if posteriors are calibrated
(Lipton, Elkan & Naryanaswamy 2014), so another is chosen only if it gains more than chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from treegauge.errors import MismatchError
from treegauge.normalise.pipelines import label_pipeline
from treegauge.parsing.mixture import MIXTURE_SETTINGS, MixtureParser, Posteriors
from treegauge.parsing.objectives import DecodingSetting
from treegauge.parsing.parser import Sentence
from treegauge.parsing.tuned_decoding import TunedDecoding, best_settings
from treegauge.scoring.evaluation import score
from treegauge.trees.tree import Tree

MOST_TREES = 1000
"""The number of trees that are tuned on; of more, evenly spread ones."""
LAMS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55)
"""The prices of a node that are tried with each choice of shares."""
CHANCE = 0.005
"""The F1 that the best share of a single model, or the best lam, may gain by chance alone."""
_WITH_LAM = [DecodingSetting("labelled-precision-recall", lam) for lam in (0.15, 0.2, 0.25, *LAMS, 0.6, 0.65, 0.7, 0.75, 0.8)]
Shares = tuple[float, ...]


@dataclass(frozen=True)
class TunedMixture:
    """The shares with the best F1, the settings for each purpose, and the F1 of each model alone, each at its best lam."""

    shares: Shares
    settings: TunedDecoding
    alone: tuple[float, ...]

    @property
    def lam(self) -> float:
        """The price of a node with the best F1."""
        return self.settings.best["f1"].lam or 0.0

    @property
    def f1(self) -> float:
        """The best F1."""
        return self.settings.rates[self.settings.best["f1"]]["f1"]


def tune_mixture(
    parser: MixtureParser, trees: Sequence[Tree], *, treebank: str = "", show: Callable[[str], None] = lambda line: None
) -> TunedMixture:
    """The shares of a mixture's models and lam with the best F1 on some trees, and the settings for other purposes.

    ``show`` is called with a line that tells how far it is; ``treebank`` is the style of the labels.
    """
    clean = label_pipeline("traces,functions,root", treebank)
    every = [tree for tree in map(clean, trees) if tree is not None and tree.width]
    every = every[:: max(1, -(-len(every) // MOST_TREES))]
    gold, own = list[Tree](), list[tuple[Posteriors | None, ...]]()
    for first in range(0, len(every), parser.batch):
        batch = every[first : first + parser.batch]
        for tree, found in zip(batch, parser.by_part([Sentence(tree.words, tree.tags) for tree in batch]), strict=True):
            if any(found):
                gold.append(tree)
                own.append(found)
        show(f"posteriors of {min(first + parser.batch, len(every)):,} of {len(every):,} sentences")
    if not gold:
        raise MismatchError("there is no tree to tune on, or none that a model has a parse for")
    known: dict[Shares, float] = {}

    def decoded(shares: Shares, settings: Sequence[DecodingSetting]) -> dict[DecodingSetting, list[Tree]]:
        mixture, made = replace(parser, shares=shares), {setting: list[Tree]() for setting in settings}
        for tree, found in zip(gold, own, strict=True):
            # A model that is tried alone may have no parse; the mean of all is then as good as any.
            view = mixture.mean(Sentence(tree.words), found) or parser.mean(Sentence(tree.words), found)
            assert view is not None
            for setting, trees in made.items():
                trees.append(view.argmax(setting.objective, **setting.options).tree)
        return made

    def f1(shares: Shares) -> float:
        if shares not in known:
            by_lam = decoded(shares, [setting for setting in _WITH_LAM if setting.lam in LAMS])
            f1s = {setting.lam: score(gold, trees, metric="parseval").rates["f1"] for setting, trees in by_lam.items()}
            known[shares], lam = max((rate, lam) for lam, rate in f1s.items())
            show(f"F1 {100 * known[shares]:.2f} with shares {', '.join(f'{share:g}' for share in shares)}; lam {lam:g}")
        return known[shares]

    size = len(parser.parts)
    alone = tuple(f1(tuple(float(i == j) for j in range(size))) for i in range(size))
    kinds = [type(part) for part in parser.parts]
    best = _scaled([1 / kinds.count(kind) for kind in kinds])
    of_kinds = [{i for i in range(size) if kinds[i] is kind} for kind in dict.fromkeys(kinds)]
    for groups, chance in ((of_kinds, 0.0), ([{i} for i in range(size)], CHANCE)):
        while True:
            better = max((_scaled(best, group, factor) for group in groups for factor in (2.0, 0.5)), key=f1)
            if not f1(better) > f1(best) + chance:
                break
            best = better
    made = decoded(best, [*_WITH_LAM, *(DecodingSetting("labelled-recall", lam) for lam in (0.2, 0.35, 0.5))])
    found, usual = best_settings(gold, made, MIXTURE_SETTINGS["exact"], least=max(alone)), MIXTURE_SETTINGS["f1"]
    if found.rates[found.best["f1"]]["f1"] <= found.rates[usual]["f1"] + CHANCE:
        found = replace(found, best={**found.best, "f1": usual})
    return TunedMixture(best, found, alone)


def _scaled(shares: Sequence[float], changed: Set[int] = frozenset(), factor: float = 1.0) -> Shares:
    """The shares with some of them changed by a factor, and the smallest as 1.

    >>> _scaled([1, 0.5, 0.5], {0}, 2.0)
    (4.0, 1.0, 1.0)
    """
    made = [share * factor if i in changed else share for i, share in enumerate(shares)]
    return tuple(share / min(made) for share in made)
