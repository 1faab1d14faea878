"""A treebank as arrays of nodes, with its base grammar and its words.

The nodes of a tree are in the order children before parents; a node is a word with its tag, a unary rule, or a binary rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treegauge.errors import MismatchError
from treegauge.grammar.latent.latent_grammar import LatentCounts, WordTable
from treegauge.grammar.latent.rule_rows import INNER, PHRASE, TAG, BaseGrammar, Int32, Int64, RuleRows, dense_rows
from treegauge.grammar.tree_counts import refuse_gaps
from treegauge.normalise import ROOT_LABELS, pipeline
from treegauge.trees.tree import Child, Tree

STEPS = "traces,functions,features,root,redundant"
"""The normalisation steps that trees go through before they are counted."""

LEXICAL, UNARY, BINARY = 0, 1, 2


class Nodes(NamedTuple):
    """The nodes of all trees; those of tree t are ``start[t]:start[t+1]``. ``rule`` is the number of a tag-word pair, a unary rule
    or a binary rule, depending on ``kind``; ``left`` and ``right`` are the children, counted from the tree's first node."""

    start: Int64
    kind: NDArray[np.int8]
    symbol: Int32
    rule: Int32
    left: Int32
    right: Int32

    @property
    def n_trees(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class TreebankArrays:
    """A base grammar, its words, and the trees that they were read off."""

    base: BaseGrammar
    table: WordTable
    nodes: Nodes


class _Builder:
    """The nodes, symbols and rules of the trees added so far."""

    def __init__(self) -> None:
        self.symbols: dict[tuple[int, str], int] = {}
        self.binary: dict[tuple[int, int, int], int] = {}
        self.unary: dict[tuple[int, int], int] = {}
        self.tokens: Counter[tuple[int, str]] = Counter()
        self.middles: dict[tuple[int, int], Counter[tuple[str, ...]]] = {}
        self.start = [0]
        self.nodes: list[tuple[int, int, Any, int, int]] = []

    def _symbol(self, kind: int, name: str) -> int:
        return self.symbols.setdefault((kind, name), len(self.symbols))

    def _node(self, kind: int, symbol: int, rule: Any, left: int = -1, right: int = -1) -> int:
        self.nodes.append((kind, symbol, rule, left, right))
        return len(self.nodes) - 1 - self.start[-1]

    def _symbol_of(self, node: int) -> int:
        return self.nodes[self.start[-1] + node][1]

    def _word(self, tag: str, word: str) -> int:
        symbol = self._symbol(TAG, tag)
        self.tokens[symbol, word] += 1
        return self._node(LEXICAL, symbol, (symbol, word))

    def _unary(self, label: str, child: int) -> int:
        symbol = self._symbol(PHRASE, label)
        key = symbol, self._symbol_of(child)
        return self._node(UNARY, symbol, self.unary.setdefault(key, len(self.unary)), child)

    def _phrase(self, label: str, children: list[int]) -> int:
        """Add a phrase, binarised to the right."""
        if len(children) == 1:
            return self._unary(label, children[0])
        symbol, inner = self._symbol(PHRASE, label), -1
        below = children[-1]
        for m in range(len(children) - 2, -1, -1):
            if m and inner < 0:
                inner = self._symbol(INNER, label)
            top = inner if m else symbol
            key = top, self._symbol_of(children[m]), self._symbol_of(below)
            below = self._node(BINARY, top, self.binary.setdefault(key, len(self.binary)), children[m], below)
        return below

    def add(self, tree: Tree) -> None:
        """Add a tree; of a chain of phrases over one child only the top and the bottom become nodes."""
        built: list[list[int]] = [[]]
        stack: list[tuple[Child, bool, tuple[str, ...]]] = [(tree, False, ())]
        while stack:
            node, finished, chain = stack.pop()
            if isinstance(node, str):
                built[-1].append(self._word("", node))
            elif finished:
                children = built.pop()
                built[-1].append(self._chain_node(chain, children))
            elif node.is_preterminal:
                built[-1].append(self._word(node.label, str(node.children[0])))
            else:
                node, chain = _chain(node)
                stack.append((node, True, chain))
                stack.extend((child, False, ()) for child in reversed(node.children))
                built.append([])
        self.start.append(len(self.nodes))

    def _chain_node(self, chain: tuple[str, ...], children: list[int]) -> int:
        below = self._phrase(chain[-1], children)
        if chain[0] == chain[-1]:
            return below
        top = self._unary(chain[0], below)
        key = self._symbol_of(top), self._symbol_of(below)
        self.middles.setdefault(key, Counter())[chain[1:-1]] += 1
        return top


def _chain(node: Tree) -> tuple[Tree, tuple[str, ...]]:
    """The lowest phrase of a chain of phrases with one child each, and the labels of the chain without repetitions in a row."""
    labels = [node.label]
    while len(node.children) == 1 and isinstance(node.children[0], Tree) and not node.children[0].is_preterminal:
        node = node.children[0]
        if node.label != labels[-1]:
            labels.append(node.label)
    return node, tuple(labels)


def treebank_arrays(trees: Iterable[Tree]) -> TreebankArrays:
    """The arrays of trees normalised by :data:`STEPS`; trees that become empty are left out.

    >>> made = treebank_arrays([Tree.parse("(TOP (S (NP (DT the) (JJ old) (NN cat)) (VP (VBD sat))))")])
    >>> [made.base.title(s) for s in range(made.base.size)]
    ['NP', 'VP', 'S', '@NP', 'DT', 'JJ', 'NN', 'VBD']
    >>> made.base.binary.tolist(), made.base.unary.tolist(), made.base.root
    ([[3, 5, 6], [0, 4, 3], [2, 0, 1]], [[1, 7]], 'TOP')
    """
    builder, steps = _Builder(), pipeline(STEPS)
    roots: Counter[str] = Counter()
    initial: Counter[str] = Counter()
    for number, tree in enumerate(trees, start=1):
        made = steps(tree)
        if made is None or not made.width:
            continue
        refuse_gaps(made, number)
        roots[tree.label if tree.label in ROOT_LABELS else "-"] += 1
        builder.add(made)
        initial[made.words[0]] += 1
    if not builder.tokens:
        raise MismatchError("there is no tree with words to train on")
    (root, _), *_ = roots.most_common(1)
    return _arrays(builder, initial, None if root == "-" else root)


def _arrays(builder: _Builder, initial: Mapping[str, int], root: str | None) -> TreebankArrays:
    """The arrays of a builder, with symbols renumbered in the order phrases, inner symbols, tags."""
    ordered = sorted(builder.symbols, key=lambda symbol: symbol[0])
    new = np.zeros(len(ordered), np.int32)
    new[[builder.symbols[symbol] for symbol in ordered]] = np.arange(len(ordered))
    base = BaseGrammar(
        tuple(name for _, name in ordered),
        np.array([kind for kind, _ in ordered], np.int8),
        new[np.array(list(builder.binary), np.int32).reshape(-1, 3)],
        new[np.array(list(builder.unary), np.int32).reshape(-1, 2)],
        {(int(new[A]), int(new[B])): max(sorted(seen), key=lambda m: seen[m]) for (A, B), seen in builder.middles.items()},
        root,
    )
    table = WordTable.of({(int(new[tag]), word): n for (tag, word), n in builder.tokens.items()}, initial)
    tags, words = table.pair_tag.tolist(), table.pair_word.tolist()
    pair = {(int(tag), table.words[int(word)]): p for p, (tag, word) in enumerate(zip(tags, words, strict=True))}
    rules = [pair[int(new[rule[0]]), rule[1]] if kind == LEXICAL else rule for kind, _, rule, _, _ in builder.nodes]
    columns = {column: np.array([node[column] for node in builder.nodes], np.int32) for column in (0, 1, 3, 4)}
    nodes = Nodes(
        np.array(builder.start, np.int64),
        columns[0].astype(np.int8),
        new[columns[1]],
        np.array(rules, np.int32),
        columns[3],
        columns[4],
    )
    return TreebankArrays(base, table, nodes)


def first_counts(arrays: TreebankArrays, precision: Any = np.float32) -> LatentCounts:
    """The counts of the base grammar, in which every symbol has one subcategory."""
    base, nodes = arrays.base, arrays.nodes
    sizes = np.ones(base.size, np.int64)

    def rule_counts(kind: int, rules: Int32) -> RuleRows:
        return dense_rows(rules, sizes, np.bincount(nodes.rule[nodes.kind == kind], minlength=len(rules)), precision)

    root = np.bincount(nodes.symbol[nodes.start[1:] - 1], minlength=base.size).astype(np.float64)
    return LatentCounts(
        sizes, rule_counts(BINARY, base.binary), rule_counts(UNARY, base.unary), root, arrays.table.pair_count.astype(np.float64)
    )
