"""Hogenhout & Matsumoto's preprocessing (1996): drop punctuation, then empty, double and one-word brackets."""

from __future__ import annotations

from collections.abc import Collection

from treegauge.normalise.traces import drop_leaves
from treegauge.normalise.unaries import collapse_unaries
from treegauge.trees import Child, Tree
from treegauge.trees.rebuilding import rebuild

__all__ = [
    "PUNCTUATION",
    "drop_double",
    "drop_empty",
    "drop_one_word",
    "drop_punctuation",
    "hogenhout",
]

PUNCTUATION: dict[str, frozenset[str]] = {
    "ptb": frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"}),
    "evalb": frozenset({",", ".", ":", "``", "''"}),
}
"""Named sets of tags: the Penn Treebank's punctuation tags, and those of them that EVALB's ``COLLINS.prm`` deletes."""


def drop_punctuation(tree: Tree, tags: Collection[str] = PUNCTUATION["ptb"]) -> Tree | None:
    """The tree without the leaves that have one of these tags, and what that empties; ``None`` if nothing is left.

    >>> print(drop_punctuation(Tree.parse("(S (NP (PRP it)) (, ,) (VP (VBD rained)) (. .))")))
    (S (NP (PRP it)) (VP (VBD rained)))
    """
    return drop_leaves(tree, tags)


def drop_empty(tree: Tree) -> Tree | None:
    """The tree without brackets over no word, recursively; ``None`` if no word is in it.

    >>> print(drop_empty(Tree.parse("(S (NP) (X (Y)) (VP (VBD rained)))")))
    (S (VP (VBD rained)))
    """
    return rebuild(tree, lambda node, children: [node.replace(children=children)] if children else [])


def drop_double(tree: Tree) -> Tree:
    """The tree with one bracket for each span; a chain of brackets keeps all its labels, joined by ``+``.

    Tags are no brackets. :func:`~treegauge.normalise.unaries.chain_labels` takes a joined label apart.

    >>> print(drop_double(Tree.parse("(S (DT the) (NP (NX (JJ old) (NN man))))")))
    (S (DT the) (NP+NX (JJ old) (NN man)))
    """
    return collapse_unaries(tree, "joined", tags=False)


def drop_one_word(tree: Tree) -> Tree:
    """The tree without brackets over one word: only the word's tag is left.

    >>> print(drop_one_word(Tree.parse("(S (NP (PRP it)) (VP (VBD rained)))")))
    (S (PRP it) (VBD rained))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        trivial = node.width == 1 and not node.is_preterminal
        return children if trivial else [node.replace(children=children)]

    made = rebuild(tree, make)
    assert made is not None
    return made


def hogenhout(tree: Tree, tags: Collection[str] = PUNCTUATION["ptb"], *, one_word: bool = True) -> Tree | None:
    """The four steps in the paper's order; ``one_word=False`` keeps one-word brackets. ``None`` if only punctuation was there.

    >>> print(hogenhout(Tree.parse("(S (NP (NP (DT the) (NN man))) (PRN (, ,)) (VP (VBD slept)) (. .))")))
    (S (NP+NP (DT the) (NN man)) (VBD slept))
    """
    spoken = drop_punctuation(tree, tags)
    full = spoken and drop_empty(spoken)
    if full is None:
        return None
    single = drop_double(full)
    return drop_one_word(single) if one_word else single
