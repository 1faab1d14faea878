"""Consensus of treebanks: for each sentence, of the trees that several parsers gave it, the one that agrees most with all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treegauge.errors import MismatchError
from treegauge.parsing.derivations import Best
from treegauge.parsing.objectives import MetricRate, consensus
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank

__all__ = ["consensus_of_treebanks"]


def consensus_of_treebanks(
    banks: Sequence[Treebank],
    metric: str = "parseval",
    *,
    preset: str = "collins",
    weights: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> Iterator[tuple[Best, int]]:
    """The best tree of each sentence, its mean score, and the number of the first treebank that has it.

    A tree without words is a failed parse and does not take part, unless all are.

    >>> a, b, c = (Treebank.parse(text) for text in ("(S (NP (D a) (N b)) (V c))", "(S (D a) (VP (N b) (V c)))",
    ...                                              "(S (NP (D a) (N b)) (V c))"))
    >>> [(str(best.tree), round(best.score, 3), first) for best, first in consensus_of_treebanks([b, a, c])]
    [('(S (NP (D a) (N b)) (V c))', 0.833, 1)]
    """
    names = [f"treebank {i + 1}" for i in range(len(banks))] if names is None else names
    sizes = {len(bank) for bank in banks}
    if len(sizes) > 1:
        listed = ", ".join(f"{name}: {len(bank):,}" for name, bank in zip(names, banks, strict=True))
        raise MismatchError(f"the files have different numbers of sentences ({listed})")
    score = MetricRate(metric, preset)
    for number in range(sizes.pop() if sizes else 0):
        trees = [bank[number] for bank in banks]
        voting = [i for i, tree in enumerate(trees) if tree.words]
        for i in voting[1:]:
            if trees[i].words != trees[voting[0]].words:
                place = f"sentence {number + 1}: {names[i]} has other words than {names[voting[0]]}"
                raise MismatchError(f"{place}: {_start(trees[i])} and {_start(trees[voting[0]])}")
        voting = voting or [0]
        best = consensus([trees[i] for i in voting], [1.0 if weights is None else weights[i] for i in voting], score)
        yield best, next(i for i in voting if trees[i] == best.tree)


def _start(tree: Tree) -> str:
    words = tree.words
    return repr(" ".join(words[:8]) + (" ..." if len(words) > 8 else ""))
