"""Grammars counted from trees by relative frequency: P(A -> rhs) = count(A -> rhs) / count(A) (Goodman 1996, section 4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from treegauge.errors import Discontinuous, MismatchError
from treegauge.grammar.pcfg import PCFG, Rule
from treegauge.io.reading import as_treebank
from treegauge.tables import number_of
from treegauge.trees.tree import Production, Tree, fold

TOP = "TOP"
"""The start symbol above the roots of trees, if these do not all have the same label. It does not show in output."""


def induce(trees: object, *, tags: bool = False, top: str = TOP) -> PCFG:
    """The relative-frequency PCFG of trees, its rules in order of first appearance.

    The trees may be in any form that :func:`treegauge.as_treebank` accepts: a path, a Treebank, bracketed text, trees, strings.
    With ``tags`` the words of the grammar are tags: each preterminal becomes a word. If the roots differ, each becomes the only
    child of a start symbol ``top`` that does not show in output.

    >>> print(induce("(S (NP a) (VP b)) (S (NP c) (VP b))"))
    S -> NP VP [1]
    NP -> "a" [0.5]
    VP -> "b" [1]
    NP -> "c" [0.5]
    """
    counts: Counter[Production] = Counter()
    roots: Counter[str] = Counter()
    for number, tree in enumerate(as_treebank(trees), 1):
        count_rules(tree, number, counts, roots, tags=tags)
    return relative_frequency(counts, roots, top=top)


def count_rules(tree: Tree, number: int, counts: Counter[Production], roots: Counter[str], *, tags: bool = False) -> None:
    """Add the rules and the root of one tree to ``counts`` and ``roots``; errors name the tree by its number."""
    used = tag_sequence_tree(tree) if tags else tree
    if not isinstance(used, Tree) or used.width == 0:
        raise MismatchError(f"tree {number} has no rule to count: {tree}")
    roots[used.label] += 1
    counts.update(_productions(used, number))


def relative_frequency(counts: Counter[Production], roots: Counter[str], *, top: str = TOP) -> PCFG:
    """The PCFG of counted rules and roots; see :func:`induce`."""
    if not roots:
        raise MismatchError("no trees to count rules from")
    if len(roots) == 1:
        return _relative_frequency(counts, next(iter(roots)), {})
    if any(top in (production.lhs, *production.rhs) for production in counts):
        raise MismatchError(f"the roots differ, and {top!r} is taken: choose another name for the start symbol")
    starts = Counter({Production(top, (root,), (False,)): count for root, count in roots.items()})
    return _relative_frequency(starts + counts, top, {top: None})


def _productions(tree: Tree, number: int) -> list[Production]:
    refuse_gaps(tree, number)
    for node in tree.nodes():
        if not node.children:
            raise MismatchError(f"tree {number} has an empty node {node.label!r}: remove empty nodes (traces) before counting")
    return tree.productions()


def refuse_gaps(tree: Tree, number: int = 1) -> None:
    """Refuse a tree with gaps; errors name it by its number."""
    if not tree.is_continuous:
        label = next(node.label for node, blocks in tree.nodes_with_blocks() if len(blocks) > 1)
        advice = "Make the trees continuous first, by the normalisation step continuous:split, which can be undone on the parses."
        problem = f"a grammar has rules of continuous trees only, but {label or 'a node'} has a gap"
        raise Discontinuous(problem, path=f"tree {number}", advice=advice)


def _relative_frequency(counts: Counter[Production], start: str, labels: dict[str, str | None]) -> PCFG:
    totals: Counter[str] = Counter()
    for production, count in counts.items():
        totals[production.lhs] += count
    rules = [Rule(*production, count / totals[production.lhs]) for production, count in counts.items()]
    return PCFG(tuple(rules), start, labels)


def tag_sequence_tree(tree: Tree) -> Tree | str:
    """The tree over its tags: each preterminal becomes a word; a word without a preterminal stays.

    >>> print(tag_sequence_tree(Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")))
    (S (NP DT NN) (VP VBD))
    """
    refuse_gaps(tree)

    def convert(node: Tree, children: list[Tree | str], ancestors: Sequence[Tree]) -> Tree | str:
        return node.label if node.is_preterminal else Tree(node.label, children)

    return fold(tree, convert)


@dataclass(frozen=True)
class Statistics:
    """The size of a grammar."""

    rules: int
    symbols: int
    words: int
    lexical: int
    unary: int
    binary: int
    longer: int
    longest: int
    cyclic: int

    def __str__(self) -> str:
        return (
            f"{number_of(self.rules, 'rule')}: {self.lexical:,} lexical, {self.unary:,} unary, {self.binary:,} binary, "
            f"{self.longer:,} longer (longest right-hand side {self.longest})\n"
            f"{number_of(self.symbols, 'symbol')} ({self.cyclic:,} in unary cycles), {number_of(self.words, 'word')}"
        )


def statistics(grammar: PCFG) -> Statistics:
    """The numbers of rules by kind, of symbols and of words; ``cyclic`` counts the symbols that derive themselves by unary rules.

    >>> print(statistics(PCFG.parse('S -> S S [0.5] | "a" [0.5]')))
    2 rules: 1 lexical, 0 unary, 1 binary, 0 longer (longest right-hand side 2)
    1 symbol (0 in unary cycles), 1 word
    """
    arity = Counter(len(rule.rhs) for rule in grammar.rules)
    lexical = sum(rule.is_lexical for rule in grammar.rules)
    return Statistics(
        rules=len(grammar.rules),
        symbols=len(grammar.nonterminals),
        words=len(grammar.vocabulary),
        lexical=lexical,
        unary=arity[1] - lexical,
        binary=arity[2],
        longer=sum(count for length, count in arity.items() if length > 2),
        longest=max(arity, default=0),
        cyclic=int(grammar.binary.cyclic.sum()),
    )
