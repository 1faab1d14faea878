"""Counts of trees for a grammar. Counts add, so a treebank can be counted in any number of blocks.

Rules, roots and words keep the order of their first appearance, and blocks are added in order, so the grammar has the same bits
however it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from treegauge.engines import IN_PROCESS, Engine
from treegauge.engines.engine import SentenceBlock
from treegauge.errors import UnknownName
from treegauge.grammar.counting import count_rules
from treegauge.grammar.dop_reduction import ESTIMATORS
from treegauge.grammar.lexicon import UNKNOWN, USUAL, Smoothing, Token, rare_below, tokens
from treegauge.io import ReadOptions, stream
from treegauge.normalise import Pipeline, pipeline
from treegauge.trees.columns import TreebankHash
from treegauge.trees.tree import Production, Tree, from_flat, to_flat

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
    """The options of making a grammar from trees; see :func:`treegauge.grammar.training.train`.

    With ``keep_every`` = 10 every tenth tree is not only counted but also stored, before normalising, for tuning.
    """

    steps: str = DEFAULT_STEPS
    tags: bool = False
    estimator: str = COUNTS
    lexicon: str = "signatures"
    unknown_below: int = COLLINS_BELOW
    smoothing: Smoothing = USUAL
    rule_weight: float = 0.0
    keep_every: int = 0

    def __post_init__(self) -> None:
        if self.lexicon not in LEXICONS:
            raise UnknownName("lexicon", self.lexicon, LEXICONS)
        if self.estimator not in (COUNTS, *ESTIMATORS):
            raise UnknownName("estimator", self.estimator, (COUNTS, *ESTIMATORS))

    @property
    def pipeline(self) -> Pipeline:
        """The normalising steps."""
        return pipeline(self.steps) if self.steps else Pipeline(())


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
        self.left_out.update(other.left_out)
        self.rules.update(other.rules)
        self.roots.update(other.roots)
        self.tokens.update(other.tokens)
        self.nodes.update(other.nodes)
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
        return TreeCounts(
            self.trees - other.trees,
            _less(self.left_out, other.left_out),
            _less(self.rules, other.rules),
            _less(self.roots, other.roots),
            _less(self.tokens, other.tokens),
            _less(self.nodes, other.nodes),
            kept,
        )

    @property
    def all_trees(self) -> list[Tree]:
        """The normalised trees themselves, if the estimator needs them."""
        return [from_flat(flat) for flat in self.flat]

    @property
    def stored_trees(self) -> list[Tree]:
        """The trees for tuning, as they were before normalising."""
        return [from_flat(flat) for flat in self.stored]


KeyT = TypeVar("KeyT")


def _less(all_of: Counter[KeyT], some: Counter[KeyT]) -> Counter[KeyT]:
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

    for number, tree in enumerate(recipe.pipeline.apply(store_some(), counted.left_out), first + 1):
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
    """The counts of a treebank, and its hash."""

    counts: TreeCounts
    sha256: str


def count_treebank(
    path: str, reading: ReadOptions, recipe: Recipe, engine: Engine = IN_PROCESS, size: int = TREES
) -> TreebankCounts:
    """The counts of the trees of a file, block by block on an engine."""
    digest, counts = TreebankHash(), TreeCounts()

    def blocks() -> Iterator[SentenceBlock]:
        first = 0
        for bank in stream(path, reading):
            digest.update(bank)
            for low in range(0, len(bank), size):
                yield SentenceBlock(first + low, (bank[low : low + size],))
            first += len(bank)

    for counted in engine.map(_count_block, recipe, blocks(), title="counting"):
        counts.add(counted)
    return TreebankCounts(counts, digest.hexdigest())


def _count_block(recipe: Recipe, block: SentenceBlock) -> TreeCounts:
    return count_trees(block.sides[0], recipe, block.first)
