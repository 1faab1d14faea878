"""Hypothesis strategies for trees over given words, and for pairs of trees and treebanks over the same words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import strategies as st

from treegauge.trees import Child, Tree, Treebank
from treegauge.trees.discontinuous import PlacedWord, from_placed_words
from treegauge.trees.tree import rebuild

_FEW_PHRASES = ("S", "NP", "VP", "PP", "SBAR", "ADVP", "PRT", "NX")
_FEW_TAGS = ("NN", "DT", "IN", "VBD", "CC", "RB", "S")

Draw = Callable[[st.SearchStrategy[int]], int]


def trees_over(words: Sequence[str], *, bare_words: bool = False, binary: bool = False) -> st.SearchStrategy[Tree]:
    """Trees over given words, unary chains and repeated brackets included.

    ``bare_words`` lets words stand without a tag; ``binary`` gives every phrase two children and each word a tag.
    """
    return st.composite(_draw_tree)(tuple(words), bare_words, binary)


def _draw_tree(draw: Draw, words: tuple[str, ...], bare_words: bool, binary: bool) -> Tree:
    def label() -> str:
        return _FEW_PHRASES[draw(st.integers(0, len(_FEW_PHRASES) - 1))]

    def leaf(word: str) -> Child:
        if bare_words and draw(st.integers(0, 4)) == 4:
            return word
        return Tree(_FEW_TAGS[draw(st.integers(0, len(_FEW_TAGS) - 1))], [word])

    def over(first: int, last: int) -> Child:
        if last - first == 1:
            made: Child = leaf(words[first])
        else:
            cuts = [first, *_cuts(draw, first, last, binary), last]
            made = Tree(label(), [over(a, b) for a, b in pairwise(cuts)])
        while not binary and draw(st.integers(0, 4)) == 4:
            made = Tree(label(), [made])
        return made

    made = over(0, len(words))
    return made if isinstance(made, Tree) else Tree(label(), [made])


def _cuts(draw: Draw, first: int, last: int, binary: bool) -> list[int]:
    if binary:
        return [draw(st.integers(first + 1, last - 1))]
    chosen = draw(st.integers(1, (1 << (last - first - 1)) - 1))
    return [first + 1 + bit for bit in range(last - first - 1) if chosen >> bit & 1]


def tree_pairs(max_words: int = 7, *, bare_words: bool = False, binary: bool = False) -> st.SearchStrategy[tuple[Tree, Tree]]:
    """A gold and a test tree over the same words, drawn independently."""

    def pair(n: int) -> st.SearchStrategy[tuple[Tree, Tree]]:
        tree = trees_over([f"w{i}" for i in range(n)], bare_words=bare_words, binary=binary)
        return st.tuples(tree, tree)

    return st.integers(1, max_words).flatmap(pair)


def treebank_pairs(max_size: int = 5, max_words: int = 6) -> st.SearchStrategy[tuple[Treebank, Treebank]]:
    """Gold and test treebanks over the same words, empty ones included; sometimes the test tree equals the gold tree."""
    pair = tree_pairs(max_words) | tree_pairs(max_words).map(lambda trees: (trees[0], trees[0]))

    def columns(pairs: list[tuple[Tree, Tree]]) -> tuple[Treebank, Treebank]:
        return Treebank.from_trees([gold for gold, _ in pairs]), Treebank.from_trees([test for _, test in pairs])

    return st.lists(pair, max_size=max_size).map(columns)


def discontinuous_pairs(max_words: int = 7) -> st.SearchStrategy[tuple[Tree, Tree]]:
    """A gold and a test tree over the same words, most with crossing branches; sometimes one has none, or both are equal."""

    def pair(n: int) -> st.SearchStrategy[tuple[Tree, Tree]]:
        tree = st.tuples(trees_over([str(i) for i in range(n)]), st.permutations(range(n)) | st.just(list(range(n)))).map(
            lambda made: _over_places(*made)
        )
        return st.tuples(tree, tree) | tree.map(lambda made: (made, made))

    return st.integers(1, max_words).flatmap(pair)


def _over_places(tree: Tree, places: Sequence[int]) -> Tree:
    """The tree with word ``i`` moved to ``places[i]`` and named after that place."""

    def make(node: Tree, children: list[Child]) -> list[Child]:
        placed = [
            PlacedWord(f"w{places[int(child)]}", places[int(child)]) if isinstance(child, str) else child for child in children
        ]
        return [Tree(node.label, placed)]

    made = rebuild(tree, make)
    assert made is not None
    return from_placed_words(made)
