"""Transforms that remove nodes or whole trees: unary chains, traces, punctuation, what a preset deletes, long sentences.

Among them is the preprocessing of Hogenhout & Matsumoto (1996), which drops punctuation, then empty, double and one-word brackets.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple, get_args

from treegauge.errors import check_name
from treegauge.normalise.labels import escape_marks, join_marked, split_marked, unescape_marks
from treegauge.presets import Preset, load_preset
from treegauge.trees import Child, Tree
from treegauge.trees.discontinuous import on_placed
from treegauge.trees.tree import fold, rebuild, rebuild_whole

Keep = Literal["top", "bottom", "joined"]
MARK = "+"


class _Chain(NamedTuple):
    """A unary chain under construction: its labels from the bottom up, and the children below it."""

    labels: list[str]
    children: list[Child]

    @property
    def is_tag(self) -> bool:
        """Whether the chain is only a tag over its word so far."""
        return len(self.labels) == 1 and self.over_word

    @property
    def over_word(self) -> bool:
        return len(self.children) == 1 and isinstance(self.children[0], str)

    def node(self, keep: Keep) -> Tree:
        """The one node that the chain becomes."""
        if keep == "joined":
            return Tree(join_marked(MARK, [escape_marks(label, MARK) for label in reversed(self.labels)]), self.children)
        if keep == "top" and not self.over_word:
            # The empty root that the Penn Treebank has around each tree is replaced by the label below it.
            return Tree(next((label for label in reversed(self.labels) if label), ""), self.children)
        return Tree(self.labels[0], self.children)


@on_placed
def collapse_unaries(tree: Tree, keep: Keep = "top", *, tags: bool = True) -> Tree:
    """The tree without nodes over exactly one node: each chain becomes one node.

    Goodman (1996, section 5.2.1): a chain keeps its top label, but over one word it collapses into the word's tag. An empty label
    is passed over: the highest label below it is kept. ``keep="bottom"`` keeps the bottom label instead; ``keep="joined"`` keeps
    all labels, from the top, joined by ``+``, and :func:`expand_unaries` undoes it. ``tags=False`` leaves tags out of the chains,
    so that a phrase over one word stays.

    >>> tree = Tree.parse("(S (VP (VB go) (NP (NN home))))")
    >>> print(collapse_unaries(tree), collapse_unaries(tree, "bottom"))
    (S (VB go) (NN home)) (VP (VB go) (NN home))
    >>> print(collapse_unaries(tree, "joined"), collapse_unaries(tree, "joined", tags=False))
    (S+VP (VB go) (NP+NN home)) (S+VP (VB go) (NP (NN home)))
    >>> print(collapse_unaries(Tree.parse("( (S (NP (NN rain)) (VP (VBD fell) (RB hard))))")))
    (S (NN rain) (VP (VBD fell) (RB hard)))
    """
    check_name("way to collapse unary chains", keep, get_args(Keep))

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

    return rebuild_whole(tree, make)


def chain_labels(label: str) -> tuple[str, ...]:
    r"""The labels of a joined chain, from the top down.

    >>> chain_labels("S+VP"), chain_labels("NP"), chain_labels(r"A\+B+C")
    (('S', 'VP'), ('NP',), ('A+B', 'C'))
    """
    return tuple(unescape_marks(part) for part in split_marked(label, MARK))


TRACE_TAGS = frozenset({"-NONE-"})
"""The Penn Treebank's tag of empty elements."""


def drop_leaves(tree: Tree, tags: Collection[str]) -> Tree | None:
    """The tree without leaves of these tags, and without brackets that become empty by this; ``None`` if nothing is left.

    A bracket that was empty before stays.

    >>> print(drop_leaves(Tree.parse("(S (NP (DT the) (NN cat)) (PRN (: --)) (VP (VBD sat)))"), {":"}))
    (S (NP (DT the) (NN cat)) (VP (VBD sat)))
    """

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if node.label in tags and (node.is_preterminal or not node.children):
            return []
        return [node.replace(children=children)] if children or not node.children else []

    return rebuild(tree, make)


def remove_traces(tree: Tree, tags: Collection[str] = TRACE_TAGS) -> Tree | None:
    """The tree without traces and the brackets over nothing else: Goodman's removal of epsilon productions (1996, section 5.2.1).

    >>> print(remove_traces(Tree.parse("(S (NP-SBJ (-NONE- *)) (VP (VB go) (NP (NN home))))")))
    (S (VP (VB go) (NP (NN home))))
    >>> remove_traces(Tree.parse("(NP (-NONE- *T*-1))")) is None
    True
    """
    return drop_leaves(tree, tags)


PUNCTUATION: dict[str, frozenset[str]] = {
    "ptb": frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-"}),
    "evalb": frozenset({",", ".", ":", "``", "''"}),
}
"""Named sets of tags: the punctuation tags of the Penn Treebank, and those of them that EVALB's ``COLLINS.prm`` deletes."""


def drop_punctuation(tree: Tree, tags: Collection[str] = PUNCTUATION["ptb"]) -> Tree | None:
    """The tree without leaves of these tags, and without brackets that become empty by this; ``None`` if nothing is left.

    >>> print(drop_punctuation(Tree.parse("(S (NP (PRP it)) (, ,) (VP (VBD rained)) (. .))")))
    (S (NP (PRP it)) (VP (VBD rained)))
    """
    return drop_leaves(tree, tags)


def drop_empty(tree: Tree) -> Tree | None:
    """The tree without brackets over no words; ``None`` if it has no words at all.

    >>> print(drop_empty(Tree.parse("(S (NP) (X (Y)) (VP (VBD rained)))")))
    (S (VP (VBD rained)))
    """
    return rebuild(tree, lambda node, children: [node.replace(children=children)] if children else [])


def drop_double(tree: Tree) -> Tree:
    """The tree with one bracket for each span; a chain of brackets keeps all its labels, joined by ``+``.

    Tags are not brackets. :func:`chain_labels` takes a joined label apart.

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

    return rebuild_whole(tree, make)


def hogenhout(tree: Tree, tags: Collection[str] = PUNCTUATION["ptb"], *, one_word: bool = True) -> Tree | None:
    """The tree after the paper's four steps, in their order; ``None`` if it had only punctuation.

    ``one_word=False`` keeps one-word brackets.

    >>> print(hogenhout(Tree.parse("(S (NP (NP (DT the) (NN man))) (PRN (, ,)) (VP (VBD slept)) (. .))")))
    (S (NP+NP (DT the) (NN man)) (VBD slept))
    """
    spoken = drop_punctuation(tree, tags)
    full = spoken and drop_empty(spoken)
    if full is None:
        return None
    single = drop_double(full)
    return drop_one_word(single) if one_word else single


def sentence_length(tree: Tree, ignore: Collection[str] = TRACE_TAGS) -> int:
    """The number of words; leaves with a tag in ``ignore`` do not count (traces, as in EVALB's ``DELETE_LABEL_FOR_LENGTH``).

    >>> sentence_length(Tree.parse("(S (NP (-NONE- *)) (VP (VB go) (NP (NN home))) (. .))"))
    3
    """
    return sum(tag not in ignore for _, tag in tree.tagged())


def keep_short(tree: Tree, longest: int = 40, ignore: Collection[str] = TRACE_TAGS) -> Tree | None:
    """The tree if its sentence has at most ``longest`` words, else ``None`` (Goodman 1996: forty or fewer symbols).

    >>> keep_short(Tree.parse("(S (VP (VB go) (NP (NN home))))"), 1) is None
    True
    """
    return tree if sentence_length(tree, ignore) <= longest else None


def apply_preset(tree: Tree, preset: str | os.PathLike[str] | Preset = "collins") -> Tree | None:
    """The tree without the words and phrases that a preset deletes, its labels cut; ``None`` if nothing is left.

    ``preset`` is a name or a file, for example an EVALB ``.prm``. The phrases that stay are the brackets that a metric counts,
    except that a deleted root over several phrases stays to hold them together. The preset's rules about trivial, repeated and
    redundant brackets are not applied here; the metric does that.

    >>> tree = Tree.parse("(TOP (S (NP-SBJ (NP (NN rain)) (PRN (, ,))) (VP (VBD fell)) (. .)))")
    >>> print(apply_preset(tree, "collins"))
    (S (NP (NP (NN rain))) (VP (VBD fell)))
    """
    rules = load_preset(preset)

    def make(node: Tree, children: list[Child]) -> list[Child]:
        if node.is_preterminal:
            return [] if node.label in rules.delete_tags else [node.replace(label=rules.cut_tag(node.label))]
        label = rules.cut_label(node.label)
        if rules.deletes(label):
            return children
        return [Tree(label, children)] if children or rules.empty_brackets else []

    return rebuild(tree, make)
