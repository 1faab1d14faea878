"""Data-oriented parsing as a PCFG: Goodman's reduction, in which every node of the treebank has a symbol of its own.

In DOP every subtree of the treebank is a rule. The reduction (Goodman 1996, the companion paper on DOP) gives every tree the same
probability with only eight rules per node. For a node j labelled A with children k (labelled B) and l (labelled C), let b_k and c_l
be the numbers of subtrees that the children head (0 for a word), and a_j = (b_k + 1)(c_l + 1). The rules are

    A_j -> B C  1/a_j      A_j -> B_k C  b_k/a_j      A_j -> B C_l  c_l/a_j      A_j -> B_k C_l  b_k c_l/a_j

and the same four with A on the left, divided by a, the sum of a_j over all nodes labelled A (DOP1), or by n_A a_j, where n_A is the
number of these nodes (``corrected``: large trees do not outweigh small ones). Nodes over equal subtrees have equal rules and share
their symbol, which saves most of the memory.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from treegauge.errors import MismatchError, check_name
from treegauge.grammar.pcfg import PCFG, TOP, Rule
from treegauge.trees.tree import Tree, post_order

Estimator = Literal["dop1", "corrected"]
ESTIMATORS: tuple[str, ...] = get_args(Estimator)
_ADDRESS = "@"


def dop(trees: Iterable[Tree], estimator: str = "dop1", *, top: str = TOP) -> PCFG:
    """The DOP model of trees; its symbols ``A@17`` show as ``A``. If the roots differ, a start symbol ``top`` is above them.

    Such a grammar is best decoded with ``labelled-recall``: the likeliest derivation is not the likeliest tree, which is NP-hard to
    find.

    >>> grammar = dop([Tree.parse("(S (A a) (B b))"), Tree.parse("(S (A c) (B b))")])
    >>> [str(rule) for rule in grammar.rules if rule.lhs == "S"][:4]
    ['S -> A B [0.25]', 'S -> A B@1 [0.25]', 'S -> A@0 B [0.125]', 'S -> A@0 B@1 [0.125]']
    """
    check_name("DOP estimator", estimator, ESTIMATORS)
    bank = list(trees)
    if not bank or not all(tree.width for tree in bank):
        raise MismatchError("DOP needs trees, each over at least one word")
    labels: dict[str, str | None] = {}
    if len({tree.label for tree in bank}) > 1:
        if any(node.label == top for tree in bank for node in tree.nodes()):
            raise MismatchError(f"the roots differ, and {top!r} is taken: choose another name for the start symbol")
        bank = [Tree(top, [tree]) for tree in bank]
        labels[top] = None
    nodes = _Nodes(bank)
    start = bank[0].label
    labels |= {name: labels.get(tree.label, tree.label) for tree, name in nodes.names.items()}
    return PCFG(tuple(_rules(nodes, estimator)), start, labels)


def plain_label(symbol: str) -> str:
    """The label of an addressed symbol.

    >>> plain_label("NP@12"), plain_label("NP")
    ('NP', 'NP')
    """
    return symbol.rpartition(_ADDRESS)[0] or symbol


class _Nodes:
    """The distinct subtrees of a treebank: the frequency of each, the number of subtrees that its root heads, and its symbol."""

    def __init__(self, bank: list[Tree]) -> None:
        self.count: Counter[Tree] = Counter()
        self.heads: dict[Tree, int] = {}
        self.names: dict[Tree, str] = {}
        for tree in bank:
            for node, _ in post_order(tree):
                self.count[node] += 1
                if node not in self.heads:
                    if not node.children or _ADDRESS in node.label:
                        what = "empty" if not node.children else f"called {node.label!r}, with {_ADDRESS} in it"
                        raise MismatchError(f"a node is {what}: DOP cannot use it; normalise the trees first")
                    self.heads[node] = math.prod(self.heads[child] + 1 for child in node.children if isinstance(child, Tree))
                    self.names[node] = f"{node.label}{_ADDRESS}{len(self.names)}"

    def expansions(self, node: Tree) -> Iterator[tuple[tuple[str, ...], int]]:
        """The right-hand sides of a node, each with the number of its subtrees that begin with it."""
        choices = [
            [(child, 1)] if isinstance(child, str) else [(child.label, 1), (self.names[child], self.heads[child])]
            for child in node.children
        ]
        for chosen in itertools.product(*choices):
            yield tuple(symbol for symbol, _ in chosen), math.prod(count for _, count in chosen)


def _rules(nodes: _Nodes, estimator: str) -> Iterator[Rule]:
    total: Counter[str] = Counter()
    for node, count in nodes.count.items():
        total[node.label] += count * (nodes.heads[node] if estimator == "dop1" else 1)
    for node, count in nodes.count.items():
        words = tuple(isinstance(child, str) for child in node.children)
        # Divided as integers, because a node can head more subtrees than a float can count.
        share = total[node.label] * (1 if estimator == "dop1" else nodes.heads[node])
        for rhs, subtrees in nodes.expansions(node):
            yield Rule(nodes.names[node], rhs, words, subtrees / nodes.heads[node])
            yield Rule(node.label, rhs, words, count * subtrees / share)
