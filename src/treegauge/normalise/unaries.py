"""Unary chains collapsed into one node, with the top label, the bottom label, or all labels joined (which can be undone)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from treegauge.errors import UnknownName
from treegauge.normalise.labels import escape_marks, join_marked, split_marked, unescape_marks
from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import fold, rebuild

__all__ = ["Keep", "chain_labels", "collapse_unaries", "expand_unaries"]

Keep = Literal["top", "bottom", "joined"]
MARK = "+"


class _Chain(NamedTuple):
    """A chain on its way up: its labels from the bottom, and what stands under it."""

    labels: list[str]
    children: list[Child]

    @property
    def is_tag(self) -> bool:
        """Whether nothing but a tag over its word has been met so far."""
        return len(self.labels) == 1 and self.over_word

    @property
    def over_word(self) -> bool:
        return len(self.children) == 1 and isinstance(self.children[0], str)

    def node(self, keep: Keep) -> Tree:
        if keep == "joined":
            return Tree(join_marked(MARK, [escape_marks(label, MARK) for label in reversed(self.labels)]), self.children)
        return Tree(self.labels[-1 if keep == "top" and not self.over_word else 0], self.children)


@on_placed
def collapse_unaries(tree: Tree, keep: Keep = "top", *, tags: bool = True) -> Tree:
    """The tree without nodes over exactly one node: each chain becomes one node.

    Goodman (1996, section 5.2.1): a chain keeps its top label, but over one word it collapses into the word's tag.
    ``keep="bottom"`` keeps the bottom label instead; ``keep="joined"`` keeps all, from the top, with ``+`` between them, and
    :func:`expand_unaries` undoes it. ``tags=False`` leaves tags out of the chains, so that a phrase over one word stays.

    >>> tree = Tree.parse("(S (VP (VB go) (NP (NN home))))")
    >>> print(collapse_unaries(tree), collapse_unaries(tree, "bottom"))
    (S (VB go) (NN home)) (VP (VB go) (NN home))
    >>> print(collapse_unaries(tree, "joined"), collapse_unaries(tree, "joined", tags=False))
    (S+VP (VB go) (NP+NN home)) (S+VP (VB go) (NP (NN home)))
    """
    if keep not in get_args(Keep):
        raise UnknownName("way to collapse unary chains", keep, get_args(Keep))

    def combine(node: Tree, below: list[_Chain | str], above: Sequence[Tree]) -> _Chain:
        only = below[0] if len(below) == 1 else None
        if isinstance(only, _Chain) and (tags or not only.is_tag):
            only.labels.append(node.label)
            return only
        return _Chain([node.label], [value if isinstance(value, str) else value.node(keep) for value in below])

    return fold(tree, combine).node(keep)


def expand_unaries(tree: Tree) -> Tree:
    """The tree that ``collapse_unaries(tree, "joined")`` was given.

    >>> print(expand_unaries(Tree.parse("(S+VP (VB go) (NP+NN home))")))
    (S (VP (VB go) (NP (NN home))))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        for label in reversed(chain_labels(node.label)):
            children = [Tree(label, children)]
        return children

    made = rebuild(tree, make)
    assert made is not None
    return made


def chain_labels(label: str) -> tuple[str, ...]:
    r"""The labels of a joined chain from the top.

    >>> chain_labels("S+VP"), chain_labels("NP"), chain_labels(r"A\+B+C")
    (('S', 'VP'), ('NP',), ('A+B', 'C'))
    """
    return tuple(unescape_marks(part) for part in split_marked(label, MARK))
