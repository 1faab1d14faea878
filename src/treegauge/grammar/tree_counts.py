"""Grammars counted from trees by relative frequency: P(A -> rhs) = count(A -> rhs) / count(A) (Goodman 1996, section 4.2).

Counts add, so a treebank can be counted in any number of blocks.
Rules, roots and words keep the order of their first appearance, and blocks are added in order, so the grammar has the same bits
however it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from treegauge.engines import IN_PROCESS, Engine, SentenceBlock
from treegauge.errors import Discontinuous, MismatchError, check_name, checked
from treegauge.grammar.dop_reduction import ESTIMATORS
from treegauge.grammar.lexicon import UNKNOWN, USUAL, Smoothing, Token, rare_below, tokens
from treegauge.grammar.pcfg import PCFG, TOP, Rule, totals_by_parent
from treegauge.io import ReadOptions, stream
from treegauge.io.reading import as_treebank
from treegauge.io.sources import ReadKeywords
from treegauge.normalise.pipelines import Pipeline, label_pipeline
from treegauge.tables import number_of
from treegauge.trees.columns import TreebankHash
from treegauge.trees.tree import Production, Tree, fold, from_flat, to_flat
from treegauge.trees.treebank import Treebank


@checked(ReadOptions)
def induce(trees: object, *, tags: bool = False, top: str = TOP, **reading: Unpack[ReadKeywords]) -> PCFG:
    """The relative-frequency PCFG of trees, its rules in order of first appearance.

    The trees may be in any form that :func:`treegauge.as_treebank` accepts: a path, a Treebank, bracketed text, trees, strings;
    options for reading as of :func:`treegauge.read`.
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
    for number, tree in enumerate(as_treebank(trees, **reading), 1):
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
    start, labels = next(iter(roots)), dict[str, str | None]()
    if len(roots) > 1:
        if any(top in (production.lhs, *production.rhs) for production in counts):
            raise MismatchError(f"the roots differ, and {top!r} is taken: choose another name for the start symbol")
        start, labels = top, {top: None}
        counts = Counter({Production(top, (root,), (False,)): count for root, count in roots.items()}) + counts
    totals = totals_by_parent(counts, counts.values())
    rules = [Rule(*production, count / totals[production.lhs]) for production, count in counts.items()]
    return PCFG(tuple(rules), start, labels)


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


DEFAULT_STEPS = "traces,root,redundant,annotate"
COUNTS = "counts"
"""The estimator of a plain treebank grammar: relative frequency."""
LEXICONS = ("signatures", "collins", "plain")
KEEP_EVERY = 10
"""Every tenth tree is for tuning, if no other trees are given for that."""
COLLINS_BELOW = 5
"""Words that occur fewer times than this become the unknown word (Collins 1997)."""


@dataclass(frozen=True)
class Recipe:
    """The options of making a grammar from trees; see :func:`treegauge.grammar.treebank_grammar.train`.

    With ``keep_every`` = 10 every tenth tree is not only counted but also stored, before normalising, for tuning. ``treebank`` is
    the style of the labels.
    """

    steps: str = DEFAULT_STEPS
    tags: bool = False
    estimator: str = COUNTS
    lexicon: str = "signatures"
    unknown_below: int = COLLINS_BELOW
    smoothing: Smoothing = USUAL
    rule_weight: float = 0.0
    keep_every: int = 0
    treebank: str = ""

    def __post_init__(self) -> None:
        check_name("lexicon", self.lexicon, LEXICONS)
        check_name("estimator", self.estimator, (COUNTS, *ESTIMATORS))

    @property
    def pipeline(self) -> Pipeline:
        """The normalising steps."""
        return label_pipeline(self.steps, self.treebank) if self.steps else Pipeline(())


@dataclass
class TreeCounts:
    """Counts of normalised trees. ``left_out`` counts the omitted trees by step. ``flat`` are the trees themselves, for DOP, whose
    grammar is the treebank; ``stored`` are the trees for tuning, before normalising."""

    trees: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    rules: Counter[Production] = field(default_factory=Counter[Production])
    roots: Counter[str] = field(default_factory=Counter[str])
    tokens: Counter[Token] = field(default_factory=Counter[Token])
    nodes: Counter[str] = field(default_factory=Counter[str])
    flat: list[list[Any]] = field(default_factory=list[list[Any]])
    stored: list[list[Any]] = field(default_factory=list[list[Any]])

    def add(self, other: TreeCounts) -> None:
        """Add the counts of trees that follow these."""
        self.trees += other.trees
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        self.flat += other.flat
        self.stored += other.stored

    def without(self, other: TreeCounts) -> TreeCounts:
        """The counts of the remaining trees, given the counts of some of these trees.

        >>> recipe = Recipe(steps="", lexicon="plain")
        >>> a, b = Tree.parse("(S (N fish) (V swim))"), Tree.parse("(S (N fish) (V sleep))")
        >>> count_trees([a, b], recipe).without(count_trees([b], recipe)) == count_trees([a], recipe)
        True
        """
        dropped = Counter(map(repr, other.flat))
        kept: list[list[Any]] = []
        for flat in self.flat:
            if dropped[repr(flat)]:
                dropped[repr(flat)] -= 1
            else:
                kept.append(flat)
        counters: dict[str, Any] = {name: _less(getattr(self, name), getattr(other, name)) for name in _COUNTERS}
        return TreeCounts(self.trees - other.trees, **counters, flat=kept)

    @property
    def all_trees(self) -> list[Tree]:
        """The normalised trees themselves, if the estimator needs them."""
        return [from_flat(flat) for flat in self.flat]

    @property
    def stored_trees(self) -> list[Tree]:
        """The trees for tuning, as they were before normalising."""
        return [from_flat(flat) for flat in self.stored]


_COUNTERS = ("left_out", "rules", "roots", "tokens", "nodes")


def _less(all_of: Counter[Any], some: Counter[Any]) -> Counter[Any]:
    """The positive differences of two counters, in the order of the first."""
    return Counter({key: left for key, number in all_of.items() if (left := number - some[key]) > 0})


def count_trees(trees: Iterable[Tree], recipe: Recipe, first: int = 0) -> TreeCounts:
    """The counts that a recipe needs of trees, after normalising them; ``first`` is the number of the first tree, counted from 0.

    >>> counted = count_trees([Tree.parse("(S (N fish) (V swim))")], Recipe(steps="", lexicon="plain"))
    >>> [str(rule.lhs) for rule in counted.rules], dict(counted.roots)
    (['S', 'N', 'V'], {'S': 1})
    """
    counted = TreeCounts()

    def store_some() -> Iterator[Tree]:
        for number, tree in enumerate(trees, first):
            if recipe.keep_every and number % recipe.keep_every == recipe.keep_every - 1:
                counted.stored.append(list(to_flat(tree)))
            yield tree

    for number, tree in enumerate(recipe.pipeline.stream(store_some(), counted.left_out), first + 1):
        if not tree.width:
            continue
        if recipe.tags and tree.is_preterminal:
            # A tree that is a tag over a word has no rule over tags.
            counted.left_out["tags"] += 1
            continue
        counted.trees += 1
        if recipe.estimator == COUNTS:
            count_rules(tree, number, counted.rules, counted.roots, tags=recipe.tags)
        else:
            counted.flat.append(list(to_flat(tree)))
        if recipe.lexicon == "signatures" and not recipe.tags:
            counted.tokens.update(tokens([tree]))
        if recipe.rule_weight > 0:
            counted.nodes.update(node.label for node in tree.nodes())
    return counted


def with_unknown_rules(rules: Counter[Production], below: int) -> Counter[Production]:
    """The rules of trees in which each word that occurs fewer than ``below`` times is replaced by the unknown word, as
    :func:`~treegauge.grammar.lexicon.with_unknown` does with trees.

    >>> rules = count_trees([Tree.parse("(S (N a) (N b) (N b))")], Recipe(steps="", lexicon="plain")).rules
    >>> [(rule.rhs, count) for rule, count in with_unknown_rules(rules, 2).items()]
    [(('N', 'N', 'N'), 1), (('<unknown>',), 1), (('b',), 2)]
    """
    words: Counter[str] = Counter()
    for rule, count in rules.items():
        for symbol, is_word in zip(rule.rhs, rule.words, strict=True):
            if is_word:
                words[symbol] += count
    below = rare_below(words, below)
    changed: Counter[Production] = Counter()
    for rule, count in rules.items():
        known = tuple(
            UNKNOWN if is_word and words[symbol] < below else symbol for symbol, is_word in zip(rule.rhs, rule.words, strict=True)
        )
        changed[rule._replace(rhs=known)] += count
    return changed


TREES = 500
"""The number of trees in a block: a second of work."""


class TreebankCounts(NamedTuple):
    """The counts of a treebank, its hash, and the hashes of its sentences."""

    counts: TreeCounts
    sha256: str
    sentences: NDArray[np.uint64]


def count_treebank(
    path: str,
    reading: ReadOptions,
    recipe: Recipe,
    engine: Engine = IN_PROCESS,
    size: int = TREES,
    *,
    pass_on: Callable[[Treebank], Treebank] = lambda bank: bank,
) -> TreebankCounts:
    """The counts of the trees of a file, block by block on an engine; ``pass_on`` gives the trees of a block that are counted."""
    from treegauge.grammar.training_sentences import sentence_hashes

    digest, counts, sentences = TreebankHash(), TreeCounts(), [np.zeros(0, np.uint64)]

    def blocks() -> Iterator[SentenceBlock]:
        first = 0
        for bank in map(pass_on, stream(path, reading)):
            digest.update(bank)
            sentences.append(sentence_hashes(bank))
            for low in range(0, len(bank), size):
                yield SentenceBlock(first + low, (bank[low : low + size],))
            first += len(bank)

    for counted in engine.map(_count_block, recipe, blocks(), title="counting"):
        counts.add(counted)
    return TreebankCounts(counts, digest.hexdigest(), np.unique(np.concatenate(sentences)))


def _count_block(recipe: Recipe, block: SentenceBlock) -> TreeCounts:
    return count_trees(block.sides[0], recipe, block.first)
