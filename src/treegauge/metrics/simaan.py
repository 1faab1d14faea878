"""Parent-child and frame match: relations inside trees instead of single constituents.

Sima'an 2003, On Maximizing Metrics for Syntactic Disambiguation, section 5. Both compare *sets* of tuples. The paper's definitions
are for binary trees; here the side of a child is its position among its siblings, and an only child has a side of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from treegauge.alignment.brackets import Brackets, symbols, token_positions
from treegauge.alignment.pairing import Pair
from treegauge.metrics.matching import SHARE_COLUMNS, Column, Parts, sequence_codes, share_columns, table_of
from treegauge.metrics.metric import Metric, Rows, choice, exchanged
from treegauge.trees.treebank import Int32, Int64

_ONLY = -1


@dataclass(frozen=True)
class _Relations(Metric):
    """Recall, precision and F1 of sets of tuples, over the corpus and as means over the sentences where they are defined."""

    reference = "simaan2003"
    headline = "f1"
    discontinuous = True
    columns = ("sentences", "matched", "gold", "test", *SHARE_COLUMNS)
    ratios: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "recall": ("matched", "gold"),
        "precision": ("matched", "test"),
        "f1": ("matched", "gold", "test"),
        "mean_recall": ("recall_sum", "recall_defined"),
        "mean_precision": ("precision_sum", "precision_defined"),
        "mean_f1": ("f1_sum", "f1_defined"),
    }
    symmetries: ClassVar[Mapping[str, str]] = exchanged("", "mean_")

    def rows(self, pair: Pair) -> Rows:
        counts = Parts.of(len(pair), *self._tuples(pair)).overlap()
        return table_of([np.ones(len(pair)), *counts, *share_columns(*counts)])

    @abstractmethod
    def _tuples(self, pair: Pair) -> tuple[list[Column], list[Column]]:
        """The tuples of gold and of test, as columns, the sentence first."""


@dataclass(frozen=True)
class ParentChild(_Relations):
    """PC: recall, precision and F1 of links (parent's span, parent's label, side, child's label).

    The child's span does not matter. Preterminals are children, words are not. ``all`` (the default) counts the links of every
    production, ``binary`` those of productions with two children, as in the paper's binary trees. The objective ``parent-child``
    counts the same links, with the same two words.

    >>> import treegauge
    >>> gold = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB up))))"
    >>> test = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (RB up))))"
    >>> result = treegauge.score(gold, test, metric="parent-child")
    >>> result.counts["matched"], result.counts["gold"], result.counts["test"]
    (5, 7, 7)
    """

    count: str = choice(
        "all", ("all", "binary"), "all (the default) counts the links of every production, binary those with two children only"
    )

    name = "parent-child"
    summary = "PC: links of a parent (span and label) to the label of its child at a side"

    def _tuples(self, pair: Pair) -> tuple[list[Column], list[Column]]:
        return self._links(pair.gold, pair.matching_classes), self._links(pair.test, pair.matching_classes)

    def _links(self, brackets: Brackets, classes: Int32 | None) -> list[Column]:
        children = _children_of(brackets, classes)
        arity = children.arity[children.parent]
        side = np.where(arity == 1, _ONLY, children.index)
        counts = ~children.is_word
        if self.count == "binary":
            counts &= arity == 2
        parent = children.parent[counts]
        label = symbols(brackets, classes)[0]
        return [
            *(brackets.sentence[parent], brackets.start[parent], brackets.end[parent], brackets.gap_numbers[parent]),
            *(label[parent], side[counts], children.symbol[counts], children.apart[counts]),
        ]


@dataclass(frozen=True)
class Frames(_Relations):
    """CF: recall, precision and F1 of frames (span of a node, its production), wherever the production's splits are.

    ``many`` (the default): productions with two children or more, words among them or not. ``bin``: those with two children, as in
    the paper's binary trees; ``strict``: only those of them without words (a preterminal is not a word). ``all``: unary and lexical
    productions too. The objective ``frames`` counts the same productions, with the same four words.

    >>> import treegauge
    >>> gold = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB up))))"
    >>> test = "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PP (RB up))))"
    >>> treegauge.score(gold, test, metric="frames").counts["matched"]
    2
    """

    count: str = choice(
        "many",
        ("strict", "bin", "many", "all"),
        "many (the default) counts productions with two children or more, bin those with two children, strict only those of them "
        "without words, all every production",
    )

    name = "frames"
    summary = "CF: productions with the span of their node, splits left open"

    def _tuples(self, pair: Pair) -> tuple[list[Column], list[Column]]:
        classes = pair.matching_classes
        ours, theirs = _children_of(pair.gold, classes), _children_of(pair.test, classes)
        right, other_right = _right_hand_sides(ours, theirs)
        return self._frames(pair.gold, classes, ours, right), self._frames(pair.test, classes, theirs, other_right)

    def _frames(self, brackets: Brackets, classes: Int32 | None, children: _Children, right_hand: Int64) -> list[Column]:
        label, token_symbol = symbols(brackets, classes)
        counts = children.arity == 2 if self.count in ("strict", "bin") else children.arity >= (1 if self.count == "all" else 2)
        if self.count == "strict":
            counts &= np.bincount(children.parent[children.is_word], minlength=len(counts)) == 0
        row = np.flatnonzero(counts)
        frames: list[Column] = [
            *(brackets.sentence[row], brackets.start[row], brackets.end[row], brackets.gap_numbers[row]),
            *(label[row], right_hand[row]),
        ]
        if self.count != "all":
            return frames
        # A preterminal's production is its word; it gets a number below zero, which no sequence of symbols has.
        sentence, position = token_positions(brackets)
        tagged = np.flatnonzero((brackets.tag >= 0) & brackets.counted)
        lexical = [
            *(sentence[tagged], position[tagged], position[tagged] + 1, np.zeros_like(tagged), token_symbol[tagged]),
            -1 - brackets.word[tagged].astype(np.int64),
        ]
        return [np.concatenate(columns) for columns in zip(frames, lexical, strict=True)]


def _right_hand_sides(gold: _Children, test: _Children) -> tuple[Int64, Int64]:
    """A number for the right-hand side of each bracket's production, in gold and in test; equal ones have equal numbers."""
    symbol = np.concatenate([gold.symbol, test.symbol])
    first = np.concatenate([gold.first, test.first + len(gold.symbol)])
    code = sequence_codes(symbol, first, np.concatenate([gold.arity, test.arity]))
    return code[: len(gold.first)], code[len(gold.first) :]


@dataclass(frozen=True)
class _Children:
    """The direct children of brackets, one row per child, ordered by parent and position.

    ``parent`` is a bracket, ``symbol`` the child's symbol (see :func:`symbols`), ``is_word`` marks words without a tag, and
    ``index`` is the child's position among the ``arity[parent]`` children. The children of bracket ``b`` are the rows
    ``first[b]:first[b]+arity[b]``.

    Where words were aligned by edit distance, the children without a word that the other side has come after these, and ``arity``
    does not count them if their parent has shared words; for them ``apart`` is their start plus 1, and 0 for all others.
    """

    parent: Int64
    symbol: Int64
    is_word: NDArray[np.bool_]
    index: Int64
    first: Int64
    arity: Int64
    apart: Int64


def _children_of(brackets: Brackets, classes: Int32 | None) -> _Children:
    """The children of all brackets: brackets, preterminals and words; further pieces of a gold token do not count."""
    bracket_symbol, token_symbol = symbols(brackets, classes)
    inner = np.flatnonzero(brackets.parent >= 0)
    tokens = np.flatnonzero((brackets.above >= 0) & brackets.counted)
    parent = np.concatenate([brackets.parent[inner], brackets.above[tokens]])
    start = np.concatenate([brackets.start[inner], token_positions(brackets)[1][tokens]])
    symbol = np.concatenate([bracket_symbol[inner], token_symbol[tokens]])
    is_word = np.concatenate([np.zeros(len(inner), dtype=np.bool_), brackets.tag[tokens] < 0])
    order = np.lexsort((start, parent))
    arity = np.bincount(parent, minlength=brackets.n_brackets)
    first = np.cumsum(arity) - arity
    parent, start = parent[order], start[order]
    apart = np.zeros(len(parent), dtype=np.int64)
    if brackets.shared is not None:
        unplaced = brackets.unplaced
        is_apart = (start >= brackets.n_shared[brackets.sentence[parent]]) & ~unplaced[parent]
        apart[is_apart] = start[is_apart] + 1
        arity = arity - np.bincount(parent[is_apart], minlength=brackets.n_brackets)
    return _Children(parent, symbol[order], is_word[order], np.arange(len(parent)) - first[parent], first, arity, apart)
