"""Toy treebanks, and plain enumeration of everything that the kernels compute."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from treegauge.grammar.latent.latent_grammar import LatentCounts, LatentSmoothing, LexiconSmoothing, pair_probabilities
from treegauge.grammar.latent.latent_model import Hierarchy, LatentModel, ParseSettings
from treegauge.grammar.latent.rule_rows import BaseGrammar, RuleRows
from treegauge.learning.latent.treebank_em import (
    BINARY,
    LEXICAL,
    EMParameters,
    TreebankArrays,
    first_counts,
    split_counts,
    treebank_arrays,
)
from treegauge.trees.tree import Tree

PLAIN = LatentSmoothing(0.0, LexiconSmoothing(0.0, 0.0, 0.0))
"""No smoothing at all."""

TREES = [
    Tree.parse(text)
    for text in (
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat))))",
        "(TOP (S (NP (DT the) (JJ old) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN with) (NP (NN milk)))))))",
        "(TOP (S (NP (NN milk)) (VP (VBD saw) (NP (DT the) (NN dog)) (PP (IN with) (NP (DT a) (NN cat))))))",
        "(TOP (S (VP (VBD sat) (PP (IN with) (NP (NN milk))))))",
        "(TOP (FRAG (NP (DT a) (JJ old) (JJ old) (NN cat))))",
        "(TOP (UH milk))",
    )
]


def toy(trees: list[Tree] = TREES, splits: int = 1, seed: int = 0, noise: float = 0.5) -> tuple[TreebankArrays, LatentCounts]:
    """A treebank, and random counts in which every symbol has ``2 ** splits`` subcategories."""
    arrays = treebank_arrays(trees)
    counts = first_counts(arrays, np.float64)
    rng = np.random.default_rng(seed)
    for _ in range(splits):
        counts = split_counts(arrays, counts, rng, noise)
    return arrays, counts


def weight_of(rows: RuleRows, rule: int, i: int, j: int, k: int = 0) -> float:
    """The weight of A_i -> B_j C_k."""
    for q in range(int(rows.first[rule]), int(rows.first[rule + 1])):
        if (rows.left[q], rows.right[q]) == (j, k):
            return float(rows.value[rows.offset[q] + i])
    return 0.0


def assignments(arrays: TreebankArrays, given: EMParameters, tree: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """All ways to give subcategories to the nodes of a tree, with their joint probabilities."""
    nodes = arrays.nodes
    low, high = int(nodes.start[tree]), int(nodes.start[tree + 1])
    sizes = [range(int(given.sizes[nodes.symbol[v]])) for v in range(low, high)]
    for chosen in itertools.product(*sizes):
        top = int(nodes.symbol[high - 1])
        p = float(given.root[given.first[top] + chosen[-1]])
        for v in range(low, high):
            x, rule = chosen[v - low], int(nodes.rule[v])
            if nodes.kind[v] == LEXICAL:
                p *= float(given.pair[given.pair_offset[rule] + x])
            elif nodes.kind[v] == BINARY:
                p *= weight_of(given.binary, rule, x, chosen[nodes.left[v]], chosen[nodes.right[v]])
            else:
                p *= weight_of(given.unary, rule, x, chosen[nodes.left[v]])
        yield chosen, p


class Enumerated(NamedTuple):
    """A parse: its tree, the probability of tree and words, and the probability of its likeliest derivation."""

    tree: Tree
    probability: float
    best: float


def model_of(
    trees: list[Tree] = TREES, splits: int = 1, seeds: tuple[int, ...] = (0,), smoothing: LatentSmoothing = PLAIN
) -> LatentModel:
    """A model of random grammars, one for each seed."""
    arrays = treebank_arrays(trees)
    grammars: list[Hierarchy] = []
    for seed in seeds:
        _, counts = toy(trees, splits, seed)
        up = tuple(np.tile(np.repeat(np.arange(2**r), 2), arrays.base.size) for r in range(splits))
        grammars.append(Hierarchy(counts, up))
    return LatentModel(arrays.base, arrays.table, tuple(grammars), ParseSettings(smoothing=smoothing, levels=(1,)))


class _Way(NamedTuple):
    children: tuple[Tree | str, ...]
    total: np.ndarray
    best: np.ndarray


def enumerate_parses(model: LatentModel, grammar: int, words: tuple[str, ...]) -> list[Enumerated]:
    """All trees of a sentence under one grammar of a model, by enumeration."""
    base = model.base
    level = model.level(grammar, model.grammars[grammar].rounds)
    probability = pair_probabilities(model.table, level.sizes, level.emissions, model.settings.smoothing.lexicon, np.float64)
    offset = level.emissions.pair_offset
    pairs = {(t, model.table.words[w]): p for p, (t, w) in enumerate(zip(model.table.pair_tag, model.table.pair_word, strict=True))}

    def block(rows: RuleRows, rule: int, A: int, B: int, C: int | None) -> np.ndarray:
        shape = int(level.sizes[A]), int(level.sizes[B]), 1 if C is None else int(level.sizes[C])
        return np.array(
            [[[weight_of(rows, rule, i, j, k) for k in range(shape[2])] for j in range(shape[1])] for i in range(shape[0])]
        )

    @cache
    def low(A: int, s: int, t: int) -> list[_Way]:
        made: list[_Way] = []
        if base.is_tag[A]:
            if t == s + 1 and (A, words[s]) in pairs:
                p = pairs[A, words[s]]
                value = probability[offset[p] : offset[p + 1]]
                made.append(_Way((Tree(base.names[A], [words[s]]) if base.names[A] else words[s],), value, value))
            return made
        if t == s + 1:
            for rule, (parent, child) in enumerate(base.unary.tolist()):
                if parent == A and base.is_tag[child]:
                    weights = block(level.unary, rule, A, child, None)[:, :, 0]
                    made += [
                        _node(base, A, way.children, weights @ way.total, (weights * way.best).max(1)) for way in low(child, s, t)
                    ]
        for rule, (parent, B, C) in enumerate(base.binary.tolist()):
            if parent != A:
                continue
            weights = block(level.binary, rule, A, B, C)
            for r in range(s + 1, t):
                for one, two in itertools.product(high(B, s, r), high(C, r, t)):
                    total = np.einsum("ijk,j,k->i", weights, one.total, two.total)
                    best = (weights * one.best[None, :, None] * two.best[None, None, :]).max((1, 2))
                    made.append(_node(base, A, (*one.children, *two.children), total, best))
        return made

    @cache
    def high(A: int, s: int, t: int) -> list[_Way]:
        made = list(low(A, s, t))
        if base.is_tag[A] or base.is_inner[A]:
            return made
        for rule, (parent, child) in enumerate(base.unary.tolist()):
            if parent == A and not base.is_tag[child]:
                weights = block(level.unary, rule, A, child, None)[:, :, 0]
                for way in low(child, s, t):
                    children = way.children
                    for name in reversed(base.middles.get((A, child), ())):
                        children = (Tree(name, children),)
                    made.append(_node(base, A, children, weights @ way.total, (weights * way.best).max(1)))
        return made

    found: list[Enumerated] = []
    for A in range(base.size):
        root = level.root[level.first[A] : level.first[A + 1]]
        for way in high(A, 0, len(words)) if not base.is_inner[A] else []:
            total = float(root @ way.total)
            if total > 0:
                (top,) = way.children
                assert isinstance(top, Tree)
                tree = top if base.root in (None, top.label) else Tree(base.root or "", [top])
                found.append(Enumerated(tree, total, float((root * way.best).max())))
    return found


def _node(base: BaseGrammar, A: int, children: tuple[Tree | str, ...], total: np.ndarray, best: np.ndarray) -> _Way:
    return _Way(children if base.is_inner[A] else (Tree(base.names[A], children),), total, best)
