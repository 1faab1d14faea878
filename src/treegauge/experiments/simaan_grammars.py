"""The two grammars of Sima'an 2003, section 6: from trees to the grammar's trees, and from its parses to what is scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treegauge.errors import UnknownName
from treegauge.grammar.counting import induce
from treegauge.grammar.lexicon import with_unknown
from treegauge.grammar.pcfg import PCFG
from treegauge.normalise import collapse_unaries, expand_unaries, mh, pipeline, unmh, unmrl
from treegauge.trees.tree import Tree

__all__ = ["GRAMMARS", "UNARIES", "Variant", "cleaner", "unknown_share", "variants"]

GRAMMARS = ("MRL", "MH")
UNARIES = ("joined", "kept")


@dataclass(frozen=True)
class Variant:
    """A way to make a grammar of trees.

    ``forward`` makes the grammar's trees of trees. Of its parses ``scored`` makes what the paper compared with ``gold`` of the
    held-out tree, ``plain`` what is compared with the original tree, ``bare`` what is compared with it freed of unary productions.
    """

    name: str
    forward: Callable[[Tree], Tree]
    scored: Callable[[Tree], Tree]
    plain: Callable[[Tree], Tree]
    against: str

    def gold(self, tree: Tree) -> Tree:
        return self.scored(self.forward(tree))

    def bare(self, tree: Tree) -> Tree:
        return collapse_unaries(self.plain(tree))

    def tags(self, tree: Tree) -> tuple[str, ...]:
        """The tags of a tree as the grammar has them (a joined chain over a word is its tag)."""
        return self.forward(tree).tags

    def grammar(self, trees: Sequence[Tree], unknown_below: int) -> PCFG:
        """Relative frequency over words; symbols show as they are, so posteriors belong to the grammar's own symbols."""
        return induce(with_unknown([self.forward(tree) for tree in trees], unknown_below))


def variants(unaries: str) -> list[Variant]:
    """MRL and MH. In MRL a chain of single children may be one symbol while parsing (``S+VP``): it is expanded before scoring.

    >>> mrl, mh = variants("joined")
    >>> tree = Tree.parse("(S (NP (N we)) (VP (V go) (ADVP (A now)) (ADVP (B home))))")
    >>> print(mrl.forward(tree), mrl.gold(tree), mh.gold(tree), sep="\\n")
    (S (NP+N we) (VP (V go) (VP_Cont (ADVP+A now) (ADVP+B home))))
    (S (NP (N we)) (VP (V go) (VP_Cont (ADVP (A now)) (ADVP (B home)))))
    (S (N we) (VP (V go) (A now) (B home)))
    """
    if unaries not in UNARIES:
        raise UnknownName("treatment of unaries", unaries, UNARIES)
    if unaries == "joined":
        # Binarised first: only the node itself is part of a chain, its continuations are not.
        forward = cleaner("functions,mrl,unaries:joined")
        mrl = Variant("MRL", forward, expand_unaries, lambda tree: unmrl(expand_unaries(tree)), "binarised")
    else:
        mrl = Variant("MRL", cleaner("functions,mrl"), lambda tree: tree, unmrl, "binarised")
    return [mrl, Variant("MH", mh, unmh, unmh, "unary-free")]


def cleaner(steps: str) -> Callable[[Tree], Tree]:
    """Normalising steps as a function; of a tree that they leave nothing of, an empty one."""
    made = pipeline(steps)

    def clean(tree: Tree) -> Tree:
        done = made(tree)
        return Tree("") if done is None else done

    return clean


def unknown_share(train: Sequence[Tree], test: Sequence[Tree], below: int) -> float:
    """The share of the words of ``test`` that are seen fewer than ``below`` times in ``train``.

    >>> unknown_share([Tree.parse("(S (A a) (A a) (B b))")], [Tree.parse("(S (A a) (B b))")], 2)
    0.5
    """
    counts = Counter(word for tree in train for word in tree.words)
    words = [word for tree in test for word in tree.words]
    return sum(counts[word] < below for word in words) / len(words)
