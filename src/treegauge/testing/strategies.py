"""Hypothesis strategies for labels, words, trees and treebanks, awkward ones included.

Every single tree and treebank that they make can be written as bracketed text (with gaps: as discbracket text) and read back.
"""

from __future__ import annotations

from treegauge.errors import MissingExtra
from treegauge.trees import Child, Tree, Treebank
from treegauge.trees.discontinuous import PlacedWord, from_placed_words
from treegauge.trees.notation import ESCAPED_BRACKETS
from treegauge.trees.tree import rebuild_whole

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtra("treegauge.testing.strategies (it builds on hypothesis)", "test") from None

_PHRASES = ("S", "NP", "VP", "PP", "SBAR", "NP-SBJ", "NP-SBJ-1", "NP=2", "NP-TMP", "PP-LOC-CLR", "S-TPC-2", "ADVP|PRT", "TOP")
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
    return inner.map(lambda made: Tree("S", [made]) if isinstance(made, str) else made).filter(_can_be_written)


def treebanks(tree: st.SearchStrategy[Tree] | None = None, *, max_size: int = 6) -> st.SearchStrategy[Treebank]:
    """Treebanks of the given trees (by default :func:`trees`), empty treebanks included."""
    return st.lists(trees() if tree is None else tree, max_size=max_size).map(Treebank.from_trees)


def _leaf(tag: str, word: str) -> Tree:
    return Tree(tag, [word])


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

    return from_placed_words(rebuild_whole(tree, make))
