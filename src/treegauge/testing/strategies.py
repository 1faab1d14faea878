"""Hypothesis strategies for labels, words, trees and treebanks, awkward ones included, and for pairs of trees over the same words.

Every single tree and treebank that they make can be written as bracketed text (with gaps: as discbracket text) and read back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from treegauge.errors import MissingExtra
from treegauge.trees import Child, Tree, Treebank
from treegauge.trees.discontinuous import PlacedWord, from_placed_words
from treegauge.trees.notation import ESCAPED_BRACKETS
from treegauge.trees.tree import rebuild

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtra("treegauge.testing.strategies (it builds on hypothesis)", "test") from None

_PHRASES = (
    "S",
    "NP",
    "VP",
    "PP",
    "SBAR",
    "ADVP",
    "NP-SBJ",
    "NP-SBJ-1",
    "NP=2",
    "NP-TMP",
    "PP-LOC-CLR",
    "S-TPC-2",
    "ADVP|PRT",
    "TOP",
)
_TAGS = ("NN", "NNS", "DT", "IN", "VBD", "VB", "TO", "CC", "PRP$", ",", ".", ":", "``", "''", "-LRB-", "-RRB-", "$", "#")
_WORDS = ("the", "cat", "rain", "fell", "to", "and", "n't", "3.5\\/4", "*T*-1", "(", ")", "--", "Ärger", "雨")
_NASTY = ("|", "^", "+", "~", "@", "\\", "_Cont", "-", "=", "##", "&", "(", ")", "X", "Y")
_CHARACTERS = st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"], exclude_characters=ESCAPED_BRACKETS)


def _without_escapes(text: str) -> bool:
    """Whether the text has no ``-LRB-`` or ``-RRB-``, which would be read as a bracket."""
    return "-LRB-" not in text and "-RRB-" not in text


def _text(least: int) -> st.SearchStrategy[str]:
    pieces = st.lists(st.sampled_from(_NASTY), min_size=least, max_size=6).map("".join)
    return (pieces | st.text(_CHARACTERS, min_size=least, max_size=6)).filter(_without_escapes)


def labels(*, tags: bool = False, nasty: bool = True) -> st.SearchStrategy[str]:
    """Labels like those of the Penn Treebank (``tags``: of preterminals).

    ``nasty`` adds any text, ``""`` included, and the marks of our own transforms, but no lone bracket, which is read as ``-LRB-``.
    """
    usual = st.sampled_from(_TAGS if tags else _PHRASES)
    return usual | _text(0).filter(lambda label: label not in ("(", ")")) if nasty else usual


def words(*, nasty: bool = True) -> st.SearchStrategy[str]:
    """Words; ``nasty`` adds any text that bracketed text can hold."""
    usual = st.sampled_from(_WORDS)
    return usual | _text(1) if nasty else usual


def trees(
    *,
    label: st.SearchStrategy[str] | None = None,
    tag: st.SearchStrategy[str] | None = None,
    word: st.SearchStrategy[str] | None = None,
    max_leaves: int = 12,
    preterminals: bool = True,
    unaries: bool = True,
    empty: bool = False,
    traces: bool = False,
) -> st.SearchStrategy[Tree]:
    """Trees of any shape.

    ``label``, ``tag`` and ``word`` replace :func:`labels` and :func:`words`. ``preterminals=False`` lets words stand beside
    phrases, ``unaries=False`` gives each phrase two children or more, ``empty`` allows nodes without children, ``traces`` adds
    leaves tagged ``-NONE-``.
    """
    label = labels() if label is None else label
    word = words() if word is None else word
    leaf: st.SearchStrategy[Child] = st.builds(_leaf, labels(tags=True) if tag is None else tag, word)
    if traces:
        leaf = leaf | st.builds(_leaf, st.just("-NONE-"), st.sampled_from(["*", "*T*-1", "0"]))
    if not preterminals:
        leaf = leaf | word
    least = 0 if empty else 1 if unaries else 2

    def phrase(child: st.SearchStrategy[Child]) -> st.SearchStrategy[Child]:
        children = st.lists(child, min_size=least, max_size=5)
        if not unaries:
            children = children.filter(lambda made: len(made) != 1)
        return st.builds(Tree, label, children).filter(_can_be_written)

    inner = st.recursive(leaf, phrase, max_leaves=max_leaves)
    return inner.map(_as_tree).filter(_can_be_written)


def treebanks(tree: st.SearchStrategy[Tree] | None = None, *, max_size: int = 6) -> st.SearchStrategy[Treebank]:
    """Treebanks of the given trees (by default :func:`trees`), empty treebanks included."""
    return st.lists(trees() if tree is None else tree, max_size=max_size).map(Treebank.from_trees)


def _leaf(tag: str, word: str) -> Tree:
    return Tree(tag, [word])


def _as_tree(made: Child) -> Tree:
    return Tree("S", [made]) if isinstance(made, str) else made


def _can_be_written(tree: Tree) -> bool:
    """Whether a node can be written: without a label it must not begin with a word, which would be read as the label."""
    return bool(tree.label) or len(tree.children) < 2 or isinstance(tree.children[0], Tree)


def discontinuous_trees(tree: st.SearchStrategy[Tree] | None = None) -> st.SearchStrategy[Tree]:
    """Trees (by default :func:`trees`) with their words in any order, so that most have crossing branches."""

    def shuffled(plain: Tree) -> st.SearchStrategy[Tree]:
        return st.permutations(range(plain.width)).map(lambda order: _with_order(plain, order))

    return (trees() if tree is None else tree).flatmap(shuffled)


def _with_order(tree: Tree, order: list[int]) -> Tree:
    """The tree with its words moved: the ``k``-th word from the left to the place ``order[k]``."""
    at = iter(order)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        return [Tree(node.label, [PlacedWord(child, next(at)) if isinstance(child, str) else child for child in children])]

    placed = rebuild(tree, make)
    assert placed is not None
    return from_placed_words(placed)


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
