"""The tree of a sentence that the grammar cannot parse."""

from __future__ import annotations

from collections.abc import Sequence

from treegauge.errors import UsageError
from treegauge.trees import Child, Tree

__all__ = ["fallback"]


def fallback(words: Sequence[str], tags: Sequence[str] | None = None, *, root: str = "S", label: str = "X") -> Tree:
    """Right branching with the last element attached high: ``[[w1 [w2 ... w(n-1)]] wn]`` (Goodman 1996, section 5.1).

    English sentences branch to the right and end in a full stop. The root has the grammar's start symbol, the nodes below it
    a dummy label; a single word gets no bracket (without a tag, it stands under the root), and no word the empty parse ``()``.

    >>> print(fallback("it rained all night .".split(), ["PRP", "VBD", "DT", "NN", "."]))
    (S (X (PRP it) (X (VBD rained) (X (DT all) (NN night)))) (. .))
    >>> print(fallback(["rain"], ["NN"]), fallback("ab"), fallback([]))
    (NN rain) (S a b) ()
    """
    if tags is not None and len(tags) != len(words):
        raise UsageError(f"{len(words)} words but {len(tags)} tags: give one tag for each word, or none at all")
    leaves: list[Child] = list(words) if tags is None else [Tree(t, [w]) for t, w in zip(tags, words, strict=True)]
    if not leaves:
        return Tree("")
    if len(leaves) == 1:
        (leaf,) = leaves
        return leaf if isinstance(leaf, Tree) else Tree(root, [leaf])
    *inner, last = leaves
    branch = inner.pop()
    while inner:
        branch = Tree(label, [inner.pop(), branch])
    return Tree(root, [branch, last])
