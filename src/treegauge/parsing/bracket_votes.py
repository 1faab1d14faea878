"""Votes of brackets: a tree recombined from the labelled brackets of several trees of one sentence (Henderson & Brill 1999).

A bracket's share of the votes takes the place of its posterior, and the tree is decoded as that of a mixture of models: it has the
largest sum of shares less lam per node (Goodman 1996), and need not be any of the given trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from treegauge.errors import FileNote, warn
from treegauge.normalise.labels import ROOT_LABELS, base_label
from treegauge.parsing.mixture import LAM, MixtureView, Posteriors, Rows
from treegauge.parsing.posterior_view import Best
from treegauge.parsing.tree_consensus import voting_trees
from treegauge.trees.tree import Tree
from treegauge.trees.treebank import Treebank


def votes_of(tree: Tree, *, cut: bool = False) -> Posteriors:
    """The brackets and tags of a tree, each with a posterior of 1; with ``cut`` function tags do not count."""
    n, numbers, tags = len(tree.words), dict[str, int](), [list[tuple[str | None, float]]() for _ in tree.words]
    height, rows = np.ones((n, n + 1)), dict[tuple[int, int], tuple[float, float, float]]()
    for node, s, t in tree.nodes_with_spans():
        label = base_label(node.label) if cut else node.label
        if label in ROOT_LABELS:
            continue
        key, is_tag = (s * (n + 1) + t, numbers.setdefault(label, len(numbers))), node.is_preterminal
        # A label that stands twice over one span counts once.
        rows.setdefault(key, (float(not is_tag), float(is_tag), float(height[s, t])))
        height[s, t] /= 2
        if is_tag:
            tags[s] = [(label, 1.0)]
    span, label = np.array(list(rows), np.int64).reshape(-1, 2).T
    phrase, tag, top = np.array(list(rows.values()), np.float64).reshape(-1, 3).T
    some, required = (height < 1).astype(np.float64), np.zeros((n, n + 1), np.bool_)
    required[0, n] = n > 1 and bool(some[0, n])
    root = tree.label if tree.label in ROOT_LABELS else None
    return Posteriors(
        tuple(numbers), Rows(span, label, phrase, tag, top), some, np.zeros((n, n + 1)), tuple(tags), root, required, False
    )


def recombine(trees: Sequence[Tree], weights: Sequence[float] | None = None, *, lam: float = LAM, cut: bool = False) -> Best:
    """The tree with the largest sum, over its labelled brackets, of the share of the votes less ``lam``, and that sum.

    >>> texts = "(S (NP (D a) (N b)) (VP (V c)))", "(S (D a) (X (N b) (V c)))", "(S (NP (D a) (N b)) (V c))"
    >>> print(recombine([Tree.parse(text) for text in texts]).tree)
    (S (NP (D a) (N b)) (V c))
    """
    shares = [1.0] * len(trees) if weights is None else weights
    if not trees[0].words or not any(shares):
        return Best(trees[0], float("nan"))
    votes = [votes_of(tree, cut=cut) for tree in trees]
    return MixtureView(trees[0].words, votes, shares, lam).argmax("labelled-precision-recall")


def recombined_trees(
    banks: Sequence[Treebank], weights: Sequence[float] | None = None, *, lam: float = LAM, names: Sequence[str] | None = None
) -> Iterator[tuple[Best, bool]]:
    """The recombined tree of each sentence, and whether it is none of the treebanks' own. Function tags count only if all
    treebanks have them."""
    detailed = [i for i, bank in enumerate(banks) if any(base_label(label) != label for label in bank.labels)]
    for i, bank in enumerate(banks):
        bank.require_continuous("brackets that vote have no gaps")
        if i in detailed and len(detailed) < len(banks):
            what = "its function tags are cut off, since not all files have them"
            warn(FileNote(names[i] if names else f"treebank {i + 1}", what))
    for trees in voting_trees(banks, names):
        shares = None if weights is None else [weights[i] for i in trees]
        best = recombine(list(trees.values()), shares, lam=lam, cut=len(detailed) < len(banks))
        yield best, best.tree not in trees.values()
