"""The entropy of a sentence's trees under a latent-variable model, subcategories summed out.

No efficient sum is known for it. The probability of one tree given the sentence is easy, though: so where pruning has left few
trees, all of them are added up; of many, some are drawn, and the mean of -log P(tree | words) over them is the estimate.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from treegauge.parsing.latent.derivations import Derivation, tree_probability

if TYPE_CHECKING:
    from treegauge.parsing.latent.forest import LatentForest

__all__ = ["FEW", "SAMPLES", "all_derivations", "tree_entropy"]

FEW = 200
"""Up to so many trees are added up one by one."""
SAMPLES = 400
"""So many trees are drawn where there are more."""
_SEED = 1


def tree_entropy(forest: LatentForest, few: int = FEW, samples: int = SAMPLES) -> float:
    """The entropy in nats of the tree given the sentence; an estimate (always the same one) where there are more than ``few``
    trees."""
    if not forest.has_parse:
        return math.nan
    if forest.n_parses <= few:
        shares = [_share(forest, derivation) for derivation in all_derivations(forest)]
        return max(0.0, -math.fsum(p * math.log(p) for p in shares if p > 0))
    drawn = forest.sample_derivations(samples, _SEED)
    value = {derivation: math.log(_share(forest, derivation)) for derivation in set(drawn)}
    return max(0.0, -math.fsum(value[derivation] for derivation in drawn) / len(drawn))


def _share(forest: LatentForest, derivation: Derivation) -> float:
    """P(tree | words): the mean over the grammars of what each says."""
    assert forest.packed is not None
    packed, words = forest.packed
    is_tag = forest.tables.rules.is_tag
    shares = [
        tree_probability(packed, is_tag, forest.tables.paths[number][0][-1], words, found, derivation, pruned=True) - total
        for (number, found), total in zip(forest.found, forest.log_probabilities.tolist(), strict=True)
    ]
    return float(np.mean(np.exp(shares)))


def all_derivations(forest: LatentForest) -> list[Derivation]:
    """All derivations that pruning has left, subcategories aside: only for few."""
    assert forest.packed is not None
    packed, alive = forest.packed[0], forest.edge_posterior > 0
    is_tag = forest.tables.rules.is_tag
    ways: list[list[tuple[int, ...]]] = [[] for _ in range(len(packed.symbol))]
    for v in range(len(packed.symbol) - 1, -1, -1):
        if is_tag[packed.symbol[v]]:
            ways[v].append(())
        for d in range(int(packed.first[v]), int(packed.first[v + 1])):
            if alive[d]:
                below = [ways[x] for x in (int(packed.left[d]), int(packed.right[d])) if x >= 0]
                ways[v] += [(d, *itertools.chain(*each)) for each in itertools.product(*below)]
    return [Derivation(v, way) for v in forest.roots() for way in ways[v]]
